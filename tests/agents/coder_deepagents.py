"""A coding agent on deepagents-acp, which is a library: it asks before it edits or runs.

The environment that it runs in has deepagents and nothing of ours. ``MODEL_URL`` is the
address of the model server.
"""

from __future__ import annotations

import asyncio
import os
from typing import Any

from acp import run_agent  # type: ignore[import-not-found, unused-ignore]  # only where it runs
from deepagents import (  # type: ignore[import-not-found, unused-ignore]  # see above
    create_deep_agent,
)
from deepagents.backends.local_shell import (  # type: ignore[import-not-found, unused-ignore]  # see above
    LocalShellBackend,
)
from deepagents_acp.server import (  # type: ignore[import-not-found, unused-ignore]  # see above
    AgentServerACP,
)
from langchain_openai import (  # type: ignore[import-not-found, unused-ignore]  # see above
    ChatOpenAI,
)
from langgraph.checkpoint.memory import (  # type: ignore[import-not-found, unused-ignore]  # see above
    MemorySaver,
)

ASKS = ("edit_file", "write_file", "execute")
memory = MemorySaver()


def agent(session: Any) -> Any:
    """The agent of a session."""
    url = os.environ["MODEL_URL"] + "/v1"
    return create_deep_agent(
        model=ChatOpenAI(model="scripted", base_url=url, api_key="none", streaming=True),
        checkpointer=memory,
        backend=LocalShellBackend(root_dir=session.cwd, virtual_mode=False),
        interrupt_on=dict.fromkeys(ASKS, True),
    )


if __name__ == "__main__":
    asyncio.run(run_agent(AgentServerACP(agent=agent)))
