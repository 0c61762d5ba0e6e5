"""The files of a session's workspace: finding, reading and writing them byte for byte.

Invariant: nothing outside of the workspace is read or written; text is decoded without
translating line ends or dropping a byte order mark.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

SIZE_LIMIT = 1_000_000
"""Bytes of the largest file that is taken for text."""

_SKIPPED = {"node_modules", "__pycache__"}


class Sorry(Exception):  # noqa: N818  what the user reads, not an error of ours
    """Something cannot be done; ``str()`` is a kind sentence for the user."""


class Workspace:
    """A folder that the demo agent works in; ``root`` is absolute."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def shown(self, path: Path) -> str:
        """A path as the user reads it: relative, with forward slashes."""
        try:
            return path.relative_to(self.root).as_posix()
        except ValueError:
            return str(path)

    def inside(self, word: str) -> Path:
        """The absolute path that ``word`` names. Raises ``Sorry`` when it leads outside."""
        path = self.root / word
        if ".." in path.parts:
            path = path.resolve()
        # Links are followed to the end, so that none of them leads out.
        if "\0" in word or not path.resolve().is_relative_to(self.root.resolve()):
            raise Sorry(f"`{word}` is outside of the workspace, so I stay away from it.")
        return path

    def existing(self, word: str) -> Path:
        """The file that ``word`` names, by its path or by its bare name if that is unique.

        Raises ``Sorry`` when there is none, or more than one.
        """
        path = self.inside(word)
        if path.is_file():
            return path
        if path.is_dir():
            raise Sorry(f"`{word}` is a folder; I work on files.")
        named = [one for one in self.files() if one.name == word]
        if len(named) > 1:
            listed = ", ".join(f"`{self.shown(one)}`" for one in named)
            raise Sorry(f"There is more than one `{word}`: {listed}. Which one do you mean?")
        if not named:
            raise Sorry(f"I cannot find `{word}` in this workspace.")
        return named[0]

    def files(self) -> list[Path]:
        """Every file, in the order of the paths; dot folders, links and builds are skipped."""
        found: list[Path] = []
        waiting = [self.root]
        while waiting:
            for path in waiting.pop().iterdir():
                if path.is_symlink():
                    continue
                if path.is_dir():
                    if not path.name.startswith(".") and path.name not in _SKIPPED:
                        waiting.append(path)
                elif path.is_file():
                    found.append(path)
        return sorted(found, key=self.shown)


def text_of(path: Path) -> str | None:
    """The text of a file with its mark and line ends, or ``None`` if it is not UTF-8 text."""
    if path.stat().st_size > SIZE_LIMIT:
        return None
    content = path.read_bytes()
    if b"\0" in content:
        return None
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError:
        return None


def write_text(path: Path, text: str) -> None:
    """Write a file in place (its mode and links stay), making folders as needed."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.encode("utf-8"))
