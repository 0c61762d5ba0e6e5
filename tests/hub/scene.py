"""A scene for tests of the hub: an editor, a disk, an agent and a clock, all of them dictionaries.

What the hub wants is done at once, unless its kind is in ``holds``; then it waits in ``held``
for ``let``. Timers wait for ``passes`` or ``settles``.
"""

from __future__ import annotations

import difflib
import hashlib
from collections import Counter
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, TypeVar

from acpls import effects as ef
from acpls import events as ev
from acpls.hub import Hub
from acpls.hub.tokens import AtHead
from acpls.session import updates as up
from acpls.session.asks import (
    AgentFacts,
    Cancelled,
    Failure,
    FileText,
    NewSession,
    Opening,
    Prompt,
    PromptTaken,
    Selected,
    SessionOpened,
)
from acpls.session.content import (
    UNSET,
    AboutToolCall,
    Choosable,
    FileChange,
    Fragment,
    Patch,
    Text,
)
from acpls.settings import AgentSpec
from acpls.text import uris
from acpls.text.buffers import ContentChange
from acpls.text.diff import Edit, apply_edits, diff
from acpls.text.lines import LineIndex, split_lines
from acpls.text.patch import parse

if TYPE_CHECKING:
    from collections.abc import Iterable

    from acpls.review.composing import ReviewHunk
    from acpls.session.asks import Answer, Ask, Reply
    from acpls.session.content import Location, Subject, ToolContent

EffectT = TypeVar("EffectT")
Manner: TypeAlias = Literal[
    "replies first", "changes first", "refuses", "lies", "changes late", "refuses but does"
]

ROOT = "/ws"
HOME = "/home/me"
A = f"{ROOT}/a.txt"
B = f"{ROOT}/b.txt"
AGENT = "demo"
NATIVE = "native"
OPENING = Opening(ROOT)
YES_NO = (
    Choosable("yes", "Allow", "allow_once"),
    Choosable("always", "Always allow", "allow_always"),
    Choosable("no", "Reject", "reject_once"),
)
FACTS = AgentFacts("Demo agent", "1", 1)
FACTS_2 = AgentFacts("Demo agent", "2", 2, can_close=True, withdraws_questions=True)


@dataclass
class Page:
    """A document as it is on the user's screen."""

    text: str
    version: int = 1


@dataclass
class Scene:
    """``seen``: all effects so far; ``replies``: what each ticket was answered."""

    manner: Manner = "replies first"
    ready: ev.EditorReady = field(default_factory=lambda: ev.EditorReady((ROOT,), questions=True))
    facts: AgentFacts = FACTS
    walks: bool = True
    holds: set[type] = field(default_factory=set)
    choices: dict[str, Any] = field(default_factory=dict)
    now_s: float = 1000.0

    def __post_init__(self) -> None:
        self.hub = Hub(AgentSpec("agent"), "launch")
        self.state = self.hub.state
        self.disk: dict[str, str] = {}
        # What the hub was last told of files, once their folders were looked at.
        self.index: dict[str, str | None] = {}
        self.walked = False
        self.problems: dict[str, str] = {}
        self.pages: dict[str, Page] = {}
        # What is remembered of permissions; symbolic links; paths that nobody can look up.
        self.permits: dict[str, Any] = {}
        self.links: dict[str, str] = {}
        self.lost: set[str] = set()
        self.seen: list[ef.Effect] = []
        self.held: list[ef.Effect] = []
        self.timers: list[tuple[float, int, object]] = []
        self.replies: dict[object, list[ef.Effect]] = {}
        self.asked: dict[int, Ask] = {}
        self.edits_seen = 0
        self._late: list[tuple[str, ev.BufferChanged]] = []
        self._count = Counter[str]()
        self.give(self.ready)

    # --- events and effects ------------------------------------------------------------

    def give(self, event: ev.Event) -> list[ef.Effect]:
        """Let the hub handle an event, and do all that it wants; its effects come back."""
        effects = self.hub.handle(event, self.now_s)
        # Each question brings a look at what is remembered, of which few tests want to know.
        self.seen += (e for e in effects if not isinstance(e, ef.ReadPermissions))
        for effect in effects:
            if type(effect) in self.holds or self._behind(effect):
                self.held.append(effect)
            else:
                self._do(effect)
        return effects

    def _behind(self, effect: ef.Effect) -> bool:
        """Whether something is to be done with the same file before."""
        files = (ef.ReadFile, ef.WriteFile)
        return isinstance(effect, files) and any(
            isinstance(held, files) and held.path == effect.path for held in self.held
        )

    def let(self, kind: type[EffectT] | None = None) -> EffectT:
        """Do the first effect that is held, or the first of a kind."""
        effect = next(e for e in self.held if kind is None or isinstance(e, kind))
        self.held.remove(effect)
        self._do(effect)
        return effect  # type: ignore[return-value]  # of any kind where none is named

    def of(self, kind: type[EffectT]) -> list[EffectT]:
        """All effects of one kind so far."""
        return [effect for effect in self.seen if isinstance(effect, kind)]

    def take(self, kind: type[EffectT]) -> list[EffectT]:
        """The same, and forget everything up to now."""
        taken = self.of(kind)
        self.seen.clear()
        return taken

    def _do(self, effect: ef.Effect) -> None:
        match effect:
            case ef.ReadFile(token, path, roots):
                disk = self.look(path, roots)
                self.give(ev.FileRead(token, disk, self._told(disk)))
            case ef.SyncFiles(token) if self.walks:
                self.notices(*{*self.disk, *self.index}, token=token)
                self.walked = True
                self.give(ev.FilesSynced(token, self.now_s))
            case ef.SyncFiles(token):
                self.give(ev.FilesSynced(token, self.now_s))
            case ef.LookAt(token, paths, roots, text):
                self.give(ev.LookedAt(token, self._sees(paths, roots, text=text)))
            case ef.LoadChoices():
                self.give(ev.ChoicesLoaded(dict(self.choices)))
            case ef.KeepChoice(name, value):
                self.choices[name] = value
            case ef.SaveDocument():
                self._save_for_us(effect)
            case ef.WriteFile():
                self._write(effect)
            case ef.EditBuffer():
                self.edits_seen += 1
                self._edit(effect)
            case ef.ReadPermissions(token, paths):
                self._count["stamp"] += 1
                real = {path: self._real(path) for path in paths if path not in self.lost}
                stored = tuple(self.permits.values())
                self.give(ev.PermissionsRead(token, real, stored, self._count["stamp"]))
            case ef.KeepPermission(token, key, value):
                self._count["stamp"] += 1
                self.permits.pop(key, None)
                if value is not None:
                    self.permits[key] = value
                self.give(ev.PermissionKept(token, key, self._count["stamp"]))
            case ef.After(seconds, token):
                self._count["timer"] += 1
                self.timers.append((self.now_s + seconds, self._count["timer"], token))
            case ef.SendAsk(_, number, ask):
                self.asked[number] = ask
            case ef.ReplyCommand(ticket) | ef.FailCommand(ticket) | ef.ReplyLog(ticket):
                self.replies.setdefault(ticket, []).append(effect)
            case _:
                pass

    def _real(self, path: str) -> str:
        """Where a path is without the links that there are."""
        path = f"{HOME}{path[1:]}" if path.startswith("~") else path
        for link, target in self.links.items():
            if path == link or path.startswith(f"{link}/"):
                return self._real(target + path[len(link) :])
        return path

    # --- the clock -----------------------------------------------------------------------

    def passes(self, seconds: float) -> None:
        """Time passes; what is due happens in order."""
        end = self.now_s + seconds
        while self.timers and min(self.timers)[0] <= end:
            due = min(self.timers)
            self.timers.remove(due)
            self.now_s = max(self.now_s, due[0])
            self.give(ev.TimePassed(due[2]))
        self.now_s = end

    def settles(self, rounds: int = 200) -> None:
        """Let everything happen that is still to come; there must be an end to it."""
        for _ in range(rounds):
            self.arrives()
            if self.held:
                self.let()
            elif self.timers:
                self.passes(min(self.timers)[0] - self.now_s)
            else:
                return
        raise AssertionError(f"no end to it: {self.timers}")

    # --- the disk ------------------------------------------------------------------------

    def look(self, path: str, roots: Iterable[str] = (ROOT,)) -> ev.Disk:
        if not any(path.startswith(f"{root}/") for root in roots):
            return ev.Disk(path, None, "is outside of the workspace folders", inside=False)
        if path in self.problems:
            return ev.Disk(path, None, self.problems[path])
        return held(path, self.disk.get(path))

    def _sees(
        self, paths: Iterable[str], roots: Iterable[str], *, text: bool
    ) -> tuple[ev.Seen, ...]:
        """What is at these paths, with the text of the first file inside."""
        roots, seen = tuple(roots), list[ev.Seen]()
        for path in paths:
            inside = any(path.startswith(f"{root}/") for root in roots)
            is_folder = any(file.startswith(f"{path}/") for file in self.disk)
            kind: Literal["file", "folder", "missing"] = "folder" if is_folder else "missing"
            seen.append(ev.Seen(path, "file" if path in self.disk else kind, inside))
        files = [at for at, one in enumerate(seen) if one.kind == "file" and one.inside]
        if text and files:
            first = seen[files[0]]
            seen[files[0]] = replace(first, text=self.disk[first.path])
        return tuple(seen)

    def _told(self, disk: ev.Disk) -> ev.Earlier:
        """What was known of a file before; it is known as it is from now on."""
        path = disk.path
        known = path in self.index or self.walked
        was = self.index.get(path)
        if disk.inside and disk.problem is None:
            self.index[path] = disk.text
        if not known:
            return ev.FIRST
        if was == disk.text or disk.problem is not None:
            return ev.SAME
        hunks = diff(was or "", disk.text or "")
        return ev.Earlier("store", held(path, was), hunks)

    def notices(self, *paths: str, token: object = None) -> None:
        """These files are looked at, and the hub is told of those that have changed."""
        for path in sorted(paths):
            disk = self.look(path)
            earlier = self._told(disk)
            if earlier.changed:
                self.give(ev.FileNoticed(disk, earlier, token))

    def _write(self, effect: ef.WriteFile) -> None:
        before = self.look(effect.path, effect.roots)
        earlier = self._told(before)
        problem = before.problem
        if problem is None and effect.expected not in ("anything", before.content):
            problem = "has changed on disk"
        if problem is None:
            self.puts(effect.path, effect.text)
        after = self.look(effect.path, effect.roots)
        if after.problem is None:
            self.index[effect.path] = after.text
        done = ev.FileWritten(effect.token, effect.path, before, problem, after, earlier)
        self.give(done)

    def puts(self, path: str, text: str | None) -> None:
        """The disk holds this now, whoever wrote it."""
        self.disk.pop(path, None)
        if text is not None:
            self.disk[path] = text

    def has(self, path: str, text: str | None) -> None:
        """The disk holds this, and did when its folder was looked at first."""
        self.puts(path, text)
        self.index[path] = text

    def lands(self, path: str, text: str | None) -> None:
        """Somebody changes a file, and the system tells of it."""
        self.puts(path, text)
        self.notices(path)

    # --- the editor ----------------------------------------------------------------------

    def buffer(self, path: str, unsaved: str | None = None) -> str:
        """Open a file, or a document with text that was not saved; its URI comes back."""
        uri = uris.from_path(path)
        text = self.disk.get(path, "") if unsaved is None else unsaved
        self.pages[uri] = Page(text)
        self.give(ev.BufferOpened(uri, 1, text, "python"))
        return uri

    def text(self, path: str) -> str:
        """What the user sees of a document."""
        return self.pages[uris.from_path(path)].text

    def types(self, path: str, line: int, text: str) -> None:
        """The user puts text at the beginning of a line (zero-based)."""
        self.arrives()
        uri = uris.from_path(path)
        page = self.pages[uri]
        index = LineIndex(page.text)
        at = index.line_start(line)
        index.replace(at, at, text)
        where = (line, 0) if line < len(split_lines(page.text)) else index.position(at, "utf-16")
        page.text, page.version = index.text, page.version + 1
        self.give(ev.BufferChanged(uri, page.version, (ContentChange(text, where, where),)))

    def replaces(self, path: str, old: str, new: str) -> None:
        """The user changes a piece of text that occurs once."""
        self.arrives()
        uri = uris.from_path(path)
        page = self.pages[uri]
        assert page.text.count(old) == 1
        self.shows(uri, page.text.replace(old, new))

    def shows(self, uri: str, text: str) -> None:
        """A document changes to this text, whoever did it."""
        page = self.pages[uri]
        page.text, page.version = text, page.version + 1
        self.give(ev.BufferChanged(uri, page.version, (ContentChange(text),)))

    def saves(self, path: str, *, seen: bool = False) -> None:
        """``seen``: the system tells of it before the editor does."""
        self.arrives()
        self.puts(path, self.text(path))
        if seen:
            self.notices(path)
        self.give(ev.BufferSaved(uris.from_path(path)))

    def _save_for_us(self, effect: ef.SaveDocument) -> None:
        path = uris.to_path(effect.uri)
        if path is None or effect.uri not in self.pages:
            self.give(ev.DocumentSaved(effect.token, effect.uri, "it is not open"))
            return
        self.saves(path)
        self.give(ev.DocumentSaved(effect.token, effect.uri))

    def closes(self, path: str) -> None:
        self.arrives()
        uri = uris.from_path(path)
        del self.pages[uri]
        self.give(ev.BufferClosed(uri))

    def arrives(self) -> None:
        """What the editor has to say and was late with arrives."""
        late, self._late = self._late, []
        for uri, event in late:
            if uri in self.pages:
                self.give(event)

    def _edit(self, effect: ef.EditBuffer) -> None:
        page = self.pages.get(effect.uri)
        applied, refused = (
            ev.EditApplied(effect.number),
            ev.EditRefused(effect.number, "the document has changed"),
        )
        if page is None or (effect.versioned and effect.version != page.version):
            self.give(refused)
            return
        match self.manner:
            case "refuses":
                self.give(refused)
                return
            case "lies":
                self.give(applied)
                return
            case _:
                pass
        page.text = apply_edits(page.text, self._placed(effect, page))
        page.version += 1
        change = ev.BufferChanged(effect.uri, page.version, (ContentChange(page.text),))
        match self.manner:
            case "replies first":
                self.give(applied)
                self.give(change)
            case "refuses but does":
                self.give(change)
                self.give(refused)
            case "changes late":
                self._late.append((effect.uri, change))
                self.give(applied)
            case _:
                self.give(change)
                self.give(applied)

    @staticmethod
    def _placed(effect: ef.EditBuffer, page: Page) -> list[Edit]:
        """The edits where an editor puts them that goes by lines and characters."""
        then, now = LineIndex(effect.text), LineIndex(page.text)

        def moved(offset: int) -> int:
            return now.offset(then.position(offset, "utf-16"), "utf-16")

        return [Edit(moved(e.start), moved(e.end), e.text) for e in effect.edits]

    # --- commands ------------------------------------------------------------------------

    def command(self, name: str, **arguments: Any) -> str:
        """Give a command of ``acpls.``; its ticket comes back."""
        self._count["ticket"] += 1
        ticket = f"ticket{self._count['ticket']}"
        self.replies[ticket] = []
        self.give(ev.CommandGiven(f"acpls.{name}", arguments, ticket))
        return ticket

    def reply(self, ticket: str) -> Any:
        """The one answer to a ticket, which must not be an error."""
        (reply,) = self.replies[ticket]
        assert isinstance(reply, ef.ReplyCommand), reply
        return reply.value

    def failure(self, ticket: str) -> ef.FailCommand:
        """The one error that a ticket was answered with."""
        (reply,) = self.replies[ticket]
        assert isinstance(reply, ef.FailCommand), reply
        return reply

    def result(self, name: str, **arguments: Any) -> Any:
        """The answer to a command that is answered at once."""
        return self.reply(self.command(name, **arguments))

    def error(self, name: str, **arguments: Any) -> ef.FailCommand:
        """The error of a command that fails at once."""
        return self.failure(self.command(name, **arguments))

    # --- the agent -------------------------------------------------------------------------

    def is_ready(self, agent: str = AGENT) -> None:
        self.give(ev.AgentReady(agent, self.facts))

    def session(self, native: str = NATIVE, agent: str = AGENT, **arguments: Any) -> str:
        """Open a session, and the agent opens it too; its key comes back."""
        ticket = self.command("session.new", agent=agent, **arguments)
        if self.state.agent(agent).state == "starting":
            self.is_ready(agent)
        self.replied(SessionOpened(native), NewSession, agent)
        return str(self.reply(ticket)["session"])

    def number(self, kind: type[Ask]) -> int:
        """The number of the last ask of a kind."""
        return [number for number, ask in self.asked.items() if isinstance(ask, kind)][-1]

    def replied(self, reply: Reply, kind: type[Ask], agent: str = AGENT) -> list[ef.Effect]:
        """The agent replies to the last ask of a kind."""
        return self.give(ev.Replied(agent, self.number(kind), reply))

    def ask_fails(self, failure: Failure, kind: type[Ask], agent: str = AGENT) -> list[ef.Effect]:
        return self.give(ev.AskFailed(agent, self.number(kind), failure))

    def tells(self, update: up.Update, native: str = NATIVE, agent: str = AGENT) -> list[ef.Effect]:
        return self.give(ev.SessionTold(agent, native, update))

    def says(self, text: str, message: str = "m1", native: str = NATIVE) -> list[ef.Effect]:
        return self.tells(up.MessageGrew(message, "agent", Text(text)), native)

    def works(self, native: str = NATIVE, agent: str = AGENT) -> None:
        """The agent is at work, if it was not."""
        session = self.state.session_of(agent, native)
        if session is not None and session.key not in self.state.at_work:
            # What was done before is the user's, as it is when a prompt is sent.
            self.notices(*self.disk, *self.index)
            self.tells(up.TurnChanged("running"), native, agent)

    def prompts(self, text: str = "go", **arguments: Any) -> str:
        """The user prompts and the agent begins; the turn comes back."""
        turn = self.result("session.prompt", text=text, **arguments)["turn"]
        self.tells(up.TurnChanged("running"))
        return str(turn)

    def ends(self, reason: str = "end_turn", native: str = NATIVE) -> list[ef.Effect]:
        """The agent ends the turn in the way of ACP 1: the end, then the reply."""
        told = self.tells(up.TurnChanged("idle", reason), native)
        self.replied(PromptTaken(), Prompt)
        return told

    def dies(self, reason: str = "demo ended with exit code 1", agent: str = AGENT) -> None:
        """The agent's process ends; first what it owes fails."""
        self.fails_all(reason, agent)
        self.give(ev.AgentEnded(agent, reason, 1, "its last words"))

    def fails_all(self, reason: str, agent: str = AGENT) -> None:
        for number, waiting in list(self.state.asks.items()):
            if waiting.agent == agent:
                self.give(ev.AskFailed(agent, number, Failure(-32603, reason)))

    def tool_call(
        self,
        call: str = "call",
        *content: ToolContent,
        status: str = "in_progress",
        native: str = NATIVE,
        agent: str = AGENT,
        title: str = "Edit",
        kind: str = "edit",
        locations: tuple[Location, ...] | None = None,
    ) -> list[ef.Effect]:
        """The agent tells of a tool call."""
        return self.tells(
            up.ToolCallPatched(
                call,
                title=title,
                kind=kind,
                status=status,
                content=content or UNSET,
                locations=UNSET if locations is None else locations,
            ),
            native,
            agent,
        )

    def asks(
        self,
        request: int | str = 1,
        title: str | None = "May I?",
        options: tuple[Choosable, ...] = YES_NO,
        subject: Subject = None,
        native: str = NATIVE,
        agent: str = AGENT,
    ) -> str:
        """The agent asks for permission; the key of the question comes back."""
        asked = ev.QuestionAsked(agent, request, native, title, options, subject=subject)
        self.give(asked)
        return list(self.state.questions.all)[-1]

    def answers(self, request: int | str | None = None) -> list[Answer]:
        """What the agent was answered, all of it or to one request."""
        return [a.answer for a in self.of(ef.SendAnswer) if request in (None, a.request)]

    def answered(self, request: int | str = 1) -> Answer:
        (answer,) = self.answers(request)
        return answer

    def put(self) -> list[str]:
        """The questions that were put to the user, in order."""
        return [effect.question for effect in self.of(ef.PutQuestion)]

    # --- files of the agent ------------------------------------------------------------------

    def _request(self) -> str:
        self._count["request"] += 1
        return f"fs{self._count['request']}"

    def agent_reads(
        self, path: str, line: int | None = None, limit: int | None = None, native: str = NATIVE
    ) -> Any:
        """``fs/read_text_file``: the text, or the failure."""
        request = self._request()
        self.give(ev.FileReadAsked(AGENT, request, native, path, line, limit))
        answer = self.answered(request)
        return answer.text if isinstance(answer, FileText) else answer

    def agent_writes(self, path: str, text: str, native: str = NATIVE) -> Any:
        """``fs/write_text_file``: the answer, if there is one yet."""
        request = self._request()
        self.give(ev.FileWriteAsked(AGENT, request, native, path, text))
        return next(iter(self.answers(request)), None)

    def agent_edits(
        self, path: str, old: str, new: str, call: str = "call", *, told: str = "fragment"
    ) -> None:
        """The agent changes the file by itself and then reports it, as a fragment (ACP 1) or
        as a patch (ACP 2).
        """
        before = self.disk[path]
        assert before.count(old) == 1
        self.works()
        after = before.replace(old, new)
        self.puts(path, after)
        claim: ToolContent = Fragment(path, old, new)
        if told == "patch":
            claim = patch(path, before, after)
        self.tool_call(call, claim, status="completed")

    # --- review --------------------------------------------------------------------------------

    def pending(self, path: str = A) -> list[ReviewHunk]:
        """The pending hunks of a file, those that are only proposed last."""
        return [hunk for change, hunk in self.state.ledger.hunks() if change.path == path]

    def hunks(self, path: str = A) -> list[tuple[str, str]]:
        """The pending hunks of a file: what they take out and what they put in."""
        return [("".join(h.hunk.old), "".join(h.hunk.new)) for h in self.pending(path)]

    def keys(self, path: str = A) -> list[str]:
        return [hunk.key for hunk in self.pending(path)]

    def is_over(self) -> None:
        """Nothing is pending any more, and every command was answered once."""
        assert self.state.verdicts == {}
        assert self.state.edits == {}
        assert self.held == []
        for ticket, replies in self.replies.items():
            assert len(replies) == 1 or ticket is None, (ticket, replies)


def patch(path: str, before: str | None, after: str | None) -> Patch:
    """A change of a file as ACP 2 tells of it: operation and Git patch."""
    operation = "modify"
    if before is None:
        operation = "add"
    if after is None:
        operation = "delete"
    old, new = (split_lines(text or "") for text in (before, after))
    lines = list(difflib.unified_diff(old, new, n=2))[2:]
    body = "".join(x if x.endswith("\n") else f"{x}\n\\ No newline at end of file\n" for x in lines)
    was, now = ("/dev/null" if text is None else path for text in (before, after))
    files, problems = parse(f"diff --git {path} {path}\n--- {was}\n+++ {now}\n{body}")
    assert files
    assert not problems
    return Patch((FileChange(operation, path),), files)


def held(path: str, text: str | None) -> ev.Disk:
    """A file with this text, as it is read."""
    content = None if text is None else hashlib.sha256(text.encode()).hexdigest()
    return ev.Disk(path, text, content=content)


def at_head(scene: Scene) -> AtHead:
    """What is under review, as it is compared with the last commit."""
    files = scene.state.ledger.files
    return AtHead(tuple((path, change.target.content) for path, change in files.items()))


def about(call: str = "call") -> AboutToolCall:
    return AboutToolCall(call)


SELECTED = Selected("yes")
CANCELLED = Cancelled()
