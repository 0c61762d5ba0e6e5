"""What the demo agent does to real files, in three setups: version 1 with and without the
client's files, and version 2.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from demo_client import DemoClient

from acpls.demo.project import copy_to

if TYPE_CHECKING:
    from collections.abc import Iterator

_SETUPS: dict[str, tuple[int, dict[str, bool]]] = {
    "v1-client": (1, {"fs": True, "terminal": True}),
    "v1-disk": (1, {}),
    "v2": (2, {}),
}
_OLD = "steep_time"


@pytest.fixture(scope="module", params=_SETUPS)
def process(request: pytest.FixtureRequest) -> Iterator[DemoClient]:
    """One agent for all tests of a setup; every test has a session of its own."""
    version, offered = _SETUPS[request.param]
    client = DemoClient(version, Path(), **offered)
    client.hello()
    yield client
    client.close()


@pytest.fixture
def client(process: DemoClient, tmp_path: Path) -> DemoClient:
    process.cwd = copy_to(tmp_path / "tea")
    process.buffers.clear()
    process.refused.clear()
    process.begin()
    return process


def _diffs(call: dict[str, Any]) -> list[dict[str, Any]]:
    return [one for one in call["content"] if one["type"] == "diff"]


def _patched(old: str, patch: str) -> str:
    """Apply a one-file patch in Git's format, strictly."""
    lines, at, done = old.splitlines(keepends=True), 0, []
    body = patch[patch.index("@@") :].splitlines(keepends=True)
    for n, line in enumerate(body):
        if line.startswith("@@"):
            start, _, count = line.split()[1][1:].partition(",")
            first = int(start) - (count != "0")
            done += lines[at:first]
            at = first
        elif line[0] == "\\":
            continue
        else:
            bare = n + 1 < len(body) and body[n + 1][0] == "\\"
            text = line[1:].removesuffix("\n") if bare else line[1:]
            if line[0] != "+":
                assert lines[at] == text
                at += 1
            if line[0] != "-":
                done.append(text)
    return "".join(done + lines[at:])


def _snapshot(root: Path) -> dict[str, bytes]:
    return {
        path.relative_to(root).as_posix(): path.read_bytes()
        for path in root.rglob("*")
        if path.is_file()
    }


# --- words -------------------------------------------------------------------------------


@pytest.mark.parametrize("prompt", ["help", "/help", "Help!", "Write me a poem, my friend"])
def test_it_lists_what_it_can_do(client: DemoClient, prompt: str) -> None:
    assert client.say(prompt) == "end_turn"
    for work in ("`explain FILE`", "`rename OLD to NEW`", "`run COMMAND`", "`slow`"):
        assert work in client.text()
    used = client.updates("usage_update")[-1]
    assert 0 < used["used"] < used["size"]


def test_explain_reads_and_refers_to_lines(client: DemoClient) -> None:
    path = client.cwd / "src" / "teas.py"
    client.buffers[path] = "# not saved yet\n" + path.read_text()
    client.say("Could you please explain `src/teas.py`?")
    line = 14 if client.offered.get("fs") else 13
    assert f"`src/teas.py:{line}` defines the function `steep_time`" in client.text()
    calls = list(client.calls().values())
    assert {(one["kind"], one["status"]) for one in calls} == {("read", "completed")}
    assert {"path": str(path), "line": line} in [one["locations"][0] for one in calls]
    chunks = client.updates("agent_message_chunk")
    assert all(len(one["content"]["text"].split()) <= 3 for one in chunks)


def test_explain_takes_the_attached_file(client: DemoClient) -> None:
    path = client.cwd / "README.md"
    blocks = [
        {"type": "text", "text": "explain this"},
        {"type": "resource_link", "name": "README.md", "uri": path.as_uri()},
    ]
    client.seen.clear()
    number = client.request("session/prompt", sessionId=client.session, prompt=blocks)
    assert client.end(number) == "end_turn"
    assert '`README.md:5` begins the part "Use"' in client.text()


@pytest.mark.parametrize(
    ("prompt", "words"),
    [
        ("explain", "Tell me which file"),
        ("explain nothing.py", "cannot find `nothing.py`"),
        ("explain ./src", "is a folder"),
        ("explain ../../secret.txt", "outside of the workspace"),
        ("delete /etc/passwd", "outside of the workspace"),
        ("rename steep_time", "both names"),
        ("rename tea_pot to tea_cup", "no `tea_pot`"),
        ("rename tea to tea", "already"),
        ("document README.md", "not Python"),
        ("add docstring to nowhere in src/teas.py", "no function `nowhere`"),
        ("create README.md", "exists already"),
        ("create", "Tell me its name"),
        ("move README.md", "both places"),
        ("move README.md to src/main.py", "exists already"),
        ("delete", "Tell me which"),
        ("run", "Tell me what to run"),
        ("run echo 'oh", "quote"),
    ],
)
def test_what_cannot_be_done_is_said_kindly(client: DemoClient, prompt: str, words: str) -> None:
    before = _snapshot(client.cwd)
    assert client.say(prompt) == "end_turn"
    assert words in client.text()
    assert _snapshot(client.cwd) == before
    assert client.asked() == []


def test_plan_is_worked_off(client: DemoClient) -> None:
    client.say("/plan a tea party")
    if client.version == 1:
        plans = [one["entries"] for one in client.updates("plan")]
    else:
        plans = [one["plan"]["entries"] for one in client.updates("plan_update")]
    assert "Think about a tea party" in [one["content"] for one in plans[0]]
    assert [[one["status"] for one in plan].count("completed") for plan in plans] == [0, 1, 2, 3, 4]
    assert [one["status"] for one in plans[0]] == ["in_progress", *["pending"] * 3]


def test_talk_streams_as_many_words_as_asked(client: DemoClient) -> None:
    client.say("talk 30 words")
    assert len(client.text().split()) == 30
    assert len(client.updates("agent_message_chunk")) == 30


def test_ask_repeats_what_was_chosen(client: DemoClient) -> None:
    client.say("ask", "assam", "pot")
    assert "`assam` and `pot`: A strong Assam; A whole pot, always" in client.text()
    names = [[one["name"] for one in params["options"]] for params in client.asked()]
    assert [len(one) for one in names] == [3, 4]
    for answer in ("none", None, "error", "no-such-option"):
        client.say("ask", answer)
        assert len(client.asked()) == 1
        assert "I stop asking" in client.text()


def test_survey_has_a_form_filled_in(client: DemoClient) -> None:
    values = {"name": "Ann", "tea": "assam", "cups": 3}
    more = {"degrees": 82.5, "milk": True, "days": ["monday", "friday"]}
    for content, said in (
        (values, "For Ann: 3 x A strong Assam, without milk."),
        (
            values | more,
            "For Ann: 3 x A strong Assam at 82.5 degrees, with milk, on monday, friday.",
        ),
    ):
        client.filled = {"action": "accept", "content": content}
        client.say("survey")
        assert client.text() == said
        (asked,) = client.asked("elicitation/create")
        assert (asked["mode"], asked["sessionId"]) == ("form", client.session)
        kinds = [each["type"] for each in asked["requestedSchema"]["properties"].values()]
        assert kinds == ["string", "string", "integer", "number", "boolean", "array"]
    client.filled = {"action": "decline"}
    client.say("survey")
    assert client.text() == "You would rather not say: that is fine."
    others: list[Any] = [{"action": "cancel"}, {"action": "accept"}, {"action": "dance"}, []]
    for other in others:
        client.filled = other
        client.say("survey")
        assert client.text() == "The form was closed, so I stop asking."
    client.refused = {"elicitation/create"}
    client.say("survey")
    assert client.text() == "The form was closed, so I stop asking."


@pytest.mark.parametrize("version", [1, 2])
def test_a_client_without_forms_is_shown_none(version: int, tmp_path: Path) -> None:
    client = DemoClient(version, copy_to(tmp_path / "tea"), forms=False).open()
    client.say("survey")
    assert client.text() == "Your editor shows no forms, so I cannot ask you."
    assert client.asked("elicitation/create") == []
    client.close()


# --- files -------------------------------------------------------------------------------


def test_rename_changes_every_file_and_nothing_else(client: DemoClient) -> None:
    """Also D25, D26, D30: line ends, marks and the end of the file stay as they are."""
    odd = {
        "bom.py": b"\xef\xbb\xbfsteep_time = 1\r\nx = steep_time",
        "mixed.txt": b"steep_time\r\nsteep_time\nsteep_time\rsteep_time2 _steep_time\r\n\xc3\xa9",
        "binary.bin": b"steep_time\0",
        "latin.txt": b"steep_time \xe9\n",
        "node_modules/a.py": b"steep_time\n",
        ".hidden/a.py": b"steep_time\n",
    }
    for name, content in odd.items():
        (client.cwd / name).parent.mkdir(exist_ok=True)
        (client.cwd / name).write_bytes(content)
    before = _snapshot(client.cwd)
    client.say(f"Please rename {_OLD} to brew_time.")
    after = _snapshot(client.cwd)
    changed = {name for name in before if before[name] != after[name]}
    texts = {"README.md", "docs/menu.txt", "src/teas.py", "src/main.py", "tests/test_teas.py"}
    assert changed == texts | {"bom.py", "mixed.txt"}
    for name in texts:
        assert after[name] == before[name].replace(b"steep_time", b"brew_time")
    assert after["bom.py"] == b"\xef\xbb\xbfbrew_time = 1\r\nx = brew_time"
    assert after["mixed.txt"] == (
        b"brew_time\r\nbrew_time\nbrew_time\rsteep_time2 _steep_time\r\n\xc3\xa9"
    )
    assert len(client.asked()) == 1
    kinds = [one["kind"] for one in client.calls().values()]
    assert kinds == ["search", "edit", *["edit"] * len(changed)]
    assert {one["status"] for one in client.calls().values()} == {"completed"}
    # Each change is told once when all is done: in the call of its file.
    told = [_diffs(one) for one in client.calls().values() if one["kind"] == "edit"]
    assert [bool(one) for one in told] == [False, *[True] * len(changed)]
    assert "`src/teas.py:13`, `src/teas.py:20`, `tests/test_teas.py:8`" in client.text()


def test_the_diffs_of_a_rename_are_true(client: DemoClient) -> None:
    before = {path: data.decode() for path, data in _snapshot(client.cwd).items()}
    client.say(f"rename {_OLD} to brew_time", "allow-once")
    params = client.asked()[0]
    subject = params["toolCall"] if client.version == 1 else params["subject"]["toolCall"]
    assert [one["kind"] for one in params["options"]] == [
        "allow_once",
        "allow_always",
        "reject_once",
    ]
    if client.version == 1:
        paths = {one["path"] for one in _diffs(subject)}
    else:
        paths = {one["path"] for one in _diffs(subject)[0]["changes"]}
    assert len(paths) == 5
    for call in client.calls().values():
        for diff in _diffs(call):
            if client.version == 1:
                name = Path(diff["path"]).relative_to(client.cwd).as_posix()
                assert before[name].count(diff["oldText"]) == 1
                before[name] = before[name].replace(diff["oldText"], diff["newText"])
            else:
                path = Path(diff["changes"][0]["path"])
                name = path.relative_to(client.cwd).as_posix()
                patch = diff["patch"]["text"]
                assert f"--- {path}\n+++ {path}\n" in patch
                before[name] = _patched(before[name], patch)
    assert before == {path: data.decode() for path, data in _snapshot(client.cwd).items()}


def test_unsaved_text_is_respected(client: DemoClient) -> None:
    path = client.cwd / "src" / "clock.py"
    disk = path.read_text()
    client.buffers[path] = f"import teas  # {_OLD}\n{disk}"
    client.say(f"rename {_OLD} to brew_time")
    if client.offered.get("fs"):
        assert client.buffers[path] == f"import teas  # brew_time\n{disk}"
        assert len(client.asked("fs/write_text_file")) == 6
    else:
        assert path.read_text() == disk
        assert client.asked("fs/write_text_file") == client.asked("fs/read_text_file") == []


@pytest.mark.parametrize("answer", ["reject", None, "error", "no-such-option"])
def test_a_refusal_leaves_everything_as_it_is(client: DemoClient, answer: str | None) -> None:
    before = _snapshot(client.cwd)
    for prompt in (
        f"rename {_OLD} to x",
        "document",
        "create a.md",
        "delete README.md",
        "move README.md to x.md",
        "run echo tea",
    ):
        assert client.say(prompt, answer) == "end_turn"
        assert len(client.asked()) == 1
        assert "leave everything as it is" in client.text()
        assert list(client.calls().values())[-1]["status"] == "failed"
    assert _snapshot(client.cwd) == before


def test_document_adds_hunks_in_separate_places(client: DemoClient) -> None:
    path = client.cwd / "src" / "teas.py"
    path.write_bytes(b"#!python\r\n" + path.read_bytes().replace(b"\n", b"\r\n"))
    before = path.read_bytes().decode()
    client.say("document src/teas.py")
    after = path.read_bytes().decode()
    docstring = '"""Teas: temperature, steep time and strongest."""'.replace("steep time", _OLD)
    assert after.startswith(f"#!python\r\n{docstring}\r\n\r\nTEAS")
    assert '    """Steep time for tea and cups."""\r\n    # Every' in after
    kept = [line for line in after.splitlines(keepends=True) if '"""' not in line]
    assert [line for line in kept if line.strip()] == [
        line for line in before.splitlines(keepends=True) if line.strip()
    ]
    last = list(client.calls().values())[-1]
    hunks = [
        one
        for diff in _diffs(last)
        for one in diff.get("patch", {}).get("text", "@@").split("@@ -")
    ]
    assert len(_diffs(last)) + len(hunks) > 2
    assert len(last["locations"]) >= 2
    client.say("document src/teas.py")
    assert "all its docstrings already" in client.text()


def test_one_docstring(client: DemoClient) -> None:
    path = client.cwd / "src" / "main.py"
    before = path.read_text()
    client.say("add docstring to countdown")
    new = 'sleep=time.sleep):\n    """Countdown for seconds and sleep."""\n'
    assert path.read_text() == before.replace("sleep=time.sleep):\n", new)


def test_create_move_delete(client: DemoClient) -> None:
    new, moved = client.cwd / "notes" / "one two.md", client.cwd / "docs" / "one two.md"
    client.say('create "notes/one two.md" with Buy tea\nand milk')
    assert new.read_bytes() == b"Buy tea\nand milk\n"
    created = _diffs(list(client.calls().values())[-1])[0]
    client.say('move "notes/one two.md" to docs')
    assert not new.exists()
    assert moved.exists()
    move = list(client.calls().values())[-1]
    client.say('delete "one two.md"')
    assert not moved.exists()
    deleted = _diffs(list(client.calls().values())[-1])[0]
    assert move["kind"] == "move"
    if client.version == 1:
        assert (created["oldText"], created["newText"]) == (None, "Buy tea\nand milk\n")
        assert (deleted["oldText"], deleted["newText"]) == ("Buy tea\nand milk\n", "")
        return
    assert created["changes"] == [{"operation": "add", "path": str(new), "fileType": "text"}]
    patch = created["patch"]["text"]
    assert f"--- /dev/null\n+++ {new}\t\n@@ -0,0 +1,2 @@\n+Buy tea\n" in patch
    assert _diffs(move)[0]["changes"][0] == {
        "operation": "move",
        "path": str(moved),
        "oldPath": str(new),
        "fileType": "text",
    }
    assert f"rename from {new}\nrename to {moved}\n" in _diffs(move)[0]["patch"]["text"]
    assert deleted["changes"][0]["operation"] == "delete"
    assert "+++ /dev/null\n@@ -1,2 +0,0 @@\n-Buy tea\n" in deleted["patch"]["text"]


def test_what_is_allowed_once_and_for_all(client: DemoClient) -> None:
    client.say("create a.md", "allow-always")
    client.say("create b.md")
    assert client.asked() == []
    client.say("delete a.md")
    assert len(client.asked()) == 1


@pytest.mark.parametrize(("mode", "asked"), [("ask", 3), ("code", 2), ("auto", 1)])
def test_a_mode_says_what_is_asked_about(client: DemoClient, mode: str, asked: int) -> None:
    client.mode(mode)
    number = 0
    for prompt in ("create a.md", "delete a.md", "run python -V"):
        client.say(prompt)
        number += len(client.asked())
    assert number == asked


def test_what_the_client_refuses_is_said(client: DemoClient) -> None:
    """Also D51: the reason is named."""
    client.refused = {"fs/write_text_file", "terminal/create"}
    before = _snapshot(client.cwd)
    for prompt in (f"rename {_OLD} to x", "document src/main.py", "create a.md", "run echo"):
        client.say(prompt)
        if client.offered.get("fs"):
            assert "failed" in [one["status"] for one in client.calls().values()]
            assert "could not" in client.text() or "did not let me" in client.text()
    client.refused = {"fs/read_text_file"}
    client.say("explain README.md")
    assert ("not here" in client.text()) == bool(client.offered.get("fs"))
    assert (_snapshot(client.cwd) == before) == bool(client.offered.get("fs"))


def test_links_do_not_lead_outside(client: DemoClient) -> None:
    """D42, D43: neither a link nor a sibling folder of a like name is inside."""
    outside = client.cwd.parent / "tea-secret"
    outside.mkdir()
    (outside / "a.md").write_text(_OLD)
    (client.cwd / "link.md").symlink_to(outside / "a.md")
    (client.cwd / "dangling.md").symlink_to(outside / "b.md")
    for prompt in (
        "explain link.md",
        "explain ../tea-secret/a.md",
        "create dangling.md",
        f"explain {outside / 'a.md'}",
        "delete link.md",
    ):
        client.say(prompt)
        assert "outside of the workspace" in client.text()
    client.say(f"rename {_OLD} to brew_time")
    assert (outside / "a.md").read_text() == _OLD
    assert not (outside / "b.md").exists()


# --- commands ----------------------------------------------------------------------------


@pytest.mark.parametrize("code", [0, 3])
def test_run_reports_the_exit_code(client: DemoClient, code: int) -> None:
    command = f"{sys.executable} -c \"print('hot'); print('tea'); exit({code})\""
    client.say(f"run {command}")
    call = list(client.calls().values())[-1]
    if client.offered.get("terminal"):
        code = 3  # what the test's terminal always says
        assert client.asked("terminal/create")[0]["args"][0] == "-c"
        assert client.asked("terminal/create")[0]["cwd"] == str(client.cwd)
        assert call["content"] == [{"type": "terminal", "terminalId": "t-1"}]
        assert len(client.asked("terminal/release")) == 1
    elif client.version == 1:
        assert call["content"][0]["content"]["text"] == "```\nhot\ntea\n```"
    else:
        subject = client.asked()[0]["subject"]
        assert (subject["type"], subject["command"]) == ("command", command)
        assert (subject["cwd"], subject["toolCallId"]) == (str(client.cwd), call["toolCallId"])
        assert client.output() == b"hot\ntea\n"
        assert client.updates("terminal_update")[-1]["exitStatus"] == {"exitCode": code}
    assert (call["kind"], call["status"]) == ("execute", "failed" if code else "completed")
    assert f"exit code {code}" in client.text()


def test_a_command_that_is_not_there(client: DemoClient) -> None:
    client.say("run no-such-program-here")
    if not client.offered.get("terminal"):
        assert "cannot be started" in client.text()
    assert list(client.calls().values())[-1]["status"] == "failed"


def test_cancel_ends_a_command(client: DemoClient) -> None:
    program = "import time; print('on', flush=True); time.sleep(60)"
    client.answers = ["allow-once", "silence"]
    client.seen.clear()
    number = client.start(f'run {sys.executable} -c "{program}"')
    if client.offered.get("terminal"):
        client.until_method("terminal/wait_for_exit")
    elif client.version == 2:
        client.until("terminal_output_chunk")
    else:
        client.until("tool_call_update", status="in_progress")
    client.cancel()
    assert client.end(number) == "cancelled"
    closed = "failed" if client.version == 1 else "cancelled"
    assert list(client.calls().values())[-1]["status"] == closed
    if client.offered.get("terminal"):
        assert len(client.asked("terminal/kill")) == len(client.asked("terminal/release")) == 1
    if client.version == 2:
        assert client.updates("terminal_update")[-1]["exitStatus"] == {"signal": "SIGKILL"}


def test_one_thing_can_be_cancelled_in_version_2(client: DemoClient) -> None:
    if client.version == 1:
        assert client.say("help") == "end_turn"
        return
    client.seen.clear()
    number = client.start("slow")
    call = client.until("tool_call_update")["toolCallId"]
    client.ours("tool_call/cancel", toolCallId=call)
    client.until("state_update", state="idle", stopReason="end_turn")
    assert client.calls()[call]["status"] == "cancelled"
    program = "import time; time.sleep(60)"
    number = client.start(f'run {sys.executable} -c "{program}"')
    terminal = client.until("terminal_update", capabilities={"cancel": {}})["terminalId"]
    client.ours("terminal/cancel", terminalId=terminal)
    assert client.end(number) == "end_turn"
    assert "was stopped by SIGKILL" in client.text()
