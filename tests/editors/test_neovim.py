"""The whole path in a real Neovim without a plugin, with the demo agent in both versions."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import psutil
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
    return "hi " + name


def other():
    return 1


def main():
    print(greet("x"))
"""
IDLE = "command('acpls.status').result.sessions[1].state == 'idle'"
ASKED = "#command('acpls.question.list').result > 0"


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    folder = tmp_path / "work"
    folder.mkdir()
    (folder / "greet.py").write_text(SOURCE)
    (folder / "notes.txt").write_text("one\ntwo\nthree\n")
    return folder


@pytest.fixture(params=[1, 2], ids=["acp1", "acp2"])
def start(request: pytest.FixtureRequest, workspace: Path) -> Iterator[Callable[..., Nvim]]:
    running: list[Nvim] = []

    def started(**options: object) -> Nvim:
        nvim = Nvim(workspace, {"agents": {"demo": {"protocol": request.param}}, **options})
        running.append(nvim.__enter__())
        return nvim

    yield started
    for nvim in running:
        nvim.__exit__(None, None, None)


def test_an_edit_is_kept_and_another_rejected_in_an_unsaved_buffer(
    start: Callable[..., Nvim], workspace: Path
) -> None:
    """P05, D07: the option taken reaches the agent, and no edit lands twice."""
    nvim = start()
    nvim.open("greet.py")
    nvim.keys("ggOfirst = 1<Esc>Golast = 2<Esc>")
    mine = f"first = 1\n{SOURCE}last = 2\n"
    assert nvim.text() == mine
    nvim.command("acpls.session.prompt", {"text": "rename greet to welcome"})
    nvim.wait(ASKED, "the agent asks")
    assert nvim.action("Allow once") == "Allow once: Rename greet to welcome (2 places in 1 file)"
    nvim.wait(IDLE, "the turn ends")
    assert nvim.text() == mine, "an unsaved buffer is left alone until the verdict"

    nvim.go(2)
    assert nvim.action("Keep this change") == "Keep this change"
    nvim.wait("vim.fn.getline(2) == 'def welcome(name):'", "the hunk is in the buffer")
    nvim.go(11)
    assert nvim.action("Reject this change") == "Reject this change"
    nvim.wait("command('acpls.status').result.hunks == 0", "nothing is left to decide")
    assert nvim.text() == mine.replace("def greet", "def welcome")
    on_disk = (workspace / "greet.py").read_text()
    assert "def welcome(name):" in on_disk
    assert 'print(greet("x"))' in on_disk

    nvim.keys("u")
    assert nvim.text() == mine, "the editor's own undo takes the kept hunk back"
    assert nvim.lua("vim.bo.modified") is True


def test_a_refused_question_leaves_the_file_alone(
    start: Callable[..., Nvim], workspace: Path
) -> None:
    """P11: a refusal is one of the agent's own options."""
    nvim = start()
    nvim.open("greet.py")
    nvim.command("acpls.session.prompt", {"text": "rename greet to welcome"})
    nvim.wait(ASKED, "the agent asks")
    nvim.action("Reject:")
    nvim.wait(IDLE, "the turn ends")
    assert (workspace / "greet.py").read_text() == SOURCE
    assert nvim.text() == SOURCE
    assert nvim.command("acpls.review.list") == []


def test_the_cursor_follows_only_when_asked_and_idle(start: Callable[..., Nvim]) -> None:
    nvim = start(follow={"idleSeconds": 0.2})
    nvim.open("notes.txt")
    windows = "#vim.api.nvim_list_wins()"
    nvim.command("acpls.session.prompt", {"text": "explain greet.py"})
    nvim.wait("#command('acpls.follow.trail').result > 0", "the agent was somewhere")
    nvim.wait(IDLE, "the turn ends")
    assert nvim.lua(windows) == 1, "follow is off: nothing moves"

    assert nvim.command("acpls.follow.set", {"on": True}) == {"on": True}
    nvim.command("acpls.session.prompt", {"text": "explain greet.py"})
    nvim.wait(f"{windows} == 2", "the place is shown beside")
    assert nvim.lua("vim.fn.expand('%:t')") == "notes.txt", "the focus stays"
    shown = "vim.tbl_map(function(w) return vim.fn.fnamemodify(vim.api.nvim_buf_get_name("
    shown += "vim.api.nvim_win_get_buf(w)), ':t') end, vim.api.nvim_list_wins())"
    assert sorted(nvim.lua(shown)) == ["greet.py", "notes.txt"]


def test_the_cursor_does_not_move_while_the_user_types(start: Callable[..., Nvim]) -> None:
    nvim = start(follow={"on": True, "idleSeconds": 600})
    nvim.open("notes.txt")
    nvim.command("acpls.session.new")
    nvim.keys("Goa line<Esc>")
    nvim.wait("vim.fn.getline(4) == 'a line'", "the line is typed")
    nvim.command("acpls.session.prompt", {"text": "explain greet.py"})
    nvim.wait("#command('acpls.follow.trail').result > 0", "the agent was somewhere")
    nvim.wait(IDLE, "the turn ends")
    assert nvim.lua("#vim.api.nvim_list_wins()") == 1


def test_d07_a_clean_buffer_follows_its_file_without_a_question(
    start: Callable[..., Nvim], workspace: Path
) -> None:
    """The configuration for Neovim: what holds what its file holds is not asked about."""
    nvim = start()
    nvim.open("greet.py")
    nvim.command("acpls.session.prompt", {"text": "rename greet to welcome"})
    nvim.wait(ASKED, "the agent asks")
    nvim.action("Allow once")
    nvim.wait("vim.fn.getline(1) == 'def welcome(name):'", "the buffer is in step")
    nvim.wait("vim.bo.modified == false", "and is known to be")
    nvim.wait(IDLE, "the turn ends")
    nvim.ex("checktime")
    nvim.keys(":write<CR>")
    nvim.wait("vim.api.nvim_get_mode().blocking == false", "nothing waits for a key")
    assert nvim.text() == (workspace / "greet.py").read_text()
    # Word of the question may have come before it was answered.
    assert re.fullmatch(r"(LSP\[acpls\] Waiting for you: Rename .*)?", nvim.lua("vim.v.errmsg"))
    assert "W12" not in nvim.lua("vim.api.nvim_exec2('messages', { output = true }).output")


def test_a_long_turn_is_stopped(start: Callable[..., Nvim]) -> None:
    nvim = start()
    nvim.open("notes.txt")
    nvim.command("acpls.session.prompt", {"text": "talk at length"})
    running = "command('acpls.status').result.sessions[1].state == 'running'"
    nvim.wait(running, "the agent talks")
    assert nvim.action("Stop") == "Stop Demo agent"
    nvim.wait(IDLE, "the turn ends")
    entry = nvim.command("acpls.session.list")["sessions"][0]
    assert entry["stopReason"] == "cancelled"


def test_the_conversation_is_written_and_sent_from_a_document(
    start: Callable[..., Nvim],
) -> None:
    nvim = start()
    nvim.open("greet.py")
    nvim.command("acpls.session.openConversation")
    nvim.wait("vim.fn.expand('%:e') == 'md'", "the conversation is shown")
    nvim.wait("#vim.lsp.get_clients({ name = 'acpls', bufnr = 0 }) == 1", "it is attached")
    nvim.keys("ihelp<Esc>")
    nvim.wait("vim.fn.search('^help$', 'nw') > 0", "the prompt is written")
    assert nvim.action("Send") == "Send what is written under the last heading"
    nvim.keys("Gkoand then<Esc>")
    nvim.wait(IDLE, "the turn ends")
    nvim.wait("vim.fn.search('^## Demo agent$', 'nw') > 0", "the answer is there")
    text = nvim.text()
    assert text.count("\nhelp\n") == 1
    heading = text.index("write below")
    assert text.index("\nhelp\n") < text.index("## Demo agent") < heading
    assert text.index("and then") > heading, "what was typed meanwhile is still the draft"


def test_nothing_is_left_when_neovim_quits(start: Callable[..., Nvim]) -> None:
    """X01: quitting in the middle of a turn ends the server and everything it started."""
    nvim = start()
    nvim.open("notes.txt")
    nvim.command("acpls.session.prompt", {"text": "talk at length"})
    running = "command('acpls.status').result.sessions[1].state == 'running'"
    nvim.wait(running, "the agent talks")
    family = psutil.Process(nvim.process.pid).children(recursive=True)
    assert len(family) >= 2, "the server and the agent"
    nvim.keys(":qa!<CR>")
    assert nvim.process.wait(15) == 0
    _, alive = psutil.wait_procs(family, timeout=10)
    assert alive == []


def test_nothing_is_left_when_neovim_is_killed(start: Callable[..., Nvim]) -> None:
    """X01: an editor that dies takes the server and everything it started along."""
    nvim = start()
    nvim.open("notes.txt")
    nvim.command("acpls.session.prompt", {"text": "talk at length"})
    running = "command('acpls.status').result.sessions[1].state == 'running'"
    nvim.wait(running, "the agent talks")
    family = psutil.Process(nvim.process.pid).children(recursive=True)
    nvim.process.kill()
    _, alive = psutil.wait_procs(family, timeout=10)
    assert alive == []


def test_nothing_blocks_the_screen(start: Callable[..., Nvim]) -> None:
    """No message waits for a key: in this editor all but errors would."""
    nvim = start()
    nvim.open("greet.py")
    nvim.command("acpls.session.prompt", {"text": "plan something"})
    nvim.wait("(command('acpls.status').result.sessions[1] or {}).stopReason", "the turn ends")
    assert nvim.lua("vim.api.nvim_get_mode().blocking") is False
    assert nvim.lua("vim.api.nvim_exec2('messages', { output = true }).output") == ""
