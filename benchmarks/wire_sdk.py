# ruff: noqa: INP001 - a script beside the package
"""The part of ``wire.py`` that runs where ``agent-client-protocol`` is installed.

    python benchmarks/wire_sdk.py VERSION FILE

FILE holds the agent's lines for this version of ACP. A line with versions is written
first. Then each line that is read, whatever it says, is answered by one with the seconds of
CPU time that a round took: end to end, and the models alone. Only the standard library and
the SDK are used here.
"""

from __future__ import annotations

import asyncio
import gc
import importlib.util
import json
import platform
import sys
import time
from importlib.metadata import version as installed
from pathlib import Path
from typing import Any

try:
    import acp
except ImportError as problem:
    sys.exit(f"agent-client-protocol cannot be imported: {problem}")

CHUNK_BYTES = 64 * 1024
LIMIT_S = 120.0


class Client:
    """A client that is told everything and does nothing about it."""

    def __init__(self, expected: int) -> None:
        self.left = expected
        self.done = asyncio.Event()

    async def session_update(self, **_: Any) -> None:
        """Count, to know the end."""
        self.left -= 1
        if not self.left:
            self.done.set()


class Pipe(asyncio.Transport):
    """The agent's input: to ``initialize``, the only request, the answer comes at once."""

    def __init__(self, reader: asyncio.StreamReader, answer: dict[str, Any]) -> None:
        super().__init__()
        self._reader = reader
        self._answer = answer

    def write(self, data: Any) -> None:
        """Read a request and answer it."""
        request = json.loads(bytes(data))
        answer = {"jsonrpc": "2.0", "id": request["id"], "result": self._answer}
        self._reader.feed_data(json.dumps(answer).encode() + b"\n")

    def is_closing(self) -> bool:
        """Never."""
        return False

    def close(self) -> None:
        """There is nothing to close."""


async def connect(version: int, client: Client, reader: asyncio.StreamReader) -> Any:
    """An initialised connection to the agent whose output is ``reader``."""
    info = {"name": "benchmark", "version": "1"}
    answer: dict[str, Any] = {"protocolVersion": version}
    answer |= {"agentInfo": info} if version == 1 else {"info": info, "capabilities": {}}
    loop = asyncio.get_running_loop()
    protocol = asyncio.StreamReaderProtocol(asyncio.StreamReader())
    writer = asyncio.StreamWriter(Pipe(reader, answer), protocol, None, loop)
    if version == 1:
        connection: Any = acp.connect_to_agent(client, writer, reader)
        await connection.initialize(protocol_version=1)
        return connection
    v2 = experimental()
    connection = v2.connect_to_agent(client, writer, reader)
    await connection.initialize(protocol_version=2, info=v2.schema.Implementation(**info))
    return connection


def experimental() -> Any:
    """The SDK's ACP 2; releases before 1.0 have none."""
    return importlib.import_module("acp.experimental.v2")


async def end_to_end(version: int, lines: list[bytes]) -> float:
    """CPU seconds from bytes to the client's method, for all lines."""
    client = Client(len(lines))
    reader = asyncio.StreamReader()
    connection = await connect(version, client, reader)
    data = b"".join(line + b"\n" for line in lines)
    chunks = [data[at : at + CHUNK_BYTES] for at in range(0, len(data), CHUNK_BYTES)]
    gc.collect()
    began = time.process_time()
    for chunk in chunks:
        reader.feed_data(chunk)
        # As from a pipe: one read for each turn of the event loop.
        await asyncio.sleep(0)
    try:
        await asyncio.wait_for(client.done.wait(), LIMIT_S)
    except TimeoutError:
        sys.exit(f"{client.left} of {len(lines)} messages did not reach the client")
    took = time.process_time() - began
    await connection.close()
    return took


def models(version: int, lines: list[bytes]) -> float:
    """CPU seconds to validate the params of all lines, which are parsed already."""
    if version == 1:
        model: Any = acp.schema.SessionNotification
    else:
        model = experimental().schema.UpdateSessionNotification
    validate = model.model_validate
    params = [json.loads(line)["params"] for line in lines]
    # The parsed lines are not the models' work, so the collector must not look at them.
    gc.collect()
    gc.freeze()
    began = time.process_time()
    for it in params:
        validate(it)
    took = time.process_time() - began
    gc.unfreeze()
    return took


def main() -> None:
    """Measure as often as told to."""
    version = int(sys.argv[1])
    if version == 2 and importlib.util.find_spec("acp.experimental") is None:
        sys.exit(f"agent-client-protocol {installed('agent-client-protocol')} has no ACP 2")
    lines = Path(sys.argv[2]).read_bytes().split(b"\n")
    packages = ", ".join(
        f"{name} {installed(name)}" for name in ("agent-client-protocol", "pydantic")
    )
    print(f"{packages}, Python {platform.python_version()}", flush=True)  # noqa: T201  the answer
    for _ in sys.stdin:
        took = asyncio.run(end_to_end(version, lines)), models(version, lines)
        print(*took, flush=True)  # noqa: T201  the answer


if __name__ == "__main__":
    main()
