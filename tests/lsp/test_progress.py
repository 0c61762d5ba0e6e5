"""Work-done progress of turns and of agents that start."""

from __future__ import annotations

from typing import Any

import pytest

from acpls import effects as ef
from acpls import events as ev
from acpls.lsp import progress
from acpls.session import updates as up
from acpls.session.content import Resource, Text
from editor_stage import Stage, claiming, stage

pytestmark = pytest.mark.anyio

PROGRESS = claiming(window={"workDoneProgress": True})
CREATE = "window/workDoneProgress/create"


def values(it: Stage, token: str) -> list[dict[str, Any]]:
    told = it.editor.reads("$/progress")
    assert {params["token"] for params in told} <= {token}
    return [params["value"] for params in told]


async def begun(it: Stage) -> str:
    """A turn whose progress has begun; its token."""
    it.session()
    it.emit(ev.AgentReady("demo", _facts()))
    it.prompts()
    it.views.flush()
    await it.settle()
    for message in list(it.editor.inbox):
        if message.get("method") == CREATE:
            it.editor.reply(message)
    await it.settle()
    assert it.editor.reads(CREATE)[-1] == {"token": "acpls-turn-t1"}
    it.editor.reads()
    return "acpls-turn-t1"


def _facts() -> Any:
    from acpls.session.asks import AgentFacts  # noqa: PLC0415 -- one place

    return AgentFacts("Demo Agent", "1", 2)


async def test_a_turn_is_created_begun_reported_and_ended_in_order() -> None:
    async with stage(PROGRESS) as it:
        it.session()
        it.emit(ev.AgentReady("demo", _facts()))
        it.prompts()
        it.views.flush()
        await it.settle()
        it.editor.reads("$/progress")
        agent, turn = (m for m in it.editor.inbox if m.get("method") == CREATE)
        assert turn["params"] == {"token": "acpls-turn-t1"}
        it.says("What is said before the editor answers\nwaits.")
        it.views.flush()
        assert not it.editor.reads("$/progress")
        it.editor.refuse(agent)
        it.editor.reply(turn)
        await it.settle()
        it.says(" And more")
        it.views.flush()
        # Nothing new, nothing told.
        it.perform(ef.ShowSession("s1", "usage"))
        it.views.flush()
        it.told(up.ToolCallPatched("c", title="Reads a file"))
        it.views.flush()
        it.idle()
        it.views.flush()
        assert values(it, "acpls-turn-t1") == [
            {"kind": "begin", "title": "Demo Agent", "cancellable": True, "message": "waits."},
            {"kind": "report", "message": "waits. And more"},
            {"kind": "report", "message": "Reads a file"},
            {"kind": "end", "message": "end_turn"},
        ]


async def test_the_answer_may_come_after_the_end() -> None:
    async with stage(PROGRESS) as it:
        it.session()
        it.prompts()
        it.views.flush()
        await it.settle()
        it.idle()
        it.views.flush()
        _, turn = (m for m in it.editor.inbox if m.get("method") == CREATE)
        it.editor.reads()
        it.editor.reply(turn)
        await it.settle()
        kinds = [value["kind"] for value in values(it, "acpls-turn-t1")]
        assert kinds == ["begin", "end"]


@pytest.mark.parametrize("way", ["refused", "late"])
async def test_without_the_editors_word_nothing_is_told(
    way: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(progress, "CREATE_LIMIT_S", 0.01 if way == "late" else 5.0)
    async with stage(PROGRESS) as it:
        it.session()
        it.prompts()
        it.views.flush()
        requests = [await it.editor.next(CREATE) for _ in range(2)]
        for request in requests:
            if way == "late":
                await it.editor.next("$/cancelRequest")
            it.editor.refuse(request)
        await it.settle()
        it.says("more")
        it.views.flush()
        it.idle()
        it.views.flush()
        it.emit(ev.AgentReady("demo", _facts()))
        assert not it.editor.reads("$/progress")


@pytest.mark.parametrize("window", [None, {}, {"workDoneProgress": False}])
async def test_an_editor_without_progress_is_asked_for_none(window: Any) -> None:
    async with stage(claiming(window=window)) as it:
        it.session()
        it.prompts()
        it.says("hello")
        it.views.flush()
        it.idle()
        it.views.flush()
        it.emit(ev.AgentReady("demo", _facts()))
        await it.settle()
        assert not it.editor.methods()


async def test_one_turn_may_follow_the_other_between_two_flushes() -> None:
    async with stage(PROGRESS) as it:
        token = await begun(it)
        it.prompts("next")
        it.idle()
        it.views.flush()
        assert values(it, token) == [{"kind": "end", "message": "idle"}]
        request = await it.editor.next(CREATE)
        assert request["params"] == {"token": "acpls-turn-t2"}
        assert it.views.progress.turn_of(token) is None
        assert it.views.progress.turn_of("acpls-turn-t2") == "s1"


async def test_what_is_reported() -> None:
    async with stage(PROGRESS) as it:
        token = await begun(it)

        def now(*updates: up.Update) -> list[str]:
            for update in updates:
                it.told(update)
            it.views.flush()
            return [value["message"] for value in values(it, token)]

        long = "x" * 300
        blob = Resource("file:///r", blob="AA==")
        assert now(up.MessageGrew("1", "agent", Text(f"one\n{long}\n\n"))) == ["x" * 100]
        assert now(up.MessageGrew("2", "thought", Text("thinks"))) == ["thinks"]
        # What has no text, or no title, says nothing new.
        assert now(up.MessageGrew("3", "agent", blob)) == []
        assert now(up.MessageGrew("3", "agent", Text(" \n"))) == []
        assert now(up.ToolCallPatched("1")) == []
        assert now(up.NoticeGiven("info", "")) == []
        assert now(up.ToolCallPatched("1", title=long)) == ["x" * 100]
        for number in range(250):
            it.says(str(number % 10), message="4")
        assert now() == ["0123456789" * 10]
        it.emit(ev.CommandGiven("acpls.session.cancel"))
        assert now() == ["stopping"]
        it.emit(ev.AgentEnded("demo", "it died"))
        assert now() == ["it died"]


async def test_an_empty_session_has_nothing_to_report() -> None:
    async with stage(PROGRESS) as it:
        token = await begun(it)
        it.state.sessions["s1"].entries.clear()
        it.perform(ef.ShowSession("s1", "state"))
        it.views.flush()
        assert values(it, token) == [{"kind": "report", "message": ""}]


async def test_an_agent_that_starts_has_its_progress() -> None:
    async with stage(PROGRESS) as it:
        it.perform(ef.ShowAgent("demo", "starting"))
        it.perform(ef.ShowAgent("demo", "starting", "installs"))
        request = await it.editor.next(CREATE)
        assert request["params"] == {"token": "acpls-agent-1"}
        it.editor.reply(request)
        await it.settle()
        it.perform(ef.ShowAgent("demo", "starting", "still installs"))
        it.perform(ef.ShowAgent("demo", "ready"))
        it.perform(ef.ShowAgent("demo", "ready"))
        assert values(it, "acpls-agent-1") == [
            {
                "kind": "begin",
                "title": "Starting demo",
                "cancellable": False,
                "message": "installs",
            },
            {"kind": "report", "message": "still installs"},
            {"kind": "end", "message": "ready"},
        ]
        it.perform(ef.ShowAgent("demo", "starting"))
        again = await it.editor.next(CREATE)
        assert again["params"] == {"token": "acpls-agent-2"}
        it.perform(ef.ShowAgent("demo", "ended", "no such program"))
        it.editor.reply(again)
        await it.settle()
        assert values(it, "acpls-agent-2")[-1] == {"kind": "end", "message": "no such program"}


async def test_a_login_has_its_progress_and_cancelling_it_cancels_the_login_a03() -> None:
    async with stage(PROGRESS) as it:
        it.perform(ef.ShowAgent("demo", "starting", "installs"))
        it.editor.reply(await it.editor.next(CREATE))
        await it.settle()
        it.perform(ef.ShowAgent("demo", "loggingIn", "waits for Browser"))
        request = await it.editor.next(CREATE)
        assert request["params"] == {"token": "acpls-agent-2"}
        it.editor.reply(request)
        await it.settle()
        told = it.editor.reads("$/progress")
        assert [(params["token"], params["value"]["kind"]) for params in told] == [
            ("acpls-agent-1", "begin"),
            ("acpls-agent-1", "end"),
            ("acpls-agent-2", "begin"),
        ]
        assert told[1]["value"]["message"] == "waits for Browser"
        assert told[2]["value"] == {
            "kind": "begin",
            "title": "Logging in to demo",
            "cancellable": True,
            "message": "waits for Browser",
        }
        it.events.clear()
        it.editor.notify("window/workDoneProgress/cancel", {"token": "acpls-agent-1"})
        assert it.events == []
        it.editor.notify("window/workDoneProgress/cancel", {"token": "acpls-agent-2"})
        assert it.events == [ev.CommandGiven("acpls.agent.cancelLogin", {"agent": "demo"})]
        it.perform(ef.ShowAgent("demo", "needsLogin"))
        assert values(it, "acpls-agent-2") == [{"kind": "end", "message": "needsLogin"}]


async def test_the_progress_of_a_start_cannot_be_cancelled() -> None:
    async with stage(PROGRESS) as it:
        it.perform(ef.ShowAgent("demo", "starting"))
        it.editor.reply(await it.editor.next(CREATE))
        await it.settle()
        it.events.clear()
        it.editor.notify("window/workDoneProgress/cancel", {"token": "acpls-agent-1"})
        assert it.events == []
