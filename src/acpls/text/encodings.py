"""Encodings of files: which ones are known, what a file declares, and what merely fits.

Names are those of Python's codecs without a byte order mark of their own (``utf-16-le``).
Pure, and total: any bytes give an answer.
"""

from __future__ import annotations

import codecs
import re
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator

HEAD_BYTES: Final = 1024
"""How much of a file is searched for a declaration; Emacs and Vim count the first two lines."""

SAMPLE_BYTES: Final = 64 * 1024
"""How much of a file is looked at to guess: its first lines that are not plain ASCII."""

_MARK: Final = "\ufeff"
_TEXT_CODECS = re.compile(
    r"ascii|utf-8|utf-(?:16|32)-[lb]e|big5(?:hkscs)?|cp\d+|euc_\w+|gbk|gb2312|gb18030|hz"
    r"|iso2022_\w+|iso8859-\d+|johab|koi8-\w|kz1048|mac-\w+|ptcp154|shift_jis\w*|tis-620"
)
_EMACS_ENDINGS = re.compile(r"-(?:unix|dos|mac)$")
_OTHER_NAMES = {
    "iso-latin-1": "iso8859-1",
    "utf-8-emacs": "utf-8",
    "utf-8-sig": "utf-8",
    "utf-8-with-signature": "utf-8",
    "x-sjis": "shift_jis",
    "x-mac-roman": "mac-roman",
}
# What files in truth have that declare the narrow one; browsers read them so, too.
_WIDER = {
    "big5": "cp950",
    "euc_kr": "cp949",
    "gb2312": "gb18030",
    "gbk": "gb18030",
    "iso8859-1": "cp1252",
    "iso8859-9": "cp1254",
    "shift_jis": "cp932",
    "tis-620": "cp874",
}

# PEP 263; Emacs; Vim; and, in files that begin as such, XML, CSS and HTML.
_IN_LINES = (
    re.compile(rb"^[ \t\f]*#.*?coding[:=][ \t]*([-\w.]+)"),
    re.compile(rb"-\*-.*?\bcoding[ \t]*:[ \t]*([-\w.]+).*-\*-"),
    re.compile(rb"\b(?:vim?|ex):.*?\b(?:fileencoding|fenc)=([-\w.]+)"),
)
_AT_START = (
    re.compile(rb"<\?xml\b[^>]*?\bencoding[ \t]*=[ \t]*[\"']([-\w.:]+)"),
    re.compile(rb"@charset \"([-\w.:]+)\";"),
)
_IN_HTML = re.compile(rb"<meta\b[^>]*?\bcharset\s*=\s*[\"']?\s*([-\w.:]+)", re.IGNORECASE)

# Of encodings that fit equally well the earlier one is taken.
_SEVERAL_BYTES = ("gb18030", "cp932", "euc_jp", "cp949", "big5hkscs", "cp950")
_ONE_BYTE = (
    *("cp1252", "cp1251", "koi8_r", "cp1250", "cp1253", "cp1254", "cp1255", "cp1256", "cp1257"),
    *("cp874", "cp866", "cp850", "mac_roman", "iso8859_2"),
)
_HIGH = re.compile(rb"[\x80-\xff]+")
# What texts of western Europe have beyond ASCII in cp1252, almost always one by one.
_WESTERN = re.compile(rb"[\x80\x82\x84\x85\x89-\x8c\x8e\x91-\x97\x99-\x9c\x9e-\xff]+")
_JAPANESE = ("cp932", "euc_jp")
# Japanese is never without it, and what is taken for Japanese never has so much.
_KANA = re.compile("[\u3041-\u30fe]+")
_NOT_ASCII = re.compile("[^\x00-\x7f]+")
# No character of several bytes goes on with one of these.
_WHOLE = re.compile(rb".*[\x00-\x2f]", re.DOTALL)
_CONTROLS_HIGH = re.compile("[\x80-\x9f]")


def codec_named(name: str) -> str | None:
    """The name that Python has for an encoding of text files, however it is declared."""
    plain = _EMACS_ENDINGS.sub("", name.strip().lower())
    plain = _OTHER_NAMES.get(plain, plain).replace("windows-", "cp")
    try:
        found = codecs.lookup(plain).name
    except (LookupError, ValueError):
        return None
    return found if _TEXT_CODECS.fullmatch(found) else None


def mark_of(encoding: str) -> bytes:
    """The byte order mark in an encoding, ``b""`` where it has none."""
    try:
        return _MARK.encode(encoding)
    except UnicodeEncodeError:
        return b""


def exact(data: bytes, encoding: str) -> str | None:
    """The text that stands for these bytes and for no others, if there is one."""
    try:
        text = data.decode(encoding)
        same = encoding == "utf-8" or text.encode(encoding) == data
    except UnicodeError:
        return None
    return text if same else None


def declared(data: bytes) -> str | None:
    """The encoding that the first ``HEAD_BYTES`` declare, if it can be the one they are in."""
    head = data[:HEAD_BYTES]
    start = head.lstrip()
    found = [pattern.match(start) for pattern in _AT_START]
    found += [pattern.search(line) for line in head.splitlines()[:2] for pattern in _IN_LINES]
    if start.startswith(b"<"):
        found.append(_IN_HTML.search(start))
    for match in filter(None, found):
        encoding = codec_named(match[1].decode("ascii"))
        # An encoding in which the declaration cannot be read is not the file's.
        if encoding and match[0].decode(encoding, "replace") == match[0].decode("latin-1"):
            return encoding
    return None


def as_meant(encoding: str) -> tuple[str, ...]:
    """The encodings that may be meant where this one is declared."""
    return (encoding, _WIDER[encoding]) if encoding in _WIDER else (encoding,)


def as_declared(data: bytes, encoding: str) -> tuple[str, str] | None:
    """The text in the declared encoding, or in the wider one that is meant by it, which is
    told as well; ``None`` where it is neither.
    """
    fitting = [
        (has_high_controls(text), text, one)
        for one in as_meant(encoding)
        if (text := exact(data, one)) is not None
    ]
    if not fitting:
        return None
    _, text, one = min(fitting, key=lambda fit: fit[0])
    return text, one


def has_high_controls(text: str) -> bool:
    """Whether there are control characters that nobody uses, so that the encoding is wrong."""
    return _CONTROLS_HIGH.search(text) is not None


def sample(data: bytes) -> bytes:
    """The first lines that are not plain ASCII, at most ``SAMPLE_BYTES``."""
    lines: list[bytes] = []
    left = SAMPLE_BYTES
    for line in data.splitlines(keepends=True):
        if not line.isascii():
            lines.append(line[:left])
            left -= len(line)
            if left <= 0:
                break
    part = b"".join(lines)
    cut = _WHOLE.match(part) if left < 0 else None
    return cut[0] if cut else part


def is_broken_utf_8(part: bytes) -> bool:
    """Whether bytes that are not UTF-8 hold so much of it that nothing else is meant."""
    text = part.decode("utf-8", "surrogateescape")
    broken = sum("\udc80" <= char <= "\udcff" for char in text)
    return len(text) - sum(map(str.isascii, text)) - broken > broken


def guesses(part: bytes) -> Iterator[str]:
    """The encodings in which a sample makes sense, the likeliest first."""
    # Loading it takes longer than reading most files does.
    from charset_normalizer import from_bytes  # noqa: PLC0415  only for the rare file

    western = _looks_western(part)
    first, second = (_ONE_BYTE, _SEVERAL_BYTES) if western else (_SEVERAL_BYTES, _ONE_BYTE)
    order = [*first, *second]
    found = [
        (
            round(match.chaos, 1),
            not (name in _JAPANESE and _looks_japanese(str(match))),
            name in second,
            -round(match.coherence, 1),
            order.index(name),
        )
        for match in from_bytes(part, cp_isolation=order, preemptive_behaviour=False)
        for name in {match.encoding, *match.could_be_from_charset}.intersection(order)
    ]
    for *_, place in sorted(found):
        yield codecs.lookup(order[place]).name


def _looks_japanese(text: str) -> bool:
    return 3 * sum(map(len, _KANA.findall(text))) >= sum(map(len, _NOT_ASCII.findall(text)))


def _looks_western(part: bytes) -> bool:
    runs = _HIGH.findall(part)
    alone = sum(len(run) == 1 for run in runs)
    return 2 * alone > len(runs) and all(map(_WESTERN.fullmatch, runs))
