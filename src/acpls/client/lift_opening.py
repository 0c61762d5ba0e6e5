"""What a session is opened with, as both versions say it.

What an agent cannot take is left out of the message, and told of.

Invariant: nothing that the user wanted is left out without an event.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from acpls.client import lift
from acpls.client.dialect import Call
from acpls.client.requests import INVALID_PARAMS
from acpls.events import LeftOut
from acpls.session.asks import Failure, KnownSession, SessionsListed
from acpls.session.updates import InfoPatched
from acpls.wire import model
from acpls.wire.fields import one_line

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from acpls.session.asks import AgentFacts, McpServer, Opening, SystemPrompt
    from acpls.session.content import Json
    from acpls.wire import v1, v2


def call(
    method: str,
    of: Json,
    opening: Opening,
    agent: str,
    facts: AgentFacts,
    spell: Callable[[McpServer], Json],
) -> Call | Failure:
    """The message that opens a session; ``spell`` writes an MCP server as the version does.

    ``of`` are the parameters beside what it is opened with.
    """
    if not lift.is_absolute(opening.cwd):
        return Failure(INVALID_PARAMS, "The session's folder is not absolute")
    left = [*_servers_left(opening, facts), *_directories_left(opening, facts)]
    servers = [spell(x) for x in opening.mcp_servers if x.kind in facts.mcp]
    # Some agents refuse a message without a list of servers.
    params = {**of, "cwd": opening.cwd, "mcpServers": servers}
    directories = [x for x in opening.additional_directories if lift.is_absolute(x)]
    if directories and facts.takes_directories:
        params["additionalDirectories"] = directories
    prompt = opening.system_prompt
    if prompt is not None:
        if prompt.mode in facts.system_prompts:
            params["systemPrompt"] = _spelt(prompt)
        else:
            left.append(_prompt_left(prompt, facts))
    return Call(method, params, events=tuple(LeftOut(agent, one_line(x)) for x in left))


def pairs(given: Iterable[tuple[str, str]]) -> list[Json]:
    """Variables or headers as both versions write them."""
    return [{"name": name, "value": value} for name, value in given]


def named(result: object, asked: str) -> str:
    """The id of a session that was opened again; most agents leave it out."""
    given = result.get("sessionId") if isinstance(result, dict) else None
    return given if isinstance(given, str) and given else asked


def listed(found: v1.ListSessionsResponse | v2.ListSessionsResponse) -> SessionsListed:
    """A page of the sessions that the agent has."""
    sessions = tuple(
        KnownSession(
            x.session_id, x.cwd, x.title, x.updated_at, tuple(x.additional_directories or ())
        )
        for x in found.sessions
    )
    return SessionsListed(sessions, found.next_cursor)


def retitled(result: object) -> tuple[InfoPatched, ...]:
    """The title as the agent stored it, which may not be the one that it was given."""
    if not result:
        return ()
    title = lift.read(model.SetSessionTitleResponse, result, "session/set_title").title
    return (InfoPatched(title),)


def _spelt(prompt: SystemPrompt) -> Json:
    return {"mode": prompt.mode, "content": [{"type": "text", "text": prompt.text}]}


def _servers_left(opening: Opening, facts: AgentFacts) -> Iterator[str]:
    for server in opening.mcp_servers:
        if server.kind not in facts.mcp:
            yield f"the MCP server {server.name}: the agent connects to none over {server.kind}"


def _directories_left(opening: Opening, facts: AgentFacts) -> Iterator[str]:
    for path in opening.additional_directories:
        if not facts.takes_directories:
            yield f"the additional folder {path}: the agent takes none"
        elif not lift.is_absolute(path):
            yield f"the additional folder {path}: it is not absolute"


def _prompt_left(prompt: SystemPrompt, facts: AgentFacts) -> str:
    if facts.system_prompts:
        return f"the system prompt: the agent takes none in the mode {prompt.mode}"
    return "the system prompt: the agent takes none"
