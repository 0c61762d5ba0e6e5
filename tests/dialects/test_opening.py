"""How sessions are opened, in both versions: what is sent, left out, and told again."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from acp_schema import check_call
from acpls.client.dialect import Call, Misfit
from acpls.client.v1 import DialectV1
from acpls.client.v2 import DialectV2
from acpls.events import AskFailed, LeftOut, Replied, SessionTold
from acpls.session import updates as up
from acpls.session.asks import (
    Failure,
    ForkSession,
    McpServer,
    NewSession,
    Opening,
    Prompt,
    ResumeSession,
    SessionOpened,
    SystemPrompt,
)
from acpls.session.content import Command, Text
from talk import call, parts, refused, tell

if TYPE_CHECKING:
    from acpls.client.dialect import Dialect
    from acpls.session.asks import Ask

TEXT = {"type": "text", "text": "t"}
HI = Prompt("s", (Text("hi"),))
OPENING = Opening("/w")
STDIO = McpServer("files", "stdio", "/bin/mcp", ("-v",), (("KEY", "secret"),))
BARE = McpServer("bare", "stdio", "/bin/bare")
HTTP = McpServer("web", "http", url="https://h/mcp", headers=(("Auth", "secret"),))
SSE = McpServer("old", "sse", url="https://h/sse")
EVERYTHING = Opening(
    "/w",
    ("/x", "C:\\y"),
    (STDIO, BARE, HTTP, SSE),
    SystemPrompt("append", "Be brief."),
)
MODES = {"currentModeId": "ask", "availableModes": [{"id": "ask", "name": "Ask"}]}


def first(**capabilities: Any) -> DialectV1:
    dialect = DialectV1("a")
    dialect.facts({"protocolVersion": 1, "agentCapabilities": capabilities})
    return dialect


def second(**session: Any) -> DialectV2:
    dialect = DialectV2("a")
    dialect.facts({"protocolVersion": 2, "capabilities": {"session": session}})
    return dialect


def able() -> tuple[DialectV1, DialectV2]:
    """Agents that can do all there is."""
    both: dict[str, Any] = {
        "additionalDirectories": {},
        "fork": {},
        "systemPrompt": {"mode": {"override": {}}},
    }
    return (
        first(
            loadSession=True,
            mcpCapabilities={"http": True, "sse": True},
            sessionCapabilities={"resume": {}, **both},
        ),
        second(mcp={"stdio": {}, "http": {}}, **both),
    )


ASKS: list[tuple[Ask, str, str]] = [
    (NewSession(EVERYTHING), "session/new", "session/new"),
    (ResumeSession("s", EVERYTHING), "session/resume", "session/resume"),
    (ResumeSession("s", EVERYTHING, replay=True), "session/load", "session/resume"),
    (ForkSession("s", EVERYTHING), "session/fork", "session/fork"),
]


class TestWhatIsSent:
    @pytest.mark.parametrize(("ask", "method_1", "method_2"), ASKS, ids=lambda x: str(x)[:20])
    def test_everything(self, ask: Any, method_1: str, method_2: str) -> None:
        of = {} if isinstance(ask, NewSession) else {"sessionId": "s"}
        common = {
            **of,
            "cwd": "/w",
            "additionalDirectories": ["/x", "C:\\y"],
            "systemPrompt": {
                "mode": "append",
                "content": [{"type": "text", "text": "Be brief."}],
            },
        }
        env = [{"name": "KEY", "value": "secret"}]
        headers = [{"name": "Auth", "value": "secret"}]
        one, two = able()
        assert call(one, ask) == Call(
            method_1,
            {
                **common,
                "mcpServers": [
                    {"name": "files", "command": "/bin/mcp", "args": ["-v"], "env": env},
                    {"name": "bare", "command": "/bin/bare", "args": [], "env": []},
                    {"type": "http", "name": "web", "url": "https://h/mcp", "headers": headers},
                    {"type": "sse", "name": "old", "url": "https://h/sse", "headers": []},
                ],
            },
        )
        said = call(two, ask)
        replay = {"replayFrom": {"type": "start"}} if getattr(ask, "replay", False) else {}
        stdio = {"type": "stdio", "command": "/bin/mcp", "args": ["-v"], "env": env}
        assert said.method == method_2
        assert said.params == {
            **common,
            **replay,
            "mcpServers": [
                {**stdio, "name": "files"},
                {"type": "stdio", "name": "bare", "command": "/bin/bare"},
                {"type": "http", "name": "web", "url": "https://h/mcp", "headers": headers},
            ],
        }
        assert said.events == (
            LeftOut("a", "the MCP server old: the agent connects to none over sse"),
        )

    @pytest.mark.parametrize("dialect", [first(), second()], ids=["1", "2"])
    def test_nothing_is_left_out_without_a_word(self, dialect: Dialect) -> None:
        """S11."""
        wanted = Opening("/w", ("/x",), (HTTP, SSE), SystemPrompt("append", "Be brief."))
        said = call(dialect, NewSession(wanted))
        assert said.params == {"cwd": "/w", "mcpServers": []}
        assert said.events == (
            LeftOut("a", "the MCP server web: the agent connects to none over http"),
            LeftOut("a", "the MCP server old: the agent connects to none over sse"),
            LeftOut("a", "the additional folder /x: the agent takes none"),
            LeftOut("a", "the system prompt: the agent takes none"),
        )
        assert "secret" not in str(said.events)

    def test_a_prompt_that_may_only_be_added_to(self) -> None:
        for dialect in (
            first(sessionCapabilities={"systemPrompt": {}}),
            second(systemPrompt={}),
        ):
            wanted = Opening("/w", system_prompt=SystemPrompt("override", "You are"))
            said = call(dialect, NewSession(wanted))
            assert "systemPrompt" not in said.params
            words = "the system prompt: the agent takes none in the mode override"
            assert said.events == (LeftOut("a", words),)

    def test_relative_folders_are_left_out_and_a_relative_home_refused(self) -> None:
        for dialect in able():
            said = call(dialect, NewSession(Opening("C:\\w", ("sub\n1", "/x"))))
            assert said.params["additionalDirectories"] == ["/x"]
            words = "the additional folder sub 1: it is not absolute"
            assert said.events == (LeftOut("a", words),)
            for ask in (
                NewSession(Opening("w")),
                ResumeSession("s", Opening("w")),
                ForkSession("s", Opening("w")),
            ):
                assert refused(dialect, ask).code == -32602


class TestWhatIsReplied:
    @pytest.mark.parametrize("ask", [NewSession(OPENING), ForkSession("s", OPENING)])
    def test_a_new_session_needs_an_id(self, ask: Any) -> None:
        for dialect in able():
            (event,) = dialect.replied(1, ask, {"sessionId": "new"})
            assert event == Replied("a", 1, SessionOpened("new"))
            for broken in (None, {}, {"sessionId": ""}):
                with pytest.raises(Misfit, match=r"session/(new|fork)"):
                    dialect.replied(1, ask, broken)

    @pytest.mark.parametrize(
        ("result", "session"),
        [(None, "s"), ({}, "s"), ({"sessionId": "other"}, "other"), ({"sessionId": None}, "s")],
    )
    def test_an_old_session_has_its_id(self, result: object, session: str) -> None:
        ask = ResumeSession("s", OPENING)
        for dialect in able():
            call(dialect, ask)
            assert dialect.replied(1, ask, result) == (Replied("a", 1, SessionOpened(session)),)
            with pytest.raises(Misfit):
                dialect.replied(1, ask, [])

    def test_options_and_commands_come_with_it(self) -> None:
        ask = ResumeSession("s", OPENING)
        one, two = able()
        (event,) = one.replied(1, ask, {"modes": MODES})
        assert isinstance(event, Replied)
        assert isinstance(event.reply, SessionOpened)
        assert [x.option for x in event.reply.options or ()] == ["mode"]
        command = {"type": "command", "name": "go", "description": "d"}
        (event,) = two.replied(1, ask, {"availableCommands": [command], "configOptions": []})
        assert event == Replied("a", 1, SessionOpened("s", (), (Command("go", "d"),)))

    def test_relative_paths_begin_at_the_folder_asked_for(self) -> None:
        """Gemini tells a session again with relative paths, before the reply."""
        ask = ResumeSession("s", OPENING, replay=True)
        for dialect in able():
            call(dialect, ask)
            at = [{"path": "a.py"}]
            (told,) = tell(dialect, "tool_call_update", toolCallId="t", locations=at)
            assert isinstance(told, up.ToolCallPatched)
            assert "/w/a.py" in str(told.locations)


class TestWhatCannotBeAsked:
    def test_in_version_1(self) -> None:
        assert refused(first(), ResumeSession("s", OPENING)).code == -32601
        resumes = first(sessionCapabilities={"resume": {}})
        assert refused(resumes, ResumeSession("s", OPENING, replay=True)).code == -32601
        assert (
            refused(first(), ForkSession("s", OPENING)).message == "The agent cannot copy sessions"
        )

    def test_in_version_2(self) -> None:
        assert refused(DialectV2("a"), ResumeSession("s", OPENING)).code == -32601
        assert refused(second(), ForkSession("s", OPENING)).code == -32601


def replay(dialect: Dialect) -> list[up.Update]:
    """What comes of a session told again, before the reply."""
    told = tell(dialect, "user_message_chunk", messageId="1", content=TEXT)
    told += tell(dialect, "agent_message_chunk", messageId="2", content=TEXT)
    told += tell(dialect, "tool_call_update", toolCallId="t", status="completed")
    told += tell(dialect, "session_info_update", title="T")
    if dialect.version == 2:
        told += tell(dialect, "replay_complete")
        told += tell(dialect, "state_update", state="idle")
    return told


class TestReplay:
    """S01, S02, S04."""

    def test_what_was_asked_for_is_told_once(self) -> None:
        ask = ResumeSession("s", OPENING, replay=True)
        told = []
        for dialect in able():
            call(dialect, ask)
            found = replay(dialect)
            *more, reply = dialect.replied(1, ask, {})
            assert reply == Replied("a", 1, SessionOpened("s"))
            found += parts(more)
            assert found.count(up.ReplayEnded()) == 1
            told.append([x for x in found if not isinstance(x, up.TurnChanged)])
        assert told[0] == told[1]
        assert len(told[0]) == 5

    def test_an_agent_older_than_the_marker_ends_with_the_reply(self) -> None:
        ask = ResumeSession("s", OPENING, replay=True)
        dialect = second()
        call(dialect, ask)
        ended, reply = dialect.replied(1, ask, {})
        assert ended == SessionTold("a", "s", up.ReplayEnded())
        assert isinstance(reply, Replied)
        call(dialect, ResumeSession("s", OPENING))
        assert len(dialect.replied(2, ResumeSession("s", OPENING), {})) == 1

    def test_what_nobody_asked_for_is_passed_over(self) -> None:
        ask = ResumeSession("s", OPENING)
        for dialect in (first(loadSession=True), second()):
            said = call(dialect, ask)
            assert said.method == {1: "session/load", 2: "session/resume"}[dialect.version]
            told = [x for x in replay(dialect) if not isinstance(x, up.TurnChanged)]
            assert told == [up.InfoPatched("T")]
            # What follows a load is not over yet; nothing follows a resume.
            opened = SessionOpened("s", loaded=dialect.version == 1)
            assert dialect.replied(1, ask, None) == (Replied("a", 1, opened),)

    def test_in_version_1_also_what_comes_after_the_reply(self) -> None:
        """Gemini 0.61.0 tells most of it after the reply."""
        ask = ResumeSession("s", OPENING)
        dialect = first(loadSession=True)
        call(dialect, ask)
        dialect.replied(1, ask, {"modes": MODES})
        assert replay(dialect) == [up.InfoPatched("T")]
        assert tell(dialect, "plan", entries=[]) == []
        assert tell(dialect, "compaction_update", compactionId="c", status="completed") == []
        assert tell(dialect, "current_mode_update", currentModeId="ask")
        assert tell(dialect, "available_commands_update", availableCommands=[])
        assert tell(dialect, "usage_update", used=1, size=2)
        call(dialect, HI)
        assert tell(dialect, "agent_message_chunk", content=TEXT)

    def test_a_reply_ends_it_in_version_2(self) -> None:
        ask = ResumeSession("s", OPENING)
        dialect = second()
        call(dialect, ask)
        dialect.replied(1, ask, {})
        assert tell(dialect, "agent_message_chunk", messageId="m", content=TEXT)
        call(dialect, ask)
        # Nobody waits for the reply any more.
        call(dialect, HI)
        assert tell(dialect, "agent_message_chunk", messageId="m", content=TEXT)

    def test_so_does_a_failure(self) -> None:
        ask = ResumeSession("s", OPENING)
        failure = Failure(-32002, "no such session")
        for dialect in able():
            call(dialect, ask)
            assert dialect.failed(1, ask, failure) == (AskFailed("a", 1, failure),)
            assert tell(dialect, "agent_message_chunk", messageId="m", content=TEXT)

    def test_messages_told_again_are_not_melted_together(self) -> None:
        ask = ResumeSession("s", OPENING, replay=True)
        dialect = first(loadSession=True)
        ids = []
        call(dialect, ask)
        ids.append(tell(dialect, "agent_message_chunk", content=TEXT))
        dialect.replied(1, ask, None)
        ids.append(tell(dialect, "agent_message_chunk", content=TEXT))
        call(dialect, ask)
        ids.append(tell(dialect, "agent_message_chunk", content=TEXT))
        assert len({x.message for (x,) in ids if isinstance(x, up.MessageGrew)}) == 3


def test_the_examples_are_proper_messages() -> None:
    for dialect in able():
        for ask, *_ in ASKS:
            said = dialect.say(ask)
            assert isinstance(said, Call)
            check_call(dialect.version, said.method, said.params)
