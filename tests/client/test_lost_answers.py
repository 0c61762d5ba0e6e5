"""An answer that does not leave for its agent any more is told (P05)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from acpls.effects import SendAnswer
from acpls.events import AgentEnded, AnswerLost, QuestionAsked
from acpls.session.asks import Selected
from rim_stage import stage

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.anyio

ASKS = "hello()\nsay(id=0, method='question')\n"


async def test_p05_an_answer_for_an_agent_that_does_not_run(tmp_path: Path) -> None:
    async with stage(tmp_path) as it:
        it.host.perform(SendAnswer("nobody", 0, Selected("yes")))
        assert it.of(AnswerLost) == [AnswerLost("nobody", 0)]


async def test_p05_an_answer_for_an_agent_that_does_not_read_any_more(tmp_path: Path) -> None:
    async with stage(tmp_path) as it:
        it.start("hello()\nos.close(0)\nsay(id=0, method='question')\ntime.sleep(60)")
        await it.wait(QuestionAsked)
        it.host.perform(SendAnswer("a", 0, Selected("yes")))
        assert await it.wait(AnswerLost) == AnswerLost("a", 0)
        await it.wait(AgentEnded)
        assert it.of(AnswerLost) == [AnswerLost("a", 0)]


async def test_p05_an_answer_that_still_waits_when_its_agent_ends(tmp_path: Path) -> None:
    """The pipe is full, so the answer stands behind what the agent never reads."""
    async with stage(tmp_path) as it:
        begun = "open('go', 'w').close()\n"
        it.start(f"{begun}{ASKS}while os.path.exists('go'): time.sleep(0.01)")
        await it.wait(QuestionAsked)
        it.prompt(1, "x" * 1_000_000)
        it.host.perform(SendAnswer("a", 0, Selected("yes")))
        (tmp_path / "go").unlink()
        await it.wait(AgentEnded)
        assert it.of(AnswerLost) == [AnswerLost("a", 0)]


async def test_an_answer_that_was_sent_is_not_lost(tmp_path: Path) -> None:
    async with stage(tmp_path) as it:
        it.start(ASKS + "read()")
        await it.wait(QuestionAsked)
        it.host.perform(SendAnswer("a", 0, Selected("yes")))
        await it.wait(AgentEnded)
        assert it.of(AnswerLost) == []
