"""What the rules say to a request: deny over ask over allow, and ask where none is sure.

Everything in a request has to pass by itself: each file, and each command of a command line. A
rule that stops something is about all that it might mean; where it cannot be told whether it
does, the user is asked.

Invariant: pure. Nothing is allowed but by a rule that names it, or names nothing at all.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal

from acpls.permissions import places as at
from acpls.permissions import readings
from acpls.permissions.request import CHANGING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from acpls.permissions.commands import Part
    from acpls.permissions.places import Places
    from acpls.permissions.readings import Readings
    from acpls.permissions.remembered import Remembered
    from acpls.permissions.request import Request
    from acpls.settings import Rule

# Kinds of tools that work on files, which an agent has to name.
_OF_FILES: Final = CHANGING | {"read"}


@dataclass(frozen=True, slots=True)
class Verdict:
    """``by``: the rules in words, one line each."""

    decision: Literal["allow", "deny"]
    by: tuple[str, ...]


def judge(
    rules: Sequence[Rule], remembered: Iterable[Remembered], request: Request, places: Places
) -> Verdict | None:
    """What becomes of a request; ``None``: the user is asked."""
    known = [rule for rule in remembered if rule.is_about(request, places)]
    found = {"deny": [], "ask": [], "unsure": []}  # type: dict[str, list[str]]
    windows = request.on_windows
    lines = [readings.read(command, windows=windows) for command in request.commands]
    for rule in rules:
        if rule.decision != "allow":
            stops = _stops(rule, request, places, lines)
            if stops is not None:
                found[rule.decision if stops else "unsure"].append(rule.text)
    found["deny"] += [rule.text for rule in known if rule.decision == "deny"]
    if found["deny"]:
        return Verdict("deny", (found["deny"][0],))
    if found["ask"] or found["unsure"]:
        return None
    if known:
        return Verdict("allow", (known[0].text,))
    by = _allowed(rules, request, places)
    return None if by is None else Verdict("allow", by)


# --- what stops ------------------------------------------------------------------------------


def _stops(rule: Rule, request: Request, places: Places, lines: Sequence[Readings]) -> bool | None:
    """Whether a rule that stops something is about a request; ``False``: nobody can tell,
    ``None``: it is not.
    """
    sure = [
        _same(rule.agent, (request.agent,)),
        _same(rule.mode, request.mode),
        _same(rule.kind, request.kinds) if request.kinds else _unknown(rule.kind),
        _tool(rule, request),
    ]
    if None not in sure:
        sure += [_path(rule, request, places), _command(rule, request, lines)]
    if None in sure:
        return None
    return all(sure)


def _same(wanted: str | None, there: Iterable[str]) -> bool | None:
    folded = {word.casefold() for word in there}
    return True if wanted is None or wanted.casefold() in folded else None


def _unknown(wanted: str | None) -> bool:
    return wanted is None


def _tool(rule: Rule, request: Request) -> bool | None:
    if rule.tool is None:
        return True
    names = [name for name in (request.name, request.title) if name]
    if not names:
        return False
    return any(readings.fits(rule.tool, name, any_case=True) for name in names) or None


def _path(rule: Rule, request: Request, places: Places) -> bool | None:
    if rule.path is None:
        return True
    if any(map(at.stopping(rule.path, places), request.paths)):
        return True
    if not request.whole:
        return False
    nameless = not request.paths and (not request.kinds or request.kinds & _OF_FILES)
    return False if nameless else None


def _command(rule: Rule, request: Request, lines: Sequence[Readings]) -> bool | None:
    if rule.command is None:
        return True
    if any(line.fit(rule.command) for line in lines):
        return True
    nameless = not lines and (not request.kinds or "execute" in request.kinds)
    return False if nameless or not all(line.whole for line in lines) else None


# --- what allows -----------------------------------------------------------------------------


def _allowed(rules: Sequence[Rule], request: Request, places: Places) -> tuple[str, ...] | None:
    """The rules that allow all of a request together, or ``None``."""
    if not request.whole or ("execute" in request.kinds and not request.commands):
        return None
    if not all(line.understood for line in request.commands):
        return None
    fitting = [rule for rule in rules if rule.decision == "allow" and _is_of(rule, request)]
    # What a command line does to files stands in the line; other paths are where it is shown.
    files = request.changed if request.commands else request.paths
    parts = [part for line in request.commands for part in line.parts]

    needed: list[str | None] = [None] * (len(files) + len(parts))
    for rule in fitting:
        lets = None if rule.path is None else at.allowing(rule.path, places)
        passes = [
            *(rule.command is None if lets is None else lets(file) for file in files),
            *(_lets_part(rule, part) for part in parts),
        ]
        both = rule.path is not None and rule.command is not None
        if both and not (files and parts and all(passes)):
            continue
        for number, fits in enumerate(passes):
            if fits and needed[number] is None:
                needed[number] = rule.text
    if not needed:
        plain = (rule.text for rule in fitting if rule.path is None and rule.command is None)
        needed = [next(plain, None)]
    by = tuple(dict.fromkeys(text for text in needed if text is not None))
    return None if None in needed else by


def _lets_part(rule: Rule, part: Part) -> bool:
    if rule.command is None:
        # A rule about files says nothing of commands.
        return rule.path is None
    return readings.lets(rule.command, part)


def _is_of(rule: Rule, request: Request) -> bool:
    """Whether an allowing rule is about a request, but for its files and commands."""
    runs = rule.command is not None and rule.kind == "execute" and "execute" in request.kinds
    return (
        rule.agent in {None, request.agent}
        and (rule.mode is None or rule.mode in request.mode)
        and (rule.kind is None or request.kinds == {rule.kind} or runs)
        and (
            rule.tool is None
            or (request.tool is not None and readings.fits(rule.tool, request.tool))
        )
    )
