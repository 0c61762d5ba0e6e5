"""Plays a recording into the hub, over a disk and an editor that hold the agent's project.

What the recording client asked and answered the user asks and answers here; what it read and
wrote the hub reads and writes. An agent that is given another text than the recorded one, since
there are unsaved lines in it, makes the same edit in that.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass, field, fields, replace
from difflib import SequenceMatcher
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import anyio
from deeds import PROJECT, Deed, deeds, files_of
from player import play
from recorded import Line

from acpls import events as ev
from acpls.session import asks
from acpls.session import updates as up
from acpls.session.content import UNSET, Fragment
from acpls.text.size import reason_not_shown

# The scene is that of the hub's own tests.
sys.path.append(str(Path(__file__).parents[1] / "hub"))

from scene import AGENT, ROOT, Scene

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from player import Process, Step

UNSAVED: Final = "# unsaved line in the editor\n"

# What goes and what comes, in which session and by which tool call.
Hunk: TypeAlias = tuple[str, str, str, str | None]


@cache
def process_of(name: str) -> Process:
    """What comes of the lines of a recording. Nothing of it changes when it is played."""
    (process,) = anyio.run(play, name)
    return process


@dataclass
class Project(Scene):
    """A scene in the agent's folder. Not ``keeps``: that a file has changed is known, and not
    what it held.
    """

    keeps: bool = True

    def _told(self, disk: ev.Disk) -> ev.Earlier:
        earlier = super()._told(disk)
        had_text = earlier.disk is not None and not earlier.disk.is_missing
        return ev.Earlier("lost") if had_text and not self.keeps else earlier

    def look(self, path: str, roots: Iterable[str] = (PROJECT,)) -> ev.Disk:
        return super().look(path, [root for root in roots if root != ROOT])


@dataclass
class Workplace:
    """A recording that was played; its agent is still there, and the turn over.

    How it was: ``walks``, the files were looked at when a turn started and ended; ``keeps``,
    what they held is known; ``watched``, changes on disk were noticed at once; ``late``, tool
    calls were told of once, when they were finished. ``first``: an agent that writes twice
    did so by itself first. ``shown``: the documents that were open, with their text; ``saves``:
    the editor saves when it is asked to. ``writes``: how questions about writes were answered.
    """

    name: str
    walks: bool = True
    keeps: bool = True
    watched: bool = False
    late: bool = False
    first: bool = False
    shown: Mapping[str, str] = field(default_factory=dict)
    saves: bool = False
    writes: str = "merge"

    def __post_init__(self) -> None:
        self.process = process_of(self.name)
        lines = [step.line for step in self.process.steps]
        self.before = files_of(self.name)
        self.deeds = deeds(self.name, lines, first=self.first)
        # What the files hold as far as the recording tells, and how they came to it.
        self.after = dict(self.before)
        self.done: list[tuple[Deed, str | None, str]] = []
        # The questions about writes, and the tool calls that proposed something when the
        # agent asked about them.
        self.questions: list[str] = []
        self.proposed: set[str] = set()
        self._read: dict[object, str] = {}
        self._given: dict[str, str] = {}
        self._asks: dict[int, int] = {}
        self._untold: dict[str, up.ToolCallPatched] = {}
        self.scene = self._scene()
        for at, step in enumerate(self.process.steps):
            self._play(at, step)
        self.scene.settles()

    def _scene(self) -> Project:
        assert self.process.facts is not None
        ready = ev.EditorReady((PROJECT,), questions=True, save=self.saves)
        scene = Project(ready=ready, facts=self.process.facts, walks=self.walks, keeps=self.keeps)
        scene.disk.update(self.before)
        for path, text in self.shown.items():
            uri = scene.buffer(path)
            if text != self.before[path]:
                scene.shows(uri, text)
        return scene

    # --- a step -----------------------------------------------------------------------

    def _play(self, at: int, step: Step) -> None:
        due = [deed for deed in self.deeds if deed.at == at]
        for deed in due:
            if not deed.asked:
                self.scene.puts(deed.path, self._note(deed))
                if self.watched:
                    self.scene.notices(deed.path)
        line = step.line
        if isinstance(line, Line) and line.direction == "out" and line.message is not None:
            self._says(step, line.message)
        for event in step.events:
            self._hears(event, next((deed for deed in due if deed.asked), None))

    def _note(self, deed: Deed) -> str:
        """Take note of what a file is to hold now."""
        old, new = self.after.get(deed.path), replace(deed, new=self._now(deed.new))
        self.after[deed.path] = text = new.done(self.after)
        self.done.append((deed, old, text))
        return text

    def _now(self, text: str) -> str:
        """The text that stands in place of a recorded one."""
        return self._given.get(text, text)

    # --- what the client says -----------------------------------------------------------

    def _says(self, step: Step, message: dict[str, Any]) -> None:
        scene, params = self.scene, message.get("params") or {}
        match message.get("method"):
            case "session/new":
                scene.command("session.new", agent=AGENT, cwd=params["cwd"])
                if scene.state.agent(AGENT).state == "starting":
                    scene.is_ready()
                self._asked(step, asks.NewSession)
            case "session/prompt":
                text = "".join(block.get("text", "") for block in params["prompt"])
                scene.result("session.prompt", session=self.key(params["sessionId"]), text=text)
                self._asked(step, asks.Prompt)
            case None if step.deed == "answered session/request_permission":
                question = scene.state.questions.asked_as(AGENT, message["id"])
                if question is None:
                    # The user said "always" before, which this client remembers.
                    (by,) = (
                        q.by
                        for q in scene.state.questions.all.values()
                        if q.request == message["id"]
                    )
                    assert by == "rule"
                    return
                option = message["result"]["outcome"]["optionId"]
                scene.result("question.answer", question=question.key, option=option)
            case None if step.deed == "answered fs/read_text_file" and "result" in message:
                self._was_given(message["id"], message["result"]["content"])
            case _:
                pass

    def _asked(self, step: Step, kind: type[asks.Ask]) -> None:
        number = int(step.deed.removeprefix("ask "))
        self._asks[number] = self.scene.number(kind)

    def _was_given(self, request: object, recorded: str) -> None:
        """Where the agent was given more than was recorded, its edits have that as well."""
        given = self._read.get(request, recorded)
        if given == UNSAVED + recorded:
            self._given[recorded] = given
            self._given.update((x.new, UNSAVED + x.new) for x in self.deeds if x.asked)

    # --- what the agent says ------------------------------------------------------------

    def _hears(self, event: ev.Event, write: Deed | None) -> None:
        scene = self.scene
        match event:
            case ev.Replied(ask=number) | ev.AskFailed(ask=number):
                if number in self._asks:
                    scene.give(replace(event, agent=AGENT, ask=self._asks[number]))
            case ev.FileReadAsked(request=request):
                scene.give(replace(event, agent=AGENT))
                (answer,) = scene.answers(request)
                if isinstance(answer, asks.FileText):
                    self._read[request] = answer.text
            case ev.FileWriteAsked(request=request, text=text):
                assert write is not None
                assert write.new == text
                scene.give(replace(event, agent=AGENT, text=self._now(text)))
                self._answers_about_write()
                if scene.answers(request) == [asks.Done()]:
                    self._note(write)
            case ev.SessionTold(update=up.ToolCallPatched() as update):
                self._is_told(event, update)
            case ev.QuestionAsked():
                scene.give(replace(event, agent=AGENT))
                authors = (author for author, _ in scene.state.ledger.proposals)
                self.proposed |= {author.tool_call or "" for author in authors}
            case ev.SessionTold() | ev.Notified():
                scene.give(replace(event, agent=AGENT))
            case _:
                raise AssertionError(f"nothing is done with {event}")

    def _answers_about_write(self) -> None:
        for question in self.scene.state.questions.pending():
            if question.kind == "write":
                self.questions.append(question.title)
                self.scene.result("question.answer", question=question.key, option=self.writes)

    def _is_told(self, event: ev.SessionTold, update: up.ToolCallPatched) -> None:
        if isinstance(update.content, tuple):
            content = tuple(
                replace(x, old=self._now(x.old), new=self._now(x.new))
                if isinstance(x, Fragment) and x.old is not None
                else x
                for x in update.content
            )
            update = replace(update, content=content)
        if self.late:
            values = ((x.name, getattr(update, x.name)) for x in fields(update))
            news = {name: value for name, value in values if value is not UNSET}
            update = replace(self._untold.get(update.tool_call, update), **news)
            self._untold[update.tool_call] = update
        if not self.late or update.status in {"completed", "failed"}:
            self.scene.give(replace(event, agent=AGENT, update=update))

    # --- afterwards -----------------------------------------------------------------------

    def key(self, native: str) -> str:
        """Our key of a session."""
        session = self.scene.state.session_of(AGENT, native)
        assert session is not None
        return session.key

    def changed(self) -> list[str]:
        """The files that hold something else than before, in order."""
        paths = {*self.before, *self.after}
        return sorted(p for p in paths if self.before.get(p) != self.after.get(p))

    def expected(self, path: str) -> list[Hunk]:
        """The hunks that a file is to have, and whose they are."""
        whose = {
            edit: (self.key(deed.session), deed.call if self._says_it(deed) else None)
            for deed, old, new in reversed(self.done)
            if deed.path == path
            for edit in between(old, new)
        }
        return [(*e, *whose[e]) for e in between(self.before.get(path), self.after[path])]

    def _says_it(self, deed: Deed) -> bool:
        session = self.scene.state.session_of(AGENT, deed.session)
        return deed.named and session is not None and session.tool_call(deed.call) is not None

    def hunks(self, path: str) -> list[Hunk]:
        """The hunks that a file has in the ledger."""
        return [
            ("".join(x.hunk.old), "".join(x.hunk.new), x.author.session, x.author.tool_call)
            for x in self.scene.pending(path)
        ]

    def verdict(self, verdict: str, **arguments: Any) -> list[dict[str, str]]:
        """The user keeps or rejects; what it could not be carried out on."""
        ticket = self.scene.command(f"review.{verdict}", **arguments)
        self.scene.settles()
        self.scene.is_over()
        left: list[dict[str, str]] = self.scene.reply(ticket)["left"]
        return left


def between(old: str | None, new: str | None) -> list[tuple[str, str]]:
    """What goes and what comes, hunk by hunk; one without lines where none can be shown."""
    if old == new:
        return []
    if reason_not_shown(new or "") is not None or not (old or new):
        return [("", "")]
    one, other = ((text or "").splitlines(keepends=True) for text in (old, new))
    codes = SequenceMatcher(None, one, other, autojunk=False).get_opcodes()
    return [("".join(one[a:b]), "".join(other[c:d])) for tag, a, b, c, d in codes if tag != "equal"]
