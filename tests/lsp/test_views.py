"""What the editor is told of changes: gathered, complete, never twice, never too much."""

from __future__ import annotations

import itertools
import logging
from typing import Any

import anyio
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from acpls import effects as ef
from acpls import events as ev
from acpls.lsp import views
from acpls.session import updates as up
from acpls.session.asks import Prompt, PromptTaken
from acpls.session.content import (
    UNSET,
    Choice,
    Command,
    Exit,
    Media,
    Option,
    PlanEntry,
    Resource,
    Text,
    Usage,
)
from editor_stage import EVERYTHING, Stage, announcing, claiming, stage

pytestmark = pytest.mark.anyio

URI = "file:///p/a.py"
SESSIONS = announcing("sessions")


class Model:
    """A client that draws a session by what it is told, written from docs/protocol.md."""

    def __init__(self) -> None:
        self.head: dict[str, Any] = {}
        self.entries: dict[tuple[str, str], dict[str, Any]] = {}
        self.lists: dict[str, dict[str, Any]] = {"plans": {}, "terminals": {}, "subagents": {}}
        self.whole: dict[str, Any] = {"options": [], "commands": [], "usage": None, "queue": []}
        self.seq = 0

    def take(self, told: dict[str, Any]) -> None:
        assert told["seq"] >= self.seq
        self.seq = told["seq"]
        for change in told["changes"]:
            self._take(dict(change))

    def _take(self, change: dict[str, Any]) -> None:
        match change.pop("type"):
            case "message":
                self._message(change)
            case "toolCall" | "notice" | "compaction" | "sessionMessage" | "other" as kind:
                self.entries[kind, change["entry"]] = {"type": kind, **change}
            case "state":
                del change["stopping"]
                self.head = change
            case "title":
                for name in ("title", "updatedAt"):
                    self.head.pop(name, None)
                self.head |= change
            case "plan":
                self.lists["plans"][change["plan"]] = change
            case "terminal" | "subagent" as kind:
                self.lists[f"{kind}s"][change[kind]] = change
            case "options" | "commands" | "usage" | "queue" as name:
                self.whole[name] = change[name]
            case other:
                raise AssertionError(other)

    def _message(self, change: dict[str, Any]) -> None:
        key = ("message", change["message"])
        if change.get("removed"):
            del self.entries[key]
            return
        if "content" in change:
            content = change["content"]
            entry = {"entry": key[1], "type": "message", "role": change["role"]}
            told = {"meta": change["meta"]} if "meta" in change else {}
            self.entries[key] = {**entry, **told, "content": content}
            return
        content, block = self.entries[key]["content"], dict(change["append"])
        if content and content[-1]["type"] == block["type"] == "text":
            content[-1] = {**block, "text": content[-1]["text"] + block["text"]}
        else:
            content.append(block)

    def snapshot(self) -> dict[str, Any]:
        return {
            **self.head,
            "seq": self.seq,
            "entries": list(self.entries.values()),
            **{name: list(items.values()) for name, items in self.lists.items()},
            **self.whole,
        }


def told(it: Stage) -> list[dict[str, Any]]:
    return it.editor.reads("acp/session/changed")


def changes(it: Stage) -> list[dict[str, Any]]:
    it.views.flush()
    return [change for message in told(it) for change in message["changes"]]


# --- sessions ------------------------------------------------------------------------------


async def test_ten_thousand_chunks_between_two_flushes_are_one_append() -> None:
    async with stage(SESSIONS) as it:
        it.session()
        it.prompts()
        it.says("")
        it.views.flush()
        it.editor.reads()
        for number in range(10_000):
            it.says(f"{number} ")
        it.views.flush()
        (message,) = told(it)
        text = "".join(f"{number} " for number in range(10_000))
        assert message["changes"] == [
            {
                "type": "message",
                "message": "m1",
                "role": "agent",
                "append": {"type": "text", "text": text},
            }
        ]
        assert not it.editor.reads()


async def test_a_message_is_content_first_then_appends_and_content_when_it_is_replaced() -> None:
    async with stage(SESSIONS) as it:
        it.session()
        it.views.flush()
        told(it)
        head = {"type": "message", "message": "m1", "role": "agent"}
        it.says("a")
        it.says("b")
        ab = {"type": "text", "text": "ab"}
        assert changes(it) == [{**head, "content": [ab]}]
        it.says("c")
        it.told(up.MessageGrew("m1", "agent", Media("image", "AA==", "image/png")))
        it.says("d")
        image = {"type": "image", "data": "AA==", "mimeType": "image/png"}
        assert changes(it) == [
            {**head, "append": {"type": "text", "text": "c"}},
            {**head, "append": image},
            {**head, "append": {"type": "text", "text": "d"}},
        ]
        it.told(up.MessageSet("m1", "agent", (Text("new"),)))
        it.says("er")
        assert changes(it) == [{**head, "content": [{"type": "text", "text": "newer"}]}]
        it.told(up.MessageSet("m1", "agent", None))
        assert changes(it) == [{**head, "content": []}]
        # A message that was only named says nothing new.
        it.told(up.MessageSet("m1", "agent"))
        assert changes(it) == []


async def test_a_prompt_that_the_agent_tells_in_its_words_is_one_message() -> None:
    async with stage(SESSIONS) as it:
        it.session()
        it.prompts("do it")
        first = [c for c in changes(it) if c["type"] == "message"]
        assert first == [
            {
                "type": "message",
                "message": "t1",
                "role": "user",
                "content": [{"type": "text", "text": "do it"}],
            }
        ]
        for part in ("do", " it"):
            it.told(up.MessageGrew("agents-id", "user", Text(part)))
            (change,) = [c for c in changes(it) if c["type"] == "message"]
            assert change["message"] == "t1"
        snapshot = it.editor.command("acpls.session.get")
        assert [e["content"] for e in snapshot["entries"]] == [[{"type": "text", "text": "do it"}]]


async def test_a_prompt_that_came_back_as_a_stranger_is_taken_away_again() -> None:
    async with stage(SESSIONS) as it:
        it.session()
        it.prompts("do it")
        model = Model()
        it.says("first the agent speaks")
        it.told(up.MessageGrew("x", "user", Text("other words")))
        it.views.flush()
        ask = [a for a in it.of(ef.SendAsk) if isinstance(a.ask, Prompt)][-1]
        it.emit(ev.Replied("demo", ask.number, PromptTaken("x")))
        it.views.flush()
        for message in told(it):
            model.take(message)
        assert model.snapshot() == it.editor.command("acpls.session.get")
        assert ("message", "x") not in model.entries


async def test_a_snapshot_holds_nothing_that_is_told_afterwards() -> None:
    async with stage(SESSIONS) as it:
        it.session()
        it.says("before")
        number = it.editor.ask("workspace/executeCommand", {"command": "acpls.session.get"})
        methods = [message.get("method", message.get("id")) for message in it.editor.inbox]
        assert methods.index("acp/session/changed") < methods.index(number)
        snapshot = it.editor.answered(number)["result"]
        assert told(it)[-1]["seq"] == snapshot["seq"]
        it.views.flush()
        assert not told(it)


async def test_clients_that_draw_no_sessions_are_told_nothing_of_them() -> None:
    async with stage(announcing("reviews")) as it:
        it.session()
        it.says("hello")
        it.views.flush()
        assert not told(it)


async def test_new_kinds_of_entries_are_told_as_a_snapshot_has_them() -> None:
    async with stage(SESSIONS) as it:
        it.session()
        changes(it)
        it.told(up.CompactionGrew("k", Text("short")))
        it.told(up.SessionMessageSet("m", "n1", "n2"))
        it.told(up.SubagentPatched("n2", "Tests", can_cancel=True))
        it.emit(ev.Notified("demo", "_demo/mood", {"mood": 1}, "native"))
        snapshot = it.editor.command("acpls.session.get")
        told_of = [change for message in told(it) for change in message["changes"]]
        entries = [change for change in told_of if "entry" in change]
        assert [entry["type"] for entry in entries] == ["compaction", "sessionMessage", "other"]
        assert entries == snapshot["entries"]
        (subagent,) = [change for change in told_of if change["type"] == "subagent"]
        assert subagent == {"type": "subagent", **snapshot["subagents"][0]}


async def test_what_is_said_besides_of_a_message_and_a_session_is_told() -> None:
    async with stage(SESSIONS) as it:
        it.session()
        it.says("a")
        changes(it)
        it.told(up.MessageSet("m1", "agent", meta={"a": 1}))
        (change,) = changes(it)
        assert change == {
            "type": "message",
            "message": "m1",
            "role": "agent",
            "meta": {"a": 1},
            "content": [{"type": "text", "text": "a"}],
        }
        it.told(up.InfoPatched("T", meta={"b": 2}))
        (state,) = [change for change in changes(it) if change["type"] == "state"]
        assert (state["title"], state["meta"]) == ("T", {"b": 2})


text = st.sampled_from(["", "a", "é😀", "two\nlines\n"])
ids = st.sampled_from(["1", "2", "3"])
blocks = st.one_of(
    st.builds(Text, text),
    st.just(Media("image", "AA==", "image/png")),
    st.just(Resource("file:///r", blob="AA==")),
)
patched = st.one_of(st.just(UNSET), st.none(), text)
metas = st.sampled_from([UNSET, None, {"a": 1}, {"a": None}, {"b": [None]}])
switches = st.sampled_from([UNSET, True, False])
contents = st.one_of(st.just(UNSET), st.none(), st.lists(blocks, max_size=2).map(tuple))
UPDATES = st.one_of(
    st.builds(up.MessageGrew, ids, st.sampled_from(["user", "agent", "thought"]), blocks),
    st.builds(
        up.MessageSet,
        ids,
        st.sampled_from(["user", "agent"]),
        contents,
        metas,
    ),
    st.builds(
        up.ToolCallPatched,
        ids,
        title=patched,
        name=patched,
        status=patched,
        can_cancel=switches,
        meta=metas,
    ),
    st.builds(up.ToolCallGrew, ids, blocks),
    st.builds(
        up.TurnChanged,
        st.sampled_from(["running", "idle", "odd"]),
        st.sampled_from(["end_turn", "cancelled"]),
        background=st.sampled_from([None, (), (up.Background("terminal", "1"),)]),
    ),
    st.builds(up.PlanSet, ids, st.lists(st.builds(PlanEntry, text), max_size=2).map(tuple)),
    st.builds(up.OptionsSet, st.just((Option("o", "O", "select", "a", (Choice("a", "A"),)),))),
    st.builds(up.OptionChanged, st.just("o"), text),
    st.builds(up.CommandsSet, st.just((Command("c", "does it"),))),
    st.builds(up.InfoPatched, title=patched, updated_at=patched, meta=metas),
    st.builds(up.UsageSet, st.just(Usage(1, 2, (0.5, "EUR")))),
    st.builds(up.NoticeGiven, text, text, st.one_of(st.none(), text)),
    st.builds(
        up.TerminalPatched,
        ids,
        command=patched,
        exit=st.just(Exit(1)),
        size=st.sampled_from([UNSET, None, (80, 24)]),
        can_cancel=switches,
        meta=metas,
    ),
    st.builds(up.TerminalGrew, ids, st.sampled_from([b"", b"out\n", "é".encode()[:1]])),
    st.builds(up.CompactionPatched, ids, patched, contents, patched, metas),
    st.builds(up.CompactionGrew, ids, blocks),
    st.builds(up.SubagentPatched, ids, patched, state=patched, can_cancel=switches, meta=metas),
    st.builds(up.SessionMessageSet, ids, patched, patched, contents, metas),
    st.builds(up.SessionMessageGrew, ids, blocks),
    st.just(up.ReplayEnded()),
    st.builds(up.Other, st.just({"sessionUpdate": "strange"})),
)
STEPS = st.lists(
    st.one_of(
        UPDATES,
        st.sampled_from(["flush", "prompt", "again", "confirm 1", "confirm x", "cancel"]),
    ),
    max_size=25,
)


def step(it: Stage, native: str, what: up.Update | str) -> None:
    if not isinstance(what, str):
        it.told(what, native)
    elif what == "flush":
        it.views.flush()
    elif what == "prompt":
        it.prompts("do it")
    elif what == "again":
        # As it is sent once more after a login.
        session = it.state.sessions[str(it.state.current)]
        if session.turn is not None:
            for touched in session.prompted(session.turn, (Text("do it"),)):
                it.perform(ef.ShowSession(session.key, *touched))
    elif what == "cancel":
        it.emit(ev.CommandGiven("acpls.session.cancel"))
    else:
        asked = [a for a in it.of(ef.SendAsk) if isinstance(a.ask, Prompt)]
        if asked:
            it.emit(ev.Replied("demo", asked[-1].number, PromptTaken(what.split()[1])))


async def test_all_that_is_told_adds_up_to_the_snapshot() -> None:
    async with stage(SESSIONS) as it:
        natives = (f"native{number}" for number in itertools.count())

        @settings(max_examples=200, deadline=None)
        @given(STEPS)
        def adds_up(steps: list[up.Update | str]) -> None:
            native = next(natives)
            key = it.session(native)
            for what in steps:
                step(it, native, what)
            it.views.flush()
            model = Model()
            for message in told(it):
                if message["session"] == key:
                    model.take(message)
            assert model.snapshot() == it.editor.command("acpls.session.get", {"session": key})
            it.wanted.clear()

        adds_up()


# --- a slow editor -----------------------------------------------------------------------------


async def test_nothing_is_sent_while_the_editor_has_much_to_read(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(views, "FLUSH_S", 0.001)
    async with stage(SESSIONS) as it:
        it.editor.pending_bytes = 1024 * 1024 + 1
        it.session()
        it.editor.reads()
        for number in range(1000):
            it.says(f"{number} ")
            if number % 100 == 0:
                await anyio.sleep(0.002)
        assert not it.editor.reads()
        it.editor.pending_bytes = 1024 * 1024
        message = await it.editor.next("acp/session/changed")
        assert message["params"]["changes"][-1]["content"] == [
            {"type": "text", "text": "".join(f"{number} " for number in range(1000))}
        ]
        await it.settle()
        assert not it.editor.reads()


async def test_a_bug_in_one_view_does_not_end_the_others(caplog: pytest.LogCaptureFixture) -> None:
    async with stage({"capabilities": {"experimental": {"acp": EVERYTHING}}}) as it:
        it.session()
        it.session("native2")
        it.views.flush()
        it.editor.reads()
        it.state.sessions["s1"].usage = "a bug"  # type: ignore[assignment]  # the bug
        it.perform(ef.ShowSession("s1", "usage"))
        it.perform(ef.ShowSession("s2", "title"))
        it.reviewed("/p/a.py", "a\n", "b\n")
        with caplog.at_level(logging.ERROR):
            it.views.flush()
        assert "AttributeError" in caplog.text
        assert [message["session"] for message in told(it)] == ["s2"]
        assert it.editor.reads("acp/review/changed")


# --- review and diagnostics --------------------------------------------------------------------


async def test_a_review_is_the_whole_list_of_one_file() -> None:
    async with stage(announcing("reviews")) as it:
        it.session()
        it.editor.open(URI, "A\nx\nB\n", version=3)
        keys = it.reviewed("/p/a.py", "a\nx\nb\n", "A\nx\nB\n")
        # The user takes the first one back by hand.
        it.editor.change(URI, 4, {"text": "a\nx\nB\n"})
        it.reviewed("/p/b.py", "", "new\n")
        it.views.flush()
        first, second = it.editor.reads("acp/review/changed")
        assert (first["uri"], first["version"]) == (URI, 4)
        assert [(h["hunk"], h["applied"], h["state"]) for h in first["hunks"]] == [
            (keys[0], False, "pending"),
            (keys[1], True, "pending"),
        ]
        assert second["uri"] == "file:///p/b.py"
        assert "version" not in second
        del it.state.ledger.files["/p/a.py"]
        it.perform(ef.ShowReview("/p/a.py"))
        it.views.flush()
        assert it.editor.reads("acp/review/changed") == [{"uri": URI, "version": 4, "hunks": []}]


def margins(it: Stage) -> list[tuple[str, int]]:
    it.views.flush()
    told = it.editor.reads("textDocument/publishDiagnostics")
    return [(params["uri"], len(params["diagnostics"])) for params in told]


async def test_diagnostics_are_told_for_open_documents_and_only_when_they_change() -> None:
    async with stage() as it:
        it.session()
        it.reviewed("/p/a.py", "a\nx\nb\n", "A\nx\nB\n")
        it.reviewed("/p/b.py", "", "new\n")
        assert margins(it) == []
        it.editor.open(URI, "A\nx\nB\n")
        assert margins(it) == [(URI, 2)]
        it.perform(ef.ShowReview("/p/a.py"))
        assert margins(it) == []
        it.editor.change(URI, 2, {"text": "\nA\nx\nB\n"})
        assert margins(it) == [(URI, 2)]
        # The agent takes it back.
        assert it.reviewed("/p/a.py", "A\nx\nB\n", "a\nx\nb\n") == []
        assert margins(it) == [(URI, 0)]
        it.perform(ef.ShowReview("/p/a.py"))
        assert margins(it) == []


async def test_diagnostics_come_back_when_a_document_is_opened_again() -> None:
    async with stage() as it:
        it.session()
        it.editor.open(URI, "A\n")
        it.reviewed("/p/a.py", "a\n", "A\n")
        assert margins(it) == [(URI, 1)]
        it.editor.shut(URI)
        assert margins(it) == [(URI, 0)]
        it.editor.open(URI, "A\n")
        assert margins(it) == [(URI, 1)]
        # However fast that is.
        it.editor.shut(URI)
        it.editor.open(URI, "A\n")
        assert margins(it) == [(URI, 1)]
        it.editor.shut("file:///p/other.py")
        assert margins(it) == []


async def test_the_questions_of_a_conversation_are_in_its_margin() -> None:
    async with stage() as it:
        it.session()
        it.question(title="Really?")
        uri = it.conversation()
        assert margins(it) == [(uri, 1)]
        it.editor.shut(uri)
        assert margins(it) == [(uri, 0)]
        text = it.of(ef.WriteFile)
        assert not text
        it.editor.open(uri, "what it holds")
        assert margins(it) == [(uri, 1)]
        it.editor.command("acpls.question.answer", {"option": "yes"})
        assert margins(it) == [(uri, 0)]


# --- places, agents ------------------------------------------------------------------------


def place(line: int | None, *, move: bool, session: str = "s1") -> ef.ShowPlace:
    return ef.ShowPlace(session, "/p/a.py", line, line, "read", "t1", move)


async def test_a_place_is_told_with_move_only_where_the_hub_says_so_and_the_last_one_counts() -> (
    None
):
    async with stage(announcing("places", window={"showDocument": {"support": True}})) as it:
        it.editor.open(URI, "1\n2\n3\n")
        it.perform(place(0, move=True))
        it.perform(place(2, move=False))
        it.perform(place(99, move=True, session="s2"))
        it.views.flush()
        first, second = it.editor.reads("acp/place/changed")
        row = {"line": 2, "character": 0}
        assert first == {
            "session": "s1",
            "uri": URI,
            "range": {"start": row, "end": row},
            "reason": "read",
            "toolCall": "t1",
            "move": False,
        }
        # Past the end is clipped.
        assert second["range"]["start"] == {"line": 2, "character": 0}
        assert second["move"] is True
        await it.settle()
        assert not it.editor.reads("window/showDocument")


async def test_a_plain_client_is_moved_only_where_the_hub_says_so() -> None:
    async with stage(claiming(window={"showDocument": {"support": True}})) as it:
        it.perform(place(1, move=False))
        it.views.flush()
        await it.settle()
        assert not it.editor.reads()
        it.perform(place(None, move=True))
        it.views.flush()
        params = (await it.editor.next("window/showDocument"))["params"]
        assert (params["uri"], params["takeFocus"]) == (URI, False)
        assert params["selection"]["start"] == {"line": 0, "character": 0}
        assert not it.editor.methods()


@pytest.mark.parametrize("draws", [("places", "questions"), ("questions",)])
async def test_f05_no_place_opens_in_front_of_a_question(draws: tuple[str, ...]) -> None:
    """F05: also when the question came while the move was gathered."""
    async with stage(announcing(*draws, window={"showDocument": {"support": True}})) as it:
        it.session()
        it.perform(place(1, move=True))
        it.question()
        it.views.flush()
        await it.settle()
        assert [told["move"] for told in it.editor.reads("acp/place/changed")] in ([False], [])
        assert not it.editor.reads("window/showDocument")


async def test_agents_are_told_to_clients_with_the_block_at_once() -> None:
    async with stage(announcing()) as it:
        it.perform(ef.ShowAgent("demo", "ended", "it ended", 3))
        it.perform(ef.ShowAgent("demo", "ready"))
        assert it.editor.reads("acp/agent/changed") == [
            {"agent": "demo", "state": "ended", "message": "it ended", "exitCode": 3},
            {"agent": "demo", "state": "ready"},
        ]
