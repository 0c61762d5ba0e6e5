"""What the user chose is there in the next run; every fault costs the choices at most (F07)."""

from __future__ import annotations

import json
import logging
import stat
from typing import TYPE_CHECKING, Any

import pytest

from acpls.client import choices
from acpls.client.choices import Choices

if TYPE_CHECKING:
    from pathlib import Path


def test_f07_a_choice_is_there_for_the_next_run(tmp_path: Path) -> None:
    file = tmp_path / "new" / "choices.json"
    assert Choices(file).load() == {}
    Choices(file).keep("follow", value=True)
    Choices(file).keep("other", [1])
    Choices(file).keep("follow", value=False)
    assert Choices(file).load() == {"follow": False, "other": [1]}
    assert [found.name for found in file.parent.iterdir()] == ["choices.json"]
    assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


@pytest.mark.parametrize("data", [b"", b"{", b"[]", b"\xff", b"null", b"[" * 100_000])
def test_a_broken_file_is_as_if_there_were_none(tmp_path: Path, data: bytes) -> None:
    file = tmp_path / "choices.json"
    file.write_bytes(data)
    assert Choices(file).load() == {}
    Choices(file).keep("follow", value=True)
    assert json.loads(file.read_text()) == {"follow": True}


def test_a_large_file_is_none_of_ours(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(choices, "LIMIT_BYTES", 20)
    file = tmp_path / "choices.json"
    file.write_text('{"follow": true}')
    assert Choices(file).load() == {"follow": True}
    file.write_text('{"follow": true, "x": 1}')
    assert Choices(file).load() == {}


def test_what_cannot_be_written_is_logged(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    (tmp_path / "file").write_text("")
    with caplog.at_level(logging.WARNING):
        Choices(tmp_path / "file" / "choices.json").keep("follow", value=True)
    assert "a choice cannot be kept" in caplog.text


def test_nothing_is_left_of_a_write_that_fails(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def full(*_: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(json, "dump", full)
    Choices(tmp_path / "choices.json").keep("follow", value=True)
    assert "No space left" in caplog.text
    assert list(tmp_path.iterdir()) == []
