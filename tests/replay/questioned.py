"""Plays a recording into the hub, with a user who answers what the recording client answered.

What acpls never answers (an option that was not offered, an error, ``cancelled`` in the middle of
a turn) has another meaning here: the user stops the turn. The account says who asked what, what
the user is shown of it, and how each question came to its end.
"""

from __future__ import annotations

import json
import re
import sys
from dataclasses import dataclass, field, replace
from functools import cache
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import anyio
from deeds import PROJECT, files_of
from player import play
from recorded import FOLDER, Line, Remark, names, read
from telling import _short
from workplace import Project

from acpls import effects as ef
from acpls import events as ev
from acpls.session import asks
from acpls.session import updates as up

# The scene is that of the hub's own tests.
sys.path.append(str(Path(__file__).parents[1] / "hub"))

from scene import AGENT

if TYPE_CHECKING:
    from collections.abc import Iterator

    from player import Process, Step

    from acpls.questions import Question

_ASKING: Final = {"session/request_permission", "elicitation/create"}


def is_about_questions(name: str) -> bool:
    """Whether the agent asks the user something in this recording, or is cancelled."""
    methods = [x.message.get("method") for x in read(name) if isinstance(x, Line) and x.message]
    return bool({*_ASKING, "session/cancel"} & {*methods})


ABOUT_QUESTIONS: Final = [name for name in names() if is_about_questions(name)]
AGENTS: Final = {
    agent: [*recorded]
    for agent, recorded in groupby(ABOUT_QUESTIONS, key=lambda name: name.split("/", maxsplit=1)[0])
}


@dataclass
class Questioned:
    """A process of an agent, played to its end.

    ``told``: the account, line by line. ``asked``: the ids of its questions, in order.
    ``left_open``: the questions of a turn that were open after the turn had ended.
    ``at_the_end``: those that were open when the process ended. ``too_late``: answers after that.
    """

    name: str
    process: Process
    told: list[str] = field(default_factory=list)
    asked: list[Any] = field(default_factory=list)
    left_open: list[str] = field(default_factory=list)
    at_the_end: list[str] = field(default_factory=list)
    too_late: list[ef.SendAnswer] = field(default_factory=list)

    def __post_init__(self) -> None:
        assert self.process.facts is not None
        ready = ev.EditorReady((PROJECT,), questions=True)
        self.scene = Project(ready=ready, facts=self.process.facts)
        self.scene.disk.update(files_of(self.name))
        self._asks: dict[int, int] = {}
        self._seen = len(self.scene.seen)
        for step in self.process.steps:
            self._play(step)
            self._note()
        self.scene.settles()
        self._note()
        self.at_the_end = [question.key for question in self.scene.state.questions.pending()]
        if not any(isinstance(step.line, Remark) and step.line.ends for step in self.process.steps):
            self.told.append("the recording ends")
        told = len(self.scene.of(ef.SendAnswer))
        self.scene.dies()
        self._note()
        self.too_late = self.scene.of(ef.SendAnswer)[told:]

    def answers(self) -> list[Any]:
        """The ids of the questions that the agent was answered, in order."""
        return [x.request for x in self.scene.of(ef.SendAnswer) if x.request in self.asked]

    # --- a step ------------------------------------------------------------------------------

    def _play(self, step: Step) -> None:
        line = step.line
        if isinstance(line, Remark):
            self.told.append(line.text)
        elif line.direction == "out" and line.message is not None:
            self._says(step, line.message)
        for event in step.events:
            self._note()
            self._hears(event)

    def _says(self, step: Step, message: dict[str, Any]) -> None:
        scene, params = self.scene, message.get("params") or {}
        match message.get("method"):
            case "session/new" if step.deed.startswith("ask "):
                scene.command("session.new", agent=AGENT, cwd=params["cwd"])
                if scene.state.agent(AGENT).state == "starting":
                    scene.is_ready()
                self._sent(step, asks.NewSession)
            case "session/prompt" if (key := self._key(params.get("sessionId"))) is not None:
                if step.deed.startswith("ask "):
                    text = "".join(block.get("text", "") for block in params["prompt"]) or "…"
                    self.told.append(f"the user prompts {key}")
                    scene.result("session.prompt", session=key, text=text)
                    self._sent(step, asks.Prompt)
            case "session/cancel" if (key := self._key(params.get("sessionId"))) is not None:
                self.told.append(f"the user stops the turn of {key}")
                scene.result("session.cancel", session=key)
            case None:
                self._answers(message)
            case _:
                pass

    def _answers(self, message: dict[str, Any]) -> None:
        question = self.scene.state.questions.asked_as(AGENT, message["id"])
        if question is None:
            return
        outcome = (message.get("result") or {}).get("outcome", message)
        option = outcome.get("optionId")
        if option is not None and question.offers(option):
            self.told.append(f"the user answers {question.key}: {option}")
            arguments = {"question": question.key, "option": option}
            self.scene.result("question.answer", **arguments)
        else:
            given = json.dumps(outcome, ensure_ascii=False)
            self.told.append(f"the client answered {given}; here the user stops the turn")
            self.scene.result("session.cancel", session=question.session)

    def _sent(self, step: Step, kind: type[asks.Ask]) -> None:
        number = int(step.deed.removeprefix("ask "))
        self._asks[number] = self.scene.number(kind)

    def _key(self, native: object) -> str | None:
        session = self.scene.state.session_of(AGENT, str(native))
        return None if session is None else session.key

    # --- what the agent says ------------------------------------------------------------------

    def _hears(self, event: ev.Event) -> None:
        scene = self.scene
        match event:
            case ev.Replied(ask=number) | ev.AskFailed(ask=number):
                if number in self._asks:
                    scene.give(replace(event, agent=AGENT, ask=self._asks[number]))
            case ev.QuestionAsked(request=request):
                self.asked.append(request)
                before = {*scene.state.questions.all}
                scene.give(replace(event, agent=AGENT))
                for key in scene.state.questions.all.keys() - before:
                    self.told += self._asks_for(scene.state.questions.all[key])
            case ev.FileWriteAsked():
                scene.give(replace(event, agent=AGENT))
                for question in scene.state.questions.pending():
                    if question.kind == "write":
                        option = question.options[-2].option
                        scene.result("question.answer", question=question.key, option=option)
            case ev.SessionTold(session=native, update=up.TurnChanged(state="idle")):
                ours = self._key(native)
                busy = ours is not None and scene.state.sessions[ours].busy
                scene.give(replace(event, agent=AGENT))
                if ours is not None and busy:
                    self._ended(ours)
            case ev.SessionTold() | ev.Notified() | ev.FileReadAsked() | ev.RequestWithdrawn():
                scene.give(replace(event, agent=AGENT))
            case ev.AgentMisspoke():
                scene.give(replace(event, agent=AGENT))
            case _:
                raise AssertionError(f"nothing is done with {event}")

    def _ended(self, key: str) -> None:
        self._note()
        self.told.append(f"the turn of {key} ends: {self.scene.state.sessions[key].stop_reason}")
        pending = self.scene.state.questions.pending(key)
        self.left_open += [question.key for question in pending if question.foreground]

    # --- the account ----------------------------------------------------------------------------

    def _asks_for(self, question: Question) -> Iterator[str]:
        shapes = self.scene.result("question.list")
        # What was answered with "always" before is not asked again, and in no list.
        known = {"title": question.title}
        shape = next((x for x in shapes if x["question"] == question.key), known)
        busy = "" if question.foreground else ", outside of a turn"
        yield f"request {question.request!r} is {question.key} of {question.session}{busy}"
        for name, value in shape.items():
            match name, value:
                case (("question" | "session" | "agent" | "state"), _):
                    pass
                case "options", list():
                    for option in value:
                        yield f"    {option['option']} ({option['kind']}): {option['name']}"
                case _, list():
                    yield from (f"    {name}: {_short(item)}" for item in value)
                case _:
                    yield f"    {name}: {_short(value)}"

    def _note(self) -> None:
        """What came of it for the questions."""
        news = self.scene.seen[self._seen :]
        self._seen = len(self.scene.seen)
        for effect in news:
            match effect:
                case ef.QuestionSettled(key, by, option):
                    chosen = "" if option is None else f", {option}"
                    self.told.append(f"{key} is settled by {by}{chosen}")
                case ef.SendAnswer(_, request, answer) if request in self.asked:
                    self.told.append(f"request {request!r} is answered: {answer}")
                case _:
                    pass


def played(name: str) -> list[Questioned]:
    """All processes of a recording that came as far as to agree on a version."""
    return [Questioned(name, process) for process in _processes(name)]


@cache
def _processes(name: str) -> list[Process]:
    """What comes of the lines of a recording. Nothing of it changes when it is played."""
    return [process for process in anyio.run(play, name) if process.facts is not None]


def account(name: str) -> str:
    """The account of the questions of a recording."""
    lines = [f"## {name.split('/')[1]}", ""]
    for one in played(name):
        lines += [*one.told, ""]
    return "\n".join(lines).strip()


def accounts_file(agent: str) -> Path:
    """Where the accounts of an agent's recordings lie."""
    return FOLDER / agent / "questions.md"


def accounts(agent: str) -> str:
    """All accounts of an agent's recordings as they are now."""
    return "\n\n".join([f"# {agent}", *map(account, AGENTS[agent])]) + "\n"


def stored(name: str) -> str:
    """The account of a recording as it is kept."""
    agent, scenario = name.split("/")
    kept = accounts_file(agent).read_text("utf-8")
    found = re.search(rf"(?ms)^## {re.escape(scenario)}$.*?(?=^## |\Z)", kept)
    return "" if found is None else found[0].strip()
