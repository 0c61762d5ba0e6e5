"""What the message models of both versions are made of, and the shapes that are the same.

A model reads what a client uses and passes over the rest. It is strict about what the
schema demands, lenient where the schema says so (``x-deserialize-default-on-error``,
``x-deserialize-skip-invalid-items``), and open: words and kinds that the schema does not
list are kept.

Invariant: validation fails with ``ValidationError`` alone, whatever JSON value comes in.
"""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING, Annotated, Any, Final, TypeAlias, TypeVar

from pydantic import (
    BaseModel,
    ConfigDict,
    Discriminator,
    Field,
    Tag,
    ValidationError,
    ValidatorFunctionWrapHandler,
    WrapValidator,
)
from pydantic.alias_generators import to_camel
from pydantic_core import PydanticOmit, PydanticUseDefault

if TYPE_CHECKING:
    from collections.abc import Callable

T = TypeVar("T")

LONGEST_PROBLEM: Final = 300


class Model(BaseModel):
    """A JSON object of the protocol; names are camelCase on the wire."""

    model_config = ConfigDict(strict=True, frozen=True, extra="ignore", alias_generator=to_camel)


def problem(error: ValidationError) -> str:
    """What is wrong and where, in one line; the first thing, when there are more."""
    first, *more = error.errors(include_url=False, include_context=False, include_input=False)
    where = ".".join(str(step) for step in first["loc"])
    text = f"{where}: {first['msg']}" if where else first["msg"]
    if more:
        text += f" (and {len(more)} more)"
    return one_line(text)


def one_line(text: str) -> str:
    """The text without line breaks and control characters, and cut where it gets long."""
    line = " ".join("".join(c if c.isprintable() else " " for c in text).split())
    return line if len(line) <= LONGEST_PROBLEM else line[: LONGEST_PROBLEM - 1] + "…"


# --- kinds of fields -----------------------------------------------------------------


class Missing(Enum):
    """The mark of a field that was left out, or that was dropped because it was broken."""

    MISSING = "missing"


MISSING: Final = Missing.MISSING


def default_on_error(value: object, handler: ValidatorFunctionWrapHandler) -> object:
    """A broken value counts as the field's default."""
    try:
        return handler(value)
    except ValidationError:
        raise PydanticUseDefault from None


def empty_on_error(value: object, handler: ValidatorFunctionWrapHandler) -> object:
    """A broken list counts as an empty one; the field itself stays required."""
    try:
        return handler(value)
    except ValidationError:
        return []


def skip_on_error(value: object, handler: ValidatorFunctionWrapHandler) -> object:
    """A broken item is left out of its list."""
    try:
        return handler(value)
    except ValidationError:
        raise PydanticOmit from None


Lenient: TypeAlias = Annotated[T, WrapValidator(default_on_error)]
OrEmpty: TypeAlias = Annotated[T, WrapValidator(empty_on_error)]
Items: TypeAlias = list[Annotated[T, WrapValidator(skip_on_error)]]
Patched: TypeAlias = Annotated[T | None | Missing, WrapValidator(default_on_error)]
Filled: TypeAlias = Annotated[str, Field(min_length=1)]
Count: TypeAlias = Annotated[int, Field(ge=0)]
Raw: TypeAlias = dict[str, Any]

OTHER: Final = "other"


def kind_of(key: str, *known: str) -> Callable[[Any], str | None]:
    """Tells the kind of an object by its string under ``key``; ``OTHER`` for unknown ones."""
    kinds = frozenset(known)

    def kind(value: Any) -> str | None:
        word = value.get(key) if isinstance(value, dict) else None
        if not isinstance(word, str):
            return None
        return word if word in kinds else OTHER

    return kind


def has(key: str, then: str, otherwise: str) -> Callable[[Any], str | None]:
    """Tells the kind of an object by whether it has ``key``."""

    def kind(value: Any) -> str | None:
        if not isinstance(value, dict):
            return None
        return then if key in value else otherwise

    return kind


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


class Implementation(Model):
    """The name of a program, for machines and (``title``) for people."""

    name: str
    version: str
    title: Lenient[str | None] = None


class CancelRequestNotification(Model):
    """``$/cancel_request``."""

    request_id: int | str | None
