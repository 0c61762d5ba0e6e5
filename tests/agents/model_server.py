"""A model that says what a test wrote down, behind the HTTP interfaces that agents use.

The server keeps no state between requests: what it says follows from the script and from what
the request tells of the talk so far (``model_script.play``). Agents also ask small things on
the side, such as a title: without tools to use, the answer is a few fixed words.
"""

from __future__ import annotations

import json
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import count
from typing import TYPE_CHECKING, Any, Self

from model_apis import INTERFACES
from model_script import Say, play

if TYPE_CHECKING:
    from collections.abc import Sequence

    from model_apis import Api
    from model_script import Call, Script

MODELS = ("scripted",)


class ModelServer:
    """A scripted model behind a loopback port, for the length of a ``with`` block.

    ``toolless``: also requests that declare no tool are turns of the script, for agents that
    find their tools in what the model says.

    ``unknown`` holds the paths of requests that we do not play; ``faults`` what went wrong in
    answering; ``tools`` the names of all tools that were declared.
    """

    def __init__(self, script: Script, *, toolless: bool = False) -> None:
        self.script = script
        self.toolless = toolless
        self.tools: set[str] = set()
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

    def answer(self, request: Api) -> Sequence[Say | Call]:
        """What the model says to a request."""
        self.tools.update(request.tools)
        if not request.tools and (not self.toolless or request.wanted() is not None):
            return [Say(request.aside())]
        return play(self.script, list(request.messages()), request.tools)


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

    def do_GET(self) -> None:
        path = self.path.partition("?")[0]
        if not path.endswith("/models"):
            self._refuse(path)
            return
        models = [{"id": name, "object": "model", "owned_by": "nobody"} for name in MODELS]
        self._send({"object": "list", "data": models})

    def do_POST(self) -> None:
        body = json.loads(self._body() or b"{}")
        path = self.path.partition("?")[0]
        interface = next((found for end, found in INTERFACES.items() if path.endswith(end)), None)
        if interface is None:
            self._refuse(path)
            return
        model = self.server.model
        request = interface(body, next(model.numbers), model.ending)
        acts = model.answer(request)
        if not request.streamed(path):
            self._send(request.whole(acts))
            return
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Connection", "close")  # so that the end needs no sign of its own
        self.end_headers()
        for event in request.events(acts):
            name = f"event: {event['type']}\n" if "type" in event else ""
            self.wfile.write(f"{name}data: {json.dumps(event)}\n\n".encode())
        self.wfile.write(request.last)

    def _body(self) -> bytes:
        if "chunked" not in self.headers.get("Transfer-Encoding", ""):
            return self.rfile.read(int(self.headers.get("Content-Length", 0)))
        chunks = []
        while size := int(self.rfile.readline().split(b";")[0], 16):
            chunks.append(self.rfile.read(size))
            self.rfile.readline()
        self.rfile.readline()
        return b"".join(chunks)

    def _send(self, answer: Any) -> None:
        text = json.dumps(answer).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def _refuse(self, path: str) -> None:
        self.server.model.unknown.append(path)
        self.send_error(404)
