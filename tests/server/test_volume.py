"""Ten thousand chunks arrive whole, in order and coalesced, while the editor is answered."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import anyio
import pytest
from server_stage import both_versions, open_conversation, seat

from acpls.testing.editor import PLAIN

if TYPE_CHECKING:
    from pathlib import Path

    from server_stage import Seat

pytestmark = [pytest.mark.anyio, pytest.mark.timeout(60)]

CHUNKS = 10_000
STREAM: list[Any] = [{"chunks": CHUNKS, "text": "{n} "}, {"end": "end_turn"}]
WHOLE = "".join(f"{number} " for number in range(CHUNKS))
HOVER_EVERY_S = 0.02


class Hovers:
    """Hovers asked every now and then; how many were answered."""

    def __init__(self, at: Seat) -> None:
        self._at = at
        self.answered = 0
        self.enough = False

    async def ask(self) -> None:
        """Asks until it is enough."""
        uri = self._at.open_text("file:///hovered.txt", "x")
        params = {"textDocument": {"uri": uri}, "position": {"line": 0, "character": 0}}
        while not self.enough:
            await self._at.request("textDocument/hover", params)
            self.answered += 1
            await anyio.sleep(HOVER_EVERY_S)


@both_versions
async def test_ten_thousand_chunks_in_notifications(tmp_path: Path, version: int) -> None:
    async with seat(tmp_path, {"turns": [STREAM]}, version) as at:
        await at.command("acpls.session.new")
        before = len(at.seen("acp/session/changed"))
        hovers = Hovers(at)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(hovers.ask)
            await at.command("acpls.session.prompt", {"text": "go"})
            await at.idle(stop="end_turn")
            hovers.enough = True
        assert at.said() == WHOLE
        told = at.seen("acp/session/changed")[before:]
        assert len(told) < CHUNKS / 20
        assert [p["seq"] for p in told] == sorted({p["seq"] for p in told})
        assert hovers.answered > 1
        (message,) = [e for e in (await at.get())["entries"] if e.get("role") == "agent"]
        assert message["content"] == [{"type": "text", "text": WHOLE}]


async def test_ten_thousand_chunks_in_a_document(tmp_path: Path) -> None:
    async with seat(tmp_path, {"turns": [STREAM]}, 2, capabilities=PLAIN) as at:
        talk = await open_conversation(at)
        at.type(talk, at.below_heading(talk), "go")
        hovers = Hovers(at)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(hovers.ask)
            await at.command("acpls.session.send")
            await at.until(lambda: WHOLE.strip() in at.text(talk), within=40)
            hovers.enough = True
        assert at.text(talk).count(" 777 ") == 1
        assert len(at.seen("workspace/applyEdit")) < CHUNKS / 50
        assert hovers.answered > 1
