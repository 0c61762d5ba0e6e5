"""What an agent of ACP 1 can do, by its answer to ``initialize``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from acpls.client import lift_facts
from acpls.session.asks import AgentFacts
from acpls.wire import v1_initialize as wire

if TYPE_CHECKING:
    from acpls.session.asks import AuthMethod

VERSION = 1


def unknown(agent: str) -> AgentFacts:
    """What is known of an agent before it answered; every agent takes servers over stdio."""
    return AgentFacts(agent, "", VERSION, mcp=frozenset({"stdio"}))


def facts(agent: str, it: wire.InitializeResponse) -> AgentFacts:
    """What the answer says; ``agent`` is its name where it does not give one."""
    can = it.agent_capabilities or wire.AgentCapabilities()
    prompt = can.prompt_capabilities or wire.PromptCapabilities()
    session = can.session_capabilities or wire.SessionCapabilities()
    auth = can.auth or wire.AgentAuthCapabilities()
    info = it.agent_info
    return AgentFacts(
        agent if info is None else info.name,
        "" if info is None else info.version,
        VERSION,
        title=None if info is None else info.title,
        images=prompt.image,
        audio=prompt.audio,
        embedded_context=prompt.embedded_context,
        can_close=session.close is not None,
        can_list=session.list is not None,
        # Loading will do: what it tells again is passed over then.
        can_resume=session.resume is not None or can.load_session,
        can_replay=can.load_session,
        can_delete=session.delete is not None,
        can_fork=session.fork is not None,
        can_set_title=session.title is not None,
        can_log_out=auth.logout is not None,
        takes_directories=session.additional_directories is not None,
        system_prompts=lift_facts.system_prompts(session.system_prompt),
        mcp=_mcp(can.mcp_capabilities or wire.McpCapabilities()),
        auth_methods=tuple(map(_auth_method, it.auth_methods or ())),
    )


def resumes(it: wire.InitializeResponse) -> bool:
    """Whether it has ``session/resume``."""
    session = None if it.agent_capabilities is None else it.agent_capabilities.session_capabilities
    return session is not None and session.resume is not None


def _mcp(it: wire.McpCapabilities) -> frozenset[str]:
    kinds = {"stdio": True, "http": it.http, "sse": it.sse}
    return frozenset(kind for kind, is_taken in kinds.items() if is_taken)


def _auth_method(it: wire.AuthMethodTerminal | wire.AuthMethodOther) -> AuthMethod:
    if isinstance(it, wire.AuthMethodTerminal):
        return lift_facts.terminal_login(it, it.args, (it.env or {}).items())
    return lift_facts.other_login(it)
