"""The arguments of every command, and what they are answered with when they are wrong."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from acpls.hub.commands import COMMANDS
from acpls.lsp.arguments import _MODELS, Focus, WrongArguments, checked, fitting

RANGE = {"start": {"line": 0, "character": 0}, "end": {"line": 1, "character": 2}}
DOCS = Path(__file__).parents[2] / "docs" / "protocol.md"

# A value that fits for each argument of each command.
COMPLETE: dict[str, dict[str, Any]] = {
    "acpls.agent.list": {},
    "acpls.agent.start": {"agent": "a"},
    "acpls.agent.restart": {"agent": "a"},
    "acpls.agent.stop": {"agent": "a"},
    "acpls.agent.log": {"agent": "a", "lines": 1},
    "acpls.agent.select": {"agent": "a"},
    "acpls.agent.login": {"agent": "a", "methodId": "m"},
    "acpls.agent.cancelLogin": {"agent": "a"},
    "acpls.agent.logout": {"agent": "a"},
    "acpls.session.new": {"agent": "a", "cwd": "/x", "title": "t"},
    "acpls.session.list": {"agent": "a", "cwd": "/x", "cursor": "c"},
    "acpls.session.get": {"session": "s1"},
    "acpls.session.close": {"session": "s1"},
    "acpls.session.resume": {"session": "s1"},
    "acpls.session.fork": {"session": "s1"},
    "acpls.session.rename": {"session": "s1", "title": "t"},
    "acpls.session.prompt": {
        "session": "s1",
        "text": "a",
        "blocks": [{"type": "text", "text": "b"}],
        "context": [{"uri": "file:///x", "range": RANGE}],
    },
    "acpls.session.send": {"session": "s1", "uri": "file:///x"},
    "acpls.session.fetch": {"session": "s1"},
    "acpls.session.openConversation": {"session": "s1"},
    "acpls.session.ask": {"session": "s1", "uri": "file:///x", "range": RANGE, "intent": "fix"},
    "acpls.session.cancel": {"session": "s1"},
    "acpls.session.endTurn": {"session": "s1"},
    "acpls.session.setOption": {"session": "s1", "option": "o", "value": "v"},
    "acpls.toolCall.cancel": {"session": "s1", "toolCall": "c"},
    "acpls.terminal.cancel": {"session": "s1", "terminal": "t"},
    "acpls.output.read": {
        "session": "s1",
        "terminal": "t",
        "toolCall": "c",
        "offset": 0,
        "limit": 1,
    },
    "acpls.question.list": {"session": "s1"},
    "acpls.question.show": {"question": "q1"},
    "acpls.question.answer": {
        "question": "q1",
        "option": "o",
        "action": "dismiss",
        "scope": "user",
    },
    "acpls.permission.list": {},
    "acpls.permission.revoke": {"rule": "p1"},
    "acpls.checkpoint.list": {"session": "s1"},
    "acpls.checkpoint.restore": {"checkpoint": "k1", "dryRun": True, "over": True},
    "acpls.review.list": {"session": "s1", "uri": "file:///x"},
    "acpls.review.keep": {
        "hunk": "h1",
        "uri": "file:///x",
        "session": "s1",
        "all": True,
        "over": True,
    },
    "acpls.review.reject": {"hunk": "h1", "uri": "file:///x", "session": "s1", "all": True},
    "acpls.review.diff": {"uri": "file:///x"},
    "acpls.review.setMode": {"mode": "before"},
    "acpls.follow.set": {"session": "s1", "on": True},
    "acpls.follow.trail": {"session": "s1"},
    "acpls.follow.goTo": {"session": "s1"},
    "acpls.status": {},
}
REQUIRED = {
    "acpls.agent.select": ["agent"],
    "acpls.session.rename": ["title"],
    "acpls.session.setOption": ["option", "value"],
    "acpls.toolCall.cancel": ["toolCall"],
    "acpls.terminal.cancel": ["terminal"],
    "acpls.checkpoint.restore": ["checkpoint"],
    "acpls.review.diff": ["uri"],
}
FIELDS = [(name, field) for name, argument in COMPLETE.items() for field in argument]


def wrong(command: str, *arguments: Any) -> WrongArguments:
    with pytest.raises(WrongArguments) as raised:
        checked(command, list(arguments))
    return raised.value


def test_each_command_has_its_model() -> None:
    assert set(_MODELS) == set(COMMANDS) == set(COMPLETE)


def test_the_page_lists_each_command_with_its_arguments() -> None:
    section = DOCS.read_text("utf-8").split("\n## Commands\n")[1].split("\n## ")[0]
    rows = re.findall(r"^\| `(acpls\.[\w.]+)` \|([^|]*)\|", section, flags=re.MULTILINE)
    assert [name for name, _ in rows] == list(COMMANDS)
    for name, arguments in rows:
        told = re.findall(r"`(\w+)(\??)`", arguments)
        assert {field for field, _ in told} == set(COMPLETE[name]), name
        assert [field for field, optional in told if not optional] == REQUIRED.get(name, []), name


@pytest.mark.parametrize("command", COMPLETE)
def test_what_fits_goes_through(command: str) -> None:
    argument = COMPLETE[command]
    assert set(_MODELS[command].model_fields) == set(argument)
    assert checked(command, [argument]) == argument


@pytest.mark.parametrize("command", [name for name in COMPLETE if name not in REQUIRED])
@pytest.mark.parametrize("arguments", [None, [], [None], [{}]])
def test_a_command_works_without_arguments(command: str, arguments: Any) -> None:
    assert checked(command, arguments) == {}


@pytest.mark.parametrize("command", COMPLETE)
def test_null_is_the_same_as_left_out(command: str) -> None:
    required = {field: COMPLETE[command][field] for field in REQUIRED.get(command, [])}
    assert checked(command, [{**dict.fromkeys(COMPLETE[command]), **required}]) == required


@pytest.mark.parametrize(("command", "field"), FIELDS)
def test_a_value_of_the_wrong_type_names_its_field(command: str, field: str) -> None:
    values: list[Any] = [{"no": "such"}, 1.5, [[]]]
    for value in values:
        error = wrong(command, {**COMPLETE[command], field: value})
        assert error.field.split(".")[0] == field
        assert str(error).startswith(f"{error.field}: ")
        assert "\n" not in str(error)


@pytest.mark.parametrize("command", COMPLETE)
def test_an_unknown_key_names_itself(command: str) -> None:
    assert wrong(command, {**COMPLETE[command], "sesion": "s1"}).field == "sesion"


@pytest.mark.parametrize(
    ("command", "field"), [(name, field) for name, fields in REQUIRED.items() for field in fields]
)
@pytest.mark.parametrize("null", [True, False])
def test_a_missing_key_is_named(command: str, field: str, null: bool) -> None:
    argument = {key: value for key, value in COMPLETE[command].items() if key != field}
    assert wrong(command, {**argument, **({field: None} if null else {})}).field == field


@pytest.mark.parametrize(
    ("command", "argument", "field"),
    [
        ("acpls.agent.log", {"lines": 0}, "lines"),
        ("acpls.agent.log", {"lines": True}, "lines"),
        ("acpls.session.new", {"cwd": "relative/path"}, "cwd"),
        ("acpls.session.list", {"agent": "a", "cwd": "relative/path"}, "cwd"),
        ("acpls.session.prompt", {"context": [{}]}, "context.0.uri"),
        ("acpls.session.prompt", {"context": [{"uri": "a", "rang": 1}]}, "context.0.rang"),
        ("acpls.session.prompt", {"blocks": ["text"]}, "blocks.0"),
        ("acpls.session.ask", {"intent": "eat"}, "intent"),
        ("acpls.session.ask", {"range": {"start": RANGE["start"]}}, "range.end"),
        (
            "acpls.session.ask",
            {"range": {**RANGE, "start": {"line": -1, "character": 0}}},
            "range.start.line",
        ),
        ("acpls.session.setOption", {"option": "o", "value": 1}, "value"),
        ("acpls.output.read", {"offset": -1}, "offset"),
        ("acpls.output.read", {"limit": 0}, "limit"),
        ("acpls.review.keep", {"all": False}, "all"),
        ("acpls.review.keep", {"all": 1}, "all"),
        ("acpls.review.keep", {"over": "yes"}, "over"),
        ("acpls.review.reject", {"over": True}, "over"),
        ("acpls.review.setMode", {"mode": "never"}, "mode"),
        ("acpls.follow.set", {"on": "true"}, "on"),
    ],
)
def test_values_that_make_no_sense(command: str, argument: Any, field: str) -> None:
    assert wrong(command, argument).field == field


@pytest.mark.parametrize("cwd", ["/", "/x y", "C:\\x", "c:/x"])
def test_an_absolute_path_of_any_platform_is_one(cwd: str) -> None:
    assert checked("acpls.session.new", [{"cwd": cwd}]) == {"cwd": cwd}


@pytest.mark.parametrize("value", [True, False, "", "x"])
def test_the_value_of_an_option_is_a_string_or_a_switch(value: object) -> None:
    argument = {"option": "o", "value": value}
    assert checked("acpls.session.setOption", [argument]) == argument


def test_the_users_text_goes_through_byte_for_byte() -> None:
    text = " \t😀\r\n\x00e\u0301 "
    assert checked("acpls.session.prompt", [{"text": text}]) == {"text": text}
    block = {"type": "text", "text": text, "annotations": None, "_meta": {"a": [None]}}
    assert checked("acpls.session.prompt", [{"blocks": [block]}])["blocks"][0]["_meta"] == {
        "a": [None]
    }


@pytest.mark.parametrize("arguments", [["s1"], [[]], [1], [{}, {}], ["a", "b"]])
def test_a_command_takes_one_object(arguments: list[Any]) -> None:
    assert wrong("acpls.session.get", *arguments).field == "arguments"


def test_params_of_our_own_notifications_are_checked_too() -> None:
    assert fitting(Focus, {"uri": "a", "selection": RANGE}) == {
        "uri": "a",
        "selection": RANGE,
        "typing": False,
    }
    with pytest.raises(WrongArguments, match=r"^arguments: ") as raised:
        fitting(Focus, None)
    assert raised.value.field == "arguments"


def test_pydantic_is_not_imported_before_the_first_command() -> None:
    # It takes longer to load than everything that ``initialize`` needs.
    script = "import sys, acpls.bridge; print({'pydantic', 'acpls.lsp.arguments'} & {*sys.modules})"
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, check=True, text=True
    )
    assert done.stdout == "set()\n"
