"""Documents with unsaved changes: what the user typed survives whatever the agent does."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from review_stage import CODE, keep, listed, reject, review, silent, texts, told
from server_stage import both_versions, hunks_told, play

if TYPE_CHECKING:
    from pathlib import Path

    from server_stage import Seat

pytestmark = pytest.mark.anyio

AFTER = "one\n2\nthree\n"
MINE = "mine\n"
BY_CLIENT = {"write": "a.txt", "text": AFTER, "via": "client"}


# --- never twice --------------------------------------------------------------------------


def twice(version: int) -> list[Any]:
    """The agent writes the disk, then hands over the whole text made from the disk as well."""
    steps = [silent("a.txt", AFTER), told("a.txt", CODE, AFTER)]
    if version == 1:
        steps += [BY_CLIENT, told("a.txt", CODE, AFTER), BY_CLIENT]
    return [*steps, silent("a.txt", AFTER), told("a.txt", None, AFTER), {"say": "Done."}]


@pytest.mark.parametrize("dirty", [False, True], ids=["clean", "dirty"])
@both_versions
async def test_d07_what_is_written_in_every_way_lands_once(
    tmp_path: Path, version: int, *, dirty: bool
) -> None:
    """D07: on disk, by way of the client and told of; unsaved lines are there all the time."""
    async with review(tmp_path, twice(version), version=version) as at:
        path = at.file("a.txt", CODE)
        uri = at.open(path)
        if dirty:
            at.type(uri, 0, MINE)
        await play(at)
        (change,) = (await listed(at, 1)).values()
        assert texts(change) == [("two\n", "2\n")]
        assert all("error" not in answer for answer in at.answers_to())
        if dirty:
            assert at.text(uri) == MINE + CODE
            assert at.seen("workspace/applyEdit") == at.seen("acp/document/save") == []
        else:
            await at.until(lambda: at.text(uri) == AFTER)
        await keep(at, uri=uri)
        assert at.text(uri) == (MINE if dirty else "") + AFTER
        assert path.read_text() == AFTER
        assert at.popups == at.seen("window/showMessageRequest") == []
        assert at.seen("acp/question/ask") == []


async def test_d07_unsaved_text_that_the_agent_was_given_is_not_its_own(tmp_path: Path) -> None:
    """D07: what it hands back with the user's line in it is no edit of that line; when it takes
    the line away later, that is a hunk of its own, with a verdict of its own.
    """
    later = AFTER.replace("three", "3")
    turns: list[list[Any]] = [
        [
            {"read": "a.txt", "via": "client", "into": "seen"},
            {"write": "a.txt", "text": "{seen}four\n", "via": "client"},
        ],
        [{"write": "a.txt", "text": later, "via": "client"}],
    ]
    async with review(tmp_path, *turns, version=1) as at:
        path = at.file("a.txt", CODE)
        uri = at.open(path)
        at.type(uri, 0, MINE)
        await play(at)
        assert path.read_text() == MINE + CODE + "four\n"
        (change,) = (await listed(at, 1)).values()
        assert texts(change) == [("", "four\n")]
        await play(at)
        assert (path.read_text(), at.text(uri)) == (later, MINE + CODE)
        (change,) = (await listed(at, 1)).values()
        assert texts(change) == [(MINE, ""), ("two\nthree\n", "2\n3\n")]
        await reject(at, hunk=change["hunks"][0]["hunk"])
        await keep(at, uri=uri)
        assert at.text(uri) == MINE + later


# --- rejected ---------------------------------------------------------------------------------


@pytest.mark.parametrize("how", ["closed", "clean", "dirty"])
@both_versions
async def test_d13_after_a_reject_all_is_as_it_was(tmp_path: Path, version: int, how: str) -> None:
    """D13: the disk, the document, and what the agent reads next, also when it tells of its
    edit once more, and when all is saved; a deleted file too.
    """
    via = "client" if version == 1 else "disk"
    write = {"write": "a.txt", "text": AFTER, "via": via}
    turns: list[list[Any]] = [
        [write, told("a.txt", CODE, AFTER), {"remove": "gone.txt"}],
        [
            {"read": "a.txt", "via": via, "into": "text"},
            {"read": "gone.txt", "via": via, "into": "gone"},
            told("a.txt", CODE, AFTER),
            {"say": "<{text}><{gone}>"},
        ],
    ]
    async with review(tmp_path, *turns, version=version) as at:
        path, gone = at.file("a.txt", CODE), at.file("gone.txt", "here\n")
        uri = None if how == "closed" else at.open(path)
        mine = ""
        if uri is not None and how == "dirty":
            at.type(uri, 0, mine := MINE)
        await play(at)
        await listed(at, 2)
        if uri is not None and how == "clean":
            await at.until(lambda: at.text(uri) == AFTER)
        await reject(at, session="s1")
        assert (path.read_text(), gone.read_text()) == (CODE, "here\n")
        assert uri is None or at.text(uri) == mine + CODE
        await play(at)
        said = at.said().rsplit("<", 2)[1:]
        # What the client is asked for is what the user sees.
        assert said == [f"{mine if version == 1 else ''}{CODE}>", "here\n>"]
        assert await listed(at, 0) == {}
        if uri is not None:
            at.save(uri)
            await play(at)
            assert path.read_text() == mine + CODE
            assert await listed(at, 0) == {}


# --- clashes ----------------------------------------------------------------------------------


async def clash(at: Seat, option: str) -> tuple[str, Path]:
    """The agent writes what the user has changed and not saved; the question is answered."""
    path = at.file("a.txt", CODE)
    uri = at.open(path)
    at.replace(uri, 4, 7, "TWO, mine")
    at.answer["acp/question/ask"] = lambda _: {"option": option}
    stop = "cancelled" if option == "stop" else "end_turn"
    await play(at, stop=stop)
    asked = await at.next("acp/question/ask")
    assert asked["title"] == "Scripted agent writes a.txt, where you have unsaved changes"
    assert [o["option"] for o in asked["options"]] == ["mine", "save", "merge", "stop"]
    return uri, path


TYPED = CODE.replace("two", "TWO, mine")


@pytest.mark.parametrize("option", ["mine", "save", "stop"])
async def test_d11_the_user_keeps_what_is_unsaved(tmp_path: Path, option: str) -> None:
    """D11: the agent is told why; the file has what the user wanted it to."""
    async with review(tmp_path, [BY_CLIENT, {"say": "Done."}], version=1) as at:
        uri, path = await clash(at, option)
        (answer,) = at.answers_to()
        words = {
            "mine": "the user keeps the unsaved changes",
            "save": "the user has saved this file meanwhile",
            "stop": "the user stopped the turn",
        }
        assert words[option] in answer["error"]["message"]
        assert at.text(uri) == TYPED
        assert path.read_text() == (TYPED if option == "save" else CODE)
        assert at.modified(uri) == (option != "save")
        assert await listed(at, 0) == {}


@pytest.mark.parametrize("verdict", ["keep", "over", "reject"])
async def test_d11_both_sides_are_shown_and_the_user_takes_one(
    tmp_path: Path, verdict: str
) -> None:
    """D11: no markers, no mix; what is unsaved stays until the user says otherwise."""
    async with review(tmp_path, [BY_CLIENT], version=1) as at:
        uri, path = await clash(at, "merge")
        assert "error" not in at.answers_to()[0]
        assert (path.read_text(), at.text(uri)) == (AFTER, TYPED)
        (hunk,) = await hunks_told(at, uri, 1)
        assert hunk["state"] == "conflict"
        sides = (hunk["baseText"], hunk["newText"], hunk["currentText"])
        assert sides == ("two\n", "2\n", "TWO, mine\n")
        if verdict == "keep":
            answer = await at.command("acpls.review.keep", {"hunk": hunk["hunk"]})
            (left,) = answer["left"]
            assert (answer["hunks"], left["hunk"]) == (0, hunk["hunk"])
            assert left["reason"]
            assert (path.read_text(), at.text(uri)) == (AFTER, TYPED)
        elif verdict == "over":
            await keep(at, hunk=hunk["hunk"], over=True)
            assert (path.read_text(), at.text(uri)) == (AFTER, AFTER)
        else:
            await reject(at, hunk=hunk["hunk"])
            assert (path.read_text(), at.text(uri)) == (CODE, TYPED)
        assert at.seen("acp/document/save") == []


# --- saving is no verdict -----------------------------------------------------------------------


@both_versions
async def test_d23_saving_and_closing_never_mean_accept(tmp_path: Path, version: int) -> None:
    """D23: an editor that saves everything by itself keeps nothing and rejects nothing."""
    async with review(tmp_path, [silent("a.txt", AFTER)], version=version) as at:
        path = at.file("a.txt", CODE)
        uri = at.open(path)
        await play(at)
        await at.until(lambda: at.text(uri) == AFTER)
        (before,) = (await listed(at, 1)).values()
        at.save(uri)
        at.type(uri, len(AFTER), "mine\n")
        at.save(uri)
        preview = at.open_text("diff:///a.txt", CODE + AFTER)
        at.type(preview, 0, "- ")
        at.close(preview)
        at.close(uri)
        at.save(at.open(path))
        at.close(uri)
        (after,) = (await listed(at, 1)).values()
        assert [h["hunk"] for h in after["hunks"]] == [h["hunk"] for h in before["hunks"]]
        assert "shared" not in after["hunks"][0]
        await reject(at, all=True)
        assert path.read_text() == CODE + "mine\n"
