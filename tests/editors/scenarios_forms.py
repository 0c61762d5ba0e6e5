"""Scenarios of forms: documents that are filled in by plain typing, and sent by a code action."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from scenarios_questions import both
from sitting import CODE

if TYPE_CHECKING:
    from sitting import Scenario, Sitting

FILL: Final = "Fill in the form: What is released?"
SEND: Final = "Send the form"
DECLINE: Final = "Decline the form"
SCHEMA: Final = {
    "type": "object",
    "required": ["name", "count"],
    "properties": {
        "name": {"type": "string", "title": "Name", "minLength": 3},
        "count": {"type": "integer", "title": "Count", "minimum": 1, "maximum": 9},
        "kind": {"type": "string", "enum": ["big", "small"], "default": "small"},
        "draft": {"type": "boolean", "default": True},
    },
}
ONE_CHOICE: Final = {
    "type": "object",
    "required": ["kind"],
    "properties": {"kind": {"type": "string", "enum": ["big", "small"]}},
}


def form(schema: Any = SCHEMA, **more: Any) -> dict[str, Any]:
    """The agent asks for values."""
    return {"form": schema, "message": "What is released?", **more}


def _opens(s: Sitting) -> None:
    """The form is asked for, and its document is there."""
    s.prompt(ends=False)
    s.asked("What is released?")
    s.hands.act(7, FILL)
    s.until(lambda: s.hands.at()[0].endswith(".toml"), "the form")
    s.until(lambda: s.hands.titles(1)[:2] == [SEND, DECLINE], "what can be done with it")
    s.shot("form")


def _row(s: Sitting, name: str) -> int:
    """The line of a field."""
    rows = s.hands.text().split("\n")
    return next(n for n, row in enumerate(rows, 1) if row.startswith(f"{name} ="))


def _is_filled_in(s: Sitting) -> None:
    """What is wrong is marked where it stands, and nothing is sent until all of it is right."""
    _opens(s)
    name, count = _row(s, "name"), _row(s, "count")
    s.hands.act(1, SEND)
    s.marked(name, count)
    s.shot("empty")
    s.hands.rewrite(name, "name = 'v1'")
    s.hands.rewrite(count, "count = 5")
    s.hands.act(1, SEND)
    s.marked(name)
    s.shot("wrong")
    assert s.heard() == []
    s.hands.rewrite(name, "name = 'v1.2 ü'")
    s.hands.act(1, SEND)
    s.until_idle()
    content = {"name": "v1.2 ü", "count": 5, "kind": "small", "draft": True}
    assert s.heard() == [{"action": "accept", "content": content}]
    _is_gone(s)


def _is_declined(s: Sitting) -> None:
    _opens(s)
    s.hands.rewrite(_row(s, "name"), "name = 'not sent'")
    s.hands.act(1, DECLINE)
    s.until_idle()
    assert s.heard() == [{"action": "decline"}]
    # What was typed and not sent is the user's.
    assert "not sent" in s.hands.text()
    _is_gone(s)


def _turn_is_stopped_with_the_form_open(s: Sitting) -> None:
    _opens(s)
    s.hands.rewrite(_row(s, "name"), "name = 'half'")
    s.tap.command("acpls.session.cancel")
    s.until_idle()
    assert s.heard() == [{"action": "cancel"}]
    assert SEND not in s.hands.titles(1)
    _is_gone(s)


def _is_gone(s: Sitting) -> None:
    """No file with values is left on the disk, and the other document is untouched."""
    s.until(lambda: not [*s.project.glob(".acp/form-*")], "the file is taken away")
    assert s.disk() == CODE


def _one_choice_needs_no_document(s: Sitting) -> None:
    s.prompt(ends=False)
    s.asked("What is released?")
    s.hands.act(7, "big: What is released?")
    s.until_idle()
    assert s.heard() == [{"action": "accept", "content": {"kind": "big"}}]
    assert s.hands.at()[0] == "a.md"


def _comes_while_typing(s: Sitting) -> None:
    """No document opens by itself under the hands of the user."""

    def comes() -> None:
        s.prompt(ends=False)
        s.asked("What is released?")

    s.hands.above(1, "half a line and the rest", comes)
    assert s.hands.text() == f"half a line and the rest\n{CODE}"
    s.hands.act(7, f"{DECLINE}: What is released?")
    s.until_idle()
    assert s.heard() == [{"action": "decline"}]


FORMS: Final[list[Scenario]] = [
    *both(_is_filled_in, [[form()]]),
    *both(_is_declined, [[form()]]),
    *both(_turn_is_stopped_with_the_form_open, [[form()]], popups=("A form is not.*",)),
    *both(_one_choice_needs_no_document, [[form(ONE_CHOICE)]]),
    *both(_comes_while_typing, [[form()]]),
]
