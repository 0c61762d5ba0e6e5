"""Open documents of files that are too large to be shown line by line follow them, too."""

from __future__ import annotations

from dataclasses import replace

import pytest
from scene import ROOT, A, Scene

from acpls import effects as ef
from acpls import events as ev

BEFORE = "".join(f"{number}\n" for number in range(50_001))
AFTER = BEFORE.replace("\n7\n", "\nseven\n").replace("\n40000\n", "\nforty thousand\n")


class Stored(Scene):
    """A scene in which what files held before can be written by its hash."""

    def _write(self, effect: ef.WriteFile) -> None:
        super()._write(effect if effect.stored is None else replace(effect, text=BEFORE))


def changed(*, stale_edits: bool = True) -> Scene:
    """An agent has changed a large file, whose document is open."""
    scene = Stored(ready=ev.EditorReady((ROOT,), stale_edits=stale_edits))
    scene.has(A, BEFORE)
    scene.session()
    scene.prompts()
    scene.buffer(A)
    scene.lands(A, AFTER)
    scene.settles()
    scene.ends()
    return scene


def rejects(scene: Scene) -> None:
    """The user wants all of it back."""
    assert scene.result("review.reject", all=True) == {"hunks": 1, "left": []}
    assert scene.disk[A] == BEFORE
    scene.settles()


def test_it_follows_with_one_edit_and_goes_back_with_the_file() -> None:
    scene = changed()
    assert scene.text(A) == AFTER
    (edit,) = scene.take(ef.EditBuffer)
    assert len(edit.edits) == 1
    assert len(edit.edits[0].text) < len(AFTER)
    rejects(scene)
    assert scene.text(A) == BEFORE


@pytest.mark.parametrize("how", ["typed", "closed", "reloaded"])
def test_it_is_left_alone_where_it_is_the_users_or_has_been_reloaded(how: str) -> None:
    scene = changed()
    uri = next(iter(scene.pages))
    match how:
        case "typed":
            scene.types(A, 0, "mine\n")
        case "closed":
            scene.closes(A)
        case _:
            scene.holds = {ef.WriteFile}
            ticket = scene.command("review.reject", all=True)
            scene.shows(uri, BEFORE)
            scene.holds.clear()
            scene.let()
            assert scene.reply(ticket)["left"] == []
    scene.seen.clear()
    if how != "reloaded":
        rejects(scene)
    scene.settles()
    assert scene.of(ef.EditBuffer) == []
    assert how != "typed" or scene.text(A) == f"mine\n{AFTER}"


def test_an_editor_that_cannot_edit_what_has_changed_on_disk_is_not_asked() -> None:
    scene = changed(stale_edits=False)
    rejects(scene)
    assert scene.of(ef.EditBuffer) == []
    assert scene.text(A) == BEFORE
