"""Paths and URIs: there and back, and equal however an editor spells them."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from acpls.text.uris import from_path, normal, same, to_path

# No lone surrogates but those by which Python keeps bytes that are not UTF-8.
characters = st.characters(exclude_categories=["Cs"], exclude_characters="\\/") | st.sampled_from(
    [" ", "%", "#", "?", ":", "é", "漢", "🙂", "%20", "\udc80", "\n"]
)
names = st.lists(characters, min_size=1, max_size=8).map("".join)
hosts = st.text("abcdef123.-$", min_size=1, max_size=8)
drives = st.sampled_from(["C:\\", "c:\\", "Z:\\"])
posix_paths = st.lists(names | st.just("back\\slash"), max_size=4).map(lambda n: "/" + "/".join(n))
windows_paths = st.builds(
    lambda drive, n: drive + "\\".join(n), drives, st.lists(names, max_size=4)
)
unc_paths = st.builds(
    lambda host, n: "\\\\" + "\\".join([host, *n]), hosts, st.lists(names, min_size=1, max_size=4)
)
paths = (
    posix_paths.filter(lambda path: path[2:3] != ":" or path[3:4] not in ("/", "\\"))
    | windows_paths
    | unc_paths
)


@pytest.mark.parametrize(
    ("path", "uri"),
    [
        ("/", "file:///"),
        ("/a/b.py", "file:///a/b.py"),
        ("/a b/é#1?.py", "file:///a%20b/%C3%A9%231%3F.py"),
        ("/100%/a%20b", "file:///100%25/a%2520b"),
        ("/a\\b", "file:///a%5Cb"),
        ("/a:b/~c", "file:///a%3Ab/~c"),
        ("//a/b", "file:////a/b"),
        ("/not-utf-8-\udcff", "file:///not-utf-8-%FF"),
        ("C:\\a b\\c", "file:///C:/a%20b/c"),
        ("c:\\", "file:///c:/"),
        ("\\\\server\\share\\a b", "file://server/share/a%20b"),
        ("\\\\wsl$\\Debian\\x", "file://wsl%24/Debian/x"),
        ("a/b", "file:a/b"),
    ],
)
def test_a_path_and_its_uri(path: str, uri: str) -> None:
    assert from_path(path) == uri
    assert to_path(uri) == path


@pytest.mark.parametrize(
    ("path", "uri"),
    [
        ("C:/a/b", "file:///C:/a/b"),
        ("\\\\?\\C:\\a", "file:///C:/a"),
        ("\\\\?\\UNC\\server\\share", "file://server/share"),
        ("/half-\ud83d", "file:///half-%ED%A0%BD"),
        ("", "file:"),
    ],
)
def test_paths_that_have_another_spelling(path: str, uri: str) -> None:
    assert from_path(path) == uri


@pytest.mark.parametrize(
    ("uri", "path"),
    [
        ("file:///c%3A/x%20y", "c:\\x y"),
        ("file:///c%3a/x", "c:\\x"),
        ("file:///c:\\x", "c:\\x"),
        ("file://C:/x", "C:\\x"),
        ("file:C:/x", "C:\\x"),
        ("file://localhost/a", "/a"),
        ("file://LocalHost/a", "/a"),
        ("file:/a", "/a"),
        ("FILE:///a", "/a"),
        ("file:///a#L10", "/a"),
        ("file:///a?x=1#L10", "/a"),
        ("file:///é 漢", "/é 漢"),
        ("file:///bad%zz%4", "/bad%zz%4"),
        ("file:///half-\ud83d", "/half-\udced\udca0\udcbd"),
        ("file:///c:", "/c:"),
        ("file:", None),
        ("file://", None),
        ("file://server", "\\\\server"),
        ("untitled:Untitled-1", None),
        ("https://x/y", None),
        ("/a/b", None),
        ("files:///a", None),
        ("", None),
    ],
)
def test_what_editors_and_agents_send(uri: str, path: str | None) -> None:
    assert to_path(uri) == path


@settings(deadline=None)
@given(paths)
def test_there_and_back(path: str) -> None:
    uri = from_path(path)
    assert to_path(uri) == path
    assert uri.isascii()
    assert normal(uri) == normal(normal(uri))


@settings(deadline=None)
@given(paths, st.data())
def test_encoding_more_or_less_is_the_same(path: str, data: st.DataObject) -> None:
    uri = from_path(path)

    def spelled(found: re.Match[str]) -> str:
        if not data.draw(st.booleans()):
            return found[0]
        return found[0].lower() if len(found[0]) > 1 else f"%{ord(found[0]):02x}"

    other = "file://" + re.sub(r"%[0-9A-F]{2}|[^/]", spelled, uri.removeprefix("file://"))
    assert same(uri, other)
    assert to_path(other) == path


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("file:///c%3A/x", "file:///c:/x"),
        ("file:///C:/x", "file:///c%3a/x"),
        ("file://c:/x", "file:///c:/x"),
        ("file://Server/share/A", "file://server/share/A"),
        ("file:///a%28b%29", "file:///a(b)"),
        ("file:///%C3%A9", "file:///é"),
        ("file:///%c3%a9", "file:///%C3%A9"),
        ("file://localhost/a", "file:///a"),
        ("untitled:a%3Ab", "Untitled:a:b"),
        ("acp:/session/%41%2fx é", "acp:/session/A%2Fx%20%C3%A9"),
        ("no scheme", "no scheme"),
    ],
)
def test_spellings_of_one_document(a: str, b: str) -> None:
    assert same(a, b)
    assert normal(a) == normal(b)


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("file:///a", "file:///A"),
        ("file:///a", "file:///a/"),
        ("file:///C:/x", "file:///C:/X"),
        ("file://server/a", "file:///a"),
        ("acp:/a%2Fb", "acp:/a/b"),
        ("acp:/a%23b", "acp:/a#b"),
        ("acp:/A", "acp:/a"),
        ("untitled:a", "file:a"),
        ("x", "y"),
    ],
)
def test_different_documents(a: str, b: str) -> None:
    assert not same(a, b)


@settings(deadline=None)
@given(st.text(max_size=20), st.sampled_from(["", "file:", "file://", "file:///", "acp:"]))
def test_no_text_is_too_odd(text: str, start: str) -> None:
    uri = start + text
    assert normal(normal(uri)) == normal(uri)
    assert same(uri, normal(uri))
    path = to_path(uri)
    assert path is None or same(from_path(path), uri)
