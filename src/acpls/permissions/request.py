"""What a permission is asked for, as far as rules can tell: put together from all that is said.

Agents say it in the subject of the question, in the tool call, or only in the arguments of the
tool. What stands in several places counts in all of them.

Invariant: pure and total, whatever JSON an agent sends.
"""

from __future__ import annotations

import hashlib
import json
import posixpath
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from acpls.permissions.commands import of_words, split
from acpls.session.content import AboutCommand, AboutToolCall, Fragment, Patch
from acpls.settings.rules import is_absolute, slashed
from acpls.text import uris

if TYPE_CHECKING:
    from collections.abc import Iterator

    from acpls.permissions.commands import Command
    from acpls.session.content import Subject
    from acpls.session.state import Session, ToolCall

PATHS_LIMIT: Final = 200
"""Where there are more, nothing is allowed by a rule."""

CHANGING: Final = frozenset({"edit", "delete", "move"})
_LENGTH_LIMIT: Final = 4096
_DEPTH_LIMIT: Final = 5
_COMMAND: Final = frozenset(
    {"command", "cmd", "script", "commandline", "bashcommand", "shellcommand"}
)
_FOLDER: Final = frozenset({"cwd", "workdir", "workingdirectory", "directory", "dirpath"})
# What changes what a command does, and is not in its text.
_BESIDES: Final = frozenset({"env", "environment", "stdin", "input", "shell", "executable"})
# Any of these reads a line as it is taken apart here, as does whatever a switch means.
_SHELLS: Final = re.compile(r"(?:/(?:usr/)?bin/)?(?:ba|da|z|k|fi)?sh")
# The last word of what agents call an argument that is a path.
_PATH: Final = frozenset({"path", "file", "filename", "filepath", "dir", "directory", "folder"})
# These are paths now and then.
_MAYBE_PATH: Final = frozenset(
    {"source", "destination", "src", "dst", "dest", "target", "from", "to", "old", "new", "uri"}
)
_WORD: Final = re.compile(r"[A-Z]?[a-z0-9]+|[A-Z]+(?![a-z])")
_ON_WINDOWS: Final = re.compile(r"[A-Za-z]:[\\/]|\\\\")


@dataclass(frozen=True, slots=True)
class Request:
    """What is asked for.

    ``kinds``: what is done, in words of ACP: what the agent says, and what can be seen; empty
    where nothing is known. ``name``: of the tool, ``title`` of the call. ``mode``: of the
    session, by its id and its name. ``paths``: all files named, as they were named, but
    absolute; ``changed``: those of which a change is shown. ``cwd``: where a command is run.
    ``on_windows``: by a shell of Windows. ``whole``: all of it was found and looked through.
    ``digest`` tells it from any other.
    """

    agent: str
    kinds: frozenset[str] = frozenset()
    name: str | None = None
    title: str | None = None
    mode: tuple[str, ...] = ()
    paths: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    commands: tuple[Command, ...] = ()
    cwd: str = ""
    on_windows: bool = False
    whole: bool = True
    digest: str = ""

    @property
    def tool(self) -> str | None:
        """What tells the tool: its name, else the title of the call."""
        return self.name or self.title

    @property
    def kind(self) -> str | None:
        """The one kind, where there is just one."""
        return next(iter(self.kinds)) if len(self.kinds) == 1 else None


def request_of(
    session: Session,
    subject: Subject,
    call: ToolCall | None,
    said: tuple[str | None, ...],
    path_map: tuple[tuple[str, str], ...] = (),
) -> Request:
    """What a question of the session's agent is about; ``said``: its other words. ``path_map``:
    folders as the editor calls them, with what the agent calls them in a tool's arguments.
    """
    arguments = None if call is None else call.raw_input
    found = _Found(session.cwd, arguments, path_map)
    kinds: set[str] = set()
    if isinstance(subject, AboutCommand):
        found.cwd = subject.cwd or found.cwd
        found.on_windows |= _ON_WINDOWS.match(found.cwd) is not None
        found.commands.append(split(subject.command, windows=found.on_windows))
    if call is not None:
        found.take_content(call)
        if call.kind != "other":
            kinds.add(call.kind)
    commands = tuple(dict.fromkeys(found.commands))
    changed = tuple(dict.fromkeys(found.changed))
    if commands:
        kinds.add("execute")
    if changed and not kinds & CHANGING:
        kinds.add("edit")
    if call is not None and not kinds:
        kinds.add("other")
    paths = tuple(dict.fromkeys((*changed, *found.paths)))
    return Request(
        session.agent,
        frozenset(kinds),
        None if call is None else call.name or None,
        None if call is None else call.title or None,
        _mode(session),
        paths[:PATHS_LIMIT],
        changed[:PATHS_LIMIT],
        commands,
        found.cwd,
        found.on_windows,
        found.whole and len(paths) <= PATHS_LIMIT,
        _digest((*said, _plain(subject), arguments)),
    )


def _mode(session: Session) -> tuple[str, ...]:
    for option in session.options:
        if "mode" in {option.category, option.option} and isinstance(option.value, str):
            names = (x.name for x in option.choices if x.value == option.value)
            return option.value, *names
    return ()


def _plain(subject: Subject) -> Any:
    match subject:
        case AboutCommand(command, cwd):
            return [command, cwd]
        case AboutToolCall() | None:
            # The id of a tool call is another one each time.
            return None
        case _:
            return subject.payload


def _digest(value: Any) -> str:
    try:
        text = json.dumps(value, sort_keys=True, default=repr)
    except (TypeError, ValueError, RecursionError):
        text = repr(value)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


class _Found:
    """What a tool call says of files and commands."""

    def __init__(self, cwd: str, arguments: Any, path_map: tuple[tuple[str, str], ...]) -> None:
        self.cwd = cwd
        # The longest folder first, in which others may lie.
        self._moves = sorted(
            ((slashed(theirs).rstrip("/"), ours) for ours, theirs in path_map),
            key=lambda pair: -len(pair[0]),
        )
        folders = (cwd, *(theirs for _, theirs in path_map))
        self.on_windows = any(map(_ON_WINDOWS.match, folders))
        self.whole = True
        self.paths: list[str] = []
        self.changed: list[str] = []
        self.commands: list[Command] = []
        self._base = cwd
        if isinstance(arguments, dict):
            folder = next((x for key, x in arguments.items() if _bare(key) in _FOLDER), None)
            if isinstance(folder, str) and folder:
                self.cwd = self._moved(self._absolute(folder))
                self.on_windows |= _ON_WINDOWS.match(folder) is not None
            self.commands += _commands(arguments, windows=self.on_windows)
            if self.commands and any(map(_changes_command, arguments, arguments.values())):
                self.whole = False
        self._arguments(arguments, None, 0)

    def take_content(self, call: ToolCall) -> None:
        for item in call.content:
            match item:
                case Fragment(path):
                    self._add(self.changed, path)
                case Patch(changes, files):
                    for change in changes:
                        self._add(self.changed, change.path)
                        self._add(self.changed, change.old_path)
                    for file in files:
                        self._add(self.changed, file.new_path)
                        self._add(self.changed, file.old_path)
                case _:
                    pass
        for location in call.locations:
            self._add(self.paths, location.path)

    def _arguments(self, value: Any, key: str | None, depth: int) -> None:
        if depth > _DEPTH_LIMIT:
            self.whole = False
        elif isinstance(value, dict):
            for name, below in value.items():
                self._arguments(below, str(name), depth + 1)
        elif isinstance(value, list):
            for below in value[: PATHS_LIMIT + 1]:
                self._arguments(below, key, depth + 1)
            self.whole &= len(value) <= PATHS_LIMIT
        elif isinstance(value, str) and key is not None and _is_path(key, value):
            self._add(self.paths, self._moved(value))

    def _moved(self, path: str) -> str:
        """What the editor calls a path that an agent with a map of paths named."""
        plain = slashed(path)
        for theirs, ours in self._moves:
            if plain == theirs or plain.startswith(f"{theirs}/"):
                return ours.rstrip("/\\") + plain[len(theirs) :]
        return path

    def _add(self, to: list[str], path: str | None) -> None:
        if not path:
            return
        if len(path) > _LENGTH_LIMIT or not path.isprintable():
            self.whole = False
            return
        to.append(self._absolute(path))

    def _absolute(self, path: str) -> str:
        if path.startswith("file:"):
            path = uris.to_path(path) or path
        if is_absolute(path):
            return path
        return posixpath.normpath(f"{slashed(self._base).rstrip('/')}/{slashed(path)}")


def _commands(arguments: dict[str, Any], *, windows: bool) -> Iterator[Command]:
    more = next((arguments[key] for key in ("args", "arguments") if key in arguments), None)
    for key, value in arguments.items():
        if _bare(key) not in _COMMAND:
            continue
        words = [value] if isinstance(value, str) else value
        if isinstance(words, list) and words and all(isinstance(word, str) for word in words):
            if isinstance(more, list) and all(isinstance(word, str) for word in more):
                words = [*words, *more]
            elif isinstance(more, str) and more:
                words = [f"{' '.join(words)} {more}"]
            if len(words) == 1:
                yield split(words[0], windows=windows)
            else:
                yield of_words(tuple(words), windows=windows)


def _changes_command(key: str, value: Any) -> bool:
    name = _bare(key)
    if name not in _BESIDES or value in (None, "", {}, []):
        return False
    known = isinstance(value, bool) or (isinstance(value, str) and _SHELLS.fullmatch(value))
    return not (name == "shell" and known)


def _bare(key: object) -> str:
    return str(key).replace("_", "").replace("-", "").lower()


def _is_path(key: str, value: str) -> bool:
    words = [word.lower().removesuffix("s") for word in _WORD.findall(key)]
    last = {*words[-1:], "".join(words[-2:])}
    clear = is_absolute(value) or value.startswith("file:")
    return bool(last & _PATH) or bool(last & _MAYBE_PATH and clear and value.isprintable())
