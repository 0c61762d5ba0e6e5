"""Commands for a person at a terminal: agents listed, added, checked, examined, logged in.

Each gives its exit code: 0 when all is well, 1 when something is not, 2 when it was asked
wrongly, 130 after Ctrl-C.

Invariant: nothing is downloaded unasked, no secret is shown, and no process is left behind.
"""

# ruff: noqa: PLC0415  each command loads what it needs itself

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from argparse import Namespace


def run(arguments: Namespace) -> int:
    """Run the command that the command line named."""
    from acpls.console.words import Misuse, forgiving, note

    forgiving(sys.stdout)
    forgiving(sys.stderr)
    try:
        code = _run(arguments)
        sys.stdout.flush()
    except Misuse as misuse:
        note(f"acpls: {misuse}")
        return 2
    except KeyboardInterrupt:
        note("Stopped.")
        return 130
    except BrokenPipeError:
        # Whoever read has seen enough, and Python would complain when it closes the stream.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    return code


def _run(arguments: Namespace) -> int:
    match arguments.command, getattr(arguments, "action", None):
        case "doctor", _:
            from acpls.console.doctor import examine

            return examine(arguments.names, as_json=arguments.json, download=arguments.download)
        case "login", _:
            from acpls.console.login import log_in

            return log_in(arguments.agent, arguments.method)
        case "logout", _:
            from acpls.console.login import log_out

            return log_out(arguments.agent)
        case _, "check":
            from acpls.console.checking import check

            return check(arguments.names, download=arguments.download)
        case _, "add":
            from acpls.console.adding import add

            return add(arguments.what, arguments.name, arguments.id, yes=arguments.yes)
        case _, "show":
            from acpls.console.listing import show

            return show(arguments.name, as_json=arguments.json)
    from acpls.console.listing import show_all

    return show_all(as_json=getattr(arguments, "json", False))
