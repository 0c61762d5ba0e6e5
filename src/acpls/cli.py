"""The command line: chooses what runs, and loads no more than that."""

from __future__ import annotations

import argparse
import gc
import logging
import os
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn, TypeAlias

from acpls import __version__

if TYPE_CHECKING:
    from collections.abc import Sequence

    from anyio.abc import TaskGroup

    from acpls.bridge import Bridge
    from acpls.lsp.protocol import EditorServer
    from acpls.lsp.rim import EditorRim

    Parsers: TypeAlias = argparse._SubParsersAction[argparse.ArgumentParser]  # noqa: SLF001  no other name


def main(argv: Sequence[str] | None = None) -> None:
    """Run ``acpls``; without a command it serves, but on a terminal it prints its help."""
    parser = _parser()
    arguments = parser.parse_args(argv)
    if arguments.command is None:
        if sys.stdin.isatty():
            parser.print_help()
            return
        arguments.command = "serve"
    match arguments.command:
        case "serve":
            serve(getattr(arguments, "log_level", "warning"))
        case "demo-agent":
            from acpls.demo.agent import main as agent

            sys.exit(agent(["--protocol", arguments.protocol]))
        case "demo":
            if arguments.editor is not None:
                from acpls.demo.editors import open_editor

                sys.exit(open_editor(arguments.editor, arguments.protocol))
            from acpls.demo.player import play

            sys.exit(play(arguments.protocol, arguments.agent))
        case _:
            from acpls.console import run

            sys.exit(run(arguments))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="acpls",
        description="The language server for the Agent Client Protocol: any ACP coding agent "
        "in any LSP editor.",
    )
    parser.add_argument("--version", action="version", version=f"acpls {__version__}")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND")
    server = commands.add_parser("serve", help="serve an editor on stdin and stdout (the default)")
    server.add_argument(
        "--log-level",
        default="warning",
        choices=("debug", "info", "warning", "error"),
        help="what goes to stderr (default: warning)",
    )
    agent = commands.add_parser("demo-agent", help="a small ACP agent to try things with")
    agent.add_argument("--protocol", default="auto", choices=("auto", "1", "2"))
    demo = commands.add_parser("demo", help="play an editing session on a sample project")
    demo.add_argument(
        "--protocol",
        default="2",
        choices=("1", "2"),
        help="the version of ACP that the demo agent speaks (default: 2)",
    )
    demo.add_argument("--editor", choices=("nvim", "hx"), help="open the project in an editor")
    demo.add_argument(
        "--agent", metavar="NAME", help="an agent of your config.toml instead of the demo's"
    )
    _add_agents(commands)
    doctor = commands.add_parser("doctor", help="examine your agents, for a report to pass on")
    doctor.add_argument("names", nargs="*", metavar="NAME", help="only these agents")
    doctor.add_argument("--json", action="store_true", help="the report as JSON")
    _add_download(doctor)
    login = commands.add_parser("login", help="log in to an agent")
    login.add_argument("agent", metavar="AGENT")
    login.add_argument("method", nargs="?", metavar="METHOD", help="one of the ways it offers")
    logout = commands.add_parser("logout", help="log out of an agent")
    logout.add_argument("agent", metavar="AGENT")
    return parser


def _add_agents(commands: Parsers) -> None:
    agents = commands.add_parser("agents", help="list, add and check agents")
    actions = agents.add_subparsers(dest="action", metavar="ACTION")
    listing = actions.add_parser("list", help="those of your settings, and those known (default)")
    listing.add_argument("--json", action="store_true", help="as JSON")
    show = actions.add_parser("show", help="the settings of one, as they are in effect")
    show.add_argument("name", metavar="NAME")
    show.add_argument("--json", action="store_true", help="as JSON")
    add = actions.add_parser("add", help="add one to your config.toml")
    add.add_argument("what", metavar="NAME|FILE", help="a known agent, or a registry file")
    add.add_argument("--as", dest="name", metavar="NAME", help="what it is called in the settings")
    add.add_argument("--id", metavar="ID", help="which one of the file")
    add.add_argument("--yes", action="store_true", help="do not ask")
    check = actions.add_parser("check", help="start them, and tell what they answer")
    check.add_argument("names", nargs="*", metavar="NAME", help="only these agents")
    _add_download(check)


def _add_download(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--download",
        action="store_true",
        help="start also what may be downloaded first (npx, uvx)",
    )


def serve(log_level: str) -> NoReturn:
    """Serve one editor, then end the process."""
    # Collecting garbage while everything is being imported costs more than it brings; the
    # main loop turns it on again.
    gc.disable()
    # stderr is for people: editors show it, so nothing but what matters goes there.
    logging.basicConfig(
        level=log_level.upper(), format="%(levelname)s %(name)s: %(message)s", stream=sys.stderr
    )
    from acpls.lsp.commands import COMMANDS
    from acpls.lsp.mainloop import serve as run
    from acpls.lsp.protocol import EditorServer

    run(_Application, EditorServer("acpls", __version__, commands=COMMANDS))


class _Application:
    """The server: a doorstep at first, and the bridge as soon as it is needed."""

    def __init__(self, tasks: TaskGroup, server: EditorServer) -> None:
        from acpls.lsp.doorstep import Doorstep

        self._tasks = tasks
        self._server = server
        self._bridge: Bridge | None = None
        Doorstep(server, self._build)

    def _build(self) -> EditorRim:
        from acpls.bridge import Bridge
        from acpls.client.memory import Memory
        from acpls.effects import TellUser
        from acpls.plugins import load
        from acpls.settings import AgentSpec

        demo = AgentSpec(sys.executable, ("-m", "acpls", "demo-agent"))
        launch = f"{time.strftime('%Y%m%d-%H%M%S')}-{os.getpid()}"
        layer, problem = _config_file()
        self._bridge = Bridge(
            self._tasks,
            self._server,
            demo,
            launch=launch,
            config_layer=layer,
            plugins=load(),
            memory=Memory(_cache() / "versions.json"),
            state=_state(),
        )
        if problem is not None:
            self._bridge.rim.perform(TellUser("error", problem))
        return self._bridge.rim

    async def aclose(self) -> None:
        """End all agents."""
        if self._bridge is not None:
            await self._bridge.aclose()


def _cache() -> Path:
    """The folder for what can be found out again."""
    import platformdirs

    return Path(platformdirs.user_cache_dir("acpls", appauthor=False))


def _state() -> Path:
    """The folder for what would be missed: what files held, and what was reviewed of them."""
    import platformdirs

    return Path(platformdirs.user_state_dir("acpls", appauthor=False))


def _config_file() -> tuple[Any, str | None]:
    """The user's own settings file, decoded, and why it is not; ``None`` when there is none."""
    import tomllib

    import platformdirs

    path = Path(platformdirs.user_config_dir("acpls", appauthor=False)) / "config.toml"
    try:
        return tomllib.loads(path.read_text("utf-8")), None
    except FileNotFoundError:
        return None, None
    except (OSError, ValueError) as problem:
        logging.getLogger("acpls").warning("%s cannot be read: %s", path.name, problem)
        return None, f"None of {path.name} holds, since it cannot be read: {problem}"
