"""The demo agent, driven as a process: the protocol, both versions."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING, Any, Protocol

import pytest
from demo_client import AgentError, DemoClient

from acpls.demo.project import copy_to

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


class Start(Protocol):
    """Start an agent in the sample project."""

    def __call__(self, version: int, *arguments: str, **offered: bool) -> DemoClient: ...


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    clients = []
    root = copy_to(tmp_path / "tea")

    def begin(version: int, *arguments: str, **offered: bool) -> DemoClient:
        clients.append(DemoClient(version, root, *arguments, **offered))
        return clients[-1]

    yield begin
    for client in clients:
        client.close()


versions = pytest.mark.parametrize("version", [1, 2])


# --- the handshake -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("protocol", "asked", "answer"),
    [("auto", 1, 1), ("auto", 2, 2), ("auto", 9, 2), ("1", 2, 1), ("2", 2, 2)],
)
def test_it_speaks_the_highest_version_that_both_know(
    start: Start, protocol: str, asked: int, answer: int
) -> None:
    client = start(answer, "--protocol", protocol)
    info = {"name": "test", "version": "1"}
    assert client.ask("initialize", protocolVersion=asked, info=info)["protocolVersion"] == answer


@pytest.mark.parametrize(
    ("params", "code"),
    [
        ({"protocolVersion": 1}, -32022),
        ({"protocolVersion": 2}, -32602),
        ({"protocolVersion": "2"}, -32602),
        ({}, -32602),
    ],
)
def test_a_handshake_that_cannot_be_answered(
    start: Start, params: dict[str, Any], code: int
) -> None:
    with pytest.raises(AgentError) as caught:
        start(2, "--protocol", "2").ask("initialize", **params)
    assert caught.value.code == code
    if code == -32022:
        assert caught.value.data == {"requested": 1, "supported": [2]}


def test_a_handshake_can_be_repeated_until_the_first_other_request(start: Start) -> None:
    client = start(1, "--protocol", "1")
    client.ask("initialize", protocolVersion=2, info={"name": "test", "version": "1"})
    client.open()
    with pytest.raises(AgentError) as caught:
        client.hello()
    assert caught.value.code == -32600


def test_other_requests_come_after_the_handshake(start: Start) -> None:
    with pytest.raises(AgentError) as caught:
        start(2).ask("session/list")
    assert caught.value.code == -32600


# --- the wire ----------------------------------------------------------------------------


def test_a_broken_line_is_answered_and_the_next_is_read(start: Start) -> None:
    client = start(2)
    for line, code in [
        (b"{oh", -32700),
        (b'"\xff"', -32700),
        (b"[" * 100_000, -32700),
        (b"[]", -32600),
        (b"{}", -32600),
        (b'{"id": [], "method": "session/list"}', -32600),
        (b'{"id": true, "method": "session/list"}', -32600),
    ]:
        client.raw(line + b"\n")
        message = client.message()
        assert (message["id"], message["error"]["code"]) == (None, code)
    assert client.hello()["protocolVersion"] == 2


@versions
def test_unknown_things(start: Start, version: int) -> None:
    client = start(version).open()
    client.send({"method": "unknown/notification", "params": {}})
    client.send({"method": "session/cancel", "params": {"sessionId": "never heard of"}})
    client.send({"method": "session/cancel"})
    client.send({"id": 999, "result": {}})
    client.raw(b"\r\n\n")
    client.send({"id": "word", "method": "session/list", "params": [1]})
    message = client.message()
    assert (message["id"], message["error"]["code"]) == ("word", -32602)
    for method in ("unknown/request", "_own/request", "authenticate", "terminal/create"):
        with pytest.raises(AgentError) as caught:
            client.ask(method)
        assert caught.value.code == -32601


def test_an_id_may_be_null_in_version_1(start: Start) -> None:
    client = start(1)
    client.send({"id": None, "method": "unknown/request"})
    assert client.message()["error"]["code"] == -32600


# --- sessions ----------------------------------------------------------------------------


def test_a_new_session_in_version_1(start: Start) -> None:
    client = start(1)
    client.hello()
    new = client.ask("session/new", cwd=str(client.cwd), mcpServers=[])
    assert new["sessionId"] == "demo-1"
    assert new["modes"]["currentModeId"] == "ask"
    assert {one["id"] for one in new["modes"]["availableModes"]} >= {"ask", "code", "auto"}
    commands = client.until("available_commands_update")["availableCommands"]
    assert {"explain", "rename", "plan"} <= {one["name"] for one in commands}


def test_a_new_session_in_version_2(start: Start) -> None:
    client = start(2)
    client.hello()
    new = client.ask("session/new", cwd=str(client.cwd))
    assert [one["configId"] for one in new["configOptions"]] == ["mode", "pace"]
    assert {"explain", "rename", "plan"} <= {one["name"] for one in new["availableCommands"]}


@versions
def test_sessions_are_listed_closed_and_deleted(start: Start, version: int) -> None:
    client = start(version).open()
    client.say("help")
    other = client.ask("session/new", cwd=str(client.cwd / "src"), mcpServers=[])["sessionId"]
    ours = {"sessionId": client.session, "cwd": str(client.cwd), "title": "help"}
    assert client.ask("session/list")["sessions"][0] == ours
    assert client.ask("session/list", cwd=str(client.cwd))["sessions"] == [ours]
    assert client.ours("session/close") == {}
    with pytest.raises(AgentError) as caught:
        client.result(client.start("help"))
    assert (caught.value.code, caught.value.data) == (-32002, {"sessionId": client.session})
    client.ask("session/delete", sessionId=other)
    assert client.ask("session/list")["sessions"] == [ours]
    with pytest.raises(AgentError) as caught:
        client.ask("session/close", sessionId=other)
    assert caught.value.code == -32002


@versions
def test_a_session_comes_back_with_what_was_said(start: Start, version: int) -> None:
    client = start(version).open()
    client.say("help")
    said = client.text()
    client.ours("session/close")
    client.seen.clear()
    if version == 1:
        client.ours("session/load", cwd=str(client.cwd), mcpServers=[])
        assert client.updates()[0]["content"]["text"] == "help"
    else:
        client.ours("session/resume", cwd=str(client.cwd), replayFrom={"type": "start"})
        tail = [one["sessionUpdate"] for one in client.updates()[-2:]]
        assert tail == ["replay_complete", "state_update"]
        assert client.updates()[0]["content"][0]["text"] == "help"
    assert client.text() == said
    client.seen.clear()
    client.ours("session/resume", cwd=str(client.cwd))
    assert client.text() == ""
    assert client.say("help") == "end_turn"
    with pytest.raises(AgentError) as caught:
        client.ours("session/resume", cwd="/elsewhere")
    assert caught.value.code == -32602


@versions
def test_wrong_params(start: Start, version: int) -> None:
    client = start(version).open()
    image = {"type": "image", "data": "", "mimeType": "image/png"}
    wrong: list[tuple[str, dict[str, Any]]] = [
        ("session/new", {"cwd": "src", "mcpServers": []}),
        ("session/new", {"cwd": "/no/such/folder", "mcpServers": []}),
        ("session/new", {"mcpServers": []}),
        ("session/prompt", {"prompt": []}),
        ("session/prompt", {"prompt": [image]}),
        ("session/prompt", {"prompt": [{"type": "text"}]}),
        ("session/set_config_option", {"configId": "pace", "value": "slow", "type": "id"}),
        ("session/set_config_option", {"configId": "pace", "value": True, "type": "boolean"}),
        ("session/set_config_option", {"configId": "colour", "value": "red", "type": "id"}),
    ]
    if version == 1:
        wrong.append(("session/new", {"cwd": str(client.cwd)}))
        wrong.append(("session/set_mode", {"modeId": "unknown"}))
    else:
        wrong.append(("session/set_config_option", {"configId": "pace", "value": "calm"}))
        wrong.append(("session/resume", {"cwd": str(client.cwd), "replayFrom": {"type": "end"}}))
        wrong.append(("tool_call/cancel", {"toolCallId": "call-1"}))
    for method, params in wrong:
        with pytest.raises(AgentError) as caught:
            client.ours(method, **params)
        assert caught.value.code == -32602, (method, params)


# --- turns -------------------------------------------------------------------------------


def test_a_turn_in_version_2_begins_with_its_message_and_ends_idle(start: Start) -> None:
    client = start(2).open()
    assert client.say("help") == "end_turn"
    echo, response, running, title = client.seen[:4]
    assert echo["params"]["update"]["sessionUpdate"] == "user_message"
    assert response["result"]["messageId"] == echo["params"]["update"]["messageId"]
    assert running["params"]["update"]["state"] == "running"
    assert title["params"]["update"]["title"] == "help"
    assert [one["sessionUpdate"] for one in client.updates()[-2:]] == [
        "usage_update",
        "state_update",
    ]
    client.say("help")
    assert not client.updates("session_info_update")


@versions
@pytest.mark.parametrize("prompt", ["talk at length", "slow"])
def test_cancel_ends_the_work_at_once(start: Start, version: int, prompt: str) -> None:
    client = start(version).open("calm")
    number = client.start(prompt)
    client.until("agent_message_chunk")
    if prompt == "slow":
        client.until("tool_call" if version == 1 else "tool_call_update")
    client.cancel()
    assert client.end(number) == "cancelled"
    statuses = [one["status"] for one in client.calls().values()]
    closed = "failed" if version == 1 else "cancelled"
    assert statuses == ([closed] if prompt == "slow" else [])
    assert len(client.text()) < 1000
    client.cancel()
    assert client.say("talk 2 words") == "end_turn"


@versions
def test_cancel_takes_back_an_open_question(start: Start, version: int) -> None:
    client = start(version).open()
    client.answers = ["silence"]
    number = client.start("delete README.md")
    question = client.until_method("session/request_permission")["id"]
    client.cancel()
    assert client.end(number) == "cancelled"
    assert client.asked("$/cancel_request") == [{"requestId": question}]
    client.send({"id": question, "result": {"outcome": {"outcome": "cancelled"}}})
    assert (client.cwd / "README.md").exists()
    assert [one["status"] for one in client.calls().values()] != ["completed"]
    assert client.say("help") == "end_turn"


@versions
def test_prompts_that_wait_are_cancelled_too(start: Start, version: int) -> None:
    client = start(version).open()
    first = client.start("slow")
    client.until("tool_call" if version == 1 else "tool_call_update")
    waiting = client.start("help")
    client.ask("session/list")
    client.cancel()
    if version == 1:
        assert [client.end(waiting), client.end(first)] == ["cancelled", "cancelled"]
    else:
        with pytest.raises(AgentError) as caught:
            client.result(waiting)
        assert caught.value.code == -32800


@versions
def test_a_prompt_that_waits_comes_next(start: Start, version: int) -> None:
    client = start(version).open()
    first, second = client.start("talk 30 words"), client.start("help")
    assert [client.end(first), client.end(second)] == ["end_turn", "end_turn"]
    assert "I work on the files" in client.text()


@versions
def test_close_ends_the_work(start: Start, version: int) -> None:
    client = start(version).open()
    client.start("slow")
    client.until("agent_message_chunk")
    client.ours("session/close")
    client.seen.clear()
    client.ask("session/list")
    assert not client.updates()


@versions
@pytest.mark.parametrize("prompt", ["talk at length", "slow", "rename steep_time to brew_time"])
def test_it_ends_with_its_input_in_the_middle_of_work(
    start: Start, version: int, prompt: str
) -> None:
    client = start(version).open("calm")
    client.answers = ["silence"]
    client.start(prompt)
    client.until("agent_thought_chunk" if prompt[0] == "r" else "agent_message_chunk")
    assert client.finish() == 0


def test_it_ends_well_when_nobody_reads_any_more() -> None:
    process = subprocess.Popen(
        [sys.executable, "-m", "acpls.demo.agent"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert process.stdout
    process.stdout.close()
    _, complaints = process.communicate(b'{"id": 1, "method": "session/list"}\n' * 3, timeout=10)
    assert (process.returncode, complaints) == (0, b"")


def test_the_same_conversation_gives_the_same_messages(start: Start) -> None:
    """Only the files' own folder is the same here; nothing else is told to the agent."""
    for version in (1, 2):
        seen = []
        for _ in range(2):
            client = start(version).open()
            for prompt in ("explain src/teas.py", "plan a tea party", "ask", "talk 20 words"):
                client.say(prompt, "assam", "pot")
                seen.append(list(client.seen))
        assert seen[:4] == seen[4:]


def test_nothing_of_the_server_is_imported() -> None:
    code = "import sys, acpls.demo.agent; print(*sys.modules)"
    names = subprocess.run(
        [sys.executable, "-c", code], check=True, capture_output=True, text=True
    ).stdout.split()
    ours = [name for name in names if name.startswith("acpls.")]
    assert [name for name in ours if not name.startswith("acpls.demo")] == []
    assert not {"anyio", "asyncio", "pydantic", "pygls", "lsprotocol"} & set(names)
