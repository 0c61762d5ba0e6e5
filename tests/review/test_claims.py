"""What agents claim, and what it means for a file (D01, D07, D25, D26, D30, D34, D38, D39)."""

from __future__ import annotations

import difflib
from dataclasses import replace

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from acpls.review.claims import Claim, Resolved, Unclear, pieces, resolve
from acpls.session.content import FileChange, Fragment, Patch, TerminalRef, Text
from acpls.text.patch import FilePatch, PatchHunk, parse

PATH = "/home/user/project/hello.py"
OLD_PATH = "/home/user/project/old.py"
BEFORE = (
    "import sys\n\n\ndef greet(name):\n    # é 日本語 🎉\n"
    '    return "Hello, " + name\n\n\ndef main():\n    print(greet(sys.argv[1]))\n'
)
OLD = '    return "Hello, " + name\n'
NEW = '    greeting = "Grüße 🎉"\n    return f"{greeting}, {name}!"\n'
AFTER = BEFORE.replace(OLD, NEW)


def fragment(old: str | None, new: str) -> Claim:
    (claim,) = pieces([Fragment(PATH, old, new)])
    return claim


def git_patch(old: str | None, new: str | None) -> str:
    """A patch as Git writes it, with absolute paths."""
    sides = []
    for text in (old, new):
        lines = [f"{line}\n" for line in (text or "").split("\n")]
        last = lines.pop().removesuffix("\n")
        sides.append([*lines, f"{last}\n\\ No newline at end of file\n"] if last else lines)
    names = ["/dev/null" if text is None else PATH for text in (old, new)]
    return f"diff --git {PATH} {PATH}\n" + "".join(
        difflib.unified_diff(sides[0], sides[1], names[0], names[1])
    )


def patched(old: str | None, new: str | None) -> Claim:
    files, problems = parse(git_patch(old, new))
    word = "add" if old is None else "delete" if new is None else "modify"
    (claim,) = pieces([Patch((FileChange(word, PATH, file_type="text"),), files, problems)])
    return claim


def reason(found: Resolved | Unclear) -> str:
    assert isinstance(found, Unclear)
    return found.reason


# --- pieces --------------------------------------------------------------------------


def test_only_diffs_are_claims() -> None:
    content = (Text("x"), Fragment(PATH, "a", "b"), TerminalRef("t"), Fragment(PATH, "c", "d"))
    assert pieces(content) == (
        Claim(PATH, "edit", Fragment(PATH, "a", "b")),
        Claim(PATH, "edit", Fragment(PATH, "c", "d")),
    )


def test_changes_decide_and_the_patch_shows() -> None:
    files = tuple(FilePatch(name, name, ()) for name in ("/p/a", "/p/b", "/p/a", "/p/x"))
    changes = (FileChange("modify", "/p/a"), FileChange("modify", "/p/b", file_type="text"))
    claims = pieces([Patch(changes, files)])
    assert [(claim.path, claim.operation) for claim in claims] == [
        ("/p/a", "modify"),
        ("/p/a", "modify"),
        ("/p/b", "modify"),
        ("/p/x", "opaque"),
    ]
    assert resolve(claims[3], "text", finished=True) == Unclear(
        "/p/x", "the patch shows a file that is not among the changes"
    )


@pytest.mark.parametrize(
    ("named", "found"),
    [
        ("/p/src/a.py", True),
        ("/p/./src/a.py", True),
        ("p/src/a.py", True),
        ("src/a.py", True),
        ("b.py", False),
        (".py", False),
    ],
)
def test_paths_that_name_the_same_file(named: str, found: bool) -> None:
    changes = (
        FileChange("modify", "/p/src/a.py"),
        FileChange("modify", "/p/src/b.py"),
        FileChange("modify", "/p/b.py"),
    )
    claims = pieces([Patch(changes, (FilePatch(named, named, ()),))])
    assert (claims[0].said is not None) is found
    assert (claims[-1].operation == "opaque") is not found


def test_windows_paths_name_the_same_file() -> None:
    changes = (FileChange("modify", "C:\\p\\a.py"),)
    claims = pieces([Patch(changes, (FilePatch("C:/p/a.py", "C:/p/a.py", ()),))])
    assert [claim.path for claim in claims] == ["C:\\p\\a.py"]


def test_a_move_is_an_arrival_and_a_departure_d38() -> None:
    file = FilePatch(OLD_PATH, PATH, ())
    assert pieces([Patch((FileChange("move", PATH, OLD_PATH),), (file,))]) == (
        Claim(PATH, "move", file, old_path=OLD_PATH),
        Claim(OLD_PATH, "delete", new_path=PATH),
    )
    assert pieces([Patch((FileChange("copy", PATH, OLD_PATH),))]) == (
        Claim(PATH, "copy", old_path=OLD_PATH),
    )


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (FileChange("modify", PATH, file_type="binary"), "the file is binary"),
        (FileChange("add", PATH, file_type="directory"), "it is a directory"),
        (FileChange("modify", PATH, file_type="symlink"), "it is a symbolic link"),
        (FileChange("add", PATH, file_type="_pipe"), "files of type '_pipe' are not known"),
        (FileChange("_lock", PATH), "the operation '_lock' is not known"),
        (FileChange("edit", PATH), "the operation 'edit' is not known"),
        (FileChange("modify", None), "the operation 'modify' is not known"),
        (FileChange("move", PATH), "the agent did not say where the file comes from"),
        (FileChange("modify", PATH), "the agent did not show the text"),
        (FileChange("add", PATH), "the agent did not show the text"),
    ],
)
def test_what_cannot_be_shown_says_why(change: FileChange, said: str) -> None:
    (claim,) = pieces([Patch((change,))])
    assert resolve(claim, "text", finished=False) == Unclear(change.path or "", said)


def test_a_binary_patch_and_one_that_cannot_be_read() -> None:
    changes = (FileChange("modify", PATH),)
    (claim,) = pieces([Patch(changes, (FilePatch(PATH, PATH, (), binary=True),))])
    assert reason(resolve(claim, "x", finished=True)) == "the file is binary"
    (claim,) = pieces([Patch(changes, (), ("line 3 is wrong",))])
    assert reason(resolve(claim, "x", finished=True)) == (
        "the patch cannot be read: line 3 is wrong"
    )
    assert resolve(Claim(PATH, "modify"), "x", finished=True) == Unclear(
        PATH, "the agent did not show the text"
    )


# --- fragments: where they stand -----------------------------------------------------


@pytest.mark.parametrize("finished", [False, True])
def test_an_edit_before_and_after_the_agent_wrote_d01_d07(finished: bool) -> None:
    claim = fragment(OLD, NEW)
    assert resolve(claim, BEFORE, finished) == Resolved(PATH, BEFORE, AFTER, written=False)
    assert resolve(claim, AFTER, finished) == Resolved(PATH, BEFORE, AFTER, written=True)


def test_a_fragment_that_begins_and_ends_within_lines() -> None:
    # An agent sends the lines around its edit this way, without the last newline.
    claim = fragment(
        f"\ndef greet(name):\n    # é 日本語 🎉\n{OLD}\n\ndef main():",
        f"\ndef greet(name):\n    # é 日本語 🎉\n{NEW}\n\ndef main():",
    )
    assert resolve(claim, AFTER, True, 3) == Resolved(PATH, BEFORE, AFTER, written=True)
    assert resolve(claim, BEFORE, False, 3) == Resolved(PATH, BEFORE, AFTER, written=False)


def test_a_whole_file_as_fragment_d39() -> None:
    claim = fragment(BEFORE, AFTER)
    for finished in (False, True):
        assert resolve(claim, BEFORE, finished) == Resolved(PATH, BEFORE, AFTER, written=False)
        assert resolve(claim, AFTER, finished) == Resolved(PATH, BEFORE, AFTER, written=True)
    # The whole file counts first, though the old text occurs in the new one.
    more = fragment("a\n", "a\na\n")
    assert resolve(more, "a\na\n", False) == Resolved(PATH, "a\n", "a\na\n", written=True)


def test_an_overwritten_file_whose_last_newline_is_not_shown() -> None:
    claim = fragment("# Project\n\nA small project.", "# Replaced\n\nWhole file.")
    assert resolve(claim, "# Replaced\n\nWhole file.\n", True) == Resolved(
        PATH, "# Project\n\nA small project.\n", "# Replaced\n\nWhole file.\n", written=True
    )


def test_an_insertion_on_disk_is_not_made_again_d07() -> None:
    claim = fragment("import os\n", "import os\nimport sys\n")
    disk = "import os\nimport sys\n\nmain()\n"
    for finished in (False, True):
        assert resolve(claim, disk, finished) == Resolved(
            PATH, "import os\n\nmain()\n", disk, written=True
        )


def test_both_texts_and_the_state_of_the_tool_call_decides() -> None:
    claim = fragment("one", "two")
    assert resolve(claim, "one two", False) == Resolved(PATH, "one two", "two two", written=False)
    assert resolve(claim, "one two", True) == Resolved(PATH, "one one", "one two", written=True)
    # Neither is part of the other, though they share a letter.
    claim = fragment("ab", "bc")
    assert resolve(claim, "abc.", False) == Resolved(PATH, "abc.", "bcc.", written=False)
    assert resolve(claim, "abc.", True) == Resolved(PATH, "aab.", "abc.", written=True)


def test_several_places_and_the_line_decides() -> None:
    claim = fragment("x\n", "y\n")
    disk = "x\na\nb\nx\n"
    assert reason(resolve(claim, disk, False)) == "the old text occurs twice"
    assert resolve(claim, disk, False, 4) == Resolved(PATH, disk, "x\na\nb\ny\n", written=False)
    assert resolve(claim, disk, False, 2) == Resolved(PATH, disk, "y\na\nb\nx\n", written=False)
    assert reason(resolve(claim, disk, False, 99)) == "the old text occurs twice"
    disk = "y\na\ny\na\ny\n"
    assert reason(resolve(claim, disk, True)) == "the new text occurs 3 times"
    assert resolve(claim, disk, True, 3) == Resolved(PATH, "y\na\nx\na\ny\n", disk, written=True)


def test_a_text_that_is_not_there() -> None:
    found = resolve(fragment("NOT IN THE FILE", "x"), "something\n", False)
    assert reason(found) == "neither the old text nor the new text is in the file"
    assert reason(resolve(fragment("a", "b"), None, False)) == "the file does not exist"
    assert reason(resolve(fragment("a", "b"), None, True)) == "the file does not exist"
    assert isinstance(resolve(fragment("a", "a"), "b", True), Unclear)


def test_a_deletion_leaves_nothing_to_find() -> None:
    claim = fragment("gone\n", "")
    assert resolve(claim, "a\ngone\n", False) == Resolved(PATH, "a\ngone\n", "a\n", written=False)
    assert "deletion" in reason(resolve(claim, "a\n", True))
    # The whole file can still be told, and emptied is not deleted.
    assert resolve(claim, "gone\n", False) == Resolved(PATH, "gone\n", "", written=False)
    assert resolve(claim, "", True) == Resolved(PATH, "gone\n", "", written=True)
    assert resolve(claim, None, True) == Resolved(PATH, "gone\n", None, written=True)
    assert isinstance(resolve(claim, None, False), Unclear)


def test_an_edit_that_changes_nothing_is_done() -> None:
    assert resolve(fragment("a", "a"), "bab", False) == Resolved(PATH, "bab", "bab", written=True)
    same = fragment("a\nb\n", "a\r\nb\r\n")
    assert resolve(same, "a\nb\n", False) == Resolved(PATH, "a\nb\n", "a\nb\n", written=True)


# --- fragments: whole new texts ------------------------------------------------------


@pytest.mark.parametrize("old", [None, ""])
def test_a_new_file_and_one_that_is_overwritten_all_the_same(old: str | None) -> None:
    claim = fragment(old, "# Replaced\n\nWhole file.\n")
    text = "# Replaced\n\nWhole file.\n"
    assert resolve(claim, None, False) == Resolved(PATH, None, text, written=False)
    assert resolve(claim, text, True) == Resolved(PATH, None, text, written=True)
    assert resolve(claim, "# Project\n", False) == Resolved(PATH, "# Project\n", text, False)
    assert resolve(claim, "", False) == Resolved(PATH, "", text, written=False)


def test_an_overwritten_file_keeps_its_line_endings_d26() -> None:
    claim = fragment(None, "a\nb\n")
    assert resolve(claim, "a\r\nb\r\n", True) == Resolved(PATH, None, "a\r\nb\r\n", written=True)
    assert resolve(claim, "x\r\n", False) == Resolved(PATH, "x\r\n", "a\r\nb\r\n", written=False)
    mixed = "a\nx\r\nb\n"
    assert resolve(claim, mixed, False) == Resolved(PATH, mixed, "a\nb\n", written=False)


# --- fragments: line endings and bytes -----------------------------------------------


def test_line_endings_do_not_matter_for_finding_d26() -> None:
    claim = fragment("b\nc\n", "B\nC\nD\n")
    before, after = "a\r\nb\r\nc\r\nd\r\n", "a\r\nB\r\nC\r\nD\r\nd\r\n"
    assert resolve(claim, before, False) == Resolved(PATH, before, after, written=False)
    assert resolve(claim, after, True) == Resolved(PATH, before, after, written=True)
    crlf = fragment("b\r\nc\r\n", "B\r\nC\r\nD\r\n")
    assert resolve(crlf, "a\nb\nc\nd\n", False) == Resolved(
        PATH, "a\nb\nc\nd\n", "a\nB\nC\nD\nd\n", written=False
    )
    old_mac = "a\rb\rc\rd"
    assert resolve(claim, old_mac, False) == Resolved(PATH, old_mac, "a\rB\rC\rD\rd", False)


def test_bytes_outside_are_the_same_d25() -> None:
    disk = "a\r\n\rdata\x0c\n\x00old\r\nend\n\r\n"
    assert resolve(fragment("old", "new"), disk, False) == Resolved(
        PATH, disk, disk.replace("old", "new"), written=False
    )
    # Within the change, too, unchanged lines keep their own endings.
    context = fragment("data\x0c\n\x00old\nend", "data\x0c\n\x00new\nend")
    assert resolve(context, disk, False) == Resolved(
        PATH, disk, disk.replace("old", "new"), written=False
    )


def test_a_last_newline_adds_no_line_d34() -> None:
    assert resolve(fragment("b\n", "B\n"), "a\nb\nc\n", False) == Resolved(
        PATH, "a\nb\nc\n", "a\nB\nc\n", written=False
    )
    assert resolve(fragment("b", "B\n"), "a\nb\nc", False) == Resolved(
        PATH, "a\nb\nc", "a\nB\n\nc", written=False
    )
    assert resolve(fragment("c", "C"), "a\nc", False) == Resolved(PATH, "a\nc", "a\nC", False)


def test_a_byte_order_mark_belongs_to_the_file_d30() -> None:
    # Texts from the disk come without one, but agents may show it.
    whole = fragment("\ufeffa\nb\n", "\ufeffa\nB\n")
    assert resolve(whole, "a\nb\n", False) == Resolved(PATH, "a\nb\n", "a\nB\n", written=False)
    assert resolve(whole, "a\nB\n", True) == Resolved(PATH, "a\nb\n", "a\nB\n", written=True)
    assert resolve(fragment(None, "\ufeffx\n"), "x\n", True) == Resolved(PATH, None, "x\n", True)
    patch = patched("\ufeffa\nb\n", "\ufeffa\nB\n")
    assert resolve(patch, "a\nb\n", False) == Resolved(PATH, "a\nb\n", "a\nB\n", written=False)
    # Anywhere else it is text, and alone it is not the beginning of everything.
    inner = fragment("\ufeffx", "\ufeffy")
    assert resolve(inner, "a\ufeffx", False) == Resolved(PATH, "a\ufeffx", "a\ufeffy", False)
    assert isinstance(resolve(fragment("\ufeff", "# head\n"), "text\n", False), Unclear)


# --- patches -------------------------------------------------------------------------


@pytest.mark.parametrize("finished", [False, True])
def test_a_patch_before_and_after_the_agent_wrote_d01_d07(finished: bool) -> None:
    claim = patched(BEFORE, AFTER)
    assert resolve(claim, BEFORE, finished) == Resolved(PATH, BEFORE, AFTER, written=False)
    assert resolve(claim, AFTER, finished) == Resolved(PATH, BEFORE, AFTER, written=True)
    assert reason(resolve(claim, "other\n", finished)) == "the patch does not fit the file"
    assert reason(resolve(claim, None, finished)) == "the file does not exist"


def test_a_patch_of_repeated_lines_and_the_state_of_the_tool_call_decides() -> None:
    hunk = PatchHunk(1, (("+", "x"),))
    claim = Claim(PATH, "modify", FilePatch(PATH, PATH, (hunk,)))
    assert resolve(claim, "x\nx\n", False) == Resolved(PATH, "x\nx\n", "x\nx\nx\n", written=False)
    assert resolve(claim, "x\nx\n", True) == Resolved(PATH, "x\n", "x\nx\n", written=True)


def test_the_claimed_line_is_better_than_another_that_fits() -> None:
    # The second block becomes like the first, so undoing would fit the first one.
    before, after = "a\nB\n-\na\nb\n", "a\nB\n-\na\nB\n"
    hunk = PatchHunk(3, ((" ", "a"), ("-", "b"), ("+", "B")))
    claim = Claim(PATH, "modify", FilePatch(PATH, PATH, (hunk,)))
    for finished in (False, True):
        assert resolve(claim, before, finished) == Resolved(PATH, before, after, written=False)
        assert resolve(claim, after, finished) == Resolved(PATH, before, after, written=True)
    moved = f"above\n{before}"
    assert resolve(claim, moved, False) == Resolved(PATH, moved, f"above\n{after}", written=False)


def test_a_patch_that_changes_no_text() -> None:
    claim = Claim(PATH, "modify", FilePatch(PATH, PATH, ()))
    assert resolve(claim, "x", False) == Resolved(PATH, "x", "x", written=True)


def test_files_added_by_a_patch() -> None:
    claim = patched(None, "# Notes\n")
    assert resolve(claim, None, False) == Resolved(PATH, None, "# Notes\n", written=False)
    assert resolve(claim, "# Notes\r\n", True) == Resolved(PATH, None, "# Notes\r\n", written=True)
    # Said to be new, but it overwrites.
    assert resolve(claim, "old\n", False) == Resolved(PATH, "old\n", "# Notes\n", written=False)
    broken = FilePatch(None, PATH, (PatchHunk(0, (("-", "x"), ("+", "y"))),))
    found = resolve(Claim(PATH, "add", broken), None, False)
    assert reason(found) == "the patch does not fit the file"


def test_files_added_without_a_patch() -> None:
    claim = Claim(PATH, "add")
    assert resolve(claim, "text", True) == Resolved(PATH, None, "text", written=True)
    assert isinstance(resolve(claim, "text", False), Unclear)
    assert isinstance(resolve(claim, None, True), Unclear)


def test_files_deleted_d38() -> None:
    claim = patched("a\nb", None)
    assert resolve(claim, "a\nb", False) == Resolved(PATH, "a\nb", None, written=False)
    # The patch gives the text back that is gone.
    assert resolve(claim, None, True) == Resolved(PATH, "a\nb", None, written=True)
    bare = Claim(PATH, "delete")
    assert resolve(bare, "x", True) == Resolved(PATH, "x", None, written=False)
    assert resolve(bare, None, False) == Resolved(PATH, None, None, written=True)


def test_files_moved_and_copied_d38() -> None:
    bare = Claim(PATH, "move", old_path=OLD_PATH)
    assert resolve(bare, None, False, old_disk="x\n") == Resolved(PATH, None, "x\n", written=False)
    assert resolve(bare, "x\r\n", True, old_disk="x\n") == Resolved(PATH, None, "x\r\n", True)
    assert resolve(bare, "x\n", True) == Resolved(PATH, None, "x\n", written=True)
    assert resolve(bare, "y\n", False, old_disk="x\n") == Resolved(PATH, "y\n", "x\n", False)
    assert reason(resolve(bare, "y\n", True, old_disk="x\n")) == "another text is at the new path"
    assert "not known" in reason(resolve(bare, None, True))


def test_files_moved_and_changed_d38() -> None:
    (file,) = parse(git_patch("a\nb\n", "a\nB\n"))[0]
    for word in ("move", "copy"):
        change = FileChange(word, PATH, OLD_PATH)
        claim = pieces([Patch((change,), (replace(file, old_path=OLD_PATH),))])[0]
        assert resolve(claim, None, False, old_disk="a\nb\n") == Resolved(
            PATH, None, "a\nB\n", written=False
        )
        assert resolve(claim, "a\nB\n", True) == Resolved(PATH, None, "a\nB\n", written=True)
        assert "does not fit" in reason(resolve(claim, "other\n", True))
        assert "does not fit" in reason(resolve(claim, None, False, old_disk="other\n"))


# --- the two versions, and any text --------------------------------------------------

letters = st.sampled_from(["a", "b", "c", "\n", "\n", "é", "\u2028", "x"])
texts = st.lists(letters, max_size=20).map("".join)
endings = st.sampled_from(["\n", "\r\n"])


def occurs_once(text: str, piece: str) -> bool:
    return text.find(piece) == text.rfind(piece)


@settings(max_examples=100, deadline=None)
@given(texts, texts.filter(bool), texts, texts.filter(bool), endings, endings)
def test_any_unique_fragment_d07_d25_d26_d34(
    head: str, old: str, tail: str, new: str, kind: str, said: str
) -> None:
    before, after = head + old + tail, head + new + tail
    assume(occurs_once(before, old) and old not in new and new not in old)
    assume(occurs_once(after, new) and new not in before and old not in after)
    # A text without any line ending has none to write.
    assume("\n" in before or "\n" not in new)
    assume("\n" in after or "\n" not in old)
    claim = fragment(old.replace("\n", said), new.replace("\n", said))
    before, after = before.replace("\n", kind), after.replace("\n", kind)
    for finished in (False, True):
        assert resolve(claim, before, finished) == Resolved(PATH, before, after, written=False)
        assert resolve(claim, after, finished) == Resolved(PATH, before, after, written=True)


ended = st.tuples(texts, texts).map("\n".join)


@settings(max_examples=100, deadline=None)
@given(ended, ended, endings)
def test_any_patch_d07_d25_d26(before: str, after: str, kind: str) -> None:
    assume(before != after)
    claim = patched(before, after)
    before, after = before.replace("\n", kind), after.replace("\n", kind)
    assert resolve(claim, before, finished=False) == Resolved(PATH, before, after, written=False)
    assert resolve(claim, after, finished=True) == Resolved(PATH, before, after, written=True)


@settings(max_examples=60, deadline=None)
@given(texts, texts, texts, texts, endings, st.booleans())
def test_both_versions_mean_the_same(
    head: str, old: str, tail: str, new: str, kind: str, done: bool
) -> None:
    head, tail = f"first\n{head}\n<\n", f"\n>\n{tail}\nlast\n"
    before, after = f"{head}{old}{tail}", f"{head}{new}{tail}"
    assume(old != new)
    disk = (after if done else before).replace("\n", kind)
    edit = fragment(f"<\n{old}\n>", f"<\n{new}\n>")
    assert resolve(edit, disk, done) == resolve(patched(before, after), disk, done)


odd = st.lists(
    st.sampled_from(["a", "b", "\n", "\r", "\r\n", "\ufeff", "\x00", "\ud800", ""]), max_size=8
).map("".join)
tags = st.sampled_from([" ", "-", "+"])
hunks = st.builds(
    PatchHunk,
    st.integers(0, 5),
    st.lists(st.tuples(tags, odd), max_size=4).map(tuple),
    st.booleans(),
    st.booleans(),
)
paths = st.sampled_from([None, PATH, OLD_PATH])
files = st.builds(FilePatch, paths, paths, st.lists(hunks, max_size=3).map(tuple), st.booleans())
changes = st.builds(
    FileChange,
    st.sampled_from(["add", "modify", "delete", "move", "copy", "opaque", ""]),
    paths,
    paths,
    st.sampled_from([None, "text", "binary", "?"]),
)
content = st.one_of(
    st.builds(Fragment, st.just(PATH), st.none() | odd, odd),
    st.builds(
        Patch, st.lists(changes, max_size=3).map(tuple), st.lists(files, max_size=3).map(tuple)
    ),
)


@settings(max_examples=300, deadline=None)
@given(content, st.none() | odd, st.booleans(), st.none() | st.integers(-3, 9), st.none() | odd)
def test_nothing_raises(
    item: Fragment | Patch, disk: str | None, finished: bool, line: int | None, old_disk: str | None
) -> None:
    for claim in pieces([item]):
        found = resolve(claim, disk, finished, line, old_disk=old_disk)
        assert found.path == claim.path
        if isinstance(found, Unclear):
            assert found.reason
        elif found.written:
            assert found.target == disk
        else:
            assert found.base == disk
