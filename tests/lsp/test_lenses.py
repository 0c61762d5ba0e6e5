"""Keep and reject above each hunk, in the ordinary view of the file (D14)."""

from __future__ import annotations

from typing import Any

import pytest

from acpls.review.held import NO_FILE, Held, of_text
from editor_stage import Stage, captured, claiming, stage

pytestmark = pytest.mark.anyio

PATH = "/p/a.py"
URI = "file:///p/a.py"
BASE = "a\nb\nc\nd\ne\n"
TARGET = "A\nb\nc\nd\nE\n"
LENSES = claiming(textDocument={"codeLens": {}}, workspace={"codeLens": {"refreshSupport": True}})
REFRESH = "workspace/codeLens/refresh"


def lenses(it: Stage, uri: str = URI) -> list[tuple[int, str, str, dict[str, Any]]]:
    """Line, title, command and argument of each lens."""
    found = it.editor.result("textDocument/codeLens", {"textDocument": {"uri": uri}})
    for lens in found:
        assert lens["range"]["start"] == lens["range"]["end"]
        assert lens["range"]["start"]["character"] == 0
    commands = [(lens["range"]["start"]["line"], lens["command"]) for lens in found]
    return [
        (line, command["title"], command["command"], *command["arguments"])
        for line, command in commands
    ]


def titles(it: Stage, uri: str = URI) -> list[tuple[int, str]]:
    return [(line, title) for line, title, _, _ in lenses(it, uri)]


async def test_each_hunk_has_two_and_the_file_two_more_d14() -> None:
    async with stage(LENSES) as it:
        it.session()
        it.editor.open(URI, TARGET)
        first, second = it.reviewed(PATH, BASE, TARGET)
        keep, reject = "acpls.review.keep", "acpls.review.reject"
        assert lenses(it) == [
            (0, "Keep all 2", keep, {"uri": URI}),
            (0, "Reject all 2", reject, {"uri": URI}),
            (0, "Keep", keep, {"hunk": first}),
            (0, "Reject", reject, {"hunk": first}),
            (4, "Keep", keep, {"hunk": second}),
            (4, "Reject", reject, {"hunk": second}),
        ]
        assert lenses(it, "file:///p/other.py") == lenses(it, "untitled:1") == []


async def test_their_commands_work_as_they_come() -> None:
    async with stage(LENSES) as it:
        it.session()
        it.editor.open(URI, "a\nB\n")
        (key,) = it.reviewed(PATH, "a\nb\n", "a\nB\n")
        _, (_, _, command, argument) = lenses(it)
        it.editor.ask("workspace/executeCommand", {"command": command, "arguments": [argument]})
        (run,) = it.state.verdicts[PATH]
        assert (run.verdict, {*run.keys}) == ("reject", {key})


async def test_they_stand_where_the_hunks_are_by_now_d47() -> None:
    async with stage(LENSES) as it:
        it.session()
        it.editor.open(URI, "a\nb\n")
        it.reviewed(PATH, "a\nb\nc\n", "a\nb\n")
        # Not in a line that is none.
        assert titles(it) == [(1, "Keep"), (1, "Reject")]
        it.editor.change(URI, 2, {"text": "😀\n\na\nb\n"})
        assert titles(it) == [(3, "Keep"), (3, "Reject")]


async def test_what_cannot_be_taken_back_says_why_and_a_clash_has_its_own_words() -> None:
    async with stage(LENSES) as it:
        it.session()
        it.editor.open(URI, BASE)
        it.reviewed(PATH, BASE, TARGET)
        it.editor.change(URI, 2, {"text": BASE.replace("a", "mine")})
        assert titles(it) == [
            (0, "Keep 1 of 2"),
            (0, "Reject all 2"),
            (0, "Take the agent's lines"),
            (0, "Keep mine"),
            (4, "Keep"),
            (4, "Reject"),
        ]
        it.editor.open("file:///p/b.py", TARGET)
        it.reviewed("/p/b.py", BASE, TARGET)
        it.editor.change("file:///p/b.py", 2, {"text": TARGET.replace("E", "E and mine")})
        assert titles(it, "file:///p/b.py") == [
            (0, "Keep all 2"),
            (0, "Reject 1 of 2"),
            (0, "Keep"),
            (0, "Reject"),
            (4, "Keep (you wrote into these lines)"),
        ]


async def test_a_whole_file_has_its_words() -> None:
    async with stage(LENSES) as it:
        it.session()
        it.editor.open(URI, "new\n")
        it.wrote(PATH, NO_FILE, of_text("new\n"))
        assert titles(it) == [(0, "Keep the new file"), (0, "Reject the new file")]
        it.editor.open("file:///p/b.py", "")
        binary = Held(content="1", opaque="the file is binary")
        it.wrote("/p/b.py", NO_FILE, binary)
        assert titles(it, "file:///p/b.py") == [
            (0, "Keep the new file"),
            (0, "Reject the new file"),
        ]


async def test_a_document_is_not_all_lenses() -> None:
    async with stage(LENSES) as it:
        it.session()
        base = "".join(f"{number}\n" for number in range(400))
        target = "".join(f"{number}{'x' * (number % 2)}\n" for number in range(400))
        it.editor.open(URI, target)
        assert len(it.reviewed(PATH, base, target)) == 200
        assert len(lenses(it)) == 2 + 2 * 100
        assert titles(it)[0] == (0, "Keep all 200")


# --- who gets them ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("params", "served"),
    [
        (LENSES, True),
        (claiming(textDocument={"codeLens": {"dynamicRegistration": True}}), True),
        (claiming(textDocument={}), False),
        (claiming(), False),
        (captured("vscode-1.139"), True),
        (captured("nvim-0.11.4"), True),
        (captured("helix-25.07.1"), False),
        (captured("kate-25.04.3"), False),
    ],
)
async def test_they_are_offered_to_those_that_show_them(params: Any, served: bool) -> None:
    async with stage(params) as it:
        able = it.editor.protocol.server_capabilities.code_lens_provider
        assert (able is not None) is served
        if not served:
            request = it.editor.ask("textDocument/codeLens", {"textDocument": {"uri": URI}})
            assert it.editor.answered(request)["error"]["code"] == -32601


async def refreshes(it: Stage) -> list[dict[str, Any]]:
    """Tell what was noted; the requests that come of it."""
    it.views.flush()
    await it.settle()
    found = [message for message in it.editor.inbox if message.get("method") == REFRESH]
    it.editor.inbox = [m for m in it.editor.inbox if m not in found]
    return found


async def test_the_editor_fetches_them_again_when_there_are_others() -> None:
    async with stage(LENSES) as it:
        it.session()
        it.editor.open(URI, TARGET)
        assert await refreshes(it) == []
        it.reviewed(PATH, BASE, TARGET)
        (asked,) = await refreshes(it)
        assert "params" not in asked
        it.editor.reply(asked)
        # They move with their lines.
        it.editor.change(URI, 2, {"text": f"\n{TARGET}"})
        assert await refreshes(it) == []
        it.editor.change(URI, 3, {"text": f"\n{TARGET}".replace("E", "E and mine")})
        (asked,) = await refreshes(it)
        it.editor.refuse(asked)
        it.editor.change(URI, 4, {"text": f"\n{TARGET}"})
        assert len(await refreshes(it)) == 1


async def test_one_request_is_under_way_at_a_time() -> None:
    async with stage(LENSES) as it:
        it.session()
        it.editor.open(URI, TARGET)
        it.reviewed(PATH, BASE, TARGET)
        (asked,) = await refreshes(it)
        for version in (2, 4):
            it.editor.change(URI, version, {"text": TARGET.replace("E", "E and mine")})
            assert await refreshes(it) == []
            it.editor.change(URI, version + 1, {"text": TARGET})
            assert await refreshes(it) == []
        it.editor.reply(asked)
        (asked,) = await refreshes(it)
        it.editor.reply(asked)
        assert await refreshes(it) == []


async def test_of_a_closed_document_there_is_nothing_to_fetch() -> None:
    async with stage(LENSES) as it:
        it.session()
        it.reviewed(PATH, BASE, TARGET)
        assert await refreshes(it) == []
        it.editor.open(URI, TARGET)
        assert len(await refreshes(it)) == 1


@pytest.mark.parametrize(
    "workspace", [None, {}, {"codeLens": {}}, {"codeLens": {"refreshSupport": False}}]
)
async def test_nobody_is_asked_who_does_not_say_so(workspace: Any) -> None:
    capabilities: dict[str, Any] = {"textDocument": {"codeLens": {}}}
    if workspace is not None:
        capabilities["workspace"] = workspace
    async with stage({"capabilities": capabilities}) as it:
        it.session()
        it.editor.open(URI, TARGET)
        it.reviewed(PATH, BASE, TARGET)
        assert await refreshes(it) == []
        assert len(lenses(it)) == 6
