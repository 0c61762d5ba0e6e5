"""The HTTP interfaces through which agents talk to a model, as far as ours use them.

Each class reads a request of its kind and tells a turn in its words, streamed or whole:
Anthropic's messages, OpenAI's chat completions and responses, Google's content generation.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, ClassVar, Final, Literal

from model_script import FILLER, Call, Json, Say, filler

if TYPE_CHECKING:
    import threading
    from collections.abc import Iterable, Iterator, Sequence

    from model_script import Message

PIECE: Final = 12
_SPEAKERS: Final[dict[str | None, Literal["user", "model"]]] = {
    "user": "user",
    "assistant": "model",
    "model": "model",
}


class Api:
    """A request and the answer to it.

    ``number`` tells the answers of a server apart; when ``ending`` is set, pauses are over.
    """

    last: ClassVar[bytes] = b""

    def __init__(self, body: Json, number: int, ending: threading.Event) -> None:
        self.body = body
        self.number = number
        self.ending = ending
        self.tools = dict(self.declared())

    def streamed(self, path: str) -> bool:
        """Whether the answer is wanted in pieces."""
        return bool(self.body.get("stream"))

    def messages(self) -> Iterator[Message]:
        """What was said so far, oldest first."""
        for message in self.body.get("messages", ()):
            yield _SPEAKERS.get(message.get("role"), "other"), _text(message.get("content"))

    def declared(self) -> Iterator[tuple[str, Json]]:
        """The tools of the request: the name and the schema of the arguments."""
        raise NotImplementedError

    def wanted(self) -> Json | None:
        """The schema of the answer, if it is to be one JSON value."""
        return None

    def events(self, acts: Sequence[Say | Call]) -> Iterator[Json]:
        """The turn as it is streamed; an event of the stream is named by its ``type``."""
        raise NotImplementedError

    def whole(self, acts: Sequence[Say | Call]) -> Json:
        """The turn in one answer."""
        raise NotImplementedError

    def aside(self) -> str:
        """What to say to a request that is no turn."""
        schema = self.wanted()
        return FILLER if schema is None else json.dumps(filler(schema))

    def pieces(self, say: Say) -> Iterator[str]:
        """The text as it comes, each piece in its time."""
        for start in range(0, len(say.text), PIECE):
            if say.pause and self.ending.wait(say.pause):
                return
            yield say.text[start : start + PIECE]


class Messages(Api):
    """Anthropic's messages."""

    def declared(self) -> Iterator[tuple[str, Json]]:
        for tool in self.body.get("tools", ()):
            yield tool["name"], tool.get("input_schema", {})

    def wanted(self) -> Json | None:
        schema: Json | None = (self.body.get("output_config", {}).get("format") or {}).get("schema")
        return schema

    def events(self, acts: Sequence[Say | Call]) -> Iterator[Json]:
        yield {"type": "message_start", "message": {**self._message(), "stop_reason": None}}
        for index, act in enumerate(acts):
            block, deltas = self._block(act, index)
            yield {"type": "content_block_start", "index": index, "content_block": block}
            for delta in deltas:
                yield {"type": "content_block_delta", "index": index, "delta": delta}
            yield {"type": "content_block_stop", "index": index}
        end = {"stop_reason": _reason(acts, "tool_use", "end_turn"), "stop_sequence": None}
        yield {"type": "message_delta", "delta": end, "usage": {"output_tokens": 10}}
        yield {"type": "message_stop"}

    def whole(self, acts: Sequence[Say | Call]) -> Json:
        blocks = [
            {"type": "text", "text": act.text}
            if isinstance(act, Say)
            else {**self._block(act, index)[0], "input": act.arguments}
            for index, act in enumerate(acts)
        ]
        reason = _reason(acts, "tool_use", "end_turn")
        return {**self._message(), "content": blocks, "stop_reason": reason}

    def _message(self) -> Json:
        return {
            "id": f"msg_{self.number}",
            "type": "message",
            "role": "assistant",
            "model": self.body["model"],
            "content": [],
            "stop_sequence": None,
            "usage": {"input_tokens": 100, "output_tokens": 1},
        }

    def _block(self, act: Say | Call, index: int) -> tuple[Json, Iterable[Json]]:
        if isinstance(act, Say):
            deltas = ({"type": "text_delta", "text": piece} for piece in self.pieces(act))
            return {"type": "text", "text": ""}, deltas
        arguments = json.dumps(act.arguments)
        id_ = f"toolu_{self.number}_{index}"
        block = {"type": "tool_use", "id": id_, "name": act.name, "input": {}}
        return block, [{"type": "input_json_delta", "partial_json": arguments}]


class Completions(Api):
    """OpenAI's chat completions."""

    last = b"data: [DONE]\n\n"

    def declared(self) -> Iterator[tuple[str, Json]]:
        for tool in self.body.get("tools", ()):
            yield tool["function"]["name"], tool["function"].get("parameters", {})

    def wanted(self) -> Json | None:
        schema: Json | None = (
            (self.body.get("response_format") or {}).get("json_schema") or {}
        ).get("schema")
        return schema

    def events(self, acts: Sequence[Say | Call]) -> Iterator[Json]:
        yield self._chunk({"role": "assistant", "content": ""})
        for act in acts:
            if isinstance(act, Say):
                for piece in self.pieces(act):
                    yield self._chunk({"content": piece})
        for index, call in enumerate(self._calls(acts)):
            yield self._chunk({"tool_calls": [{"index": index, **call}]})
        yield self._chunk({}, _reason(acts, "tool_calls", "stop"))
        yield {**self._answer("chat.completion.chunk", []), "usage": _USED}

    def whole(self, acts: Sequence[Say | Call]) -> Json:
        message: Json = {"role": "assistant", "content": _said(acts)}
        if calls := list(self._calls(acts)):
            message["tool_calls"] = calls
        reason = _reason(acts, "tool_calls", "stop")
        choice = {"index": 0, "message": message, "finish_reason": reason}
        return {**self._answer("chat.completion", [choice]), "usage": _USED}

    def _calls(self, acts: Sequence[Say | Call]) -> Iterator[Json]:
        for index, act in enumerate(act for act in acts if isinstance(act, Call)):
            function = {"name": act.name, "arguments": json.dumps(act.arguments)}
            yield {"id": f"call_{self.number}_{index}", "type": "function", "function": function}

    def _chunk(self, delta: Json, finish: str | None = None) -> Json:
        choice = {"index": 0, "delta": delta, "finish_reason": finish}
        return self._answer("chat.completion.chunk", [choice])

    def _answer(self, sort: str, choices: list[Json]) -> Json:
        return {
            "id": f"completion_{self.number}",
            "object": sort,
            "created": 0,
            "model": self.body["model"],
            "choices": choices,
        }


class Responses(Api):
    """OpenAI's responses."""

    def messages(self) -> Iterator[Message]:
        given = self.body.get("input", ())
        if isinstance(given, str):
            yield "user", given
            return
        for item in given:
            if item.get("type", "message") == "message":
                yield _SPEAKERS.get(item.get("role"), "other"), _text(item.get("content"))
            else:
                yield "model" if item["type"].endswith("_call") else "other", ""

    def declared(self) -> Iterator[tuple[str, Json]]:
        for tool in self.body.get("tools", ()):
            if tool["type"] == "function":
                yield tool["name"], tool.get("parameters", {})

    def wanted(self) -> Json | None:
        schema: Json | None = ((self.body.get("text") or {}).get("format") or {}).get("schema")
        return schema

    def events(self, acts: Sequence[Say | Call]) -> Iterator[Json]:
        steps = self._steps(acts)
        for number, event in enumerate(steps):
            yield {**event, "sequence_number": number}

    def whole(self, acts: Sequence[Say | Call]) -> Json:
        items = [self._item(act, index) for index, act in enumerate(acts)]
        return {**self._response("completed"), "output": items}

    def _steps(self, acts: Sequence[Say | Call]) -> Iterator[Json]:
        yield {"type": "response.created", "response": self._response("in_progress")}
        for index, act in enumerate(acts):
            item = self._item(act, index)
            at = {"output_index": index}
            if isinstance(act, Call):
                yield {
                    "type": "response.output_item.added",
                    **at,
                    "item": {**item, "arguments": ""},
                }
            else:
                yield {"type": "response.output_item.added", **at, "item": {**item, "content": []}}
                place = {**at, "item_id": item["id"], "content_index": 0}
                empty = {"type": "output_text", "text": "", "annotations": []}
                yield {"type": "response.content_part.added", **place, "part": empty}
                for piece in self.pieces(act):
                    yield {"type": "response.output_text.delta", **place, "delta": piece}
                yield {"type": "response.output_text.done", **place, "text": act.text}
            yield {"type": "response.output_item.done", **at, "item": item}
        yield {"type": "response.completed", "response": self.whole(acts)}

    def _item(self, act: Say | Call, index: int) -> Json:
        id_ = f"item_{self.number}_{index}"
        if isinstance(act, Call):
            return {
                "type": "function_call",
                "id": id_,
                "call_id": f"call_{self.number}_{index}",
                "name": act.name,
                "arguments": json.dumps(act.arguments),
                "status": "completed",
            }
        part = {"type": "output_text", "text": act.text, "annotations": []}
        return {
            "type": "message",
            "id": id_,
            "role": "assistant",
            "status": "completed",
            "content": [part],
        }

    def _response(self, status: str) -> Json:
        return {
            "id": f"response_{self.number}",
            "object": "response",
            "created_at": 0,
            "status": status,
            "model": self.body["model"],
            "output": [],
            "usage": {
                "input_tokens": 100,
                "input_tokens_details": {"cached_tokens": 0},
                "output_tokens": 10,
                "output_tokens_details": {"reasoning_tokens": 0},
                "total_tokens": 110,
            },
        }


class Generation(Api):
    """Google's content generation."""

    def streamed(self, path: str) -> bool:
        return path.endswith(":streamGenerateContent")

    def messages(self) -> Iterator[Message]:
        for content in self.body.get("contents", ()):
            text = "\n".join(part.get("text", "") for part in content.get("parts", ()))
            yield _SPEAKERS.get(content.get("role", "user"), "other"), text

    def declared(self) -> Iterator[tuple[str, Json]]:
        for group in self.body.get("tools", ()):
            for tool in group.get("functionDeclarations", ()):
                schema = tool.get("parametersJsonSchema") or tool.get("parameters") or {}
                yield tool["name"], schema

    def wanted(self) -> Json | None:
        config = self.body.get("generationConfig", {})
        schema: Json | None = config.get("responseJsonSchema") or config.get("responseSchema")
        return schema

    def events(self, acts: Sequence[Say | Call]) -> Iterator[Json]:
        for act in acts:
            if isinstance(act, Say):
                for piece in self.pieces(act):
                    yield self._answer([{"text": piece}])
            else:
                yield self._answer([self._part(act)])
        yield self._answer([{"text": ""}], "STOP")

    def whole(self, acts: Sequence[Say | Call]) -> Json:
        return self._answer([self._part(act) for act in acts], "STOP")

    def _part(self, act: Say | Call) -> Json:
        if isinstance(act, Say):
            return {"text": act.text}
        return {"functionCall": {"name": act.name, "args": act.arguments}}

    def _answer(self, parts: list[Json], finish: str | None = None) -> Json:
        candidate: Json = {"index": 0, "content": {"role": "model", "parts": parts}}
        if finish:
            candidate["finishReason"] = finish
        used = {"promptTokenCount": 100, "candidatesTokenCount": 10, "totalTokenCount": 110}
        return {"candidates": [candidate], "modelVersion": "scripted", "usageMetadata": used}


# How the path of a request ends, without what follows a question mark.
INTERFACES: Final[dict[str, type[Api]]] = {
    "/chat/completions": Completions,
    "/messages": Messages,
    "/responses": Responses,
    ":generateContent": Generation,
    ":streamGenerateContent": Generation,
}

_USED: Final = {"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110}


def _reason(acts: Sequence[Say | Call], calls: str, ends: str) -> str:
    return calls if any(isinstance(act, Call) for act in acts) else ends


def _said(acts: Sequence[Say | Call]) -> str:
    return "".join(act.text for act in acts if isinstance(act, Say))


def _text(content: Any) -> str:
    """The text of a message: a string, or blocks of which some are text."""
    if isinstance(content, str):
        return content
    blocks = content if isinstance(content, list) else []
    return "\n".join(block["text"] for block in blocks if isinstance(block.get("text"), str))
