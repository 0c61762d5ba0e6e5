"""What is known of single editors; short lines and titles."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lsprotocol import types

from acpls.lsp.quirks import Quirks, quirks_of, unknown
from acpls.lsp.spelling import Spelling
from acpls.lsp.wording import TITLE_LIMIT, distinct, short

VS_CODE = Quirks(gentle_dialogs=True, gentle_show=True, reloads=True, deletes=True, renames=True)
NEOVIM = Quirks(deletes=True, renames=True, versions=True, message_limit=57)
HELIX = Quirks(show_document=True, reorders_changes=True, renames=True)


def quirks(name: str | None, **forced: bool) -> Quirks:
    info = None if name is None else types.ClientInfo(name)
    return quirks_of(types.InitializeParams(types.ClientCapabilities(), client_info=info), forced)


@pytest.mark.parametrize(
    ("name", "known"),
    [
        ("Visual Studio Code", VS_CODE),
        ("code-server", VS_CODE),
        ("helix", HELIX),
        ("Neovim", NEOVIM),
        ("Eglot", Quirks(stale_edits=False)),
        ("HELIX", Quirks()),
        (None, Quirks()),
    ],
)
def test_what_is_known_of_an_editor(name: str | None, known: Quirks) -> None:
    assert quirks(name) == known


def test_the_user_overrides_by_name() -> None:
    assert quirks("helix", showDocument=False, reordersChanges=False) == Quirks(
        show_document=False, renames=True
    )
    assert quirks(None, gentleDialogs=True, showDocument=True) == Quirks(
        gentle_dialogs=True, show_document=True
    )
    assert quirks("code-server", gentleDialogs=False, nonsense=True) == replace(
        VS_CODE, gentle_dialogs=False
    )
    assert quirks("Eglot", reloads=True, deletes=True, renames=True) == Quirks(
        reloads=True, deletes=True, renames=True, stale_edits=False
    )
    assert quirks("Eglot", staleEdits=True) == Quirks()
    assert quirks("code-server", reloads=False, deletes=False, renames=False) == Quirks(
        gentle_dialogs=True, gentle_show=True
    )
    assert quirks("Neovim", gentleShow=True) == replace(NEOVIM, gentle_show=True)


def test_names_that_mean_nothing_are_told() -> None:
    assert unknown({"gentleDialogs": True}) == []
    (line,) = unknown({"gentleDialog": True, "showDocument": False})
    assert '"client.gentleDialog"' in line
    assert "gentleDialogs" in line.split(";")[1]


# --- words -----------------------------------------------------------------------------------


@given(st.text(max_size=200))
def test_a_short_line_is_one_and_says_as_much_as_it_can(text: str) -> None:
    line = short(text)
    assert len(line) <= TITLE_LIMIT
    assert line.isprintable()
    assert short(line) == line
    if len(text) <= TITLE_LIMIT and text.isprintable() and text == " ".join(text.split()):
        assert line == text


@given(st.lists(st.sampled_from(["", "a", "a (2)", "a\n", "b" * 80, "b" * 81, "b" * 200])))
def test_distinct_titles_are_short_in_order_and_differ(titles: list[str]) -> None:
    lines = distinct(titles)
    assert len(lines) == len(set(lines)) == len(titles)
    for line, title in zip(lines, titles, strict=True):
        assert len(line) <= TITLE_LIMIT
        assert line[:1] in {short(title)[:1], " ", "("} | {""}


def test_a_title_that_is_alone_stays_as_it_is() -> None:
    assert distinct(["Yes", "No", "Yes", "Yes"]) == ["Yes", "No", "Yes (2)", "Yes (3)"]


# --- URIs ------------------------------------------------------------------------------------


def test_a_document_keeps_the_spelling_that_the_editor_gave_it() -> None:
    spelling = Spelling()
    assert spelling.ours("file:///a%20b/@c") == "file:///a%20b/%40c"
    assert spelling.theirs("file:///a%20b/%40c") == "file:///a%20b/%40c"
    assert spelling.opened("file:///a%20b/@c") == "file:///a%20b/%40c"
    assert spelling.theirs("file:///a%20b/%40c") == "file:///a%20b/@c"
    assert spelling.opened("untitled:A@b") == "untitled:A@b"
    assert spelling.theirs("untitled:A@b") == "untitled:A@b"
