"""Scenarios of questions: how a person meets them and answers, and what the agent gets."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from sitting import CODE, Scenario

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from sitting import Sitting

SHOW: Final = "Show what is asked"
STOP: Final = "Stop Scripted agent"
FILES: Final = {"a.md": CODE.encode(), "b.md": CODE.encode()}
ALLOW: Final = {"id": "yes", "name": "Yes, do it", "kind": "allow_once"}
ALWAYS: Final = {"id": "all", "name": "Yes, always", "kind": "allow_always"}
REJECT: Final = {"id": "no", "name": "No, leave it", "kind": "reject_once"}
NAMES: Final = [option["name"] for option in (ALLOW, ALWAYS, REJECT)]


def ask(name: str = "a.md", **more: Any) -> dict[str, Any]:
    """The agent asks whether it may edit a file, by a tool call with a diff."""
    title = f"Edit {name}"
    diff = {"path": name, "old": "line 3\n", "new": "LINE 3\n"}
    call = {"tool": name, "title": title, "kind": "edit", "content": [{"diff": diff}]}
    return {"ask": title, "call": call, "options": [ALLOW, ALWAYS, REJECT], **more}


# Outside of the workspace, where files are of no interest.
GATE: Final = {"gate": "../go"}


def go_on(s: Sitting) -> None:
    """The agent goes on at the gate."""
    (s.project.parent / "go").touch()


def offered(s: Sitting, line: int = 7) -> list[str]:
    """The titles of the menu at a line that are about questions."""
    names = tuple(f"{name}: " for name in (SHOW, *NAMES))
    return [title for title in s.hands.titles(line) if title.startswith(names)]


def answers(s: Sitting, name: str, about: str = "", line: int = 7) -> None:
    """Take the answer with this name, to the question about this."""
    titles = [x for x in s.hands.titles(line) if x.startswith(f"{name}: ") and about in x]
    assert len(titles) == 1, titles
    s.hands.act(line, titles[0])


# --- answers by code actions ----------------------------------------------------------------


def _is_answered_by_a_code_action(s: Sitting) -> None:
    """P05, P11: each option has its own name; the first entry of the menu decides nothing."""
    s.prompt(ends=False)
    s.asked("Edit a.md")
    s.shot("open")
    titles = s.hands.titles(7)
    assert [title.split(":")[0] for title in titles[:4]] == [SHOW, *NAMES]
    assert s.heard() == []
    answers(s, "No, leave it")
    s.until_idle()
    assert s.chosen() == ["no"]
    assert offered(s) == []
    assert s.hands.text() == CODE


def _is_looked_at_first(s: Sitting) -> None:
    """The question stands in the conversation, with a mark, and can be answered there."""
    s.prompt(ends=False)
    s.asked("Edit a.md")
    s.hands.act(7, s.hands.titles(7)[0])
    s.until(lambda: s.hands.at()[0] != "a.md", "the conversation")
    s.until(lambda: "Yes, always" in s.hands.text(), "what is asked")
    s.shot("conversation")
    text = s.hands.text()
    row = next(n for n, line in enumerate(text.split("\n"), 1) if "**Edit a.md**" in line)
    assert s.heard() == []
    s.marked(row)
    answers(s, "Yes, do it", line=row)
    s.until_idle()
    assert s.chosen() == ["yes"]
    s.until(lambda: "Yes, always" not in s.hands.text(), "the question is gone")


def _two_of_one_session(s: Sitting) -> None:
    """Answered in another order than asked, each gets its own answer."""
    s.prompt(ends=False)
    s.asked("Edit a.md", "Edit b.md")
    s.shot("two")
    assert len(offered(s)) == 8
    answers(s, "No, leave it", "Edit b.md")
    s.asked("Edit a.md")
    s.until(lambda: s.chosen() == ["no"], "the first answer")
    answers(s, "Yes, always", "Edit a.md")
    s.until_idle()
    assert s.chosen() == ["no", "all"]


def _two_of_two_sessions(s: Sitting) -> None:
    """P16: the one does not wait for the other."""
    keys = [s.tap.command("acpls.session.new", {"title": x})["session"] for x in ("one", "two")]
    for key in keys:
        s.prompt(ends=False, session=key)
    first, second = s.asked("Edit a.md", "Edit b.md")
    assert {first["session"], second["session"]} == {*keys}
    s.shot("two")
    assert len(offered(s)) == 8
    answers(s, "Yes, do it", "Edit b.md")
    s.asked("Edit a.md")
    s.until(lambda: s.chosen() == ["yes"], "the first answer")
    s.until(lambda: sorted(_states(s)) == ["idle", "running"], "one session goes on by itself")
    answers(s, "No, leave it", "Edit a.md")
    s.until_idle()
    assert s.chosen() == ["yes", "no"]


def _states(s: Sitting) -> list[str]:
    sessions = s.tap.command("acpls.session.list")["sessions"]
    names = {"requires_action": "running", "requiresAction": "running"}
    return [names.get(session["state"], session["state"]) for session in sessions]


def _two_about_one_tool_call(s: Sitting) -> None:
    """P08: neither is settled by the other."""
    s.prompt(ends=False)
    s.asked("Edit a.md", "Edit a.md")
    titles = [title for title in s.hands.titles(7) if title.startswith("No, leave it")]
    assert len(set(titles)) == 2, titles
    s.hands.act(7, titles[1])
    s.asked("Edit a.md")
    answers(s, "Yes, do it")
    s.until_idle()
    assert s.chosen() == ["no", "yes"]


def _has_an_unknown_kind(s: Sitting) -> None:
    """P13: it is shown by its name."""
    s.prompt(ends=False)
    s.asked("Edit a.md")
    s.hands.act(7, next(x for x in s.hands.titles(7) if x.startswith("Ask me tomorrow")))
    s.until_idle()
    assert s.chosen() == ["later"]


# --- typing ------------------------------------------------------------------------------------


def _comes_while_typing(s: Sitting) -> None:
    """What is typed on goes into the document, and answers nothing."""

    def comes() -> None:
        s.prompt(ends=False)
        s.asked("Edit a.md")

    s.hands.above(1, "is it y\n2\n1\nn or y", comes)
    assert s.hands.text() == f"is it y\n2\n1\nn or y\n{CODE}"
    assert s.heard() == []
    s.asked("Edit a.md")
    answers(s, "No, leave it")
    s.until_idle()
    assert s.chosen() == ["no"]
    s.saves()


# --- the end of a question without an answer -----------------------------------------------------


def _is_cancelled_by_a_code_action(s: Sitting) -> None:
    """Each open question gets the one answer that it was cancelled."""
    s.prompt(ends=False)
    s.asked("Edit a.md", "Edit b.md")
    s.hands.act(7, STOP)
    s.until_idle()
    assert s.chosen() == [None, None]
    assert [answer["outcome"]["outcome"] for answer in s.heard()] == ["cancelled"] * 2
    assert offered(s) == []
    (session,) = s.tap.command("acpls.session.list")["sessions"]
    assert session["stopReason"] == "cancelled"


def _is_cancelled_while_the_menu_is_open(s: Sitting) -> None:
    """An answer that comes too late does nothing, and is no disturbance."""
    s.prompt(ends=False)
    s.asked("Edit a.md")
    (title,) = [x for x in s.hands.titles(7) if x.startswith("Yes, do it")]

    def stop() -> None:
        s.tap.command("acpls.session.cancel")
        s.until_idle()

    s.hands.act(7, title, stop)
    s.until(lambda: bool(s.tap.answers("workspace/executeCommand", by="server")), "an answer")
    (answer,) = s.tap.answers("workspace/executeCommand", by="server")
    assert "settled already" in answer["error"]["message"]
    assert s.chosen() == [None]
    s.shot("late")


def _is_withdrawn(s: Sitting) -> None:
    """The question goes away from the menu; the agent has its answer."""
    s.prompt(ends=False)
    s.asked("Edit a.md")
    assert len(offered(s)) == 4
    go_on(s)
    s.until_idle()
    assert s.chosen() == [None]
    assert offered(s) == []


def _agent_dies(s: Sitting) -> None:
    """Nobody waits any more, and nothing is left to answer."""
    s.prompt(ends=False)
    s.asked("Edit a.md")
    go_on(s)
    s.asked()
    assert offered(s) == []
    assert s.heard() == []


# --- all of them ---------------------------------------------------------------------------------


def both(
    act: Callable[[Sitting], None], turns: Sequence[Sequence[Any]], **more: Any
) -> list[Scenario]:
    """For both versions of ACP."""
    name = act.__name__.strip("_")
    return [Scenario(f"{name}_in_{v}", act, turns, FILES, v, **more) for v in (1, 2)]


TWO: Final = [ask(wait=False), ask("b.md", wait=False)]
_LATER: Final = [{"id": "later", "name": "Ask me tomorrow", "kind": "postpone"}, REJECT]
_WITHDRAWN: Final = [ask(id="x", wait=False), GATE, {"withdraw": "x"}]
QUESTIONS: Final = [
    *both(_is_answered_by_a_code_action, [[ask()]]),
    *both(_is_looked_at_first, [[{"say": "May I?"}, ask()]]),
    *both(_two_of_one_session, [TWO]),
    *both(_two_of_two_sessions, [[ask()], [ask("b.md")]]),
    *both(_two_about_one_tool_call, [[ask(wait=False), ask(wait=False)]]),
    *both(_has_an_unknown_kind, [[ask(options=_LATER)]]),
    *both(_comes_while_typing, [[ask()]]),
    *both(_is_cancelled_by_a_code_action, [TWO]),
    *both(_is_cancelled_while_the_menu_is_open, [[ask()]]),
    *both(_is_withdrawn, [_WITHDRAWN]),
    *both(
        _agent_dies,
        [[ask(wait=False), GATE, {"die": 3}]],
        popups=("fake ended with exit code 3",),
    ),
]
