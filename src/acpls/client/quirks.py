"""What differs between agents: one named function for each thing that must be known.

Nearly everything is dealt with by general tolerance. What stands here is what no tolerance
can settle, with the agents and versions that were seen to need it.

Invariant: pure, and told apart only by what the agent says of itself in ``initialize``.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from acpls.session.asks import AgentFacts
    from acpls.session.content import Json
    from acpls.session.updates import Meta

_MODE_UPDATE: Final = "[MODE_UPDATE] "


def missing_file_is_empty(agent: AgentFacts) -> bool:
    """Whether a missing file is to be answered as an empty one.

    Gemini CLI before 1 (seen in 0.61.0; no version is known to be better): it reads a file
    through the client before it makes it, and takes every error, not-found too, for the end
    of its attempt, so that it could make no file at all.
    """
    return agent.name == "gemini-cli" and not re.match(r"[1-9]", agent.version)


def tells_mode_in_words(agent: AgentFacts) -> bool:
    """Whether words of an answer may stand for a change of mode (``mode_in``).

    Gemini CLI before 1 (seen in 0.61.0): it says so in the conversation, a whole chunk each
    time, and in no other way.
    """
    return agent.name == "gemini-cli" and not re.match(r"[1-9]", agent.version)


def mode_in(update: Json) -> str | None:
    """The mode that a piece of an answer stands for."""
    content = update.get("content")
    text = content.get("text") if isinstance(content, dict) else None
    if not isinstance(text, str) or not text.startswith(_MODE_UPDATE):
        return None
    mode = text.removeprefix(_MODE_UPDATE)
    return mode if mode.isalnum() else None


def is_of_subagent(meta: Meta) -> bool:
    """Whether a tool call is a subagent's, by what ``_meta`` says of it.

    The Claude adapter (seen in 0.101.0): its subagents have no sessions of their own, and only
    this name of its own tells their tool calls from the agent's.
    """
    own = meta.get("claudeCode") if isinstance(meta, Mapping) else None
    return isinstance(own, Mapping) and bool(own.get("parentToolUseId"))
