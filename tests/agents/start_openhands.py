"""Starts openhands, which wants a file of settings that only its own code can write.

The environment that it runs in has openhands and nothing of ours. ``MODEL_URL`` is the
address of the model server.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

from openhands.sdk import LLM  # type: ignore[import-not-found, unused-ignore]  # only where it runs
from openhands_cli.utils import (  # type: ignore[import-not-found, unused-ignore]  # see above
    get_default_cli_agent,
)


def main() -> None:
    """Write the settings and become openhands."""
    url = os.environ["MODEL_URL"] + "/v1"
    model = LLM(model="openai/scripted", api_key="none", base_url=url, usage_id="agent")
    agent = get_default_cli_agent(llm=model)
    file = Path(os.environ["HOME"]) / ".openhands" / "agent_settings.json"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(agent.model_dump_json(context={"expose_secrets": True}), encoding="utf-8")
    program = Path(sys.executable).with_name("openhands")
    os.execv(program, [str(program), "acp"])


if __name__ == "__main__":
    main()
