"""What a person does in an editor, whichever it is; lines count from one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Callable

    from terminal import Terminal

Saved: TypeAlias = Literal["written", "asked", "refused"]
"""How an editor took it that the user wanted to save."""


class Hands(Protocol):
    """A person at an editor that runs in a terminal."""

    name: str
    takes_arguments: bool
    """Whether a command can be given arguments by hand."""
    keeps_deleted: bool
    """Whether a document stays open when its file is deleted by way of the editor."""
    has_dialogs: bool
    """Whether the server's dialogs are shown."""
    keeps_focus: bool
    """Whether another document can be shown without going there."""

    @property
    def terminal(self) -> Terminal:
        """Where the editor runs."""
        ...

    def open(self, name: str) -> None:
        """Go to a file of the workspace, which the server is told of."""
        ...

    def above(self, line: int, text: str, meanwhile: Callable[[], None] | None = None) -> None:
        """Write a line above this one, or several; when it comes back, the server was told.

        ``meanwhile`` happens when half of it is written.
        """
        ...

    def append(self, line: int, text: str) -> None:
        """Write at the end of a line; when it comes back, the server was told."""
        ...

    def rewrite(self, line: int, text: str) -> None:
        """Write this in place of a line; when it comes back, the server was told."""
        ...

    def text(self) -> str:
        """What the document holds, with the line endings that its file has."""
        ...

    def marks(self) -> list[int]:
        """The lines that have a mark in the margin; a document begins at the top."""
        ...

    def is_dirty(self) -> bool:
        """Whether the editor thinks that there is something to save."""
        ...

    def save(self) -> Saved:
        """Save, and overwrite what the file holds where the editor objects to that."""
        ...

    def undo(self) -> None:
        """Undo one thing."""
        ...

    def reload(self) -> None:
        """Have the file read again."""
        ...

    def refocus(self) -> None:
        """Look at another window, and come back."""
        ...

    def titles(self, line: int) -> list[str]:
        """Open the menu of code actions at a line, and leave it."""
        ...

    def act(self, line: int, title: str, meanwhile: Callable[[], None] | None = None) -> None:
        """Take the code action with this title from the menu.

        ``meanwhile`` happens when the menu is open.
        """
        ...

    def dialog(self, *titles: str) -> None:
        """Wait until a dialog shows these answers."""
        ...

    def choose(self, title: str) -> None:
        """Take this answer in the dialog that is there."""
        ...

    def press_enter(self) -> None:
        """Confirm whatever there is to be confirmed, in a dialog or a list."""
        ...

    def dismiss(self) -> None:
        """Leave the dialog without an answer."""
        ...

    def references(self, name: str) -> None:
        """Open the list of references, and go to the first one in this file in it."""
        ...

    def define(self, line: int, word: str) -> None:
        """Go to where this word in a line leads, as to a definition."""
        ...

    def at(self) -> tuple[str, int]:
        """The file and the line that the cursor is in."""
        ...

    def shown(self) -> list[str]:
        """The files on the screen, in alphabetical order."""
        ...

    def command(self, name: str, argument: dict[str, Any] | None = None) -> None:
        """Have the editor run a command of the server's."""
        ...

    def go_on(self) -> None:
        """Leave a message that is in front of the text."""
        ...

    def is_undisturbed(self) -> bool:
        """Whether nothing on the screen waits for an answer, or is in front of the text."""
        ...

    def quit(self) -> None:
        """Leave, whatever is not saved."""
        ...
