"""A coding agent on pydantic-acp, which is a library: it asks before it writes.

The environment that it runs in has pydantic-acp and nothing of ours. ``MODEL_URL`` is the
address of the model server.
"""

from __future__ import annotations

import os
from pathlib import Path

from pydantic_acp import (  # type: ignore[import-not-found, unused-ignore]  # only where it runs
    AdapterConfig,
    FileSessionStore,
    FileSystemProjectionMap,
    run_acp,
)
from pydantic_ai import Agent  # type: ignore[import-not-found, unused-ignore]  # see above
from pydantic_ai.models.openai import (  # type: ignore[import-not-found, unused-ignore]  # see above
    OpenAIChatModel,
)
from pydantic_ai.providers.openai import (  # type: ignore[import-not-found, unused-ignore]  # see above
    OpenAIProvider,
)


def read_file(path: str) -> str:
    """Read a file."""
    return Path(path).read_text(encoding="utf-8")


def write_file(path: str, content: str) -> str:
    """Write a file."""
    Path(path).write_text(content, encoding="utf-8")
    return "It is written."


def main() -> None:
    """Serve one client on standard input and output."""
    url = os.environ["MODEL_URL"] + "/v1"
    model = OpenAIChatModel("scripted", provider=OpenAIProvider(base_url=url, api_key="none"))
    agent = Agent(model, name="scripted")
    agent.tool_plain(read_file)
    agent.tool_plain(requires_approval=True)(write_file)
    shown = FileSystemProjectionMap(
        read_tool_names=frozenset({"read_file"}),
        write_tool_names=frozenset({"write_file"}),
        path_arg="path",
        content_arg="content",
    )
    store = FileSessionStore(Path(os.environ["HOME"]) / "sessions")
    run_acp(agent=agent, config=AdapterConfig(session_store=store), projection_maps=[shown])


if __name__ == "__main__":
    main()
