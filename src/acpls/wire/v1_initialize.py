"""What an agent of ACP 1 says of itself: the result of ``initialize``.

Invariant: names are those of the published schema. Outside of it, or unstable in it, are
``fork``, ``title`` and ``systemPrompt``, types of ``authMethods`` other than ``terminal``,
and the hints inside their ``_meta``.
"""

from __future__ import annotations

from typing import Annotated, TypeAlias

from pydantic import Discriminator, Field, Tag

from acpls.wire.fields import OTHER, Filled, Flag, Items, Lenient, Model, Raw, kind_of
from acpls.wire.initialize import (
    AuthMethodFields,
    Implementation,
    OtherFields,
    SystemPromptCapabilities,
)


class PromptCapabilities(Model):
    """What a prompt may hold besides text and links."""

    image: Flag = False
    audio: Flag = False
    embedded_context: Flag = False


class McpCapabilities(Model):
    """Which MCP servers the agent connects to besides those over stdio."""

    http: Flag = False
    sse: Flag = False


class SessionCapabilities(Model):
    """An object stands for a thing that the agent can do."""

    list: Lenient[Raw | None] = None
    delete: Lenient[Raw | None] = None
    resume: Lenient[Raw | None] = None
    close: Lenient[Raw | None] = None
    additional_directories: Lenient[Raw | None] = None
    fork: Lenient[Raw | None] = None
    title: Lenient[Raw | None] = None
    system_prompt: Lenient[SystemPromptCapabilities | None] = None


class AgentAuthCapabilities(Model):
    """What the agent can do about logins."""

    logout: Lenient[Raw | None] = None


class AgentCapabilities(Model):
    """What the agent can do."""

    load_session: Flag = False
    prompt_capabilities: Lenient[PromptCapabilities | None] = None
    mcp_capabilities: Lenient[McpCapabilities | None] = None
    session_capabilities: Lenient[SessionCapabilities | None] = None
    auth: Lenient[AgentAuthCapabilities | None] = None


class AuthMethodTerminal(AuthMethodFields):
    """``{"type": "terminal"}``: the agent's own command, with these arguments after it."""

    method: Filled = Field(alias="id")
    args: list[str] | None = None
    env: dict[str, str] | None = None


class AuthMethodOther(OtherFields):
    """Any other; one without a type is carried out by the agent."""

    method: Filled = Field(alias="id")


AuthMethod: TypeAlias = Annotated[
    Annotated[AuthMethodTerminal, Tag("terminal")] | Annotated[AuthMethodOther, Tag(OTHER)],
    Discriminator(kind_of("type", "terminal", otherwise=OTHER)),
]


class InitializeResponse(Model):
    """The result of ``initialize``."""

    protocol_version: int
    agent_capabilities: Lenient[AgentCapabilities | None] = None
    agent_info: Lenient[Implementation | None] = None
    auth_methods: Lenient[Items[AuthMethod] | None] = None
