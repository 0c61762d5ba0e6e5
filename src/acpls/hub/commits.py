"""What the user commits has been reviewed: a commit of the same text counts as keep."""

from __future__ import annotations

from typing import TYPE_CHECKING

from acpls.effects import CompareWithHead, ShowReview
from acpls.hub.tokens import AtHead

if TYPE_CHECKING:
    from acpls.hub.state import Effects, State


def moved(state: State) -> Effects:
    """Something was committed or checked out: compare what is under review with it."""
    paths = tuple(state.ledger.files)
    if paths:
        yield CompareWithHead(AtHead(tuple(map(state.ledger.content, paths))), paths)


def compared(state: State, token: AtHead, same: frozenset[str]) -> Effects:
    """These files are just what the last commit has."""
    for path in same:
        change = state.ledger.files.get(path)
        # What was moved away is kept where it is now.
        hidden = change is not None and change.moved_to is not None
        # What has come since the question was asked is in no commit.
        known = change is not None and state.ledger.content(path) in token.contents
        if change is not None and known and not hidden and path not in state.verdicts:
            state.ledger.keep(change, change.hunks, whole=True)
            yield ShowReview(path)
