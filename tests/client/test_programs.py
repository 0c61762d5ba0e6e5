"""Looking programs up, as Windows and the others do it; all on a machine that is made up."""

from __future__ import annotations

import ntpath
import posixpath
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from acpls.client import shims
from acpls.client.programs import (
    SETTING,
    Machine,
    Missing,
    Program,
    batch_overrides,
    locate,
    resolve,
    unusable,
)
from acpls.client.shims import FirstLine, Shim

if TYPE_CHECKING:
    from collections.abc import Mapping


class MadeUp:
    """Files by path; on Windows the case of a path does not matter."""

    def __init__(self, files: Mapping[str, str], *, windows: bool, plain: tuple[str, ...]) -> None:
        self._same = ntpath.normcase if windows else posixpath.normpath
        self._paths = ntpath if windows else posixpath
        self._files = {self._same(path): text for path, text in files.items()}
        self._plain = set(plain)

    def is_file(self, path: str) -> bool:
        return self._same(path) in self._files

    def is_folder(self, path: str) -> bool:
        below = self._same(path).rstrip(self._paths.sep) + self._paths.sep
        return any(file.startswith(below) for file in self._files)

    def may_run(self, path: str) -> bool:
        return path not in self._plain

    def head(self, path: str) -> str:
        return self._files.get(self._same(path), "")


def windows(files: Mapping[str, str], path: str = "C:\\bin;C:\\npm", **env: str) -> Machine:
    made_up = MadeUp(files, windows=True, plain=())
    return Machine({"Path": path, **env}, "C:\\proj", made_up, windows=True)


def posix(
    files: Mapping[str, str], path: str = "/bin:/usr/bin", plain: tuple[str, ...] = (), **env: str
) -> Machine:
    return Machine({"PATH": path, **env}, "/proj", MadeUp(files, windows=False, plain=plain))


def missing(found: Program | Missing | str) -> Missing:
    assert isinstance(found, Missing)
    assert "\n" not in found.what + found.todo
    return found


# --- shims as package managers write them ---------------------------------------------

NPM = r"""@ECHO off
GOTO start
:find_dp0
SET dp0=%~dp0
EXIT /b
:start
SETLOCAL
CALL :find_dp0

IF EXIST "%dp0%\node.exe" (
  SET "_prog=%dp0%\node.exe"
) ELSE (
  SET "_prog=node"
  SET PATHEXT=%PATHEXT:;.JS;=;%
)

endLocal & goto #_undefined_# 2>NUL || """
NPM += r"""title %COMSPEC% & "%_prog%"  "%dp0%\node_modules\agent\index.js" %*
"""
NPM_BINARY = r"""@ECHO off
SETLOCAL
CALL :find_dp0
"%dp0%\node_modules\agent\bin\agent.exe"   %*
"""
OLD = r"""@IF EXIST "%~dp0\node.exe" (
  "%~dp0\node.exe"  "%~dp0\..\agent\bin.js" %*
) ELSE (
  @SETLOCAL
  @SET PATHEXT=%PATHEXT:;.JS;=;%
  node  "%~dp0\..\agent\bin.js" %*
)
"""
PNPM = (
    r"""@SETLOCAL
@IF NOT DEFINED NODE_PATH (
  @SET "NODE_PATH=C:\pnpm\global\5\node_modules"
)
"""
    + OLD
)
NPX = r""":: Created by npm, please don't edit manually.
@ECHO OFF

SETLOCAL

SET "NODE_EXE=%~dp0\node.exe"
IF NOT EXIST "%NODE_EXE%" (
  SET "NODE_EXE=node"
)

SET "NPM_PREFIX_JS=%~dp0\node_modules\npm\bin\npm-prefix.js"
SET "NPX_CLI_JS=%~dp0\node_modules\npm\bin\npx-cli.js"
FOR /F "delims=" %%F IN ('CALL "%NODE_EXE%" "%NPM_PREFIX_JS%"') DO (
  SET "NPM_PREFIX_NPX_CLI_JS=%%F\node_modules\npm\bin\npx-cli.js"
)
IF EXIST "%NPM_PREFIX_NPX_CLI_JS%" (
  SET "NPX_CLI_JS=%NPM_PREFIX_NPX_CLI_JS%"
)

"%NODE_EXE%" "%NPX_CLI_JS%" %*
"""
WITH_FLAGS = '@node --no-warnings "%~dp0\\x.js" %*'


@pytest.mark.parametrize("ending", ["\n", "\r\n"])
@pytest.mark.parametrize(
    ("text", "shim"),
    [
        (NPM, Shim("C:\\npm\\node_modules\\agent\\index.js", "node", "C:\\npm\\node.exe")),
        (NPM_BINARY, Shim("C:\\npm\\node_modules\\agent\\bin\\agent.exe")),
        (OLD, Shim("C:\\agent\\bin.js", "node", "C:\\npm\\node.exe")),
        (NPX, Shim("C:\\npm\\node_modules\\npm\\bin\\npx-cli.js", "node", "C:\\npm\\node.exe")),
        (WITH_FLAGS, Shim("C:\\npm\\x.js", "node", None, ("--no-warnings",))),
        # What does more, or something else, is not understood.
        (PNPM, None),
        ("", None),
        ("@echo hello", None),
        ("@echo %*", None),
        ("call other.cmd %*", None),
        ('"%~dp0\\other.cmd" %*', None),
        ('python "%~dp0\\x.py" %*', None),
        ('node "C:\\x.js" %*', None),
        ('node "%~dp0\\%NAME%.js" %*', None),
        ('node %FLAGS% "%~dp0\\x.js" %*', None),
        ('node "%~dp0\\a.js" "%~dp0\\x.js" %*', None),
        ('node "%~dp0\\a.js" %*\nnode "%~dp0\\b.js" %*', None),
        ('node "%~dp0\\a.js"', None),
    ],
)
def test_x13_shims_are_read_or_not_understood(text: str, shim: Shim | None, ending: str) -> None:
    assert shims.read(text.replace("\n", ending), "C:\\npm") == shim


PIECES = [*'%*"@ \n&=\\', "SET ", "node ", "%~dp0", "%dp0%", ".exe", " %*", "x"]


@given(st.lists(st.sampled_from(PIECES), max_size=12))
def test_no_batch_file_raises(pieces: list[str]) -> None:
    found = shims.read("".join(pieces), "C:\\npm")
    assert found is None or found.target.startswith("C:\\")


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("#!/bin/sh\nx", FirstLine("/bin/sh")),
        ("#! /bin/bash -e\r\n", FirstLine("/bin/bash", None, ("-e",))),
        ("#!/usr/bin/env node", FirstLine("/usr/bin/env", "node")),
        ("#!/usr/bin/env -S node --x\n", FirstLine("/usr/bin/env", "node", ("--x",))),
        ("#!/usr/bin/env A=1 node", FirstLine("/usr/bin/env", "node")),
        ("#!/usr/bin/env", FirstLine("/usr/bin/env")),
        ("#!\n", None),
        ("echo", None),
        ("", None),
    ],
)
def test_x17_first_lines_name_an_interpreter(text: str, line: FirstLine | None) -> None:
    assert shims.first_line(text) == line


# --- Windows --------------------------------------------------------------------------

NODE = {"C:\\node\\node.exe": ""}
SCRIPT = "C:\\npm\\node_modules\\agent\\index.js"
PATH = "C:\\bin;C:\\npm;C:\\node"


def test_x13_the_script_behind_a_shim_is_started_with_the_node_beside_it() -> None:
    files = {"C:\\npm\\agent.cmd": NPM, SCRIPT: "", **NODE, "C:\\npm\\node.exe": ""}
    found = resolve("agent", ["--acp", 'a "b" %c%'], windows(files, PATH))
    note = f"{SCRIPT} is started directly, not by C:\\npm\\agent.cmd"
    assert found == Program(("C:\\npm\\node.exe", SCRIPT, "--acp", 'a "b" %c%'), note)


@pytest.mark.parametrize(
    "command", ["agent", "agent.cmd", "AGENT", "C:\\npm\\agent", "..\\npm/agent"]
)
def test_x13_or_with_the_node_on_path(command: str) -> None:
    files = {"C:\\npm\\agent.cmd": NPM, "C:\\npm\\agent": "#!/bin/sh", SCRIPT: "", **NODE}
    found = resolve(command, ["x"], windows(files, PATH))
    assert isinstance(found, Program)
    assert [arg.lower() for arg in found.argv] == ["c:\\node\\node.exe", SCRIPT.lower(), "x"]


def test_x13_a_shim_of_a_binary_is_passed_by() -> None:
    binary = "C:\\npm\\node_modules\\agent\\bin\\agent.exe"
    files = {"C:\\npm\\agent.cmd": NPM_BINARY, binary: "MZ"}
    found = resolve("agent", ["a&b"], windows(files))
    assert isinstance(found, Program)
    assert found.argv == (binary, "a&b")


@pytest.mark.parametrize("files", [{}, {SCRIPT: ""}, NODE])
def test_x13_a_shim_whose_parts_are_not_both_there_is_run_itself(files: dict[str, str]) -> None:
    files = {**files, "C:\\npm\\agent.cmd": NPM}
    found = resolve("agent", ["--acp"], windows(files, PATH))
    note = "C:\\npm\\agent.cmd is a batch file of an unknown kind"
    assert found == Program(("C:\\npm\\agent.cmd", "--acp"), note)


@pytest.mark.parametrize("argument", ["a&b", "%PATH%", 'a"b', "a^b", "a|b", "a>b", "a\nb"])
def test_x14_a_batch_file_is_not_given_what_it_would_change(argument: str) -> None:
    machine = windows({"C:\\bin\\run.bat": "@echo %*"})
    found = missing(resolve("run", ["ok", argument], machine))
    assert (
        found.what
        == "'C:\\\\bin\\\\run.bat' is a batch file and cannot be given such arguments unchanged"
    )
    assert SETTING in found.todo


ARGUMENT = st.text(st.characters(exclude_characters="\0"), max_size=8)


@given(st.lists(ARGUMENT))
def test_x14_arguments_come_out_as_they_went_in(args: list[str]) -> None:
    """X14: backslashes, quotes and spaces are the user's; nothing is parsed like a shell."""
    here = windows({"C:\\My Tools\\agent.exe": ""})
    assert resolve("C:\\My Tools\\agent.exe", args, here) == Program(
        ("C:\\My Tools\\agent.exe", *args)
    )
    there = posix({"/opt/my tools/agent": ""})
    assert resolve("/opt/my tools/agent", args, there) == Program(("/opt/my tools/agent", *args))


@pytest.mark.parametrize(
    ("name", "text", "argv"),
    [
        ("run.sh", "#!/bin/sh -e\n", ("C:\\git\\sh.exe", "-e")),
        ("run.sh", "echo", ("C:\\git\\sh.exe",)),
        ("run", "#!/usr/bin/env -S node --x\n", ("C:\\node\\node.exe", "--x")),
        ("run.mjs", "export {}", ("C:\\node\\node.exe",)),
        ("run.js", "#!/usr/bin/env node\n", ("C:\\node\\node.exe",)),
        ("run.py", "#!C:\\py\\python.exe\n", ("C:\\py\\python.exe",)),
    ],
)
def test_x14_a_script_is_given_to_its_interpreter(
    name: str, text: str, argv: tuple[str, ...]
) -> None:
    path = f"C:\\bin\\{name}"
    files = {path: text, **NODE, "C:\\git\\sh.exe": "", "C:\\py\\python.exe": ""}
    found = resolve(name, ["a b"], windows(files, "C:\\bin;C:\\node;C:\\git"))
    assert found == Program((*argv, path, "a b"), f"{path} is run by {argv[0]}")


def test_x14_a_script_without_an_interpreter_says_what_it_needs() -> None:
    found = missing(resolve("run.sh", [], windows({"C:\\bin\\run.sh": "#!/bin/bash"})))
    assert found.what == (
        "'C:\\\\bin\\\\run.sh' cannot run: it needs 'bash', which was not found "
        "in the 2 folders of PATH (C:\\bin, C:\\npm)"
    )
    found = missing(resolve("notes", [], windows({"C:\\bin\\notes": "some text"})))
    assert found.what == "'C:\\\\bin\\\\notes' is no program that Windows can start"


@pytest.mark.parametrize(
    ("files", "pathext", "found"),
    [
        (["C:\\bin\\x.cmd", "C:\\bin\\x.exe"], ".COM;.EXE;.BAT;.CMD", "C:\\bin\\x.exe"),
        (["C:\\bin\\x.cmd", "C:\\bin\\x.exe"], ".CMD;.EXE", "C:\\bin\\x.cmd"),
        (["C:\\bin\\x.cmd", "C:\\npm\\x.exe"], "", "C:\\bin\\x.cmd"),
        (["C:\\bin\\x", "C:\\npm\\x.cmd"], ".EXE;.CMD", "C:\\npm\\x.cmd"),
        (["C:\\bin\\x.js", "C:\\npm\\x.exe"], ".JS;.EXE", "C:\\npm\\x.exe"),
        (["C:\\npm\\x"], ".EXE", "C:\\npm\\x"),
        # Whatever lies in the folder of the session is nobody's program.
        (["C:\\proj\\x.exe", "C:\\npm\\x.exe"], ".EXE", "C:\\npm\\x.exe"),
    ],
)
def test_endings_are_tried_in_the_order_of_pathext(
    files: list[str], pathext: str, found: str
) -> None:
    machine = windows(dict.fromkeys(files, ""), 'C:\\bin;;"C:\\npm"', pathext=pathext)
    assert str(locate("x", machine)).lower() == found.lower()


def test_a_machine_without_path_has_no_programs() -> None:
    machine = Machine({}, "C:\\proj", MadeUp({}, windows=True, plain=()), windows=True)
    assert missing(locate("x", machine)).what == "the program 'x' was not found since PATH is empty"


def test_a_home_folder_may_be_meant_on_windows() -> None:
    machine = windows({"C:\\home\\me\\x.exe": ""}, USERPROFILE="C:\\home\\me")
    assert locate("~\\x.exe", machine) == "C:\\home\\me\\x.exe"
    assert locate("~/x", machine) == "C:\\home\\me\\x.exe"


# --- all other systems ----------------------------------------------------------------


def test_a_program_is_found_on_path_or_from_the_folder() -> None:
    files = {"/usr/bin/x": "", "/proj/x": "", "/proj/sub/x": "", "/home/me/x": "", "/bin/y/z": ""}
    machine = posix(files, HOME="/home/me")
    assert locate("x", machine) == "/usr/bin/x"
    assert locate("./x", machine) == "/proj/x"
    assert locate("sub/x", machine) == "/proj/sub/x"
    assert locate("sub/../x", machine) == "/proj/sub/../x"
    assert locate("~/x", machine) == "/home/me/x"
    assert isinstance(locate("~other/x", machine), Missing)
    assert isinstance(locate("y", machine), Missing)
    assert locate("x", posix(files, ":/usr/bin")) == "/proj/x"
    assert locate("x", posix(files, "sub")) == "/proj/sub/x"
    assert locate("x", Machine({}, "/proj", machine.files)) == "/usr/bin/x"
    assert locate("x", posix(files, "/proj:/usr/bin", plain=("/proj/x",))) == "/usr/bin/x"


@pytest.mark.parametrize(
    ("command", "what", "todo"),
    [
        (
            "agent",
            "the program 'agent' was not found in the 2 folders of PATH (/bin, /usr/bin)",
            f"install it, or give its full path in {SETTING}",
        ),
        (
            "npx",
            "the program 'npx' was not found in the 2 folders of PATH (/bin, /usr/bin)",
            f"npx comes with Node.js: install that, or give its full path in {SETTING}",
        ),
        (
            "/opt/uvx",
            "the program '/opt/uvx' was not found since there is no folder /opt",
            f"uvx comes with uv: install that, or give its full path in {SETTING}",
        ),
        (
            "sub/agent",
            "the program 'sub/agent' was not found in /proj/sub",
            f"install it, or give its full path in {SETTING}",
        ),
        (
            "./sub",
            "the program './sub' is a folder, not a program",
            f"name the program in it in {SETTING}",
        ),
        (
            "..",
            "the program '..' is a folder, not a program",
            f"name the program in it in {SETTING}",
        ),
        ("sub/x", "the program 'sub/x' is not executable", "chmod +x /proj/sub/x"),
    ],
)
def test_what_is_missing_is_named_with_where_and_what_to_do(
    command: str, what: str, todo: str
) -> None:
    machine = posix({"/proj/sub/x": ""}, plain=("/proj/sub/x",))
    assert missing(resolve(command, [], machine)) == Missing(what, todo)


def test_a_long_path_is_counted() -> None:
    machine = posix({}, ":".join(f"/{n}" for n in (1, 2, 3, 4, 4, 1)))
    assert missing(locate("x", machine)).what.endswith("in the 4 folders of PATH (/1, /2, /3, ...)")
    assert missing(locate("x", posix({}, "/1"))).what.endswith("in /1, the only folder of PATH")
    assert missing(locate("x", posix({}, ""))).what.endswith("since PATH is empty")


def test_x17_the_interpreter_that_is_missing_is_named() -> None:
    script = {"/usr/bin/agent": "#!/usr/bin/env node\n", "/usr/bin/env": ""}
    found = missing(resolve("agent", [], posix(script)))
    assert found == Missing(
        "'/usr/bin/agent' cannot run: 'node' was not found in the 2 folders of PATH "
        "(/bin, /usr/bin)",
        "node is Node.js: install that, or add its folder to PATH",
    )
    script["/bin/node"] = ""
    assert resolve("agent", ["x"], posix(script)) == Program(("/usr/bin/agent", "x"))
    found = missing(resolve("agent", [], posix({"/bin/agent": "#!/no/where -x"})))
    assert found.what == "'/bin/agent' cannot run: its interpreter '/no/where' is missing"
    assert resolve("agent", [], posix({"/bin/agent": "#!/bin/sh", "/bin/sh": ""})) == Program(
        ("/bin/agent",)
    )


# --- what no program can be given -----------------------------------------------------


@pytest.mark.parametrize(
    ("argv", "env", "problem"),
    [
        (["x", "\ud800"], {}, "argument 1 holds half of a surrogate pair, which is no text"),
        (["\ud83dx"], {}, "the program's name holds half of a surrogate pair, which is no text"),
        (["x", "a", "\0"], {}, "argument 2 holds a null byte"),
        (
            ["x"],
            {"KEY": "\ud800secret"},
            "the variable KEY holds half of a surrogate pair, which is no text",
        ),
        (
            ["x"],
            {"A\ud800": "v"},
            "the name of the variable A\\ud800 holds half of a surrogate pair, which is no text",
        ),
        (["x"], {"A=B": "v"}, "the environment has a variable with the impossible name 'A=B'"),
        (["x"], {"": "v"}, "the environment has a variable with the impossible name ''"),
        (["x", "ä😀\udc80"], {"A": "\\ ü"}, None),
    ],
)
def test_what_no_program_can_be_given_is_said_without_its_value(
    argv: list[str], env: dict[str, str], problem: str | None
) -> None:
    assert unusable(argv, env) == problem


@pytest.mark.parametrize(
    "name", ["CLAUDE_CODE_EXECUTABLE", "CODEX_PATH", "X_BIN", "git_exe", "BIN"]
)
@pytest.mark.parametrize("value", ["C:\\npm\\claude.cmd", "C:\\x\\run.BAT "])
def test_x15_a_batch_file_given_for_a_program_is_warned_of(name: str, value: str) -> None:
    (warning,) = batch_overrides({"A": "b", name: value})
    assert warning.startswith(f"{name} names a batch file ({value})")


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("CLAUDE_CODE_EXECUTABLE", "C:\\npm\\claude.exe"),
        ("CLAUDE_CODE_EXECUTABLE", "/usr/bin/claude"),
        ("NOTE", "see run.cmd"),
        ("PATH", "C:\\npm;C:\\odd.cmd"),
        ("MY_RECABIN", "C:\\x.cmd"),
    ],
)
def test_x15_other_variables_are_not(name: str, value: str) -> None:
    assert batch_overrides({name: value}) == ()
