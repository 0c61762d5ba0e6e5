"""What Git knows, asked of real repositories, which stay as they are to the byte."""

from __future__ import annotations

import hashlib
import os
import stat
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from acpls.client import git
from git_repository import Repository

if TYPE_CHECKING:
    from collections.abc import Iterator

needs_git = pytest.mark.needs("git")


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    folder = tmp_path / "project"
    folder.mkdir()
    return Repository(folder)


@pytest.fixture(autouse=True)
def _no_settings_of_the_user(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")


def write(repository: Repository, name: str, data: bytes) -> str:
    file = repository.folder / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(data)
    return str(file)


def matching(repository: Repository, *paths: str) -> set[str]:
    """The names of those of the paths that hold what is committed."""
    found = git.head_matches(paths)
    assert found <= set(paths)
    return {os.path.relpath(path, repository.folder) for path in found}


# --- where things are ----------------------------------------------------------------


def test_the_nearest_repository_counts(tmp_path: Path) -> None:
    (tmp_path / "outer" / ".git").mkdir(parents=True)
    inner = tmp_path / "outer" / "d" / "inner"
    inner.mkdir(parents=True)
    (inner / ".git").write_text("gitdir: ../../.git/modules/inner\n")
    assert git.repository_of(str(inner / "x" / "f")) == str(inner)
    assert git.repository_of(str(tmp_path / "outer" / "f")) == str(tmp_path / "outer")
    assert git.repository_of(str(tmp_path / "outer")) == str(tmp_path / "outer")
    assert git.is_top(str(inner))
    assert not git.is_top(str(inner.parent))
    assert git.folders(str(tmp_path / "outer")) == (str(tmp_path / "outer" / ".git"),) * 2
    assert git.folders(str(inner)) == (str(tmp_path / "outer" / ".git" / "modules" / "inner"),) * 2


@needs_git
def test_a_second_working_tree_has_something_in_common(
    repository: Repository, tmp_path: Path
) -> None:
    write(repository, "f", b"one")
    repository.commit("f")
    second = tmp_path / "second"
    repository.git("worktree", "add", "-q", str(second))
    common = repository.folder / ".git"
    assert git.folders(str(second)) == (str(common / "worktrees" / "second"), str(common))
    assert git.head_matches([str(second / "f")]) == {str(second / "f")}


@pytest.mark.parametrize("content", [b"gitdir: \0", b"\xff", b"", b"gitdir:", b"x" * 100_000])
def test_a_file_in_the_place_of_a_repository_may_be_anything(
    tmp_path: Path, content: bytes
) -> None:
    (tmp_path / ".git").write_bytes(content)
    (tmp_path / "f").write_bytes(b"one")
    assert git.folders(str(tmp_path))[0]
    assert git.head_matches([str(tmp_path / "f")]) == frozenset()


# --- what is committed ---------------------------------------------------------------


@needs_git
def test_files_that_hold_what_is_committed(repository: Repository) -> None:
    same = write(repository, "d/same", b"one\n")
    changed = write(repository, "changed", b"one\n")
    staged = write(repository, "staged", b"one\n")
    gone = write(repository, "gone", b"one\n")
    repository.commit("d/same", "changed", "staged", "gone")
    write(repository, "changed", b"two\n")
    write(repository, "staged", b"two\n")
    repository.git("add", "staged")
    Path(gone).unlink()
    added = write(repository, "added", b"one\n")
    repository.git("add", "added")
    untracked = write(repository, "untracked", b"one\n")
    folder = str(repository.folder / "d")
    paths = (same, changed, staged, gone, added, untracked, folder)
    assert matching(repository, *paths) == {"d/same"}
    write(repository, "changed", b"one\n")
    assert matching(repository, *paths) == {"d/same", "changed"}


@needs_git
@pytest.mark.parametrize("committed", [b"a\nb\n", b"a\r\nb\r\n"])
@pytest.mark.parametrize("there", [b"a\nb\n", b"a\r\nb\r\n"])
@pytest.mark.parametrize("crlf", ["true", "input", "false"])
def test_line_endings_are_as_git_takes_them(
    repository: Repository, committed: bytes, there: bytes, crlf: str
) -> None:
    repository.git("config", "core.autocrlf", "false")
    path = write(repository, "f", committed)
    repository.commit("f")
    repository.git("config", "core.autocrlf", crlf)
    write(repository, "f", there)
    same = committed == there or (committed == b"a\nb\n" and crlf != "false")
    assert matching(repository, path) == ({"f"} if same else set())
    write(repository, "f", b"a\r\nc\n")
    assert matching(repository, path) == set()


@needs_git
def test_filters_are_those_of_the_path(repository: Repository) -> None:
    write(repository, ".gitattributes", b"*.up filter=up\n")
    repository.git("config", "filter.up.clean", "tr a-z A-Z")
    path = write(repository, "f.up", b"one\n")
    other = write(repository, "f.down", b"one\n")
    repository.commit(".gitattributes", "f.up", "f.down")
    write(repository, "f.up", b"oNe\n")
    write(repository, "f.down", b"oNe\n")
    assert matching(repository, path, other) == {"f.up"}


@needs_git
def test_names_of_any_kind(repository: Repository) -> None:
    names = ["grün", "a b", "-x", ":(glob)*", "*", "new\nline", '"quoted"', "d/é", "a\\b"]
    paths = [write(repository, name, b"one\r\n") for name in names]
    repository.git("config", "core.autocrlf", "true")
    repository.git("add", "-A")
    repository.git("commit", "-q", "-m", "a commit")
    # As bytes they are not what is committed, so that Git has to be asked.
    assert matching(repository, *paths) == set(names)
    changed = write(repository, "a b", b"two\n")
    assert matching(repository, *paths) == set(names) - {"a b"}
    assert changed in paths


@needs_git
def test_many_files_are_asked_for_at_once(
    repository: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    paths = [write(repository, f"f{number}", b"one\r\n") for number in range(450)]
    repository.git("config", "core.autocrlf", "true")
    repository.git("add", "-A")
    repository.git("commit", "-q", "-m", "a commit")
    write(repository, "f7", b"two\n")
    Path(paths[9]).unlink()
    runs: list[str] = []
    run = git._run

    def noted(top: str, *arguments: str, **_: object) -> subprocess.CompletedProcess[bytes] | None:
        runs.append(arguments[0])
        return run(top, *arguments)

    monkeypatch.setattr(git, "_run", noted)
    assert len(git.head_matches(paths)) == 448
    assert runs == ["ls-tree"] * 3 + ["hash-object"] * 3


@needs_git
def test_a_file_that_goes_while_git_looks_is_left_out(
    repository: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    paths = [write(repository, name, b"one\r\n") for name in ("a", "b", "c")]
    repository.git("config", "core.autocrlf", "true")
    repository.commit("a", "b", "c")
    run = git._run

    def late(top: str, *arguments: str, **_: object) -> subprocess.CompletedProcess[bytes] | None:
        if arguments[0] == "hash-object":
            Path(paths[1]).unlink(missing_ok=True)
        return run(top, *arguments)

    monkeypatch.setattr(git, "_run", late)
    assert matching(repository, *paths) == {"a", "c"}


@needs_git
def test_git_may_stop_answering(repository: Repository, monkeypatch: pytest.MonkeyPatch) -> None:
    raw = write(repository, "raw", b"one\n")
    crlf = write(repository, "crlf", b"one\r\n")
    repository.git("config", "core.autocrlf", "true")
    repository.commit("raw", "crlf")
    assert git.head_matches([raw, crlf]) == {raw, crlf}
    run = git._run

    def mute(top: str, *arguments: str, **_: object) -> subprocess.CompletedProcess[bytes] | None:
        return None if arguments[0] == "hash-object" else run(top, *arguments)

    monkeypatch.setattr(git, "_run", mute)
    assert git.head_matches([raw, crlf]) == {raw}


@needs_git
def test_links_are_compared_by_where_they_lead(repository: Repository, tmp_path: Path) -> None:
    target = write(repository, "target", b"one\n")
    link, outside = repository.folder / "link", repository.folder / "outside"
    link.symlink_to("target")
    (tmp_path / "outside").write_bytes(b"one\n")
    outside.symlink_to(tmp_path / "outside")
    alias = tmp_path / "alias"
    alias.symlink_to(repository.folder)
    repository.commit("target", "link", "outside")
    paths = {str(alias / "target"), target}
    assert git.head_matches(paths) == paths
    assert set(git.blobs(paths)) == paths
    assert git.head_matches([str(link), str(outside)]) == {str(link)}


@needs_git
def test_files_of_several_repositories(repository: Repository, tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    other = Repository(tmp_path / "other")
    nested = repository.folder / "nested"
    nested.mkdir()
    inner = Repository(nested)
    paths = []
    for each in (repository, other, inner):
        paths.append(write(each, "f", b"one\n"))
        each.commit("f")
    (tmp_path / "none").write_bytes(b"one\n")
    assert git.head_matches([*paths, str(tmp_path / "none")]) == set(paths)


@needs_git
def test_a_repository_with_longer_names_of_blobs(tmp_path: Path) -> None:
    subprocess.run(["git", "init", "-q", "--object-format=sha256", tmp_path], check=True)
    repository = Repository(tmp_path)
    path = write(repository, "f", b"one\n")
    repository.commit("f")
    assert git.head_matches([path]) == {path}
    (oid,) = git.blobs([path]).values()
    assert len(oid) == 64
    assert git.read_blob(path, oid, 4) == b"one\n"


@needs_git
def test_a_repository_without_a_commit(repository: Repository) -> None:
    path = write(repository, "f", b"one\n")
    assert git.head_matches([path]) == frozenset()
    repository.git("add", "f")
    assert git.head_matches([path]) == frozenset()
    assert git.blobs([path]) == {}


@needs_git
def test_a_large_file_is_left_to_git(
    repository: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(git, "LIMIT_BYTES", 10)
    path = write(repository, "f", b"more than ten bytes")
    repository.commit("f")
    assert git.head_matches([path]) == {path}
    (oid,) = git.blobs([path]).values()
    assert git.read_blob(path, oid, 19) is None
    assert git.read_blob(path, oid, 9) is None


# --- blobs ---------------------------------------------------------------------------


@needs_git
def test_blobs_of_files_that_are_as_they_were_committed(repository: Repository) -> None:
    names = ("same", "changed", "staged", "skipped", "assumed", "d/grün")
    paths = {name: write(repository, name, b"one\n") for name in names}
    repository.commit(*names)
    repository.git("update-index", "--skip-worktree", "skipped")
    repository.git("update-index", "--assume-unchanged", "assumed")
    for name in ("changed", "staged", "skipped", "assumed"):
        write(repository, name, b"two\n")
    repository.git("add", "staged")
    write(repository, "staged", b"one\n")
    untracked = write(repository, "untracked", b"one\n")
    oid = hashlib.sha1(b"blob 4\0one\n").hexdigest()
    found = git.blobs([*paths.values(), untracked])
    assert found == {paths["same"]: oid, paths["d/grün"]: oid}
    assert git.read_blob(paths["same"], oid, 4) == b"one\n"
    assert git.read_blob(paths["same"], oid, 5) is None
    assert git.read_blob(paths["same"], "0" * 40, 4) is None
    assert git.read_blob(str(repository.folder.parent / "elsewhere"), oid, 4) is None


@needs_git
def test_blobs_of_very_many_files(repository: Repository, monkeypatch: pytest.MonkeyPatch) -> None:
    paths = [write(repository, f"f{number}", b"one\n") for number in range(250)]
    other = write(repository, "other", b"one\n")
    repository.git("add", "-A")
    repository.git("commit", "-q", "-m", "a commit")
    write(repository, "f7", b"two\n")
    few = git.blobs(paths)
    assert set(few) == set(paths) - {paths[7]}
    monkeypatch.setattr(git, "_ONE_BY_ONE", 100)
    assert git.blobs(paths) == few
    assert other not in few


@needs_git
def test_a_blob_is_read_as_a_checkout_writes_it(repository: Repository) -> None:
    repository.git("config", "core.autocrlf", "true")
    path = write(repository, "f", b"one\r\ntwo\r\n")
    repository.commit("f")
    (oid,) = git.blobs([path]).values()
    assert git.read_blob(path, oid, 10) == b"one\r\ntwo\r\n"
    assert git.read_blob(path, oid, 8) is None


# --- nothing is changed, nobody is asked ---------------------------------------------


def state(folder: Path) -> Iterator[tuple[str, bytes, int]]:
    for file in sorted(folder.rglob("*")):
        if file.is_file():
            yield str(file), file.read_bytes(), file.stat().st_mtime_ns


@needs_git
def test_nothing_in_a_repository_is_written(repository: Repository) -> None:
    paths = [write(repository, name, b"one\n") for name in ("a", "b", "c")]
    repository.commit("a", "b", "c")
    write(repository, "b", b"two\n")
    # Git would like to note in its index that this one is as it was.
    os.utime(paths[2], ns=(10**18, 10**18))
    before = list(state(repository.folder))
    assert matching(repository, *paths) == {"a", "c"}
    (oid, _) = git.blobs(paths).values()
    assert git.read_blob(paths[0], oid, 4) == b"one\n"
    assert list(state(repository.folder)) == before


@needs_git
def test_no_program_of_the_repository_is_run_but_filters(
    repository: Repository, tmp_path: Path
) -> None:
    ran = tmp_path / "ran"
    program = tmp_path / "program"
    program.write_text(f"#!{sys.executable}\nopen({str(ran)!r}, 'w').close()\n")
    program.chmod(0o755)
    path = write(repository, "f", b"one\n")
    repository.commit("f")
    for name in ("core.fsmonitor", "core.pager", "core.editor", "diff.external", "pager.ls-tree"):
        repository.git("config", name, str(program))
    hooks = repository.folder / ".git" / "hooks"
    hooks.mkdir(exist_ok=True)
    for name in ("post-index-change", "fsmonitor-watchman", "reference-transaction"):
        (hooks / name).symlink_to(program)
    os.utime(path, ns=(10**18, 10**18))
    assert git.head_matches([path]) == {path}
    (oid,) = git.blobs([path]).values()
    assert git.read_blob(path, oid, 4) == b"one\n"
    assert not ran.exists()


@needs_git
def test_the_environment_is_for_this_repository(
    repository: Repository, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A server that was started by a hook has the variables of another repository."""
    path = write(repository, "f", b"one\n")
    repository.commit("f")
    for name in ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY"):
        monkeypatch.setenv(name, str(tmp_path / "other"))
    monkeypatch.setenv("GIT_EXTERNAL_DIFF", "false")
    assert git.head_matches([path]) == {path}
    assert len(git.blobs([path])) == 1
    environment = git._environment(os.environ)
    assert "GIT_DIR" not in environment
    assert environment["GIT_CONFIG_GLOBAL"] == os.devnull
    assert environment["GIT_OPTIONAL_LOCKS"] == "0"
    assert environment["GIT_TERMINAL_PROMPT"] == "0"
    assert environment["LC_ALL"] == "C"
    assert environment["PATH"] == os.environ["PATH"]


# --- when it does not answer ---------------------------------------------------------


@pytest.fixture
def fake(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A program in the place of git; it has yet to be written."""
    folder = tmp_path / "bin"
    folder.mkdir()
    monkeypatch.setenv("PATH", str(folder))
    return folder / "git"


def tracked(tmp_path: Path) -> str:
    (tmp_path / "project" / ".git").mkdir(parents=True)
    file = tmp_path / "project" / "f"
    file.write_bytes(b"one\n")
    return str(file)


def nothing_is_known(path: str) -> bool:
    known = (git.head_matches([path]), git.blobs([path]), git.read_blob(path, "0" * 40, 4))
    return known == (frozenset(), {}, None)


@pytest.mark.parametrize(
    "body",
    [
        "exit 128",
        "echo 'fatal: detected dubious ownership in repository' >&2; exit 128",
        "echo nonsense",
        "printf '\\377\\0\\t\\0100644 blob\\0'",
        "kill -9 $$",
    ],
)
def test_whatever_git_says_is_no_harm(fake: Path, tmp_path: Path, body: str) -> None:
    fake.write_text(f"#!/bin/sh\n{body}\n")
    fake.chmod(0o755)
    assert nothing_is_known(tracked(tmp_path))


def test_without_git_nothing_is_known(fake: Path, tmp_path: Path) -> None:
    assert not fake.exists()
    assert nothing_is_known(tracked(tmp_path))


def test_a_program_that_cannot_be_started(fake: Path, tmp_path: Path) -> None:
    fake.write_bytes(b"\0\1\2 no program")
    fake.chmod(0o755)
    assert nothing_is_known(tracked(tmp_path))


def test_git_has_a_time_limit(fake: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fake.write_text(f"#!{sys.executable}\nimport signal\nsignal.pause()\n")
    fake.chmod(0o755)
    monkeypatch.setattr(git, "LIMIT_S", 0.2)
    assert git.head_matches([tracked(tmp_path)]) == frozenset()


def test_a_program_of_the_current_folder_is_not_git(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tracked(tmp_path)
    fake = tmp_path / "project" / "git"
    fake.write_text(f"#!/bin/sh\necho > {tmp_path}/ran\n")
    fake.chmod(fake.stat().st_mode | stat.S_IXUSR)
    monkeypatch.chdir(fake.parent)
    monkeypatch.setenv("PATH", ".")
    assert nothing_is_known(path)
    assert not (tmp_path / "ran").exists()


@needs_git
def test_a_repository_that_git_distrusts(
    repository: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write(repository, "f", b"one\n")
    repository.commit("f")
    assert git.head_matches([path]) == {path}
    monkeypatch.setitem(git._ENVIRONMENT, "GIT_TEST_ASSUME_DIFFERENT_OWNER", "1")
    assert nothing_is_known(path)


def test_a_file_that_cannot_be_read_is_no_match(tmp_path: Path) -> None:
    assert git._raw_oid(str(tmp_path / "missing"), "0" * 40) is None
    assert git._raw_oid(str(tmp_path), "0" * 40) is None
    assert git.repository_of("/") in {None, "/"}
