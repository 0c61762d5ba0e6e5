"""Where things in a conversation document lead: mentions, tool calls, the trail (F10)."""

from __future__ import annotations

import pytest
from scene import ROOT, A, Scene

from acpls import effects as ef
from acpls import events as ev
from acpls.hub import mentions
from acpls.session.content import Fragment, Location
from acpls.text import uris

TEXT = "one\ntwo\nthree\n"
DEEP = f"{ROOT}/src/deep/b.py"
OTHER = "/other/c.py"
URI_A, URI_DEEP, URI_OTHER = (uris.from_path(path) for path in (A, DEEP, OTHER))


@pytest.fixture
def scene() -> Scene:
    """The conversation is open, and there are files inside and outside of it."""
    scene = Scene(ready=ev.EditorReady((ROOT, "/other")))
    for path in (A, DEEP, OTHER, "/etc/hosts"):
        scene.has(path, TEXT)
    scene.session()
    scene.prompts()
    return scene


def talk(scene: Scene) -> str:
    """Open the conversation as it is now; its URI comes back."""
    scene.result("session.openConversation")
    (conversation,) = scene.state.conversations.values()
    scene.buffer(conversation.path)
    scene.settles()
    return conversation.uri


def links(scene: Scene, uri: str) -> dict[str, str]:
    scene.give(ev.LinksAsked("ticket", uri))
    (reply,) = scene.take(ef.ReplyLinks)
    assert reply.ticket == "ticket"
    return {reply.text[start:end]: target for start, end, target in reply.links}


def lead(scene: Scene, uri: str, said: str) -> list[ef.Spot]:
    """Where it leads, at the first place where this is said."""
    offset = scene.pages[uri].text.index(said)
    scene.give(ev.PlaceAsked("ticket", uri, offset))
    (reply,) = scene.take(ef.ReplyPlaces)
    assert reply.ticket == "ticket"
    return list(reply.places)


# --- links ------------------------------------------------------------------------------------


def test_f10_files_that_are_mentioned_are_links(scene: Scene) -> None:
    scene.says(
        "I read a.txt:2 and `src/deep/b.py:3:4`, then [c](c.py#L1), /etc/hosts and missing.py.\n"
        f"file://{A} https://a.example/a.txt src/deep"
    )
    assert links(scene, talk(scene)) == {
        "a.txt:2": f"{URI_A}#L2",
        "src/deep/b.py:3:4": f"{URI_DEEP}#L3,4",
        "c.py#L1": f"{URI_OTHER}#L1",
        "/etc/hosts": "file:///etc/hosts",
        f"file://{A}": URI_A,
    }


def test_a_name_with_blanks_is_one_link_and_a_command_has_those_in_it(scene: Scene) -> None:
    scene.has(f"{ROOT}/my a.txt", TEXT)
    scene.says("`my a.txt` and `cat src/deep/b.py a.txt`")
    assert list(links(scene, talk(scene))) == ["my a.txt", "src/deep/b.py", "a.txt"]


def test_an_agents_own_paths_lead_to_the_editors(scene: Scene) -> None:
    agents = {"demo": {"command": "agent", "pathMap": {ROOT: "/remote"}}}
    scene.give(ev.SettingsChanged(({"agents": agents},)))
    scene.says("See /remote/src/deep/b.py:1")
    assert links(scene, talk(scene)) == {"/remote/src/deep/b.py:1": f"{URI_DEEP}#L1"}


@pytest.mark.parametrize("uri", [URI_A, "file:///nowhere"])
def test_other_documents_have_no_links_and_lead_nowhere(scene: Scene, uri: str) -> None:
    scene.buffer(A, "a.txt")
    assert links(scene, uri) == {}
    scene.give(ev.PlaceAsked("ticket", uri, 0))
    scene.give(ev.TrailAsked("ticket", uri))
    assert scene.take(ef.ReplyPlaces) == [ef.ReplyPlaces("ticket")] * 2


def test_a_conversation_that_is_not_open_has_no_links(scene: Scene) -> None:
    uri = talk(scene)
    scene.closes(next(iter(scene.state.conversations.values())).path)
    assert links(scene, uri) == {}


def test_of_a_long_conversation_the_end_is_looked_through(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mentions, "SCANNED", 2000)
    monkeypatch.setattr(mentions, "MOST_LINKS", 3)
    scene.says("a.txt:1\n\n" + "and so on\n" * 500 + "".join(f"a.txt:{n}\n" for n in range(2, 9)))
    assert list(links(scene, talk(scene))) == ["a.txt:6", "a.txt:7", "a.txt:8"]
    monkeypatch.setattr(mentions, "MOST_LINKS", 300)
    assert "a.txt:1" not in links(scene, talk(scene))


# --- definitions --------------------------------------------------------------------------------


def test_f10_a_mention_leads_to_its_place(scene: Scene) -> None:
    scene.says("I read a.txt:2:3, a.txt:99:99, c.py:0, and then nothing. missing.py:3")
    uri = talk(scene)
    assert lead(scene, uri, "xt:2:3") == [ef.Spot(URI_A, 1, 2, "two")]
    assert lead(scene, uri, "a.txt:99") == [ef.Spot(URI_A, 2, 5, "three")]
    assert lead(scene, uri, "c.py") == [ef.Spot(URI_OTHER, 0, 0, "one")]
    assert lead(scene, uri, "nothing") == []
    assert lead(scene, uri, "missing.py") == []


def test_f10_what_is_open_is_led_to_as_it_is_on_the_screen(scene: Scene) -> None:
    scene.says("See a.txt:9 and a.txt")
    uri = talk(scene)
    scene.buffer(A)
    scene.types(A, 0, "mine\n")
    assert lead(scene, uri, "a.txt:9") == [ef.Spot(URI_A, 3, 0, "three")]
    assert lead(scene, uri, "a.txt\n") == [ef.Spot(URI_A)]


def test_a_file_outside_is_led_to_and_not_read(scene: Scene) -> None:
    scene.says("See /etc/hosts:7")
    assert lead(scene, talk(scene), "/etc/hosts") == [ef.Spot("file:///etc/hosts", 6)]


def test_an_empty_file_has_one_place(scene: Scene) -> None:
    scene.has(f"{ROOT}/empty.py", "")
    scene.says("See empty.py:3")
    (spot,) = lead(scene, talk(scene), "empty.py")
    assert (spot.row, spot.column, spot.line) == (0, 0, "")


def test_a_mention_far_along_a_line_is_found(scene: Scene) -> None:
    scene.says("word " * 2000 + "a.txt:3")
    assert lead(scene, talk(scene), "a.txt:3") == [ef.Spot(URI_A, 2, 0, "three")]


def test_a_tool_call_leads_to_its_place(scene: Scene) -> None:
    scene.tool_call("c1", kind="read", title="Look", locations=(Location(A, 2),))
    scene.tool_call("c2", Fragment(DEEP, "three", "3"), title="Change")
    scene.tool_call("c3", title="Think", kind="think")
    uri = talk(scene)
    assert lead(scene, uri, "read: Look") == [ef.Spot(URI_A, 1, 0, "two")]
    assert lead(scene, uri, "edit: Change") == [ef.Spot(URI_DEEP, 2, 0, "three")]
    assert lead(scene, uri, "think: Think") == []


def test_a_line_that_the_user_has_changed_is_no_tool_call(scene: Scene) -> None:
    scene.tool_call("c1", kind="read", title="Look", locations=(Location(A, 2),))
    uri = talk(scene)
    assert lead(scene, uri, "read: Look") != []
    path = next(iter(scene.state.conversations.values())).path
    scene.types(path, 0, "mine\n")
    assert lead(scene, uri, "read: Look") == []


# --- the trail ------------------------------------------------------------------------------------


def test_the_trail_is_listed_in_the_order_in_which_the_agent_was_there(scene: Scene) -> None:
    scene.tool_call("c1", kind="read", locations=(Location(A, 2),))
    scene.tool_call("c2", kind="read", locations=(Location(DEEP),))
    scene.tool_call("c3", kind="read", locations=(Location(A, 3),))
    scene.give(ev.TrailAsked("ticket", talk(scene)))
    assert scene.take(ef.ReplyPlaces) == [
        ef.ReplyPlaces("ticket", (ef.Spot(URI_A, 1), ef.Spot(URI_DEEP, 0), ef.Spot(URI_A, 2)))
    ]
