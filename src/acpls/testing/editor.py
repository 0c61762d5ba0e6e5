"""A fake editor: an LSP client with buffers of its own, for tests of a language server.

::

    async with FakeEditor([sys.executable, "-m", "acpls"], root=tmp_path) as editor:
        uri = editor.open(tmp_path / "a.py")
        await editor.command("acpls.session.prompt", {"text": "hello"})
        await editor.next("window/showDocument")
        editor.type(uri, 0, "# ")

Entering initialises the server; leaving shuts it down and then raises ``AssertionError`` if
anything is left: an error popup or another unread message that is not in ``ignore``, a
request of either side without an answer, a fault in the protocol, an exit code other than 0.
A failing test is not hidden by that: its own exception goes through and the server is killed.

``FULL`` and ``PLAIN`` (``acpls.testing.capabilities``) are what editors claim. Offsets are in
characters; on the wire they are in the encoding that the server chose.

Invariant: the server's messages are kept in order of arrival, and read at most once.
"""

from __future__ import annotations

import copy
import os
import subprocess
from typing import TYPE_CHECKING, Any, Final, Self

import anyio
import anyio.abc

from acpls.testing.capabilities import FULL, PLAIN
from acpls.testing.link import Call, CommandFailed
from acpls.testing.replies import Error, Later, Replies

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from pathlib import Path
    from types import TracebackType

    from acpls.testing.frames import Json
    from acpls.testing.link import ByteSink, ByteSource

__all__ = ["FULL", "IGNORED", "PLAIN", "Call", "CommandFailed", "Error", "FakeEditor", "Later"]

IGNORED: Final = frozenset(
    {
        "$/logTrace",
        "$/progress",
        "acp/agent/changed",
        "acp/follow/changed",
        "acp/place/changed",
        "acp/review/changed",
        "acp/session/changed",
        "client/registerCapability",
        "client/unregisterCapability",
        "telemetry/event",
        "textDocument/publishDiagnostics",
        "window/logMessage",
        "window/workDoneProgress/create",
        "workspace/applyEdit",
        "workspace/codeLens/refresh",
        "workspace/configuration",
        "workspace/diagnostic/refresh",
        "workspace/inlayHint/refresh",
        "workspace/semanticTokens/refresh",
        "workspace/workspaceFolders",
    }
)
"""What a test need not read: state that is kept, and requests that answer themselves."""

_ERROR_POPUP = 1


class FakeEditor(Replies):
    """An editor at the other end of ``command``, or of a pair of byte streams.

    ``encoding`` is the one it offers. ``env`` is the whole environment of the server, the
    test's own if left out. ``other_roots``: more workspace folders than ``root``.
    ``within``: seconds for starting, for shutting down, for ending.
    ``server`` is the result of ``initialize``; ``stderr`` what the server wrote there. See
    ``Replies`` for how requests of the server are answered, and ``Desk`` for the buffers.
    """

    def __init__(  # noqa: PLR0913  each is a thing that a test may want to differ
        self,
        command: Sequence[str] | None = None,
        *,
        root: Path,
        streams: tuple[ByteSource, ByteSink] | None = None,
        capabilities: Json = PLAIN,
        initialization_options: Any = None,
        encoding: str = "utf-16",
        client_info: Json | None = None,
        settings: Json | None = None,
        ignore: Iterable[str] = IGNORED,
        env: Mapping[str, str] | None = None,
        within: float = 10,
        other_roots: Sequence[Path] = (),
    ) -> None:
        claimed = copy.deepcopy(capabilities)
        claimed.setdefault("general", {})["positionEncodings"] = [encoding]
        super().__init__(root, claimed, settings or {}, other_roots)
        self._command = command
        self._streams = streams
        self._env = env
        self._within = within
        self._options = initialization_options
        self._client_info = client_info or {"name": "fake editor", "version": "1"}
        self.ignore = set(ignore)
        self.stderr = b""
        self._process: anyio.abc.Process | None = None

    # --- asking and telling the server -----------------------------------------------

    async def command(self, name: str, argument: Any = None, within: float = 10) -> Any:
        """Runs a command of the server. Raises ``CommandFailed``, ``TimeoutError``."""
        arguments = [] if argument is None else [argument]
        params = {"command": name, "arguments": arguments}
        return await self.request("workspace/executeCommand", params, within)

    async def request(self, method: str, params: Any = None, within: float = 10) -> Any:
        """Sends a request and gives its result. Raises as ``Call.result`` does."""
        return await self.begin(method, params).result(within)

    def begin(self, method: str, params: Any = None) -> Call:
        """Sends a request that may be cancelled, or waited for later."""
        return self._link.call(method, params)

    def notify(self, method: str, params: Any = None) -> None:
        """Sends a notification."""
        self._link.notify(method, params)

    # --- what the server said --------------------------------------------------------

    async def next(
        self, method: str, where: Callable[[Any], bool] | None = None, within: float = 10
    ) -> Any:
        """Reads the first unread message of this method that fits, and gives its parameters.

        Waits for one for ``within`` seconds; then ``TimeoutError``, and ``ConnectionError``
        when the server ends before.
        """
        with anyio.move_on_after(within):
            while True:
                news, ended = self._news, self._link.ended.is_set()
                for message in self._messages:
                    if message.taken or message.method != method:
                        continue
                    if where is None or where(message.params):
                        message.taken = True
                        return message.params
                if ended:
                    raise ConnectionError(f"the server ended without {method}")
                await news.wait()
        left = sorted({message.method for message in self._messages if not message.taken})
        raise TimeoutError(f"no {method} within {within} s; unread: {', '.join(left) or 'none'}")

    def seen(self, method: str) -> list[Any]:
        """The parameters of all messages of this method, read or not, in order."""
        return [message.params for message in self._messages if message.method == method]

    def diagnostics(self, uri: str) -> list[Json]:
        """The diagnostics of a document as they are now."""
        return self._diagnostics.get(uri, [])

    # --- beginning and end -----------------------------------------------------------

    async def __aenter__(self) -> Self:
        self._tasks = anyio.create_task_group()
        await self._tasks.__aenter__()
        try:
            await self._start()
        except BaseException as error:
            await self._stop(error)
            raise
        return self

    async def __aexit__(
        self,
        _kind: type[BaseException] | None,
        error: BaseException | None,
        _trace: TracebackType | None,
    ) -> None:
        left: list[str] = []
        try:
            if error is None:
                left = await self._finish()
        finally:
            await self._stop(error)
        if left:
            raise AssertionError("\n".join(["the editor was left with:", *left]))

    async def _start(self) -> None:
        if self._command is not None:
            self._process = await anyio.open_process(
                self._command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                cwd=self.root,
                env=self._env,
            )
            assert self._process.stdin is not None
            assert self._process.stdout is not None
            self._streams = (self._process.stdout, self._process.stdin)
            self._tasks.start_soon(self._drain, self._process)
        if self._streams is None:
            raise ValueError("a fake editor needs a command or a pair of streams")
        self._tasks.start_soon(self._link.read, self._streams[0])
        self._tasks.start_soon(self._link.write, self._streams[1])
        self._tasks.start_soon(self._wake_at_the_end)
        self._tasks.start_soon(self._apply_edits)
        folders = self.folders()
        params = {
            "processId": os.getpid(),
            "clientInfo": self._client_info,
            "rootUri": folders[0]["uri"],
            "capabilities": self.capabilities,
            "workspaceFolders": folders,
        }
        if self._options is not None:
            params["initializationOptions"] = self._options
        self.server = await self.request("initialize", params, self._within)
        self._negotiate(self.server["capabilities"])
        self.notify("initialized", {})

    def _negotiate(self, capabilities: Json) -> None:
        self.encoding = capabilities.get("positionEncoding", "utf-16")
        if self.encoding not in (*self.capabilities["general"]["positionEncodings"], "utf-16"):
            self._link.faults.append(f"an encoding that was not offered: {self.encoding}")
        sync = capabilities.get("textDocumentSync", 0)
        self.sync = sync if isinstance(sync, int) else sync.get("change", 0)
        save = {} if isinstance(sync, int) else sync.get("save")
        self.save_text = isinstance(save, dict) and bool(save.get("includeText"))

    async def _finish(self) -> list[str]:
        """Shuts the server down and says what is left over."""
        self.release_changes()
        left = [f"the server did not answer {call.method}" for call in self._link.calls.values()]
        left += [
            f"nobody answered the server's {message.method}"
            for message in self._messages
            if message.number is not None and not message.answered
        ]
        try:
            await self.request("shutdown", None, self._within)
        except (CommandFailed, TimeoutError, ConnectionError) as failure:
            left.append(f"shutdown: {failure}")
        self.notify("exit", None)
        self._link.close()
        with anyio.move_on_after(self._within):
            await self._link.written.wait()
        if self._process is not None:
            left += await self._exit(self._process)
        for message in self._messages:
            if not message.taken and message.method not in self.ignore:
                popup = message.method == "window/showMessage"
                error = popup and message.params.get("type") == _ERROR_POPUP
                what = "an error popup" if error else f"an unread {message.method}"
                left.append(f"{what}: {str(message.params)[:300]}")
        return left + self._link.faults

    async def _exit(self, process: anyio.abc.Process) -> list[str]:
        with anyio.move_on_after(self._within):
            await process.wait()
        if process.returncode is None:
            return [f"the server still runs {self._within} s after exit"]
        with anyio.move_on_after(self._within):
            await self._link.ended.wait()
        left = [] if self._link.ended.is_set() else ["a child of the server holds its output open"]
        if process.returncode != 0:
            tail = self.stderr[-2000:].decode(errors="replace")
            left.append(f"the server ended with code {process.returncode}\n{tail}")
        return left

    async def _stop(self, error: BaseException | None) -> None:
        if self._process is not None and self._process.returncode is None:
            self._process.kill()
        self._tasks.cancel_scope.cancel()
        try:
            if isinstance(error, anyio.get_cancelled_exc_class()):
                await self._tasks.__aexit__(type(error), error, error.__traceback__)
            else:
                # The test's own exception must come out as it is, not in a group.
                await self._tasks.__aexit__(None, None, None)
        finally:
            self._link.abandon()
            self._edit_box.close()
            self._edit_queue.close()
            if self._process is not None:
                with anyio.CancelScope(shield=True):
                    await self._process.aclose()

    async def _drain(self, process: anyio.abc.Process) -> None:
        assert process.stderr is not None
        async for data in process.stderr:
            self.stderr += data

    async def _wake_at_the_end(self) -> None:
        await self._link.ended.wait()
        self._wake()
