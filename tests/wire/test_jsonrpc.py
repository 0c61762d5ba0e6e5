"""JSON-RPC lines: every class of line, every split, nothing that raises."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from acpls.wire import jsonrpc
from acpls.wire.jsonrpc import (
    Bad,
    Error,
    Frame,
    Framer,
    Noise,
    Notification,
    Request,
    Result,
    TooLong,
    encode,
)

LIMIT = 1024


def read(line: bytes) -> Frame | None:
    return jsonrpc.read_line(line)


def whole(data: bytes, limit: int = LIMIT) -> list[Frame]:
    framer = Framer(limit)
    return framer.feed(data) + framer.end()


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (b'{"jsonrpc":"2.0","id":0,"method":"a","params":{"x":1}}', Request(0, "a", {"x": 1})),
        (b'{"jsonrpc":"2.0","id":"0","method":"a","params":[1]}', Request("0", "a", [1])),
        (b'{"jsonrpc":"2.0","id":null,"method":"a"}', Request(None, "a", None)),
        (b'{"jsonrpc":"2.0","method":"a","params":null}', Notification("a", None)),
        (b'{"jsonrpc":"2.0","id":7,"result":null}', Result(7, None)),
        (b'{"jsonrpc":"2.0","id":7,"result":{},"error":null}', Result(7, {})),
        (
            b'{"jsonrpc":"2.0","id":7,"error":{"code":-1,"message":"m","data":[]}}',
            Error(7, -1, "m", []),
        ),
        (
            b'{"jsonrpc":"2.0","id":7,"result":null,"error":{"code":401,"message":""}}',
            Error(7, 401, ""),
        ),
    ],
)
def test_a_valid_shape_is_a_message(line: bytes, message: Frame) -> None:
    assert read(line) == message
    assert read(b"  " + line + b" \r") == message


@pytest.mark.parametrize(
    ("fields", "id_", "replies"),
    [
        ({"jsonrpc": "1.0", "id": 3, "method": "a"}, 3, False),
        ({"jsonrpc": 2.0, "id": 3, "method": "a"}, 3, False),
        ({"jsonrpc": "2.0", "id": True, "method": "a"}, None, False),
        ({"jsonrpc": "2.0", "id": 1.5, "method": "a"}, None, False),
        ({"jsonrpc": "2.0", "id": [], "result": 1}, None, True),
        ({"jsonrpc": "2.0", "id": 3, "method": 5}, 3, False),
        ({"jsonrpc": "2.0", "id": 3, "method": "a", "result": 1}, 3, False),
        ({"jsonrpc": "2.0", "id": 3, "method": "a", "error": None}, 3, False),
        ({"jsonrpc": "2.0", "id": 3, "method": "a", "params": "p"}, 3, False),
        ({"jsonrpc": "2.0"}, None, False),
        ({"jsonrpc": "2.0", "id": 3}, 3, False),
        ({"jsonrpc": "2.0", "id": 3, "error": None}, 3, True),
        ({"jsonrpc": "2.0", "id": 3, "result": 1, "error": {}}, 3, True),
        ({"jsonrpc": "2.0", "id": 3, "error": "no"}, 3, True),
        ({"jsonrpc": "2.0", "id": 3, "error": {"code": "x", "message": "m"}}, 3, True),
        ({"jsonrpc": "2.0", "id": 3, "error": {"code": True, "message": "m"}}, 3, True),
        ({"jsonrpc": "2.0", "id": 3, "error": {"code": 1}}, 3, True),
    ],
)
def test_a_bad_shape_keeps_its_id_for_the_answer(
    fields: dict[str, Any], id_: object, replies: bool
) -> None:
    frame = read(json.dumps(fields).encode())
    assert isinstance(frame, Bad)
    assert (frame.id, frame.code, frame.replies) == (id_, -32600, replies)
    assert frame.problem
    assert "\n" not in frame.problem


DEEP = b"[" * 5000 + b"]" * 5000


@pytest.mark.parametrize(
    ("line", "id_", "replies"),
    [
        (b'{"jsonrpc":"2.0",', None, False),
        (b'{"jsonrpc":"2.0","id":1,"method":"a","params":{"x":NaN}}', 1, False),
        (b'{"jsonrpc":"2.0","id":1,"method":"a","params":{"x":"\\ud800"}}', 1, False),
        (b'{"jsonrpc":"2.0","id":1,"method":"a","params":{"x":"\xff"}}', 1, False),
        (b'{"jsonrpc":"2.0","id":1,"method":"a","params":[', 1, False),
        (b'{"jsonrpc":"2.0","method":"a","params":' + DEEP + b"}", None, False),
        (b'{"jsonrpc":"2.0","id":7,"method":"a","params":' + DEEP + b"}", 7, False),
        (b'{"params":' + DEEP + b', "method":"a", "id" : "x\\"y" , "jsonrpc":"2.0"}', 'x"y', False),
        (b'{"jsonrpc":"2.0","id":7,"result":' + DEEP + b"}", 7, True),
        (b'{"jsonrpc":"2.0","id":7,"error":{"data":' + DEEP + b"}}", 7, True),
        (b'{"jsonrpc":"2.0","id":7.5,"method":"a","params":' + DEEP + b"}", None, False),
        (b'{"jsonrpc":"2.0","id":[7],"method":"a","params":' + DEEP + b"}", None, False),
        (b'{"jsonrpc":"2.0","id":x7,"method":"a"}', None, False),
        (b'{"jsonrpc":"1.0","id":7,"method":"a","params":' + DEEP + b"}", None, False),
        (b'{"params":{"id":7},"jsonrpc":"2.0","method":"a","x":' + DEEP + b"}", None, False),
        (
            b'{"x":"' + b"y" * 2**20 + b'","id":7,"jsonrpc":"2.0","method":"a","params":!}',
            None,
            False,
        ),
        (b"{level: info}", None, False),
        (b'{{"id":7}', None, False),
    ],
)
def test_what_begins_like_a_frame_but_is_no_json_keeps_its_id_where_that_can_be_read(
    line: bytes, id_: object, replies: bool
) -> None:
    frame = read(line)
    assert isinstance(frame, Bad)
    assert (frame.id, frame.code, frame.replies) == (id_, -32700, replies)
    assert len(frame.text) <= 401


@pytest.mark.parametrize(
    ("escaped", "text"),
    [
        (rb"a\ud83d", "a\ufffd"),
        (rb"\ude00b", "\ufffdb"),
        (rb"\ud83d\ud83d\ude00", "\ufffd😀"),
        (rb"\\ud83d \ude00", "\\ud83d \ufffd"),
        # A character cut in the middle, and a byte of another encoding.
        ("日".encode()[:2] + b" on", "\ufffd on"),
        (b"caf\xe9", "caf\ufffd"),
    ],
)
def test_half_a_character_does_not_cost_the_message(escaped: bytes, text: str) -> None:
    """A tool's output is often cut by its length; the rest of it is still good."""
    told = read(b'{"jsonrpc":"2.0","method":"a","params":["' + escaped + b'"]}')
    assert told == Notification("a", [text])
    assert read(b'{"jsonrpc":"2.0","id":1,"result":"' + escaped + b'"}') == Result(1, text)
    assert isinstance(read(b'{"jsonrpc":"2.0","method":"a","params":["' + escaped + b'",]}'), Bad)


def test_a_batch_is_refused_as_a_whole() -> None:
    frame = read(b'[1, {"jsonrpc":"2.0","id":1,"method":"a"}]')
    assert isinstance(frame, Bad)
    assert (frame.id, frame.code) == (None, -32600)


@pytest.mark.parametrize(
    "line",
    [
        b"Migrating the database ...",
        b"[INFO] ready",
        b"42",
        b"null",
        b'"text"',
        b"[]",
        b"[1, 2]",
        b"[{}]",
        b"{}",
        b'{"id":1,"level":"info","msg":"started"}',
        b'{"id":1,"result":{"looks":"like a reply"}}',
        b'{"id":1,"method":"GET"}',
        b"\xff\xfe\x00",
        b"\x1b",
    ],
)
def test_x06_x09_log_lines_are_noise(line: bytes) -> None:
    assert isinstance(read(line), Noise)


@pytest.mark.parametrize(
    "prefix",
    [
        b"\xef\xbb\xbf",
        b"\xef\xbb\xbf\xef\xbb\xbf \t",
        b"\x1b[2J\x1b[?25l\x1b[0;31m",
        b"\x1b]0;a title\x07",
        b"\x1b]0;a title\x1b\\\r",
        b"\x1b(B\x1b=",
        b"\x00\r\r\x07",
    ],
)
def test_x08_what_stands_before_a_frame_is_skipped(prefix: bytes) -> None:
    line = encode(jsonrpc.notification("a", {}))
    assert whole(prefix + line) == [Notification("a", {})]


def test_a_line_of_nothing_but_escapes_is_given_up() -> None:
    assert isinstance(read(b"\x1b[m" * 100_000), Noise)
    assert read(b"\x1b[m\x1b[m") is None


MESSAGES = (
    b'{"jsonrpc":"2.0","id":0,"method":"a","params":{"t":"\xc3\xa4\xf0\x9f\x98\x80"}}\r\n'
    b"\n\r\n  \n"
    b"noise\n"
    b'\xef\xbb\xbf\x1b[0m{"jsonrpc":"2.0","id":1,"result":{}}\n'
    b'{"jsonrpc":"2.0"\n'
    b'{"jsonrpc":"2.0","method":"last"}'
)


def test_every_split_gives_the_same_frames() -> None:
    expected = whole(MESSAGES)
    assert [type(f) for f in expected] == [Request, Noise, Result, Bad, Notification]
    for cut in range(len(MESSAGES) + 1):
        framer = Framer(LIMIT)
        first, second = framer.feed(MESSAGES[:cut]), framer.feed(MESSAGES[cut:])
        assert first + second + framer.end() == expected
    framer = Framer(LIMIT)
    singly = [f for byte in MESSAGES for f in framer.feed(bytes([byte]))]
    assert singly + framer.end() == expected


def test_half_a_frame_at_the_end_is_noise() -> None:
    framer = Framer(LIMIT)
    assert framer.feed(b'{"jsonrpc":"2.0","id":1,"resu') == []
    assert framer.end() == [Noise('{"jsonrpc":"2.0","id":1,"resu')]
    assert framer.end() == []


@pytest.mark.parametrize("size", [1, 7, 10_000])
def test_a_line_over_the_limit_is_told_once_and_skipped(size: int) -> None:
    note = encode(jsonrpc.notification("a", None))
    data = b"x" * 30 + b"\n" + b"y" * 100 + b"\n" + b"z" * 20
    framer, frames = Framer(29), []
    for start in range(0, len(data), size):
        frames += framer.feed(data[start : start + size])
    assert frames == [TooLong(29), TooLong(29)]
    assert framer.end() == [Noise("z" * 20)]
    assert Framer(len(note) - 1).feed(note) == [Notification("a", None)]
    assert Framer(len(note) - 2).feed(note) == [TooLong(len(note) - 2)]


def test_the_time_for_one_long_line_is_linear() -> None:
    message = encode(jsonrpc.notification("a", {"text": "x" * (32 * 1024 * 1024)}))
    framer, frames = Framer(len(message)), []
    started = time.process_time()
    for start in range(0, len(message), 65536):
        frames += framer.feed(message[start : start + 65536])
    # Joined anew for every piece it would be 8 GiB of copying.
    assert time.process_time() - started < 2
    assert [type(f) for f in frames] == [Notification]


def test_messages_are_one_line_each() -> None:
    assert encode(jsonrpc.request(1, "m", {"t": "ä\n\u2028"})) == (
        '{"jsonrpc":"2.0","id":1,"method":"m","params":{"t":"ä\\n\u2028"}}\n'.encode()
    )
    assert read(encode(jsonrpc.result(None, [1]))) == Result(None, [1])
    assert read(encode(jsonrpc.error("x", -32601, "no"))) == Error("x", -32601, "no")
    assert read(encode(jsonrpc.error(2, 5, "no", {"d": 1}))) == Error(2, 5, "no", {"d": 1})


def test_half_a_surrogate_pair_is_spelled_out() -> None:
    assert b"\\ud83d" in encode(jsonrpc.notification("m", {"t": "\ud83d"}))


def test_a_number_json_cannot_hold_is_our_own_mistake() -> None:
    with pytest.raises(ValueError, match="JSON compliant"):
        encode(jsonrpc.notification("m", float("nan")))


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


@given(params=st.dictionaries(st.text(), JSON, max_size=3) | st.lists(JSON), method=st.text())
def test_what_is_written_is_read_back(params: object, method: str) -> None:
    line = encode(jsonrpc.request(5, method, params))
    assert line.count(b"\n") == 1
    assert whole(line, 10**6) == [Request(5, method, params)]


@given(data=st.lists(st.binary(max_size=40) | st.sampled_from([b"\n", b"{", b"\x1b]"])))
def test_no_bytes_raise(data: list[bytes]) -> None:
    framer = Framer(50)
    frames = [frame for piece in data for frame in framer.feed(piece)] + framer.end()
    assert all(isinstance(f, Noise | Bad | TooLong) for f in frames)
