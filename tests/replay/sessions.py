"""The sessions of one agent, taken in as the hub takes them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from acpls.events import AskFailed, Notified, Replied, SessionTold
from acpls.session import asks
from acpls.session import updates as up
from acpls.session.state import Session

if TYPE_CHECKING:
    from acpls.events import AgentEvent
    from acpls.session.asks import Ask


@dataclass(slots=True)
class Sessions:
    """``all``: every session that was opened, in order; ``by_native``: those that are open,
    by the agent's ids; ``early``: what was told of sessions that nobody opened here.
    """

    all: list[Session] = field(default_factory=list)
    # For each of them: the step from which on what is said of it goes to it.
    since: list[int] = field(default_factory=list)
    step: int = 0
    by_native: dict[str, Session] = field(default_factory=dict)
    early: dict[str, list[up.Update]] = field(default_factory=dict)
    # By ``id`` of the event: the turn that it ended, and the key of the session it is of.
    ended: dict[int, str] = field(default_factory=dict)
    keys: dict[int, str] = field(default_factory=dict)
    _asks: dict[int, Ask] = field(default_factory=dict)
    _numbers: int = 0
    # What stood under an id before the agent was asked to open it again.
    _before: dict[int, Session | None] = field(default_factory=dict)

    def asked(self, ask: Ask) -> int:
        """An ask is on its way; its number."""
        self._numbers += 1
        self._asks[self._numbers] = ask
        match ask:
            case asks.Prompt(native, blocks) if native in self.by_native:
                self.by_native[native].prompted(f"t{self._numbers}", blocks)
            case asks.Cancel(native) if native in self.by_native:
                session = self.by_native[native]
                session.stopping = session.busy
            case asks.ResumeSession(native, _, False) if native in self.by_native:
                # It goes on where it was.
                pass
            case asks.ResumeSession(native, opening):
                self._before[self._numbers] = self.by_native.get(native)
                self._open(native, opening.cwd, self.step)
            case _:
                pass
        return self._numbers

    def take(self, event: AgentEvent) -> None:
        """Take an event of the agent in."""
        native = getattr(event, "session", None)
        if native in self.by_native:
            self.keys[id(event)] = self.by_native[native].key
        match event:
            case SessionTold(session=native, update=update):
                session = self.by_native.get(native)
                if session is None:
                    self.early.setdefault(native, []).append(update)
                else:
                    turn = session.turn
                    session.apply(update)
                    if turn is not None and session.turn is None:
                        self.ended[id(event)] = turn
            case Notified(method=method, params=params, session=str(native)):
                if native in self.by_native:
                    other = up.Other({"method": method, "params": params})
                    self.by_native[native].apply(other)
            case Replied(ask=number, reply=reply):
                self._replied(self._asks.pop(number), reply)
                if isinstance(reply, asks.SessionOpened):
                    self.keys[id(event)] = self.by_native[reply.session].key
            case AskFailed(ask=number, failure=failure):
                self._failed(number, self._asks.pop(number), failure)
            case _:
                pass

    def _open(self, native: str, cwd: str, since: int) -> Session:
        session = Session(f"S{len(self.all) + 1}", "agent", cwd, native=native)
        self.all.append(session)
        self.since.append(since)
        self.by_native[native] = session
        for update in self.early.pop(native, []):
            session.apply(update)
        return session

    def _replied(self, ask: Ask, reply: asks.Reply) -> None:
        match reply:
            case asks.SessionOpened(native, options, commands):
                session = self.by_native.get(native)
                if session is None or not isinstance(ask, asks.ResumeSession):
                    assert isinstance(ask, asks.NewSession | asks.ForkSession)
                    session = self._open(native, ask.opening.cwd, 0)
                if options is not None:
                    session.apply(up.OptionsSet(options))
                if commands is not None:
                    session.apply(up.CommandsSet(commands))
                if session.state == "starting":
                    session.state = "idle"
            case asks.PromptTaken(str(message)):
                assert isinstance(ask, asks.Prompt)
                if ask.session in self.by_native:
                    self.by_native[ask.session].confirm_prompt(message)
            case asks.OptionsReplied(tuple(options)):
                assert isinstance(ask, asks.SetOption)
                if ask.session in self.by_native:
                    self.by_native[ask.session].apply(up.OptionsSet(options))
            case _:
                pass

    def _failed(self, number: int, ask: Ask, failure: asks.Failure) -> None:
        match ask:
            case asks.Prompt(native) if native in self.by_native:
                session = self.by_native[native]
                if session.turn is not None:
                    session.apply(up.TurnChanged("idle", "error", failure.message))
            case asks.ResumeSession(native) if number in self._before:
                index = self.all.index(self.by_native.pop(native))
                del self.all[index], self.since[index]
                before = self._before.pop(number)
                if before is not None:
                    self.by_native[native] = before
            case _:
                pass
