"""Drives a real Helix in a pseudo terminal, with the configuration of this repository.

Helix has no remote control: what it shows is read from its screen, what it holds is had by
piping it to a file, and that it has told the server of something is seen at the tap.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, Any

from terminal import Terminal

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from hands import Saved
    from tapped import Tap

CONFIGURATION = Path(__file__).parents[2] / "editors" / "helix" / "languages.toml"
# Commands of the server take arguments, and its dialogs are shown.
_SINCE = (25, 7)
_SHOWN = 60
_ROWS = 10
_SEEN = 8
_VIEW = r"(?:[⠀-⣿] )? *(\S+\.\w+)(?: \[[+-]+\])? [^│]*?(\d+):\d+"
_DOWN = "\x0e"


def helix() -> str | None:
    """The Helix that ``ACPLS_HELIX`` names, else the one on the path."""
    return os.environ.get("ACPLS_HELIX") or shutil.which("hx")


class Helix(Terminal):
    """A running Helix with the first of the files open, and the server attached to it."""

    name = "helix"
    keeps_deleted = True
    keeps_focus = False

    def __init__(
        self, program: str, folder: Path, first: str, tap: Tap, environment: Mapping[str, str]
    ) -> None:
        """``environment`` has the ``acpls`` on its path that is to be started."""
        self._tap = tap
        self._dialog: tuple[str, ...] = ()
        self._met = first
        home = folder.parent / f"{folder.name}-home"
        settings = Path(environment["XDG_CONFIG_HOME"]) / "helix"
        for each in (home, settings):
            each.mkdir(parents=True, exist_ok=True)
        shutil.copy(CONFIGURATION, settings)
        self._copy = home / "copy"
        here = {f"XDG_{kind}_HOME": str(home / kind) for kind in ("CACHE", "DATA", "STATE")}
        super().__init__([program, first], folder, {**environment, "HOME": str(home), **here})
        self.until(lambda: self._mode() == "NOR", "Helix is there")
        version = subprocess.run([program, "--version"], capture_output=True, text=True, check=True)
        year, month = re.findall(r"\d+", version.stdout)[:2]
        self.takes_arguments = self.has_dialogs = (int(year), int(month)) >= _SINCE
        self._until_told(first)

    @property
    def terminal(self) -> Terminal:
        return self

    # --- its screen -----------------------------------------------------------------------

    def _mode(self) -> str:
        return self._status()[:5].strip()

    def _status(self) -> str:
        """The line that tells the mode and the file; prompts are below it."""
        return self.lines()[-2]

    def marks(self) -> list[int]:
        return [int(line) for line in re.findall(r"(?m)^● +(\d+) ", self.screen())]

    def is_dirty(self) -> bool:
        return "[+]" in self._status()

    def is_undisturbed(self) -> bool:
        return self._mode() == "NOR" and not re.search("[┌│└]", self.screen())

    # --- keys -----------------------------------------------------------------------------

    def _escape(self) -> None:
        # What follows an escape at once would be taken for a key with Alt.
        self.write("\x1b")
        self.until(lambda: self._mode() == "NOR", "normal mode")

    def _colon(self, command: str) -> None:
        """Type a command; what stood below the status line is gone by then."""
        self.write(":")
        self.until(lambda: self.lines()[-1].startswith(":"), "a prompt for a command")
        self.write(f"{command}\r")

    def _type(self, keys: str, text: str, meanwhile: Callable[[], None] | None = None) -> None:
        self.write(keys)
        self.until(lambda: self._mode() == "INS", "insert mode")
        half = len(text) // 2
        for part, then in ((text[:half], meanwhile), (text[half:], self._escape)):
            before = len(self._typed())
            self.write(part.replace("\n", "\r"))
            self._until_typed(part, before)
            if then is not None:
                then()

    def _until_typed(self, part: str, before: int) -> None:
        self.until(lambda: part in self._typed()[before:], f"the server is told of {part!r}")

    def _typed(self) -> str:
        """All that was put into documents, in the order of their versions."""
        told = [message["params"] for message in self._tap.sent("editor", "textDocument/didChange")]
        told.sort(key=lambda params: tuple(map(params["textDocument"].get, ("uri", "version"))))
        return "".join(change["text"] for params in told for change in params["contentChanges"])

    # --- what a person does ------------------------------------------------------------------

    def open(self, name: str) -> None:
        self._colon(f"open {name}")
        self.until(lambda: f" {name} " in f"{self._status()} ", f"{name} is shown")
        self._until_told(name)
        # When it has nothing else to do it closes whatever prompt is open, which a person is too
        # slow to meet. A menu opens only after that.
        self.titles(1)
        self._met = self.at()[0]

    def _until_told(self, name: str) -> None:
        def told() -> bool:
            opened = self._tap.sent("editor", "textDocument/didOpen")
            uris = [message["params"]["textDocument"]["uri"] for message in opened]
            return any(uri.endswith(f"/{name}") for uri in uris)

        self.until(told, f"the server is told of {name}")

    def above(self, line: int, text: str, meanwhile: Callable[[], None] | None = None) -> None:
        self._type(f"{line}GO", text, meanwhile)

    def append(self, line: int, text: str) -> None:
        self._type(f"{line}GA", text)

    def rewrite(self, line: int, text: str) -> None:
        self.write(f"{line}Gghvglc")
        self.until(lambda: self._mode() == "INS", "insert mode")
        before = len(self._typed())
        self.write(text)
        # Quotes come in pairs by themselves, and the second one is typed over.
        told = text.replace("'", "")
        self.until(
            lambda: told in self._typed()[before:].replace("'", ""),
            f"the server is told of {text!r}",
        )
        self._escape()

    def text(self) -> str:
        name, _ = self.at()
        if name != self._met:
            # It was told to show this one, and closes a prompt soon afterwards (see ``open``).
            self._met = name
            self.titles(1)
        self._copy.unlink(missing_ok=True)
        part = self._copy.with_suffix(".part")
        self.write("%")
        self._colon(f"pipe-to cat > {part}; mv {part} {self._copy}")
        self.until(self._copy.exists, "a copy of the document")
        self.write(";gg")
        return self._copy.read_bytes().decode()

    def save(self) -> Saved:
        said = re.compile("written|use :w! to overwrite")
        self._colon("write")
        self.until(lambda: said.search(self.lines()[-1]) is not None, "the outcome of a save")
        if "written" in self.lines()[-1]:
            return "written"
        self._colon("write!")
        self.until(lambda: "written" in self.lines()[-1], "the file is overwritten")
        return "refused"

    def undo(self) -> None:
        self.write("u")

    def reload(self) -> None:
        self._colon("reload")

    def refocus(self) -> None:
        self.write("\x1b[O\x1b[I")

    def titles(self, line: int) -> list[str]:
        titles = self._menu(line)
        self._escape()
        self.until(lambda: not self._shows(titles[:1]), "the menu is gone")
        return titles

    def act(self, line: int, title: str, meanwhile: Callable[[], None] | None = None) -> None:
        titles = self._menu(line)
        assert title in titles, titles
        if meanwhile is not None:
            meanwhile()
        before = len(self._commands())
        # The first one is chosen already.
        self.write(_DOWN * titles.index(title) + "\r")
        self.until(lambda: len(self._commands()) > before, "the command")
        given = self._commands()[-1]["params"]
        offered = next(action for action in self._offered() if action["title"] == title)
        assert given["command"] == offered["command"]["command"], given
        assert given["arguments"] == offered["command"]["arguments"], given

    def _commands(self) -> list[Any]:
        return self._tap.sent("editor", "workspace/executeCommand")

    def _menu(self, line: int) -> list[str]:
        """Open the menu of code actions at a line; the titles in it."""
        asked = len(self._tap.sent("editor", "textDocument/codeAction"))
        self.write(f"{line}G a")
        self.until(
            lambda: len(self._tap.answers("textDocument/codeAction", by="server")) > asked,
            "the code actions",
        )
        titles = [action["title"] for action in self._offered()]
        self.until(lambda: self._shows(titles), f"a menu with {titles}")
        return titles

    def _shows(self, titles: list[str]) -> bool:
        """Whether these stand in a menu, which cuts what is too long for the screen, and has to
        be scrolled for more than ten.
        """
        screen = self.screen()
        return all(f" {title[:_SHOWN]}" in screen for title in titles[:_ROWS])

    def _offered(self) -> list[Any]:
        offered: list[Any] = self._tap.answers("textDocument/codeAction", by="server")[-1]["result"]
        return offered

    def dialog(self, *titles: str) -> None:
        # It is as wide as its message, and cuts what is longer.
        shown = [f" {title[:_SEEN]}" for title in titles]
        self.until(
            lambda: "┌" in self.screen() and all(title in self.screen() for title in shown),
            f"a dialog with {titles}",
        )
        self._dialog = titles

    def choose(self, title: str) -> None:
        self.write(_DOWN * self._dialog.index(title) + "\r")

    def press_enter(self) -> None:
        self.write("\r")

    def dismiss(self) -> None:
        self.write("\x1b")

    def references(self, name: str) -> None:
        self.write("gr")
        # What is typed before the list is filled may be lost.
        row = re.compile(rf"│ [> ] {re.escape(name)}:\d+ .*│")
        self.until(lambda: row.search(self.screen()) is not None, f"{name} in a list of references")
        # Only what has this in it stays there.
        self.write(name)
        self.until(lambda: "1/" in self.screen(), f"{name} alone in the list")

    def define(self, line: int, word: str) -> None:
        self.write(f"{line}Ggs/{re.escape(word)}\r")
        self.until(lambda: self._mode() == "NOR", "the word")
        self.write("gd")

    def at(self) -> tuple[str, int]:
        # Of the views side by side, the one that tells the mode has the cursor.
        status = re.search(rf"(?:NOR|INS|SEL) {_VIEW}", self._status())
        if status is None:
            # Something is in front of it.
            return "", 0
        return status[1].rsplit("/", 1)[-1], int(status[2])

    def shown(self) -> list[str]:
        views = re.findall(_VIEW, self._status())
        return sorted(name.rsplit("/", 1)[-1] for name, _ in views)

    def command(self, name: str, argument: dict[str, Any] | None = None) -> None:
        given = "" if argument is None else f" {json.dumps(argument, separators=(',', ':'))}"
        self._colon(f"lsp-workspace-command {name}{given}")

    def go_on(self) -> None:
        self._escape()

    def quit(self) -> None:
        self._colon("quit-all!")
        self.process.wait(10)
