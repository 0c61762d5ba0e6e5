"""The rules in the settings: what can be used of them, and the words for the rest."""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path
from typing import Any

import pytest

from acpls.settings import AgentSpec, Rule, parse
from acpls.settings.rules import KINDS

DEMO = AgentSpec("demo")


def rules(*layers: object) -> tuple[tuple[Rule, ...], tuple[str, ...]]:
    """The rules of layers that consist of nothing else, and the warnings."""
    settings, problems = parse([{"permissions": {"rules": x}} for x in layers], DEMO)
    return settings.rules, problems


def test_there_are_none() -> None:
    assert parse((), DEMO)[0].rules == ()
    assert rules([]) == ((), ())
    assert rules(None) == ((), ())


def test_a_rule_has_a_decision_and_what_it_is_about() -> None:
    whole = {
        "decision": "deny",
        "agent": "claude",
        "kind": "execute",
        "tool": "Ba*",
        "path": "src/**/[a-z].py",
        "command": "rm *",
        "mode": "plan",
    }
    found, problems = rules([whole, {"decision": "allow"}, {"decision": "ask", "path": None}])
    assert problems == ()
    assert found == (Rule(**whole), Rule("allow"), Rule("ask"))  # type: ignore[arg-type]  # a plain dict
    assert [rule.text for rule in found] == [
        "deny of claude kind execute tool Ba* path src/**/[a-z].py command rm * in mode plan",
        "allow everything",
        "ask everything",
    ]


def test_layers_are_joined_and_what_comes_twice_counts_once() -> None:
    deny, allow = {"decision": "deny", "path": "a"}, {"decision": "allow", "path": "b"}
    found, _ = rules([deny], None, [allow, deny])
    assert found == (Rule("deny", path="a"), Rule("allow", path="b"))
    settings, _ = parse([{"permissions.rules": [deny]}, {"permissions": {"rules": [allow]}}], DEMO)
    assert settings.rules == found


@pytest.mark.parametrize(
    ("entry", "warning"),
    [
        ([], "permissions.rules[1] must be an object"),
        ("deny", "permissions.rules[1] must be an object"),
        ({}, 'permissions.rules[1].decision must be "allow", "ask" or "deny"'),
        ({"decision": "never"}, 'permissions.rules[1].decision must be "allow", "ask" or "deny"'),
        (
            {"decision": "deny", "comand": "rm *"},
            "permissions.rules[1].comand is no field of a rule, did you mean command?",
        ),
        ({"decision": "deny", "\n": 1}, "permissions.rules[1].? is no field of a rule"),
        (
            {"decision": "deny", "command": ["rm"]},
            "permissions.rules[1].command must be a string that is not empty",
        ),
        (
            {"decision": "ask", "tool": " "},
            "permissions.rules[1].tool must be a string that is not empty",
        ),
        (
            {"decision": "ask", "agent": "a\0"},
            "permissions.rules[1].agent must be a string that is not empty",
        ),
        (
            {"decision": "deny", "command": "x" * 3000},
            "permissions.rules[1].command must be at most 2000 characters long",
        ),
        (
            {"decision": "deny", "kind": "exectue"},
            'permissions.rules[1].kind must be a kind such as "execute"',
        ),
        (
            {"decision": "deny", "kind": "zzz"},
            f"permissions.rules[1].kind must be one of {', '.join(KINDS)}",
        ),
        (
            {"decision": "deny", "path": "../x"},
            'permissions.rules[1].path must be a glob without parts such as "..", "." or none',
        ),
        (
            {"decision": "deny", "path": "src/"},
            'permissions.rules[1].path must be a glob without parts such as "..", "." or none',
        ),
        (
            {"decision": "deny", "path": "src/["},
            "permissions.rules[1].path must be a glob with all its brackets closed",
        ),
    ],
)
def test_what_is_wrong_is_one_warning_and_says_that_it_stops_nothing(
    entry: Any, warning: str
) -> None:
    found, problems = rules([{"decision": "allow", "path": "a"}, entry])
    assert found == (Rule("allow", path="a"),)
    assert problems == (
        f"{warning}; the rule is left out, and what it was to stop is NOT stopped by it",
    )


def test_a_wrong_rule_that_allows_takes_nothing_away() -> None:
    found, problems = rules([{"decision": "allow", "path": "[", "kind": "zz"}])
    assert found == ()
    (problem,) = problems
    assert problem.startswith("permissions.rules[0].kind must be one of")
    assert problem.endswith("; the rule is left out")


def test_what_is_no_list_is_said_once() -> None:
    assert rules({"decision": "deny"}, "x") == (
        (),
        ("permissions.rules must be a list of rules; none of it applies",),
    )


def test_there_are_not_endlessly_many() -> None:
    many = [{"decision": "allow", "tool": str(n)} for n in range(1200)]
    found, problems = rules(many)
    assert len(found) == 1000
    assert problems == ("permissions.rules has more than 1000 rules; those after are left out",)


@pytest.mark.parametrize(
    "path", ["/", "~", "~/x", "/a/**", "**", r"C:\x\*", "C:/x", r"\\server\share\x", "a b", r"a\*"]
)
def test_paths_of_all_kinds_are_taken(path: str) -> None:
    found, problems = rules([{"decision": "deny", "path": path, "kind": "_own"}])
    assert found == (Rule("deny", path=path, kind="_own"),)
    assert problems == ()


@pytest.mark.parametrize(("language", "decode"), [("json", json.loads), ("toml", tomllib.loads)])
def test_the_examples_that_users_copy_are_right(language: str, decode: Any) -> None:
    page = (Path(__file__).parents[2] / "docs" / "protocol.md").read_text("utf-8")
    section = page.split("### Permission rules")[1].split("### Review")[0]
    (example,) = re.findall(rf"```{language}\n(.*?)```", section, re.DOTALL)
    settings, problems = parse([decode(example)], DEMO)
    assert settings.rules
    assert problems == ()
