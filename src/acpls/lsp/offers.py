"""What a code action offers: a command with its argument, under a title."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from lsprotocol import types

QUICKFIX: Final = types.CodeActionKind.QuickFix.value


@dataclass(frozen=True, slots=True)
class Offer:
    """``kind`` is a code action kind of LSP."""

    title: str
    command: str
    argument: dict[str, Any]
    kind: str = QUICKFIX
