"""The editor follows the agent, from the words on the wire to the words on the wire."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any

import pytest
from server_stage import TOLD, both_versions, play, seat

from acpls.testing.editor import FULL, CommandFailed

if TYPE_CHECKING:
    from contextlib import AbstractAsyncContextManager
    from pathlib import Path

    from server_stage import Seat

    from acpls.testing.frames import Json

pytestmark = pytest.mark.anyio

CODE = "".join(f"line {n}\n" for n in range(1, 41))
CODER = "Visual Studio Code"
UNREAD = TOLD | {"window/showDocument", "acp/question/ask"}
FOLLOWING: Json = {"follow": {"on": True, "idleSeconds": 0.1}}


def reads(name: str, line: int | None = None, **more: Any) -> Json:
    at = name if line is None else [name, line]
    call = {"title": f"Read {name}", "kind": "read", "status": "in_progress"}
    return {"tool": f"{name}:{line}", **call, "locations": [at], **more}


def without_acp() -> Json:
    claimed = copy.deepcopy(FULL)
    del claimed["experimental"]
    return claimed


def plain(
    folder: Path, *turns: list[Any], version: int, name: str = CODER, **options: Any
) -> AbstractAsyncContextManager[Seat]:
    """A seat at an editor without ``acp`` that is called so."""
    options.setdefault("settings", FOLLOWING)
    return seat(
        folder,
        {"turns": list(turns)},
        version,
        capabilities=without_acp(),
        client_info={"name": name, "version": "1"},
        ignore=UNREAD,
        **options,
    )


def files(at: Seat) -> None:
    for name in ("a.txt", "b.txt", "c.txt"):
        at.file(name, CODE)


def row(place: Json) -> int:
    return int(place["range"]["start"]["line"])


async def turn(at: Seat) -> None:
    """One prompt, till the end of its turn, for an editor that draws no sessions."""
    await at.command("acpls.session.prompt", {"text": "go"})

    def over(listed: Json) -> bool:
        return all(s["state"] == "idle" and "stopReason" in s for s in listed["sessions"])

    await at.asked("acpls.session.list", None, over)


# --- where the agent is --------------------------------------------------------------------


@both_versions
async def test_f08_the_agent_is_found_by_whatever_it_tells(tmp_path: Path, version: int) -> None:
    """F08: a diff, raw input, a folder beside a file, and what is read and written for it."""
    new = CODE.replace("line 7\n", "seven\n")
    call = {"title": "It", "status": "in_progress"}
    diff = {"diff": {"path": "a.txt", "old": CODE, "new": new}}
    steps: list[Any] = [
        {"tool": "t1", "kind": "edit", **call, "content": [diff]},
        {"tool": "t2", "kind": "read", **call, "raw_input": {"file_path": "b.txt", "line": 3}},
        {"tool": "t3", "kind": "search", **call, "locations": ["."]},
        {"tool": "t4", "kind": "search", **call, "locations": [["c.txt", 2], "."]},
        {"tool": "t5", "kind": "execute", **call, "raw_input": {"cwd": "{cwd}", "path": "a.txt"}},
    ]
    expected = [("a.txt", 6, "edit"), ("b.txt", 2, "read"), ("c.txt", 1, "search")]
    if version == 1:
        steps += [
            {"read": "b.txt", "line": 5, "limit": 2, "via": "client"},
            {"write": "a.txt", "text": new, "via": "client"},
        ]
        expected += [("b.txt", 4, "read"), ("a.txt", 6, "edit")]
    async with seat(tmp_path, {"turns": [steps]}, version, ignore=UNREAD) as at:
        files(at)
        await play(at)
        trail = await at.asked("acpls.follow.trail", None, lambda t: len(t) == len(expected))
        found = [(at.path_of(p["uri"]).name, row(p), p["reason"]) for p in reversed(trail)]
        assert found == expected
        # Nothing opens by itself, with follow off (F02, F11).
        assert at.shown == []
        assert not any(place["move"] for place in at.seen("acp/place/changed"))


@both_versions
async def test_subagents_and_what_is_outside_move_nobody(tmp_path: Path, version: int) -> None:
    outside = tmp_path / "outside.txt"
    outside.write_text(CODE)
    sub = {
        "sessionUpdate": "tool_call" if version == 1 else "tool_call_update",
        "toolCallId": "sub",
        "title": "Of a subagent",
        "kind": "read",
        "status": "in_progress",
        "locations": [{"path": "{cwd}/a.txt", "line": 9}],
        "_meta": {"claudeCode": {"parentToolUseId": "task"}},
    }
    steps = [reads("b.txt", 2), {"update": sub}, reads(str(outside), 3)]
    async with seat(tmp_path, {"turns": [steps]}, version, settings=FOLLOWING) as at:
        files(at)
        await play(at)
        trail = await at.asked("acpls.follow.trail", None, lambda t: len(t) == 2)
        assert [at.path_of(p["uri"]).name for p in trail] == ["outside.txt", "b.txt"]
        moves = [p for p in at.seen("acp/place/changed") if p["move"]]
        assert [at.path_of(p["uri"]).name for p in moves if row(p) == 2] == []


# --- an editor that draws places -----------------------------------------------------------


@both_versions
async def test_f02_f04_an_editor_with_places_is_moved_while_its_user_rests(
    tmp_path: Path, version: int
) -> None:
    """F02, F04: not while he types, and not any more when he went away."""
    steps = [
        {"gate": "{cwd}/one"},
        reads("a.txt", 10),
        {"gate": "{cwd}/two"},
        reads("b.txt", 20),
        {"gate": "{cwd}/three"},
        reads("c.txt", 30),
        {"gate": "{cwd}/four"},
    ]
    async with seat(tmp_path, {"turns": [steps]}, version, ignore=UNREAD) as at:
        files(at)
        uri = at.open(at.project / "c.txt")
        at.notify("acp/focus/changed", {"uri": uri, "typing": True})
        assert await at.command("acpls.follow.set", {"on": True}) == {"on": True}
        await at.command("acpls.session.prompt", {"text": "go"})
        at.file("one", "")
        mark = await at.next("acp/place/changed")
        assert (row(mark), mark["move"]) == (9, False)
        at.notify("acp/focus/changed", {"uri": uri, "typing": False})
        moved = await at.next("acp/place/changed")
        assert (row(moved), moved["move"], moved["session"]) == (9, True, "s1")
        at.file("two", "")
        moved = await at.next("acp/place/changed", lambda p: p["move"])
        assert (row(moved), moved["uri"]) == (19, at.path_of(moved["uri"]).as_uri())
        # Where he was taken he has not gone away; somewhere else he has.
        at.notify("acp/focus/changed", {"uri": moved["uri"], "selection": moved["range"]})
        assert (await at.command("acpls.status"))["follow"] == "on"
        at.notify("acp/focus/changed", {"uri": uri, "selection": moved["range"]})
        told = await at.next("acp/follow/changed", lambda p: p["state"] == "paused")
        assert told == {"state": "paused", "session": "s1"}
        at.file("three", "")
        mark = await at.next("acp/place/changed", lambda p: row(p) == 29)
        assert mark["move"] is False
        assert (await at.command("acpls.follow.goTo"))["range"] == mark["range"]
        assert (await at.command("acpls.status"))["follow"] == "on"
        at.file("four", "")
        await at.idle(stop="end_turn")
        assert [shown["takeFocus"] for shown in at.shown] == [True], "but for goTo nothing opens"


@both_versions
async def test_f05_nothing_opens_in_front_of_a_question(tmp_path: Path, version: int) -> None:
    """F05: what is on the screen stays there until it is answered."""
    steps = [
        reads("a.txt", 10),
        {"ask": "May I?", "wait": False, "options": ["allow_once", "reject_once"]},
        {"gate": "{cwd}/asked"},
        reads("b.txt", 20),
        {"gate": "{cwd}/answered"},
    ]
    async with seat(tmp_path, {"turns": [steps]}, version, settings=FOLLOWING, ignore=UNREAD) as at:
        files(at)
        await at.command("acpls.session.prompt", {"text": "go"})
        await at.next("acp/place/changed", lambda p: p["move"])
        await at.until(lambda: at.seen("acp/question/ask"))
        at.file("asked", "")
        mark = await at.next("acp/place/changed", lambda p: row(p) == 19)
        assert mark["move"] is False
        assert (await at.command("acpls.question.list"))[0]["state"] == "open"
        await at.command("acpls.question.answer", {"option": "allow_once"})
        await at.next("acp/place/changed", lambda p: row(p) == 19 and p["move"])
        at.file("answered", "")
        await at.idle()


# --- plain editors --------------------------------------------------------------------------


@both_versions
async def test_f02_f09_a_gentle_editor_is_moved_without_the_focus(
    tmp_path: Path, version: int
) -> None:
    """F02, F09: the caret goes to the line, nothing is selected; the editor centres it."""
    async with plain(tmp_path, [reads("a.txt", 10)], version=version) as at:
        files(at)
        await turn(at)
        await at.until(lambda: at.shown)
        spot = {"line": 9, "character": 0}
        assert at.shown == [
            {
                "uri": (at.project / "a.txt").as_uri(),
                "takeFocus": False,
                "selection": {"start": spot, "end": spot},
            }
        ]


@both_versions
async def test_f02_a_plain_editor_is_not_moved_while_its_user_types(
    tmp_path: Path, version: int
) -> None:
    """F02: the gate goes by what is typed; the last place counts when it opens."""
    steps = [
        {"gate": "{cwd}/typed"},
        reads("a.txt", 10),
        reads("b.txt", 20),
        {"gate": "{cwd}/moved"},
    ]
    settings = {"follow": {"on": True, "idleSeconds": 600}}
    async with plain(tmp_path, steps, version=version, settings=settings) as at:
        files(at)
        await at.command("acpls.session.prompt", {"text": "go"})
        uri = at.open(at.project / "c.txt")
        at.type(uri, 0, "x")
        at.file("typed", "")
        await at.asked("acpls.follow.trail", None, lambda trail: len(trail) == 2)
        assert at.shown == []
        at.settings["acpls"] = {"follow": {"idleSeconds": 0}}
        at.notify("workspace/didChangeConfiguration", {"settings": None})
        await at.until(lambda: at.shown)
        assert [shown["uri"] for shown in at.shown] == [(at.project / "b.txt").as_uri()]
        # What opened is ours, what is typed elsewhere is not.
        await at.until(lambda: at.shown[0]["uri"] in at.pages)
        assert (await at.command("acpls.status"))["follow"] == "on"
        at.type(uri, 0, "yz")
        at.type(uri, 0, "yz")
        assert (await at.command("acpls.status"))["follow"] == "paused"
        at.file("moved", "")


@pytest.mark.parametrize("name", ["helix", "Neovim", "Eglot", "another"])
async def test_an_editor_that_takes_the_focus_is_moved_by_command_only(
    tmp_path: Path, name: str
) -> None:
    steps = [reads("a.txt", 10), reads("b.txt", 99)]
    async with plain(tmp_path, steps, version=2, name=name) as at:
        files(at)
        await turn(at)
        place = await at.asked("acpls.follow.trail", None, lambda trail: len(trail) == 2)
        assert at.shown == []
        assert row(await at.command("acpls.follow.goTo")) == row(place[0]) == 39
        await at.until(lambda: at.shown)
        assert [shown["takeFocus"] for shown in at.shown] == [True]


@both_versions
async def test_f14_the_user_knows_better_than_the_capabilities(
    tmp_path: Path, version: int
) -> None:
    """F14: an editor that does not claim to show documents, and does so, gently."""
    settings = {**FOLLOWING, "client": {"showDocument": True, "gentleShow": True}}
    async with plain(
        tmp_path, [reads("a.txt", 10)], version=version, name="another", settings=settings
    ) as at:
        files(at)
        await turn(at)
        await at.until(lambda: at.shown)
        assert [shown["takeFocus"] for shown in at.shown] == [False]


# --- afterwards -------------------------------------------------------------------------------


@both_versions
async def test_one_can_follow_afterwards(tmp_path: Path, version: int) -> None:
    steps = [reads("a.txt", 1), reads("b.txt", 2), reads("c.txt", 0), reads("a.txt", 4)]
    async with seat(tmp_path, {"turns": [steps]}, version, ignore=UNREAD) as at:
        files(at)
        await play(at)
        await at.asked("acpls.follow.trail", None, lambda trail: len(trail) == 4)
        step = [await at.command(f"acpls.follow.{w}") for w in ("next", "next", "previous")]
        assert [(at.path_of(p["uri"]).name, row(p)) for p in step] == [
            ("a.txt", 0),
            ("b.txt", 1),
            ("a.txt", 0),
        ]
        with pytest.raises(CommandFailed, match="first place"):
            await at.command("acpls.follow.previous")
        await at.until(lambda: len(at.shown) == 3)
        assert all(shown["takeFocus"] for shown in at.shown)


@both_versions
async def test_f10_what_is_mentioned_leads_there(tmp_path: Path, version: int) -> None:
    """F10: links and definitions in the conversation; references are the trail."""
    said = "I read a.txt:12:3, `b.txt#L2`, file://{cwd}/c.txt, and https://a.example/a.txt:1."
    steps = [{"say": said}, reads("c.txt", 7), {"tool": "c.txt:7", "status": "completed"}]
    async with seat(tmp_path, {"turns": [steps]}, version, ignore=UNREAD) as at:
        files(at)
        await play(at)
        talk = (await at.command("acpls.session.openConversation"))["uri"]
        await at.until(lambda: talk in at.pages)
        await at.until(lambda: "Read c.txt" in at.text(talk))
        document = {"textDocument": {"uri": talk}}
        uris = {name: (at.project / name).as_uri() for name in ("a.txt", "b.txt", "c.txt")}
        links = await at.request("textDocument/documentLink", document)
        assert [link["target"] for link in links] == [
            f"{uris['a.txt']}#L12,3",
            f"{uris['b.txt']}#L2",
            uris["c.txt"],
            # What a tool call says it is about is a mention, too.
            uris["c.txt"],
        ]

        async def leads(words: str) -> list[tuple[str, int, int]]:
            offset = at.text(talk).index(words)
            position = at.span(talk, offset, offset)["start"]
            asked = {**document, "position": position}
            found = await at.request("textDocument/definition", asked)
            starts = [place["range"]["start"] for place in found]
            return [
                (place["uri"], start["line"], start["character"])
                for place, start in zip(found, starts, strict=True)
            ]

        assert await leads("a.txt:12") == [(uris["a.txt"], 11, 2)]
        assert await leads("b.txt#L2") == [(uris["b.txt"], 1, 0)]
        assert await leads("https://a") == []
        assert await leads("read: Read c.txt") == [(uris["c.txt"], 6, 0)]
        asked = {
            **document,
            "position": {"line": 0, "character": 0},
            "context": {"includeDeclaration": True},
        }
        (place,) = await at.request("textDocument/references", asked)
        assert (place["uri"], row(place)) == (uris["c.txt"], 6)
        # In the code other servers know more.
        code = {"textDocument": {"uri": at.open(at.project / "a.txt")}}
        assert await at.request("textDocument/documentLink", code) == []


# --- the choice ---------------------------------------------------------------------------------


async def stands(at: Seat, word: str) -> None:
    await at.asked("acpls.status", None, lambda status: status["follow"] == word)


async def test_f07_the_choice_outlives_the_server(tmp_path: Path) -> None:
    """F07: a setting in the file is more than what was chosen in another run."""
    async with seat(tmp_path, {}) as at:
        await stands(at, "off")
        await at.command("acpls.follow.set", {"on": True})
    async with seat(tmp_path, {}) as at:
        await stands(at, "on")
    async with seat(tmp_path, {}, settings={"follow.on": False}) as at:
        await stands(at, "off")
        await at.command("acpls.follow.set", {"on": True})
        at.notify("workspace/didChangeConfiguration", {"settings": None})
        await at.until(lambda: at.seen("acp/follow/changed"))
        await stands(at, "on")


@both_versions
async def test_f07_an_override_for_a_session_is_not_remembered(
    tmp_path: Path, version: int
) -> None:
    async with seat(tmp_path, {}, version) as at:
        await at.command("acpls.session.new")
        assert await at.command("acpls.follow.set", {"on": True, "session": "s1"}) == {"on": True}
        await stands(at, "on")
        assert await at.command("acpls.follow.set", {"session": "s1"}) == {"on": False}
        await stands(at, "off")
    assert not (tmp_path / "state" / "acpls" / "choices.json").exists()
