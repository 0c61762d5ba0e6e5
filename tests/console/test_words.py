"""What is said is safe for any terminal and any encoding."""

from __future__ import annotations

import io
import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from acpls.console.words import columns, forgiving, note, plain, say_json, table

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain é 日本", "plain é 日本"),
        ("\x1b[31mred\x1b[0m", "red"),
        ("\x1b]8;;http://x\x07link\x1b]8;;\x1b\\", "link"),
        ("a\rb\x07c\u202e", "a?b?c?"),
        ("a\tb", "a       b"),
    ],
)
def test_nothing_that_a_terminal_obeys_is_left(text: str, shown: str) -> None:
    assert plain(text) == shown


def test_a_table_is_as_wide_as_its_cells() -> None:
    rows = [("NAME", "TITLE", "X"), ("日本", "e\u0301", "y"), ("long name", "", "")]
    assert list(table(rows)) == ["NAME       TITLE  X", "日本       e\u0301      y", "long name"]
    assert [columns(text) for text in ("ab", "日本", "e\u0301", "")] == [2, 4, 1, 0]


def test_a_narrow_encoding_gets_escapes() -> None:
    written = io.BytesIO()
    stream = io.TextIOWrapper(written, "ascii")
    forgiving(stream)
    stream.write("é")
    stream.flush()
    assert written.getvalue() == b"\\xe9"


def test_another_kind_of_stream_is_left_alone(capsys: pytest.CaptureFixture[str]) -> None:
    forgiving(io.StringIO())
    note("one\x07\ntwo", stays=True)
    assert capsys.readouterr().err == "one?\ntwo"
    say_json({"a": "é"})
    assert capsys.readouterr().out == '{\n  "a": "\\u00e9"\n}\n'


def test_a_real_terminal_of_another_encoding_gets_no_traceback(tmp_path: Path) -> None:
    env = {
        **os.environ,
        "PYTHONIOENCODING": "ascii",
        "PYTHONUTF8": "0",
        "NO_COLOR": "1",
        "XDG_CONFIG_HOME": str(tmp_path),
    }
    (tmp_path / "acpls").mkdir()
    (tmp_path / "acpls" / "config.toml").write_text('[agents."日本"]\ncommand = "né"\n', "utf-8")
    run = subprocess.run(
        [sys.executable, "-m", "acpls", "agents", "list"], capture_output=True, env=env, check=False
    )
    assert (run.returncode, run.stderr) == (0, b"")
    assert b"\\u65e5" in run.stdout
    assert b"\x1b" not in run.stdout
