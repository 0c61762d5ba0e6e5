"""Which files are ignored: the same that Git ignores, and a few names everywhere."""

from __future__ import annotations

import contextlib
import os
import subprocess
import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from acpls.client import ignoring as module
from acpls.client.ignoring import Ignoring, Level, is_utf_8
from git_repository import Repository


class Project:
    """A root, where files may be and rules may say something of them."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.ignoring = Ignoring()

    def write(self, name: str, text: str = "") -> Path:
        file = self.root / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(text.encode())
        return file

    def ignored(self, *names: str, root: str = "") -> set[str]:
        roots = (str(self.root / root),)
        return {n for n in names if self.ignoring.is_ignored(str(self.root / n), roots)}


@pytest.fixture
def project(tmp_path: Path) -> Project:
    root = tmp_path / "project"
    root.mkdir()
    return Project(root)


@pytest.mark.parametrize(
    ("rules", "ignored", "kept"),
    [
        ("", [], ["f", "d/f"]),
        ("f", ["f", "d/f", "f/x"], ["ff", "d/xf"]),
        ("/f", ["f", "f/x"], ["d/f"]),
        ("d/f", ["d/f"], ["x/d/f", "d/x"]),
        ("d/", ["d/f", "x/d/f"], ["d", "x/dd"]),
        ("*.log", ["a.log", "d/.log", "x.log/f"], ["a.logs", "log"]),
        ("d/*", ["d/f", "d/x/f"], ["x/d/f", "d"]),
        ("d/**", ["d/f", "d/x/f"], ["x/d/f", "d"]),
        ("**/f", ["f", "d/f"], ["d/ff"]),
        ("a/**/f", ["a/f", "a/b/c/f"], ["f", "b/a/f"]),
        ("*/", ["d/f", "d/x/f"], ["f"]),
        ("**/", ["d/f"], ["f"]),
        ("d/**/", ["d/e/f"], ["d/f", "d"]),
        ("*/\n!/d/", ["d/x/f", "e/f"], ["d/f"]),
        ("*.log\n!keep.log", ["a.log"], ["keep.log", "d/keep.log"]),
        ("!keep.log\n*.log", ["keep.log"], []),
        # What is in an ignored folder cannot come back.
        ("d/\n!d/f", ["d/f"], []),
        ("d/*\n!d/f", ["d/x"], ["d/f"]),
        ("d/**\n!d/f", ["d/x"], ["d/f"]),
        ("/*\n!/d\n/d/*\n!/d/f", ["x", "d/x"], ["d/f"]),
        # A rule for a folder says nothing of the files in it.
        ("*.log\n!d/", ["d/a.log"], ["d/f"]),
        ("b/\n!a/", ["a/b/f", "b/f"], ["a/f"]),
        ("# f\n\\#x\n\\!y", ["#x", "!y"], ["f", "# f"]),
        ("f   ", ["f"], ["f   "]),
        ("f\\ ", ["f "], ["f"]),
        ("[ab]\n[!c]d", ["a", "b", "xd"], ["c", "cd"]),
        ("f?", ["f1"], ["f", "f12"]),
        ("grün", ["grün"], ["grun"]),
    ],
)
@pytest.mark.parametrize("ending", ["\n", "\r\n"])
def test_rules_of_one_file(
    project: Project, rules: str, ignored: list[str], kept: list[str], ending: str
) -> None:
    project.write(".gitignore", rules.replace("\n", ending) + ending)
    assert project.ignored(*ignored, *kept) == set(ignored)


def test_a_few_names_are_always_ignored(project: Project) -> None:
    project.write(".gitignore", "!node_modules\n!.git\n")
    names = {
        f"{before}{name}{after}"
        for name in module.ALWAYS
        for before in ("", "d/")
        for after in ("", "/f")
    }
    assert project.ignored(*names, "node_modules2/f", "git") == names
    # The part of a write of ours.
    assert project.ignored("d/.acpls-x1y2", ".acpls") == {"d/.acpls-x1y2"}


def test_a_mark_before_the_first_rule_is_no_part_of_it(project: Project) -> None:
    project.write(".gitignore", "\ufefff\ng\n")
    assert project.ignored("f", "g") == {"f", "g"}


@pytest.mark.parametrize("rule", ["f\\", "[", "[a", "[b-a]", "!", "/", "//", "[[:none:]]"])
def test_a_rule_that_cannot_be_understood_ignores_nothing(project: Project, rule: str) -> None:
    project.write(".gitignore", f"{rule}\ngood\n")
    names = ("f", "a", "alpha", "a" * 60)
    assert project.ignored(*names, "good") == {"good"}


def test_rules_of_folders_below_go_before_those_above(project: Project) -> None:
    project.write(".gitignore", "*.log\n/only-here\n")
    project.write("d/.gitignore", "!keep.log\n/only-here\n")
    project.write("d/e/.gitignore", "keep.log\n")
    names = ("a.log", "keep.log", "d/a.log", "d/keep.log", "d/e/keep.log", "d/x/keep.log")
    assert project.ignored(*names) == {"a.log", "keep.log", "d/a.log", "d/e/keep.log"}
    assert project.ignored("only-here", "d/only-here", "x/only-here") == {
        "only-here",
        "d/only-here",
    }


def test_rules_above_the_root_count_within_a_repository(project: Project) -> None:
    project.write(".git/HEAD")
    project.write(".gitignore", "*.log\n/d/e/x\n")
    project.write("d/.gitignore", "!keep.log\n")
    names = ("d/e/a.log", "d/e/keep.log", "d/e/x")
    assert project.ignored(*names, root="d/e") == {"d/e/a.log", "d/e/x"}
    # Without a repository nobody says how far up rules come from.
    (project.root / ".git" / "HEAD").unlink()
    (project.root / ".git").rmdir()
    assert project.ignored(*names, root="d/e") == set()


def test_a_repository_in_another_has_its_own_rules(project: Project) -> None:
    project.write(".git/info/exclude", "from-exclude\n*.log\n")
    project.write(".gitignore", "!keep.log\nf\n")
    project.write("inner/.git/info/exclude", "own\n")
    project.write("inner/d/g")
    names = ("f", "from-exclude", "a.log", "keep.log")
    assert project.ignored(*names) == {"f", "from-exclude", "a.log"}
    inner = [f"inner/d/{name}" for name in (*names, "own")]
    assert project.ignored(*inner) == {"inner/d/own"}


def test_a_second_working_tree_has_the_rules_of_its_repository(
    project: Project, tmp_path: Path
) -> None:
    repository = tmp_path / "repository"
    own = repository / "worktrees" / "project"
    own.mkdir(parents=True)
    (repository / "info").mkdir()
    (repository / "info" / "exclude").write_text("*.log\n")
    (own / "commondir").write_text("../..\n")
    project.write(".git", f"gitdir: {own}\n")
    assert project.ignored("a.log", "f") == {"a.log"}


@pytest.mark.parametrize("line", ["gitdir: \0\n", "nonsense", "\0", "gitdir: " + "x" * 100_000])
def test_a_repository_that_is_none_has_no_rules_of_its_own(project: Project, line: str) -> None:
    project.write(".git", line)
    project.write(".gitignore", "f\n")
    assert project.ignored("f", "g") == {"f"}


def test_rules_are_read_again_when_they_change(project: Project) -> None:
    rules = project.write(".gitignore", "f\n")
    assert project.ignored("f", "long") == {"f"}
    rules.write_text("long\n")
    assert project.ignored("f", "long") == {"long"}
    rules.unlink()
    assert project.ignored("f", "long") == set()
    rules.mkdir()
    assert project.ignored("f", "long") == set()


def test_rules_are_not_read_through_a_link(project: Project, tmp_path: Path) -> None:
    (tmp_path / "rules").write_text("f\n")
    (project.root / ".gitignore").symlink_to(tmp_path / "rules")
    assert project.ignored("f") == set()


def test_levels_are_the_same_until_a_rule_changes(project: Project) -> None:
    root = str(project.root)
    project.write(".gitignore", "f\n")
    project.write("d/.gitignore", "# none\n")
    project.write("e/.gitignore", "g\n")
    ignoring = project.ignoring

    def levels() -> list[Level]:
        top = ignoring.within(root, ignoring.above(root))
        return [top, ignoring.within(f"{root}/d", top), ignoring.within(f"{root}/e", top)]

    before = levels()
    assert before[0] is before[1]
    assert all(one is other for one, other in zip(before, levels(), strict=True))
    project.write("e/.gitignore", "other\n")
    after = levels()
    assert [one is other for one, other in zip(before, after, strict=True)] == [True, True, False]
    project.write(".gitignore", "other\n")
    assert not any(one is other for one, other in zip(after, levels(), strict=True))


def test_our_own_folders_are_ignored_wherever_a_root_is(tmp_path: Path) -> None:
    """D53: what we keep of files is no file of the user's, and to keep it changes it."""
    project = Project(tmp_path / "project")
    own = project.root / "state" / "acpls"
    project.ignoring = Ignoring((str(own),))
    project.write(".gitignore", "!acpls\n")
    project.write("state/acpls/contents/ab/cd")
    project.write("state/other")
    project.write("state/d/acpls/f")
    names = ("state/acpls", "state/acpls/contents", "state/acpls/contents/ab/cd")
    assert project.ignored(*names, "state/other", "state/d/acpls/f", "state") == set(names)
    assert project.ignored(*names[1:], root="state") == set(names[1:])
    # Nobody works in there, and where somebody does he is not heard of.
    assert project.ignored(*names, root="state/acpls") == set(names)
    assert project.ignored(*names[1:], root="state/acpls/contents") == set(names[1:])
    assert project.ignoring.is_own(str(own))
    assert not project.ignoring.is_own(f"{own}2")
    top = [Path(folder).name for folder in project.ignoring.folders(str(project.root))]
    assert top == ["project", "state", "d", "acpls"]
    assert list(project.ignoring.folders(str(own))) == []


def test_what_the_system_shows_as_files_is_ignored_below_the_top() -> None:
    ignoring = Ignoring()
    inside = ("/proc/1/stat", "/sys/kernel", "/dev/shm/f", "/dev")
    assert {path for path in inside if ignoring.is_ignored(path, ("/",))} == set(inside)
    assert not ignoring.is_ignored("/dev/shm/f", ("/dev/shm",))
    assert not ignoring.is_ignored("/srv/proc/f", ("/",))


def test_a_pipe_in_the_place_of_what_is_read_is_not_waited_for(project: Project) -> None:
    project.write("d/.gitignore", "g\n")
    os.mkfifo(project.root / ".git")
    os.mkfifo(project.root / ".gitignore")
    assert project.ignored("f", "d/g") == {"d/g"}
    assert project.ignored("d/f", "d/g", root="d") == {"d/g"}
    (project.root / "d" / ".git").mkdir()
    os.mkfifo(project.root / "d" / ".git" / "commondir")
    assert project.ignored("f", "d/g") == {"d/g"}


def test_folders_are_given_from_the_top_down(project: Project, tmp_path: Path) -> None:
    project.write(".gitignore", "build/\n/a/b/x\n")
    project.write("a/.gitignore", "y\n")
    for name in ("a/b/c", "a/b/x/f", "a/y/f", "build/f", "node_modules/f", ".git/f", "d/f"):
        project.write(f"{name}/f")
    with contextlib.suppress(OSError):
        (project.root / os.fsdecode(b"\xff")).mkdir()
    (project.root / "link").symlink_to(project.root / "a")
    root = str(project.root)

    def folders(start: str | None = None) -> list[str]:
        given = project.ignoring.folders(root, None if start is None else f"{root}/{start}")
        return [os.path.relpath(folder, root) for folder in given]

    assert folders()[0] == "."
    assert folders()[3:] == ["a/b", "d/f", "a/b/c"]
    assert set(folders()[1:3]) == {"a", "d"}
    assert folders("a/b") == ["a/b", "a/b/c"]
    # What has gone may come again.
    assert folders("d/gone") == ["d/gone"]
    assert folders("a/b/x") == folders("a/y") == folders("build/f") == []
    assert list(project.ignoring.folders(root, str(tmp_path))) == []
    given = project.ignoring.folders(root)
    assert next(given) == root
    project.write("late/f")
    assert f"{root}/late" in given


def test_levels_of_a_root_are_the_same_after_those_of_another_around_it(project: Project) -> None:
    project.write("a/.gitignore", "f\n")
    project.write("a/b/.gitignore", "g\n")
    project.write(".gitignore", "h\n")
    top, ignoring = str(project.root), project.ignoring

    def level(*folders: str) -> Level | None:
        found = ignoring.above(folders[0])
        for folder in folders:
            found = ignoring.within(folder, found)
        return found

    inner, outer = (f"{top}/a", f"{top}/a/b"), (top, f"{top}/a", f"{top}/a/b")
    first = level(*inner), level(*outer)
    assert first[0] is not first[1]
    again = level(*inner), level(*outer), level(*inner)
    assert [one is other for one, other in zip(again, (*first, first[0]), strict=True)] == [
        True
    ] * 3
    project.write("a/b/.gitignore", "other\n")
    assert level(*inner) is not first[0]


def test_what_is_in_no_root_is_ignored(project: Project, tmp_path: Path) -> None:
    ignoring, root = project.ignoring, str(project.root)
    assert ignoring.is_ignored(str(tmp_path / "f"), (root,))
    assert ignoring.is_ignored(root + "2", (root,))
    assert ignoring.is_ignored(str(project.root / "f"), ())
    assert ignoring.is_ignored("project/f", ("", "project"))
    assert not ignoring.is_ignored(root, (root,))
    assert not ignoring.is_ignored(root + os.sep, (root,))
    assert not ignoring.is_ignored("/f", ("/",))
    assert ignoring.is_ignored("/.git/f", ("/",))


def test_a_root_may_be_spelled_with_links(project: Project, tmp_path: Path) -> None:
    project.write(".gitignore", "f\n")
    alias = tmp_path / "alias"
    alias.symlink_to(project.root)
    for spelled in (alias, project.root):
        assert project.ignoring.is_ignored(str(spelled / "f"), (str(alias),))
        assert not project.ignoring.is_ignored(str(spelled / "g"), (str(alias),))


def test_a_link_to_a_folder_is_no_folder_for_the_rules(project: Project) -> None:
    project.write(".gitignore", "d/\n")
    project.write("real/f")
    (project.root / "d").symlink_to(project.root / "real")
    assert project.ignored("d") == set()
    (project.root / "d").unlink()
    project.write("d/f")
    assert project.ignored("d") == {"d"}


def test_names_that_are_no_text_are_ignored(project: Project) -> None:
    assert not is_utf_8(os.fsdecode(b"\xff"))
    assert is_utf_8("grün \U0001f600")
    assert project.ignored(os.fsdecode(b"d\xff/f"), "grün") == {os.fsdecode(b"d\xff/f")}


# --- beside the real Git -------------------------------------------------------------

PARTS = st.one_of(
    st.sampled_from(["a", "b", "ab", "a.x", "b.x", "*", "a*", "*.x", "?", "[ab]", "**"]),
    st.text("ab.x*?[]!^-\\ ", min_size=1, max_size=5),
)
RULES = st.builds(
    lambda bang, start, parts, end: bang + start + "/".join(parts) + end,
    st.sampled_from(["", "", "!"]),
    st.sampled_from(["", "", "/"]),
    st.lists(PARTS, min_size=1, max_size=3),
    st.sampled_from(["", "", "/"]),
)
NAMES = [
    name
    for first in ("a", "b", "ab", "a.x")
    for name in (first, *(f"{first}/{second}" for second in ("a", "b.x")), f"{first}/b/a/b")
]


@pytest.mark.needs("git")
@given(
    top=st.lists(RULES, max_size=4),
    below=st.lists(RULES, max_size=2),
    files=st.sets(st.sampled_from(NAMES), min_size=1),
)
@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_git_ignores_the_same_files(
    top: list[str], below: list[str], files: set[str], tmp_path: Path
) -> None:
    if not (tmp_path / ".git").exists():
        Repository(tmp_path)
    with tempfile.TemporaryDirectory(dir=tmp_path) as folder:
        project = Project(Path(folder))
        for name in sorted(files, key=len, reverse=True):
            if not (project.root / name).exists():
                project.write(name)
        project.write(".gitignore", "".join(f"{rule}\n" for rule in top))
        if (project.root / "a").is_dir():
            project.write("a/.gitignore", "".join(f"{rule}\n" for rule in below))
        names = sorted(
            file.relative_to(project.root).as_posix()
            for file in project.root.rglob("*")
            if not file.is_dir() and file.name != ".gitignore"
        )
        asked = subprocess.run(
            ["git", "-c", f"core.excludesFile={os.devnull}", "check-ignore", "-z", "--stdin"],
            cwd=project.root,
            input="\0".join(names).encode(),
            capture_output=True,
            check=False,
        )
        assert project.ignored(*names) == set(asked.stdout.decode().split("\0")) - {""}
