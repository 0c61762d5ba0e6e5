"""A scene in which an agent changes files, for several test files."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scene import ROOT, A, B, Scene

from acpls.text import uris

if TYPE_CHECKING:
    from acpls.review.change import Change
    from acpls.review.composing import Author

BEFORE = "one\ntwo\nthree\n"
AFTER = "one\n2\nthree\n"
HUNK = ("two\n", "2\n")
URI, C = uris.from_path(A), f"{ROOT}/c.txt"


def begun() -> Scene:
    """A session is at work in a folder with two files."""
    scene = Scene()
    scene.has(A, BEFORE)
    scene.has(B, "b\n")
    scene.session()
    scene.prompts()
    scene.seen.clear()
    return scene


def change_of(scene: Scene, path: str = A) -> Change:
    return scene.state.ledger.files[path]


def authors(scene: Scene, path: str = A) -> list[Author]:
    return [pending.author for pending in scene.pending(path)]
