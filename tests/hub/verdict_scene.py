"""Scenes in which hunks wait for a verdict."""

from __future__ import annotations

from typing import Any

from scene import ROOT, A, Scene

from acpls import effects as ef
from acpls.session.content import Fragment
from acpls.session.updates import TurnChanged
from acpls.text import uris

URI = uris.from_path(A)
ALL = (ROOT,)
BEFORE = "one\ntwo\nthree\nfour\nfive\n"
AFTER = "one\n2\nthree\n4\nfive\n"
REFUSED = "the editor refused the edit: the document has changed"


def changed(*, opened: bool = False) -> Scene:
    """A session changed two lines of a file by itself; both hunks wait."""
    scene = Scene()
    scene.session()
    scene.puts(A, BEFORE)
    if opened:
        scene.buffer(A)
    scene.agent_edits(A, "two", "2", "first")
    scene.agent_edits(A, "four", "4", "second")
    scene.settles()
    assert scene.hunks() == [("two\n", "2\n"), ("four\n", "4\n")]
    rests(scene)
    return scene


def rests(scene: Scene) -> None:
    """The turn is over, so that whatever changes from now on is the user's."""
    scene.tells(TurnChanged("idle", "end_turn"))
    scene.settles()
    scene.seen.clear()


def proposed(*, opened: bool = False) -> Scene:
    """A session said that it had changed a line of a file, and it is not there."""
    scene = Scene()
    scene.has(A, BEFORE)
    scene.session()
    scene.works()
    if opened:
        scene.buffer(A)
    scene.tool_call("call", Fragment(A, "two", "2"), status="completed")
    assert scene.hunks() == [("two\n", "2\n")]
    scene.seen.clear()
    return scene


def writes_of(scene: Scene) -> list[tuple[str, str | None]]:
    return [(effect.path, effect.text) for effect in scene.of(ef.WriteFile)]


def left(scene: Scene, ticket: str) -> list[str]:
    """The reasons for which hunks were left."""
    return [item["reason"] for item in scene.reply(ticket)["left"]]


def verdict(scene: Scene, which: str, **arguments: Any) -> str:
    """Give a verdict and let it be carried out; the ticket comes back."""
    ticket = scene.command(f"review.{which}", **arguments)
    scene.settles()
    scene.is_over()
    return ticket
