"""Messages made after the published schemas, and what the dialects make of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from schema_forms import Form, forms_of, methods
from schema_making import Drawn, Made, made

from acp_schema import definitions
from acpls.client.v1 import DialectV1
from acpls.client.v2 import DialectV2
from acpls.session import asks

if TYPE_CHECKING:
    from acpls.client.dialect import Asked, Dialect
    from acpls.events import AgentEvent

# Many tests, so each tries a quarter of what others do.
FEW: Final = settings(max_examples=settings().max_examples // 4)
VERSIONS: Final = (1, 2)

OPENING: Final = asks.Opening("/w")
NEW: Final = asks.NewSession(OPENING)
# What we ask to get each result. ``set_model`` and ``set_mode`` are asked for where an agent
# has shown models or modes.
ASKS: Final[dict[str, asks.Ask]] = {
    "authenticate": asks.LogIn("m"),
    "auth/login": asks.LogIn("m"),
    "logout": asks.LogOut(),
    "auth/logout": asks.LogOut(),
    "session/new": NEW,
    "session/load": asks.ResumeSession("s", OPENING, replay=True),
    "session/resume": asks.ResumeSession("s", OPENING),
    "session/fork": asks.ForkSession("s", OPENING),
    "session/list": asks.ListSessions(),
    "session/delete": asks.DeleteSession("s"),
    "session/close": asks.CloseSession("s"),
    "session/set_title": asks.SetTitle("s", "T"),
    "session/set_mode": asks.SetOption("s", "mode", "m"),
    "session/set_model": asks.SetOption("s", "model", "m"),
    "session/set_config_option": asks.SetOption("s", "o", "v"),
    "session/prompt": asks.Prompt("s", ()),
    "tool_call/cancel": asks.CancelToolCall("s", "t"),
    "terminal/cancel": asks.CancelTerminal("s", "t"),
}


def dialect(version: int) -> Dialect:
    return DialectV1("a") if version == 1 else DialectV2("a")


def update_forms(version: int) -> list[Any]:
    """One parameter for each kind of update: the version, the kind, its forms."""
    kinds: dict[str, list[Form]] = {}
    for it in forms_of(version, "SessionUpdate"):
        kinds.setdefault(it.tags["sessionUpdate"] or "unknown", []).append(it)
    return [pytest.param(version, kind, of, id=f"v{version}-{kind}") for kind, of in kinds.items()]


UPDATES: Final = [x for version in VERSIONS for x in update_forms(version)]
REQUESTS: Final = [
    pytest.param(version, method, name, id=f"v{version}-{method}")
    for version in VERSIONS
    for method, (name, result) in methods(version, "client").items()
    if result is not None
]
RESULTS: Final = [
    pytest.param(version, method, name, id=f"v{version}-{method}")
    for version in VERSIONS
    for method, (_, name) in methods(version, "agent").items()
    if name is not None
]


@st.composite
def messages(draw: st.DrawFn, version: int, of: list[Form]) -> Made:
    """A value of one of these forms."""
    return made(version, draw(st.sampled_from(of)), Drawn(draw))


def notified(version: int, update: object) -> tuple[AgentEvent, ...]:
    return dialect(version).told("session/update", {"sessionId": "s", "update": update})


def answered(version: int, method: str, params: object) -> Asked:
    return dialect(version).asked(1, method, params)


def replied(version: int, method: str, result: object) -> tuple[object, ...]:
    """The events of a result; of ``initialize``, what is known of the agent then."""
    it = dialect(version)
    if method == "initialize":
        return (it.facts(result),)
    if method in {"session/set_mode", "session/set_model"}:
        it.replied(1, NEW, WITH_MODES)
    return it.replied(2, ASKS[method], result)


WITH_MODES: Final = {
    "sessionId": "s",
    "modes": {"currentModeId": "n", "availableModes": [{"id": "m", "name": "M"}]},
    "models": {"currentModelId": "n", "availableModels": [{"modelId": "m", "name": "M"}]},
}


def fits(version: int, schema: Any, value: object) -> bool:
    whole = {"allOf": [schema], "$defs": definitions(version)}
    return bool(Draft202012Validator(whole).is_valid(value))


def means_something(asked: Asked) -> bool:
    """Whether a request leads to anything; a refusal is for what no schema has."""
    assert asked.failure is None
    return bool(asked.events or asked.terminal or asked.result)


def at(value: list[Any], path: tuple[str | int, ...]) -> Any:
    found = value[0]
    for step in path:
        found = found[step]
    return found
