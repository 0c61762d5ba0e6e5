"""Each command of the editor's user: without arguments, with wrong keys, and what it does."""

from __future__ import annotations

from typing import Any

import pytest
from scene import AGENT, FACTS_2, NATIVE, ROOT, A, B, Scene, about

from acpls import __version__
from acpls import effects as ef
from acpls import events as ev
from acpls.hub.commands import COMMANDS
from acpls.session import updates as up
from acpls.session.asks import (
    Cancel,
    CloseSession,
    Done,
    Failure,
    NewSession,
    Opening,
    OptionsReplied,
    Prompt,
    Selected,
    SessionOpened,
    SetOption,
)
from acpls.session.content import (
    Choice,
    Location,
    Option,
    OtherContent,
    Resource,
    TerminalRef,
    Text,
)
from acpls.text import uris

URI_A, URI_B = uris.from_path(A), uris.from_path(B)
NO_SESSION = "No session is open; acpls.session.new opens one"
STOPPED = {"agent": AGENT, "title": AGENT, "state": "stopped"}
STARTING = {"agent": AGENT, "title": AGENT, "state": "starting"}
CONVERSATION = f"file://{ROOT}/.acp/demo-launch-s1.md"
MODE = Option(
    "mode", "Mode", "select", "ask", choices=(Choice("ask", "Ask"), Choice("code", "Code"))
)


# --- without arguments, when nothing is open ----------------------------------------------

ANSWERED: dict[str, Any] = {
    "agent.list": [STOPPED],
    "agent.start": STARTING,
    "agent.restart": STARTING,
    "agent.stop": STOPPED,
    "agent.select": {"agent": AGENT},
    "agent.login": STARTING,
    "agent.cancelLogin": STOPPED,
    "session.list": {"sessions": []},
    "session.prompt": {"uri": CONVERSATION},
    "session.openConversation": {"uri": CONVERSATION},
    "session.ask": {"uri": CONVERSATION},
    "question.list": [],
    "permission.list": [],
    "review.list": [],
    "review.keep": {"hunks": 0, "left": []},
    "review.reject": {"hunks": 0, "left": []},
    "checkpoint.list": [],
    "follow.set": {"on": True},
    "status": {
        "version": __version__,
        "agents": [STOPPED],
        "sessions": [],
        "currentSession": None,
        "questions": 0,
        "hunks": 0,
        "reviewMode": "after",
        "follow": False,
        "problems": [],
    },
}
FAILED: dict[str, tuple[int, str, str | None]] = {
    "agent.logout": (-32602, "demo does not run; acpls.agent.start starts it", "agent"),
    "session.get": (-32602, NO_SESSION, "session"),
    "session.close": (-32602, NO_SESSION, "session"),
    "session.resume": (-32602, NO_SESSION, "session"),
    "session.fork": (-32602, NO_SESSION, "session"),
    "session.rename": (-32602, NO_SESSION, "session"),
    "toolCall.cancel": (-32602, NO_SESSION, "session"),
    "terminal.cancel": (-32602, NO_SESSION, "session"),
    "session.send": (-32602, NO_SESSION, "session"),
    "session.fetch": (-32602, NO_SESSION, "session"),
    "session.cancel": (-32602, NO_SESSION, "session"),
    "session.endTurn": (-32602, NO_SESSION, "session"),
    "session.setOption": (-32602, NO_SESSION, "session"),
    "output.read": (-32602, NO_SESSION, "session"),
    "question.show": (-32803, "No question is open", None),
    "question.answer": (-32803, "No question is open", None),
    "permission.revoke": (-32602, "Nothing is remembered that could be revoked", "rule"),
    "review.diff": (-32602, "The file has no pending change", "uri"),
    "follow.trail": (-32602, NO_SESSION, "session"),
    "follow.goTo": (-32602, NO_SESSION, "session"),
}


@pytest.mark.parametrize("name", ANSWERED)
def test_a_command_without_arguments_is_answered(name: str) -> None:
    scene = Scene()
    assert scene.result(name) == ANSWERED[name]
    scene.is_over()


@pytest.mark.parametrize("name", FAILED)
def test_a_command_without_arguments_fails_where_there_is_nothing_to_mean(name: str) -> None:
    scene = Scene()
    code, message, field = FAILED[name]
    ticket = scene.command(name)
    assert scene.failure(ticket) == ef.FailCommand(ticket, code, message, field=field)


def test_no_command_is_left_out_here() -> None:
    here = {*ANSWERED, *FAILED, "agent.log", "session.new", "review.setMode", "checkpoint.restore"}
    assert {f"acpls.{name}" for name in here} == set(COMMANDS)


def test_a_failure_that_nobody_waits_for_is_told_to_the_user() -> None:
    scene = Scene()
    effects = scene.give(ev.CommandGiven("acpls.session.get"))
    assert effects == [ef.TellUser("error", NO_SESSION)]


# --- wrong keys ---------------------------------------------------------------------------

WRONG_AGENT = {"agent": "stranger"}
WRONG_SESSION = {"session": "s9"}
NAMES_AN_AGENT = (
    "agent.start",
    "agent.restart",
    "agent.stop",
    "agent.log",
    "agent.select",
    "agent.login",
    "agent.cancelLogin",
    "agent.logout",
    "session.list",
)
NAMES_A_SESSION = (
    "session.get",
    "session.close",
    "session.resume",
    "session.fork",
    "session.rename",
    "toolCall.cancel",
    "terminal.cancel",
    "session.prompt",
    "session.send",
    "session.fetch",
    "session.openConversation",
    "session.ask",
    "session.cancel",
    "session.endTurn",
    "session.setOption",
    "output.read",
    "question.list",
    "review.list",
    "review.keep",
    "review.reject",
    "follow.trail",
    "follow.goTo",
)


@pytest.mark.parametrize("name", [*NAMES_AN_AGENT, "session.new"])
def test_an_agent_that_is_not_configured(name: str) -> None:
    scene = Scene()
    failed = scene.error(name, **WRONG_AGENT)
    assert failed.message == "No agent is called 'stranger'; configured: demo"
    assert (failed.code, failed.field) == (-32602, "agent")
    assert scene.of(ef.StartAgent) == []


@pytest.mark.parametrize("name", NAMES_A_SESSION)
def test_a_session_that_is_not_there(name: str) -> None:
    scene = Scene()
    scene.session()
    failed = scene.error(name, **WRONG_SESSION)
    assert failed.message == "No session has the key 's9'"
    assert (failed.code, failed.field) == (-32602, "session")


WRONG: list[tuple[str, dict[str, Any], str, str]] = [
    (
        "session.send",
        {"uri": URI_A},
        "uri",
        "This document is no conversation of an open session",
    ),
    (
        "session.send",
        {},
        "uri",
        "The conversation is not open; acpls.session.openConversation opens it",
    ),
    (
        "session.setOption",
        {"option": "colour", "value": "red"},
        "option",
        "The session has no option 'colour'; it has: none",
    ),
    ("output.read", {}, "terminal", "The session has no such terminal or tool call"),
    (
        "output.read",
        {"terminal": "t9"},
        "terminal",
        "The session has no such terminal or tool call",
    ),
    (
        "question.answer",
        {"question": "q9", "option": "yes"},
        "question",
        "No question has the key 'q9'",
    ),
    ("review.keep", {"hunk": "h9"}, "hunk", "No pending hunk has the key 'h9'"),
    ("review.reject", {"hunk": "h9"}, "hunk", "No pending hunk has the key 'h9'"),
    ("review.diff", {"uri": URI_B}, "uri", "The file has no pending change"),
    (
        "session.prompt",
        {"blocks": [{"type": "video"}]},
        "blocks",
        "A block must be a text, resource_link, image or audio block of ACP",
    ),
]


@pytest.mark.parametrize(("name", "arguments", "field", "message"), WRONG)
def test_a_key_that_means_nothing(
    name: str, arguments: dict[str, Any], field: str, message: str
) -> None:
    scene = Scene()
    scene.session()
    failed = scene.error(name, **arguments)
    assert (failed.code, failed.message, failed.field) == (-32602, message, field)


# --- agents -------------------------------------------------------------------------------


def test_starting_an_agent_that_runs_does_nothing() -> None:
    scene = Scene()
    scene.command("agent.start")
    scene.is_ready()
    assert scene.result("agent.start", agent=AGENT)["state"] == "ready"
    assert len(scene.of(ef.StartAgent)) == 1


def test_a_running_agent_is_ended_and_started_again() -> None:
    scene = Scene()
    scene.command("agent.start")
    scene.is_ready()
    scene.seen.clear()
    assert scene.result("agent.restart")["state"] == "starting"
    assert [type(e) for e in scene.seen if not isinstance(e, ef.ReplyCommand)] == [
        ef.EndAgent,
        ef.StartAgent,
        ef.ShowAgent,
    ]


def test_a_running_agent_is_stopped_once() -> None:
    scene = Scene()
    scene.command("agent.start")
    assert scene.result("agent.stop")["state"] == "stopped"
    assert scene.result("agent.stop")["state"] == "stopped"
    assert scene.of(ef.EndAgent) == [ef.EndAgent(AGENT)]


@pytest.mark.parametrize(("arguments", "lines"), [({}, 200), ({"lines": 7}, 7)])
def test_the_last_words_of_an_agent(arguments: dict[str, Any], lines: int) -> None:
    scene = Scene()
    ticket = scene.command("agent.log", **arguments)
    assert scene.replies[ticket] == [ef.ReplyLog(ticket, AGENT, lines)]


def test_the_agent_selected_is_the_one_of_new_sessions() -> None:
    scene = Scene()
    layer = {"agents": {"one": {"command": "a"}, "two": {"command": "b"}}}
    scene.give(ev.SettingsChanged((layer,)))
    assert [item["agent"] for item in scene.result("agent.list")] == ["one", "two"]
    assert scene.result("agent.select", agent="two") == {"agent": "two"}
    scene.command("session.new")
    (started,) = scene.of(ef.StartAgent)
    assert (started.agent, started.spec.command) == ("two", "b")


# --- sessions -----------------------------------------------------------------------------


def test_a_new_session_is_answered_when_the_agent_has_opened_it() -> None:
    scene = Scene()
    ticket = scene.command("session.new")
    assert scene.replies[ticket] == []
    scene.is_ready()
    scene.replied(SessionOpened(NATIVE), NewSession)
    assert scene.reply(ticket) == {
        "session": "s1",
        "agent": AGENT,
        "nativeId": NATIVE,
        "cwd": ROOT,
        "state": "idle",
        "live": True,
    }
    assert scene.result("session.list") == {"sessions": [scene.reply(ticket)]}
    assert scene.result("session.get")["entries"] == []
    assert scene.result("session.get", session="s1")["seq"] == 0


def test_a_new_session_in_a_folder_with_a_title() -> None:
    scene = Scene()
    scene.session(cwd="/elsewhere", title="Tea")
    (entry,) = scene.result("session.list")["sessions"]
    assert (entry["cwd"], entry["title"]) == ("/elsewhere", "Tea")
    assert scene.asked[scene.number(NewSession)] == NewSession(Opening("/elsewhere"))


def test_a_session_is_closed_on_both_sides() -> None:
    scene = Scene(facts=FACTS_2)
    scene.session()
    assert scene.result("session.close") == {}
    assert scene.asked[scene.number(CloseSession)] == CloseSession(NATIVE)
    (entry,) = scene.result("session.list")["sessions"]
    assert (entry["state"], entry["live"]) == ("lost", False)
    assert scene.error("session.get").message == NO_SESSION


def test_a_prompt_with_a_text_is_sent_and_the_next_one_waits() -> None:
    scene = Scene()
    scene.session()
    first = scene.result("session.prompt", text="brew")
    assert first == {"session": "s1", "turn": "t1", "queued": False}
    assert scene.asked[scene.number(Prompt)] == Prompt(NATIVE, (Text("brew"),))
    second = scene.result("session.prompt", text="pour", session="s1")
    assert second == {"session": "s1", "turn": "t2", "queued": True}


def test_a_prompt_opens_a_session_where_there_is_none() -> None:
    scene = Scene()
    told = scene.result("session.prompt", text="brew")
    assert told == {"session": "s1", "turn": "t1", "queued": True}
    scene.is_ready()
    scene.replied(SessionOpened(NATIVE), NewSession)
    assert scene.asked[scene.number(Prompt)] == Prompt(NATIVE, (Text("brew"),))


def test_a_prompt_without_a_text_shows_the_conversation() -> None:
    scene = Scene()
    scene.session()
    assert scene.result("session.prompt", text="") == {"uri": CONVERSATION}
    assert [shown.uri for shown in scene.of(ef.ShowDocument)] == [CONVERSATION]


def conversation(scene: Scene, draft: str) -> str:
    """Open the conversation and write under its last heading; its path comes back."""
    scene.session()
    assert scene.result("session.openConversation") == {"uri": CONVERSATION}
    path = uris.to_path(CONVERSATION)
    assert path is not None
    uri = scene.buffer(path)
    at = len(scene.text(path).split("\n")) - 2
    scene.types(path, at, draft)
    return uri


@pytest.mark.parametrize("by", ["nothing", "session", "uri"])
def test_what_is_written_in_a_conversation_is_sent(by: str) -> None:
    scene = Scene()
    uri = conversation(scene, "Brew tea.\n")
    named = {"nothing": {}, "session": {"session": "s1"}, "uri": {"uri": uri}}
    sent = scene.result("session.send", **named[by])
    assert sent == {"session": "s1", "turn": "t1", "queued": False}
    assert scene.asked[scene.number(Prompt)] == Prompt(NATIVE, (Text("Brew tea."),))


def test_another_documents_draft_is_not_sent() -> None:
    scene = Scene()
    conversation(scene, "Brew tea.\n")
    failed = scene.error("session.send", uri=URI_A)
    assert failed.field == "uri"
    assert not any(isinstance(ask, Prompt) for ask in scene.asked.values())


def test_a_conversation_is_brought_up_to_date_now() -> None:
    scene = Scene()
    uri = conversation(scene, "my draft\n")
    scene.says("Tea is ready.")
    assert scene.result("session.fetch") == {}
    assert "Tea is ready." in scene.pages[uri].text
    assert "my draft\n" in scene.pages[uri].text


def test_a_selection_is_asked_about_in_the_conversation() -> None:
    scene = Scene()
    scene.disk[A] = "one\ntwo\n"
    scene.session()
    uri = scene.buffer(A)
    where = {"start": {"line": 1, "character": 0}, "end": {"line": 1, "character": 3}}
    told = scene.result("session.ask", uri=uri, range=where, intent="explain")
    assert told == {"uri": CONVERSATION}
    path = uris.to_path(CONVERSATION)
    assert path is not None
    assert "Explain this:\n`a.txt:2-2`\n\n```python\ntwo\n```\n" in scene.disk[path]


def test_a_turn_is_stopped() -> None:
    scene = Scene()
    scene.session()
    scene.prompts()
    assert scene.result("session.cancel") == {}
    assert scene.asked[scene.number(Cancel)] == Cancel(NATIVE)


def test_a_turn_is_taken_for_ended() -> None:
    scene = Scene()
    scene.session()
    scene.prompts()
    assert scene.result("session.endTurn", session="s1") == {}
    (entry,) = scene.result("session.list")["sessions"]
    assert (entry["state"], entry["stopReason"]) == ("idle", "cancelled")


def test_an_option_is_set_when_the_agent_has_set_it() -> None:
    scene = Scene()
    scene.session()
    scene.tells(up.OptionsSet((MODE,)))
    ticket = scene.command("session.setOption", option="mode", value="code")
    assert scene.replies[ticket] == []
    assert scene.asked[scene.number(SetOption)] == SetOption(NATIVE, "mode", "code")
    scene.tells(up.OptionChanged("mode", "code"))
    scene.replied(OptionsReplied(), SetOption)
    (option,) = scene.reply(ticket)["options"]
    assert option["value"] == "code"


def test_an_option_that_the_agent_refuses() -> None:
    scene = Scene()
    scene.session()
    scene.tells(up.OptionsSet((Option("effort", "Effort", "select", "low"),)))
    ticket = scene.command("session.setOption", option="effort", value="tea")
    scene.ask_fails(Failure(-32602, "no such effort"), SetOption)
    failed = scene.failure(ticket)
    assert (failed.code, failed.message) == (-32603, "Demo agent: no such effort")


@pytest.mark.parametrize(
    ("option", "value"), [("mode", "tea"), ("mode", True), ("web", "yes"), ("web", "true")]
)
def test_a_value_that_is_not_offered_is_refused(option: str, value: object) -> None:
    """Some agents take any value, and go on with nonsense."""
    scene = Scene()
    scene.session()
    scene.tells(up.OptionsSet((MODE, Option("web", "Web", "boolean", False))))
    failed = scene.error("session.setOption", option=option, value=value)
    assert failed.field == "value"
    assert failed.message.startswith(f"The option '{option}' cannot be {value!r}, but: ")
    assert [ask for ask in scene.asked.values() if isinstance(ask, SetOption)] == []


def test_the_options_that_there_are_are_named() -> None:
    scene = Scene()
    scene.session()
    scene.tells(up.OptionsSet((MODE, Option("model", "Model", "select", "m"))))
    failed = scene.error("session.setOption", option="tea", value="green")
    assert failed.message == "The session has no option 'tea'; it has: mode, model"


def test_a_session_that_is_not_open_yet_has_no_options_to_set() -> None:
    scene = Scene()
    scene.command("session.new")
    assert scene.error("session.setOption", option="mode", value="x").field == "option"


# --- output -------------------------------------------------------------------------------

WINDOWS: list[tuple[dict[str, int], str, int]] = [
    ({}, "☕🍵tea\n", 0),
    ({"offset": 1}, "🍵tea\n", 1),
    ({"limit": 2}, "☕🍵", 0),
    ({"offset": 2, "limit": 3}, "tea", 2),
    ({"offset": 99}, "", 99),
]


@pytest.mark.parametrize(("window", "text", "offset"), WINDOWS)
def test_a_part_of_a_terminals_output(window: dict[str, int], text: str, offset: int) -> None:
    scene = Scene()
    scene.session()
    scene.tells(up.TerminalGrew("t1", "☕🍵tea\n".encode()))
    told = scene.result("output.read", terminal="t1", **window)
    assert told == {"text": text, "offset": offset, "total": 6}


def test_the_whole_of_a_tool_calls_texts_however_long() -> None:
    scene = Scene()
    scene.session()
    link = Resource("file:///x", text="not shown")
    other = OtherContent({"type": "odd"})
    content = (Text("x" * 5000), link, TerminalRef("t1"), other, Text("end"))
    scene.tool_call("call", *content)
    told = scene.result("output.read", toolCall="call", terminal="no such terminal")
    assert told == {"text": "x" * 5000 + "\nend", "offset": 0, "total": 5004}


def test_an_output_is_given_in_parts_of_a_hundred_thousand() -> None:
    scene = Scene()
    scene.session()
    scene.tool_call("call", Text("x" * 100_001))
    told = scene.result("output.read", toolCall="call")
    assert (len(told["text"]), told["total"]) == (100_000, 100_001)


# --- questions ----------------------------------------------------------------------------


def test_the_open_questions_of_all_sessions_or_of_one() -> None:
    scene = Scene()
    scene.session()
    scene.asks(1, "First?")
    scene.session("other")
    scene.asks(2, "Second?", native="other")
    assert [q["title"] for q in scene.result("question.list")] == ["First?", "Second?"]
    assert [q["title"] for q in scene.result("question.list", session="s2")] == ["Second?"]


def test_without_a_key_the_oldest_question_is_answered() -> None:
    scene = Scene()
    scene.session()
    scene.asks(1)
    key = scene.asks(2)
    assert scene.result("question.answer", option="yes") == {}
    assert scene.answered(1) == Selected("yes")
    assert scene.result("question.answer", question=key, option="no") == {}
    assert scene.answered(2) == Selected("no")
    assert scene.result("question.list") == []


def test_an_option_that_is_not_offered_answers_nothing() -> None:
    scene = Scene()
    scene.session()
    key = scene.asks()
    failed = scene.error("question.answer", question=key, option="perhaps")
    assert failed.message == "The question does not offer 'perhaps'; it offers: yes, always, no"
    assert failed.field == "option"
    assert scene.answers() == []


def test_a_question_is_answered_once() -> None:
    scene = Scene()
    scene.session()
    key = scene.asks()
    scene.command("question.answer", question=key, option="yes")
    failed = scene.error("question.answer", question=key, option="no")
    assert failed.message == "The question was settled already, by editor"
    assert failed.field == "question"
    assert scene.answers() == [Selected("yes")]


# --- review -------------------------------------------------------------------------------


def changed(scene: Scene) -> None:
    """The agent changes two files."""
    scene.session()
    scene.disk.update({A: "one\ntwo\n", B: "three\n"})
    assert scene.agent_writes(A, "one\n2\n") == Done()
    assert scene.agent_writes(B, "3\n") == Done()


def test_changes_are_listed() -> None:
    scene = Scene()
    changed(scene)
    assert [c["uri"] for c in scene.result("review.list")] == [URI_A, URI_B]
    assert [c["uri"] for c in scene.result("review.list", uri=URI_B)] == [URI_B]
    assert scene.result("review.list", uri="file:///ws/c.txt") == []


def test_a_hunk_is_kept_and_another_rejected() -> None:
    scene = Scene()
    changed(scene)
    (key,) = scene.keys(A)
    assert scene.result("review.keep", hunk=key) == {"hunks": 1, "left": []}
    assert scene.result("review.reject", all=True) == {"hunks": 1, "left": []}
    assert scene.disk == {A: "one\n2\n", B: "three\n"}
    assert scene.result("review.list") == []


def test_both_sides_of_a_file_in_review() -> None:
    scene = Scene()
    changed(scene)
    assert scene.result("review.diff", uri=URI_A) == {
        "operation": "modify",
        "before": "ledger",
        "base": "one\ntwo\n",
        "current": "one\n2\n",
        "patch": f"--- {A}\n+++ {A}\n@@ -2,1 +2,1 @@\n-two\n+2\n",
    }


def test_the_current_side_of_an_open_document_is_what_the_user_sees() -> None:
    scene = Scene()
    changed(scene)
    scene.buffer(A, "mine\none\n2\n")
    assert scene.result("review.diff", uri=URI_A)["current"] == "mine\none\n2\n"


# --- follow, status -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "on"), [([None, None], False), ([True, True], True), ([False], False)]
)
def test_following_is_set_or_turned_round(arguments: list[bool | None], on: bool) -> None:
    scene = Scene()
    told = [
        scene.result("follow.set", **({} if given is None else {"on": given}))
        for given in arguments
    ]
    assert told[-1] == {"on": on}
    assert scene.state.follow.on is on


def test_the_trail_is_told_newest_first() -> None:
    scene = Scene()
    scene.session()
    assert scene.result("follow.trail") == []
    scene.tool_call("c1", kind="read", locations=(Location(A, 3),))
    scene.tool_call("c2", locations=(Location(B),))
    assert scene.result("follow.trail", session="s1") == [
        {"uri": URI_B, "range": at_row(0), "reason": "edit", "toolCall": "c2"},
        {"uri": URI_A, "range": at_row(2), "reason": "read", "toolCall": "c1"},
    ]


def at_row(row: int) -> dict[str, Any]:
    position = {"line": row, "character": 0}
    return {"start": position, "end": position}


def test_there_is_no_place_to_go_to_yet() -> None:
    scene = Scene()
    scene.session()
    failed = scene.error("follow.goTo")
    assert failed.message == "The agent has not been at any place yet"
    assert (failed.code, failed.field) == (-32803, None)


def test_going_to_a_file_goes_to_no_line() -> None:
    scene = Scene()
    scene.session()
    scene.tool_call(locations=(Location(A),))
    assert scene.result("follow.goTo")["range"] == at_row(0)
    assert scene.of(ef.ShowDocument) == [ef.ShowDocument(URI_A, take_focus=True)]


def test_going_to_a_line_goes_no_further_than_the_documents_last() -> None:
    scene = Scene()
    scene.session()
    scene.tool_call(locations=(Location(A, 7),))
    assert scene.result("follow.goTo")["range"] == at_row(6)
    scene.buffer(A, "one\ntwo\n")
    assert scene.result("follow.goTo", session="s1")["range"] == at_row(2)
    assert [shown.line for shown in scene.of(ef.ShowDocument)] == [6, 2]


def test_all_that_is_going_on() -> None:
    scene = Scene()
    scene.give(ev.SettingsChanged(({"follow": {"on": True}, "tea": 1},)))
    changed(scene)
    scene.asks()
    told = scene.result("status")
    assert [agent["state"] for agent in told["agents"]] == ["ready"]
    assert [session["session"] for session in told["sessions"]] == ["s1"]
    assert told["currentSession"] == "s1"
    assert (told["questions"], told["hunks"], told["follow"]) == (1, 2, True)
    assert len(told["problems"]) == 1
    assert 'unknown setting "tea"' in told["problems"][0]


def test_a_question_about_a_tool_call_is_counted_until_it_is_answered() -> None:
    scene = Scene()
    scene.session()
    scene.tool_call("call")
    scene.asks(subject=about())
    assert scene.result("status")["questions"] == 1
    scene.command("question.answer", option="yes")
    assert scene.result("status")["questions"] == 0
