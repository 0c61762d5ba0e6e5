"""Bytes and texts: the same bytes come back, in the encoding they came in, or a reason does."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from acpls.events import Form
from acpls.text.codec import BINARY, UNKNOWN, Decoded, decode, decode_as, encode
from acpls.text.encodings import SAMPLE_BYTES, declared

quick = settings(max_examples=60, deadline=None)

GERMAN = """\
/* Prüft, ob die Größe für alle Einträge gültig ist, und zählt sie danach.
   Ungültige Einträge werden übersprungen; am Schluß müssen alle geprüft sein. */
int größe = 0;
"""
CHINESE = """\
# 读取配置文件、然后检查每一个选项是否正确
# 如果文件不存在、就使用默认的设置、并且写入日志
name = '中文'  # 这是一个测试
"""
TAIWAN = """\
# 讀取設定檔、然後檢查每一個選項是否正確
# 如果檔案不存在、就使用預設的設定、並且寫入紀錄
name = '中文'  # 這是一個測試
"""
JAPANESE = """\
# 設定ファイルを読み込み、それぞれの値が正しいかどうかを確認する
# ファイルがない場合は、既定の設定を使い、ログに書き込む
name = '日本語'  # これはテストです
"""
KOREAN = """\
# 설정 파일을 읽고 각각의 값이 올바른지 확인한다
# 파일이 없으면 기본 설정을 사용하고 로그에 기록한다
name = '한국어'  # 이것은 시험입니다
"""
RUSSIAN = """\
# Читает файл настроек и проверяет, верно ли каждое значение
# Если файла нет, берутся обычные настройки, потом это пишется в журнал
name = 'имя'  # это проверка
"""
POLISH = """\
# Odczytuje plik ustawień i sprawdza, czy każda wartość jest prawidłowa
# Jeśli pliku nie ma, używa zwykłych ustawień i zapisuje to w dzienniku
nazwa = 'źdźbło'  # zażółć gęślą jaźń
"""
GREEK = """\
# Διαβάζει το αρχείο ρυθμίσεων και ελέγχει κάθε τιμή
# Όταν το αρχείο δεν υπάρχει, χρησιμοποιεί τις συνηθισμένες ρυθμίσεις
name = 'όνομα'  # αυτό είναι μια δοκιμή
"""
LEGACY = [
    (GERMAN, "latin-1"),
    (GERMAN + "“5 €” … ™\n", "cp1252"),
    (CHINESE, "gbk"),
    (TAIWAN, "big5"),
    (JAPANESE, "shift_jis"),
    (JAPANESE, "euc_jp"),
    (KOREAN, "euc_kr"),
    (RUSSIAN, "koi8-r"),
    (RUSSIAN, "cp1251"),
    (RUSSIAN, "cp866"),
    (POLISH, "cp1250"),
    (POLISH, "iso8859-2"),
    (GREEK, "cp1253"),
]


def text_of(data: bytes, seen: Form | None = None) -> Decoded:
    found = decode(data, seen)
    assert isinstance(found, Decoded)
    return found


def bytes_of(text: str, form: Decoded | Form, old: str = "") -> bytes:
    data = encode(text, form, old)
    assert isinstance(data, bytes)
    return data


def refused(text: str, form: Decoded | Form, old: str = "") -> str:
    reason = encode(text, form, old)
    assert isinstance(reason, str)
    assert reason.startswith("was not written: ")
    return reason.removeprefix("was not written: ")


# --- the same bytes ------------------------------------------------------------------

PIECES = [
    *(b"a", b"b\n", b"\r\n", b"\r", b"\0", b"\0\0", b"\x01", b"\x1b$B", b"~{", b"\\"),
    *(b"\xff\xfe", b"\xfe\xff", b"\xef\xbb\xbf", b"\x84\x31\x95\x33"),
    *(text.encode(encoding) for text, encoding in [
        ("ä", "utf-8"), ("中", "utf-8"), ("ä", "latin-1"), ("中文", "gbk"), ("日本", "shift_jis"),
        ("日本", "iso2022_jp"), ("a\n", "utf-16-le"), ("hello\n", "utf-16-be"), ("x", "utf-32"),
    ]),
    *(f"# coding: {encoding}\n".encode() for encoding in [
        "latin-1", "gbk", "iso-2022-jp", "koi8-r", "utf-8", "hz", "cp037", "euc-kr", "johab",
    ]),
]  # fmt: skip


@quick
@given(data=st.binary(max_size=80) | st.lists(st.sampled_from(PIECES), max_size=12).map(b"".join))
def test_d32_any_bytes_come_back_or_are_not_taken_for_text(data: bytes) -> None:
    found = decode(data)
    if isinstance(found, str):
        assert found
        assert found[0].islower()
        return
    assert encode(found.text, found, found.text) == data
    assert decode_as(data, found) == found


@pytest.mark.parametrize(("text", "encoding"), LEGACY)
def test_d32_a_legacy_file_is_read_and_never_becomes_utf_8(text: str, encoding: str) -> None:
    data = text.encode(encoding)
    found = text_of(data)
    # For Polish it may be the wrong one, which does no harm to a byte.
    assert text in (found.text, POLISH)
    assert found.guessed
    assert not found.bom
    text = found.text
    changed = bytes_of(text.replace("\n", "\n// new\n", 1), found, text)
    assert changed == data.replace(b"\n", b"\n// new\n", 1)
    assert bytes_of(text + text, found, text) == data + data
    reason = refused(text + "☃", found, text)
    assert reason.startswith("nothing declares its encoding (")
    assert reason.endswith("so it is not known how to write '☃' (U+2603) in it")


ENDINGS = [["\n"], ["\r\n"], ["\r"], ["\n", "\r\n", "\r"]]
UNICODE = ["utf-8", "utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be"]
NOT_THE_SAME = "was not written: it would not be read again as the same text"


@st.composite
def edited(draw: st.DrawFn, words: tuple[str, ...]) -> tuple[list[str], int, str]:
    """Lines, one kind of ending or several, the last perhaps without; one; another for it."""
    endings = draw(st.sampled_from(ENDINGS))
    line = st.tuples(
        st.lists(st.sampled_from(words), max_size=4).map(" ".join), st.sampled_from(endings)
    ).map("".join)
    lines = draw(st.lists(line, min_size=1, max_size=6))
    if draw(st.booleans()):
        lines[-1] = lines[-1].rstrip("\r\n")
    return lines, draw(st.integers(0, len(lines) - 1)), draw(line)


@pytest.mark.parametrize("encoding", UNICODE)
@pytest.mark.parametrize("bom", [True, False])
@quick
@given(edit=edited(("some", "words", "for", "ö", "中文", "😀", "x = 1")))
def test_d25_d30_outside_of_a_changed_line_no_byte_differs(
    encoding: str, bom: bool, edit: tuple[list[str], int, str]
) -> None:
    lines, at, new = edit
    mark = "\ufeff".encode(encoding) if bom else b""
    found = decode(mark + "".join(lines).encode(encoding), Form(encoding, bom))
    if not bom and encoding != "utf-8" and found != Decoded("".join(lines), encoding):
        # Without a mark it is not certain what so few bytes are.
        return
    assert found == Decoded("".join(lines), encoding, bom)
    written = [line.encode(encoding) for line in lines]
    written[at], lines[at] = new.encode(encoding), new
    data = encode("".join(lines), found, found.text)
    uncertain = data == NOT_THE_SAME and not bom and encoding != "utf-8"
    assert uncertain or data == mark + b"".join(written)


OTHERS = [
    ("latin-1", ("Größe", "für", "é")),
    ("cp1252", ("Größe", "“5 €”", "é")),
    ("gbk", ("读取", "配置", "文件")),
    ("big5", ("讀取", "設定檔", "功")),
    ("shift_jis", ("ソース", "表示", "設定")),
    ("euc_jp", ("ソース", "表示", "設定")),
    ("euc_kr", ("설정", "파일을", "읽는다")),
    ("koi8-r", ("Читает", "файл", "имя")),
    ("cp1251", ("Читает", "файл", "имя")),
    ("iso2022_jp", ("ソース", "表示", "設定")),
    ("hz", ("读取", "配置", "~")),
]


def spoken(line: str, words: tuple[str, ...]) -> str:
    return re.sub("[123]", lambda digit: words[int(digit[0]) - 1], line)


@pytest.mark.parametrize(("encoding", "words"), OTHERS)
@quick
@given(edit=edited(("x = 0", "1", "2", "3")))
def test_d25_d32_so_it_is_in_a_declared_encoding(
    encoding: str, words: tuple[str, ...], edit: tuple[list[str], int, str]
) -> None:
    lines, at, new = [spoken(line, words) for line in edit[0]], edit[1], spoken(edit[2], words)
    head = f"# -*- coding: {encoding}-dos -*-\r\n"
    written = [line.encode(encoding) for line in lines]
    found = text_of(b"".join([head.encode(), *written]))
    assert found.text == head + "".join(lines)
    assert not found.guessed
    written[at], lines[at] = new.encode(encoding), new
    data = bytes_of(head + "".join(lines), found, found.text)
    assert data == b"".join([head.encode(), *written])


@pytest.mark.parametrize(("encoding", "words"), OTHERS[:-2])
@quick
@given(edit=edited(("x = 0", "1", "2", "3")))
def test_d25_d32_and_in_a_guessed_encoding(
    encoding: str, words: tuple[str, ...], edit: tuple[list[str], int, str]
) -> None:
    lines, at, new = [spoken(line, words) for line in edit[0]], edit[1], spoken(edit[2], words)
    head = " ".join(words) + "\r\n"
    written = [line.encode(encoding) for line in lines]
    before = b"".join([head.encode(encoding), *written])
    found = text_of(before, Form(encoding, guessed=True))
    assert found.text == head + "".join(lines)
    assert found.guessed
    written[at], lines[at] = new.encode(encoding), new
    data = bytes_of(head + "".join(lines), found, found.text)
    assert data == b"".join([head.encode(encoding), *written])
    # Not seen before, it may be taken for another encoding, which does no harm.
    guess = decode(before)
    if isinstance(guess, Decoded):
        more = guess.text.replace("\r\n", "\r\nx = 1\r\n", 1)
        harmless = (before.replace(b"\r\n", b"\r\nx = 1\r\n", 1), NOT_THE_SAME)
        assert encode(more, guess, guess.text) in harmless


# --- what a file is ------------------------------------------------------------------


@pytest.mark.parametrize(
    ("data", "found"),
    [
        (b"", Decoded("")),
        (b"plain\n", Decoded("plain\n")),
        ("ä\x0b\u2028".encode(), Decoded("ä\x0b\u2028")),
        (b"\xef\xbb\xbfx", Decoded("x", bom=True)),
        (b"\xef\xbb\xbf" * 2, Decoded("\ufeff", bom=True)),
        (b"\xff\xfex\0", Decoded("x", "utf-16-le", bom=True)),
        (b"\xfe\xff\0x", Decoded("x", "utf-16-be", bom=True)),
        (b"\xff\xfe\0\0x\0\0\0", Decoded("x", "utf-32-le", bom=True)),
        (b"\0\0\xfe\xff\0\0\0x", Decoded("x", "utf-32-be", bom=True)),
        (b"\x84\x31\x95\x33\xd6\xd0", Decoded("中", "gb18030", bom=True)),
        ("Grüße\r\n".encode("utf-16-le"), Decoded("Grüße\r\n", "utf-16-le")),
        ("name = 中文\n".encode("utf-16-be"), Decoded("name = 中文\n", "utf-16-be")),
    ],
)
def test_a_text_is_known_by_its_mark_or_its_bytes(data: bytes, found: Decoded) -> None:
    assert decode(data) == found


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"a\0b", BINARY),
        (b"\xff\xfe\0\0x\0", BINARY),  # no UTF-32, and as UTF-16 it has a NUL
        (b"\xef\xbb\xbf\0", BINARY),
        (b"\xef\xbb\xbf\xff", "is marked as utf-8 and is not"),
        (b"\xff\xfex", "is marked as utf-16-le and is not"),
        (b"\xfe\xff\xd8\0", "is marked as utf-16-be and is not"),
        (b"a\0b\0", BINARY),  # too little to be sure of
        (b"\x01\0\x02\0\x03\0\x04\0\x05\0", BINARY),
        ("中文中文中文\n".encode("utf-16-le"), BINARY),
        ("x = 1\n".encode("utf-32-le"), BINARY),
        (b"\x89PNG\r\n\x1a\n\xff\x01", BINARY),
        ("ä and ö".encode() + b" and \xfc", "has bytes that are not UTF-8, the first at offset 14"),
        (bytes(range(0x80, 0x100)), UNKNOWN),
    ],
)
def test_d51_what_is_no_text_has_its_reason(data: bytes, reason: str) -> None:
    assert decode(data) == reason


@pytest.mark.parametrize(
    ("head", "encoding"),
    [
        (b"# coding=koi8-r\n", "koi8-r"),
        (b"#!/usr/bin/env python\n# vim: set fileencoding=cp1251 :\n", "cp1251"),
        (b"#!/bin/sh\n\n# coding: latin-1\n", None),
        (b"x = 'coding: latin-1'\n", None),
        (b"# -*- mode: ruby; coding: iso-latin-1-unix -*-\n", "iso8859-1"),
        (b";;; x.el -*- coding: utf-8-emacs; lexical-binding: t -*-\n", "utf-8"),
        (b"/* vi:ts=4:fenc=windows-1250 */\n", "cp1250"),
        (b'<?xml version="1.0" encoding="Windows-1252"?>\n', "cp1252"),
        (b"\n <?xml version='1.0' encoding = 'EUC-JP'?>", "euc_jp"),
        (b'<?xml version="1.0" encoding="UTF-16"?>\n', None),  # it cannot be, as it is read
        (b"<!doctype html>\n<title>x</title>\n<META CHARSET=shift_jis>", "shift_jis"),
        (b'<html><meta http-equiv="x" content="text/html; charset=gb2312">', "gb2312"),
        (b'page = "<meta charset=gb2312>"\n', None),
        (b'@charset "iso-8859-15";\n', "iso8859-15"),
        (b"# coding: no-such\n# coding: macroman\n", "mac-roman"),
        (b"# coding: rot13\n", None),
        (b"# coding: unicode_escape\n", None),
        (b"# coding: cp037\n", None),
        (b"<" + b" " * 1024 + b"<meta charset=gbk>", None),  # too far down
    ],
)
def test_what_a_file_declares(head: bytes, encoding: str | None) -> None:
    assert declared(head) == encoding


def test_plain_ascii_is_what_it_declares_and_utf_8_is_utf_8() -> None:
    head = "# coding: latin-1\n"
    found = text_of(head.encode())
    assert found == Decoded(head, "iso8859-1")
    assert bytes_of(head + "ä", found, head) == (head + "ä").encode("latin-1")
    assert text_of((head + "ä").encode()) == Decoded(head + "ä")
    assert text_of((head + "ä").encode("latin-1")) == Decoded(head + "ä", "iso8859-1")
    assert text_of(b"# coding: utf-8\n") == Decoded("# coding: utf-8\n")


def test_d32_a_declared_encoding_may_be_a_wider_one_in_truth() -> None:
    head = "# coding: latin-1\n"
    assert text_of((head + "“x”").encode("cp1252")).encoding == "cp1252"
    # A byte that the wider one does not have.
    assert text_of((head + "\x81").encode("latin-1")).encoding == "iso8859-1"
    head = "<meta charset=shift_jis>\n"
    found = text_of((head + "①").encode("cp932"))
    assert found == Decoded(head + "①", "cp932")
    assert bytes_of(head + "①②", found, found.text) == (head + "①②").encode("cp932")


def test_d32_a_declaration_that_is_not_true_is_not_believed() -> None:
    data = ("# coding: utf-8\n" + RUSSIAN).encode("cp1251")
    found = text_of(data)
    assert found == Decoded("# coding: utf-8\n" + RUSSIAN, "cp1251", guessed=True)
    assert bytes_of(found.text + "x", found, found.text) == data + b"x"
    # Bytes that iso-2022-jp has another way to write come as they are, and stay ASCII.
    twice = b"# coding: iso-2022-jp\n\x1b$B\x1b$BF|\x1b(B\n"
    found = text_of(twice)
    assert (found.text, found.encoding, found.guessed) == (twice.decode(), "ascii", True)
    assert bytes_of(found.text, found) == twice
    assert "nothing declares" in refused(found.text + "日", found, found.text)


def test_how_a_file_was_seen_before_keeps_the_guess_from_changing() -> None:
    data = "für\n".encode("latin-1")
    assert text_of(data, Form("cp1251", guessed=True)).text == "fьr\n"
    assert text_of(data, Form("iso8859-1")) == Decoded("für\n", "iso8859-1", guessed=True)
    for other in ("no-such", "utf-16-le", "ascii", "cp932"):
        assert text_of(data, Form(other)) == text_of(data)
    short = "ab\n".encode("utf-16-be")
    assert text_of(short, Form("utf-16-be")) == Decoded("ab\n", "utf-16-be")
    long = "abcdefgh".encode("utf-16-be")
    assert text_of(long, Form("utf-16-le")).encoding == "utf-16-be"
    assert decode(short, Form("utf-8")) == BINARY
    assert text_of(b"ab\n", Form("utf-16-be")) == Decoded("ab\n")


def test_only_lines_with_more_than_ascii_are_guessed_from() -> None:
    plain = "x = 1\n" * SAMPLE_BYTES
    assert text_of((plain + RUSSIAN).encode("koi8-r")).encoding == "koi8-r"


@pytest.mark.parametrize("odd", ["", "x"])
@pytest.mark.parametrize("many", ["文件 读取配置\n", "文件 读取配置", "文件读取配置"])
def test_a_long_file_is_not_cut_within_a_character(odd: str, many: str) -> None:
    data = (odd + many * (SAMPLE_BYTES // 4)).encode("gbk") + b"\n"
    found = text_of(data)
    # A single line without a space has no place where it is certain that a character ends.
    assert found.encoding == "gb18030" or many == "文件读取配置"
    assert bytes_of(found.text + "x", found, found.text) == data + b"x"


def test_d32_a_guess_holds_for_the_whole_file() -> None:
    data = (CHINESE * (SAMPLE_BYTES // 16)).encode("gbk") + b"\xff\n"
    found = decode(data)
    assert isinstance(found, str) or encode(found.text, found, found.text) == data
    assert isinstance(found, str) or found.encoding != "gb18030"


def test_bytes_are_read_in_a_form_that_is_known() -> None:
    data = "ä".encode("cp1251", "replace") + b"\xe4"
    assert decode_as(data, Form("windows-1251", guessed=True)) == Decoded(
        "?д", "cp1251", guessed=True
    )
    marked = b"\xff\xfe" + "ä".encode("utf-16-le")
    assert decode_as(marked, Form("utf-16-le", bom=True)) == Decoded("ä", "utf-16-le", bom=True)
    for form in (Form("utf-8"), Form("utf-8", bom=True), Form("no-such")):
        reason = f"is not text in the encoding {form.encoding}"
        assert decode_as(data, form) == reason
    assert decode_as(b"x", Form("latin-1", bom=True)) == Decoded("x", "iso8859-1")


# --- what is not written -------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "encoding", "reason"),
    [
        ("5 €", "latin-1", "its encoding (iso8859-1) cannot hold '€' (U+20AC)"),
        ("ab中", "cp1252", "its encoding (cp1252) cannot hold '中' (U+4E2D)"),
        ("5 ¥", "shift_jis", "its encoding (shift_jis) cannot hold '¥' (U+00A5)"),
        ("\x1b$BF|", "iso2022_jp", "its encoding (iso2022_jp) cannot hold '\\x1b' (U+001B)"),
        ("a\0", "utf-8", "the text has a NUL character, and the file would be binary"),
        ("ab\ud83d", "utf-8", "the text has half of a surrogate pair, which no encoding can hold"),
        ("x", "no-such", "its encoding (no-such) is not known"),
        ("x", "base64", "its encoding (base64) is not known"),
        ("ÿþa", "latin-1", "it would not be read again as the same text"),
        ("Ã¤", "latin-1", "it would not be read again as the same text"),
    ],
)
def test_d32_a_text_that_does_not_fit_is_refused(text: str, encoding: str, reason: str) -> None:
    assert refused(text, Form(encoding)) == reason


def test_d32_a_text_may_not_declare_another_encoding_than_it_gets() -> None:
    old = "# coding: latin-1\nä\n"
    form = text_of(old.encode("latin-1"))
    new = old.replace("latin-1", "utf-8")
    assert refused(new, form, old) == "it declares utf-8, and is in iso8859-1"
    assert bytes_of(new.replace("ä", "a"), form, old) == b"# coding: utf-8\na\n"
    assert bytes_of(old.replace("latin-1", "cp1252"), Form("cp1252"), old).endswith(b"\xe4\n")
    assert bytes_of("ä\n", form, old) == b"\xe4\n"
    wide = "# coding: gb2312\n中\n"
    assert bytes_of(wide, Form("gb18030")) == wide.encode("gb18030")


def test_d32_a_guessed_encoding_takes_only_characters_that_it_is_known_to_have() -> None:
    form = Form("cp1252", guessed=True)
    assert bytes_of("für x", form, "für") == b"f\xfcr x"
    assert refused("für é à", form, "für").endswith("how to write 'é' (U+00E9) in it")
    assert refused("für", form).endswith("how to write 'ü' (U+00FC) in it")
    assert bytes_of("für é", replace(form, guessed=False), "für") == b"f\xfcr \xe9"


@pytest.mark.parametrize(
    ("text", "form", "old", "data"),
    [
        ("x", Form(bom=True), "", b"\xef\xbb\xbfx"),
        ("\ufeffx", Form(bom=True), "", b"\xef\xbb\xbfx"),
        ("\ufeffx", Form(), "", b"\xef\xbb\xbfx"),
        ("\ufeff\ufeffx", Form(), "", b"\xef\xbb\xbfx"),
        ("\ufeffx", Form("utf-16-le"), "y", b"\xff\xfex\0"),
        ("\ufeffx", Form(bom=True), "\ufeffy", b"\xef\xbb\xbf\xef\xbb\xbfx"),
        ("x", Form(bom=True), "\ufeffy", b"\xef\xbb\xbfx"),
        # A mark is none in an encoding that does not have it, and never one of a guess.
        ("\ufeffx", Form("latin-1", bom=True), "", b"x"),
        ("\ufeffx", Form("gb18030", guessed=True), "", b"x"),
        ("x", Form("gb18030", bom=True), "", b"\x84\x31\x95\x33x"),
    ],
)
def test_d30_there_is_one_byte_order_mark(text: str, form: Form, old: str, data: bytes) -> None:
    assert encode(text, form, old) == data
