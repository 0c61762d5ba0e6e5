"""What stands in the margin of an open document."""

from __future__ import annotations

import pytest

from acpls import effects as ef
from acpls import events as ev
from acpls.lsp.diagnostics import diagnostics_of
from acpls.review.held import NO_FILE, Held, of_text
from editor_stage import AGENT, YES_NO, Stage, claiming, stage

pytestmark = pytest.mark.anyio

URI = "file:///p/a.py"
BASE = "a\nb\nc\nd\ne\nf\n"
TARGET = "a\nb\nX\nd\ne\nf\n"


async def test_a_hunk_is_information_with_its_key_and_no_version() -> None:
    async with stage() as it:
        it.session()
        it.editor.open(URI, "a\nb\nX\nY\nd\ne\nf\n")
        (key,) = it.reviewed("/p/a.py", BASE, "a\nb\nX\nY\nd\ne\nf\n")
        it.views.flush()
        (told,) = it.editor.reads("textDocument/publishDiagnostics")
        assert told == {
            "uri": URI,
            "diagnostics": [
                {
                    "range": span(2, 0, 4, 0),
                    "message": "Agent's change (-1 +2): keep or reject?",
                    "severity": 3,
                    "source": "acpls",
                    "code": key,
                }
            ],
        }


def span(*at: int) -> dict[str, dict[str, int]]:
    line, character, end_line, end_character = at
    return {
        "start": {"line": line, "character": character},
        "end": {"line": end_line, "character": end_character},
    }


def messages(it: Stage) -> list[str]:
    return [d["message"] for d in diagnostics_of(it.state, URI)]


SHARED = "Agent's change (-1 +1): keep only (you wrote into these lines)"


@pytest.mark.parametrize(
    ("saved", "text", "message"),
    [
        (TARGET, TARGET, "Agent's change (-1 +1): keep or reject?"),
        (
            BASE,
            BASE,
            "Agent's change (-1 +1), in the file, not here: keep or reject?",
        ),
        (
            BASE,
            BASE.replace("c", "mine"),
            (
                "Agent's change (-1 +1) clashes with yours: these lines are yours, the file has the"
                " agent's (these lines have changed since)"
            ),
        ),
        (TARGET, TARGET.replace("X", "X and mine"), SHARED),
        (
            "other\n",
            "other\n",
            (
                "Agent's change (-1 +1) cannot be told from yours: save, then decide"
                " (the text around it is not the one it was made for)"
            ),
        ),
    ],
)
async def test_a_hunk_says_how_it_stands(saved: str, text: str, message: str) -> None:
    async with stage() as it:
        it.session()
        it.editor.open(URI, saved)
        it.reviewed("/p/a.py", BASE, TARGET)
        it.editor.change(URI, 2, {"text": text})
        assert messages(it) == [message]


@pytest.mark.parametrize(
    ("base", "target", "message"),
    [
        (NO_FILE, of_text(TARGET), "The new file by the agent: keep or reject?"),
        (of_text(BASE), NO_FILE, "The deletion of this file by the agent: keep or reject?"),
        (
            of_text(BASE),
            Held(content="1", opaque="the file is binary"),
            "The change of this whole file by the agent: keep or reject?",
        ),
        (
            None,
            of_text(TARGET),
            (
                "The change of this whole file by the agent: keep only"
                " (the text before it is not known)"
            ),
        ),
    ],
)
async def test_a_whole_file_is_told_of_in_its_first_line(
    base: Held | None, target: Held, message: str
) -> None:
    async with stage() as it:
        it.session()
        it.editor.open(URI, target.text or BASE)
        it.wrote("/p/a.py", base, target)
        (found,) = diagnostics_of(it.state, URI)
        assert (found["message"], found["range"]["start"]["line"]) == (message, 0)


async def test_unsaved_changes_of_a_file_that_is_gone_clash_with_that() -> None:
    async with stage() as it:
        it.session()
        it.editor.open(URI, BASE)
        it.wrote("/p/a.py", of_text(BASE), NO_FILE)
        it.editor.change(URI, 2, {"text": BASE.replace("c", "mine")})
        (message,) = messages(it)
        assert message.startswith("The deletion of this file by the agent clashes with yours: ")
        assert "these lines are yours, the file is gone (" in message
        assert it.editor.titles(URI, 2, 0)[:2] == [
            "Keep the deletion of this file over mine",
            "Keep mine",
        ]


async def test_what_an_agent_waits_for_says_so_until_all_is_decided() -> None:
    async with stage() as it:
        it.session()
        it.editor.open(URI, BASE)
        keys = it.proposed("/p/a.py", BASE, "A\nb\nc\nd\ne\nF\n", held=object())
        waits = "Agent's change (-1 +1): keep or reject? The agent waits for you"
        assert messages(it) == [waits, waits]
        decided = "Agent's change (-1 +1): {}; the agent waits for your word on the others"
        for verdict in ("keep", "reject"):
            argument = {"hunk": keys[0]}
            it.editor.command(f"acpls.review.{verdict}", argument)
            word = "kept" if verdict == "keep" else "rejected"
            assert messages(it) == [decided.format(word), waits]


async def test_what_is_only_proposed_says_so() -> None:
    async with stage() as it:
        it.session()
        it.editor.open(URI, BASE)
        it.proposed("/p/a.py", BASE, TARGET)
        assert messages(it) == ["Agent's change (-1 +1), proposed: keep or reject?"]
        it.editor.change(URI, 2, {"text": BASE.replace("c", "mine")})
        (message,) = messages(it)
        assert "these lines are yours, the agent's are not written yet (" in message


@pytest.mark.parametrize(
    ("encoding", "units"), [("utf-8", 4 + 1), ("utf-16", 2 + 1), ("utf-32", 1 + 1)]
)
async def test_no_range_leaves_the_document_in_any_encoding_d47(encoding: str, units: int) -> None:
    """D47: the end of a last line without an ending counts in the units that were agreed on."""
    async with stage(claiming(general={"positionEncodings": [encoding]})) as it:
        it.session()
        it.editor.open(URI, "a\nb\n😀x")
        it.reviewed("/p/a.py", "a\nb\nc", "a\nb\n😀x")
        assert [d["range"] for d in diagnostics_of(it.state, URI)] == [span(2, 0, 2, units)]
        # Moved by what the user types, in whatever units.
        it.editor.change(URI, 2, {"text": "😀\na\nb\n😀x"})
        assert [d["range"] for d in diagnostics_of(it.state, URI)] == [span(3, 0, 3, units)]


@pytest.mark.parametrize(
    ("base", "target", "where"),
    [
        ("a\nb\n", "a\n", span(0, 1, 0, 1)),
        ("a\r\nb\r\n", "a\r\n", span(0, 1, 0, 1)),
        ("a\rb\r", "a\r", span(0, 1, 0, 1)),
        ("a\n", "", span(0, 0, 0, 0)),
        ("", "a\nb\n", span(0, 0, 2, 0)),
        ("", "a\nb", span(0, 0, 1, 1)),
        ("a\nb\nc\n", "a\nc\n", span(1, 0, 1, 0)),
    ],
)
async def test_a_hunk_at_the_end_stands_in_a_line_that_is_there(
    base: str, target: str, where: object
) -> None:
    async with stage() as it:
        it.session()
        it.editor.open(URI, target)
        it.reviewed("/p/a.py", base, target)
        assert [d["range"] for d in diagnostics_of(it.state, URI)] == [where]


@pytest.mark.parametrize("uri", [URI, "file:///p/unknown.py", "untitled:Untitled-1"])
async def test_what_is_not_open_or_not_in_review_has_none(uri: str) -> None:
    async with stage() as it:
        it.session()
        it.reviewed("/p/a.py", BASE, "")
        if uri != URI:
            it.editor.open(uri, "text")
        assert diagnostics_of(it.state, uri) == []


async def test_an_open_question_is_a_warning_on_its_line_of_the_conversation() -> None:
    async with stage() as it:
        it.session()
        it.question(1, "First?")
        uri = it.conversation()
        assert it.state.buffers.get(uri) is not None
        (found,) = diagnostics_of(it.state, uri)
        line = found["range"]["start"]["line"]
        buffer = it.state.buffers.get(uri)
        assert buffer is not None
        assert "First?" in buffer.text.split("\n")[line]
        assert (found["message"], found["severity"], found["code"]) == (
            "Waiting for you: First?",
            2,
            "q1",
        )
        it.emit(ev.RequestWithdrawn(AGENT, 1))
        assert diagnostics_of(it.state, uri) == []


async def test_a_conversation_that_is_not_rendered_yet_has_none() -> None:
    async with stage() as it:
        it.session()
        it.question()
        uri = it.conversation()
        (conversation,) = it.state.conversations.values()
        conversation.rendering = None
        assert diagnostics_of(it.state, uri) == []


async def test_a_conversation_shows_the_questions_of_its_own_session_only() -> None:
    async with stage() as it:
        it.session("other")
        it.session()
        uri = it.conversation()
        it.emit(ev.QuestionAsked(AGENT, 5, "other", "Elsewhere?", YES_NO))
        it.views.flush()
        assert diagnostics_of(it.state, uri) == []
        assert it.of(ef.SendAnswer) == []
