"""ACP 1: modes, models and options are one list of options."""

from __future__ import annotations

from dataclasses import replace

import pytest

from acpls.client.dialect import (
    Call,
)
from acpls.client.v1 import DialectV1
from acpls.events import (
    Replied,
)
from acpls.session import updates as up
from acpls.session.asks import (
    OptionsReplied,
    SetOption,
)
from acpls.session.content import (
    Choice,
    Option,
)
from talk import call, open_session, parts, refused, tell

MODES = {
    "currentModeId": "ask",
    "availableModes": [{"id": "ask", "name": "Ask"}, {"id": "code", "name": "Code"}],
}
MODELS = {
    "currentModelId": "small",
    "availableModels": [{"modelId": "small", "name": "Small", "description": "d"}],
}
MODE = Option(
    "mode", "Mode", "select", "ask", (Choice("ask", "Ask"), Choice("code", "Code")), "mode"
)
MODEL = Option("model", "Model", "select", "small", (Choice("small", "Small", "d"),), "model")
THINKING = {
    "id": "think",
    "name": "Thinking",
    "type": "select",
    "currentValue": "low",
    "options": [{"value": "low", "name": "Low"}],
}


@pytest.fixture
def dialect() -> DialectV1:
    return DialectV1("a")


class TestOptions:
    def test_modes_and_models_become_options(self, dialect: DialectV1) -> None:
        """S07."""
        opened = open_session(dialect, modes=MODES, models=MODELS, configOptions=[THINKING])
        assert opened.options is not None
        assert [x.option for x in opened.options] == ["think", "mode", "model"]
        assert opened.options[1:] == (MODE, MODEL)

    def test_a_real_option_takes_their_place(self, dialect: DialectV1) -> None:
        real = {**THINKING, "id": "preset", "category": "mode"}
        same_id = {**THINKING, "id": "model"}
        opened = open_session(dialect, modes=MODES, models=MODELS, configOptions=[real, same_id])
        assert opened.options is not None
        assert [x.option for x in opened.options] == ["preset", "model"]
        assert tell(dialect, "current_mode_update", currentModeId="code") == [
            up.OptionChanged("preset", "code")
        ]
        said = call(dialect, SetOption("s", "model", "low"))
        assert said.method == "session/set_config_option"

    def test_a_mode_that_changed_is_remembered(self, dialect: DialectV1) -> None:
        open_session(dialect, modes=MODES)
        changed = tell(dialect, "current_mode_update", currentModeId="code")
        assert changed == [up.OptionChanged("mode", "code")]
        (told,) = tell(dialect, "config_option_update", configOptions=[THINKING])
        assert isinstance(told, up.OptionsSet)
        assert [(x.option, x.value) for x in told.options] == [("think", "low"), ("mode", "code")]

    def test_a_mode_without_modes_is_told_all_the_same(self, dialect: DialectV1) -> None:
        changed = tell(dialect, "current_mode_update", currentModeId="code")
        assert changed == [up.OptionChanged("mode", "code")]

    def test_all_kinds_of_options(self, dialect: DialectV1) -> None:
        groups = [{"group": "g", "name": "G", "options": [{"value": "v", "name": "V"}, 3]}]
        (told,) = tell(
            dialect,
            "config_option_update",
            configOptions=[
                {**THINKING, "options": groups, "description": "d", "category": "thought_level"},
                {"id": "b", "name": "B", "type": "boolean", "currentValue": True},
                {"id": "o", "name": "O", "type": "slider", "currentValue": 0.5},
                {"id": "p", "name": "P", "type": "text", "currentValue": "p"},
                {"id": "", "name": "E", "type": "boolean", "currentValue": True},
                {"id": "q", "name": "Q", "type": "boolean", "currentValue": "yes"},
            ],
        )
        choices = (Choice("v", "V", group="G"),)
        assert told == up.OptionsSet(
            (
                Option("think", "Thinking", "select", "low", choices, "thought_level", "d"),
                Option("b", "B", "boolean", True),
                Option("o", "O", "slider", None),
                Option("p", "P", "text", "p"),
            )
        )

    def test_setting_a_mode(self, dialect: DialectV1) -> None:
        open_session(dialect, modes=MODES)
        ask = SetOption("s", "mode", "code")
        said = call(dialect, ask)
        assert said == Call("session/set_mode", {"sessionId": "s", "modeId": "code"})
        *told, reply = dialect.replied(3, ask, {})
        assert parts(told) == [up.OptionChanged("mode", "code")]
        assert reply == Replied("a", 3, OptionsReplied(None))
        assert refused(dialect, SetOption("s", "mode", True)).code == -32602

    def test_setting_a_model(self, dialect: DialectV1) -> None:
        open_session(dialect, models=MODELS)
        ask = SetOption("s", "model", "large")
        said = call(dialect, ask)
        assert said == Call("session/set_model", {"sessionId": "s", "modelId": "large"})
        dialect.replied(3, ask, None)
        (told,) = tell(dialect, "config_option_update", configOptions=[])
        assert told == up.OptionsSet((replace(MODEL, value="large"),))

    def test_setting_an_option(self, dialect: DialectV1) -> None:
        open_session(dialect, modes=MODES, configOptions=[THINKING])
        ask = SetOption("s", "think", "high")
        assert call(dialect, ask).params == {"sessionId": "s", "configId": "think", "value": "high"}
        (reply,) = dialect.replied(
            3, ask, {"configOptions": [{**THINKING, "currentValue": "high"}]}
        )
        assert isinstance(reply, Replied)
        assert isinstance(reply.reply, OptionsReplied)
        assert reply.reply.options is not None
        assert [x.value for x in reply.reply.options] == ["high", "ask"]

    def test_setting_a_switch(self, dialect: DialectV1) -> None:
        ask = SetOption("s", "b", False)
        params = call(dialect, ask).params
        assert (params["type"], params["value"]) == ("boolean", False)
        assert dialect.replied(3, ask, {}) == (Replied("a", 3, OptionsReplied(None)),)
