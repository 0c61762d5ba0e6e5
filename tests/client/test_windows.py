"""Job objects, with a stand-in for the system; how a child uses them where there are any."""

from __future__ import annotations

import ctypes
import os
import subprocess
from typing import Any

import pytest

from acpls.client import process, windows
from acpls.client.windows import Job, job_of
from rim_stage import all_gone

KILL_ON_CLOSE = 0x2000


class System:
    """The functions of kernel32; ``failing`` names those that give nothing."""

    def __init__(self, *failing: str) -> None:
        self.failing = failing
        self.calls: list[tuple[Any, ...]] = []
        self.flags = 0

    def __getattr__(self, name: str) -> Any:
        def call(*arguments: Any) -> int:
            if name == "SetInformationJobObject":
                self.flags = arguments[2]._obj.BasicLimitInformation.LimitFlags
                arguments = (arguments[0], arguments[1], arguments[3])
            self.calls.append((name, *arguments))
            handles = {"CreateJobObjectW": 7, "OpenProcess": 8}
            return 0 if name in self.failing else handles.get(name, 1)

        return call


def test_x02_a_job_ends_its_processes_when_its_handle_closes() -> None:
    system = System()
    job = job_of(42, system)
    assert job is not None
    assert system.flags == KILL_ON_CLOSE
    assert system.calls == [
        ("CreateJobObjectW", None, None),
        ("SetInformationJobObject", 7, 9, ctypes.sizeof(windows._ExtendedLimits)),
        ("OpenProcess", 0x0101, False, 42),
        ("AssignProcessToJobObject", 7, 8),
        ("CloseHandle", 8),
    ]
    system.calls.clear()
    job.end()
    job.end()
    assert system.calls == [("TerminateJobObject", 7, 1), ("CloseHandle", 7)]
    assert not job.add(43)


@pytest.mark.parametrize(
    ("failing", "closed"),
    [
        ("CreateJobObjectW", []),
        ("SetInformationJobObject", [7]),
        ("OpenProcess", [7]),
        ("AssignProcessToJobObject", [8, 7]),
    ],
)
def test_x02_without_a_job_no_handle_is_left(failing: str, closed: list[int]) -> None:
    system = System(failing)
    assert job_of(42, system) is None
    assert [call[1] for call in system.calls if call[0] == "CloseHandle"] == closed


def test_there_are_no_jobs_elsewhere() -> None:
    assert job_of(42) is None


def test_x02_the_structures_are_as_large_as_those_of_windows() -> None:
    """Their sizes are written in the headers of the 64-bit system."""
    assert ctypes.sizeof(windows._BasicLimits) == 64
    assert ctypes.sizeof(windows._ExtendedLimits) == 144


def test_the_functions_are_told_how_wide_handles_are(monkeypatch: pytest.MonkeyPatch) -> None:
    class Function:
        restype: Any = None
        argtypes: Any = None

    class Library:
        def __init__(self, name: str, *, use_last_error: bool) -> None:
            assert (name, use_last_error) == ("kernel32", True)
            for function in (
                "CreateJobObjectW",
                "OpenProcess",
                "SetInformationJobObject",
                "AssignProcessToJobObject",
                "TerminateJobObject",
                "CloseHandle",
            ):
                setattr(self, function, Function())

    monkeypatch.setattr(ctypes, "WinDLL", Library, raising=False)
    system = windows._kernel32()
    assert system.OpenProcess.restype is system.CreateJobObjectW.restype is ctypes.c_void_p
    assert len(system.SetInformationJobObject.argtypes) == 4


@pytest.mark.anyio
@pytest.mark.parametrize("with_job", [True, False])
async def test_x02_a_child_is_put_into_a_job_and_ended_with_it(
    with_job: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """X02: also what it started; without a job it is ended alone."""
    made: list[int] = []

    class Group(Job):
        """A job as the process group of this system does it."""

        def __init__(self, pid: int) -> None:
            made.append(pid)

        def end(self) -> None:
            os.killpg(made[0], 9)

    monkeypatch.setattr(windows, "job_of", Group if with_job else lambda pid: None)
    monkeypatch.setattr(process, "_POSIX", False)
    monkeypatch.setattr(subprocess, "Popen", in_a_group(subprocess.Popen))
    child = await process.start(["sh", "-c", "sleep 60 & echo $!; wait"])
    grandchild = int(await child.receive())
    await child.end(0.0)
    assert all_gone([child.pid], 1.0)
    if with_job:
        assert made == [child.pid]
        assert all_gone([grandchild], 1.0)
    else:
        assert not all_gone([grandchild], 0.1)
        os.kill(grandchild, 9)


def in_a_group(popen: Any) -> Any:
    """What ``creationflags`` ask for on Windows."""

    def start(*args: Any, **options: Any) -> Any:
        return popen(*args, **{**options, "process_group": 0})

    return start
