"""What the user wants, checked: the frozen model that ``parse`` gives."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Mapping

    from acpls.session.asks import McpServer, SystemPrompt
    from acpls.settings.rules import Rule

DEFAULT_MAX_LINE_BYTES: Final = 32 * 1024 * 1024

ReviewMode: TypeAlias = Literal["after", "before", "off"]


@dataclass(frozen=True, slots=True)
class AgentSpec:
    """How an agent is started, and what its sessions are opened with.

    ``command`` and ``args`` are a program and its arguments, never a shell line. ``options``:
    values for options of each new session, by the option's id or category. ``path_map``:
    pairs of a folder as the editor calls it and as the agent does. ``auth_method``: the id
    of the way to log in that is taken without asking.
    """

    command: str
    args: tuple[str, ...] = ()
    env: Mapping[str, str] = field(default_factory=dict)
    cwd: str | None = None
    protocol: Literal["auto", 1, 2] = "auto"
    max_line_bytes: int = DEFAULT_MAX_LINE_BYTES
    mcp_servers: tuple[McpServer, ...] = ()
    options: Mapping[str, str | bool] = field(default_factory=dict)
    path_map: tuple[tuple[str, str], ...] = ()
    system_prompt: SystemPrompt | None = None
    auth_method: str | None = None


@dataclass(frozen=True, slots=True)
class Settings:
    """What the user wants.

    ``agents`` has at least one entry and ``default_agent`` is one of its keys.
    ``dialogs``: may questions be put in dialogs (``"auto"``: where the editor
    is known to take them well). ``follow_on``: does the editor go where the agent works
    (``None``: as was chosen last). ``idle_seconds``: how long the user must rest before it
    is moved. ``cancel_seconds``: after this an unconfirmed cancel is shown.
    ``login_shell``: do agents get the environment of the user's login shell
    (``"auto"``: where the editor was started from a desktop). ``review_mode``: are changes
    put under review after they are made, held before, or neither; ``hold_seconds``: how long
    an agent waits for the verdict on what is held. ``rules``: those for permissions, of
    all layers, the lowest first. ``client``: capabilities and
    quirks forced on or off, by name.
    """

    agents: Mapping[str, AgentSpec]
    default_agent: str
    dialogs: Literal["auto"] | bool = "auto"
    follow_on: bool | None = None
    idle_seconds: float = 2.0
    cancel_seconds: float = 10.0
    login_shell: Literal["auto"] | bool = "auto"
    review_mode: ReviewMode = "after"
    hold_seconds: float = 600.0
    rules: tuple[Rule, ...] = ()
    client: Mapping[str, bool] = field(default_factory=dict)
