"""The environment that agents are started with.

A desktop starts an editor without what the user's shell would set: no PATH to node, no
keys. Then the login shell is asked, once, for the environment that it makes.

Invariant: what is asked of the shell ends with all it started, after ``LIMIT_S`` at the
latest, and when nothing comes of it agents get our own environment.
"""

from __future__ import annotations

import json
import os
import re
import sys
import uuid
from typing import TYPE_CHECKING, Final, Literal

import anyio

from acpls.client import process

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from acpls.client.watch import Watch

LIMIT_S: Final = 5.0
_LIMIT_BYTES: Final = 1024 * 1024
# Set for the shell, so that start files can leave out what is slow.
RESOLVING: Final = "ACPLS_RESOLVING_ENVIRONMENT"

# What the shell sets for itself.
_THE_SHELLS: Final = {"PWD", "OLDPWD", "SHLVL", "_", RESOLVING}
# What belongs to the session that the server runs in, whatever the shell makes of it.
_OURS: Final = {"DISPLAY", "WAYLAND_DISPLAY", "SSH_AUTH_SOCK"}
_OURS_BEGIN: Final = ("ACPLS_", "XDG_", "DBUS_")

# Single quotes mean the same to sh, bash, zsh, fish and csh around what has no quote,
# backslash or exclamation mark.
_TELL: Final = (
    "import json,os,sys;m=sys.argv[1];"
    'sys.stdout.write("<"+m+json.dumps(dict(os.environ))+m+">");sys.stdout.flush()'
)
_UNQUOTABLE: Final = re.compile(r"['\\!\r\n]")


def wants_login_shell(
    env: Mapping[str, str], platform: str, *, setting: Literal["auto"] | bool
) -> bool:
    """Whether the login shell is to be asked. ``platform`` is ``sys.platform``.

    ``"auto"``: on Linux and macOS, when nothing in the environment comes from a terminal.
    """
    if setting is not True and setting != "auto":
        return False
    if platform == "win32" or not env.get("SHELL"):
        return False
    if setting is True:
        return True
    in_terminal = env.get("TERM", "") not in ("", "dumb") or env.get("SHLVL", "0") != "0"
    return not in_terminal and platform in ("linux", "darwin")


def shell_command(shell: str, python: str, mark: str) -> list[str] | None:
    """The argument list that makes ``shell`` print its environment between marks.

    Tried with dash, bash, zsh, fish and tcsh. ``None``: the shell cannot be asked so.
    """
    if _UNQUOTABLE.search(python):
        return None
    line = f"'{python}' -I -S -c '{_TELL}' {mark}"
    name = re.split(r"[\\/]", shell)[-1]
    if name in ("csh", "tcsh"):
        # They take -l only alone; without it they read .cshrc, where PATH usually is.
        return [shell, "-i", "-c", line]
    return [shell, "-l", "-i", "-c", line]


def told_environment(output: bytes, mark: str) -> dict[str, str] | None:
    """Find the environment in what the shell printed; ``None``: it is not there."""
    pattern = rb"<%b(\{.*?\})%b>" % (mark.encode(), mark.encode())
    for found in re.findall(pattern, output, re.DOTALL):
        try:
            told = json.loads(found)
        except ValueError:
            continue
        return {str(name): str(value) for name, value in told.items()}
    return None


def with_login(own: Mapping[str, str], login: Mapping[str, str]) -> dict[str, str]:
    """Lay the login shell's variables over our own, but for those that stay ours."""
    kept = {
        name for name in own if name in _THE_SHELLS | _OURS or name.startswith(_OURS_BEGIN)
    } | _THE_SHELLS
    return {**own, **{name: value for name, value in login.items() if name not in kept}}


def overlaid(
    base: Mapping[str, str], over: Mapping[str, str], *, windows: bool = os.name == "nt"
) -> dict[str, str]:
    """Lay some variables over an environment; on Windows ``Path`` and ``PATH`` are one."""
    if not windows:
        return {**base, **over}
    replaced = {name.upper() for name in over}
    return {**{k: v for k, v in base.items() if k.upper() not in replaced}, **over}


class LoginShell:
    """Asks the login shell, once in the server's life; whoever asks meanwhile waits for it."""

    def __init__(self, watch: Watch | None = None, limit_s: float = LIMIT_S) -> None:
        self._watch = watch
        self._limit_s = limit_s
        self._asking: anyio.Event | None = None
        self._environment: dict[str, str] | None = None
        self.known = False
        """Whether there is nothing left to wait for."""

    async def environment(self, log: Callable[[str], None]) -> dict[str, str]:
        """Our environment with the login shell's over it; ours alone, with a line in the
        log, when that could not be had.
        """
        own = dict(os.environ)
        while not self.known:
            if self._asking is not None:
                # Whoever asks may be ended meanwhile; then the next one does.
                await self._asking.wait()
                continue
            asking = self._asking = anyio.Event()
            try:
                self._environment = await self._ask(own, log)
                self.known = True
            finally:
                self._asking = None
                asking.set()
        return own if self._environment is None else with_login(own, self._environment)

    async def _ask(
        self, own: Mapping[str, str], log: Callable[[str], None]
    ) -> dict[str, str] | None:
        shell, mark = own.get("SHELL", ""), uuid.uuid4().hex
        argv = shell_command(shell, sys.executable, mark)
        if not shell or argv is None:
            why = "SHELL is not set" if not shell else f"{sys.executable!r} has an odd name"
            log(f"acpls: the login shell was not asked: {why}")
            return None
        output = b""
        with anyio.move_on_after(self._limit_s) as limit:
            try:
                output = await self._listen(argv, {**own, RESOLVING: "1"}, mark)
            except process.StartError as error:
                log(f"acpls: the login shell was not asked: {error}")
                return None
        told = told_environment(output, mark)
        if told is not None:
            log(f"acpls: took {len(told)} variables of the login shell {shell}")
            return told
        late = f"it did not answer within {self._limit_s:g} seconds"
        problem = late if limit.cancelled_caught else "its answer has no environment"
        log(f"acpls: the environment of the login shell {shell!r} is not used: {problem}")
        return None

    async def _listen(self, argv: list[str], env: Mapping[str, str], mark: str) -> bytes:
        child = await process.start(argv, env, watch=self._watch, listens=False)
        output = bytearray()
        end = f"{mark}>".encode()
        try:
            while len(output) < _LIMIT_BYTES and (data := await child.receive()):
                output += data
                if end in output[-len(data) - len(end) :]:
                    break
        finally:
            # What it printed is ours; all that it started, such as an agent of its own, ends.
            await child.end(0.0)
        return bytes(output)
