r"""Files that are mentioned in a text (F10)."""

from __future__ import annotations

import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from acpls.follow.mentions import LONGEST, mentions


def found(text: str) -> list[tuple[Any, ...]]:
    return [(m.path, m.line, m.column) for m in mentions(text)]


@pytest.mark.parametrize(
    ("text", "mention"),
    [
        ("see src/a.py", ("src/a.py", None, None)),
        ("see src/a.py:12", ("src/a.py", 12, None)),
        ("see src/a.py:12:5.", ("src/a.py", 12, 5)),
        ("(src/a.py:12)", ("src/a.py", 12, None)),
        ("in a.py, line", ("a.py", None, None)),
        ("**a.py:3**", ("a.py", 3, None)),
        ("src/a.py:12-20", ("src/a.py", 12, None)),
        ("src/a.py#L12", ("src/a.py", 12, None)),
        ("src/a.py#L12-L20", ("src/a.py", 12, None)),
        ("src/a.py#L12C3", ("src/a.py", 12, 3)),
        ("src/a.py:12:in `f'", ("src/a.py", 12, None)),
        ("src/a.py:12: error: no", ("src/a.py", 12, None)),
        ("./a.py", ("./a.py", None, None)),
        ("../b/a.py:1!", ("../b/a.py", 1, None)),
        ("/w/src/a.py:7", ("/w/src/a.py", 7, None)),
        ("`src/a.py:12`", ("src/a.py", 12, None)),
        ("`Makefile`", ("Makefile", None, None)),
        ("`src/Makefile`:3", ("src/Makefile", None, None)),
        ("`app/[id]/page (1).tsx:4`", ("app/[id]/page (1).tsx", 4, None)),
        ("[here](src/a.py:12)", ("src/a.py", 12, None)),
        ("[here](src/a.py#L12)", ("src/a.py", 12, None)),
        ("[here](</w/my file.py>)", ("/w/my file.py", None, None)),
        ("[here](file:///w/my%20file.py#L3)", ("/w/my file.py", 3, None)),
        ("file:///w/a.py:4", ("/w/a.py", 4, None)),
        ("file:///C:/w/a.py#L4", ("C:\\w\\a.py", 4, None)),
        ("C:\\w\\a.py", ("C:\\w\\a.py", None, None)),
        ("C:\\w\\a.py:12:5", ("C:\\w\\a.py", 12, 5)),
        ("C:/w/a.py:12", ("C:/w/a.py", 12, None)),
        ("src\\a.py:12", ("src\\a.py", 12, None)),
        ("\\\\server\\share\\a.py", ("\\\\server\\share\\a.py", None, None)),
        ("größe/ä.py:2", ("größe/ä.py", 2, None)),
        (".github/workflows", (".github/workflows", None, None)),
        ("a.py:0", ("a.py", 0, None)),
    ],
)
def test_a_file_is_found_in_each_of_its_forms_f10(text: str, mention: tuple[Any, ...]) -> None:
    assert found(text)[0] == mention


@pytest.mark.parametrize(
    "text",
    [
        "",
        "nothing here: 12:30, 3.14, v1.2, and so on...",
        "http://localhost:8080/a.py https://a.example/b/c.py:3",
        "www.a.example/b.py",
        "mailto:a@b.example",
        "[page](https://a.example/a.py)",
        "ssh://host/a.py",
        "1/2 -- 12/30/2026",
        "src/",
        "C:12",
        "file://",
        "x" * (LONGEST + 20) + ".py",
        "`\u0007/a.py`",
    ],
)
def test_what_is_no_file_is_not_mistaken_for_one_f10(text: str) -> None:
    assert found(text) == []


def test_a_command_line_in_backticks_has_files_in_it_f10() -> None:
    assert found("run `python src/a.py --all` now")[1:] == [("src/a.py", None, None)]
    assert found("`no file`, `C:\\none`, and [](nothing)") == [("C:\\none", None, None)]
    assert found("`see [a](b.py:1) there`")[-1] == ("b.py", 1, None)
    assert found("`x = f(a.py)` and b.py") == [("a.py", None, None), ("b.py", None, None)]


def test_offsets_are_those_of_the_text() -> None:
    text = "😀 see `src/a.py:12`, [b](b/c.py), and d.py."
    said = [text[m.start : m.end] for m in mentions(text)]
    assert said == ["src/a.py:12", "b/c.py", "d.py"]
    assert [m.start for m in mentions(text, 100)] == [m.start + 100 for m in mentions(text)]


@given(st.text(max_size=200) | st.text("a/.:#`[]()<>\\1 \n-L", max_size=200))
def test_any_text_is_looked_through(text: str) -> None:
    for mention in mentions(text):
        assert 0 <= mention.start < mention.end <= len(text)
        assert mention.path
        assert mention.end - mention.start <= LONGEST


@pytest.mark.parametrize("piece", ["a", "a:1", "`", "[](", "a/", ":1:", "a.py:1 ", "<", "#L1"])
def test_the_work_grows_with_the_text_and_no_more(piece: str) -> None:
    def cost_s(times: int) -> float:
        text = piece * times
        started = time.process_time()
        assert len(list(mentions(text))) <= len(text)
        return time.process_time() - started

    assert min(cost_s(20_000 // len(piece)) for _ in range(3)) < 0.5
