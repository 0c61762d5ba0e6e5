"""``acpls demo``: one whole editing session, played against the real server.

The server runs as a subprocess, and this is its editor: everything goes over the wire as
it does for any other. The account is printed while it happens; the exit code is 1 when
something that should happen did not.
"""

from __future__ import annotations

import io
import sys
import tempfile
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Any

import anyio
import platformdirs

from acpls.demo.account import Account, unified
from acpls.demo.project import copy_to
from acpls.testing.editor import FULL, IGNORED, CommandFailed, FakeEditor, Later

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

WITHIN_S = 60.0
FILE = "src/teas.py"
CHUNKS = 12
USERS_LINE = "# Mine, and not saved yet.\n"
OLD, NEW = "steep_time", "brewing_time"

STREAMED = "the answer streams in"
PLANNED = "the agent makes a plan and works it off"
FOLLOWED = "the agent says where it is"
ASKED = "the agent asks before it changes files"
ANSWERED = "the question is answered once"
LISTED = "its changes are listed hunk by hunk"
KEPT = "one hunk is kept in a document with unsaved changes"
REJECTED = "one hunk is rejected, in the document and on disk"
SURVIVED = "the user's unsaved line is still there"
STOPPED = "a long turn is stopped"
CLOSED = "server and agent end cleanly"
# As a setting, since what is chosen by command is remembered.
FOLLOW = {"on": True}


def play(protocol: str, agent: str | None) -> int:
    """Play the session; the exit code comes back. Raises ``SystemExit`` for a wrong agent."""
    options = _options(protocol, agent)
    if isinstance(sys.stdout, io.TextIOWrapper):
        # Signs that a terminal cannot show are no reason to stop.
        sys.stdout.reconfigure(errors="replace")
    account = Account()
    with tempfile.TemporaryDirectory(prefix="acpls-demo-") as folder:
        root = copy_to(Path(folder) / "tea-timer")
        account.say(f"A sample project was copied to {root}; it is removed afterwards.")
        try:
            anyio.run(_session, account, root, options)
        except (CommandFailed, TimeoutError, ConnectionError, AssertionError) as problem:
            account.say(f"The session ended early: {problem}")
        except KeyboardInterrupt:
            account.say("Stopped.")
            return 130
    return account.close()


def _options(protocol: str, agent: str | None) -> dict[str, Any]:
    if agent is None:
        agents = {"demo": {"protocol": int(protocol)}}
        return {"agents": agents, "defaultAgent": "demo", "follow": FOLLOW}
    path = Path(platformdirs.user_config_dir("acpls", appauthor=False)) / "config.toml"
    try:
        known = tomllib.loads(path.read_text("utf-8")).get("agents", {})
    except FileNotFoundError:
        known = {}
    except (OSError, ValueError) as problem:
        sys.exit(f"acpls demo: {path} cannot be read: {problem}")
    if agent not in known:
        names = ", ".join(known) or "none"
        sys.exit(f"acpls demo: no agent {agent!r} in {path}; configured there: {names}")
    return {"agents": {agent: known[agent]}, "defaultAgent": agent, "follow": FOLLOW}


async def _session(account: Account, root: Path, options: dict[str, Any]) -> None:
    account.expect(STREAMED, PLANNED, FOLLOWED, ASKED, ANSWERED, LISTED, KEPT, REJECTED)
    account.expect(SURVIVED, STOPPED, CLOSED)
    before = _texts(root)
    server = [sys.executable, "-m", "acpls", "serve"]
    async with FakeEditor(
        server,
        root=root,
        capabilities=FULL,
        initialization_options=options,
        client_info={"name": "acpls demo", "version": "1"},
        ignore=IGNORED | {"acp/question/ask", "acp/question/settled", "window/showMessage"},
        within=WITHIN_S,
    ) as editor:
        player = _Player(account, editor, root)
        await player.begin()
        await player.read_and_plan()
        await player.rename()
        await player.judge()
        await player.stop()
        account.scene("What is different now, unsaved documents included")
        after = _texts(root) | {root / FILE: editor.text(player.uri)}
        for path, text in before.items():
            account.diff(unified(path.relative_to(root).as_posix(), text, after[path]))
    account.happened(CLOSED)


def _texts(root: Path) -> dict[Path, str]:
    """The texts of the project's files, with their line endings."""
    files = [path for path in sorted(root.rglob("*")) if path.is_file()]
    return {path: path.read_bytes().decode() for path in files}


class _Player:
    """The person at the editor."""

    def __init__(self, account: Account, editor: FakeEditor, root: Path) -> None:
        self._account = account
        self._editor = editor
        self._root = root
        self._asked: list[tuple[Mapping[str, Any], Later]] = []
        self._titles: dict[str, str] = {}
        self._places: list[Mapping[str, Any]] = []
        self.uri = ""
        editor.answer["acp/question/ask"] = self._put

    def _put(self, question: Mapping[str, Any]) -> Later:
        later = Later()
        self._asked.append((question, later))
        return later

    # --- the scenes ------------------------------------------------------------------------

    async def begin(self) -> None:
        """Start the agent and open a file."""
        self._account.scene("An agent starts")
        entry = await self._editor.command("acpls.session.new", None, WITHIN_S)
        status = await self._editor.command("acpls.status")
        agent = next(a for a in status["agents"] if a["agent"] == entry["agent"])
        version = agent["protocolVersion"]
        self._account.say(f"{agent['title']} is ready and speaks version {version} of ACP.")
        self.uri = self._editor.open(self._root / FILE)

    async def read_and_plan(self) -> None:
        """Two prompts that change nothing."""
        self._account.scene("It explains a file")
        await self._turn(f"explain {FILE}")
        self._account.scene("It makes a plan")
        await self._turn("plan a better menu")

    async def rename(self) -> None:
        """The user types, does not save, and lets the agent edit the same file."""
        self._account.scene("It changes files while you have unsaved work")
        self._editor.type(self.uri, 0, USERS_LINE)
        self._account.say(f"A line was typed into {FILE} and is not saved: {USERS_LINE.strip()}")
        await self._turn(f"rename {OLD} to {NEW}", self._allow_once)

    async def judge(self) -> None:
        """Keep a hunk, reject a hunk, keep all others."""
        self._account.scene("You keep what you like, and reject what you do not")
        changes = await self._editor.command("acpls.review.list")
        here = next((c for c in changes if c["uri"] == self.uri), None)
        if here is None or len(here["hunks"]) < 2:
            self._account.say(f"There are not two hunks in {FILE}.")
            return
        self._account.happened(LISTED)
        count = sum(len(change["hunks"]) for change in changes)
        self._account.say(f"{count} hunks in {len(changes)} files wait for you.")
        keep, reject = here["hunks"][0], here["hunks"][-1]
        await self._verdict("keep", keep)
        if keep["newText"] in self._editor.text(self.uri):
            self._account.happened(KEPT)
        await self._verdict("reject", reject)
        text = self._editor.text(self.uri)
        on_disk = (self._root / FILE).read_text("utf-8")
        if all(reject["newText"] not in t and reject["baseText"] in t for t in (text, on_disk)):
            self._account.happened(REJECTED)
        rest = await self._editor.command("acpls.review.keep", {"all": True})
        self._account.say(f"The other {rest['hunks']} are kept at once.")
        if USERS_LINE in self._editor.text(self.uri):
            self._account.happened(SURVIVED)

    async def stop(self) -> None:
        """Start a long turn, and stop it."""
        self._account.scene("You stop it in the middle of a sentence")
        self._account.prompt("talk at length")
        await self._editor.command("acpls.session.prompt", {"text": "talk at length"})
        said = 0

        def enough(change: Mapping[str, Any]) -> bool:
            nonlocal said
            said += change.get("role") == "agent"
            return said >= CHUNKS

        await self._follow(enough)
        self._account.prompt("(stop)")
        await self._editor.command("acpls.session.cancel")
        reason = await self._follow(lambda change: change.get("state") == "idle")
        if reason.get("stopReason") == "cancelled":
            self._account.happened(STOPPED)

    # --- one turn --------------------------------------------------------------------------

    async def _turn(
        self, prompt: str, decide: Callable[[Mapping[str, Any]], str] | None = None
    ) -> None:
        self._account.prompt(prompt)
        await self._editor.command("acpls.session.prompt", {"text": prompt})

        def ended(change: Mapping[str, Any]) -> bool:
            return change.get("state") == "idle" and bool(change.get("stopReason"))

        await self._follow(ended, decide)

    async def _follow(
        self,
        last: Callable[[Mapping[str, Any]], bool],
        decide: Callable[[Mapping[str, Any]], str] | None = None,
    ) -> Mapping[str, Any]:
        """Show what the server tells until a change is the last one; that one comes back."""
        while True:
            told = await self._editor.next("acp/session/changed", within=WITHIN_S)
            for change in told["changes"]:
                self._show(change)
                if last(change):
                    return dict(change)
            if decide is not None and any(
                c.get("state") == "requires_action" for c in told["changes"]
            ):
                await self._decide(decide)

    async def _decide(self, decide: Callable[[Mapping[str, Any]], str]) -> None:
        question = await self._editor.next("acp/question/ask", within=WITHIN_S)
        self._account.happened(ASKED)
        self._account.question(question)
        option = decide(question)
        name = next(o["name"] for o in question["options"] if o["option"] == option)
        self._account.answer(name)
        for asked, later in self._asked:
            if asked["question"] == question["question"]:
                later.set({"option": option})
        settled = await self._editor.next("acp/question/settled", within=WITHIN_S)
        if settled.get("option") == option:
            self._account.happened(ANSWERED)

    @staticmethod
    def _allow_once(question: Mapping[str, Any]) -> str:
        for option in question["options"]:
            if option["kind"] == "allow_once":
                return str(option["option"])
        raise AssertionError("the agent offers no way to allow it once")

    def _show(self, change: Mapping[str, Any]) -> None:
        match change["type"]:
            case "message" if change["role"] == "agent":
                blocks = change.get("content") or [change["append"]]
                self._account.stream("".join(b.get("text", "") for b in blocks))
                self._account.happened(STREAMED)
            case "toolCall" if change["title"] != self._titles.get(change["toolCall"]):
                self._titles[change["toolCall"]] = change["title"]
                self._account.tool_call(change["title"], change["status"])
            case "plan":
                self._account.plan(change["entries"])
                if all(entry["status"] == "completed" for entry in change["entries"]):
                    self._account.happened(PLANNED)
            case _:
                pass
        for place in self._editor.seen("acp/place/changed")[len(self._places) :]:
            self._places.append(place)
            name = Path(place["uri"].removeprefix("file://")).name
            self._account.place(name, place["range"]["start"]["line"] + 1, place["reason"])
            self._account.happened(FOLLOWED)

    async def _verdict(self, verdict: str, hunk: Mapping[str, Any]) -> None:
        self._account.hunk(verdict, hunk, FILE)
        await self._editor.command(f"acpls.review.{verdict}", {"hunk": hunk["hunk"]}, WITHIN_S)
