"""Writes the accounts of the recordings anew, or says which of them no longer hold.

    python tests/replay/accounts.py             name those that differ
    python tests/replay/accounts.py --write     write all, to be read as a difference by Git
    ... NAME [NAME...]                          these only, as ``agent/scenario``

Those of questions are kept by agent, in ``questions.md``.

An account is a promise only once somebody has read it beside its recording.
"""

from __future__ import annotations

import sys

import anyio
import questioned
from alibis import vanished
from player import play
from recorded import account_file, names
from telling import account


def told(name: str) -> str:
    """The account of a recording as it is now."""
    processes = anyio.run(play, name)
    for process in processes:
        vanished(process)
    return account(name, processes)


def main(arguments: list[str]) -> int:
    """Run the command line."""
    write = "--write" in arguments
    wanted = [x for x in arguments if x != "--write"] or names()
    different = []
    for name in wanted:
        file, now = account_file(name), told(name)
        if not file.exists() or file.read_text("utf-8") != now:
            different.append(name)
            if write:
                file.write_text(now, "utf-8", newline="\n")
    for agent in dict.fromkeys(name.split("/", maxsplit=1)[0] for name in wanted):
        if agent in questioned.AGENTS:
            file, now = questioned.accounts_file(agent), questioned.accounts(agent)
            if not file.exists() or file.read_text("utf-8") != now:
                different.append(f"{agent}/questions.md")
                if write:
                    file.write_text(now, "utf-8", newline="\n")
    sys.stdout.write("".join(f"{'written' if write else 'differs'}: {x}\n" for x in different))
    return 0 if write or not different else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
