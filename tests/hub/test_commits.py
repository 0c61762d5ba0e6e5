"""What is committed has been reviewed."""

from __future__ import annotations

import pytest
from scene import ROOT, A, B, Scene, at_head

from acpls import effects as ef
from acpls import events as ev


@pytest.fixture
def scene() -> Scene:
    """The agent has changed two files."""
    scene = Scene()
    scene.has(A, "a\n")
    scene.has(B, "b\n")
    scene.session()
    scene.prompts()
    scene.agent_writes(A, "A\n")
    scene.agent_writes(B, "B\n")
    scene.seen.clear()
    return scene


def test_what_is_under_review_is_compared_with_a_new_commit(scene: Scene) -> None:
    scene.give(ev.HeadMoved(ROOT))
    assert scene.seen == [ef.CompareWithHead(at_head(scene), (A, B))]


def test_without_a_change_nothing_is_compared() -> None:
    assert Scene().give(ev.HeadMoved(ROOT)) == []


def test_a_commit_of_the_same_text_counts_as_keep(scene: Scene) -> None:
    """D18: and so no later verdict takes it back."""
    scene.give(ev.HeadCompared(at_head(scene), frozenset({A, f"{ROOT}/c.txt"})))
    assert scene.seen == [ef.ShowReview(A)]
    assert (scene.hunks(A), scene.hunks(B)) == ([], [("b\n", "B\n")])
    scene.result("review.reject", all=True)
    assert scene.disk == {A: "A\n", B: "b\n"}


def test_a_file_on_which_a_verdict_is_at_work_is_left_to_it(scene: Scene) -> None:
    scene.holds = {ef.ReadFile}
    ticket = scene.command("review.reject", hunk=scene.keys(A)[0])
    scene.give(ev.HeadCompared(at_head(scene), frozenset({A})))
    scene.let()
    assert scene.reply(ticket) == {"hunks": 1, "left": []}
    assert scene.disk[A] == "a\n"


def test_what_has_come_since_the_question_is_in_no_commit(scene: Scene) -> None:
    then = at_head(scene)
    scene.puts(A, "1\n2\n")
    scene.notices(A)
    scene.give(ev.HeadCompared(then, frozenset({A, B})))
    assert scene.hunks(A) != []
    assert scene.hunks(B) == []
