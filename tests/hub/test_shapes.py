"""The JSON that editors get, member by member."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
from scene import AGENT, FACTS, NATIVE, ROOT, YES_NO, A, B, Scene, about, patch

from acpls.hub import question_shapes, review_shapes, shapes
from acpls.hub.state import Agent
from acpls.session import updates as up
from acpls.session.asks import AuthMethod
from acpls.session.content import (
    AboutCommand,
    Choice,
    Command,
    Exit,
    FileChange,
    Fragment,
    Location,
    Media,
    Option,
    OtherBlock,
    OtherContent,
    Patch,
    PlanEntry,
    Resource,
    ResourceLink,
    SessionRef,
    TerminalRef,
    Text,
    Usage,
)
from acpls.text import uris
from acpls.text.patch import forwards, parse

if TYPE_CHECKING:
    from acpls.session.content import Block, Subject, ToolContent

URI_A, URI_B = uris.from_path(A), uris.from_path(B)


def rows(start: int, end: int) -> dict[str, Any]:
    """The range from the beginning of one line to the beginning of another, zero-based."""
    return {"start": {"line": start, "character": 0}, "end": {"line": end, "character": 0}}


def opened(scene: Scene, *updates: up.Update) -> dict[str, Any]:
    """A session that was told these, as it is answered."""
    scene.session()
    for update in updates:
        scene.tells(update)
    told: dict[str, Any] = scene.result("session.get")
    return told


def call(scene: Scene, *content: ToolContent, locations: tuple[Location, ...] = ()) -> Any:
    """A tool call with this content, as it is answered."""
    scene.session()
    scene.tool_call("call", *content, locations=locations, status="failed")
    (entry,) = scene.result("session.get")["entries"]
    return entry


# --- agents and sessions ------------------------------------------------------------------


def test_an_agent_before_it_has_said_anything() -> None:
    agent = Agent(AGENT, "starting", message="downloading")
    assert shapes.agent(agent) == {
        "agent": AGENT,
        "title": AGENT,
        "state": "starting",
        "message": "downloading",
    }


def test_an_agent_with_all_that_it_said() -> None:
    facts = replace(
        FACTS,
        title="The Demo",
        embedded_context=True,
        can_close=True,
        auth_methods=(
            AuthMethod("key", "API key"),
            AuthMethod("web", "Browser", "terminal", "Opens a page", args=("login",)),
        ),
    )
    assert shapes.agent(Agent(AGENT, "ready", facts)) == {
        "agent": AGENT,
        "title": "The Demo",
        "state": "ready",
        "protocolVersion": 1,
        "info": {"name": "Demo agent", "version": "1"},
        "authMethods": [
            {"id": "key", "name": "API key", "kind": "agent"},
            {"id": "web", "name": "Browser", "kind": "terminal", "description": "Opens a page"},
        ],
        "capabilities": {
            "embeddedContext": True,
            "image": False,
            "audio": False,
            "close": True,
            "list": False,
            "resume": False,
            "fork": False,
            "delete": False,
            "setTitle": False,
            "logout": False,
        },
    }


@pytest.mark.parametrize(
    ("said", "shown"),
    [
        ("images", "image"),
        ("audio", "audio"),
        ("can_list", "list"),
        ("can_resume", "resume"),
        ("can_replay", "resume"),
        ("can_fork", "fork"),
        ("can_delete", "delete"),
        ("can_set_title", "setTitle"),
        ("can_log_out", "logout"),
    ],
)
def test_what_an_agent_can_do(said: str, shown: str) -> None:
    facts = replace(FACTS, **{said: True})  # type: ignore[arg-type]  # all of these are switches
    able = shapes.agent(Agent(AGENT, "ready", facts))["capabilities"]
    assert [name for name, can in able.items() if can] == [shown]


def test_a_session_entry() -> None:
    told = opened(
        Scene(),
        up.InfoPatched("Tea", "2030-01-01T00:00:00Z"),
        up.TurnChanged("idle", "error", "the kettle broke"),
    )
    entry = {key: value for key, value in told.items() if key not in EMPTY}
    assert entry == {
        "session": "s1",
        "agent": AGENT,
        "nativeId": NATIVE,
        "cwd": ROOT,
        "title": "Tea",
        "state": "idle",
        "stopReason": "error",
        "error": "the kettle broke",
        "live": True,
        "updatedAt": "2030-01-01T00:00:00Z",
        "seq": 2,
    }


EMPTY: dict[str, Any] = {
    "entries": [],
    "plans": [],
    "options": [],
    "commands": [],
    "usage": None,
    "terminals": [],
    "subagents": [],
    "queue": [],
}


def test_a_session_in_which_nothing_was_said() -> None:
    told = opened(Scene())
    assert {key: told[key] for key in EMPTY} == EMPTY


def test_a_lost_session_does_not_live() -> None:
    scene = Scene()
    scene.session()
    scene.dies("it fell over")
    told = scene.result("session.get")
    assert (told["state"], told["live"], told["error"]) == ("lost", False, "it fell over")


def test_prompts_that_wait() -> None:
    scene = Scene()
    scene.session()
    scene.prompts("first")
    link = {"type": "resource_link", "uri": "file:///x", "name": "x"}
    scene.result("session.prompt", text="second", blocks=[link])
    told = scene.result("session.get")
    assert told["queue"] == [{"turn": "t2", "content": [link, {"type": "text", "text": "second"}]}]


def test_plans() -> None:
    steps = (PlanEntry("Brew"), PlanEntry("Pour", "high", "completed"))
    told = opened(Scene(), up.PlanSet("p1", steps), up.PlanSet("p2", ()))
    assert told["plans"] == [
        {
            "plan": "p1",
            "entries": [
                {"content": "Brew", "priority": "medium", "status": "pending"},
                {"content": "Pour", "priority": "high", "status": "completed"},
            ],
        },
        {"plan": "p2", "entries": []},
    ]


def test_options() -> None:
    mode = Option(
        "mode",
        "Mode",
        "select",
        "ask",
        (Choice("ask", "Ask"), Choice("code", "Code", "Writes files", "Work")),
        "mode",
        "What it may do",
    )
    switch = Option("web", "Web", "boolean", False)
    told = opened(Scene(), up.OptionsSet((mode, switch)))
    assert told["options"] == [
        {
            "option": "mode",
            "name": "Mode",
            "type": "select",
            "value": "ask",
            "category": "mode",
            "description": "What it may do",
            "choices": [
                {"value": "ask", "name": "Ask"},
                {
                    "value": "code",
                    "name": "Code",
                    "description": "Writes files",
                    "group": "Work",
                },
            ],
        },
        {"option": "web", "name": "Web", "type": "boolean", "value": False, "choices": []},
    ]


def test_slash_commands() -> None:
    plain, hinted = Command("brew", "Brews"), Command("pour", "Pours", "into what")
    told = opened(Scene(), up.CommandsSet((plain, hinted)))
    assert told["commands"] == [
        {"name": "brew", "description": "Brews"},
        {"name": "pour", "description": "Pours", "hint": "into what"},
    ]


@pytest.mark.parametrize(
    ("usage", "shown"),
    [
        (Usage(0, 100), {"used": 0, "size": 100}),
        (
            Usage(5, 100, (0.25, "EUR")),
            {"used": 5, "size": 100, "cost": {"amount": 0.25, "currency": "EUR"}},
        ),
    ],
)
def test_usage(usage: Usage, shown: dict[str, Any]) -> None:
    assert opened(Scene(), up.UsageSet(usage))["usage"] == shown


def test_terminals_come_without_their_output() -> None:
    told = opened(
        Scene(),
        up.TerminalPatched("t1", command="make tea", cwd=ROOT, output="☕🍵".encode()),
        up.TerminalPatched("t2", exit=Exit(0)),
        up.TerminalPatched("t3", exit=Exit(signal="SIGTERM")),
        up.TerminalPatched("t4", exit=Exit()),
    )
    assert told["terminals"] == [
        {"terminal": "t1", "command": "make tea", "cwd": ROOT, "size": 2},
        {"terminal": "t2", "exitStatus": {"exitCode": 0}, "size": 0},
        {"terminal": "t3", "exitStatus": {"signal": "SIGTERM"}, "size": 0},
        {"terminal": "t4", "exitStatus": {}, "size": 0},
    ]


def test_subagents() -> None:
    told = opened(
        Scene(),
        up.SubagentPatched("n2", "Tests", "Runs them", "running", "/w", can_cancel=True),
        up.SubagentPatched("n3", meta={"a": 1}),
    )
    assert told["subagents"] == [
        {
            "subagent": "n2",
            "title": "Tests",
            "description": "Runs them",
            "state": "running",
            "cwd": "/w",
            "cancel": True,
        },
        {"subagent": "n3", "meta": {"a": 1}},
    ]


def test_a_terminal_has_a_screen_and_can_be_stopped() -> None:
    told = opened(Scene(), up.TerminalPatched("t1", size=(80, 24), can_cancel=True, meta={"a": 1}))
    assert told["terminals"] == [
        {
            "terminal": "t1",
            "size": 0,
            "screen": {"columns": 80, "rows": 24},
            "cancel": True,
            "meta": {"a": 1},
        }
    ]


def test_what_runs_in_the_background_and_what_the_agent_says_besides() -> None:
    runs = (up.Background("terminal", "t1"), up.Background("odd"))
    told = opened(
        Scene(), up.TurnChanged("running", background=runs), up.InfoPatched(meta={"a": [None]})
    )
    assert told["background"] == [{"type": "terminal", "id": "t1"}, {"type": "odd"}]
    assert told["meta"] == {"a": [None]}


# --- entries ------------------------------------------------------------------------------


def test_entries_of_every_kind_in_their_order() -> None:
    told = opened(
        Scene(),
        up.MessageGrew("m1", "thought", Text("Hm")),
        up.ToolCallPatched("call", title="Brew", name="brew", kind="execute", status="pending"),
        up.NoticeGiven("warning", "Hot"),
        up.NoticeGiven("info", "Done", "Enjoy"),
        up.Other({"kind": "odd"}),
    )
    assert told["entries"] == [
        {
            "entry": "m1",
            "type": "message",
            "role": "thought",
            "content": [{"type": "text", "text": "Hm"}],
        },
        {
            "entry": "call",
            "type": "toolCall",
            "toolCall": "call",
            "title": "Brew",
            "name": "brew",
            "kind": "execute",
            "status": "pending",
            "content": [],
            "locations": [],
        },
        {"entry": "n3", "type": "notice", "severity": "warning", "title": "Hot"},
        {
            "entry": "n4",
            "type": "notice",
            "severity": "info",
            "title": "Done",
            "description": "Enjoy",
        },
        {"entry": "o5", "type": "other", "payload": {"kind": "odd"}},
    ]


def test_compactions_and_messages_between_sessions() -> None:
    told = opened(
        Scene(),
        up.CompactionPatched("k"),
        up.CompactionPatched("l", "failed", (Text("a"), Text("b")), "too long", {"m": 1}),
        up.SessionMessageSet("s"),
        up.SessionMessageSet("t", "n1", "n2", (Text("a"), Text("b")), {"m": 1}),
    )
    text = [{"type": "text", "text": "ab"}]
    assert told["entries"] == [
        {"entry": "k", "type": "compaction", "status": "in_progress", "summary": []},
        {
            "entry": "l",
            "type": "compaction",
            "status": "failed",
            "summary": text,
            "error": "too long",
            "meta": {"m": 1},
        },
        {"entry": "s", "type": "sessionMessage", "content": []},
        {
            "entry": "t",
            "type": "sessionMessage",
            "sender": "n1",
            "recipient": "n2",
            "content": text,
            "meta": {"m": 1},
        },
    ]


def test_messages_and_tool_calls_have_what_the_agent_says_besides() -> None:
    told = opened(
        Scene(),
        up.MessageSet("m", "agent", (), {"a": 1}),
        up.ToolCallPatched("c", can_cancel=True, meta={"b": 2}),
    )
    said, call = told["entries"]
    assert said["meta"] == {"a": 1}
    assert (call["cancel"], call["meta"]) == (True, {"b": 2})


LINK = ResourceLink("file:///x", "x")
JOINED: list[tuple[list[Block], list[Block]]] = [
    ([], []),
    ([Text("a"), Text("b")], [Text("ab")]),
    ([LINK, LINK], [LINK, LINK]),
    ([Text("a"), Text("b"), LINK, Text("c"), Text("")], [Text("ab"), LINK, Text("c")]),
]


@pytest.mark.parametrize(("blocks", "joined"), JOINED)
def test_neighbouring_texts_are_put_together(blocks: list[Block], joined: list[Block]) -> None:
    assert shapes.joined(blocks) == joined


BLOCKS: list[tuple[Block, dict[str, Any]]] = [
    (Text("tea"), {"type": "text", "text": "tea"}),
    (
        Media("image", "AAAA", "image/png"),
        {"type": "image", "data": "AAAA", "mimeType": "image/png"},
    ),
    (
        Media("audio", "BBBB", "audio/wav", "file:///s"),
        {"type": "audio", "data": "BBBB", "mimeType": "audio/wav", "uri": "file:///s"},
    ),
    (LINK, {"type": "resource_link", "uri": "file:///x", "name": "x"}),
    (
        ResourceLink("file:///x", "x", "The X", "text/css"),
        {
            "type": "resource_link",
            "uri": "file:///x",
            "name": "x",
            "title": "The X",
            "mimeType": "text/css",
        },
    ),
    (
        Resource("file:///x", text="", mime_type="text/plain"),
        {
            "type": "resource",
            "resource": {"uri": "file:///x", "text": "", "mimeType": "text/plain"},
        },
    ),
    (
        Resource("file:///x", blob="AAAA"),
        {"type": "resource", "resource": {"uri": "file:///x", "blob": "AAAA"}},
    ),
    (OtherBlock({"type": "hologram", "depth": 3}), {"type": "hologram", "depth": 3}),
]


@pytest.mark.parametrize(("block", "shown"), BLOCKS)
def test_a_block_in_a_message_and_in_a_tool_call(block: Block, shown: dict[str, Any]) -> None:
    assert shapes.block(block) == shown
    assert call(Scene(), block)["content"] == [shown]


def test_what_a_tool_call_contains_besides_blocks() -> None:
    moved = FileChange("move", B, A)
    strange = FileChange("chmod", None)
    entry = call(
        Scene(),
        Fragment(A, "old", "new"),
        Patch((moved, strange)),
        TerminalRef("t1"),
        SessionRef("n2"),
        OtherContent({"type": "odd"}),
    )
    assert entry["content"] == [
        {"type": "diff", "changes": [{"uri": URI_A}]},
        {
            "type": "diff",
            "changes": [
                {"operation": "move", "uri": URI_B, "oldUri": URI_A},
                {"operation": "chmod"},
            ],
        },
        {"type": "terminal", "terminal": "t1"},
        {"type": "session", "session": "n2"},
        {"type": "other", "payload": {"type": "odd"}},
    ]


@pytest.mark.parametrize(
    ("length", "shown"),
    [
        (4000, {"type": "text", "text": "🍵" * 4000}),
        (4001, {"type": "text", "text": "🍵" * 4000, "size": 4001}),
    ],
)
def test_a_long_text_in_a_tool_call_is_cut(length: int, shown: dict[str, Any]) -> None:
    assert call(Scene(), Text("🍵" * length))["content"] == [shown]


def test_locations_of_a_file_that_is_not_open_are_the_agents() -> None:
    told = call(Scene(), locations=(Location(A), Location(A, 1), Location(A, 9), Location(B, 0)))
    assert told["locations"] == [
        {"uri": URI_A},
        {"uri": URI_A, "range": rows(0, 0)},
        {"uri": URI_A, "range": rows(8, 8)},
        {"uri": URI_B, "range": rows(0, 0)},
    ]


def test_locations_go_no_further_than_the_last_line_of_an_open_document() -> None:
    scene = Scene()
    scene.buffer(A, "one\ntwo")
    scene.buffer(B, "")
    told = call(scene, locations=(Location(A, 2), Location(A, 9), Location(B, 9)))
    assert [at["range"] for at in told["locations"]] == [rows(1, 1), rows(1, 1), rows(0, 0)]


def test_a_place_without_a_line_is_the_files_first() -> None:
    scene = Scene()
    scene.session()
    scene.agent_reads(A)
    scene.agent_reads(A, line=4)
    assert scene.result("follow.trail") == [
        {"uri": URI_A, "range": rows(3, 3), "reason": "read"},
        {"uri": URI_A, "range": rows(0, 0), "reason": "read"},
    ]


# --- questions ----------------------------------------------------------------------------

SUBJECTS: list[tuple[Subject, dict[str, Any] | None]] = [
    (None, None),
    (about("c7"), {"type": "toolCall", "toolCall": "c7"}),
    (AboutCommand("rm x", ROOT), {"type": "command", "command": "rm x", "cwd": ROOT}),
    (
        AboutCommand("rm x", ROOT, "c7"),
        {"type": "command", "command": "rm x", "cwd": ROOT, "toolCall": "c7"},
    ),
    (OtherContent({"type": "odd"}), {"type": "other", "payload": {"type": "odd"}}),
]


@pytest.mark.parametrize(("subject", "shown"), SUBJECTS)
def test_what_a_question_is_about(subject: Subject, shown: dict[str, Any] | None) -> None:
    scene = Scene()
    scene.session()
    scene.asks(title="May I?", options=YES_NO[:1], subject=subject)
    (question,) = scene.result("question.list")
    assert question.pop("subject", None) == shown
    about = question.pop("about", {})
    assert question.pop("text")
    assert about.get("command") == (None if shown is None else shown.get("command"))
    title = "May I? rm x" if "command" in about else "May I?"
    assert question == {
        "question": "q1",
        "session": "s1",
        "agent": AGENT,
        "title": title,
        "options": [{"option": "yes", "name": "Allow", "kind": "allow_once"}],
        "state": "open",
    }


def test_a_settled_question_says_by_whom() -> None:
    scene = Scene()
    scene.session()
    key = scene.asks()
    scene.command("question.answer", option="yes")
    settled = question_shapes.question(scene.state, scene.state.questions.all[key])
    assert (settled["state"], settled["by"]) == ("settled", "editor")


def test_a_question_shows_the_changes_that_it_is_about() -> None:
    scene = Scene()
    scene.session()
    scene.has(A, "one\ntwo\n")
    scene.has(B, "three\n")
    scene.works()
    scene.tool_call("other", Fragment(B, "three", "3"))
    scene.tool_call("call", Fragment(A, "two", "2"))
    scene.asks(subject=about("call"))
    scene.asks(2, subject=about("third"))
    shown, bare = scene.result("question.list")
    patch_a = f"--- {A}\n+++ {A}\n@@ -2,1 +2,1 @@\n-two\n+2\n"
    assert shown["preview"] == [{"uri": URI_A, "patch": patch_a}]
    # Nothing is said of the third; the last one that is not over may be meant.
    assert bare["about"]["guessed"]
    assert [said["placed"] for said in bare["preview"]] == [False]


# --- review -------------------------------------------------------------------------------


def test_a_change_that_was_written() -> None:
    scene = Scene()
    scene.session()
    scene.disk[A] = "one\ntwo\nthree\n"
    scene.agent_edits(A, "two\n", "2\nand a half\n")
    (change,) = scene.result("review.list")
    assert change == {
        "change": "c1",
        "uri": URI_A,
        "operation": "modify",
        "session": "s1",
        "toolCall": "call",
        "state": "pending",
        "before": "store",
        "hunks": [
            {
                "hunk": "h2",
                "change": "c1",
                "state": "pending",
                "applied": True,
                "baseRange": rows(1, 2),
                "range": rows(1, 3),
                "baseText": "two\n",
                "newText": "2\nand a half\n",
                "session": "s1",
                "toolCall": "call",
            }
        ],
    }


def hunk_of(scene: Scene) -> dict[str, Any]:
    ((hunk,),) = [change["hunks"] for change in scene.result("review.list")]
    shown: dict[str, Any] = hunk
    return shown


def test_a_hunk_that_is_proposed_stands_where_its_old_lines_are() -> None:
    scene = Scene()
    scene.session()
    scene.has(A, "one\ntwo\n")
    scene.works()
    scene.tool_call("call", Fragment(A, "two\n", "2\nand a half\n"), status="completed")
    hunk = hunk_of(scene)
    assert (hunk["applied"], hunk["range"]) == (False, rows(1, 2))


def test_a_hunk_stands_where_the_user_has_moved_it() -> None:
    scene = Scene()
    scene.session()
    scene.disk[A] = "one\ntwo\n"
    scene.buffer(A)
    scene.agent_edits(A, "two\n", "2\n")
    scene.types(A, 0, "mine\n")
    hunk = hunk_of(scene)
    assert (hunk["applied"], hunk["range"]) == (False, rows(2, 3))
    assert (hunk["baseRange"], hunk["state"]) == (rows(1, 2), "pending")


def test_a_hunk_that_the_user_has_written_over_says_so() -> None:
    scene = Scene()
    scene.session()
    scene.disk[A] = "one\ntwo\nthree\n"
    scene.buffer(A)
    scene.agent_edits(A, "two\n", "2\n")
    scene.replaces(A, "two", "mine")
    hunk = hunk_of(scene)
    assert (hunk["state"], hunk["applied"]) == ("conflict", False)
    assert hunk["range"] == rows(1, 2)
    assert hunk["reason"] == "these lines have changed since"


def test_hunks_of_a_new_file_and_of_one_that_goes() -> None:
    scene = Scene()
    scene.session()
    scene.has(B, "three\n")
    scene.works()
    scene.tool_call("add", patch(A, None, "one\n"), status="completed")
    scene.tool_call("delete", patch(B, "three\n", None), status="completed")
    added, deleted = scene.result("review.list")
    assert (added["operation"], deleted["operation"]) == ("add", "delete")
    assert added["hunks"][0]["range"] == rows(0, 0)
    assert (deleted["hunks"][0]["baseText"], deleted["hunks"][0]["newText"]) == ("three\n", "")


def test_a_change_that_could_not_be_placed_says_why() -> None:
    scene = Scene()
    scene.session()
    scene.has(A, "one\n")
    scene.works()
    scene.tool_call("call", Fragment(A, "two", "2"), status="completed")
    (change,) = scene.result("review.list")
    assert (change["state"], change["hunks"]) == ("unclear", [])
    assert change["reason"] == "neither the old text nor the new text is in the file"


def test_the_hunks_of_a_file_as_a_unified_diff() -> None:
    scene = Scene()
    scene.session()
    scene.disk[A] = "one\ntwo\nthree\nfour\n"
    scene.agent_writes(A, "1\n1.5\ntwo\nthree\n4\n")
    file = scene.state.ledger.files[A]
    assert review_shapes.unified(file) == (
        f"--- {A}\n+++ {A}\n@@ -1,1 +1,2 @@\n-one\n+1\n+1.5\n@@ -4,1 +5,1 @@\n-four\n+4\n"
    )


@pytest.mark.parametrize(
    "new",
    [
        "one\nnew\ntwo\nthree\n",
        "one\nthree\n",
        "zero\none\ntwo\nthree\n",
        "one\ntwo\nthree",
        "one\ntwo\nthree\nfour\n",
    ],
)
def test_the_patch_of_a_file_leads_to_its_target(new: str) -> None:
    scene = Scene()
    scene.session()
    scene.disk[A] = base = "one\ntwo\nthree\n"
    scene.agent_writes(A, new)
    patch = review_shapes.unified(scene.state.ledger.files[A])
    (file,), problems = parse(f"diff --git {A} {A}\n{patch}")
    assert problems == ()
    assert forwards(file, base, exact=True) == new
