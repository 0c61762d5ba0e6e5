"""What stands in a session besides messages and tool calls: compactions, subagents, messages
between sessions, what runs in the background, and what ``_meta`` says of each.
"""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from acpls.session import content as c
from acpls.session import updates as up
from acpls.session.content import UNSET, Text
from acpls.session.entries import Compaction, SessionMessage, Subagent, patch_meta
from acpls.session.state import Session

FIRST = {"a": 1, "b": {"x": 1}}


def session() -> Session:
    return Session("s1", "demo", "/w", "native", state="idle")


def compaction(of: Session, key: str = "k") -> Compaction:
    entry = of.entries[f"compaction:{key}"]
    assert isinstance(entry, Compaction)
    return entry


def message(of: Session, key: str = "k") -> SessionMessage:
    entry = of.entries[f"sessionMessage:{key}"]
    assert isinstance(entry, SessionMessage)
    return entry


# --- compactions, subagents, messages between sessions -------------------------------------


def test_a_compaction_is_patched_in_three_states_and_grows() -> None:
    of = session()
    assert of.apply(up.CompactionPatched("k")) == (("compaction", "k"),)
    assert compaction(of) == Compaction("k")
    assert compaction(of).status == "in_progress"
    of.apply(up.CompactionPatched("k", "failed", (Text("so far"),), "too long"))
    assert of.apply(up.CompactionGrew("k", Text(" so good"))) == (("compaction", "k"),)
    of.apply(up.CompactionPatched("k"))
    summary: list[c.Block] = [Text("so far"), Text(" so good")]
    assert compaction(of) == Compaction("k", "failed", summary, "too long")
    of.apply(up.CompactionPatched("k", None, None, None))
    assert compaction(of) == Compaction("k")


def test_a_compaction_may_begin_with_its_summary_and_stands_where_it_came() -> None:
    of = session()
    of.apply(up.MessageGrew("m", "agent", Text("x")))
    of.apply(up.CompactionGrew("k", Text("short")))
    of.apply(up.MessageGrew("n", "agent", Text("y")))
    of.apply(up.CompactionPatched("k", "completed"))
    assert [entry.id for entry in of.entries.values()] == ["m", "k", "n"]
    assert compaction(of).summary == [Text("short")]


def test_a_subagent_is_patched_in_three_states() -> None:
    of = session()
    assert of.apply(up.SubagentPatched("n2")) == (("subagent", "n2"),)
    assert of.subagents == {"n2": Subagent("n2")}
    of.apply(up.SubagentPatched("n2", "Tests", "Runs them", "running", "/w/t", can_cancel=True))
    of.apply(up.SubagentPatched("n2"))
    assert of.subagents["n2"] == Subagent(
        "n2", "Tests", "Runs them", "running", "/w/t", can_cancel=True
    )
    of.apply(up.SubagentPatched("n2", None, None, None, None, can_cancel=False))
    assert of.subagents["n2"] == Subagent("n2")
    assert of.entries == {}


def test_a_message_between_sessions_is_patched_in_three_states_and_grows() -> None:
    of = session()
    assert of.apply(up.SessionMessageSet("k", "n1", "n2")) == (("sessionMessage", "k"),)
    assert of.apply(up.SessionMessageGrew("k", Text("Hi"))) == (("sessionMessage", "k"),)
    of.apply(up.SessionMessageSet("k"))
    assert message(of) == SessionMessage("k", "n1", "n2", [Text("Hi")])
    of.apply(up.SessionMessageSet("k", content=(Text("Ho"),)))
    assert message(of).blocks == [Text("Ho")]
    of.apply(up.SessionMessageSet("k", None, None, None))
    assert message(of) == SessionMessage("k")
    of.apply(up.SessionMessageGrew("new", Text("first")))
    assert message(of, "new").blocks == [Text("first")]


def test_the_same_id_for_things_of_every_kind_is_one_of_each() -> None:
    of = session()
    for update in (
        up.MessageGrew("k", "agent", Text("m")),
        up.ToolCallPatched("k", "tool"),
        up.CompactionGrew("k", Text("c")),
        up.SessionMessageGrew("k", Text("s")),
        up.TerminalGrew("k", b"t"),
        up.SubagentPatched("k", "sub"),
    ):
        of.apply(update)
    assert len(of.entries) == 4
    assert (len(of.terminals), len(of.subagents)) == (1, 1)


# --- background, terminals, what can be stopped --------------------------------------------


def test_what_runs_besides_the_turn_is_as_told_last() -> None:
    of = session()
    runs = (up.Background("terminal", "t1"), up.Background("odd"))

    def now(*changes: up.TurnChanged) -> tuple[up.Background, ...]:
        for change in changes:
            of.apply(change)
        return of.background

    assert now(up.TurnChanged("running", background=runs)) == runs
    assert now(up.TurnChanged("idle", "end_turn")) == runs
    assert now(up.TurnChanged("idle", background=())) == ()
    of.apply(up.TurnChanged("idle", background=runs))
    of.lose("gone")
    assert now() == ()


def test_the_size_of_a_terminal_is_patched_in_three_states() -> None:
    of = session()
    of.apply(up.TerminalPatched("t", size=(80, 24), can_cancel=True))
    of.apply(up.TerminalPatched("t"))
    terminal = of.terminals["t"]
    assert (terminal.size, terminal.can_cancel) == ((80, 24), True)
    of.apply(up.TerminalPatched("t", size=None, can_cancel=False))
    assert (terminal.size, terminal.can_cancel) == (None, False)


def test_what_can_be_stopped_is_as_told_last() -> None:
    of = session()
    of.apply(up.ToolCallPatched("c", can_cancel=True))
    of.apply(up.ToolCallPatched("c", title="x"))
    call = of.tool_call("c")
    assert call is not None
    assert call.can_cancel
    of.apply(up.ToolCallPatched("c", can_cancel=False))
    assert not call.can_cancel


# --- the turn ----------------------------------------------------------------------------------


def test_an_idle_that_crossed_the_prompt_ends_no_turn() -> None:
    of = session()
    of.prompted("t1", (Text("go"),))
    runs = (up.Background("terminal"),)
    assert of.apply(up.TurnChanged("idle", background=runs)) == ()
    assert (of.turn, of.busy) == ("t1", True)
    of.apply(up.TurnChanged("running"))
    of.apply(up.TurnChanged("idle"))
    assert (of.turn, of.busy) == (None, False)


@pytest.mark.parametrize("sign", ["confirmed", "came back"])
def test_an_idle_before_the_agent_works_ends_no_turn(sign: str) -> None:
    """It may be told after the prompt was taken, and is from before it all the same."""
    of = session()
    of.prompted("t1", (Text("go"),))
    if sign == "confirmed":
        of.confirm_prompt("theirs")
    else:
        of.apply(up.MessageGrew("theirs", "user", Text("go")))
    of.apply(up.TurnChanged("idle"))
    assert of.turn == "t1"
    of.apply(up.TurnChanged("idle", "end_turn"))
    assert of.turn is None


@pytest.mark.parametrize(
    "work",
    [
        up.MessageGrew("m", "agent", Text("Hm.")),
        up.ToolCallPatched("c", title="Look"),
        up.PlanSet("p", ()),
        up.TurnChanged("running"),
    ],
)
def test_an_idle_after_any_work_ends_the_turn(work: up.Update) -> None:
    of = session()
    of.prompted("t1", (Text("go"),))
    of.apply(work)
    of.apply(up.TurnChanged("idle"))
    assert of.turn is None
    # The next prompt has to be noticed by itself.
    of.prompted("t2", (Text("on"),))
    of.apply(up.TurnChanged("idle"))
    assert of.turn == "t2"


@pytest.mark.parametrize(
    ("change", "status"),
    [
        (up.TurnChanged("idle", "end_turn", final=True), "ended"),
        (up.TurnChanged("idle", "cancelled", final=True), "cancelled"),
        (up.TurnChanged("idle", "end_turn"), "in_progress"),
    ],
)
def test_where_nothing_goes_on_open_tool_calls_end_with_the_turn(
    change: up.TurnChanged, status: str
) -> None:
    of = session()
    of.prompted("t1", (Text("go"),))
    of.apply(up.ToolCallPatched("open", status="in_progress"))
    of.apply(up.ToolCallPatched("done", status="completed"))
    touched = of.apply(change)
    call = of.tool_call("open")
    assert call is not None
    assert call.status == status
    assert call.finished is (status != "in_progress")
    assert (("toolCall", "open") in touched) is call.finished
    assert ("toolCall", "done") not in touched


# --- lost, opened again ------------------------------------------------------------------------


def test_a_lost_session_is_opened_again_with_all_that_it_has_x20() -> None:
    of = session()
    of.apply(up.MessageGrew("m", "agent", Text("x")))
    of.apply(up.TurnChanged("idle", "error", "oh"))
    of.lose("gone")
    seq = of.seq
    assert of.reopen() == (("state", None),)
    assert (of.state, of.error, of.stop_reason, of.native) == ("starting", None, None, "native")
    assert (len(of.entries), of.seq) == (1, seq + 1)


@pytest.mark.parametrize(
    ("state", "native", "closed", "over"),
    [
        ("lost", "n", False, False),
        ("lost", "n", True, True),
        ("lost", None, False, False),
        ("idle", "n", False, False),
        ("starting", None, False, False),
    ],
)
def test_a_session_is_over_when_it_was_closed(
    state: str, native: str | None, closed: bool, over: bool
) -> None:
    assert Session("s1", "demo", "/w", native, state=state, closed=closed).over is over


def test_a_prompt_that_is_sent_again_is_the_same_message_a01() -> None:
    of = session()
    of.prompted("t1", (Text("one"),))
    of.apply(up.TurnChanged("idle", "error", "log in first"))
    assert of.prompted("t1", (Text("one"),)) == (("message", "t1"),)
    assert (of.turn, of.error, of.stop_reason) == ("t1", None, None)
    # The agent's own account of it still takes its place.
    of.apply(up.TurnChanged("running"))
    of.apply(up.MessageGrew("theirs", "user", Text("one")))
    assert list(of.entries) == ["message:t1"]
    of.prompted("t2", (Text("two"),))
    assert list(of.entries) == ["message:t1", "message:t2"]


def test_a_prompt_that_is_sent_again_after_it_came_back_is_told_anew() -> None:
    of = session()
    of.prompted("t1", (Text("one"),))
    of.apply(up.MessageGrew("theirs", "user", Text("one")))
    of.apply(up.TurnChanged("idle", "error", "log in first"))
    of.prompted("t1", (Text("one"),))
    sent = of.message("t1")
    assert sent is not None
    assert sent.unconfirmed
    of.apply(up.MessageSet("again", "user", (Text("one"),)))
    assert list(of.entries) == ["message:t1"]
    assert sent.text() == "one"


# --- meta ------------------------------------------------------------------------------------


def test_what_meta_says_of_the_session_is_shown_with_it() -> None:
    of = session()
    assert of.apply(up.InfoPatched("T", meta={"a": 1})) == (("title", None), ("state", None))
    assert of.apply(up.InfoPatched("U")) == (("title", None),)
    assert (of.title, of.meta) == ("U", {"a": 1})


def test_meta_of_a_message_makes_a_revision_of_it() -> None:
    of = session()
    of.apply(up.MessageSet("m", "agent", meta={"a": 1}))
    of.apply(up.MessageSet("m", "agent"))
    said = of.message("m")
    assert said is not None
    assert (said.meta, said.revision) == ({"a": 1}, 1)


def things(of: Session) -> dict[str, dict[str, Any]]:
    """What ``_meta`` says of each kind of thing named ``k``."""
    said, call = of.message("k"), of.tool_call("k")
    assert said is not None
    assert call is not None
    return {
        "session": of.meta,
        "message": said.meta,
        "toolCall": call.meta,
        "compaction": compaction(of).meta,
        "sessionMessage": message(of).meta,
        "subagent": of.subagents["k"].meta,
        "terminal": of.terminals["k"].meta,
    }


def tell_all(of: Session, meta: up.Meta) -> None:
    of.apply(up.InfoPatched(meta=meta))
    of.apply(up.MessageSet("k", "agent", meta=meta))
    of.apply(up.ToolCallPatched("k", meta=meta))
    of.apply(up.CompactionPatched("k", meta=meta))
    of.apply(up.SessionMessageSet("k", meta=meta))
    of.apply(up.SubagentPatched("k", meta=meta))
    of.apply(up.TerminalPatched("k", meta=meta))


def test_meta_of_everything_is_patched_by_top_level_key() -> None:
    of = session()
    steps: list[tuple[up.Meta, dict[str, Any]]] = [
        (UNSET, {}),
        (FIRST, FIRST),
        (UNSET, FIRST),
        ({"b": {"y": 2}, "c": [None]}, {"a": 1, "b": {"y": 2}, "c": [None]}),
        ({"a": None, "gone": None}, {"b": {"y": 2}, "c": [None]}),
        ({}, {"b": {"y": 2}, "c": [None]}),
        (None, {}),
    ]
    for meta, expected in steps:
        tell_all(of, meta)
        assert things(of) == dict.fromkeys(things(of), expected)


def test_a_patch_of_meta_that_came_is_not_changed_by_the_next() -> None:
    of = session()
    of.apply(up.InfoPatched(meta=FIRST))
    of.apply(up.InfoPatched(meta={"a": None, "d": 1}))
    assert FIRST == {"a": 1, "b": {"x": 1}}


keys = st.sampled_from(["a", "b", "c", ""])
values = st.sampled_from([None, False, True, 0, 1, [None], {"x": None}, ""])
objects = st.dictionaries(keys, values, max_size=4)


@settings(max_examples=100)
@given(objects, objects)
def test_patching_key_by_key_is_the_same_as_patching_at_once(
    before: dict[str, Any], patch: dict[str, Any]
) -> None:
    start = {key: value for key, value in before.items() if value is not None}
    at_once, by_key = dict(start), dict(start)
    patch_meta(at_once, patch)
    for key, value in patch.items():
        patch_meta(by_key, {key: value})
    assert at_once == by_key
    assert None not in at_once.values()
    assert {k: v for k, v in at_once.items() if k not in patch} == {
        k: v for k, v in start.items() if k not in patch
    }
    assert {k: at_once.get(k) for k in patch} == patch


def test_content_of_every_kind_is_kept() -> None:
    of = session()
    blocks = (Text("a"), c.OtherBlock({"type": "x"}))
    of.apply(up.CompactionPatched("k", summary=blocks))
    of.apply(up.SessionMessageSet("k", content=blocks))
    assert (compaction(of).summary, message(of).blocks) == (list(blocks), list(blocks))
