"""What the agents of the survey want to find in their home and in their environment.

Each function writes the files and gives the variables; its arguments are the home and the
address of the model server.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from agents_known import write
from model_script import Say

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from model_script import Turn

KEY = "none"
MODEL = "scripted"


def nothing(home: Path, model: str) -> dict[str, str]:
    """For agents that want nothing."""
    return {}


def qwen_home(home: Path, model: str) -> dict[str, str]:
    config = {
        "general": {"disableAutoUpdate": True, "enableAutoUpdate": False},
        "model": {"name": MODEL},
        "privacy": {"usageStatisticsEnabled": False},
        "security": {"auth": {"selectedType": "openai"}, "folderTrust": {"enabled": False}},
        "telemetry": {"enabled": False},
        # Left to itself it has a model decide what is allowed.
        "tools": {"approvalMode": "default"},
    }
    write(home / ".qwen" / "settings.json", config)
    return {**openai(home, model), "OPENAI_MODEL": MODEL}


def codex_home(home: Path, model: str) -> dict[str, str]:
    config = f"""
model = "gpt-5.4"
model_provider = "tests"
approval_policy = "on-request"
sandbox_mode = "danger-full-access"
check_for_update_on_startup = false
[model_providers.tests]
name = "Tests"
base_url = "{model}/v1"
wire_api = "responses"
env_key = "MODEL_KEY"
request_max_retries = 0
stream_max_retries = 0
[analytics]
enabled = false
"""
    write(home / ".codex" / "config.toml", config)
    return {
        "CODEX_HOME": str(home / ".codex"),
        "INITIAL_AGENT_MODE": "workspace-write",
        "MODEL_KEY": KEY,
        "NO_BROWSER": "1",
    }


def copilot_home(home: Path, model: str) -> dict[str, str]:
    return {
        "COPILOT_HOME": str(home / ".copilot"),
        "COPILOT_MODEL": MODEL,
        "COPILOT_OFFLINE": "true",
        "COPILOT_PROVIDER_API_KEY": KEY,
        "COPILOT_PROVIDER_BASE_URL": f"{model}/v1",
    }


def pi_home(home: Path, model: str) -> dict[str, str]:
    provider = {
        "api": "openai-completions",
        "apiKey": KEY,
        "baseUrl": f"{model}/v1",
        "models": [{"id": MODEL, "name": "Scripted"}],
    }
    write(home / ".pi" / "agent" / "models.json", {"providers": {"tests": provider}})
    chosen = {"defaultProvider": "tests", "defaultModel": MODEL}
    write(home / ".pi" / "agent" / "settings.json", chosen)
    return {"PI_OFFLINE": "1"}


def cline_home(home: Path, model: str) -> dict[str, str]:
    provider = {
        "settings": {
            "apiKey": KEY,
            "baseUrl": f"{model}/v1",
            "model": MODEL,
            "provider": "openai-compatible",
        },
        "tokenSource": "manual",
        "updatedAt": "2026-01-01T00:00:00.000Z",
    }
    config = {
        "lastUsedProvider": "openai-compatible",
        "modes": {},
        "providers": {"openai-compatible": provider},
        "version": 1,
    }
    write(home / ".cline" / "data" / "settings" / "providers.json", config)
    return {
        "CLINE_API_KEY": KEY,
        "CLINE_MODEL": MODEL,
        "CLINE_PROVIDER": "openai-compatible",
        "CLINE_TELEMETRY_DISABLED": "1",
    }


def openai(home: Path, model: str) -> dict[str, str]:
    """What most libraries for OpenAI's interface look at."""
    url = f"{model}/v1"
    return {"OPENAI_API_BASE": url, "OPENAI_API_KEY": KEY, "OPENAI_BASE_URL": url}


def generic(home: Path, model: str) -> dict[str, str]:
    """fast-agent's name for any other model."""
    return {"GENERIC_API_KEY": KEY, "GENERIC_BASE_URL": f"{model}/v1"}


def vibe_home(home: Path, model: str) -> dict[str, str]:
    config = f"""
active_model = "{MODEL}"
enable_telemetry = false
enable_update_checks = false
enable_auto_update = false
include_project_context = false
[[providers]]
name = "tests"
api_base = "{model}/v1"
api_key_env_var = "MODEL_KEY"
api_style = "openai"
backend = "generic"
[[models]]
name = "{MODEL}"
provider = "tests"
alias = "{MODEL}"
input_price = 0.0
output_price = 0.0
"""
    write(home / ".vibe" / "config.toml", config)
    return {"MISTRAL_API_KEY": KEY, "MODEL_KEY": KEY, "VIBE_HOME": str(home / ".vibe")}


def kimi_home(home: Path, model: str) -> dict[str, str]:
    config = f"""
default_model = "{MODEL}"
default_thinking = false
[providers.tests]
type = "openai_legacy"
base_url = "{model}/v1"
api_key = "{KEY}"
[models.{MODEL}]
provider = "tests"
model = "{MODEL}"
max_context_size = 100000
"""
    login = {
        "access_token": KEY,
        "refresh_token": KEY,
        "expires_at": 4_102_444_800,  # the year 2100
        "expires_in": 999_999_999,
        "scope": "kimi-code",
        "token_type": "Bearer",
    }
    write(home / ".kimi" / "config.toml", config)
    write(home / ".kimi" / "credentials" / "kimi-code.json", login)
    return {"KIMI_CLI_NO_AUTO_UPDATE": "1", "KIMI_SHARE_DIR": str(home / ".kimi")}


def hermes_home(home: Path, model: str) -> dict[str, str]:
    chosen = {"default": MODEL, "provider": "custom", "base_url": f"{model}/v1", "api_key": KEY}
    # JSON is YAML too.
    write(home / ".hermes" / "config.yaml", {"model": chosen})
    write(home / ".hermes" / ".env", f"OPENAI_API_KEY={KEY}\n")
    return {}


def agentao_home(home: Path, model: str) -> dict[str, str]:
    return {**openai(home, model), "LLM_PROVIDER": "OPENAI", "OPENAI_MODEL": MODEL}


def litellm_home(home: Path, model: str) -> dict[str, str]:
    offline = {"LITELLM_LOCAL_MODEL_COST_MAP": "True", "OPENHANDS_SUPPRESS_BANNER": "1"}
    return {**openai(home, model), **offline, "MODEL_URL": model}


def deepagents_home(home: Path, model: str) -> dict[str, str]:
    return {"LANGSMITH_TRACING": "false", "MODEL_URL": model}


def gptme_home(home: Path, model: str) -> dict[str, str]:
    env = {**openai(home, model), "MODEL": f"local/{MODEL}"}
    lines = "".join(f"{key} = {json.dumps(value)}\n" for key, value in env.items())
    about = 'about_user = "a test"\nresponse_preference = "short"\n'
    write(home / ".config" / "gptme" / "config.toml", f"[prompt]\n{about}\n[env]\n{lines}")
    return env


def yycode_home(home: Path, model: str) -> dict[str, str]:
    return {"AI_MODEL": MODEL, "API_BASE": f"{model}/v1", "API_KEY": KEY, "PROVIDER": "openai"}


def crow_home(home: Path, model: str) -> dict[str, str]:
    config = {
        "providers": {"tests": {"api_key": KEY, "base_url": f"{model}/v1"}},
        "models": {MODEL: {"provider": "tests", "model": MODEL}},
        "mcpServers": {},
    }
    write(home / ".agents" / "crow" / "config.yaml", config)
    return {}


def gptme_edits(file: Path, old: str, new: str) -> Sequence[Turn]:
    """It finds what to do in what the model says."""
    patch = f"<<<<<<< ORIGINAL\n{old}\n=======\n{new}\n>>>>>>> UPDATED"
    return [[Say(f"I edit it.\n\n```patch {file}\n{patch}\n```\n")], [Say("It is done.")]]
