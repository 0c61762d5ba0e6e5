"""Deny over ask over allow, each file and each command by itself, and ask where none is sure."""

from __future__ import annotations

from typing import Any

import pytest

from acpls.permissions import Places, Remembered, Request, Verdict, judge
from acpls.permissions.commands import split
from acpls.settings import Rule

REAL = {"/ws": "/ws", "~": "/home/me", "/ws/out": "/etc/x"}


def asked(*commands: str, kinds: str | None = None, **fields: Any) -> Request:
    """A request as it comes of a tool call; its kind follows from what is in it."""
    guessed = kinds or ("execute" if commands else "edit")
    return Request(
        "demo",
        frozenset(guessed.split()),
        commands=tuple(split(command) for command in commands),
        cwd="/ws",
        **fields,
    )


def files(*paths: str, **fields: Any) -> Request:
    return asked(paths=paths, **fields)


def verdict(request: Request, *rules: Rule, known: tuple[Remembered, ...] = ()) -> str | None:
    real = {path: path for path in request.paths} | REAL
    found = judge(rules, known, request, Places(real, ("/ws",)))
    return None if found is None else found.decision


ALLOW = Rule("allow")
DENY = Rule("deny")
ASK = Rule("ask")


def test_without_rules_the_user_is_asked() -> None:
    assert verdict(asked("git status")) is None
    assert verdict(files("/ws/a")) is None


@pytest.mark.parametrize(
    ("rules", "wanted"),
    [
        ((ALLOW,), "allow"),
        ((ALLOW, ASK), None),
        ((ALLOW, ASK, DENY), "deny"),
        ((DENY, ALLOW), "deny"),
        ((ASK,), None),
    ],
)
def test_deny_over_ask_over_allow(rules: tuple[Rule, ...], wanted: str | None) -> None:
    assert verdict(files("/ws/a"), *rules) == wanted


@pytest.mark.parametrize(
    ("fields", "request_", "allows", "denies"),
    [
        ({"agent": "demo"}, files("/ws/a"), True, True),
        ({"agent": "other"}, files("/ws/a"), False, False),
        ({"kind": "edit"}, files("/ws/a"), True, True),
        ({"kind": "read"}, files("/ws/a"), False, False),
        ({"kind": "read"}, files("/ws/a", kinds="read edit"), False, True),
        ({"kind": "execute"}, asked("a", kinds="search execute"), False, True),
        ({"kind": "execute", "command": "a"}, asked("a", kinds="search execute"), True, True),
        ({"tool": "web_*"}, asked(kinds="fetch", name="web_get"), True, True),
        ({"tool": "web_*"}, asked(kinds="fetch", title="web_get"), True, True),
        ({"tool": "web_*"}, asked(kinds="fetch", name="x", title="web_get"), False, True),
        ({"tool": "WEB_*"}, asked(kinds="fetch", name="web_get"), False, True),
        ({"tool": "other"}, asked(kinds="fetch", name="web_get"), False, False),
        ({"mode": "plan"}, files("/ws/a", mode=("plan", "Plan first")), True, True),
        ({"mode": "Plan first"}, files("/ws/a", mode=("plan", "Plan first")), True, True),
        ({"mode": "PLAN"}, files("/ws/a", mode=("plan",)), False, True),
        ({"mode": "plan"}, files("/ws/a"), False, False),
        ({"path": "*"}, files("/ws/a"), True, True),
        ({"path": "*"}, files("/ws/b/a"), False, True),
        ({"path": "*"}, files("/ws/out"), False, True),
        ({"path": "**"}, files("/ws/a", "/else/b"), False, True),
        ({"command": "git *"}, asked("git a"), True, True),
        ({"command": "git *"}, asked("git a; rm b"), False, True),
        ({"command": "git *"}, asked("git a", "rm b"), False, True),
        ({"command": "git *"}, asked("a $(git b)"), False, True),
        ({"command": "git *", "path": "*"}, asked("git a"), False, False),
        (
            {"command": "git *", "path": "*"},
            asked("git a", paths=("/ws/b",), changed=("/ws/b",)),
            True,
            True,
        ),
        (
            {"command": "git *", "path": "*"},
            asked("git a", paths=("/b",), changed=("/b",)),
            False,
            False,
        ),
    ],
)
def test_what_a_rule_is_about(
    fields: dict[str, Any], request_: Request, allows: bool, denies: bool
) -> None:
    assert verdict(request_, Rule("allow", **fields)) == ("allow" if allows else None)
    assert verdict(request_, Rule("deny", **fields)) == ("deny" if denies else None)
    asks = verdict(request_, Rule("ask", **fields), Rule("allow"))
    assert asks is None or not denies


def test_each_file_passes_by_itself() -> None:
    both = (Rule("allow", path="a"), Rule("allow", path="b"))
    assert verdict(files("/ws/a", "/ws/b"), *both) == "allow"
    assert verdict(files("/ws/a", "/ws/c"), *both) is None
    found = judge(
        both,
        (),
        files("/ws/a", "/ws/b"),
        Places({"/ws/a": "/ws/a", "/ws/b": "/ws/b", "/ws": "/ws"}, ("/ws",)),
    )
    assert found == Verdict("allow", ("allow path a", "allow path b"))


def test_each_command_passes_by_itself() -> None:
    both = (Rule("allow", command="a*"), Rule("allow", command="b*"))
    assert verdict(asked("a && b"), *both) == "allow"
    assert verdict(asked("a && c"), *both) is None


def test_a_rule_about_files_lets_no_command_run_and_the_other_way_round() -> None:
    both = asked("a", paths=("/ws/b",), changed=("/ws/b",))
    assert verdict(both, Rule("allow", path="**")) is None
    assert verdict(both, Rule("allow", command="a")) is None
    assert verdict(both, Rule("allow", path="**"), Rule("allow", command="a")) == "allow"
    # Where a command is shown is no file of it.
    assert verdict(asked("a", paths=("/ws",)), Rule("allow", command="a")) == "allow"


@pytest.mark.parametrize(
    "request_",
    [
        asked("a $(b)"),
        asked("a > b"),
        asked(kinds="execute"),
        files("/ws/a", whole=False),
        asked("a", whole=False),
    ],
)
def test_what_is_not_understood_never_passes(request_: Request) -> None:
    assert verdict(request_, ALLOW, Rule("allow", command="*"), Rule("allow", path="**")) is None


@pytest.mark.parametrize(
    ("fields", "request_"),
    [
        ({"path": "**/.env"}, asked(kinds="edit")),
        ({"path": "**/.env"}, Request("demo")),
        ({"path": "**/.env"}, files("/ws/a", whole=False)),
        ({"command": "rm *"}, Request("demo")),
        ({"command": "rm *"}, asked(kinds="execute")),
        ({"kind": "execute"}, Request("demo")),
        ({"tool": "x"}, asked(kinds="other")),
    ],
)
def test_what_might_be_stopped_is_asked(fields: dict[str, Any], request_: Request) -> None:
    assert verdict(request_, Rule("deny", **fields), ALLOW) is None
    unrelated = Rule("deny", agent="other", **fields)
    if request_.whole and "execute" not in request_.kinds:
        assert verdict(request_, unrelated, ALLOW) == "allow"


def test_a_line_that_nobody_reads_to_the_end_is_asked_about() -> None:
    line = "; ".join(f"sudo a{n} b{n} c{n} d{n} e{n}" for n in range(499))
    assert verdict(asked(line), ALLOW) == "allow"
    assert verdict(asked(line), Rule("deny", command="rm *"), ALLOW) is None
    assert verdict(asked(line), Rule("deny", command="sudo *"), ALLOW) == "deny"


def test_a_rule_that_cannot_be_about_a_request_asks_nothing() -> None:
    rules = (Rule("deny", path="**/.env"), Rule("deny", command="rm *"), ALLOW)
    assert verdict(asked(kinds="fetch"), *rules) == "allow"


def test_nothing_is_known_and_all_is_allowed() -> None:
    assert verdict(Request("demo"), ALLOW) == "allow"
    assert verdict(Request("demo"), Rule("allow", kind="read")) is None
    assert verdict(Request("demo"), Rule("allow", tool="*")) is None


def test_what_is_remembered_is_a_rule_among_others() -> None:
    """P12."""
    line = "a $(b)"
    yes = Remembered("user", "allow", "demo", ("execute",), commands=(line,))
    no = Remembered("user", "deny", "demo", ("execute",), commands=(line,))
    assert verdict(asked(line), known=(yes,)) == "allow"
    assert verdict(asked(line), known=(yes, no)) == "deny"
    assert verdict(asked(line), ASK, known=(yes,)) is None
    assert verdict(asked(line), Rule("deny", command="b"), known=(yes,)) == "deny"
    assert verdict(asked("a $(c)"), known=(yes,)) is None
