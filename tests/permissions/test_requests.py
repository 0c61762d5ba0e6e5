"""What a permission is asked for, from all that an agent says of it."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from acpls.permissions.request import PATHS_LIMIT, Request, request_of
from acpls.session.content import (
    AboutCommand,
    AboutToolCall,
    Choice,
    FileChange,
    Fragment,
    Location,
    Option,
    OtherContent,
    Patch,
    Subject,
    Text,
)
from acpls.session.entries import ToolCall
from acpls.session.state import Session
from acpls.text.patch import FilePatch

MODES = Option(
    "mode", "Mode", "select", "plan", (Choice("plan", "Plan first"), Choice("code", "Code"))
)


def request(
    subject: Subject = None, call: ToolCall | None = None, cwd: str = "/ws", **options: Any
) -> Request:
    session = Session("s1", "demo", cwd, options=options.get("options", ()))
    said = ("May I?", options.get("description"))
    return request_of(session, subject, call, said, options.get("path_map", ()))


def tool(arguments: Any = None, kind: str = "other", **fields: Any) -> ToolCall:
    call = ToolCall("t", kind=kind, raw_input=arguments)
    for name, value in fields.items():
        setattr(call, name, value)
    return call


def lines(found: Request) -> list[str]:
    return [command.line for command in found.commands]


def test_a_question_about_nothing_says_nothing() -> None:
    found = request()
    assert (found.kinds, found.paths, found.commands, found.tool) == (frozenset(), (), (), None)
    assert found.kind is None
    assert found.whole


def test_a_command_is_the_subject_or_an_argument() -> None:
    found = request(AboutCommand("git status", "/else"))
    assert (lines(found), found.cwd, found.kind) == (["git status"], "/else", "execute")
    call = tool({"command": "git  status", "cwd": "sub"}, "execute")
    found = request(AboutCommand("git status", ""), call)
    assert (lines(found), found.cwd) == (["git  status", "git status"], "/ws/sub")


@pytest.mark.parametrize(
    ("arguments", "commands"),
    [
        ({"command": "a b"}, ["a b"]),
        ({"command": ["a", "b"]}, ["a b"]),
        ({"command": ["bash", "-lc", "a; b"]}, ["a; b"]),
        ({"cmd": "a"}, ["a"]),
        ({"shell_command": "a", "script": "b"}, ["a", "b"]),
        ({"command": "a", "args": ["b", "c"]}, ["a b c"]),
        ({"command": "a", "args": "b c"}, ["a b c"]),
        ({"command": ["a"], "args": []}, ["a"]),
        ({"command": "a", "args": [1]}, ["a"]),
        ({"command": []}, []),
        ({"command": [1]}, []),
        ({"command": 1, "other": "a"}, []),
        (["command"], []),
        ("command", []),
    ],
)
def test_commands_among_the_arguments(arguments: Any, commands: list[str]) -> None:
    assert lines(request(AboutToolCall("t"), tool(arguments))) == commands


@pytest.mark.parametrize(
    ("besides", "whole"),
    [
        ({"env": {"PATH": "."}}, False),
        ({"stdin": "x"}, False),
        ({"shell": "perl"}, False),
        ({"shell": ["bash"]}, False),
        ({"shell": "/bin/bash"}, True),
        ({"shell": True}, True),
        ({"env": {}}, True),
        ({}, True),
    ],
)
def test_what_stands_beside_a_command_counts(besides: dict[str, Any], whole: bool) -> None:
    assert request(None, tool({"command": "a", **besides})).whole is whole
    assert request(None, tool({"path": "a", **besides})).whole


@pytest.mark.parametrize(
    ("arguments", "paths"),
    [
        ({"path": "/a"}, ["/a"]),
        ({"file_path": "b/../c"}, ["/ws/c"]),
        ({"filePath": "/a", "FILE": "/b", "newFileName": "/c"}, ["/a", "/b", "/c"]),
        ({"paths": ["/a", "b"], "edits": [{"absolute_path": "/c"}]}, ["/a", "/ws/b", "/c"]),
        ({"directory": "~/x"}, ["~/x"]),
        ({"uri": "file:///a%20b", "url": "https://x"}, ["/a b"]),
        ({"file": "file:nonsense", "file_name": "b"}, ["/ws/nonsense", "/ws/b"]),
        ({"source": "/a", "destination": "/b", "from": "text", "to": "/c\n"}, ["/a", "/b"]),
        ({"profile": "x", "content": "/a", "": "/b", "path": ""}, []),
        ({"path": 7, "files": {"path": "/a"}}, ["/a"]),
    ],
)
def test_paths_among_the_arguments(arguments: Any, paths: list[str]) -> None:
    assert list(request(None, tool(arguments)).paths) == paths


def test_paths_of_diffs_and_locations() -> None:
    content = (
        Text("x"),
        Fragment("/a", None, "x"),
        Patch(
            (FileChange("move", "/b", "/c"), FileChange("delete", None, "/d")),
            (FilePatch("/e", "/f", ()),),
        ),
    )
    found = request(None, tool(locations=(Location("/g"), Location("/a")), content=content))
    assert found.changed == ("/a", "/b", "/c", "/d", "/f", "/e")
    assert found.paths == (*found.changed, "/g")
    # A change is an edit, whatever the agent says of the kind.
    assert found.kinds == {"edit"}


@pytest.mark.parametrize(
    ("kind", "arguments", "kinds"),
    [
        ("other", None, {"other"}),
        ("read", None, {"read"}),
        ("other", {"command": "a"}, {"execute"}),
        ("search", {"command": "a"}, {"search", "execute"}),
        ("_own", {"path": "/a"}, {"_own"}),
    ],
)
def test_the_kinds_of_a_call(kind: str, arguments: Any, kinds: set[str]) -> None:
    assert request(None, tool(arguments, kind)).kinds == kinds


def test_a_change_by_a_reading_tool_is_an_edit_as_well() -> None:
    content = (Fragment("/a", None, "x"),)
    assert request(None, tool(kind="read", content=content)).kinds == {"read", "edit"}
    assert request(None, tool(kind="delete", content=content)).kinds == {"delete"}


@pytest.mark.parametrize(
    "arguments",
    [
        {"path": "/a\nb"},
        {"path": "/" + "a" * 5000},
        {"paths": [f"/{n}" for n in range(PATHS_LIMIT + 1)]},
        {"a": {"b": {"c": {"d": {"e": {"path": "/x"}}}}}},
        {"a": [f"/{n}" for n in range(PATHS_LIMIT + 1)]},
    ],
)
def test_what_cannot_be_looked_through_is_not_whole(arguments: Any) -> None:
    found = request(None, tool(arguments))
    assert not found.whole
    assert len(found.paths) <= PATHS_LIMIT


def test_many_paths_in_many_places_are_too_many() -> None:
    arguments = {f"{n}_paths": [f"/{n}/{m}" for m in range(PATHS_LIMIT)] for n in range(2)}
    assert not request(None, tool(arguments)).whole


def test_the_tool_and_the_mode() -> None:
    call = tool(name="Bash", title="List files")
    found = request(None, call, options=(MODES,))
    assert (found.tool, found.title, found.mode) == ("Bash", "List files", ("plan", "Plan first"))
    assert request(None, tool(title="List files")).tool == "List files"
    other = Option("model", "Model", "select", "x")
    assert request(options=(other,)).mode == ()
    by_category = Option("m", "M", "select", "x", category="mode")
    assert request(options=(other, by_category)).mode == ("x",)


def test_the_machine_is_told_by_its_folders() -> None:
    found = request(AboutCommand("a ^& b", r"C:\ws"))
    assert found.on_windows
    assert not found.commands[0].understood
    assert not request(AboutCommand("a", "/ws")).on_windows
    relative = request(None, tool({"path": r"src\a"}), cwd=r"C:\ws")
    assert relative.paths == ("C:/ws/src\\a",)


def test_arguments_name_files_as_the_agent_sees_them() -> None:
    path_map = (("/ws", "/mnt"), ("/ws/sub/", "/mnt/x"), ("/c", r"C:\c"))
    arguments = {
        "paths": ["/mnt/a", "/mnt/x/b", "/mnt", "/mntz", "c", r"C:\c\d"],
        "command": "a",
        "cwd": "/mnt/x",
    }
    content = (Fragment("/mnt/e", None, "x"),)
    found = request(None, tool(arguments, content=content), path_map=path_map)
    # What stands in content was moved before.
    assert found.paths == ("/mnt/e", "/ws/a", "/ws/sub/b", "/ws", "/mntz", "/ws/c", "/c/d")
    assert found.cwd == "/ws/sub"
    assert found.on_windows
    assert not request(None, tool(arguments), path_map=path_map[:2]).on_windows


def test_the_digest_tells_requests_apart() -> None:
    same = [
        request(AboutToolCall(key), tool({"x": 1, "y": 2}, title=key)).digest for key in ("a", "b")
    ]
    assert same[0] == same[1]
    others = {
        request(AboutToolCall("a"), tool({"x": 2})).digest,
        request(AboutToolCall("a"), tool({"x": 1, "y": 2}), description="z").digest,
        request(OtherContent({"x": 1})).digest,
        request(AboutCommand("a", "/")).digest,
        request(None, tool({"x": {1, 2}})).digest,
        request().digest,
    }
    assert len({*same, *others}) == 7


def test_arguments_that_cannot_be_written_have_a_digest() -> None:
    around: dict[str, Any] = {}
    around["x"] = around
    assert len(request(None, tool({"y": 1, 2: around})).digest) == 64


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from(["command", "path", "args", "env", "cwd", "files", "uri", "x"]),
            inner,
            max_size=4,
        )
    ),
    max_leaves=20,
)


@given(JSON)
def test_any_arguments_are_taken(arguments: Any) -> None:
    found = request(AboutToolCall("t"), tool(arguments))
    assert all(isinstance(path, str) for path in found.paths)
    assert set(found.changed) <= set(found.paths)
