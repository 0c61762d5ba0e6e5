"""The main job: the played session against the real server, as a new user runs it."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from acpls.demo.account import Account, unified

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.timeout(90)


def demo(*arguments: str, config: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "acpls", "demo", *arguments]
    environment = {"XDG_CONFIG_HOME": str(config), "PATH": "", "COLUMNS": "100"}
    return subprocess.run(
        command, capture_output=True, text=True, timeout=80, check=False, env=environment
    )


@pytest.mark.parametrize("protocol", ["1", "2"])
def test_the_session_is_played_to_its_end(protocol: str, tmp_path: Path) -> None:
    done = demo("--protocol", protocol, config=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"speaks version {protocol} of ACP" in done.stdout
    for line in (
        "you > rename steep_time to brewing_time",
        "? Rename steep_time to brewing_time (10 places in 5 files)",
        "keep in src/teas.py",
        "reject in src/teas.py",
        "+# Mine, and not saved yet.",
        "+def brewing_time(tea, cups=1):",
        "✓ a long turn is stopped",
    ):
        assert line in done.stdout
    rejected = "+    return max(TEAS, key=lambda tea: brewing_time(tea))"
    assert rejected not in done.stdout.partition("What is different now")[2]
    assert "✗" not in done.stdout
    assert done.stderr == ""


def test_an_agent_that_is_not_configured_is_named(tmp_path: Path) -> None:
    done = demo("--agent", "nobody", config=tmp_path)
    assert done.returncode != 0
    assert "no agent 'nobody'" in done.stderr


def test_an_agent_that_cannot_play_makes_it_fail(tmp_path: Path) -> None:
    folder = tmp_path / "acpls"
    folder.mkdir()
    (folder / "config.toml").write_text('[agents.broken]\ncommand = "no-such-program"\n')
    done = demo("--agent", "broken", config=tmp_path)
    assert done.returncode == 1
    assert "no-such-program" in done.stdout
    assert "✗ the answer streams in" in done.stdout
    assert "Traceback" not in done.stdout + done.stderr


def test_what_did_not_happen_is_counted(capsys: pytest.CaptureFixture[str]) -> None:
    account = Account()
    account.expect("one", "two")
    account.happened("one")
    assert account.close() == 1
    account.happened("two")
    assert account.close() == 0
    assert "1 did not happen" in capsys.readouterr().out


def test_a_diff_of_equal_texts_is_empty() -> None:
    assert unified("a", "one\n", "one\n") == ""
    assert "+two\n" in unified("a", "one\n", "one\ntwo")
