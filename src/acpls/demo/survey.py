"""The demo agent's form: one field of each kind."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from acpls.demo.terms import Json
    from acpls.demo.turn import Turn

_TEAS: Final = {"sencha": "Sencha", "assam": "A strong Assam", "herbs": "Herbs of the garden"}
_DAYS: Final = ("monday", "wednesday", "friday")
SCHEMA: Final[Json] = {
    "type": "object",
    "title": "Tea for the office",
    "description": "Only out of curiosity.",
    "properties": {
        "name": {
            "type": "string",
            "title": "Your name",
            "description": "As it is to stand on the cup.",
            "minLength": 1,
            "maxLength": 20,
        },
        "tea": {
            "type": "string",
            "title": "Which tea would you like?",
            "oneOf": [{"const": key, "title": title} for key, title in _TEAS.items()],
        },
        "cups": {
            "type": "integer",
            "title": "How many cups?",
            "minimum": 1,
            "maximum": 9,
            "default": 2,
        },
        "degrees": {"type": "number", "title": "How hot, in degrees Celsius?", "maximum": 100},
        "milk": {"type": "boolean", "title": "With milk?", "default": False},
        "days": {
            "type": "array",
            "title": "On which days?",
            "items": {"type": "string", "enum": [*_DAYS]},
            "minItems": 1,
            "default": [_DAYS[0]],
        },
    },
    "required": ["name", "tea", "cups"],
}


def survey(turn: Turn, rest: str) -> None:
    """Have the user fill in a form, and say what came of it."""
    del rest
    if not turn.client.forms:
        turn.say("Your editor shows no forms, so I cannot ask you.")
        return
    message = "Tell me about your tea."
    answer = turn.elicit({"mode": "form", "message": message, "requestedSchema": SCHEMA})
    values = answer.get("content")
    if answer.get("action") == "decline":
        turn.say("You would rather not say: that is fine.")
    elif answer.get("action") != "accept" or not isinstance(values, dict):
        turn.say("The form was closed, so I stop asking.")
    else:
        tea = _TEAS.get(values.get("tea", ""), "tea")
        milk = "with milk" if values.get("milk") else "without milk"
        hot = f" at {values['degrees']:g} degrees" if "degrees" in values else ""
        days = ", ".join(values.get("days", []))
        on = f", on {days}" if days else ""
        turn.say(f"For {values.get('name')}: {values.get('cups')} x {tea}{hot}, {milk}{on}.")
