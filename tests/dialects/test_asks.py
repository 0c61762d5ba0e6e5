"""The asks beside opening and prompting: how both versions say them, and read the replies."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from acpls.client.dialect import Call, Misfit
from acpls.client.v1 import DialectV1
from acpls.client.v2 import DialectV2
from acpls.events import AskFailed, Replied, SessionTold
from acpls.session.asks import (
    CancelTerminal,
    CancelToolCall,
    CloseSession,
    DeleteSession,
    Done,
    Failure,
    ForkSession,
    KnownSession,
    ListSessions,
    LogIn,
    LogOut,
    NewSession,
    Opening,
    SessionsListed,
    SetTitle,
)
from acpls.session.updates import InfoPatched
from talk import call, refused, tell

if TYPE_CHECKING:
    from acpls.client.dialect import Dialect
    from acpls.session.asks import Ask

INFO_1 = {"sessionId": "s", "cwd": "/w", "title": "T", "updatedAt": "2026-01-01T00:00:00"}
KNOWN = KnownSession("s", "/w", "T", "2026-01-01T00:00:00")


def able() -> tuple[DialectV1, DialectV2]:
    """Agents that can do all there is."""
    names = ("list", "close", "delete", "title", "fork")
    objects: dict[str, Any] = {name: {} for name in names}
    one, two = DialectV1("a"), DialectV2("a")
    capabilities = {"sessionCapabilities": objects, "auth": {"logout": {}}}
    one.facts({"protocolVersion": 1, "agentCapabilities": capabilities})
    methods = [
        {"type": "agent", "methodId": "key", "name": "Key"},
        {"type": "terminal", "methodId": "setup", "name": "Set up"},
    ]
    two.facts({"protocolVersion": 2, "capabilities": {"session": objects}, "authMethods": methods})
    return one, two


@pytest.mark.parametrize(
    ("ask", "method_1", "method_2", "params"),
    [
        (ListSessions(), "session/list", "session/list", {}),
        (ListSessions("/w", ""), "session/list", "session/list", {"cwd": "/w", "cursor": ""}),
        (DeleteSession("s"), "session/delete", "session/delete", {"sessionId": "s"}),
        (CloseSession("s"), "session/close", "session/close", {"sessionId": "s"}),
        (
            SetTitle("s", "T"),
            "session/set_title",
            "session/set_title",
            {"sessionId": "s", "title": "T"},
        ),
        (LogIn("key"), "authenticate", "auth/login", {"methodId": "key"}),
        (LogOut(), "logout", "auth/logout", {}),
    ],
)
def test_what_is_said(ask: Ask, method_1: str, method_2: str, params: dict[str, Any]) -> None:
    one, two = able()
    assert call(one, ask) == Call(method_1, params)
    assert call(two, ask) == Call(method_2, params)


@pytest.mark.parametrize("result", [None, {}, {"_meta": {}}, "odd"])
@pytest.mark.parametrize(
    "ask",
    [DeleteSession("s"), CloseSession("s"), LogIn("key"), LogOut()],
    ids=lambda x: type(x).__name__,
)
def test_what_says_nothing_is_done(ask: Ask, result: object) -> None:
    for dialect in able():
        assert dialect.replied(7, ask, result) == (Replied("a", 7, Done()),)


def test_the_title_is_the_one_that_the_agent_stored() -> None:
    ask = SetTitle("s", " T ")
    for dialect in able():
        reply, told = dialect.replied(7, ask, {"title": "T"})
        assert reply == Replied("a", 7, Done())
        assert told == SessionTold("a", "s", InfoPatched("T"))
        assert dialect.replied(7, ask, None) == (reply,)
        assert dialect.replied(7, ask, {}) == (reply,)
        with pytest.raises(Misfit, match="session/set_title: title"):
            dialect.replied(7, ask, {"title": None})


@pytest.mark.parametrize(
    "ask",
    [
        ListSessions(),
        DeleteSession("s"),
        CloseSession("s"),
        SetTitle("s", "T"),
        LogOut(),
        ForkSession("s", Opening("/w")),
    ],
    ids=lambda x: type(x).__name__,
)
def test_what_the_agent_did_not_offer_is_not_sent(ask: Ask) -> None:
    for dialect in (DialectV1("a"), DialectV2("a")):
        failure = refused(dialect, ask)
        assert failure.code == -32601
        assert failure.message.startswith("The agent cannot ")


def test_one_piece_of_work_is_cancelled_in_version_2_only() -> None:
    one, two = able()
    tool_call, terminal = CancelToolCall("s", "t"), CancelTerminal("s", "x")
    assert call(two, tool_call) == Call("tool_call/cancel", {"sessionId": "s", "toolCallId": "t"})
    assert call(two, terminal) == Call("terminal/cancel", {"sessionId": "s", "terminalId": "x"})
    for ask in (tool_call, terminal):
        assert two.replied(7, ask, {}) == (Replied("a", 7, Done()),)
        assert refused(one, ask).code == -32601


def test_a_login_in_a_terminal_is_not_asked_of_the_agent() -> None:
    _, two = able()
    assert refused(two, LogIn("setup")).code == -32602


def test_an_error_to_something_offered_just_arrives() -> None:
    failure = Failure(-32601, "Method not found")
    for dialect in able():
        for ask in (ListSessions(), DeleteSession("s"), CloseSession("s"), LogIn("key")):
            assert dialect.failed(7, ask, failure) == (AskFailed("a", 7, failure),)


def test_a_session_that_is_not_there_is_closed() -> None:
    for dialect in able():
        failure = Failure(-32002, "no such session")
        assert dialect.failed(7, CloseSession("s"), failure) == (Replied("a", 7, Done()),)


class TestLists:
    def test_a_page(self) -> None:
        more: dict[str, Any] = {**INFO_1, "sessionId": "t", "title": None, "updatedAt": 3}
        more["additionalDirectories"] = ["/x"]
        result = {"sessions": [INFO_1, more, {"sessionId": "broken"}, 3], "nextCursor": ""}
        page = SessionsListed((KNOWN, KnownSession("t", "/w", None, None, ("/x",))), "")
        for dialect in able():
            assert dialect.replied(7, ListSessions(), result) == (Replied("a", 7, page),)

    def test_the_last_page(self) -> None:
        results: tuple[dict[str, Any], ...] = (
            {"sessions": []},
            {"sessions": "none", "nextCursor": None},
        )
        for result in results:
            for dialect in able():
                reply = Replied("a", 7, SessionsListed(()))
                assert dialect.replied(7, ListSessions(), result) == (reply,)

    def test_a_list_is_demanded(self) -> None:
        for dialect in able():
            for result in (None, {"nextCursor": ""}):
                with pytest.raises(Misfit, match="session/list"):
                    dialect.replied(7, ListSessions(), result)


class TestState:
    """What is kept in mind of a session goes with it."""

    def known(self, dialect: Dialect) -> set[str]:
        assert isinstance(dialect, DialectV1 | DialectV2)
        return set(dialect._state._sessions)

    def test_it_is_freed(self) -> None:
        for ask in (CloseSession("s"), DeleteSession("s")):
            for dialect in able():
                dialect.replied(1, NewSession(Opening("/w")), {"sessionId": "s"})
                dialect.replied(2, NewSession(Opening("/w")), {"sessionId": "other"})
                assert self.known(dialect) == {"s", "other"}
                dialect.replied(3, ask, {})
                assert self.known(dialect) == {"other"}

    def test_listed_sessions_cost_nothing(self) -> None:
        for dialect in able():
            call(dialect, ListSessions())
            dialect.replied(1, ListSessions(), {"sessions": [INFO_1]})
            call(dialect, DeleteSession("s"))
            assert self.known(dialect) == set()

    def test_neither_do_questions_of_files(self) -> None:
        one = DialectV1("a")
        one.asked(1, "fs/read_text_file", {"sessionId": "s", "path": "/a"})
        assert self.known(one) == set()
        assert tell(one, "session_info_update")
        assert self.known(one) == {"s"}
