"""What stands in the margin of an open document."""

from __future__ import annotations

import pytest

from acpls import effects as ef
from acpls import events as ev
from acpls.lsp.diagnostics import diagnostics_of
from editor_stage import AGENT, YES_NO, stage

pytestmark = pytest.mark.anyio

URI = "file:///p/a.py"
BASE = "a\nb\nc\nd\ne\nf\n"


async def test_a_hunk_is_information_with_its_key_and_no_version() -> None:
    async with stage() as it:
        it.session()
        it.editor.open(URI, "a\nb\nc\nd\ne\nf\n")
        (key,) = it.reviewed("/p/a.py", BASE, "a\nb\nX\nY\nd\ne\nf\n")
        it.views.flush()
        (told,) = it.editor.reads("textDocument/publishDiagnostics")
        assert told == {
            "uri": URI,
            "diagnostics": [
                {
                    "range": {
                        "start": {"line": 2, "character": 0},
                        "end": {"line": 3, "character": 0},
                    },
                    "message": "Change proposed by the agent (-1 +2 lines): keep or reject?",
                    "severity": 3,
                    "source": "acpls",
                    "code": key,
                }
            ],
        }


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a\nb\nX\nd\ne\nf\n", "Change made by the agent (-1 +1 lines): keep or reject?"),
        (
            "a\nb\nmine\nd\ne\nf\n",
            "A change by the agent cannot be placed: these lines have changed since",
        ),
    ],
)
async def test_a_hunk_says_how_it_stands(text: str, message: str) -> None:
    async with stage() as it:
        it.session()
        it.editor.open(URI, text)
        it.reviewed("/p/a.py", BASE, "a\nb\nX\nd\ne\nf\n")
        assert [d["message"] for d in diagnostics_of(it.state, URI)] == [message]


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
        assert (found["message"], found["severity"], found["code"]) == ("First?", 2, "q1")
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
