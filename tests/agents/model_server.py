"""A model that says what a test wrote down: the two HTTP interfaces that our agents use.

A script is ``{cue: [turn, turn, ...]}``. The latest message of a user that holds a cue starts
that scene; each answer of the model since then counts as a turn played. So the server keeps
no state, and an agent that asks the same twice gets the same twice. Agents also ask small
things on the side, such as a title: without tools to use, the answer is a few fixed words.

Anthropic's messages and OpenAI's chat completions, streamed: agents ask for nothing else.
"""

from __future__ import annotations

import json
import sys
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import count
from typing import Any, Final, Literal, Self, TypeAlias

Json: TypeAlias = dict[str, Any]
Abstract: TypeAlias = Literal["read", "edit", "write", "shell"]


@dataclass(frozen=True, slots=True)
class Say:
    """Say a text, a few letters at a time, each piece ``pause`` seconds after the one before."""

    text: str
    pause: float = 0.0


@dataclass(frozen=True, slots=True)
class Use:
    """Use the agent's tool of that sort; ``given`` has the keys of ``ARGUMENTS``."""

    tool: Abstract
    given: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Call:
    """A ``Use`` in the agent's own words."""

    name: str
    arguments: Json


Turn: TypeAlias = Sequence[Say | Use]
Script: TypeAlias = Mapping[str, Sequence[Turn]]

# The names that the agents have for the same things; what a request declares decides.
TOOLS: Final[Mapping[Abstract, tuple[str, ...]]] = {
    "read": ("Read", "read"),
    "edit": ("Edit", "edit"),
    "write": ("Write", "write"),
    "shell": ("Bash", "bash"),
}
ARGUMENTS: Final[Mapping[str, tuple[str, ...]]] = {
    "path": ("file_path", "path"),
    "old": ("old_string", "oldText"),
    "new": ("new_string", "newText"),
    "text": ("content",),
    "command": ("command",),
}
PIECE: Final = 12
ASIDE: Final = "A small matter"
OVER: Final = "The script ends here."


class ModelServer:
    """A scripted model behind a loopback port, for the length of a ``with`` block.

    ``asked`` holds the body of every request of a turn, oldest first; ``unknown`` the paths of
    requests that we do not play; ``faults`` what went wrong in answering.
    """

    def __init__(self, script: Script) -> None:
        self.script = script
        self.asked: list[Json] = []
        self.unknown: list[str] = []
        self.faults: list[str] = []
        self.numbers = count(1)
        self.ending = threading.Event()
        self._http = _Http(self)
        self.url = f"http://127.0.0.1:{self._http.server_address[1]}"

    def __enter__(self) -> Self:
        # A short poll, since shutdown waits for the next one.
        serve = threading.Thread(target=self._http.serve_forever, args=(0.02,), daemon=True)
        serve.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.ending.set()
        self._http.shutdown()
        self._http.server_close()

    def turn(self, messages: Sequence[Json], tools: Mapping[str, Json]) -> list[Say | Call]:
        """What the model says now, in the agent's own words for its tools."""
        cue, played = None, 0
        for message in messages:
            if message.get("role") == "assistant":
                played += 1
            said = _text(message.get("content")) if message.get("role") == "user" else ""
            found = max(((said.rfind(cue), cue) for cue in self.script), default=(-1, None))
            if found[0] >= 0:
                cue, played = found[1], 0
        turns = self.script[cue] if cue is not None else ()
        if played >= len(turns):
            return [Say(OVER)]
        return [_called(act, tools) if isinstance(act, Use) else act for act in turns[played]]


def _called(use: Use, tools: Mapping[str, Json]) -> Call | Say:
    name = next((name for name in TOOLS[use.tool] if name in tools), None)
    if name is None:
        return Say(f"There is no tool to {use.tool} with, only {', '.join(sorted(tools))}.")
    wanted = tools[name].get("properties", {})
    if "edits" in wanted:  # a list of replacements where others take one
        replaced = {"oldText": use.given["old"], "newText": use.given["new"]}
        return Call(name, {**_arguments({"path": use.given["path"]}, wanted), "edits": [replaced]})
    return Call(name, _arguments(use.given, wanted))


def _arguments(given: Mapping[str, str], wanted: Mapping[str, Any]) -> Json:
    return {
        next(name for name in ARGUMENTS[ours] if name in wanted): value
        for ours, value in given.items()
    }


def _text(content: object) -> str:
    """The text of a message: a string, or blocks of which some are text."""
    if isinstance(content, str):
        return content
    blocks = content if isinstance(content, list) else []
    return "\n".join(block["text"] for block in blocks if block.get("type") == "text")


# --- HTTP --------------------------------------------------------------------------------


class _Http(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, model: ModelServer) -> None:
        self.model = model
        super().__init__(("127.0.0.1", 0), _Exchange)

    def handle_error(self, request: object, client_address: object) -> None:
        error = sys.exception()
        # An agent that is told to stop hangs up in the middle of an answer.
        if not isinstance(error, ConnectionError):
            self.model.faults.append(repr(error))


class _Exchange(BaseHTTPRequestHandler):
    server: _Http
    protocol_version = "HTTP/1.1"

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002  (the base's name)
        """Say nothing on stderr."""

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        path = self.path.partition("?")[0]
        interface = next((found for end, found in _INTERFACES.items() if path.endswith(end)), None)
        if interface is None or not body.get("stream"):
            self.server.model.unknown.append(path)
            self.send_error(404)
            return
        model = self.server.model
        answer = interface(body, next(model.numbers), model.ending)
        acts: Sequence[Say | Call] = [Say(answer.aside())]
        if answer.tools:
            model.asked.append(body)
            acts = model.turn(body["messages"], answer.tools)
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Connection", "close")  # so that the end needs no sign of its own
        self.end_headers()
        for event in answer.events(acts):
            name = f"event: {event['type']}\n" if "type" in event else ""
            self.wfile.write(f"{name}data: {json.dumps(event)}\n\n".encode())
        self.wfile.write(answer.last)


# --- the two interfaces ------------------------------------------------------------------


class _Interface:
    """Reads a request of its kind, and tells a turn in its words."""

    last = b""

    def __init__(self, body: Json, number: int, ending: threading.Event) -> None:
        self.number = number
        self.body = body
        self.ending = ending
        self.tools = dict(self.declared())

    def declared(self) -> Iterator[tuple[str, Json]]:
        """The tools of the request: the name and the schema of the arguments."""
        raise NotImplementedError

    def events(self, acts: Sequence[Say | Call]) -> Iterator[Json]:
        """The turn as it is streamed; an event of the stream is named by its ``type``."""
        raise NotImplementedError

    def aside(self) -> str:
        """What to say to a request that is no turn."""
        return ASIDE

    def pieces(self, say: Say) -> Iterator[str]:
        for start in range(0, len(say.text), PIECE):
            if say.pause and self.ending.wait(say.pause):
                return
            yield say.text[start : start + PIECE]


class _Messages(_Interface):
    """Anthropic's messages."""

    def declared(self) -> Iterator[tuple[str, Json]]:
        for tool in self.body.get("tools", ()):
            yield tool["name"], tool.get("input_schema", {})

    def aside(self) -> str:
        wanted = self.body.get("output_config", {}).get("format")
        if wanted is None:
            return ASIDE
        return json.dumps(dict.fromkeys(wanted["schema"]["properties"], ASIDE))

    def events(self, acts: Sequence[Say | Call]) -> Iterator[Json]:
        message = {
            "id": f"msg_{self.number}",
            "type": "message",
            "role": "assistant",
            "model": self.body["model"],
            "content": [],
            "stop_reason": None,
            "stop_sequence": None,
            "usage": {"input_tokens": 100, "output_tokens": 1},
        }
        yield {"type": "message_start", "message": message}
        for index, act in enumerate(acts):
            block, deltas = self._block(act, f"toolu_{self.number}_{index}")
            yield {"type": "content_block_start", "index": index, "content_block": block}
            for delta in deltas:
                yield {"type": "content_block_delta", "index": index, "delta": delta}
            yield {"type": "content_block_stop", "index": index}
        reason = "tool_use" if any(isinstance(act, Call) for act in acts) else "end_turn"
        end = {"stop_reason": reason, "stop_sequence": None}
        yield {"type": "message_delta", "delta": end, "usage": {"output_tokens": 10}}
        yield {"type": "message_stop"}

    def _block(self, act: Say | Call, id_: str) -> tuple[Json, Iterable[Json]]:
        if isinstance(act, Say):
            deltas = ({"type": "text_delta", "text": piece} for piece in self.pieces(act))
            return {"type": "text", "text": ""}, deltas
        arguments = json.dumps(act.arguments)
        block = {"type": "tool_use", "id": id_, "name": act.name, "input": {}}
        return block, [{"type": "input_json_delta", "partial_json": arguments}]


class _Completions(_Interface):
    """OpenAI's chat completions."""

    last = b"data: [DONE]\n\n"

    def declared(self) -> Iterator[tuple[str, Json]]:
        for tool in self.body.get("tools", ()):
            yield tool["function"]["name"], tool["function"].get("parameters", {})

    def events(self, acts: Sequence[Say | Call]) -> Iterator[Json]:
        yield self._chunk({"role": "assistant", "content": ""})
        calls = 0
        for act in acts:
            if isinstance(act, Say):
                for piece in self.pieces(act):
                    yield self._chunk({"content": piece})
                continue
            call = {
                "index": calls,
                "id": f"call_{self.number}_{calls}",
                "type": "function",
                "function": {"name": act.name, "arguments": json.dumps(act.arguments)},
            }
            calls += 1
            yield self._chunk({"tool_calls": [call]})
        yield self._chunk({}, "tool_calls" if calls else "stop")

    def _chunk(self, delta: Json, finish: str | None = None) -> Json:
        return {
            "id": f"completion_{self.number}",
            "object": "chat.completion.chunk",
            "created": 0,
            "model": self.body["model"],
            "choices": [{"index": 0, "delta": delta, "finish_reason": finish}],
        }


_INTERFACES: Final = {"/chat/completions": _Completions, "/messages": _Messages}
