"""Scenarios of questions in dialogs of the editor, where the user wants these."""

from __future__ import annotations

from functools import wraps
from typing import TYPE_CHECKING, Any, Final

from scenarios_questions import NAMES, SHOW, TWO, answers, ask, both, offered

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from sitting import Scenario, Sitting

SETTINGS: Final = "[questions]\ndialogs = true\n"
ASKED: Final = "window/showMessageRequest"


def _is_answered_in_a_dialog(s: Sitting) -> None:
    s.prompt(ends=False)
    s.hands.dialog(SHOW, *NAMES)
    s.shot("dialog")
    s.hands.choose("No, leave it")
    s.until_idle()
    assert s.chosen() == ["no"]
    assert offered(s) == []


def _dialog_is_left(s: Sitting) -> None:
    """Leaving a dialog is no answer; the other ways remain."""
    s.prompt(ends=False)
    s.hands.dialog(SHOW, *NAMES)
    s.hands.dismiss()
    s.until(s.hands.is_undisturbed, "no dialog")
    s.until(lambda: bool(s.tap.answers(ASKED)), "an answer of the editor")
    s.asked("Edit a.md")
    assert s.heard() == []
    answers(s, "Yes, do it")
    s.until_idle()
    assert s.chosen() == ["yes"]


def _enter_in_a_dialog_decides_nothing(s: Sitting) -> None:
    """F05: what is preselected, if anything, shows what is asked."""
    s.prompt(ends=False)
    s.hands.dialog(SHOW, *NAMES)
    s.hands.press_enter()
    s.until(lambda: bool(s.tap.answers(ASKED)), "an answer of the editor")
    s.until(s.hands.is_undisturbed, "no dialog")
    s.asked("Edit a.md")
    assert s.heard() == []
    answers(s, "No, leave it", line=1)
    s.until_idle()
    assert s.chosen() == ["no"]


def _dialogs_come_one_by_one(s: Sitting) -> None:
    """P07: the second one is shown when the first one is answered."""
    s.prompt(ends=False)
    s.asked("Edit a.md", "Edit b.md")
    s.hands.dialog(SHOW, *NAMES)
    (first,) = s.tap.sent("server", ASKED)
    names = ["Edit a.md", "Edit b.md"]
    names.sort(key=lambda name: name not in first["params"]["message"])
    s.hands.choose("Yes, do it")
    s.asked(names[1])
    s.until(lambda: len(s.tap.sent("server", ASKED)) == 2, "the second one")
    s.hands.terminal.until_shown(names[1])
    s.hands.dialog(SHOW, *NAMES)
    s.hands.choose("No, leave it")
    s.until_idle()
    assert s.chosen() == ["yes", "no"]


def _is_cancelled_with_a_dialog_open(s: Sitting) -> None:
    """P10: editors leave the dialog there; what is chosen in it then does nothing."""
    s.prompt(ends=False)
    s.hands.dialog(SHOW, *NAMES)
    s.tap.command("acpls.session.cancel")
    s.until_idle()
    assert s.chosen() == [None]
    s.hands.choose("Yes, do it")
    s.until(lambda: bool(s.tap.answers(ASKED)), "an answer of the editor")
    s.until(s.hands.is_undisturbed, "no dialog")
    assert s.chosen() == [None]


def _is_answered_elsewhere_with_a_dialog_open(s: Sitting) -> None:
    """The answer that came first counts."""
    s.prompt(ends=False)
    s.hands.dialog(SHOW, *NAMES)
    s.tap.command("acpls.question.answer", {"option": "no"})
    s.until_idle()
    s.hands.choose("Yes, do it")
    s.until(lambda: bool(s.tap.answers(ASKED)), "an answer of the editor")
    s.until(s.hands.is_undisturbed, "no dialog")
    assert s.chosen() == ["no"]


def _no_dialog_is_shown(s: Sitting) -> None:
    """P19: the setting cannot give an editor what it lacks; the other way is there."""
    s.prompt(ends=False)
    s.until(lambda: len(offered(s)) >= len([SHOW, *NAMES]), "a question")
    assert s.hands.is_undisturbed()
    assert s.tap.sent("server", ASKED) == []
    for question in s.tap.command("acpls.question.list"):
        answers(s, "Yes, do it", question["title"])
    s.until_idle()
    assert set(s.chosen()) == {"yes"}


def _with_dialogs(act: Callable[[Sitting], None], turns: Sequence[Sequence[Any]]) -> list[Scenario]:
    @wraps(act)
    def shown_or_not(s: Sitting) -> None:
        (act if s.hands.has_dialogs else _no_dialog_is_shown)(s)

    return both(shown_or_not, turns, settings=SETTINGS)


DIALOGS: Final[list[Scenario]] = [
    *_with_dialogs(_is_answered_in_a_dialog, [[ask()]]),
    *_with_dialogs(_dialog_is_left, [[ask()]]),
    *_with_dialogs(_enter_in_a_dialog_decides_nothing, [[ask()]]),
    *_with_dialogs(_dialogs_come_one_by_one, [TWO]),
    *_with_dialogs(_is_cancelled_with_a_dialog_open, [[ask()]]),
    *_with_dialogs(_is_answered_elsewhere_with_a_dialog_open, [[ask()]]),
]
