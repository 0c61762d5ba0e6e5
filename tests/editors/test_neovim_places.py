"""Where a real Neovim shows the agent's place, with the configuration of this repository."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from nvim import Nvim, neovim

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytestmark = [
    pytest.mark.editors,
    pytest.mark.needs("nvim", found=neovim()),
    pytest.mark.timeout(60),
]

WINDOWS = """vim.tbl_map(function(w)
  local info = vim.fn.getwininfo(w)[1]
  local name = vim.api.nvim_buf_get_name(vim.api.nvim_win_get_buf(w))
  return {
    file = vim.fn.fnamemodify(name, ':t'), line = vim.api.nvim_win_get_cursor(w)[1],
    top = info.topline, bottom = info.botline, mine = w == vim.api.nvim_get_current_win(),
  }
end, vim.api.nvim_list_wins())"""


@pytest.fixture
def nvim(tmp_path: Path) -> Iterator[Nvim]:
    """The user is in line 5 of a file of 200."""
    folder = tmp_path / "work"
    folder.mkdir()
    for name in "abc":
        lines = "".join(f"{name} {line}\n" for line in range(1, 201))
        (folder / f"{name}.txt").write_text(lines)
    with Nvim(folder, {}) as running:
        running.open("a.txt")
        running.go(5)
        yield running


def show(nvim: Nvim, name: str, row: int, *, focus: bool = False) -> Any:
    """The server wants a document shown; what Neovim answers."""
    spot = {"line": row, "character": 0}
    params = {
        "uri": (nvim.folder / name).as_uri(),
        "takeFocus": focus,
        "selection": {"start": spot, "end": spot},
    }
    given = json.dumps(json.dumps(params))
    client = "vim.lsp.get_clients({ name = 'acpls' })[1]"
    handler = f"{client}.handlers['window/showDocument']"
    return nvim.lua(f"{handler}(nil, vim.json.decode({given}), {{ client_id = {client}.id }})")


def windows(nvim: Nvim) -> dict[bool, list[Any]]:
    """The user's window, and all others."""
    found = nvim.lua(WINDOWS)
    return {mine: [window for window in found if window["mine"] is mine] for mine in (True, False)}


def test_f02_f09_f11_a_place_is_shown_in_one_window_of_its_own(nvim: Nvim) -> None:
    """F02: the user's window and cursor stay, in the same file too. F09: the line is in the
    middle. F11: the next place takes the same window.
    """
    for name, row in (("b.txt", 100), ("c.txt", 50), ("a.txt", 150), ("b.txt", 30)):
        assert show(nvim, name, row) == {"success": True}
        (preview,) = windows(nvim)[False]
        (mine,) = windows(nvim)[True]
        assert (preview["file"], preview["line"]) == (name, row + 1)
        above, below = preview["line"] - preview["top"], preview["bottom"] - preview["line"]
        assert abs(above - below) <= 2
        assert (mine["file"], mine["line"]) == ("a.txt", 5)
    assert nvim.mode() == "n"


def test_f13_a_line_past_the_end_is_the_last_one(nvim: Nvim) -> None:
    assert show(nvim, "b.txt", 999) == {"success": True}
    assert windows(nvim)[False][0]["line"] == 200


def test_f02_a_place_is_shown_while_the_user_types(nvim: Nvim) -> None:
    """F02: should one come late, not a key is lost."""
    nvim.keys("Ohal")
    nvim.until(lambda: nvim.mode() == "i", "insert mode")
    show(nvim, "b.txt", 100)
    nvim.keys("f a line<Esc>")
    nvim.wait("vim.fn.getline(5) == 'half a line'", "all of it is typed")
    assert windows(nvim)[True][0]["file"] == "a.txt"


def test_f04_a_window_that_the_user_took_over_is_his(nvim: Nvim) -> None:
    """F04: and one that he closed is not made again behind his back without his being told."""
    show(nvim, "b.txt", 100)
    nvim.keys("<C-w>k:edit c.txt<CR>")
    nvim.wait("vim.fn.expand('%:t') == 'c.txt'", "the user looks at something there")
    nvim.keys("<C-w>j")
    show(nvim, "b.txt", 20)
    assert sorted(w["file"] for w in windows(nvim)[False]) == ["b.txt", "c.txt"]


def test_f04_who_closes_the_window_has_gone_away(nvim: Nvim) -> None:
    assert nvim.command("acpls.follow.set", {"on": True}) == {"on": True}
    show(nvim, "b.txt", 100)
    assert nvim.command("acpls.status")["follow"] == "on"
    nvim.ex("only")
    nvim.wait("command('acpls.status').result.follow == 'paused'", "the server is told")


def test_f11_files_that_were_only_looked_at_do_not_pile_up(nvim: Nvim) -> None:
    """F11: nor do their documents; who goes there has the file open like any other."""
    names = "vim.tbl_map(function(b) return vim.fn.fnamemodify(b.name, ':t') end, "
    names += "vim.fn.getbufinfo({ bufloaded = 1 }))"
    for name in ("b.txt", "c.txt"):
        show(nvim, name, 100)
    assert sorted(nvim.lua(names)) == ["a.txt", "c.txt"]
    nvim.keys("<C-w>k")
    nvim.wait("vim.fn.expand('%:t') == 'c.txt'", "the user goes there")
    nvim.keys("<C-w>j")
    nvim.wait("vim.fn.expand('%:t') == 'a.txt'", "and back")
    show(nvim, "b.txt", 100)
    assert sorted(nvim.lua(names)) == ["a.txt", "b.txt", "c.txt"]


def test_what_is_to_have_the_focus_has_it(nvim: Nvim) -> None:
    assert show(nvim, "b.txt", 100, focus=True) == {"success": True}
    (mine,) = windows(nvim)[True]
    assert (mine["file"], mine["line"]) == ("b.txt", 101)
    assert windows(nvim)[False] == []


@pytest.mark.parametrize("protocol", [1, 2])
def test_f10_a_conversation_leads_to_places(tmp_path: Path, protocol: int) -> None:
    """F10: definitions of mentions and tool calls; its references are the trail."""
    folder = tmp_path / "work"
    folder.mkdir()
    (folder / "greet.py").write_text("def greet(name):\n    return name\n\n\nprint(greet(1))\n")
    with Nvim(folder, {"agents": {"demo": {"protocol": protocol}}}) as nvim:
        nvim.open("greet.py")
        nvim.command("acpls.session.prompt", {"text": "explain greet.py"})
        idle = "command('acpls.status').result.sessions[1].state == 'idle'"
        nvim.wait(f"{idle} and #command('acpls.follow.trail').result > 0", "the turn ends")
        nvim.command("acpls.session.openConversation")
        nvim.wait("vim.fn.expand('%:e') == 'md' and vim.fn.search('^- read: ') > 0", "a tool call")
        talk = nvim.lua("vim.fn.expand('%:t')")
        nvim.lua("(function() vim.lsp.buf.definition() return true end)()")
        nvim.wait("vim.fn.expand('%:t') == 'greet.py'", "the definition is shown")
        nvim.ex(f"buffer {talk}")
        nvim.lua("(function() vim.lsp.buf.references() return true end)()")
        nvim.wait("vim.bo.buftype == 'quickfix'", "a list is shown")
        listed = "vim.tbl_map(function(i) return vim.fn.bufname(i.bufnr) end, vim.fn.getqflist())"
        names = nvim.lua(listed)
        assert names
        assert all(name.endswith("greet.py") for name in names), names
