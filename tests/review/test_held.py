"""What a file holds, as the review sees it."""

from __future__ import annotations

import pytest

from acpls.events import Disk, Form
from acpls.review.held import NO_FILE, UNKNOWN, Held, of_disk, of_text
from acpls.text.size import LONGEST_LINE

WIDE = Form("utf-16-le", bom=True)
OPAQUE = Held(content="1", opaque="the file is binary")


def test_no_file_is_not_an_empty_one() -> None:
    assert NO_FILE.is_missing
    assert of_text(None) is NO_FILE
    assert not of_text("").is_missing
    assert not OPAQUE.is_missing
    assert not UNKNOWN.is_missing


@pytest.mark.parametrize(
    ("one", "other", "alike"),
    [
        # Where both were seen, the bytes decide.
        (Held("a", content="1"), Held("a", WIDE, "1"), True),
        (Held("a", content="1"), Held("a", content="2"), False),
        # Else the text does, with all that makes its bytes.
        (Held("a", content="1"), of_text("a"), True),
        (Held("a", content="1"), of_text("b"), False),
        (Held("a", Form(mode=0o755)), Held("a", Form(mode=0o644)), True),
        (Held("a", WIDE), of_text("a"), False),
        (Held("a", Form(bom=True)), of_text("a"), False),
        (NO_FILE, NO_FILE, True),
        (NO_FILE, of_text(""), False),
        # What is not shown is like nothing that nobody has seen.
        (OPAQUE, Held(content="1", opaque="else"), True),
        (OPAQUE, of_text("a"), False),
        (OPAQUE, NO_FILE, False),
        (UNKNOWN, NO_FILE, False),
        (UNKNOWN, UNKNOWN, False),
    ],
)
def test_files_are_compared_as_far_as_they_are_known(
    one: Held, other: Held, *, alike: bool
) -> None:
    assert one.is_like(other) is alike
    assert other.is_like(one) is alike


def test_another_text_of_the_same_file_was_seen_by_nobody() -> None:
    assert Held("a", WIDE, "1").with_text("b", WIDE) == Held("b", WIDE)


# --- as it was read -------------------------------------------------------------------------


def test_a_text_that_was_read() -> None:
    disk = Disk("/ws/a", "one\n", form=WIDE, content="1")
    assert of_disk(disk) == Held("one\n", WIDE, "1")
    assert of_disk(Disk("/ws/a", None)) is NO_FILE


def test_a_file_that_was_not_read_is_not_known() -> None:
    assert of_disk(Disk("/ws/a", None, "cannot be read: permission denied")) is None


def test_a_file_that_is_no_text_has_its_bytes_only() -> None:
    form = Form(mode=0o755)
    disk = Disk("/ws/a", None, "is binary", form=form, content="1")
    assert of_disk(disk) == Held(None, form, "1", "the file is binary")


def test_a_text_that_is_too_large_is_one_whole() -> None:
    disk = Disk("/ws/a", "x" * (LONGEST_LINE + 1), content="1")
    held = of_disk(disk)
    assert held == Held(None, content="1", opaque=f"line 1 has more than {LONGEST_LINE} characters")
