"""Makes recordings for this repository out of transcripts of real agents.

    python tests/replay/distill.py TRANSCRIPT AGENT SCENARIO   one
    python tests/replay/distill.py --all FOLDER [FOLDER...]    all transcripts in these folders

Keys, kinds, ids, their order, ``null`` and absent stay, and so does every short text. What
belongs to the agents' makers (help, descriptions, prompts, manuals, error pages) becomes a
mark that says how long it was; texts with several lines are treated line by line, so that
patches stay patches. Times and what the recording client noted for itself are dropped.
"""

from __future__ import annotations

import base64
import json
import re
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

from recorded import MARK, expanded, filler, lines_file

LONG: Final = 80

# Where a description stands in messages: it is the maker's, however short it is.
DESCRIBING: Final = {"description", "hint"}
DESCRIBED: Final = {
    "availableCommands",
    "configOptions",
    "availableModes",
    "availableModels",
    "authMethods",
    "_agentao.cn/extensions",
}

# What the scripted model, the recording client and the files of the project say.
OURS: Final = frozenset(
    """\
import sys
def greet(name):
    # é non-ASCII before the edit: 日本語 🎉
    return "Hello, " + name
    greeting = "Grüße 🎉"
    return f"{greeting}, {name}!"
def main():
def main() -> None:
    print(greet(sys.argv[1]))
if __name__ == "__main__":
    main()
def add(a, b):
    return a + b
    return a + b + 0  # edited: naïve ✓ 😀
def sub(a, b):
    return a - b
# made by the agent
print('héllo 😀')
# unsaved line in the editor
# Project
A small project.
# Notes
Written by the agent.
# Replaced
Whole file.
outside
# My Project
This is a sample project...
oops
out
err
again
started
touch made
sleep 300
exit 3
out-2
echo out-$((1+1)); echo err >&2; touch made; exit 3
[stderr] err
I should greet the user.
Plan: read, edit, write, run.
****
the **stub**.
from the **stub**.
Hello from the **stub**.
old**, `code` and
print(1)
print('hi')
naïve ✓ 😀 end.
Done: grüße 🎉.
/home/user/project/hello.py:4:def greet(name):
/home/user/project/hello.py:9:def main():
/home/user/project/src/util.py:1:def add(a, b):
""".splitlines()
)
_OURS: Final = re.compile(
    r"\s*"
    r"|\d+"
    r"|`{1,3}[a-z]*"
    r"|[\[\]{}]"
    r"|\*\*\*CALL_TOOL .*"
    r"|\[\[script:[^\]]*\]\].*"
)
_PATCH: Final = re.compile(
    r"diff --git /\S+ /\S+"
    r"|(---|\+\+\+) /\S+"
    r"|Index: /\S+"
    r"|={67}"
    r"|@@ -\d+(,\d+)? \+\d+(,\d+)? @@"
    r"|(new|deleted) file mode \d+"
    r"|\\ No newline at end of file"
)
# How agents show the lines of a file: with numbers, or as parts of a patch.
_SHOWN: Final = re.compile(r" *\d+(\t|: )|[-+ ]")
_PATH: Final = re.compile(r"(file://)?/[^\s⟦⟧]+")
_IMAGE: Final = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAAB"
_CUT: Final = re.compile(r" ?…\[(\d+) characters left out\]… ?")
# The lines of a long file of the lab's, which are nothing but long.
_LONG_RUN: Final = re.compile(r"(?<=: )x{40,}")
# What may stand beside a mark in a text of several lines.
_REST: Final = re.compile(r"[-+ ]?((\d+: )?line \d+: ?)?x*|[-+ ]?")
# What a command that counts has printed.
_COUNTING: Final = re.compile(r"(?<![^\n])\d+(?:\n\d+){20,}(?![^\n])")
_LINE_ENDS: Final = re.compile(r"(\r\n|\r|\n)")


# --- texts ---------------------------------------------------------------------------


def mark(text: str) -> str:
    """The mark for a text. It counts the bytes that the text takes in a JSON string."""
    size = len(json.dumps(text, ensure_ascii=False).encode(errors="surrogatepass")) - 2
    return f"⟦{len(text)}⟧" if size == len(text) else f"⟦{len(text)}/{size}⟧"


def text(given: str) -> str:
    """A text as it may be stored."""
    assert MARK.search(given) is None
    if (cut := _CUT.search(given)) is not None:
        return text(given[: cut.start()]) + f"⟦{cut[1]}⟧" + text(given[cut.end() :])
    if (counting := _COUNTING.search(given)) is not None:
        first, *_, last = lines = counting[0].split("\n")
        if lines == [str(x) for x in range(int(first), int(last) + 1)]:
            before, after = given[: counting.start()], given[counting.end() :]
            return text(before) + f"⟦{first}..{last}⟧" + text(after)
    pieces = _LINE_ENDS.split(given)
    if len(pieces) > 1:
        return "".join(x if _LINE_ENDS.fullmatch(x) else _one_of_many(x) for x in pieces)
    if given.startswith("https://"):
        # The addresses of other people's pages are nothing to keep.
        return mark(given)
    if len(given) <= LONG or _is_ours(given) or _PATH.fullmatch(given):
        return given
    return given if given.startswith(_IMAGE) else mark(given)


def is_fit(stored: str) -> bool:
    """Whether a stored text holds nothing that should have become a mark."""
    with suppress(ValueError):
        printed = base64.b64decode(stored, validate=True).decode()
        if all(_is_filler(x) or _is_ours(x) for x in printed.splitlines()):
            return True
    lines = [x for x in _LINE_ENDS.split(stored) if not _LINE_ENDS.fullmatch(x)]
    if len(lines) == 1:
        rest = MARK.sub("", stored)
        whole = rest == stored and (_PATH.fullmatch(rest) or rest.startswith(_IMAGE))
        return len(rest) <= LONG or _is_ours(rest) or bool(whole)
    return all(_is_fit_among_many(x) for x in lines)


def _is_filler(line: str) -> bool:
    rest = line.lstrip("-+ ")
    return rest == filler(len(rest), len(rest.encode()))


def _is_fit_among_many(line: str) -> bool:
    rest = MARK.sub("", line)
    if rest != line:
        return _REST.fullmatch(rest) is not None
    shown = _SHOWN.match(line)
    rest = line if shown is None else line[shown.end() :]
    return _is_ours(line) or _is_ours(rest) or _PATCH.fullmatch(line) is not None


def _one_of_many(line: str) -> str:
    if (long := _LONG_RUN.search(line)) is not None:
        return line[: long.start()] + mark(long[0]) + line[long.end() :]
    if _is_ours(line) or _PATCH.fullmatch(line):
        return line
    shown = _SHOWN.match(line)
    if shown is not None and _is_ours(line[shown.end() :]):
        return line
    # What a line of a patch is, its first character tells.
    first = 1 if line[0] in "+- " else 0
    return line[:first] + (mark(line[first:]) if line[first:] else "")


def _is_ours(line: str) -> bool:
    return line in OURS or _OURS.fullmatch(line) is not None


def _output(given: str) -> str:
    """The output of a terminal: text inside base64."""
    try:
        printed = base64.b64decode(given, validate=True).decode()
    except ValueError:
        return text(given)
    # The mark is put in place after it was coded, so it is expanded here already.
    return base64.b64encode(expanded(text(printed)).encode()).decode()


# --- messages ------------------------------------------------------------------------


def value(given: Any, key: str = "", *, described: bool = False) -> Any:
    """Any part of a message as it may be stored; ``key`` is what it stands under."""
    match given:
        case dict():
            below = described or key in DESCRIBED
            if key == "output" and set(given) == {"data"}:
                return {"data": _output(given["data"])}
            return {name: value(x, name, described=below) for name, x in given.items()}
        case list():
            return [value(x, key, described=described) for x in given]
        case str() if described and key in DESCRIBING:
            lines = _LINE_ENDS.split(given)
            return "".join(x if _OURS.fullmatch(x) else mark(x) for x in lines)
        case str() if key == "data" and len(given) > LONG and not given.startswith(_IMAGE):
            return _output(given)
        case str():
            return text(given)
        case _:
            return given


def line(given: dict[str, Any]) -> dict[str, Any]:
    """A line of a transcript as one of a recording."""
    if "end" in given:
        end = given["end"]
        return {"end": f"{end['how']}, exit code {end['exit']}"}
    if "note" in given:
        return {"note": given["note"]}
    for name in ("raw", "noise"):
        if name in given:
            return {given["dir"]: text(given[name])}
    message = value(given["msg"])
    # Said by every message, so it is not kept.
    assert message.pop("jsonrpc") == "2.0"
    return {given["dir"]: message}


def distill(transcript: Path, name: str) -> None:
    """Write the recording ``name`` of a transcript."""
    with transcript.open(encoding="utf-8") as file:
        stored = [line(json.loads(x)) for x in file]
    target = lines_file(name)
    target.parent.mkdir(parents=True, exist_ok=True)
    with target.open("w", encoding="utf-8", newline="\n") as out:
        for x in stored:
            out.write(json.dumps(x, ensure_ascii=False, separators=(",", ":")) + "\n")


# Agents whose names have a hyphen.
_HYPHENED: Final = ("fastagent-passthrough", "pilc-mock", "sdk-echo", "sdk-example")


def name_of(transcript: Path) -> tuple[str, str]:
    """The agent and the scenario of a transcript."""
    stem = transcript.stem
    agent = next((x for x in _HYPHENED if stem.startswith(x + "-")), stem.split("-")[0])
    return agent, stem.removeprefix(agent + "-").replace("_", "-")


def main(arguments: list[str]) -> None:
    """Run the command line."""
    if arguments[:1] != ["--all"]:
        transcript, agent, scenario = arguments
        distill(Path(transcript), f"{agent}/{scenario}")
        return
    agents: set[str] = set()
    for folder in arguments[1:]:
        before = frozenset(agents)
        for file in sorted(Path(folder).glob("*.jsonl")):
            agent, scenario = name_of(file)
            agents.add(agent)
            # Another agent of the same name, recorded elsewhere.
            other = "-2" if agent in before else ""
            distill(file, f"{agent}{other}/{scenario}")


if __name__ == "__main__":
    main(sys.argv[1:])
