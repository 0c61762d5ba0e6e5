"""Words for tests of the review: what is listed, verdicts, and an agent that tells nothing."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any

from server_stage import TOLD, seat

from acpls.testing.editor import FULL

if TYPE_CHECKING:
    from contextlib import AbstractAsyncContextManager
    from pathlib import Path

    from server_stage import Seat

    from acpls.testing.frames import Json

CODE = "one\ntwo\nthree\n"
QUIET = TOLD | {"acp/document/save"}
"""What a test of the review need not read: also the wish that a document be saved."""


def silent(name: str, text: str, **how: Any) -> Json:
    """The agent writes a file by itself, and says nothing of it."""
    return {"write": name, "text": text, "via": "disk", **how}


def told(name: str, old: str | None, new: str | None, **members: Any) -> Json:
    """A tool call that was done, with what it did as the agent tells it."""
    diff = {"path": name, "new": new, **({} if old is None else {"old": old})}
    call = {"title": f"Edit {name}", "kind": "edit", "status": "completed"}
    return {"tool": f"call-{name}", **call, "content": [{"diff": diff}], **members}


def review(
    folder: Path, *turns: list[Any], version: int = 2, **options: Any
) -> AbstractAsyncContextManager[Seat]:
    """A seat with an agent that plays these turns."""
    options.setdefault("ignore", QUIET)
    return seat(folder, {"turns": list(turns)}, version, **options)


def announcing(**flags: bool) -> Json:
    """What ``FULL`` claims, with other flags for ``acp``."""
    capabilities = copy.deepcopy(FULL)
    capabilities["experimental"]["acp"].update(flags)
    return capabilities


# --- what is listed ------------------------------------------------------------------------


async def listed(at: Seat, count: int, **which: Any) -> dict[str, Json]:
    """All changes that wait, by their file's name in the project, when there are so many."""
    found: list[Json] = []

    def fits(changes: list[Json]) -> bool:
        found[:] = changes
        return len(changes) == count

    try:
        await at.asked("acpls.review.list", which, fits)
    except TimeoutError as late:
        told = {name_of(at, c["uri"]): [c["operation"], c["state"], texts(c)] for c in found}
        raise TimeoutError(f"{len(told)} changes instead of {count}: {told}") from late
    return {name_of(at, change["uri"]): change for change in found}


async def seen_all(at: Seat, turns: int) -> list[Json]:
    """Waits until all that so many turns did to files was looked at; their checkpoints."""

    def fits(found: list[Json]) -> bool:
        return len(found) == turns and all("at" in checkpoint for checkpoint in found)

    checkpoints: list[Json] = await at.asked("acpls.checkpoint.list", {}, fits)
    return checkpoints


def name_of(at: Seat, uri: str) -> str:
    """The name of a file in the project, or its whole path."""
    path = at.path_of(uri)
    return str(path.relative_to(at.project)) if path.is_relative_to(at.project) else str(path)


def texts(change: Json) -> list[tuple[str, str]]:
    """What each hunk of a change replaces, and with what."""
    return [(hunk["baseText"], hunk["newText"]) for hunk in change["hunks"]]


# --- verdicts ----------------------------------------------------------------------------------


async def keep(at: Seat, **which: Any) -> int:
    """Keeps hunks, of which none is left; how many."""
    return await _verdict(at, "keep", which)


async def reject(at: Seat, **which: Any) -> int:
    """Rejects hunks, of which none is left; how many."""
    return await _verdict(at, "reject", which)


async def _verdict(at: Seat, verdict: str, which: Json) -> int:
    answer = await at.command(f"acpls.review.{verdict}", which)
    assert answer["left"] == [], answer
    return int(answer["hunks"])
