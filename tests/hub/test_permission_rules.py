"""Rules of the settings answer questions, once, and only where they are sure."""

from __future__ import annotations

from typing import Any

import pytest
from scene import AGENT, CANCELLED, HOME, NATIVE, ROOT, YES_NO, A, B, Scene, about

from acpls import effects as ef
from acpls import events as ev
from acpls.hub.conversing import rendering
from acpls.hub.permissions import TRIES
from acpls.session import updates as up
from acpls.session.asks import Selected
from acpls.session.content import (
    UNSET,
    AboutCommand,
    Choosable,
    Fragment,
    Location,
    Option,
    Subject,
)

ALLOWED, REFUSED = Selected("yes"), Selected("no")


def ruled(*rules: dict[str, Any], **options: Any) -> Scene:
    """A scene with a session in a turn, and with these rules."""
    scene = Scene(**options)
    scene.give(ev.SettingsChanged(({"permissions": {"rules": list(rules)}},)))
    scene.session()
    scene.prompts()
    scene.seen.clear()
    return scene


def calls(scene: Scene, arguments: Any = None, kind: str = "edit", **fields: Any) -> None:
    scene.tells(up.ToolCallPatched("call", kind=kind, raw_input=arguments, **fields))


def command(line: str) -> Subject:
    return AboutCommand(line, ROOT)


GIT = {"decision": "allow", "command": "git status*"}


def test_a_rule_answers_and_says_so() -> None:
    scene = ruled(GIT)
    scene.asks(1, subject=command("git status -s"))
    assert scene.answers() == [ALLOWED]
    assert scene.put() == []
    question = scene.state.questions.all["q1"]
    assert (question.by, question.option) == ("rule", "yes")
    assert ef.QuestionSettled("q1", "rule", "yes") in scene.seen
    said = f"Allowed by rule: {question.title}"
    told = ef.TellUser("info", f"Demo agent: {said} (allow command git status*)")
    assert told in scene.seen
    (notice,) = [e for e in scene.result("session.get")["entries"] if e["type"] == "notice"]
    assert notice == {
        "entry": notice["entry"],
        "type": "notice",
        "severity": "info",
        "title": said,
        "description": "allow command git status*",
    }
    shown = rendering(scene.state, scene.state.sessions["s1"]).lines
    assert f"> info: {said}: allow command git status*" in shown


def test_what_no_rule_answers_is_put() -> None:
    scene = ruled(GIT)
    scene.asks(1, subject=command("git status; rm x"))
    assert scene.answers() == []
    assert scene.put() == ["q1"]


def test_a_refusal_takes_an_option_that_refuses_and_drops_the_proposal() -> None:
    scene = ruled({"decision": "deny", "path": "a.txt"})
    scene.has(A, "one\n")
    scene.tool_call("call", Fragment(A, "one", "1"), status="pending")
    assert scene.state.ledger.proposals
    scene.asks(1, subject=about())
    assert scene.answers() == [REFUSED]
    assert not scene.state.ledger.proposals


OPTIONS = {
    "yes": Choosable("yes", "Yes", "allow_once"),
    "other": Choosable("other", "Yes, and more", "allow_once"),
    "always": Choosable("always", "Always", "allow_always"),
    "no": Choosable("no", "No", "reject_once"),
    "never": Choosable("never", "Never", "reject_always"),
    "odd": Choosable("odd", "Allow", "allow"),
}


@pytest.mark.parametrize(
    ("decision", "offered", "chosen"),
    [
        ("allow", "always yes no", "yes"),
        ("allow", "always no", None),
        ("allow", "odd always", None),
        ("allow", "yes other no", None),
        ("allow", "", None),
        ("deny", "yes never no", "no"),
        ("deny", "yes never", "never"),
        ("deny", "yes odd", None),
    ],
)
def test_p13_a_rule_takes_only_an_option_that_fits(
    decision: str, offered: str, chosen: str | None
) -> None:
    """P13: a kind that is not known is neither allowing nor refusing."""
    scene = ruled({"decision": decision})
    options = tuple(OPTIONS[name] for name in offered.split())
    scene.asks(1, options=options, subject=command("git status"))
    assert scene.answers() == ([] if chosen is None else [Selected(chosen)])
    assert scene.put() == ([] if chosen else ["q1"])


# --- what is judged --------------------------------------------------------------------------


def test_each_file_of_a_call_is_judged_by_itself() -> None:
    scene = ruled({"decision": "allow", "kind": "edit", "path": "a.txt"})
    scene.tool_call("call", Fragment(A, None, "1"), Fragment(B, None, "2"), status="pending")
    scene.asks(1, subject=about())
    assert scene.answers() == []
    scene.tool_call("call", Fragment(A, None, "1"), status="pending")
    scene.asks(2, subject=about())
    assert scene.answers(2) == [ALLOWED]


def test_paths_are_found_in_locations_and_arguments() -> None:
    scene = ruled({"decision": "deny", "path": "**/.env"}, {"decision": "allow"})
    calls(scene, kind="read", locations=(Location(f"{ROOT}/x/.env"),))
    scene.asks(1, subject=about())
    calls(scene, {"file_path": ".env"}, "read", locations=())
    scene.asks(2, subject=about())
    calls(scene, {"file_path": "a"}, "read")
    scene.asks(3, subject=about())
    assert scene.answers() == [REFUSED, REFUSED, ALLOWED]


def test_a_link_is_judged_by_where_it_leads() -> None:
    rules = ({"decision": "deny", "path": "~/.ssh"}, {"decision": "allow", "path": "**"})
    scene = ruled(*rules)
    scene.links = {f"{ROOT}/in": f"{HOME}/.ssh", f"{ROOT}/out": "/else"}
    for number, (path, answer) in enumerate(
        [("in/key", [REFUSED]), ("out/x", []), ("b.txt", [ALLOWED])]
    ):
        calls(scene, {"path": path}, "read")
        scene.asks(number, subject=about())
        assert scene.answers(number) == answer, path


def test_what_cannot_be_looked_up_is_asked() -> None:
    scene = ruled({"decision": "allow", "path": "**"})
    scene.lost = {B}
    calls(scene, {"path": B}, "read")
    scene.asks(1, subject=about())
    assert scene.put() == ["q1"]


def test_the_agent_the_tool_and_the_mode_are_judged() -> None:
    rule = {"decision": "allow", "agent": AGENT, "tool": "Fe*", "mode": "code", "kind": "fetch"}
    scene = ruled(rule)
    calls(scene, kind="fetch", name="Fetch")
    scene.asks(1, subject=about())
    assert scene.answers() == []
    option = Option("mode", "Mode", "select", "code")
    scene.tells(up.OptionsSet((option,)))
    scene.asks(2, subject=about())
    assert scene.answers(2) == [ALLOWED]


def test_the_call_of_a_command_is_judged_too() -> None:
    scene = ruled(
        {"decision": "allow", "command": "git *"}, {"decision": "deny", "tool": "Danger*"}
    )
    calls(scene, {"command": "git push"}, "execute", name="Shell")
    asked = AboutCommand("git status", ROOT, "call")
    scene.asks(1, subject=asked)
    calls(scene, {"command": "rm x"}, "execute", name="Shell")
    scene.asks(2, subject=asked)
    calls(scene, UNSET, "execute", name="Dangerous")
    scene.asks(3, subject=asked)
    assert [scene.answers(number) for number in (1, 2, 3)] == [[ALLOWED], [], [REFUSED]]


def test_tool_calls_of_a_session_that_is_not_open_here_are_not_taken_for_those_of_ours() -> None:
    """Ids of tool calls are unique in one session only."""
    scene = ruled({"decision": "allow"}, {"decision": "deny", "command": "rm *"})
    calls(scene, {"path": A}, "read")
    scene.holds = {ef.ReadPermissions}
    scene.asks(1, subject=about())
    scene.asks(2, subject=command("rm x"))
    for key in ("q1", "q2"):
        scene.state.questions.all[key].subagent = "another"
        scene.let(ef.ReadPermissions)
    assert scene.answers(1) == []
    assert scene.answers(2) == [REFUSED]


def test_what_a_subagent_asks_is_judged_by_its_own_tool_call() -> None:
    """It may be refused by a rule, and never allowed: what was told before is not known."""
    scene = ruled({"decision": "allow"}, {"decision": "deny", "path": "b.txt"})
    scene.tells(up.SubagentPatched("another", "Helper"))
    calls(scene, {"path": B}, "read")
    for request, path in enumerate((A, B)):
        own = up.ToolCallPatched("call", kind="read", raw_input={"path": path})
        asked = ev.QuestionAsked(
            AGENT, request, "another", "May I?", YES_NO, subject=about(), call=own
        )
        scene.give(asked)
    assert [scene.answers(request) for request in (0, 1)] == [[], [REFUSED]]
    assert scene.put() == ["q1"]


def test_nobody_is_told_of_a_question_that_a_rule_may_answer() -> None:
    scene = ruled(GIT, holds={ef.ReadPermissions}, ready=ev.EditorReady((ROOT,)))
    scene.asks(1, subject=command("git status"))
    scene.asks(2, subject=command("rm x"))
    assert scene.of(ef.TellUser) == []
    scene.let(ef.ReadPermissions)
    scene.let(ef.ReadPermissions)
    told = [effect.message for effect in scene.of(ef.TellUser) if effect.level != "info"]
    assert len(told) == 1
    assert "May I?" in told[0]


def test_changes_that_are_held_for_the_user_are_allowed_by_no_rule() -> None:
    scene = Scene()
    rules = [{"decision": "allow"}, {"decision": "deny", "path": "b.txt"}]
    layer = {"permissions": {"rules": rules}, "review": {"mode": "before"}}
    scene.give(ev.SettingsChanged((layer,)))
    scene.session()
    scene.prompts()
    for request, path in enumerate((A, B)):
        scene.has(path, "one\n")
        scene.tool_call(f"c{request}", Fragment(path, "one", "1"), status="pending")
        scene.asks(request, subject=about(f"c{request}"))
    scene.asks(2, subject=command("git status"))
    assert [scene.answers(request) for request in (0, 1, 2)] == [[], [REFUSED], [ALLOWED]]
    assert "q1" in scene.put()


# --- until it is judged ----------------------------------------------------------------------


def test_a_question_that_is_being_judged_is_listed_and_not_put() -> None:
    scene = ruled(GIT, holds={ef.ReadPermissions})
    scene.asks(1, subject=command("git status"))
    scene.asks(2, subject=command("rm x"))
    assert scene.put() == []
    assert [q["question"] for q in scene.result("question.list")] == ["q1", "q2"]
    scene.let(ef.ReadPermissions)
    assert (scene.answers(), scene.put()) == ([ALLOWED], [])
    scene.let(ef.ReadPermissions)
    assert scene.put() == ["q2"]


@pytest.mark.parametrize("how", ["answer", "cancel", "withdraw", "die", "close"])
def test_what_is_settled_while_it_is_judged_stays_so(how: str) -> None:
    """P10: whoever comes first, there is one answer, and none to an agent that is gone."""
    scene = ruled(GIT, holds={ef.ReadPermissions})
    scene.asks(1, subject=command("git status"))
    match how:
        case "answer":
            scene.result("question.answer", question="q1", option="no")
        case "cancel":
            scene.result("session.cancel")
        case "withdraw":
            scene.give(ev.RequestWithdrawn(AGENT, 1))
        case "die":
            scene.dies()
        case _:
            scene.command("session.close")
    before = scene.answers()
    scene.let(ef.ReadPermissions)
    wanted = {"answer": [REFUSED], "die": []}.get(how, [CANCELLED])
    assert scene.answers() == before == wanted
    assert not any(n.startswith("notice") for n in scene.state.sessions["s1"].entries)


def test_what_the_tool_call_names_meanwhile_is_looked_up_too() -> None:
    scene = ruled({"decision": "allow", "path": "**"}, holds={ef.ReadPermissions})
    calls(scene, {"path": A}, "read")
    scene.asks(1, subject=about())
    calls(scene, {"path": B}, "read")
    scene.let(ef.ReadPermissions)
    assert scene.answers() == []
    assert scene.put() == []
    scene.let(ef.ReadPermissions)
    assert scene.answers() == [ALLOWED]


def test_a_tool_call_that_never_stands_still_is_asked_about() -> None:
    scene = ruled({"decision": "allow", "path": "**"}, holds={ef.ReadPermissions})
    scene.asks(1, subject=about())
    for number in range(TRIES + 1):
        calls(scene, {"path": f"{ROOT}/{number}"}, "read")
        scene.let(ef.ReadPermissions)
    assert scene.held == []
    assert (scene.answers(), scene.put()) == ([], ["q1"])


# --- other rules -----------------------------------------------------------------------------


def test_new_settings_answer_what_is_open() -> None:
    scene = ruled()
    scene.asks(1, subject=command("git status"))
    scene.asks(2, subject=command("rm x"))
    assert scene.put() == ["q1", "q2"]
    scene.give(ev.SettingsChanged(({"permissions": {"rules": [GIT]}},)))
    assert scene.answers() == [ALLOWED]
    assert not scene.state.questions.all["q1"].open
    scene.seen.clear()
    scene.give(ev.SettingsChanged(({"permissions": {"rules": [GIT]}},)))
    assert scene.of(ef.PutQuestion) == []


def test_a_wrong_rule_is_a_warning_to_the_user() -> None:
    scene = Scene()
    scene.give(ev.SettingsChanged(({"permissions": {"rules": [{"decision": "deni"}]}},)))
    told, shown = scene.of(ef.TellUser)
    assert told.level == "warning"
    assert "permissions.rules[0].decision" in told.message
    assert scene.result("status")["problems"] == [told.message]
    # What does not protect anybody must be seen.
    message = "A rule does not hold, and nothing is stopped by it"
    assert shown == ef.TellUser("error", message, told.message)


def test_what_does_not_hold_is_shown_once_and_again_when_it_is_another() -> None:
    scene = Scene()
    wrong = [{"decision": "deny", "kind": "exekute"}, {"decision": "ask", "comand": "x"}]
    shown = []
    for rules in (wrong[:1], wrong[:1], wrong, [], wrong[1:], [{"decision": "allow", "x": 1}]):
        scene.seen.clear()
        scene.give(ev.SettingsChanged(({"permissions": {"rules": rules}},)))
        shown.append([t.message for t in scene.of(ef.TellUser) if t.level == "error"])
    one = ["A rule does not hold, and nothing is stopped by it"]
    two = ["2 rules do not hold, and nothing is stopped by it"]
    assert shown == [one, [], two, [], one, []]


def test_a_question_of_our_own_is_judged_by_no_rule() -> None:
    scene = ruled({"decision": "allow"})
    link = ev.LinkAsked(AGENT, 7, NATIVE, "Look", "https://a.example", "link")
    scene.give(link)
    assert scene.answers() == []
    assert scene.put() == ["q1"]
    assert YES_NO[0].kind == "allow_once"
