"""Our side of the watchdog: one that dies is replaced and knows everything again."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

import anyio
import pytest

from acpls.client import process
from acpls.client.watch import Watch
from rim_stage import all_gone, runs

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable

pytestmark = pytest.mark.anyio

CODE = "import signal, sys; print(1, flush=True); sys.stdin.read()"


class Replaced:
    """Counts the replacements and lets tests wait for them."""

    def __init__(self) -> None:
        self.count = 0
        self.news = anyio.Event()

    def __call__(self) -> None:
        self.count += 1
        self.news.set()

    async def once_more(self, then: Callable[[], object]) -> None:
        self.news = anyio.Event()
        then()
        with anyio.fail_after(5):
            await self.news.wait()


async def child(watch: Watch) -> process.Child:
    started = await process.start([sys.executable, "-I", "-S", "-c", CODE], watch=watch)
    assert await started.receive() == b"1\n"
    return started


def dog(watch: Watch) -> subprocess.Popen[bytes]:
    assert watch._dog is not None
    return watch._dog


async def test_x01_a_watchdog_that_was_killed_is_replaced_at_once() -> None:
    """X01: and the new one ends all that there is when the server dies."""
    replaced = Replaced()
    watch = Watch(replaced)
    one, two, three = [await child(watch) for _ in range(3)]
    await two.end()
    first = dog(watch)
    await replaced.once_more(first.kill)
    second = dog(watch)
    assert second.pid != first.pid
    assert runs(second.pid)
    # What the death of the server looks like to the watchdog.
    assert second.stdin is not None
    watch._dog = None
    second.stdin.close()
    assert all_gone([one.pid, three.pid, second.pid])
    await one.end()
    await three.end()


async def test_x01_a_mark_that_nobody_carries_yet_is_told_again() -> None:
    replaced = Replaced()
    watch = Watch(replaced)
    watch.expect("acpls-test-not-carried")
    watch.expect("acpls-test-dismissed")
    watch.dismiss("acpls-test-dismissed")
    written: list[str] = []
    watch._write = written.append  # type: ignore[method-assign,assignment]  # to read what is told
    await replaced.once_more(dog(watch).kill)
    assert written == ["+0 acpls-test-not-carried\n"]
    await watch.aclose()


async def test_watchdogs_that_die_at_once_are_not_replaced_for_ever(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("acpls.client.watch.watchdog.__file__", "/no/watchdog.py")
    replaced = Replaced()
    watch = Watch(replaced)
    one = await child(watch)
    with anyio.fail_after(5):
        while replaced.count < 3:
            await replaced.news.wait()
            replaced.news = anyio.Event()
        dog(watch).wait()
        while watch._short_lives < 4:
            await anyio.lowlevel.checkpoint()
    assert replaced.count == 3
    await one.end()
    await watch.aclose()


async def test_nobody_is_watched_without_children() -> None:
    replaced = Replaced()
    watch = Watch(replaced)
    one = await child(watch)
    await one.end()
    ended = dog(watch)
    ended.kill()
    ended.wait()
    watch._died(ended, 9.0)
    assert replaced.count == 0
    two = await child(watch)
    assert dog(watch).pid != ended.pid
    await two.end()
    await watch.aclose()


async def test_a_start_that_fails_leaves_no_mark_behind() -> None:
    watch = Watch()
    with pytest.raises(process.StartError):
        await process.start([sys.executable, "x" * 3_000_000], watch=watch)
    assert watch._expected == set()
    await watch.aclose()


async def test_there_is_no_watchdog_without_process_groups(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("acpls.client.watch._POSIX", False)
    watch = Watch()
    one = await child(watch)
    assert watch._dog is None
    await one.end()
    await watch.aclose()


async def test_x01_x04_also_what_changed_its_parent_is_ended() -> None:
    """X04: a helper that left its group and its parent is found by the mark it carries."""
    code = (
        "import os, sys, time\n"
        "if os.fork() == 0:\n"
        "    os.setsid()\n"
        "    if os.fork() == 0:\n"
        "        print(os.getpid(), flush=True)\n"
        "        time.sleep(60)\n"
        "    os._exit(0)\n"
        "os.wait()\n"
        "sys.stdin.read()\n"
    )
    started = await process.start([sys.executable, "-I", "-S", "-c", code])
    helper = int(await started.receive())
    assert os.getpgid(helper) != started.pid
    await started.end()
    assert started.exit_code == 0
    assert all_gone([helper], 0.1)
