"""``acpls agents check``: starts agents, and tells what each answered."""

from __future__ import annotations

from typing import TYPE_CHECKING

import anyio

from acpls.console.config import read_config
from acpls.console.hiding import Hiding
from acpls.console.listing import tell_problems
from acpls.console.program import would_download
from acpls.console.talk import Failed, talking
from acpls.console.words import note, say

if TYPE_CHECKING:
    from acpls.session.asks import AgentFacts
    from acpls.settings import AgentSpec

UNASKED = "not started, since it may download the agent; --download allows that"


def check(names: list[str], *, download: bool) -> int:
    """Start these agents, or all, one after the other; 1 when one fails. Raises ``Misuse``."""
    config = read_config()
    tell_problems(config)
    chosen = config.chosen(names)
    answers = [anyio.run(_check, name, spec, download) for name, spec in chosen]
    return 0 if all(answers) else 1


def said_of_itself(facts: AgentFacts) -> str:
    """The agent's name, version and protocol, as it told them."""
    name = facts.title or facts.name or "an agent without a name"
    return f"{name} {facts.version}".rstrip() + f", ACP {facts.protocol}"


async def _check(name: str, spec: AgentSpec, download: bool) -> bool:  # noqa: FBT001  run gives no keywords
    if would_download(spec) and not download:
        say(f"{name}: {UNASKED}")
        return True
    hiding = Hiding(spec)
    try:
        async with talking(
            name, spec, doing=lambda doing: note(f"{name}: {hiding.text(doing)}")
        ) as talk:
            facts = await talk.ready()
            say(f"{name}: {said_of_itself(facts)}, after {talk.seconds or 0:.1f} s")
    except Failed as failed:
        say(f"{name}: failed: {hiding.text(failed.failure.message)}")
        return False
    return True
