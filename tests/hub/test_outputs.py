"""What a tool call told of is there to be read and copied, whatever the verdict was (D12)."""

from __future__ import annotations

import pytest
from scene import ROOT, A, Scene, patch

from acpls.session.content import Fragment, OtherContent, Patch, Resource, TerminalRef, Text
from acpls.text.patch import FilePatch, parse

BEFORE, AFTER = "one\ntwo\nthree\n", "one\n2\nthree\n"
HUNK = "@@ -2,1 +2,1 @@\n-two\n+2\n"


def read(scene: Scene, call: str = "c") -> str:
    """The whole output of a tool call."""
    answer = scene.result("output.read", toolCall=call)
    text: str = answer["text"]
    assert answer["total"] == len(text)
    return text


@pytest.fixture
def scene() -> Scene:
    """A session is at work on a file."""
    scene = Scene()
    scene.has(A, BEFORE)
    scene.session()
    scene.prompts()
    return scene


def test_d12_what_was_rejected_can_still_be_read(scene: Scene) -> None:
    scene.lands(A, AFTER)
    scene.tool_call("c", Fragment(A, BEFORE, AFTER), status="completed")
    scene.ends()
    scene.result("review.reject", all=True)
    assert scene.disk[A] == BEFORE
    assert read(scene) == f"--- {A}\n+++ {A}\n{HUNK}"


def test_texts_and_diffs_stand_in_their_order(scene: Scene) -> None:
    content = (
        Text("First."),
        Fragment(f"{ROOT}/new.txt", None, "new"),
        TerminalRef("t"),
        OtherContent({"type": "x"}),
        Resource("file:///r", text="a resource is a link here"),
        Text("Last."),
    )
    scene.tool_call("c", *content)
    added = "@@ -0,0 +1,1 @@\n+new\n\\ No newline at end of file\n"
    new = f"--- /dev/null\n+++ {ROOT}/new.txt\n{added}"
    assert read(scene) == f"First.\n{new}\nLast."


def test_a_patch_is_told_as_it_was_read(scene: Scene) -> None:
    said = patch(A, BEFORE, AFTER)
    scene.tool_call("c", said)
    text = read(scene)
    (again,), problems = parse(text)
    assert problems == ()
    assert again == said.files[0]


@pytest.mark.parametrize(
    ("old", "new"), [("a", "b"), ("a\n", "a"), ("a", "a\n"), ("a\nb\n", ""), ("", "a\nb")]
)
def test_the_ends_of_files_are_told(scene: Scene, old: str, new: str) -> None:
    said = patch(A, old, new)
    scene.tool_call("c", said)
    (again,), _ = parse(read(scene))
    assert again == said.files[0]


def test_files_that_come_go_and_are_binary(scene: Scene) -> None:
    files = (FilePatch(None, A, ()), FilePatch(A, None, ()), FilePatch(A, A, (), binary=True))
    scene.tool_call("c", Patch((), files))
    none = "/dev/null"
    assert read(scene) == "\n".join(
        (
            f"--- {none}\n+++ {A}\n",
            f"--- {A}\n+++ {none}\n",
            f"--- {A}\n+++ {A}\nBinary files differ\n",
        )
    )
