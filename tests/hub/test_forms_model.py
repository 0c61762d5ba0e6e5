"""Forms in any order of events: one answer while the agent lives, none after, no file left."""

from __future__ import annotations

from form_scene import MARK, SCHEMA, YES_OR_NO
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule
from scene import AGENT, FACTS_2, NATIVE, ROOT, Scene

from acpls import effects as ef
from acpls import events as ev
from acpls.session.asks import Accepted

numbers = st.integers(0, 20)
ACTIONS = st.sampled_from(["accept", "decline", "cancel", "dance", None])
CONTENTS = st.sampled_from([{"name": MARK, "count": 1}, {"name": "A"}, {}, None, {"sure": True}])


class AnyOrder(RuleBasedStateMachine):
    """An agent asks, withdraws and dies; the user fills in, sends, twice, too late, or not."""

    def __init__(self) -> None:
        super().__init__()
        self.scene = Scene(ready=ev.EditorReady((ROOT,), forms=True, deletes=True), facts=FACTS_2)
        self.state = self.scene.state
        self.scene.session()
        self.scene.prompts()
        # The requests, each with whether it can still be answered.
        self.lives: dict[int, bool] = {}
        self.scene.seen.clear()

    def key(self, number: int) -> str:
        keys = list(self.state.questions.all)
        return keys[number % len(keys)]

    @precondition(lambda self: self.state.agent(AGENT).lives)
    @rule(simple=st.booleans(), session=st.sampled_from([NATIVE, None]))
    def asks(self, simple: bool, session: str | None) -> None:
        request = len(self.lives)
        self.lives[request] = True
        schema = YES_OR_NO if simple else SCHEMA
        self.scene.give(ev.FormAsked(AGENT, request, session, "Who?", schema))

    @precondition(lambda self: self.state.questions.all)
    @rule(number=numbers, action=ACTIONS, content=CONTENTS, put=st.booleans())
    def acts(self, number: int, action: str | None, content: object, put: bool) -> None:
        if put:
            self.scene.give(ev.QuestionPut(self.key(number), None, action, content))
        elif action in {"accept", "decline", "cancel"}:
            arguments = {"question": self.key(number), "action": action, "content": content}
            self.scene.command("question.answer", **arguments)

    @precondition(lambda self: self.state.questions.all)
    @rule(number=numbers, option=st.sampled_from(["fill", "decline", "choice-1", "choice-2", "x"]))
    def chooses(self, number: int, option: str) -> None:
        self.scene.give(ev.QuestionPut(self.key(number), option))

    @precondition(lambda self: self.state.questions.all)
    @rule(number=numbers, shown=st.booleans(), name=st.sampled_from(["A", MARK]))
    def fills(self, number: int, shown: bool, name: str) -> None:
        key = self.key(number)
        self.scene.command("form.open", question=key)
        path = f"{ROOT}/.acp/form-launch-{key}.toml"
        if path not in self.scene.disk:
            return
        if shown:
            uri = self.scene.buffer(path)
            self.scene.shows(uri, self.scene.text(path).replace('name = ""', f'name = "{name}"'))
        else:
            self.scene.puts(path, self.scene.disk[path].replace('name = ""', f'name = "{name}"'))

    @precondition(lambda self: self.state.questions.all)
    @rule(number=numbers)
    def sends(self, number: int) -> None:
        self.scene.command("form.send", question=self.key(number))

    @precondition(lambda self: self.lives)
    @rule(number=numbers)
    def withdraws(self, number: int) -> None:
        self.scene.give(ev.RequestWithdrawn(AGENT, number % len(self.lives)))

    @rule()
    def cancels(self) -> None:
        self.scene.command("session.cancel")

    @precondition(lambda self: self.lives and self.state.agent(AGENT).lives)
    @rule()
    def dies(self) -> None:
        self.scene.dies()
        self.lives = dict.fromkeys(self.lives, False)
        self.told = len(self.scene.answers())

    @rule()
    def takes_files_away(self) -> None:
        for change in self.scene.of(ef.ChangeFile):
            if change.number in self.state.file_edits:
                self.scene.give(ev.EditApplied(change.number))

    @invariant()
    def each_is_answered_once_and_none_after_its_agent(self) -> None:
        answers = self.scene.of(ef.SendAnswer)
        requests = [answer.request for answer in answers]
        assert len(requests) == len(set(requests))
        for question in self.state.questions.all.values():
            alive = self.lives[int(str(question.request))]
            if question.open:
                assert alive
                assert question.request not in requests
        if hasattr(self, "told") and not self.state.agent(AGENT).lives:
            assert len(answers) == self.told

    @invariant()
    def only_what_fits_is_sent(self) -> None:
        whole = ({"name": MARK, "count": 1}, {"sure": True}, {"sure": False})
        for answer in self.scene.answers():
            assert not isinstance(answer, Accepted) or answer.content in whole

    @invariant()
    def no_file_is_left_of_what_is_settled(self) -> None:
        waits = {f.question for f in self.state.file_edits.values()}  # type: ignore[union-attr]  # of forms alone
        for document in self.state.form_documents.values():
            open_ = self.state.questions.all[document.question].open
            if not open_ and document.question not in waits:
                assert document.path not in self.scene.disk


TestAnyOrder = AnyOrder.TestCase
TestAnyOrder.settings = settings(max_examples=40, stateful_step_count=30, deadline=None)
