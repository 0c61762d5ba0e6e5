"""From wire shapes to the neutral model: what a session has beside messages and tool calls.

Invariant: values in, values out; whatever raises, raises ``Misfit``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Protocol, assert_never

from acpls.client import lift
from acpls.session.content import Choice, Command, Option, PlanEntry, Usage
from acpls.session.updates import (
    CompactionGrew,
    CompactionPatched,
    InfoPatched,
    NoticeGiven,
    PlanSet,
    UsageSet,
)
from acpls.wire import model as wire
from acpls.wire.fields import one_line

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from acpls.session.content import Json, Unset
    from acpls.session.updates import Update

    Reader = Callable[["KnowsCost", Json], tuple[Update, ...]]
    AnyOption = wire.SelectFields | wire.BooleanFields | wire.OtherFields


def plan(name: str, entries: Iterable[wire.PlanEntry]) -> PlanSet:
    """A plan as a whole."""
    return PlanSet(name, tuple(PlanEntry(x.content, x.priority, x.status) for x in entries))


def options(given: Iterable[AnyOption]) -> tuple[Option, ...]:
    """The options of a session. One of an unknown kind has no choices."""
    return tuple(map(_option, given))


def _option(it: AnyOption) -> Option:
    match it:
        case wire.SelectFields():
            choices = tuple(_choices(it.options))
            return _as_option(it, "select", value=it.current_value, choices=choices)
        case wire.BooleanFields():
            return _as_option(it, "boolean", value=it.current_value)
        case wire.OtherFields():
            value = it.current_value if isinstance(it.current_value, str | bool) else None
            return _as_option(it, it.type, value=value)
    assert_never(it)


def _as_option(
    it: AnyOption, kind: str, *, value: str | bool | None, choices: tuple[Choice, ...] = ()
) -> Option:
    return Option(it.option, it.name, kind, value, choices, it.category, it.description)


def _choices(
    given: Iterable[wire.SessionConfigSelectOption | wire.SessionConfigSelectGroup],
) -> Iterable[Choice]:
    for it in given:
        if isinstance(it, wire.SessionConfigSelectGroup):
            for one in it.options:
                yield Choice(one.value, one.name, one.description, it.name)
        else:
            yield Choice(it.value, it.name, it.description)


def commands(given: Iterable[wire.Command | Json]) -> tuple[Command, ...]:
    """The slash commands; what is offered beside them is no command and left out."""
    return tuple(
        Command(x.name, x.description, None if x.input is None else x.input.hint)
        for x in given
        if isinstance(x, wire.Command)
    )


def info(update: Json, null: Unset | None) -> InfoPatched:
    """Title and time of the session; ``null`` is what the version means by one as ``_meta``."""
    it = lift.read(wire.SessionInfoUpdate, update, "session_info_update")
    return InfoPatched(
        lift.patched(it.title, None), lift.patched(it.updated_at, None), lift.meta(update, null)
    )


# --- updates that both versions have alike ---------------------------------------------


class KnowsCost(Protocol):
    """What is kept in mind of a session: the cost told last, which stays until another is."""

    cost: tuple[float, str] | None


def _usage(state: KnowsCost, update: Json) -> tuple[Update, ...]:
    it = lift.read(wire.UsageUpdate, update, "usage_update")
    match it.cost:
        case wire.Cost(amount=amount, currency=currency):
            state.cost = (amount, currency)
        case None:
            state.cost = None
    return (UsageSet(Usage(it.used, it.size, state.cost)),)


def _notice(_: KnowsCost, update: Json) -> tuple[Update, ...]:
    it = lift.read(wire.Notice, update, "notice")
    return (NoticeGiven(it.severity, it.title, it.description),)


def _compaction(_: KnowsCost, update: Json) -> tuple[Update, ...]:
    it = lift.read(wire.CompactionUpdate, update, "compaction_update")
    given = it.summary
    summary = tuple(map(lift.block, given)) if isinstance(given, list) else given
    error = one_line(it.error) if isinstance(it.error, str) else it.error
    patch = CompactionPatched(
        it.compaction_id,
        it.status,
        # ``null`` clears in both versions.
        lift.patched(summary, None),
        lift.patched(error, None),
        lift.meta(update, None),
    )
    return (patch,)


def _compaction_chunk(_: KnowsCost, update: Json) -> tuple[Update, ...]:
    it = lift.read(wire.CompactionSummaryChunk, update, "compaction_summary_chunk")
    return (CompactionGrew(it.compaction_id, lift.block(it.content)),)


COMPACTIONS: Final[Mapping[str, Reader]] = {
    "compaction_update": _compaction,
    "compaction_summary_chunk": _compaction_chunk,
}
PRESENT: Final[Mapping[str, Reader]] = {"usage_update": _usage, "notice": _notice}
