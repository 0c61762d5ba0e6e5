"""The user's settings: raw layers in, one frozen model and its warnings out.

Keys are camelCase outside and snake_case inside; docs/protocol.md has the table. What is
wrong in a layer is left out of it, so that the layer below, or the default, shows through.

Invariant: pure, and quick to import, since every start of the server waits for it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from acpls.settings.agents import agents, default_agent
from acpls.settings.keys import KEYS
from acpls.settings.layers import joined, nested, usable
from acpls.settings.model import AgentSpec, ReviewMode, Settings
from acpls.settings.rules import Rule

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["DEMO_AGENT", "KEYS", "AgentSpec", "ReviewMode", "Rule", "Settings", "parse"]

DEMO_AGENT: Final = "demo"

# Where the simple fields of ``Settings`` stand.
_FIELDS: Final = {
    "dialogs": ("questions", "dialogs"),
    "follow_on": ("follow", "on"),
    "idle_seconds": ("follow", "idleSeconds"),
    "cancel_seconds": ("session", "cancelSeconds"),
    "login_shell": ("environment", "loginShell"),
    "review_mode": ("review", "mode"),
    "hold_seconds": ("review", "holdSeconds"),
}


def parse(
    layers: Sequence[object], demo: AgentSpec, known: Mapping[str, AgentSpec] | None = None
) -> tuple[Settings, tuple[str, ...]]:
    """Check and join raw settings, lowest precedence first.

    A layer is decoded JSON or TOML: an object, or ``None`` where there is none; ``null``
    in it means "not set". Objects are joined key by key, and so are the lists of rules;
    everything else is replaced whole. A top-level key may be dotted (``"follow.on"``).
    ``demo`` serves under the name ``demo`` when no usable agent is configured; it and the
    ``known`` agents lend an entry of the same name what that leaves out. Nothing is expanded:
    ``$NAME`` stays as written.

    Also gives the warnings, one line each, each one once.
    """
    problems: list[str] = []
    whole: dict[str, Any] = {}
    for layer in layers:
        unfolded = nested(layer) if isinstance(layer, Mapping) else layer
        whole = joined(whole, usable(unfolded, KEYS, "", problems) or {})
    lent = {**(known or {}), DEMO_AGENT: demo}
    servers = whole.get("mcpServers", {})
    configured = dict(agents(whole.get("agents", {}), servers, lent, problems))
    if not configured:
        configured = dict(agents({DEMO_AGENT: {}}, servers, lent, problems))
    chosen = default_agent(whole.get("defaultAgent"), configured, problems)
    given = {
        name: whole[section][key]
        for name, (section, key) in _FIELDS.items()
        if key in whole.get(section, {})
    }
    # The same settings may come by two ways.
    rules = tuple(dict.fromkeys(whole.get("permissions", {}).get("rules", ())))
    settings = Settings(configured, chosen, rules=rules, client=whole.get("client", {}), **given)
    return settings, tuple(dict.fromkeys(problems))
