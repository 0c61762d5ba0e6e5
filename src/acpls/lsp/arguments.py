"""The gate for what editors send us: arguments of commands, params of our own methods.

Wrong arguments raise ``WrongArguments`` with the field at fault; what passes has the
shape that the hub expects. Keys are camelCase, as on the wire (docs/protocol.md).
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError
from pydantic_core import PydanticCustomError

if TYPE_CHECKING:
    from collections.abc import Sequence


class WrongArguments(Exception):  # noqa: N818  the editor's fault, answered with -32602
    """Arguments do not fit: one line, and the path to the field."""

    def __init__(self, message: str, field: str) -> None:
        super().__init__(message)
        self.field = field


class _Closed(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)


def _absolute(path: str) -> str:
    if not re.match(r"/|[A-Za-z]:[\\/]", path):
        raise PydanticCustomError("absolute", "Input should be an absolute path")
    return path


def _option_value(value: object) -> object:
    # Of a union pydantic would put the kinds it tried into the path of the field.
    if not isinstance(value, str | bool):
        raise PydanticCustomError("option_value", "Input should be a string or a boolean")
    return value


def _only_true(value: bool) -> bool:  # noqa: FBT001 -- pydantic gives it so
    # ``false`` must not be taken for nothing at all, which means all.
    if not value:
        raise PydanticCustomError("only_true", "Input should be true")
    return value


class _Position(_Closed):
    line: Annotated[int, Field(ge=0)]
    character: Annotated[int, Field(ge=0)]


class _Range(_Closed):
    start: _Position
    end: _Position


class _Context(_Closed):
    uri: str
    range: _Range | None = None


class _Nothing(_Closed):
    pass


class _Agent(_Closed):
    agent: str | None = None


class _AgentNamed(_Closed):
    agent: str


class _Login(_Agent):
    methodId: str | None = None  # noqa: N815  named as on the wire


class _Log(_Agent):
    lines: Annotated[int, Field(gt=0)] | None = None


class _New(_Agent):
    cwd: Annotated[str, AfterValidator(_absolute)] | None = None
    title: str | None = None


class _List(_Agent):
    cwd: Annotated[str, AfterValidator(_absolute)] | None = None
    cursor: str | None = None


class _Session(_Closed):
    session: str | None = None


class _Rename(_Session):
    title: str


class _ToolCall(_Session):
    toolCall: str  # noqa: N815  named as on the wire


class _Terminal(_Session):
    terminal: str


class _Prompt(_Session):
    text: str | None = None
    blocks: list[dict[str, Any]] | None = None
    context: list[_Context] | None = None


class _Send(_Session):
    uri: str | None = None


class _Ask(_Session):
    uri: str | None = None
    range: _Range | None = None
    intent: Literal["ask", "fix", "explain"] | None = None


class _SetOption(_Session):
    option: str
    value: Annotated[Any, AfterValidator(_option_value)]


class _Output(_Session):
    terminal: str | None = None
    toolCall: str | None = None  # noqa: N815  named as on the wire
    offset: Annotated[int, Field(ge=0)] | None = None
    limit: Annotated[int, Field(gt=0)] | None = None


class _Question(_Closed):
    question: str | None = None


class _Answer(_Question):
    option: str | None = None
    action: Literal["dismiss"] | None = None
    scope: Literal["session", "workspace", "user"] | None = None


class _Revoke(_Closed):
    rule: str | None = None


class _Review(_Session):
    uri: str | None = None


class _Verdict(_Closed):
    hunk: str | None = None
    uri: str | None = None
    session: str | None = None
    all: Annotated[bool, AfterValidator(_only_true)] | None = None


class _Keep(_Verdict):
    over: bool | None = None


class _Mode(_Closed):
    mode: Literal["after", "before", "off"] | None = None


class _Diff(_Closed):
    uri: str


class _Restore(_Closed):
    checkpoint: str
    dryRun: bool | None = None  # noqa: N815  named as on the wire
    over: bool | None = None


class _Follow(_Session):
    on: bool | None = None


_MODELS: dict[str, type[_Closed]] = {
    "acpls.agent.list": _Nothing,
    "acpls.agent.start": _Agent,
    "acpls.agent.restart": _Agent,
    "acpls.agent.stop": _Agent,
    "acpls.agent.log": _Log,
    "acpls.agent.select": _AgentNamed,
    "acpls.agent.login": _Login,
    "acpls.agent.cancelLogin": _Agent,
    "acpls.agent.logout": _Agent,
    "acpls.session.new": _New,
    "acpls.session.list": _List,
    "acpls.session.get": _Session,
    "acpls.session.close": _Session,
    "acpls.session.resume": _Session,
    "acpls.session.fork": _Session,
    "acpls.session.rename": _Rename,
    "acpls.session.prompt": _Prompt,
    "acpls.session.send": _Send,
    "acpls.session.fetch": _Session,
    "acpls.session.openConversation": _Session,
    "acpls.session.ask": _Ask,
    "acpls.session.cancel": _Session,
    "acpls.session.endTurn": _Session,
    "acpls.session.setOption": _SetOption,
    "acpls.toolCall.cancel": _ToolCall,
    "acpls.terminal.cancel": _Terminal,
    "acpls.output.read": _Output,
    "acpls.question.list": _Session,
    "acpls.question.show": _Question,
    "acpls.question.answer": _Answer,
    "acpls.permission.list": _Nothing,
    "acpls.permission.revoke": _Revoke,
    "acpls.review.list": _Review,
    "acpls.review.keep": _Keep,
    "acpls.review.reject": _Verdict,
    "acpls.review.diff": _Diff,
    "acpls.review.setMode": _Mode,
    "acpls.checkpoint.list": _Session,
    "acpls.checkpoint.restore": _Restore,
    "acpls.follow.set": _Follow,
    "acpls.follow.trail": _Session,
    "acpls.follow.goTo": _Session,
    "acpls.status": _Nothing,
}


class Focus(_Closed):
    """Params of ``acp/focus/changed``."""

    uri: str | None = None
    selection: _Range | None = None
    typing: bool = False


class Shown(_Closed):
    """Params of ``acp/question/shown``."""

    question: str


def checked(command: str, arguments: Sequence[Any] | None) -> dict[str, Any]:
    """The one argument of a command, checked. Raises ``WrongArguments``."""
    given = arguments or []
    if len(given) > 1:
        message = "A command takes no argument or one object"
        raise WrongArguments(message, "arguments")
    first = given[0] if given and given[0] is not None else {}
    return fitting(_MODELS[command], first)


def fitting(model: type[_Closed], value: object) -> dict[str, Any]:
    """``value`` as JSON that fits ``model``, without what was left out or null."""
    try:
        return model.model_validate(value).model_dump(exclude_none=True)
    except ValidationError as unfit:
        first = unfit.errors(include_url=False)[0]
        field = ".".join(str(part) for part in first["loc"]) or "arguments"
        message = f"{field}: {first['msg']}"
        raise WrongArguments(message, field) from None
