"""Lines for people to copy: commands for a shell, and tables for ``config.toml``."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

_WINDOWS = os.name == "nt"
_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")
_BARE_WORD = re.compile(r"[A-Za-z0-9_@%+=:,./-]+")
_BARE_WORD_WINDOWS = re.compile(r"[A-Za-z0-9_+=:./\\-]+")


def shell_line(argv: Sequence[str], *, windows: bool = _WINDOWS) -> str:
    """The words of a command as a line to type: for a POSIX shell, or for ``cmd``."""
    quote = _quoted_windows if windows else _quoted
    return " ".join(map(quote, argv))


def login_command(agent: str, method: str | None = None, *, windows: bool = _WINDOWS) -> str:
    """The line that logs in to an agent of the settings, by one of its methods."""
    argv = ["acpls", "login"]
    # What begins like an option would be taken for one.
    if agent.startswith("-") or (method or "").startswith("-"):
        argv.append("--")
    argv.append(agent)
    return shell_line(argv if method is None else [*argv, method], windows=windows)


def toml_table(name: str, entry: Mapping[str, object]) -> str:
    """The table ``[agents.NAME]`` of an entry, whose values are those of JSON but for ``null``.
    It ends with a newline.
    """
    table = f"agents.{_key(name)}"
    lines = [f"[{table}]"]
    lines += [f"{_key(key)} = {toml_value(value)}" for key, value in entry.items()]
    return "\n".join(lines) + "\n"


def toml_value(value: object) -> str:
    """A value of JSON, but for ``null``, as TOML has it on one line."""
    if isinstance(value, Mapping):
        pairs = ", ".join(f"{_key(key)} = {toml_value(part)}" for key, part in value.items())
        return f"{{ {pairs} }}" if pairs else "{}"
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(toml_value, value))}]"
    # JSON's strings, numbers and switches are TOML's, but for a character that TOML escapes.
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


def _quoted(word: str) -> str:
    if _BARE_WORD.fullmatch(word):
        return word
    return "'" + word.replace("'", "'\"'\"'") + "'"


def _quoted_windows(word: str) -> str:
    if _BARE_WORD_WINDOWS.fullmatch(word):
        return word
    # Backslashes count only before a quotation mark, also before the closing one.
    escaped = re.sub(r'(\\*)"', r'\1\1\\"', word)
    return '"' + re.sub(r"(\\+)$", r"\1\1", escaped) + '"'


def _key(name: str) -> str:
    return name if _BARE_KEY.fullmatch(name) else toml_value(name)
