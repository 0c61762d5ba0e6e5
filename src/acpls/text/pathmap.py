r"""Folders that the editor and an agent call by different names (WSL, containers, ssh).

A pair of folders moves everything below the one to below the other; the longest folder
that matches wins, by whole segments. A Windows path (``C:\x``, ``\\server\share\x``, with
or without ``\\?\``) is the same with slashes of the other kind and with its drive, server
and share in another case.

Invariant: pure. A path that no pair is about stays as it is. One that is ``normal`` and was
moved comes back as it was, as long as no folder of the other side lies inside another.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from acpls.text import uris

if TYPE_CHECKING:
    from collections.abc import Iterable

_VERBATIM = re.compile(r"^[\\/]{2}[?.][\\/](UNC[\\/]|(?=[A-Za-z]:))", re.IGNORECASE)
_DRIVE = re.compile(r"^[A-Za-z]:(?=[\\/]|$)")
_SHARE = re.compile(r"^\\\\([^\\/?.][^\\/]*)[\\/]+([^\\/]+)")
_SEPARATORS = re.compile(r"[\\/]+")
# What of a URI stands after its path.
_REST = re.compile(r"[?#].*", re.DOTALL)


def normal(path: str) -> str:
    r"""The one spelling of an absolute path, for sending and for comparing.

    Without ``\\?\`` and without a separator at the end; a drive letter is upper case, and
    Windows paths have backslashes only. What is not absolute stays as it is.
    """
    split = _split(path)
    return path if split is None else _joined(split.root, split.segments)


class PathMap:
    """The pairs of one agent, each a folder as the editor calls it and as the agent does."""

    def __init__(self, pairs: Iterable[tuple[str, str]] = ()) -> None:
        self._pairs = sorted(pairs, key=lambda pair: len(pair[0]), reverse=True)
        ends = [(_split(editor), _split(agent)) for editor, agent in self._pairs]
        whole = [(editor, agent) for editor, agent in ends if editor and agent]
        self._out = _longest_first(whole)
        self._in = _longest_first((agent, editor) for editor, agent in whole)

    def __bool__(self) -> bool:
        return bool(self._out)

    def to_agent(self, path: str) -> str:
        """The agent's name of a path of the editor's machine."""
        return _moved(path, self._out)

    def text_to_agent(self, text: str) -> str:
        """A line for the agent to read, with its own names of the folders that are in it."""
        for editor, agent in self._pairs:
            folder = re.escape(editor.rstrip("/\\"))
            # A backslash in it is no reference to a group.
            known = agent.rstrip("/\\").replace("\\", r"\\")
            text = re.sub(rf"{folder}(?=[/\\\s:'\"]|$)", known, text)
        return text

    def to_editor(self, path: str) -> str:
        """The editor's name of a path of the agent's machine."""
        return _moved(path, self._in)

    def uri_to_agent(self, uri: str) -> str:
        """The same for a URI; only ``file:`` URIs have a path."""
        return _moved_uri(uri, self._out)

    def uri_to_editor(self, uri: str) -> str:
        """The same for a URI; only ``file:`` URIs have a path."""
        return _moved_uri(uri, self._in)


@dataclass(frozen=True, slots=True)
class _Split:
    r"""An absolute path. ``root``: ``/``, ``C:`` or ``\\server\share``."""

    root: str
    segments: tuple[str, ...]

    @property
    def key(self) -> str:
        # Windows 11 has two names for the shares of WSL.
        return self.root.lower().replace("\\\\wsl.localhost\\", "\\\\wsl$\\")


def _longest_first(pairs: Iterable[tuple[_Split, _Split]]) -> list[tuple[_Split, _Split]]:
    return sorted(pairs, key=lambda pair: -len(pair[0].segments))


def _split(path: str) -> _Split | None:
    path = _VERBATIM.sub(lambda found: "\\\\" if found[1] else "", path)
    if drive := _DRIVE.match(path):
        rest = path[drive.end() :]
        return _Split(drive[0].upper(), _segments(_SEPARATORS.split(rest)))
    if share := _SHARE.match(path):
        rest = path[share.end() :]
        return _Split(f"\\\\{share[1]}\\{share[2]}", _segments(_SEPARATORS.split(rest)))
    if path.startswith("/"):
        return _Split("/", _segments(path.split("/")))
    return None


def _segments(parts: list[str]) -> tuple[str, ...]:
    return tuple(part for part in parts if part)


def _joined(root: str, segments: tuple[str, ...]) -> str:
    if root == "/":
        return "/" + "/".join(segments)
    # A drive without its backslash is the folder that was last current there.
    return f"{root}\\" + "\\".join(segments) if segments or root[1:] == ":" else root


def _moved(path: str, pairs: list[tuple[_Split, _Split]]) -> str:
    split = _split(path)
    if split is None:
        return path
    for source, target in pairs:
        deep = len(source.segments)
        if split.key == source.key and split.segments[:deep] == source.segments:
            return _joined(target.root, target.segments + split.segments[deep:])
    return path


def _moved_uri(uri: str, pairs: list[tuple[_Split, _Split]]) -> str:
    path = uris.to_path(uri)
    if path is None:
        return uri
    moved = _moved(path, pairs)
    if moved == path:
        return uri
    rest = _REST.search(uri)
    return uris.from_path(moved) + (rest[0] if rest else "")
