"""Docstrings for Python text, added as whole lines so that every other byte stays.

Invariant: no I/O; what comes out is Python again, or ``Sorry`` is raised.
"""

from __future__ import annotations

import ast
import re

from acpls.demo.diffs import lines
from acpls.demo.files import Sorry

_MARK = "\ufeff"
_FIRST_LINES = re.compile(r"#!|#.*coding[:=]")


def documented(text: str, stem: str, function: str | None = None) -> str:
    """The text with a docstring for the module and for each function that has none.

    ``stem`` names the module; with ``function`` only that one function is looked at. Raises
    ``Sorry`` when the text is not Python, or when the function is not in it.
    """
    mark, body = (_MARK, text[1:]) if text.startswith(_MARK) else ("", text)
    tree = _parsed(body)
    rows = lines(body)
    ending = _ending(rows)
    functions = [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and function in {None, node.name}
    ]
    if function and not functions:
        raise Sorry(f"There is no function `{function}` in that file.")
    added: dict[int, str] = {}
    for node in functions:
        place = _place(node, rows)
        if place is not None and ast.get_docstring(node, clean=False) is None:
            row, indent = place
            added[row] = f'{indent}"""{_sentence(node)}"""{ending}'
    if function is None and ast.get_docstring(tree, clean=False) is None:
        row = sum(1 for line in rows[:2] if _FIRST_LINES.match(line))
        gap = ending if row < len(rows) and rows[row].strip() else ""
        names = [node.name for node in tree.body if isinstance(node, ast.FunctionDef)]
        title = _capital(stem) + (f": {_listed(names)}" if names else "")
        added[row] = f'"""{title}."""{ending}{gap}' + added.get(row, "")
    if rows and len(rows) in added and not rows[-1].endswith(("\n", "\r")):
        rows[-1] += ending
    after = "".join(added.get(row, "") + line for row, line in enumerate([*rows, ""]))
    _parsed(after)
    return mark + after


def _parsed(body: str) -> ast.Module:
    try:
        return ast.parse(body)
    except SyntaxError as error:
        raise Sorry(f"I do not understand line {error.lineno} of that file.") from None
    except ValueError:
        raise Sorry("That file is not Python.") from None


def _place(node: ast.FunctionDef | ast.AsyncFunctionDef, rows: list[str]) -> tuple[int, str] | None:
    first = node.body[0]
    decorators = getattr(first, "decorator_list", [])
    row = min([first.lineno, *(one.lineno for one in decorators)]) - 1
    indent = rows[row][: len(rows[row]) - len(rows[row].lstrip())]
    while row > node.lineno and rows[row - 1].strip()[:1] in {"", "#"}:
        row -= 1  # a docstring stands before the comments of the first statement
    # A body on the line of its ``def`` has no line of its own to stand before.
    return None if row < node.lineno or len(indent) != first.col_offset else (row, indent)


def _sentence(node: ast.FunctionDef | ast.AsyncFunctionDef) -> str:
    arguments = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
    names = [one.arg for one in arguments if one.arg not in {"self", "cls"}]
    return _capital(node.name) + (f" for {_listed(names)}" if names else "") + "."


def _capital(name: str) -> str:
    words = " ".join(name.split("_")).strip() or name
    return words[:1].upper() + words[1:]


def _listed(names: list[str]) -> str:
    return ", ".join(names[:-1]) + (" and " if names[1:] else "") + names[-1]


def _ending(rows: list[str]) -> str:
    found = re.search(r"[\r\n]+\Z", rows[0]) if rows else None
    return found[0] if found else "\n"
