"""One prompt being worked on: everything that a work may say, ask, read and write.

A turn runs in a thread of its own; ``stop`` comes from the reading thread. Numbers that a
real agent would measure (the usage) are made up from the length of what was said and read,
so that the same prompt on the same files always gives the same messages.

Invariant: after ``stop`` no work goes on; what was begun is closed exactly once.
"""

from __future__ import annotations

import os
import re
import sys
import traceback
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urlsplit

from acpls.demo.files import Sorry, text_of, write_text
from acpls.demo.terms import Call, Question, Step, Text
from acpls.demo.wire import INTERNAL_ERROR, Fault

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from acpls.demo.sessions import Client, Session
    from acpls.demo.terms import Content, Json, Option, Place, RequestId, Version
    from acpls.demo.wire import Wire

CHUNK_PAUSE_S = 0.02
_WINDOW_TOKENS = 200_000
_TITLE_LENGTH = 60


class Stopped(BaseException):
    """The client cancelled the turn, or went away."""


class Turn:
    """A prompt of a session, from its insertion to its stop reason."""

    def __init__(
        self,
        wire: Wire,
        version: Version,
        client: Client,
        session: Session,
        request: RequestId,
        prompt: list[Json],
    ) -> None:
        self.version = version
        self.client = client
        self.session = session
        self.workspace = session.workspace
        self._wire = wire
        self._request = request
        self._prompt = prompt
        self._stopping = False
        self._at_stop: list[Callable[[], None]] = []
        self._at_end: list[Callable[[], None]] = []
        self._asked: set[int] = set()
        self._calls: dict[str, Call] = {}
        self._plan: tuple[str, Sequence[Step]] | None = None
        self._speaking: tuple[str, str] | None = None
        self.cancels: dict[str, Callable[[], None]] = {}
        """What ends a single tool call or terminal, by its id (version 2)."""

    @property
    def words(self) -> str:
        """What the user wrote."""
        texts = [one["text"] for one in self._prompt if one["type"] == "text"]
        return "\n".join(texts).strip()

    @property
    def attached(self) -> list[Path]:
        """The files of the workspace that came with the words, as links or with their text."""
        blocks = [one.get("resource", one) for one in self._prompt if one["type"] != "text"]
        uris = [block["uri"] for block in blocks if isinstance(block.get("uri"), str)]
        paths = [unquote(urlsplit(uri).path) for uri in uris if uri.startswith("file:")]
        if os.name == "nt":
            paths = [path.removeprefix("/") for path in paths]
        return [self.workspace.inside(path) for path in paths]

    # --- life ---------------------------------------------------------------------------

    def live(self, perform: Callable[[Turn], None]) -> Callable[[], None]:
        """Do the work. What is returned says that the turn has ended; call it once."""
        self._begin()
        reason, fault = "end_turn", None
        try:
            self._perform(perform)
        except Stopped:
            reason = "cancelled"
        except Exception as error:  # noqa: BLE001  a bug must end the turn, not the agent
            sys.stderr.write(traceback.format_exc())
            reason, fault = "error", Fault(INTERNAL_ERROR, f"The demo agent failed: {error!r}")
        self._close_open()
        return lambda: self._finish(reason, fault)

    def stop(self) -> None:
        """Make the work end soon; from any thread."""
        with self._wire.changed:
            self._stopping = True
            acts, self._at_stop = self._at_stop, []
            self._wire.changed.notify_all()
        for act in acts:
            act()

    def when_stopped(self, act: Callable[[], None]) -> None:
        """Have ``act`` called by ``stop``, or at once if that has happened."""
        with self._wire.changed:
            if not self._stopping:
                self._at_stop.append(act)
                return
        act()
        raise Stopped

    def at_end(self, act: Callable[[], None]) -> None:
        """Have ``act`` called when the turn ends, however it ends."""
        self._at_end.append(act)

    def _begin(self) -> None:
        message = self.session.count("message")
        for update in self.version.echo(message, self._prompt):
            if self.version.number == 1:
                self.session.history.append(update)  # the client shows its own words itself
            else:
                self.emit(update)
        result = self.version.accepted(message)
        if result is not None:
            self._wire.reply(self._request, result)
        self._state("running")
        if self.session.title is None:
            line = " ".join(self.words.split()) or "A question"
            short = line if len(line) <= _TITLE_LENGTH else f"{line[: _TITLE_LENGTH - 1]}…"
            self.session.title = short
            self.emit({"sessionUpdate": "session_info_update", "title": short})

    def _perform(self, perform: Callable[[Turn], None]) -> None:
        try:
            perform(self)
        except (Sorry, OSError) as error:
            for call in [one for one in self._calls.values() if not one.ended]:
                self.call(call.id, status="failed")
            if isinstance(error, OSError):
                self.say(f"That did not work: {error.strerror or error}.")
            else:
                self.say(str(error))

    def _close_open(self) -> None:
        for act in self._at_end:
            act()
        for number in sorted(self._asked):
            self._wire.tell("$/cancel_request", {"requestId": number})
        for call in self._calls.values():
            if not call.ended:
                call.status = self.version.stopped_status
                self.emit(self.version.call(call, ["status"], new=False))
        if self._plan and self.version.number > 1:
            plan, steps = self._plan
            if any(step.status != "completed" for step in steps):
                left = [
                    step if step.status == "completed" else Step(step.content, "cancelled")
                    for step in steps
                ]
                self.emit(self.version.plan(plan, left))
        used = min(1000 + self.session.characters // 4, _WINDOW_TOKENS)
        cost = {"amount": round(used * 1e-6, 6), "currency": "USD"}
        self.emit(
            {"sessionUpdate": "usage_update", "used": used, "size": _WINDOW_TOKENS, "cost": cost}
        )

    def _finish(self, reason: str, fault: Fault | None) -> None:
        result, updates = self.version.finished(reason, fault.json() if fault else None)
        for update in updates:
            self._tell(update)
        if result is not None and fault:
            self._wire.fail(self._request, fault)
        elif result is not None:
            self._wire.reply(self._request, result)

    # --- words --------------------------------------------------------------------------

    def say(self, text: str, pause_s: float = CHUNK_PAUSE_S, size: int = 3) -> None:
        """Stream a paragraph to the user, ``size`` words at a time."""
        self._stream("agent_message", text, pause_s, size)

    def think(self, text: str) -> None:
        """Stream a thought."""
        self._stream("agent_thought", text, CHUNK_PAUSE_S, 4)

    def pause(self, seconds: float) -> None:
        """Let time pass (none at a quick pace)."""
        length = 0.0 if self.session.choices.pace == "quick" else seconds
        with self._wire.changed:
            self._wire.changed.wait_for(lambda: self._stopping, length)
        self._check()

    def wait(self, ready: Callable[[], bool]) -> None:
        """Wait until something holds; who makes it hold notifies (see ``wake``)."""
        with self._wire.changed:
            self._wire.changed.wait_for(lambda: self._stopping or ready())
        self._check()

    def wake(self) -> None:
        """Have whoever waits look again."""
        with self._wire.changed:
            self._wire.changed.notify_all()

    def _stream(self, kind: str, text: str, pause_s: float, size: int) -> None:
        lead = ""
        if self._speaking and self._speaking[0] == kind:
            lead = "\n\n"
        else:
            self._speaking = (kind, self.session.count("message"))
        words = re.findall(r"\S+\s*|\s+", text)
        for start in range(0, len(words), size):
            chunk = lead + "".join(words[start : start + size])
            lead = ""
            self.session.characters += len(chunk)
            self.update(self.version.chunk(kind, self._speaking[1], chunk))
            self.pause(pause_s)

    # --- tool calls and plans -----------------------------------------------------------

    def begin(
        self,
        title: str,
        kind: str,
        *,
        status: str = "in_progress",
        places: Sequence[Place] = (),
        content: Sequence[Content] = (),
        raw_input: Json | None = None,
        cancel: Callable[[], None] | None = None,
    ) -> Call:
        """Begin a tool call; ``cancel`` ends it alone (version 2)."""
        self._check()
        call = Call(self.session.count("call"), title, kind, status, places, content, raw_input)
        self._calls[call.id] = call
        fields = ["title", "kind", "status", "content", "locations", "rawInput"]
        if cancel and self.version.number > 1:
            self.cancels[call.id] = cancel
            fields.append("capabilities")
        self._speaking = None
        self.emit(self.version.call(call, fields, new=True))
        return call

    def call(
        self,
        call: str,
        *,
        status: str | None = None,
        content: Sequence[Content] | None = None,
        places: Sequence[Place] | None = None,
    ) -> None:
        """Tell what became of a tool call."""
        # Once it is checked it is sent: what we know of a call is what the client knows.
        self._check()
        known = self._calls[call]
        changed = []
        if content is not None:
            known.content = content
            changed.append("content")
        if places is not None:
            known.places = places
            changed.append("locations")
        if status is not None:
            known.status = status
            changed.append("status")
        if known.ended:
            self.cancels.pop(call, None)
        self._speaking = None
        self.emit(self.version.call(known, changed, new=False))

    def plan(self, plan: str, steps: Sequence[Step]) -> None:
        """Show a plan as it stands now."""
        self._check()
        self._speaking = None
        self._plan = (plan, steps)
        self.emit(self.version.plan(plan, steps))

    def update(self, update: Json) -> None:
        """Send an update of this session, unless the turn was stopped."""
        self._check()
        self.emit(update)

    def emit(self, update: Json) -> None:
        """Send an update even after a stop: how things that were begun end."""
        self.session.history.append(update)
        self._tell(update)

    # --- the client's side --------------------------------------------------------------

    def ask(self, question: Question) -> Option | None:
        """Put a question to the user; ``None`` when it was dismissed."""
        self._speaking = None
        self._state("requires_action")
        try:
            result = self.request("session/request_permission", self.version.question(question))
        except Fault:
            result = None
        self._state("running")
        outcome = result.get("outcome") if isinstance(result, dict) else None
        chosen = outcome.get("optionId") if isinstance(outcome, dict) else None
        return next((one for one in question.options if one.id == chosen), None)

    def elicit(self, params: Json) -> Json:
        """Ask the user for more than a choice; what came of it, which may be nothing."""
        self._speaking = None
        self._state("requires_action")
        try:
            result = self.request("elicitation/create", params)
        except Fault:
            result = None
        self._state("running")
        return result if isinstance(result, dict) else {}

    def request(self, method: str, params: Json) -> Any:
        """Ask the client something. Raises ``Fault`` for an error, ``Stopped`` at a stop."""
        self._check()
        number = self._wire.request(method, {"sessionId": self.session.id} | params)
        self._asked.add(number)
        try:
            result = self._wire.take(number, lambda: self._stopping)
        except TimeoutError:
            raise Stopped from None
        except Fault:
            self._asked.discard(number)
            raise
        self._asked.discard(number)
        return result

    def order(self, method: str, params: Json) -> None:
        """Ask the client something whose answer does not matter, even after a stop."""
        self._wire.request(method, {"sessionId": self.session.id} | params, awaited=False)

    @property
    def edits_through_client(self) -> bool:
        """The client offers both to read and to write, so an edit goes through it."""
        return self.client.reads and self.client.writes

    def read(self, path: Path, *, to_edit: bool = False) -> str:
        """The text of a file, as the editor has it if the client offers that.

        What is read to be edited comes from where it will be written to. Raises ``Sorry``.
        """
        shown = self.workspace.shown(path)
        if self.client.reads and (self.client.writes or not to_edit):
            try:
                result = self.request("fs/read_text_file", {"path": str(path)})
            except Fault as fault:
                raise Sorry(f"The editor did not let me read `{shown}`: {fault.message}") from None
            text = result.get("content") if isinstance(result, dict) else None
        else:
            text = text_of(path)
        if not isinstance(text, str):
            raise Sorry(f"`{shown}` is not a text file that I can read.")
        self.session.characters += len(text)
        return text

    def write(self, path: Path, text: str) -> None:
        """Write a file, through the client if it offers that. Raises ``Sorry``."""
        if not (self.edits_through_client or (self.client.writes and not path.exists())):
            self._check()
            write_text(path, text)
            return
        try:
            self.request("fs/write_text_file", {"path": str(path), "content": text})
        except Fault as fault:
            shown = self.workspace.shown(path)
            raise Sorry(f"The editor did not let me write `{shown}`: {fault.message}") from None

    # --- below --------------------------------------------------------------------------

    def fail(self, call: str, why: str) -> None:
        """End a tool call that did not work, with the reason in it."""
        self.call(call, status="failed", content=[Text(why)])

    def _state(self, state: str) -> None:
        for update in self.version.states(state):
            self._tell(update)

    def _tell(self, update: Json) -> None:
        self._wire.tell("session/update", {"sessionId": self.session.id, "update": update})

    def _check(self) -> None:
        if self._stopping:
            raise Stopped
