"""What a real Neovim shows of hunks without a plugin, and that it can be acted on (D14)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from nvim import Nvim, neovim

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

pytestmark = [
    pytest.mark.editors,
    pytest.mark.needs("nvim", found=neovim()),
    pytest.mark.timeout(60),
]

SOURCE = """\
def greet(name):
    return "hi 😀 " + name


def main():
    print(greet("x"))
"""
IDLE = "command('acpls.status').result.sessions[1].state == 'idle'"
ASKED = "#command('acpls.question.list').result > 0"


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Callable[[int], Nvim]]:
    folder = tmp_path / "work"
    folder.mkdir()
    (folder / "greet.py").write_text(SOURCE)
    running: list[Nvim] = []

    def started(protocol: int) -> Nvim:
        nvim = Nvim(folder, {"agents": {"demo": {"protocol": protocol}}})
        running.append(nvim.__enter__())
        nvim.open("greet.py")
        return nvim

    yield started
    for nvim in running:
        nvim.__exit__(None, None, None)


def prompts(nvim: Nvim, text: str) -> None:
    """Prompt, allow what is asked, and wait for the end."""
    nvim.command("acpls.session.prompt", {"text": text})
    nvim.wait(ASKED, "the agent asks")
    nvim.action("Allow once")
    nvim.wait(IDLE, "the turn ends")


def lenses(nvim: Nvim) -> list[tuple[int, str]]:
    """The lenses as Neovim keeps them to draw: zero-based line and title."""
    nvim.ex("lua vim.lsp.codelens.refresh({ bufnr = 0 })")
    nvim.wait("#vim.lsp.codelens.get(0) > 0", "there are lenses")
    found = nvim.lua("vim.lsp.codelens.get(0)")
    return sorted((lens["range"]["start"]["line"], lens["command"]["title"]) for lens in found)


def marks(nvim: Nvim) -> list[tuple[int, str]]:
    found = nvim.lua("vim.diagnostic.get(0)")
    return sorted((mark["lnum"], mark["message"]) for mark in found)


def hover(nvim: Nvim) -> Any:
    """What a hover at the cursor shows."""
    request = "vim.lsp.buf_request_sync(0, 'textDocument/hover', "
    request += "vim.lsp.util.make_position_params(0, 'utf-32'), 5000)"
    (answer,) = nvim.lua(f"vim.tbl_values({request})")
    return answer["result"]["contents"]["value"]


def test_hunks_have_marks_lenses_and_a_hover_d14(start: Callable[[int], Nvim]) -> None:
    nvim = start(1)
    prompts(nvim, "rename greet to welcome")
    told = "Agent's change (-1 +1): keep or reject?"
    first = "(vim.diagnostic.get(0)[1] or {}).message"
    nvim.wait(f'{first} == "{told}"', "the document is in step with its file")
    assert marks(nvim) == [(0, told), (5, told)]
    assert lenses(nvim) == [
        (0, "Keep"),
        (0, "Keep all 2"),
        (0, "Reject"),
        (0, "Reject all 2"),
        (5, "Keep"),
        (5, "Reject"),
    ]
    nvim.go(6)
    assert hover(nvim) == '```diff\n-    print(greet("x"))\n+    print(welcome("x"))\n```'
    assert nvim.action("Reject all 2 changes in this file").startswith("Reject")
    nvim.wait("#vim.diagnostic.get(0) == 0", "nothing is left to decide")
    assert nvim.text() == SOURCE


def test_a_clash_shows_both_sides_and_either_can_be_taken(
    start: Callable[[int], Nvim], tmp_path: Path
) -> None:
    """The agent writes the disk while the same line has unsaved changes."""
    nvim = start(2)
    nvim.keys("ggA  # mine<Esc>")
    mine = nvim.text()
    assert mine.startswith("def greet(name):  # mine\n")
    prompts(nvim, "rename greet to welcome")
    nvim.wait("#vim.diagnostic.get(0) == 2", "the hunks are marked")
    (_, clash), (_, other) = marks(nvim)
    assert clash.startswith(
        "Agent's change (-1 +1) clashes with yours: these lines are yours, the file has the agent's"
    )
    assert other == "Agent's change (-1 +1), in the file, not here: keep or reject?"
    nvim.go(1)
    assert "-def greet(name):\n+def greet(name):  # mine\n" in hover(nvim)
    assert "-def greet(name):\n+def welcome(name):\n" in hover(nvim)
    assert nvim.action("Take the agent's") == "Take the agent's lines over mine"
    nvim.wait("vim.fn.getline(1) == 'def welcome(name):'", "the agent's lines are there")
    nvim.go(6)
    assert nvim.action("Reject this change") == "Reject this change"
    nvim.wait("#vim.diagnostic.get(0) == 0", "nothing is left to decide")
    assert nvim.text() == SOURCE.replace("def greet", "def welcome")
    assert 'print(greet("x"))' in (tmp_path / "work" / "greet.py").read_text()


def test_mine_is_kept_where_the_user_says_so(start: Callable[[int], Nvim], tmp_path: Path) -> None:
    nvim = start(2)
    nvim.keys("ggA  # mine<Esc>")
    mine = nvim.text()
    prompts(nvim, "rename greet to welcome")
    nvim.wait("#vim.diagnostic.get(0) == 2", "the hunks are marked")
    nvim.go(1)
    assert nvim.action("Keep mine") == "Keep mine"
    nvim.wait("#vim.diagnostic.get(0) == 1", "one is left")
    assert nvim.text() == mine
    on_disk = (tmp_path / "work" / "greet.py").read_text()
    assert on_disk.startswith("def greet(name):\n")
    assert 'print(welcome("x"))' in on_disk


@pytest.mark.parametrize("protocol", [1, 2])
def test_a_file_that_goes_can_be_brought_back_from_its_document_d38(
    start: Callable[[int], Nvim], tmp_path: Path, protocol: int
) -> None:
    nvim = start(protocol)
    prompts(nvim, "delete greet.py")
    file = tmp_path / "work" / "greet.py"
    nvim.wait("#vim.diagnostic.get(0) == 1", "the deletion is marked")
    assert not file.exists()
    assert marks(nvim) == [(0, "The deletion of this file by the agent: keep or reject?")]
    assert lenses(nvim) == [
        (0, "Keep the deletion of this file"),
        (0, "Reject the deletion of this file"),
    ]
    nvim.go(5)
    assert nvim.action("Reject the deletion") == "Reject the deletion of this file"
    nvim.wait("#vim.diagnostic.get(0) == 0", "nothing is left to decide")
    assert file.read_text() == SOURCE
