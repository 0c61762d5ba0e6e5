"""Editors that refuse, lie, delay and reorder: the user's text is whole, nothing lands twice."""

from __future__ import annotations

from itertools import cycle
from typing import TYPE_CHECKING, Any

import anyio
import pytest
from server_stage import hunks_told, open_conversation, seat

from acpls.testing.editor import IGNORED, PLAIN

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from server_stage import Seat

    from acpls.testing.frames import Json

pytestmark = pytest.mark.anyio

CODE = "def one():\n    return 1\n\n\ndef two():\n    return 2\n"
KEPT = CODE.replace("return 1", "return 10")
CHANGED = KEPT.replace("return 2", "return 20")
MINE = "# mine 👍\n"
HELIX = {"name": "helix", "version": "25.01"}
# Helix is known to show documents, so it is asked to.
SHOWN = IGNORED | {"window/showDocument"}
DELAY_S = 0.1

TURN: list[Any] = [
    {"write": "a.py", "text": CHANGED, "via": "disk"},
    {
        "tool": "t",
        "title": "Edit",
        "kind": "edit",
        "status": "completed",
        "content": [{"diff": {"path": "a.py", "old": CODE, "new": CHANGED}}],
    },
    {"say": "Done."},
]


async def edited(at: Seat) -> tuple[str, Path, list[Json]]:
    """The agent has changed a file on disk; its document has unsaved changes and two hunks."""
    path = at.file("a.py", CODE)
    uri = at.open(path)
    at.type(uri, 0, MINE)
    await at.command("acpls.session.prompt", {"text": "go"})
    await at.idle(stop="end_turn")
    hunks = await hunks_told(at, uri, 2)
    assert at.text(uri) == MINE + CODE
    return uri, path, hunks


class Stubborn:
    """What an editor does while hunks are kept in it; ``typed`` is what its user typed."""

    def __init__(self, at: Seat, uri: str) -> None:
        self.at = at
        self.uri = uri
        self.typed = ""

    def type(self, text: str) -> None:
        """The user types at the end of the document."""
        self.at.type(self.uri, len(self.at.text(self.uri)), text)
        self.typed += text

    def types_before_edits(self, count: int = 2) -> None:
        """Twice the edit comes for a version that is not there any more."""
        left = iter(range(count))

        def before(_: Json) -> None:
            if next(left, None) is not None:
                self.type("# typed\n")

        self.at.before_edit = before

    def answers_stale_edits_with_errors(self) -> None:
        self.at.edits = "stale_error"
        self.types_before_edits()

    def refuses_twice(self) -> None:
        self.moods("refuse", "refuse")

    def lies_and_refuses(self) -> None:
        self.moods("lie", "refuse")

    def moods(self, *moods: str) -> None:
        left = iter(moods)

        def before(_: Json) -> None:
            self.at.edits = next(left, "apply")

        self.at.before_edit = before

    def tells_of_the_change_first(self) -> None:
        self.at.reply_before_change = False

    def sends_changes_in_the_wrong_order(self) -> None:
        self.at.reorder(2)
        self.type("# one\n")
        self.type("# two\n")

    def types_between_answer_and_change(self) -> None:
        """The answer comes at once, news of the change much later, with more that was typed."""
        self.at.hold_changes()

        def before(_: Json) -> None:
            self.at._tasks.start_soon(self._release)

        self.at.before_edit = before

    async def _release(self) -> None:
        await anyio.sleep(0.2)
        self.type("# late\n")
        self.at.release_changes()


@pytest.mark.parametrize(
    ("version", "behaviour"),
    [
        (1, Stubborn.types_before_edits),
        (2, Stubborn.answers_stale_edits_with_errors),
        (1, Stubborn.refuses_twice),
        (2, Stubborn.lies_and_refuses),
        (1, Stubborn.tells_of_the_change_first),
        (2, Stubborn.sends_changes_in_the_wrong_order),
        (2, Stubborn.types_between_answer_and_change),
    ],
)
async def test_hunks_are_kept_all_the_same(
    tmp_path: Path, version: int, behaviour: Callable[[Stubborn], None]
) -> None:
    info = HELIX if behaviour is Stubborn.sends_changes_in_the_wrong_order else None
    async with seat(tmp_path, {"turns": [TURN]}, version, client_info=info) as at:
        uri, path, (first, second) = await edited(at)
        stubborn = Stubborn(at, uri)
        behaviour(stubborn)
        kept = await at.command("acpls.review.keep", {"hunk": first["hunk"]})
        assert kept == {"hunks": 1, "left": []}
        at.edits, at.before_edit = "apply", None
        await at.until(lambda: at.text(uri) == MINE + KEPT + stubborn.typed)
        rejected = await at.command("acpls.review.reject", {"hunk": second["hunk"]})
        assert rejected == {"hunks": 1, "left": []}
        assert at.text(uri) == MINE + KEPT + stubborn.typed
        assert at.modified(uri)
        assert path.read_text() == KEPT
        await hunks_told(at, uri, 0)


async def test_an_editor_that_will_not(tmp_path: Path) -> None:
    """The command says so, the hunk stays pending, and another try succeeds."""
    async with seat(tmp_path, {"turns": [TURN]}, 1) as at:
        uri, path, (first, _) = await edited(at)
        at.edits = "refuse"
        kept = await at.command("acpls.review.keep", {"hunk": first["hunk"]})
        assert kept["hunks"] == 0
        ((left, reason),) = [(x["hunk"], x["reason"]) for x in kept["left"]]
        assert left == first["hunk"]
        assert "editor" in reason
        assert "editor" in await at.popup()
        assert at.text(uri) == MINE + CODE
        assert path.read_text() == CHANGED
        at.edits = "apply"
        kept = await at.command("acpls.review.keep", {"hunk": first["hunk"]})
        assert kept == {"hunks": 1, "left": []}
        assert at.text(uri) == MINE + KEPT


async def test_an_editor_that_takes_its_time(tmp_path: Path) -> None:
    """Several verdicts at once, typing meanwhile: one edit is under way at a time."""
    async with seat(tmp_path, {"turns": [TURN]}, 1) as at:
        uri, path, (first, second) = await edited(at)
        at.delay = anyio.Event()
        calls = [
            at.begin("workspace/executeCommand", {"command": name, "arguments": [{"hunk": key}]})
            for name, key in (
                ("acpls.review.keep", first["hunk"]),
                ("acpls.review.keep", second["hunk"]),
                ("acpls.review.keep", first["hunk"]),
            )
        ]
        await at.until(lambda: at.seen("workspace/applyEdit"))
        at.type(uri, 0, "# and this\n")
        await at.command("acpls.status")
        assert len(at.seen("workspace/applyEdit")) == 1
        assert not any(call.answered for call in calls)
        at.delay.set()
        answers = [await call.result() for call in calls]
        assert [answer["hunks"] for answer in answers] == [1, 1, 0]
        assert at.text(uri) == "# and this\n" + MINE + CHANGED
        assert path.read_text() == CHANGED


async def test_the_user_changes_the_very_lines(tmp_path: Path) -> None:
    """What the user made of them stays; the hunk is a conflict, which is said and not forced."""
    async with seat(tmp_path, {"turns": [TURN]}, 2) as at:
        uri, path, (first, second) = await edited(at)
        start = at.text(uri).index("return 1")
        at.replace(uri, start, start + len("return 1"), "return 'uno'")
        mine = at.text(uri)
        kept = await at.command("acpls.review.keep", {"hunk": first["hunk"]})
        assert kept["hunks"] == 0
        assert [x["hunk"] for x in kept["left"]] == [first["hunk"]]
        assert kept["left"][0]["reason"]
        assert at.text(uri) == mine
        kept = await at.command("acpls.review.keep", {"hunk": second["hunk"]})
        assert kept == {"hunks": 1, "left": []}
        assert at.text(uri) == mine.replace("return 2", "return 20")
        assert path.read_text() == CHANGED


# --- the conversation ------------------------------------------------------------------------

WORDS = [f"word-{number} " for number in range(60)]
STREAM: list[Any] = [
    step
    for number, word in enumerate(WORDS)
    for step in ({"say": word + ("\n\n" if number % 20 == 19 else "")}, {"sleep": 0.01})
]


class Moody:
    """Takes each edit another way; ``typed`` counts what its user typed just before one."""

    def __init__(self, at: Seat, talk: str, moods: list[str]) -> None:
        self._at, self._talk, self._moods = at, talk, cycle(moods)
        self.typed = self.edits = 0

    def __call__(self, _: Json) -> None:
        mood = next(self._moods)
        self.edits += 1
        if mood == "delay":
            # The next edit is looked at a while after it came.
            self._at.delay = anyio.Event()
            self._at._tasks.start_soon(self._go_on, self._at.delay)
        self._at.edits = "apply" if mood in {"type", "delay"} else mood
        if mood == "type":
            self._at.type(self._talk, self._at.below_heading(self._talk), "+")
            self.typed += 1

    async def _go_on(self, delay: anyio.Event) -> None:
        await anyio.sleep(DELAY_S)
        delay.set()


@pytest.mark.parametrize(
    ("version", "moods", "info"),
    [
        (1, ["type", "refuse", "lie", "refuse", "type", *["apply"] * 40], None),
        (2, ["delay", "type"], None),
        (2, ["apply"], HELIX),
    ],
    ids=["refuses and lies", "delays", "reorders"],
)
async def test_the_conversation_streams_into_a_document_that_is_typed_in(
    tmp_path: Path, version: int, moods: list[str], info: Json | None
) -> None:
    script = {"turns": [[*STREAM, {"say": "Done."}]]}
    async with seat(
        tmp_path, script, version, capabilities=PLAIN, client_info=info, ignore=SHOWN
    ) as at:
        talk = await open_conversation(at)
        at.type(talk, at.below_heading(talk), "Tell me everything")
        await at.command("acpls.session.send")
        await at.until(lambda: "word-0" in at.text(talk))
        at.before_edit = moody = Moody(at, talk, moods)
        draft = "And what of 🐭🐡🐢🐬?"
        for number, letter in enumerate(draft):
            if info is not None and number % 2 == 0:
                at.reorder(2)
            at.type(talk, at.text(talk).index("\n", at.below_heading(talk)), letter)
            await anyio.sleep(0.02)
        at.release_changes()
        await at.until(lambda: "Done." in at.text(talk))
        at.before_edit = at.delay = None
        at.edits = "apply"
        # Once more, so that an edit that comes twice is seen.
        await at.command("acpls.session.fetch")
        await at.command("acpls.status")

        text = at.text(talk)
        head, heading, below = text.rpartition("\n## You")
        assert heading
        assert (
            "".join(head.split("word-0", 1)[1].split())
            == "".join("".join(WORDS)[len("word-0") :].split()) + "Done."
        )
        assert text.count("Tell me everything\n") == 1
        assert text.count("word-0 ") == 1
        assert text.count("<!-- acpls: end -->") == 1
        assert text.count("## You <!-- acpls") == 1
        written = below.split("\n", 1)[1].removesuffix("<!-- acpls: end -->\n").rstrip("\n")
        assert written.replace("+", "") == draft
        assert written.count("+") == moody.typed
        assert moody.edits > 2
