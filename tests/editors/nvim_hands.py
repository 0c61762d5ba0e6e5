"""What a person does in Neovim, for the scenarios that other editors are taken through, too."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from nvim import Nvim

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from hands import Saved
    from tapped import Tap
    from terminal import Terminal

_ASKS = "Do you really want to write to it (y/n)?"
_MENU = "Code actions:"
_CHOOSE = "Type number and <Enter>"
_MARK = re.compile("[EIW] ")
_ENDS = {"unix": "\n", "dos": "\r\n", "mac": "\r"}


class NvimHands(Nvim):
    """A running Neovim with the first of the files open, and the server attached to it."""

    name = "neovim"
    takes_arguments = True
    keeps_deleted = False
    has_dialogs = True
    keeps_focus = True

    def __init__(self, folder: Path, first: str, tap: Tap, environment: Mapping[str, str]) -> None:
        """``environment`` has the ``acpls`` on its path that is to be started."""
        self._tap = tap
        super().__init__(folder, {}, server="acpls", environment=environment)
        self.__enter__()
        self.open(first)

    @property
    def terminal(self) -> Terminal:
        return self

    def marks(self) -> list[int]:
        # A line that goes on in the next row would be two.
        self.ex("setlocal nowrap")
        rows = enumerate(self.lines(), start=1)
        return [number for number, row in rows if _MARK.match(row)]

    def is_dirty(self) -> bool:
        return bool(self.lua("vim.bo.modified"))

    def is_undisturbed(self) -> bool:
        return self.mode() == "n" and not re.search("Press ENTER|y/n|W12|E[0-9]+:", self.screen())

    def _type(self, keys: str, text: str, meanwhile: Callable[[], None] | None = None) -> None:
        self.keys(keys)
        half = len(text) // 2
        self.keys(text[:half].replace("\n", "<CR>"))
        self.until(lambda: self.mode() == "i", "insert mode")
        if meanwhile is not None:
            meanwhile()
        self.keys(f"{text[half:]}<Esc>".replace("\n", "<CR>"))
        self.until(lambda: self.mode() == "n", "normal mode")
        # Else the server is told of it in a while.
        self.command("acpls.status")

    def above(self, line: int, text: str, meanwhile: Callable[[], None] | None = None) -> None:
        self._type(f"{line}GO", text, meanwhile)

    def append(self, line: int, text: str) -> None:
        self._type(f"{line}GA", text)

    def rewrite(self, line: int, text: str) -> None:
        self._type(f"{line}GS", text)

    def text(self) -> str:
        end = _ENDS[self.lua("vim.bo.fileformat")]
        lines = self.lua("vim.api.nvim_buf_get_lines(0, 0, -1, true)")
        mark = "\ufeff" if self.lua("vim.bo.bomb") else ""
        return mark + end.join(lines) + (end if self.lua("vim.bo.endofline") else "")

    def save(self) -> Saved:
        saves = len(self._tap.sent("editor", "textDocument/didSave"))
        self.keys(":write<CR>")

        def over() -> bool:
            return _ASKS in self.screen() or self._saves() > saves

        self.until(over, "the outcome of a save")
        if self._saves() > saves:
            return "written"
        self.keys("y")
        self.until(lambda: self._saves() > saves, "the file is overwritten")
        # Its own question fills the screen.
        self.go_on()
        return "asked"

    def go_on(self) -> None:
        self.keys("<CR>")
        self.until(self.is_undisturbed, "nothing in the way")

    def _saves(self) -> int:
        return len(self._tap.sent("editor", "textDocument/didSave"))

    def undo(self) -> None:
        self.keys("u")

    def reload(self) -> None:
        self.keys(":edit!<CR>")

    def refocus(self) -> None:
        self.write("\x1b[O\x1b[I")

    def titles(self, line: int) -> list[str]:
        titles = self._menu(line)
        self._choose("")
        return titles

    def act(self, line: int, title: str, meanwhile: Callable[[], None] | None = None) -> None:
        titles = self._menu(line)
        assert title in titles, titles
        if meanwhile is not None:
            meanwhile()
        self._choose(str(titles.index(title) + 1))

    def _choose(self, number: str) -> None:
        self.keys(f"{number}<CR>")

        def is_gone() -> bool:
            if self.mode() == "r" and "Press ENTER" in self.screen():
                # An error that is told while the menu is on the screen waits for this.
                self.keys("<CR>")
            return self.mode() == "n" and _CHOOSE not in self.screen()

        self.until(is_gone, "no menu")

    def _menu(self, line: int) -> list[str]:
        """Open the menu of code actions at a line; the titles in it."""
        self.until(self.is_undisturbed, "nothing in the way")
        self.keys(f"{line}Ggra")
        # What a dialog looked like may still be on the screen.
        self.until(lambda: self.mode() == "c" and _MENU in self.lines(), "a menu")
        self.until(lambda: _CHOOSE in self.screen(), "all of the menu")
        return re.findall(r"(?m)^\d+: (.*?)(?: \[acpls\])?$", self.screen())

    def dialog(self, *titles: str) -> None:
        rows = [f"{number}: {title}" for number, title in enumerate(titles, start=1)]

        def shown() -> bool:
            return self.mode() == "c" and all(row in self.lines() for row in rows)

        self.until(shown, f"a dialog with {titles}")

    def choose(self, title: str) -> None:
        (number,) = re.findall(rf"(?m)^(\d+): {re.escape(title)}$", self.screen())
        self.keys(f"{number}<CR>")

    def press_enter(self) -> None:
        self.keys("<CR>")

    def dismiss(self) -> None:
        self.keys("<Esc>")

    def references(self, name: str) -> None:
        self.keys("grr")
        self.wait("vim.bo.buftype == 'quickfix'", "a list of references")
        self.keys(f"/{name}<CR>")
        self.wait(f"vim.startswith(vim.fn.getline('.'), '{name}')", f"{name} in the list")

    def define(self, line: int, word: str) -> None:
        self.keys(f"{line}G0/{word}<CR><C-]>")

    def at(self) -> tuple[str, int]:
        name, line = self.lua("{ vim.fn.expand('%:t'), vim.fn.line('.') }")
        return name, line

    def shown(self) -> list[str]:
        windows = "vim.api.nvim_tabpage_list_wins(0)"
        name = "vim.fs.basename(vim.api.nvim_buf_get_name(vim.api.nvim_win_get_buf(window)))"
        return sorted(self.lua(f"vim.tbl_map(function(window) return {name} end, {windows})"))

    def quit(self) -> None:
        self.keys(":qall!<CR>")
        self.process.wait(10)
