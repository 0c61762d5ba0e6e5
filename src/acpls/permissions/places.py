"""Paths held against the globs of rules, by where they really are.

An allowing rule is about the real place alone, so that no link leads out of what it names. One
that stops something is about every name that the file has.

Invariant: pure; links are resolved by whoever fills ``Places``.
"""

from __future__ import annotations

import posixpath
import re
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from acpls.settings.rules import is_absolute, slashed
from acpls.text import globs

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from acpls.settings.rules import Rule

HOME: Final = "~"
_SPECIAL: Final = re.compile(r"([*?\[\\])")


@dataclass(frozen=True, slots=True)
class Places:
    """Where paths are without symbolic links, as far as that is known, by how they were given.

    ``roots``: the folders in which relative globs begin, as they were given.
    """

    real: Mapping[str, str] = field(default_factory=dict)
    roots: tuple[str, ...] = ()

    def of(self, path: str) -> str | None:
        """The real place of a path, with slashes; ``None``: it is not known."""
        real = self.real.get(path)
        return None if real is None else slashed(real)

    @property
    def real_roots(self) -> tuple[str, ...]:
        """The real places of the roots."""
        return tuple(real for root in self.roots if (real := self.of(root)) is not None)


def wanted(rules: Iterable[Rule], paths: Iterable[str], roots: Iterable[str]) -> tuple[str, ...]:
    """All paths whose real places have to be known to judge by these rules."""
    roots = tuple(roots)
    starts = (
        start
        for rule in rules
        if rule.path is not None and rule.decision != "allow"
        for start, _ in _starts(rule.path, roots)
    )
    return tuple(dict.fromkeys((*paths, *roots, HOME, *starts)))


def allowing(glob: str, places: Places) -> Callable[[str], bool]:
    """Tells of a path whether an allowing rule's glob is about it, by its real place."""
    glob = slashed(glob)
    home = places.of(HOME)
    if glob.startswith(HOME):
        whole = [] if home is None else [_below(home, glob[2:])]
    elif is_absolute(glob):
        whole = [glob]
    else:
        whole = [_below(root, glob) for root in places.real_roots]
    pattern = _compiled(tuple(whole))

    def lets(path: str) -> bool:
        real = places.of(path)
        return real is not None and _fits(pattern, real)

    return lets


def stopping(glob: str, places: Places) -> Callable[[str], bool]:
    """Tells of a path whether another rule's glob is about it, or a folder that it lies in, by
    any name.
    """
    pattern = _compiled(tuple(_all(glob, places)), stops=True)

    def stops(path: str) -> bool:
        given = posixpath.normpath(slashed(path))
        return any(_fits(pattern, name) for name in {given, places.of(path) or given})

    return stops


def _all(glob: str, places: Places) -> Iterator[str]:
    """The ways to read the glob of a rule that stops something, as absolute globs."""
    glob = slashed(glob)
    for start, rest in _starts(glob, places.roots):
        yield _below(start, rest)
        real = places.of(start)
        if real is not None:
            yield _below(real, rest)
    if not is_absolute(glob):
        yield from (_below(root, glob) for root in places.real_roots)
        if glob.startswith("**/"):
            yield f"/{glob}"
    elif glob.startswith(HOME):
        home = places.of(HOME)
        if home is not None:
            yield _below(home, glob[2:])


def _starts(glob: str, roots: Iterable[str]) -> Iterator[tuple[str, str]]:
    """The folders where a glob begins, and what of it comes after."""
    parts = slashed(glob).split("/")
    at = next((i for i, part in enumerate(parts) if _SPECIAL.search(part)), len(parts))
    start, rest = "/".join(parts[:at]), "/".join(parts[at:])
    if is_absolute(glob):
        yield start or "/", rest
        return
    for root in roots:
        yield f"{slashed(root).rstrip('/')}/{start}".rstrip("/"), rest


def _below(folder: str, glob: str) -> str:
    """The glob below a folder that is no glob."""
    plain = _SPECIAL.sub(r"\\\1", slashed(folder)).rstrip("/")
    return f"{plain}/{glob}" if glob else plain


def _fits(pattern: re.Pattern[str], path: str) -> bool:
    return pattern.fullmatch(path.lstrip("/")) is not None


@lru_cache(maxsize=1000)
def _compiled(whole: tuple[str, ...], *, stops: bool = False) -> re.Pattern[str]:
    made = "|".join(f"(?:{globs.of_path(glob.lstrip('/'))})" for glob in whole) or "(?!)"
    if not stops:
        return re.compile(made, re.DOTALL)
    return re.compile(f"(?:{made})(?:/.*)?", re.DOTALL | re.IGNORECASE)
