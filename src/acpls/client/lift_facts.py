"""From what agents say of themselves to the neutral model: logins and system prompts.

Invariant: values in, values out.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from acpls.session.asks import AuthMethod

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from acpls.wire import initialize as wire

AGENT: Final = "agent"
TERMINAL: Final = "terminal"


def terminal_login(
    it: wire.AuthMethodFields, args: list[str] | None, env: Iterable[tuple[str, str]]
) -> AuthMethod:
    """A login for which the user runs the agent's own command."""
    return AuthMethod(
        it.method, it.name, TERMINAL, it.description, None, tuple(args or ()), tuple(env)
    )


def other_login(it: wire.OtherFields) -> AuthMethod:
    """Any other login. Where its type is left out, hints inside ``_meta`` stand for it."""
    kind, hints = it.type, it.meta
    if kind is None and hints is not None:
        run = hints.terminal_auth
        if hints.agent_auth is not None and hints.agent_auth is not False:
            kind = AGENT
        elif run is not None:
            args, env = tuple(run.args or ()), tuple((run.env or {}).items())
            return AuthMethod(it.method, it.name, TERMINAL, it.description, run.command, args, env)
        else:
            kind = hints.type
    variables = tuple(_names(it.vars or ()))
    return AuthMethod(it.method, it.name, kind or AGENT, it.description, variables=variables)


def system_prompts(it: wire.SystemPromptCapabilities | None) -> frozenset[str]:
    """The modes of a system prompt that the agent takes."""
    if it is None:
        return frozenset()
    overrides = it.mode is not None and it.mode.override is not None
    return frozenset({"append", "override"} if overrides else {"append"})


def _names(given: Iterable[object]) -> Iterator[str]:
    for it in given:
        name = it.get("name") if isinstance(it, dict) else it
        if isinstance(name, str) and name:
            yield name
