"""What only agents of ACP 1 ask of a client: files and terminals.

The methods are ``fs/*`` and ``terminal/*`` (ACP 1, file system and terminals).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from acpls.client import lift
from acpls.client.dialect import (
    Asked,
    CreateTerminal,
    Misfit,
    TerminalCall,
    TerminalCreated,
    TerminalExited,
    TerminalOutput,
)
from acpls.events import FileReadAsked, FileWriteAsked
from acpls.session.asks import Done, FileText
from acpls.wire import v1 as wire

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from acpls.client.dialect import TerminalAnswer
    from acpls.events import RequestId
    from acpls.session.asks import Answer
    from acpls.session.content import Exit, Json

    FolderOf = Callable[[str], str | None]
    Reader = Callable[[str, RequestId, str, object, FolderOf], tuple[str, Asked]]


def result(answer: Answer | TerminalAnswer) -> Json | None:
    """The result that an answer stands for; ``None`` for answers of another kind."""
    match answer:
        case FileText(text):
            return {"content": text}
        case Done():
            return {}
        case TerminalCreated(terminal):
            return {"terminalId": terminal}
        case TerminalOutput(text, truncated, how):
            ended = {} if how is None else {"exitStatus": _exit(how)}
            return {"output": text, "truncated": truncated, **ended}
        case TerminalExited(how):
            return _exit(how)
        case _:
            return None


def _exit(how: Exit) -> Json:
    # The schema has no negative codes: a signal is named instead.
    code = how.code if how.code is not None and how.code >= 0 else None
    return {"exitCode": code, "signal": how.signal}


READ_FILE: Final = "fs/read_text_file"


# --- readers: the session and the meaning of a request -----------------------------------


def _read_file(
    agent: str, request: RequestId, _method: str, params: object, folder: FolderOf
) -> tuple[str, Asked]:
    it = lift.read(wire.ReadTextFileRequest, params)
    session = it.session_id
    path = _path(it.path, folder(session))
    event = FileReadAsked(agent, request, session, path, it.line or None, it.limit)
    return session, Asked((event,))


def _write_file(
    agent: str, request: RequestId, _method: str, params: object, folder: FolderOf
) -> tuple[str, Asked]:
    it = lift.read(wire.WriteTextFileRequest, params)
    session = it.session_id
    path = _path(it.path, folder(session))
    return session, Asked((FileWriteAsked(agent, request, session, path, it.content),))


def _create_terminal(
    _agent: str, _request: RequestId, _method: str, params: object, folder: FolderOf
) -> tuple[str, Asked]:
    it = lift.read(wire.CreateTerminalRequest, params)
    home = folder(it.session_id)
    terminal = CreateTerminal(
        it.session_id,
        it.command,
        tuple(it.args or ()),
        tuple((x.name, x.value) for x in it.env or ()),
        lift.resolved(it.cwd, home) if it.cwd else home,
        it.output_byte_limit,
    )
    return it.session_id, Asked(terminal=terminal)


def _terminal(
    _agent: str, _request: RequestId, method: str, params: object, _folder: FolderOf
) -> tuple[str, Asked]:
    it = lift.read(wire.TerminalRequest, params)
    operation = method.removeprefix("terminal/")
    return it.session_id, Asked(terminal=TerminalCall(operation, it.session_id, it.terminal_id))


def _path(path: str, folder: str | None) -> str:
    whole = lift.resolved(path, folder)
    if not lift.is_absolute(whole):
        raise Misfit("path: must be absolute")
    return whole


READERS: Final[Mapping[str, Reader]] = {
    READ_FILE: _read_file,
    "fs/write_text_file": _write_file,
    "terminal/create": _create_terminal,
    "terminal/output": _terminal,
    "terminal/wait_for_exit": _terminal,
    "terminal/kill": _terminal,
    "terminal/release": _terminal,
}
