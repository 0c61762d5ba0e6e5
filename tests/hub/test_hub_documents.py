"""Documents open, change, are saved and closed, and who cares about it is told."""

from __future__ import annotations

from scene import A, B, Scene

from acpls import effects as ef
from acpls import events as ev
from acpls.hub.tokens import HeldChanges, Look, Opened
from acpls.text import uris
from acpls.text.buffers import ContentChange

URI = uris.from_path(A)
UNTITLED = "untitled:1"


def changed(scene: Scene, version: int, text: str, uri: str = URI) -> list[ef.Effect]:
    """Text is put at the beginning of a document."""
    change = ContentChange(text, (0, 0), (0, 0))
    return scene.give(ev.BufferChanged(uri, version, (change,)))


def text_of(scene: Scene, uri: str = URI) -> str:
    buffer = scene.state.buffers.get(uri)
    assert buffer is not None
    return buffer.text


def is_dirty(scene: Scene, uri: str = URI) -> bool:
    buffer = scene.state.buffers.get(uri)
    assert buffer is not None
    return buffer.dirty


def under_review(scene: Scene) -> None:
    """A file with one pending hunk, closed."""
    scene.session()
    scene.puts(A, "one\ntwo\n")
    scene.agent_edits(A, "two", "2")
    assert scene.hunks() == [("two\n", "2\n")]
    scene.seen.clear()


# --- opening -----------------------------------------------------------------------------


def test_the_file_of_an_opened_document_is_looked_at() -> None:
    scene = Scene()
    scene.puts(A, "one\n")
    scene.seen.clear()
    scene.buffer(A)
    assert scene.seen == [ef.ReadFile(Opened(URI, "one\n"), A, ("/ws",))]
    assert not is_dirty(scene)
    assert scene.state.disk == {URI: "one\n"}


def test_a_document_opened_with_unsaved_changes_is_known_to_have_them() -> None:
    scene = Scene()
    scene.puts(A, "one\n")
    scene.buffer(A, "one\nmine\n")
    assert is_dirty(scene)


def test_a_document_without_a_file_is_unsaved_unless_it_is_empty() -> None:
    scene = Scene()
    scene.buffer(A, "new\n")
    scene.buffer(B)
    assert is_dirty(scene)
    assert not is_dirty(scene, uris.from_path(B))


def test_a_document_whose_file_cannot_be_read_is_taken_for_saved() -> None:
    scene = Scene()
    scene.problems[A] = "is not valid UTF-8"
    scene.buffer(A, "one\n")
    assert not is_dirty(scene)


def test_a_document_saved_or_closed_before_its_file_was_read() -> None:
    scene = Scene(holds={ef.ReadFile})
    scene.puts(A, "one\n")
    scene.buffer(A, "mine\n")
    scene.saves(A)
    scene.types(A, 0, "x")
    scene.saves(A)
    scene.puts(A, "one\n")
    scene.let(ef.ReadFile)
    assert not is_dirty(scene)
    scene.closes(A)
    scene.buffer(A, "mine\n")
    scene.closes(A)
    scene.let(ef.ReadFile)
    assert scene.state.buffers.get(URI) is None
    assert scene.state.disk == {}


def test_a_document_that_is_no_file_is_only_kept() -> None:
    scene = Scene()
    opened = scene.give(ev.BufferOpened(UNTITLED, 1, "one\n"))
    altered = changed(scene, 2, "x", UNTITLED)
    saved = scene.give(ev.BufferSaved(UNTITLED))
    assert (opened, altered, saved) == ([], [], [])
    assert text_of(scene, UNTITLED) == "xone\n"
    assert scene.give(ev.BufferClosed(UNTITLED)) == []
    assert scene.state.buffers.get(UNTITLED) is None


def test_opening_a_document_again_ends_what_was_under_way_in_it() -> None:
    scene = Scene()
    under_review(scene)
    scene.buffer(A)
    scene.holds = {ef.EditBuffer}
    scene.command("review.reject", hunk=scene.keys()[0])
    (edit,) = scene.of(ef.EditBuffer)
    assert list(scene.state.edits) == [edit.number]
    scene.buffer(A)
    assert edit.number not in scene.state.edits


# --- changes -----------------------------------------------------------------------------


def test_a_change_of_an_unknown_document_is_dropped() -> None:
    scene = Scene()
    assert changed(scene, 2, "x") == []
    assert scene.state.buffers.get(URI) is None


def test_typing_is_noted_with_its_time() -> None:
    scene = Scene()
    scene.puts(A, "one\n")
    scene.buffer(A)
    scene.passes(5)
    scene.types(A, 0, "x")
    assert scene.state.follow.acted_at_s == 1005.0


def test_changes_that_come_out_of_order_are_put_in_order() -> None:
    scene = Scene()
    scene.puts(A, "")
    scene.buffer(A)
    changed(scene, 2, "b")
    # A second change with the same version shows that this editor leaves none out.
    changed(scene, 2, "z")
    assert changed(scene, 4, "d") == [ef.After(0.05, HeldChanges(URI))]
    assert text_of(scene) == "b"
    assert changed(scene, 3, "c") == []
    assert text_of(scene) == "dcb"
    scene.seen.clear()
    scene.passes(0.05)
    assert scene.seen == []
    assert text_of(scene) == "dcb"


def test_a_version_that_never_comes_is_waited_for_a_moment() -> None:
    scene = Scene()
    scene.puts(A, "")
    scene.buffer(A)
    changed(scene, 2, "b")
    changed(scene, 2, "z")
    scene.passes(5)
    changed(scene, 4, "d")
    scene.passes(0.04)
    assert text_of(scene) == "b"
    scene.passes(0.01)
    assert text_of(scene) == "db"
    assert scene.state.follow.acted_at_s == 1005.05


def test_held_changes_of_a_document_that_was_closed_meanwhile_are_dropped() -> None:
    scene = Scene()
    scene.puts(A, "")
    scene.buffer(A)
    changed(scene, 2, "b")
    changed(scene, 2, "z")
    changed(scene, 4, "d")
    scene.closes(A)
    scene.seen.clear()
    scene.passes(0.05)
    assert scene.seen == []


def test_a_document_that_comes_to_hold_what_its_file_holds_is_saved() -> None:
    scene = Scene()
    scene.puts(A, "one\n")
    scene.buffer(A)
    scene.types(A, 0, "x")
    assert is_dirty(scene)
    scene.shows(URI, "one\n")
    assert not is_dirty(scene)


def test_a_change_of_a_reviewed_document_shows_its_review_again() -> None:
    scene = Scene()
    under_review(scene)
    scene.buffer(A)
    scene.seen.clear()
    look = ef.ReadFile(Look(), A, ("/ws",))
    scene.types(A, 0, "x\n")
    # The editor may have reloaded what the agent wrote; the file tells.
    assert scene.seen == [look, ef.ShowReview(A)]
    scene.seen.clear()
    scene.types(A, 0, "y\n")
    assert scene.seen == [ef.ShowReview(A)]
    scene.seen.clear()
    scene.saves(A)
    assert scene.seen == [look, ef.ShowReview(A)]
    scene.seen.clear()
    scene.closes(A)
    assert scene.seen == [ef.ShowReview(A)]


# --- saving and closing --------------------------------------------------------------------


def test_a_save_makes_the_document_the_file() -> None:
    scene = Scene()
    scene.puts(A, "one\n")
    scene.buffer(A)
    scene.types(A, 0, "x")
    scene.saves(A)
    assert not is_dirty(scene)
    assert scene.state.disk == {URI: "xone\n"}


def test_a_closed_document_is_forgotten() -> None:
    scene = Scene()
    scene.puts(A, "one\n")
    scene.buffer(A)
    scene.closes(A)
    assert list(scene.state.buffers) == []
    assert scene.state.disk == {}
