# ruff: noqa: INP001 - a module beside a script
"""The messages that ``wire.py`` measures with: a long session, as an agent would tell it.

70 % agent chunks, 12 % thoughts, 15 % tool calls and updates of them with diffs, and 3 %
plans and usage, in an order that is always the same; about 330 bytes a message.
"""

from __future__ import annotations

import json
import random
from itertools import count
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

SESSION: Final = "4bda9f1f-2bbb-400c-b700-46737b720905"
FOLDER: Final = "/home/user/project"

Update = dict[str, Any]

_WORDS: Final = (
    "the", "parser", "returns", "a", "list", "of", "tokens", "and", "`scan()`", "keeps", "its",
    "state", "between", "calls;", "that", "is", "why", "tests", "fail\n", "on", "Windows.", "é",
    "naïve", "→", "日本語", "I", "will", "change", "only", "what", "is", "needed", "here,\n",
)  # fmt: skip
_CODE: Final = (
    "def scan(text):", "    tokens = []", "    for line in text.splitlines():", "",
    '        tokens.append(line.strip().split(" "))', "    return tokens", "    # Größe in Byte",
    "    if not tokens:", '        raise ValueError("nothing to scan")', "    size = len(tokens)",
)  # fmt: skip
_CONTEXT: Final = 2


def lines(version: int, messages: int) -> list[bytes]:
    """The messages as an agent of this version writes them, each without its line end."""
    told = _Agent(version)
    shares: list[tuple[Callable[[], Update], float]] = [
        (told.chunk, 0.70),
        (told.thought, 0.12),
        (told.tool_call, 0.15),
        (told.plan, 0.015),
        (told.usage, 0.015),
    ]
    kinds = [kind for kind, share in shares for _ in range(round(messages * share))]
    told.random.shuffle(kinds)
    return [_line(kind()) for kind in kinds]


def _line(update: Update) -> bytes:
    params = {"sessionId": SESSION, "update": update}
    message = {"jsonrpc": "2.0", "method": "session/update", "params": params}
    return json.dumps(message, ensure_ascii=False, separators=(",", ":")).encode()


class _Agent:
    """Tells one update after the other."""

    def __init__(self, version: int) -> None:
        self.random = random.Random(3)  # noqa: S311  not for secrets
        self._version = version
        self._messages = count(1)
        self._message = self._next_message()
        self._calls = self._tool_calls()
        self._used = 12_000

    def _next_message(self) -> str:
        return f"msg_{next(self._messages):024d}"

    def chunk(self) -> Update:
        return self._said("agent_message_chunk", 6)

    def thought(self) -> Update:
        return self._said("agent_thought_chunk", 10)

    def _said(self, kind: str, most_words: int) -> Update:
        words = self.random.choices(_WORDS, k=self.random.randint(1, most_words))
        content = {"type": "text", "text": " ".join(words) + " "}
        return {
            "sessionUpdate": kind,
            "messageId": f"{self._message}{kind[6]}",
            "content": content,
        }

    def tool_call(self) -> Update:
        return next(self._calls)

    def _tool_calls(self) -> Iterator[Update]:
        """Each tool call is told of three times: as it begins, runs and ends."""
        first = "tool_call" if self._version == 1 else "tool_call_update"
        for number in count(1):
            path = f"{FOLDER}/src/scan{number % 40}.py"
            of = {"toolCallId": f"toolu_{number:024x}"}
            content = [self._diff(path)]
            yield {
                "sessionUpdate": first,
                **of,
                "title": f"Edit scan{number % 40}.py",
                "kind": "edit",
                "status": "pending",
                "locations": [{"path": path, "line": number % 90 + 1}],
                "rawInput": {"file_path": path, "replace_all": False},
                "content": content,
            }
            again = {"sessionUpdate": "tool_call_update", **of}
            yield {**again, "status": "in_progress", "content": content}
            self._message = self._next_message()
            output = {"success": True, "path": path}
            yield {**again, "status": "completed", "content": content, "rawOutput": output}

    def _diff(self, path: str) -> Update:
        before = self.random.choices(_CODE, k=_CONTEXT)
        after = self.random.choices(_CODE, k=_CONTEXT)
        old = self.random.choices(_CODE, k=self.random.randint(1, 3))
        new = self.random.choices(_CODE, k=self.random.randint(1, 5))
        if self._version == 1:
            texts = ("\n".join([*before, *middle, *after, ""]) for middle in (old, new))
            return {
                "type": "diff",
                "path": path,
                **dict(zip(("oldText", "newText"), texts, strict=True)),
            }
        first = self.random.randint(1, 400)
        spans = (f"{first},{len(middle) + 2 * _CONTEXT}" for middle in (old, new))
        patch = [
            f"diff --git {path} {path}",
            f"--- {path}",
            f"+++ {path}",
            "@@ -{} +{} @@".format(*spans),
            *(" " + line for line in before),
            *("-" + line for line in old),
            *("+" + line for line in new),
            *(" " + line for line in after),
            "",
        ]
        return {
            "type": "diff",
            "changes": [{"operation": "modify", "path": path, "fileType": "text"}],
            "patch": {"format": "git_patch", "text": "\n".join(patch)},
        }

    def plan(self) -> Update:
        steps = self.random.randint(3, 6)
        done = self.random.randint(0, steps)
        entries = [
            {
                "content": " ".join(self.random.choices(_WORDS, k=6)),
                "priority": "medium",
                "status": "completed" if step < done else "pending",
            }
            for step in range(steps)
        ]
        if self._version == 1:
            return {"sessionUpdate": "plan", "entries": entries}
        plan = {"type": "items", "planId": "plan", "entries": entries}
        return {"sessionUpdate": "plan_update", "plan": plan}

    def usage(self) -> Update:
        self._used += 700
        cost = {"amount": self._used / 250_000, "currency": "USD"}
        return {"sessionUpdate": "usage_update", "used": self._used, "size": 10**6, "cost": cost}
