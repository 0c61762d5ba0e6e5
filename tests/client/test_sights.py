"""What is seen at paths that agents name: files and folders, inside and outside."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import pytest

from acpls.client import looking, sights
from acpls.client.sights import look_at
from acpls.effects import LookAt

if TYPE_CHECKING:
    from pathlib import Path

    from acpls.events import Seen


def seen(root: Path, *paths: str, text: bool = False) -> tuple[Seen, ...]:
    return look_at(LookAt("token", paths, (str(root), "relative"), text))


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "work"
    (folder / "src").mkdir(parents=True)
    (folder / "a.txt").write_text("one\r\ntwo\n")
    (folder / "src" / "b.txt").write_text("b\n")
    (tmp_path / "outside.txt").write_text("secret\n")
    return folder


def test_files_folders_and_what_is_not_there_are_told_apart(root: Path) -> None:
    os.mkfifo(root / "pipe")
    paths = [str(root / name) for name in ("a.txt", "src", "missing", "pipe", "a.txt/b")]
    assert [one.kind for one in seen(root, *paths)] == [
        "file",
        "folder",
        "missing",
        "other",
        "missing",
    ]
    assert [one.path for one in seen(root, *paths)] == paths


def test_no_path_is_too_odd_to_be_looked_at(root: Path) -> None:
    odd = ["a.txt", "", "\0", f"{root}/\0", f"{root}/{'x' * 5000}", f"{root}/\ud800", "C:\\a"]
    assert {one.kind for one in seen(root, *odd)} == {"missing"}


def test_no_share_of_another_machine_is_asked_for_because_an_agent_names_it(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []
    stat = os.stat

    def watched(path: str, **how: Any) -> os.stat_result:
        asked.append(str(path))
        return stat(path, **how)

    monkeypatch.setattr(os, "stat", watched)
    shares = ["\\\\server\\share\\a.txt", f"/{root}/a.txt"]
    assert {one.kind for one in seen(root, *shares)} == {"missing"}
    assert not set(shares) & set(asked)
    (one,) = look_at(LookAt("token", (f"/{root}/a.txt",), (f"/{root}",)))
    assert one.kind == "file"


def test_outside_is_told_and_not_read_whatever_the_link(root: Path) -> None:
    (root / "link").symlink_to(root.parent / "outside.txt")
    (root.parent / "into").symlink_to(root / "a.txt")
    outside, link, into = seen(
        root,
        str(root.parent / "outside.txt"),
        str(root / "link"),
        str(root.parent / "into"),
        text=True,
    )
    assert (outside.kind, outside.inside, outside.text) == ("file", False, None)
    assert (link.kind, link.inside, link.text) == ("file", False, None)
    assert (into.kind, into.inside, into.text) == ("file", True, "one\r\ntwo\n")


def test_the_text_of_the_first_file_alone_is_read(root: Path) -> None:
    paths = [str(root / name) for name in ("src", "src/b.txt", "a.txt")]
    assert [one.text for one in seen(root, *paths, text=True)] == [None, "b\n", None]
    assert [one.text for one in seen(root, *paths)] == [None] * 3


def test_what_is_no_text_or_large_has_none(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (root / "bytes").write_bytes(b"\0\1\2")
    (one,) = seen(root, str(root / "bytes"), text=True)
    assert (one.kind, one.text) == ("file", None)
    monkeypatch.setattr(sights, "TEXT_LIMIT_BYTES", 3)
    (one,) = seen(root, str(root / "a.txt"), text=True)
    assert one.text is None


def test_a_file_that_goes_in_between_has_no_text(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def gone(path: str, _: tuple[str, ...]) -> None:
        raise FileNotFoundError(path)

    monkeypatch.setattr(looking, "read", gone)
    (one,) = seen(root, str(root / "a.txt"), text=True)
    assert (one.kind, one.text) == ("file", None)
