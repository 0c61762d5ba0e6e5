"""Formatters that run when a document is saved: the editor's work, and nobody's edit."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from review_stage import CODE, listed, reject, review, silent, texts
from server_stage import both_versions, hunks_told, play

if TYPE_CHECKING:
    from pathlib import Path

    from server_stage import Seat

    from acpls.testing.frames import Json

pytestmark = pytest.mark.anyio

AFTER = "one\n2   \nthree\n"
READ: list[Any] = [{"read": "a.txt", "via": "client", "into": "text"}, {"say": "<{text}>"}]


def formatted(text: str) -> str:
    """What the formatter makes of a text: no blanks at the end of lines, and a last line."""
    return "".join(f"{line.rstrip()}\n" for line in text.split("\n")[:-1]).rstrip() + "\n# end\n"


def format_on_save(at: Seat) -> None:
    """The editor formats what the server has it save, as it does for its user."""

    def save(params: Json) -> Any:
        for uri in params["uris"]:
            format_now(at, uri)
        return at.save_asked(params["uris"])

    at.answer["acp/document/save"] = save


def format_now(at: Seat, uri: str) -> None:
    """What an editor does right before it saves."""
    text = at.text(uri)
    if "# end" not in text or " \n" in text:
        at.replace(uri, 0, len(text), formatted(text.replace("# end\n", "")))


async def test_d48_what_the_formatter_makes_of_it_is_the_editors(tmp_path: Path) -> None:
    """D48: the write succeeds, the next read gives the formatted text, and the agent's next
    exact edit fits; a reject takes back the agent's lines alone.
    """
    again = formatted(AFTER).replace("three", "3")
    turns: list[list[Any]] = [
        [{"write": "a.txt", "text": AFTER, "via": "client"}, *READ],
        [{"write": "a.txt", "text": again, "via": "client"}, *READ],
    ]
    async with review(tmp_path, *turns, version=1) as at:
        format_on_save(at)
        path = at.file("a.txt", CODE)
        uri = at.open(path)
        await play(at)
        assert at.said() == f"<{formatted(AFTER)}>"
        assert "error" not in at.answers_to()[0]
        assert path.read_text() == at.text(uri) == "one\n2\nthree\n# end\n"
        (hunk,) = await hunks_told(at, uri, 1)
        assert (hunk["baseText"], hunk["newText"]) == ("two\n", "2\n")
        # The user has typed nothing, so nothing is shared.
        assert "shared" not in hunk
        await play(at)
        assert at.said().endswith(f"<{again}>")
        (change,) = (await listed(at, 1)).values()
        assert texts(change) == [("two\nthree\n", "2\n3\n")]
        await reject(at, uri=uri)
        assert path.read_text() == at.text(uri) == "one\ntwo\nthree\n# end\n"
        assert await listed(at, 0) == {}


@both_versions
async def test_d48_the_users_own_save_formats_what_waits(tmp_path: Path, version: int) -> None:
    """D48: beside the hunks nothing of it is anybody's change; what it changes inside of one
    cannot be told from typing, and so is never taken back with it.
    """
    before = "one  \n\ntwo\nthree\nfour\nfive\n"
    after = "one  \n\n2   \nthree\n4\nfive\n"
    async with review(tmp_path, [silent("a.txt", after)], version=version) as at:
        path = at.file("a.txt", before)
        uri = at.open(path)
        await play(at)
        await at.until(lambda: at.text(uri) == after)
        format_now(at, uri)
        at.save(uri)
        whole = "one\n\n2\nthree\n4\nfive\n# end\n"
        assert path.read_text() == whole
        (change,) = await at.asked("acpls.review.list", {}, lambda c: "shared" in c[0]["hunks"][0])
        assert texts(change) == [("two\n", "2\n"), ("four\n", "4\n")]
        two, four = change["hunks"]
        assert [h.get("shared", False) for h in (two, four)] == [True, False]
        answer = await at.command("acpls.review.reject", {"uri": uri})
        assert answer == {
            "hunks": 1,
            "left": [{"hunk": two["hunk"], "reason": "you wrote into these lines"}],
        }
        assert path.read_text() == at.text(uri) == whole.replace("4\n", "four\n")
        diff = await at.command("acpls.review.diff", {"uri": uri})
        assert diff["base"] == "one\n\ntwo\nthree\nfour\nfive\n# end\n"
