"""An agent that says that it can resume, and cannot, is asked to load the next time."""

from __future__ import annotations

from acpls.client.dialect import Call
from acpls.client.v1 import DialectV1
from acpls.session.asks import Failure, Opening, ResumeSession

RESUME = ResumeSession("s", Opening("/w"))


def test_s19_what_is_advertised_and_missing_is_not_asked_for_again() -> None:
    dialect = DialectV1("agent")
    able = {"loadSession": True, "sessionCapabilities": {"resume": {}}}
    dialect.facts({"protocolVersion": 1, "agentCapabilities": able})
    said = []
    for code in (-32603, -32601, -32603):
        call = dialect.say(RESUME)
        assert isinstance(call, Call)
        said.append(call.method)
        dialect.failed(1, RESUME, Failure(code, "no"))
    assert said == ["session/resume", "session/resume", "session/load"]
