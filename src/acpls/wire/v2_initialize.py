"""What an agent of ACP 2 says of itself: the result of ``initialize``.

Invariant: names are those of the published schema. Outside of it, or unstable in it, are
``fork`` and ``title``, other types of ``authMethods``, and the hints inside their ``_meta``.
"""

from __future__ import annotations

from typing import Annotated, TypeAlias

from pydantic import Discriminator, Field, Tag

from acpls.wire.fields import OTHER, Filled, Items, Lenient, Model, Raw, kind_of
from acpls.wire.initialize import (
    AuthMethodFields,
    Implementation,
    OtherFields,
    SystemPromptCapabilities,
)
from acpls.wire.model import EnvVariable

Environment: TypeAlias = list[EnvVariable]


class PromptCapabilities(Model):
    """What a prompt may hold besides text and links."""

    image: Lenient[Raw | None] = None
    audio: Lenient[Raw | None] = None
    embedded_context: Lenient[Raw | None] = None


class McpCapabilities(Model):
    """Which MCP servers the agent connects to."""

    stdio: Lenient[Raw | None] = None
    http: Lenient[Raw | None] = None


class SessionCapabilities(Model):
    """An object, even an empty one, stands for a thing that the agent can do."""

    prompt: Lenient[PromptCapabilities | None] = None
    mcp: Lenient[McpCapabilities | None] = None
    delete: Lenient[Raw | None] = None
    additional_directories: Lenient[Raw | None] = None
    system_prompt: Lenient[SystemPromptCapabilities | None] = None
    fork: Lenient[Raw | None] = None
    title: Lenient[Raw | None] = None


class AgentCapabilities(Model):
    """What the agent can do; without ``session`` it has no sessions at all."""

    session: Lenient[SessionCapabilities | None] = None


class AuthMethodTerminal(AuthMethodFields):
    """``{"type": "terminal"}``: the agent's own command, with these arguments after it."""

    method: Filled = Field(alias="methodId")
    args: list[str] | None = None
    env: Environment | None = None


class AuthMethodOther(OtherFields):
    """``{"type": "agent"}``, or one of an unknown type."""

    method: Filled = Field(alias="methodId")


AuthMethod: TypeAlias = Annotated[
    Annotated[AuthMethodTerminal, Tag("terminal")] | Annotated[AuthMethodOther, Tag(OTHER)],
    Discriminator(kind_of("type", "terminal", otherwise=OTHER)),
]


class InitializeResponse(Model):
    """The result of ``initialize``. ``info`` is demanded where it is read."""

    protocol_version: int
    info: Lenient[Implementation | None] = None
    capabilities: Lenient[AgentCapabilities | None] = None
    auth_methods: Lenient[Items[AuthMethod] | None] = None
