"""The bytes from and to the editor."""

from __future__ import annotations

import io
import os
import threading

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from acpls.lsp.transport import Frames, QueueWriter, StdinReader


def framed(body: bytes, end: bytes = b"\r\n", extra: bytes = b"") -> bytes:
    return b"Content-Length: %d" % len(body) + end + extra + end + body


def cut(*chunks: bytes) -> list[bytes]:
    frames = Frames()
    return [body for chunk in chunks for body in frames.feed(chunk)]


class Sink:
    """A stream that waits at each write until it is let go, and can break."""

    def __init__(self, *, let_go: bool = True, error: Exception | None = None) -> None:
        self.taken = bytearray()
        self.writing = threading.Event()
        self.go = threading.Event()
        self.error = error
        if let_go:
            self.go.set()

    def write(self, data: bytes) -> None:
        self.writing.set()
        assert self.go.wait(5)
        if self.error is not None:
            raise self.error
        self.taken += data

    def flush(self) -> None:
        pass


@given(
    st.lists(st.binary(max_size=40), max_size=4),
    st.sampled_from([b"\r\n", b"\n"]),
    st.data(),
)
@settings(max_examples=100)
def test_a_stream_may_be_split_anywhere(
    bodies: list[bytes], end: bytes, data: st.DataObject
) -> None:
    stream = b"".join(framed(body, end) for body in bodies)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(stream)), max_size=6)))
    parts = [stream[a:b] for a, b in zip([0, *cuts], [*cuts, len(stream)], strict=True)]
    assert cut(*parts) == bodies


def test_a_stream_may_come_byte_by_byte() -> None:
    stream = framed(b'{"a": 1}') + framed(b"\r\n\r\n")
    assert cut(*(stream[i : i + 1] for i in range(len(stream)))) == [b'{"a": 1}', b"\r\n\r\n"]


def test_other_headers_and_any_case_are_tolerated() -> None:
    other = b"Content-Type: application/vscode-jsonrpc; charset=utf-8\r\nX\r\n"
    assert cut(framed(b"{}", extra=other)) == [b"{}"]
    assert cut(b"content-LENGTH :  2 \r\n\r\n{}") == [b"{}"]


@pytest.mark.parametrize("length", [b"", b"-3", b"two", b"1_0", b"+2", b"9" * 40])
def test_a_header_block_without_a_usable_length_is_skipped(
    length: bytes, caplog: pytest.LogCaptureFixture
) -> None:
    assert cut(b"Content-Length: " + length + b"\r\n\r\n" + framed(b"{}")) == [b"{}"]
    assert "Content-Length" in caplog.text


def test_an_endless_header_line_does_not_fill_the_memory(
    caplog: pytest.LogCaptureFixture,
) -> None:
    frames = Frames()
    for _ in range(40):
        assert list(frames.feed(b"x" * 4096)) == []
    assert "no header" in caplog.text
    assert list(frames.feed(b"\n\n" + framed(b"{}"))) == [b"{}"]


@pytest.mark.anyio
async def test_stdin_is_read_in_chunks_until_its_end() -> None:
    reader = StdinReader(io.BytesIO(b"abc"))
    assert await reader.chunk() == b"abc"
    assert await reader.chunk() == b""


@pytest.mark.anyio
async def test_an_input_that_cannot_be_read_has_ended() -> None:
    closed = io.BytesIO()
    closed.close()
    assert await StdinReader(closed).chunk() == b""


def test_what_is_written_arrives_in_order() -> None:
    sink = Sink()
    writer = QueueWriter(sink)
    parts = [b"%d," % number for number in range(1000)]
    for part in parts:
        writer.write(part)
    assert writer.drain(5)
    assert bytes(sink.taken) == b"".join(parts)
    assert writer.pending_bytes == 0


def test_writing_never_waits_for_a_client_that_does_not_read() -> None:
    sink = Sink(let_go=False)
    writer = QueueWriter(sink)
    writer.write(b"x" * 10_000_000)
    writer.write(b"y")
    assert sink.writing.wait(5)
    assert writer.pending_bytes == 10_000_001
    assert not writer.drain(0.01)
    sink.go.set()
    assert writer.drain(5)
    assert len(sink.taken) == 10_000_001


def test_after_close_only_what_was_queued_is_written() -> None:
    sink = Sink(let_go=False)
    writer = QueueWriter(sink)
    writer.write(b"before")
    writer.close()
    writer.write(b"after")
    sink.go.set()
    assert writer.drain(5)
    assert bytes(sink.taken) == b"before"


@pytest.mark.parametrize("error", [BrokenPipeError(), ValueError("closed file")])
def test_a_broken_pipe_is_told_once_and_drops_the_rest(error: Exception) -> None:
    calls: list[str] = []
    told = threading.Event()

    def call() -> None:
        calls.append("broken")
        told.set()

    sink = Sink(let_go=False, error=error)
    writer = QueueWriter(sink, call)
    writer.write(b"a")
    assert sink.writing.wait(5)
    writer.write(b"b")
    sink.go.set()
    assert told.wait(5)
    writer.write(b"c")
    assert writer.broken
    assert writer.pending_bytes == 0
    assert not writer.drain(1)
    assert calls == ["broken"]


def test_a_pipe_that_broke_before_anybody_asked_is_told_too() -> None:
    writer = QueueWriter(Sink(error=BrokenPipeError()))
    writer.write(b"a")
    assert not writer.drain(5)
    told = threading.Event()
    writer.when_broken(told.set)
    assert told.is_set()


def test_a_real_pipe_whose_reader_left_breaks() -> None:
    source, sink = os.pipe()
    os.close(source)
    told = threading.Event()
    with os.fdopen(sink, "wb", buffering=0) as stream:
        writer = QueueWriter(stream, told.set)
        writer.write(b"a")
        assert told.wait(5)
    assert writer.broken
