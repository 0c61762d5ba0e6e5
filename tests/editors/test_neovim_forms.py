"""Forms of agents in a real Neovim with the configuration of this repository."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from nvim import neovim
from nvim_hands import NvimHands
from sitting import Scenario, Sitting

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = [
    pytest.mark.editors,
    pytest.mark.needs("nvim", found=neovim()),
    pytest.mark.timeout(60),
]

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {"name": {"type": "string", "title": "Name"}, "age": {"type": "integer"}},
    "required": ["name"],
}
FORM: list[Any] = [{"form": SCHEMA, "message": "Who are you?"}]
POPUPS = (r"Waiting for you: Who are you\?",)


def _opened(s: Sitting) -> NvimHands:
    """The form's document is on the screen, with the cursor on its first value."""
    nvim = s.hands
    assert isinstance(nvim, NvimHands)
    s.prompt(ends=False)
    s.until(lambda: (s.tap.command("acpls.status") or {}).get("questions") == 1, "a form")
    nvim.go_on()
    assert nvim.action("Fill in the form") == "Fill in the form: Who are you?"
    nvim.until(lambda: nvim.lua("vim.fn.expand('%:t')").startswith("form-"), "the form")
    nvim.until(lambda: nvim.lua("vim.api.nvim_get_current_line()") == 'name = ""', "the value")
    return nvim


def _is_filled_in(s: Sitting) -> None:
    nvim = _opened(s)
    assert nvim.action("Send the form") == "Send the form"
    nvim.until(lambda: "■ Name must be filled in" in nvim.screen(), "what is wrong")
    nvim.until(nvim.is_undisturbed, "nothing in the way")
    nvim.keys('f"aAnn<Esc>')
    nvim.until(lambda: nvim.lua("vim.api.nvim_get_current_line()") == 'name = "Ann"', "the name")
    assert nvim.action("Send the form") == "Send the form"
    s.until_idle()
    assert s.heard()[-1] == {"action": "accept", "content": {"name": "Ann"}}
    s.until(lambda: not list(s.project.glob(".acp/form-*")), "no form")


def _is_declined(s: Sitting) -> None:
    nvim = _opened(s)
    assert nvim.action("Decline the form") == "Decline the form"
    s.until_idle()
    assert s.heard()[-1] == {"action": "decline"}
    s.until(lambda: not list(s.project.glob(".acp/form-*")), "no form")


@pytest.mark.parametrize("version", [1, 2])
@pytest.mark.parametrize("act", [_is_filled_in, _is_declined])
def test_a_form_in_neovim(tmp_path: Path, version: int, act: Any) -> None:
    scenario = Scenario("form", act, [FORM], version=version, popups=POPUPS)
    Sitting.play(tmp_path, scenario, NvimHands)
