"""What verdicts have the editor do to files: it is seen on disk before the editor tells of it."""

from __future__ import annotations

import pytest
from scene import ROOT, A, B, Scene

from acpls import effects as ef
from acpls import events as ev


@pytest.fixture
def scene() -> Scene:
    """An agent has made a file, which is open."""
    scene = Scene(ready=ev.EditorReady((ROOT,), deletes=True))
    scene.session()
    scene.prompts()
    scene.puts(B, "new\n")
    scene.notices(B)
    scene.ends()
    scene.buffer(B)
    return scene


def rejects(scene: Scene) -> tuple[str, int]:
    """The reject and the edit that the editor is asked for."""
    ticket = scene.command("review.reject", all=True)
    (asked,) = scene.of(ef.ChangeFile)
    return ticket, asked.number


@pytest.mark.parametrize("closes", [True, False])
@pytest.mark.parametrize("noticed", [True, False])
def test_what_the_editor_took_away_is_rejected(
    scene: Scene, *, closes: bool, noticed: bool
) -> None:
    """Whoever sees first that it is gone; a document that stays open loses its text too."""
    ticket, number = rejects(scene)
    scene.puts(B, None)
    if closes:
        scene.closes(B)
    if noticed:
        scene.notices(B)
    scene.give(ev.EditApplied(number))
    scene.settles()
    assert scene.reply(ticket) == {"hunks": 1, "left": []}
    assert scene.state.ledger.changes() == []
    assert closes or scene.text(B) == ""


@pytest.mark.parametrize("lies", [True, False])
def test_what_the_editor_did_not_take_away_goes_from_the_document_and_the_disk(
    scene: Scene, *, lies: bool
) -> None:
    ticket, number = rejects(scene)
    scene.give(ev.EditApplied(number) if lies else ev.EditRefused(number, "no"))
    scene.settles()
    assert scene.reply(ticket) == {"hunks": 1, "left": []}
    assert (scene.disk.get(B), scene.text(B)) == (None, "")
    assert len(scene.of(ef.ChangeFile)) == 1


@pytest.mark.parametrize("at_work", [True, False])
def test_a_save_that_is_noticed_first_is_the_rejects(*, at_work: bool) -> None:
    """Neither the user's, who would have taken the change, nor an agent's that is at work."""
    before, after = "one\ntwo\n", "one\n2\n"
    scene = Scene(ready=ev.EditorReady((ROOT,), save=True))
    scene.has(A, before)
    scene.session()
    scene.prompts()
    uri = scene.buffer(A)
    scene.lands(A, after)
    scene.settles()
    if not at_work:
        scene.ends()
    scene.saves(A)
    scene.holds = {ef.SaveDocument}
    ticket = scene.command("review.reject", all=True)
    assert scene.text(A) == before
    # It is written, and the system tells of that at once.
    scene.lands(A, before)
    scene.give(ev.BufferSaved(uri))
    scene.holds.clear()
    scene.settles()
    assert scene.reply(ticket) == {"hunks": 1, "left": []}
    assert (scene.disk[A], scene.state.ledger.changes()) == (before, [])
