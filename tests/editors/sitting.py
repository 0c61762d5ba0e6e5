"""A person at an editor, with the real server between it and a scripted agent."""

from __future__ import annotations

import json
import os
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from tapped import Tap

from acpls.testing.agent import command, received
from rim_stage import all_gone

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from hands import Hands, Saved

    Seat = Callable[[Path, str, Tap, Mapping[str, str]], Hands]

CODE: Final = "".join(f"line {n}\n" for n in range(1, 13))
GONE_WITHIN_S: Final = 10.0
MOST_WAITING: Final = 2
# How users whose editor shows no questions are told of one.
WAITING: Final = "Waiting for you: .*|.*: a code action.*"


@dataclass(frozen=True)
class Scenario:
    """What happens: ``turns`` is what the agent does, ``act`` what the person does.

    ``version`` is that of ACP. ``settings``: lines for the user's configuration of the server.
    ``script``: what the agent's script holds besides ``turns``.
    ``popups``: messages that the editor is shown, as patterns. ``not_in``: editors in which it
    comes to another end, which docs/editors.md tells.
    """

    name: str
    act: Callable[[Sitting], None]
    turns: Sequence[Sequence[Any]]
    files: Mapping[str, bytes] = field(default_factory=lambda: {"a.md": CODE.encode()})
    version: int = 2
    settings: str = ""
    script: Mapping[str, Any] = field(default_factory=dict)
    popups: tuple[str, ...] = ()
    not_in: tuple[str, ...] = ()


class Sitting:
    """One scenario being played: the hands, and eyes for what no screen shows."""

    def __init__(self, folder: Path, scenario: Scenario, sit: Seat) -> None:
        """``sit`` starts the editor with a file of the workspace, a tap and an environment."""
        self.scenario = scenario
        self.project = folder / "work"
        self.project.mkdir()
        for name, data in scenario.files.items():
            (self.project / name).write_bytes(data)
        self._log = folder / "agent.jsonl"
        script = {**scenario.script, "turns": [list(turn) for turn in scenario.turns]}
        argv = command(script, folder, protocol=scenario.version, log=self._log)
        settings = folder / "config"
        (settings / "acpls").mkdir(parents=True)
        lines = f"[agents.fake]\ncommand = {json.dumps(argv[0])}\nargs = {json.dumps(argv[1:])}\n"
        (settings / "acpls" / "config.toml").write_text(scenario.settings + lines)
        self._folder, self._sit = folder, sit
        self.tap, self.hands = self._start()

    def _start(self) -> tuple[Tap, Hands]:
        tap = Tap(self._folder)
        path = f"{tap.launcher(self._folder / 'bin')}{os.pathsep}{os.environ['PATH']}"
        settings = str(self._folder / "config")
        environment = {**tap.environment(), "PATH": path, "XDG_CONFIG_HOME": settings}
        hands = self._sit(self.project, next(iter(self.scenario.files)), tap, environment)
        tap.until(lambda: bool(tap.sent("editor", "initialized")), "initialized")
        return tap, hands

    @classmethod
    def play(cls, folder: Path, scenario: Scenario, sit: Seat) -> None:
        """Play a scenario from the start of the editor to its end."""
        sitting = cls(folder, scenario, sit)
        try:
            scenario.act(sitting)
            sitting.over()
        except BaseException as error:
            error.add_note(sitting.hands.terminal.screen())
            error.add_note(sitting.tap.errors.read_text()[-3000:])
            error.add_note("\n".join(sitting.tap.last_words()))
            raise
        finally:
            sitting.close()

    # --- the agent ----------------------------------------------------------------------

    def prompt(self, *, ends: bool = True, **where: str) -> None:
        """Set the agent to work, ``where`` a session is named in that; wait for the end of
        its turn.
        """
        self.tap.command("acpls.session.prompt", {"text": "go", **where})
        if ends:
            self.until_idle()

    def until_idle(self) -> None:
        """Wait until the agent has nothing to do."""

        def idle() -> bool:
            sessions = self.tap.command("acpls.session.list")["sessions"]
            return all(x["state"] == "idle" and "stopReason" in x for x in sessions)

        self.until(idle, "the end of the turn")

    def heard(self) -> list[Any]:
        """What the agent got as answers to its requests, in order."""
        answers = [message for message in received(self._log) if "method" not in message]
        return [answer.get("error", answer.get("result")) for answer in answers]

    def chosen(self) -> list[Any]:
        """What it got as answers to its questions, in order: options, or ``None``."""
        outcomes = [answer["outcome"] for answer in self.heard()]
        return [outcome.get("optionId") for outcome in outcomes]

    def asked(self, *titles: str) -> list[Any]:
        """The open questions, when they are these."""
        found: list[Any] = []

        def same() -> bool:
            found[:] = self.tap.command("acpls.question.list")
            return sorted(question["title"] for question in found) == sorted(titles)

        self.until(same, f"the questions {titles}")
        return found

    # --- what there is ---------------------------------------------------------------------

    def until(self, holds: Callable[[], bool], what: str) -> None:
        """Wait until something is true."""
        self.hands.terminal.until(holds, what)

    def pending(self, name: str = "") -> list[Any]:
        """The hunks that wait, of one file or of all."""
        changes = self.tap.command("acpls.review.list")
        return [hunk for c in changes if c["uri"].endswith(name) for hunk in c["hunks"]]

    def waits(self, count: int, name: str = "") -> list[Any]:
        """The hunks of a file, when so many wait."""
        self.until(lambda: len(self.pending(name)) == count, f"{count} hunks")
        return self.pending(name)

    def marked(self, *lines: int) -> None:
        """Wait until these lines, and no others, have a mark on the screen."""
        marks: list[int] = []

        def same() -> bool:
            marks[:] = self.hands.marks()
            return marks == [*lines]

        self.until(same, f"marks at {lines}")

    def holds(self, text: str) -> None:
        """Wait until the document at hand holds this."""
        last: list[str] = [""]

        def same() -> bool:
            last[0] = self.hands.text()
            return last[0] == text

        try:
            self.until(same, "the text of the document")
        except AssertionError as error:
            error.add_note(f"wanted {text!r}\nfound  {last[0]!r}")
            raise

    def refusals(self) -> list[Any]:
        """The edits that the editor said it did not make; each has a reason."""
        results = [answer["result"] for answer in self.tap.answers()]
        return [result for result in results if not result["applied"] and result["failureReason"]]

    def disk(self, name: str = "a.md") -> str:
        """What a file holds, byte by byte, as far as that is UTF-8."""
        return self.bytes(name).decode("utf-8", "surrogateescape")

    def bytes(self, name: str = "a.md") -> bytes:
        """What a file holds."""
        return (self.project / name).read_bytes()

    def on_disk(self, text: str, name: str = "a.md") -> None:
        """Wait until a file holds this."""
        self.until(lambda: self.disk(name) == text, f"{text!r} in {name}")

    def saves(self, name: str = "a.md", **expected: Saved) -> None:
        """The person's own save, and how each editor takes it; then the file is the document."""
        assert self.hands.save() == expected.get(self.hands.name, "written")
        self.until(lambda: not self.hands.is_dirty(), "saved")
        assert self.disk(name) == self.hands.text()

    def shot(self, name: str) -> None:
        """Keep what is on the screen, where ``ACPLS_SHOTS`` names a folder for that."""
        folder = os.environ.get("ACPLS_SHOTS")
        if folder:
            path = Path(folder) / f"{self.hands.name}-{self.scenario.name}-{name}.txt"
            path.write_text(f"{self.hands.terminal.screen()}\n")

    # --- the end -----------------------------------------------------------------------------

    def over(self) -> None:
        """Nothing waits, nothing is in the way, nothing went wrong; and all of it ends."""
        assert self.pending() == []
        assert self.tap.command("acpls.question.list") == []
        self.until(self.hands.is_undisturbed, "nothing in the way")
        self._leave()
        told = [m["params"]["message"] for m in self.tap.sent("server", "window/showMessage")]
        self._were_expected(told)
        assert self.tap.errors.read_text() == ""

    def _were_expected(self, told: list[str]) -> None:
        """All messages that a scenario names came, and besides them only word of questions."""
        awaited, waiting = list(self.scenario.popups), list[str]()
        for message in told:
            if awaited and re.fullmatch(awaited[0], message):
                del awaited[0]
            else:
                assert re.fullmatch(WAITING, message), told
                waiting.append(message)
        assert awaited == [], told
        assert len(waiting) <= MOST_WAITING, told

    def again(self) -> None:
        """Leave the editor, and start it anew."""
        self._leave()
        self.close()
        self.tap, self.hands = self._start()

    def _leave(self) -> None:
        family = [each.pid for each in self.hands.terminal.family()]
        assert len(family) >= 3, "the editor, the tap and the server, with an agent or without"
        self.hands.quit()
        assert all_gone(family, GONE_WITHIN_S)

    def close(self) -> None:
        """Whatever still runs ends."""
        self.hands.terminal.end()
        self.tap.close()
