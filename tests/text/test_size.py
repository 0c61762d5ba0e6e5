"""Which texts are shown change by change, and which as one."""

from __future__ import annotations

import tracemalloc

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from acpls.text import size
from acpls.text.lines import body, split_lines
from acpls.text.size import LONGEST_LINE, MOST_BYTES, MOST_LINES, reason_not_shown

ROW = "x" * 63 + "\n"


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        pytest.param("", None, id="nothing"),
        pytest.param("a\n", None, id="little"),
        pytest.param(ROW * (MOST_BYTES // 64), None, id="as many bytes as can be"),
        pytest.param(ROW * (MOST_BYTES // 64) + "x", "it has more than 2 MiB", id="one more"),
        pytest.param(
            ("é" * 31 + "x\n") * (MOST_BYTES // 64), None, id="as many bytes, two a character"
        ),
        pytest.param(
            ("é" * 31 + "x\n") * (MOST_BYTES // 64) + "x", "it has more than 2 MiB", id="and one"
        ),
        pytest.param(
            ("🙂" * 15 + "\ud800\n") * (MOST_BYTES // 64), None, id="with half a character"
        ),
        pytest.param("\n" * MOST_LINES, None, id="as many lines as can be"),
        pytest.param("\r\n" * MOST_LINES, None, id="as many lines of Windows"),
        pytest.param("\r" * MOST_LINES, None, id="as many lines, ended otherwise"),
        pytest.param(
            "\n" * MOST_LINES + "x",
            "it has 50001 lines, which is more than 50000",
            id="one line more",
        ),
        pytest.param("x" * LONGEST_LINE, None, id="as long a line as can be"),
        pytest.param(f"{'x' * LONGEST_LINE}\r\ny", None, id="as long a line, ended"),
        pytest.param(
            "x" * (LONGEST_LINE + 1), "line 1 has more than 20000 characters", id="a long line"
        ),
        pytest.param(
            f"a\r\n\rb\n{'🙂' * (LONGEST_LINE + 1)}\nc\n",
            "line 4 has more than 20000 characters",
            id="a long line below others",
        ),
    ],
)
def test_what_is_too_large(text: str, reason: str | None) -> None:
    assert reason_not_shown(text) == reason


@settings(max_examples=300, deadline=None)
@given(st.text("aé🙂\r\n", max_size=20), st.integers(1, 40), st.integers(1, 6), st.integers(1, 8))
def test_it_is_as_counting_would_have_it(
    text: str, most_bytes: int, most_lines: int, longest: int
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(size, "MOST_BYTES", most_bytes)
        patch.setattr(size, "MOST_LINES", most_lines)
        patch.setattr(size, "LONGEST_LINE", longest)
        reason = reason_not_shown(text)
    lines = [body(line) for line in split_lines(text)]
    long = [f"line {n} has" for n, line in enumerate(lines, 1) if len(line) > longest]
    if len(text.encode()) > most_bytes:
        assert reason is not None
        assert reason.startswith("it has more than")
    elif len(lines) > most_lines:
        assert reason == f"it has {len(lines)} lines, which is more than {most_lines}"
    elif long:
        assert reason == f"{long[0]} more than {longest} characters"
    else:
        assert reason is None


def test_a_text_of_any_size_is_judged_without_a_copy_of_it() -> None:
    texts = ["x" * 40 * MOST_BYTES, ROW * (MOST_BYTES // 64), "é\n" * MOST_BYTES]
    tracemalloc.start()
    try:
        reasons = list(map(reason_not_shown, texts))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert [reason is None for reason in reasons] == [False, True, False]
    assert peak < MOST_BYTES // 4
