"""Recorded conversations of real agents, played into the real connection and dialects."""

from __future__ import annotations

import base64
import json
import re
from typing import TYPE_CHECKING, Any

import anyio
import pytest
from alibis import TOLD_AGAIN, vanished
from distill import DESCRIBED, DESCRIBING, is_fit, text, value
from plainly import alike, held, said
from player import play
from recorded import FOLDER, MARK, Line, account_file, expanded, filler, lines_file, names, read
from telling import account

from acpls.client.v1 import DialectV1
from acpls.events import SessionTold

if TYPE_CHECKING:
    from collections.abc import Iterator

    from player import Process

SIZE_LIMIT_BYTES = 200_000
# Recordings that were there when this was written; there may be more, but not fewer.
RECORDINGS = 351

FORBIDDEN = {
    "a home": re.compile(r"/(?:home|Users)/(?!user\b)|/root\b|[A-Z]:\\\\Users"),
    "a machine": re.compile(r"/tmp/(?!proj\b)|localhost|127\.0\.0\.1|\b10\.\d+\.\d+\.\d+\b"),
    "a person": re.compile(r"[\w.+-]+@[\w-]+\.[a-z]{2,}(?![\w/])"),
    "a secret": re.compile(r"\bsk-[A-Za-z0-9]{6,}|\bBearer [A-Za-z0-9]|eyJ[A-Za-z0-9_-]{20,}\."),
    "a registry": re.compile(r"(?:pypi|npmjs|pythonhosted)\.|crates\.i"),
}


# --- what comes of them ------------------------------------------------------------------


@pytest.mark.parametrize("name", names())
def test_a_conversation_comes_out_as_its_account_says(name: str) -> None:
    processes = anyio.run(play, name)
    for process in processes:
        assert [step.line for step in vanished(process)] == []
        assert [x for step in process.steps for x in step.logs if "internal error" in x] == []
        for told, kept in as_said_and_as_held(process):
            assert told == kept
        for update, raw in as_said_and_as_told(process):
            assert raw == update
    assert account(name, processes) == account_file(name).read_text("utf-8")


def test_all_recordings_have_accounts_and_no_account_is_left_over() -> None:
    assert len(names()) >= RECORDINGS
    accounts = [x.relative_to(FOLDER).with_suffix("").as_posix() for x in FOLDER.glob("*/*.txt")]
    assert sorted(accounts) == names()


def as_said_and_as_held(process: Process) -> Iterator[tuple[Any, Any]]:
    """Each session read plainly from the agent's lines, and from what we have of it."""
    sessions = process.sessions
    for index, (session, since) in enumerate(zip(sessions.all, sessions.since, strict=True)):
        assert session.native is not None
        later = zip(sessions.all[index + 1 :], sessions.since[index + 1 :], strict=True)
        until = min((x for other, x in later if other.native == session.native), default=None)
        messages = [
            step.line.message
            for step in process.steps[since:until]
            if isinstance(step.line, Line) and step.line.direction == "in" and step.line.message
            # What was told again is left out of the session on purpose.
            if step.alibi != TOLD_AGAIN
        ]
        kept = held(session)
        yield alike(said(messages, session.native), kept), kept


def as_said_and_as_told(process: Process) -> Iterator[tuple[Any, Any]]:
    """The updates as they came, and what is kept of them for whoever stores or forwards."""
    for step in process.steps:
        message = step.line.message if isinstance(step.line, Line) else None
        if message is not None and message.get("method") == "session/update":
            for event in step.events:
                if isinstance(event, SessionTold):
                    yield message["params"]["update"], event.raw


def test_a_line_that_comes_to_nothing_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    told = DialectV1.told

    def forgetful(dialect: DialectV1, method: str, params: Any) -> Any:
        plan = isinstance(params, dict) and params["update"]["sessionUpdate"] == "plan"
        return () if plan else told(dialect, method, params)

    monkeypatch.setattr(DialectV1, "told", forgetful)
    (process,) = anyio.run(play, "vibe/todo")
    lost = [step.line.message for step in vanished(process) if isinstance(step.line, Line)]
    assert [x and x["params"]["update"]["sessionUpdate"] for x in lost] == ["plan", "plan"]
    assert any(told != kept for told, kept in as_said_and_as_held(process))


# --- what may stand in them --------------------------------------------------------------


@pytest.mark.parametrize("name", names())
def test_a_recording_holds_nothing_that_is_not_ours_to_give(name: str) -> None:
    stored = lines_file(name).read_text("utf-8")
    assert [what for what, word in FORBIDDEN.items() if word.search(stored)] == []
    assert lines_file(name).stat().st_size <= SIZE_LIMIT_BYTES
    assert account_file(name).stat().st_size <= SIZE_LIMIT_BYTES
    unfit = [
        x
        for line in stored.splitlines()
        for x, describing in strings(json.loads(line), "", described=False)
        if not (MARK.sub("", x).strip() == "" if describing else is_fit(x))
    ]
    assert unfit == []


def strings(it: Any, key: str, *, described: bool) -> Iterator[tuple[str, bool]]:
    """All texts, and whether each describes something for its maker."""
    match it:
        case dict():
            below = described or key in DESCRIBED
            for name, x in it.items():
                yield from strings(x, name, described=below)
        case list():
            for x in it:
                yield from strings(x, key, described=described)
        case str():
            yield it, described and key in DESCRIBING
        case _:
            pass


@pytest.mark.parametrize(
    ("given", "stored"),
    [
        ("short", "short"),
        ("x" * 81, "⟦81⟧"),
        ("ü" * 81, "⟦81/162⟧"),
        ("/home/user/" + "x" * 81, "/home/user/" + "x" * 81),
        ("the maker's words\nof two lines", "⟦17⟧\n⟦12⟧"),
        ("import sys\n\nmain()\r\n", "import sys\n\n⟦6⟧\r\n"),
        ("@@ -1,2 +1 @@\n main()\n-words\n", "@@ -1,2 +1 @@\n ⟦6⟧\n-⟦5⟧\n"),
        ("\n".join(map(str, range(9, 40))) + "\n", "⟦9..39⟧\n"),
        ("a …[3000000 characters left out]… z", "a⟦3000000⟧z"),
    ],
)
def test_what_becomes_of_a_text(given: str, stored: str) -> None:
    assert text(given) == stored
    assert is_fit(stored)


def test_words_of_the_maker_are_found_wherever_they_stand() -> None:
    stored = value({"availableCommands": [{"name": "go", "description": "Goes."}]})
    assert stored == {"availableCommands": [{"name": "go", "description": "⟦5⟧"}]}
    printed = base64.b64encode(b"one\n12\n").decode()
    stored = value({"output": {"data": printed}})
    assert base64.b64decode(stored["output"]["data"]) == b"lef\n12\n"
    assert not is_fit("words\nof theirs")
    assert not is_fit("w" * 81)


@pytest.mark.parametrize("size", [10, 11, 12, 13, 20, 40])
def test_filler_is_as_long_as_what_it_stands_for(size: int) -> None:
    assert len(filler(10, size)) == 10
    assert len(filler(10, size).encode()) == size
    assert expanded({"a": ["⟦3⟧", 1, None]}) == {"a": ["lef", 1, None]}
    assert expanded("⟦9..11⟧") == "9\n10\n11"


def test_lines_have_their_real_sizes() -> None:
    longest = max(
        len(json.dumps(line.message).encode())
        for line in read("opencode/bigwrite")
        if isinstance(line, Line)
    )
    assert longest > 2_400_000
