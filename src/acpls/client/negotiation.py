"""Which protocol version an agent speaks, found out by asking it.

Version 2 is asked for first. An agent that answers 1 is initialised again in the shape of
version 1, which alone tells it what a version 1 client can do. A 2 without the fields that
version 2 demands is an echo of our number. Whatever goes wrong, each version is given one
fresh process at most.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias, cast

import anyio

from acpls.client.connection import as_failure
from acpls.client.dialect import Misfit
from acpls.events import AgentEnded, AgentStarting
from acpls.wire import jsonrpc

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from acpls.client.connection import Connection
    from acpls.client.dialect import ClientInfo, Dialect
    from acpls.client.memory import Memory, Version
    from acpls.session.asks import AgentFacts
    from acpls.settings import AgentSpec

Dialects: TypeAlias = "Callable[[Version, str], Dialect]"

UNSUPPORTED_VERSION = -32022
_NOT_INITIALISED = "initialize is not answered yet"


@dataclass(frozen=True, slots=True)
class Agreed:
    """The agent speaks; ``connection`` has begun with ``dialect``."""

    connection: Connection
    dialect: Dialect
    facts: AgentFacts


class GivenUp(Exception):  # noqa: N818  what is wrong is the agent's
    """No version could be agreed on; ``ended`` says why."""

    def __init__(self, ended: AgentEnded) -> None:
        super().__init__(ended.reason)
        self.ended = ended


@dataclass(frozen=True, slots=True)
class Negotiation:
    """How to negotiate with one agent.

    ``open``: start a fresh process. ``memory``: what was agreed before. ``limit_s``: seconds
    for each answer to ``initialize``.
    """

    agent: str
    spec: AgentSpec
    client: ClientInfo
    open: Callable[[], Awaitable[Connection]]
    emit: Callable[[AgentStarting], None]
    memory: Memory
    dialects: Dialects
    limit_s: float

    async def run(self) -> Agreed:
        """Agree on a version. Raises ``GivenUp``, and what ``open`` raises."""
        pinned = self.spec.protocol
        version = self.memory.version(self.spec) if pinned == "auto" else pinned
        tried: set[Version] = set()
        self._say(f"starting {self.spec.command}")
        while True:
            tried.add(version)
            connection = await self.open()
            try:
                outcome = await self._attempt(connection, version)
            except BaseException:
                await connection.aclose(grace_s=0.2)
                raise
            if isinstance(outcome, Agreed):
                agreed = _version(outcome.dialect)
                self.memory.agreed(self.spec, agreed, outcome.facts.version)
                return outcome
            await connection.aclose(grace_s=0.2)
            if outcome.then is None or outcome.then in tried:
                self.memory.forget(self.spec)
                raise GivenUp(outcome.ended)
            version = outcome.then
            self._say(f"starting it again with ACP {version}: {outcome.ended.reason}")

    async def _attempt(self, connection: Connection, version: Version) -> Agreed | _Failed:
        dialect = self.dialects(version, self.agent)
        self._say(f"waiting for its answer to initialize (ACP {version})")
        answer = await self._initialize(connection, dialect)
        if isinstance(answer, AgentEnded):
            return _Failed(answer, 1 if version == 2 else None)
        if isinstance(answer, jsonrpc.Error):
            return self._refused(answer, version)
        said = _said_version(answer.result)
        if version == 1:
            return self._answered_1(connection, dialect, answer.result, said)
        if said == 2 and _is_version_2(answer.result):
            return self._agree(connection, dialect, answer.result)
        if said == 1:
            return await self._lower(connection)
        problem = "echoed ACP 2 without speaking it" if said == 2 else f"answered version {said!r}"
        return _Failed(self._ended(f"{self.agent} {problem}"), 1)

    async def _lower(self, connection: Connection) -> Agreed | _Failed:
        dialect = self.dialects(1, self.agent)
        self._say("it speaks ACP 1; waiting for its second answer to initialize")
        answer = await self._initialize(connection, dialect)
        if isinstance(answer, AgentEnded):
            return _Failed(answer, 1)
        if isinstance(answer, jsonrpc.Error):
            return _Failed(self._refusal(answer), 1)
        outcome = self._agree(connection, dialect, answer.result)
        return outcome if isinstance(outcome, Agreed) else _Failed(outcome.ended, 1)

    def _answered_1(
        self, connection: Connection, dialect: Dialect, answer: object, said: object
    ) -> Agreed | _Failed:
        if said == 2:
            return _Failed(self._ended(f"{self.agent} answered that it speaks ACP 2"), 2)
        if isinstance(said, int) and said > 2:
            return _Failed(self._ended(f"{self.agent} speaks only ACP {said}"), None)
        return self._agree(connection, dialect, answer)

    def _agree(self, connection: Connection, dialect: Dialect, answer: object) -> Agreed | _Failed:
        try:
            facts = dialect.facts(answer)
        except Misfit as misfit:
            ended = self._ended(
                f"{self.agent} sent an answer to initialize that does not fit: {misfit}"
            )
            return _Failed(ended, 1 if dialect.version == 2 else None)
        connection.begin(dialect)
        return Agreed(connection, dialect, facts)

    def _refused(self, error: jsonrpc.Error, version: Version) -> _Failed:
        ended = self._refusal(error)
        if error.code == UNSUPPORTED_VERSION:
            supported = _supported(error.data)
            ours = [v for v in supported if v in (1, 2) and v != version]
            if ours:
                return _Failed(ended, cast("Version", max(ours)))
            if supported and version not in supported:
                spoken = ", ".join(str(v) for v in supported)
                return _Failed(self._ended(f"{self.agent} speaks only ACP {spoken}"), None)
        if version == 2:
            return _Failed(ended, 1)
        # An agent of version 2 alone finds the shape of version 1 wanting.
        wanting = error.code in (jsonrpc.INVALID_PARAMS, jsonrpc.INVALID_REQUEST) or (
            error.code == jsonrpc.INTERNAL_ERROR and re.search(r"\binfo\b", error.message)
        )
        return _Failed(ended, 2 if wanting or error.code == UNSUPPORTED_VERSION else None)

    def _refusal(self, error: jsonrpc.Error) -> AgentEnded:
        failure = as_failure(error)
        ended = self._ended(f"{self.agent} refused to initialize: {failure.message}")
        return AgentEnded(self.agent, ended.reason, detail=failure.detail or "")

    def _ended(self, reason: str) -> AgentEnded:
        return AgentEnded(self.agent, reason)

    async def _initialize(
        self, connection: Connection, dialect: Dialect
    ) -> jsonrpc.Result | jsonrpc.Error | AgentEnded:
        call = dialect.initialize(self.client)
        number = connection.send_request(call.method, call.params)
        with anyio.move_on_after(self.limit_s):
            while (message := await connection.receive()) is not None:
                match message:
                    case jsonrpc.Result() | jsonrpc.Error() if message.id == number:
                        return message
                    case jsonrpc.Request():
                        code = jsonrpc.INVALID_REQUEST
                        connection.send(jsonrpc.error(message.id, code, _NOT_INITIALISED))
                    case _:
                        connection.note(f"dropped a message before initialize: {message}")
            return await connection.ending()
        limit = f"{self.limit_s:g} seconds"
        return AgentEnded(self.agent, f"{self.agent} did not answer initialize within {limit}")

    def _say(self, doing: str) -> None:
        self.emit(AgentStarting(self.agent, doing))


@dataclass(frozen=True, slots=True)
class _Failed:
    """An attempt that came to nothing: why, and which version to try then."""

    ended: AgentEnded
    then: Version | None


def make_dialect(version: Version, agent: str) -> Dialect:
    """Make a fresh dialect; imported here because few users need both."""
    if version == 1:
        from acpls.client.v1 import DialectV1  # noqa: PLC0415  only the one that is spoken

        return DialectV1(agent)
    from acpls.client.v2 import DialectV2  # noqa: PLC0415  only the one that is spoken

    return DialectV2(agent)


def _version(dialect: Dialect) -> Version:
    return 1 if dialect.version == 1 else 2


def _said_version(answer: object) -> Any:
    said = answer.get("protocolVersion") if isinstance(answer, dict) else None
    return None if isinstance(said, bool) else said


def _is_version_2(answer: object) -> bool:
    return isinstance(answer, dict) and any(
        isinstance(answer.get(name), dict) for name in ("info", "capabilities")
    )


def _supported(data: object) -> list[int]:
    supported = data.get("supported") if isinstance(data, dict) else None
    if not isinstance(supported, list):
        return []
    return [v for v in supported if isinstance(v, int) and not isinstance(v, bool)]
