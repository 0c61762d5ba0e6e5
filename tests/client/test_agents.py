"""One agent: order, answers, faults, death; through a real host and real processes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from acpls.effects import SendAnswer
from acpls.events import (
    AgentEnded,
    AgentMisspoke,
    AgentReady,
    AskFailed,
    QuestionAsked,
    Replied,
)
from acpls.session.asks import Cancel, CloseSession, Done, Failure, Selected
from rim_stage import stage

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.anyio


async def test_asks_wait_in_order_until_the_agent_is_ready(tmp_path: Path) -> None:
    async with stage(tmp_path) as it:
        it.start("time.sleep(0.2)\nhello()\nwhile (m := read()): tell(m['method'])")
        it.prompt(1)
        it.ask(2)
        it.ask(3, Cancel("s"))
        await it.text("cancel")
        assert it.texts() == ["sent", "prompt", "new", "cancel"]
        assert it.events.index(it.of(AgentReady)[0]) < it.events.index(
            next(e for e in it.events if "sent" in str(e))
        )
        assert it.of(AgentReady)[0].facts.protocol == 2


async def test_an_ask_made_on_hearing_of_the_start_comes_last(tmp_path: Path) -> None:
    async with stage(tmp_path) as it:
        it.start("hello()\nwhile (m := read()): tell(m['params'].get('text', 'none'))")
        it.prompt(1, "one")
        take = it.take

        def take_and_ask(event: object) -> None:
            take(event)
            if isinstance(event, AgentReady):
                it.prompt(2, "two")

        it.take = take_and_ask  # type: ignore[method-assign]  # to look over its shoulder
        it.host._agents["a"]._emit = take_and_ask
        it.host._emit = take_and_ask
        await it.text("two")
        assert [t for t in it.texts() if t != "sent"] == ["one", "two"]


async def test_everything_arrives_in_wire_order(tmp_path: Path) -> None:
    body = """
hello()
ask = read()
for number in range(3000):
    tell(str(number))
    if number == 1500:
        reply(ask, {})
tell("end")
serve()
"""
    async with stage(tmp_path) as it:
        it.start(body)
        it.prompt(5)
        await it.text("end")
        told = [t for t in it.texts() if t != "sent"]
        assert told == [*map(str, range(3000)), "end"]
        assert it.of(Replied) == [Replied("a", 5, Done())]
        before = it.events[: it.events.index(it.of(Replied)[0])]
        assert str(before[-1]).count("'1500'") == 1


async def test_writing_goes_on_while_the_agent_talks_and_does_not_read(tmp_path: Path) -> None:
    body = """
hello()
for number in range(200):
    tell("x" * 10000)
tell("talked")
total = 0
for number in range(20):
    total += len(read()["params"]["text"])
tell(str(total))
serve()
"""
    async with stage(tmp_path) as it:
        it.start(body)
        for number in range(20):
            it.prompt(number, "y" * 100_000)
        await it.text("2000000")
        assert "talked" in it.texts()


async def test_replies_are_matched_by_id_alone(tmp_path: Path) -> None:
    body = """
hello()
one, two = read(), read()
reply(two, {})
reply(two, {})
say(id=str(one["id"]), result={})
say(id=None, result={})
say(id=999, error={"code": 1, "message": "m"})
say(id=one["id"], error={"code": 401, "message": "no\\nkey", "data": {"x": 1}})
serve()
"""
    async with stage(tmp_path) as it:
        it.start(body)
        it.prompt(1)
        it.prompt(2)
        failed = await it.wait(AskFailed)
        assert failed == AskFailed("a", 1, Failure(401, "no", 'no\nkey\n{"x": 1}'))
        assert it.of(Replied) == [Replied("a", 2, Done())]
        assert it.host.log("a").count("dropped a reply") == 4
        assert it.of(AgentMisspoke) == []


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        ("reply(ask, 5)", "a sent a reply that does not fit: not an object"),
        ('reply(ask, "bug")', "internal error in acpls"),
        (
            'say(id=ask["id"], result=1, error={})',
            "a sent a broken reply: both a result and an error",
        ),
    ],
)
async def test_an_unusable_reply_fails_its_ask(answer: str, message: str, tmp_path: Path) -> None:
    async with stage(tmp_path) as it:
        it.start(f"hello()\nask = read()\n{answer}\ntell('on')\nserve()")
        it.prompt(1)
        assert (await it.wait(AskFailed)).failure.message == message
        await it.text("on")


async def test_what_cannot_be_said_fails_at_once(tmp_path: Path) -> None:
    async with stage(tmp_path) as it:
        it.start("hello()\nserve()")
        it.ask(1, CloseSession("s"))
        assert await it.wait(AskFailed) == AskFailed("a", 1, Failure(-1, "this cannot be said"))


async def test_requests_are_answered_once_or_refused_at_once(tmp_path: Path) -> None:
    body = """
hello()
for number, method in enumerate(["question", "question", "unknown", "misfit", "bug"]):
    say(id=max(number - 1, 0), method=method)
say(id=None, method="unknown")
for _ in range(5):
    answer = read()
    tell(json.dumps([answer["id"], answer.get("result"), answer.get("error", {}).get("code")]))
serve()
"""
    async with stage(tmp_path) as it:
        it.start(body)
        question = await it.wait(QuestionAsked)
        assert question.request == 0
        await it.text("[null, null, -32601]")
        it.host.perform(SendAnswer("a", 0, Selected("yes")))
        it.host.perform(SendAnswer("a", 0, Selected("no")))
        it.host.perform(SendAnswer("nobody", 0, Selected("no")))
        await it.text('[0, "yes", null]')
        assert it.texts() == [
            "[1, null, -32601]",
            "[2, null, -32602]",
            "[3, null, -32603]",
            "[null, null, -32601]",
            "answered yes",
            '[0, "yes", null]',
        ]
        assert it.of(QuestionAsked) == [question]
        problems = [e.problem for e in it.of(AgentMisspoke)]
        assert problems == [
            "request id 0 is in use; question was skipped",
            "misfit: it does not fit",
        ]
        assert "no request 0 is open" in it.host.log("a")


async def test_a_request_can_be_refused_by_the_hub(tmp_path: Path) -> None:
    async with stage(tmp_path) as it:
        it.start("hello()\nsay(id='q', method='question')\ntell(str(read()['error']))\nserve()")
        await it.wait(QuestionAsked)
        it.host.perform(SendAnswer("a", "q", Failure(-32002, "not found")))
        await it.text("{'code': -32002, 'message': 'not found'}")


async def test_x06_x09_noise_is_skipped_and_logged(tmp_path: Path) -> None:
    body = r"""
hello()
read()
for number in range(10):
    write(f"noise {number}")
write('{"id": 1, "result": {}}')
write("[1, 2]")
write("\ufeff\x1b[0m" + json.dumps({"jsonrpc": "2.0", "method": "tell", "params": {"text": "x8"}}))
write('{"jsonrpc": "2.0", "id": 9}')
write('{"jsonrpc": "2.0", ')
write('[{"jsonrpc": "2.0"}]')
say(method="tell", params={})
say(method="bug")
say(method="unknown")
for _ in range(3):
    answer = read()
    tell(f"{answer['id']} {answer['error']['code']}")
print("on stderr", file=sys.stderr, flush=True)
"""
    async with stage(tmp_path) as it:
        it.start(body)
        it.prompt(1)
        await it.text("None -32600")
        assert it.texts()[1:] == ["x8", "9 -32600", "None -32700", "None -32600"]
        assert it.of(Replied) == []  # the log line with id 1 is no reply
        problems = [e.problem for e in it.of(AgentMisspoke)]
        assert problems[:3] == [f"not a message: noise {n}" for n in range(3)]
        assert [p.partition(":")[0] for p in problems[3:]] == [
            "bad message (neither a method, nor a result, nor an error)",
            "bad message (not JSON",
            "bad message (ACP has no batches)",
            "tell",
        ]
        await it.wait(AgentEnded)
        assert "on stderr" in it.host.log("a")
        assert "not a message: noise 9" in it.host.log("a")
        assert it.host.log("nobody") == ""


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ("for _ in range(2000): write('{')", "more than 1000 lines in a row that cannot be read"),
        ("tell('x' * 2**20)", "a line longer than the limit of 1 MiB"),
        ("sys.stdout.write('x' * 2**22); time.sleep(60)", "a line longer than the limit of 1 MiB"),
    ],
)
async def test_a_hopeless_stream_ends_the_agent(body: str, reason: str, tmp_path: Path) -> None:
    async with stage(tmp_path) as it:
        it.start(f"hello()\ntell('on')\n{body}\ntell('never')\nserve()")
        ended = await it.wait(AgentEnded)
        assert ended.reason == f"a was ended: it sent {reason}"
        assert not ended.wanted
        assert it.texts() == ["on"]
        assert len(it.of(AgentMisspoke)) <= 50


async def test_lines_of_noise_between_messages_do_no_harm(tmp_path: Path) -> None:
    async with stage(tmp_path) as it:
        it.start("hello()\nfor n in range(1500):\n write('x')\n tell(str(n))\nserve()")
        await it.text("1499")
        assert it.of(AgentEnded) == []


async def test_an_agent_that_never_reads_is_ended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("acpls.client.outbox._MAX_UNSENT_BYTES", 2 * 1024 * 1024)
    async with stage(tmp_path) as it:
        it.start("hello()\ntime.sleep(60)")
        await it.wait(AgentReady)
        for number in range(4):
            it.prompt(number, "x" * 1024 * 1024)
        ended = await it.wait(AgentEnded)
        assert ended.reason == "a was ended: it left 2 MiB of messages unread"
        assert [e.ask for e in it.of(AskFailed)] == [0, 1, 2, 3]


async def test_x06_any_amount_of_noise_is_passed_over(tmp_path: Path) -> None:
    """X06: before the first answer and in a turn; only what cannot be read as a message counts."""
    noise = "for _ in range(3000): write('npm notice')\n"
    async with stage(tmp_path) as it:
        it.start(f"{noise}hello()\n{noise}tell('on')\nserve()")
        await it.text("on")
        assert it.of(AgentEnded) == []
        assert len(it.of(AgentMisspoke)) == 3


async def test_an_agent_that_reads_no_more_is_ended(tmp_path: Path) -> None:
    """It cannot be talked to, whatever it still says."""
    async with stage(tmp_path) as it:
        it.start("import os\nhello()\nos.close(0)\ntell('deaf')\ntime.sleep(600)")
        await it.text("deaf")
        it.prompt(1, "hello?")
        ended = await it.wait(AgentEnded)
        assert ended.reason == "a was ended: it no longer reads what it is sent"
        assert [event.ask for event in it.of(AskFailed)] == [1]


async def test_an_agent_that_reads_nothing_from_the_start_is_given_up(tmp_path: Path) -> None:
    async with stage(tmp_path) as it:
        it.start("import os\nos.close(0)\ntime.sleep(600)")
        ended = await it.wait(AgentEnded)
        assert ended.reason == "a was ended: it no longer reads what it is sent"


async def test_last_words_where_messages_are_expected_are_last_words(tmp_path: Path) -> None:
    async with stage(tmp_path) as it:
        it.start("write('This program is no longer maintained.')")
        ended = await it.wait(AgentEnded)
        assert ended.reason == "a ended with exit code 0: This program is no longer maintained."
