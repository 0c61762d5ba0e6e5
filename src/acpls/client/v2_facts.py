"""What an agent of ACP 2 can do, by its answer to ``initialize``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from acpls.client import lift_facts
from acpls.session.asks import AgentFacts
from acpls.wire import v2_initialize as wire

if TYPE_CHECKING:
    from acpls.session.asks import AuthMethod

VERSION = 2


def unknown(agent: str) -> AgentFacts:
    """What is known of an agent before it answered."""
    return AgentFacts(agent, "", VERSION, withdraws_questions=True)


def facts(agent: str, it: wire.InitializeResponse) -> AgentFacts:
    """What the answer says; ``agent`` is its name where it does not give one."""
    given = None if it.capabilities is None else it.capabilities.session
    session = given or wire.SessionCapabilities()
    prompt = session.prompt or wire.PromptCapabilities()
    methods = tuple(map(_auth_method, it.auth_methods or ()))
    return AgentFacts(
        agent if it.info is None else it.info.name,
        "" if it.info is None else it.info.version,
        VERSION,
        title=None if it.info is None else it.info.title,
        images=prompt.image is not None,
        audio=prompt.audio is not None,
        embedded_context=prompt.embedded_context is not None,
        # Who has sessions at all has these.
        can_close=given is not None,
        can_list=given is not None,
        can_resume=given is not None,
        can_replay=given is not None,
        can_delete=session.delete is not None,
        can_fork=session.fork is not None,
        can_set_title=session.title is not None,
        # There is something to log out of where there is something to log in to.
        can_log_out=bool(methods),
        takes_directories=session.additional_directories is not None,
        system_prompts=lift_facts.system_prompts(session.system_prompt),
        mcp=_mcp(session.mcp or wire.McpCapabilities()),
        withdraws_questions=True,
        auth_methods=methods,
    )


def _mcp(it: wire.McpCapabilities) -> frozenset[str]:
    kinds = {"stdio": it.stdio, "http": it.http}
    return frozenset(kind for kind, said in kinds.items() if said is not None)


def _auth_method(it: wire.AuthMethodTerminal | wire.AuthMethodOther) -> AuthMethod:
    if isinstance(it, wire.AuthMethodTerminal):
        return lift_facts.terminal_login(it, it.args, ((x.name, x.value) for x in it.env or ()))
    return lift_facts.other_login(it)
