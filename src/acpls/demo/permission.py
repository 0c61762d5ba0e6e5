"""When the demo agent asks before it acts, and what it says when it may not."""

from __future__ import annotations

from typing import TYPE_CHECKING

from acpls.demo.terms import Option, Question

if TYPE_CHECKING:
    from acpls.demo.terms import Call
    from acpls.demo.turn import Turn

# What each mode asks about; see ``terms.MODES`` for how the user reads it.
_ASKED = {
    "ask": {"edit", "delete", "run"},
    "code": {"delete", "run"},
    "auto": {"run"},
}


def permitted(
    turn: Turn,
    call: Call,
    sort: str,
    *,
    always: str,
    command: str | None = None,
    terminal: str | None = None,
) -> bool:
    """Whether a tool call may go on, asking the user where the session's mode says so.

    ``sort`` is ``edit``, ``delete`` or ``run``; ``always`` names the lasting allowance. A
    refusal ends the call and is answered kindly here.
    """
    choices = turn.session.choices
    lasting = f"run {command}" if sort == "run" else sort
    if sort not in _ASKED[choices.mode] or lasting in choices.always:
        return True
    options = (
        Option("allow-once", "Allow once", "allow_once"),
        Option("allow-always", always, "allow_always"),
        Option("reject", "Reject", "reject_once"),
    )
    chosen = turn.ask(
        Question(
            call.title,
            options,
            call=call,
            command=command,
            cwd=turn.session.cwd if command else None,
            terminal=terminal,
        )
    )
    if chosen is None or chosen.rejects:
        why = "The question was closed" if chosen is None else "You said no"
        turn.fail(call.id, f"{why}.")
        turn.say(f"{why}, so I leave everything as it is. Just tell me if you change your mind.")
        return False
    if chosen.kind == "allow_always":
        choices.always.add(lasting)
    return True
