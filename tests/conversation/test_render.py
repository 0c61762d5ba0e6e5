"""A session reads well as Markdown, and a session that grew gives lines that grew."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import Any, get_args

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from acpls.conversation.document import document
from acpls.conversation.render import END, MARK, PROMPT, Rendering, render
from acpls.questions import Part, Told
from acpls.questions.told import Form
from acpls.session import content as c
from acpls.session import updates as up
from acpls.session.content import Text
from acpls.session.state import QueuedPrompt, Session
from acpls.text.diff import apply_edits, edits_between

FORMS: tuple[Form, ...] = get_args(Form)
GOLDEN = Path(__file__).parents[1] / "data" / "conversation.md"


def session(*told: up.Update) -> Session:
    of = Session("s1", "demo", "/w", state="idle")
    for update in told:
        of.apply(update)
    return of


def agent(text: str, message: str = "m") -> up.MessageGrew:
    return up.MessageGrew(message, "agent", Text(text))


def body(of: Session, questions: tuple[Told, ...] = ()) -> list[str]:
    """The lines below title and binding line, without the blank one at the end."""
    lines = render(of, "Claude", questions).lines
    assert lines[:4] == (
        "# Conversation with Claude",
        "",
        "<!-- acpls: session s1 of agent demo -->",
        "",
    )
    assert lines[-1] == ""
    return list(lines[4:-1])


def question(title: str = "Edit hello.py?", *parts: Part, key: str = "q1", **more: Any) -> Told:
    return Told(key, title, None, parts, (("a", "Allow once"), ("r", "Reject")), **more)


# --- the whole -----------------------------------------------------------------------------


def conversation() -> tuple[Session, Told]:
    of = session(up.InfoPatched("Greet people by name"))
    of.prompted(
        "t1",
        (
            c.ResourceLink("file:///home/ann/hello/hello.py", "hello.py"),
            Text("Greet people by name, please.\n\n- keep the old default\n- no new imports"),
        ),
    )
    of.apply(up.TurnChanged("running"))
    of.apply(up.MessageGrew("m1", "thought", Text("The file is short.\n\nI will read all of it.")))
    of.apply(agent("I'll look at the file first.", "m2"))
    for name, status in (("hello.py", "completed"), ("tests/test_hello.py", "failed")):
        of.apply(up.ToolCallPatched(name, f"Read `{name}`", kind="read", status=status))
    of.apply(up.NoticeGiven("warning", "Half of the context is used", "consider a new session"))
    answer = (
        "# What I found\n\nThere is one function:\n\n```python\n# says hello\ndef greet():\n"
        '    print("Hello")\n```\n\n## What I will do\n\nGive it an argument with a default.'
    )
    of.apply(agent(answer, "m3"))
    of.apply(up.ToolCallPatched("e", "Edit `hello.py`", kind="edit", status="in_progress"))
    steps = (("Read the code", "completed"), ("Edit it", "in_progress"), ("Run it", "pending"))
    of.apply(up.PlanSet("p", tuple(c.PlanEntry(what, status=status) for what, status in steps)))
    of.queue.append(QueuedPrompt("t2", (Text("And then run the tests."),)))
    of.apply(up.TurnChanged("requires_action"))
    asked = question("Edit hello.py?", Part("", "It changes 1 file:\n\n    hello.py | 2 +-"))
    return of, asked


def test_a_conversation_reads_well() -> None:
    of, asked = conversation()
    rendering = render(of, "Claude", [asked])
    assert document(rendering.lines) == GOLDEN.read_text("utf-8")
    at = rendering.questions[asked.key]
    assert rendering.lines[at] == "> **Edit hello.py?**"


def test_the_same_session_gives_the_same_lines() -> None:
    (of, asked), (again, _) = conversation(), conversation()
    first = render(of, "Claude", [asked])
    assert first == render(of, "Claude", [asked]) == render(again, "Claude", [asked])
    assert Rendering(first.lines, first.questions) == first


def test_a_new_session_has_a_title_and_a_binding_line() -> None:
    assert body(session()) == []
    named = Session("s1", "my\nagent -->", "/w", title=" Two\nlines ")
    assert render(named, "Claude", ()).lines[:3] == (
        "# Two lines",
        "",
        "<!-- acpls: session s1 of agent my agent --> -->",
    )


# --- messages --------------------------------------------------------------------------------


def test_a_turn_has_one_heading() -> None:
    of = session(up.MessageGrew("t", "thought", Text("Hm")), agent("a"), agent("b", "n"))
    of.prompted("t1", (Text("Go on"),))
    of.apply(agent("c", "o"))
    lines = [*("## Claude", "", "> Hm", "", "a", "", "b", "")]
    lines += ["## You", "", "Go on", "", "## Claude", "", "c"]
    assert body(of) == lines


def test_what_cannot_be_seen_leaves_no_trace() -> None:
    of = session(
        agent(" \n"),
        up.MessageSet("t", "thought"),
        up.Other({"sessionUpdate": "new"}),
        up.PlanSet("p", ()),
    )
    assert body(of) == []


def test_text_keeps_its_lines_whatever_separates_them() -> None:
    of = session(agent("\r\n\na\r\nb\rc\u2028still c\x0c\x85\n\n  d  \n\n"))
    assert body(of) == ["## Claude", "", "a", "b", "c\u2028still c\x0c\x85", "", "  d  "]


def test_a_thought_is_quoted() -> None:
    of = session(up.MessageGrew("t", "thought", Text("one\n\n# two\n```\nthree")))
    assert body(of)[2:] == ["> one", ">", "> ### two", "> ```", "> three", "> ```"]


def test_what_is_no_text_is_named() -> None:
    message = (
        Text("See\n"),
        c.ResourceLink("file:///a (1)/b.md", "b [1]\n.md"),
        c.Resource("file:///a/notes.txt#L1-L3", "some text"),
        Text("\n"),
        c.Media("image", "AAAA", "image/png"),
        c.OtherBlock({"type": "hologram"}),
        c.OtherBlock({}),
        Text("and\n"),
        Text("so on"),
    )
    assert body(session(up.MessageSet("m", "agent", message)))[2:] == [
        "See",
        "",
        "- [b [1] .md](file:///a%20%281%29/b.md)",
        "- [notes.txt#L1-L3](file:///a/notes.txt#L1-L3)",
        "",
        "- image (image/png)",
        "- (hologram)",
        "- (unknown)",
        "",
        "and",
        "so on",
    ]


def test_headings_of_agents_are_lower_than_those_of_turns() -> None:
    text = "# One\n   ## Two\n##### Five\n###### Six\n#no\n#\n```\n# code\n```\n# Last\ta"
    lowered = "### One\n   #### Two\n###### Five\n###### Six\n#no\n#\n```\n# code\n```\n### Last\ta"
    assert body(session(agent(text)))[2:] == lowered.split("\n")
    # The user's words stay what they are.
    assert body(session(up.MessageGrew("m", "user", Text(text))))[2:] == text.split("\n")


@pytest.mark.parametrize(
    ("text", "closed"),
    [
        ("```py\na", "```py\na\n```"),
        ("````\n```\na", "````\n```\na\n````"),
        ("~~~\n```\n~~~", "~~~\n```\n~~~"),
        ("~~~ ```\na", "~~~ ```\na\n~~~"),
        ("  ```\n  a\n  ``", "  ```\n  a\n  ```"),
        ("```\na\n`", "```\na\n```"),
        ("```\na\n``x", "```\na\n``x\n```"),
        ("```\na\n```x", "```\na\n```x\n```"),
        ("```\na\n`````", "```\na\n`````"),
        ("a\n```inline```\nb", "a\n```inline```\nb"),
        ("a``\n``b", "a``\n``b"),
    ],
)
def test_code_that_is_still_open_is_closed(text: str, closed: str) -> None:
    assert body(session(agent(text)))[2:] == closed.split("\n")
    assert body(session(up.MessageGrew("m", "user", Text(text))))[2:] == closed.split("\n")


def test_code_without_a_line_is_shown_for_users_only() -> None:
    assert body(session(agent("a\n\n```py")))[2:] == ["a"]
    assert body(session(agent("a\n\n```py\nb")))[2:] == ["a", "", "```py", "b", "```"]
    assert body(session(agent("a\n``")))[2:] == ["a"]
    assert body(session(agent("```"))) == []
    assert body(session(up.MessageGrew("m", "user", Text("a\n```"))))[2:] == ["a", "```", "```"]


def test_nobody_can_write_our_marks() -> None:
    marks = f"{PROMPT}\n{END}\n  {END}"
    of = session(
        up.InfoPatched(END),
        agent(marks),
        up.MessageGrew("u", "user", Text(marks)),
        up.MessageGrew("t", "thought", Text(marks)),
        up.ToolCallPatched(END, status=END, kind=PROMPT),
        up.NoticeGiven(END, PROMPT, END),
        up.PlanSet("p", (c.PlanEntry(END, status=END),)),
        up.MessageSet("l", "agent", (c.ResourceLink(END, END), c.OtherBlock({"type": END}))),
        up.MessageSet("k", "agent", (c.Media("audio", "", PROMPT), c.Resource(END))),
        up.TurnChanged("idle", "error", END),
    )
    of.queue.append(QueuedPrompt("t", (Text(marks),)))
    marked = [Part(END, marks, form) for form in FORMS]
    lines = render(of, PROMPT, [question(PROMPT, *marked)]).lines
    assert [n for n, line in enumerate(lines) if MARK in line] == [2]
    assert not any(re.search(r"[\r\n]", line) for line in lines)


# --- everything else -------------------------------------------------------------------------


def test_tool_calls_in_a_row_are_one_list() -> None:
    of = session(
        up.ToolCallPatched("a", "Read\n`x`", kind="read", status="completed"),
        up.ToolCallPatched("b", name="write_file", status="in_progress"),
        up.ToolCallPatched("c"),
        agent("Hm"),
        up.ToolCallPatched("d", "Edit", kind="edit\n", status="failed"),
    )
    assert body(of) == [
        *("## Claude", ""),
        "- read: Read `x` (completed)",
        "- other: write_file (in progress)",
        "- other: c (pending)",
        *("", "Hm", ""),
        "- edit : Edit (failed)",
    ]


def test_tool_calls_of_two_turns_are_two_lists() -> None:
    of = session(up.ToolCallPatched("a"))
    of.prompted("t1", (Text("More"),))
    of.apply(up.ToolCallPatched("b"))
    lines = body(of)
    assert lines[2:4] == ["- other: a (pending)", ""]
    assert lines[-3:] == ["## Claude", "", "- other: b (pending)"]


def test_notices_are_one_line() -> None:
    of = session(up.NoticeGiven("info", "Title\nmore"), up.NoticeGiven("warning", "A", "b\nc"))
    assert body(of)[2:] == ["> info: Title more", "", "> warning: A: b c"]


@pytest.mark.parametrize("answered", [True, False])
def test_a_turn_that_ends_without_a_word_says_so(answered: bool) -> None:
    of = session()
    of.prompted("t1", (Text("go"),))
    if answered:
        of.apply(agent("Gone."))
    of.apply(up.TurnChanged("idle", "end_turn"))
    line = "> **The agent ended its turn without an answer.**"
    assert (line in body(of)) is not answered


def test_a_prompt_that_waits_for_a_login_is_there_once() -> None:
    of = session()
    of.prompted("t1", (Text("Do it"),))
    of.apply(up.TurnChanged("idle", "error", "Authentication required"))
    of.queue += [QueuedPrompt("t1", (Text("Do it"),)), QueuedPrompt("t2", (Text("And more"),))]
    assert [line for line in body(of) if line] == [
        "## You",
        "Do it",
        "> **The turn failed:** Authentication required",
        "> (it is sent again after the login)",
        "## You",
        "And more",
        "> (waits for its turn)",
    ]


@pytest.mark.parametrize(
    ("update", "line"),
    [
        (up.CompactionPatched("k"), "> The agent shortens its memory (in progress)"),
        (
            up.CompactionPatched("k", "failed", error="too\nlong"),
            "> The agent shortens its memory (failed): too long",
        ),
    ],
)
def test_a_compaction_is_one_line(update: up.Update, line: str) -> None:
    assert body(session(update)) == ["## Claude", "", line]


def test_a_message_between_sessions_is_quoted_with_its_ends() -> None:
    of = session(
        up.SessionMessageSet("a", "n1", "n2", (Text("# Do this\n\nplease"),)),
        up.SessionMessageSet("b"),
    )
    assert body(of) == [
        "## Claude",
        "",
        "> *n1 to n2*",
        "> ### Do this",
        ">",
        "> please",
        "",
        "> *another session to another session*",
    ]


def test_a_page_is_shown_with_its_url() -> None:
    visit = question("Log in", Part("", "https://a.example/?x=1&y=(2)", "page"))
    lines = body(session(), (visit,))
    assert lines[:4] == ["> **Log in**", ">", "> https://a.example/?x=1&y=(2)", ">"]


def test_a_plan_is_a_task_list() -> None:
    statuses = ("completed", "pending", "in_progress", "cancelled")
    steps = tuple(c.PlanEntry(f"{status[:2]}\n!", status=status) for status in statuses)
    assert body(session(up.PlanSet("p", steps))) == [
        *("**Plan**", ""),
        "- [x] co !",
        "- [ ] pe !",
        "- [ ] in ! (in progress)",
        "- [ ] ca ! (cancelled)",
    ]


@pytest.mark.parametrize(
    ("change", "line"),
    [
        (up.TurnChanged("idle", "end_turn"), None),
        (up.TurnChanged("running"), None),
        (up.TurnChanged("idle", "max_tokens"), "> **The turn ended early:** max tokens"),
        (up.TurnChanged("idle", "cancelled"), "> **The turn ended early:** cancelled"),
        (up.TurnChanged("idle", "error", "too\nbad"), "> **The turn failed:** too bad"),
        (up.TurnChanged("idle", "error", ""), "> **The turn failed:** error"),
    ],
)
def test_a_turn_says_how_it_ended(change: up.TurnChanged, line: str | None) -> None:
    assert body(session(change)) == ([] if line is None else [line])


@pytest.mark.parametrize(("reason", "shown"), [("It\ncrashed", "It crashed"), ("", "unknown")])
def test_a_lost_session_says_so(reason: str, shown: str) -> None:
    of = session()
    of.lose(reason)
    assert body(of) == [f"> **The session is lost:** {shown}"]


def test_prompts_that_wait_stand_at_the_end() -> None:
    of = session(agent("a"))
    of.queue += [QueuedPrompt("t1", (Text("one\n"),)), QueuedPrompt("t2", (Text("two"),))]
    waits = "> (waits for its turn)"
    assert body(of)[3:] == [
        "",
        *("## You", "", "one", "", waits, "", "## You", "", "two", "", waits),
    ]


def test_questions_show_all_options_in_order_p11() -> None:
    plain = question("One line?")
    described = question("Sure?", Part("", "```\nrm -r\n"), key="q2", dismiss=True)
    of = session(agent("a"))
    rendering = render(of, "Claude", [plain, described])
    assert body(of, (plain, described))[4:] == [
        *("> **One line?**", ">"),
        *("> - Allow once", "> - Reject", ">", "> Answer with a code action.", ""),
        *("> **Sure?**", ">", "> ```", "> rm -r", "> ```", ">"),
        *("> - Allow once", "> - Reject", "> - Dismiss", ">", "> Answer with a code action."),
    ]
    for key, line in rendering.questions.items():
        assert rendering.lines[line].startswith("> **")
        assert key in {"q1", "q2"}
    assert len(set(rendering.questions.values())) == 2


def test_a_question_says_what_it_is_about_in_code_that_it_cannot_leave() -> None:
    parts = (
        Part("Note", "one\ntwo"),
        Part("Command", "ls `x`", "code"),
        Part("In", "/w", "code"),
        Part("File", "```\n# Not a heading", "code"),
        Part("Change", "\n".join(f"+{n}" for n in range(300)), "diff"),
    )
    asked = replace(question("Run it?", *parts), source="Claude")
    lines = body(session(), (asked,))
    assert lines[:13] == [
        *("> **Run it?**", ">", "> From Claude", ">", "> Note: one", "> two", ">"),
        *("> Command:", ">", "> ```", "> ls `x`", "> ```", ">"),
    ]
    assert lines[13:21] == [
        *("> In: `/w`", ">", "> File:", ">", "> ````", "> ```", "> # Not a heading", "> ````"),
    ]
    assert lines[24] == "> ```diff"
    assert "> (100 more lines; acpls.question.list has them all)" in lines


# --- growing ---------------------------------------------------------------------------------

# Inline code in three backticks on one line is left out: while it is open, it is a fence.
pieces = st.lists(
    st.sampled_from(
        ["a", "b c", " ", "\n", "\n\n", "# T", "- x", "\n```py\n", "\n```\n", "\n`", "``"]
    ),
    max_size=12,
).map("".join)


@settings(max_examples=100)
@given(pieces, st.data())
def test_streamed_text_gives_pure_insertions(text: str, data: st.DataObject) -> None:
    assume(not re.search(r"`.*```|````", text))
    of, asked = conversation()
    role: up.Role = data.draw(st.sampled_from(["agent", "thought"]))
    before = document(render(of, "Claude", [asked]).lines)
    last = ""
    while text:
        cut = data.draw(st.integers(1, len(text)))
        chunk, text = text[:cut], text[cut:]
        of.apply(up.MessageGrew("new", role, Text(chunk)))
        after = document(render(of, "Claude", [asked]).lines)
        # A last line that grew and came again can be taken for the second of the two.
        if last not in chunk.split("\n")[1:]:
            assert all(edit.start == edit.end for edit in edits_between(before, after))
        assert apply_edits(before, edits_between(before, after)) == after
        before, last = after, f"{last}{chunk}".rsplit("\n", 1)[-1]
