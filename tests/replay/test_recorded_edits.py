"""What recorded agents did to files comes out as hunks: theirs, all of them, and no more."""

from __future__ import annotations

import re
from typing import Any, Final

import pytest
from deeds import PROJECT, TWICE, deeds, files_of, refused, shown
from recorded import names, read
from workplace import UNSAVED, Workplace, between, process_of

from acpls.session.asks import Failure

# What recordings are called in which an agent is to change files.
_CHANGING: Final = re.compile(
    r"(v2-)?(all|badedit|bigwrite|both|edit|multi|outside|overlay|overwrite|parallel|two-sessions"
    r"|write|(always-|reject-)?shell|reject-edit)"
    r"(-(dirty|fs|missing-empty|nocaps|reject|term|terminal-meta))?"
)
RECORDED: Final = [name for name in names() if _CHANGING.fullmatch(name.split("/")[1])]
OUTSIDE: Final = [name for name in RECORDED if name.endswith("/outside")]
# Those in which files of the folder were changed, files that were there before, and none.
DONE: Final = [n for n in RECORDED if n not in OUTSIDE and deeds(n, read(n))]
EDITED: Final = [n for n in DONE if {deed.path for deed in deeds(n, read(n))} & {*files_of(n)}]
LEFT: Final = [name for name in RECORDED if name not in {*DONE, *OUTSIDE}]

# How an agent's own writes are seen: when the tool call is told of and at the end of the turn,
# at once, or when the tool call is told of for the first time. One has them written as well.
WAYS: Final[dict[str, dict[str, Any]]] = {
    "told": {},
    "watched": {"watched": True},
    "told late": {"late": True},
    "written first": {"first": True},
    "written first and watched": {"first": True, "watched": True},
}


def ways(recorded: list[str]) -> list[tuple[str, str]]:
    return [
        (name, way)
        for name in recorded
        for way in WAYS
        if "first" not in way or name.startswith(TWICE)
    ]


def has_nothing_pending(place: Workplace) -> bool:
    ledger = place.scene.state.ledger
    return not ledger.files and not ledger.proposals and not ledger.changes()


# --- all that was done ---------------------------------------------------------------------


def test_there_are_recordings_of_both_versions() -> None:
    assert (len(RECORDED), len(DONE), len(EDITED), len(LEFT)) == (123, 89, 45, 31)
    places = [Workplace(name) for name in DONE]
    assert sum(len(place.hunks(path)) for place in places for path in place.changed()) == 122
    versions = [place.scene.facts.protocol for place in places]
    assert (versions.count(1), versions.count(2)) == (80, 9)


@pytest.mark.parametrize(("name", "way"), ways(DONE))
def test_the_hunks_are_what_was_done_and_go_without_a_trace(name: str, way: str) -> None:
    """D03, D04: whichever tool made the change, and whatever was told of it."""
    place = Workplace(name, **WAYS[way])
    assert place.scene.disk == place.after
    files = place.scene.state.ledger.files
    assert sorted(files) == place.changed()
    for path, change in files.items():
        assert place.hunks(path) == place.expected(path)
        assert change.source in {"store", "ledger"}
        assert change.base.text == place.before.get(path)
    assert place.scene.state.ledger.proposals == {}
    assert place.questions == []
    assert place.verdict("reject", all=True) == []
    assert place.scene.disk == place.before
    assert has_nothing_pending(place)


@pytest.mark.parametrize("name", DONE)
def test_what_is_kept_waits_no_longer(name: str) -> None:
    place = Workplace(name)
    assert place.verdict("keep", all=True) == []
    assert place.scene.disk == place.after
    assert has_nothing_pending(place)


@pytest.mark.parametrize("name", [n for n in EDITED if re.search(r"all|multi|overwrite", n)])
@pytest.mark.parametrize("index", [0, 1])
def test_each_hunk_is_taken_back_by_itself(name: str, index: int) -> None:
    place = Workplace(name)
    path = next(path for path in place.changed() if path in place.before)
    rejected = place.scene.pending(path)[index]
    old, new = "".join(rejected.hunk.old), "".join(rejected.hunk.new)
    assert place.verdict("reject", hunk=rejected.key) == []
    text = place.after[path].replace(new, old)
    assert place.scene.disk[path] == text != place.after[path]
    assert between(place.before[path], text) == [tuple(hunk[:2]) for hunk in place.hunks(path)]
    assert place.verdict("keep", all=True) == []
    assert place.scene.disk[path] == text
    assert has_nothing_pending(place)


@pytest.mark.parametrize("name", [n for n in DONE if "two-sessions" in n and "gemini" not in n])
def test_d17_a_session_takes_back_what_is_its_own(name: str) -> None:
    place = Workplace(name)
    first, second = place.changed()
    assert [[hunk[2] for hunk in place.hunks(path)] for path in (first, second)] == [["s1"], ["s2"]]
    assert place.verdict("reject", session="s1") == []
    assert place.hunks(first) == []
    assert place.hunks(second) == place.expected(second)
    assert place.scene.disk == {**place.before, second: place.after[second]}


# --- what was not done ---------------------------------------------------------------------


@pytest.mark.parametrize("name", LEFT)
def test_what_was_not_done_leaves_nothing(name: str) -> None:
    place = Workplace(name)
    assert place.scene.disk == place.before
    assert has_nothing_pending(place)


@pytest.mark.parametrize("name", [*DONE, *LEFT])
def test_a_question_shows_the_diff_that_it_is_about(name: str) -> None:
    """Also where its session has changed the same file in the same turn."""
    hello = f"{PROJECT}/hello.py"
    unsaved = {hello: UNSAVED + files_of(name)[hello]} if name == "gemini/overlay" else {}
    place = Workplace(name, shown=unsaved)
    assert place.proposed >= {*shown([step.line for step in place.process.steps])}


def test_refused_edits_had_been_shown() -> None:
    lines = {name: [step.line for step in process_of(name).steps] for name in LEFT}
    assert [name for name in LEFT if {*refused(lines[name])} & {*shown(lines[name])}] == [
        "claude/reject-edit",
        "deepagents/edit-reject",
        "gemini/reject-edit",
        "opencode/reject-edit",
        "pydanticacp/edit-reject",
    ]


def test_d42_what_is_outside_is_no_change_of_the_folder() -> None:
    """Who writes there by himself is told of, who asks is refused, and one does neither."""
    places = {name: Workplace(name, writes="refuse") for name in OUTSIDE}
    told = {
        name: [change.reasons for change in place.scene.state.ledger.changes()]
        for name, place in places.items()
    }
    (reasons,) = told.pop("claude/outside")
    assert list(reasons.values()) == ["the file is outside of the workspace folders"]
    assert told == {"gemini/outside": [], "opencode/outside": []}
    assert [len(place.questions) for place in places.values()] == [0, 0, 1]
    assert [x for x in places["opencode/outside"].scene.answers() if isinstance(x, Failure)]
    assert [place.scene.pending() for place in places.values()] == [[], [], []]


# --- where the text before comes from ------------------------------------------------------

# Without an index, of files that are looked at first when the tool call is over: from which
# recordings the text before is known all the same, and how. What is in none of them nobody has
# seen; the watcher would tell of it.
WITHOUT_INDEX: Final = {
    ("calc.py", "claim"): """
        agentao/edit agentao/edit-fs agentao/edit-reject pydanticacp/edit pydanticacp/edit-fs
        vibe/both vibe/edit vibe/edit-fs vibe/edit-reject
    """,
    ("hello.py", "claim"): """
        claude/all claude/all-nocaps claude/edit claude/edit-nocaps claude/multi claude/overlay
        claude/two-sessions claude/v2-all claude/v2-edit claude/v2-multi gemini/all-nocaps
        gemini/edit-nocaps
    """,
    ("README.md", "claim"): "claude/overwrite",
    ("notes/new_file.md", "unknown"): """
        claude/all claude/all-nocaps claude/parallel claude/two-sessions claude/v2-all
        claude/v2-write claude/write claude/write-missing-empty claude/write-nocaps
        gemini/all-nocaps gemini/write-nocaps
    """,
    ("big.txt", "unknown"): "claude/bigwrite",
    ("sub/new_file.py", "unknown"): "vibe/write-fs",
    ("hello.py", "ledger"): """
        gemini/all gemini/edit gemini/multi gemini/overlay gemini/two-sessions opencode/all
        opencode/all-nocaps opencode/edit opencode/edit-nocaps opencode/multi opencode/overlay
        opencode/two-sessions
    """,
    ("README.md", "ledger"): "gemini/overwrite opencode/overwrite",
    ("notes/new_file.md", "ledger"): """
        gemini/write-missing-empty opencode/all opencode/all-nocaps opencode/parallel
        opencode/two-sessions opencode/write opencode/write-missing-empty opencode/write-nocaps
    """,
    ("big.txt", "ledger"): "opencode/bigwrite",
    ("sub/new_file.py", "ledger"): "fastagent-passthrough/write-fs",
}


def listed(name: str) -> dict[str, str]:
    """By path, how the list says that the text before is known."""
    return {
        f"{PROJECT}/{file}": source
        for (file, source), recorded in WITHOUT_INDEX.items()
        if name in recorded.split()
    }


def sources(place: Workplace) -> dict[str, str]:
    return {path: change.source for path, change in place.scene.state.ledger.files.items()}


def test_the_list_has_no_recording_that_is_not_there() -> None:
    assert {name for text in WITHOUT_INDEX.values() for name in text.split()} <= {*DONE}


@pytest.mark.parametrize("verdict", ["keep", "reject"])
@pytest.mark.parametrize("name", DONE)
def test_without_an_index_the_text_before_is_known_from_claims(name: str, verdict: str) -> None:
    place = Workplace(name, walks=False, late=True)
    assert sources(place) == listed(name)
    unknown = [path for path, source in listed(name).items() if source == "unknown"]
    for path in listed(name):
        if path not in unknown:
            assert place.hunks(path) == place.expected(path)
    left = place.verdict(verdict, all=True)
    assert sorted(place.scene.state.ledger.files) == (unknown if verdict == "reject" else [])
    assert len(left) == (len(unknown) if verdict == "reject" else 0)
    known = {**place.after} if verdict == "keep" else {**place.before}
    for path in place.changed():
        if path in listed(name) and path not in unknown:
            assert place.scene.disk.get(path) == known.get(path)
        else:
            assert place.scene.disk[path] == place.after[path]


@pytest.mark.parametrize("name", DONE)
def test_without_an_index_what_was_told_of_before_it_was_done_is_known(name: str) -> None:
    place = Workplace(name, walks=False)
    found = sources(place)
    assert {**found, **listed(name)}.keys() == found.keys()
    for path, source in found.items():
        assert source == ("ledger" if listed(name).get(path) == "ledger" else "store")
        assert place.hunks(path) == place.expected(path)


@pytest.mark.parametrize("name", DONE)
def test_an_index_that_does_not_have_the_texts_leaves_it_to_claims(name: str) -> None:
    """As for files that are too big for the store."""
    place = Workplace(name, keeps=False)
    found = sources(place)
    assert sorted(found) == place.changed()
    for path, source in found.items():
        said = listed(name).get(path)
        expected = said or "unknown"
        if said != "ledger" and path not in place.before:
            # That there was no file needs no text.
            expected = "store"
        assert source == expected


# --- open documents ------------------------------------------------------------------------


@pytest.mark.parametrize("verdict", ["keep", "reject"])
@pytest.mark.parametrize(("name", "way"), ways(EDITED))
def test_an_unsaved_line_elsewhere_survives(name: str, way: str, verdict: str) -> None:
    """D07, D11: nothing has to be asked, and what was on disk before is there again."""
    plain = Workplace(name)
    edited = [path for path in plain.changed() if path in plain.before]
    dirty = {path: UNSAVED + plain.before[path] for path in edited}
    place = Workplace(name, shown=dirty, **WAYS[way])
    scene = place.scene
    assert place.questions == []
    for path in edited:
        theirs = [hunk[:2] for hunk in plain.expected(path) if hunk[1] != UNSAVED]
        assert [hunk[:2] for hunk in place.hunks(path)] == theirs
        assert scene.text(path) == dirty[path]
    assert place.verdict(verdict, all=True) == []
    assert has_nothing_pending(place)
    assert scene.disk == (place.before if verdict == "reject" else place.after)
    for path in edited:
        after = UNSAVED + plain.after[path].removeprefix(UNSAVED)
        assert scene.text(path) == (dirty[path] if verdict == "reject" else after)


@pytest.mark.parametrize("verdict", ["keep", "reject"])
@pytest.mark.parametrize(
    ("name", "way"),
    [
        (name, way)
        for name, way in ways(EDITED)
        if way in {"told", "written first"} and ("gemini" not in name or "nocaps" in name)
    ],
)
def test_an_unsaved_line_in_place_of_the_agents_survives(name: str, way: str, verdict: str) -> None:
    """D11: agents that do not read through us know nothing of it. It clashes, and is kept."""
    plain = Workplace(name)
    path = next(path for path in plain.changed() if path in plain.before)
    (old, _), *others = between(plain.before[path], plain.after[path])
    dirty = plain.before[path].replace(old, UNSAVED)
    place = Workplace(name, shown={path: dirty}, **WAYS[way])
    scene = place.scene
    # Nothing is left to be asked where the file holds it already.
    assert bool(place.questions) == (name.startswith(TWICE) and way == "told")
    assert scene.text(path) == dirty
    left = place.verdict(verdict, uri=f"file://{path}")
    if verdict == "reject":
        assert left == []
        assert scene.disk[path] == plain.before[path]
        assert place.hunks(path) == []
        assert scene.text(path) == dirty
    else:
        assert [x["reason"] for x in left] == ["these lines have changed since"]
        assert len(place.hunks(path)) == 1
        for here, there in others:
            dirty = dirty.replace(here, there)
        assert scene.text(path) == dirty
        assert scene.disk[path] == plain.after[path]


@pytest.mark.parametrize("saves", [False, True])
@pytest.mark.parametrize("verdict", ["keep", "reject"])
@pytest.mark.parametrize("name", EDITED)
def test_an_open_document_follows_its_file(name: str, verdict: str, saves: bool) -> None:
    plain = Workplace(name)
    clean = {path: plain.before[path] for path in plain.changed() if path in plain.before}
    place = Workplace(name, shown=clean, saves=saves)
    assert [place.scene.text(path) for path in clean] == [place.after[path] for path in clean]
    assert [place.hunks(path) for path in clean] == [plain.hunks(path) for path in clean]
    assert place.verdict(verdict, all=True) == []
    assert has_nothing_pending(place)
    files = place.before if verdict == "reject" else place.after
    assert place.scene.disk == files
    assert [place.scene.text(path) for path in clean] == [files[path] for path in clean]
