"""A connection over a transport that is no process: what a network would look like."""

from __future__ import annotations

import json
import os
from collections import deque
from typing import TYPE_CHECKING, Any

import anyio
import pytest

from acpls.client import process
from acpls.client.connection import Connection
from acpls.client.crossing import Crossing
from acpls.client.terminals import Ground
from acpls.client.transport import TransportGone
from acpls.events import AgentEnded, AskFailed, Replied
from acpls.session.asks import NewSession, Opening, SessionOpened
from acpls.text.pathmap import PathMap
from rim_stage import TinyDialect

if TYPE_CHECKING:
    from acpls.client.transport import Transport

pytestmark = pytest.mark.anyio


class Loop:
    """A transport in memory; ``say`` is the other side's, ``None`` its end."""

    def __init__(self) -> None:
        self.sent: list[dict[str, Any]] = []
        self.ended: list[float] = []
        self.gone = False
        self._said: deque[bytes] = deque()
        self._news = anyio.Event()

    def say(self, data: bytes | None) -> None:
        self._said.append(data or b"")
        self._news.set()

    async def receive(self) -> bytes:
        while not self._said:
            self._news = anyio.Event()
            await self._news.wait()
        return self._said.popleft()

    async def send(self, data: bytes) -> None:
        if self.gone:
            raise TransportGone
        self.sent += [json.loads(line) for line in data.splitlines()]
        if self.sent[-1].get("method") == "new":
            number = self.sent[-1]["id"]
            answer = json.dumps({"jsonrpc": "2.0", "id": number, "result": {"session": "s"}})
            self.say(answer[:9].encode())
            self.say(answer[9:].encode() + b"\n")
            self.say(None)

    def stop_reading(self) -> None:
        self.say(None)

    async def exited(self, within_s: float | None = None) -> int | None:
        return None

    async def deaf(self) -> None:
        await anyio.sleep_forever()

    def last_words(self) -> list[str]:
        return ["closed by the far end"]

    async def end(self, grace_s: float = 1.0) -> None:
        self.ended.append(grace_s)


def connected(transport: Transport, tasks: Any, events: list[Any]) -> Connection:
    crossing = Crossing("a", PathMap(), lambda command, cwd, over: None)
    ground = Ground(os.environ)
    connection = Connection(
        "a",
        transport,
        tasks,
        events.append,
        events.append,
        crossing=crossing,
        ground=ground,
        limit_bytes=1000,
    )
    connection.begin(TinyDialect(2, "a"))
    tasks.start_soon(connection.write)
    return connection


async def test_a_connection_needs_no_process() -> None:
    loop, events = Loop(), list[Any]()
    async with anyio.create_task_group() as tasks:
        connection = connected(loop, tasks, events)
        connection.send_ask(1, NewSession(Opening("/p")))
        await connection.deliver()
        assert events == [Replied("a", 1, SessionOpened("s"))]
        ended = await connection.ending()
        assert ended == AgentEnded(
            "a", "a closed its output: closed by the far end", None, "closed by the far end"
        )
        await connection.aclose(0.5)
        tasks.cancel_scope.cancel()
    assert loop.ended == [0.5]


async def test_what_is_sent_to_nobody_is_dropped_and_the_asks_fail() -> None:
    loop, events = Loop(), list[Any]()
    loop.gone = True
    async with anyio.create_task_group() as tasks:
        connection = connected(loop, tasks, events)
        connection.send_ask(1, NewSession(Opening("/p")))
        loop.say(b"x" * 1001)
        await connection.deliver()
        ended = await connection.ending()
        assert ended.reason == "a was ended: it sent a line longer than the limit of 1000 bytes"
        connection.fail_pending(ended.reason)
        tasks.cancel_scope.cancel()
    assert [e.ask for e in events if isinstance(e, AskFailed)] == [1]
    assert loop.sent == []


def test_a_child_process_is_a_transport() -> None:
    child: Transport = process.Child("tag", None, None)
    assert child.last_words() == []
    assert issubclass(process.ChildGone, TransportGone)
