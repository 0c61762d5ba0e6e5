"""What a question is about, put together from all that its agent said.

Agents differ in where they say it: in the request itself, in a tool call told of before, or
only in the arguments of the tool.

Invariant: pure and total. What the request itself says goes before what was said earlier.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, replace
from itertools import islice
from typing import TYPE_CHECKING, Any, Final

from acpls.session.content import UNSET, AboutCommand, Fragment, OtherContent, Patch, Text
from acpls.text.visible import one_line

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from acpls.session.content import Subject, ToolContent
    from acpls.session.entries import ToolCall
    from acpls.session.updates import ToolCallPatched

PATHS_LIMIT: Final = 100
_INPUT_LIMIT: Final = 20_000
_TEXT_LIMIT: Final = 20_000

# What agents call the arguments of their tools.
_COMMAND: Final = ("command", "cmd", "script", "commandLine", "command_line", "bash_command")
_FOLDER: Final = ("cwd", "workdir", "working_directory", "workingDirectory", "directory")
_PATH: Final = (
    *("path", "file_path", "filePath", "filepath", "absolute_path", "filename", "file"),
    *("abs_path", "notebook_path", "target_file"),
)
_PATHS: Final = ("paths", "files", "file_paths", "filePaths")
_OLD: Final = ("old_string", "oldString", "oldText", "old_text", "old_str", "old")
_NEW: Final = ("new_string", "newString", "newText", "new_text", "new_str", "new")
_WHOLE: Final = ("content", "contents", "file_text", "fileText", "text")
_DIFF: Final = ("diff", "patch")

# Titles that name a tool, and not what it is to do.
_EMPTY_TITLES: Final = frozenset(
    {
        *("read", "edit", "delete", "move", "search", "execute", "fetch", "think", "other"),
        *("switch_mode", "bash", "shell", "terminal", "command", "run", "run_command", "exec"),
        *("write", "write_file", "edit_file", "apply_patch", "patch", "tool", "tool_call"),
        *("permission", "approve", "confirm", "confirm_agent_actions", "unknown", "null", "none"),
    }
)
_MISSING: Final = re.compile(r"<(?:missing|empty|unknown|no)\b[^>]*>", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class About:
    """What a question is about. All texts are as the agent sent them.

    ``kind``, ``tool``: of the tool call. ``paths``: the files, as the agent names them.
    ``claims``: the changes it wants to make; ``diff``: one that it wrote out as a text.
    ``text``: what else stands in the tool call. ``input``: the tool's arguments as JSON,
    where nothing better was found in them. ``guessed``: the question says nothing itself, and
    this is the tool call told of last; nothing may be allowed because of it.
    """

    kind: str | None = None
    tool: str | None = None
    command: str | None = None
    cwd: str | None = None
    paths: tuple[str, ...] = ()
    claims: tuple[Fragment | Patch, ...] = ()
    diff: str | None = None
    text: str | None = None
    input: str | None = None
    guessed: bool = False

    @property
    def is_nothing(self) -> bool:
        """Whether nothing is known of what is asked."""
        known = (self.command, self.paths, self.claims, self.diff, self.text, self.input)
        return not any(known)


def about(
    subject: Subject, own: ToolCallPatched | None, known: ToolCall | None, title: str | None
) -> About:
    """What a question with this subject is about.

    ``own``: the tool call as it stood in the request; ``known``: as it was told of by then.
    ``title`` is looked through as well, since some agents put the arguments there.
    """
    kind, tool = _told(own, "kind"), _told(own, "name")
    arguments = _first_filled(
        _told(own, "raw_input"), None if known is None else known.raw_input, _json(title)
    )
    content = _told(own, "content") or (() if known is None else known.content)
    at = _told(own, "locations") or (() if known is None else known.locations)
    found = About(
        kind or (None if known is None else known.kind),
        tool or (None if known is None else known.name),
        paths=tuple(dict.fromkeys(place.path for place in islice(at, PATHS_LIMIT))),
    )
    found = _of_content(found, content)
    found = _of_arguments(found, arguments)
    match subject:
        case AboutCommand(command, cwd):
            # The arguments may be those of a wrapper; this is what is asked.
            found = replace(found, command=command, cwd=cwd or found.cwd)
        case OtherContent(payload):
            found = _of_arguments(found, payload)
        case _:
            pass
    return found


def title_of(given: str | None, known: ToolCall | None, what: About, folder: str = "") -> str:
    """A title that says what is asked, as one printable line; empty where nobody knows.

    What was given is kept; where it does not say what the tool is to do, that follows. Paths
    within ``folder`` are told without it.
    """
    named = [given, None if known is None else known.title]
    titles = [one_line(title) for title in named if title and _json(title) is None]
    said = next((title for title in titles if not _says_nothing(title, what)), "")
    if said and (not what.command or one_line(what.command) in said):
        return said
    paths = (path.removeprefix(f"{folder.rstrip('/')}/") for path in what.paths)
    wanted = one_line(what.command or next(paths, what.input or ""))
    if not said:
        said = next((_MISSING.sub("", title).rstrip(" :") for title in titles), "")
        if not said and what.command:
            return f"Run {wanted}"
        said = said or one_line(what.tool or what.kind or "")
    if not wanted:
        return "" if said.lower() == "other" else said
    if not said:
        return wanted
    return f"{said}{' ' if said[-1] in '?!.:' else ': '}{wanted}"


def _says_nothing(title: str, what: About) -> bool:
    if _MISSING.search(title):
        return True
    word = re.sub(r"[\s_-]+", "_", title.strip().rstrip("?!.:").lower())
    return word in _EMPTY_TITLES or title in {what.kind, what.tool}


# --- where it is said --------------------------------------------------------------------


def _told(own: ToolCallPatched | None, name: str) -> Any:
    value = None if own is None else getattr(own, name)
    return None if value is UNSET else value


def _first_filled(*values: object) -> object:
    return next((value for value in values if value not in (None, "", {}, [])), None)


def _json(title: str | None) -> object:
    """The object that a title consists of, behind the name of a tool or alone."""
    found = re.match(r"\s*(?:[\w.-]+\s*:\s*)?([{\[].*)", title or "", re.DOTALL)
    if found is None:
        return None
    try:
        value: object = json.loads(found[1])
    except (ValueError, RecursionError):
        return None
    return value or None


def _of_content(found: About, content: Iterable[ToolContent]) -> About:
    claims: list[Fragment | Patch] = []
    texts: list[str] = []
    paths = list(found.paths)
    for item in content:
        match item:
            case Fragment(path):
                claims.append(item)
                paths.append(path)
            case Patch(changes):
                claims.append(item)
                paths += [c.path or c.old_path or "" for c in changes]
            case Text(text) if text.strip():
                texts.append(text)
            case _:
                pass
    return replace(
        found,
        paths=_some(paths),
        claims=tuple(claims),
        text="\n\n".join(texts)[:_TEXT_LIMIT] or None,
    )


def _of_arguments(found: About, arguments: object) -> About:
    if isinstance(arguments, str):
        arguments = _json(arguments) or {"input": arguments}
    if not isinstance(arguments, dict):
        return found if arguments is None else replace(found, input=_written(arguments))
    command = found.command or _command(arguments)
    paths = [*found.paths, *_paths(arguments)]
    claims, diff = found.claims, found.diff
    if not claims:
        claims = _claims(arguments)
        diff = diff or _text_at(arguments, _DIFF)
    whole = replace(
        found,
        command=command,
        cwd=found.cwd or _text_at(arguments, _FOLDER),
        paths=_some(paths),
        claims=claims,
        diff=diff if not claims else None,
    )
    says = (whole.command, whole.paths, whole.claims, whole.diff)
    return whole if any(says) else replace(whole, input=_written(arguments))


def _command(arguments: Mapping[str, Any]) -> str | None:
    for name in _COMMAND:
        value = arguments.get(name)
        if isinstance(value, str) and value.strip():
            return value
        if isinstance(value, list) and value and all(isinstance(x, str) for x in value):
            return _joined(value)
    return None


def _joined(argv: list[str]) -> str:
    words = argv
    if len(argv) == 3 and re.search(r"(?:^|/)(?:ba|z|da|k)?sh$", argv[0]) and argv[1] in _SHELL:
        return argv[2]
    return " ".join(x if re.fullmatch(r"[\w@%+=:,./-]+", x) else json.dumps(x) for x in words)


_SHELL: Final = ("-c", "-lc", "-cl")


def _paths(arguments: Mapping[str, Any]) -> Iterator[str]:
    for name in _PATH:
        value = arguments.get(name)
        if isinstance(value, str) and value:
            yield value
    for name in _PATHS:
        value = arguments.get(name)
        if isinstance(value, list):
            yield from (x for x in value if isinstance(x, str) and x)


def _claims(arguments: Mapping[str, Any]) -> tuple[Fragment, ...]:
    path = next(_paths(arguments), None)
    if path is None:
        return ()
    old, new = _text_at(arguments, _OLD), _text_at(arguments, _NEW, empty=True)
    if new is None and old is None:
        new = _text_at(arguments, _WHOLE, empty=True)
    return () if new is None else (Fragment(path, old, new),)


def _text_at(
    arguments: Mapping[str, Any], names: Iterable[str], *, empty: bool = False
) -> str | None:
    values = (arguments.get(name) for name in names)
    return next((x for x in values if isinstance(x, str) and (x or empty)), None)


def _written(value: object) -> str | None:
    if value in ({}, []):
        return None
    try:
        return json.dumps(value, ensure_ascii=False, indent=1)[:_INPUT_LIMIT]
    except (TypeError, ValueError, RecursionError):
        return None


def _some(paths: Iterable[str]) -> tuple[str, ...]:
    return tuple(islice(dict.fromkeys(path for path in paths if path), PATHS_LIMIT))
