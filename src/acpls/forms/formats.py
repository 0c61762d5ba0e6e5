"""The formats of texts that a form may ask for. An unknown one is a remark, and fits always."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

_EMAIL: Final = re.compile(r'(?:"[^"\\\r\n]+"|[^\s"@]+)@[^\s@]+')
_URI: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:(?:[!#$&-;=?-Z\[\]_a-z~]|%[0-9A-Fa-f]{2})+")
_DATE: Final = r"([0-9]{4})-([0-9]{2})-([0-9]{2})"
_TIME: Final = (
    r"[Tt ]([0-9]{2}):([0-9]{2}):([0-9]{2})(?:\.[0-9]+)?"
    r"(?:[Zz]|[+-](?:[01][0-9]|2[0-3]):[0-5][0-9])"
)
_DAYS: Final = (31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)


@dataclass(frozen=True, slots=True)
class Format:
    """A format: how to tell it, and how to ask for it."""

    fits: Callable[[str], bool]
    words: str


def fits(name: str, text: str) -> bool:
    """Whether a text has this format."""
    known = KNOWN.get(name)
    return known is None or known.fits(text)


def _is_date(text: str) -> bool:
    found = re.fullmatch(_DATE, text)
    return found is not None and _is_day(*map(int, found.groups()))


def _is_date_time(text: str) -> bool:
    found = re.fullmatch(_DATE + _TIME, text)
    if found is None:
        return False
    year, month, day, hour, minute, second = map(int, found.groups())
    # There are seconds that are the 61st of their minute.
    return _is_day(year, month, day) and hour <= 23 and minute <= 59 and second <= 60


def _is_day(year: int, month: int, day: int) -> bool:
    leap = month == 2 and year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)
    return 1 <= month <= 12 and 1 <= day <= _DAYS[month - 1] + leap


KNOWN: Final[Mapping[str, Format]] = {
    "email": Format(lambda text: _EMAIL.fullmatch(text) is not None, "an e-mail address"),
    "uri": Format(
        lambda text: _URI.fullmatch(text) is not None, "a whole address, such as https://a.example"
    ),
    "date": Format(_is_date, "a date, such as 2026-05-01"),
    "date-time": Format(
        _is_date_time, "a time with its offset from UTC, such as 2026-05-01T12:30:00Z"
    ),
}
