"""What is done for one agent, and for no other."""

from __future__ import annotations

from typing import Any

import pytest

from acpls.client.quirks import missing_file_is_empty
from acpls.client.v1 import DialectV1
from acpls.client.v2 import DialectV2
from acpls.events import SessionTold
from acpls.session.asks import AgentFacts, Failure, NewSession, Opening
from acpls.session.state import ToolCall
from acpls.session.updates import MessageGrew, OptionChanged, ToolCallPatched
from talk import open_session, tell

NOT_FOUND = Failure(-32002, "Resource not found: /a: no such file (ENOENT)")


def reading(name: str | None, version: str = "0.61.0") -> DialectV1:
    """An agent of this name that waits for a file."""
    dialect = DialectV1("gemini")
    info = {} if name is None else {"agentInfo": {"name": name, "version": version}}
    dialect.facts({"protocolVersion": 1, **info})
    dialect.asked(0, "fs/read_text_file", {"sessionId": "s", "path": "/a"})
    return dialect


@pytest.mark.parametrize("version", ["0.61.0", "0.62.0-preview.1", ""])
def test_for_gemini_a_missing_file_is_empty(version: str) -> None:
    """D35, D36: it could not make a file otherwise."""
    response = reading("gemini-cli", version).answer(0, NOT_FOUND)
    assert response.result == {"content": ""}
    assert response.failure is None


@pytest.mark.parametrize("name", ["OpenCode", "qwen-code", None])
def test_for_all_others_it_is_missing(name: str | None) -> None:
    """D35, D36."""
    assert reading(name).answer(0, NOT_FOUND).failure == NOT_FOUND


def test_for_gemini_too_other_failures_are_failures() -> None:
    failure = Failure(-32603, "/a: permission denied")
    assert reading("gemini-cli").answer(0, failure).failure == failure
    dialect = reading("gemini-cli")
    dialect.asked(1, "fs/write_text_file", {"sessionId": "s", "path": "/a", "content": ""})
    assert dialect.answer(1, NOT_FOUND).failure == NOT_FOUND


def test_the_agent_is_known_by_what_it_says_of_itself() -> None:
    assert missing_file_is_empty(AgentFacts("gemini-cli", "0.61.0", 1))
    assert not missing_file_is_empty(AgentFacts("gemini", "0.61.0", 1))
    # What a first version proper does is not known, and the rule is for what is known.
    assert not missing_file_is_empty(AgentFacts("gemini-cli", "1.0.0", 1))
    assert not missing_file_is_empty(AgentFacts("gemini-cli", "12.3", 1))


def said(name: str, content: object, kind: str = "agent_message_chunk") -> list[object]:
    """What a chunk of an agent with modes means."""
    dialect = DialectV1("agent")
    dialect.facts({"protocolVersion": 1, "agentInfo": {"name": name, "version": "0.61.0"}})
    modes = {"currentModeId": "default", "availableModes": [{"id": "yolo", "name": "YOLO"}]}
    dialect.replied(1, NewSession(Opening("/w")), {"sessionId": "s", "modes": modes})
    update = {"sessionUpdate": kind, "content": content}
    told = dialect.told("session/update", {"sessionId": "s", "update": update})
    assert all(isinstance(event, SessionTold) and event.raw is update for event in told)
    return [event.update for event in told if isinstance(event, SessionTold)]


def text(words: str) -> dict[str, str]:
    return {"type": "text", "text": words}


def test_gemini_tells_of_its_mode_in_words() -> None:
    assert said("gemini-cli", text("[MODE_UPDATE] yolo")) == [OptionChanged("mode", "yolo")]


@pytest.mark.parametrize(
    ("name", "content", "kind"),
    [
        ("qwen-code", text("[MODE_UPDATE] yolo"), "agent_message_chunk"),
        ("gemini-cli", text("[MODE_UPDATE] and more words"), "agent_message_chunk"),
        ("gemini-cli", text("see [MODE_UPDATE] yolo"), "agent_message_chunk"),
        ("gemini-cli", text("[MODE_UPDATE] yolo"), "agent_thought_chunk"),
        ("gemini-cli", "[MODE_UPDATE] yolo", "agent_message_chunk"),
        ("gemini-cli", {"type": "hologram", "text": 1}, "agent_message_chunk"),
    ],
)
def test_all_other_words_are_words(name: str, content: object, kind: str) -> None:
    (update,) = said(name, content, kind)
    assert isinstance(update, MessageGrew)


# --- subagents without sessions of their own ----------------------------------------------


@pytest.mark.parametrize("version", [1, 2])
@pytest.mark.parametrize(
    ("meta", "of_subagent"),
    [
        ({"claudeCode": {"parentToolUseId": "task"}}, True),
        ({"claudeCode": {"parentToolUseId": None}}, False),
        ({"claudeCode": {"toolName": "Read"}}, False),
        ({"claudeCode": "odd"}, False),
        ({"other": {"parentToolUseId": "task"}}, False),
        (None, False),
    ],
)
def test_of_claude_it_is_known_which_tool_calls_are_a_subagents(
    version: int, meta: Any, of_subagent: bool
) -> None:
    dialect: DialectV1 | DialectV2 = DialectV1("a") if version == 1 else DialectV2("a")
    open_session(dialect)
    kind = "tool_call" if version == 1 else "tool_call_update"
    told = tell(dialect, kind, toolCallId="c", title="Read", _meta=meta)
    (patch,) = [update for update in told if isinstance(update, ToolCallPatched)]
    call = ToolCall("c")
    call.patch(patch)
    assert call.of_subagent is of_subagent
    # What is told of it later does not take it back.
    call.patch(ToolCallPatched("c", status="completed"))
    assert call.of_subagent is of_subagent
