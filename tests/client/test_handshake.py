"""Which version an agent speaks: every way the real ones were seen to answer, and worse."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import pytest

from acpls.client.connection import as_failure
from acpls.client.dialect import ClientInfo
from acpls.client.negotiation import make_dialect
from acpls.events import AgentEnded, AgentMisspoke, AgentReady, AgentStarting
from acpls.wire.jsonrpc import Error
from rim_stage import Stage, stage

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.anyio

# Counts its starts in a file, so that a script can behave differently each time.
START = """
with open("starts", "a") as file:
    file.write("x")
start = os.path.getsize("starts")
asked = read()
version = asked["params"]["protocolVersion"]
with open("asked", "a") as file:
    file.write(f"{start}:{version} ")
"""


def asked(it: Stage) -> str:
    """Process number and version of every first ``initialize``."""
    return (it.folder / "asked").read_text().strip()


async def agreed(it: Stage, body: str, protocol: Literal["auto", 1, 2] = "auto") -> int:
    it.start(START + body, protocol=protocol)
    ready = await it.wait(AgentReady)
    return ready.facts.protocol


async def given_up(it: Stage, body: str, protocol: Literal["auto", 1, 2] = "auto") -> str:
    it.start(START + body, protocol=protocol)
    ended = await it.wait(AgentEnded)
    assert not ended.wanted
    assert it.of(AgentReady) == []
    return ended.reason


@pytest.mark.parametrize("field", ["info", "capabilities"])
async def test_2_with_what_2_demands_is_believed(field: str, tmp_path: Path) -> None:
    async with stage(tmp_path) as it:
        body = f'reply(asked, {{"protocolVersion": 2, "{field}": {{}}}})\nserve()'
        assert await agreed(it, body) == 2
        assert asked(it) == "1:2"
        doing = [e.doing for e in it.of(AgentStarting)]
        assert doing[0].startswith("starting /")
        assert doing[1] == "waiting for its answer to initialize (ACP 2)"


@pytest.mark.parametrize("extra", ["{}", '{"info": null, "capabilities": 1}'])
async def test_a_mere_echo_of_2_is_version_1(extra: str, tmp_path: Path) -> None:
    async with stage(tmp_path) as it:
        body = f'reply(asked, {{"protocolVersion": version, **{extra}}})\nserve()'
        body = body.replace("null", "None")
        assert await agreed(it, body) == 1
        assert asked(it) == "1:2 2:1"


async def test_an_answer_of_1_is_initialized_again_in_its_own_shape(tmp_path: Path) -> None:
    async with stage(tmp_path) as it:
        body = """
reply(asked, {"protocolVersion": 1})
again = read()
assert again["params"]["protocolVersion"] == 1 and again["id"] != asked["id"]
reply(again, {"protocolVersion": 1})
serve()
"""
        assert await agreed(it, body) == 1
        assert asked(it) == "1:2"
        it.ask(1)
        it.end()
        await it.wait(AgentEnded)
        # Remembered for as long as we live: version 1 from the first byte.
        it.start(START + 'reply(asked, {"protocolVersion": 1})\nserve()', protocol="auto")
        await it.wait(AgentReady, 2)
        assert asked(it) == "1:2 2:1"


@pytest.mark.parametrize(
    "second",
    [
        'refuse(read(), -32600, "already initialized")\nserve()',
        "sys.exit(1)",
        'read()\nreply({"id": 2}, {"protocolVersion": 1, "broken": True})\nserve()',
        "time.sleep(60)",
    ],
)
async def test_1_that_does_not_take_a_second_initialize_is_restarted(
    second: str, tmp_path: Path
) -> None:
    async with stage(tmp_path, limit_s=1.5 if "sleep" in second else 8) as it:
        body = 'reply(asked, {"protocolVersion": 1})\n'
        branch = second.replace("\n", "\n    ")
        assert await agreed(it, f"{body}if start == 1:\n    {branch}\nserve()") == 1
        assert asked(it) == "1:2 2:1"


@pytest.mark.parametrize(
    "first",
    [
        'refuse(asked, -32022, "unsupported", {"requested": 2, "supported": [1]})',
        'refuse(asked, -32022, "unsupported", "no list")',
        'refuse(asked, -32603, "internal error")',
        "sys.exit(3)",
        "time.sleep(60)",
        'reply(asked, {"protocolVersion": 99})',
        'reply(asked, {"protocolVersion": True})',
        "reply(asked, {})",
        'reply(asked, "a string")',
        'reply(asked, {"protocolVersion": 2, "info": {}, "broken": True})',
    ],
)
async def test_any_other_trouble_with_2_gets_one_restart_with_1(first: str, tmp_path: Path) -> None:
    async with stage(tmp_path, limit_s=1.5 if "sleep" in first else 8) as it:
        body = f'if version == 2:\n    {first}\nelse:\n    reply(asked, {{"protocolVersion": 1}})'
        assert await agreed(it, body + "\nserve()") == 1
        assert asked(it) == "1:2 2:1"
        assert "starting it again with ACP 1: " in it.of(AgentStarting)[2].doing


@pytest.mark.parametrize(
    "first",
    [
        'reply(asked, {"protocolVersion": 2, "info": {}})',
        'refuse(asked, -32602, "info is required")',
        'refuse(asked, -32600, "initialize needs info")',
        'refuse(asked, -32022, "no", {"supported": [2, 3, True]})',
        'refuse(asked, -32022, "no")',
        'refuse(asked, -32603, "missing field info")',
    ],
)
async def test_a_pinned_1_that_speaks_only_2_is_restarted_with_2(
    first: str, tmp_path: Path
) -> None:
    async with stage(tmp_path) as it:
        body = f'if version == 1:\n    {first}\nelse:\n    reply(asked, {{"protocolVersion": 2, '
        assert await agreed(it, body + '"info": INFO})\nserve()', protocol=1) == 2
        assert asked(it) == "1:1 2:2"


@pytest.mark.parametrize(
    "refusal",
    ['reply(asked, {"protocolVersion": 2, "info": {}})', 'refuse(asked, -32602, "info missing")'],
)
async def test_a_remembered_1_is_no_pin(refusal: str, tmp_path: Path) -> None:
    """An agent that was exchanged for one of version 2 alone is started again in 2."""
    async with stage(tmp_path) as it:
        body = f"""
if start == 1:
    reply(asked, {{"protocolVersion": 1}})
    reply(read(), {{"protocolVersion": 1}})
elif version == 1:
    {refusal}
else:
    reply(asked, {{"protocolVersion": 2, "info": INFO}})
serve()
"""
        for count, protocol in ((1, 1), (2, 2), (3, 2)):
            it.start(START + body, protocol="auto")
            assert (await it.wait(AgentReady, count)).facts.protocol == protocol
            it.end()
            await it.wait(AgentEnded, count)
        assert asked(it) == "1:2 2:1 3:2 4:2"


async def test_a_pinned_2_that_speaks_only_1_is_lowered(tmp_path: Path) -> None:
    async with stage(tmp_path) as it:
        body = (
            'reply(asked, {"protocolVersion": 1})\nreply(read(), {"protocolVersion": 1})\nserve()'
        )
        assert await agreed(it, body, protocol=2) == 1
        assert asked(it) == "1:2"


async def test_what_failed_is_not_remembered(tmp_path: Path) -> None:
    async with stage(tmp_path) as it:
        body = """
if start == 1:
    reply(asked, {"protocolVersion": 1})
    reply(read(), {"protocolVersion": 1})
    serve()
elif start > 2:
    reply(asked, {"protocolVersion": 2, "info": INFO})
    serve()
"""
        assert await agreed(it, body) == 1
        it.end()
        await it.wait(AgentEnded)
        it.start(START + body, protocol="auto")
        await it.wait(AgentEnded, 2)
        it.start(START + body, protocol="auto")
        assert (await it.wait(AgentReady, 2)).facts.protocol == 2
        assert asked(it) == "1:2 2:1 3:2"


async def test_the_end_after_both_versions_has_the_last_words(tmp_path: Path) -> None:
    async with stage(tmp_path) as it:
        body = 'print("trace\\nError: no key", file=sys.stderr)\nsys.exit(3)'
        assert await given_up(it, body) == "a ended with exit code 3: Error: no key"
        assert it.of(AgentEnded)[0].exit_code == 3
        assert it.of(AgentEnded)[0].detail == "trace\nError: no key"
        assert asked(it) == "1:2 2:1"


@pytest.mark.parametrize(
    ("body", "protocol", "reason", "tried"),
    [
        ("time.sleep(60)", 1, "a did not answer initialize within 0.5 seconds", "1:1"),
        ("sys.exit(0)", 1, "a ended with exit code 0", "1:1"),
        ('reply(asked, {"protocolVersion": 3})', 1, "a speaks only ACP 3", "1:1"),
        ('refuse(asked, -32000, "log in\\nfirst")', 1, "a refused to initialize: log in", "1:1"),
        (
            'refuse(asked, -32022, "no", {"supported": [3, 4]})',
            "auto",
            "a speaks only ACP 3, 4",
            "1:2",
        ),
        (
            'refuse(asked, -32022, "no", {"supported": [version]})',
            "auto",
            "a refused to initialize: no",
            "1:2 2:1",
        ),
        (
            'refuse(asked, -32602, "never")',
            "auto",
            "a refused to initialize: never",
            "1:2 2:1",
        ),
        (
            'reply(asked, {"protocolVersion": 1, "broken": True})',
            1,
            "a sent an answer to initialize that does not fit: the facts are broken",
            "1:1",
        ),
    ],
)
async def test_when_it_is_given_up_the_reason_is_one_line(
    body: str, protocol: Literal["auto", 1], reason: str, tried: str, tmp_path: Path
) -> None:
    async with stage(tmp_path, limit_s=0.5 if "sleep" in body else 8) as it:
        assert await given_up(it, body + "\nserve()", protocol) == reason
        assert asked(it) == tried


async def test_what_comes_before_the_answer_is_not_taken_for_it(tmp_path: Path) -> None:
    async with stage(tmp_path) as it:
        body = """
print("starting up ...", flush=True)
tell("too early")
say(id=asked["id"], method="early")
assert read()["error"]["code"] == -32600
say(id=77, result={"protocolVersion": 1})
say(id=78, error={"code": 1, "message": "m"})
reply(asked, {"protocolVersion": 2, "info": INFO})
tell("in time")
serve()
"""
        assert await agreed(it, body) == 2
        await it.text("in time")
        assert it.texts() == ["in time"]
        assert [e.problem for e in it.of(AgentMisspoke)] == ["not a message: starting up ..."]
        assert "too early" in it.host.log("a")


async def test_an_end_while_it_is_negotiated_is_wanted(tmp_path: Path) -> None:
    async with stage(tmp_path) as it:
        it.start(START + "time.sleep(60)", protocol="auto")
        await it.until(lambda: it.of(AgentStarting)[1:])
        it.end()
        ended = await it.wait(AgentEnded)
        assert ended == AgentEnded("a", "a was ended", wanted=True)


def test_each_version_is_initialised_in_its_own_shape() -> None:
    """An agent of version 1 learns from its own shape alone what files and terminals we have."""
    client = ClientInfo("acpls", "1")
    first = make_dialect(1, "a").initialize(client).params
    assert set(first) == {"protocolVersion", "clientInfo", "clientCapabilities"}
    assert first["clientCapabilities"]["fs"] == {"readTextFile": True, "writeTextFile": True}
    second = make_dialect(2, "a").initialize(client).params
    assert set(second) == {"protocolVersion", "info", "capabilities"}


@pytest.mark.parametrize("version", [1, 2])
def test_the_real_dialects_are_made(version: Literal[1, 2]) -> None:
    dialect = make_dialect(version, "a")
    call = dialect.initialize(ClientInfo("acpls", "1"))
    assert dialect.version == version
    assert call.params["protocolVersion"] == version


def test_errors_are_one_line_and_a_rest() -> None:
    failure = as_failure(Error(1, 500, "first\nsecond", {"why": "ä"}))
    assert (failure.code, failure.message) == (500, "first")
    assert failure.detail == 'first\nsecond\n{"why": "ä"}'
    assert as_failure(Error(1, 5, " ")).message == "error 5"
    assert as_failure(Error(1, 5, "m")).detail is None
