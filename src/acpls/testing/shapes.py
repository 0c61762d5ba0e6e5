"""The words of a script put into the shapes of ACP 1 and ACP 2.

Invariant: pure. Written from the specification and by itself, so that it cannot share a
mistake with what it is there to test.
"""

from __future__ import annotations

import difflib
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

Json: TypeAlias = dict[str, Any]

NAME = "scripted-agent"
_ESCAPES = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\t": "\\t", "\r": "\\r"}


OFFERS: Final[Mapping[str, tuple[tuple[str, ...], tuple[str, ...]]]] = {
    "fork": (("sessionCapabilities", "fork"), ("fork",)),
    "title": (("sessionCapabilities", "title"), ("title",)),
    "directories": (
        ("sessionCapabilities", "additionalDirectories"),
        ("additionalDirectories",),
    ),
    "system_prompt": (("sessionCapabilities", "systemPrompt"), ("systemPrompt",)),
    "override": (
        ("sessionCapabilities", "systemPrompt", "mode", "override"),
        ("systemPrompt", "mode", "override"),
    ),
    "stdio": ((), ("mcp", "stdio")),
    "http": (("mcpCapabilities", "http"), ("mcp", "http")),
    "sse": (("mcpCapabilities", "sse"), ()),
    "logout": (("auth", "logout"), ()),
}
"""What a script can have the agent say that it can do, besides what it always says: where
that stands in ACP 1 and in ACP 2. Nowhere: the version always has it, or never.
"""


def initialize_result(version: int, offers: Iterable[str] = ()) -> Json:
    """The result of ``initialize`` before the script's overrides, without the logins."""
    about = {"name": NAME, "title": "Scripted agent", "version": "1.0"}
    session: Json = {"prompt": {"image": {}, "embeddedContext": {}}, "delete": {}}
    can: Json = {
        "loadSession": True,
        "promptCapabilities": {"image": True, "audio": False, "embeddedContext": True},
        "sessionCapabilities": {"list": {}, "resume": {}, "close": {}, "delete": {}},
    }
    for word in offers:
        place = can if version == 1 else session
        *outer, last = OFFERS[word][0 if version == 1 else 1] or [""]
        for name in outer:
            place = place.setdefault(name, {})
        if last:
            # The kinds of MCP servers are flags in ACP 1, all else are objects.
            place.setdefault(last, True if outer == ["mcpCapabilities"] else {})
    if version == 1:
        return {"protocolVersion": 1, "agentInfo": about, "agentCapabilities": can}
    return {"protocolVersion": 2, "info": about, "capabilities": {"session": session}}


def text_block(text: str) -> Json:
    """A content block of text."""
    return {"type": "text", "text": text}


def option(version: int, spoken: Json) -> Json:
    """One configuration option of a session."""
    shape = {
        "id" if version == 1 else "configId": spoken["id"],
        "name": spoken.get("name", spoken["id"]),
        "currentValue": spoken["value"],
    }
    if "category" in spoken:
        shape["category"] = spoken["category"]
    if "choices" not in spoken:
        return {**shape, "type": "boolean"}
    choices = [
        {"value": choice, "name": choice} if isinstance(choice, str) else choice
        for choice in spoken["choices"]
    ]
    return {**shape, "type": "select", "options": choices}


def mode_option(modes: Json) -> Json:
    """The modes of a session as one option, in the script's words."""
    return {
        "id": "mode",
        "name": "Mode",
        "category": "mode",
        "value": modes["current"],
        "choices": [{"value": m["id"], "name": m["name"]} for m in modes["available"]],
    }


def command(version: int, spoken: Json) -> Json:
    """One slash command."""
    shape: Json = {"name": spoken["name"], "description": spoken.get("description", "")}
    if version == 1:
        return shape | ({"input": {"hint": spoken["hint"]}} if "hint" in spoken else {})
    shape |= {"type": "command"}
    return shape | ({"input": {"type": "text", "hint": spoken["hint"]}} if "hint" in spoken else {})


def plan(version: int, entries: list[Any], plan_id: str) -> Json:
    """The update that sets a plan."""
    full = [
        {"priority": "medium", "status": "pending"}
        | ({"content": entry} if isinstance(entry, str) else entry)
        for entry in entries
    ]
    if version == 1:
        return {"sessionUpdate": "plan", "entries": full}
    return {
        "sessionUpdate": "plan_update",
        "plan": {"type": "items", "planId": plan_id, "entries": full},
    }


def tool_call(version: int, step: Json, cwd: Path) -> Json:
    """The members of a tool call that a ``tool`` step names, with ``toolCallId``."""
    shape: Json = {"toolCallId": step["tool"]}
    for word in ("title", "kind", "status", "name"):
        if word in step:
            shape[word] = step[word]
    if version == 1 and shape.get("status") in ("cancelled", "paused"):
        shape["status"] = "failed" if shape["status"] == "cancelled" else "in_progress"
    if "raw_input" in step:
        shape["rawInput"] = step["raw_input"]
    if "raw_output" in step:
        shape["rawOutput"] = step["raw_output"]
    if "locations" in step:
        shape["locations"] = step["locations"] and [_location(x, cwd) for x in step["locations"]]
    if "content" in step:
        shape["content"] = step["content"] and [
            shaped for item in step["content"] for shaped in _contents(version, item, cwd)
        ]
    return shape


def permission_options(spoken: list[Any]) -> list[Json]:
    """The options of a permission request; a bare word is a kind and its own id."""
    return [
        {
            "optionId": item["id"] if isinstance(item, dict) else item,
            "kind": item["kind"] if isinstance(item, dict) else item,
            "name": item.get("name", item["id"])
            if isinstance(item, dict)
            else item.replace("_", " ").capitalize(),
        }
        for item in spoken
    ]


def absolute(path: str, cwd: Path) -> str:
    """The path as it stands on the wire."""
    return str(cwd / path)


def git_patch(path: str, old: str | None, new: str | None, source: str | None = None) -> str:
    """A Git patch of one file, with absolute paths and no prefixes, as ACP 2 wants it.

    ``None`` is the missing side; ``source``: the path that the file was moved from.
    """
    before, after = source or path, path
    head = [f"diff --git {quoted(before)} {quoted(after)}"]
    if old is None:
        head.append("new file mode 100644")
    elif new is None:
        head.append("deleted file mode 100644")
    elif source is not None:
        head += [f"rename from {quoted(before)}", f"rename to {quoted(after)}"]
    body: list[str] = []
    for line in difflib.unified_diff(_lines(old or ""), _lines(new or ""), n=3):
        if line.startswith("--- ") and not body:
            body.append(f"--- {'/dev/null' if old is None else _named(before)}\n")
        elif line.startswith("+++ ") and len(body) == 1:
            body.append(f"+++ {'/dev/null' if new is None else _named(after)}\n")
        elif line.endswith("\n"):
            body.append(line)
        else:
            body.append(f"{line}\n\\ No newline at end of file\n")
    return "".join(f"{line}\n" for line in head) + "".join(body)


def quoted(path: str) -> str:
    """A path as Git writes it in a header: in C style where it holds odd characters."""
    if re.fullmatch(r'[^"\\\x00-\x1f\x7f-\U0010ffff]*', path):
        return path
    out = []
    for character in path:
        if character in _ESCAPES:
            out.append(_ESCAPES[character])
        elif " " <= character < "\x7f":
            out.append(character)
        else:
            out += [f"\\{byte:03o}" for byte in character.encode()]
    return f'"{"".join(out)}"'


def _named(path: str) -> str:
    # Git ends a name that holds a space with a tab, for patch programs that cut at spaces.
    name = quoted(path)
    return f"{name}\t" if " " in name and name == path else name


def _lines(text: str) -> list[str]:
    return re.findall(r"[^\n]*\n|[^\n]+", text)


def _location(spoken: Any, cwd: Path) -> Json:
    if isinstance(spoken, str):
        spoken = {"path": spoken}
    elif isinstance(spoken, list):
        spoken = {"path": spoken[0], "line": spoken[1]}
    return {**spoken, "path": absolute(spoken["path"], cwd)}


def _content(version: int, item: Any, cwd: Path) -> Json:
    if isinstance(item, str):
        return {"type": "content", "content": text_block(item)}
    if set(item) == {"terminal"}:
        return {"type": "terminal", "terminalId": item["terminal"]}
    if set(item) == {"diff"}:
        spoken = item["diff"]
        path = absolute(spoken["path"], cwd)
        return _diff_1(path, spoken) if version == 1 else _diff_2(path, spoken, cwd)
    return dict(item)


def _contents(version: int, item: Any, cwd: Path) -> list[Json]:
    spoken = item.get("diff") if isinstance(item, dict) else None
    if not isinstance(spoken, list):
        return [_content(version, item, cwd)]
    each = [_content(version, {"diff": one}, cwd) for one in spoken]
    if version == 1:
        return each
    text = "".join(one["patch"]["text"] for one in each)
    return [
        {
            "type": "diff",
            "changes": [change for one in each for change in one["changes"]],
            "patch": {"format": "git_patch", "text": text},
        }
    ]


def _diff_1(path: str, spoken: Json) -> Json:
    shape = {"type": "diff", "path": path, "newText": spoken.get("new") or ""}
    return shape | ({"oldText": spoken["old"]} if "old" in spoken else {})


def _diff_2(path: str, spoken: Json, cwd: Path) -> Json:
    old, new = spoken.get("old"), spoken["new"]
    if spoken.get("piece"):
        old, new = _around(Path(path), old or "", new or "")
    source = absolute(spoken["from"], cwd) if "from" in spoken else None
    change: Json = {"operation": "modify", "path": path, "fileType": "text"}
    if source is not None:
        change |= {"operation": "move", "oldPath": source}
    elif old is None:
        change["operation"] = "add"
    elif new is None:
        change["operation"] = "delete"
    text = git_patch(path, old, new, source)
    return {
        "type": "diff",
        "changes": [change],
        "patch": {"format": "git_patch", "text": text},
    }


def _around(path: Path, old: str, new: str) -> tuple[str, str]:
    """The whole texts around two pieces: the file holds the one or already the other."""
    whole = path.read_bytes().decode()
    if old and whole.count(old) == 1:
        return whole, whole.replace(old, new)
    return whole.replace(new, old), whole
