"""What a scripted agent does to files by itself, without a word to the client."""

from __future__ import annotations

import stat
import sys
from typing import TYPE_CHECKING, Any

import pytest
from raw_client import INIT_1, INIT_2, Client, Json, both

from acpls.testing.script import ScriptError, check

if TYPE_CHECKING:
    from pathlib import Path


@both
def test_it_writes_files_in_any_way_and_is_silent(tmp_path: Path, init: Json) -> None:
    script = tmp_path / "run.sh"
    script.write_text("old")
    script.chmod(0o755)
    inode = script.stat().st_ino
    (tmp_path / "old.txt").write_text("moves\n")
    turn: list[Any] = [
        {"write": "latin.txt", "text": "é\r\n", "encoding": "latin-1", "via": "disk"},
        {"write": "bytes", "hex": "00ff", "via": "disk"},
        {"write": "run.sh", "text": "new", "renamed": True, "via": "disk"},
        {"write": "fresh.txt", "text": "new", "renamed": True, "via": "disk"},
        {"move": "old.txt", "to": "sub/new.txt"},
        {"chmod": "sub/new.txt", "bits": "640"},
        {"symlink": "link", "to": "sub/new.txt"},
        {"run": [sys.executable, "-c", "print(open('link').read())"], "into": "seen"},
    ]
    with Client({"turns": [[*turn, {"say": "{seen}"}]]}, tmp_path) as client:
        client.turn(init)
        assert client.told == []
        kinds = {update["sessionUpdate"] for update in client.updates}
        assert kinds <= {"agent_message_chunk", "user_message_chunk", "user_message"} | {
            "state_update"
        }
        assert client.text().strip() == "moves"
    assert (tmp_path / "latin.txt").read_bytes() == b"\xe9\r\n"
    assert (tmp_path / "bytes").read_bytes() == b"\0\xff"
    assert script.read_text() == "new"
    assert script.stat().st_ino != inode
    assert stat.S_IMODE(script.stat().st_mode) == 0o755
    assert (tmp_path / "fresh.txt").read_text() == "new"
    assert not (tmp_path / "old.txt").exists()
    assert stat.S_IMODE((tmp_path / "sub/new.txt").stat().st_mode) == 0o640
    assert (tmp_path / "link").is_symlink()


def test_several_files_in_one_diff(tmp_path: Path) -> None:
    """One content with one patch in ACP 2; ACP 1 has a content for each file."""
    files = [{"path": "a.txt", "old": "a\n", "new": "A\n"}, {"path": "b c.txt", "new": "b"}]
    script = {"turns": [[{"tool": "t", "content": [{"diff": files}, "said"]}]]}
    with Client(script, tmp_path) as client:
        client.turn(INIT_2)
        (diff, said) = client.of("tool_call_update")[0]["content"]
        assert [each["operation"] for each in diff["changes"]] == ["modify", "add"]
        assert diff["patch"]["text"].count("diff --git ") == 2
        assert said["type"] == "content"
    with Client(script, tmp_path) as client:
        client.turn(INIT_1)
        content = client.of("tool_call")[0]["content"]
        assert [item.get("path") for item in content[:2]] == [
            str(tmp_path / "a.txt"),
            str(tmp_path / "b c.txt"),
        ]


@pytest.mark.parametrize(
    ("step", "complaint"),
    [
        ({"move": "a", "bits": "755"}, "'move' takes no 'bits'"),
        ({"run": ["ls"], "via": "client"}, "'run' takes no 'via'"),
    ],
)
def test_wrong_deeds_are_refused(step: Json, complaint: str) -> None:
    with pytest.raises(ScriptError) as raised:
        check({"turns": [[step]]})
    assert complaint in str(raised.value)
