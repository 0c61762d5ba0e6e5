"""Git patches: read, applied and undone (D25, D26, D34, D38)."""

from __future__ import annotations

import difflib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from acpls.text.patch import FilePatch, PatchHunk, backwards, forwards, parse

PATH = "/home/user/project/hello.py"

# As a v2 agent reported an edit of a file with text beyond ASCII.
EDIT = f"""\
diff --git {PATH} {PATH}
--- {PATH}
+++ {PATH}
@@ -3,5 +3,6 @@
\x20
 def greet(name):
     # é 日本語 🎉
-    return "Hello, " + name
+    greeting = "Grüße 🎉"
+    return f"{{greeting}}, {{name}}!"
\x20
"""
BEFORE = (
    'import sys\n\n\ndef greet(name):\n    # é 日本語 🎉\n    return "Hello, " + name\n\n\nend\n'
)
AFTER = BEFORE.replace(
    '    return "Hello, " + name\n',
    '    greeting = "Grüße 🎉"\n    return f"{greeting}, {name}!"\n',
)


def git_patch(old: str | None, new: str | None, path: str = PATH, context: int = 3) -> str:
    """A patch as Git writes it, with absolute paths."""
    lines = [text.split("\n") if text else [] for text in (old, new)]
    rows = []
    for text, side in zip((old, new), lines, strict=True):
        if text and text.endswith("\n"):
            side.pop()
        rows.append([f"{line}\n" for line in side])
        if text and not text.endswith("\n"):
            rows[-1][-1] = f"{side[-1]}\n\\ No newline at end of file\n"
    names = ["/dev/null" if text is None else path for text in (old, new)]
    return f"diff --git {path} {path}\n" + "".join(
        difflib.unified_diff(rows[0], rows[1], names[0], names[1], n=context)
    )


def one(text: str) -> FilePatch:
    files, problems = parse(text)
    assert problems == ()
    assert len(files) == 1
    return files[0]


def problem(text: str) -> str:
    files, problems = parse(text)
    assert files == ()
    assert len(problems) == 1
    return problems[0]


def hunk_of(header: str, *body: str) -> str:
    return "\n".join([f"--- {PATH}", f"+++ {PATH}", header, *body, ""])


# --- parse ---------------------------------------------------------------------------


def test_an_edit_as_a_real_agent_sends_it() -> None:
    patch = one(EDIT)
    assert (patch.old_path, patch.new_path, patch.binary) == (PATH, PATH, False)
    assert patch.hunks == (
        PatchHunk(
            2,
            (
                (" ", ""),
                (" ", "def greet(name):"),
                (" ", "    # é 日本語 🎉"),
                ("-", '    return "Hello, " + name'),
                ("+", '    greeting = "Grüße 🎉"'),
                ("+", '    return f"{greeting}, {name}!"'),
                (" ", ""),
            ),
        ),
    )
    assert forwards(patch, BEFORE) == AFTER
    assert backwards(patch, AFTER) == BEFORE


def test_a_new_file_as_a_real_agent_sends_it() -> None:
    path = "/home/user/project/notes/new_file.md"
    patch = one(
        f"diff --git {path} {path}\nnew file mode 100644\n--- /dev/null\n+++ {path}\n"
        "@@ -0,0 +1,3 @@\n+# Notes\n+\n+Written by the agent.\n"
    )
    assert (patch.old_path, patch.new_path) == (None, path)
    assert patch.hunks[0].start == 0
    assert forwards(patch, "") == "# Notes\n\nWritten by the agent.\n"
    assert forwards(patch, "something\n") is None
    assert backwards(patch, "# Notes\n\nWritten by the agent.\n") == ""
    assert backwards(patch, "# Notes\n\nWritten by the agent.\nmore\n") is None


def test_a_deleted_file_goes_the_other_way() -> None:
    patch = one(
        f"diff --git {PATH} {PATH}\ndeleted file mode 100644\nindex 1234567..0000000\n"
        f"--- {PATH}\n+++ /dev/null\n@@ -1,2 +0,0 @@\n-one\n-two\n"
    )
    assert (patch.old_path, patch.new_path) == (PATH, None)
    assert forwards(patch, "one\ntwo\n") == ""
    assert forwards(patch, "one\ntwo\nthree\n") is None
    assert backwards(patch, "") == "one\ntwo\n"
    assert backwards(patch, "x") is None


def test_several_files_and_prose_around_them() -> None:
    files, problems = parse(
        "Some words.\n"
        "diff --git /p/a /p/a\nold mode 100644\nnew mode 100755\n"
        "diff --git /p/b /p/b\nnew file mode 100644\nindex 0000000..e69de29\n"
        "diff --git /p/c /p/c\ndeleted file mode 100644\n"
        "diff --git /p/d /p/e\nsimilarity index 100%\nrename from /p/d\nrename to /p/e\n"
        "diff --git /p/f /p/g\nsimilarity index 90%\ncopy from /p/f\ncopy to /p/g\n"
        "--- /p/f\n+++ /p/g\n@@ -1 +1 @@\n-x\n+y\n"
        "\n"
        "--- /p/h\t2020-01-01\n+++ /p/h\t2020-01-02\n@@ -1 +1 @@ def f():\n-x\n+y\n"
        "--- /p/i\n+++ /p/i\n@@ -1 +1 @@\n-x\n+y\n"
    )
    assert problems == ()
    assert [(file.old_path, file.new_path, len(file.hunks)) for file in files] == [
        ("/p/a", "/p/a", 0),
        (None, "/p/b", 0),
        ("/p/c", None, 0),
        ("/p/d", "/p/e", 0),
        ("/p/f", "/p/g", 1),
        ("/p/h", "/p/h", 1),
        ("/p/i", "/p/i", 1),
    ]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("a/src/x", "b/src/x"),
        ("a//src/x", "b//src/x"),
        ("/dev/null", "b/src/x"),
        ("a/src/x", "/dev/null"),
    ],
)
def test_prefixes_are_taken_off(old: str, new: str) -> None:
    patch = one(f"--- {old}\n+++ {new}\n@@ -0,0 +1 @@\n+x\n")
    bare = [None if name == "/dev/null" else name[2:] for name in (old, new)]
    assert [patch.old_path, patch.new_path] == bare


def test_a_folder_named_a_is_no_prefix() -> None:
    patch = one("--- a/x\n+++ a/x\n@@ -1 +1 @@\n-x\n+y\n")
    assert (patch.old_path, patch.new_path) == ("a/x", "a/x")


def test_the_first_of_two_headers_counts() -> None:
    patch = one("diff --git /p/x /p/y\nrename from /p/x\nrename to /p/y\n\nrename to /p/z\n")
    assert (patch.old_path, patch.new_path) == ("/p/x", "/p/y")


def test_windows_paths() -> None:
    patch = one("diff --git C:/p/x C:/p/x\n--- C:/p/x\n+++ C:/p/x\n@@ -1 +1 @@\n-x\n+y\n")
    assert (patch.old_path, patch.new_path) == ("C:/p/x", "C:/p/x")


@pytest.mark.parametrize(
    ("header", "paths"),
    [
        ("/p/x y /p/x y", ("/p/x y", "/p/x y")),
        ("a/x y b/x y", ("x y", "x y")),
        ('"/p/\\346\\227\\245" "/p/\\346\\227\\245"', ("/p/日", "/p/日")),
        ('"a/\\tx" "b/\\tx"', ("\tx", "\tx")),
        ('"/p/\\"q\\\\" "/p/\\"q\\\\"', ('/p/"q\\', '/p/"q\\')),
        ('"/\\a\\b\\v\\f\\r\\n" "/\\a\\b\\v\\f\\r\\n"', ("/\a\b\v\f\r\n", "/\a\b\v\f\r\n")),
        # An escape that Git does not write stays; bytes that are no UTF-8 are marked.
        ('"/\\q\\377" "/\\q\\377"', ("/\\q\ufffd", "/\\q\ufffd")),
    ],
)
def test_names_in_the_first_header(header: str, paths: tuple[str, str]) -> None:
    patch = one(f"diff --git {header}\nold mode 100644\nnew mode 100755\n")
    assert (patch.old_path, patch.new_path) == paths


@pytest.mark.parametrize(
    "header", ["", "/p/x", "/p/x /p/y", "/p/a b /p/c d e", '"/p/x" ', '"/p/x "/p/x', "x "]
)
def test_names_that_cannot_be_told(header: str) -> None:
    assert "line 2 which file" in problem(f"\ndiff --git {header}\nold mode 100644\n")


def test_a_patch_from_nothing_to_nothing() -> None:
    said = problem("--- /dev/null\n+++ /dev/null\n@@ -0,0 +1 @@\n+x\n")
    assert said == "the patch does not say at line 1 which file it is for"


@pytest.mark.parametrize(
    "body",
    [
        "index 1..2\nBinary files /p/x and /p/x differ\n",
        "index 1..2\nGIT binary patch\nliteral 3\n--- x\n+++ x\n@@ -1 +1 @@\n\nliteral 0\n\n",
    ],
)
def test_binary_files(body: str) -> None:
    header = "diff --git /p/x /p/x\n"
    files, problems = parse(header + body + header + "old mode 1\n")
    assert problems == ()
    assert files == (FilePatch("/p/x", "/p/x", (), True), FilePatch("/p/x", "/p/x", ()))
    assert forwards(files[0], "x") is None
    assert backwards(files[0], "x") is None


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (hunk_of("@@ -1,2 +1 @@", "-x"), "does not have the lines"),
        (hunk_of("@@ -1 +1 @@", "-x", "+y", "+z"), "line 6 is more"),
        (hunk_of("@@ -1 +1 @@", "-x", "-y", "+z"), "does not have the lines"),
        (hunk_of("@@ -1 +1 @@", "+x", " y"), "does not have the lines"),
        (hunk_of("@@ -1,2 +1,2 @@", " x", "?y"), "does not have the lines"),
        (hunk_of("@@ -1 +1 @@", "\\ No newline", "-x", "+y"), "does not have the lines"),
        (hunk_of("@@ -1,2 +1 @@", "-x", "\\ No newline", "-y", "+z"), "does not have the lines"),
        (hunk_of("@@ -1 +1,2 @@", "-x", "+y", "\\ No newline", "+z"), "does not have the lines"),
        (hunk_of("@@ -1 +1,99999999999999999999 @@", "-x"), "too large"),
        (hunk_of("@@ -" + "9" * 5000 + " +1 @@", "-x"), "too large"),
        (hunk_of("@@ -x +1 @@", "-x"), "cannot be read"),
    ],
)
def test_a_file_with_a_wrong_hunk_is_left_out_with_a_reason(text: str, said: str) -> None:
    following = "diff --git /p/y /p/y\n--- /p/y\n+++ /p/y\n@@ -1 +1 @@\n-x\n+y\n"
    files, problems = parse(text + following)
    assert [file.new_path for file in files] == ["/p/y"]
    assert len(problems) == 1
    assert said in problems[0]
    assert len(problems[0]) < 200
    if "cannot" not in said and "too" not in said:
        assert problems[0].startswith(PATH)


def test_a_hunk_that_the_text_cuts_off() -> None:
    assert "has fewer lines" in problem(hunk_of("@@ -1,2 +1 @@", "-x"))


def test_a_combined_diff_is_a_problem() -> None:
    assert "cannot be read" in problem(
        "diff --git /p/x /p/x\n--- /p/x\n+++ /p/x\n@@@ -1 -1 +1 @@@\n--x\n++y\n"
    )


def test_lines_that_look_like_headers_are_lines() -> None:
    old, new = "-- a\n@@ -1 +1 @@\ndiff --git x x\nend\n", "++ b\n@@ -2 +2 @@\nend\n"
    patch = one(git_patch(old, new))
    assert forwards(patch, old) == new
    assert backwards(patch, new) == old


def test_empty_lines_may_have_lost_their_space() -> None:
    patch = one(hunk_of("@@ -1,4 +1,4 @@", "", "-x", "+y", "", "\r"))
    assert patch.hunks[0].lines[0] == (" ", "")
    assert patch.hunks[0].lines[-1] == (" ", "\r")
    assert forwards(patch, "\nx\n\n\r\n") == "\ny\n\n\r\n"


def test_a_patch_whose_own_lines_end_with_crlf() -> None:
    patch = one(EDIT.replace("\n", "\r\n"))
    assert patch == one(EDIT)


def test_no_text_is_no_patch() -> None:
    assert parse("") == ((), ())
    assert parse("nothing here\n--- x\n+++ y\n") == ((), ())


junk = st.lists(
    st.sampled_from(
        [
            "diff --git /x /x",
            'diff --git "/x',
            "--- /x",
            "+++ /x",
            "--- /dev/null",
            "+++ /dev/null",
            "@@ -1,2 +1,2 @@",
            "@@ -0,0 +1 @@",
            "@@",
            " a",
            "-a",
            "+a",
            "\\ No newline at end of file",
            "GIT binary patch",
            "new file mode 1",
            "\r",
            "",
            "\ud800",
        ]
    ),
    max_size=14,
).map("\n".join)


@settings(max_examples=150, deadline=None)
@given(junk, st.sampled_from(["", "a", "a\n", "a\na\n", "a\r\na", "\ra"]))
def test_nothing_raises(text: str, disk: str) -> None:
    files, problems = parse(text)
    assert all(isinstance(said, str) and said for said in problems)
    for file in files:
        for result in (forwards(file, disk), backwards(file, disk)):
            assert result is None or isinstance(result, str)


# --- forwards and backwards ----------------------------------------------------------

pieces = st.sampled_from(["a", "b", "c", "", "é", "x\ry", "\u2028", "\x0c", "--", "\\ No"])
lf_texts = st.builds(
    lambda lines, end: "\n".join(lines) + end,
    st.lists(pieces, max_size=12),
    st.sampled_from(["", "\n"]),
)


@settings(max_examples=150, deadline=None)
@given(lf_texts, lf_texts, st.integers(0, 3), st.booleans())
def test_any_patch_applies_and_undoes_exactly(old: str, new: str, context: int, crlf: bool) -> None:
    if crlf:
        old, new = old.replace("\n", "\r\n"), new.replace("\n", "\r\n")
    files, problems = parse(git_patch(old, new, context=context))
    assert problems == ()
    if old == new:
        # Then there is no hunk, and the header alone says nothing.
        assert [file.hunks for file in files] == [()]
    assert forwards(files[0], old, exact=True) == new
    assert backwards(files[0], new, exact=True) == old


@settings(max_examples=80, deadline=None)
@given(lf_texts.filter(bool), lf_texts.filter(bool), st.integers(1, 4))
def test_a_patch_follows_lines_added_above(old: str, new: str, count: int) -> None:
    above = "".join(f"above {number}\n" for number in range(count))
    patch = one(git_patch(f"{old}\nmiddle\n", f"{new}\nmiddle\n"))
    applied = forwards(patch, f"{above}{old}\nmiddle\n")
    # None when it could go to two places; never a third result.
    assert applied in {None, f"{above}{new}\nmiddle\n"}


def test_a_moved_hunk_takes_the_next_ones_along() -> None:
    second = hunk_of("@@ -5,2 +5,2 @@", " a", "-b", "+B")
    both = hunk_of("@@ -2 +2 @@", "-x", "+X") + "".join(second.splitlines(True)[2:])
    old = "a\nx\na\nb\na\nb\na\nb\n"
    assert forwards(one(both), old, exact=True) == "a\nX\na\nb\na\nB\na\nb\n"
    assert forwards(one(both), f"a\nb\n{old}") == "a\nb\na\nX\na\nb\na\nB\na\nb\n"
    assert backwards(one(both), "a\nb\na\nX\na\nb\na\nB\na\nb\n") == f"a\nb\n{old}"
    assert forwards(one(both), f"a\nb\n{old}", exact=True) is None
    # Alone it has only its line to go by, and two lines down that is another place.
    assert forwards(one(second), f"\n{old}") is None


def test_what_could_go_to_two_places_goes_to_none() -> None:
    patch = one(hunk_of("@@ -90 +90 @@", "-x", "+y"))
    assert forwards(patch, "a\nx\n") == "a\ny\n"
    assert forwards(patch, "x\nx\n") is None
    assert forwards(patch, "a\n") is None
    # Nothing to find: only the claimed line could tell where.
    bare = one(hunk_of("@@ -90,0 +91 @@", "+y"))
    assert forwards(bare, "a\n") is None
    assert forwards(bare, "") == "y\n"


def test_hunks_that_overlap_do_not_fit() -> None:
    twice = PatchHunk(0, (("-", "a"), ("+", "b")))
    assert forwards(FilePatch("/x", "/x", (twice, twice)), "a\n") is None


def test_the_files_own_line_endings_are_written_d26() -> None:
    patch = one(hunk_of("@@ -1,2 +1,3 @@", " a", "-b", "+c", "+d"))
    assert forwards(patch, "a\r\nb\r\n") == "a\r\nc\r\nd\r\n"
    assert backwards(patch, "a\r\nc\r\nd\r\n") == "a\r\nb\r\n"
    assert forwards(patch, "a\rb\r") == "a\rc\rd\r"
    crlf = one(hunk_of("@@ -1,2 +1,3 @@", " a\r", "-b\r", "+c\r", "+d\r"))
    assert crlf.hunks[0].lines[0] == (" ", "a\r")
    assert forwards(crlf, "a\nb\n") == "a\nc\nd\n"
    # A new file has no endings of its own yet.
    new = one("--- /dev/null\n+++ /x\n@@ -0,0 +1,2 @@\n+a\r\n+b\r\n")
    assert forwards(new, "") == "a\r\nb\r\n"


def test_lines_outside_keep_mixed_endings_d25() -> None:
    patch = one(hunk_of("@@ -2,3 +2,4 @@", " b", "-c", "+C", "+D", " d"))
    assert forwards(patch, "a\nb\r\nc\r\nd\ne\r\nf\n") == "a\nb\r\nC\r\nD\nd\ne\r\nf\n"
    # A carriage return within a line is data.
    assert forwards(patch, "a\rA\nb\nc\nd\n") == "a\rA\nb\nC\nD\nd\n"


def test_only_a_line_in_its_place_passes_its_ending_on_d25() -> None:
    patch = one(hunk_of("@@ -1,2 +1,2 @@", "-a", " b", "+c"))
    assert forwards(patch, "a\r\nb\nx\n") == "b\nc\nx\n"


def test_only_one_carriage_return_belongs_to_an_ending() -> None:
    old, new = "a\r\r\nb\r\n", "a\r\r\nc\r\n"
    patch = one(git_patch(old, new))
    assert forwards(patch, old) == new
    assert backwards(patch, new) == old


def test_the_end_of_the_file_stays_as_it_is() -> None:
    patch = one(hunk_of("@@ -1,2 +1,2 @@", " a", "-b", "+c"))
    assert forwards(patch, "a\nb") == "a\nc"
    assert forwards(patch, "a\nb\n") == "a\nc\n"
    more = one(hunk_of("@@ -1 +1,2 @@", " a", "+b"))
    assert forwards(more, "a") == "a\nb"
    assert backwards(more, "a\nb") == "a"


def test_a_marked_end_has_to_fit() -> None:
    marker = "\\ No newline at end of file"
    gains = one(hunk_of("@@ -1 +1 @@", "-a", marker, "+a"))
    assert (gains.hunks[0].old_ends, gains.hunks[0].new_ends) == (False, True)
    assert forwards(gains, "a") == "a\n"
    assert forwards(gains, "a\n") is None
    assert backwards(gains, "a\n") == "a"
    assert backwards(gains, "a") is None
    both = one(hunk_of("@@ -1,2 +1,2 @@", "-b", "+c", " a", marker))
    assert (both.hunks[0].old_ends, both.hunks[0].new_ends) == (False, False)
    assert forwards(both, "b\na") == "c\na"
    assert forwards(both, "b\na\nmore") is None


def test_a_last_line_may_end_with_a_bare_carriage_return() -> None:
    old, new = "a\nb\r", "a\nc\r"
    patch = one(git_patch(old, new))
    assert forwards(patch, old) == new
    assert backwards(patch, new) == old
