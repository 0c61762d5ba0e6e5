"""Scenarios of bytes: what no hunk touches is the same afterwards, however it is written."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from scenarios_edits import KEEP, REJECT
from sitting import Scenario

if TYPE_CHECKING:
    from sitting import Sitting

# The agent changes the second line and the last but one.
_LINES: Final = ["first", "sécond", "third", "fourth", "fïfth", "sixth"]
_EDITED: Final = ["first", "SÉCOND", "third", "fourth", "FÏFTH", "sixth"]
_KEPT: Final = ["first", "SÉCOND", "third", "fourth", "fïfth", "sixth"]


def _crlf(lines: list[str]) -> bytes:
    return "".join(f"{line}\r\n" for line in lines).encode()


def _bom(lines: list[str]) -> bytes:
    return b"\xef\xbb\xbf" + "".join(f"{line}\n" for line in lines).encode()


def _no_end(lines: list[str]) -> bytes:
    return "\n".join(lines).encode()


def _latin(lines: list[str]) -> bytes:
    return "".join(f"{line}\n" for line in lines).encode("latin-1")


def _mixed(lines: list[str]) -> bytes:
    ends = ["\n", "\r\n", "\n", "\r\n", "\n", "\r\n"]
    return "".join(line + end for line, end in zip(lines, ends, strict=True)).encode()


def _utf16(lines: list[str]) -> bytes:
    return b"\xff\xfe" + "".join(f"{line}\n" for line in lines).encode("utf-16-le")


FORMS: Final = {
    "crlf.md": _crlf,
    "bom.md": _bom,
    "no-end.md": _no_end,
    "latin.md": _latin,
    "mixed.md": _mixed,
    "utf16.md": _utf16,
}


def _never_open(s: Sitting) -> None:
    """D25, D30, D32: line endings, marks and encodings stay what they are."""
    s.prompt()
    s.waits(2 * len(FORMS))
    for name in FORMS:
        one, other = s.pending(name)
        s.tap.command("acpls.review.reject", {"hunk": other["hunk"]})
        s.tap.command("acpls.review.keep", {"hunk": one["hunk"]})
    s.waits(0)
    for name, form in FORMS.items():
        assert s.bytes(name) == form(_KEPT), name


def _open(s: Sitting) -> None:
    """D25, D30, D32: the same by way of the editor, and after its own save."""
    for name in FORMS:
        s.hands.open(name)
    s.prompt()
    s.waits(2 * len(FORMS))
    for name, form in FORMS.items():
        s.hands.open(name)
        s.until(lambda: "SÉCOND" in s.hands.text(), "what the agent wrote")
        s.hands.act(2, KEEP)
        s.waits(1, name)
        s.hands.act(5, REJECT)
        s.waits(0, name)
        s.until(lambda: "fïfth" in s.hands.text(), "what is kept")
        assert s.bytes(name) == form(_KEPT), name
        assert s.hands.save() == ("refused" if s.hands.name == "helix" else "written")
        # Both end the last line of a file, if the user does not say otherwise.
        end = b"\n" if name == "no-end.md" else b""
        assert s.bytes(name) == form(_KEPT) + end, name


def _turn() -> list[Any]:
    return [{"write": name, "hex": form(_EDITED).hex()} for name, form in FORMS.items()]


_FILES = {"a.md": b"a\n", **{name: form(_LINES) for name, form in FORMS.items()}}
BYTES = [
    Scenario("bytes_of_files_that_are_never_open", _never_open, [_turn()], _FILES),
    Scenario("bytes_of_open_files", _open, [_turn()], _FILES),
]
