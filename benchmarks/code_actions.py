# ruff: noqa: INP001 - a script beside the package
"""How long the editor waits for code actions, which it may ask for at each step of the cursor.

    python benchmarks/code_actions.py [--lines N] [--hunks N] [--rounds N]

One document of so many lines is under review, with so many pending hunks, and ten
questions are open. Hover and diagnostics, which look at the same hunks, are measured too.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
from typing import TYPE_CHECKING

from lsprotocol import types

from acpls.hub import Hub
from acpls.lsp import actions, diagnostics, hovers
from acpls.questions import Question
from acpls.review.composing import Author
from acpls.review.held import of_text
from acpls.session.content import Choosable
from acpls.settings import AgentSpec
from acpls.text import uris

if TYPE_CHECKING:
    from collections.abc import Callable

    from acpls.hub.state import State

PATH = "/project/module.py"
URI = uris.from_path(PATH)
DOCUMENT = types.TextDocumentIdentifier(URI)


def state_with(lines: int, hunks: int) -> State:
    """A state with one open document under review, and ten open questions."""
    state = Hub(AgentSpec("agent")).state
    base = [f"    value_{number} = compute({number})\n" for number in range(lines)]
    target = list(base)
    for number in range(hunks):
        target[number * lines // hunks] = f"    value = improved({number})\n"
    before, after = of_text("".join(base)), of_text("".join(target))
    state.ledger.agent_wrote(PATH, before, after, Author("s1"), "store")
    # The user has typed something at the top, so everything stands further down.
    state.buffers.open(URI, 1, "# mine\n" + "".join(target))
    options = (Choosable("a", "Allow", "allow_once"), Choosable("b", "Reject", "reject_once"))
    for number in range(10):
        key = f"q{number}"
        state.questions.all[key] = Question(key, "demo", number, "s1", "Edit a file", options)
    return state


def milliseconds(call: Callable[[], object], rounds: int) -> float:
    """The median of so many calls."""
    took = []
    for _ in range(rounds):
        began = time.perf_counter()
        call()
        took.append(time.perf_counter() - began)
    return statistics.median(took) * 1000


def main() -> None:
    """Measure, and print medians in milliseconds."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--lines", type=int, default=5000)
    parser.add_argument("--hunks", type=int, default=50)
    parser.add_argument("--rounds", type=int, default=20)
    arguments = parser.parse_args()
    state = state_with(arguments.lines, arguments.hunks)
    here = types.Position(arguments.lines // 2, 0)
    asked = types.CodeActionParams(DOCUMENT, types.Range(here, here), types.CodeActionContext([]))
    calls: dict[str, Callable[[], object]] = {
        "code actions": lambda: actions.offer(state, asked),
        "hover": lambda: hovers.hover(state, types.HoverParams(DOCUMENT, here)),
        "diagnostics": lambda: diagnostics.diagnostics_of(state, URI),
    }
    sys.stdout.write(f"{arguments.lines} lines, {arguments.hunks} hunks, medians\n")
    for name, call in calls.items():
        sys.stdout.write(f"{name:>14} {milliseconds(call, arguments.rounds):8.2f} ms\n")


if __name__ == "__main__":
    main()
