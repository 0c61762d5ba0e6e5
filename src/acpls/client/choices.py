"""Keeps what the user chose from one run of the server to the next: one file of JSON.

Plain functions that block; run them in a thread, one at a time.

Invariant: a file that is missing, broken or cannot be written costs the choices and nothing
else; choices that this version does not know are left as they are.
"""

from __future__ import annotations

import contextlib
import json
import logging
import os
import tempfile
from pathlib import Path
from typing import Any, Final

LIMIT_BYTES: Final = 1024 * 1024
"""A larger file is none of ours."""

_logger = logging.getLogger(__name__)


class Choices:
    """JSON values by name, in ``file``, which is made when it is needed."""

    def __init__(self, file: Path) -> None:
        self._file = file

    def load(self) -> dict[str, Any]:
        """All that was chosen."""
        try:
            with self._file.open("rb") as opened:
                data = opened.read(LIMIT_BYTES + 1)
            found = json.loads(data) if len(data) <= LIMIT_BYTES else None
        except (OSError, ValueError, RecursionError):
            return {}
        return found if isinstance(found, dict) else {}

    def keep(self, name: str, value: Any) -> None:
        """Remember one choice; what cannot be written is logged."""
        whole = {**self.load(), name: value}
        try:
            self._file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            number, part = tempfile.mkstemp(dir=self._file.parent, prefix=".choices-")
            try:
                with os.fdopen(number, "w", encoding="utf-8") as writer:
                    json.dump(whole, writer)
                Path(part).replace(self._file)
            except OSError:
                with contextlib.suppress(OSError):
                    Path(part).unlink()
                raise
        except OSError as problem:
            _logger.warning("a choice cannot be kept in %s: %s", self._file, problem.strerror)
