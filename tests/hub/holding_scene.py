"""A scene in which changes wait for the user before they are made, for several test files."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scene import A, B, Scene

from acpls.session.asks import Failure
from acpls.session.content import Fragment
from acpls.text import uris

if TYPE_CHECKING:
    from acpls.session.asks import Answer

URI = uris.from_path(A)
BEFORE = "one\ntwo\nthree\nfour\nfive\n"
AFTER = "one\n2\nthree\n4\nfive\n"
TWO, FOUR = ("two\n", "2\n"), ("four\n", "4\n")
CLAIM = Fragment(A, BEFORE, AFTER)


def begun() -> Scene:
    """A session is at work on two files, and the user wants to see changes first."""
    scene = Scene()
    scene.has(A, BEFORE)
    scene.has(B, "b\n")
    scene.session()
    scene.result("review.setMode", mode="before")
    scene.prompts()
    scene.seen.clear()
    return scene


def held(scene: Scene, text: str = AFTER) -> None:
    """The agent writes through us, and waits."""
    assert scene.agent_writes(A, text) is None
    assert scene.disk[A] == BEFORE


def decide(scene: Scene, verdict: str, which: int | None = None) -> dict[str, object]:
    """The user decides on one hunk, or on all of the file."""
    chosen = {"uri": URI} if which is None else {"hunk": scene.keys()[which]}
    answer: dict[str, object] = scene.result(f"review.{verdict}", **chosen)
    return answer


def is_over(scene: Scene, disk: str, answer: Answer) -> None:
    """The agent was answered once, the file is so, and nothing waits."""
    assert scene.answers("fs1") == [answer]
    assert scene.disk[A] == disk
    assert scene.result("review.list") == []
    assert scene.state.decided == {}
    # The time that the user has passes without any more ado.
    scene.settles()
    assert scene.answers("fs1") == [answer]
    scene.is_over()


def failure(reason: str, code: int = -32603) -> Failure:
    return Failure(code, f"{A}: {reason}")
