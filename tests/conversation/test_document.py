"""A conversation document is brought up to date, and the user's draft is never touched."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from acpls.conversation.document import (
    Conversation,
    document,
    draft,
    edits,
    sent_lines,
    split,
)
from acpls.conversation.render import END, MARK, PROMPT, render
from acpls.session.content import Text
from acpls.session.state import Session
from acpls.text.diff import Edit, apply_edits
from acpls.text.lines import body, split_lines

if TYPE_CHECKING:
    from collections.abc import Sequence

HEAD = ("# Title", "", "## Claude", "", "Hello.", "")


def conversation(
    head: Sequence[str] = HEAD,
    sent: Sequence[str] | None = None,
    quotes: Sequence[str] = (),
) -> Conversation:
    return Conversation(
        "s1",
        "/w/.acp/c.md",
        "file:///w/.acp/c.md",
        head=tuple(head),
        sent=None if sent is None else tuple(sent),
        quotes=tuple(quotes),
    )


def text_of(*lines: str, end: str = "\n") -> str:
    return "".join(line + end for line in lines)


def edited(text: str, of: Conversation, head: Sequence[str] = HEAD) -> str:
    """The document after its edits, which then needs no more of them."""
    result = apply_edits(text, edits(text, of, tuple(head)))
    assert edits(result, of, tuple(head)) == ()
    return result


# --- reading -----------------------------------------------------------------------------


def test_a_new_document_has_room_to_write() -> None:
    text = document(HEAD)
    assert text == text_of(*HEAD, PROMPT, "", "", END)
    assert draft(text) == ""
    assert sent_lines(text) == ()
    assert edits(text, conversation(), HEAD) == ()


def test_the_draft_is_what_stands_between_heading_and_last_line() -> None:
    text = text_of(*HEAD, PROMPT, "  ", "", "  one", "", "two \u2028", "", END, "", end="\r\n")
    assert sent_lines(text) == ("  ", "", "  one", "", "two \u2028")
    assert draft(text) == "  one\n\ntwo \u2028"
    parts = split(text)
    assert parts.prompt == f"{PROMPT}\r\n"
    assert parts.tail == (f"{END}\r\n", "\r\n")


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        # Some go to the last line of a file and write there.
        (["", "", END, "below"], "below"),
        (["above", END, "", "below", ""], "above\n\nbelow"),
        (["above", f"{END}behind"], "above\nbehind"),
        # On the heading's line.
        ([], ""),
        (["", END], ""),
        # The last line is gone.
        (["one", ""], "one"),
        # The user has written one like it.
        (["one", END, "two", END], "one\ntwo"),
        ([END, END], ""),
        (["one", "", f"{END} "], "one"),
    ],
)
def test_a_draft_can_be_written_around_the_last_line(lines: list[str], said: str) -> None:
    assert draft(text_of(*HEAD, PROMPT, *lines)) == said


def test_text_behind_the_heading_is_draft() -> None:
    text = text_of(*HEAD, f"{PROMPT} hello", "you", END)
    assert draft(text) == " hello\nyou"
    assert split(text).draft == (" hello\n", "you\n")
    assert edited(text, conversation()) == text_of(*HEAD, PROMPT, " hello", "you", END)


def test_without_its_heading_all_but_the_head_is_draft() -> None:
    text = text_of(*HEAD, "my text", END)
    assert draft(text, HEAD) == "my text"
    assert draft(text) == "\n".join([*HEAD, "my text"])
    changed = text_of(*HEAD[:2], "mine", *HEAD[2:], "my text", END)
    assert draft(changed, HEAD) == "\n".join(["mine", *HEAD[2:], "my text"])
    # Another line that looks like it is no heading of ours.
    assert draft(text_of(*HEAD, f"# {PROMPT}", END), HEAD) == f"# {PROMPT}"


# --- editing -----------------------------------------------------------------------------


def test_text_that_streams_in_is_inserted_above_the_heading() -> None:
    text = text_of(*HEAD, PROMPT, "", "my draft", END)
    wanted = edits(text, conversation(), (*HEAD[:-1], "More", ""))
    at = text.index("\n\n## You") + 1
    assert wanted == (Edit(at, at, "More\n"),)


def test_a_head_that_somebody_changed_is_made_anew() -> None:
    text = text_of("# Title", "mine", *HEAD[3:], PROMPT, "my draft", END)
    assert edited(text, conversation()) == text_of(*HEAD, PROMPT, "my draft", END)


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_a_document_keeps_its_line_endings(end: str) -> None:
    text = text_of(*HEAD, PROMPT, "my draft", END, end=end)
    result = edited(text, conversation(quotes=["`a:1`\n\n"]), (*HEAD, "More", ""))
    shown = [*HEAD, "More", "", PROMPT, "my draft", "", "`a:1`", "", END]
    assert result == text_of(*shown, end=end)


def test_our_endings_do_not_follow_those_of_the_draft() -> None:
    head = [f"line {n}" for n in range(9)]
    text = text_of(*head, PROMPT) + text_of(*"abcde", end="\r\n") + text_of(END)
    result = edited(text, conversation(head), ("new",))
    assert result == text_of("new", PROMPT) + text_of(*"abcde", end="\r\n") + text_of(END)


@pytest.mark.parametrize(
    "text",
    [
        "",
        PROMPT,
        f"{PROMPT}\n",
        text_of(PROMPT, END),
        text_of(*HEAD),
        text_of(*HEAD, END),
        "".join(text_of(*HEAD, PROMPT, "", "", END).splitlines(keepends=True)[:-1]),
    ],
)
def test_what_is_missing_is_put_back(text: str) -> None:
    assert edited(text, conversation()) == text_of(*HEAD, PROMPT, "", "", END)


def test_a_last_line_is_put_below_a_draft_without_ending() -> None:
    text = text_of(*HEAD, PROMPT) + "my draft"
    assert edited(text, conversation()) == text_of(*HEAD, PROMPT, "my draft", END)


def test_no_last_line_is_put_where_somebody_writes_below_it() -> None:
    text = text_of(*HEAD, PROMPT, "", END) + "bel"
    assert edits(text, conversation(), HEAD) == ()


# --- quotes --------------------------------------------------------------------------------

QUOTE = "Explain this:\n`a.py:1-2`\n\n```python\nx = 1\n```\n\n"


def test_quotes_go_below_the_draft_once() -> None:
    text = text_of(*HEAD, PROMPT, "", "my draft", END)
    result = edited(text, conversation(quotes=[QUOTE, "`b:3`", QUOTE]))
    assert result == text_of(*HEAD, PROMPT, "", "my draft", "") + QUOTE + text_of("`b:3`", END)
    # Editors with one kind of line ending in a document write it that way.
    normal = result.replace("\n", "\r\n")
    assert edits(normal, conversation(quotes=[QUOTE, "`b:3`"]), HEAD) == ()


def test_quotes_go_into_an_empty_draft() -> None:
    result = edited(text_of(*HEAD, PROMPT, "", "", END), conversation(quotes=[QUOTE]))
    assert result == text_of(*HEAD, PROMPT, "", "") + QUOTE + text_of(END)
    assert edited("", conversation((), quotes=[QUOTE])) == result


def test_a_quote_does_not_end_as_half_of_a_line_ending() -> None:
    text = text_of(PROMPT) + "my draft\r"
    result = edited(text, conversation((), quotes=["\nq\n"]), ())
    assert split_lines(result)[1:] == ["my draft\r\n", "\n", "\n", "q\n", f"{END}\n"]


# --- sending -------------------------------------------------------------------------------


def test_what_was_sent_moves_into_the_head() -> None:
    text = text_of(*HEAD, PROMPT, "", "Go on", "", "please", "", "", "", END)
    sent = sent_lines(text)
    assert sent == ("", "Go on", "", "please")
    head = (*HEAD, "## You", "", "Go on", "", "please", "")
    result = edited(text, conversation(sent=sent), head)
    assert result == text_of(*head, PROMPT, "", "", "", END)


def test_after_sending_there_is_room_to_write() -> None:
    text = text_of(*HEAD, PROMPT, "Go on", END)
    head = (*HEAD, "## You", "", "Go on", "")
    assert edited(text, conversation(sent=["Go on"]), head) == document(head)


def test_what_was_written_after_sending_stays() -> None:
    of = conversation(sent=["yes"])
    head = (*HEAD, "## You", "", "yes", "")
    text = text_of(*HEAD, PROMPT, "yes", "and", END)
    assert edited(text, of, head) == text_of(*head, PROMPT, "", "and", END)
    # A prompt that was changed after it was sent is the user's again.
    text = text_of(*HEAD, PROMPT, "yes, please", END)
    assert edited(text, of, head) == text_of(*head, PROMPT, "yes, please", END)


def test_the_same_written_again_is_not_taken_for_what_was_sent() -> None:
    of = conversation((*HEAD, "## You", "", "yes", ""), sent=["", "yes"])
    head = (*of.head, "## Claude", "", "Sure?", "", "## You", "", "yes", "")
    moved = edited(text_of(*of.head, PROMPT, "", "yes", END), of, head)
    assert moved == document(head)
    # The editor tells of the edit and of what was typed since at once.
    again = moved.replace(f"\n\n{END}", f"\nyes\n{END}")
    assert draft(again) == "yes"
    assert edits(again, of, head) == ()
    assert edited(again, of, (*head, "More", "")).endswith(text_of(PROMPT, "", "yes", END))


def test_what_was_written_below_the_last_line_is_sent_with_the_rest() -> None:
    text = text_of(*HEAD, PROMPT, "above", END, "below", "")
    assert draft(text) == "above\nbelow"
    head = (*HEAD, "## You", "", "above", "below", "")
    result = edited(text, conversation(sent=sent_lines(text)), head)
    assert result == text_of(*head, PROMPT, "", "", END)


def test_a_prompt_with_a_quote_is_not_quoted_again() -> None:
    of = conversation(sent=["`a:1`", "", "Why?"], quotes=["`a:1`\n\n"])
    head = (*HEAD, "## You", "", "`a:1`", "", "Why?", "")
    assert edited(text_of(*HEAD, PROMPT, *of.sent or (), END), of, head) == document(head)


# --- whatever the text ---------------------------------------------------------------------

endings = st.sampled_from(["\n", "\n", "\r\n", "\r"])
ours = [PROMPT, END, f"{PROMPT}x", f"{END}y", f" {PROMPT}", f"{MARK}: x -->"]
theirs = ["", " ", "a", "b", "## You", "a\u2028b", "\x85", "\x0c", "c\x0b\x1c", "é🎉"]
plain = st.sampled_from(theirs)
heads = st.lists(plain, max_size=6)
quotes = st.lists(st.sampled_from(["`a:1`\n\n", "q", "\nq\r\n", QUOTE]), max_size=2)


def joined(lines: st.SearchStrategy[str], most: int) -> st.SearchStrategy[str]:
    """A text of these lines, each with an ending of its own, the last perhaps without."""
    ended = st.lists(st.builds(str.__add__, lines, endings), max_size=most).map("".join)
    return ended | ended.map(body)


def bodies(lines: Sequence[str]) -> tuple[str, ...]:
    return tuple(body(line) for line in lines)


def contains(lines: Sequence[str], part: Sequence[str]) -> bool:
    return any(
        tuple(lines[at : at + len(part)]) == tuple(part) for at in range(len(lines) - len(part) + 1)
    )


def check(text: str, of: Conversation, head: Sequence[str], start: int, end: int) -> str:
    """Bring a document up to date whose draft is ``text[start:end]``; the result."""
    wanted = edits(text, of, tuple(head))
    assert all(edit.end <= start or edit.start >= end for edit in wanted)
    result = apply_edits(text, wanted)
    assert text[start:end] in result
    parts = split(result, tuple(head))
    assert bodies(parts.head) == tuple(head)
    assert body(parts.prompt) == PROMPT
    assert contains(bodies(parts.draft), bodies(split_lines(text[start:end])))
    assert parts.tail or any(line.startswith(END) for line in parts.draft)
    for quote in of.quotes:
        lines = (*bodies(parts.draft), *(of.sent or ()))
        assert contains(lines, bodies(split_lines(quote)))
    assert edits(result, of, tuple(head)) == ()
    assert edits(result, conversation(head, quotes=of.quotes), tuple(head)) == ()
    return result


@settings(max_examples=250)
@given(joined(st.sampled_from(ours + theirs), 10), heads, heads, quotes)
@example(f"a\r{PROMPT}\n\r\n{END}", [], ["a"], [])
@example(f"{PROMPT}\ra\r\n", ["a"], [], ["\nq\r\n"])
def test_the_draft_of_any_text_is_not_touched(
    text: str, known: list[str], head: list[str], quoted: list[str]
) -> None:
    parts = split(text, tuple(known))
    above = "".join(parts.head) + parts.prompt
    drafted = "".join(parts.draft)
    assert above + drafted + "".join(parts.tail) == text
    of = conversation(known, quotes=quoted)
    check(text, of, head, len(above), len(above) + len(drafted))


@settings(max_examples=150)
@given(
    st.data(),
    heads,
    heads,
    joined(st.sampled_from([*theirs, END, f" {PROMPT}"]), 6),
    st.sampled_from(["whole", "no end", "no heading", "changed head", "typed on heading"]),
    quotes,
)
def test_a_draft_stays_whatever_happens_around_it(
    data: st.DataObject,
    known: list[str],
    head: list[str],
    drafted: str,
    damage: str,
    quoted: list[str],
) -> None:
    end = data.draw(endings)
    above = text_of(*known, PROMPT, end=end)
    below = text_of(END, end=end)
    match damage:
        case "no end":
            # Else a line like the last one, when it comes last, is the last one.
            below, drafted = "", f"{drafted}z"
        case "no heading":
            above = text_of(*known, end=end)
        case "changed head":
            above = text_of(*data.draw(heads), PROMPT, end=end)
        case "typed on heading":
            above = text_of(*known, end=end) + PROMPT
            drafted = f"x{drafted}"
        case _:
            pass
    if below and drafted and body(drafted) == drafted:
        drafted += end
    text = above + drafted + below
    # Where two halves meet in one line ending, the draft begins behind it.
    start = len(above) + (above.endswith("\r") and drafted.startswith("\n"))
    of = conversation(known, quotes=quoted)
    if drafted[start - len(above) :]:
        check(text, of, head, start, len(above) + len(drafted))


@settings(max_examples=150)
@given(
    heads,
    joined(st.sampled_from([*theirs, f"{MARK}: x -->", "```py"]), 5),
    joined(plain, 3),
    quotes,
    st.booleans(),
)
def test_a_draft_that_was_sent_is_in_the_head_once(
    known: list[str], drafted: str, more: str, quoted: list[str], below: bool
) -> None:
    text = text_of(*known, PROMPT) + drafted
    if below:
        text = text_of(text.removesuffix("\n"), END)
    of = conversation(known, quotes=quoted)
    said = draft(text, of.head)
    assume(said)
    of.sent = sent_lines(text, of.head)
    session = Session("s1", "demo", "/w")
    session.prompted("t1", (Text(said),))
    shown = render(session, "Claude", ()).lines[4:]
    # Since then the user has gone on to write; in a new line, or it would be another prompt.
    taken = "".join(split_lines(text)[: len(known) + 1 + len(of.sent)])
    if taken.endswith(("\n", "\r")):
        text = taken + more + text_of("", END)
    drafted_since = text[len(taken) :]
    start = len(taken) + (taken.endswith("\r") and drafted_since.startswith("\n"))
    end = len(text.rpartition(END)[0]) if END in text else len(text)
    result = check(text, of, (*known, *shown), start, max(start, end))
    assert contains(bodies(split_lines(result)), shown)
    lines = split(result).draft
    assert "".join(lines).count("```py") == more.count("```py") + (QUOTE in quoted)
