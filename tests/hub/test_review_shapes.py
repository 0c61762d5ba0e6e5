"""What editors are told of changes and hunks, beyond the ordinary ones."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from scene import A, Scene

from acpls.hub import review_shapes
from acpls.review.change import WHOLE
from acpls.review.composing import Author
from acpls.review.held import NO_FILE, Held, of_text
from acpls.text import uris

URI = uris.from_path(A)
BASE = "a\nb\nc\n"
TARGET = "a\nB\nc\n"
BINARY = Held(content="1", opaque="the file is binary")


def scene(text: str | None = None) -> Scene:
    """A session, and a document with this text where there is any."""
    it = Scene()
    it.session()
    if text is not None:
        it.disk[A] = text
        it.buffer(A)
    return it


def wrote(it: Scene, base: Held | None, target: Held) -> None:
    it.state.ledger.agent_wrote(A, base, target, Author("s1"), "store")


def hunk(it: Scene) -> dict[str, Any]:
    (shape,) = review_shapes.hunks_at(it.state, A)
    return shape


def test_a_hunk_says_no_more_than_there_is_to_say() -> None:
    it = scene(TARGET)
    wrote(it, of_text(BASE), of_text(TARGET))
    assert set(hunk(it)) == {
        *("hunk", "change", "state", "applied", "baseRange", "range", "baseText", "newText"),
        "session",
    }


def test_where_unsaved_lines_clash_all_three_texts_are_told() -> None:
    it = scene(BASE)
    wrote(it, of_text(BASE), of_text(TARGET))
    it.shows(URI, "a\nmine\nand more\nc\n")
    told = hunk(it)
    assert (told["state"], told["applied"]) == ("conflict", False)
    texts = told["baseText"], told["newText"], told["currentText"]
    assert texts == ("b\n", "B\n", "mine\nand more\n")
    assert "keepOnly" not in told


@pytest.mark.parametrize("saved", [False, True])
def test_what_the_user_wrote_into_is_kept_only(saved: bool) -> None:
    it = scene(TARGET)
    wrote(it, of_text(BASE), of_text(TARGET))
    it.shows(URI, TARGET.replace("B", "B, mine"))
    if saved:
        it.saves(A)
    told = hunk(it)
    assert (told["keepOnly"], told["reason"]) == (True, "you wrote into these lines")
    assert told.get("shared", False) is saved


def test_what_cannot_be_found_says_that_it_has_no_place() -> None:
    it = scene("nothing\nlike\nit\n")
    wrote(it, of_text(BASE), of_text(TARGET))
    told = hunk(it)
    assert (told["state"], told["placed"], told["currentText"]) == ("conflict", False, "")


@pytest.mark.parametrize(
    ("base", "target", "operation"),
    [
        (NO_FILE, BINARY, "add"),
        (BINARY, NO_FILE, "delete"),
        (BINARY, Held(content="2", opaque="the file is binary"), None),
    ],
)
def test_a_whole_file_says_what_happens_to_it_and_why_it_is_one(
    base: Held, target: Held, operation: str | None
) -> None:
    it = scene()
    wrote(it, base, target)
    told = hunk(it)
    assert (told["whole"], told["reason"]) == (True, "the file is binary")
    assert told.get("operation") == operation
    assert (told["baseText"], told["newText"]) == ("", "")


def test_a_move_and_a_copy_say_from_where() -> None:
    it = scene()
    wrote(it, NO_FILE, of_text(TARGET))
    change = it.state.ledger.files[A]
    change.copied_from = "/ws/old.txt"
    for operation in ("copy", "move"):
        told = review_shapes.change(it.state, change)
        assert (told["operation"], told["oldUri"]) == (operation, "file:///ws/old.txt")
        assert hunk(it)["operation"] == operation
        change.copied_from, change.moved_from = None, "/ws/old.txt"


def test_what_is_told_elsewhere_is_not_told_twice() -> None:
    it = scene()
    wrote(it, of_text(BASE), NO_FILE)
    it.state.ledger.files[A].moved_to = "/ws/new.txt"
    assert review_shapes.hunks_at(it.state, A) == []


def test_what_an_agent_waits_for_says_so_and_what_is_decided_already() -> None:
    it = scene(BASE)
    author = Author("s1", "request 1")
    change = it.state.ledger.propose(A, of_text(BASE), of_text("A\nb\nC\n"), author, held=object())
    assert change is not None
    it.state.decided[change.hunks[0].key] = "reject"
    first, second = review_shapes.hunks_at(it.state, A)
    assert first["waits"] is second["waits"] is True
    assert (first["decided"], second.get("decided")) == ("reject", None)
    assert "toolCall" not in first


# --- both sides ------------------------------------------------------------------------------


def sides(it: Scene) -> dict[str, Any]:
    told: dict[str, Any] = it.result("review.diff", uri=URI)
    return told


def test_the_sides_of_a_new_file_and_of_one_that_goes() -> None:
    it = scene()
    wrote(it, NO_FILE, of_text("x\n"))
    added = sides(it)
    assert (added["operation"], added["base"], added["current"]) == ("add", None, "x\n")
    it = scene("x\n")
    wrote(it, of_text("x\n"), NO_FILE)
    gone = sides(it)
    # Its document is still open.
    assert (gone["operation"], gone["base"], gone["current"]) == ("delete", "x\n", None)
    assert gone["patch"] == f"--- {A}\n+++ /dev/null\n@@ -1,1 +0,0 @@\n-x\n"


def test_a_patch_says_where_the_last_line_has_no_ending() -> None:
    it = scene()
    wrote(it, of_text("x"), of_text("y\n"))
    patch = sides(it)["patch"]
    assert patch.endswith("@@ -1,1 +1,1 @@\n-x\n\\ No newline at end of file\n+y\n")


def test_the_sides_of_what_is_no_text_are_not_told() -> None:
    it = scene()
    wrote(it, BINARY, Held(content="2", opaque="the file is binary"))
    assert sides(it) == {
        "operation": "modify",
        "base": None,
        "current": None,
        "patch": f"--- {A}\n+++ {A}\n",
        "before": "store",
        "reason": "the file is binary",
    }


def test_what_the_text_before_is_unknown_of_can_be_looked_at() -> None:
    it = scene(TARGET)
    wrote(it, None, of_text(TARGET))
    told = sides(it)
    assert (told["base"], told["current"], told["before"]) == (None, TARGET, "unknown")
    assert told["reason"] == "the text before it is not known"


def test_the_sides_of_a_proposal_are_what_it_would_make() -> None:
    it = scene(BASE)
    it.state.ledger.propose(A, of_text(BASE), of_text(TARGET), Author("s1", "call"))
    told = sides(it)
    assert (told["base"], told["current"]) == (BASE, TARGET)


def test_the_sides_of_a_file_that_was_moved_have_both_names() -> None:
    it = scene()
    wrote(it, of_text(BASE), of_text(TARGET))
    change = it.state.ledger.files[A]
    change.moved_from = "/ws/old.txt"
    change.hunks = tuple(replace(pending, hunk=WHOLE) for pending in change.hunks)
    told = sides(it)
    assert told["oldUri"] == "file:///ws/old.txt"
    assert told["patch"] == f"--- /ws/old.txt\n+++ {A}\n"
