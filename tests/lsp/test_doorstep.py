"""The answer to ``initialize`` comes before the rest of the server is loaded."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from acpls.hub.commands import COMMANDS as DONE
from acpls.lsp.arguments import WrongArguments, checked
from acpls.lsp.commands import COMMANDS as TOLD
from acpls.lsp.doorstep import Doorstep
from editor_stage import Editor

if TYPE_CHECKING:
    from acpls.lsp.rim import EditorRim


def test_the_commands_that_are_told_are_those_that_are_done() -> None:
    assert list(TOLD) == list(DONE)
    for command in TOLD:
        with pytest.raises(WrongArguments):
            checked(command, [{"nothing": 1}])


def test_initialize_is_answered_without_the_rest() -> None:
    editor = Editor()

    def build() -> EditorRim:
        raise AssertionError("nothing needs it yet")

    Doorstep(editor.server, build)
    result = editor.result("initialize", {"capabilities": {}})
    assert result["capabilities"]["hoverProvider"]
    assert result["capabilities"]["codeActionProvider"]["codeActionKinds"]
    assert result["capabilities"]["experimental"] == {"acp": {"version": 1}}


def test_the_hub_and_the_models_are_loaded_later() -> None:
    """Measured as the answer's delay in benchmarks/startup.py; here by name."""
    code = "import sys, acpls.lsp.doorstep, acpls.lsp.mainloop, acpls.lsp.protocol; "
    code += "print([m for m in sys.modules if m.startswith(('acpls.hub', 'acpls.client', "
    code += "'acpls.wire', 'acpls.session', 'pydantic'))])"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=20
    )
    assert done.stdout.strip() == "[]"
