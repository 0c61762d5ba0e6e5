"""Drives every agent that starts offline through our own server, once, and writes a table.

``survey.py NAME...`` or ``survey.py all`` installs what is missing, drives it and prints its
rows; ``--write`` also puts them into docs/agents.md; ``--list`` names the agents. Each is
started, told a prompt that it answers with words, told another to edit a file, and ended.

Invariant: a cell of the table is what was seen in a run, or says that there was none.
"""

from __future__ import annotations

import argparse
import datetime as dt
import sys
import tarfile
import tempfile
import time
import uuid
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import anyio
import install
from agents_real import NEW, OLD, TEXT, Stage, edit, kill, project, running, seated, text_of, until
from model_script import Say, Use
from model_server import ModelServer
from survey_agents import AGENTS
from survey_table import Row, merged

from acpls.testing.editor import IGNORED, CommandFailed

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from model_script import Script
    from survey_agents import Surveyed

PAGE = Path(__file__).parents[2] / "docs" / "agents.md"
# Seconds for the first answer of an agent, for a turn, and for all of it to end.
STARTING, TURN, ENDING = 150.0, 60.0, 20.0
WORDS = "The model says hello, in some words. "
ASIDES = IGNORED | {"acp/question/ask", "acp/question/settled", "window/showMessage"}


@dataclass(slots=True)
class Findings:
    """What is seen of an agent, as it comes."""

    protocol: str = "-"
    starts: str = "-"
    answered: str = "-"
    edits: str = "-"
    remarks: list[str] = field(default_factory=list)


def main() -> int:
    """Drive the agents that are named."""
    parser = argparse.ArgumentParser(description="Drive agents of other people, once each.")
    parser.add_argument("names", nargs="*", metavar="NAME", help="an agent, or all")
    parser.add_argument("--list", action="store_true", help="name the agents")
    parser.add_argument("--write", action="store_true", help="put the rows into docs/agents.md")
    asked = parser.parse_args()
    known = {agent.name: agent for agent in AGENTS}
    if asked.list:
        _say("\n".join(f"{agent.name:16} {agent.version}" for agent in AGENTS))
        return 0
    names = list(known) if asked.names == ["all"] else asked.names
    if unknown := [name for name in names if name not in known]:
        parser.error(f"no such agent: {', '.join(unknown)}; --list names them")
    rows = {}
    for name in names:
        rows[name] = row = surveyed(known[name])
        _say(row.line())
        if asked.write:  # after each, so that nothing is lost
            page = PAGE.read_text(encoding="utf-8")
            PAGE.write_text(merged(page, rows, AGENTS), encoding="utf-8")
    return 0


def surveyed(agent: Surveyed) -> Row:
    """Install the agent if need be, drive it, and say what was seen."""
    seen = Findings()
    try:
        if not agent.package.command():
            agent.package.install()
        command = [*(agent.package.command() or ()), *_arguments(agent)]
    except install.Missing as reason:
        seen.remarks.append(f"not run: {reason}")
    else:
        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
            anyio.run(_drive, agent, command, Path(folder).resolve(), seen)
    today = dt.datetime.now(tz=dt.UTC).date().isoformat()
    return Row(
        agent.name,
        agent.version,
        seen.protocol,
        seen.starts,
        seen.answered,
        seen.edits,
        "; ".join(seen.remarks),
        today,
    )


def _arguments(agent: Surveyed) -> list[str]:
    if not agent.source:
        return list(agent.arguments)
    source = str(_unpacked(agent))
    return [argument.replace("{source}", source) for argument in agent.arguments]


def _unpacked(agent: Surveyed) -> Path:
    """The source archive of a package, which has more in it than what is installed."""
    folder = install.root() / agent.package.folder / "source"
    if not folder.is_dir():
        fetch = ["download", "--quiet", "--no-deps", "--no-binary", ":all:", agent.source]
        pip = [str(install.program_in(folder.parent, "python")), "-m", "pip"]
        with tempfile.TemporaryDirectory() as place:
            install.run([*pip, *fetch], Path(place))
            (archive,) = Path(place).glob("*.tar.gz")
            with tarfile.open(archive) as tar:
                tar.extractall(folder, filter="data")
    (inner,) = folder.iterdir()
    return inner


async def _drive(agent: Surveyed, command: list[str], folder: Path, seen: Findings) -> None:
    file, home, mark = project(folder), folder / "home", uuid.uuid4().hex
    home.mkdir()
    turns = agent.edits(file, OLD, NEW) if agent.edits else None
    script: Script = {
        "Please say hello": [[Say(WORDS)]],
        "Please greet better": turns
        or [[Use("read", {"path": str(file)})], [edit(file, OLD, NEW)], [Say("It is done.")]],
    }
    with ModelServer(script, toolless=True) as model:
        env = {"PATH": agent.package.path(), **agent.prepare(home, model.url)}
        entry = {"command": command[0], "args": command[1:], "env": env}
        editor = seated(agent.name, entry, folder, mark, ASIDES)
        try:
            async with editor:
                await _scene(agent, Stage(editor, model, mark, TURN), file, seen)
        except* (AssertionError, CommandFailed, ConnectionError, TimeoutError) as group:
            seen.remarks += [_short(error) for error in _single(group)]
        if not await until(lambda: not running(mark), within=ENDING):
            seen.remarks.append(f"left running: {', '.join(map(_short, running(mark)))}")
        kill(mark)
        if "nothing" in seen.answered:
            seen.remarks.append(f"asked its model {next(model.numbers) - 1} times")
        for path in dict.fromkeys(model.unknown):
            seen.remarks.append(f"asked the model server for {path}")
        seen.remarks += [f"our model server: {fault}" for fault in dict.fromkeys(model.faults)]


async def _scene(agent: Surveyed, stage: Stage, file: Path, seen: Findings) -> None:
    begun = time.monotonic()
    await stage.editor.command("acpls.agent.start", {"agent": agent.name}, within=STARTING)
    with anyio.move_on_after(STARTING):
        while (known := await _known(stage))["state"] == "starting":
            await stage.editor.next("acp/agent/changed", within=STARTING)
    if known["state"] != "ready":
        seen.remarks.append(f"is {known['state']}: {_told(stage)}")
        return
    seen.starts = f"{time.monotonic() - begun:.1f}"
    seen.protocol = str(known["protocolVersion"])
    if not await _opens(agent, stage, seen):
        return
    for option, value in agent.options.items():
        chosen = {"option": option, "value": value}
        await stage.editor.command("acpls.session.setOption", chosen, within=TURN)
    ended = await _turn(stage, "Please say hello.")
    told = await stage.told()
    if WORDS.strip() in told or _was_told(stage) or (told and not agent.answers):
        seen.answered = "yes" if ended == "end_turn" else f"yes, then {ended}"
    else:
        seen.answered = f"no, {ended}"
        session = await stage.editor.command("acpls.session.get")
        seen.remarks.append(_short(session.get("error") or told) or _told(stage))
    if not agent.answers:
        seen.remarks.append("has no model")
    elif ended == "end_turn":
        await _edit(stage, file, seen)


async def _opens(agent: Surveyed, stage: Stage, seen: Findings) -> bool:
    """Open a session, and log in nowhere; whether it opened."""
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(_decline, stage, seen)
        try:
            await stage.editor.command("acpls.session.new", {"agent": agent.name}, within=TURN)
        except CommandFailed as refused:
            seen.remarks.append(f"opens no session: {_short(refused)}")
            return False
        finally:
            tasks.cancel_scope.cancel()
    return True


async def _decline(stage: Stage, seen: Findings) -> None:
    """Say no to what an agent wants to know before it opens a session."""
    question = await stage.question()
    seen.remarks.append(f"asks: {_short(question.get('title', ''))}")
    no = [option for option in question["options"] if option["kind"].startswith("reject")]
    answer = {"question": question["question"], "option": (no or question["options"])[-1]["option"]}
    await stage.editor.command("acpls.question.answer", answer, within=TURN)
    await anyio.sleep_forever()


async def _edit(stage: Stage, file: Path, seen: Findings) -> None:
    before = await stage.told()
    asked = len(stage.editor.seen("acp/question/ask"))
    ended = await _turn(stage, "Please greet better.")
    changed = text_of(file) != TEXT
    changes = await stage.editor.command("acpls.review.list")
    hunks = [hunk for change in changes for hunk in change["hunks"]]
    if hunks:
        seen.edits = "one hunk" if len(hunks) == 1 else f"{len(hunks)} hunks"
    else:
        seen.edits = "the file changed, no hunk" if changed else "no"
    asked = len(stage.editor.seen("acp/question/ask")) - asked
    seen.remarks.append({0: "asked nothing", 1: "asked once"}.get(asked, f"asked {asked} times"))
    said = (await stage.told())[len(before) :]
    if ended != "end_turn":
        seen.remarks.append(f"the edit: {ended}")
    if not changed:
        seen.remarks.append(f"said {_short(said)!r}")


async def _turn(stage: Stage, text: str) -> str:
    """Send a prompt and allow all that the agent asks for, once each; how the turn ended."""
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(_allow, stage)
        await stage.prompt(text)
        try:
            ended = await stage.end_of_turn()
        except TimeoutError:
            await stage.editor.command("acpls.session.cancel")
            ended = f"nothing within {TURN:.0f} s"
        tasks.cancel_scope.cancel()
    return ended


async def _allow(stage: Stage) -> None:
    while True:
        with suppress(TimeoutError):  # it may well have nothing to ask
            question = await stage.question()
            option = _allowing(question["options"])
            answer = {"question": question["question"], "option": option}
            await stage.editor.command("acpls.question.answer", answer, within=TURN)


def _allowing(options: Sequence[dict[str, Any]]) -> str:
    """The least that allows it."""
    by_kind = {option["kind"]: option["option"] for option in reversed(options)}
    kinds = ("allow_once", "allow_always", *by_kind)
    return str(next(by_kind[kind] for kind in kinds if kind in by_kind))


async def _known(stage: Stage) -> dict[str, Any]:
    (known,) = await stage.editor.command("acpls.agent.list")
    assert isinstance(known, dict)
    return known


def _was_told(stage: Stage) -> bool:
    """Whether the words came, though what came after may have pushed them out."""
    told = stage.editor.seen("acp/session/changed")
    messages = [change for params in told for change in params["changes"] if "role" in change]
    blocks = [block for message in messages for block in message.get("content", ())]
    return any(WORDS.strip() in block.get("text", "") for block in blocks)


def _told(stage: Stage) -> str:
    """What the editor's user was told last."""
    popups = stage.editor.seen("window/showMessage")
    return _short(popups[-1]["message"]) if popups else "nobody said why"


def _single(group: BaseExceptionGroup[Exception]) -> Iterator[Exception]:
    for error in group.exceptions:
        if isinstance(error, BaseExceptionGroup):
            yield from _single(error)
        else:
            yield error


def _short(thing: object) -> str:
    text = " ".join(str(thing).replace("|", "/").split())
    return text if len(text) <= 120 else f"{text[:117]}..."


def _say(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
