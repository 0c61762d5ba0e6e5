"""Changes are noticed as they happen: while the turn runs, and before the agent tells."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import pytest
from review_stage import CODE, announcing, listed, reject, review, silent, texts, told
from server_stage import both_versions, hunks_told, play

from acpls.testing import pages
from acpls.testing.editor import PLAIN

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.anyio

BURST = """
from pathlib import Path
for n in range(400):
    Path(f"{n % 20}/{n}.txt").write_text("new")
"""
AFTER = CODE.replace("two", "2")


@both_versions
async def test_d53_a_change_is_told_while_the_turn_runs(tmp_path: Path, version: int) -> None:
    """D53: before any tool call is told of; new, changed and deleted files, in new folders too."""
    gate = tmp_path / "gate"
    turn = [
        silent("a.txt", AFTER),
        silent("deep/er/new.txt", "new\n"),
        {"remove": "gone.txt"},
        {"gate": str(gate)},
        told("a.txt", CODE, AFTER),
    ]
    async with review(tmp_path, turn, version=version) as at:
        at.file("a.txt", CODE)
        at.file("gone.txt", CODE)
        await at.command("acpls.session.prompt", {"text": "go"})
        changes = await listed(at, 3)
        # The turn is under way, and nothing was told.
        assert at.changes("s1", "toolCall") == []
        assert not any("stopReason" in change for change in at.changes("s1", "state"))
        assert texts(changes["a.txt"]) == [("two\n", "2\n")]
        assert "toolCall" not in changes["a.txt"]
        assert changes["deep/er/new.txt"]["operation"] == "add"
        keys = [hunk["hunk"] for hunk in changes["a.txt"]["hunks"]]
        gate.touch()
        await at.idle(stop="end_turn")
        changes = await at.asked(
            "acpls.review.list", {}, lambda found: any("toolCall" in c for c in found)
        )
        assert len(changes) == 3
        (change,) = [c for c in changes if c["uri"] == pages.to_uri(at.project / "a.txt")]
        assert [hunk["hunk"] for hunk in change["hunks"]] == keys
        await reject(at, all=True)
        assert (at.project / "gone.txt").read_text() == CODE


@pytest.mark.parametrize("saves", [True, False])
async def test_d53_a_document_is_in_step_before_the_agent_reads_again(
    tmp_path: Path, *, saves: bool
) -> None:
    """D53: it follows while the agent works; what the editor writes then is what both have,
    and the agent reads it, by itself and through the client.
    """
    gate = tmp_path / "gate"
    turn: list[Any] = [
        silent("a.txt", AFTER),
        {"gate": str(gate)},
        {"read": "a.txt", "via": "client", "into": "client"},
        {"read": "a.txt", "via": "disk", "into": "disk"},
        {"say": "<{client}><{disk}>"},
    ]
    async with review(tmp_path, turn, version=1, capabilities=announcing(save=saves)) as at:
        path = at.file("a.txt", CODE)
        uri = at.open(path)
        await at.command("acpls.session.prompt", {"text": "go"})
        await at.until(lambda: at.text(uri) == AFTER)
        at.type(uri, 0, "mine\n")
        await hunks_told(at, uri, 1)
        at.save(uri)
        # It saves once more, as editors do that save by themselves.
        at.save(uri)
        gate.touch()
        await at.idle(stop="end_turn")
        both = "mine\n" + AFTER
        assert at.said() == f"<{both}><{both}>"
        (change,) = (await listed(at, 1)).values()
        assert texts(change) == [("two\n", "2\n")]
        await reject(at, uri=uri)
        assert path.read_text() == at.text(uri) == "mine\n" + CODE


@both_versions
async def test_d53_a_plain_editor_follows_as_well(tmp_path: Path, version: int) -> None:
    """D53: without anything of ours announced, by an edit of the open document."""
    gate = tmp_path / "gate"
    turn = [silent("a.txt", AFTER), {"gate": str(gate)}, {"say": "Done."}]
    async with review(tmp_path, turn, version=version, capabilities=PLAIN) as at:
        path = at.file("a.txt", CODE)
        uri = at.open(path)
        await at.command("acpls.session.prompt", {"text": "go"})
        await at.until(lambda: at.text(uri) == AFTER)
        await at.until(lambda: [d for d in at.diagnostics(uri) if d["source"] == "acpls"])
        gate.touch()
        await at.asked("acpls.session.get", {}, lambda session: session["state"] == "idle")
        await reject(at, uri=uri)
        assert path.read_text() == at.text(uri) == CODE


@both_versions
async def test_many_files_at_once_are_all_seen(tmp_path: Path, version: int) -> None:
    """What the system may have lost of a burst is found by looking at everything."""
    names = [f"{number % 20}/{number}.txt" for number in range(400)]
    turn = [{"run": [sys.executable, "-c", BURST]}]
    async with review(tmp_path, turn, version=version) as at:
        for name in names:
            at.file(name, "old")
        await play(at)
        changes = await listed(at, 400)
        assert sorted(changes) == sorted(names)
        await reject(at, all=True)
        assert {(at.project / name).read_text() for name in names} == {"old"}
