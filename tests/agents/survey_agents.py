"""The agents that the survey drives: where each is from, how it starts, what it wants to find."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

import agents_known as known
import install
import survey_homes as homes
from agents_known import OURS
from install import Npm, PyPI
from survey_homes import MODEL

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from model_script import Turn

    Prepare: TypeAlias = Callable[[Path, str], Mapping[str, str]]


@dataclass(frozen=True, slots=True)
class Surveyed:
    """An agent of the survey.

    ``version`` is how the table names what was installed. ``arguments`` follow the package's
    command, ``{source}`` being where the archive of ``source`` was unpacked. ``options`` are
    set in its first session. ``edits`` are the model's turns when it is to edit a file, where
    they cannot be told from its tools; its arguments are the file, the old and the new text.
    ``answers``: it says what a model says, and not something of its own.
    """

    name: str
    package: Npm | PyPI
    version: str
    arguments: tuple[str, ...] = ()
    prepare: Prepare = homes.nothing
    options: Mapping[str, str] = field(default_factory=dict)
    edits: Callable[[Path, str, str], Sequence[Turn]] | None = None
    source: str = ""
    answers: bool = True


PYTHON_12 = (12, 13)
ANY_PYTHON = (12, 13, 11)
EXAMPLES = PyPI("acp-sdk-0.12", "agent-client-protocol==0.12.1", "python")
CROW = PyPI("crow-cli", "crow-cli==0.1.48", "crow-cli", (13, 14))
# The program of this version only says that it is no longer cared for; its code is still there.
KIMI = "import sys; sys.argv = ['kimi', 'acp']; from kimi_cli.cli import cli; cli()"

AGENTS = (
    # Those that CI drives.
    Surveyed("claude", install.CLAUDE, "claude-agent-acp 0.101.0", (), known.claude_home),
    Surveyed("opencode", install.OPENCODE, "opencode-ai 1.18.33", ("acp",), known.opencode_home),
    Surveyed("gemini", install.GEMINI, "@google/gemini-cli 0.61.0", ("--acp",), known.gemini_home),
    Surveyed("pilc", install.PILC, "pi-agent-cli-lc 0.6.0", (), known.pilc_home),
    Surveyed(
        "dual",
        install.SDK,
        "ours on agent-client-protocol 1.0.0rc3",
        (str(OURS / "coder_dual.py"),),
        known.own_home,
    ),
    Surveyed(
        "tantra",
        install.TANTRA,
        "ours on tantra-harness 2.2.0",
        (str(OURS / "coder_tantra.py"),),
        known.own_home,
    ),
    Surveyed(
        "fast-agent",
        install.FAST_AGENT,
        "fast-agent-mcp 0.10.48",
        ("acp", "--model", f"generic.{MODEL}", "-x"),
        homes.generic,
    ),
    # From npm.
    Surveyed(
        "claude-old",
        Npm(
            "claude-old",
            "@zed-industries/claude-agent-acp@0.23.1",
            ".bin/claude-agent-acp",
        ),
        "@zed-industries/claude-agent-acp 0.23.1",
        (),
        known.claude_home,
    ),
    Surveyed(
        "codex",
        Npm("codex", "@agentclientprotocol/codex-acp@2.6.0", ".bin/codex-acp"),
        "@agentclientprotocol/codex-acp 2.6.0",
        (),
        homes.codex_home,
    ),
    Surveyed(
        "codex-old",
        Npm("codex-old", "@zed-industries/codex-acp@0.16.0", ".bin/codex-acp"),
        "@zed-industries/codex-acp 0.16.0",
        (),
        homes.codex_home,
    ),
    Surveyed(
        "qwen",
        Npm("qwen-code", "@qwen-code/qwen-code@0.24.4", ".bin/qwen"),
        "@qwen-code/qwen-code 0.24.4",
        ("--acp",),
        homes.qwen_home,
    ),
    Surveyed(
        "copilot",
        Npm("copilot", "@github/copilot@1.0.102", ".bin/copilot"),
        "@github/copilot 1.0.102",
        ("--acp",),
        homes.copilot_home,
    ),
    Surveyed(
        "pi",
        Npm("pi-acp", "pi-acp@0.0.34 @earendil-works/pi-coding-agent@1.6.0", ".bin/pi-acp"),
        "pi-acp 0.0.34, @earendil-works/pi-coding-agent 1.6.0",
        (),
        homes.pi_home,
    ),
    Surveyed(
        "cline",
        Npm("cline", "cline@3.0.65", ".bin/cline"),
        "cline 3.0.65",
        ("--acp",),
        homes.cline_home,
    ),
    Surveyed(
        "auggie",
        Npm("auggie", "@augmentcode/auggie@0.36.0", ".bin/auggie"),
        "@augmentcode/auggie 0.36.0",
        ("--acp",),
    ),
    Surveyed(
        "sdk-example-npm",
        Npm(
            "acp-sdk-npm",
            "@agentclientprotocol/sdk@0.13.1",
            "@agentclientprotocol/sdk/dist/examples/agent.js",
        ),
        "@agentclientprotocol/sdk 0.13.1, its example",
        answers=False,
    ),
    # From PyPI.
    Surveyed(
        "sdk-echo",
        EXAMPLES,
        "agent-client-protocol 0.12.1, its echo_agent.py",
        ("{source}/examples/echo_agent.py",),
        source="agent-client-protocol==0.12.1",
        answers=False,
    ),
    Surveyed(
        "sdk-example",
        EXAMPLES,
        "agent-client-protocol 0.12.1, its agent.py",
        ("{source}/examples/agent.py",),
        source="agent-client-protocol==0.12.1",
        answers=False,
    ),
    Surveyed(
        "vibe",
        # It pins a certifi of which only a later build can be had.
        PyPI("mistral-vibe", "mistral-vibe==3.0.3", "vibe-acp", PYTHON_12, "certifi>=2026.1"),
        "mistral-vibe 3.0.3",
        (),
        homes.vibe_home,
    ),
    Surveyed(
        "kimi",
        PyPI("kimi-cli", "kimi-cli==1.52.0", "python", (13, 12)),
        "kimi-cli 1.52.0",
        ("-c", KIMI),
        homes.kimi_home,
    ),
    Surveyed(
        "hermes",
        PyPI("hermes-agent", "hermes-agent[acp]==0.19.0", "hermes-acp", ANY_PYTHON),
        "hermes-agent 0.19.0",
        (),
        homes.hermes_home,
    ),
    Surveyed(
        "agentao",
        PyPI("agentao", "agentao==0.5.17", "agentao", ANY_PYTHON),
        "agentao 0.5.17",
        ("--acp", "--stdio"),
        homes.agentao_home,
    ),
    Surveyed(
        "deepagents",
        PyPI("deepagents-acp", "deepagents-acp==0.0.13 langchain-openai", "python", ANY_PYTHON),
        "ours on deepagents-acp 0.0.13",
        (str(OURS / "coder_deepagents.py"),),
        homes.deepagents_home,
    ),
    Surveyed(
        "openhands",
        PyPI("openhands", "openhands==1.16.0", "python", (12,)),
        "openhands 1.16.0",
        (str(OURS / "start_openhands.py"),),
        homes.litellm_home,
    ),
    Surveyed(
        "gptme",
        PyPI("gptme", "gptme[acp]==0.35.1", "gptme-acp", ANY_PYTHON),
        "gptme 0.35.1",
        (),
        homes.gptme_home,
        edits=homes.gptme_edits,
    ),
    Surveyed(
        "isaac",
        PyPI("isaac-acp", "isaac-acp==0.4.0 httpx", "isaac", ANY_PYTHON),
        "isaac-acp 0.4.0",
        (),
        homes.openai,
        {"model": "openai:gpt-4o"},
    ),
    Surveyed(
        "nooa",
        PyPI("nooa-acp", "nooa-acp==0.0.10", "nooa-acp", PYTHON_12),
        "nooa-acp 0.0.10",
        ("--model", f"openai/{MODEL}"),
        homes.litellm_home,
    ),
    Surveyed(
        "yycode",
        PyPI("yycode", "yycode==0.3.7", "yycode", ANY_PYTHON),
        "yycode 0.3.7",
        ("--acp",),
        homes.yycode_home,
    ),
    Surveyed("crow", CROW, "crow-cli 0.1.48, version 1", ("acp",), homes.crow_home),
    Surveyed("crow2", CROW, "crow-cli 0.1.48, version 2", ("acp2",), homes.crow_home),
    Surveyed(
        "pydantic-acp",
        PyPI("pydantic-acp", "pydantic-acp==1.10.0 acpkit==1.10.0", "python", ANY_PYTHON),
        "ours on pydantic-acp 1.10.0",
        (str(OURS / "coder_pydantic.py"),),
        known.own_home,
    ),
)
