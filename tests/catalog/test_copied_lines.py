"""Lines to copy: a shell or a TOML reader makes of them what they were made from."""

from __future__ import annotations

import shlex
import subprocess
import sys
import tomllib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from acpls.catalog import login_command, shell_line, toml_table

NAMES = st.text(st.characters(blacklist_categories=["Cs"]), max_size=8)
WORDS = st.text(
    st.characters(blacklist_categories=["Cs"], blacklist_characters="\0")
    | st.sampled_from("'\"\\ "),
    max_size=8,
)


def test_plain_words_stay_plain() -> None:
    assert login_command("claude", "claude-login") == "acpls login claude claude-login"
    assert login_command("claude") == "acpls login claude"


@pytest.mark.parametrize(
    ("windows", "line"),
    [
        (False, "acpls login 'my agent' 'it'\"'\"'s $HOME'"),
        (True, 'acpls login "my agent" "it\'s $HOME"'),
    ],
)
def test_other_words_are_quoted_for_the_shell(windows: bool, line: str) -> None:
    assert login_command("my agent", "it's $HOME", windows=windows) == line


def test_a_name_like_an_option_is_no_option() -> None:
    assert login_command("-a", windows=False) == "acpls login -- -a"
    assert login_command("a", "--method", windows=False) == "acpls login -- a --method"


@settings(max_examples=100)
@given(st.lists(WORDS, min_size=1, max_size=4))
def test_a_posix_shell_reads_the_words_back(words: list[str]) -> None:
    assert shlex.split(shell_line(words, windows=False)) == words


def test_a_real_shell_reads_the_words_back() -> None:
    words = ["a b", "$HOME", "`id`", "it's", '"', "\\", "*", "", "~", "é"]
    code = "import sys; sys.stdout.buffer.write('\\0'.join(sys.argv[1:]).encode())"
    line = shell_line([sys.executable, "-c", code, *words], windows=False)
    run = subprocess.run(["sh", "-c", line], capture_output=True, check=True)
    assert run.stdout.decode().split("\0") == words


@pytest.mark.parametrize(
    ("word", "quoted"),
    [
        (r"C:\a\b.exe", r"C:\a\b.exe"),
        ("C:\\My Tools\\", '"C:\\My Tools\\\\"'),
        ('say "x"', '"say \\"x\\""'),
        ('\\"', '"\\\\\\""'),
        ("", '""'),
    ],
)
def test_windows_reads_backslashes_before_quotes(word: str, quoted: str) -> None:
    assert shell_line([word], windows=True) == quoted
    # Where a word has to be quoted, Python does it in the same way.
    if quoted.startswith('"') and " " in word:
        assert subprocess.list2cmdline([word]) == quoted


@settings(max_examples=100)
@given(
    NAMES.filter(bool),
    st.dictionaries(
        NAMES,
        NAMES
        | st.booleans()
        | st.integers(-9, 9)
        | st.lists(NAMES, max_size=3)
        | st.dictionaries(NAMES, st.dictionaries(NAMES, NAMES, max_size=2), max_size=2),
        max_size=4,
    ),
    st.dictionaries(NAMES, NAMES | st.booleans(), max_size=3),
)
def test_toml_reads_the_table_back(
    name: str, entry: dict[str, object], env: dict[str, object]
) -> None:
    whole = {**entry, "env": env}
    text = toml_table(name, whole)
    assert text.endswith("\n")
    assert tomllib.loads(text) == {"agents": {name: whole}}


def test_a_table_reads_well() -> None:
    entry = {"command": "pi", "args": ["--acp", 'a"b'], "env": {"A.B": "x"}}
    assert toml_table("my-pi", entry) == (
        '[agents.my-pi]\ncommand = "pi"\nargs = ["--acp", "a\\"b"]\nenv = { "A.B" = "x" }\n'
    )
    assert toml_table("my pi", {}) == '[agents."my pi"]\n'
