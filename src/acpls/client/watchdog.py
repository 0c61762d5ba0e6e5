"""Ends the agents of a server that died without ending them.

Run as ``python -I -S watchdog.py`` in a session of its own. Standard input is a pipe from
the server: a line ``+PGID TAG`` records a process group and the mark in the environment
of everything that descends from it (``+0 TAG``: no group yet), ``-PGID`` forgets both.
When the pipe ends, which no way of dying prevents, all that is recorded is ended.

Invariant: the standard library only, nothing of acpls; ``process`` uses its functions too.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import time

MARK = "ACPLS_TREE"

_HAS_PROC = os.path.isdir("/proc/self/fd")  # noqa: PTH112  pathlib doubles the start-up time
_GRACE_S = 0.5
_MAX_KILLS = 40


def living(groups: set[int], tags: set[str], known: dict[int, str]) -> dict[int, str]:
    """Find the processes of some trees that still run: process id to start time.

    They are in one of the process ``groups``, or carry one of the ``tags`` in their
    environment, or were found before (``known``), or descend from one of these. Where
    there is no /proc only the groups are looked at, each as its leader's id.
    """
    if not _HAS_PROC:
        return {group: "" for group in groups if _group_exists(group)}
    parents: dict[int, int] = {}
    started: dict[int, str] = {}
    found: dict[int, str] = {}
    for name in os.listdir("/proc"):  # noqa: PTH208  pathlib doubles the start-up time
        stat = _read(f"/proc/{name}/stat") if name.isdigit() else b""
        fields = stat.rpartition(b")")[2].split()
        if len(fields) < 20 or fields[0] in b"ZX":
            continue
        pid, start = int(name), fields[19].decode()
        parents[pid], started[pid] = int(fields[1]), start
        if (
            int(fields[2]) in groups
            or known.get(pid) == start
            or (tags and not tags.isdisjoint(_marks(pid)))
        ):
            found[pid] = start
    fresh = set(found)
    while fresh:
        fresh = {pid for pid, parent in parents.items() if parent in fresh} - found.keys()
        found.update({pid: started[pid] for pid in fresh})
    # Whatever the records say, never ourselves nor what we descend from.
    us = os.getpid()
    while us in parents:
        found.pop(us, None)
        us = parents.pop(us)
    return found


def send_signal(groups: set[int], pids: dict[int, str], number: int) -> None:
    """Signal whole groups, then single processes; those that are gone do not matter."""
    for group in groups:
        with contextlib.suppress(OSError):
            os.killpg(group, number)
    for pid in pids:
        with contextlib.suppress(OSError):
            os.kill(pid, number)


def groups_of(pids: dict[int, str]) -> set[int]:
    """Give the process groups of living processes.

    Only these may be signalled: the id of a group without members may be someone else's.
    """
    if not _HAS_PROC:
        return set(pids)
    fields = (_read(f"/proc/{pid}/stat").rpartition(b")")[2].split() for pid in pids)
    return {int(f[2]) for f in fields if len(f) > 2}


def end_all(groups: set[int], tags: set[str]) -> None:
    """End everything recorded: a polite signal, half a second, then by force."""
    left = living(groups, tags, {})
    send_signal(groups_of(left) & groups, left, signal.SIGTERM)
    deadline = time.monotonic() + _GRACE_S
    while (left := living(groups, tags, left)) and time.monotonic() < deadline:
        time.sleep(0.02)
    for _ in range(_MAX_KILLS):
        if not left:
            break
        send_signal(groups_of(left) & groups, left, signal.SIGKILL)
        time.sleep(0.02)
        left = living(groups, tags, left)


def main() -> None:
    """Record until the pipe ends, then end what is recorded."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    os.chdir("/")
    groups: dict[int, str] = {}
    tags: set[str] = set()
    for line in sys.stdin.buffer:
        group, _, tag = line[1:].decode().strip().partition(" ")
        if line.startswith(b"+"):
            tags.add(tag)
            if group != "0":
                groups[int(group)] = tag
        elif line.startswith(b"-"):
            tags.discard(groups.pop(int(group), ""))
    end_all(set(groups), tags)


def _marks(pid: int) -> list[str]:
    """Give the whole tags in a process's environment; a part of one is no match."""
    name = f"{MARK}=".encode()
    for entry in _read(f"/proc/{pid}/environ").split(b"\0"):
        if entry.startswith(name):
            return entry[len(name) :].decode(errors="replace").split()
    return []


def _group_exists(group: int) -> bool:
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True


def _read(path: str) -> bytes:
    try:
        with open(path, "rb") as file:  # noqa: PTH123  pathlib doubles the start-up time
            return file.read()
    except OSError:
        return b""


if __name__ == "__main__":
    main()
