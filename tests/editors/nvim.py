"""Drives a real Neovim the way a person and their configuration would.

The editor runs in a pseudo terminal, so that its prompts are those that a person would see,
and is asked over its own remote procedure calls. Nothing of its Lua runs on a schedule of ours.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import sys
import sysconfig
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgpack_rpc import Remote
from terminal import Terminal

if TYPE_CHECKING:
    from collections.abc import Mapping
    from types import TracebackType
    from typing import Self

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
if vim.env.ACPLS_PLAIN then
  local method = 'workspace/applyEdit'
  vim.lsp.config('acpls', { handlers = { [method] = vim.lsp.handlers[method] } })
end
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
"""


def neovim() -> str | None:
    """The Neovim that came with the test requirements, else the one on the path."""
    beside = Path(sysconfig.get_path("scripts")) / "nvim"
    return str(beside) if beside.exists() else shutil.which("nvim")


class Nvim(Terminal):
    """A running Neovim with the server attached."""

    def __init__(
        self,
        folder: Path,
        options: dict[str, Any],
        *,
        server: str | None = None,
        environment: Mapping[str, str] | None = None,
    ) -> None:
        """``folder`` is the workspace; ``options`` go to the server as they are. ``server``:
        another program than ours, with the ``environment`` that it needs.
        """
        self.folder = folder
        (folder / ".root").touch()
        home = folder.parent / f"{folder.name}-home"
        home.mkdir(exist_ok=True)
        configuration = home / "init.lua"
        configuration.write_text(CONFIGURATION)
        self._socket = home / "nvim.sock"
        self._remote: Remote | None = None
        command = [sys.executable, "-m", "acpls"] if server is None else [server]
        program = neovim()
        assert program is not None
        super().__init__(
            [program, "--listen", str(self._socket), "-u", str(configuration)],
            folder,
            {
                **os.environ,
                "HOME": str(home),
                "XDG_CONFIG_HOME": str(home / "config"),
                "XDG_STATE_HOME": str(home / "state"),
                "XDG_DATA_HOME": str(home / "data"),
                "ACPLS_RUNTIME": str(Path(__file__).parents[2] / "editors" / "neovim"),
                "ACPLS_CMD": json.dumps([*command, "serve"]),
                "ACPLS_OPTIONS": json.dumps(options),
                "NVIM_LOG_FILE": str(home / "nvim.log"),
                **(environment or {}),
            },
        )

    def __enter__(self) -> Self:
        self.until(self._listens, "Neovim listens")
        # It answers before it has read its configuration.
        self.wait("vim.v.vim_did_enter == 1", "Neovim has started")
        return self

    def _listens(self) -> bool:
        with contextlib.suppress(OSError):
            self._remote = Remote(self._socket)
        return self._remote is not None

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.end()

    def end(self) -> None:
        super().end()
        if self._remote is not None:
            self._remote.close()

    def _ask(self, method: str, *arguments: object) -> Any:
        assert self._remote is not None
        return self._remote.request(method, *arguments)

    def is_blocked(self) -> bool:
        """Whether it waits for a key, in a prompt or in the middle of a command."""
        return bool(self._ask("nvim_get_mode")["blocking"])

    def mode(self) -> str:
        """The mode, in Neovim's letters; a prompt is ``c`` or ``r``."""
        return str(self._ask("nvim_get_mode")["mode"])

    def lua(self, expression: str) -> Any:
        """The value of a Lua expression."""
        assert not self.is_blocked(), f"Neovim waits for a key\n{self.screen()}"
        return json.loads(self._ask("nvim_exec_lua", f"return vim.json.encode({expression})", []))

    def keys(self, keys: str) -> None:
        """Type keys, in Neovim's notation."""
        self._ask("nvim_input", keys)

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

        self.until(holds, what)
        return found[0]
