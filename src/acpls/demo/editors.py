"""``acpls demo --editor``: the sample project in a real editor, ready to use.

The editor gets a configuration folder of its own, so that the user's is neither read nor
changed, and the same files that the user would copy there.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from pathlib import Path

from acpls.demo.project import copy_to

# Where the agent does not look for words to rename.
START = ".acp/START.md"

_HINTS = """\
# Try acpls here

The demo agent is configured; it needs no account and no network.

1. {open_conversation}
2. Press `i` and write `rename steep_time to brewing_time` under the last heading.
3. {code_actions}, and take `Send what is written under the last heading`.
4. The agent asks: the same menu has its answers.
5. Open `src/teas.py`, put the cursor on a marked line: the same menu keeps or rejects it.

`help` as a prompt lists what the demo agent can do. `:wqa` saves all and leaves.
"""

_NEOVIM = """\
vim.opt.runtimepath:prepend({runtime})
vim.g.mapleader = ' '
vim.lsp.config('acpls', {{
  cmd = vim.json.decode({command}),
  init_options = vim.json.decode({options}),
}})
vim.lsp.enable('acpls')
vim.diagnostic.config({{ virtual_text = true }})
vim.keymap.set('n', '<leader>a', vim.lsp.buf.code_action, {{ desc = 'Code actions' }})
vim.keymap.set('n', '<leader>c', function()
  local client = vim.lsp.get_clients({{ name = 'acpls' }})[1]
  client:exec_cmd({{ title = 'Conversation', command = 'acpls.session.openConversation' }})
end, {{ desc = 'Open the conversation' }})
"""


def open_editor(name: str, protocol: str) -> int:
    """Open the sample project in ``nvim`` or ``hx``; the editor's exit code comes back."""
    program = _program(name)
    if program is None:
        print(f"acpls demo: {name} is not on the PATH", file=sys.stderr)
        return 1
    folder = Path(tempfile.mkdtemp(prefix="acpls-demo-"))
    root = copy_to(folder / "tea-timer")
    home = folder / "config"
    options = {"agents": {"demo": {"protocol": int(protocol)}}}
    command = [sys.executable, "-m", "acpls", "serve"]
    if name == "nvim":
        arguments = _neovim(home, command, options)
    else:
        arguments = _helix(home, command, options)
    (root / START).parent.mkdir()
    (root / START).write_text(_hints(name), "utf-8")
    environment = {**os.environ, "XDG_CONFIG_HOME": str(home), "XDG_STATE_HOME": str(home)}
    code = subprocess.run(
        [program, *arguments, START, "src/teas.py"], cwd=root, env=environment, check=False
    ).returncode
    print(f"The project is still there: {root}")
    return code


def _program(name: str) -> str | None:
    beside = Path(sysconfig.get_path("scripts")) / name
    return str(beside) if beside.exists() else shutil.which(name)


def configurations() -> Path:
    """The folder with what users copy into their editors' configuration."""
    package = Path(__file__).parents[1]
    installed = package / "editors"
    return installed if installed.exists() else package.parents[1] / "editors"


def _neovim(home: Path, command: list[str], options: object) -> list[str]:
    home.mkdir()
    configuration = home / "init.lua"
    text = _NEOVIM.format(
        runtime=json.dumps(str(configurations() / "neovim")),
        command=json.dumps(json.dumps(command)),
        options=json.dumps(json.dumps(options)),
    )
    configuration.write_text(text, "utf-8")
    return ["-u", str(configuration)]


def _helix(
    home: Path, command: list[str], options: dict[str, dict[str, dict[str, int]]]
) -> list[str]:
    folder = home / "helix"
    folder.mkdir(parents=True)
    text = (configurations() / "helix" / "languages.toml").read_text("utf-8")
    text = text.replace('command = "acpls"', f"command = {json.dumps(command[0])}")
    text = text.replace('args = ["serve"]', f"args = {json.dumps(command[1:])}")
    protocol = options["agents"]["demo"]["protocol"]
    settings = f"\n[language-server.acpls.config]\nagents.demo.protocol = {protocol}\n"
    (folder / "languages.toml").write_text(text + settings, "utf-8")
    (folder / "config.toml").write_text('[editor]\nend-of-line-diagnostics = "hint"\n', "utf-8")
    return []


def _hints(name: str) -> str:
    if name == "nvim":
        return _HINTS.format(
            open_conversation="Press space, then c: the conversation opens.",
            code_actions="Press escape, then space and a",
        )
    return _HINTS.format(
        open_conversation="Type `:lsp-workspace-command acpls.session.openConversation`.",
        code_actions="Press escape, then space and a",
        undo="`u` takes a kept hunk back.",
    )
