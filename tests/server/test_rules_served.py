"""Rules for permissions through the real server: what they answer, and what is remembered."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from server_stage import TOLD, both_versions, outcomes, play, seat

from acpls.testing.editor import PLAIN, CommandFailed, Later

if TYPE_CHECKING:
    from pathlib import Path

    from acpls.testing.frames import Json

pytestmark = pytest.mark.anyio

ASKED = TOLD | {"acp/question/ask", "window/showMessage"}
OPTIONS = ["allow_once", "allow_always", "reject_once"]


def selected(option: str) -> Json:
    return {"outcome": {"outcome": "selected", "optionId": option}}


def runs(command: str, **more: Any) -> Json:
    """The agent asks whether it may run a command, and says what it was told."""
    then = {key: [{"say": f"[{command} {key}]"}] for key in (*OPTIONS, "reject_always")}
    return {"ask": f"Run {command}?", "command": command, "options": OPTIONS, "then": then, **more}


def reads(path: str, number: int, **more: Any) -> Json:
    call = {"tool": f"t{number}", "title": f"Read {path}", "kind": "read", "locations": [path]}
    then = {key: [{"say": f"[{path} {key}]"}] for key in (*OPTIONS, "reject_always")}
    return {"ask": f"Read {path}?", "call": call, "options": OPTIONS, "then": then, **more}


def with_rules(*rules: Json) -> Json:
    return {"permissions": {"rules": list(rules)}}


def by_us(folder: Path) -> Json:
    """What is remembered lies in a folder of the test's own."""
    return {"XDG_STATE_HOME": str(folder / "state")}


@both_versions
async def test_rules_answer_in_both_versions_and_say_so(tmp_path: Path, version: int) -> None:
    rules = with_rules(
        {"decision": "allow", "command": "git status*", "agent": "fake"},
        {"decision": "deny", "command": "rm *"},
        {"decision": "allow", "kind": "read", "path": "**"},
        {"decision": "deny", "path": "**/.env"},
    )
    steps = [
        runs("git status -s"),
        runs("git log && rm -rf x"),
        reads("a.py", 1),
        reads("sub/.env", 2),
    ]
    async with seat(tmp_path, {"turns": [steps]}, version, settings=rules, ignore=ASKED) as at:
        at.file("a.py", "x")
        await play(at)
        assert at.said() == (
            "[git status -s allow_once][git log && rm -rf x reject_once]"
            "[a.py allow_once][sub/.env reject_once]"
        )
        assert [s["by"] for s in at.seen("acp/question/settled")] == ["rule"] * 4
        assert at.seen("acp/question/ask") == []
        notices = [e for e in (await at.get())["entries"] if e["type"] == "notice"]
        assert [notice["title"].split(":")[0] for notice in notices] == [
            *("Allowed by rule", "Refused by rule", "Allowed by rule", "Refused by rule")
        ]
        assert notices[0]["description"] == "allow of fake command git status*"


@both_versions
async def test_a_file_is_judged_by_where_its_link_leads(tmp_path: Path, version: int) -> None:
    rules = with_rules({"decision": "allow", "kind": "read", "path": "**"})
    steps = [reads("in.py", 1), reads("out.py", 2)]
    async with seat(tmp_path, {"turns": [steps]}, version, settings=rules, ignore=ASKED) as at:
        at.file("a.py", "x")
        (tmp_path / "secret").write_text("x")
        (at.project / "in.py").symlink_to(at.project / "a.py")
        (at.project / "out.py").symlink_to(tmp_path / "secret")
        at.answer["acp/question/ask"] = lambda _: {"option": "reject_once"}
        await play(at)
        assert at.said() == "[in.py allow_once][out.py reject_once]"
        (asked,) = at.seen("acp/question/ask")
        assert "out.py" in asked["title"]


@both_versions
async def test_p21_a_batch_needs_one_answer(tmp_path: Path, version: int) -> None:
    """P12, P21: an "always" answers what is open, and what comes later, and goes on as it is."""
    steps: list[Any] = [reads(f"{n}.py", n, wait=False) for n in range(3)]
    turns = [[*steps, reads("last.py", 3)], [reads("later.py", 4), runs("ls")]]
    async with seat(tmp_path, {"turns": turns}, version, ignore=ASKED) as at:
        answers = [Later() for _ in range(4)]
        waiting = iter(answers)
        at.answer["acp/question/ask"] = lambda _: next(waiting)
        await at.command("acpls.session.prompt", {"text": "go"})
        await at.until(lambda: len(at.seen("acp/question/ask")) == 4)
        answers[0].set({"option": "allow_always"})
        await at.idle(stop="end_turn")
        said = at.said()
        assert (said.count("allow_always"), said.count("allow_once")) == (1, 3)
        assert list(outcomes(at).values()).count(selected("allow_always")) == 1
        at.answer["acp/question/ask"] = lambda _: {"option": "reject_once"}
        await play(at)
        assert at.said().endswith("[later.py allow_once][ls reject_once]")


@both_versions
async def test_p12_what_is_remembered_lasts_until_it_is_revoked(
    tmp_path: Path, version: int
) -> None:
    """P12: in the scope that the user chose, in the next run of the server, too."""
    script = {"turns": [[runs("make")]]}
    options: Json = {"ignore": ASKED, "env": by_us(tmp_path)}
    async with seat(tmp_path, script, version, **options) as at:
        at.answer["acp/question/ask"] = lambda _: {"option": "allow_always", "scope": "workspace"}
        await play(at)
        (rule,) = await at.command("acpls.permission.list")
        assert (rule["scope"], rule["decision"], rule["command"]) == ("workspace", "allow", "make")
    async with seat(tmp_path, script, version, **options) as at:
        await play(at)
        assert at.said() == "[make allow_once]"
        (again,) = await at.command("acpls.permission.list")
        assert again == rule
        assert await at.command("acpls.permission.revoke", {"rule": rule["rule"]}) == {}
        assert await at.command("acpls.permission.list") == []
        at.answer["acp/question/ask"] = lambda _: {"option": "reject_once"}
        await play(at)
        assert at.said() == "[make allow_once][make reject_once]"


async def test_two_servers_at_once_know_what_each_remembers(tmp_path: Path) -> None:
    options: Json = {"ignore": ASKED, "env": by_us(tmp_path)}
    one, two = {"turns": [[runs("make one")]]}, {"turns": [[runs("make two"), runs("make one")]]}
    async with (
        seat(tmp_path / "1", one, 2, **options) as at,
        seat(tmp_path / "2", two, 1, **options) as other,
    ):
        always = {"option": "allow_always", "scope": "user"}
        at.answer["acp/question/ask"] = lambda _: always
        other.answer["acp/question/ask"] = lambda _: always
        await play(at)
        await play(other)
        assert other.said() == "[make two allow_always][make one allow_once]"
        listed = await at.command("acpls.permission.list")
        assert sorted(rule["command"] for rule in listed) == ["make one", "make two"]


async def test_in_a_plain_editor_all_is_done_by_code_actions(tmp_path: Path) -> None:
    """P12: answered for the workspace, and revoked, in an editor that knows nothing of ours."""
    script = {"turns": [[runs("make"), runs("make")]]}
    async with seat(
        tmp_path, script, 1, capabilities=PLAIN, env=by_us(tmp_path), ignore=ASKED
    ) as at:
        uri = at.open_text("file:///elsewhere.txt", "x")

        async def actions() -> dict[str, Json]:
            nowhere = {"line": 0, "character": 0}
            found = await at.request(
                "textDocument/codeAction",
                {
                    "textDocument": {"uri": uri},
                    "range": {"start": nowhere, "end": nowhere},
                    "context": {"diagnostics": []},
                },
            )
            return {action["title"]: action["command"] for action in found}

        async def choose(start: str) -> None:
            offered: dict[str, Json] = {}
            while not (named := [title for title in offered if title.startswith(start)]):
                await at.stirs()
                offered = await actions()
            command = offered[named[0]]
            await at.command(command["command"], command["arguments"][0])

        session = (await at.command("acpls.session.prompt", {"text": "go"}))["session"]
        await choose("Allow always (kept for this workspace): ")
        await at.asked("acpls.session.get", {"session": session}, lambda s: s["state"] == "idle")
        assert list(outcomes(at).values()) == [selected("allow_always"), selected("allow_once")]
        await at.command("acpls.permission.revoke")
        await choose("make (allow in this workspace): ")
        await at.asked("acpls.permission.list", {}, lambda rules: rules == [])


async def test_a_rule_of_the_settings_is_not_revoked_by_command(tmp_path: Path) -> None:
    rules = with_rules({"decision": "deny", "kind": "exekute"}, {"decision": "ask"})
    async with seat(tmp_path, {}, 2, settings=rules) as at:
        (rule,) = await at.command("acpls.permission.list")
        assert (rule["rule"], rule["scope"]) == ("settings-1", "settings")
        with pytest.raises(CommandFailed, match="stands in the settings") as failed:
            await at.command("acpls.permission.revoke", {"rule": "settings-1"})
        assert failed.value.data["field"] == "rule"
        (problem,) = (await at.command("acpls.status"))["problems"]
        assert problem.startswith("permissions.rules[0].kind must be")
        assert await at.popup() == "A rule does not hold, and nothing is stopped by it"


async def test_a_settings_file_that_cannot_be_read_is_told_of(tmp_path: Path) -> None:
    """Whoever wrote rules there must not believe that they hold."""
    folder = tmp_path / "config" / "acpls"
    folder.mkdir(parents=True)
    (folder / "config.toml").write_text('[[permissions.rules]\ndecision = "deny"\n')
    async with seat(tmp_path, {}, 2, warns=True) as at:
        await at.command("acpls.status")
        assert (await at.popup()).startswith("None of config.toml holds, since it cannot be read")
