"""Rules where they meet subagents, cancels, held changes, and agents that change their words."""

from __future__ import annotations

from typing import Any

import pytest
from scene import AGENT, FACTS_2, ROOT, A, Scene

from acpls import effects as ef
from acpls import events as ev
from acpls.session import updates as up
from acpls.session.asks import Cancelled, Selected
from acpls.session.content import AboutCommand, AboutToolCall, Choosable, Fragment

GIT = {"decision": "allow", "command": "git status*"}
NO = (Choosable("yes", "Allow", "allow_once"), Choosable("no", "Reject", "reject_once"))


def ruled(*rules: dict[str, Any], **options: Any) -> Scene:
    scene = Scene(**options)
    scene.give(ev.SettingsChanged(({"permissions": {"rules": list(rules)}},)))
    scene.session()
    scene.prompts()
    scene.seen.clear()
    return scene


def command(line: str) -> AboutCommand:
    return AboutCommand(line, ROOT)


# --- rules -----------------------------------------------------------------------------


def test_a_subagent_that_a_rule_refuses_takes_no_proposal_of_the_session_away() -> None:
    scene = ruled({"decision": "deny", "kind": "edit"})
    scene.has(A, "one\n")
    scene.tool_call("call", Fragment(A, "one", "2"))
    scene.tells(up.SubagentPatched("sub", title="Helper"))
    assert len(scene.state.ledger.proposals) == 1
    own = up.ToolCallPatched("call", kind="edit", title="Edit")
    about = AboutToolCall("call")
    scene.give(ev.QuestionAsked(AGENT, 1, "sub", "Edit?", subject=about, options=NO, call=own))
    assert scene.answered(1) == Selected("no")
    assert len(scene.state.ledger.proposals) == 1


@pytest.mark.parametrize("held", [False, True])
def test_no_rule_allows_what_a_turn_asks_that_is_being_stopped(held: bool) -> None:
    scene = ruled(GIT, facts=FACTS_2)
    if held:
        # Asked before the stop, and judged after it.
        scene.holds = {ef.ReadPermissions}
        scene.asks(1, subject=command("git status"))
        scene.command("session.cancel")
        scene.holds = set()
        scene.let(ef.ReadPermissions)
    else:
        scene.command("session.cancel")
        scene.asks(1, subject=command("git status"))
    assert scene.answers() == []
    scene.settles()
    assert scene.answers() == [Cancelled()]


def test_a_rule_still_refuses_while_a_turn_is_being_stopped() -> None:
    scene = ruled({"decision": "deny", "command": "rm *"}, facts=FACTS_2)
    scene.command("session.cancel")
    scene.asks(1, subject=command("rm x"))
    assert scene.answers() == [Selected("no")]


@pytest.mark.parametrize("option", ["fill", "accept", "open", "decline", "opened"])
def test_an_option_of_an_agent_may_have_any_id(option: str) -> None:
    options = (Choosable(option, "Allow", "allow_once"),)
    scene = ruled()
    scene.asks(1, options=options)
    assert scene.result("question.answer", option=option) == {}
    assert scene.answers() == [Selected(option)]
    scene = ruled(GIT)
    scene.asks(1, subject=command("git status"), options=options)
    assert scene.answers() == [Selected(option)]


@pytest.mark.parametrize("kind", ["edit", "other"])
def test_a_change_of_which_only_the_arguments_tell_is_seen_before_it_is_made(kind: str) -> None:
    scene = ruled({"decision": "allow", "path": "**"})
    scene.result("review.setMode", mode="before")
    edit = {"file_path": A, "old_string": "one", "new_string": "2"}
    scene.tells(up.ToolCallPatched("call", kind=kind, raw_input=edit))
    scene.asks(1, subject=AboutToolCall("call"))
    assert scene.answers() == []
    assert scene.put() == ["q1"]


# --- what the user has read ------------------------------------------------------------


def runs(scene: Scene, line: str) -> None:
    scene.tells(up.ToolCallPatched("call", kind="execute", raw_input={"command": line}))


@pytest.mark.parametrize("late", [False, True])
def test_what_is_remembered_is_what_the_user_has_read(late: bool) -> None:
    scene = ruled()
    runs(scene, "make")
    scene.asks(1, "Run make?", subject=AboutToolCall("call"))
    scene.holds = {ef.ReadPermissions} if late else set()
    if not late:
        runs(scene, "rm -rf /")
    scene.result("question.answer", option="always")
    if late:
        runs(scene, "rm -rf /")
        scene.holds = set()
        scene.let(ef.ReadPermissions)
    assert [rule["command"] for rule in scene.result("permission.list")] == ["make"]


def test_what_a_rule_allows_is_what_was_asked() -> None:
    scene = ruled(GIT)
    scene.holds = {ef.ReadPermissions}
    runs(scene, "rm -rf /")
    scene.asks(1, subject=AboutToolCall("call"))
    runs(scene, "git status")
    scene.holds = set()
    scene.let(ef.ReadPermissions)
    assert scene.answers() == []
    assert scene.put() == ["q1"]


def test_what_an_agent_adds_before_it_is_judged_has_to_pass_too() -> None:
    scene = ruled(GIT)
    scene.holds = {ef.ReadPermissions}
    runs(scene, "git status")
    scene.asks(1, subject=AboutToolCall("call"))
    runs(scene, "git status; rm x")
    scene.holds = set()
    scene.let(ef.ReadPermissions)
    assert scene.answers() == []


def test_a_rule_that_refuses_sees_what_was_asked_and_what_is_told_since() -> None:
    for lines in (("rm x", "ls"), ("ls", "rm x")):
        scene = ruled({"decision": "deny", "command": "rm *"})
        scene.holds = {ef.ReadPermissions}
        runs(scene, lines[0])
        scene.asks(1, subject=AboutToolCall("call"))
        runs(scene, lines[1])
        scene.holds = set()
        scene.let(ef.ReadPermissions)
        assert scene.answers() == [Selected("no")]


def test_asking_again_what_to_revoke_leaves_one_question() -> None:
    scene = ruled()
    scene.asks(1)
    scene.result("question.answer", option="always")
    scene.give(ev.LinkAsked(AGENT, 2, None, "Look", "https://example.com/", "visit"))
    for _ in range(3):
        scene.result("permission.revoke")
    page, left = scene.result("question.list")
    option = left["options"][0]["option"]
    assert scene.result("question.answer", question=left["question"], option=option) == {}
    assert scene.result("permission.list") == []
    # What others ask that is about no session is left alone.
    assert scene.result("question.list") == [page]


def test_what_a_rule_did_is_told_in_a_line_that_fits() -> None:
    scene = ruled({"decision": "deny", "command": "rm *"})
    scene.asks(1, subject=command("rm " + "x" * 100_000))
    (notice,) = [e for e in scene.result("session.get")["entries"] if e["type"] == "notice"]
    assert notice["title"].startswith("Refused by rule: May I? rm xxx")
    assert len(notice["title"]) < 600


@pytest.mark.parametrize("guess", [False, True])
def test_an_always_to_a_request_that_says_nothing_holds_for_no_other(guess: bool) -> None:
    scene = ruled()
    if guess:
        # Told of last, so that it may be what is asked.
        scene.tells(up.ToolCallPatched("other", kind="edit", raw_input={"path": A}))
    for request in (1, 2):
        scene.asks(request, title=None, subject=AboutToolCall(f"unknown{request}"))
        if request == 1:
            scene.result("question.answer", option="always")
    assert scene.state.questions.all["q1"].title == scene.state.questions.all["q2"].title
    assert scene.answers(2) == []
    assert scene.put() == ["q1", "q2"]


@pytest.mark.parametrize("kind", ["edit", "delete", "move", "execute"])
def test_an_always_to_what_names_no_file_holds_for_this_very_request(kind: str) -> None:
    scene = ruled()
    for request, what in ((1, "one"), (2, "two"), (3, "one")):
        call = f"c{request}"
        scene.tells(up.ToolCallPatched(call, kind=kind, title="Do", raw_input={"what": what}))
        scene.asks(request, title="Do?", subject=AboutToolCall(call))
        if request == 1:
            scene.result("question.answer", option="always")
    assert (scene.answers(2), scene.answers(3)) == ([], [Selected("yes")])
