"""A tool call that is told of right before the end of its turn still belongs to that turn."""

from __future__ import annotations

import pytest
from scene import A, B, Scene

from acpls import effects as ef
from acpls.session.content import Fragment

BEFORE, AFTER = "one\ntwo\n", "one\n2\n"


@pytest.mark.parametrize("fits", [True, False])
def test_what_was_told_last_is_looked_at_before_the_turn_is_over(*, fits: bool) -> None:
    """Also where all files were looked at sooner than the one that it is about."""
    scene = Scene()
    scene.has(A, BEFORE)
    scene.session()
    scene.prompts()
    if fits:
        scene.puts(A, AFTER)
    scene.holds = {ef.ReadFile, ef.SyncFiles}
    scene.tool_call("c", Fragment(A, "two", "2") if fits else Fragment(A, "x", "y"))
    scene.tool_call("c", status="completed")
    scene.ends()
    scene.let(ef.SyncFiles)
    assert scene.state.at_work == {"s1"}
    scene.holds.clear()
    scene.settles()
    assert scene.state.at_work == set()
    (change,) = scene.result("review.list")
    assert change["toolCall"] == "c"
    assert ("reason" in change) == (not fits)
    assert len(change["hunks"]) == fits


@pytest.mark.parametrize("first", [A, B])
def test_what_cannot_be_placed_in_one_of_several_files_is_told_whichever_is_read_first(
    first: str,
) -> None:
    scene = Scene()
    scene.has(A, BEFORE)
    scene.has(B, BEFORE)
    scene.session()
    scene.prompts()
    scene.puts(A, AFTER)
    said = {A: Fragment(A, "two", "2"), B: Fragment(B, "x", "y")}
    second = B if first == A else A
    scene.tool_call("c", said[first], said[second], status="completed")
    scene.ends()
    reasons = {change["uri"][-5:]: "reason" in change for change in scene.result("review.list")}
    assert reasons == {"a.txt": False, "b.txt": True}


def test_what_a_call_proposed_and_does_not_tell_of_any_more_goes() -> None:
    scene = Scene()
    scene.has(A, BEFORE)
    scene.has(B, BEFORE)
    scene.session()
    scene.prompts()
    scene.result("review.setMode", mode="before")
    both = Fragment(A, "two", "2"), Fragment(B, "two", "2")
    scene.tool_call("c", *both)
    assert len(scene.result("review.list")) == 2
    scene.tool_call("c", both[0], status="completed")
    (left,) = scene.result("review.list")
    assert left["uri"].endswith("a.txt")
