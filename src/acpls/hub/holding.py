"""Changes that wait for the user before they are made (``review.mode`` ``before``).

An agent that writes through us is answered after the verdict, and one that asks for
permission with a diff is answered by the verdict: all rejected refuses, anything kept allows,
and what was rejected of it is taken back when it has been written.

Invariant: a write that is held is answered exactly once, whatever ends the waiting.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from acpls.effects import After, SendAnswer, ShowReview, WriteFile
from acpls.hub.tokens import ForAgent, Foregone, HoldDue
from acpls.session.asks import Failure
from acpls.session.content import AboutToolCall

if TYPE_CHECKING:
    from acpls.events import Disk, RequestId
    from acpls.hub.state import Effects, State
    from acpls.questions import Question
    from acpls.review.change import Change, Verdict
    from acpls.review.composing import Author, ReviewHunk
    from acpls.review.held import Held

CANCELLED = -32800
REFUSED = -32000


@dataclass(frozen=True, slots=True)
class HeldWrite:
    """A write of an agent's that waits for the user: its request, and the file as it was."""

    agent: str
    request: RequestId
    session: str
    disk: Disk


def hold(
    state: State, write: HeldWrite, place: str, base: Held, target: Held, author: Author
) -> Effects:
    """Show a write as hunks, and let the agent wait for the verdict."""
    change = state.ledger.propose(place, base, target, author, held=write)
    assert change is not None
    yield ShowReview(place)
    yield After(state.settings.hold_seconds, HoldDue(change.key))


def waits(state: State, change: Change) -> bool:
    """Whether an agent waits for the verdict on a change, or is at least still to write it."""
    if change.held is not None or not change.proposed:
        return change.held is not None
    session = state.sessions[change.author.session]
    call = session.tool_call(change.author.tool_call or "")
    to_come = call is not None and not call.finished
    return to_come or _question(state, change) is not None


def decide(state: State, change: Change, hunk: ReviewHunk, verdict: Verdict) -> Effects:
    """The user decided on a hunk of something that is not written yet."""
    state.decided[hunk.key] = verdict
    yield ShowReview(change.path)
    if isinstance(change.held, HeldWrite):
        if all(pending.key in state.decided for pending in change.hunks):
            yield from _conclude(state, change, change.held)
        return
    question = _question(state, change)
    together = [c for (author, _), c in state.ledger.proposals.items() if author == change.author]
    hunks = [pending for c in together for pending in c.hunks]
    if question is None or any(pending.key not in state.decided for pending in hunks):
        return
    kept = any(state.decided[pending.key] == "keep" for pending in hunks)
    wanted = "allow_once" if kept else "reject_once"
    option = next((o.option for o in question.options if o.kind == wanted), None)
    if option is None:
        return
    for c in together:
        proposal_over(state, c)
        yield ShowReview(c.path)
    yield from state.questions.settle(question, "editor", option)


def written(state: State, place: str, author: Author) -> Effects:
    """An agent wrote a file: what was decided on beforehand is carried out at once."""
    foregone = state.foregone.pop((author.session, place), [])
    change = state.ledger.files.get(place)
    keys: dict[Verdict, set[str]] = {"keep": set(), "reject": set()}
    for pending in () if change is None else change.hunks:
        for verdict, old, new in foregone:
            if (pending.hunk.old, pending.hunk.new) == (old, new):
                keys[verdict].add(pending.key)
                foregone.remove((verdict, old, new))
                break
    if foregone:
        state.foregone[author.session, place] = foregone
    for verdict, some in keys.items():
        if some:
            yield After(0.0, Foregone(frozenset(some), verdict))


def proposal_over(state: State, change: Change) -> None:
    """A proposal was decided on, or written: the verdicts are for what will be there."""
    foregone = state.foregone.setdefault((change.author.session, change.path), [])
    for pending in change.hunks:
        verdict = state.decided.pop(pending.key, None)
        if verdict is not None:
            foregone.append((verdict, pending.hunk.old, pending.hunk.new))
    state.ledger.drop(change)


def due(state: State, token: HoldDue) -> Effects:
    """The user has had time enough."""
    minutes = state.settings.hold_seconds / 60
    for change in _held(state):
        if change.key == token.change:
            reason = f"the user did not decide on this change within {minutes:g} minutes"
            yield from _refuse(state, change, Failure(REFUSED, reason))


def cancel(state: State, session: str) -> Effects:
    """The turn is being stopped: nothing of the session waits any longer."""
    for change in _held(state):
        if change.author.session == session:
            yield from _refuse(state, change, Failure(CANCELLED, "the user stopped the turn"))


def withdrawn(state: State, agent: str, request: RequestId) -> Effects:
    """The agent does not wait for its write any longer."""
    for change in _held(state):
        write = change.held
        assert isinstance(write, HeldWrite)
        if (write.agent, write.request) == (agent, request):
            yield from _refuse(state, change, Failure(CANCELLED, "the request was withdrawn"))


def _conclude(state: State, change: Change, write: HeldWrite) -> Effects:
    total = len(change.hunks)
    rejected = [p for p in change.hunks if state.decided.pop(p.key) == "reject"]
    if len(rejected) == total:
        # A claim of it that is told of afterwards is no proposal.
        state.changed_by.add((write.session, change.path))
        yield from _refuse(state, change, Failure(REFUSED, "the user rejected this change"))
        return
    change.reject(rejected)
    state.ledger.drop(change)
    left_out = f"the user rejected {len(rejected)} of {total} changes; the file has the others"
    token = ForAgent(
        write.agent, write.request, write.session, left_out=left_out if rejected else "", kept=True
    )
    yield ShowReview(change.path)
    yield WriteFile(
        token,
        write.disk.path,
        change.target.text,
        state.roots_of(state.sessions[write.session]),
        expected=write.disk.content,
        keep_endings=True,
    )


def _refuse(state: State, change: Change, failure: Failure) -> Effects:
    write = change.held
    assert isinstance(write, HeldWrite)
    for pending in change.hunks:
        state.decided.pop(pending.key, None)
    state.ledger.drop(change)
    yield ShowReview(change.path)
    answer = Failure(failure.code, f"{write.disk.path}: {failure.message}")
    yield SendAnswer(write.agent, write.request, answer)


def _held(state: State) -> list[Change]:
    return [c for c in state.ledger.proposals.values() if isinstance(c.held, HeldWrite)]


def _question(state: State, change: Change) -> Question | None:
    """The open question whose answer a change waits for."""
    about = AboutToolCall(change.author.tool_call or "")
    pending = state.questions.pending(change.author.session)
    return next((q for q in pending if q.subject == about and q.subagent is None), None)
