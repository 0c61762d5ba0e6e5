"""What the message models of both versions are built with.

A model reads what a client uses and passes over the rest. It is strict about what the
schema demands, lenient where the schema says so (``x-deserialize-default-on-error``,
``x-deserialize-skip-invalid-items``), and open: words and kinds that the schema does not
list are kept.

Invariant: validation fails with ``ValidationError`` alone, whatever JSON value comes in.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Annotated, Any, Final, TypeAlias, TypeVar, Union, get_args

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    GetCoreSchemaHandler,
    ValidationError,
    ValidatorFunctionWrapHandler,
    WrapValidator,
)
from pydantic.alias_generators import to_camel
from pydantic_core import core_schema

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


@dataclass(frozen=True, slots=True)
class DefaultOnError:
    """A broken value counts as ``default``, which is the field's default too."""

    default: object = None

    def __get_pydantic_core_schema__(
        self, source: Any, handler: GetCoreSchemaHandler
    ) -> core_schema.CoreSchema:
        """The schema of the value, with the default for what does not fit."""
        # Not a validator of ours: those cost as much as all the rest of a message. The mark
        # of what is missing is never in one, so it is not tried as a kind of value either.
        if self.default is MISSING:
            source = Union[tuple(x for x in get_args(source) if x is not Missing)]  # noqa: UP007  there is no other way to make one of a list
        return core_schema.with_default_schema(
            handler(source), default=self.default, on_error="default"
        )


@dataclass(frozen=True, slots=True)
class SkippedOnError:
    """A broken item is left out of its list."""

    def __get_pydantic_core_schema__(
        self, source: Any, handler: GetCoreSchemaHandler
    ) -> core_schema.CoreSchema:
        """The schema of the item, which is omitted when it does not fit."""
        return core_schema.with_default_schema(handler(source), on_error="omit")


def empty_on_error(value: object, handler: ValidatorFunctionWrapHandler) -> object:
    """A broken list counts as an empty one; the field itself stays required."""
    try:
        return handler(value)
    except ValidationError:
        return []


Lenient: TypeAlias = Annotated[T, DefaultOnError(None)]
Flag: TypeAlias = Annotated[bool, DefaultOnError(default=False)]
Patched: TypeAlias = Annotated[T | None | Missing, DefaultOnError(MISSING)]
Items: TypeAlias = list[Annotated[T, SkippedOnError()]]
OrEmpty: TypeAlias = Annotated[T, WrapValidator(empty_on_error)]
Filled: TypeAlias = Annotated[str, Field(min_length=1)]
Count: TypeAlias = Annotated[int, Field(ge=0)]
Raw: TypeAlias = dict[str, Any]

OTHER: Final = "other"


def kind_of(key: str, *known: str, otherwise: str | None = None) -> Callable[[Any], str | None]:
    """Tells the kind of an object by its string under ``key``; ``OTHER`` for unknown ones.

    ``otherwise``: the kind of an object without such a string; ``None``: that is an error.
    """
    kinds = frozenset(known)

    def kind(value: Any) -> str | None:
        if not isinstance(value, dict):
            return None
        word = value.get(key)
        if not isinstance(word, str):
            return otherwise
        return word if word in kinds else OTHER

    return kind


def has(key: str, then: str, otherwise: str) -> Callable[[Any], str | None]:
    """Tells the kind of an object by whether it has ``key``."""

    def kind(value: Any) -> str | None:
        if not isinstance(value, dict):
            return None
        return then if key in value else otherwise

    return kind
