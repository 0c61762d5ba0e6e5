"""What recorded agents did to files, read from their lines as plainly as can be.

A recording holds what was said, not what was written: the files as they were are those of the
folders in which the recordings were made, and what an agent wrote by itself follows from its
tool calls. It is taken to have been written as late as can be, just before the agent says so.

Nothing of acpls is used for it, so that it can tell when acpls sees something else.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Final

from recorded import Line

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from recorded import Remark

    Lines = Sequence[Line | Remark]
    Json = dict[str, Any]

PROJECT: Final = "/home/user/project"

_HELLO: Final = """\
import sys


def greet(name):
    # é non-ASCII before the edit: 日本語 🎉
    return "Hello, " + name


def main():
    print(greet(sys.argv[1]))


if __name__ == "__main__":
    main()
"""
# What the agents found that came from npm, and what the others found.
_NPM: Final = {"claude", "gemini", "opencode"}
_THEIRS: Final = {
    "hello.py": _HELLO,
    "README.md": "# Project\n\nA small project.\n",
    "src/util.py": "def add(a, b):\n    return a + b\n",
    "crlf.txt": "one\r\ntwo\r\nthree\r\n",
}
_OTHERS: Final = {
    "calc.py": "def add(a, b):\n    return a + b\n\n\ndef sub(a, b):\n    return a - b\n",
    "README.md": "# demo\n",
}
# It writes a file by itself, and has the client write the same.
TWICE: Final = "opencode/"
# This one's edit stands in its own code, and nowhere in what it says.
_UNSAID: Final = {"dual/": ("return a + b", "return a + b + 0  # edited: naïve ✓ 😀")}

_PATHS: Final = ("file_path", "filePath", "path", "file")
_OLDS: Final = ("old_string", "oldString", "old_text", "oldText")
_NEWS: Final = ("new_string", "newString", "new_text", "newText", "content")
_COMMAND: Final = re.compile(r"\becho (\w\S*) > (\w[\w.]*)|\btouch (\w+)")
_UNDER_WAY: Final = {"pending", "in_progress"}


def files_of(name: str) -> dict[str, str]:
    """The files of the folder before a recording was made, by path."""
    files = _THEIRS if name.split("/", maxsplit=1)[0] in _NPM else _OTHERS
    return {f"{PROJECT}/{file}": text for file, text in files.items()}


@dataclass(frozen=True, slots=True)
class Deed:
    """A file is changed just before the line ``at`` is said, by a tool call of a session.

    ``old`` is the piece that ``new`` takes the place of; ``None``: it is the whole file.
    ``asked``: the client is to write it, which it does when it takes the line in. ``named``:
    the tool call says that it changes this file, which a command does not.
    """

    at: int
    session: str
    call: str
    path: str
    old: str | None
    new: str
    asked: bool = False
    named: bool = True

    def done(self, files: dict[str, str]) -> str:
        """What the file holds then."""
        if self.old is None:
            return self.new
        assert files[self.path].count(self.old) == 1
        return files[self.path].replace(self.old, self.new)


def deeds(name: str, lines: Lines, *, first: bool = False) -> list[Deed]:
    """What the agent of a recording did, in the order in which it was done.

    ``first``: what it has the client write as well it has written by itself before that.
    """
    calls = _calls(lines)
    asked = list(_asked(calls, lines))
    own: list[Deed] = []
    for call in calls.values():
        moment = call.moment()
        if moment is None:
            continue
        through = [deed for deed in asked if deed.call == call.id]
        if not through:
            named = call.command is None and call.kind == "edit"
            own += (
                Deed(moment, call.session, call.id, path, old, new, named=named)
                for path, old, new in call.meant(name)
            )
        elif name.startswith(TWICE):
            own += (replace(deed, at=deed.at if first else moment, asked=False) for deed in through)
    return sorted([*asked, *own], key=lambda deed: (deed.at, deed.asked))


def refused(lines: Lines) -> list[str]:
    """The tool calls that the user did not allow."""
    return [call.id for call in _calls(lines).values() if call.allowed is False]


def shown(lines: Lines) -> list[str]:
    """The tool calls that the user was asked about, and that have a diff."""
    calls = _calls(lines).values()
    return [call.id for call in calls if call.asked_at is not None and call.has_diff]


# --- what a tool call says -----------------------------------------------------------------


@dataclass(slots=True)
class _Call:
    """A tool call as it was told of: ``told`` has a line and a status for each time.

    ``asked_at`` is the line of the user's answer, where there was a question; ``updated``: it
    was told of by itself, and not by a question only.
    """

    id: str
    session: str
    kind: str = ""
    title: str = ""
    raw: Json = field(default_factory=dict)
    diff: Json = field(default_factory=dict)
    has_diff: bool = False
    told: list[tuple[int, str | None]] = field(default_factory=list)
    asked_at: int | None = None
    allowed: bool | None = None
    updated: bool = False

    @property
    def status(self) -> str | None:
        return next((status for _, status in reversed(self.told) if status), None)

    @property
    def command(self) -> str | None:
        if self.kind == "edit":
            return None
        command: str | None = self.raw.get("command")
        return command or self.title if self.kind == "execute" else command

    def learn(self, at: int, it: Json) -> None:
        """Take in what a message says of it."""
        self.kind = it.get("kind") or self.kind
        self.title = it.get("title") or self.title
        self.raw.update(it.get("rawInput") or {})
        content = it.get("content")
        for item in content if isinstance(content, list) else ():
            self.has_diff |= item.get("type") == "diff"
            if self.has_diff and "newText" in item and not self.diff:
                self.diff = item
        self.told.append((at, it.get("status")))

    def moment(self) -> int | None:
        """The line before which it was done, at the latest; ``None``: it was not."""
        if self.allowed is False or (self.status == "failed" and self.command is None):
            return None
        since = self.told[0][0] if self.asked_at is None else self.asked_at
        for at, status in self.told:
            if at > since and status not in _UNDER_WAY:
                return at
        # Some never end what they were allowed to do; others had another name for it.
        return self.asked_at + 1 if self.asked_at is not None and self.updated else None

    def meant(self, name: str) -> Iterator[tuple[str, str | None, str]]:
        """The files that it is to change, and how."""
        if self.command is not None:
            for said, to, touched in _COMMAND.findall(self.command):
                yield f"{PROJECT}/{to or touched}", None, f"{said}\n" if to else ""
            return
        if self.kind in {"read", "search"}:
            return
        path = _first(self.raw, _PATHS)
        inner = self.raw.get("content")
        raw = inner if isinstance(inner, dict) else self.raw
        unsaid = next((edit for agent, edit in _UNSAID.items() if name.startswith(agent)), None)
        for piece in raw.get("edits") or [raw]:
            old, new = _first(piece, _OLDS), _first(piece, _NEWS)
            if path and isinstance(new, str):
                yield path, old, new
            elif self.diff:
                yield self.diff["path"], self.diff.get("oldText") or None, self.diff["newText"]
            elif path and unsaid:
                yield path, *unsaid


def _first(raw: Json, keys: Sequence[str]) -> Any:
    return next((raw[key] for key in keys if key in raw), None)


# --- what was said -------------------------------------------------------------------------


def _calls(lines: Lines) -> dict[str, _Call]:
    calls: dict[str, _Call] = {}
    for at, message in _messages(lines, "in"):
        params = message.get("params") or {}
        match message.get("method"):
            case "session/update" if "toolCallId" in params["update"]:
                it = params["update"]
                call = calls.setdefault(
                    it["toolCallId"], _Call(it["toolCallId"], params["sessionId"])
                )
                call.learn(at, it)
                call.updated = True
            case "session/request_permission":
                asked = _asked_about(calls, at, params)
                answer, option = _answer(lines, at, message["id"])
                if asked is not None and answer is not None:
                    kinds = {o["optionId"]: o["kind"] for o in params["options"]}
                    asked.asked_at = answer
                    asked.allowed = kinds.get(option, "reject").startswith("allow")
            case _:
                pass
    return calls


def _asked_about(calls: dict[str, _Call], at: int, params: Json) -> _Call | None:
    """The tool call that a question is about; some questions are the first word of it."""
    it = params.get("toolCall") or params["subject"]["toolCall"]
    name = it["toolCallId"]
    if name not in calls and not ("content" in it or "kind" in it):
        # It has an id that nothing else has; those before it were asked about.
        return next((call for call in calls.values() if call.asked_at is None), None)
    call = calls.setdefault(name, _Call(name, params["sessionId"]))
    call.learn(at, it)
    return call


def _asked(calls: dict[str, _Call], lines: Lines) -> Iterator[Deed]:
    """What the client was asked to write, by the tool call that was allowed to last."""
    for at, message in _messages(lines, "in"):
        if message.get("method") == "fs/write_text_file":
            it = message["params"]
            allowed = [
                (call.asked_at, call.id)
                for call in calls.values()
                if call.asked_at is not None and call.asked_at < at
                if it["path"] in (_first(call.raw, _PATHS), call.diff.get("path"))
            ]
            _, call = max(allowed)
            yield Deed(at, it["sessionId"], call, it["path"], None, it["content"], asked=True)


def _answer(lines: Lines, after: int, request: object) -> tuple[int | None, str]:
    """Where the client answered a question, and with which option."""
    for at, message in _messages(lines, "out"):
        if at > after and "method" not in message and message.get("id") == request:
            outcome = (message.get("result") or {}).get("outcome", {})
            return at, outcome.get("optionId", "")
    return None, ""


def _messages(lines: Lines, direction: str) -> Iterator[tuple[int, Json]]:
    for at, line in enumerate(lines):
        if isinstance(line, Line) and line.direction == direction and line.message is not None:
            yield at, line.message
