"""Places and choices pass the files' threads: in order, and whatever goes wrong."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import anyio
import pytest

from acpls.client import sights
from acpls.client.choices import Choices
from acpls.client.files import Files
from acpls.effects import KeepChoice, LoadChoices, LookAt
from acpls.events import ChoicesLoaded, LookedAt, Seen

if TYPE_CHECKING:
    from pathlib import Path

    from acpls.effects import Effect

pytestmark = pytest.mark.anyio


async def told(state: Path | None, *effects: Effect, count: int) -> list[Any]:
    """What is told when these are performed."""
    events: list[Any] = []
    async with anyio.create_task_group() as tasks:
        files = Files(tasks, events.append, state)
        for effect in effects:
            files.perform(effect)  # type: ignore[arg-type]  # each of them is one of its own
        await files.aclose()
    assert len(events) == count
    return events


async def test_places_are_told_in_the_order_in_which_the_agent_was_there(tmp_path: Path) -> None:
    for name in "abc":
        (tmp_path / name).write_text(f"{name}\n")
    roots = (str(tmp_path),)
    looks = [LookAt(name, (str(tmp_path / name),), roots, text=True) for name in "abcabc"]
    events = await told(tmp_path / "state", *looks, count=6)
    assert [event.token for event in events] == list("abcabc")
    assert [event.seen[0].text for event in events] == [f"{name}\n" for name in "abcabc"]


async def test_what_is_only_looked_for_waits_for_nobody(tmp_path: Path) -> None:
    path = str(tmp_path)
    (event,) = await told(tmp_path / "state", LookAt("links", (path,), (path,)), count=1)
    assert event == LookedAt("links", (Seen(path, "folder"),))


async def test_f07_choices_are_kept_in_the_users_folder(tmp_path: Path) -> None:
    first = await told(tmp_path, LoadChoices(), KeepChoice("follow", value=True), count=1)
    again = await told(tmp_path, LoadChoices(), count=1)
    assert first == [ChoicesLoaded({})]
    assert again == [ChoicesLoaded({"follow": True})]


async def test_without_a_folder_nothing_lasts() -> None:
    assert await told(None, KeepChoice("follow", value=True), LoadChoices(), count=1) == [
        ChoicesLoaded({"follow": True})
    ]
    assert await told(None, LoadChoices(), count=1) == [ChoicesLoaded({})]


async def test_a_bug_leaves_nobody_waiting(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def bug(*_: object) -> None:
        raise RuntimeError

    monkeypatch.setattr(sights, "look_at", bug)
    monkeypatch.setattr(Choices, "load", bug)
    monkeypatch.setattr(Choices, "keep", bug)
    look = LookAt("token", ("/a", "/b"), ("/",))
    effects = (look, LoadChoices(), KeepChoice("follow", value=True))
    events = await told(tmp_path, *effects, count=2)
    assert LookedAt("token", (Seen("/a", "missing"), Seen("/b", "missing"))) in events
    assert ChoicesLoaded({}) in events
    assert len(caplog.records) == 3
