"""What goes along with a prompt: blocks as given, selections as they are on screen (D46, D47)."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
from scene import FACTS, NATIVE, ROOT, A, Scene

from acpls import events as ev
from acpls.hub.attachments import fitting, prompt_blocks, quote
from acpls.hub.state import CannotDo
from acpls.session.asks import Prompt
from acpls.session.content import Media, Resource, ResourceLink, Text
from acpls.text import uris

if TYPE_CHECKING:
    from acpls.session.content import Block
    from acpls.text.lines import Encoding

URI = uris.from_path(A)
EMBEDS = replace(FACTS, embedded_context=True)


def span(start: tuple[int, int], end: tuple[int, int]) -> dict[str, Any]:
    """An LSP range of two pairs of line and character."""
    first, last = ({"line": line, "character": at} for line, at in (start, end))
    return {"start": first, "end": last}


def attached(scene: Scene, **context: Any) -> Block:
    """The block that one item of ``context`` becomes."""
    block, words = prompt_blocks(scene.state, {"text": "look", "context": [context]})
    assert words == Text("look")
    return block


# --- blocks -------------------------------------------------------------------------------

BLOCKS: list[tuple[dict[str, Any], Block]] = [
    ({"type": "text", "text": "tea"}, Text("tea")),
    (
        {"type": "resource_link", "uri": "file:///x", "name": "x"},
        ResourceLink("file:///x", "x"),
    ),
    (
        {"type": "resource_link", "uri": "file:///x", "name": "x", "mimeType": "text/css"},
        ResourceLink("file:///x", "x", mime_type="text/css"),
    ),
    (
        {"type": "image", "data": "AAAA", "mimeType": "image/png"},
        Media("image", "AAAA", "image/png"),
    ),
    (
        {"type": "audio", "data": "BBBB", "mimeType": "audio/wav", "uri": "file:///s"},
        Media("audio", "BBBB", "audio/wav", "file:///s"),
    ),
]


@pytest.mark.parametrize(("payload", "block"), BLOCKS)
def test_a_block_in_acps_shape(payload: dict[str, Any], block: Block) -> None:
    assert prompt_blocks(Scene().state, {"blocks": [payload]}) == (block,)


@pytest.mark.parametrize(
    "payload",
    [
        {},
        {"type": "text"},
        {"type": "text", "text": 1},
        {"type": "resource_link", "uri": "file:///x"},
        {"type": "image", "data": "AAAA"},
        {"type": "resource", "resource": {"uri": "file:///x", "text": "x"}},
    ],
)
def test_a_block_of_another_shape_fails_and_opens_no_session(payload: dict[str, Any]) -> None:
    scene = Scene()
    failed = scene.error("session.prompt", text="look", blocks=[payload])
    assert (failed.code, failed.field) == (-32602, "blocks")
    assert failed.message == "A block must be a text, resource_link, image or audio block of ACP"
    assert scene.state.sessions == {}


def test_what_is_attached_comes_first_and_the_users_words_last() -> None:
    scene = Scene()
    scene.buffer(A, "one\n")
    blocks = prompt_blocks(
        scene.state,
        {
            "text": "  byte for byte\r\n",
            "blocks": [{"type": "text", "text": "given"}],
            "context": [{"uri": URI}, {"uri": "file:///ws/other.txt"}],
        },
    )
    assert blocks == (
        Resource(URI, text="one\n", mime_type="text/plain"),
        ResourceLink("file:///ws/other.txt", "other.txt"),
        Text("given"),
        Text("  byte for byte\r\n"),
    )


@pytest.mark.parametrize("text", [None, ""])
def test_what_is_attached_alone_is_no_prompt(text: str | None) -> None:
    assert prompt_blocks(Scene().state, {"text": text, "context": [{"uri": URI}]}) == ()


# --- context: documents and selections ----------------------------------------------------


def test_a_document_that_is_not_open_is_named_only() -> None:
    scene = Scene()
    scene.disk[A] = "one\n"
    link = attached(scene, uri="file:///ws/a%20b.txt", range=span((0, 0), (1, 0)))
    assert link == ResourceLink("file:///ws/a%20b.txt", "a b.txt")
    assert attached(scene, uri="untitled:Tea-1") == ResourceLink("untitled:Tea-1", "untitled:Tea-1")


def test_text_and_lines_of_a_selection_are_those_of_the_unsaved_document() -> None:
    """D46: the file has the line at another place, and without the user's word."""
    scene = Scene()
    scene.disk[A] = "one\ntwo\n"
    scene.buffer(A)
    scene.types(A, 0, "new\nnew\n")
    scene.types(A, 3, "my ")
    block = attached(scene, uri=URI, range=span((3, 0), (3, 6)))
    assert block == Resource(f"{URI}#L4-L4", text="my two", mime_type="text/plain")
    whole = attached(scene, uri=URI)
    assert whole == Resource(URI, text="new\nnew\none\nmy two\n", mime_type="text/plain")
    assert scene.disk[A] == "one\ntwo\n"


def test_a_selection_is_taken_from_the_version_at_the_moment_of_the_command() -> None:
    """D46: what the user types after that changes neither the text nor the lines."""
    scene = Scene(facts=EMBEDS)
    scene.session()
    scene.prompts("first")
    scene.buffer(A, "one\ntwo\n")
    context = [{"uri": URI, "range": span((1, 0), (1, 3))}]
    assert scene.result("session.prompt", text="second", context=context)["queued"] is True
    scene.types(A, 0, "new\n")
    scene.ends()
    selected = Resource(f"{URI}#L2-L2", text="two", mime_type="text/plain")
    assert scene.asked[scene.number(Prompt)] == Prompt(NATIVE, (selected, Text("second")))


LINES: list[tuple[tuple[int, int], tuple[int, int], str, str]] = [
    # A range that ends before the first character of a line has nothing of that line.
    ((0, 0), (1, 0), "one\n", "#L1-L1"),
    ((0, 0), (2, 0), "one\ntwo\n", "#L1-L2"),
    ((0, 1), (1, 1), "ne\nt", "#L1-L2"),
    ((1, 0), (1, 0), "", "#L2-L2"),
    ((0, 2), (0, 2), "", "#L1-L1"),
    ((2, 0), (2, 5), "three", "#L3-L3"),
    ((2, 0), (9, 9), "three", "#L3-L3"),
    ((0, 3), (1, 0), "\n", "#L1-L1"),
]


@pytest.mark.parametrize(("start", "end", "text", "lines"), LINES)
def test_the_lines_of_a_selection_count_from_one_and_include_the_last(
    start: tuple[int, int], end: tuple[int, int], text: str, lines: str
) -> None:
    scene = Scene()
    scene.buffer(A, "one\ntwo\nthree")
    block = attached(scene, uri=URI, range=span(start, end))
    assert block == Resource(f"{URI}{lines}", text=text, mime_type="text/plain")


# The characters around "tea" in "é🍵tea🫖\n", in code units of each encoding.
AROUND_TEA: list[tuple[Encoding, int, int]] = [("utf-8", 6, 9), ("utf-16", 3, 6), ("utf-32", 2, 5)]


@pytest.mark.parametrize(("encoding", "start", "end"), AROUND_TEA)
def test_positions_count_in_the_encoding_that_was_agreed_on(
    encoding: Encoding, start: int, end: int
) -> None:
    """D47: an emoji before a selection does not move it."""
    scene = Scene()
    scene.state.buffers.encoding = encoding
    scene.buffer(A, "first\né🍵tea🫖\n")
    where = span((1, start), (1, end))
    block = attached(scene, uri=URI, range=where)
    assert block == Resource(f"{URI}#L2-L2", text="tea", mime_type="text/plain")
    quoted = quote(scene.state, {"uri": URI, "range": where})
    assert quoted == "`a.txt:2-2`\n\n```python\ntea\n```\n\n"


# --- quotes -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("intent", "words"),
    [(None, ""), ("ask", ""), ("fix", "Fix this:\n"), ("explain", "Explain this:\n")],
)
def test_a_quote_says_what_is_wanted(intent: str | None, words: str) -> None:
    scene = Scene()
    scene.buffer(A, "one\ntwo\n")
    arguments = {"uri": URI, "range": span((0, 0), (1, 0)), "intent": intent}
    assert quote(scene.state, arguments) == f"{words}`a.txt:1-1`\n\n```python\none\n```\n\n"


def test_without_a_document_nothing_is_quoted() -> None:
    assert quote(Scene().state, {"intent": "fix"}) == ""


def test_without_a_selection_a_document_is_named() -> None:
    scene = Scene()
    assert quote(scene.state, {"uri": URI, "range": span((0, 0), (1, 0))}) == "`a.txt`\n\n"
    scene.buffer(A, "one\n")
    assert quote(scene.state, {"uri": URI}) == "`a.txt`\n\n"
    blank = {"uri": URI, "range": span((0, 3), (1, 0)), "intent": "fix"}
    assert quote(scene.state, blank) == "Fix this:\n`a.txt:1`\n\n"


def test_the_fence_of_a_quote_is_longer_than_those_in_the_text() -> None:
    scene = Scene()
    scene.buffer(A, "````\nx\n```\n")
    quoted = quote(scene.state, {"uri": URI, "range": span((0, 0), (3, 0))})
    assert quoted == "`a.txt:1-3`\n\n`````python\n````\nx\n```\n`````\n\n"


# --- agents that take no resources with their contents ------------------------------------


def test_an_agent_that_takes_resources_gets_them_as_they_are() -> None:
    blocks: tuple[Block, ...] = (Resource("file:///x", text="tea"), Text("look"))
    assert fitting(blocks, EMBEDS) == blocks


@pytest.mark.parametrize("facts", [FACTS, None])
def test_any_other_agent_gets_their_contents_as_text(facts: Any) -> None:
    link = ResourceLink("file:///y", "y")
    blocks = (Resource("file:///x#L1-L1", text="tea"), link, Resource("file:///z"), Text("look"))
    assert fitting(blocks, facts) == (
        Text("file:///x#L1-L1:\n```\ntea\n```\n"),
        link,
        Text("file:///z:\n```\n\n```\n"),
        Text("look"),
    )


@pytest.mark.parametrize(
    "block",
    [
        {"type": "resource_link", "uri": "file:///x", "name": "x", "mimeType": 3},
        {"type": "image", "data": "", "mimeType": "image/png", "uri": []},
    ],
)
def test_a_member_of_another_type_is_refused(block: dict[str, Any]) -> None:
    with pytest.raises(CannotDo) as refused:
        prompt_blocks(Scene().state, {"blocks": [block]})
    assert refused.value.field == "blocks"
    assert "must be a string" in refused.value.message


def test_a_link_keeps_its_title() -> None:
    link = {"type": "resource_link", "uri": "file:///x", "name": "x", "title": "T"}
    assert prompt_blocks(Scene().state, {"blocks": [link]}) == (
        ResourceLink("file:///x", "x", "T"),
    )


def test_d46_a_selection_made_backwards_is_the_same_selection() -> None:
    scene = Scene()
    scene.disk[A] = "one\ntwo\nthree\n"
    uri = scene.buffer(A)
    span = {"start": {"line": 1, "character": 3}, "end": {"line": 0, "character": 0}}
    (block, _) = prompt_blocks(scene.state, {"text": "x", "context": [{"uri": uri, "range": span}]})
    assert block == Resource(f"{uri}#L1-L2", text="one\ntwo", mime_type="text/plain")


def test_a_document_is_quoted_by_its_path_in_the_innermost_folder() -> None:
    scene = Scene(ready=ev.EditorReady((ROOT, f"{ROOT}/inner")))
    said = [quote(scene.state, {"uri": f"file://{ROOT}/{at}"}) for at in ("a/b.py", "inner/a/b.py")]
    assert said == ["`a/b.py`\n\n", "`a/b.py`\n\n"]
    # A folder that only begins with the same letters is another one.
    assert quote(scene.state, {"uri": f"file://{ROOT}ed/b.py"}) == f"`{ROOT}ed/b.py`\n\n"


def test_a_file_name_that_is_no_text_becomes_one() -> None:
    assert quote(Scene().state, {"uri": "file:///tmp/caf%E9.txt"}) == "`/tmp/caf\ufffd.txt`\n\n"
