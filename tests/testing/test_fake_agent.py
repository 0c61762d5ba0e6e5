"""The scripted agent speaks ACP as the schemas say, and misbehaves exactly as it is told."""

from __future__ import annotations

import base64
import json
import os
import signal
import subprocess
from pathlib import Path
from typing import Any

import psutil
import pytest
from raw_client import INIT_1, INIT_2, WITHIN, Client, Json, both, schema, validator

from acpls.testing.agent import command, received
from acpls.testing.script import MANNERS, ScriptError, check
from acpls.testing.shapes import git_patch, quoted


def test_the_schemas_know_the_methods() -> None:
    """Else the validation of all other tests would check nothing."""
    for version in (1, 2):
        _, names = schema(version)
        assert names["session/update", "Notification"]
        assert names["session/request_permission", "Request"]
        assert names["initialize", "Response"]
        broken = {"sessionId": "s", "update": {"sessionUpdate": "agent_message_chunk"}}
        assert not validator(version, names["session/update", "Notification"]).is_valid(broken)


# --- scripts -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("script", "complaint"),
    [
        ([], "script: must be an object"),
        ({"turn": []}, "script: unknown member 'turn'"),
        ({"session": {"option": []}}, "session: unknown member 'option'"),
        ({"session": []}, "session: must be an object"),
        ({"initialize": {"manners": ["rude"]}}, "initialize.manners: unknown word 'rude'"),
        ({"ignore": "eof"}, "ignore: must be a list"),
        ({"turns": 3}, "turns: must be a list"),
        ({"turns": [3]}, "turns[0]: must be a list of steps"),
        ({"turns": [[{"sy": "x"}]]}, "turns[0][0]: unknown step: 'sy'"),
        ({"turns": [["fly"]]}, "turns[0][0]: unknown step 'fly'"),
        ({"turns": [[7]]}, "turns[0][0]: must be an object or a word"),
        ({"turns": [[{"say": "x", "loud": 1}]]}, "turns[0][0]: 'say' takes no 'loud'"),
        ({"turns": [[{"say": "x", "end": "y"}]]}, "turns[0][0]: two steps in one: 'say', 'end'"),
        ({"turns": [[{"ask": "?", "then": {"a": ["b"]}}]]}, "[0][0].then.a[0]: unknown step 'b'"),
        ({"turns": [[{"ask": "?", "then": []}]]}, "[0][0].then: must be a list of steps"),
        ({"turns": [[{"ask": "?", "cancelled": ["b"]}]]}, "cancelled[0]: unknown step 'b'"),
        ({"turns": [[{"ask": "?", "call": {"tol": 1}}]]}, "call[0]: unknown step: 'tol'"),
        ({"turns": [[{"wait_cancel": [1]}]]}, "wait_cancel[0]: must be an object or a word"),
        ({"start": [{"say": "x"}]}, "start[0]: 'say' needs a session"),
    ],
)
def test_a_wrong_script_is_refused_with_its_place(script: Any, complaint: str) -> None:
    with pytest.raises(ScriptError) as raised:
        check(script)
    assert complaint in str(raised.value)


def test_a_wrong_script_ends_the_agent_at_once(tmp_path: Path) -> None:
    argv = command({}, tmp_path)
    Path(argv[4]).write_text('{"turns": [["fly"]]}')
    ended = subprocess.run(argv, capture_output=True, text=True, check=False, timeout=WITHIN)
    assert ended.returncode == 2
    assert "unknown step 'fly'" in ended.stderr


def test_no_log_is_an_empty_one(tmp_path: Path) -> None:
    assert received(tmp_path / "none") == []


# --- the handshake -------------------------------------------------------------------


def test_it_speaks_the_version_asked_for(tmp_path: Path) -> None:
    with Client({}, tmp_path) as client:
        assert client.error("initialize", {"protocolVersion": 0})["data"]["supported"] == [1, 2]
        assert client.error("initialize", {"protocolVersion": 2})["code"] == -32602
        assert client.call("initialize", INIT_2)["info"]["name"] == "scripted-agent"
        assert client.error("initialize", INIT_1)["code"] == -32600
        assert client.call("initialize", {**INIT_2, "protocolVersion": 99})["protocolVersion"] == 2
        assert client.error("authenticate", {"methodId": "login"})["code"] == -32601


def test_a_version_1_agent_takes_a_second_initialize(tmp_path: Path) -> None:
    with Client({}, tmp_path, "1") as client:
        assert client.call("initialize", INIT_2)["protocolVersion"] == 1
        assert "agentInfo" in client.call("initialize", INIT_1)
        assert client.error("auth/login", {"methodId": "login"})["code"] == -32601


def test_a_version_2_agent_refuses_1(tmp_path: Path) -> None:
    with Client({}, tmp_path, "2") as client:
        error = client.error("initialize", INIT_1)
        assert error["code"] == -32022
        assert error["data"] == {"requested": 1, "supported": [2]}
        assert client.call("initialize", INIT_2)["protocolVersion"] == 2


def test_bad_manner_v1_shape_says_2(tmp_path: Path) -> None:
    with Client(manner("v1_shape_says_2"), tmp_path, strict=False) as client:
        result = client.call("initialize", INIT_2)
        assert result["protocolVersion"] == 2
        assert "agentCapabilities" in result
        assert "info" not in result


def test_bad_manners_when_asked_for_2(tmp_path: Path) -> None:
    with Client(manner("error_on_2"), tmp_path) as client:
        assert client.error("initialize", INIT_2)["code"] == -32603
        assert client.call("initialize", INIT_1)["protocolVersion"] == 1
    with Client(manner("unsupported_2"), tmp_path) as client:
        error = client.error("initialize", INIT_2)
        assert error["code"] == -32022
        assert error["data"]["supported"] == [1]
    with Client(manner("die_on_2"), tmp_path) as client:
        client.begin("initialize", INIT_2)
        assert client.next() is None
        assert client.process.wait(WITHIN) == 3


@pytest.mark.parametrize("name", ["hang", "hang_on_2", "hang_again"])
def test_bad_manners_hang(tmp_path: Path, name: str) -> None:
    with Client(manner(name), tmp_path, "1") as client:
        if name == "hang_again":
            client.call("initialize", INIT_1)
        client.begin("initialize", INIT_2)
        # Were there an answer, it would come before this one.
        assert client.error("session/none", {})["code"] in (-32600, -32601)


def test_bad_manner_refuse_again(tmp_path: Path) -> None:
    with Client(manner("refuse_again"), tmp_path, "1") as client:
        assert client.call("initialize", INIT_2)["protocolVersion"] == 1
        assert client.error("initialize", INIT_1)["code"] == -32600


def test_every_manner_is_played_above() -> None:
    assert set(MANNERS) == {
        *("v1_shape_says_2", "error_on_2", "unsupported_2", "die_on_2"),
        *("hang", "hang_on_2", "hang_again", "refuse_again"),
        # In test_fake_agent_lives.py.
        *("no_resume", "load_anything"),
    }


@pytest.mark.parametrize(
    ("init", "method"), [(INIT_1, "authenticate"), (INIT_2, "auth/login")], ids=["v1", "v2"]
)
def test_login_comes_before_a_session(tmp_path: Path, init: Json, method: str) -> None:
    new = {"cwd": str(tmp_path), "mcpServers": []}
    with Client({"initialize": {"login": True}}, tmp_path) as client:
        assert len(client.call("initialize", init)["authMethods"]) == 1
        assert client.error("session/new", new)["code"] == -32000
        assert client.error(method, {"methodId": "none"})["code"] == -32602
        assert client.call(method, {"methodId": "login"}) == {}
        assert client.call("session/new", new)["sessionId"] == "session"


def test_the_result_of_initialize_can_be_overlaid(tmp_path: Path) -> None:
    over = {"authMethods": None, "agentCapabilities": {"loadSession": False}, "_meta": {"x": 1}}
    with Client({"initialize": {"override": over}}, tmp_path) as client:
        result = client.call("initialize", INIT_1)
    assert "authMethods" not in result
    assert result["agentCapabilities"]["loadSession"] is False
    assert result["agentCapabilities"]["promptCapabilities"]["embeddedContext"] is True
    assert result["_meta"] == {"x": 1}


def manner(name: str) -> Json:
    return {"initialize": {"manners": [name]}}


# --- sessions ------------------------------------------------------------------------

SETTINGS: Json = {
    "options": [
        {"id": "model", "value": "fast", "choices": ["fast", "slow"], "category": "model"},
        {"id": "web", "value": True, "name": "Search the web"},
    ],
    "modes": {
        "current": "ask",
        "available": [{"id": "ask", "name": "Ask"}, {"id": "code", "name": "Code"}],
    },
    "commands": [{"name": "plan", "description": "Plan", "hint": "what"}, {"name": "go"}],
    "before": [{"update": {"sessionUpdate": "session_info_update", "title": "{cwd}"}}],
    "after": [{"say": "Welcome"}],
}


def test_version_1_tells_settings_in_its_own_way(tmp_path: Path) -> None:
    with Client({"session": SETTINGS}, tmp_path) as client:
        client.call("initialize", INIT_1)
        opened = client.call("session/new", {"cwd": str(tmp_path), "mcpServers": []})
        assert opened["modes"]["currentModeId"] == "ask"
        assert [o["id"] for o in opened["configOptions"]] == ["model", "web"]
        assert client.kinds() == ["session_info_update"]  # before the answer
        assert client.updates[0]["title"] == str(tmp_path)
        session = opened["sessionId"]
        assert client.call("session/set_mode", {"sessionId": session, "modeId": "code"}) == {}
        assert client.kinds()[1:] == [
            *("available_commands_update", "agent_message_chunk", "current_mode_update")
        ]
        slow = {"sessionId": session, "configId": "model", "value": "slow"}
        options = client.call("session/set_config_option", slow)["configOptions"]
        assert options[0]["currentValue"] == "slow"
        assert client.error("session/set_mode", {"sessionId": session, "modeId": "x"})
        assert client.error("session/set_config_option", {**slow, "value": "x"})["code"] == -32602
        assert client.error("session/set_config_option", {**slow, "configId": "x"})


def test_version_2_tells_settings_in_its_own_way(tmp_path: Path) -> None:
    with Client({"session": SETTINGS}, tmp_path) as client:
        client.call("initialize", INIT_2)
        opened = client.call("session/new", {"cwd": str(tmp_path)})
        assert [o["configId"] for o in opened["configOptions"]] == ["model", "web", "mode"]
        assert [c["name"] for c in opened["availableCommands"]] == ["plan", "go"]
        change = {"sessionId": "session", "configId": "mode", "value": "code"}
        assert client.error("session/set_config_option", {**change, "type": "select"})
        result = client.call("session/set_config_option", {**change, "type": "id"})
        assert result["configOptions"][2]["currentValue"] == "code"
        off = {"sessionId": "session", "configId": "web", "type": "boolean", "value": False}
        assert client.call("session/set_config_option", off)["configOptions"][1] == {
            "configId": "web",
            "name": "Search the web",
            "type": "boolean",
            "currentValue": False,
        }
        assert client.kinds()[-1] == "config_option_update"


@both
def test_it_is_strict_about_what_it_is_sent(tmp_path: Path, init: Json) -> None:
    with Client({"session": {"id": "s"}}, tmp_path) as client:
        assert client.error("session/new", {})["code"] == -32600
        client.call("initialize", init)
        assert client.error("session/new", {"cwd": "here", "mcpServers": []})["code"] == -32602
        if init is INIT_1:
            assert client.error("session/new", {"cwd": str(tmp_path)})["code"] == -32602
        new = {"cwd": str(tmp_path), "mcpServers": []}
        keys = [client.call("session/new", new)["sessionId"] for _ in range(2)]
        assert keys == ["s", "s-2"]
        assert client.error("session/prompt", {"sessionId": "x", "prompt": []})["code"] == -32002
        assert client.error("session/prompt", {"sessionId": "s", "prompt": []})["code"] == -32602
        assert client.error("session/new", [1])["code"] == -32602
        assert client.error("x/y", None)["code"] == -32601
        client.send({"method": "x/notice"})
        client.write(b"\n\n{broken\n[]\n")
        assert client.until(lambda m: "error" in m)["error"]["code"] == -32700
        assert client.until(lambda m: "error" in m)["error"]["code"] == -32600
        listed = client.call("session/list", {})["sessions"]
        assert [each["sessionId"] for each in listed] == keys
        assert client.call("session/close", {"sessionId": "s"}) == {}
        assert client.error("session/close", {"sessionId": "s"})["data"] == {"sessionId": "s"}
    assert {"broken": "{broken\n"} in received(client.log)


@both
def test_a_failing_session_new(tmp_path: Path, init: Json) -> None:
    fail = {"fail": {"code": 401, "message": "no", "data": [1]}}
    with Client({"session": {"before": [fail]}}, tmp_path) as client:
        client.call("initialize", init)
        error = client.error("session/new", {"cwd": str(tmp_path), "mcpServers": []})
        assert error == fail["fail"]


def test_a_session_comes_back_with_its_replay(tmp_path: Path) -> None:
    script = {"turns": [[{"say": "One"}]]}
    back = {"sessionId": "session", "cwd": str(tmp_path), "mcpServers": []}
    with Client(script, tmp_path) as client:
        client.turn(INIT_1)
        client.call("session/load", back)
        assert client.text() == "OneOne"
        client.call("session/resume", back)
        assert client.text() == "OneOne"
    with Client(script, tmp_path) as client:
        client.turn(INIT_2)
        client.updates.clear()
        client.call("session/resume", {**back, "replayFrom": {"type": "start"}})
        assert client.kinds() == [
            *("user_message", "agent_message_chunk", "replay_complete", "state_update")
        ]


# --- a turn --------------------------------------------------------------------------


def story() -> Json:
    diff = {"path": "a.py", "old": "x = 1\n", "new": "x = 2\n"}
    entry = {"content": "Last", "priority": "high", "status": "completed"}
    return {
        "turns": [
            [
                {"think": "Hm."},
                {"say": "In {cwd}: hello", "pieces": 4},
                {"say": " there"},
                {"user": "echo", "message": "m7"},
                {"plan": ["First", entry]},
                {
                    "tool": "t1",
                    "title": "Edit",
                    "kind": "edit",
                    "status": "pending",
                    "locations": ["a.py", ["b.py", 3], {"path": "/c.py"}],
                    "name": "edit",
                    "content": ["Text", {"diff": diff}],
                    "raw_input": {"x": [1]},
                },
                {"tool": "t1", "status": "cancelled", "content": [], "raw_output": None},
                {"usage": [10, 100]},
                {"session_title": "A title"},
                {"notice": "Mind the gap", "severity": "warning", "description": "It is wide"},
                {"state": "running", "fields": {"background": []}},
                {"commands": [{"name": "x"}]},
                {"notify": "_own/note", "params": {"a": 1}},
                {"end": "max_tokens"},
            ]
        ]
    }


def test_a_turn_of_version_1(tmp_path: Path) -> None:
    with Client(story(), tmp_path) as client:
        assert client.turn(INIT_1) == "max_tokens"
        assert client.kinds()[:6] == ["agent_thought_chunk", *["agent_message_chunk"] * 5]
        assert client.text() == f"In {tmp_path}: hello thereMind the gap"
        assert "messageId" not in client.updates[1]
        assert client.of("user_message_chunk")[0]["messageId"] == "m7"
        assert client.of("plan")[0]["entries"][1]["status"] == "completed"
        (call,) = client.of("tool_call")
        assert call["locations"][:2] == [
            {"path": str(tmp_path / "a.py")},
            {"path": str(tmp_path / "b.py"), "line": 3},
        ]
        assert call["content"][1] == {
            "type": "diff",
            "path": str(tmp_path / "a.py"),
            "oldText": "x = 1\n",
            "newText": "x = 2\n",
        }
        (update,) = client.of("tool_call_update")
        assert update["status"] == "failed"
        assert update["content"] == []
        assert client.told[0]["method"] == "_own/note"


def test_a_turn_of_version_2(tmp_path: Path) -> None:
    with Client(story(), tmp_path) as client:
        assert client.turn(INIT_2) == "max_tokens"
        assert client.kinds()[:2] == ["user_message", "state_update"]
        chunks = client.of("agent_message_chunk")
        assert len({each["messageId"] for each in chunks}) == 1
        assert chunks[0]["messageId"] != client.of("agent_thought_chunk")[0]["messageId"]
        first, second = client.of("tool_call_update")
        assert second["status"] == "cancelled"
        change = first["content"][1]
        path = str(tmp_path / "a.py")
        assert change["changes"] == [{"operation": "modify", "path": path, "fileType": "text"}]
        assert change["patch"]["text"] == (
            f"diff --git {path} {path}\n--- {path}\n+++ {path}\n@@ -1 +1 @@\n-x = 1\n+x = 2\n"
        )
        assert client.of("notice")[0]["severity"] == "warning"
        assert client.of("plan_update")[0]["plan"]["planId"] == "plan"


def test_version_1_gets_notices_where_it_asked_for_them(tmp_path: Path) -> None:
    offers: Json = {"session": {"notices": {}}}
    with Client(story(), tmp_path) as client:
        client.turn({"protocolVersion": 1, "clientCapabilities": offers})
        assert client.of("notice")[0]["title"] == "Mind the gap"


@both
def test_each_prompt_has_its_turn_and_the_last_repeats(tmp_path: Path, init: Json) -> None:
    with Client({"turns": [[{"say": "a"}], [{"say": "b", "message": None}]]}, tmp_path) as client:
        client.strict = False  # a message without an id is a fault in version 2
        session = client.open(init)
        for expected in ("a", "ab", "abb"):
            assert client.end(client.prompt(session)) == "end_turn"
            assert client.text() == expected
        assert "messageId" not in client.of("agent_message_chunk")[1]


def test_the_order_at_the_begin_of_a_turn_can_be_chosen(tmp_path: Path) -> None:
    script = {"prompt": ["state", "echo", "answer"], "turns": [[{"say": "x"}]]}
    with Client(script, tmp_path) as client:
        number = client.prompt(client.open(INIT_2))
        message = client.response(number)["result"]["messageId"]
        assert client.kinds() == ["state_update", "user_message"]
        assert client.updates[1]["messageId"] == message


@both
def test_two_prompts_are_worked_off_one_after_the_other(tmp_path: Path, init: Json) -> None:
    script = {"turns": [[{"say": "a"}, {"late": "session/prompt"}, {"say": "b"}], [{"say": "c"}]]}
    with Client(script, tmp_path) as client:
        session = client.open(init)
        numbers = [client.prompt(session), client.prompt(session)]
        for number in numbers:
            client.end(number)
        assert client.text() == "abc"


@both
def test_a_turn_that_fails(tmp_path: Path, init: Json) -> None:
    script = {"turns": [[{"say": "x"}, {"fail": {"code": 500, "message": "overloaded"}}]]}
    with Client(script, tmp_path) as client:
        number = client.prompt(client.open(init))
        if init is INIT_1:
            assert client.response(number)["error"]["code"] == 500
        else:
            assert client.end(number) == "error"
            assert client.updates[-1]["error"]["message"] == "overloaded"


# --- diffs ---------------------------------------------------------------------------


def test_diffs_that_add_delete_move_and_show_a_piece(tmp_path: Path) -> None:
    (tmp_path / "long.py").write_bytes(b"".join(b"%d\n" % n for n in range(20)))
    items = [
        {"path": "new.py", "new": "a\nb"},
        {"path": "gone.py", "old": "a\n", "new": None},
        {"path": "to.py", "from": "of.py", "old": "a\n", "new": "b\n"},
        {"path": "long.py", "old": "17\n", "new": "x\n", "piece": True},
        {"path": "long.py", "old": "y\n", "new": "17\n", "piece": True},
    ]
    script = {"turns": [[{"tool": "t", "content": [{"diff": item} for item in items]}]]}
    with Client(script, tmp_path) as client:
        client.turn(INIT_2)
        content = client.of("tool_call_update")[0]["content"]
        operations = [item["changes"][0]["operation"] for item in content]
        assert operations == ["add", "delete", "move", "modify", "modify"]
        assert content[2]["changes"][0]["oldPath"] == str(tmp_path / "of.py")
        assert "+b\n\\ No newline at end of file\n" in content[0]["patch"]["text"]
        assert "@@ -15,6 +15,6 @@\n" in content[3]["patch"]["text"]
        assert "-y\n+17\n" in content[4]["patch"]["text"]
    with Client(script, tmp_path) as client:
        client.turn(INIT_1)
        content = client.of("tool_call")[0]["content"]
        assert "oldText" not in content[0]
        assert content[1]["newText"] == ""
        assert content[3]["oldText"] == "17\n"


def test_the_patch_is_one_that_git_writes() -> None:
    assert git_patch("/w/a b", None, "x\n") == (
        "diff --git /w/a b /w/a b\nnew file mode 100644\n--- /dev/null\n+++ /w/a b\t\n"
        "@@ -0,0 +1 @@\n+x\n"
    )
    assert git_patch("/w/e", "x", None).splitlines()[1:4] == [
        *("deleted file mode 100644", "--- /w/e", "+++ /dev/null")
    ]
    assert git_patch("/b", "x\n", "x\n", source="/a") == (
        "diff --git /a /b\nrename from /a\nrename to /b\n"
    )
    assert "-a\r\n+b\r\n" in git_patch("/w/c", "a\r\n", "b\r\n")
    assert "---- x\n" in git_patch("/w/c", "--- x\n", "")
    assert quoted('/w/ä"\\\n\x01') == '"/w/\\303\\244\\"\\\\\\n\\001"'
    assert quoted("/w/a b") == "/w/a b"


# --- questions -----------------------------------------------------------------------


def asking(**more: Any) -> Json:
    ask = {
        "ask": "Edit a.py?",
        "call": {"tool": "t1", "title": "Edit a.py", "kind": "edit"},
        "options": ["allow_once", {"id": "no", "name": "No", "kind": "reject_once"}],
        "then": {"allow_once": [{"say": "yes"}], "no": [{"say": "no"}, {"end": "refusal"}]},
        "cancelled": [{"say": "cancelled"}],
        "failed": [{"say": "failed"}],
    }
    return ask | more


@both
@pytest.mark.parametrize(
    ("answer", "text", "reason"),
    [
        ({"outcome": {"outcome": "selected", "optionId": "allow_once"}}, "yes", "end_turn"),
        ({"outcome": {"outcome": "selected", "optionId": "no"}}, "no", "refusal"),
        ({"outcome": {"outcome": "cancelled"}}, "cancelled", "end_turn"),
        (None, "failed", "end_turn"),
    ],
)
def test_an_ask_goes_the_way_that_was_chosen(
    tmp_path: Path, init: Json, answer: Json | None, text: str, reason: str
) -> None:
    with Client({"turns": [[asking()]]}, tmp_path) as client:
        number = client.prompt(client.open(init))
        request = client.asked("session/request_permission")
        params = request["params"]
        call = params["toolCall"] if init is INIT_1 else params["subject"]["toolCall"]
        assert call["toolCallId"] == "t1"
        assert [o["optionId"] for o in params["options"]] == ["allow_once", "no"]
        if answer is None:
            client.send({"id": request["id"], "error": {"code": 1, "message": "no"}})
        else:
            client.answer(request, answer)
        assert client.end(number) == reason
        assert client.text() == text
        if init is INIT_2:
            states = [u["state"] for u in client.of("state_update")]
            assert states == ["running", "requires_action", "running", "idle"]


@both
def test_a_question_about_a_command(tmp_path: Path, init: Json) -> None:
    ask = {"ask": "Run it?", "command": "ls -l", "cwd": "sub", "description": "Lists"}
    with Client({"turns": [[ask, {**ask, "call": {"tool": "t2"}}]]}, tmp_path) as client:
        number = client.prompt(client.open(init))
        for extra in ({}, {"toolCallId": "t2"}):
            request = client.asked("session/request_permission")
            if init is INIT_1:
                assert request["params"]["toolCall"]["rawInput"] == {"command": "ls -l"}
            else:
                subject = {"type": "command", "command": "ls -l", "cwd": str(tmp_path / "sub")}
                assert request["params"]["subject"] == subject | extra
                assert request["params"]["description"] == "Lists"
            client.choose(request, "allow_once")
        client.end(number)


@both
def test_two_questions_at_once_and_words_for_ids(tmp_path: Path, init: Json) -> None:
    turn = [asking(wait=False), asking(wait=False, call={"tool": "t2"}), {"say": "waiting "}]
    with Client({"turns": [turn], "ids": "words"}, tmp_path) as client:
        number = client.prompt(client.open(init))
        asked = [client.asked("session/request_permission") for _ in range(2)]
        assert [request["id"] for request in asked] == ["agent-0", "agent-1"]
        client.until(lambda m: "waiting" in json.dumps(m))
        client.choose(asked[1], "allow_once")
        client.until(lambda m: "yes" in json.dumps(m))
        client.choose(asked[0], "no")
        assert client.end(number) == "refusal"
        assert client.text() == "waiting yesno"


def test_a_question_is_withdrawn(tmp_path: Path) -> None:
    turn = [asking(wait=False, id="q"), {"withdraw": "q"}]
    with Client({"turns": [turn]}, tmp_path) as client:
        number = client.prompt(client.open(INIT_2))
        request = client.asked("session/request_permission")
        note = client.until(lambda m: m.get("method") == "$/cancel_request")
        assert note["params"] == {"requestId": request["id"]}
        client.answer(request, {"outcome": {"outcome": "cancelled"}})
        assert client.end(number) == "end_turn"
        assert client.text() == "cancelled"


def test_cancel_with_an_open_question(tmp_path: Path) -> None:
    """In ACP 1 the client answers it; in ACP 2 the agent withdraws it first."""
    for init in (INIT_1, INIT_2):
        with Client({"turns": [[asking(), {"say": "never"}]]}, tmp_path) as client:
            session = client.open(init)
            number = client.prompt(session)
            request = client.asked("session/request_permission")
            client.send({"method": "session/cancel", "params": {"sessionId": session}})
            if init is INIT_2:
                client.until(lambda m: m.get("method") == "$/cancel_request")
            client.answer(request, {"outcome": {"outcome": "cancelled"}})
            assert client.end(number) == "cancelled"
            assert client.text() == "cancelled"


def test_cancel_of_a_closed_question_withdraws_nothing(tmp_path: Path) -> None:
    turn = [asking(then={"allow_once": []}), {"wait_cancel": [{"say": "bye"}]}]
    with Client({"turns": [turn]}, tmp_path) as client:
        session = client.open(INIT_2)
        number = client.prompt(session)
        client.choose(client.asked("session/request_permission"), "allow_once")
        client.send({"method": "session/cancel", "params": {"sessionId": session}})
        assert client.end(number) == "cancelled"
        assert client.text() == "bye"
        assert [m["method"] for m in client.told] == ["session/request_permission"]


# --- cancel --------------------------------------------------------------------------


@both
def test_cancel_ends_a_turn_between_steps(tmp_path: Path, init: Json) -> None:
    script = {"turns": [[{"say": "a"}, {"sleep": 60}, {"say": "b"}]]}
    with Client(script, tmp_path) as client:
        session = client.open(init)
        number = client.prompt(session)
        client.until(lambda m: "agent_message_chunk" in json.dumps(m))
        client.send({"method": "session/cancel", "params": {"sessionId": session}})
        assert client.end(number) == "cancelled"
        client.send({"method": "session/cancel", "params": {"sessionId": "none"}})
        assert client.text() == "a"


@both
def test_an_agent_deaf_to_cancel(tmp_path: Path, init: Json) -> None:
    turn = [{"late": "session/cancel"}, {"sleep": 0.01}, {"say": "anyway"}]
    with Client({"cancel": "ignore", "turns": [turn]}, tmp_path) as client:
        session = client.open(init)
        number = client.prompt(session)
        client.send({"method": "session/cancel", "params": {"sessionId": session}})
        assert client.end(number) == "end_turn"
        assert client.text() == "anyway"


def test_a_held_prompt_is_answered_with_a_cancel_or_an_error(tmp_path: Path) -> None:
    held = [{"late": "session/cancel"}]
    failing = [{"fail": {"code": -32000, "message": "log in"}}]
    with Client({"turns": [held, failing, []]}, tmp_path) as client:
        session = client.open(INIT_2)
        number = client.prompt(session)
        client.send({"method": "session/cancel", "params": {"sessionId": session}})
        assert client.response(number)["error"]["code"] == -32800
        assert client.response(client.prompt(session))["error"]["code"] == -32000
        assert client.updates == []
        assert client.end(client.prompt(session)) == "end_turn"


def test_closing_a_session_cancels_its_turn(tmp_path: Path) -> None:
    with Client({"turns": [["wait_cancel"]]}, tmp_path) as client:
        session = client.open(INIT_1)
        number = client.prompt(session)
        client.begin("session/close", {"sessionId": session})
        assert client.response(number)["result"]["stopReason"] == "cancelled"


# --- files, programs, requests -------------------------------------------------------


def files() -> Json:
    return {
        "turns": [
            [
                {"read": "a.txt", "into": "old", "line": 1, "limit": 9},
                {"read": "none.txt", "into": "none", "failed": [{"say": "missing "}]},
                {"write": "sub/b.txt", "text": "{old}!", "failed": [{"say": "refused "}]},
                {"write": "c.txt", "text": "disk", "via": "disk"},
                {"remove": "c.txt"},
                {"say": "[{old}{none}] {other}"},
            ]
        ]
    }


def test_files_go_through_the_client_in_version_1(tmp_path: Path) -> None:
    with Client(files(), tmp_path) as client:
        number = client.prompt(client.open(INIT_1))
        read = client.asked("fs/read_text_file")
        assert read["id"] == 0
        assert read["params"] == {
            "sessionId": "session",
            "path": str(tmp_path / "a.txt"),
            "line": 1,
            "limit": 9,
        }
        client.answer(read, {"content": "buffer"})
        error = {"code": -32002, "message": "no"}
        client.send({"id": client.asked("fs/read_text_file")["id"], "error": error})
        write = client.asked("fs/write_text_file")
        assert write["params"]["content"] == "buffer!"
        client.send({"id": write["id"], "error": error})
        client.end(number)
        assert client.text() == "missing refused [buffer] {other}"
        assert not (tmp_path / "c.txt").exists()


@pytest.mark.parametrize("init", [INIT_2, {"protocolVersion": 1}], ids=["v2", "v1 unasked"])
def test_files_go_to_the_disk_else(tmp_path: Path, init: Json) -> None:
    (tmp_path / "a.txt").write_bytes(b"disk\r\n")
    with Client(files(), tmp_path) as client:
        client.turn(init)
        assert client.told == []
        assert client.text() == "missing [disk\r\n] {other}"
    assert (tmp_path / "sub" / "b.txt").read_bytes() == b"disk\r\n!"


def test_a_terminal_of_the_client(tmp_path: Path) -> None:
    step = {"terminal": ["make", "-j"], "shown_in": "t1", "limit": 99, "into": "out"}
    with Client({"turns": [[{"tool": "t1"}, step, {"say": "{out}"}]]}, tmp_path) as client:
        number = client.prompt(client.open(INIT_1))
        create = client.asked("terminal/create")
        assert create["params"]["args"] == ["-j"]
        assert create["params"]["outputByteLimit"] == 99
        client.answer(create, {"terminalId": "T"})
        client.answer(client.asked("terminal/wait_for_exit"), {"exitCode": 0})
        assert client.of("tool_call_update")[0]["content"][0]["terminalId"] == "T"
        client.answer(client.asked("terminal/output"), {"output": "made", "truncated": False})
        client.answer(client.asked("terminal/release"), {})
        client.end(number)
        assert client.text() == "made"


def test_a_terminal_is_killed_by_a_cancel_or_not_to_be_had(tmp_path: Path) -> None:
    with Client({"turns": [[{"terminal": ["x"]}], [{"terminal": ["y"]}]]}, tmp_path) as client:
        session = client.open(INIT_1)
        number = client.prompt(session)
        client.answer(client.asked("terminal/create"), {"terminalId": "T"})
        wait = client.asked("terminal/wait_for_exit")
        client.send({"method": "session/cancel", "params": {"sessionId": session}})
        client.answer(client.asked("terminal/kill"), {})
        client.answer(wait, {"signal": "SIGKILL"})
        client.answer(client.asked("terminal/output"), {"output": "", "truncated": False})
        client.answer(client.asked("terminal/release"), {})
        assert client.end(number) == "cancelled"
        number = client.prompt(session)
        error = {"code": -32601, "message": "no terminals"}
        client.send({"id": client.asked("terminal/create")["id"], "error": error})
        assert client.end(number) == "end_turn"


def test_a_terminal_that_is_left_running(tmp_path: Path) -> None:
    step = {"terminal": ["serve"], "wait": False, "release": False}
    with Client({"turns": [[step]]}, tmp_path) as client:
        number = client.prompt(client.open(INIT_1))
        client.answer(client.asked("terminal/create"), {"terminalId": "T"})
        assert client.end(number) == "end_turn"
        assert [m["method"] for m in client.told] == ["terminal/create"]


def test_a_cancel_kills_what_is_started_after_it(tmp_path: Path) -> None:
    """A cancel that came before the step began counts too."""
    turn = [{"late": "session/cancel"}, {"wait_cancel": [{"terminal": ["sleep", "60"]}]}]
    with Client({"turns": [turn]}, tmp_path) as client:
        session = client.open(INIT_2)
        number = client.prompt(session)
        client.send({"method": "session/cancel", "params": {"sessionId": session}})
        assert client.end(number) == "cancelled"
        assert client.of("terminal_update")[-1]["exitStatus"] == {"signal": "SIG9"}


def test_content_of_any_kind(tmp_path: Path) -> None:
    link = {"type": "resource_link", "uri": "file:///a", "name": "a"}
    content = [{"terminal": "T"}, {"type": "content", "content": link}]
    turn = [{"tool": "t", "locations": [], "content": content}]
    for init in (INIT_1, INIT_2):
        with Client({"turns": [turn]}, tmp_path) as client:
            client.turn(init)
            call = next(u for u in client.updates if "toolCallId" in u)
            assert call["content"] == [{"type": "terminal", "terminalId": "T"}, content[1]]
            assert call["locations"] == []


def test_programs_of_the_agent_itself(tmp_path: Path) -> None:
    run = {"terminal": ["sh", "-c", "echo hi; exit 3"], "id": "T", "shown_in": "t", "into": "o"}
    with Client({"turns": [[run, {"terminal": ["sh", "-c", "kill -9 $$"]}]]}, tmp_path) as client:
        client.turn(INIT_2)
        started, ended, _, killed = client.of("terminal_update")
        assert started["cwd"] == str(tmp_path)
        assert ended["exitStatus"] == {"exitCode": 3}
        assert killed["exitStatus"] == {"signal": "SIG9"}
        (chunk,) = client.of("terminal_output_chunk")
        assert base64.b64decode(chunk["data"]) == b"hi\n"
    with Client({"turns": [[run]]}, tmp_path) as client:
        client.turn({"protocolVersion": 1})
        (update,) = client.of("tool_call_update")
        assert update["content"][0]["content"]["text"] == "hi\n"


def test_requests_of_any_name(tmp_path: Path) -> None:
    turn = [
        {"request": "_x/ask", "params": {"q": 1}, "into": "said"},
        {"request": "_x/other", "failed": [{"say": "{said} failed"}]},
        {"request": "_x/never", "wait": False},
    ]
    with Client({"turns": [turn]}, tmp_path) as client:
        number = client.prompt(client.open(INIT_2))
        client.answer(client.asked("_x/ask"), {"a": "ä"})
        other = client.asked("_x/other")
        assert "params" not in other
        client.send({"id": other["id"], "error": {"code": -32601, "message": "no"}})
        assert client.end(number) == "end_turn"
        assert client.text() == '{"a": "ä"} failed'


@both
def test_settings_changed_by_the_agent(tmp_path: Path, init: Json) -> None:
    turn = [{"set_option": "model", "value": "slow"}, {"mode": "code"}]
    with Client({"session": SETTINGS, "turns": [turn]}, tmp_path) as client:
        client.turn(init)
        values = [o["currentValue"] for o in client.of("config_option_update")[-1]["configOptions"]]
        assert values == ["slow", True] + (["code"] if init is INIT_2 else [])
        changed = client.of("current_mode_update")
        assert [u["currentModeId"] for u in changed] == (["code"] if init is INIT_1 else [])


def test_version_1_calls_and_updates_out_of_order(tmp_path: Path) -> None:
    turn = [{"tool": "t", "as": "update", "status": "paused"}, {"tool": "t", "as": "call"}]
    with Client({"turns": [turn]}, tmp_path) as client:
        client.turn(INIT_1)
        assert client.kinds() == ["tool_call_update", "tool_call"]
        assert client.updates[0]["status"] == "in_progress"
        assert client.updates[1]["title"] == "t"


# --- bad manners on the wire and of the process --------------------------------------


@both
def test_floods_and_big_lines(tmp_path: Path, init: Json) -> None:
    flood = {"chunks": 1000, "text": '"{n}",\n'}
    turn = [flood, {"chunks": 2}, {"big_line": 300_000}, {"update": {"sessionUpdate": "_x"}}]
    with Client({"turns": [turn]}, tmp_path) as client:
        client.strict = init is INIT_2  # the schema of version 1 is closed
        client.turn(init)
        chunks = client.of("agent_message_chunk")
        numbers = [json.loads(c["content"]["text"].strip().strip(",")) for c in chunks[:1000]]
        assert numbers == [str(n) for n in range(1000)]
        assert [c["content"]["text"] for c in chunks[1000:1002]] == ["0 ", "1 "]
        params = {"sessionId": "session", "update": chunks[1002]}
        message = {"jsonrpc": "2.0", "method": "session/update", "params": params}
        line = json.dumps(message, separators=(",", ":"))
        assert len(line) + 1 == 300_000
        assert client.kinds()[-1] in ("_x", "state_update")


def test_noise_on_both_streams(tmp_path: Path) -> None:
    start = [{"raw": "hello\n"}, {"stderr": "warn\n"}, {"flood_stderr": 20_000}]
    turn = [{"raw": '{"jsonrpc": "2.0", "method"\n'}, "close_stdout"]
    with Client({"start": start, "turns": [turn]}, tmp_path) as client:
        assert client.next() == "hello\n"
        assert client.process.stderr is not None
        assert (
            client.process.stderr.read(20_005)
            == b"warn\n" + (b"noise " * 12 + b"\n") * 273 + (b"noise " * 12)[: 20_000 - 273 * 73]
        )
        client.prompt(client.open(INIT_1))
        assert client.next() == '{"jsonrpc": "2.0", "method"\n'
        assert client.next() is None
        assert client.process.poll() is None
        assert client.close() == 0


def test_it_dies_in_the_middle_of_a_turn(tmp_path: Path) -> None:
    with Client({"turns": [[{"say": "x"}, {"die": 7}]]}, tmp_path) as client:
        client.prompt(client.open(INIT_1))
        client.until(lambda m: "agent_message_chunk" in json.dumps(m))
        assert client.next() is None
        assert client.process.wait(WITHIN) == 7
    with Client({"turns": [[{"kill": int(signal.SIGKILL)}]]}, tmp_path) as client:
        client.prompt(client.open(INIT_1))
        assert client.next() is None
        assert client.process.wait(WITHIN) == -signal.SIGKILL


def test_a_step_that_cannot_be_played_ends_it(tmp_path: Path) -> None:
    with Client({"turns": [[{"remove": "none"}]]}, tmp_path) as client:
        client.prompt(client.open(INIT_1))
        assert client.next() is None
        assert client.process.wait(WITHIN) == 70
        assert client.process.stderr is not None
        assert b"FileNotFoundError" in client.process.stderr.read()


def test_it_ends_with_its_input_even_in_a_sleep(tmp_path: Path) -> None:
    with Client({"turns": [[{"say": "x"}, {"sleep": "forever"}]]}, tmp_path) as client:
        client.prompt(client.open(INIT_1))
        client.until(lambda m: "agent_message_chunk" in json.dumps(m))
        assert client.close() == 0


@pytest.mark.parametrize(
    "script",
    [{"ignore": ["eof", "term"]}, {"start": ["ignore_eof"], "ignore": ["term"]}],
    ids=["always", "step"],
)
def test_it_lives_on_where_it_should_not(tmp_path: Path, script: Json) -> None:
    with Client(script, tmp_path) as client:
        client.call("initialize", INIT_1)
        client.process.send_signal(signal.SIGTERM)
        assert client.process.stdin is not None
        client.process.stdin.close()
        with pytest.raises(subprocess.TimeoutExpired):
            client.process.wait(0.2)
        client.process.kill()


def test_a_child_of_the_agent(tmp_path: Path) -> None:
    turn = [
        {"spawn": 60, "into": "one"},
        {"spawn": 60, "own_session": True, "into": "two"},
        {"say": "{one} {two}"},
    ]
    with Client({"turns": [turn]}, tmp_path) as client:
        client.turn(INIT_2)
        one, two = (psutil.Process(int(word)) for word in client.text().split())
        assert one.ppid() == two.ppid() == client.process.pid
        assert os.getsid(one.pid) == os.getsid(client.process.pid)
        assert os.getsid(two.pid) == two.pid
        for child in (one, two):
            child.kill()  # they hold its output open


def test_the_log_holds_all_that_was_received(tmp_path: Path) -> None:
    with Client({}, tmp_path) as client:
        client.turn(INIT_1)
    methods = [message.get("method") for message in received(client.log)]
    assert methods == ["initialize", "session/new", "session/prompt"]
