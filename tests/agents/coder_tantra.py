"""A coding agent on tantra-harness, which is a library and speaks only version 2 of ACP.

The environment that it runs in has tantra and nothing of ours. ``MODEL_URL`` is the address
of the model server. Its tools for files are as plain as its examples' are: it does not show
what it edits, nor of which kind a tool is.
"""

from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path
from typing import Any

import tantra  # type: ignore[import-not-found, unused-ignore]  # only where it runs
from tantra.acp import (  # type: ignore[import-not-found, unused-ignore]  # see above
    AcpAuth,
    AcpServer,
)
from tantra.extratools.shell import (  # type: ignore[import-not-found, unused-ignore]  # see above
    bash,
)


def text_of(path: str) -> str:
    """What the file holds."""
    return Path(path).read_text(encoding="utf-8")


def replace(path: str, old: str, new: str) -> None:
    """Replace a text in a file, where it stands first."""
    Path(path).write_text(text_of(path).replace(old, new, 1), encoding="utf-8")


async def read(path: str) -> str:
    """Read a file."""
    return text_of(path)


async def edit(path: str, old_string: str, new_string: str) -> str:
    """Replace a text in a file."""
    replace(path, old_string, new_string)
    return "It is edited."


class Coder(tantra.Agent):  # type: ignore[misc, unused-ignore]  # its types are there where it runs
    model = "scripted"
    prompt = "You write code."
    tools = (tantra.tool()(read), tantra.tool(permission="ask")(edit), bash())


async def scope(auth: Any, meta: Any) -> dict[str, str]:
    """Whose sessions these are."""
    return {"user": str(auth.principal)}


async def policy(access: Any) -> bool:
    """Everyone here may see everything."""
    return True


async def main() -> int:
    """Serve one client on standard input and output."""
    store = tantra.SQLiteStore(str(Path(os.environ["HOME"]) / "sessions.db"))
    await store.setup()
    model = tantra.OpenAICompatible(os.environ["MODEL_URL"] + "/v1", "none")
    runtime = tantra.Runtime(model, store, [Coder])
    await runtime.start()
    server = AcpServer(
        runtime, agent=Coder, scope=scope, policy=policy, name="tantra-coder", models=["scripted"]
    )
    try:
        await server.serve_stdio(AcpAuth(principal="somebody", submitted_by="somebody"))
    finally:
        await runtime.aclose()
    return 0


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))
