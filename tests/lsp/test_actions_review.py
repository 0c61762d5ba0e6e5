"""What can be decided on a hunk of each kind: by code actions, in words of its own."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from acpls import effects as ef
from acpls.events import Form
from acpls.lsp import hunks
from acpls.lsp.diagnostics import diagnostics_of
from acpls.review.change import WHOLE
from acpls.review.composing import Author
from acpls.review.held import NO_FILE, Held, of_text
from acpls.session import updates as up
from editor_stage import Stage, stage

if TYPE_CHECKING:
    from collections.abc import Callable

pytestmark = pytest.mark.anyio

PATH = "/p/a.py"
URI = "file:///p/a.py"
BASE = "a\nb\nc\nd\ne\n"
TARGET = "a\nb\nC\nd\ne\n"
BINARY = Held(content="1", opaque="the file is binary")
OTHER_BINARY = Held(content="2", opaque="the file is binary")
UTF_16 = Form("utf-16-le", bom=True)


def offered(it: Stage, *where: int) -> list[tuple[str, str, dict[str, Any]]]:
    """The verdicts at a place of the document: title, command, argument."""
    found = [action["command"] for action in it.editor.actions(URI, *where)]
    return [
        (command["title"], command["command"].removeprefix("acpls.review."), argument)
        for command in found
        for argument in command["arguments"]
        if command["command"].startswith(("acpls.review.keep", "acpls.review.reject"))
    ]


def titles(it: Stage, *where: int) -> list[str]:
    return [title for title, _, _ in offered(it, *where)]


def ready(it: Stage, text: str, base: Held | None, target: Held) -> list[str]:
    """A document that holds this text, and what an agent did to its file."""
    it.session()
    it.editor.open(URI, text)
    return it.wrote(PATH, base, target)


async def test_where_unsaved_lines_stand_in_the_way_either_side_can_be_taken() -> None:
    async with stage() as it:
        (key,) = ready(it, BASE, of_text(BASE), of_text(TARGET))
        it.editor.change(URI, 2, {"text": BASE.replace("c", "mine")})
        assert offered(it, 2, 0) == [
            ("Take the agent's lines over mine", "keep", {"hunk": key, "over": True}),
            ("Keep mine", "reject", {"hunk": key}),
        ]
        command = it.editor.actions(URI, 2, 0)[0]["command"]
        it.editor.ask("workspace/executeCommand", {k: command[k] for k in ("command", "arguments")})
        (run,) = it.state.verdicts[PATH]
        assert (run.verdict, run.over, {*run.keys}) == ("keep", True, {key})


async def test_several_clashes_are_told_apart_by_their_lines() -> None:
    async with stage() as it:
        ready(it, BASE, of_text(BASE), of_text("A\nb\nc\nd\nE\n"))
        it.editor.change(URI, 2, {"text": "mine\nb\nc\nd\nmine too\n"})
        assert titles(it, 0, 0, 9, 0) == [
            "Take the agent's lines over mine in line 1",
            "Keep mine in line 1",
            "Take the agent's lines over mine in line 5",
            "Keep mine in line 5",
            "Reject all 2 changes in this file",
        ]


async def test_what_the_user_wrote_into_can_only_be_kept_saved_or_not() -> None:
    async with stage() as it:
        (key,) = ready(it, TARGET, of_text(BASE), of_text(TARGET))
        it.editor.change(URI, 2, {"text": TARGET.replace("C", "C and mine")})
        kept = [("Keep this change (you wrote into these lines)", "keep", {"hunk": key})]
        assert offered(it, 2, 0) == kept
        it.state.ledger.others_wrote(PATH, of_text(TARGET.replace("C", "C and mine")))
        it.editor.notify("textDocument/didSave", {"textDocument": {"uri": URI}})
        (pending,) = it.state.ledger.files[PATH].hunks
        assert pending.shared
        assert offered(it, 2, 0) == [(kept[0][0], "keep", {"hunk": pending.key})]


@pytest.mark.parametrize(
    ("base", "target", "what"),
    [
        (NO_FILE, of_text("a\nb\n"), "the new file"),
        (NO_FILE, of_text(""), "the new file"),
        (NO_FILE, BINARY, "the new file"),
        (of_text("a\nb\n"), NO_FILE, "the deletion of this file"),
        (BINARY, NO_FILE, "the deletion of this file"),
        (BINARY, OTHER_BINARY, "the change of this whole file"),
        (of_text("a\n"), BINARY, "the change of this whole file"),
        (of_text("a\n"), Held("a\n", UTF_16), "the change of how this file is encoded"),
    ],
)
async def test_a_whole_file_is_called_by_what_happened_to_it(
    base: Held, target: Held, what: str
) -> None:
    async with stage() as it:
        (key,) = ready(it, target.text or "", base, target)
        assert offered(it) == [
            (f"Keep {what}", "keep", {"hunk": key}),
            (f"Reject {what}", "reject", {"hunk": key}),
        ]


@pytest.mark.parametrize(
    ("old", "name"),
    [
        ("/p/old.py", "old.py"),
        ("/p/sub/old.py", "sub/old.py"),
        ("/q/old.py", "/q/old.py"),
        ("C:\\p\\o.py", "C:/p/o.py"),
    ],
)
async def test_a_move_and_a_copy_say_from_where(old: str, name: str) -> None:
    async with stage() as it:
        it.session()
        it.editor.open(URI, TARGET)
        it.wrote(PATH, NO_FILE, of_text(TARGET))
        change = it.state.ledger.files[PATH]
        change.copied_from = old
        assert titles(it, 2, 0) == [f"Keep the copy of {name}", f"Reject the copy of {name}"]
        change.copied_from, change.moved_from = None, old
        change.hunks = tuple(replace(pending, hunk=WHOLE) for pending in change.hunks)
        assert titles(it, 0, 0) == [f"Keep the move from {name}", f"Reject the move from {name}"]


@pytest.mark.parametrize(
    ("other", "path", "name"),
    [
        ("/p/a.py", "/p/sub/deep/b.py", "../../a.py"),
        ("/p/old/a.py", "/p/sub/b.py", "../old/a.py"),
        ("/p/x", "/p/x/y.py", "../x"),
        ("C:\\p\\a.py", "C:\\p\\sub\\a.py", "../a.py"),
    ],
)
def test_another_file_is_called_by_the_way_there(other: str, path: str, name: str) -> None:
    assert hunks._name(other, path) == name


async def test_a_file_that_was_moved_and_changed_can_go_back_with_all_of_that() -> None:
    async with stage() as it:
        (key,) = ready(it, TARGET, of_text(BASE), of_text(TARGET))
        it.state.ledger.files[PATH].moved_from = "/p/old.py"
        assert offered(it, 2, 0) == [
            ("Keep this change", "keep", {"hunk": key}),
            ("Reject this change", "reject", {"hunk": key}),
            ("Keep the move from old.py with its changes", "keep", {"uri": URI}),
            ("Reject the move from old.py with its changes", "reject", {"uri": URI}),
        ]


async def test_a_move_can_be_decided_on_where_the_file_was_d14() -> None:
    async with stage() as it:
        (key,) = ready(it, BASE, of_text(BASE), NO_FILE)
        it.wrote("/p/sub/b.py", NO_FILE, of_text(BASE))
        gone, there = it.state.ledger.files[PATH], it.state.ledger.files["/p/sub/b.py"]
        gone.moved_to, there.moved_from = there.path, gone.path
        assert key not in str(offered(it))
        new = {"uri": "file:///p/sub/b.py"}
        assert offered(it)[:2] == [
            ("Keep the move to sub/b.py", "keep", new),
            ("Reject the move to sub/b.py", "reject", new),
        ]
        (told,) = diagnostics_of(it.state, URI)
        assert told["message"] == "The move to sub/b.py by the agent: keep or reject?"
        assert (told["code"], told["range"]["start"]["line"]) == (there.key, 0)


async def test_what_nobody_knows_the_text_before_can_only_be_kept() -> None:
    async with stage() as it:
        (key,) = ready(it, TARGET, None, of_text(TARGET))
        (only,) = offered(it)
        title = "Keep the change of this whole file (the text before it is not known)"
        assert only == (title, "keep", {"hunk": key})


async def test_a_whole_file_is_met_wherever_the_cursor_is() -> None:
    async with stage() as it:
        ready(it, TARGET, BINARY, of_text(TARGET))
        assert titles(it, 0, 0) == titles(it, 4, 0) != []


async def test_a_change_of_an_earlier_run_can_only_be_kept_d20() -> None:
    """D20: what the file held then is not brought back over what it holds now."""
    async with stage() as it:
        (key,) = ready(it, TARGET, BINARY, of_text(TARGET))
        it.state.ledger.files[PATH].stale = "the file has changed since"
        assert offered(it) == [
            ("Keep the earlier change (the file has changed since)", "keep", {"hunk": key})
        ]


async def test_nothing_is_offered_where_no_verdict_could_be_carried_out() -> None:
    async with stage() as it:
        ready(it, "nothing\nlike\nit\n", of_text(BASE), of_text(TARGET))
        assert titles(it) == []


async def test_an_agent_that_waits_is_answered_by_plain_words_clash_or_not() -> None:
    async with stage() as it:
        it.session()
        it.editor.open(URI, BASE)
        (key,) = it.proposed(PATH, BASE, TARGET, held=object())
        it.editor.change(URI, 2, {"text": BASE.replace("c", "mine")})
        assert offered(it, 2, 0) == [
            ("Keep this change", "keep", {"hunk": key}),
            ("Reject this change", "reject", {"hunk": key}),
        ]


async def test_a_verdict_on_a_file_counts_what_it_can_be_carried_out_on() -> None:
    async with stage() as it:
        base = "".join(f"{n}\n" for n in range(12))
        target = base.replace("1\n", "one\n", 1).replace("5\n", "five\n").replace("8\n", "eight\n")
        ready(it, target, of_text(base), of_text(target))
        it.editor.change(URI, 2, {"text": target.replace("five", "five and mine")})
        assert offered(it, 3, 0) == [
            ("Keep all 3 changes in this file", "keep", {"uri": URI}),
            ("Reject 2 of 3 changes in this file", "reject", {"uri": URI}),
        ]


async def test_a_deletion_at_the_end_is_reached_from_the_last_line() -> None:
    """D47: what is no line of the document is none that an action could stand on."""
    async with stage() as it:
        ready(it, "a\nb\n", of_text("a\nb\nc\n"), of_text("a\nb\n"))
        assert titles(it, 0, 0) == []
        assert titles(it, 1, 0) == ["Keep this change", "Reject this change"]


async def test_each_session_has_its_own_scope_where_there_are_several_d17() -> None:
    async with stage() as it:
        it.session("other")
        it.told(up.InfoPatched(title="Tidy up, " + "at length, " * 9), "other")
        it.session()
        it.editor.open(URI, "A\nb\nc\nd\nE\n")
        it.wrote(PATH, of_text("a\nb\nc\nd\ne\n"), of_text("A\nb\nc\nd\ne\n"))
        it.wrote(PATH, of_text("A\nb\nc\nd\ne\n"), of_text("A\nb\nc\nd\nE\n"), "s2")
        it.wrote("/p/b.py", of_text("x\n"), of_text("X\n"), "s2")
        title = "Tidy up, at length, at length, at lengt…"
        assert offered(it, 2, 0) == [
            ("Keep all 2 changes in this file", "keep", {"uri": URI}),
            ("Reject all 2 changes in this file", "reject", {"uri": URI}),
            (f"Keep the change of {title}", "keep", {"session": "s1"}),
            (f"Reject the change of {title}", "reject", {"session": "s1"}),
            ("Keep all 2 changes of demo", "keep", {"session": "s2"}),
            ("Reject all 2 changes of demo", "reject", {"session": "s2"}),
            ("Keep all 3 changes in all files", "keep", {"all": True}),
            ("Reject all 3 changes in all files", "reject", {"all": True}),
        ]


async def test_what_is_nobodys_is_no_session_of_its_own() -> None:
    async with stage() as it:
        it.session()
        it.wrote("/p/b.py", of_text("x\n"), of_text("X\n"))
        nobody = Author("")
        it.state.ledger.agent_wrote("/p/c.py", None, of_text("X\n"), nobody, "unknown")
        assert offered(it) == [
            ("Keep the change of demo", "keep", {"session": "s1"}),
            ("Reject the change of demo", "reject", {"session": "s1"}),
            ("Keep all 2 changes in all files", "keep", {"all": True}),
            ("Reject 1 of 2 changes in all files", "reject", {"all": True}),
        ]


async def test_where_nothing_can_be_taken_back_nothing_offers_it() -> None:
    async with stage() as it:
        it.session()
        it.wrote("/p/b.py", None, of_text("X\n"))
        it.wrote("/p/c.py", None, of_text("X\n"))
        assert titles(it) == ["Keep all 2 changes in all files"]


async def test_a_menu_has_no_entry_for_each_of_many_sessions() -> None:
    async with stage() as it:
        for number in range(7):
            key = it.session(f"native{number}")
            it.wrote(f"/p/{number}.py", of_text("x\n"), of_text("X\n"), key)
        assert sum("demo" in title for title in titles(it)) == 5 * 2


@pytest.mark.parametrize(
    ("mode", "offers"),
    [
        ("after", [("Hold changes until I decide", "before")]),
        ("before", [("Apply changes at once", "after")]),
        ("off", [("Hold changes until I decide", "before"), ("Put changes under review", "after")]),
    ],
)
@pytest.mark.parametrize("begin", [Stage.prompts, lambda it: it.wrote("/p/b", NO_FILE, BINARY)])
async def test_the_other_modes_are_offered_while_it_matters_d22(
    mode: Any, offers: list[tuple[str, str]], begin: Callable[[Stage], object]
) -> None:
    async with stage() as it:
        it.session()
        it.state.chosen_review_mode = mode

        def modes() -> list[tuple[str, str]]:
            actions = [
                a for a in it.editor.actions(URI) if a["command"]["command"].endswith("Mode")
            ]
            assert {a["kind"] for a in actions} <= {"refactor.acpls"}
            return [(a["title"], a["command"]["arguments"][0]["mode"]) for a in actions]

        assert modes() == []
        begin(it)
        assert modes() == offers
        wanted = offers[0][1]
        assert it.editor.command("acpls.review.setMode", {"mode": wanted}) == {"mode": wanted}
        assert it.state.review_mode == wanted


async def test_without_a_word_the_mode_is_turned_round() -> None:
    async with stage() as it:
        given = [it.editor.command("acpls.review.setMode")["mode"] for _ in range(2)]
        assert given == ["before", "after"]
        it.state.chosen_review_mode = "off"
        assert it.editor.command("acpls.review.setMode") == {"mode": "after"}


async def test_nothing_that_allows_is_first_while_a_question_is_open() -> None:
    async with stage() as it:
        it.session()
        it.editor.open(URI, BASE)
        it.proposed(PATH, BASE, TARGET, held=object())
        it.question()
        first, *others = it.editor.actions(URI, 2, 0)
        assert first["command"]["command"] == "acpls.question.show"
        assert "Keep this change" in [action["title"] for action in others]
        assert not any("isPreferred" in action for action in (first, *others))
        assert it.of(ef.SendAnswer) == []
