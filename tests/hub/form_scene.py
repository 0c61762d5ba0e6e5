"""A scene with an agent that wants forms filled in."""

from __future__ import annotations

from typing import Any

from scene import AGENT, NATIVE, ROOT, Scene

from acpls import effects as ef
from acpls import events as ev

MARK = "hunter2"
FORM = f"{ROOT}/.acp/form-launch-q1.toml"
URI = f"file://{FORM}"
SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "title": "Your name", "minLength": 2},
        "count": {"type": "integer", "minimum": 1, "default": 1},
        "password": {"type": "string"},
    },
    "required": ["name", "count"],
}
YES_OR_NO: dict[str, Any] = {"properties": {"sure": {"type": "boolean"}}, "required": ["sure"]}
DRAWS = ev.EditorReady((ROOT,), forms=True)
PLAIN = ev.EditorReady((ROOT,), links=True)


def opened(ready: ev.EditorReady = PLAIN, *, busy: bool = False) -> Scene:
    """A scene with a session, in which nothing was seen yet."""
    scene = Scene(ready=ready)
    scene.session()
    if busy:
        scene.prompts()
    scene.seen.clear()
    return scene


def form(
    scene: Scene,
    schema: dict[str, Any] | None = None,
    session: str | None = NATIVE,
    request: int | str = 7,
    message: str = "Who are you?",
    tool_call: str | None = None,
) -> None:
    """The agent asks for a form."""
    wanted = SCHEMA if schema is None else schema
    scene.give(ev.FormAsked(AGENT, request, session, message, wanted, tool_call))


def with_document(ready: ev.EditorReady = PLAIN, *, shown: bool = True, **more: Any) -> Scene:
    """A scene with a form, and its document on the screen where it is ``shown``."""
    scene = opened(ready, **more)
    form(scene)
    assert scene.result("form.open") == {"uri": URI}
    if shown:
        scene.buffer(FORM)
    return scene


def fills(scene: Scene, name: str = MARK) -> None:
    """The user writes a name, and does not save."""
    scene.replaces(FORM, 'name = ""', f'name = "{name}"')


def settled(scene: Scene) -> list[tuple[str, str | None]]:
    """By whom the questions were settled, and with which option."""
    return [(effect.by, effect.option) for effect in scene.of(ef.QuestionSettled)]


def said(scene: Scene) -> list[str]:
    """What the user was told as a message."""
    return [effect.message for effect in scene.of(ef.TellUser) if effect.level == "error"]
