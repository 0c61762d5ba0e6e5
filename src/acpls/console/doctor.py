"""``acpls doctor``: what each agent does when it is started, in words that can be passed on.

Invariant: no secret and no home folder is in the report, and no session is left at the agent
that it can take back.
"""

from __future__ import annotations

import platform
import tempfile
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import anyio

from acpls import __version__
from acpls.catalog import login_command, shell_line
from acpls.console.checking import UNASKED, said_of_itself
from acpls.console.config import read_config
from acpls.console.hiding import Hiding
from acpls.console.listing import NOT_FOUND
from acpls.console.program import found, would_download
from acpls.console.talk import Failed, talking
from acpls.console.words import note, say, say_json, table
from acpls.session.asks import (
    CloseSession,
    DeleteSession,
    NewSession,
    Opening,
    SessionOpened,
)

if TYPE_CHECKING:
    from acpls.console.config import Config
    from acpls.console.talk import Talk
    from acpls.session.asks import AgentFacts, Ask, AuthMethod
    from acpls.settings import AgentSpec

AUTH_REQUIRED = -32000
_SESSION_LIMIT_S = 60.0
_CLEAN_UP_LIMIT_S = 5.0
_TAIL_LINES = 15

# What an agent can, in the order in which it is told.
_CAN = {
    "can_list": "list sessions",
    "can_resume": "resume",
    "can_replay": "replay",
    "can_fork": "fork",
    "can_close": "close",
    "can_delete": "delete",
    "can_set_title": "set titles",
    "can_log_out": "log out",
    "takes_directories": "more folders",
    "images": "images",
    "audio": "audio",
    "embedded_context": "files in prompts",
}


@dataclass(slots=True)
class Finding:
    """What was found out about one agent.

    ``state``: ``ready``, ``needsLogin``, ``failed`` or ``notStarted``. ``login``: what is known
    of the login; ``methods``: the ways to log in, each with the line that takes it.
    """

    name: str
    default: bool
    line: str
    program: str | None
    env: list[str]
    state: str = "failed"
    agent: str | None = None
    version: str | None = None
    protocol: int | None = None
    seconds: float | None = None
    can: list[str] = field(default_factory=list)
    login: str | None = None
    methods: list[dict[str, str]] = field(default_factory=list)
    problem: str | None = None
    nonsense: int = 0
    detail: list[str] = field(default_factory=list)
    stderr: list[str] = field(default_factory=list)


def examine(names: list[str], *, as_json: bool, download: bool) -> int:
    """Examine these agents, or all; 0 when each is ready to work. Raises ``Misuse``."""
    config = read_config()
    findings = []
    for name, spec in config.chosen(names):
        finding = _begun(config, name, spec)
        if would_download(spec) and not download:
            finding.state, finding.problem = "notStarted", UNASKED
        else:
            anyio.run(_examine, finding, spec)
        findings.append(finding)
    (_report_json if as_json else _report)(config, findings)
    fine = all(finding.state in {"ready", "notStarted"} for finding in findings)
    return 0 if fine and config.problem is None else 1


def _begun(config: Config, name: str, spec: AgentSpec) -> Finding:
    hiding = Hiding(spec)
    program = found(spec)
    return Finding(
        name,
        name == config.settings.default_agent,
        hiding.path(shell_line([spec.command, *hiding.args(spec.args)])),
        None if program is None else hiding.path(program),
        list(spec.env),
    )


# --- finding out -----------------------------------------------------------------------


async def _examine(finding: Finding, spec: AgentSpec) -> None:
    name, hiding = finding.name, Hiding(spec)

    def doing(what: str) -> None:
        note(f"{name}: {hiding.text(what)}")

    async with talking(name, spec, doing=doing) as talk:
        try:
            facts = await talk.ready()
            _take(finding, facts, talk, hiding)
            note(f"{name}: opening a session in a folder of its own")
            await _open_a_session(finding, facts, talk, _shared_folder(spec))
            finding.nonsense = talk.nonsense
        except Failed as failed:
            finding.problem = hiding.text(failed.failure.message)
            detail = hiding.text(failed.failure.detail or "")
            finding.detail = detail.splitlines()[-_TAIL_LINES:]
            finding.login = talk.login
            # The report has our own remarks in better words.
            said = [line for line in talk.log() if not line.startswith("acpls: ")]
            finding.stderr = [hiding.text(line) for line in said[-_TAIL_LINES:]]


def _take(finding: Finding, facts: AgentFacts, talk: Talk, hiding: Hiding) -> None:
    finding.agent = hiding.text(said_of_itself(facts))
    finding.version, finding.protocol = facts.version, facts.protocol
    finding.seconds = None if talk.seconds is None else round(talk.seconds, 3)
    finding.can = [words for name, words in _CAN.items() if getattr(facts, name)]
    finding.can += [f"MCP over {kind}" for kind in sorted(facts.mcp)]


async def _open_a_session(
    finding: Finding, facts: AgentFacts, talk: Talk, folder: str | None
) -> None:
    with tempfile.TemporaryDirectory(
        prefix="acpls-doctor-", dir=folder, ignore_cleanup_errors=True
    ) as cwd:
        try:
            opened = await talk.ask(NewSession(Opening(cwd)), _SESSION_LIMIT_S)
        except Failed as failed:
            if failed.failure.code != AUTH_REQUIRED:
                raise
            finding.state, finding.login = "needsLogin", "needed"
            finding.methods = [_method(finding.name, method) for method in facts.auth_methods]
            return
        finding.state = "ready"
        finding.login = talk.login or "not asked for; some agents ask at the first prompt"
        if finding.login.startswith("not logged in"):
            finding.state = "needsLogin"
            finding.methods = [_method(finding.name, method) for method in facts.auth_methods]
        if isinstance(opened, SessionOpened):
            await _clean_up(opened.session, facts, talk)


def _shared_folder(spec: AgentSpec) -> str | None:
    """A folder that an agent sees which lives elsewhere; ``None`` when any will do."""
    return next((here for here, _ in spec.path_map if Path(here).is_dir()), None)


async def _clean_up(session: str, facts: AgentFacts, talk: Talk) -> None:
    asks: list[Ask] = []
    if facts.can_close:
        asks.append(CloseSession(session))
    if facts.can_delete:
        asks.append(DeleteSession(session))
    for ask in asks:
        try:
            await talk.ask(ask, _CLEAN_UP_LIMIT_S)
        except Failed as failed:
            note(f"the session could not be taken back: {failed.failure.message}")


def _method(agent: str, method: AuthMethod) -> dict[str, str]:
    return {
        "id": method.id,
        "name": method.name,
        "kind": method.kind,
        "line": login_command(agent, method.id),
    }


# --- telling ---------------------------------------------------------------------------


def _about_us(config: Config) -> dict[str, Any]:
    hiding = Hiding()
    return {
        "acpls": __version__,
        "python": platform.python_version(),
        "platform": platform.platform(),
        "config": hiding.path(str(config.path)) + ("" if config.exists else " (not there)"),
        "problems": [hiding.text(problem) for problem in config.problems()],
    }


def _report_json(config: Config, findings: list[Finding]) -> None:
    say_json(_about_us(config) | {"agents": [asdict(finding) for finding in findings]})


def _report(config: Config, findings: list[Finding]) -> None:
    about = _about_us(config)
    problems = about.pop("problems")
    rows = [(key, str(value)) for key, value in about.items()]
    rows += [("", f"! {problem}") for problem in problems]
    for line in table(rows):
        say(line)
    for finding in findings:
        say()
        say(f"{finding.name}: {_verdict(finding)}")
        for line in table(_rows(finding)):
            say(line)


def _verdict(finding: Finding) -> str:
    words = {
        "ready": "ready",
        "needsLogin": "needs a login",
        "failed": "FAILED",
        "notStarted": "not started",
    }[finding.state]
    return words + (" (takes new sessions)" if finding.default else "")


def _rows(finding: Finding) -> list[tuple[str, str]]:
    rows = [("  started as", finding.line), ("  program", finding.program or NOT_FOUND)]
    if finding.env:
        rows.append(("  variables", f"{', '.join(finding.env)} (values hidden)"))
    if finding.agent is not None:
        rows.append(("  answered", f"{finding.agent}, after {finding.seconds or 0:.1f} s"))
        rows.append(("  can", ", ".join(finding.can) or "nothing beyond the protocol's minimum"))
    if finding.login is not None:
        rows.append(("  login", finding.login))
    if finding.nonsense:
        lines = f"{finding.nonsense} that are no messages; acpls passes over them"
        rows.append(("  lines", lines))
    rows += [("", f"{it['line']}   ({it['name']}, {it['kind']})") for it in finding.methods]
    if finding.problem is not None:
        rows.append(("  problem", finding.problem))
    rows += [("", line) for line in finding.detail]
    rows += [("" if at else "  stderr", line) for at, line in enumerate(finding.stderr)]
    return rows
