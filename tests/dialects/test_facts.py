"""What agents say of themselves in ``initialize``, by version: abilities and ways to log in."""

from __future__ import annotations

from typing import Any

import pytest

from acpls.client.v1 import DialectV1
from acpls.client.v2 import DialectV2
from acpls.session.asks import AgentFacts, AuthMethod

INFO = {"name": "n", "version": "2", "title": "N"}


def facts_1(methods: Any = (), **capabilities: Any) -> AgentFacts:
    result = {
        "protocolVersion": 1,
        "agentInfo": INFO,
        "agentCapabilities": capabilities,
        "authMethods": list(methods),
    }
    return DialectV1("a").facts(result)


def facts_2(methods: Any = (), **session: Any) -> AgentFacts:
    result = {
        "protocolVersion": 2,
        "info": INFO,
        "capabilities": {"session": session},
        "authMethods": list(methods),
    }
    return DialectV2("a").facts(result)


class TestAbilities:
    def test_everything_in_version_1(self) -> None:
        objects = ["list", "resume", "close", "delete", "additionalDirectories", "fork", "title"]
        facts = facts_1(
            loadSession=True,
            promptCapabilities={"image": True, "audio": True, "embeddedContext": True},
            mcpCapabilities={"http": True, "sse": True},
            sessionCapabilities={
                **{name: {} for name in objects},
                "systemPrompt": {"mode": {"override": {}}},
            },
            auth={"logout": {}},
        )
        assert facts == AgentFacts(
            "n",
            "2",
            1,
            "N",
            images=True,
            audio=True,
            embedded_context=True,
            can_close=True,
            can_list=True,
            can_resume=True,
            can_replay=True,
            can_delete=True,
            can_fork=True,
            can_set_title=True,
            can_log_out=True,
            takes_directories=True,
            system_prompts=frozenset({"append", "override"}),
            mcp=frozenset({"stdio", "http", "sse"}),
        )

    def test_everything_in_version_2(self) -> None:
        facts = facts_2(
            [{"type": "agent", "methodId": "m", "name": "M"}],
            prompt={"image": {}, "audio": {}, "embeddedContext": {}},
            mcp={"stdio": {}, "http": {}, "sse": {}},
            delete={},
            additionalDirectories={},
            systemPrompt={"mode": {"override": {}}},
            fork={},
            title={},
        )
        assert facts == AgentFacts(
            "n",
            "2",
            2,
            "N",
            images=True,
            audio=True,
            embedded_context=True,
            can_close=True,
            can_list=True,
            can_resume=True,
            can_replay=True,
            can_delete=True,
            can_fork=True,
            can_set_title=True,
            can_log_out=True,
            takes_directories=True,
            system_prompts=frozenset({"append", "override"}),
            mcp=frozenset({"stdio", "http"}),
            withdraws_questions=True,
            auth_methods=(AuthMethod("m", "M"),),
        )

    @pytest.mark.parametrize("no", [None, False, "yes", 1, []])
    def test_what_is_malformed_is_not_there(self, no: Any) -> None:
        first = facts_1(
            loadSession=no or None,
            promptCapabilities={"image": no, "audio": no or "yes", "embeddedContext": no},
            mcpCapabilities={"http": no or 1, "sse": no},
            sessionCapabilities={
                "list": no,
                "close": no,
                "delete": no,
                "fork": no,
                "systemPrompt": no,
            },
            auth={"logout": no},
        )
        assert first == AgentFacts("n", "2", 1, "N", mcp=frozenset({"stdio"}))
        second = facts_2(
            prompt={"image": no}, mcp={"stdio": no}, delete=no, systemPrompt=no, title=no
        )
        assert second == AgentFacts(
            "n",
            "2",
            2,
            "N",
            can_close=True,
            can_list=True,
            can_resume=True,
            can_replay=True,
            withdraws_questions=True,
        )

    @pytest.mark.parametrize("no", [None, 3])
    def test_malformed_groups_count_as_empty(self, no: Any) -> None:
        first = facts_1(promptCapabilities=no, mcpCapabilities=no, sessionCapabilities=no, auth=no)
        assert first == AgentFacts("n", "2", 1, "N", mcp=frozenset({"stdio"}))
        assert not facts_2(prompt=no, mcp=no).mcp

    @pytest.mark.parametrize("mode", [{}, None, {"mode": {}}, {"mode": {"override": None}}])
    def test_a_system_prompt_may_not_replace_the_agent_s(self, mode: Any) -> None:
        given = {} if mode is None else mode
        first = facts_1(sessionCapabilities={"systemPrompt": given})
        assert first.system_prompts == {"append"}
        assert facts_2(systemPrompt=given).system_prompts == {"append"}

    def test_loading_will_do_for_resuming(self) -> None:
        loads = facts_1(loadSession=True)
        assert (loads.can_resume, loads.can_replay) == (True, True)
        resumes = facts_1(sessionCapabilities={"resume": {}})
        assert (resumes.can_resume, resumes.can_replay) == (True, False)

    def test_without_sessions_there_is_nothing_to_do_with_them(self) -> None:
        facts = DialectV2("a").facts({"protocolVersion": 2, "info": INFO, "capabilities": {}})
        assert facts == AgentFacts("n", "2", 2, "N", withdraws_questions=True)


class TestAuthMethods:
    """Shapes that real agents were seen to send, and those of the schemas (A02)."""

    @pytest.mark.parametrize(
        ("sent", "read"),
        [
            (
                {"id": "m", "name": "M", "description": "d"},
                AuthMethod("m", "M", "agent", "d"),
            ),
            (
                {"id": "m", "name": "M", "type": "agent", "description": 3},
                AuthMethod("m", "M"),
            ),
            (
                {
                    "id": "m",
                    "name": "M",
                    "type": "terminal",
                    "args": ["--setup"],
                    "env": {"A": "1"},
                },
                AuthMethod("m", "M", "terminal", args=("--setup",), env=(("A", "1"),)),
            ),
            (
                {"id": "m", "name": "M", "type": "terminal", "args": None, "env": None},
                AuthMethod("m", "M", "terminal"),
            ),
            (
                {
                    "id": "m",
                    "name": "M",
                    "type": "env_var",
                    "vars": [{"name": "KEY"}, "URL", 3, {}],
                },
                AuthMethod("m", "M", "env_var", variables=("KEY", "URL")),
            ),
            (
                {"id": "m", "name": "M", "type": "handshake", "vars": "none"},
                AuthMethod("m", "M", "handshake"),
            ),
            (
                {"id": "m", "name": "M", "type": 3},
                AuthMethod("m", "M"),
            ),
            (
                {
                    "id": "login",
                    "name": "M",
                    "_meta": {
                        "terminal-auth": {
                            "command": "kimi",
                            "args": ["login"],
                            "label": "Log in",
                            "env": {"A": "1"},
                            "type": "terminal",
                        }
                    },
                },
                AuthMethod(
                    "login", "M", "terminal", None, "kimi", args=("login",), env=(("A", "1"),)
                ),
            ),
            (
                {"id": "m", "name": "M", "_meta": {"terminal-auth": {"command": "c"}}},
                AuthMethod("m", "M", "terminal", command="c"),
            ),
            (
                # The type says more than the hint.
                {
                    "id": "m",
                    "name": "M",
                    "type": "terminal",
                    "args": ["--cli"],
                    "_meta": {"terminal-auth": {"command": "node", "args": ["x", "--cli"]}},
                },
                AuthMethod("m", "M", "terminal", args=("--cli",)),
            ),
            (
                {"id": "m", "name": "M", "_meta": {"type": "agent"}},
                AuthMethod("m", "M"),
            ),
            (
                {"id": "m", "name": "M", "_meta": {"type": "env_var"}, "vars": ["KEY"]},
                AuthMethod("m", "M", "env_var", variables=("KEY",)),
            ),
            (
                {
                    "id": "m",
                    "name": "M",
                    "_meta": {"agent-auth": {}, "terminal-auth": {"command": "c"}},
                },
                AuthMethod("m", "M"),
            ),
            (
                {
                    "id": "m",
                    "name": "M",
                    "_meta": {"agent-auth": False, "terminal-auth": {"command": "c"}},
                },
                AuthMethod("m", "M", "terminal", command="c"),
            ),
            (
                {"id": "m", "name": "M", "_meta": {"terminal-auth": {"args": ["no command"]}}},
                AuthMethod("m", "M"),
            ),
            (
                {"id": "m", "name": "M", "_meta": {"api-key": {"provider": "google"}}},
                AuthMethod("m", "M"),
            ),
        ],
    )
    def test_in_version_1(self, sent: dict[str, Any], read: AuthMethod) -> None:
        assert facts_1([sent]).auth_methods == (read,)

    @pytest.mark.parametrize(
        ("sent", "read"),
        [
            (
                {"type": "agent", "methodId": "m", "name": "M", "description": "d"},
                AuthMethod("m", "M", "agent", "d"),
            ),
            (
                {
                    "type": "terminal",
                    "methodId": "m",
                    "name": "M",
                    "args": ["--cli"],
                    "env": [{"name": "A", "value": "1"}],
                },
                AuthMethod("m", "M", "terminal", args=("--cli",), env=(("A", "1"),)),
            ),
            ({"type": "terminal", "methodId": "m", "name": "M"}, AuthMethod("m", "M", "terminal")),
            ({"type": "_own", "methodId": "m", "name": "M"}, AuthMethod("m", "M", "_own")),
            ({"methodId": "m", "name": "M"}, AuthMethod("m", "M")),
        ],
    )
    def test_in_version_2(self, sent: dict[str, Any], read: AuthMethod) -> None:
        assert facts_2([sent]).auth_methods == (read,)

    @pytest.mark.parametrize(
        "broken",
        [
            None,
            "key",
            {"name": "M"},
            {"id": "", "methodId": "", "name": "M"},
            {"id": "m", "methodId": "m"},
            {"id": "m", "methodId": "m", "name": "M", "type": "terminal", "args": "--cli"},
            {"id": "m", "methodId": "m", "name": "M", "type": "terminal", "env": [3]},
        ],
    )
    def test_what_cannot_be_read_is_left_out(self, broken: Any) -> None:
        good = {"id": "g", "methodId": "g", "name": "G"}
        read = (AuthMethod("g", "G"),)
        assert facts_1([broken, good]).auth_methods == read
        assert facts_2([broken, good]).auth_methods == read
