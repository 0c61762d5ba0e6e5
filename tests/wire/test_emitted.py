"""Everything that we send fits the published schema, and all of the schema is put to use.

Asks of every kind go to agents of every ability; answers of every kind go to requests of
every shape. What comes out is held against the definition of its method, to the last field.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from schema_forms import META, UNKNOWN, Form, Json, children, forms, forms_of, methods
from schema_making import TURNS, Drawn, Least, Most, made
from schema_tables import NOT_SENT

from acp_schema import check, check_call, check_result
from acpls.client.dialect import (
    Call,
    ClientInfo,
    TerminalCreated,
    TerminalExited,
    TerminalOutput,
)
from acpls.client.v1 import DialectV1
from acpls.client.v2 import DialectV2
from acpls.session import asks
from acpls.session.content import Exit, Media, Resource, ResourceLink, Text
from acpls.wire import jsonrpc

if TYPE_CHECKING:
    from collections.abc import Iterator

    from schema_making import Chooser

    from acpls.client.dialect import Dialect, TerminalAnswer
    from acpls.session.asks import Answer, Ask
    from acpls.session.content import Block

VERSIONS: Final = (1, 2)
CLIENT: Final = ClientInfo("acpls", "1.0", "acpls in an editor")


def dialect(version: int, chooser: Chooser) -> Dialect:
    """One that knows an agent: what it can do is chosen, its sessions have modes and models."""
    it: Dialect = DialectV1("a") if version == 1 else DialectV2("a")
    it.initialize(CLIENT)
    (form,) = forms_of(version, "InitializeResponse")
    it.facts(made(version, form, chooser).value | {"protocolVersion": version})
    return it


# --- what we ask -------------------------------------------------------------------------

TEXTS: Final = st.text(max_size=4)
NAMES: Final = st.text(min_size=1, max_size=4)
PATHS: Final = NAMES.map(lambda x: f"/w/{x}")
PAIRS: Final = st.lists(st.tuples(NAMES, TEXTS), max_size=2).map(tuple)
SERVERS: Final = st.builds(
    asks.McpServer, NAMES, st.just("stdio"), PATHS, st.lists(TEXTS, max_size=2).map(tuple), PAIRS
) | st.builds(asks.McpServer, NAMES, st.sampled_from(["http", "sse"]), url=NAMES, headers=PAIRS)
OPENINGS: Final = st.builds(
    asks.Opening,
    PATHS,
    st.lists(PATHS, max_size=2).map(tuple),
    st.lists(SERVERS, max_size=3).map(tuple),
    st.none() | st.builds(asks.SystemPrompt, st.sampled_from(["append", "override"]), TEXTS),
)
MAYBE: Final = st.none() | NAMES
BLOCKS: Final[st.SearchStrategy[Block]] = st.one_of(
    st.builds(Text, TEXTS),
    st.builds(Media, st.just("image"), st.just("YQ=="), st.just("image/png"), MAYBE),
    st.builds(Media, st.just("audio"), st.just("YQ=="), st.just("audio/wav")),
    st.builds(ResourceLink, NAMES, NAMES, MAYBE, MAYBE, MAYBE, st.none() | st.integers(0, 9)),
    st.builds(Resource, NAMES, text=TEXTS, mime_type=MAYBE),
    st.builds(Resource, NAMES, blob=st.just("YQ=="), mime_type=MAYBE),
)
ASKS: Final[st.SearchStrategy[Ask]] = st.one_of(
    st.builds(asks.NewSession, OPENINGS),
    st.builds(asks.ResumeSession, NAMES, OPENINGS, st.booleans()),
    st.builds(asks.ForkSession, NAMES, OPENINGS),
    st.builds(asks.ListSessions, st.none() | PATHS, MAYBE),
    st.builds(asks.DeleteSession, NAMES),
    st.builds(asks.SetTitle, NAMES, TEXTS),
    st.builds(asks.LogIn, NAMES),
    st.builds(asks.LogOut),
    st.builds(asks.Prompt, NAMES, st.lists(BLOCKS, min_size=1, max_size=3).map(tuple)),
    st.builds(asks.Cancel, NAMES),
    st.builds(asks.CancelToolCall, NAMES, NAMES),
    st.builds(asks.CancelTerminal, NAMES, NAMES),
    st.builds(asks.SetOption, NAMES, NAMES, NAMES | st.booleans()),
    st.builds(asks.CloseSession, NAMES),
)

STDIO: Final = asks.McpServer("n", "stdio", "/bin/x", ("-a",), (("K", "v"),))
HTTP: Final = asks.McpServer("n", "http", url="https://x", headers=(("K", "v"),))
SSE: Final = asks.McpServer("n", "sse", url="https://x", headers=(("K", "v"),))
FULL: Final = asks.Opening(
    "/w", ("/x",), (STDIO, HTTP, SSE), asks.SystemPrompt("override", "Be brief.")
)
EVERY_BLOCK: Final[tuple[Block, ...]] = (
    Text("t"),
    Media("image", "YQ==", "image/png", "u"),
    Media("audio", "YQ==", "audio/wav"),
    ResourceLink("u", "n", "T", "text/plain", "d", 3),
    Resource("u", text="t", mime_type="text/plain"),
    Resource("u", blob="YQ==", mime_type="text/plain"),
)
# One of each, with all that it can have.
EVERY_ASK: Final[tuple[Ask, ...]] = (
    asks.NewSession(FULL),
    asks.ResumeSession("s", FULL),
    asks.ResumeSession("s", FULL, replay=True),
    asks.ForkSession("s", FULL),
    asks.ListSessions("/w", "c"),
    asks.DeleteSession("s"),
    asks.SetTitle("s", "T"),
    asks.LogIn("m"),
    asks.LogOut(),
    asks.Prompt("s", EVERY_BLOCK),
    asks.Cancel("s"),
    asks.CancelToolCall("s", "t"),
    asks.CancelTerminal("s", "t"),
    asks.SetOption("s", "mode", "m"),
    asks.SetOption("s", "model", "m"),
    asks.SetOption("s", "o", "v"),
    asks.SetOption("s", "o", value=True),
    asks.CloseSession("s"),
)
OPENED: Final = {
    "sessionId": "s",
    "modes": {"currentModeId": "n", "availableModes": [{"id": "m", "name": "M"}]},
    "models": {"currentModelId": "n", "availableModels": [{"modelId": "m", "name": "M"}]},
}


def said(version: int, it: Dialect, ask: Ask) -> Call | asks.Failure:
    """The message for an ask, which is what an agent takes."""
    call = it.say(ask)
    if isinstance(call, Call):
        check_call(version, call.method, call.params)
        name, result = methods(version, "agent")[call.method]
        assert seen(version, {"$ref": f"#/$defs/{name}"}, call.params) is not None
        assert call.expects_reply == (result is not None)
    return call


@st.composite
def able(draw: st.DrawFn, version: int) -> Dialect:
    return dialect(version, Drawn(draw))


@pytest.mark.parametrize("version", VERSIONS)
def test_every_ask_is_a_message_or_a_refusal(version: int) -> None:
    @settings(max_examples=150)
    @given(able(version), ASKS)
    def one(it: Dialect, ask: Ask) -> None:
        call = said(version, it, ask)
        if isinstance(call, asks.Failure):
            check(version, "Error", {"code": call.code, "message": call.message})

    one()


@pytest.mark.parametrize("version", VERSIONS)
def test_initialize(version: int) -> None:
    it: Dialect = DialectV1("a") if version == 1 else DialectV2("a")
    call = it.initialize(CLIENT)
    check_call(version, "initialize", call.params)
    assert seen(version, {"$ref": "#/$defs/InitializeRequest"}, call.params)


@pytest.mark.parametrize("version", VERSIONS)
def test_every_method_of_an_agent_is_called(version: int) -> None:
    it = able_to_all(version)
    called = {x.method for x in (said(version, it, x) for x in EVERY_ASK) if isinstance(x, Call)}
    assert called | {"initialize"} == set(methods(version, "agent"))


@pytest.mark.parametrize("version", VERSIONS)
def test_an_agent_that_can_do_nothing_is_asked_for_little(version: int) -> None:
    it = dialect(version, Least())
    called = [x for x in (said(version, it, x) for x in EVERY_ASK) if isinstance(x, Call)]
    assert len({x.method for x in called}) < len(methods(version, "agent")) - 1
    for call in called:
        assert not {"additionalDirectories", "systemPrompt"} & set(call.params)


def able_to_all(version: int) -> Dialect:
    it = dialect(version, Most())
    it.replied(0, asks.NewSession(FULL), OPENED)
    return it


# --- what we answer ------------------------------------------------------------------------

VALUES: Final[Json] = {"s": "t", "i": 1, "n": 1.5, "b": True, "l": ["x"]}
FAILURE: Final = asks.Failure(-32603, "It broke", "with details")
EXITS: Final = (Exit(0), Exit(-9, "SIGKILL"), Exit(None, None))
ANSWERS: Final[dict[str, tuple[Answer | TerminalAnswer, ...]]] = {
    "session/request_permission": (asks.Selected("o"), asks.Cancelled(), asks.Declined()),
    "elicitation/create": (
        asks.Accepted(),
        asks.Accepted(VALUES),
        asks.Declined(),
        asks.Cancelled(),
    ),
    "fs/read_text_file": (asks.FileText(""), asks.FileText("t\n"), asks.Cancelled()),
    "fs/write_text_file": (asks.Done(), asks.Cancelled()),
    "terminal/create": (TerminalCreated("t"),),
    "terminal/output": (
        TerminalOutput("t"),
        *(TerminalOutput("t", True, x) for x in EXITS),
    ),
    "terminal/wait_for_exit": tuple(map(TerminalExited, EXITS)),
    "terminal/kill": (asks.Done(),),
    "terminal/release": (asks.Done(),),
}
REQUESTS: Final = [
    pytest.param(version, method, name, id=f"v{version}-{method}")
    for version in VERSIONS
    for method, (name, result) in methods(version, "client").items()
    if result is not None
]


def results(version: int, method: str, params: Json) -> Iterator[object]:
    """What is answered to a request, by each answer that it can have."""
    for answer in (*ANSWERS[method], FAILURE):
        it: Dialect = DialectV1("a") if version == 1 else DialectV2("a")
        asked = it.asked(1, method, params)
        if asked.result is not None:
            yield asked.result
            return
        response = it.answer(1, answer)
        if response.failure is None:
            yield response.result
        else:
            failure = response.failure
            body = jsonrpc.error(1, failure.code, failure.message, failure.detail)["error"]
            check(version, "Error", body)


@pytest.mark.parametrize(("version", "method", "name"), REQUESTS)
def test_every_answer_is_a_result_or_an_error(version: int, method: str, name: str) -> None:
    for form in forms_of(version, name):
        for chooser in (Least(), *map(Most, TURNS)):
            given_back = list(results(version, method, made(version, form, chooser).value))
            assert given_back
            for it in given_back:
                check_result(version, method, it)
                result = methods(version, "client")[method][1]
                assert seen(version, {"$ref": f"#/$defs/{result}"}, it) is not None


@pytest.mark.parametrize("version", VERSIONS)
def test_whole_messages(version: int) -> None:
    """What stands around parameters and results is of the schema as well."""
    it = able_to_all(version)
    for ask in EVERY_ASK:
        call = it.say(ask)
        if isinstance(call, Call) and call.expects_reply:
            check(version, "ClientRequest", bare(jsonrpc.request(1, call.method, call.params)))
        elif isinstance(call, Call):
            check(
                version, "ClientNotification", bare(jsonrpc.notification(call.method, call.params))
            )
    check(version, "ClientResponse", bare(jsonrpc.result(1, {})))
    check(version, "ClientResponse", bare(jsonrpc.error("x", -32601, "No", {"d": 1})))


def bare(message: Json) -> Json:
    assert message["jsonrpc"] == "2.0"
    return {name: it for name, it in message.items() if name != "jsonrpc"}


# --- all of the schema -----------------------------------------------------------------------


def seen(version: int, schema: Any, value: object) -> set[tuple[str, str]] | None:
    """The fields that are used in a value, by label; ``None`` when it has strange ones."""
    for form in forms(version, schema):
        used = seen_as(version, form, value)
        if used is not None:
            return used
    return None


KINDS: Final[dict[str, tuple[type, ...]]] = {
    "array": (list,),
    "object": (dict,),
    "string": (str,),
    "boolean": (bool,),
    "integer": (int,),
    "number": (int, float),
    "null": (type(None),),
}


def seen_as(version: int, form: Form, value: Any) -> set[tuple[str, str]] | None:
    if form.kind in KINDS and not isinstance(value, KINDS[form.kind]):
        return None
    if "const" in form.limits and form.limits["const"] != value:
        return None
    if UNKNOWN in form.tags.values():
        # Words that no schema has are never ours to send.
        return None
    used: set[tuple[str, str]] = set()
    if form.kind == "array":
        parts = [("", form.limits.get("items", True), x) for x in value]
    elif form.kind == "object":
        wrong = {k for k, word in form.tags.items() if value.get(k) != word}
        more = form.limits.get("additionalProperties")
        strange = set(value) - set(form.fields) if not isinstance(more, dict) else set()
        if wrong or strange or form.required - set(value):
            return None
        parts = [(name, form.fields.get(name, more), x) for name, x in value.items()]
        used |= {(form.label, name) for name in value}
    else:
        return used
    for name, schema, inner in parts:
        if name == META:
            continue
        found = seen(version, schema, inner)
        if found is None:
            return None
        used |= found
    return used


def sendable(version: int) -> set[tuple[str, str]]:
    """Every field of what a client can send, by label, but for those that are in the table."""
    found: set[tuple[str, str]] = set()
    entered: list[Form] = []

    def enter(it: Form) -> None:
        if it in entered:
            return
        entered.append(it)
        for name, schema in it.read.items():
            found.add((it.label, name))
            if not unsent(version, it.label, name):
                for child in children(version, schema):
                    if UNKNOWN not in child.tags.values():
                        enter(child)

    of = [parameters for parameters, _ in methods(version, "agent").values()]
    of += [result for _, result in methods(version, "client").values() if result is not None]
    for name in of:
        for form in forms_of(version, name):
            if UNKNOWN not in form.tags.values():
                enter(form)
    return found


def unsent(version: int, label: str, name: str) -> bool:
    return bool({(version, label, name), (0, label, name), (0, "*", name)} & set(NOT_SENT))


def used_by_us(version: int) -> set[tuple[str, str]]:
    it = able_to_all(version)
    found = seen(version, {"$ref": "#/$defs/InitializeRequest"}, it.initialize(CLIENT).params)
    assert found is not None
    for ask in EVERY_ASK:
        call = it.say(ask)
        if isinstance(call, Call):
            name, _ = methods(version, "agent")[call.method]
            found |= seen(version, {"$ref": f"#/$defs/{name}"}, call.params) or set()
    for method, (name, result) in methods(version, "client").items():
        if result is not None:
            for form in forms_of(version, name):
                for given_back in results(version, method, made(version, form, Most()).value):
                    found |= seen(version, {"$ref": f"#/$defs/{result}"}, given_back) or set()
    return found


@pytest.mark.parametrize("version", VERSIONS)
def test_every_field_is_sent_or_left_for_a_reason(version: int) -> None:
    unused = sendable(version) - used_by_us(version)
    assert not sorted(x for x in unused if not unsent(version, *x))


def test_what_is_said_not_to_be_sent_is_not() -> None:
    known = {(version, *x) for version in VERSIONS for x in sendable(version)}
    for version, label, name in NOT_SENT:
        of = [x for x in known if version in {0, x[0]} and label in {"*", x[1]} and name == x[2]]
        assert of, f"{label}.{name} is in no schema"
        for found, *field in of:
            assert tuple(field) not in used_by_us(found), f"{label}.{name} is sent"
