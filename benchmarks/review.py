# ruff: noqa: INP001 - a script beside the package
"""What the review of an agent's changes costs: from a claim to hunks, and on each keystroke.

    python benchmarks/review.py [--rounds N] [--no-difflib]

CPU time. Beside it ``difflib`` compares the same two texts in the same run, line by line; it
has one round, in a process of its own, which is stopped after a minute. Memory is the most
that a comparison had at a time beyond the two texts, in relation to the bytes of the file.
"""

from __future__ import annotations

import argparse
import gc
import multiprocessing
import random
import statistics
import sys
import time
import tracemalloc
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Final

from acpls.review.claims import Claim, Resolved, resolve
from acpls.session.content import Fragment
from acpls.text.diff import apply, diff, rebase
from acpls.text.patch import parse
from acpls.text.size import MOST_BYTES, reason_not_shown

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from multiprocessing.connection import Connection

    from acpls.text.diff import Hunk

LINES: Final = 20_000
EDITS: Final = 1_000
SIZES: Final = (25_000, 50_000, 100_000, 200_000)
MOST_MS_ONE: Final = 15.0
MOST_MS_HALF: Final = 300.0
MOST_MS_SCATTERED: Final = 1_000.0
MOST_TIMES_FILE: Final = 10.0
MOST_TIMES_PER_LINE: Final = 2.0
DIFFLIB_LIMIT_S: Final = 60.0
PATH: Final = "/project/file.py"


def lines_of(count: int, seed: int) -> list[str]:
    """Lines like those of a program: some stand there often, most once."""
    draw = random.Random(seed)  # noqa: S311 - the same lines in every run
    often = ("\n", "        pass\n", "    else:\n", "        return None\n", "    }\n")
    return [
        draw.choice(often)
        if draw.random() < 0.3
        else f"    value_{draw.randrange(count)} = compute(argument_{number})\n"
        for number in range(count)
    ]


def scattered(lines: Sequence[str], edits: int) -> list[str]:
    """The lines with so many of them changed, all over the text."""
    changed = list(lines)
    draw = random.Random(edits)  # noqa: S311 - the same places in every run
    for number in draw.sample(range(len(lines)), edits):
        changed[number] = f"    edited_{number} = compute()\n"
    return changed


@dataclass
class Column:
    """What something took in every round, in CPU seconds."""

    name: str
    rounds: list[float] = field(default_factory=list)

    @property
    def median_ms(self) -> float:
        """The milliseconds of a usual round."""
        return statistics.median(self.rounds) * 1000

    def line(self) -> str:
        """The figures, for people."""
        least, most = min(self.rounds) * 1000, max(self.rounds) * 1000
        return f"  {self.name:<46}{self.median_ms:9.2f} ms ({least:.2f} to {most:.2f})"


def measured(rounds: int, work: dict[str, Callable[[], object]]) -> list[Column]:
    """Everything once in each round; the first round is not counted."""
    columns = [Column(name) for name in work]
    for number in range(rounds + 1):
        for column, do in zip(columns, work.values(), strict=True):
            gc.collect()
            began = time.process_time()
            do()
            column.rounds += [time.process_time() - began] if number else []
    return columns


def by_difflib(old: str, new: str) -> list[tuple[int, int, tuple[str, ...], tuple[str, ...]]]:
    """The reference: what the hunks hold, by the standard library."""
    a, b = old.splitlines(keepends=True), new.splitlines(keepends=True)
    return [
        (start, end, tuple(a[start:end]), tuple(b[first:last]))
        for tag, start, end, first, last in SequenceMatcher(
            None, a, b, autojunk=False
        ).get_opcodes()
        if tag != "equal"
    ]


def _time_difflib(old: str, new: str, answer: Connection) -> None:
    began = time.process_time()
    hunks = by_difflib(old, new)
    answer.send((time.process_time() - began, len(hunks)))


def difflib_line(old: str, new: str) -> str:
    """What the reference takes, for people, or that it takes too long."""
    ours, theirs = multiprocessing.Pipe(duplex=False)
    process = multiprocessing.Process(target=_time_difflib, args=(old, new, theirs))
    process.start()
    ended = ours.poll(DIFFLIB_LIMIT_S)
    if ended:
        took, hunks = ours.recv()
    process.kill()
    process.join()
    name = f"  {'difflib':<46}"
    if not ended:
        return f"{name}did not end within {DIFFLIB_LIMIT_S:.0f} s"
    return f"{name}{took * 1000:9.2f} ms, {hunks} hunks"


def hunks_of(claim: Claim, disk: str, *, finished: bool) -> tuple[Hunk, ...]:
    """From a claim to the hunks of what it means."""
    found = resolve(claim, disk, finished)
    if not isinstance(found, Resolved) or found.base is None or found.target is None:
        raise TypeError(found)
    return diff(found.base, found.target)


def patch_claim(old: str, hunks: Sequence[Hunk]) -> Claim:
    """A claim that shows the hunks as a Git patch, with three lines around each."""
    lines = old.splitlines(keepends=True)
    text = [f"diff --git {PATH} {PATH}\n--- {PATH}\n+++ {PATH}\n"]
    grown = 0
    for hunk in hunks:
        above, below = lines[max(0, hunk.start - 3) : hunk.start], lines[hunk.end : hunk.end + 3]
        around = len(above) + len(below)
        start = hunk.start - len(above) + 1
        counts = around + len(hunk.old), around + len(hunk.new)
        text.append(f"@@ -{start},{counts[0]} +{start + grown},{counts[1]} @@\n")
        text += [f" {line}" for line in above]
        text += [f"-{line}" for line in hunk.old]
        text += [f"+{line}" for line in hunk.new]
        text += [f" {line}" for line in below]
        grown += len(hunk.new) - len(hunk.old)
    (file,), _ = parse("".join(text))
    return Claim(PATH, "modify", file)


def from_claims(rounds: int, *, reference: bool) -> None:
    """A file with one line changed, and with every other line changed."""
    lines = lines_of(LINES, 1)
    one, half = list(lines), list(lines)
    one[LINES * 2 // 3] = "    changed = True\n"
    half[::2] = [f"    other_{number} = compute()\n" for number in range(0, LINES, 2)]
    old = "".join(lines)
    for name, changed, most in (
        ("one line changed", one, MOST_MS_ONE),
        ("every other line changed", half, MOST_MS_HALF),
    ):
        new = "".join(changed)
        old_crlf = old.replace("\n", "\r\n")
        whole = Claim(PATH, "edit", Fragment(PATH, old, new))
        work: dict[str, Callable[[], object]] = {
            "ours, the whole text, to be done": partial(hunks_of, whole, old, finished=False),
            "ours, the whole text, done": partial(hunks_of, whole, new, finished=True),
            "ours, the file has CRLF": partial(hunks_of, whole, old_crlf, finished=False),
            "  of these, the comparison alone": partial(diff, old, new),
        }
        if changed is one:
            patch = patch_claim(old, diff(old, new))
            work["ours, a Git patch"] = partial(hunks_of, patch, old, finished=False)
        _print(f"{LINES} lines, {name}, from a claim to {len(diff(old, new))} hunks")
        columns = measured(rounds, work)
        for column in columns:
            _print(column.line())
        _print(f"  {_goal(most, max(column.median_ms for column in columns), 'ms')}")
        if reference:
            _print(difflib_line(old, new))


def by_size(rounds: int, *, reference: bool) -> None:
    """So many edits all over texts of several sizes: time, its growth, memory."""
    per_line: list[float] = []
    for size in SIZES:
        lines = lines_of(size, 2)
        old, new = "".join(lines), "".join(scattered(lines, EDITS))
        hunks = diff(old, new)
        _print(f"{size} lines, {EDITS} edits all over, {len(hunks)} hunks, {len(old) / 1e6:.1f} MB")
        (column,) = measured(rounds, {"ours": partial(diff, old, new)})
        _print(column.line())
        per_line.append(column.median_ms / size)
        if size == 100_000:
            _print(f"  {_goal(MOST_MS_SCATTERED, column.median_ms, 'ms')}")
        del hunks
        gc.collect()
        tracemalloc.start()
        diff(old, new)
        peak = tracemalloc.get_traced_memory()[1] / len(old.encode())
        tracemalloc.stop()
        _print(f"  {'memory':<46}{peak:9.2f} times the file; {_goal(MOST_TIMES_FILE, peak, '')}")
        if reference:
            _print(difflib_line(old, new))
    growth = [f"{after / before:.2f}" for before, after in pairwise(per_line)]
    _print(f"Time per line, from one size to twice that: {', '.join(growth)} times")
    whole = per_line[-1] / per_line[0]
    _print(f"  from {SIZES[0]} to {SIZES[-1]} lines: {_goal(MOST_TIMES_PER_LINE, whole, 'times')}")


def keystrokes(rounds: int) -> None:
    """Where the hunks stand after the user typed something."""
    lines = lines_of(LINES, 1)
    base = "".join(lines)
    for count in (1, 100, EDITS):
        hunks = diff(base, "".join(scattered(lines, count)))
        applied = apply(base, hunks)
        typed = {
            "pending, one place typed in": f"# typed\n{base}",
            "applied, one place typed in": f"# typed\n{applied}",
            "applied, typed at both ends": f"# typed\n{applied}# typed\n",
            "all lines are others": "".join(f"mine {number}\n" for number in range(LINES)),
        }
        work: dict[str, Callable[[], object]] = {
            name: partial(rebase, hunks, base, ours) for name, ours in typed.items()
        }
        _print(f"{LINES} lines, {len(hunks)} hunks found again after a keystroke")
        for column in measured(rounds, work):
            _print(column.line())


def caps(rounds: int) -> None:
    """Judging whether a text is too large."""
    most = ("x" * 63 + "\n") * (MOST_BYTES // 64)
    wide = ("\u00e9" * 31 + "\n") * (MOST_BYTES // 64)
    _print("Whether a text of 2 MiB is too large")
    work: dict[str, Callable[[], object]] = {
        "all of it ASCII": partial(reason_not_shown, most),
        "hardly anything ASCII": partial(reason_not_shown, wide),
    }
    for column in measured(rounds, work):
        _print(column.line())


def _goal(goal: float, figure: float, unit: str) -> str:
    met = "met" if figure <= goal else "MISSED"
    return f"the goal is at most {goal:g} {unit}: {figure:.2f}, {met}".replace(" :", ":")


def _print(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def main() -> None:
    """Read the arguments and measure."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--no-difflib", action="store_true")
    arguments: Any = parser.parse_args()
    reference = not arguments.no_difflib
    from_claims(arguments.rounds, reference=reference)
    by_size(arguments.rounds, reference=reference)
    keystrokes(arguments.rounds)
    caps(arguments.rounds)


if __name__ == "__main__":
    main()
