"""What is told of a process's end."""

from __future__ import annotations

from acpls.client.lastwords import Ring, how_it_ended, signal_name, telling_line


def test_the_last_telling_line() -> None:
    said = ["Error: no key", "    at run (a.js:1)", "  }", "", "Node.js v22.1.0", " "]
    assert telling_line(said) == "Error: no key"
    assert telling_line(["\x1b[31mred\x1b[0m\t\x07x"]) == "red\tx"
    assert telling_line(["x" * 1000]) == "x" * 300
    assert telling_line(["", "}"]) is None


def test_exits_in_words() -> None:
    assert how_it_ended(3) == "ended with exit code 3"
    assert how_it_ended(-9) == "was ended by SIGKILL"
    assert signal_name(-1000) == "signal 1000"
    assert signal_name(0) is None


def test_a_ring_forgets_the_oldest() -> None:
    ring = Ring(2)
    for line in ("a", "b", "c" * 5000):
        ring.add(line)
    assert ring.lines() == ["b", "c" * 4096]
