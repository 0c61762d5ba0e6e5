"""The border of an agent: every path that crosses it, and the programs of MCP servers."""

from __future__ import annotations

import re
from dataclasses import fields, is_dataclass
from typing import TYPE_CHECKING, Any, get_args

import pytest

from acpls import events as ev
from acpls.client import dialect
from acpls.client.crossing import PATHS, URIS, Crossing
from acpls.session import asks, content, updates
from acpls.session.content import UNSET
from acpls.text import patch
from acpls.text.pathmap import PathMap

if TYPE_CHECKING:
    from collections.abc import Mapping

# The fields of these names hold no path of a file.
NO_PATHS = {
    (ev.LinkAsked, "url"),
    (asks.McpServer, "url"),
    (asks.AgentFacts, "takes_directories"),
}
PATH_LIKE = re.compile(r"path|cwd|uri|url|folder|director|root")


def nothing(command: str, cwd: str, over: Mapping[str, str]) -> str | None:
    return None


def crossing(*pairs: tuple[str, str]) -> Crossing:
    return Crossing("a", PathMap(pairs), nothing)


MAPPED = crossing(("/here", "/there"))


def types_that_cross() -> set[type]:
    """All that agents are told and tell: the types of the session, and those events."""
    modules = (asks, content, updates, patch, dialect)
    values = {
        value
        for module in modules
        for value in vars(module).values()
        if isinstance(value, type) and is_dataclass(value) and value.__module__ == module.__name__
    }
    return values | set(get_args(ev.AgentEvent))


def test_x22_every_field_that_holds_a_path_is_known() -> None:
    found = {
        (kind, field.name)
        for kind in types_that_cross()
        if is_dataclass(kind)
        for field in fields(kind)
        if PATH_LIKE.search(field.name)
    }
    known = {
        (kind, name) for table in (PATHS, URIS) for kind, names in table.items() for name in names
    }
    assert found - NO_PATHS == known
    assert len(known) > 15


TOLD: list[Any] = [
    ev.FileReadAsked("a", 1, "s", "{}/f"),
    ev.FileWriteAsked("a", 1, "s", "{}/f", "<>/text"),
    ev.QuestionAsked("a", 1, "s", "t", (), None, content.AboutCommand("ls <>", "{}/d")),
    ev.SessionTold("a", "s", updates.TerminalPatched("t", "c", "{}/d")),
    ev.SessionTold("a", "s", updates.SubagentPatched("s2", cwd="{}/d")),
    ev.SessionTold("a", "s", updates.TerminalPatched("t", cwd=None)),
    ev.SessionTold("a", "s", updates.TerminalPatched("t", cwd=UNSET), raw={"cwd": "/there"}),
    ev.SessionTold(
        "a",
        "s",
        updates.ToolCallPatched(
            "t",
            content=(
                content.Fragment("{}/f", "old", "new"),
                content.Patch(
                    (content.FileChange("move", "{}/f", "{}/g"),),
                    (patch.FilePatch("{}/g", "{}/f", ()), patch.FilePatch(None, "{}/f", ())),
                ),
                content.ResourceLink("file://{}/f", "n"),
                content.Text("<>/f"),
            ),
            locations=(content.Location("{}/f", 3), content.Location("/else")),
        ),
    ),
    ev.SessionTold("a", "s", updates.ToolCallGrew("t", content.Fragment("{}/f", None, ""))),
    ev.SessionTold(
        "a", "s", updates.MessageGrew("m", "agent", content.Resource("file://{}/f", "text"))
    ),
    ev.SessionTold(
        "a",
        "s",
        updates.MessageSet("m", "user", (content.Media("image", "", "image/png", "file://{}/i"),)),
    ),
    ev.Replied(
        "a", 1, asks.SessionsListed((asks.KnownSession("s", "{}/p", None, None, ("{}/q",)),), "c")
    ),
    dialect.CreateTerminal("s", "ls", ("<>/x",), (), "{}/d"),
]


def at(value: Any, folder: str) -> Any:
    """The value with this folder for {}, and for <>, where no path is, that of the agent."""
    if isinstance(value, tuple):
        return tuple(at(item, folder) for item in value)
    if isinstance(value, str):
        return value.replace("{}", folder).replace("<>", "/there")
    if is_dataclass(value) and not isinstance(value, type):
        return type(value)(*(at(getattr(value, field.name), folder) for field in fields(value)))
    return value


@pytest.mark.parametrize("told", TOLD)
def test_x22_what_an_agent_tells_has_the_editors_paths(told: Any) -> None:
    theirs = at(told, "/there")
    assert MAPPED.inwards(theirs) == at(told, "/here")
    assert crossing().inwards(theirs) == theirs


@pytest.mark.parametrize(
    "ask",
    [
        asks.NewSession(asks.Opening("{}/p", ("{}/q", "/else"))),
        asks.ResumeSession("s", asks.Opening("{}/p"), True),
        asks.ForkSession("s", asks.Opening("{}/p")),
        asks.ListSessions("{}/p"),
        asks.ListSessions(),
        asks.Cancel("{}"),
        asks.Prompt(
            "s",
            (
                content.ResourceLink("file://{}/f", "n"),
                content.Resource("file://{}/f", "text"),
            ),
        ),
    ],
)
def test_x22_what_is_asked_has_the_agents_paths(ask: asks.Ask) -> None:
    ours = at(ask, "/here")
    expected = ours if isinstance(ask, asks.Cancel) else at(ask, "/there")
    assert MAPPED.outwards(ours) == (expected, ())
    assert crossing().outwards(ours) == (ours, ())


@pytest.mark.parametrize("spelled", ["\\\\?\\c:\\p", "c:\\p\\", "C:/p"])
def test_s08_folders_are_sent_and_compared_in_one_spelling(spelled: str) -> None:
    """S08: a session is found again whatever spelling of its folder the agent keeps."""
    ask, _ = crossing().outwards(asks.NewSession(asks.Opening(spelled, (spelled,))))
    assert ask == asks.NewSession(asks.Opening("C:\\p", ("C:\\p",)))
    assert crossing().outwards(asks.ListSessions(spelled))[0] == asks.ListSessions("C:\\p")
    known = asks.SessionsListed((asks.KnownSession("s", spelled),))
    told = crossing().inwards(ev.Replied("a", 1, known))
    assert told.reply == asks.SessionsListed((asks.KnownSession("s", "C:\\p"),))


def test_x22_s08_a_mapped_folder_is_normal_on_the_other_side_too() -> None:
    wsl = crossing(("C:\\p", "/mnt/c/p"))
    ask, _ = wsl.outwards(asks.NewSession(asks.Opening("\\\\?\\c:\\p\\x\\")))
    assert ask == asks.NewSession(asks.Opening("/mnt/c/p/x"))
    known = asks.SessionsListed((asks.KnownSession("s", "/mnt/c/p/x/"),))
    told = wsl.inwards(ev.Replied("a", 1, known))
    assert told.reply == asks.SessionsListed((asks.KnownSession("s", "C:\\p\\x"),))


SERVERS = (
    asks.McpServer("one", "stdio", "tool", ("x",), (("KEY", "secret"),)),
    asks.McpServer("two", "http", url="https://x", headers=(("k", "secret"),)),
    asks.McpServer("three", "stdio", "gone", env=(("KEY", "secret"),)),
)


def test_programs_of_mcp_servers_are_found_or_left_out() -> None:
    looked: list[object] = []

    def find(command: str, cwd: str, over: Mapping[str, str]) -> str | None:
        looked.append((command, cwd, dict(over)))
        return f"/bin/{command}" if command == "tool" else None

    border = Crossing("a", PathMap(), find)
    ask, left_out = border.outwards(asks.NewSession(asks.Opening("/p", (), SERVERS)))
    assert isinstance(ask, asks.NewSession)
    one, two = ask.opening.mcp_servers
    assert (one.command, one.args, one.env) == ("/bin/tool", ("x",), (("KEY", "secret"),))
    assert two == SERVERS[1]
    what = "the program 'gone' of the MCP server 'three' was not found, so it is left out"
    assert left_out == (ev.LeftOut("a", what),)
    assert looked == [(c, "/p", {"KEY": "secret"}) for c in ("tool", "gone")]


def test_programs_on_another_machine_are_for_the_agent_to_find() -> None:
    ask, left_out = MAPPED.outwards(asks.NewSession(asks.Opening("/here", (), SERVERS)))
    assert ask == asks.NewSession(asks.Opening("/there", (), SERVERS))
    assert left_out == ()


def test_x22_reasons_have_the_agents_paths() -> None:
    pairs = [("/p", "/remote"), ("/p/deep", "/elsewhere"), ("C:\\w", "\\\\wsl$\\w")]
    crossing = Crossing("a", PathMap(pairs), lambda *_: None)
    failure = asks.Failure(-32002, "Resource not found: /p/none.txt: no such file", "detail")
    moved = crossing.answer(failure)
    assert moved == asks.Failure(
        -32002, "Resource not found: /remote/none.txt: no such file", "detail"
    )
    for here, there in (
        ("/p/deep/x and /p", "/elsewhere/x and /remote"),
        ("/pp/x /q", "/pp/x /q"),
        ("C:\\w\\x", "\\\\wsl$\\w\\x"),
    ):
        assert crossing.answer(asks.Failure(1, here)).message == there
    assert crossing.answer(asks.FileText("/p/none.txt")) == asks.FileText("/p/none.txt")
    assert Crossing("a", PathMap(), lambda *_: None).answer(failure) is failure
