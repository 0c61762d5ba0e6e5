"""Rules for permissions: what is allowed or refused without asking, and what is remembered."""

from acpls.permissions.book import Book
from acpls.permissions.judging import Verdict, judge
from acpls.permissions.places import Places, wanted
from acpls.permissions.remembered import SCOPES, Remembered, Scope, dump, load, remember
from acpls.permissions.request import CHANGING, Request, request_of

__all__ = [
    "CHANGING",
    "SCOPES",
    "Book",
    "Places",
    "Remembered",
    "Request",
    "Scope",
    "Verdict",
    "dump",
    "judge",
    "load",
    "remember",
    "request_of",
    "wanted",
]
