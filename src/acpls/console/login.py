"""``acpls login`` and ``logout``: the ways that an agent offers, taken at this terminal.

Invariant: a program that the agent names is shown before it runs, in the foreground, and only
after the agent has ended.
"""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from typing import TYPE_CHECKING

import anyio
import anyio.to_thread

from acpls.catalog import login_command, shell_line, toml_table
from acpls.client import machine
from acpls.client.programs import SETTING, Missing
from acpls.console.config import read_config
from acpls.console.hiding import Hiding
from acpls.console.program import environment
from acpls.console.talk import Failed, talking
from acpls.console.words import Misuse, note, say, say_block
from acpls.session.asks import LogIn, LogOut

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from acpls.console.talk import Talk
    from acpls.events import LinkAsked
    from acpls.session.asks import AgentFacts, AuthMethod
    from acpls.settings import AgentSpec

_WEB = re.compile(r"https?://[^\s]+", re.IGNORECASE)


def log_in(name: str, method: str | None) -> int:
    """Log in to an agent; 0 when that was done. Raises ``Misuse``."""
    spec = read_config().spec(name)
    outcome = anyio.run(_log_in, name, spec, method)
    if isinstance(outcome, int):
        return outcome
    match outcome.kind:
        case "terminal":
            return _run(spec, outcome)
        case "env_var":
            return _tell_variables(name, spec, outcome)
    note(f"{name} offers a way to log in that is not known here: {outcome.kind}")
    return 1


def log_out(name: str) -> int:
    """Log out of an agent; 0 when that was done. Raises ``Misuse``."""
    return anyio.run(_log_out, name, read_config().spec(name))


# --- with the agent --------------------------------------------------------------------


async def _log_in(name: str, spec: AgentSpec, wanted: str | None) -> int | AuthMethod:
    """The exit code, or the way to take once the agent has ended."""
    try:
        async with talking(name, spec, doing=_doing(name, spec), link=_show_link) as talk:
            facts = await talk.ready()
            methods = facts.auth_methods
            method = _named(name, methods, wanted)
            if method is None:
                method = _only(methods, spec.auth_method) or await _choose(name, methods)
            if method is None:
                return 1 if not methods else 2
            if method.kind != "agent":
                return method
            await _wait_for(talk, method)
    except Failed as failed:
        return _failed(name, spec, failed)
    note(f"Logged in to {name}.")
    return 0


async def _log_out(name: str, spec: AgentSpec) -> int:
    try:
        async with talking(name, spec, doing=_doing(name, spec)) as talk:
            facts: AgentFacts = await talk.ready()
            if not facts.can_log_out:
                note(f"{name} has no way to log out.")
                return 1
            await talk.ask(LogOut())
    except Failed as failed:
        return _failed(name, spec, failed)
    note(f"Logged out of {name}.")
    return 0


async def _wait_for(talk: Talk, method: AuthMethod) -> None:
    note(f"{method.name}: waiting for you to finish; Ctrl-C gives up.")
    await talk.ask(LogIn(method.id), None)


def _doing(name: str, spec: AgentSpec) -> Callable[[str], None]:
    hiding = Hiding(spec)
    return lambda doing: note(f"{name}: {hiding.text(doing)}")


def _show_link(asked: LinkAsked) -> bool:
    if not (_WEB.fullmatch(asked.url) and asked.url.isprintable()):
        note(f"The agent wants a page opened that is none of the web: {asked.url}")
        return False
    note(asked.message)
    # Alone on its line, so that it can be copied, and a terminal may make a link of it.
    say(asked.url)
    sys.stdout.flush()
    return True


def _failed(name: str, spec: AgentSpec, failed: Failed) -> int:
    hiding = Hiding(spec)
    note(f"{name}: {hiding.text(failed.failure.message)}")
    for line in hiding.text(failed.failure.detail or "").splitlines():
        note(f"  {line}")
    return 1


# --- which way -------------------------------------------------------------------------


def _named(name: str, methods: Sequence[AuthMethod], wanted: str | None) -> AuthMethod | None:
    if wanted is None:
        return None
    for method in methods:
        if method.id == wanted:
            return method
    there = ", ".join(method.id for method in methods) or "none"
    raise Misuse(f'{name} has no way to log in called "{wanted}"; it offers {there}')


def _only(methods: Sequence[AuthMethod], preferred: str | None) -> AuthMethod | None:
    """The way that goes without asking: the one of the settings, or the only one."""
    if len(methods) == 1:
        return methods[0]
    return next((method for method in methods if method.id == preferred), None)


async def _choose(name: str, methods: Sequence[AuthMethod]) -> AuthMethod | None:
    if not methods:
        note(f"{name} offers no way to log in.")
        return None
    for at, method in enumerate(methods, 1):
        say(f"{at}. {method.name}: {login_command(name, method.id)}")
        if method.description:
            say_block("   " + method.description.replace("\n", "\n   "))
    sys.stdout.flush()
    if not sys.stdin.isatty():
        note("There are several ways to log in: name one of them.")
        return None
    note(f"Which one, 1 to {len(methods)}? ", stays=True)
    # The stream itself would keep a lock over Ctrl-C.
    typed = await anyio.to_thread.run_sync(
        os.read, sys.stdin.fileno(), 1024, abandon_on_cancel=True
    )
    answer = typed.decode(errors="replace").strip()
    if answer.isdecimal() and 1 <= int(answer) <= len(methods):
        return methods[int(answer) - 1]
    return next((method for method in methods if answer == method.id), None)


# --- without the agent -----------------------------------------------------------------


def _run(spec: AgentSpec, method: AuthMethod) -> int:
    if method.command is not None:
        argv = [method.command, *method.args]
    else:
        argv = [spec.command, *spec.args, *method.args]
    env = environment(spec.env, dict(method.env))
    hiding = Hiding(spec)
    note(f"Running {shell_line([argv[0], *hiding.args(argv[1:])])}")
    program = machine.found(argv, env, spec.cwd)
    if isinstance(program, Missing):
        todo = program.todo.replace(SETTING, "the settings")
        note(hiding.text(f"{program.what}; {todo}" if todo else program.what))
        return 1
    try:
        code = _in_the_foreground(program.argv, env, spec.cwd)
    except (OSError, ValueError) as wrong:
        note(hiding.text(str(wrong)))
        return 1
    if code == 0:
        note(f"{method.name}: done.")
        return 0
    note(f"{method.name}: it ended with exit code {code}, so you are not logged in.")
    return code if code > 0 else 128 - code


def _in_the_foreground(argv: Sequence[str], env: Mapping[str, str], cwd: str | None) -> int:
    # Ctrl-C is for the program that the user sees; a function is not passed on to it.
    before = signal.signal(signal.SIGINT, lambda *_: None)
    try:
        return subprocess.run(argv, env=env, cwd=cwd, check=False).returncode
    finally:
        signal.signal(signal.SIGINT, before)


def _tell_variables(name: str, spec: AgentSpec, method: AuthMethod) -> int:
    missing = [it for it in method.variables if not environment(spec.env).get(it)]
    if method.variables and not missing:
        note(f"{method.name}: {', '.join(method.variables)} is set; {name} gets it.")
        return 0
    note(f"{method.name}: set {', '.join(missing) or 'the variables that it describes'}")
    if method.description:
        note(method.description)
    note(f"where your editor is started, or in {read_config().path}, under [agents.{name}]:")
    table = toml_table(name, {"env": dict.fromkeys(missing, "...")})
    say_block(table.partition("\n")[2])
    return 1
