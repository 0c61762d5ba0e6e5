"""Drives a real Neovim, headless, the way a person and their configuration would.

The editor runs with ``--headless --listen``; each question to it is asked by a second,
short-lived process, so nothing of its Lua runs on a schedule of ours.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import sysconfig
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import TracebackType
    from typing import Self

WITHIN_S = 15.0
EVERY_S = 0.03

CONFIGURATION = """
vim.o.swapfile = false
vim.o.hidden = true
vim.cmd('filetype indent off')
vim.o.autoindent = false
vim.opt.runtimepath:prepend(vim.env.ACPLS_RUNTIME)
vim.lsp.config('acpls', {
  cmd = vim.json.decode(vim.env.ACPLS_CMD),
  root_markers = { '.root' },
  init_options = vim.json.decode(vim.env.ACPLS_OPTIONS),
})
vim.lsp.enable('acpls')

-- What a person does with code actions, without the menu: by the title.
function _G.action(title)
  -- By its number: for 0, what was typed last is not sent before the request.
  local buffer = vim.api.nvim_get_current_buf()
  local client = vim.lsp.get_clients({ name = 'acpls' })[1]
  local params = vim.lsp.util.make_range_params(0, client.offset_encoding)
  params.context = { diagnostics = {} }
  local answer = client:request_sync('textDocument/codeAction', params, 5000, buffer)
  local titles = {}
  for _, found in ipairs(answer and answer.result or {}) do
    if vim.startswith(found.title, title) then
      client:exec_cmd(found.command, { bufnr = buffer })
      return found.title
    end
    table.insert(titles, found.title)
  end
  return titles
end

function _G.command(name, argument)
  local buffer = vim.api.nvim_get_current_buf()
  local client = vim.lsp.get_clients({ name = 'acpls' })[1]
  local params = { command = name, arguments = argument and { argument } or nil }
  local answer = client:request_sync('workspace/executeCommand', params, 10000, buffer)
  return answer and (answer.err or { result = answer.result }) or 'no answer'
end

_G.asked = {}
"""


def neovim() -> str | None:
    """The Neovim that came with the test requirements, else the one on the path."""
    beside = Path(sysconfig.get_path("scripts")) / "nvim"
    return str(beside) if beside.exists() else shutil.which("nvim")


class Nvim:
    """A running Neovim with the server attached."""

    def __init__(self, folder: Path, options: dict[str, Any]) -> None:
        """``folder`` is the workspace; ``options`` go to the server as they are."""
        self.folder = folder
        (folder / ".root").touch()
        home = folder.parent / f"{folder.name}-home"
        home.mkdir()
        configuration = home / "init.lua"
        configuration.write_text(CONFIGURATION)
        self._socket = home / "nvim.sock"
        command = [sys.executable, "-m", "acpls", "serve"]
        environment = {
            **os.environ,
            "HOME": str(home),
            "XDG_CONFIG_HOME": str(home / "config"),
            "XDG_STATE_HOME": str(home / "state"),
            "XDG_DATA_HOME": str(home / "data"),
            "ACPLS_RUNTIME": str(Path(__file__).parents[2] / "editors" / "neovim"),
            "ACPLS_CMD": json.dumps(command),
            "ACPLS_OPTIONS": json.dumps(options),
            "NVIM_LOG_FILE": str(home / "nvim.log"),
        }
        program = neovim()
        assert program is not None
        self._program = program
        self.process = subprocess.Popen(
            [program, "--headless", "--listen", str(self._socket), "-u", str(configuration)],
            cwd=folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        self._environment = environment

    def __enter__(self) -> Self:
        self._until(self._socket.exists, "Neovim listens")
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()

    def _remote(self, *arguments: str) -> str:
        command = [self._program, "--server", str(self._socket), *arguments]
        done = subprocess.run(
            command,
            capture_output=True,
            text=True,
            timeout=WITHIN_S,
            check=False,
            env=self._environment,
        )
        return done.stdout or done.stderr

    def lua(self, expression: str) -> Any:
        """The value of a Lua expression."""
        quoted = f"vim.json.encode({expression})".replace("'", "''")
        answer = self._remote("--remote-expr", f"luaeval('{quoted}')")
        try:
            return json.loads(answer)
        except ValueError:
            message = f"Neovim answered {answer!r} to {expression}"
            raise AssertionError(message) from None

    def keys(self, keys: str) -> None:
        """Type keys, in Neovim's notation."""
        self._remote("--remote-send", keys)

    def ex(self, command: str) -> None:
        """Run an ex command."""
        self.lua(f"(function() vim.cmd({json.dumps(command)}) return true end)()")

    def open(self, name: str) -> None:
        """Edit a file of the workspace and wait until the server is attached to it."""
        self.ex(f"edit {name}")
        attached = "#vim.lsp.get_clients({ name = 'acpls', bufnr = 0 }) == 1"
        ready = "vim.lsp.get_clients({ name = 'acpls' })[1].initialized"
        self.wait(f"{attached} and {ready}", "the server is attached")

    def go(self, line: int) -> None:
        """Put the cursor on a line, counted from one."""
        self.ex(str(line))

    def text(self) -> str:
        """The text of the current buffer."""
        lines = self.lua("vim.api.nvim_buf_get_lines(0, 0, -1, true)")
        return "".join(f"{line}\n" for line in lines)

    def command(self, name: str, argument: dict[str, Any] | None = None) -> Any:
        """Run a command of the server's and give its result."""
        given = (
            "nil" if argument is None else f"vim.json.decode({json.dumps(json.dumps(argument))})"
        )
        answer = self.lua(f"command({json.dumps(name)}, {given})")
        assert isinstance(answer, dict), answer
        assert "code" not in answer, answer
        return answer.get("result")

    def action(self, title: str) -> Any:
        """Take the code action whose title begins so, at the cursor."""
        return self.lua(f"action({json.dumps(title)})")

    def wait(self, expression: str, what: str) -> Any:
        """Wait until a Lua expression is true; its value comes back."""
        found: list[Any] = []

        def holds() -> bool:
            found[:] = [self.lua(expression)]
            return bool(found[0])

        self._until(holds, what)
        return found[0]

    def _until(self, holds: Callable[[], bool], what: str) -> None:
        end = time.monotonic() + WITHIN_S
        while not holds():
            assert time.monotonic() < end, f"waited in vain: {what}"
            assert self.process.poll() is None, "Neovim has ended"
            time.sleep(EVERY_S)
