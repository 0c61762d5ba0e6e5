"""The live account of a played session, for people to read on a terminal or in a file."""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.markup import escape
from rich.text import Text

if TYPE_CHECKING:
    from collections.abc import Mapping

_BOXES = {"completed": "[green]✓[/]", "in_progress": "[yellow]▸[/]", "pending": "·"}
_DIFF_STYLES = {"+": "green", "-": "red", "@": "cyan"}


class Account:
    """Prints what happens as it happens. ``steps`` are the things that must happen."""

    def __init__(self, console: Console | None = None) -> None:
        self._console = console or Console(highlight=False, soft_wrap=True)
        self._streaming = False
        self.done: dict[str, bool] = {}

    # --- the frame -----------------------------------------------------------------------

    def scene(self, title: str) -> None:
        """A new part of the session begins."""
        self._line()
        self._console.print()
        self._console.rule(f"[bold]{escape(title)}[/]", align="left")

    def say(self, text: str) -> None:
        """A sentence of the account itself."""
        self._line()
        self._console.print(f"[dim]{escape(text)}[/]")

    def expect(self, *steps: str) -> None:
        """These steps must happen before the end."""
        for step in steps:
            self.done.setdefault(step, False)

    def happened(self, step: str) -> None:
        """A step that was expected has happened."""
        self.done[step] = True

    def close(self) -> int:
        """The summary; the exit code comes back: 0 when everything expected has happened."""
        self.scene("What was expected")
        for step, happened in self.done.items():
            self._console.print(f"  {'[green]✓[/]' if happened else '[red]✗[/]'} {escape(step)}")
        missing = [step for step, happened in self.done.items() if not happened]
        if missing:
            self._console.print(f"[red]{len(missing)} did not happen.[/]")
        return 1 if missing else 0

    # --- what happens ----------------------------------------------------------------------

    def prompt(self, text: str) -> None:
        """The user's prompt."""
        self._line()
        self._console.print(f"[bold blue]you >[/] {escape(text)}")

    def stream(self, text: str) -> None:
        """A piece of the agent's answer."""
        if not self._streaming:
            self._console.print("[bold magenta]agent >[/] ", end="")
            self._streaming = True
        self._console.print(escape(text), end="")

    def tool_call(self, title: str, status: str) -> None:
        """A tool call got another status."""
        self._line()
        self._console.print(f"  [cyan]⚙[/] {escape(title)} [dim]({escape(status)})[/]")

    def plan(self, entries: list[Mapping[str, Any]]) -> None:
        """The plan as it is now."""
        self._line()
        for entry in entries:
            box = _BOXES.get(entry["status"], "·")
            self._console.print(f"  {box} {escape(entry['content'])}")

    def place(self, name: str, line: int, reason: str) -> None:
        """Where the agent is; ``line`` is counted from one."""
        self._line()
        self._console.print(f"  [yellow]⌖[/] {escape(name)}:{line} [dim]{escape(reason)}[/]")

    def question(self, question: Mapping[str, Any]) -> None:
        """A question of the agent's, with its options and what it would change."""
        self._line()
        self._console.print(f"  [bold yellow]?[/] {escape(question['title'])}")
        for option in question["options"]:
            self._console.print(f"      [dim]•[/] {escape(option['name'])}")
        for preview in question.get("preview") or ():
            self.diff(preview["patch"])

    def answer(self, name: str) -> None:
        """The user's answer."""
        self._console.print(f"[bold blue]you >[/] {escape(name)}")

    def hunk(self, verdict: str, hunk: Mapping[str, Any], name: str) -> None:
        """A verdict on a hunk."""
        self._line()
        style = "green" if verdict == "keep" else "red"
        self._console.print(f"  [{style}]{verdict}[/] in {escape(name)}")
        for sign, text in (("-", hunk["baseText"]), ("+", hunk["newText"])):
            for line in text.split("\n")[:-1]:
                self._console.print(Text(f"    {sign} {line}", _DIFF_STYLES[sign]))

    def diff(self, patch: str) -> None:
        """A unified diff."""
        self._line()
        for line in patch.split("\n")[:-1]:
            headed = line.startswith(("---", "+++"))
            style = "bold" if headed else _DIFF_STYLES.get(line[:1], "")
            self._console.print(Text(f"    {line.rstrip(chr(13))}", style))

    def _line(self) -> None:
        if self._streaming:
            self._console.print()
            self._streaming = False


def unified(name: str, before: str, after: str) -> str:
    """The unified diff of one file."""
    lines = difflib.unified_diff(
        before.splitlines(keepends=True), after.splitlines(keepends=True), name, name
    )
    return "".join(line if line.endswith("\n") else f"{line}\n" for line in lines)
