"""The user's raw settings as they come: their file, what editors send, what they are asked for.

Editors that give their configuration are asked for it, now and whenever they say that it
changed; all others may send it along with that.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from lsprotocol import types

from acpls.lsp.asking import EditorError, NoAnswer

if TYPE_CHECKING:
    from collections.abc import Callable

    from anyio.abc import TaskGroup

    from acpls.lsp.protocol import EditorProtocol

LIMIT_S = 10.0
SECTION = "acpls"

_log = logging.getLogger("acpls.lsp")


class Configuration:
    """Three layers of raw settings; ``changed`` takes them, lowest precedence first."""

    def __init__(
        self,
        tasks: TaskGroup,
        protocol: EditorProtocol,
        file: object,
        changed: Callable[[tuple[object, ...]], None],
    ) -> None:
        """``file``: what the user's own file holds, or ``None``."""
        self._tasks = tasks
        self._protocol = protocol
        self._changed = changed
        self._file = file
        self._options: object = None
        self._configured: object = None
        self._is_given = False

    def begin(self, params: types.InitializeParams) -> None:
        """The editor is initialised: give what there is, and ask for the rest."""
        self._options = params.initialization_options
        self._tell()
        workspace = params.capabilities.workspace
        if workspace is None:
            return
        self._is_given = bool(workspace.configuration)
        if self._is_given:
            self._tasks.start_soon(self._ask)
        changes = workspace.did_change_configuration
        if changes is not None and changes.dynamic_registration:
            self._tasks.start_soon(self._register)

    def told(self, params: types.DidChangeConfigurationParams) -> None:
        """The editor's configuration changed."""
        given = params.settings
        if self._is_given:
            self._tasks.start_soon(self._ask)
        elif isinstance(given, dict):
            self._take(given.get(SECTION, given))

    def _tell(self) -> None:
        self._changed((self._file, self._options, self._configured))

    def _take(self, configured: object) -> None:
        if configured != self._configured:
            self._configured = configured
            self._tell()

    async def _ask(self) -> None:
        params = {"items": [{"section": SECTION}]}
        try:
            answer = await self._protocol.ask(types.WORKSPACE_CONFIGURATION, params, LIMIT_S)
        except (NoAnswer, EditorError) as problem:
            _log.debug("the editor gave no configuration: %s", problem)
        else:
            self._take(answer[0] if answer else None)

    async def _register(self) -> None:
        registration = {
            "id": "acpls-configuration",
            "method": types.WORKSPACE_DID_CHANGE_CONFIGURATION,
            "registerOptions": {"section": SECTION},
        }
        params = {"registrations": [registration]}
        try:
            await self._protocol.ask(types.CLIENT_REGISTER_CAPABILITY, params, LIMIT_S)
        except (NoAnswer, EditorError) as problem:
            _log.debug("the editor does not tell of changed configuration: %s", problem)
