"""What an agent does wrong: counted, logged, and told as far as anybody wants to know."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Final

from acpls.events import AgentMisspoke

if TYPE_CHECKING:
    from collections.abc import Callable

_MAX_TOLD_NOISE: Final = 3
_MAX_TOLD_FAULTS: Final = 50

_logger = logging.getLogger(__name__)


class Faults:
    """The faults of one connection: all of them go to the log, the first ones are told.

    ``last_noise``: the last line that was not meant for us.
    """

    def __init__(
        self, agent: str, emit: Callable[[AgentMisspoke], None], log: Callable[[str], None]
    ) -> None:
        self._agent = agent
        self._emit = emit
        self._log = log
        self.last_noise = ""
        self._told_noise = 0
        self._told_faults = 0

    def noise(self, text: str) -> None:
        """A line that was not meant for us."""
        self.last_noise = text
        self._log(f"not a message: {text}")
        self._told_noise += 1
        if self._told_noise <= _MAX_TOLD_NOISE:
            self._emit(AgentMisspoke(self._agent, f"not a message: {text}"))

    def misspoke(self, problem: str) -> None:
        """Something that does not fit the protocol."""
        self._log(f"fault: {problem}")
        self._told_faults += 1
        if self._told_faults <= _MAX_TOLD_FAULTS:
            self._emit(AgentMisspoke(self._agent, problem))

    def final(self, fault: str) -> None:
        """What the connection is ended for."""
        self._log(f"acpls: {fault}")

    def tripped(self, over: str, bug: Exception) -> None:
        """A fault of ours; one message that trips us must not end the agent."""
        _logger.error("%s: could not take in %s", self._agent, over, exc_info=bug)
        self._log(f"acpls: internal error over {over}; see the log of acpls itself")
