"""The commands about rules for permissions: listing them, and revoking what was remembered."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from acpls.effects import (
    FailCommand,
    ReadPermissions,
    ReplyCommand,
    ShowQuestions,
    TellUser,
)
from acpls.hub import permissions
from acpls.hub.putting import put_next, tell_plainly
from acpls.hub.shapes import lean
from acpls.hub.state import CannotDo
from acpls.hub.tokens import RulesWanted
from acpls.session.content import Choosable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from acpls.events import PermissionsRead
    from acpls.hub.state import Effects, State
    from acpls.permissions import Remembered
    from acpls.settings import Rule

    Arguments = Mapping[str, Any]

INVALID_PARAMS: Final = -32602
CHOICES_LIMIT: Final = 30
KEEP: Final = Choosable("keep", "Revoke nothing", "reject_once")
_OF_SETTINGS: Final = "settings-"


def permission_list(_: State, __: Arguments, ticket: object) -> Effects:
    """All rules that hold here; answered when the store was read."""
    yield ReadPermissions(RulesWanted(ticket, "list"), ())


def permission_revoke(_: State, arguments: Arguments, ticket: object) -> Effects:
    """Forget a rule; without one the user is asked which."""
    if "rule" not in arguments:
        yield ReadPermissions(RulesWanted(ticket, "choose"), ())
    elif arguments["rule"].startswith(_OF_SETTINGS):
        message = "This rule stands in the settings, and is changed there"
        raise CannotDo(message, field="rule")
    else:
        yield ReadPermissions(RulesWanted(ticket, "revoke", arguments["rule"]), ())


def read(state: State, token: RulesWanted, event: PermissionsRead) -> Effects:
    """The store was read."""
    state.permissions.read(event.stored, event.stamp)
    found = list(_remembered(state))
    if token.what == "list":
        settings = [_of_settings(at, x) for at, x in enumerate(state.settings.rules, 1)]
        yield ReplyCommand(token.ticket, [*settings, *map(_shape, found)])
    elif token.what == "choose":
        yield from _choose(state, found, token.ticket)
    else:
        rule = next((rule for rule in found if rule.key == token.rule), None)
        if rule is None:
            message = "No such rule is remembered; acpls.permission.list has them"
            yield FailCommand(token.ticket, INVALID_PARAMS, message, field="rule")
            return
        yield from permissions.revoke(state, rule)
        yield ReplyCommand(token.ticket, {})


def chosen(state: State, option: str) -> Effects:
    """The user chose which rule is to be revoked."""
    rule = next((rule for rule in _remembered(state) if rule.key == option), None)
    if rule is not None:
        yield from permissions.revoke(state, rule)
    elif option != KEEP.option:
        yield TellUser("info", "It was revoked meanwhile")


def _choose(state: State, found: list[Remembered], ticket: object) -> Effects:
    if not found:
        message = "Nothing is remembered that could be revoked"
        yield FailCommand(ticket, INVALID_PARAMS, message, field="rule")
        return
    # The last ones first, since that is what one thinks better of.
    offered = tuple(
        Choosable(
            rule.key, f"{rule.brief} ({rule.decision} {permissions.WHERE[rule.scope]})", "revoke"
        )
        for rule in reversed(found[-CHOICES_LIMIT:])
    )
    for earlier in state.questions.pending(""):
        if earlier.kind == "revoke":
            # There are other answers by now, and one question is enough.
            yield from state.questions.settle(earlier, "cancel")
    agent, title = state.chosen_agent(), "Which of your answers is to be revoked"
    question = state.questions.revoking(agent, title, (*offered, KEEP))
    yield ShowQuestions()
    yield from tell_plainly(state, question)
    yield from put_next(state)
    yield ReplyCommand(ticket, {"question": question.key})


def _remembered(state: State) -> Iterator[Remembered]:
    live = (session.key for session in state.sessions.values() if not session.over)
    return state.permissions.rules(live, state.editor.roots)


def _of_settings(number: int, rule: Rule) -> dict[str, Any]:
    return lean(
        rule=f"{_OF_SETTINGS}{number}",
        scope="settings",
        decision=rule.decision,
        agent=rule.agent,
        kind=rule.kind,
        tool=rule.tool,
        path=rule.path,
        command=rule.command,
        mode=rule.mode,
        text=rule.text,
    )


def _shape(rule: Remembered) -> dict[str, Any]:
    paths = rule.paths
    return lean(
        rule=rule.key,
        scope=rule.scope,
        session=rule.session,
        decision=rule.decision,
        agent=rule.agent,
        kind=" ".join(rule.kinds) or None,
        tool=rule.name or rule.title,
        path=paths[0] if len(paths) == 1 else None,
        paths=list(paths) if len(paths) > 1 else None,
        command="\n".join(rule.commands) or None,
        text=rule.text,
    )


PERMISSION_COMMANDS: Final[dict[str, Callable[[State, Arguments, object], Effects]]] = {
    "acpls.permission.list": permission_list,
    "acpls.permission.revoke": permission_revoke,
}
