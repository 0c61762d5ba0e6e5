"""For how long an answer is to be remembered, as the editor says it."""

from __future__ import annotations

from typing import Any

import pytest

from acpls import effects as ef
from acpls import events as ev
from editor_stage import announcing, stage

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize(
    ("said", "taken"),
    [("workspace", "workspace"), ("user", "user"), ("world", None), (1, None), (None, None)],
)
async def test_an_answer_may_say_its_scope(said: Any, taken: str | None) -> None:
    """P12: a scope that there is not is none, and the answer counts all the same."""
    async with stage(announcing("questions")) as it:
        it.session()
        key = it.question()
        request = await it.editor.next("acp/question/ask")
        it.editor.reply(request, {"option": "always", "scope": said})
        assert await it.event(ev.QuestionPut) == ev.QuestionPut(key, "always", scope=taken)  # type: ignore[arg-type]  # a plain str
        assert it.state.questions.all[key].option == "always"
        kept = [effect.value["scope"] for effect in it.of(ef.KeepPermission)]
        assert kept == ([taken] if taken else [])


async def test_wider_scopes_are_code_actions_of_what_holds_always() -> None:
    """P12."""
    async with stage(announcing()) as it:
        it.session()
        key = it.question()
        actions = {
            action["title"]: action["command"]["arguments"][0]
            for action in it.editor.actions("file:///p/a.py")
        }
        scopes = {title: argument.get("scope") for title, argument in actions.items()}
        wider = {title: scope for title, scope in scopes.items() if scope}
        assert wider == {
            "Always allow (kept for this workspace): Edit a.py": "workspace",
            "Always allow (kept everywhere): Edit a.py": "user",
        }
        it.editor.command(
            "acpls.question.answer", {"question": key, "option": "always", "scope": "user"}
        )
        (kept,) = it.of(ef.KeepPermission)
        assert kept.value["scope"] == "user"
