"""Keeps secrets out of what is shown: values of variables, tokens in arguments, the home folder.

Invariant: a value that was given to an agent under the name of a secret is never shown.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from acpls.settings import AgentSpec

HIDDEN: Final = "***"
_SECRET_NAME: Final = re.compile(
    r"key|token|secret|passw|passphrase|credential|auth|bearer|cookie|pat$", re.IGNORECASE
)
_SECRET_VALUE: Final = re.compile(
    r"\b(?:sk-|gh[opsur]_|github_pat_|glpat-|xox[a-z]-|AIza|AKIA|hf_|pypi-|npm_|eyJ)"
    r"[A-Za-z0-9_.-]{8,}"
)
_BEARER: Final = re.compile(r"(?i)\b(bearer|basic)\s+[A-Za-z0-9._~+/=-]{8,}")
_USER_IN_URL: Final = re.compile(r"(\b[a-z][a-z0-9+.-]*://)[^\s/@]+@")
_ASSIGNED: Final = re.compile(
    r"""(?P<name>[A-Za-z_][\w.-]*)(?P<sign>["']?\s*[=:](?!//)\s*["']?)(?P<value>[^\s&,;"']+)"""
)
_HEADER: Final = re.compile(r"(?P<name>[A-Za-z][\w-]*)(?P<sign>:\s*)(?P<value>.+)", re.DOTALL)
# Shorter ones are words such as "1" and "true", which would be hidden everywhere.
_MIN_SECRET: Final = 6


class Hiding:
    """Hides what one agent was given, and what looks like a secret of anybody's."""

    def __init__(self, spec: AgentSpec | None = None, home: str | None = None) -> None:
        given = {} if spec is None else dict(spec.env)
        for server in () if spec is None else spec.mcp_servers:
            given |= {f"{server.name} {name}": value for name, value in server.env}
            given |= {f"{server.name} {name}": value for name, value in server.headers}
        secrets = {value for value in given.values() if len(value) >= _MIN_SECRET}
        secrets |= set(_secrets_of(os.environ))
        if spec is not None:
            secrets |= {word for word in _hidden_words(spec.args) if len(word) >= _MIN_SECRET}
        # The longest first, since one may be a part of another.
        self._secrets = sorted(secrets, key=len, reverse=True)
        self._home = str(Path.home()) if home is None else home

    def text(self, text: str) -> str:
        """A text of anybody's without secrets."""
        for secret in self._secrets:
            text = text.replace(secret, HIDDEN)
        text = _SECRET_VALUE.sub(HIDDEN, text)
        text = _BEARER.sub(rf"\1 {HIDDEN}", text)
        text = _USER_IN_URL.sub(rf"\1{HIDDEN}@", text)
        text = _ASSIGNED.sub(_without_value, text)
        return self.path(text)

    def path(self, text: str) -> str:
        """A path, or a text with paths, with ``~`` for the home folder."""
        if len(self._home) < 2:
            return text
        ends = r"(?=[/\\\s:;,'\")\]]|$)"
        return re.sub(rf"(?<![\w/\\.]){re.escape(self._home)}{ends}", "~", text)

    def args(self, args: Sequence[str]) -> list[str]:
        """Arguments, with what follows the name of a secret hidden."""
        shown = []
        hide_next = False
        for word in args:
            if hide_next and not word.startswith("-"):
                shown.append(HIDDEN)
                hide_next = False
                continue
            hide_next = _names_a_secret(word)
            name, _, value = word.partition("=")
            if value and _is_a_secret(name):
                shown.append(f"{name}={HIDDEN}")
            else:
                header = _HEADER.fullmatch(word)
                shown.append(self.text(_without_value(header) if header else word))
        return shown


def _secrets_of(environ: Mapping[str, str]) -> Iterator[str]:
    for name, value in environ.items():
        # A path, such as that of an agent's socket, is no secret.
        if len(value) >= _MIN_SECRET and _SECRET_NAME.search(name) and os.sep not in value[:2]:
            yield value


def _hidden_words(args: Sequence[str]) -> Iterator[str]:
    for before, word in zip(("", *args), args, strict=False):
        name, _, value = word.partition("=")
        if value and _is_a_secret(name):
            yield value
        elif _names_a_secret(before) and not word.startswith("-"):
            yield word


def _names_a_secret(word: str) -> bool:
    return word.startswith("-") and _is_a_secret(word)


def _is_a_secret(name: str) -> bool:
    """Tell whether an option or a variable is named like a secret; an address is neither."""
    return bool(re.fullmatch(r"[\w.-]+", name) and _SECRET_NAME.search(name))


def _without_value(match: re.Match[str]) -> str:
    if not _SECRET_NAME.search(match["name"]):
        return match[0]
    return f"{match['name']}{match['sign']}{HIDDEN}"
