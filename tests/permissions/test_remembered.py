"""What an "always" is remembered as: about requests like that one, and never about more."""

from __future__ import annotations

from typing import Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from acpls.permissions import Places, Remembered, Request, Scope, dump, load, remember
from acpls.permissions.commands import split

REAL = {path: path for path in ("/ws", "/ws/a", "/ws/b", "/else/c", "/ws/in", "/ws/in/d")} | {
    "/ws/out": "/else/out"
}
PLACES = Places(REAL, ("/ws",))


def asked(kinds: str = "", *commands: str, **fields: Any) -> Request:
    fields = {"cwd": "/ws", "digest": "d", **fields}
    lines = tuple(split(command) for command in commands)
    return Request("demo", frozenset(kinds.split()), commands=lines, **fields)


def rule(
    request: Request,
    decision: Literal["allow", "deny"] = "allow",
    scope: Scope = "session",
    places: Places = PLACES,
) -> Remembered:
    made = remember(decision, scope, request, places, session="s1", roots=("/ws", "/b"))
    assert made is not None
    assert made.is_about(request, places)
    assert load(dump(made)) == made
    return made


def about(made: Remembered, *requests: Request) -> list[bool]:
    return [made.is_about(request, PLACES) for request in requests]


def test_a_command_is_remembered_as_it_is() -> None:
    """P12."""
    made = rule(asked("execute", "make $(nproc)", title="Make"))
    assert made.text == "always allow demo: execute make $(nproc) in /ws"
    assert about(
        made,
        asked("execute", "make $(nproc)", title="Again"),
        asked("execute", "make $(nproc) "),
        asked("execute", "make $(nproc)", "b"),
        asked("execute", "make $(nproc)", cwd="/else"),
        asked("execute", "make $(nproc)", name="Bash"),
        asked("execute search", "make $(nproc)"),
        asked("execute", "make $(nproc)", whole=False),
        asked("execute", "make $(nproc)", paths=("/ws/a",), changed=("/ws/a",)),
    ) == [True, *[False] * 7]


def test_everywhere_is_in_any_folder() -> None:
    made = rule(asked("execute", "make"), scope="user")
    assert made.is_about(asked("execute", "make", cwd="/else"), PLACES)
    assert made.text == "always allow demo: execute make"


@pytest.mark.parametrize("kind", ["read", "search", "edit"])
def test_files_are_remembered_as_the_folders_of_the_workspace(kind: str) -> None:
    """P21."""
    made = rule(asked(kind, paths=("/ws/a",)))
    assert made.paths == ("/ws/**",)
    assert about(
        made,
        asked(kind, paths=("/ws/b", "/ws/in/d")),
        asked(kind, paths=("/ws/b", "/else/c")),
        asked(kind, paths=("/ws/out",)),
        asked(kind, paths=("/unknown",)),
        asked(kind),
        asked("delete", paths=("/ws/a",)),
    ) == [True, False, False, False, False, False]


def test_other_files_and_other_kinds_are_remembered_exactly() -> None:
    made = rule(asked("edit", paths=("/ws/a", "/else/c")))
    assert made.paths == ("/else/c", "/ws/**")
    assert about(made, asked("edit", paths=("/else/c",)), asked("edit", paths=("/ws/out",))) == [
        True,
        False,
    ]
    made = rule(asked("delete", paths=("/ws/a", "/ws/b")))
    assert about(
        made,
        asked("delete", paths=("/ws/b", "/ws/a")),
        asked("delete", paths=("/ws/a",)),
        asked("delete", paths=("/ws/a", "/ws/b", "/else/c")),
    ) == [True, False, False]


def test_a_refusal_is_about_these_files_alone() -> None:
    made = rule(asked("edit", paths=("/ws/a",)), "deny")
    assert about(made, asked("edit", paths=("/ws/b",))) == [False]
    assert made.text == "always deny demo: edit /ws/a"


def test_the_folder_is_the_innermost_one() -> None:
    places = Places(REAL, ("/ws", "/ws/in"))
    assert rule(asked("edit", paths=("/ws/in/d",)), places=places).paths == ("/ws/in/**",)


def test_a_tool_is_remembered_by_its_name_or_else_by_its_title() -> None:
    made = rule(asked("fetch", name="web", title="Get x"))
    assert about(made, asked("fetch", name="web", title="Get y"), asked("fetch", name="x")) == [
        True,
        False,
    ]
    made = rule(asked("other", title="create_issue"))
    assert about(made, asked("other", title="create_issue", digest="e")) == [True]
    assert about(made, asked("other", title="close_issue"), asked("other")) == [False, False]
    assert about(made, asked("other", title="create_issue", paths=("/ws/a",))) == [False]


@pytest.mark.parametrize(
    "request_",
    [
        asked(),
        asked("other"),
        asked("execute", name="Bash", title="ls"),
        asked("delete", name="rm"),
        asked("fetch", name="web", whole=False),
    ],
)
def test_what_could_be_anything_is_remembered_as_this_very_request(request_: Request) -> None:
    made = rule(request_)
    assert "(this very request)" in made.text
    kinds = " ".join(request_.kinds)
    other = asked(kinds, name=request_.name, title=request_.title, digest="e")
    assert not made.is_about(other, PLACES)


def test_what_nobody_could_look_up_is_not_remembered() -> None:
    request = asked("edit", paths=("/unknown",))
    assert remember("allow", "user", request, PLACES, session="s1", roots=()) is None


def test_a_scope_is_part_of_the_rule() -> None:
    request = asked("fetch", name="web")
    session, workspace, user = (rule(request, scope=s) for s in ("session", "workspace", "user"))
    assert (session.session, session.roots) == ("s1", ())
    assert (workspace.session, workspace.roots) == (None, ("/b", "/ws"))
    assert (user.session, user.roots) == (None, ())
    assert len({session.key, workspace.key, user.key}) == 3


@pytest.mark.parametrize(
    ("request_", "brief"),
    [
        (asked("execute", "make  test", name="Bash"), "make test"),
        (asked("edit", paths=("/ws/a",), name="Edit"), "/ws/**"),
        (asked("fetch", name="web"), "web"),
        (asked("execute"), "execute"),
        (asked(), "a question"),
    ],
)
def test_the_first_thing_said_is_what_it_is_about(request_: Request, brief: str) -> None:
    assert rule(request_).brief == brief


def test_words_are_one_line_and_not_endless() -> None:
    made = rule(asked("execute", "a\n" * 500))
    assert "\n" not in made.text
    assert len(made.text) < 400


# --- what was stored -------------------------------------------------------------------------

GOOD = dump(rule(asked("execute", "make", paths=("/ws/a",)), scope="workspace"))


@pytest.mark.parametrize(
    "changed",
    [
        {"format": 2},
        {"format": None},
        {"scope": "world"},
        {"decision": "ask"},
        {"agent": 1},
        {"commands": "make"},
        {"commands": [1]},
        {"files": None},
        {"name": 1},
        {"cwd": []},
        {"wider": True},
    ],
)
def test_what_is_damaged_is_no_rule(changed: dict[str, Any]) -> None:
    assert load(GOOD) is not None
    assert load({**GOOD, **changed}) is None


@given(st.none() | st.text() | st.lists(st.integers()) | st.dictionaries(st.text(), st.integers()))
def test_junk_is_no_rule(junk: Any) -> None:
    assert load(junk) is None
