"""Permissions that are asked with a diff: the verdict on its hunks answers (D02, D13)."""

from __future__ import annotations

import pytest
from holding_scene import AFTER, BEFORE, CLAIM, FOUR, TWO, URI, begun, decide
from scene import AGENT, NATIVE, A, B, Scene, about

from acpls import effects as ef
from acpls.session import updates as up
from acpls.session.asks import Cancelled, Selected
from acpls.session.content import Choosable, Fragment
from acpls.text import uris


@pytest.fixture
def scene() -> Scene:
    return begun()


# --- permission with a diff --------------------------------------------------------------------


def asked(scene: Scene, *kinds: str) -> None:
    """The agent asks for permission to change two files."""
    options = tuple(Choosable(kind, kind, kind) for kind in kinds or ("allow_once", "reject_once"))
    claims = (CLAIM, Fragment(B, "b\n", "B\n"))
    scene.tool_call("call", *claims, status="pending")
    scene.asks(1, subject=about("call"), options=options)


def writes(scene: Scene, path: str, text: str) -> None:
    """The agent makes what it was allowed to, by itself."""
    scene.puts(path, text)
    scene.notices(path)


def test_a_permission_shows_what_it_is_for_as_hunks(scene: Scene) -> None:
    asked(scene)
    assert [c["uri"] for c in scene.result("review.list")] == [URI, uris.from_path(B)]
    assert scene.hunks() == [TWO, FOUR]


def test_all_kept_allows(scene: Scene) -> None:
    scene.asks(2, subject=about("another"))
    asked(scene)
    decide(scene, "keep")
    assert scene.answers() == []
    scene.result("review.keep", all=True)
    assert scene.answers() == [Selected("allow_once")]
    assert scene.result("review.list") == []
    # What is written then has been reviewed, and nothing else is.
    writes(scene, A, f"more\n{AFTER}")
    scene.settles()
    assert scene.hunks() == [("", "more\n")]
    assert scene.disk[A] == f"more\n{AFTER}"


def test_all_rejected_refuses(scene: Scene) -> None:
    asked(scene)
    scene.result("review.reject", all=True)
    assert scene.answers() == [Selected("reject_once")]
    scene.tool_call("call", status="failed")
    assert scene.result("review.list") == []
    assert scene.state.decided == {}


def test_d13_a_part_that_was_rejected_is_taken_back_when_it_is_written(scene: Scene) -> None:
    asked(scene)
    decide(scene, "keep", 0)
    decide(scene, "reject", 1)
    scene.result("review.reject", uri=uris.from_path(B))
    assert scene.answers() == [Selected("allow_once")]
    # It writes one thing after the other.
    writes(scene, A, BEFORE.replace("four", "4"))
    scene.passes(0)
    assert scene.disk[A] == BEFORE
    writes(scene, A, BEFORE.replace("two", "2"))
    writes(scene, B, "B\n")
    scene.passes(0)
    assert scene.disk == {A: BEFORE.replace("two", "2"), B: "b\n"}
    assert scene.state.foregone == {}


def test_d13_so_it_is_when_the_question_is_answered_by_itself(scene: Scene) -> None:
    """The user rejects a hunk, and then allows all of it; or the agent offers no ``once``."""
    asked(scene, "allow_always", "reject_once")
    decide(scene, "reject", 0)
    decide(scene, "keep", 1)
    scene.result("review.keep", uri=uris.from_path(B))
    assert scene.answers() == []
    scene.command("question.answer", option="allow_always")
    scene.puts(A, AFTER)
    scene.tool_call("call", status="completed")
    scene.passes(0)
    assert scene.disk[A] == BEFORE.replace("four", "4")
    assert scene.hunks() == []


def test_what_was_rejected_and_is_not_written_in_this_turn_is_forgotten(scene: Scene) -> None:
    asked(scene)
    decide(scene, "keep", 0)
    decide(scene, "reject", 1)
    scene.result("review.keep", uri=uris.from_path(B))
    scene.ends()
    scene.prompts("again")
    writes(scene, A, BEFORE.replace("four", "4"))
    scene.passes(0)
    assert scene.hunks() == [FOUR]


def test_a_question_that_is_over_leaves_nothing_to_decide(scene: Scene) -> None:
    asked(scene)
    decide(scene, "keep", 0)
    scene.ends("cancelled")
    assert scene.answers(1) == [Cancelled()]
    assert scene.result("review.list") == []


def test_what_is_still_to_come_is_left_for_the_agent_to_write(scene: Scene) -> None:
    """D07: it does not ask for permission, so nothing waits; and what is rejected goes again."""
    scene.tool_call("call", CLAIM, status="in_progress")
    decide(scene, "keep", 0)
    decide(scene, "reject", 1)
    assert scene.of(ef.WriteFile) == []
    scene.puts(A, AFTER)
    scene.tool_call("call", status="completed")
    scene.passes(0)
    assert scene.disk[A] == BEFORE.replace("two", "2")
    assert scene.hunks() == []


def test_d02_what_the_agent_writes_without_asking_is_under_review_after_it(scene: Scene) -> None:
    scene.puts(A, AFTER)
    scene.tool_call("call", CLAIM, status="completed")
    assert scene.hunks() == [TWO, FOUR]
    assert all(hunk["applied"] for c in scene.result("review.list") for hunk in c["hunks"])
    scene.result("review.reject", all=True)
    assert scene.disk[A] == BEFORE
    assert scene.state.session_of(AGENT, NATIVE) is not None
    scene.tells(up.TurnChanged("idle", "end_turn"))
    assert scene.result("review.list") == []
