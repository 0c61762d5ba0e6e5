"""An answer that holds always is remembered in the scope that the user chose, and no wider."""

from __future__ import annotations

from typing import Any

import pytest
from scene import AGENT, CANCELLED, ROOT, A, B, Scene, about

from acpls import effects as ef
from acpls import events as ev
from acpls.hub.permission_commands import CHOICES_LIMIT
from acpls.hub.tokens import RuleKept, ToRemember
from acpls.permissions import Remembered, dump
from acpls.session import updates as up
from acpls.session.asks import Selected
from acpls.session.content import AboutCommand, Choosable

ALWAYS, ALLOWED, REFUSED = Selected("always"), Selected("yes"), Selected("no")
MAKE = AboutCommand("make", ROOT)
NEVER = (Choosable("no", "No", "reject_once"), Choosable("never", "Never", "reject_always"))


def opened(**options: Any) -> Scene:
    scene = Scene(**options)
    scene.session()
    scene.prompts()
    scene.seen.clear()
    return scene


def answer(scene: Scene, question: str, option: str = "always", **more: Any) -> None:
    assert scene.result("question.answer", question=question, option=option, **more) == {}


def again(before: Scene, *roots: str) -> Scene:
    """The next run of the server, which finds what the one before stored."""
    scene = Scene(ready=ev.EditorReady(roots or (ROOT,), questions=True))
    scene.permits = before.permits
    scene.session()
    scene.prompts()
    scene.seen.clear()
    return scene


def test_p12_an_always_goes_to_the_agent_and_is_remembered_by_us() -> None:
    """P12: the agent gets the exact id; what it asks again is answered once more by us."""
    scene = opened()
    scene.asks(1, subject=MAKE)
    answer(scene, "q1")
    assert scene.answered(1) == ALWAYS
    scene.asks(2, subject=MAKE)
    assert scene.answered(2) == ALLOWED
    scene.asks(3, subject=AboutCommand("make all", ROOT))
    assert scene.answers(3) == []
    assert scene.put() == ["q1", "q3"]
    assert scene.permits == {}


def notices(scene: Scene) -> list[str]:
    entries = scene.result("session.get")["entries"]
    return [entry["title"] for entry in entries if entry["type"] == "notice"]


@pytest.mark.parametrize(
    ("scope", "where"),
    [
        ("session", "for the session"),
        ("workspace", "in this workspace"),
        ("user", "everywhere"),
    ],
)
def test_p12_the_conversation_tells_what_is_remembered_and_revoked(scope: str, where: str) -> None:
    """Who answered with always sees for what, and that it was taken back."""
    scene = opened()
    scene.asks(1, subject=MAKE)
    answer(scene, "q1", scope=scope)
    (told,) = notices(scene)
    assert told.startswith(f"Remembered {where}: always allow")
    (rule,) = scene.result("permission.list")
    scene.result("permission.revoke", rule=rule["rule"])
    assert notices(scene)[1].startswith(f"Revoked {where}: always allow")


def test_what_is_remembered_is_revoked_without_a_session_too() -> None:
    before = opened()
    before.asks(1, subject=MAKE)
    answer(before, "q1", scope="user")
    scene = Scene()
    scene.permits = before.permits
    (rule,) = scene.result("permission.list")
    assert scene.result("permission.revoke", rule=rule["rule"]) == {}
    assert scene.permits == {}
    (told,) = scene.of(ef.TellUser)
    assert told.message.startswith("Revoked everywhere: always allow")


def test_p21_a_batch_of_equal_requests_needs_one_answer() -> None:
    """P21: those that are open at the time, and those that come one after another."""
    scene = opened()
    for request, path in enumerate((A, B, "/else/c")):
        scene.tool_call(f"c{request}", kind="read", status="pending")
        call = up.ToolCallPatched(f"c{request}", raw_input={"path": path})
        scene.tells(call)
        scene.asks(request, subject=about(f"c{request}"))
    answer(scene, "q2")
    assert [scene.answers(request) for request in (0, 1, 2)] == [[ALLOWED], [ALWAYS], []]
    assert ef.QuestionSettled("q1", "rule", "yes") in scene.seen
    scene.tells(up.ToolCallPatched("c3", kind="read", raw_input={"path": f"{ROOT}/d/e"}))
    scene.asks(3, subject=about("c3"))
    assert scene.answered(3) == ALLOWED


def test_p21_what_comes_while_an_answer_is_being_remembered_waits_for_it() -> None:
    """P21."""
    scene = opened()
    scene.asks(1, subject=MAKE)
    scene.holds = {ef.ReadPermissions}
    answer(scene, "q1")
    scene.asks(2, subject=MAKE)
    assert scene.put() == ["q1"]
    # The second is looked up first.
    first, second = scene.held
    assert isinstance(first, ef.ReadPermissions)
    assert isinstance(first.token, ToRemember)
    scene.held[:] = [second, first]
    scene.let()
    assert (scene.answers(2), scene.put()) == ([], ["q1"])
    scene.holds = set()
    scene.let()
    assert scene.answered(2) == ALLOWED
    assert scene.put() == ["q1"]


def test_a_refusal_that_holds_always_refuses() -> None:
    scene = opened()
    scene.asks(1, subject=MAKE, options=NEVER)
    answer(scene, "q1", "never")
    assert scene.answered(1) == Selected("never")
    scene.asks(2, subject=MAKE, options=NEVER)
    assert scene.answered(2) == REFUSED


def test_an_answer_that_holds_once_is_not_remembered() -> None:
    scene = opened()
    scene.asks(1, subject=MAKE)
    answer(scene, "q1", "yes")
    scene.asks(2, subject=MAKE)
    assert scene.answers(2) == []
    assert scene.result("permission.list") == []


def test_an_answer_in_the_editor_may_say_the_scope() -> None:
    scene = opened()
    scene.asks(1, subject=MAKE)
    scene.give(ev.QuestionPut("q1", "always", scope="user"))
    assert scene.answered(1) == ALWAYS
    (rule,) = scene.result("permission.list")
    assert rule["scope"] == "user"


@pytest.mark.parametrize("option", ["yes", "no"])
def test_a_scope_that_cannot_be_had_does_not_lose_an_answer_of_the_editor(option: str) -> None:
    scene = opened()
    scene.asks(1, subject=MAKE)
    scene.give(ev.QuestionPut("q1", option, scope="user"))
    assert scene.answered(1) == Selected(option)


# --- scopes ----------------------------------------------------------------------------------


def test_a_session_ends_with_what_was_remembered_for_it() -> None:
    scene = opened()
    scene.asks(1, subject=MAKE)
    answer(scene, "q1", scope="session")
    scene.session("other")
    scene.asks(2, subject=MAKE, native="other")
    assert scene.answers(2) == []
    (rule,) = scene.result("permission.list")
    assert (rule["scope"], rule["session"]) == ("session", "s1")
    scene.command("session.close", session="s1")
    assert scene.result("permission.list") == []


def test_the_workspace_has_what_was_remembered_for_it_in_the_next_run() -> None:
    scene = opened()
    scene.asks(1, subject=MAKE)
    answer(scene, "q1", scope="workspace")
    later = again(scene)
    later.asks(1, subject=MAKE)
    assert later.answered(1) == ALLOWED
    elsewhere = again(scene, ROOT, "/more")
    elsewhere.asks(1, subject=MAKE)
    assert elsewhere.answers(1) == []


def test_the_user_has_it_everywhere() -> None:
    scene = opened()
    scene.asks(1, subject=MAKE)
    answer(scene, "q1", scope="user")
    elsewhere = again(scene, "/else")
    elsewhere.asks(1, subject=AboutCommand("make", "/else"))
    assert elsewhere.answered(1) == ALLOWED


@pytest.mark.parametrize(
    ("roots", "option", "scope", "message"),
    [
        ((ROOT,), "yes", "user", "Only an answer that holds always is remembered, in a scope"),
        (
            (),
            "always",
            "workspace",
            "No folder is open, so nothing can be remembered for the workspace",
        ),
    ],
)
def test_a_wrong_scope_leaves_the_question_open(
    roots: tuple[str, ...], option: str, scope: str, message: str
) -> None:
    scene = Scene(ready=ev.EditorReady(roots, questions=True))
    scene.session(cwd=ROOT)
    scene.asks(1, subject=MAKE)
    failure = scene.error("question.answer", question="q1", option=option, scope=scope)
    assert (failure.message, failure.field) == (message, "scope")
    assert scene.state.questions.all["q1"].open


def test_a_question_of_our_own_has_no_scope() -> None:
    scene = opened(ready=ev.EditorReady((ROOT,), questions=True, links=True))
    scene.give(ev.LinkAsked(AGENT, 1, None, "Look", "https://a.example", "link"))
    failure = scene.error("question.answer", question="q1", option="open", scope="user")
    assert failure.field == "scope"


# --- listed and revoked ----------------------------------------------------------------------


def test_all_rules_are_listed_and_those_of_the_settings_stay() -> None:
    scene = opened()
    rules = [{"decision": "deny", "command": "rm *", "agent": AGENT}]
    scene.give(ev.SettingsChanged(({"permissions": {"rules": rules}},)))
    scene.tells(
        up.ToolCallPatched("call", kind="edit", name="Edit", raw_input={"paths": [A, "/else/b"]})
    )
    scene.asks(1, subject=about())
    answer(scene, "q1", scope="user")
    scene.asks(2, subject=MAKE)
    answer(scene, "q2", scope="workspace")
    settings, edit, make = scene.result("permission.list")
    assert settings == {
        "rule": "settings-1",
        "scope": "settings",
        "decision": "deny",
        "agent": AGENT,
        "command": "rm *",
        "text": "deny of demo command rm *",
    }
    assert edit == {
        "rule": edit["rule"],
        "scope": "user",
        "decision": "allow",
        "agent": AGENT,
        "kind": "edit",
        "tool": "Edit",
        "paths": ["/else/b", f"{ROOT}/**"],
        "text": f"always allow demo: edit Edit /else/b {ROOT}/**",
    }
    assert (make["scope"], make["command"]) == ("workspace", "make")
    failure = scene.error("permission.revoke", rule="settings-1")
    assert (failure.code, failure.field) == (-32602, "rule")


@pytest.mark.parametrize("scope", ["session", "workspace", "user"])
def test_what_is_revoked_is_asked_again(scope: str) -> None:
    scene = opened()
    scene.asks(1, subject=MAKE)
    answer(scene, "q1", scope=scope)
    (rule,) = scene.result("permission.list")
    assert scene.result("permission.revoke", rule=rule["rule"]) == {}
    assert scene.result("permission.list") == []
    assert scene.permits == {}
    scene.asks(2, subject=MAKE)
    assert scene.answers(2) == []
    failure = scene.error("permission.revoke", rule=rule["rule"])
    assert failure.message == "No such rule is remembered; acpls.permission.list has them"
    assert failure.field == "rule"


def test_without_a_rule_the_user_is_asked_which() -> None:
    scene = opened()
    for request, line in enumerate(("make", "make test")):
        scene.asks(request, subject=AboutCommand(line, ROOT))
        answer(scene, f"q{request + 1}")
    assert scene.result("permission.revoke") == {"question": "q3"}
    question = scene.state.questions.all["q3"]
    texts = [option.name for option in question.options]
    assert texts == [
        "make test (allow for the session)",
        "make (allow for the session)",
        "Revoke nothing",
    ]
    assert scene.put()[-1] == "q3"
    scene.give(ev.QuestionPut("q3", question.options[0].option))
    assert [rule["command"] for rule in scene.result("permission.list")] == ["make"]


def test_revoking_nothing_changes_nothing() -> None:
    scene = opened()
    scene.asks(1, subject=MAKE)
    answer(scene, "q1")
    scene.result("permission.revoke")
    answer(scene, "q2", "keep")
    assert len(scene.result("permission.list")) == 1
    scene.result("permission.revoke")
    (rule, _) = scene.state.questions.all["q3"].options
    scene.result("permission.revoke", rule=rule.option)
    answer(scene, "q3", rule.option)
    assert scene.of(ef.TellUser)[-1].message == "It was revoked meanwhile"


def test_a_choice_is_not_endless() -> None:
    scene = opened()
    for number in range(CHOICES_LIMIT + 5):
        rule = Remembered("user", "allow", AGENT, ("fetch",), str(number))
        scene.permits[rule.key] = dump(rule)
    scene.result("permission.revoke")
    assert len(scene.state.questions.all["q1"].options) == CHOICES_LIMIT + 1


# --- what goes wrong -------------------------------------------------------------------------


def test_another_server_may_remember_and_revoke_meanwhile() -> None:
    scene = opened()
    rule = Remembered("user", "allow", AGENT, ("execute",), commands=("make",))
    scene.permits[rule.key] = dump(rule)
    scene.asks(1, subject=MAKE)
    assert scene.answered(1) == ALLOWED
    del scene.permits[rule.key]
    scene.asks(2, subject=MAKE)
    assert scene.answers(2) == []


def test_what_cannot_be_stored_is_remembered_until_the_end() -> None:
    scene = opened(holds={ef.KeepPermission})
    scene.asks(1, subject=MAKE)
    answer(scene, "q1", scope="user")
    (keep,) = scene.held
    assert isinstance(keep, ef.KeepPermission)
    scene.give(ev.PermissionKept(keep.token, keep.key, 0, "the disk is full"))
    scene.asks(2, subject=MAKE)
    assert scene.answered(2) == ALLOWED
    told = "It is remembered only until the server ends: the disk is full"
    assert ef.TellUser("warning", told, "always allow demo: execute make") in scene.seen


def test_what_cannot_be_taken_from_the_store_is_an_error() -> None:
    scene = opened()
    token = RuleKept("always allow demo", revoked=True)
    scene.give(ev.PermissionKept(token, "p1", 0, "it is read-only"))
    told = "It is revoked only until the server ends: it is read-only"
    assert scene.of(ef.TellUser) == [ef.TellUser("error", told, "always allow demo")]


def test_what_nobody_can_look_up_is_not_remembered_and_that_is_said() -> None:
    scene = opened()
    scene.lost = {A}
    scene.tells(up.ToolCallPatched("call", kind="edit", raw_input={"path": A}))
    scene.asks(1, subject=about())
    answer(scene, "q1")
    told = ef.TellUser(
        "warning",
        "Answered, but not remembered, since it cannot be told where its files are: May I?",
    )
    assert told in scene.seen
    assert scene.result("permission.list") == []


def test_the_cancel_of_a_turn_is_no_answer_that_is_remembered() -> None:
    scene = opened()
    scene.asks(1, subject=MAKE)
    scene.result("session.cancel")
    assert scene.answered(1) == CANCELLED
    assert scene.result("permission.list") == []
