"""What a scripted model says, and the words that each agent has for the same tool.

A script is ``{cue: [turn, turn, ...]}``. The latest message of a user that holds a cue starts
that scene; each answer of the model since then counts as a turn played. So nothing is kept
from one request to the next, and an agent that asks the same twice gets the same twice.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any, Final, Literal, TypeAlias

Json: TypeAlias = dict[str, Any]
Abstract: TypeAlias = Literal["read", "edit", "write", "shell"]
# Who speaks, and what it says; an answer of the model may come in several.
Message: TypeAlias = tuple[Literal["user", "model", "other"], str]


@dataclass(frozen=True, slots=True)
class Say:
    """Say a text, a few letters at a time, each piece ``pause`` seconds after the one before."""

    text: str
    pause: float = 0.0


@dataclass(frozen=True, slots=True)
class Use:
    """Use the agent's tool of that sort; ``given`` has the keys that ``NEEDED`` names.

    An edit is of one whole line, and comes with all the ``text`` of the file as it is to be,
    for agents that have no tool for a part of it.
    """

    tool: Abstract
    given: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Call:
    """A ``Use`` in the agent's own words."""

    name: str
    arguments: Json


Turn: TypeAlias = Sequence[Say | Use]
Script: TypeAlias = Mapping[str, Sequence[Turn]]

# The names that the agents have for the same things; what a request declares decides.
TOOLS: Final[Mapping[Abstract, tuple[str, ...]]] = {
    "read": (
        "Read",
        "read",
        "read_file",
        "ReadFile",
        "view",
        "read_text_file",
        "read_files",
        "file_editor",
    ),
    "edit": (
        *("Edit", "edit", "replace", "edit_file", "str_replace", "StrReplaceFile"),
        *("search_replace", "file_editor", "str_replace_editor", "patch", "apply_patch"),
        *("editor", "replace_in_file", "edit_text_file"),
    ),
    "write": ("Write", "write", "write_file", "WriteFile", "create", "write_text_file"),
    "shell": (
        *("Bash", "bash", "run_shell_command", "exec_command", "shell_command", "shell"),
        *("execute", "run_command"),
    ),
}
ARGUMENTS: Final[Mapping[str, tuple[str, ...]]] = {
    "path": ("file_path", "filePath", "path", "filename"),
    "old": ("old_string", "oldString", "oldText", "old_str", "old_text", "old"),
    "new": ("new_string", "newString", "newText", "new_str", "new_text", "new"),
    "text": ("content", "file_text", "contents", "text"),
    "command": ("command", "cmd"),
}
# What each sort of tool is told, and what can do the same where there is no such tool.
NEEDED: Final[Mapping[Abstract, tuple[str, ...]]] = {
    "read": ("path",),
    "edit": ("path", "old", "new"),
    "write": ("path", "text"),
    "shell": ("command",),
}
OTHERWISE: Final[Mapping[Abstract, tuple[Abstract, ...]]] = {
    "edit": ("write", "shell"),
    "read": ("shell",),
}
OVER: Final = "The script ends here."
FILLER: Final = "A small matter"


def play(
    script: Script, messages: Sequence[Message], tools: Mapping[str, Json]
) -> list[Say | Call]:
    """What the model says now, in the agent's own words for its tools.

    ``tools`` has the schema of the arguments of each tool that the agent declared.
    """
    cue, played, before = None, 0, ""
    for who, text in messages:
        if who == "model" and before != "model":
            played += 1
        before = who
        last = max(((text.rfind(cue), cue) for cue in script), default=(-1, None))
        if who == "user" and last[0] >= 0:
            cue, played = last[1], 0
    turns = script[cue] if cue is not None else ()
    if played >= len(turns):
        return [Say(OVER)]
    return [_called(act, tools) if isinstance(act, Use) else act for act in turns[played]]


def filler(schema: Json, word: str = FILLER) -> Any:
    """A small value of that JSON schema, as far as models are asked for one."""
    if schema.get("enum"):
        return schema["enum"][0]
    for one in schema.get("anyOf", ()):
        if one.get("type") != "null":
            return filler(one, word)
    sort = str(schema.get("type", "object")).lower()
    if sort == "object":
        properties: Json = schema.get("properties", {})
        wanted = schema.get("required", properties)
        return {name: filler(properties.get(name, {"type": "string"}), word) for name in wanted}
    plain: Json = {"array": [], "boolean": False, "integer": 1, "number": 1, "null": None}
    return plain.get(sort, word)


def _called(use: Use, tools: Mapping[str, Json]) -> Call | Say:
    for sort in (use.tool, *OTHERWISE.get(use.tool, ())):
        for name in TOOLS[sort]:
            if name in tools:
                arguments = _arguments(sort, name, use.given, tools[name])
                if arguments is not None:
                    return Call(name, arguments)
    return Say(f"There is no tool to {use.tool} with, only {', '.join(sorted(tools))}.")


def _arguments(sort: Abstract, name: str, given: Mapping[str, str], schema: Json) -> Json | None:
    """The arguments in the tool's own words; None if it has none for something given."""
    wanted: Json = schema.get("properties", {})
    required: Json = filler({"required": (), **schema, "type": "object"})
    if "edits" in wanted:  # a list of replacements where others take one
        at = _renamed({"path": given["path"]}, wanted)
        replaced = {"oldText": given["old"], "newText": given["new"]}
        return {**at, "edits": [replaced]} if at else None
    if name == "apply_patch":
        key = next((key for key in ("patch", "input", *wanted) if key in wanted), "input")
        return {**required, key: _patch(given)}
    if name == "read_files":
        return {"files": [{"path": given["path"]}]}
    if sort == "shell" and "old" in given:
        given = {"command": f"apply_patch <<'EOF'\n{_patch(given)}\nEOF"}
    elif sort == "shell" and "path" in given:
        given = {"command": f"cat '{given['path']}'"}
    if name in {"file_editor", "str_replace_editor"}:  # one tool that is told what to do
        required = {**required, "command": {"edit": "str_replace", "read": "view"}[sort]}
    if "expected_sha256" in wanted:  # of the file that all of its new text is for
        read = Path(given["path"]).read_bytes()
        required = {**required, "create": False, "expected_sha256": sha256(read).hexdigest()}
    for kept in (NEEDED[sort], *([NEEDED["write"]] if sort == "edit" else ())):
        renamed = _renamed({key: given[key] for key in kept if key in given}, wanted)
        if renamed is not None and len(renamed) == len(kept):
            return {**required, **renamed}  # some insist on a reason or the like
    return None


def _renamed(given: Mapping[str, str], wanted: Json) -> Json | None:
    names = {key: next((n for n in ARGUMENTS[key] if n in wanted), None) for key in given}
    if None in names.values():
        return None
    return {str(names[key]): value for key, value in given.items()}


def _patch(given: Mapping[str, str]) -> str:
    """An edit in the language of OpenAI's tool for patches."""
    body = f"@@\n-{given['old']}\n+{given['new']}"
    return f"*** Begin Patch\n*** Update File: {given['path']}\n{body}\n*** End Patch"
