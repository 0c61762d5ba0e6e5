"""What no file of the repository may hold, and what some must."""

from __future__ import annotations

import ast
import fnmatch
import io
import os
import re
import tokenize
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parents[2]
THIS = Path(__file__)
SIZE_LIMIT_BYTES = 200_000
MAY_BE_LARGE = "tests/data/acp-schema*"

# Written in two parts, so that this file itself is clean.
MACHINE_PATHS = tuple("/" + path for path in ("work/", "tmp/w/", "root/", "farm/", "Users/"))
REGISTRY_HOSTS = tuple(
    f"{name}.{end}"
    for name, end in [
        ("pypi", "org"),
        ("pythonhosted", "org"),
        ("npmjs", "org"),
        ("npmjs", "com"),
        ("yarnpkg", "com"),
        ("crates", "io"),
        ("proxy.golang", "org"),
    ]
)
LOCK_FILES = {"uv.lock", "poetry.lock", "pdm.lock", "Pipfile.lock", "package-lock.json"}

# Files that may sleep: where another program is asked again and again, since it tells nothing
# by itself, or where a fake is slow because slowness is the matter.
MAY_SLEEP = {"tests/rim_stage.py"}

# The faults that the walking skeleton answers for; a test carries the id of each.
FAULTS = [
    "A01",
    "A02",
    "A03",
    "A06",
    "D01",
    "D02",
    "D03",
    "D04",
    "D06",
    "D07",
    "D11",
    "D12",
    "D13",
    "D14",
    "D16",
    "D17",
    "D18",
    "D19",
    "D20",
    "D22",
    "D23",
    "D25",
    "D26",
    "D30",
    "D32",
    "D34",
    "D35",
    "D36",
    "D38",
    "D39",
    "D42",
    "D43",
    "D46",
    "D47",
    "D48",
    "D50",
    "D51",
    "D52",
    "D53",
    "F13",
    "P01",
    "P02",
    "P03",
    "P05",
    "P07",
    "P08",
    "P09",
    "P10",
    "P11",
    "P12",
    "P13",
    "P16",
    "P19",
    "P21",
    "S08",
    "S10",
    "S11",
    "S18",
    "S19",
    "X01",
    "X02",
    "X04",
    "X05",
    "X06",
    "X08",
    "X09",
    "X13",
    "X14",
    "X15",
    "X17",
    "X18",
    "X20",
    "X21",
    "X22",
]


@cache
def files() -> tuple[Path, ...]:
    """All files but those that .gitignore names."""
    ignored = [".git", *(ROOT / ".gitignore").read_text("utf-8").split()]
    patterns = [pattern.rstrip("/") for pattern in ignored]

    def walk(folder: Path) -> Iterator[Path]:
        for entry in sorted(folder.iterdir()):
            if any(fnmatch.fnmatch(entry.name, pattern) for pattern in patterns):
                continue
            if entry.is_dir() and not entry.is_symlink():
                yield from walk(entry)
            else:
                yield entry

    return tuple(walk(ROOT))


def name(file: Path) -> str:
    return file.relative_to(ROOT).as_posix()


@cache
def texts() -> dict[str, str]:
    """All files that are text, by their names."""
    found = {}
    for file in files():
        try:
            found[name(file)] = file.read_text("utf-8")
        except UnicodeDecodeError:
            continue
    return found


def python(*folders: str) -> dict[str, str]:
    return {
        file: text
        for file, text in texts().items()
        if file.endswith(".py") and file.startswith(folders)
    }


def test_there_is_something_to_check() -> None:
    assert name(THIS) in texts()
    assert "src/acpls/__init__.py" in texts()


@pytest.mark.parametrize("word", [*MACHINE_PATHS, *REGISTRY_HOSTS])
def test_no_file_names_a_machine_or_a_registry(word: str) -> None:
    assert [file for file, text in texts().items() if word in text] == []


def test_no_file_records_where_packages_came_from() -> None:
    assert [name(file) for file in files() if file.name in LOCK_FILES] == []


def test_no_file_is_large() -> None:
    large = [name(f) for f in files() if f.lstat().st_size > SIZE_LIMIT_BYTES]
    assert [file for file in large if not fnmatch.fnmatch(file, MAY_BE_LARGE)] == []


def test_nothing_is_printed_but_by_the_command_line_and_the_demo() -> None:
    quiet = {
        file: text
        for file, text in python("src/").items()
        if not file.startswith(("src/acpls/cli", "src/acpls/demo/"))
    }
    assert [file for file, text in quiet.items() if "print" in calls(text)] == []


def test_no_test_sleeps() -> None:
    sleeping = {
        file
        for file, text in python("tests/").items()
        if {"time.sleep", "sleep"} & calls(text) or re.search(r"^\s*from time import.*sleep", text)
    }
    assert sleeping == MAY_SLEEP


@pytest.mark.parametrize("file", [*python("src/", "tests/")])
def test_each_exception_from_a_check_has_a_reason(file: str) -> None:
    bare = [comment for comment in comments(texts()[file]) if lacks_reason(comment)]
    assert bare == []


@pytest.mark.parametrize(
    ("comment", "lacks"),
    [
        ("# noqa", True),
        ("# noqa: S603", True),
        ("# noqa: S603, E501", True),
        ("# noqa: S603  the list is ours", False),
        ("# type: ignore", True),
        ("# type: ignore[misc, arg-type]", True),
        ("# type: ignore[misc]  # pygls gives no type", False),
        ("# type: ignore[misc]  # noqa: S603", True),
        ("# pragma: no cover", True),
        ("# pragma: no cover  only on Windows", False),
        ("# says why", False),
    ],
)
def test_what_a_reason_is(comment: str, lacks: bool) -> None:
    assert lacks_reason(comment) is lacks


def test_the_readme_has_two_commands_and_ci_runs_the_second() -> None:
    commands = re.findall(r"(?ms)^```sh\n(.*?)^```$", texts()["README.md"])
    assert len(commands) == 2
    run, test = (command.rstrip("\n") for command in commands)
    assert "\n" not in run + test
    assert run.endswith("acpls demo")
    assert test in texts()[".ci/run"]
    assert os.access(ROOT / ".ci" / "run", os.X_OK)


def test_the_licence_is_whole_and_the_changelog_is_open() -> None:
    licence = texts()["LICENSE"]
    assert "Version 2.0, January 2004" in licence
    assert "Copyright [yyyy] [name of copyright owner]" in licence
    assert "## [Unreleased]" in texts()["CHANGELOG.md"]


@pytest.mark.parametrize("fault", FAULTS)
def test_each_fault_that_was_dealt_with_has_a_test(fault: str) -> None:
    # ``D07`` in a docstring, or in a name as ``_d07``; not the escape ``\\x01``.
    word = re.compile(rf"(?<![A-Za-z0-9\\]){fault}(?![0-9])|_{fault.lower()}(?![a-z0-9])")
    others = {file: text for file, text in python("tests/").items() if file != name(THIS)}
    assert [file for file, text in others.items() if word.search(text)], f"no test names {fault}"


def calls(text: str) -> set[str]:
    """The names of all functions that are called, dotted where they are written so."""
    return {
        ast.unparse(node.func)
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name | ast.Attribute)
    }


def comments(text: str) -> list[str]:
    """The comments of a module; what stands in strings is none."""
    tokens = tokenize.generate_tokens(io.StringIO(text).readline)
    return [token.string for token in tokens if token.type == tokenize.COMMENT]


def lacks_reason(comment: str) -> bool:
    """Tell whether a comment switches a check off and then says nothing more."""
    codes = r"[A-Z]+[0-9]+(\s*,\s*[A-Z]+[0-9]+)*"
    switches = rf"noqa(:\s*{codes})?|type:\s*ignore(\[[^\]]*\])?|pragma:\s*no (cover|branch)"
    rest, found = re.subn(switches, "", comment)
    return bool(found) and len(re.findall(r"\w+", rest)) < 2
