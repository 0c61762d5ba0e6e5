"""The ids of all commands, as they are told to editors in ``initialize``.

They are listed here, apart from what they do, because the answer to ``initialize`` must
not wait until that is loaded; a test compares the lists.
"""

from __future__ import annotations

from typing import Final

COMMANDS: Final = (
    "acpls.agent.list",
    "acpls.agent.start",
    "acpls.agent.restart",
    "acpls.agent.stop",
    "acpls.agent.log",
    "acpls.agent.select",
    "acpls.agent.login",
    "acpls.agent.cancelLogin",
    "acpls.agent.logout",
    "acpls.session.new",
    "acpls.session.list",
    "acpls.session.get",
    "acpls.session.close",
    "acpls.session.resume",
    "acpls.session.fork",
    "acpls.session.rename",
    "acpls.session.prompt",
    "acpls.session.send",
    "acpls.session.fetch",
    "acpls.session.openConversation",
    "acpls.session.ask",
    "acpls.session.cancel",
    "acpls.session.endTurn",
    "acpls.session.setOption",
    "acpls.toolCall.cancel",
    "acpls.terminal.cancel",
    "acpls.output.read",
    "acpls.question.list",
    "acpls.question.show",
    "acpls.question.answer",
    "acpls.permission.list",
    "acpls.permission.revoke",
    "acpls.review.list",
    "acpls.review.keep",
    "acpls.review.reject",
    "acpls.review.diff",
    "acpls.review.setMode",
    "acpls.checkpoint.list",
    "acpls.checkpoint.restore",
    "acpls.follow.set",
    "acpls.follow.trail",
    "acpls.follow.goTo",
    "acpls.status",
)
