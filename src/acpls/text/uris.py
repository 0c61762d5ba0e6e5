r"""Paths and ``file:`` URIs (RFC 8089): those of every platform, on every platform.

Editors spell one document in several ways: ``file:///c%3A/x`` and ``file:///C:/x``. What
goes back to an editor should be the URI that it sent; ``same`` tells whether two are one.

Invariant: ``to_path(from_path(path)) == path`` for absolute paths.
"""

from __future__ import annotations

import re
from urllib.parse import quote, unquote_to_bytes


def from_path(path: str) -> str:
    r"""The URI of an absolute path: ``/x``, ``C:\x`` or ``C:/x``, ``\\server\share``.

    Bytes that are not UTF-8, as Python keeps them in paths, stay what they are. Of a
    relative path this makes no proper URI, but one that leads back to it.
    """
    path = _VERBATIM.sub(lambda found: "\\\\" if found[1] else "", path)
    if _DRIVE.match(path):
        return f"file:///{path[:2]}{_quoted(_slashes(path[2:]))}"
    if path.startswith("\\\\"):
        return f"file:{_quoted(_slashes(path))}"
    return f"file:{'//' if path.startswith('/') else ''}{_quoted(path)}"


def to_path(uri: str) -> str | None:
    """The path of a ``file:`` URI, ``None`` of any other.

    Paths with a drive or a host come with backslashes. Query and fragment are left out.
    """
    found = _FILE.match(uri)
    if not found:
        return None
    host, path = _unquoted(found[1] or ""), _unquoted(found[2])
    if _DRIVE.match(f"{host}/"):
        # Two slashes where three belong are common: file://C:/x.
        return host + _backslashes(path)
    if host and host.lower() != "localhost":
        return "\\\\" + host + _backslashes(path)
    if _DRIVE.match(path.removeprefix("/")):
        return _backslashes(path.removeprefix("/"))
    return path or None


def normal(uri: str) -> str:
    """The one spelling of all the URIs that are ``same``; also a good URI itself."""
    path = to_path(uri)
    if path is not None:
        return from_path(_CASELESS.sub(lambda found: found[0].lower(), path))
    scheme, colon, rest = uri.partition(":")
    return scheme.lower() + colon + _ENCODED.sub(_respelled, rest)


def same(a: str, b: str) -> bool:
    """Whether two URIs name one document, however they are spelled."""
    return a == b or normal(a) == normal(b)


_VERBATIM = re.compile(r"^\\\\\?\\(UNC\\)?", re.IGNORECASE)
_DRIVE = re.compile(r"^[A-Za-z]:[\\/]")
_FILE = re.compile(r"^file:(?://([^/?#]*))?([^?#]*)", re.IGNORECASE)
# What case does not matter in: a drive, a host.
_CASELESS = re.compile(r"^(?:[A-Za-z]:(?=\\)|\\\\[^\\]*)")
_ENCODED = re.compile(r"%[0-9A-Fa-f]{2}|[^!-~]")
# What stands in a path as itself. Editors differ in which of it they encode.
_PLAIN = re.compile(r"[A-Za-z0-9._~:@!$&'()*+,;=-]")


def _slashes(path: str) -> str:
    return path.replace("\\", "/")


def _backslashes(path: str) -> str:
    return path.replace("/", "\\")


def _bytes(text: str) -> bytes:
    try:
        return text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        # A lone half of a character is no byte of a path; it must not stop us either.
        return text.encode("utf-8", "surrogatepass")


def _quoted(text: str) -> str:
    return quote(_bytes(text), safe="/")


def _unquoted(text: str) -> str:
    return unquote_to_bytes(_bytes(text)).decode("utf-8", "surrogateescape")


def _respelled(found: re.Match[str]) -> str:
    if len(found[0]) == 1:
        return _quoted(found[0])
    character = chr(int(found[0][1:], 16))
    return character if _PLAIN.fullmatch(character) else found[0].upper()
