"""What a question is about is found wherever an agent says it (P03, P11, P13)."""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from acpls.questions.about import About, about, title_of
from acpls.session.content import (
    AboutCommand,
    AboutToolCall,
    FileChange,
    Fragment,
    Json,
    Location,
    OtherContent,
    Patch,
    TerminalRef,
    Text,
)
from acpls.session.entries import ToolCall
from acpls.session.updates import ToolCallPatched

CALL = AboutToolCall("c")
P = "/ws/a.py"


def own(**fields: Any) -> ToolCallPatched:
    return ToolCallPatched("c", **fields)


def known(**fields: Any) -> ToolCall:
    content = fields.pop("content", ())
    call = ToolCall("c", **fields)
    call.content = content
    return call


# As real agents send them.
SAID: list[tuple[str, ToolCallPatched | None, ToolCall | None, str | None, About]] = [
    (
        "the arguments have a command",
        own(title="bash", kind="execute", raw_input={"command": "ls -l", "cwd": "/ws"}),
        None,
        None,
        About("execute", command="ls -l", cwd="/ws"),
    ),
    (
        "a list of words",
        own(raw_input={"command": ["git", "commit", "-m", "two words"]}),
        None,
        None,
        About(command='git commit -m "two words"'),
    ),
    (
        "a shell that runs a line",
        own(raw_input={"command": ["/bin/bash", "-lc", "cat a | wc"]}),
        None,
        None,
        About(command="cat a | wc"),
    ),
    (
        "only the id: all is in the tool call told of before",
        own(),
        known(title="Run", kind="execute", name="sh", raw_input={"cmd": "make"}),
        None,
        About("execute", "sh", "make"),
    ),
    (
        "the request goes before the tool call",
        own(kind="delete", raw_input={"command": "rm b"}),
        known(kind="read", raw_input={"command": "cat b"}),
        None,
        About("delete", command="rm b"),
    ),
    (
        "pieces to replace",
        own(raw_input={"filePath": P, "oldString": "1", "newString": ""}),
        None,
        None,
        About(paths=(P,), claims=(Fragment(P, "1", ""),)),
    ),
    (
        "a whole text",
        own(raw_input={"path": P, "content": ""}),
        None,
        None,
        About(paths=(P,), claims=(Fragment(P, None, ""),)),
    ),
    (
        "a difference written out",
        own(raw_input={"filepath": P, "diff": "-1\n+2\n"}),
        None,
        None,
        About(paths=(P,), diff="-1\n+2\n"),
    ),
    (
        "a path without a text",
        own(raw_input={"file": P, "content": 7}),
        None,
        None,
        About(paths=(P,)),
    ),
    (
        "several paths",
        own(raw_input={"paths": [P, "", 3, "/ws/b.py"]}),
        None,
        None,
        About(paths=(P, "/ws/b.py")),
    ),
    (
        "content with differences, a text, and what says nothing",
        own(
            locations=(Location("/ws/b.py"),),
            content=(Fragment(P, "1", "2"), Text("Why"), Text(" \n"), TerminalRef("t")),
        ),
        None,
        None,
        About(paths=("/ws/b.py", P), claims=(Fragment(P, "1", "2"),), text="Why"),
    ),
    (
        "content goes before arguments",
        own(content=(Fragment(P, "1", "2"),), raw_input={"path": P, "content": "whole"}),
        None,
        None,
        About(paths=(P,), claims=(Fragment(P, "1", "2"),)),
    ),
    (
        "a title that only looks like arguments",
        own(title="bash: {now}"),
        None,
        "bash: {now}",
        About(),
    ),
    (
        "a patch",
        own(content=(Patch((FileChange("delete", None, P), FileChange("add", "/ws/n"))),)),
        None,
        None,
        About(
            paths=(P, "/ws/n"),
            claims=(Patch((FileChange("delete", None, P), FileChange("add", "/ws/n"))),),
        ),
    ),
    (
        "the arguments are the title",
        own(title='bash: {"command": "ls"}'),
        None,
        'bash: {"command": "ls"}',
        About(command="ls"),
    ),
    (
        "arguments as a string",
        own(raw_input='{"command": "ls"}'),
        None,
        None,
        About(command="ls"),
    ),
    (
        "arguments that are a text",
        own(raw_input="look"),
        None,
        None,
        About(input='{\n "input": "look"\n}'),
    ),
    ("arguments that are a list", own(raw_input=[1]), None, None, About(input="[\n 1\n]")),
    ("strange arguments", own(raw_input={"a": 1}), None, None, About(input='{\n "a": 1\n}')),
    ("nothing that can be written", own(raw_input={"a": {1}}), None, None, About()),
    ("empty arguments", own(raw_input={}), known(raw_input={}), "[]", About("other")),
    (
        "a command without words",
        own(raw_input={"command": " ", "cmd": []}),
        None,
        None,
        About(input='{\n "command": " ",\n "cmd": []\n}'),
    ),
]


@pytest.mark.parametrize(
    ("patch", "call", "title", "wanted"), [s[1:] for s in SAID], ids=[s[0] for s in SAID]
)
def test_it_is_found_wherever_it_is_said_p03(
    patch: ToolCallPatched | None, call: ToolCall | None, title: str | None, wanted: About
) -> None:
    assert about(CALL, patch, call, title) == wanted


def test_the_subject_says_best_what_it_is_about() -> None:
    wrapped = own(raw_input={"command": "wrapper rm", "cwd": "/else"})
    found = about(AboutCommand("rm x", "/ws", "c"), wrapped, None, "?")
    assert (found.command, found.cwd) == ("rm x", "/ws")
    found = about(AboutCommand("rm x", ""), wrapped, None, "?")
    assert found.cwd == "/else"
    found = about(OtherContent({"type": "odd", "path": P}), None, None, None)
    assert found.paths == (P,)


@pytest.mark.parametrize(
    ("what", "nothing"),
    [
        (About(), True),
        (About("edit", "edit_file"), True),
        (About(command="ls"), False),
        (About(paths=(P,)), False),
        (About(claims=(Fragment(P, None, ""),)), False),
        (About(diff="-1"), False),
        (About(text="x"), False),
        (About(input="{}"), False),
    ],
)
def test_it_is_known_whether_anything_was_said(what: About, nothing: bool) -> None:
    assert what.is_nothing == nothing


@pytest.mark.parametrize(
    ("given", "call", "what", "title"),
    [
        ("Delete it?", None, About(paths=(P,)), "Delete it?"),
        ("edit", None, About("edit", paths=(P,)), "edit: a.py"),
        ("Edit File", None, About(paths=("/else/a.py",)), "Edit File: /else/a.py"),
        ("edit_file: <missing path>", None, About(paths=(P,)), "edit_file: a.py"),
        ("run_command: <empty command>", None, About(command="ls"), "run_command: ls"),
        ("Run bash?", None, About(command="rm -r x"), "Run bash? rm -r x"),
        ("Run `rm -r x`", None, About(command="rm -r x"), "Run `rm -r x`"),
        ("", None, About(command="make tea"), "Run make tea"),
        (None, known(title="Make tea"), About(), "Make tea"),
        (
            "bash",
            known(title="List all files"),
            About("execute", command="ls"),
            "List all files: ls",
        ),
        ('{"command": "ls"}', None, About("execute", command="ls"), "Run ls"),
        ('edit: {"path": "/ws/a.py"}', None, About(paths=(P,)), "a.py"),
        (None, None, About("edit", "write_file", paths=(P,)), "write_file: a.py"),
        (None, None, About("other"), ""),
        (None, None, About("other", input="{}"), "other: {}"),
        ("other", None, About("other"), ""),
        ("fetch", None, About("fetch"), "fetch"),
        (None, None, About(), ""),
        ("mcp__x", None, About(tool="mcp__x", input='{"q": 1}'), 'mcp__x: {"q": 1}'),
        # A second line of a command is not hidden by the title.
        ("Run ls", None, About(command="ls\nrm -r /"), "Run ls: ls ⏎ rm -r /"),
        ("Sure?\nYes", None, About(), "Sure? ⏎ Yes"),
    ],
)
def test_a_title_says_what_is_asked(
    given: str | None, call: ToolCall | None, what: About, title: str
) -> None:
    assert title_of(given, call, what, "/ws") == title


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                ["command", "path", "paths", "content", "old_string", "new_string", "cwd"]
            )
            | st.text(max_size=4),
            inner,
            max_size=4,
        )
    ),
    max_leaves=8,
)


@settings(max_examples=150)
@given(json_values, st.none() | st.text(max_size=20))
def test_anything_at_all_gives_something(raw: Any, title: str | None) -> None:
    what = about(CALL, own(raw_input=raw), None, title)
    said = title_of(title, None, what, "/ws")
    # Joiners are kept where they join something that can be seen.
    assert re.sub("(?<=[^\x00-\x9f])[\u200c\u200d]", "", said).isprintable()
    payload: Json = {"type": "x", "payload": raw}
    assert about(OtherContent(payload), None, None, title).input != ""


def test_a_subject_of_an_unknown_kind_without_a_word_is_nothing() -> None:
    assert about(OtherContent({}), None, None, None).is_nothing


def test_many_files_are_some_of_them() -> None:
    many = tuple(Location(f"/ws/{n}") for n in range(500))
    assert len(about(CALL, own(locations=many), None, None).paths) == 100
