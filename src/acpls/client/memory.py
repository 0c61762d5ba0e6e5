"""Which version each agent was found to speak, kept from one run of the server to the next.

Finding out may cost a second start. What was found holds for the version of the agent that it
was found with: after an update the agent is asked for ACP 2 first again.

Invariant: a file that is missing, broken or cannot be written costs a start and nothing else.
"""

from __future__ import annotations

import contextlib
import json
import os
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

if TYPE_CHECKING:
    from acpls.settings import AgentSpec

Version: TypeAlias = Literal[1, 2]
_Key: TypeAlias = tuple[str, ...]

# Old entries go first; nobody has that many agents.
_MOST = 200


@dataclass(frozen=True, slots=True)
class _Found:
    protocol: Version
    agent: str


class Memory:
    """What was agreed on, by command and arguments. ``file``: where it is kept, if anywhere."""

    def __init__(self, file: Path | None = None) -> None:
        self._file = file
        self._found: dict[_Key, _Found] | None = None

    def version(self, spec: AgentSpec) -> Version:
        """The version to ask for first."""
        found = self._all().get(_key(spec))
        return 2 if found is None else found.protocol

    def agreed(self, spec: AgentSpec, protocol: Version, agent: str) -> None:
        """A version was agreed on with the version ``agent`` of the agent."""
        known = self._all().get(_key(spec))
        if protocol == 1 and known is not None and known.agent != agent:
            # It was only asked for what its older version spoke.
            self.forget(spec)
        elif known != _Found(protocol, agent):
            self._all().pop(_key(spec), None)
            self._all()[_key(spec)] = _Found(protocol, agent)
            self._keep()

    def forget(self, spec: AgentSpec) -> None:
        """Nothing could be agreed on."""
        if self._all().pop(_key(spec), None) is not None:
            self._keep()

    def _all(self) -> dict[_Key, _Found]:
        if self._found is None:
            self._found = {} if self._file is None else _read(self._file)
        return self._found

    def _keep(self) -> None:
        if self._file is None:
            return
        rows = [
            {"command": list(key), "protocol": found.protocol, "agent": found.agent}
            for key, found in self._all().items()
        ]
        with contextlib.suppress(OSError):
            self._file.parent.mkdir(parents=True, exist_ok=True)
            number, part = tempfile.mkstemp(dir=self._file.parent, prefix=".versions-")
            with os.fdopen(number, "w", encoding="utf-8") as writer:
                json.dump(rows[-_MOST:], writer)
            Path(part).replace(self._file)


def _key(spec: AgentSpec) -> _Key:
    return (spec.command, *spec.args)


def _read(file: Path) -> dict[_Key, _Found]:
    try:
        rows = json.loads(file.read_text("utf-8"))
    except (OSError, ValueError):
        return {}
    return dict(filter(None, map(_row, rows))) if isinstance(rows, list) else {}


def _row(row: Any) -> tuple[_Key, _Found] | None:
    match row:
        case {"command": [*words], "protocol": 1 | 2 as protocol, "agent": str(agent)} if all(
            isinstance(word, str) for word in words
        ):
            return tuple(words), _Found(2 if protocol == 2 else 1, agent)
        case _:
            return None
