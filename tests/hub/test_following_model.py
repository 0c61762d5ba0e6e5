"""Whatever happens in whatever order: nobody is moved who is not at rest, or does not want it.

And at rest one is where the agent is (F02, F04, F05).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scene import NATIVE, ROOT, YES_NO, Scene

from acpls import effects as ef
from acpls import events as ev
from acpls.follow import MOVE_EVERY_S
from acpls.hub import places
from acpls.session.content import Location
from acpls.text import uris

if TYPE_CHECKING:
    from acpls.follow import Place

IDLE_S = 2.0
FILES = [f"{ROOT}/{name}.txt" for name in "abc"]
OUTSIDE = "/etc/hosts"

Deed = tuple[str, int]
DEEDS = st.lists(
    st.tuples(
        st.sampled_from(
            [
                "agent",
                "agent",
                "agent",
                "types",
                "focus",
                "rests",
                "waits",
                "asks",
                "answers",
                "on",
                "off",
                "session",
                "previous",
                "next",
                "goTo",
                "turn",
                "other",
            ]
        ),
        st.integers(0, 5),
    ),
    max_size=40,
)


class Stage:
    """A scene, and what is known of its user beside what the hub knows."""

    def __init__(self, *, tells_focus: bool) -> None:
        ready = ev.EditorReady((ROOT,), places=True, focus=tells_focus, questions=True)
        self.scene = Scene(ready=ready)
        self.tells_focus = tells_focus
        for path in (*FILES, OUTSIDE):
            self.scene.has(path, "1\n2\n3\n4\n5\n6\n")
        for path in FILES:
            self.scene.buffer(path)
        self.scene.session("other")
        self.scene.session()
        self.scene.prompts()
        # To open a document is something that the user does, where he does not say where he is.
        self.acted_at_s = float("-inf") if tells_focus else self.scene.now_s
        self.moved_at_s = float("-inf")
        self.calls = 0

    def do(self, deed: Deed) -> None:
        """Something happens; each move that comes of it is looked at."""
        scene, (what, n) = self.scene, deed
        scene.seen.clear()
        match what:
            case "agent" | "other":
                self.calls += 1
                path = OUTSIDE if n == 5 else FILES[n % 3]
                native = NATIVE if what == "agent" else "other"
                at = (Location(path, n),)
                scene.tool_call(f"c{self.calls}", kind="read", locations=at, native=native)
            case "types":
                self.acted_at_s = scene.now_s
                if self.tells_focus:
                    uri = uris.from_path(FILES[n % 3])
                    scene.give(ev.FocusChanged(uri, typing=True))
                else:
                    scene.types(FILES[n % 3], 0, "x\n")
            case "focus":
                scene.give(ev.FocusChanged(uris.from_path(FILES[n % 3]), typing=False, rows=(n, n)))
                self.acted_at_s = scene.state.follow.acted_at_s
            case "rests":
                scene.passes(IDLE_S)
            case "waits":
                scene.passes(n / 10)
            case "asks":
                scene.asks(self.scene.state.number("request"), "May I?", YES_NO)
            case "answers":
                for question in scene.state.questions.pending()[:1]:
                    scene.give(ev.QuestionPut(question.key, "no"))
            case "on" | "off":
                scene.command("follow.set", on=what == "on")
            case "session":
                scene.command("follow.set", session=f"s{n % 2 + 1}")
            case "turn":
                scene.ends()
                scene.prompts(session="s2")
            case _:
                scene.command(f"follow.{what}")
        self.check()

    def check(self) -> None:
        state = self.scene.state
        for place in self.scene.of(ef.ShowPlace):
            if not place.move:
                continue
            assert state.follow.word(place.session) == "on"
            assert place.session == places.watched(state)
            assert place.path != OUTSIDE
            assert not places.is_asked(state)
            assert not state.follow.typing
            moved_at_s = state.follow.moved_at_s
            assert moved_at_s - self.acted_at_s >= IDLE_S - 1e-6
            assert moved_at_s - self.moved_at_s >= MOVE_EVERY_S - 1e-6
            self.moved_at_s = moved_at_s
        for shown in self.scene.of(ef.ShowDocument):
            assert shown.take_focus, "by command only"
            self.moved_at_s = self.scene.now_s

    def rests(self) -> Place | None:
        """The user rests, and nothing is asked; where he was taken."""
        scene = self.scene
        if self.tells_focus:
            focus = scene.state.follow.focus
            scene.give(ev.FocusChanged(focus[0], typing=False, rows=focus[1]))
        for question in scene.state.questions.pending():
            scene.give(ev.QuestionPut(question.key, "no"))
        for _ in range(4):
            self.scene.seen.clear()
            scene.passes(IDLE_S)
            self.check()
        return scene.state.follow.shown


@pytest.mark.parametrize("tells_focus", [True, False])
@settings(max_examples=40)
@given(deeds=DEEDS)
def test_f02_f04_f05_every_move_passes_the_gate(tells_focus: bool, deeds: list[Deed]) -> None:
    stage = Stage(tells_focus=tells_focus)
    for deed in deeds:
        stage.do(deed)
    shown = stage.rests()
    state = stage.scene.state
    key = places.watched(state)
    assert key is not None
    here = state.follow.here(key)
    if state.follow.word(key) == "on" and state.follow.wanted == key:
        assert here is None
    if shown is not None and here is not None and shown in state.follow.trail(key).places:
        busy = state.sessions[key].busy
        assert shown.spot == here.spot or here.outside or not busy or state.follow.word(key) != "on"
