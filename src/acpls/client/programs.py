"""Which program a command means: looked up, seen through shims and first lines.

All of it is decided from what it is given, so that the rules of Windows can be tested
anywhere. A command is a program and a list of arguments, never a shell line.

Invariant: pure, but for the ``Files`` that it is given. The arguments come out as they went
in, after those that the program's own shim or first line puts before them.
"""

from __future__ import annotations

import ntpath
import posixpath
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Protocol

from acpls.client import shims

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from types import ModuleType

# Stands in advice for the setting that names the program.
SETTING: Final = "agents.NAME.command"

_HINTS: Final = {
    "npx": "npx comes with Node.js: install that",
    "npm": "npm comes with Node.js: install that",
    "node": "node is Node.js: install that",
    "uvx": "uvx comes with uv: install that",
    "bunx": "bunx comes with Bun: install that",
}
_DEFAULT_PATHEXT: Final = ".COM;.EXE;.BAT;.CMD"
_DEFAULT_PATH: Final = "/bin:/usr/bin"
_BINARY: Final = (".exe", ".com")
_BATCH: Final = (".cmd", ".bat")
# What cmd.exe makes something else of, quoted or not, or ends the line at.
_CMD_SPECIAL: Final = re.compile(r'["%!^&|<>()\r\n]')
_OVERRIDE: Final = re.compile(r"(?:^|_)(?:EXECUTABLE|EXE|BIN|BINARY|COMMAND|PATH)$", re.IGNORECASE)
_NAMED_FOLDERS: Final = 3


class Files(Protocol):
    """The files of a machine; nothing here raises."""

    def is_file(self, path: str) -> bool:
        """Whether there is a file that is no folder."""

    def is_folder(self, path: str) -> bool:
        """Whether there is a folder."""

    def may_run(self, path: str) -> bool:
        """Whether we may execute the file; on Windows that is its name's matter."""

    def head(self, path: str) -> str:
        """The first few thousand characters of a file, ``""`` where it cannot be read."""


@dataclass(frozen=True, slots=True)
class Machine:
    """Where a program is to be started: the whole environment, and an absolute folder."""

    env: Mapping[str, str]
    cwd: str
    files: Files
    windows: bool = False

    def value(self, name: str) -> str | None:
        """A variable; on Windows the case of its name does not matter."""
        if not self.windows:
            return self.env.get(name)
        return next((v for k, v in self.env.items() if k.upper() == name), None)

    def search_path(self) -> list[str]:
        """The folders of PATH, as absolute paths, each once."""
        joined = self.value("PATH")
        if joined is None:
            joined = "" if self.windows else _DEFAULT_PATH
        parts = joined.split(";" if self.windows else ":")
        # An empty part means the current folder, but on Windows nothing.
        folders = [part.strip('"') if self.windows else part for part in parts]
        wanted = [f for f in folders if f or not self.windows] if joined else []
        return list(dict.fromkeys(self.paths.join(self.cwd, folder) for folder in wanted))

    @property
    def paths(self) -> ModuleType:
        """The functions on paths of this machine."""
        return ntpath if self.windows else posixpath


@dataclass(frozen=True, slots=True)
class Program:
    """What to start. ``argv`` begins with an absolute path; ``note`` is a line for the log."""

    argv: tuple[str, ...]
    note: str = ""


@dataclass(frozen=True, slots=True)
class Missing:
    """There is no such program. ``what`` says so in one line, ``todo`` what helps; the latter
    may hold ``SETTING``.
    """

    what: str
    todo: str


def resolve(command: str, args: Sequence[str], machine: Machine) -> Program | Missing:
    """Say what to start for a command."""
    found = locate(command, machine)
    if isinstance(found, Missing):
        return found
    if machine.windows:
        return _on_windows(found, tuple(args), machine)
    return _with_interpreter(found, tuple(args), machine)


def locate(command: str, machine: Machine) -> str | Missing:
    """Find a program's file: on PATH, or from the machine's ``cwd`` when it has a separator.

    On Windows the endings of PATHEXT are tried that a process can be started from.
    """
    paths, files = machine.paths, machine.files
    wanted = _at_home(command, machine)
    if not (paths.dirname(wanted) or wanted in (".", "..")):
        for path in _candidates(machine.search_path(), wanted, machine):
            if files.is_file(path) and files.may_run(path):
                return path
        return Missing(f"the program {command!r} was not found {_searched(machine)}", _todo(wanted))
    full = paths.join(machine.cwd, wanted)
    # Where ".." leads from a symbolic link, only the system knows; Windows goes by the name.
    full = paths.normpath(full) if machine.windows or ".." not in full else full
    folder, name = paths.split(full)
    there = [p for p in _candidates([folder], name, machine) if files.is_file(p)]
    if (runs := next(filter(files.may_run, there), None)) is not None:
        return runs
    if there:
        return Missing(f"the program {command!r} is not executable", f"chmod +x {full}")
    if files.is_folder(full):
        todo = f"name the program in it in {SETTING}"
        return Missing(f"the program {command!r} is a folder, not a program", todo)
    where = "in" if files.is_folder(folder) else "since there is no folder"
    return Missing(f"the program {command!r} was not found {where} {folder}", _todo(name))


def batch_overrides(env: Mapping[str, str]) -> tuple[str, ...]:
    """Warnings about variables that give an agent a batch file for a program.

    Agents start what such a variable names without a shell, and Windows then refuses it.
    """
    return tuple(
        f"{name} names a batch file ({value}), which agents cannot start; name the program itself"
        for name, value in env.items()
        if _OVERRIDE.search(name) and value.strip().lower().endswith(_BATCH) and ";" not in value
    )


def unusable(argv: Sequence[str], env: Mapping[str, str]) -> str | None:
    """Say which argument or variable no program can be given, if there is one.

    A value is not repeated, since it may be a secret.
    """
    named = [(f"argument {number}", text) for number, text in enumerate(argv)]
    named[:1] = [("the program's name", argv[0])]
    for name, value in env.items():
        shown = name.encode("ascii", "backslashreplace").decode()
        if not name or "=" in name:
            return f"the environment has a variable with the impossible name {shown!r}"
        named += [(f"the name of the variable {shown}", name), (f"the variable {shown}", value)]
    for what, text in named:
        if "\0" in text:
            return f"{what} holds a null byte"
        try:
            text.encode("utf-8", "surrogateescape")
        except UnicodeEncodeError:
            return f"{what} holds half of a surrogate pair, which is no text"
    return None


# --- looking up ----------------------------------------------------------------------


def _at_home(command: str, machine: Machine) -> str:
    home = machine.value("USERPROFILE" if machine.windows else "HOME")
    if home and (command == "~" or command[:2] in ("~/", "~\\" if machine.windows else "~/")):
        return home + command[1:]
    return command


def _candidates(folders: list[str], name: str, machine: Machine) -> list[str]:
    """The files that may be meant, in the order in which they are looked for."""
    join = machine.paths.join
    if not machine.windows:
        return [join(folder, name) for folder in folders]
    known = (machine.value("PATHEXT") or _DEFAULT_PATHEXT).lower().split(";")
    endings = [ending for ending in known if ending in _BINARY + _BATCH]
    exact = [join(folder, name) for folder in folders]
    if name.lower().endswith(_BINARY + _BATCH):
        return exact
    # npm puts a script for other systems under the bare name beside the batch file.
    return [join(folder, name + ending) for folder in folders for ending in endings] + exact


def _searched(machine: Machine) -> str:
    folders = machine.search_path()
    if not folders:
        return "since PATH is empty"
    if len(folders) == 1:
        return f"in {folders[0]}, the only folder of PATH"
    some = ", ".join(folders[:_NAMED_FOLDERS]) + (", ..." if len(folders) > _NAMED_FOLDERS else "")
    return f"in the {len(folders)} folders of PATH ({some})"


def _todo(name: str) -> str:
    plain = re.sub(r"\.(?:cmd|exe)$", "", re.split(r"[\\/]", name)[-1].lower())
    return f"{_HINTS.get(plain, 'install it')}, or give its full path in {SETTING}"


# --- what a file is started with -----------------------------------------------------


def _with_interpreter(path: str, args: tuple[str, ...], machine: Machine) -> Program | Missing:
    """Systems but Windows read the first line themselves; here it is only checked."""
    line = shims.first_line(machine.files.head(path))
    if line is not None and not machine.files.is_file(line.interpreter):
        what = f"{path!r} cannot run: its interpreter {line.interpreter!r} is missing"
        return Missing(what, f"install that, or name another program in {SETTING}")
    if line is not None and line.by_path is not None:
        found = locate(line.by_path, machine)
        if isinstance(found, Missing):
            what = f"{path!r} cannot run: {found.what.removeprefix('the program ')}"
            return Missing(what, f"{found.todo.partition(',')[0]}, or add its folder to PATH")
    return Program((path, *args))


def _on_windows(path: str, args: tuple[str, ...], machine: Machine) -> Program | Missing:
    ending = ntpath.splitext(path)[1].lower()
    if ending in _BINARY:
        return Program((path, *args))
    text = machine.files.head(path)
    if ending in _BATCH:
        return _behind_batch(path, text, args, machine)
    line = shims.first_line(text) or shims.by_ending(ending)
    if line is None:
        what = f"{path!r} is no program that Windows can start"
        return Missing(what, f"name the program that runs it in {SETTING}")
    name = line.by_path or posixpath.basename(line.interpreter)
    interpreter = _binary(name, machine)
    if interpreter is None:
        what = f"{path!r} cannot run: it needs {name!r}, which was not found {_searched(machine)}"
        return Missing(what, f"install that, or name the program that runs it in {SETTING}")
    return Program((interpreter, *line.args, path, *args), f"{path} is run by {interpreter}")


def _behind_batch(
    path: str, text: str, args: tuple[str, ...], machine: Machine
) -> Program | Missing:
    """Look behind the batch files that package managers make; cmd.exe loses things."""
    shim = shims.read(text, ntpath.dirname(path))
    if shim is not None and machine.files.is_file(shim.target):
        note = f"{shim.target} is started directly, not by {path}"
        if shim.runner is None:
            return Program((shim.target, *args), note)
        beside = shim.beside is not None and machine.files.is_file(shim.beside)
        runner = shim.beside if beside else _binary(shim.runner, machine)
        if runner is not None:
            return Program((runner, *shim.args, shim.target, *args), note)
    if any(map(_CMD_SPECIAL.search, args)):
        what = f"{path!r} is a batch file and cannot be given such arguments unchanged"
        return Missing(what, f"name the program that it starts in {SETTING}")
    return Program((path, *args), f"{path} is a batch file of an unknown kind")


def _binary(name: str, machine: Machine) -> str | None:
    if ntpath.splitext(name)[1].lower() not in _BINARY:
        name += ".exe"
    found = locate(name, machine)
    return None if isinstance(found, Missing) else found
