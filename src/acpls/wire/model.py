"""The shapes of messages that are the same in both versions.

Invariant: names are those of the published schemas.
"""

from __future__ import annotations

from typing import Annotated, Any, TypeAlias

from pydantic import Discriminator, Field, Tag

from acpls.wire.fields import (
    MISSING,
    OTHER,
    Count,
    Filled,
    Items,
    Lenient,
    Missing,
    Model,
    OrEmpty,
    Patched,
    Raw,
    has,
    kind_of,
)

# --- content blocks ------------------------------------------------------------------


class TextContent(Model):
    """``{"type": "text"}``."""

    text: str


class ImageContent(Model):
    """``{"type": "image"}``; ``data`` is base64."""

    data: str
    mime_type: str
    uri: Lenient[str | None] = None


class AudioContent(Model):
    """``{"type": "audio"}``; ``data`` is base64."""

    data: str
    mime_type: str


class ResourceLink(Model):
    """``{"type": "resource_link"}``."""

    uri: str
    name: str
    title: Lenient[str | None] = None
    mime_type: Lenient[str | None] = None
    description: Lenient[str | None] = None
    size: Lenient[Count | None] = None


class TextResourceContents(Model):
    """A resource's contents as text."""

    uri: str
    text: str
    mime_type: Lenient[str | None] = None


class BlobResourceContents(Model):
    """A resource's contents as base64."""

    uri: str
    blob: str
    mime_type: Lenient[str | None] = None


ResourceContents: TypeAlias = Annotated[
    Annotated[TextResourceContents, Tag("text")] | Annotated[BlobResourceContents, Tag("blob")],
    Discriminator(has("text", "text", "blob")),
]


class EmbeddedResource(Model):
    """``{"type": "resource"}``."""

    resource: ResourceContents


ContentBlock: TypeAlias = Annotated[
    Annotated[TextContent, Tag("text")]
    | Annotated[ImageContent, Tag("image")]
    | Annotated[AudioContent, Tag("audio")]
    | Annotated[ResourceLink, Tag("resource_link")]
    | Annotated[EmbeddedResource, Tag("resource")]
    | Annotated[Raw, Tag(OTHER)],
    Discriminator(kind_of("type", "text", "image", "audio", "resource_link", "resource")),
]


# --- tool calls ----------------------------------------------------------------------


class Content(Model):
    """Tool-call content ``{"type": "content"}``: one block."""

    content: ContentBlock


class Terminal(Model):
    """Tool-call content ``{"type": "terminal"}``: the output of a terminal."""

    terminal_id: Filled


class ToolCallLocation(Model):
    """A file and a one-based line."""

    path: Filled
    line: Lenient[Annotated[int, Field(ge=1)] | None] = None


class ToolCallFields(Model):
    """A tool call or a change of one, without its content, which the versions shape."""

    tool_call_id: Filled
    title: Patched[str] = MISSING
    name: Patched[str] = MISSING
    kind: Patched[str] = MISSING
    status: Patched[str] = MISSING
    locations: Patched[Items[ToolCallLocation]] = MISSING
    raw_input: Any = MISSING
    raw_output: Any = MISSING


class TerminalExitStatus(Model):
    """How a terminal's command ended."""

    exit_code: Lenient[int | None] = None
    signal: Lenient[str | None] = None


class PermissionOption(Model):
    """One answer that a permission request offers."""

    option_id: Filled
    name: str
    kind: str


# --- plan, options, commands, and the rest --------------------------------------------


class PlanEntry(Model):
    """One step of a plan."""

    content: str
    priority: str
    status: str


class SessionConfigSelectOption(Model):
    """One value of an option."""

    value: str
    name: str
    description: Lenient[str | None] = None


class SessionConfigSelectGroup(Model):
    """Values of an option under a common name."""

    name: str
    options: OrEmpty[Items[SessionConfigSelectOption]]


SelectOptions: TypeAlias = list[
    Annotated[
        Annotated[SessionConfigSelectOption, Tag("value")]
        | Annotated[SessionConfigSelectGroup, Tag("group")],
        Discriminator(has("options", "group", "value")),
    ]
]


class OptionFields(Model):
    """What every kind of session option has; ``option`` is its id, named by each version."""

    option: Filled
    name: str
    description: Lenient[str | None] = None
    category: Lenient[str | None] = None


class SelectFields(OptionFields):
    """``{"type": "select"}``."""

    current_value: str
    options: SelectOptions


class BooleanFields(OptionFields):
    """``{"type": "boolean"}``."""

    current_value: bool


class OtherFields(OptionFields):
    """An option of a kind that we cannot change, only show."""

    type: str
    current_value: Any = None


class CommandInput(Model):
    """What a command's argument is."""

    hint: str


class Command(Model):
    """A slash command."""

    name: str
    description: str
    input: Lenient[CommandInput | None] = None


class SessionInfoUpdate(Model):
    """``session_info_update``."""

    title: Patched[str] = MISSING
    updated_at: Patched[str] = MISSING


class Cost(Model):
    """``currency`` is an ISO 4217 code, or a unit of the agent's own."""

    amount: float
    currency: str


class UsageUpdate(Model):
    """``usage_update``; sizes in tokens."""

    used: Count
    size: Count
    cost: Patched[Cost] = MISSING


class Notice(Model):
    """``notice``."""

    severity: str
    title: str
    description: Lenient[str | None] = None


class CompactionUpdate(Model):
    """``compaction_update``."""

    compaction_id: Filled
    status: str
    summary: Patched[Items[ContentBlock]] = MISSING
    error: Patched[str] = MISSING


class CompactionSummaryChunk(Model):
    """``compaction_summary_chunk``."""

    compaction_id: Filled
    content: ContentBlock


class EnvVariable(Model):
    """A variable of the environment."""

    name: Filled
    value: str


# --- sessions that the agent has -------------------------------------------------------


class SessionInfo(Model):
    """What is known of a session without opening it."""

    session_id: Filled
    cwd: str
    title: Lenient[str | None] = None
    updated_at: Lenient[str | None] = None


class SetSessionTitleResponse(Model):
    """The result of ``session/set_title``: the title as the agent stored it."""

    title: str


# --- elicitation -----------------------------------------------------------------------


class ElicitationScope(Model):
    """What a question is about: a session, or one of our own requests."""

    message: str
    session_id: Filled | None = None
    tool_call_id: Lenient[Filled | None] = None
    request_id: int | str | Missing | None = MISSING


class ElicitationForm(ElicitationScope):
    """``elicitation/create`` with ``{"mode": "form"}``; the schema is for whoever shows it."""

    requested_schema: Raw


class ElicitationUrl(ElicitationScope):
    """``elicitation/create`` with ``{"mode": "url"}``."""

    elicitation_id: Filled
    url: str


class OtherElicitation(ElicitationScope):
    """``elicitation/create`` of an unknown mode."""

    mode: str


class CompleteElicitationNotification(Model):
    """``elicitation/complete``."""

    elicitation_id: Filled


# --- requests --------------------------------------------------------------------------


class CancelRequestNotification(Model):
    """``$/cancel_request``."""

    request_id: int | str | None
