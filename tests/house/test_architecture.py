"""The house and its plan agree: docs/architecture.md, docs/decisions, the size of files."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "acpls"
ARCHITECTURE = ROOT / "docs" / "architecture.md"
DECISIONS = ROOT / "docs" / "decisions"
LINE_LIMIT = 400


def rooms() -> list[str]:
    """Packages and top-level modules; ``__init__`` and ``__main__`` hold nothing."""
    packages = [file.parent.name for file in SOURCE.glob("*/__init__.py")]
    modules = [file.stem for file in SOURCE.glob("*.py") if not file.stem.startswith("__")]
    return sorted(packages + modules)


def paragraphs() -> dict[str, str]:
    """The text below each heading of the form ``### `acpls.name` ``."""
    headings_and_texts = re.split(r"(?m)^### `acpls\.(\w+)`.*$", ARCHITECTURE.read_text("utf-8"))
    names, texts = headings_and_texts[1::2], headings_and_texts[2::2]
    below = (re.split(r"(?m)^#", text)[0].strip() for text in texts)
    return dict(zip(names, below, strict=True))


@pytest.mark.parametrize("room", rooms())
def test_each_room_is_described(room: str) -> None:
    text = paragraphs().get(room, "")
    assert len(text) > 100, f"docs/architecture.md says nothing about acpls.{room}"
    assert "Invariant" in text, f"docs/architecture.md names no invariant of acpls.{room}"


def test_no_room_is_described_that_is_not_there() -> None:
    assert set(paragraphs()) <= set(rooms())


@pytest.mark.parametrize(
    "file", sorted(SOURCE.rglob("*.py")), ids=lambda f: f.relative_to(SOURCE).as_posix()
)
def test_a_source_file_is_short_and_says_what_it_is_for(file: Path) -> None:
    text = file.read_text("utf-8")
    lines = text.count("\n")
    assert lines <= LINE_LIMIT
    assert ast.get_docstring(ast.parse(text))


def test_each_decision_is_linked_and_complete() -> None:
    notes = sorted(DECISIONS.glob("*.md"))
    assert [note.name[:4] for note in notes] == [f"{n:04}" for n in range(1, len(notes) + 1)]
    plan = ARCHITECTURE.read_text("utf-8")
    for note in notes:
        assert f"(decisions/{note.name})" in plan, f"{note.name} is not linked"
        headings = re.findall(r"^## (.+)$", note.read_text("utf-8"), flags=re.MULTILINE)
        assert headings == ["Context", "Decision", "Consequence"], note.name


@pytest.mark.parametrize("page", [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))])
def test_links_between_our_pages_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", page.read_text("utf-8")):
        assert (page.parent / target).exists(), f"{page.name} links to {target}"
