"""A session takes in whatever an agent tells, in order (S18, U02)."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from acpls.session import content as c
from acpls.session import updates as up
from acpls.session.content import UNSET, Text
from acpls.session.entries import TERMINAL_LIMIT_BYTES
from acpls.session.state import (
    Message,
    Notice,
    OtherEntry,
    QueuedPrompt,
    Session,
    Terminal,
    ToolCall,
    Touched,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

OPTION = c.Option("model", "Model", "select", "a", (c.Choice("a", "A"), c.Choice("b", "B")))


def session() -> Session:
    return Session("s1", "demo", "/w", "native", state="idle")


def said(of: Session) -> list[tuple[str, str]]:
    """All messages as ``(role, text)``."""
    return [(e.role, e.text()) for e in of.entries.values() if isinstance(e, Message)]


def call_of(of: Session, tool_call: str) -> ToolCall:
    call = of.tool_call(tool_call)
    assert call is not None
    return call


# --- messages --------------------------------------------------------------------------


def test_a_message_grows_block_by_block() -> None:
    of = session()
    assert of.apply(up.MessageGrew("m", "agent", Text("Hel"))) == (("message", "m"),)
    image = c.Media("image", "AAAA", "image/png")
    of.apply(up.MessageGrew("m", "agent", image))
    of.apply(up.MessageGrew("m", "agent", Text("lo")))
    message = of.message("m")
    assert message is not None
    assert message.text() == "Hello"
    assert message.blocks[1] is image
    assert message.revision == 0
    assert of.message("x") is None
    assert of.seq == 3


def test_a_message_is_named_set_and_cleared() -> None:
    of = session()
    of.apply(up.MessageSet("m", "agent"))
    message = of.message("m")
    assert message is not None
    assert (message.blocks, message.revision) == ([], 0)
    of.apply(up.MessageSet("m", "agent", (Text("a"), Text("b"))))
    assert (message.text(), message.revision) == ("ab", 1)
    of.apply(up.MessageSet("m", "agent"))
    assert (message.text(), message.revision) == ("ab", 1)
    of.apply(up.MessageSet("m", "agent", None))
    assert (message.text(), message.revision) == ("", 2)


def test_one_id_for_two_roles_is_two_messages() -> None:
    of = session()
    first = of.apply(up.MessageGrew("m", "thought", Text("Let me see.")))
    second = of.apply(up.MessageGrew("m", "agent", Text("It is")))
    of.apply(up.MessageGrew("m", "thought", Text(" Yes.")))
    assert of.apply(up.MessageGrew("m", "agent", Text(" 4."))) == second
    assert first != second
    assert said(of) == [("thought", "Let me see. Yes."), ("agent", "It is 4.")]


# --- prompts that come back ---------------------------------------------------------------


def prompted(of: Session, turn: str, text: str) -> None:
    blocks = (c.ResourceLink("file:///w/a.py", "a.py"), Text(text))
    assert of.prompted(turn, blocks) == (("message", turn),)
    assert of.turn == turn


def echo_set(of: Session, message: str, text: str) -> None:
    of.apply(up.MessageSet(message, "user", (Text(text),)))


def echo_chunks(of: Session, message: str, text: str) -> None:
    half = len(text) // 2
    for part in (text[:half], text[half:]):
        of.apply(up.MessageGrew(message, "user", Text(part)))


def echo_named(of: Session, message: str, text: str) -> None:
    of.apply(up.MessageSet(message, "user"))
    echo_chunks(of, message, text)


@pytest.mark.parametrize("echo", [echo_set, echo_chunks, echo_named])
@pytest.mark.parametrize("confirmed", ["before", "after", "never"])
@pytest.mark.parametrize("text", ["Do it, please.", "/plan expanded to: Do it."])
def test_a_prompt_that_comes_back_is_there_once(
    echo: Callable[[Session, str, str], None], confirmed: str, text: str
) -> None:
    of = session()
    prompted(of, "t1", "Do it, please.")
    for turn in ("t1", "t2"):
        number = turn[1:]
        if turn == "t2":
            prompted(of, turn, "Do it, please.")
        if confirmed == "before":
            assert of.confirm_prompt(f"m{number}") == (("message", turn),)
        echo(of, f"m{number}", text)
        if confirmed == "after":
            of.confirm_prompt(f"m{number}")
        of.apply(up.MessageGrew(f"a{number}", "agent", Text("Done.")))
        of.apply(up.TurnChanged("idle", "end_turn"))
    assert said(of) == [("user", text), ("agent", "Done."), ("user", text), ("agent", "Done.")]
    assert [e.id for e in of.entries.values()] == ["t1", "a1", "t2", "a2"]


def test_a_prompt_of_which_the_agent_never_speaks_stays_as_sent() -> None:
    of = session()
    prompted(of, "t1", "Do it")
    of.apply(up.MessageGrew("a", "agent", Text("Done")))
    of.apply(up.TurnChanged("idle", "end_turn"))
    message = of.message("t1")
    assert message is not None
    assert message.unconfirmed
    assert len(message.blocks) == 2
    # What the agent adds in the user's name later is not that prompt.
    of.apply(up.MessageGrew("x", "user", Text("[interrupted]")))
    assert said(of) == [("user", "Do it"), ("agent", "Done"), ("user", "[interrupted]")]


def test_what_is_said_in_the_users_name_after_a_turn_is_not_its_prompt() -> None:
    of = session()
    prompted(of, "t1", "Do it")
    of.apply(up.TurnChanged("idle", "cancelled"))
    of.apply(up.MessageGrew("x", "user", Text("[interrupted]")))
    prompted(of, "t2", "Again")
    # A reply that names what is another message takes nothing away.
    of.confirm_prompt("x")
    assert said(of) == [("user", "Do it"), ("user", "[interrupted]"), ("user", "Again")]


def test_a_prompt_that_failed_is_not_taken_for_the_next() -> None:
    of = session()
    prompted(of, "t1", "Do it")
    of.apply(up.TurnChanged("idle", "error", "overloaded"))
    prompted(of, "t2", "Do it now")
    echo_set(of, "m2", "Do it now")
    of.confirm_prompt("m2")
    assert said(of) == [("user", "Do it"), ("user", "Do it now")]


def test_a_prompt_that_comes_back_late_in_other_words_is_there_once() -> None:
    of = session()
    prompted(of, "t1", "/plan")
    of.apply(up.MessageGrew("a", "agent", Text("Background work ...")))
    echo_chunks(of, "m1", "Make a plan")
    assert of.confirm_prompt("m1") == (("message", "t1"),)
    assert said(of) == [("user", "Make a plan"), ("agent", "Background work ...")]
    of.apply(up.MessageGrew("m1", "user", Text("!")))
    assert said(of)[0] == ("user", "Make a plan!")
    assert of.confirm_prompt("m1") == ()


def test_an_agent_that_uses_our_key_as_its_id_overwrites_nothing() -> None:
    of = session()
    of.apply(up.MessageGrew("t1", "agent", Text("Hi")))
    assert of.prompted("t1", (Text("Do it"),)) == (("message", "t1'"),)
    of.apply(up.MessageGrew("t2", "agent", Text("Done")))
    assert of.apply(up.MessageGrew("t1", "agent", Text("!"))) == (("message", "t1"),)
    assert said(of) == [("agent", "Hi!"), ("user", "Do it"), ("agent", "Done")]


# --- tool calls --------------------------------------------------------------------------


def test_a_tool_call_is_patched_in_three_states() -> None:
    of = session()
    full = up.ToolCallPatched(
        "c",
        title="Edit",
        name="edit_file",
        kind="edit",
        status="in_progress",
        content=(Text("x"),),
        locations=(c.Location("/w/a", 3),),
        raw_input={"a": 1},
        raw_output=[2],
    )
    assert of.apply(full) == (("toolCall", "c"),)
    call = call_of(of, "c")

    def values() -> tuple[object, ...]:
        return (
            call.title,
            call.name,
            call.kind,
            call.status,
            call.content,
            call.locations,
            call.raw_input,
            call.raw_output,
        )

    given_all = (
        "Edit",
        "edit_file",
        "edit",
        "in_progress",
        (Text("x"),),
        (c.Location("/w/a", 3),),
        {"a": 1},
        [2],
    )
    assert values() == given_all
    of.apply(up.ToolCallPatched("c"))
    assert values() == given_all
    cleared = up.ToolCallPatched("c", None, None, None, None, None, None, None, None)
    of.apply(cleared)
    assert values() == ("", None, "other", "pending", (), (), None, None)


def test_a_tool_call_grows_and_is_set_as_a_whole() -> None:
    of = session()
    of.apply(up.ToolCallGrew("c", Text("a")))
    of.apply(up.ToolCallGrew("c", c.TerminalRef("t")))
    call = call_of(of, "c")
    assert list(call.content) == [Text("a"), c.TerminalRef("t")]
    assert call.content is call.content
    of.apply(up.ToolCallGrew("c", Text("b")))
    of.apply(up.ToolCallPatched("c", content=(Text("z"),)))
    of.apply(up.ToolCallGrew("c", Text("y")))
    assert list(call.content) == [Text("z"), Text("y")]


def test_late_and_unknown_tool_calls_find_their_place() -> None:
    of = session()
    of.apply(up.ToolCallPatched("c", status="completed"))
    of.apply(up.MessageGrew("m", "agent", Text("Done")))
    of.apply(up.TurnChanged("idle", "end_turn"))
    of.apply(up.ToolCallPatched("c", title="Late", content=(Text("output"),)))
    of.apply(up.ToolCallPatched("unknown", status="failed"))
    assert [e.id for e in of.entries.values()] == ["c", "m", "unknown"]
    assert (call_of(of, "c").title, call_of(of, "c").status) == ("Late", "completed")
    assert call_of(of, "unknown").finished
    assert of.tool_call("other") is None


# --- the turn ----------------------------------------------------------------------------


def with_calls() -> Session:
    of = session()
    prompted(of, "t1", "Do it")
    of.apply(up.TurnChanged("running"))
    for status in ("pending", "in_progress", "completed", "failed"):
        of.apply(up.ToolCallPatched(status, status=status))
    return of


def test_a_stopped_turn_closes_open_tool_calls() -> None:
    of = with_calls()
    touched = of.apply(up.TurnChanged("idle", "cancelled"))
    assert touched == (("toolCall", "pending"), ("toolCall", "in_progress"), ("state", None))
    statuses = [e.status for e in of.entries.values() if isinstance(e, ToolCall)]
    assert statuses == ["cancelled", "cancelled", "completed", "failed"]
    # What comes later is still taken in.
    of.apply(up.ToolCallPatched("in_progress", status="completed"))
    assert call_of(of, "in_progress").status == "completed"


def test_a_turn_that_ends_while_it_is_being_stopped_is_a_stopped_one() -> None:
    of = with_calls()
    of.stopping = True
    of.apply(up.TurnChanged("idle", "end_turn"))
    assert call_of(of, "pending").status == "cancelled"
    assert (of.turn, of.stopping, of.stop_reason) == (None, False, "end_turn")


def test_a_turn_that_ends_by_itself_leaves_background_tool_calls_open() -> None:
    of = with_calls()
    assert of.busy
    assert of.apply(up.TurnChanged("idle", "end_turn")) == (("state", None),)
    assert call_of(of, "pending").status == "pending"
    assert not of.busy


def test_the_outcome_of_a_turn_lasts_until_the_next() -> None:
    of = session()
    of.apply(up.TurnChanged("idle", "error", "overloaded"))
    assert (of.stop_reason, of.error) == ("error", "overloaded")
    # A turn that the agent begins by itself.
    of.apply(up.TurnChanged("running"))
    assert (of.stop_reason, of.error) == (None, None)
    assert of.busy
    of.apply(up.TurnChanged("compacting"))
    assert of.busy
    of.apply(up.TurnChanged("idle", "error", "overloaded"))
    prompted(of, "t2", "Again")
    assert (of.stop_reason, of.error, of.busy) == (None, None, True)


def test_a_lost_session_finishes_nothing_more() -> None:
    of = with_calls()
    of.queue.append(QueuedPrompt("t2", (Text("Later"),)))
    touched = of.lose("The agent is gone")
    assert touched == (("toolCall", "pending"), ("toolCall", "in_progress"), ("state", None))
    assert call_of(of, "pending").status == "failed"
    assert (of.state, of.error, of.turn, of.busy) == ("lost", "The agent is gone", None, False)
    assert len(of.queue) == 1


# --- terminals -----------------------------------------------------------------------------


def test_a_terminal_is_patched_in_three_states() -> None:
    of = session()
    patch = up.TerminalPatched("t", "make", "/w", b"one", c.Exit(2))
    assert of.apply(patch) == (("terminal", "t"),)
    terminal = of.terminals["t"]
    assert (terminal.command, terminal.cwd, terminal.text()) == ("make", "/w", "one")
    of.apply(up.TerminalPatched("t"))
    assert (terminal.command, terminal.text(), terminal.exit) == ("make", "one", c.Exit(2))
    of.apply(up.TerminalPatched("t", None, None, b"two", None))
    assert (terminal.command, terminal.cwd, terminal.text()) == (None, None, "two")
    assert terminal.exit is None
    of.apply(up.TerminalGrew("t", b" three"))
    assert terminal.text() == "two three"
    of.apply(up.TerminalPatched("t", output=None))
    assert terminal.text() == ""


@settings(max_examples=100)
@given(st.text(max_size=20), st.data())
def test_output_cut_inside_characters_reads_as_it_was_written(
    text: str, data: st.DataObject
) -> None:
    raw = text.encode()
    of = Terminal("t")
    cuts = sorted(data.draw(st.lists(st.integers(0, len(raw)), max_size=5)))
    for start, end in zip([0, *cuts], [*cuts, len(raw)], strict=True):
        of.grow(raw[start:end])
        # Never more than was written, and never half a character.
        assert raw.decode().startswith(of.text())
    assert of.text() == raw.decode()


@pytest.mark.parametrize("cut", range(5))
def test_long_output_keeps_its_end_in_whole_characters_u02(cut: int) -> None:
    of = Terminal("t")
    of.grow(b"x" * cut)
    raw = "🎉é".encode() * (TERMINAL_LIMIT_BYTES // 6 + 10)
    for at in range(0, len(raw), 10_001):
        of.grow(raw[at : at + 10_001])
    assert len(of.output) == TERMINAL_LIMIT_BYTES
    assert of.dropped == cut + len(raw) - TERMINAL_LIMIT_BYTES
    text = of.text()
    assert "\ufffd" not in text
    assert text[0] in "🎉é"
    assert len(text.encode()) > TERMINAL_LIMIT_BYTES - 4
    # One piece can be too long by itself.
    of.grow(b"y" * (TERMINAL_LIMIT_BYTES + 1))
    assert of.text() == "y" * TERMINAL_LIMIT_BYTES
    session_of = session()
    session_of.terminals["t"] = of
    session_of.apply(up.TerminalPatched("t", output=b"\x80"))
    assert (of.dropped, of.text()) == (0, "\ufffd")


def test_output_that_is_no_text_is_replaced_not_lost() -> None:
    of = Terminal("t", output=bytearray(b"a\xff\xe2\x82"))
    assert of.text() == "a\ufffd"
    of.exit = c.Exit(0)
    assert of.text() == "a\ufffd\ufffd"


# --- the rest ------------------------------------------------------------------------------


def test_a_plan_is_set_as_a_whole() -> None:
    of = session()
    steps = (c.PlanEntry("one"), c.PlanEntry("two"))
    assert of.apply(up.PlanSet("p", steps)) == (("plan", "p"),)
    of.apply(up.PlanSet("q", steps[:1]))
    of.apply(up.PlanSet("p", ()))
    assert of.plans == {"p": (), "q": steps[:1]}


def test_options_are_set_and_changed() -> None:
    of = session()
    assert of.apply(up.OptionChanged("model", "b")) == (("options", None),)
    assert not of.options
    other = c.Option("mode", "Mode", "select", "x")
    of.apply(up.OptionsSet((OPTION, other)))
    of.apply(up.OptionChanged("model", "b"))
    assert [o.value for o in of.options] == ["b", "x"]
    assert of.options[0].choices == OPTION.choices


def test_commands_and_usage_are_replaced() -> None:
    of = session()
    commands = (c.Command("plan", "Make a plan"),)
    assert of.apply(up.CommandsSet(commands)) == (("commands", None),)
    assert of.apply(up.UsageSet(c.Usage(1, 10))) == (("usage", None),)
    assert (of.commands, of.usage) == (commands, c.Usage(1, 10))


def test_the_title_is_patched_in_three_states_s18() -> None:
    # It may come before the reply that opens the session.
    of = Session("s1", "demo", "/w")
    assert of.apply(up.InfoPatched("Title", "2026-01-01T00:00:00Z")) == (("title", None),)
    of.apply(up.InfoPatched())
    assert (of.title, of.updated_at) == ("Title", "2026-01-01T00:00:00Z")
    of.apply(up.InfoPatched(None, UNSET))
    assert (of.title, of.updated_at) == (None, "2026-01-01T00:00:00Z")
    of.apply(up.InfoPatched("New", None))
    assert (of.title, of.updated_at, of.state) == ("New", None, "starting")


def test_notices_and_unknown_updates_stand_where_they_came() -> None:
    of = session()
    ((_, notice),) = of.apply(up.NoticeGiven("warning", "Slow", "very"))
    of.apply(up.MessageGrew("m", "agent", Text("x")))
    ((_, other),) = of.apply(up.Other({"sessionUpdate": "new"}))
    of.apply(up.NoticeGiven("info", "Same"))
    of.apply(up.NoticeGiven("info", "Same"))
    assert of.apply(up.ReplayEnded()) == (("state", None),)
    entries = list(of.entries.values())
    assert entries[0] == Notice(str(notice), "warning", "Slow", "very")
    assert entries[2] == OtherEntry(str(other), {"sessionUpdate": "new"})
    assert len(entries) == 5


# --- whatever comes --------------------------------------------------------------------------

ids = st.sampled_from(["", "m", "c", "t1", "t1'"])
texts = st.sampled_from(["", "a", "Do it", "x" * 50]).map(Text)
blocks = texts | st.just(c.ResourceLink("file:///a", "a")) | st.just(c.OtherBlock({}))
roles: st.SearchStrategy[up.Role] = st.sampled_from(["user", "agent", "thought"])
words = st.sampled_from([UNSET, None, "", "edit", "completed", "cancelled"])
metas = st.sampled_from([UNSET, None, {"a": 1}, {"a": None}])
contents = st.just(UNSET) | st.none() | st.lists(blocks, max_size=3).map(tuple)
states = st.sampled_from(["idle", "running", "requires_action", "unknown", "own"])
updates: st.SearchStrategy[up.Update] = st.one_of(
    st.builds(up.MessageGrew, ids, roles, blocks),
    st.builds(up.MessageSet, ids, roles, contents, metas),
    st.builds(
        up.ToolCallPatched,
        ids,
        words,
        words,
        words,
        words,
        st.just(UNSET) | st.none() | st.lists(texts).map(tuple),
    ),
    st.builds(up.ToolCallGrew, ids, blocks),
    st.builds(
        up.TurnChanged,
        states,
        st.sampled_from([None, "cancelled", "end_turn"]),
        final=st.booleans(),
    ),
    st.builds(up.PlanSet, ids, st.just((c.PlanEntry("x"),))),
    st.just(up.OptionsSet((OPTION,))),
    st.builds(up.OptionChanged, ids, ids),
    st.just(up.CommandsSet(())),
    st.builds(up.InfoPatched, words, words, metas),
    st.just(up.UsageSet(c.Usage(1, 2))),
    st.builds(up.NoticeGiven, ids, ids),
    st.builds(up.TerminalPatched, ids, output=st.sampled_from([UNSET, None, b"", b"\xe2\x82"])),
    st.builds(up.TerminalGrew, ids, st.binary(max_size=4)),
    st.builds(up.CompactionPatched, ids, words, contents, words, metas),
    st.builds(up.CompactionGrew, ids, blocks),
    st.builds(up.SubagentPatched, ids, words, state=words, meta=metas),
    st.builds(up.SessionMessageSet, ids, words, words, contents, metas),
    st.builds(up.SessionMessageGrew, ids, blocks),
    st.just(up.ReplayEnded()),
    st.just(up.Other({})),
)
acts = ["prompt", "again", "confirm m", "confirm t1", "lose", "reopen", "stop"]
steps = updates | st.sampled_from(acts)


def exists(of: Session, touched: Touched) -> bool:
    what, key = touched
    match what:
        case "message" | "toolCall" | "notice" | "compaction" | "sessionMessage" | "other":
            entry = of.entries.get(f"{what}:{key}")
            return entry is not None and entry.id == key
        case "plan":
            return key in of.plans
        case "terminal":
            return key in of.terminals
        case "subagent":
            return key in of.subagents
        case _:
            return key is None and hasattr(of, what)


@settings(max_examples=150)
@given(st.lists(steps, max_size=30))
def test_nothing_that_is_told_raises_and_what_was_touched_is_there(
    told: Iterable[up.Update | str],
) -> None:
    of, again = session(), session()
    turns = 0
    for step in told:
        turns += step == "prompt"
        results = [take(one, step, turns) for one in (of, again)]
        assert results[0] == results[1]
        assert all(exists(of, touched) for touched in results[0])
    assert of == again
    messages = [e for e in of.entries.values() if isinstance(e, Message)]
    assert sum(m.unconfirmed for m in messages) <= turns
    for terminal in of.terminals.values():
        assert isinstance(terminal.text(), str)


def take(of: Session, step: up.Update | str, turns: int) -> tuple[Touched, ...]:
    match step:
        case "prompt":
            return of.prompted(f"t{turns}", (Text("Do it"),))
        case "again":
            return of.prompted(f"t{turns}", (Text("Do it again"),)) if turns else ()
        case "reopen":
            return of.reopen()
        case "confirm m" | "confirm t1":
            return of.confirm_prompt(step.removeprefix("confirm "))
        case "lose":
            return of.lose("gone")
        case "stop":
            of.stopping = True
            return ()
        case str():
            raise AssertionError(step)
        case _:
            return of.apply(step)


def seconds_for(update: up.Update, count: int) -> float:
    of = session()
    began = time.perf_counter()
    for _ in range(count):
        of.apply(update)
    return time.perf_counter() - began


@pytest.mark.parametrize(
    "update",
    [
        up.MessageGrew("m", "agent", Text("word ")),
        up.MessageGrew("m", "user", Text("word ")),
        up.ToolCallGrew("c", Text("line\n")),
        up.TerminalGrew("t", b"x" * 1000),
    ],
    ids=["agent", "user", "tool call", "terminal"],
)
def test_many_small_pieces_cost_no_more_than_their_length(update: up.Update) -> None:
    # Quadratic, the tool call took 2 s for 40,000, and the others would be no better.
    assert seconds_for(update, 10_000) < 0.3
    assert seconds_for(update, 40_000) < 1.0
