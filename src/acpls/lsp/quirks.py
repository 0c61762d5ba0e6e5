"""What single editors are known to do, in one table.

Each entry was measured with the editor itself. The setting ``client`` overrides any of
them by name.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from acpls.lsp.messages import MESSAGE_LIMIT

if TYPE_CHECKING:
    from collections.abc import Mapping

    from lsprotocol.types import InitializeParams


@dataclass(frozen=True, slots=True)
class Quirks:
    """How to treat an editor beyond what its capabilities say.

    ``gentle_dialogs``: ``window/showMessageRequest`` takes no keystrokes from the user.
    ``show_document``: whether ``window/showDocument`` works; ``None``: as claimed.
    ``gentle_show``: a document that is shown without the focus takes neither the view nor the
    caret nor the keyboard away, and one that is shown next takes its place.
    ``reorders_changes``: changes of a document may come out of version order, so that a gap
    is worth a wait.
    ``reloads``: an open document without unsaved changes takes in a change of its file by
    itself, within a second; an edit that brings the same text then comes twice.
    ``stale_edits``: an edit of a document whose file has changed since it was read is made;
    else it stops the editor with a question, and may come twice.
    ``deletes``, ``renames``: a file operation for an open document without unsaved changes is
    carried out and takes the document along. Together with what is claimed only; with unsaved
    changes some editors throw them away, or write them.
    ``versions``: an edit that names a version is refused when the document has another, though
    that is not claimed. Of version 0 no notice is taken, so at least 1 is named.
    ``message_limit``: characters of a message that a screen of 80 columns shows without waiting
    for a key, which everything else that is asked of the editor would wait for as well.
    """

    gentle_dialogs: bool = False
    show_document: bool | None = None
    gentle_show: bool = False
    reorders_changes: bool = False
    reloads: bool = False
    deletes: bool = False
    renames: bool = False
    stale_edits: bool = True
    versions: bool = False
    message_limit: int = MESSAGE_LIMIT


# Toasts leave the keyboard alone and stay until they are answered.
_VS_CODE: Final = Quirks(
    gentle_dialogs=True, gentle_show=True, reloads=True, deletes=True, renames=True
)

# What each does when the disk changes: docs/editors.md.
_BY_NAME: Final[Mapping[str, Quirks]] = {
    "Visual Studio Code": _VS_CODE,
    "code-server": _VS_CODE,
    # Reloads when it gets the focus, which may be never.
    "Neovim": Quirks(deletes=True, renames=True, versions=True, message_limit=57),
    # Has window/showDocument; the older versions do not say so, and reorder what is typed fast.
    # A document whose file it deleted stays open, and saving it brings the file back.
    "helix": Quirks(show_document=True, reorders_changes=True, renames=True),
    "Eglot": Quirks(stale_edits=False),
}

# As they are called in the setting ``client``.
_SETTINGS: Final = {
    "gentleDialogs": "gentle_dialogs",
    "showDocument": "show_document",
    "gentleShow": "gentle_show",
    "reordersChanges": "reorders_changes",
    "reloads": "reloads",
    "deletes": "deletes",
    "renames": "renames",
    "staleEdits": "stale_edits",
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
