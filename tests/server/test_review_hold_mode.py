"""Changes that wait for the user before they are made, and how the mode is seen and chosen."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from review_stage import CODE, keep, listed, reject, review, silent, told
from server_stage import both_versions, hunks_told, play

if TYPE_CHECKING:
    from pathlib import Path

    from server_stage import Seat

pytestmark = pytest.mark.anyio

LONG = "".join(f"{number}\n" for number in range(30))
AFTER = LONG.replace("5\n", "five\n", 1).replace("20\n", "twenty\n")
PARTLY = LONG.replace("20\n", "twenty\n")
HOLD = {"review": {"mode": "before"}}
WRITE = {"write": "a.txt", "text": AFTER, "via": "client"}


async def held(at: Seat, count: int = 2) -> list[str]:
    """The keys of the hunks that an agent waits for."""
    await at.command("acpls.session.prompt", {"text": "go"})
    (change,) = (await listed(at, 1)).values()
    assert [hunk.get("waits") for hunk in change["hunks"]] == [True] * count
    assert not any(hunk["applied"] for hunk in change["hunks"])
    return [hunk["hunk"] for hunk in change["hunks"]]


# --- the mode ------------------------------------------------------------------------------


@both_versions
async def test_d02_d22_the_mode_can_be_seen_and_is_changed_with_one_command(
    tmp_path: Path, version: int
) -> None:
    """D02, D22: the review needs no help of the agent in any mode, and says which it is."""
    after = CODE.replace("two", "2")
    turns: list[list[Any]] = [
        [silent("a.txt", after)],
        [silent("a.txt", after + "four\n")],
        [silent("b.txt", after)],
    ]
    async with review(tmp_path, *turns, version=version) as at:
        path, _ = at.file("a.txt", CODE), at.file("b.txt", CODE)
        uri = at.open(path)
        assert (await at.command("acpls.status"))["reviewMode"] == "after"
        await play(at)
        await listed(at, 1)
        assert await offered(at, uri) == ["Hold changes until I decide"]
        assert await at.command("acpls.review.setMode") == {"mode": "before"}
        assert (await at.command("acpls.status"))["reviewMode"] == "before"
        assert await offered(at, uri) == ["Apply changes at once"]
        # It writes without asking, and so it is reviewed afterwards, as it cannot be held.
        await play(at)
        assert len((await hunks_told(at, uri, 2))[1]["newText"]) > 0
        assert path.read_text() == after + "four\n"
        await at.command("acpls.review.setMode", {"mode": "off"})
        await play(at)
        assert (await at.command("acpls.status"))["hunks"] == 2
        # What waits still waits, and nothing new does.
        assert sorted(await listed(at, 1)) == ["a.txt"]
        await reject(at, all=True)
        assert path.read_text() == CODE


async def offered(at: Seat, uri: str) -> list[str]:
    """The titles of the code actions that change the mode."""
    span = {"start": {"line": 0, "character": 0}, "end": {"line": 0, "character": 0}}
    params = {
        "textDocument": {"uri": uri},
        "range": span,
        "context": {"diagnostics": [], "only": ["refactor"]},
    }
    actions = await at.request("textDocument/codeAction", params)
    return [a["title"] for a in actions if a["command"]["command"] == "acpls.review.setMode"]


# --- writes through the client ---------------------------------------------------------------


@pytest.mark.parametrize("opened", [False, True])
async def test_a_write_is_answered_after_the_verdict(tmp_path: Path, *, opened: bool) -> None:
    """D13: what is rejected is never written; the agent is told what of its text is there."""
    steps = [WRITE, {"read": "a.txt", "via": "client", "into": "text"}, {"say": "{text}"}]
    async with review(tmp_path, steps, version=1, settings=HOLD) as at:
        path = at.file("a.txt", LONG)
        uri = at.open(path) if opened else None
        five, twenty = await held(at)
        await reject(at, hunk=five)
        assert (at.answers_to(), path.read_text()) == ([], LONG)
        (change,) = (await listed(at, 1)).values()
        assert [hunk.get("decided") for hunk in change["hunks"]] == ["reject", None]
        await keep(at, hunk=twenty)
        await at.idle(stop="end_turn")
        answer, _ = at.answers_to()
        assert "the user rejected 1 of 2 changes" in answer["error"]["message"]
        assert (path.read_text(), at.said()) == (PARTLY, PARTLY)
        if uri is not None:
            await at.until(lambda: at.text(uri) == PARTLY)
        # Both verdicts were given.
        assert await listed(at, 0) == {}


@pytest.mark.parametrize("verdict", ["keep", "reject"])
async def test_one_verdict_on_all_of_it(tmp_path: Path, verdict: str) -> None:
    async with review(tmp_path, [WRITE], version=1, settings=HOLD) as at:
        path = at.file("a.txt", LONG)
        await held(at)
        await (keep if verdict == "keep" else reject)(at, session="s1")
        await at.idle(stop="end_turn")
        (answer,) = at.answers_to()
        assert ("error" in answer) == (verdict == "reject")
        assert path.read_text() == (AFTER if verdict == "keep" else LONG)
        assert await listed(at, 0) == {}


async def test_a_held_write_beside_unsaved_lines(tmp_path: Path) -> None:
    """The kept lines come into the document; what is unsaved stays so."""
    async with review(tmp_path, [WRITE], version=1, settings=HOLD) as at:
        path = at.file("a.txt", LONG)
        uri = at.open(path)
        at.type(uri, 0, "mine\n")
        await held(at)
        await keep(at, uri=uri)
        await at.idle(stop="end_turn")
        await at.until(lambda: at.text(uri) == "mine\n" + AFTER)
        assert path.read_text() == AFTER
        assert at.modified(uri)
        assert at.seen("acp/document/save") == []


@pytest.mark.parametrize("how", ["cancel", "time", "agent"])
async def test_whatever_ends_the_waiting_answers_the_write(tmp_path: Path, how: str) -> None:
    """A cancelled turn, the time limit, and the end of the agent."""
    settings = {"review": {"mode": "before", "holdSeconds": 0.5 if how == "time" else 600}}
    async with review(tmp_path, [WRITE, {"say": "on"}], version=1, settings=settings) as at:
        path = at.file("a.txt", LONG)
        await held(at)
        if how == "cancel":
            await at.command("acpls.session.cancel")
        if how == "agent":
            await at.command("acpls.agent.stop")
            await at.until(lambda: at.changes("s1", "state")[-1]["state"] == "lost")
        else:
            await at.idle(stop="cancelled" if how == "cancel" else "end_turn")
            (answer,) = at.answers_to()
            words = {"cancel": "the user stopped the turn", "time": "the user did not decide"}
            assert words[how] in answer["error"]["message"]
        assert path.read_text() == LONG
        assert await listed(at, 0) == {}


# --- permissions ---------------------------------------------------------------------------


@pytest.mark.parametrize("verdicts", ["all kept", "all rejected", "a part"])
@both_versions
async def test_d13_a_permission_with_a_diff_is_answered_by_the_verdicts(
    tmp_path: Path, version: int, verdicts: str
) -> None:
    """D13: all rejected refuses; of a part that was rejected nothing is left in the file."""
    done = [silent("a.txt", AFTER), {"tool": "call-a.txt", "status": "completed"}]
    call = told("a.txt", LONG, AFTER, status="pending")
    ask = {"ask": "Edit a.txt?", "call": call, "then": {"allow_once": done}}
    async with review(tmp_path, [ask, {"say": "on"}], version=version, settings=HOLD) as at:
        path = at.file("a.txt", LONG)
        uri = at.open(path)
        five, twenty = await held(at)
        await at.next("acp/question/ask")
        rejects_five, rejects_twenty = verdicts != "all kept", verdicts == "all rejected"
        await (reject if rejects_five else keep)(at, hunk=five)
        await (reject if rejects_twenty else keep)(at, hunk=twenty)
        await at.idle(stop="end_turn")
        settled = await at.next("acp/question/settled")
        assert settled["option"] == ("reject_once" if rejects_twenty else "allow_once")
        wanted = {"all kept": AFTER, "all rejected": LONG, "a part": PARTLY}[verdicts]
        await at.until(lambda: path.read_text() == at.text(uri) == wanted)
        # What was decided before it was written is not asked once more.
        await at.asked("acpls.status", None, lambda status: status["hunks"] == 0)
        assert await listed(at, 0) == {}
