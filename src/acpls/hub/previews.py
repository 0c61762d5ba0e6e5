"""What a question is about to change, as hunks: as far as that was found in the files, else
by the agent's own word.

Invariant: pure; reads the state and changes nothing.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

from acpls.hub import review_shapes
from acpls.hub.shapes import lean
from acpls.review.composing import Author
from acpls.session.content import AboutCommand, AboutToolCall, Fragment
from acpls.text.diff import diff

if TYPE_CHECKING:
    from collections.abc import Iterator

    from acpls.hub.state import State
    from acpls.questions import About, Question
    from acpls.session.content import Patch
    from acpls.text.patch import FilePatch

    Shape = dict[str, Any]

_ABSOLUTE: Final = re.compile(r"/|[A-Za-z]:[\\/]")
# Larger texts are not compared for the sake of a look.
_SIZE_LIMIT: Final = 200_000


def of(state: State, question: Question) -> list[Shape]:
    """``[{uri, patch, placed?}]``; ``placed`` is false for what the agent says and nobody has
    found in the file, so that its line numbers mean nothing.
    """
    found = list(_found(state, question))
    shown = {each["uri"] for each in found}
    for path, patch in () if question.about is None else _said(question.about):
        uri = None if path is None else review_shapes.uri(state, whole(state, question, path))
        if uri is None or uri not in shown:
            found.append(lean(uri=uri, patch=patch, placed=False))
    return found


def whole(state: State, question: Question, path: str) -> str:
    """The place of a file that an agent names; what is relative begins in the session's folder."""
    session = state.sessions.get(question.session)
    if session is not None and not _ABSOLUTE.match(path):
        path = f"{session.cwd.rstrip('/')}/{path}"
    return state.paths.place(path)


def _found(state: State, question: Question) -> Iterator[Shape]:
    match question.subject:
        case AboutToolCall(call) | AboutCommand(tool_call=str(call)) if question.subagent is None:
            author = Author(question.session, call)
        case _:
            return
    for (whose, path), change in state.ledger.proposals.items():
        if whose == author and change.hunks:
            uri = review_shapes.uri(state, path)
            yield {"uri": uri, "patch": review_shapes.unified(change)}


def _said(what: About) -> Iterator[tuple[str | None, str]]:
    for claim in what.claims:
        if isinstance(claim, Fragment):
            yield claim.path, _fragment(claim)
        else:
            yield from _patch(claim)
    if what.diff is not None:
        yield next(iter(what.paths), None), what.diff


def _fragment(claim: Fragment) -> str:
    old, new = claim.old or "", claim.new
    out = [f"--- {claim.path if claim.old else '/dev/null'}\n", f"+++ {claim.path}\n"]
    if len(old) + len(new) > _SIZE_LIMIT:
        return "".join([*out, f"(from {len(old)} to {len(new)} characters)\n"])
    shift = 0
    for h in diff(old, new):
        start = h.start + bool(h.old), h.start + shift + bool(h.new)
        out.append(f"@@ -{start[0]},{len(h.old)} +{start[1]},{len(h.new)} @@\n")
        out += review_shapes.patch_lines("-", h.old)
        out += review_shapes.patch_lines("+", h.new)
        shift += len(h.new) - len(h.old)
    return "".join(out)


def _patch(claim: Patch) -> Iterator[tuple[str, str]]:
    shown = set()
    for file in claim.files:
        path = file.new_path or file.old_path or ""
        shown.add(path)
        yield path, _file(file)
    for change in claim.changes:
        path = change.path or change.old_path or ""
        if path not in shown:
            yield path, f"--- {change.old_path or path}\n+++ {path}\n({change.operation})\n"


def _file(file: FilePatch) -> str:
    out = [f"--- {file.old_path or '/dev/null'}\n", f"+++ {file.new_path or '/dev/null'}\n"]
    for hunk in file.hunks:
        olds, news = (sum(tag in tags for tag, _ in hunk.lines) for tags in (" -", " +"))
        out.append(f"@@ -{hunk.start + bool(olds)},{olds} +{hunk.start + bool(news)},{news} @@\n")
        out += [f"{tag}{line}\n" for tag, line in hunk.lines]
    return "".join(out)
