"""What an agent says of itself, as far as both versions have it: name, prompts, logins.

The schemas know the types ``agent`` and ``terminal`` of the latter. Agents send others too,
and hints inside ``_meta`` that are older than the types.

Invariant: a type that we do not know is kept.
"""

from __future__ import annotations

from typing import Any

from pydantic import Field

from acpls.wire.fields import Filled, Lenient, Model, Raw


class Implementation(Model):
    """The name of a program, for machines and (``title``) for people."""

    name: str
    version: str
    title: Lenient[str | None] = None


class SystemPromptModes(Model):
    """The modes of a system prompt besides ``append``."""

    override: Lenient[Raw | None] = None


class SystemPromptCapabilities(Model):
    """That the agent takes a system prompt."""

    mode: Lenient[SystemPromptModes | None] = None


class TerminalAuth(Model):
    """``_meta["terminal-auth"]``: a program that the user runs to log in."""

    command: Filled
    args: Lenient[list[str] | None] = None
    env: Lenient[dict[str, str] | None] = None


class AuthMethodMeta(Model):
    """Hints about a way to log in."""

    terminal_auth: Lenient[TerminalAuth | None] = Field(default=None, alias="terminal-auth")
    agent_auth: Lenient[Raw | bool | None] = Field(default=None, alias="agent-auth")
    type: Lenient[Filled | None] = None


class AuthMethodFields(Model):
    """What every way to log in has; ``method`` is its id, named by each version."""

    method: Filled
    name: str
    description: Lenient[str | None] = None
    meta: Lenient[AuthMethodMeta | None] = Field(default=None, alias="_meta")


class OtherFields(AuthMethodFields):
    """A way that the agent carries out itself, or one of an unknown type.

    ``vars`` (outside the schemas): names of variables, or objects with a ``name``.
    """

    type: Lenient[Filled | None] = None
    vars: Lenient[list[Any] | None] = None
