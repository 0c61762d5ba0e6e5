"""What single editors are known to do, in one table.

Each entry was measured with the editor itself. The setting ``client`` overrides any of
them by name.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Mapping

    from lsprotocol.types import InitializeParams


@dataclass(frozen=True, slots=True)
class Quirks:
    """How to treat an editor beyond what its capabilities say.

    ``gentle_dialogs``: ``window/showMessageRequest`` takes no keystrokes from the user.
    ``show_document``: whether ``window/showDocument`` works; ``None``: as claimed.
    ``reorders_changes``: changes of a document may come out of version order, so that a gap
    is worth a wait.
    """

    gentle_dialogs: bool = False
    show_document: bool | None = None
    reorders_changes: bool = False


_BY_NAME: Final[Mapping[str, Quirks]] = {
    # Toasts that leave the keyboard alone and stay until they are answered.
    "Visual Studio Code": Quirks(gentle_dialogs=True),
    "code-server": Quirks(gentle_dialogs=True),
    # Has window/showDocument; the older versions do not say so, and reorder what is typed fast.
    "helix": Quirks(show_document=True, reorders_changes=True),
}

# As they are called in the setting ``client``.
_SETTINGS: Final = {
    "gentleDialogs": "gentle_dialogs",
    "showDocument": "show_document",
    "reordersChanges": "reorders_changes",
}


def quirks_of(params: InitializeParams, forced: Mapping[str, bool]) -> Quirks:
    """The quirks of the editor that sent ``params``, with those that the user forced."""
    name = params.client_info.name if params.client_info is not None else ""
    quirks = _BY_NAME.get(name, Quirks())
    known = {_SETTINGS[name]: on for name, on in forced.items() if name in _SETTINGS}
    return replace(quirks, **known)


def unknown(forced: Mapping[str, bool]) -> list[str]:
    """One line for each name that the user forced and that means nothing."""
    names = ", ".join(_SETTINGS)
    return [
        f'unknown setting "client.{name}"; there are: {names}'
        for name in forced
        if name not in _SETTINGS
    ]
