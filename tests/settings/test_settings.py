"""Settings: layers in, one model and its warnings out."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import settings as settings_of_hypothesis
from hypothesis import strategies as st

from acpls.session.asks import McpServer, SystemPrompt
from acpls.settings import AgentSpec, Settings, parse

DEMO = AgentSpec("python3", ("-m", "acpls", "demo-agent"))

WORDS = st.sampled_from(
    [
        *(
            "agents",
            "pi",
            "command",
            "args",
            "env",
            "follow",
            "on",
            "client",
            "follow.on",
            "",
            "x.y",
        ),
        *("mcpServers", "url", "type", "http", "options", "pathMap", "/a", "systemPrompt", "mode"),
    ]
)
SYSTEM_PROMPT = "a string, or an object with mode (append or override) and text"
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5) | WORDS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(WORDS, inner, max_size=4),
    max_leaves=12,
)


def settings(*layers: object) -> Settings:
    found, warnings = parse(layers, DEMO)
    assert warnings == ()
    return found


def warned(*layers: object) -> list[str]:
    found, warnings = parse(layers, DEMO)
    assert found.default_agent in found.agents
    return list(warnings)


def test_nothing_set_gives_the_defaults_and_the_demo_agent() -> None:
    nothing: list[list[object]] = [[], [None, None], [{}, {"agents": {}, "follow": None}]]
    for layers in nothing:
        assert settings(*layers) == Settings(
            agents={"demo": DEMO},
            default_agent="demo",
            dialogs="auto",
            follow_on=None,
            idle_seconds=2,
            cancel_seconds=10,
            login_shell="auto",
            client={},
        )


def test_every_setting_arrives() -> None:
    assert settings(
        {
            "defaultAgent": "pi",
            "agents": {
                "other": {"command": "other"},
                "pi": {
                    "command": "/opt/My Tools/pi",
                    "args": ["--acp", ""],
                    "env": {"TOKEN": "$HOME"},
                    "cwd": "/srv",
                    "protocol": 2,
                    "maxLineBytes": 1000,
                    "authMethod": "api-key",
                    "mcpServers": {"files": {"command": "/bin/files"}},
                    "options": {"model": "fast", "web": False},
                    "pathMap": {"/home/me": "/mnt/me", "C:\\work": "/mnt/c/work"},
                    "systemPrompt": {"mode": "override", "text": "Be brief."},
                },
            },
            "environment": {"loginShell": False},
            "questions": {"dialogs": False},
            "follow": {"on": True, "idleSeconds": 0.5},
            "session": {"cancelSeconds": 3},
            "client": {"dialogs": True},
        }
    ) == Settings(
        agents={
            "other": AgentSpec("other"),
            "pi": AgentSpec(
                "/opt/My Tools/pi",
                ("--acp", ""),
                {"TOKEN": "$HOME"},
                "/srv",
                2,
                1000,
                (McpServer("files", "stdio", "/bin/files"),),
                {"model": "fast", "web": False},
                (("/home/me", "/mnt/me"), ("C:\\work", "/mnt/c/work")),
                SystemPrompt("override", "Be brief."),
                "api-key",
            ),
        },
        default_agent="pi",
        dialogs=False,
        follow_on=True,
        idle_seconds=0.5,
        cancel_seconds=3,
        login_shell=False,
        client={"dialogs": True},
    )


def test_a_later_layer_wins_key_by_key() -> None:
    low = {"agents": {"pi": {"command": "pi", "args": ["a"], "env": {"A": "1", "B": "1"}}}}
    high = {"agents": {"pi": {"args": ["b", "c"], "env": {"B": "2"}}, "z": {"command": "z"}}}
    assert settings(low, None, high).agents == {
        "pi": AgentSpec("pi", ("b", "c"), {"A": "1", "B": "2"}),
        "z": AgentSpec("z"),
    }


def test_null_leaves_what_is_below() -> None:
    assert settings({"follow": {"on": True}}, {"follow": {"on": None}}).follow_on


def test_a_wrong_value_leaves_what_is_below() -> None:
    found, warnings = parse(
        ({"follow": {"idleSeconds": 5}}, {"follow": {"idleSeconds": "x"}}), DEMO
    )
    assert found.idle_seconds == 5
    assert warnings == ("follow.idleSeconds must be a number of seconds, 0 or more; it is ignored",)


def test_the_first_agent_is_the_default() -> None:
    agents = {"b": {"command": "b"}, "a": {"command": "a"}}
    assert settings({"agents": agents}).default_agent == "b"


def test_the_demo_agent_can_be_changed_in_part() -> None:
    found = settings({"agents": {"demo": {"protocol": 1}}})
    assert found.agents == {"demo": replace(DEMO, protocol=1)}
    mine = settings({"agents": {"demo": {"command": "mine"}}})
    assert mine.agents == {"demo": AgentSpec("mine")}


def test_dotted_keys_are_unfolded() -> None:
    flat = {"follow.on": True, "follow": {"idleSeconds": 1}, "agents.pi": {"command": "pi"}}
    found = settings(flat)
    assert (found.follow_on, found.idle_seconds) == (True, 1)
    assert found.agents == {"pi": AgentSpec("pi")}


@pytest.mark.parametrize(
    ("key", "value", "wanted"),
    [
        ("defaultAgent", "", "a string that is not empty"),
        ("questions.dialogs", "yes", '"auto", true or false'),
        ("questions.dialogs", 1, '"auto", true or false'),
        ("follow.on", 1, "true or false"),
        ("follow.idleSeconds", True, "a number of seconds, 0 or more"),
        ("follow.idleSeconds", -1, "a number of seconds, 0 or more"),
        ("session.cancelSeconds", float("nan"), "a number of seconds, 0 or more"),
        ("session.cancelSeconds", float("inf"), "a number of seconds, 0 or more"),
        ("client.dialogs", "on", "true or false"),
        ("agents.demo.command", " ", "a string that is not empty"),
        ("agents.demo.command", ["npx", "pi"], "a string that is not empty"),
        ("agents.demo.command", "pi\0", "a string that is not empty"),
        ("agents.demo.args", "--acp", "a list of strings"),
        ("agents.demo.args", [1], "a list of strings"),
        ("agents.demo.env.PORT", 8080, "a string"),
        ("agents.demo.env.A=B", "x", "named like an environment variable"),
        ("agents.demo.cwd", 3, "a string that is not empty"),
        ("agents.demo.protocol", True, '"auto", 1 or 2'),
        ("agents.demo.protocol", 1.0, '"auto", 1 or 2'),
        ("agents.demo.protocol", 3, '"auto", 1 or 2'),
        ("agents.demo.protocol", "2", '"auto", 1 or 2'),
        ("agents.demo.maxLineBytes", 0, "a whole number of bytes, 1 or more"),
        ("agents.demo.maxLineBytes", True, "a whole number of bytes, 1 or more"),
        ("agents.demo.authMethod", "", "a string that is not empty"),
        ("agents.demo.options.model", 3, "a string, true or false"),
        ("agents.demo.options. ", "x", "named by a string that is not empty"),
        ("agents.demo.pathMap./here", "there", "an absolute path of the agent's machine"),
        ("agents.demo.pathMap./here", 1, "an absolute path of the agent's machine"),
        ("agents.demo.pathMap.here", "/there", "an absolute path of the editor's machine"),
        ("agents.demo.systemPrompt", " ", SYSTEM_PROMPT),
        ("agents.demo.systemPrompt", {"text": "x"}, SYSTEM_PROMPT),
        ("agents.demo.systemPrompt", {"mode": "append", "text": ""}, SYSTEM_PROMPT),
        ("agents.demo.systemPrompt", {"mode": "before", "text": "x"}, SYSTEM_PROMPT),
        ("environment.loginShell", "yes", '"auto", true or false'),
        ("mcpServers.m.type", "ws", '"stdio", "http" or "sse"'),
        ("mcpServers.m.type", [], '"stdio", "http" or "sse"'),
        ("mcpServers.m.enabled", 1, "true or false"),
        ("mcpServers.m.headers", {"": "x"}, None),
    ],
)
def test_a_wrong_value_is_one_warning_and_the_default(
    key: str, value: Any, wanted: str | None
) -> None:
    found, warnings = parse(({key: value}, {"mcpServers": {"m": {"enabled": False}}}), DEMO)
    if wanted is None:
        key, wanted = f'{key}.""', "named by a string that is not empty"
    assert warnings == (f"{key} must be {wanted}; it is ignored",)
    assert found == settings()


@pytest.mark.parametrize("layer", [[], "follow", 3, True])
def test_a_layer_that_is_no_object_is_ignored(layer: object) -> None:
    assert warned(layer) == ["the settings must be an object; ignored"]


@pytest.mark.parametrize(
    "key",
    [
        *("agents", "agents.pi", "follow", "client", "agents.demo.env", "environment"),
        *("mcpServers", "mcpServers.m", "agents.demo.mcpServers"),
        *("agents.demo.options", "agents.demo.pathMap"),
    ],
)
def test_what_should_be_an_object_and_is_not(key: str) -> None:
    assert warned({key: 3}) == [f"{key} must be an object; ignored"]


@pytest.mark.parametrize(
    ("key", "hint"),
    [
        ("folow", 'did you mean "follow"?'),
        ("default_agent", 'did you mean "defaultAgent"?'),
        ("follow.idle-seconds", 'did you mean "follow.idleSeconds"?'),
        ("idleSeconds", 'did you mean "follow.idleSeconds"?'),
        ("dialogs", 'did you mean "questions.dialogs"?'),
        ("agents.demo.comand", 'did you mean "agents.demo.command"?'),
        ("zzz", "it is ignored"),
    ],
)
def test_an_unknown_key_names_the_nearest_right_one(key: str, hint: str) -> None:
    assert warned({key: True}) == [f'unknown setting "{key}"; {hint}']


@pytest.mark.parametrize(
    "key",
    [
        "prompt.unsaved",
        "records.on",
    ],
)
def test_a_key_without_effect_says_so(key: str) -> None:
    assert warned({key: "x"}) == [f"{key} has no effect in this version"]
    assert warned({key: None}) == []


def test_an_agent_without_a_command_is_left_out() -> None:
    assert warned({"agents": {"pi": {"args": []}}}) == [
        "agents.pi.command is missing; the agent is left out"
    ]


def test_a_known_agent_lends_what_its_entry_leaves_out() -> None:
    known = {"claude": AgentSpec("claude-acp", ("--acp",))}
    entry = {"env": {"A": "1"}, "protocol": 1}
    found, warnings = parse(({"agents": {"claude": entry}},), DEMO, known)
    assert (found.agents, warnings) == (
        {"claude": AgentSpec("claude-acp", ("--acp",), {"A": "1"}, protocol=1)},
        (),
    )
    found, _ = parse(({"agents": {"claude": {"command": "mine"}}},), DEMO, known)
    assert found.agents == {"claude": AgentSpec("mine")}


def test_a_known_agent_is_not_there_unless_it_is_named() -> None:
    assert set(parse((), DEMO, {"claude": AgentSpec("claude-acp")})[0].agents) == {"demo"}


def test_an_agent_without_a_command_is_told_of_a_known_one_like_it() -> None:
    _, warnings = parse(({"agents": {"cluade": {}}},), DEMO, {"claude": AgentSpec("claude-acp")})
    assert warnings == (
        "agents.cluade.command is missing; the agent is left out; did you mean agents.claude?",
    )


def test_a_system_prompt_that_is_a_text_is_appended() -> None:
    found = settings({"agents": {"demo": {"systemPrompt": "Be brief."}}})
    assert found.agents["demo"].system_prompt == SystemPrompt("append", "Be brief.")


# --- MCP servers ---------------------------------------------------------------------


def servers(common: object, own: object = None) -> tuple[McpServer, ...]:
    layer = {"mcpServers": common, "agents": {"demo": {"mcpServers": own}}}
    return settings(layer).agents["demo"].mcp_servers


def test_an_mcp_server_arrives_with_all_it_has() -> None:
    local = {"command": "/bin/m", "args": ["-v"], "env": {"A": "1", "B": ""}}
    remote = {"url": "https://m.example", "headers": {"Authorization": "Bearer x"}}
    assert servers({"local": local, "remote": remote, "old": {"type": "sse", "url": "u"}}) == (
        McpServer("local", "stdio", "/bin/m", ("-v",), (("A", "1"), ("B", ""))),
        McpServer(
            "remote",
            "http",
            url="https://m.example",
            headers=(("Authorization", "Bearer x"),),
        ),
        McpServer("old", "sse", url="u"),
    )


def test_an_agents_own_mcp_servers_lie_over_those_of_all() -> None:
    common = {"a": {"command": "a"}, "b": {"command": "b", "args": ["x"]}}
    own = {"a": {"enabled": False}, "b": {"args": ["y"]}, "c": {"command": "c"}}
    assert servers(common, own) == (
        McpServer("b", "stdio", "b", ("y",)),
        McpServer("c", "stdio", "c"),
    )
    with_other = {"agents": {"demo": {"mcpServers": own}, "pi": {"command": "pi"}}}
    found = settings({"mcpServers": common}, with_other)
    assert [server.name for server in found.agents["pi"].mcp_servers] == ["a", "b"]


@pytest.mark.parametrize(
    ("entry", "problem"),
    [
        ({}, "must have a command or a url"),
        ({"command": "m", "url": "u"}, "must have a command or a url, not both"),
        ({"command": "m", "type": "http"}, "is of type http and must have a url"),
        ({"url": "u", "type": "stdio"}, "is of type stdio and must have a command"),
    ],
)
def test_an_mcp_server_that_cannot_be_is_left_out(entry: object, problem: str) -> None:
    found, warnings = parse(({"mcpServers": {"m": entry, "n": {"command": "n"}}},), DEMO)
    assert found.agents["demo"].mcp_servers == (McpServer("n", "stdio", "n"),)
    assert warnings == (f"agents.demo.mcpServers.m {problem}; it is left out",)


def test_an_mcp_server_that_is_switched_off_needs_nothing_else() -> None:
    assert servers({"m": {"enabled": False}}) == ()


# --- names ---------------------------------------------------------------------------


def test_an_agent_needs_a_name() -> None:
    assert warned({"agents": {"": {"command": "pi"}}}) == [
        'agents."" must be named by a string that is not empty; it is ignored'
    ]


@pytest.mark.parametrize(
    ("command", "is_line"),
    [
        ("npx -y pi", True),
        ("python agent.py", True),
        ("/usr/bin/python -m agent", True),
        ("/usr/bin/python /srv/agent.py", True),
        ("/opt/My Tools/agent", False),
        (r"C:\Program Files\agent.exe", False),
        ("pi", False),
    ],
)
def test_a_shell_line_is_taken_as_it_is_with_a_warning(command: str, is_line: bool) -> None:
    found, warnings = parse(({"agents": {"pi": {"command": command}}},), DEMO)
    assert found.agents == {"pi": AgentSpec(command)}
    advice = "agents.pi.command is one program; put its arguments in args"
    assert warnings == ((advice,) if is_line else ())


def test_a_default_agent_that_is_not_there() -> None:
    agents = {"claude": {"command": "c"}, "pi": {"command": "p"}}
    found, warnings = parse(({"agents": agents, "defaultAgent": "cluade"},), DEMO)
    assert found.default_agent == "claude"
    assert warnings == ('defaultAgent is none of agents; did you mean "claude"?',)
    found, warnings = parse(({"agents": agents, "defaultAgent": "zzz"},), DEMO)
    assert found.default_agent == "claude"
    assert warnings == ('defaultAgent is none of agents; "claude" is used',)


def test_the_same_warning_of_two_layers_is_given_once() -> None:
    assert len(warned({"zzz": 1}, {"zzz": 1})) == 1


def test_a_warning_is_one_short_line_whatever_the_key() -> None:
    (warning,) = warned({"a\nb\x1b[31m" + 500 * "c": 1})
    assert warning.isprintable()
    assert len(warning) <= 80


@settings_of_hypothesis(max_examples=60)
@given(st.lists(JSON, max_size=3))
def test_any_json_gives_usable_settings(layers: list[object]) -> None:
    found, warnings = parse(layers, DEMO)
    assert found.default_agent in found.agents
    assert all(warning.isprintable() for warning in warnings)
    assert parse([*layers, *layers], DEMO)[0].agents == found.agents


def test_it_imports_quickly() -> None:
    slow = "{'pydantic', 'lsprotocol', 'pygls', 'anyio', 'asyncio', 'rich'}"
    code = f"import sys, acpls.settings; print(sorted({slow} & set(sys.modules)))"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout == "[]\n"
