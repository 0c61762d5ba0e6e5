"""The bridge joins the rims and the hub; defects of ours end nothing."""

from __future__ import annotations

import logging
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any, get_args

import anyio
import pytest

from acpls import effects as ef
from acpls import events as ev
from acpls.bridge import Bridge
from acpls.lsp.doorstep import Doorstep
from acpls.lsp.rim import EditorRim
from acpls.session.asks import Done, LogOut
from acpls.settings import AgentSpec
from editor_stage import Editor, announcing

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator
    from pathlib import Path

pytestmark = pytest.mark.anyio

BUG = {"type": 1, "message": "A bug in acpls; its log says more"}


@asynccontextmanager
async def running(
    config: object = None, state: Path | None = None
) -> AsyncIterator[tuple[Bridge, Editor]]:
    """A bridge whose editor is initialised; its agents and tasks end afterwards."""
    async with anyio.create_task_group() as tasks:
        editor = Editor()
        it = Bridge(
            tasks,
            editor.server,
            AgentSpec("nothing"),
            launch="1",
            config_layer=config,
            state=state,
        )
        Doorstep(editor.server, lambda: it.rim)
        params = {"processId": None, "rootUri": "file:///p", **announcing()}
        editor.result("initialize", params)
        editor.notify("initialized", {})
        yield it, editor
        await it.aclose()
        tasks.cancel_scope.cancel()


async def test_a_command_goes_through_the_hub_and_back() -> None:
    async with running({"follow": {"on": True}}) as (_, editor):
        assert editor.command("acpls.follow.set", {}) == {"on": False}


async def test_the_log_of_an_agent_is_the_hosts(monkeypatch: pytest.MonkeyPatch) -> None:
    async with running() as (it, editor):
        monkeypatch.setattr(it._host, "log", lambda agent: f"{agent}\n2\n3")
        assert editor.command("acpls.agent.log", {"lines": 2}) == {"text": "2\n3"}
        assert editor.command("acpls.agent.log") == {"text": "demo\n2\n3"}


async def test_effects_for_the_host_and_for_the_editor_go_where_they_belong(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with running() as (it, editor):
        done: list[ef.Effect] = []
        monkeypatch.setattr(it._host, "perform", done.append)
        editor.ask("workspace/executeCommand", {"command": "acpls.session.new"})
        assert [type(effect) for effect in done] == [ef.StartAgent, ef.SendAsk]
        (starting,) = editor.reads("acp/agent/changed")
        assert starting == {"agent": "demo", "state": "starting"}


EFFECTS: list[ef.Effect] = [
    ef.StartAgent("demo", AgentSpec("nothing")),
    ef.EndAgent("demo"),
    ef.SendAsk("demo", 1, LogOut()),
    ef.WithdrawAsk("demo", 1),
    ef.SendAnswer("demo", 1, Done()),
    ef.ReadFile("token", "/a", ("/",)),
    ef.WriteFile("token", "/a", "", ("/",)),
    ef.SyncFiles("token", ("/",)),
    ef.WatchFiles(("/",)),
    ef.CompareWithHead("token", ("/a",)),
    ef.ReadStored("token", ()),
    ef.StoreReview(("/",), {}),
    ef.LoadReview("token", ("/",)),
    ef.LookAt("token", ("/a",), ("/",)),
    ef.KeepChoice("follow", value=True),
    ef.LoadChoices(),
    ef.ReadPermissions("token", ("/",)),
    ef.KeepPermission("token", "p1", None),
    ef.EditBuffer(1, "file:///a", 1, "", ()),
    ef.ChangeFile(1, "file:///a"),
    ef.SaveDocument("token", "file:///a"),
    ef.ShowDocument("file:///a"),
    ef.OpenLink("https://a.example"),
    ef.RunProgram("token", "Log in", ("agent",)),
    ef.PutQuestion("q1"),
    ef.QuestionSettled("q1", "editor"),
    ef.ReplyCommand(1, {}),
    ef.ReplyLinks(1),
    ef.ReplyPlaces(1),
    ef.FailCommand(1, -32603, "no"),
    ef.TellUser("info", "hello"),
    ef.ShowSession("s1", "state"),
    ef.ShowReview("/a"),
    ef.ShowQuestions(),
    ef.ShowFollow(),
    ef.ShowPlace("s1", "/a", None, None, "edit", None, move=False),
    ef.ShowAgent("demo", "ready"),
]


async def test_each_effect_is_performed_by_one_rim(monkeypatch: pytest.MonkeyPatch) -> None:
    async with running() as (it, _):
        host: list[ef.Effect] = []
        rim: list[ef.Effect] = []
        monkeypatch.setattr(it._host, "perform", host.append)
        monkeypatch.setattr(it.rim, "perform", rim.append)
        for effect in EFFECTS:
            it._perform(effect)
        assert host == EFFECTS[:18]
        assert rim == EFFECTS[18:]
    # The bridge itself tells the time, and asks the host for its log.
    own = {ef.After, ef.ReplyLog}
    assert {type(effect) for effect in EFFECTS} | own == set(get_args(ef.Effect))


async def test_a_file_is_read_and_time_passes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with running() as (it, _):
        seen: list[ev.Event] = []
        news = anyio.Event()

        def handle(event: ev.Event, _: float) -> Iterator[ef.Effect]:
            # What was stored for this workspace may be told of in between.
            if not isinstance(event, ev.ReviewLoaded | ev.ChoicesLoaded):
                seen.append(event)
                news.set()
            if isinstance(event, ev.FileRead):
                yield ef.After(0.001, "token")

        monkeypatch.setattr(it._hub, "handle", handle)
        (tmp_path / "a").write_text("text")
        it._perform(ef.ReadFile("read", str(tmp_path / "a"), (str(tmp_path),)))
        with anyio.fail_after(5):
            while len(seen) < 2:
                news = anyio.Event()
                await news.wait()
        read, passed = seen
        assert isinstance(read, ev.FileRead)
        assert (read.token, read.disk.text, read.earlier) == ("read", "text", ev.FIRST)
        assert passed == ev.TimePassed("token")


async def test_what_is_to_last_goes_to_the_folder_for_it(tmp_path: Path) -> None:
    async with running(state=tmp_path / "state") as (it, _):
        it._perform(ef.StoreReview(("/",), {}))
    assert len(list((tmp_path / "state" / "reviews").iterdir())) == 1


async def test_an_event_that_comes_while_another_is_handled_waits(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with running() as (it, _):
        order: list[str] = []

        def handle(event: ev.Event, _: float) -> list[ef.Effect]:
            assert isinstance(event, ev.BufferSaved)
            order.append(f"in {event.uri}")
            if event.uri == "1":
                it.post(ev.BufferSaved("2"))
                it.post(ev.BufferSaved("3"))
            order.append(f"out {event.uri}")
            return [ef.TellUser("info", event.uri)]

        monkeypatch.setattr(it._hub, "handle", handle)
        monkeypatch.setattr(it.rim, "perform", lambda _: order.append("done"))
        it.post(ev.BufferSaved("1"))
        assert order == ["in 1", "out 1", "done", "in 2", "out 2", "done", "in 3", "out 3", "done"]


# --- bugs of ours ------------------------------------------------------------------------------


def broken(*_: object) -> Any:
    raise RuntimeError("a bug")


async def test_a_bug_in_the_hub_is_logged_and_shown_once_and_the_next_event_is_handled(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    async with running() as (it, editor):
        with monkeypatch.context() as patch:
            patch.setattr(it._hub, "handle", broken)
            for _ in range(3):
                it.post(ev.BufferSaved("file:///a"))
            it.post(ev.BufferClosed("file:///a"))
        assert caplog.text.count("RuntimeError: a bug") == 4
        assert "BufferSaved" in caplog.text
        assert editor.reads("window/showMessage") == [BUG, BUG]
        assert editor.command("acpls.follow.set") == {"on": True}


async def test_a_command_that_a_bug_spoils_is_answered(monkeypatch: pytest.MonkeyPatch) -> None:
    async with running() as (it, editor):
        with monkeypatch.context() as patch:
            patch.setattr(it._hub, "handle", broken)
            error = editor.command_error("acpls.status")
        assert error == {"code": -32603, "message": BUG["message"]}
        assert editor.command("acpls.status")["currentSession"] is None


async def test_a_bug_in_an_effect_is_logged_and_shown_and_the_next_effect_is_performed(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    async with running() as (it, editor):
        effects = [ef.ShowQuestions(), ef.ShowQuestions(), ef.TellUser("info", "still here")]
        monkeypatch.setattr(it.rim.views, "questions", broken)
        monkeypatch.setattr(it._hub, "handle", lambda *_: effects)
        it.post(ev.BufferSaved("file:///a"))
        assert caplog.text.count("RuntimeError: a bug") == 2
        assert editor.reads("window/showMessage") == [BUG]
        assert editor.reads("window/logMessage")[-1]["message"] == "still here"


async def test_a_command_whose_effect_has_a_bug_is_answered(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with running() as (it, editor):
        monkeypatch.setattr(it._host, "log", broken)
        assert editor.command_error("acpls.agent.log")["code"] == -32603


async def test_a_bug_while_telling_of_a_bug_ends_nothing(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    async with running() as (it, editor):
        with monkeypatch.context() as patch:
            patch.setattr(EditorRim, "perform", broken)
            it.post(ev.BufferSaved("file:///a"))
            patch.setattr(it._hub, "handle", broken)
            it.post(ev.BufferSaved("file:///a"))
        assert [record.levelno for record in caplog.records] == [logging.ERROR] * 2
        assert editor.command("acpls.follow.set") == {"on": True}


async def test_the_end_ends_the_host(monkeypatch: pytest.MonkeyPatch) -> None:
    async with running() as (it, _):
        closed: list[bool] = []

        async def close() -> None:
            closed.append(True)

        monkeypatch.setattr(it._host, "aclose", close)
        await it.aclose()
        assert closed == [True]
