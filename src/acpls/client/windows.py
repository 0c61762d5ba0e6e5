"""Job objects of Windows: a child that ends with all of its descendants.

Never run so far: it was written for Windows and only tested with a stand-in for the system.
What a child starts between its own start and ``Job.add``, some microseconds, is not in
the job.

Invariant: nothing here raises; without a job a child is ended alone.
"""

from __future__ import annotations

import ctypes
from ctypes import wintypes
from typing import Any, Final

_EXTENDED_LIMITS: Final = 9
_KILL_ON_CLOSE: Final = 0x2000
_MAY_ASSIGN: Final = 0x0100 | 0x0001  # PROCESS_SET_QUOTA, PROCESS_TERMINATE


class _BasicLimits(ctypes.Structure):
    _fields_ = (
        ("PerProcessUserTimeLimit", ctypes.c_int64),
        ("PerJobUserTimeLimit", ctypes.c_int64),
        ("LimitFlags", ctypes.c_uint32),
        ("MinimumWorkingSetSize", ctypes.c_size_t),
        ("MaximumWorkingSetSize", ctypes.c_size_t),
        ("ActiveProcessLimit", ctypes.c_uint32),
        ("Affinity", ctypes.c_size_t),
        ("PriorityClass", ctypes.c_uint32),
        ("SchedulingClass", ctypes.c_uint32),
    )


class _ExtendedLimits(ctypes.Structure):
    _fields_ = (
        ("BasicLimitInformation", _BasicLimits),
        ("IoInfo", ctypes.c_uint64 * 6),
        ("ProcessMemoryLimit", ctypes.c_size_t),
        ("JobMemoryLimit", ctypes.c_size_t),
        ("PeakProcessMemoryUsed", ctypes.c_size_t),
        ("PeakJobMemoryUsed", ctypes.c_size_t),
    )


class Job:
    """A set of processes that Windows ends when our handle of it closes, also when we die."""

    def __init__(self, system: Any, handle: int) -> None:
        self._system = system
        self._handle: int | None = handle

    def add(self, pid: int) -> bool:
        """Put a process into the job, and whatever it starts from now on; say if it worked."""
        process = self._system.OpenProcess(_MAY_ASSIGN, False, pid)
        if not process or self._handle is None:
            return False
        added = bool(self._system.AssignProcessToJobObject(self._handle, process))
        self._system.CloseHandle(process)
        return added

    def end(self) -> None:
        """End all that is in the job."""
        if self._handle is not None:
            self._system.TerminateJobObject(self._handle, 1)
            self._system.CloseHandle(self._handle)
            self._handle = None


def job_of(pid: int, system: Any = None) -> Job | None:
    """Make a job with a process that was just started in it; ``None`` where that fails.

    ``system``: the functions of kernel32, for tests.
    """
    job = _new_job(system)
    if job is None or job.add(pid):
        return job
    job.end()
    return None


def _new_job(system: Any = None) -> Job | None:
    system = _kernel32() if system is None else system
    if system is None:
        return None
    handle = system.CreateJobObjectW(None, None)
    if not handle:
        return None
    limits = _ExtendedLimits()
    limits.BasicLimitInformation.LimitFlags = _KILL_ON_CLOSE
    size = ctypes.sizeof(limits)
    if system.SetInformationJobObject(handle, _EXTENDED_LIMITS, ctypes.byref(limits), size):
        return Job(system, handle)
    system.CloseHandle(handle)
    return None


def _kernel32() -> Any:
    load: Any = getattr(ctypes, "WinDLL", None)
    if load is None:
        return None
    system = load("kernel32", use_last_error=True)
    # Handles are as wide as pointers, which ctypes does not guess.
    handle = wintypes.HANDLE
    system.CreateJobObjectW.restype = system.OpenProcess.restype = handle
    system.CreateJobObjectW.argtypes = (wintypes.LPVOID, wintypes.LPCWSTR)
    system.OpenProcess.argtypes = (wintypes.DWORD, wintypes.BOOL, wintypes.DWORD)
    system.SetInformationJobObject.argtypes = (
        handle,
        ctypes.c_int,
        wintypes.LPVOID,
        wintypes.DWORD,
    )
    system.AssignProcessToJobObject.argtypes = (handle, handle)
    system.TerminateJobObject.argtypes = (handle, wintypes.UINT)
    system.CloseHandle.argtypes = (handle,)
    return system
