"""Registry files: each entry becomes ways to start it, or reasons why it cannot be."""

from __future__ import annotations

import tomllib
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from acpls.catalog import Entry, Way, read_registry, toml_table
from acpls.settings import AgentSpec, parse

LINUX = "linux-x86_64"
ARCHIVE = {"archive": "https://files.example/a.tar.gz", "cmd": "./vibe-acp", "sha256": "00"}


def agent(**fields: Any) -> dict[str, Any]:
    return {"id": "pi", "name": "Pi", "version": "1.2", "description": "A coder.", **fields}


def only(**distribution: Any) -> Entry:
    entries, problems = read_registry(agent(distribution=distribution), LINUX)
    assert problems == ()
    (entry,) = entries
    return entry


def refused(**distribution: Any) -> list[str]:
    entry = only(**distribution)
    assert entry.ways == ()
    return list(entry.problems)


def test_a_registry_has_many_agents() -> None:
    one = agent(distribution={"npx": {"package": "@a/pi@1.2", "args": ["--acp"]}})
    two = agent(id="fast", name="Fast", distribution={"uvx": {"package": "fast==0.1"}})
    entries, problems = read_registry({"version": "1.0.0", "agents": [one, two]}, LINUX)
    assert problems == ()
    assert entries == (
        Entry(
            "pi",
            "Pi",
            "1.2",
            (Way("npx", AgentSpec("npx", ("--yes", "@a/pi@1.2", "--acp"))),),
            remark="A coder.",
        ),
        Entry(
            "fast",
            "Fast",
            "1.2",
            (Way("uvx", AgentSpec("uvx", ("fast==0.1",))),),
            remark="A coder.",
        ),
    )


def test_one_agents_own_file_is_read_too() -> None:
    entry = only(npx={"package": "pi"})
    assert (entry.id, entry.title, len(entry.ways)) == ("pi", "Pi", 1)


def test_a_package_may_name_its_program_and_an_environment() -> None:
    part = {"package": "pi@1", "cmd": "pi-acp", "args": ["-x"], "env": {"A_B": "1"}}
    entry = only(npx=part, uvx=part | {"package": "pi[acp]>=1"})
    assert [way.spec for way in entry.ways] == [
        AgentSpec("npx", ("--yes", "--package", "pi@1", "pi-acp", "-x"), {"A_B": "1"}),
        AgentSpec("uvx", ("--from", "pi[acp]>=1", "pi-acp", "-x"), {"A_B": "1"}),
    ]


def test_of_an_archive_the_program_on_path_is_what_can_be_used() -> None:
    entry = only(npx={"package": "vibe"}, binary={LINUX: ARCHIVE | {"args": ["acp"]}})
    assert [way.kind for way in entry.ways] == ["program", "npx"]
    assert entry.ways[0].spec == AgentSpec("vibe-acp", ("acp",))
    windows = {"windows-x86_64": {**ARCHIVE, "cmd": ".\\vibe-acp.exe"}}
    entries, _ = read_registry(agent(distribution={"binary": windows}), "windows-x86_64")
    assert entries[0].ways[0].spec == AgentSpec("vibe-acp")


@pytest.mark.parametrize(
    "command", ["/bin/sh", "C:\\a.exe", "../a", "bin/a", "a b", "-a", "", 3, None]
)
def test_a_program_outside_the_archive_is_refused(command: object) -> None:
    assert refused(binary={LINUX: {"archive": "x", "cmd": command}}) == [
        "binary has a cmd that is not the name of a program in the archive's own folder"
    ]


def test_another_platforms_archive_is_of_no_use() -> None:
    assert refused(binary={"darwin-aarch64": ARCHIVE}) == [f"binary has nothing for {LINUX}"]
    assert refused(binary={LINUX: "x"}) == [f"binary has no object for {LINUX}"]


@pytest.mark.parametrize("kind", ["npx", "uvx"])
@pytest.mark.parametrize(
    ("part", "problem"),
    [
        ([], "is no object"),
        ({}, "has no package"),
        ({"package": 3}, "has no package"),
        ({"package": "a" * 2000}, "has no package"),
        ({"package": "--eval=x"}, "has a package that is not a name with a version"),
        (
            {"package": "https://evil.example/a.tgz"},
            "has a package that is not a name with a version",
        ),
        ({"package": "git+ssh://a"}, "has a package that is not a name with a version"),
        ({"package": "../a"}, "has a package that is not a name with a version"),
        ({"package": "a b"}, "has a package that is not a name with a version"),
        ({"package": "a", "cmd": "/bin/sh"}, "has a cmd that is not the name of a program"),
        ({"package": "a", "cmd": "-c"}, "has a cmd that is not the name of a program"),
        ({"package": "a", "cmd": []}, "has a cmd that is not the name of a program"),
        ({"package": "a", "args": "x"}, "has args that are not a short list of strings"),
        ({"package": "a", "args": [1]}, "has args that are not a short list of strings"),
        ({"package": "a", "args": ["\0"]}, "has args that are not a short list of strings"),
        ({"package": "a", "args": ["\ud800"]}, "has args that are not a short list of strings"),
        ({"package": "a", "args": ["x"] * 101}, "has args that are not a short list of strings"),
        ({"package": "a", "args": ["x" * 1001]}, "has args that are not a short list of strings"),
        ({"package": "a", "env": ["A"]}, "has an env that is not a small object"),
        (
            {"package": "a", "env": {f"A{n}": "" for n in range(101)}},
            "has an env that is not a small object",
        ),
        ({"package": "a", "env": {"A": 1}}, "has an env that is not names with strings"),
        ({"package": "a", "env": {"A=B": "1"}}, "has an env that is not names with strings"),
        ({"package": "a", "env": {"": "1"}}, "has an env that is not names with strings"),
    ],
)
def test_a_package_that_cannot_be_used_says_why(kind: str, part: object, problem: str) -> None:
    assert refused(**{kind: part}) == [f"{kind} {problem}"]


def test_a_way_that_cannot_be_used_leaves_the_others() -> None:
    entry = only(npx={"package": "-x"}, uvx={"package": "pi"}, docker={}, **{"a\nb": 1})
    assert [way.kind for way in entry.ways] == ["uvx"]
    assert entry.problems == (
        "npx has a package that is not a name with a version",
        "docker is not known here",
        "a b is not known here",
    )
    assert refused(**{"": 1}) == ["a distribution without a name is not known here"]


@pytest.mark.parametrize("distribution", [None, {}, [], "npx"])
def test_an_agent_without_a_distribution_cannot_be_started(distribution: object) -> None:
    entries, _ = read_registry(agent(distribution=distribution), LINUX)
    assert entries[0].problems == ("it has no distribution",)


@pytest.mark.parametrize("name", [None, 3, "", "Pi", "pi!", "-pi", "a" * 65, "pi\n", ["pi"]])
def test_an_entry_needs_an_id(name: object) -> None:
    entries, problems = read_registry({"agents": [agent(id=name), agent()]}, LINUX)
    assert [entry.id for entry in entries] == ["pi"]
    assert problems == ("entry 1 has no id of small letters, digits and hyphens; it is left out",)


def test_an_id_is_there_once() -> None:
    entries, problems = read_registry({"agents": [agent(), agent(name="Other"), 3]}, LINUX)
    assert [entry.title for entry in entries] == ["Pi"]
    assert problems == (
        "entry 2 has the id pi again; it is left out",
        "entry 3 is no object; it is left out",
    )


@pytest.mark.parametrize(
    ("raw", "problem"),
    [
        ([], "the file holds no object"),
        (None, "the file holds no object"),
        ({"agents": {}}, "agents must be a list"),
        ({"agents": [{}] * 1001}, "agents has more than 1000 entries"),
    ],
)
def test_a_file_that_is_no_registry(raw: object, problem: str) -> None:
    assert read_registry(raw, LINUX) == ((), (problem,))


def test_names_are_short_and_printable() -> None:
    entries, _ = read_registry(agent(name="\x1b[31m" + "x" * 5000, description=["no"]), LINUX)
    assert entries[0].title.isprintable()
    assert len(entries[0].title) <= 120
    assert entries[0].remark == ""
    assert read_registry(agent(name=3), LINUX)[0][0].title == "pi"


WORDS = st.sampled_from(
    [
        *("agents", "id", "pi", "distribution", "npx", "uvx", "binary", LINUX, "package", "cmd"),
        *("args", "env", "A", "", "./pi", "a@1", "\ud800", "\0"),
    ]
)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=4) | WORDS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(WORDS, inner, max_size=5),
    max_leaves=20,
)
PART = st.fixed_dictionaries(
    {}, optional={"package": WORDS, "cmd": WORDS, "args": st.lists(WORDS, max_size=3), "env": JSON}
)
AGENT = st.fixed_dictionaries(
    {"id": WORDS, "distribution": st.dictionaries(WORDS, PART | JSON, max_size=4)}
)


@settings(max_examples=80)
@given(JSON | AGENT | st.fixed_dictionaries({"agents": st.lists(AGENT | JSON, max_size=4)}))
def test_any_json_gives_entries_and_problems(raw: object) -> None:
    entries, problems = read_registry(raw, LINUX)
    assert all(problem.isprintable() for problem in problems)
    for entry in entries:
        assert all(problem.isprintable() for problem in entry.problems)
        for way in entry.ways:
            table = {"command": way.spec.command, "args": list(way.spec.args), "env": way.spec.env}
            read = tomllib.loads(toml_table(entry.id, table))
            assert parse([read], AgentSpec("demo"))[0].agents == {entry.id: way.spec}
