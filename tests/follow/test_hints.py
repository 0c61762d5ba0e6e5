"""Where a tool call may be, by all that its agent says of it (F08)."""

from __future__ import annotations

from typing import Any

import pytest

from acpls.follow import Hint, hints
from acpls.follow.hints import MOST_HINTS
from acpls.session import content as c
from acpls.session.state import ToolCall
from acpls.text.patch import FilePatch, PatchHunk

FRAGMENT = c.Fragment("/w/c.py", "a", "b")


def call(
    *content: c.ToolContent,
    at: tuple[c.Location, ...] = (),
    raw: Any = None,
    kind: str = "edit",
) -> ToolCall:
    made = ToolCall("call", kind=kind, locations=at, raw_input=raw)
    made.content = content
    return made


def found(of: ToolCall) -> tuple[Hint, ...]:
    return hints(of, lambda path: path if path.startswith("/") else f"/w/{path}")


def test_the_last_location_counts_then_the_diff_then_the_raw_input_f08() -> None:
    at = (c.Location("/w/a.py", 3), c.Location("/w/b.py", 7))
    assert found(call(FRAGMENT, at=at, raw={"path": "d.py"})) == (
        Hint("/w/b.py", 7),
        Hint("/w/a.py", 3),
        Hint("/w/c.py", change=FRAGMENT),
        Hint("/w/d.py"),
    )


def test_a_file_without_a_line_gets_it_from_what_knows_more() -> None:
    at = (c.Location("/w/c.py"), c.Location("/w/d.py", 4))
    raw = {"file_path": "/w/c.py", "line": 9}
    assert found(call(FRAGMENT, at=at, raw=raw)) == (
        Hint("/w/d.py", 4),
        Hint("/w/c.py", change=FRAGMENT),
    )
    assert found(call(at=at[:1], raw=raw)) == (Hint("/w/c.py", 9),)


def test_a_patch_names_the_files_that_are_there_after_it_f08() -> None:
    patch = FilePatch("/w/old.py", "/w/new.py", (PatchHunk(3, (("+", "x"),)),))
    changes = (
        c.FileChange("own", None),
        c.FileChange("move", "/w/new.py", "/w/old.py"),
        c.FileChange("add", "/w/bare.py"),
    )
    assert found(call(c.TerminalRef("t"), c.Patch(changes, (patch,)))) == (
        Hint("/w/new.py", change=patch),
        Hint("/w/bare.py"),
    )


@pytest.mark.parametrize("content", [(), (c.Text("x"),), (c.Patch(()),)])
def test_a_tool_call_can_be_nowhere(content: tuple[c.ToolContent, ...]) -> None:
    assert found(call(*content)) == ()


PATCH = "*** Begin Patch\n*** Update File: a.py\n@@\n-x\n+y\n*** Add File: b.py\n+z\n*** End Patch"


@pytest.mark.parametrize(
    ("raw", "hint"),
    [
        ({"path": "a.py"}, Hint("/w/a.py")),
        ({"file_path": "/w/a.py"}, Hint("/w/a.py")),
        ({"filePath": "a.py", "oldString": "x"}, Hint("/w/a.py")),
        ({"filepath": "a.py", "diff": "Index: b.py"}, Hint("/w/a.py")),
        ({"filename": "a.py"}, Hint("/w/a.py")),
        ({"file": "a.py"}, Hint("/w/a.py")),
        ({"arguments": {"path": "a.py", "line": 3.0}}, Hint("/w/a.py", 3)),
        ({"path": "a.py", "start_line": 3, "end_line": 7}, Hint("/w/a.py", 3, 5)),
        ({"path": "a.py", "startLine": 3, "endLine": 1}, Hint("/w/a.py", 3, 1)),
        ({"path": "a.py", "offset": 10, "limit": 5}, Hint("/w/a.py", 10, 5, sure=False)),
        ({"path": "a.py", "offset": 10}, Hint("/w/a.py")),
        ({"path": "a.py", "line": "3", "limit": 4}, Hint("/w/a.py")),
        ({"path": "a.py", "line": True}, Hint("/w/a.py")),
        ({"path": "a.py", "line": 2.5}, Hint("/w/a.py")),
    ],
)
def test_raw_input_names_the_file_where_nothing_else_does_f08(raw: Any, hint: Hint) -> None:
    assert found(call(raw=raw, kind="read")) == (hint,)


@pytest.mark.parametrize("raw", [PATCH, {"patch": PATCH}, {"input": PATCH}])
def test_a_patch_in_words_names_its_files_f08(raw: Any) -> None:
    assert found(call(raw=raw)) == (Hint("/w/a.py"), Hint("/w/b.py"))


@pytest.mark.parametrize(
    "raw",
    [
        None,
        {},
        [],
        "a.py",
        3,
        {"path": ""},
        {"path": 3},
        {"path": "a\nb"},
        {"path": "x" * 5000},
        {"cwd": "/w", "command": "ls"},
        {"arguments": {"arguments": {"path": "a.py"}}},
    ],
)
def test_raw_input_can_say_nothing(raw: Any) -> None:
    assert found(call(raw=raw)) == ()


@pytest.mark.parametrize("kind", ["execute", "fetch", "think"])
def test_what_a_command_or_a_page_calls_a_path_is_no_place(kind: str) -> None:
    assert found(call(raw={"path": "a.py", "cwd": "/w"}, kind=kind)) == ()


def test_of_hundreds_of_files_a_few_are_looked_at() -> None:
    at = tuple(c.Location(f"/w/{n}.py") for n in range(500))
    assert [hint.path for hint in found(call(at=at))] == [
        f"/w/{n}.py" for n in range(499, 499 - MOST_HINTS, -1)
    ]
