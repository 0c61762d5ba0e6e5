"""Text from bytes and bytes from text: the one way for every file that is read or written.

A reason is what stands after the file's name in a sentence: ``is binary``.

Invariant: pure. A text that was decoded gives the same bytes when it is encoded again, and
one that was encoded gives the same text when it is decoded; what cannot be held to that is
refused with a reason. Bytes of a line do not depend on any other line.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final, Protocol

from acpls.text.encodings import (
    as_declared,
    as_meant,
    codec_named,
    declared,
    exact,
    guesses,
    has_high_controls,
    is_broken_utf_8,
    mark_of,
    sample,
)

BINARY: Final = "is binary"
"""The reason that a file is no text at all."""

UNKNOWN: Final = "is not UTF-8 text, and what else it is cannot be told"
"""The reason that a text was not decoded: nothing is declared and nothing fits."""

_MARK: Final = "\ufeff"
# UTF-32 stands before UTF-16, since its mark begins with that of UTF-16.
_MARKED = ("utf-8", "utf-32-le", "utf-32-be", "utf-16-le", "utf-16-be", "gb18030")
_CONTROLS = re.compile(rb"[\x00-\x07\x0e-\x19\x1c-\x1f\x7f]")
# Spaces and joiners of common scripts, which do not count as printable.
_SPACES = dict.fromkeys(map(ord, "\t\n\f\r\xa0\u200b\u200c\u200d\u200e\u200f\u3000"))
_UTF_16_BYTES = 8


class Standing(Protocol):
    """How a text stands in a file; ``acpls.events.Form`` and ``Decoded`` are such."""

    @property
    def encoding(self) -> str:
        """A name of Python's codecs without a mark of its own (``utf-16-le``)."""

    @property
    def bom(self) -> bool:
        """Whether the byte order mark stands before the text."""

    @property
    def guessed(self) -> bool:
        """Whether nothing declares the encoding, and it merely fits."""


@dataclass(frozen=True, slots=True)
class Decoded:
    """A text without its byte order mark, line endings as they are, and how it stood."""

    text: str
    encoding: str = "utf-8"
    bom: bool = False
    guessed: bool = False


# --- from bytes ----------------------------------------------------------------------


def decode(data: bytes, seen: Standing | None = None) -> Decoded | str:
    """The text of a file, or the reason why it cannot be read as text.

    In this order: a byte order mark; UTF-16 without one, where that is certain; UTF-8;
    what the first ``encodings.HEAD_BYTES`` (1 KiB) declare; and what fits
    ``encodings.SAMPLE_BYTES`` (64 KiB) of it best, which is ``guessed``. ``seen`` is how the
    same file stood when it was last looked at: as long as that fits, no new guess is made.
    Text in UTF-8 is UTF-8 whatever it declares; plain ASCII is in the declared encoding.
    """
    for encoding in _MARKED:
        mark = mark_of(encoding)
        if data.startswith(mark):
            text = exact(data[len(mark) :], encoding)
            if text is not None:
                return BINARY if "\0" in text else Decoded(text, encoding, bom=True)
            # What looks like this mark may be that of UTF-16 and a NUL.
            if encoding != "utf-32-le":
                return f"is marked as {encoding} and is not"
    if b"\0" in data:
        return _unmarked_utf_16(data, seen) or BINARY
    declares = declared(data)
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        return _legacy(data, declares, seen, error.start)
    if declares in {None, "utf-8"} or not data.isascii():
        return Decoded(text)
    found = as_declared(data, declares)
    return Decoded(*found) if found else Decoded(text, "ascii", guessed=True)


def decode_as(data: bytes, form: Standing) -> Decoded | str:
    """The text of bytes that are known to stand in this form, or the reason why they do not."""
    encoding = codec_named(form.encoding)
    mark = mark_of(encoding) if encoding and form.bom else b""
    text = exact(data[len(mark) :], encoding) if encoding and data.startswith(mark) else None
    if encoding is None or text is None:
        return f"is not text in the encoding {form.encoding}"
    return Decoded(text, encoding, bom=bool(mark), guessed=form.guessed)


def _unmarked_utf_16(data: bytes, seen: Standing | None) -> Decoded | None:
    """At least half of it is what Latin text has, and nothing what no text has."""
    fitting: dict[str, Decoded] = {}
    for encoding, high in (("utf-16-le", data[1::2]), ("utf-16-be", data[::2])):
        text = exact(data, encoding)
        if text is None or "\0" in text:
            continue
        fitting[encoding] = Decoded(text, encoding)
        latin = len(data) >= _UTF_16_BYTES and 2 * high.count(0) >= len(high)
        if latin and text.translate(_SPACES).isprintable():
            return fitting[encoding]
    return None if seen is None else fitting.get(seen.encoding)


def _legacy(data: bytes, declares: str | None, seen: Standing | None, broken: int) -> Decoded | str:
    found = as_declared(data, declares) if declares else None
    if found:
        return Decoded(*found)
    if _CONTROLS.search(data):
        return BINARY
    if seen is not None and not seen.encoding.startswith("utf-"):
        again = codec_named(seen.encoding)
        text = exact(data, again) if again else None
        if again is not None and text is not None:
            return Decoded(text, again, guessed=True)
    part = sample(data)
    if is_broken_utf_8(part):
        return f"has bytes that are not UTF-8, the first at offset {broken}"
    for encoding in guesses(part):
        text = exact(data, encoding)
        if text is not None and not has_high_controls(text):
            return Decoded(text, encoding, guessed=True)
    return UNKNOWN


# --- to bytes ------------------------------------------------------------------------


def encode(text: str, form: Standing, old: str = "") -> bytes | str:
    """The bytes of a file with this text, or the reason why it is not written.

    ``old`` is the text that the file has in this form now, with nothing else known to be in
    it: what the file has is taken as right. There is exactly one byte order mark where the
    form has it or a text for UTF-8, UTF-16 or UTF-32 brings it; only an old text that begins
    with another one keeps it. In a guessed encoding no character beyond ASCII is written
    that the old text does not have.
    """
    encoding = codec_named(form.encoding)
    if encoding is None:
        return _not_written(f"its encoding ({form.encoding}) is not known")
    bom = form.bom or (text.startswith(_MARK) and encoding.startswith("utf-"))
    if not old.startswith(_MARK):
        text = text.lstrip(_MARK)
    if "\0" in text:
        return _not_written("the text has a NUL character, and the file would be binary")
    new = set(text) - set(old) if form.guessed else set()
    for char in sorted(new, key=text.index):
        if not char.isascii():
            how = f"it is not known how to write {_named(char)} in it"
            return _not_written(f"nothing declares its encoding ({encoding}), so {how}")
    try:
        body = text.encode(encoding)
    except UnicodeEncodeError as error:
        return _not_held(text[error.start], encoding)
    if exact(body, encoding) != text and (lost := _changing(text, encoding)):
        return _not_held(lost, encoding)
    if not encoding.startswith("utf-") and not body.isascii():
        declares = declared(body)
        before = declared(old.encode(encoding, "replace"))
        if declares not in {None, before} and encoding not in as_meant(declares):
            return _not_written(f"it declares {declares}, and is in {encoding}")
    data = (mark_of(encoding) if bom else b"") + body
    again = decode(data, form)
    if isinstance(again, str) or again.text != text:
        return _not_written("it would not be read again as the same text")
    return data


def _changing(text: str, encoding: str) -> str | None:
    """The first character that becomes another one in the encoding."""
    return next(
        (c for c in text if c.encode(encoding, "replace").decode(encoding, "replace") != c), None
    )


def _not_held(char: str, encoding: str) -> str:
    if "\ud800" <= char <= "\udfff":
        return _not_written("the text has half of a surrogate pair, which no encoding can hold")
    return _not_written(f"its encoding ({encoding}) cannot hold {_named(char)}")


def _named(char: str) -> str:
    return f"{char!r} (U+{ord(char):04X})"


def _not_written(why: str) -> str:
    return f"was not written: {why}"
