"""A question says what it is about and where it comes from, alike in all places (P03, P13)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from scene import AGENT, FACTS, NATIVE, ROOT, SELECTED, YES_NO, A, B, Scene, about, patch

from acpls import effects as ef
from acpls import events as ev
from acpls.hub import telling
from acpls.questions.told import NOTHING, Part, Told
from acpls.session import updates as up
from acpls.session.asks import Failure
from acpls.session.content import (
    AboutCommand,
    FileChange,
    Fragment,
    Location,
    Patch,
    SessionRef,
    Subject,
    Text,
)
from acpls.text import uris
from acpls.text.patch import parse


def opened(**more: Any) -> Scene:
    scene = Scene(**more)
    scene.session()
    scene.prompts()
    return scene


def asks(
    scene: Scene, subject: Subject = None, title: str | None = None, **patch: Any
) -> dict[str, Any]:
    """The agent asks, with a tool call in its request; the question as it is listed."""
    request = len(scene.state.questions.all)
    call = up.ToolCallPatched("call", **patch) if patch else None
    native = NATIVE
    if call is not None:
        scene.tells(call, native)
    scene.give(ev.QuestionAsked(AGENT, request, native, title, YES_NO, subject=subject, call=call))
    shown: dict[str, Any] = scene.result("question.list")[-1]
    return shown


def text_of(shown: dict[str, Any]) -> list[str]:
    return str(shown.get("text", "")).split("\n")


# --- what it is about ------------------------------------------------------------------


def test_a_tool_call_that_was_never_announced_p03() -> None:
    scene = opened()
    shown = asks(scene, about("call"), "bash", raw_input={"command": "ls\nrm -r /", "cwd": "/x"})
    assert shown["title"] == "bash: ls ⏎ rm -r /"
    assert shown["about"] == {"kind": "other", "command": "ls\nrm -r /", "cwd": "/x"}
    assert text_of(shown) == ["Command:", "    ls", "    rm -r /", "In: /x"]
    assert "preview" not in shown


def test_what_is_told_of_the_tool_call_later_changes_nothing_p10() -> None:
    scene = opened()
    asks(scene, about("call"), raw_input={"command": "ls"})
    scene.tells(up.ToolCallPatched("call", raw_input={"command": "rm"}, title="Harmless"))
    (shown,) = scene.result("question.list")
    assert (shown["title"], shown["about"]["command"]) == ("Run ls", "ls")


def test_an_id_that_is_used_again_brings_nothing_from_the_question_before() -> None:
    """Some agents call every tool call "pending"."""
    scene = opened()
    asks(scene, about("call"), raw_input={"command": "ls"})
    shown = asks(scene, about("call"), locations=(Location(A),), kind="edit")
    assert shown["about"] == {"kind": "edit", "uris": [uris.from_path(A)]}
    assert shown["title"] == "edit: a.txt"
    assert text_of(shown) == [f"File: {A}"]
    # One that says nothing itself is about what is known.
    shown = asks(scene, about("call"))
    assert shown["about"]["command"] == "ls"


def test_a_question_that_says_nothing_may_be_about_what_waits() -> None:
    scene = opened()
    scene.tells(up.ToolCallPatched("done", title="Old", status="completed"))
    scene.tells(
        up.ToolCallPatched("real", title="Delete b", kind="delete", locations=(Location(B),))
    )
    shown = asks(scene, about("confirmation"), "Confirm Agent Actions")
    assert shown["title"] == "Confirm Agent Actions: b.txt"
    assert shown["about"]["guessed"]
    assert text_of(shown)[0].endswith("It may be this:")
    assert f"File: {B}" in text_of(shown)


def test_where_nothing_is_known_that_is_said() -> None:
    scene = opened()
    shown = asks(scene, about("unknown"))
    assert shown["title"] == "Demo agent asks for permission and says nothing more"
    assert shown["text"] == NOTHING
    assert "about" not in shown
    # What it says itself is enough.
    scene.give(ev.QuestionAsked(AGENT, 9, NATIVE, "Go?", YES_NO, "It is time."))
    assert scene.result("question.list")[-1]["text"] == "It is time."


def test_arguments_that_nobody_understands_are_shown_as_they_are() -> None:
    scene = opened()
    shown = asks(scene, about("call"), title="mcp", raw_input={"query": "x", "n": [1]})
    assert text_of(shown)[:3] == ["Input:", "    {", '     "query": "x",']
    assert shown["about"]["input"].startswith("{")


def test_what_stands_in_the_tool_call_is_told_too() -> None:
    scene = opened()
    shown = asks(scene, about("call"), title="Shell", content=(Text("It wants to run `ls`."),))
    assert (shown["title"], shown["text"]) == ("Shell", "It wants to run `ls`.")


def test_many_files_are_told_in_some_lines() -> None:
    scene = opened()
    shown = asks(scene, about("call"), locations=tuple(Location(f"/ws/{n}") for n in range(30)))
    assert len(shown["about"]["uris"]) == 30
    lines = text_of(shown)
    assert (lines[0], len(lines), lines[-1]) == ("Files:", 22, "    and 10 more")


# --- what it would change --------------------------------------------------------------


def test_a_change_that_was_found_in_the_file() -> None:
    scene = opened()
    scene.has(A, "one\ntwo\n")
    shown = asks(scene, about("call"), content=(Fragment(A, "two", "2"),), kind="edit")
    patch = f"--- {A}\n+++ {A}\n@@ -2,1 +2,1 @@\n-two\n+2\n"
    assert shown["preview"] == [{"uri": uris.from_path(A), "patch": patch}]
    assert text_of(shown) == ["Change in a.txt:", "    @@ -2,1 +2,1 @@", "    -two", "    +2"]
    command = AboutCommand("sed", ROOT, "call")
    assert asks(scene, command)["preview"] == shown["preview"]


@pytest.mark.parametrize(
    ("path", "old", "new", "label"),
    [
        ("/ws/new/b.txt", None, "b\n", "New file new/b.txt:"),
        ("/else/b.txt", None, "b\n", "New file /else/b.txt:"),
        ("/ws/gone.txt", "b\n", None, "Deletion of gone.txt:"),
    ],
)
def test_a_change_stands_under_the_name_of_its_file(
    path: str, old: str | None, new: str | None, label: str
) -> None:
    scene = opened()
    shown = asks(scene, about("call"), content=(patch(path, old, new),), kind="edit")
    assert label in text_of(shown)
    assert not any(line.strip().startswith(("---", "+++")) for line in text_of(shown))


def test_a_difference_of_several_files_is_told_as_it_is() -> None:
    scene = opened()
    both = "".join(f"--- {name}\n+++ {name}\n@@ -1,1 +1,1 @@\n-a\n+b\n" for name in (A, B))
    shown = asks(scene, about("call"), raw_input={"diff": both}, kind="edit")
    assert "Change:" in text_of(shown)
    assert f"    +++ {B}" in text_of(shown)


def test_of_several_files_those_that_were_not_found_are_shown_too() -> None:
    scene = opened()
    scene.has(A, "one\n")
    claims = (Fragment(A, "one", "1"), Fragment(B, "two", "2"))
    preview = asks(scene, about("call"), content=claims, kind="edit")["preview"]
    assert [(p["uri"], p.get("placed")) for p in preview] == [
        (uris.from_path(A), None),
        (uris.from_path(B), False),
    ]


GIT = "--- /ws/b.txt\n+++ /dev/null\n@@ -1,2 +0,0 @@\n-one\n-two\n"
PREVIEWS: list[tuple[dict[str, Any], list[tuple[str | None, str]]]] = [
    (
        {"raw_input": {"path": "a.txt", "old_string": "1\n", "new_string": "2\n"}},
        [(A, "--- a.txt\n+++ a.txt\n@@ -1,1 +1,1 @@\n-1\n+2\n")],
    ),
    (
        {"raw_input": {"path": A, "content": "new"}},
        [
            (
                A,
                f"--- /dev/null\n+++ {A}\n@@ -0,0 +1,1 @@\n+new\n\\ No newline at end of file\n",
            )
        ],
    ),
    (
        {"raw_input": {"path": A, "content": "x" * 300_000}},
        [(A, f"--- /dev/null\n+++ {A}\n(from 0 to 300000 characters)\n")],
    ),
    ({"raw_input": {"patch": "-1\n+2\n"}}, [(None, "-1\n+2\n")]),
    ({"raw_input": {"path": A, "diff": "-1\n+2\n"}}, [(A, "-1\n+2\n")]),
    (
        {
            "content": (
                Patch((FileChange("delete", B), FileChange("add", "/else/c")), parse(GIT)[0]),
            )
        },
        [(B, GIT), ("/else/c", "--- /else/c\n+++ /else/c\n(add)\n")],
    ),
]


@pytest.mark.parametrize(("patch", "wanted"), PREVIEWS)
def test_what_nobody_has_found_is_the_agents_word(
    patch: dict[str, Any], wanted: list[tuple[str | None, str]]
) -> None:
    scene = opened()
    shown = asks(scene, about("call"), **patch)
    assert shown["preview"] == [
        {
            **({} if path is None else {"uri": uris.from_path(path)}),
            "patch": text,
            "placed": False,
        }
        for path, text in wanted
    ]


# --- where it comes from ---------------------------------------------------------------


def test_one_agent_with_one_session_needs_no_source() -> None:
    scene = opened()
    assert "source" not in asks(scene, title="Go?")


def test_several_sessions_and_agents_are_told_apart() -> None:
    scene = opened()
    scene.session("two", title="Fix the tests")
    scene.asks(1)
    scene.asks(2, native="two")
    assert [q["source"] for q in scene.result("question.list")] == ["session s1", "Fix the tests"]
    scene.give(ev.SettingsChanged(({"agents": {"other": {"command": "x"}}},)))
    scene.session("three", agent="other")
    scene.asks(3, native="three", agent="other")
    sources = [q["source"] for q in scene.result("question.list")]
    assert sources == ["Demo agent, session s1", "Demo agent, Fix the tests", "Demo agent"]
    question = scene.state.questions.all["q2"]
    assert telling.line(scene.state, question, 80) == "May I? (Demo agent, Fix the tests)"
    assert telling.line(scene.state, question, 20) == "May I? (Dem…ts)"


def test_a_subagent_asks_without_having_been_opened_p03() -> None:
    """Its session is the agent's own, and so are several of its questions at once."""
    scene = opened()
    scene.tells(up.SubagentPatched("child", title="Helper\n"))
    call = up.ToolCallPatched("c", raw_input={"command": "make"})
    for request in (0, "0"):
        scene.tells(call, "child")
        scene.give(
            ev.QuestionAsked(AGENT, request, "child", "", YES_NO, subject=about("c"), call=call)
        )
    first, second = scene.result("question.list")
    assert (first["session"], first["subagent"], first["source"]) == (
        "s1",
        "child",
        "subagent Helper ⏎".removesuffix(" ⏎"),
    )
    assert first["title"] == second["title"] == "Run make"
    scene.result("question.answer", question="q2", option="yes")
    assert scene.answered("0") == SELECTED
    assert scene.answers(0) == []


def test_a_subagents_refusal_leaves_the_changes_of_the_session_alone() -> None:
    """Tool calls of two sessions may have one id."""
    scene = opened()
    scene.has(A, "one\n")
    scene.tool_call("call", Fragment(A, "one", "1"), status="pending")
    scene.tells(up.SubagentPatched("child"))
    scene.asks(1, subject=about("call"), native="child")
    scene.result("question.answer", option="no")
    assert len(scene.state.ledger.proposals) == 1


def test_a_subagent_of_a_subagent_and_one_that_a_tool_call_shows_p03() -> None:
    scene = opened()
    scene.tells(up.SubagentPatched("child"))
    scene.tells(up.SubagentPatched("grandchild"), "child")
    scene.asks(1, native="grandchild")
    scene.tool_call("task", SessionRef("shown"))
    scene.asks(2, native="shown")
    listed = scene.result("question.list")
    assert [(q["session"], q["source"]) for q in listed] == [
        ("s1", "subagent grandchild"),
        ("s1", "subagent shown"),
    ]


def test_a_ring_of_subagents_belongs_to_nobody() -> None:
    scene = opened()
    for one, other in (("a", "b"), ("b", "a")):
        scene.tells(up.SubagentPatched(other), one)
    scene.give(ev.QuestionAsked(AGENT, 1, "a", "?", YES_NO))
    assert scene.answered(1) == Failure(-32602, "no such session is open here")


def test_a_subagent_of_a_session_that_is_over_is_refused() -> None:
    scene = opened(facts=replace(FACTS, can_close=True))
    scene.tells(up.SubagentPatched("child"))
    scene.result("session.close")
    scene.give(ev.QuestionAsked(AGENT, 1, "child", "?", YES_NO))
    assert isinstance(scene.answered(1), Failure)
    assert scene.of(ef.PutQuestion) == []


# --- in words ----------------------------------------------------------------------------


def told(*parts: Part, source: str | None = None, title: str = "Run it?") -> Told:
    return Told("q1", title, source, parts, (("a", "Yes"),))


def test_a_dialog_has_what_fits_both_ends_of_it() -> None:
    command = Part("Command", "\n".join(f"line {n}" for n in range(100)), "code")
    page = Part("", "https://a.example/" + "x" * 500, "page")
    brief = told(command, page, source="Claude", title="t" * 500).brief().split("\n")
    assert len(brief) == 23
    assert (len(brief[0]), brief[1], brief[2]) == (200, "From: Claude", "Command:")
    assert brief[3] == "    line 0"
    assert "… (82 more lines)" in brief
    assert brief[-2:] == ["    line 99", page.text]


def test_a_part_of_one_line_stands_beside_its_label() -> None:
    parts = (Part("", "Why"), Part("In", "/x", "code"), Part("Change", "-1", "diff"))
    assert told(*parts).whole() == ["Why", "In: /x", "Change:", "    -1"]
    assert told(*parts).brief() == "Run it?\nWhy\nIn: /x\nChange:\n    -1"
    assert told(Part("Two", "a\nb"), source="x").whole() == ["From: x", "Two:", "a", "b"]
