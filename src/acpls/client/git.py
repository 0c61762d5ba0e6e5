"""What Git knows of files: asks the program ``git`` where there is one, and changes nothing.

Whatever goes wrong (no such program, no repository, one that Git distrusts, no answer in time)
is as if Git knew nothing. Plain functions that block, for any thread, until ``stop`` is set.

Invariant: nothing in the repository is written, the index included; no hook is run, nobody is
asked, and nothing is fetched.
"""

from __future__ import annotations

import hashlib
import logging
import os
import shutil
import stat
import subprocess
import time
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from threading import Event

LIMIT_S = 20.0
"""How many seconds one question to Git may take."""

# How soon it is seen that nobody waits for an answer any more.
_STEP_S = 0.1

LIMIT_BYTES = 16 * 1024 * 1024
"""Larger blobs are not taken out of a repository."""

_ONE_BY_ONE = 1000
_LONGEST_LINE = 8192
# Systems limit how much can be said to a program that is started.
_AT_A_TIME = 200
# No program that the settings of a repository name for one of these is run.
_QUIET = (
    "--no-pager",
    "-c",
    "core.fsmonitor=false",
    "-c",
    f"core.hooksPath={os.devnull}",
    "-c",
    "protocol.allow=never",
)
_ENVIRONMENT = {
    "GIT_LFS_SKIP_SMUDGE": "1",
    "GIT_LITERAL_PATHSPECS": "1",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_TERMINAL_PROMPT": "0",
    "LC_ALL": "C",
}
# Of what others set for Git, only where its own settings and programs are stays.
_KEPT = {"GIT_CONFIG_GLOBAL", "GIT_CONFIG_NOSYSTEM", "GIT_CONFIG_SYSTEM", "GIT_EXEC_PATH"}

_logger = logging.getLogger(__name__)


# --- where things are ----------------------------------------------------------------


def is_top(folder: str) -> bool:
    """Whether a folder is the top of a repository's files."""
    return os.path.lexists(os.path.join(folder, ".git"))  # noqa: PTH118  text in, text out


def repository_of(path: str) -> str | None:
    """The top of the repository that a file or folder is in, nearest first."""
    for folder in (Path(path), *Path(path).parents):
        if is_top(str(folder)):
            return str(folder)
    return None


def at_once(path: str, flags: int) -> int:
    """Open a file (``opener``); a pipe in its place is not waited for."""
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0))


def folders(top: str) -> tuple[str, str]:
    """Where the repository is whose files are here: what is this working tree's alone, and
    what it has in common with others. Both are the same where there is one working tree.
    """
    own = Path(top, ".git")
    line = _first_line(own)
    if line.startswith("gitdir:"):
        own = own.parent / line.removeprefix("gitdir:").strip()
    common = _first_line(own / "commondir")
    return os.path.normpath(own), os.path.normpath(own / common if common else own)


# --- what is committed ---------------------------------------------------------------


def head_matches(paths: Iterable[str], stop: Event | None = None) -> frozenset[str]:
    """Those of the files that hold, to the byte, what the last commit has for them.

    They do as well where Git would make the commit's bytes of them (line endings, filters).
    """
    same: set[str] = set()
    for top, names in _by_repository(paths).items():
        oids = _committed(top, list(names), stop)
        asked: list[str] = []
        for name, oid in oids.items():
            if _raw_oid(names[name][0], oid) == oid:
                same.update(names[name])
            else:
                asked.append(name)
        for name, oid in _filtered_oids(top, asked, stop):
            if oids[name] == oid:
                same.update(names[name])
    return frozenset(same)


def blobs(paths: Iterable[str], stop: Event | None = None) -> dict[str, str]:
    """Of those files that are as they were committed: by path, the name of the blob."""
    found: dict[str, str] = {}
    for top, names in _by_repository(paths).items():
        # Of very many files it is quicker to ask for all there are.
        parts = _parts(list(names)) if len(names) <= _ONE_BY_ONE else ((),)
        for part in parts:
            for name, oid in _unchanged(top, part, stop):
                found.update(dict.fromkeys(names.get(name, ()), oid))
    return found


def read_blob(path: str, oid: str, size_bytes: int, stop: Event | None = None) -> bytes | None:
    """The bytes that a checkout makes of a blob for a file, if they are as many as expected."""
    real = os.path.realpath(path)
    top = repository_of(os.path.dirname(real))  # noqa: PTH120  text in, text out
    if top is None or size_bytes > LIMIT_BYTES:
        return None
    size = _run(top, "cat-file", "-s", oid, stop=stop)
    if size is None or not size.stdout.strip().isdigit() or int(size.stdout) > LIMIT_BYTES:
        return None
    name = Path(real).relative_to(top).as_posix()
    got = _run(top, "cat-file", "--filters", f"--path={name}", oid, stop=stop)
    if got is None or got.returncode or len(got.stdout) != size_bytes:
        return None
    return got.stdout


def _by_repository(paths: Iterable[str]) -> dict[str, dict[str, list[str]]]:
    """By the top of each repository, the names of the files in it, each with its paths."""
    found: dict[str, dict[str, list[str]]] = {}
    for path in paths:
        real = Path(os.path.realpath(path))
        top = repository_of(str(real.parent))
        if top is not None and real.is_file():
            name = real.relative_to(top).as_posix()
            found.setdefault(top, {}).setdefault(name, []).append(path)
    return found


def _committed(top: str, names: Sequence[str], stop: Event | None) -> dict[str, str]:
    """By name, which blob the last commit has for a file."""
    oids: dict[str, str] = {}
    for part in _parts(names):
        listed = _run(top, "ls-tree", "-z", "HEAD", "--", *part, stop=stop)
        for line in listed.stdout.split(b"\0") if listed is not None else ():
            told, _, name = line.partition(b"\t")
            match told.split():
                case [b"100644" | b"100755", b"blob", oid]:
                    oids[os.fsdecode(name)] = oid.decode()
    return oids


def _unchanged(top: str, names: Sequence[str], stop: Event | None) -> Iterator[tuple[str, str]]:
    """By name, the blobs of files that are as committed; of all files, where none is named."""
    status = ("status", "--porcelain", "-z", "--no-renames", "-uno", "--")
    changed = _run(top, *status, *names, stop=stop)
    listed = _run(top, "ls-files", "-s", "-v", "-z", "--", *names, stop=stop)
    if changed is None or changed.returncode or listed is None or listed.returncode:
        return
    others = {line[3:] for line in changed.stdout.split(b"\0")}
    for line in listed.stdout.split(b"\0"):
        told, _, name = line.partition(b"\t")
        # Git does not look at files that are marked otherwise than with an H.
        match told.split():
            case [b"H", b"100644" | b"100755", oid, b"0"] if name not in others:
                yield os.fsdecode(name), oid.decode()


def _filtered_oids(top: str, names: Sequence[str], stop: Event | None) -> Iterator[tuple[str, str]]:
    """By name, which blob Git would make of what a file holds; none for files that went."""
    for part in _parts(names):
        left = part
        while left:
            told = _run(top, "hash-object", "--", *left, stop=stop)
            if told is None:
                return
            oids = told.stdout.decode("ascii", "replace").split()
            yield from zip(left, oids, strict=False)
            # It ends at the first that cannot be read.
            left = left[len(oids) + 1 :]


def _raw_oid(path: str, like: str) -> str | None:
    """Which blob Git makes of what a file holds when it makes it as it is."""
    try:
        with open(path, "rb", opener=at_once) as file:
            status = os.fstat(file.fileno())
            if not stat.S_ISREG(status.st_mode) or status.st_size > LIMIT_BYTES:
                return None
            data = file.read(LIMIT_BYTES + 1)
    except OSError:
        return None
    algorithm = "sha256" if len(like) == 64 else "sha1"
    digest = hashlib.new(algorithm, b"blob %d\0" % len(data), usedforsecurity=False)
    digest.update(data)
    return digest.hexdigest()


def _first_line(file: Path) -> str:
    try:
        with open(file, "rb", opener=at_once) as lines:
            return os.fsdecode(lines.readline(_LONGEST_LINE).strip())
    except (OSError, ValueError):
        # What stands there in the place of a path may have a NUL.
        return ""


def _parts(names: Sequence[str]) -> Iterator[Sequence[str]]:
    for start in range(0, len(names), _AT_A_TIME):
        yield names[start : start + _AT_A_TIME]


# --- the program ---------------------------------------------------------------------


def _run(
    top: str, *arguments: str, stop: Event | None = None
) -> subprocess.CompletedProcess[bytes] | None:
    """Ask Git in a repository; ``None`` when it is not there or does not answer."""
    program = shutil.which("git")
    # Windows looks into the current folder first, where anybody may have put one.
    if program is None or not Path(program).is_absolute() or (stop and stop.is_set()):
        return None
    try:
        with subprocess.Popen(
            [program, *_QUIET, *arguments],
            cwd=top,
            env=_environment(os.environ),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),
        ) as asked:
            try:
                told = _told(asked, time.monotonic() + LIMIT_S, stop)
            except BaseException:
                asked.kill()
                raise
        return subprocess.CompletedProcess(asked.args, asked.returncode, told)
    except (OSError, ValueError, subprocess.TimeoutExpired) as problem:
        _logger.info("git %s gave no answer: %s", arguments[0], problem)
        return None


def _told(asked: subprocess.Popen[bytes], until_s: float, stop: Event | None) -> bytes:
    while True:
        try:
            return asked.communicate(timeout=_STEP_S)[0]
        except subprocess.TimeoutExpired:
            if time.monotonic() > until_s or (stop and stop.is_set()):
                raise


def _environment(given: Mapping[str, str]) -> dict[str, str]:
    """Git's environment: what is set for another repository or another purpose is left out."""
    kept = {
        name: value for name, value in given.items() if not name.startswith("GIT_") or name in _KEPT
    }
    return {**kept, **_ENVIRONMENT}
