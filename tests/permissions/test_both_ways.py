"""The same glob stops all that it allows, and more: no deny is narrower than an allow."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from acpls.permissions.commands import split
from acpls.permissions.places import Places, allowing, stopping
from acpls.permissions.readings import lets, read

NAMES = st.sampled_from(["a", "b", "ab", "a.b", "A", "x y"])
PARTS = st.sampled_from(["*", "**", "a", "b", "a*", "?", "[ab]", "*b", "a?b"])
PATHS = st.lists(NAMES, min_size=1, max_size=4).map("/".join)
GLOBS = st.lists(PARTS, min_size=1, max_size=4).map("/".join)
WORDS = st.sampled_from(["git", "a", "-b", "'c d'", '"e"', "/bin/x", "sudo", "./a", "2>&1"])
LINES = st.lists(WORDS, min_size=1, max_size=5).map(" ".join)
COMMANDS = st.lists(st.sampled_from(["git", "a", "*", "?", " ", "./a", "/bin/"]), min_size=1)


@settings(max_examples=300, deadline=None)
@given(GLOBS, PATHS, st.sampled_from(["", "/ws/", "/link/", "~/"]), st.booleans())
def test_what_a_glob_of_paths_allows_it_stops(
    glob: str, path: str, before: str, linked: bool
) -> None:
    real = {"/ws": "/ws", "/link": "/real", "~": "/home/me"}
    given_ = f"/link/{path}" if linked else f"/ws/{path}"
    real[given_] = f"/real/{path}" if linked else given_
    places = Places(real, ("/ws", "/link"))
    if allowing(f"{before}{glob}", places)(given_):
        assert stopping(f"{before}{glob}", places)(given_)


@settings(max_examples=300, deadline=None)
@given(COMMANDS.map("".join), st.lists(LINES, min_size=1, max_size=3).map(" && ".join))
def test_what_a_glob_of_commands_allows_it_stops(glob: str, line: str) -> None:
    found = split(line)
    if glob.strip() and any(lets(glob, part) for part in found.parts):
        assert read(found).fit(glob)
