"""What the commands about changes and checkpoints do. Arguments come checked by the rim.

Invariant: each command that somebody waits for is answered once, now or later.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

from acpls.effects import ReplyCommand, ShowReview
from acpls.hub import checkpoints, meant, review_shapes, verdicts
from acpls.hub.state import CannotDo

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from acpls.hub.state import Effects, State
    from acpls.review.change import Verdict
    from acpls.settings import ReviewMode

    Arguments: TypeAlias = Mapping[str, Any]
    Run: TypeAlias = Callable[[State, Arguments, object], Effects]


def review_list(state: State, arguments: Arguments, ticket: object) -> Effects:
    """The changes that wait for a verdict."""
    found = meant.changes(state, arguments)
    yield ReplyCommand(ticket, [review_shapes.change(state, change) for change in found])


def review_keep(state: State, arguments: Arguments, ticket: object) -> Effects:
    """Keep a hunk, a file's, a session's, or all hunks."""
    yield from _verdict(state, arguments, ticket, "keep")


def review_reject(state: State, arguments: Arguments, ticket: object) -> Effects:
    """Reject a hunk, a file's, a session's, or all hunks."""
    yield from _verdict(state, arguments, ticket, "reject")


def _verdict(state: State, arguments: Arguments, ticket: object, verdict: Verdict) -> Effects:
    over, one = bool(arguments.get("over")), "hunk" in arguments
    hunks = meant.hunks(state, arguments)
    if not one:
        # What could not be placed is only told of, and has been seen now.
        for change in (c for c in meant.changes(state, arguments) if c.reasons):
            state.ledger.dismiss(change)
            yield ShowReview(change.path)
    yield from verdicts.give(state, hunks, verdict, ticket, over=over, one=one)


def review_set_mode(state: State, arguments: Arguments, ticket: object) -> Effects:
    """Choose when changes are put under review, until the server ends: as told, or at the
    other time.
    """
    other: ReviewMode = "before" if state.review_mode == "after" else "after"
    state.chosen_review_mode = arguments.get("mode", other)
    yield ReplyCommand(ticket, {"mode": state.review_mode})


def review_diff(state: State, arguments: Arguments, ticket: object) -> Effects:
    """The two sides of a file in review, for a diff view."""
    for change in meant.changes(state, arguments):
        yield ReplyCommand(ticket, review_shapes.sides(state, change))
        return
    message = "The file has no pending change"
    raise CannotDo(message, field="uri")


def checkpoint_list(state: State, arguments: Arguments, ticket: object) -> Effects:
    """The turns of a session, or of all, that changed files, newest first."""
    found = state.checkpoints.newest(meant.session_or_all(state, arguments))
    yield ReplyCommand(ticket, [checkpoints.shape(state, of) for of in found])


def checkpoint_restore(state: State, arguments: Arguments, ticket: object) -> Effects:
    """Take back what a session did from a turn on, or (``dryRun``) tell what that would do."""
    key = arguments["checkpoint"]
    of = state.checkpoints.find(key)
    if of is None:
        message = f"No checkpoint has the key {key!r}"
        raise CannotDo(message, field="checkpoint")
    dry, over = bool(arguments.get("dryRun")), bool(arguments.get("over"))
    yield from checkpoints.restore(state, of, ticket, dry=dry, over=over)


REVIEW_COMMANDS: dict[str, Run] = {
    "acpls.review.list": review_list,
    "acpls.review.keep": review_keep,
    "acpls.review.reject": review_reject,
    "acpls.review.diff": review_diff,
    "acpls.review.setMode": review_set_mode,
    "acpls.checkpoint.list": checkpoint_list,
    "acpls.checkpoint.restore": checkpoint_restore,
}
