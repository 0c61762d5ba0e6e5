"""Scenarios of answers that hold always: for how long they are remembered, and taken back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from scenarios_questions import ALLOW, ALWAYS, REJECT, answers, both, offered

if TYPE_CHECKING:
    from sitting import Scenario, Sitting

RULES: Final = """\
[[permissions.rules]]
decision = "deny"
command = "make *"
"""


def run(command: str = "make check", **more: Any) -> dict[str, Any]:
    """The agent asks whether it may run a command."""
    call = {"tool": command, "title": command, "kind": "execute", "raw_input": {"command": command}}
    options = [ALLOW, ALWAYS, REJECT]
    return {"ask": command, "command": command, "call": call, "options": options, **more}


def remembered(s: Sitting) -> list[str]:
    """The scopes of what is remembered."""
    return [rule["scope"] for rule in s.tap.command("acpls.permission.list")]


def _holds_in_the_workspace(s: Sitting) -> None:
    """P12: the agent has the option that the user chose, and the same is not asked again."""
    s.prompt(ends=False)
    s.asked("make check")
    assert remembered(s) == []
    s.shot("scopes")
    answers(s, "Yes, always (kept for this workspace)", "make check")
    s.until_idle()
    assert s.chosen() == ["all", "yes"]
    assert offered(s) == []
    assert remembered(s) == ["workspace"]
    # In another run of the editor, too.
    s.again()
    s.prompt()
    assert s.chosen() == ["all", "yes", "yes", "yes"]
    assert s.hands.is_undisturbed()


def _is_taken_back(s: Sitting) -> None:
    s.prompt(ends=False)
    s.asked("make check")
    answers(s, "Yes, always", "make check")
    s.until_idle()
    assert s.chosen() == ["all", "yes"]
    assert remembered(s) == ["session"]
    s.hands.command("acpls.permission.revoke")
    s.until(lambda: len(s.tap.command("acpls.question.list")) == 1, "which one")
    titles = s.hands.titles(7)
    s.shot("revoke")
    s.hands.act(7, next(title for title in titles if "make check" in title))
    s.until(lambda: remembered(s) == [], "it is forgotten")
    s.prompt(ends=False)
    s.asked("make check")
    answers(s, "No, leave it")
    s.asked("make check")
    answers(s, "No, leave it")
    s.until_idle()


def _one_answer_does_for_a_batch(s: Sitting) -> None:
    """P21: what is asked alike at the same time has its answer as well; other things do not."""
    s.prompt(ends=False)
    s.asked("make check", "make check", "make clean")
    first = next(title for title in s.hands.titles(7) if title.startswith("Yes, always: make ch"))
    s.hands.act(7, first)
    s.asked("make clean")
    s.until(lambda: sorted(s.chosen()) == ["all", "yes"], "both answers")
    answers(s, "No, leave it", "make clean")
    s.until_idle()
    assert sorted(s.chosen()) == ["all", "no", "yes"]


def _is_denied_by_a_rule(s: Sitting) -> None:
    """Nothing is asked, nothing appears, and the conversation tells by which rule."""
    s.prompt()
    assert s.chosen() == ["no"]
    assert s.hands.is_undisturbed()
    assert s.tap.sent("server", "window/showMessage") == []
    s.hands.command("acpls.session.openConversation")
    s.until(lambda: "make *" in s.hands.text(), "the rule in the conversation")
    s.shot("denied")


TWICE: Final = [run(), run()]
BATCH: Final = [run(wait=False), run(wait=False), run("make clean", wait=False)]
REMEMBERED: Final[list[Scenario]] = [
    *both(_holds_in_the_workspace, [TWICE]),
    *both(
        _is_taken_back,
        [TWICE],
        popups=(
            "Waiting for you: Which of your answers is to be revoked",
            "Waiting for you: make check",
        ),
    ),
    *both(_one_answer_does_for_a_batch, [BATCH]),
    *both(_is_denied_by_a_rule, [[run()]], settings=RULES),
]
