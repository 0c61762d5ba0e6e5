"""What the demo agent can do, and how it finds that out from plain words."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from acpls.demo import edits, shell, survey
from acpls.demo.files import Sorry
from acpls.demo.terms import Command, Option, Place, Question, Step, Text
from acpls.demo.words import file_word, tokens, verb

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from acpls.demo.turn import Turn

_TALK_PAUSE_S = 0.04
_TALK_WORDS = 120
_TALK_LONGEST = 1500
"""Words of the longest talk: a minute at 25 words a second."""

_STEP_PAUSE_S = 0.4
_PARTS = 8
"""Parts of a file that are explained one by one."""

_TALE = (
    "A good cup of tea begins with fresh water.",
    "Green leaves like it at eighty degrees; black leaves want it boiling.",
    "Warm the pot first, for a cold pot steals the heat.",
    "One spoon for each cup is plenty, and none for the pot.",
    "Then wait, which is the hardest part.",
    "Two minutes wake you up, five minutes calm you down.",
    "Take out the leaves before the tea grows bitter.",
    "Share it, and it tastes better.",
)


@dataclass(frozen=True, slots=True)
class Work:
    """Something that can be asked for; ``phrases`` are further words for it."""

    name: str
    hint: str
    summary: str
    run: Callable[[Turn, str], None]
    phrases: tuple[str, ...] = ()


def perform(turn: Turn) -> None:
    """Do what the words of the prompt ask for, or say kindly what can be done."""
    known = {phrase: work.name for work in WORKS for phrase in (work.name, *work.phrases)}
    found = verb(turn.words, known)
    if found is None:
        turn.say("I am only a small demonstration, and that is beyond me. But I can do this:")
        turn.say(_listing())
        return
    next(work for work in WORKS if work.name == found[0]).run(turn, found[1])


def commands() -> list[Command]:
    """The works as slash commands."""
    return [Command(work.name, work.summary, work.hint) for work in WORKS]


def _listing() -> str:
    return "\n".join(f"- `{f'{work.name} {work.hint}'.strip()}`: {work.summary}." for work in WORKS)


def _help(turn: Turn, rest: str) -> None:
    del rest
    turn.say("I work on the files of this folder, without any model. Ask me for one of these:")
    turn.say(_listing())


def _explain(turn: Turn, rest: str) -> None:
    path = _meant(turn, rest)
    shown = turn.workspace.shown(path)
    turn.think(f"I read `{shown}` before I say anything about it.")
    call = turn.begin(f"Read {shown}", "read", places=[Place(path, 1)])
    text = turn.read(path)
    turn.call(call.id, status="completed", content=[Text(text)])
    parts = _parts(path, text)
    length = len(text.splitlines())
    size = f"{length} line" if length == 1 else f"{length} lines"
    few = f" Here are the first {_PARTS} parts:" if len(parts) > _PARTS else ""
    turn.say(f"`{shown}` has {size}." + (few or " Part by part:" if parts else ""))
    for line, name, sentence in parts[:_PARTS]:
        call = turn.begin(f"Look at {name}", "read", places=[Place(path, line)])
        turn.call(call.id, status="completed")
        turn.say(f"`{shown}:{line}` {sentence}.")


def _meant(turn: Turn, rest: str) -> Path:
    for word in map(file_word, tokens(rest)):
        if "." in word or "/" in word:
            return turn.workspace.existing(word)
    if turn.attached:
        return turn.attached[0]
    names = {path.name.casefold(): path for path in turn.workspace.files()}
    for word in map(file_word, tokens(rest)):
        if word.casefold() in names:
            return names[word.casefold()]
    raise Sorry("Tell me which file, like this: `explain README.md`.")


def _parts(path: Path, text: str) -> list[tuple[int, str, str]]:
    """One-based line, name and a sentence for each part of a file that has a name."""
    found = []
    for number, line in enumerate(text.splitlines(), start=1):
        code = re.match(r"\s*(?:async\s+)?(def|class)\s+(\w+)\s*(?:\(([^)]*)\))?", line)
        heading = re.match(r"#+\s+(.+?)\s*\Z", line)
        if path.suffix == ".py" and code:
            takes = [one.split("=")[0].split(":")[0].strip() for one in (code[3] or "").split(",")]
            listed = ", ".join(f"`{one}`" for one in takes if one)
            if code[1] == "class":
                sentence = f"defines the class `{code[2]}`"
            else:
                sentence = f"defines the function `{code[2]}`, which takes {listed or 'nothing'}"
            found.append((number, code[2], sentence))
        elif path.suffix == ".md" and heading:
            found.append((number, heading[1], f'begins the part "{heading[1]}"'))
    return found


def _plan(turn: Turn, rest: str) -> None:
    topic = re.sub(r"\s+", " ", rest).rstrip(".!?") or "the work"
    names = (
        ("Look at what is here", "high", "search"),
        (f"Think about {topic}", "high", "think"),
        ("Divide it into small steps", "medium", "think"),
        ("Look back at the plan", "low", "think"),
    )
    plan = turn.session.count("plan")
    turn.say("I make a plan and work it off.")
    for current in range(len(names) + 1):
        steps = [
            Step(name, "completed" if n < current else "pending", priority)
            for n, (name, priority, _) in enumerate(names)
        ]
        if current < len(names):
            name, priority, kind = names[current]
            steps[current] = Step(name, "in_progress", priority)
        turn.plan(plan, steps)
        if current < len(names):
            call = turn.begin(name, kind)
            turn.pause(_STEP_PAUSE_S)
            count = f"{len(turn.workspace.files())} files" if kind == "search" else "Done"
            turn.call(call.id, status="completed", content=[Text(count)])
    turn.say(f"That was the plan for {topic}: four steps, all done.")


def _talk(turn: Turn, rest: str) -> None:
    number = re.search(r"(\d+)\s+words?", rest)
    long = re.search(r"at length|long", rest, re.IGNORECASE)
    amount = int(number[1]) if number else _TALK_LONGEST if long else _TALK_WORDS
    words = " ".join(_TALE).split(" ")
    text = ""
    for n in range(min(amount, _TALK_LONGEST)):
        gap = "" if n == 0 else "\n\n" if n % len(words) == 0 else " "
        text += gap + words[n % len(words)]
    turn.say(text, _TALK_PAUSE_S, size=1)


def _ask(turn: Turn, rest: str) -> None:
    del rest
    tea = _chosen(
        turn,
        "Which tea would you like?",
        Option("sencha", "Sencha, please", "allow_once"),
        Option("assam", "A strong Assam", "allow_once"),
        Option("none", "No tea, thanks", "reject_once"),
    )
    if tea is None:
        return
    turn.say(f"{tea.name}: a good choice.")
    size = _chosen(
        turn,
        "How much of it?",
        Option("cup", "Just a cup", "allow_once"),
        Option("pot", "A whole pot, always", "allow_always"),
        Option("later", "Rather later", "reject_once"),
        Option("never", "Never ask me again", "reject_always"),
    )
    if size is not None:
        turn.say(f"You chose `{tea.id}` and `{size.id}`: {tea.name}; {size.name}.")


def _chosen(turn: Turn, title: str, *options: Option) -> Option | None:
    # Version 1 can ask about a tool call only; version 2 asks without any.
    call = turn.begin(title, "other", status="pending") if turn.version.number == 1 else None
    chosen = turn.ask(Question(title, options, call=call, description="Only out of curiosity."))
    if call:
        turn.call(call.id, status="failed" if chosen is None or chosen.rejects else "completed")
    if chosen is None:
        turn.say("You closed the question, so I stop asking.")
        return None
    if chosen.rejects:
        turn.say(f"{chosen.name}: that is fine, I stop asking.")
        return None
    return chosen


def _slow(turn: Turn, rest: str) -> None:
    del rest
    ended: list[str] = []

    def cancel() -> None:
        ended.append("cancelled")
        turn.wake()

    turn.say("This takes as long as you let it.")
    call = turn.begin("Watch the kettle", "other", cancel=cancel)
    turn.wait(lambda: bool(ended))
    turn.call(call.id, status="cancelled")
    turn.say("You took the kettle off, so I stop watching it.")


WORKS = (
    Work("help", "", "Lists what I can do", _help),
    Work("explain", "FILE", "Reads a file and explains its parts", _explain),
    Work("plan", "WHAT", "Makes a plan and works it off", _plan),
    Work("rename", "OLD to NEW", "Renames an identifier in all text files", edits.rename),
    Work(
        "document",
        "FILE",
        "Adds docstrings to a Python file (or: add docstring to FUNCTION in FILE)",
        edits.document,
        ("add docstring", "add docstrings", "add a docstring", "docstring", "docstrings"),
    ),
    Work("create", "FILE with TEXT", "Creates a text file", edits.create),
    Work("move", "A to B", "Moves a file", edits.move),
    Work("delete", "FILE", "Deletes a file, and asks first", edits.delete),
    Work("run", "COMMAND", "Runs a program (no shell), and asks first", shell.run),
    Work("talk", "N words", "Talks about tea; at length, if you wish", _talk),
    Work("ask", "", "Asks you two questions", _ask),
    Work("survey", "", "Has you fill in a form", survey.survey, ("form",)),
    Work("slow", "", "Does nothing until you cancel it", _slow),
)
