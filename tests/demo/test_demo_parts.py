"""The parts of the demo agent that need no process: diffs, docstrings, words, the project."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from acpls.demo import agent
from acpls.demo.diffs import fragments, git_patch, hunks, lines
from acpls.demo.docstrings import documented
from acpls.demo.files import Sorry, Workspace
from acpls.demo.project import copy_to
from acpls.demo.terms import Change
from acpls.demo.wire import Wire
from acpls.demo.words import file_word, tokens, verb

if TYPE_CHECKING:
    from acpls.demo.turn import Turn


@pytest.mark.parametrize("text", ["", "a", "a\n", "a\r\nb\rc\n\nd", "\u2028\x0c\n", "\n\r\n"])
def test_lines_lose_nothing(text: str) -> None:
    assert "".join(lines(text)) == text
    assert all(line.rstrip("\r\n").count("\r") == 0 for line in lines(text))


def test_fragments_occur_once() -> None:
    old = "x = 1\n\n\n\n\n\n\ny\n" * 3 + "end\n"
    before, _, after = old.rpartition("x = 1")
    new = f"{before}x = 2{after}"
    assert old.count(hunks(old, new)[0].old) > 1
    (only,) = fragments(old, new)
    assert old.count(only.old) == 1
    assert old.replace(only.old, only.new) == new


def test_fragments_of_an_empty_file() -> None:
    assert [(one.old, one.new) for one in fragments("", "a\n")] == [("", "a\n")]
    assert fragments("same", "same") == []


def test_a_patch_of_an_odd_name_without_a_last_newline() -> None:
    patch = git_patch(Change("modify", Path('/é "x"\t\\'), "a\nb", "a\nc\n"))
    name = r'"/\303\251 \"x\"\t\\"'
    assert patch == (
        f"diff --git {name} {name}\n--- {name}\t\n+++ {name}\t\n"
        "@@ -1,2 +1,2 @@\n a\n-b\n\\ No newline at end of file\n+c\n"
    )


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (Change("add", Path("/a"), new="x\n"), "--- /dev/null\n+++ /a\n@@ -0,0 +1 @@\n+x\n"),
        (Change("add", Path("/a")), "new file mode 100644\n"),
        (Change("delete", Path("/a"), "x\n"), "--- /a\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n"),
        (Change("move", Path("/b"), origin=Path("/a")), "rename from /a\nrename to /b\n"),
    ],
)
def test_patches_end_as_git_writes_them(change: Change, expected: str) -> None:
    assert git_patch(change).endswith(expected)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", '"""Tea."""\n'),
        ("x = 1", '"""Tea."""\n\nx = 1'),
        ("\ufeffx = 1\r\n", '\ufeff"""Tea."""\r\n\r\nx = 1\r\n'),
        ("# coding: utf-8", '# coding: utf-8\n"""Tea."""\n'),
        ('"""Here."""\ndef f(): pass\n', '"""Here."""\ndef f(): pass\n'),
        ('""""""\nclass A:\n\tdef f(self):\n\t\t@g\n\t\tdef h(): ...\n\t\treturn h\n', None),
        ('""""""\ndef f(\n    a,\n):  # c\n\n    # d\n    return a\n', None),
    ],
)
def test_docstrings_are_added_as_lines(text: str, expected: str | None) -> None:
    after = documented(text, "tea")
    if expected is not None:
        assert after == expected
        return
    kept = [line for line in lines(after) if line not in lines(after) or "." not in line]
    assert "".join(kept) == "".join(line for line in lines(text) if "." not in line)
    assert after.count('"""F') == 1
    assert documented(after, "tea") == after


@pytest.mark.parametrize("text", ["def f(:\n", "x = '\0'", "def f(): \\\n    return 1\n"])
def test_what_is_not_python_is_left_alone(text: str) -> None:
    with pytest.raises(Sorry):
        documented(text, "tea", "f" if "return" in text else None)


@pytest.mark.parametrize(
    ("prompt", "expected"),
    [
        ("explain a.py", ("explain", "a.py")),
        ("/explain  a.py", ("explain", "a.py")),
        ("Could you please Explain: a.py", ("explain", "a.py")),
        ("add  a docstring to f", ("document", "to f")),
        ("explain.py", None),
        ("one two three four five explain a.py", None),
        ("explains", None),
        ("", None),
    ],
)
def test_the_verb_is_found(prompt: str, expected: tuple[str, str] | None) -> None:
    assert verb(prompt, {"explain": "explain", "add a docstring": "document"}) == expected


def test_file_names_are_found() -> None:
    found = [file_word(one) for one in tokens("the file `a b.py` x.py:12. 'y.py'")]
    assert found == ["a b.py", "x.py", "y.py"]
    assert tokens("a") == ["a"]


def test_a_bare_name_must_be_unique(tmp_path: Path) -> None:
    for folder in ("x", "y"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "a.py").touch()
    with pytest.raises(Sorry, match=r"`x/a\.py`, `y/a\.py`"):
        Workspace(tmp_path).existing("a.py")


def test_the_project_is_copied_and_never_over_something(tmp_path: Path) -> None:
    root = copy_to(tmp_path / "new" / "tea")
    names = sorted(path.relative_to(root).as_posix() for path in root.rglob("*.*"))
    assert names == [
        "README.md",
        "docs/menu.txt",
        "src/clock.py",
        "src/main.py",
        "src/teas.py",
        "tests/test_teas.py",
    ]
    for path in root.rglob("*.*"):
        content = path.read_bytes()
        crlf = content.count(b"\r\n")
        assert crlf == (content.count(b"\n") if path.name == "menu.txt" else 0)
    (root / "src" / "teas.py").write_text("mine")
    (root / "README.md").unlink()
    with pytest.raises(FileExistsError):
        copy_to(root)
    assert (root / "src" / "teas.py").read_text() == "mine"
    assert not (root / "README.md").exists()


@pytest.mark.parametrize("version", [1, 2])
def test_a_bug_ends_the_turn_and_not_the_agent(
    version: int,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    def fail(turn: Turn) -> None:
        raise RuntimeError(f"no {turn.words}")

    monkeypatch.setattr(agent, "perform", fail)
    prompt = [{"type": "text", "text": "tea"}]
    asks = [
        ("initialize", {"protocolVersion": version, "info": {}}),
        ("session/new", {"cwd": str(tmp_path), "mcpServers": []}),
        ("session/prompt", {"sessionId": "demo-1", "prompt": prompt}),
    ]
    source = "".join(
        json.dumps({"id": n, "method": method, "params": params}) + "\n"
        for n, (method, params) in enumerate(asks)
    )
    sink = io.BytesIO()
    agent.Agent(Wire(io.BytesIO(source.encode()), sink), (1, 2)).serve()
    last = json.loads(sink.getvalue().splitlines()[-1])
    if version == 1:
        assert (last["id"], last["error"]["code"]) == (2, -32603)
    else:
        assert last["params"]["update"]["stopReason"] == "error"
        assert last["params"]["update"]["error"]["code"] == -32603
    assert "no tea" in capsys.readouterr().err
