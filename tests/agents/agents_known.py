"""The agents of other people that the tests drive, and what each needs to work offline."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import install

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

Json: TypeAlias = dict[str, Any]

OURS = Path(__file__).parent


@dataclass(frozen=True, slots=True)
class RealAgent:
    """An agent, how it is started, and what it needs to know of its model.

    ``allow`` and ``reject`` are the ids of its options for one permission. ``prepare`` writes
    the files that it wants to find in its home and gives the environment; its arguments are
    that home and the address of the model server. ``command`` is None where it is not installed.

    ``tells_kinds``: its tool calls have the kind that they are of. ``goes_on``: when a tool is
    refused it asks its model what to do now, where others end the turn. ``tells_refusals``: it
    says so when a tool call has failed for that, where others say no more of it.
    """

    name: str
    package: str
    protocol: Literal["auto", 1, 2]
    allow: str
    reject: str
    command: list[str] | None
    prepare: Callable[[Path, str], Mapping[str, str]]
    tells_kinds: bool = True
    goes_on: bool = True
    tells_refusals: bool = True

    def setting(self, home: Path, model: str) -> Json:
        """The agent's entry in the settings."""
        assert self.command is not None  # tests of a missing agent are not collected
        program, *arguments = self.command
        env = dict(self.prepare(home, model))
        return {"command": program, "args": arguments, "env": env, "protocol": self.protocol}


def write(file: Path, content: Json | str) -> None:
    """Put a file where an agent looks for it."""
    file.parent.mkdir(parents=True, exist_ok=True)
    text = content if isinstance(content, str) else json.dumps(content)
    file.write_text(text, encoding="utf-8")


def claude_home(home: Path, model: str) -> dict[str, str]:
    config = home / "claude"
    # Left to itself it starts in a mode in which the model decides what is allowed.
    write(config / "settings.json", {"permissions": {"defaultMode": "default"}})
    return {
        "ANTHROPIC_API_KEY": "none",
        "ANTHROPIC_BASE_URL": model,
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        "CLAUDE_CONFIG_DIR": str(config),
        "DISABLE_AUTOUPDATER": "1",
    }


def opencode_home(home: Path, model: str) -> dict[str, str]:
    limits = {"context": 100_000, "output": 8_000}
    provider = {
        "npm": "@ai-sdk/openai-compatible",
        "name": "Tests",
        "options": {"baseURL": f"{model}/v1", "apiKey": "none"},
        "models": {"scripted": {"name": "Scripted", "tool_call": True, "limit": limits}},
    }
    config = {
        "provider": {"tests": provider},
        "model": "tests/scripted",
        "small_model": "tests/scripted",
        "autoupdate": False,
        "share": "disabled",
        # Left to itself it asks for nothing inside of the project.
        "permission": {"edit": "ask", "bash": "ask"},
    }
    write(home / ".config" / "opencode" / "opencode.json", config)
    return {
        "OPENCODE_DISABLE_AUTOUPDATE": "1",
        "OPENCODE_DISABLE_LSP_DOWNLOAD": "1",
        "OPENCODE_DISABLE_MODELS_FETCH": "1",
    }


def gemini_home(home: Path, model: str) -> dict[str, str]:
    config = {
        "general": {"disableAutoUpdate": True, "enableAutoUpdate": False},
        "privacy": {"usageStatisticsEnabled": False},
        "security": {"auth": {"selectedType": "gemini-api-key"}, "folderTrust": {"enabled": False}},
        "telemetry": {"enabled": False},
    }
    write(home / ".gemini" / "settings.json", config)
    return {
        "GEMINI_API_KEY": "none",
        "GEMINI_CLI_TRUST_WORKSPACE": "true",
        "GOOGLE_GEMINI_BASE_URL": model,
    }


def pilc_home(home: Path, model: str) -> dict[str, str]:
    lines = {
        "provider": "openai",
        "model_id": "scripted",
        "id": "scripted",
        "base_url": f"{model}/v1",
        "api_key_env": "MODEL_KEY",
    }
    # A string of JSON is one of TOML too.
    text = "".join(f"{key} = {json.dumps(value)}\n" for key, value in lines.items())
    write(home / ".pi-python" / "agent.toml", f"[model]\n{text}")
    return {"MODEL_KEY": "none"}


def fast_agent_home(home: Path, model: str) -> dict[str, str]:
    return {"FAST_AGENT_HOME": str(home / "fast-agent")}


def own_home(home: Path, model: str) -> dict[str, str]:
    """For our agents on other people's libraries."""
    return {"MODEL_URL": model}


def started(package: install.Npm | install.PyPI, *arguments: str) -> list[str] | None:
    """The command line of a package with these arguments, where it is installed."""
    command = package.command()
    return command and [*command, *arguments]


CLAUDE_1 = RealAgent(
    "claude", "claude-agent-acp", 1, "allow-once", "reject", install.CLAUDE.command(), claude_home
)
CLAUDE_2 = replace(CLAUDE_1, protocol=2)
OPENCODE = RealAgent(
    "opencode",
    "opencode-ai",
    1,
    "once",
    "reject",
    started(install.OPENCODE, "acp"),
    opencode_home,
    goes_on=False,
)
GEMINI = RealAgent(
    "gemini",
    "gemini-cli",
    1,
    "proceed_once",
    "cancel",
    started(install.GEMINI, "--acp"),
    gemini_home,
    tells_refusals=False,
)
PILC = RealAgent(
    "pilc", "pi-agent-cli-lc", 1, "allow-once", "reject-once", install.PILC.command(), pilc_home
)
DUAL_1 = RealAgent(
    "dual",
    "agent-client-protocol",
    1,
    "allow-it",
    "reject-it",
    started(install.SDK, str(OURS / "coder_dual.py")),
    own_home,
)
DUAL_2 = replace(DUAL_1, protocol=2)
TANTRA = RealAgent(
    "tantra",
    "tantra-harness",
    2,
    "allow",
    "deny",
    started(install.TANTRA, str(OURS / "coder_tantra.py")),
    own_home,
    tells_kinds=False,
)
FAST_AGENT = RealAgent(
    "fast-agent",
    "fast-agent-mcp",
    1,
    "allow_once",
    "reject_once",
    # With a model inside that does what the prompt says, and no more.
    started(install.FAST_AGENT, "acp", "--model", "passthrough", "-x"),
    fast_agent_home,
)
