"""Child processes: start, streams, last words, and an end that leaves nothing behind."""

from __future__ import annotations

import io
import os
import shutil
import signal
import subprocess
import sys
import textwrap
import uuid
from pathlib import Path

import anyio
import anyio.to_thread
import pytest

from acpls.client import process, watchdog
from acpls.client.programs import Program
from acpls.client.watch import Watch
from rim_stage import all_gone, runs

pytestmark = pytest.mark.anyio


async def python(code: str, **options: object) -> process.Child:
    argv = [sys.executable, "-I", "-S", "-u", "-c", textwrap.dedent(code)]
    return await process.start(argv, **options)  # type: ignore[arg-type]  # options of many types


async def lines(child: process.Child, count: int) -> list[str]:
    data = b""
    with anyio.fail_after(8):
        while data.count(b"\n") < count:
            piece = await child.receive()
            assert piece, "the output ended too early"
            data += piece
    return data.decode().splitlines()


async def everything(child: process.Child) -> bytes:
    data = b""
    with anyio.fail_after(8):
        while piece := await child.receive():
            data += piece
    return data


# Ignores the polite signals, and leaves a copy of itself in a session of its own.
STUBBORN = """
    import os, signal, sys, time
    for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
        signal.signal(number, signal.SIG_IGN)
    r, w = os.pipe()
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            os.write(w, str(os.getpid()).encode())
            while True:
                time.sleep(60)
        os._exit(0)
    os.wait()
    print(os.getpid(), os.read(r, 20).decode(), sep="\\n", flush=True)
    while True:
        time.sleep(60)
"""


async def test_streams_environment_and_folder(tmp_path: Path) -> None:
    child = await python(
        """
        import os, sys
        print(os.environ["ADDED"], "PATH" in os.environ, os.getcwd())
        print(os.getpgid(0) == os.getpid())
        sys.stdout.write(sys.stdin.read())
        """,
        env={**os.environ, "ADDED": "ä"},
        cwd=str(tmp_path),
    )
    assert await lines(child, 2) == [f"ä True {tmp_path}", "True"]
    await child.send(b"through\n")
    await child.end()
    assert await everything(child) == b"through\n"
    assert child.exit_code == 0
    with pytest.raises(process.ChildGone):
        await child.send(b"more")


async def test_what_cannot_run_says_why(tmp_path: Path) -> None:
    plain, broken = tmp_path / "plain", tmp_path / "broken"
    plain.write_text("text")
    broken.write_bytes(b"\x7fELF not really")
    broken.chmod(0o755)
    with pytest.raises(process.StartError, match="not executable"):
        await process.start(["./plain"], cwd=str(tmp_path))
    with pytest.raises(process.StartError, match="cannot be started: Exec format error"):
        await process.start([str(broken)])
    with pytest.raises(process.StartError, match="folder '/no/folder'"):
        await process.start([str(plain)], cwd="/no/folder")


async def test_names_that_no_file_can_have_are_not_found() -> None:
    for name in ("x" * 5000, f"/{'x' * 5000}", f"/{'x' * 300}/y"):
        with pytest.raises(process.StartError, match="was not found"):
            await process.start([name])
    with pytest.raises(process.StartError, match="to start in does not exist"):
        await process.start(["sh"], cwd="x" * 5000)


async def test_a_program_that_cannot_be_read_can_still_be_started(tmp_path: Path) -> None:
    told: list[str] = []
    tool = tmp_path / "tool"
    shutil.copy("/bin/true", tool)
    tool.chmod(0o111)
    child = await process.start([str(tool)], told=told.append)
    assert (child.program, await child.exited()) == (str(tool), 0)
    await child.end()
    assert told == []


async def test_x13_what_is_started_in_place_of_the_command_is_logged(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    told: list[str] = []
    seen = Program(("/bin/echo", "script", "x"), "script is run by echo")
    monkeypatch.setattr("acpls.client.machine.found", lambda *_: seen)
    child = await process.start(["tool", "x"], told=told.append)
    assert await everything(child) == b"script x\n"
    assert told == ["acpls: script is run by echo"]
    assert child.program == "/bin/echo"
    await child.end()


async def test_our_own_folder_may_be_gone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    child = await process.start(["echo", "x"])
    assert await everything(child) == b"x\n"
    await child.end()
    child = await process.start(["pwd"], cwd=str(tmp_path))
    assert await everything(child) == f"{tmp_path}\n".encode()
    await child.end()


async def test_standard_error_is_drained_and_its_end_kept() -> None:
    told: list[str] = []
    child = await python(
        """
        import sys
        for number in range(5000):
            print("line", number, "x" * 100, file=sys.stderr)
        sys.stderr.write("y" * 100_000 + "\\n" + "no end")
        print("done")
        """,
        told=told.append,
    )
    assert await everything(child) == b"done\n"
    assert await child.exited() == 0
    words = child.last_words()
    assert words[-1] == "no end"
    assert words[-2] == "y" * 4096
    assert words[0].startswith("line 4801 ")
    assert len(words) == 201
    assert len(told) == 5001
    await child.end()


async def test_a_slow_reader_is_no_problem_for_memory_or_order() -> None:
    child = await python(
        """
        import sys
        sys.stdout.write("".join(f"{number:09}\\n" for number in range(400_000)))
        """
    )
    assert await child.exited(within_s=0.4) is None
    data = await everything(child)
    assert data == b"".join(b"%09d\n" % number for number in range(400_000))
    assert await child.exited() == 0
    await child.end()


async def test_writing_waits_for_a_reader_and_fails_without_one() -> None:
    child = await python("import time; print(1, flush=True); time.sleep(60)")
    await lines(child, 1)
    with anyio.move_on_after(0.2) as waited:
        await child.send(b"x" * 4_000_000)
    assert waited.cancelled_caught
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(child.end, 0.0)
        with pytest.raises(process.ChildGone):
            await child.send(b"more")
    assert child.exit_code == -signal.SIGTERM


async def test_x01_end_reaches_what_left_the_group_and_ignores_signals(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(process, "_TERM_S", 0.3)
    child = await python(STUBBORN)
    pids = [int(line) for line in await lines(child, 2)]
    assert all(runs(pid) for pid in pids)
    async with anyio.create_task_group() as tasks:
        with anyio.fail_after(5):
            tasks.start_soon(child.end, 0.1)
            await child.end()
    assert not any(runs(pid) for pid in pids)
    assert child.exit_code == -signal.SIGKILL


async def test_orphans_that_hold_the_pipes_are_not_waited_for() -> None:
    child = await python(
        """
        import os, sys, time
        if os.fork() == 0:
            os.setsid()
            time.sleep(60)
        print("started", flush=True)
        os._exit(3)
        """
    )
    with anyio.fail_after(4):
        assert await child.exited() == 3
        await anyio.sleep(0.6)  # so late that the pipe is given up, but not what it held
        assert await everything(child) == b"started\n"
        await child.end()
    assert watchdog.living({child.pid}, set(), {}) == {}


async def test_a_terminal_has_no_input_and_one_output() -> None:
    child = await python(
        'import sys; print(len(sys.stdin.read()), flush=True); print("e", file=sys.stderr)',
        listens=False,
        merged=True,
    )
    assert await everything(child) == b"0\ne\n"
    assert child.last_words() == []
    with pytest.raises(process.ChildGone):
        await child.send(b"x")
    await child.end()


def until_ignored(pid: int, numbers: tuple[int, ...]) -> None:
    wanted = sum(1 << (number - 1) for number in numbers)
    ignored = 0
    while ignored & wanted != wanted:
        status = Path(f"/proc/{pid}/status").read_text().splitlines()
        ignored = int(next(s for s in status if s.startswith("SigIgn:")).split()[1], 16)


# --- the watchdog --------------------------------------------------------------------


async def test_the_watchdog_starts_once_and_leaves_with_us() -> None:
    watch = Watch()
    await watch.aclose()
    one = await python("input()", watch=watch)
    two = await python("input()", watch=watch)
    dog = watch._dog
    assert dog is not None
    assert os.getsid(dog.pid) == dog.pid
    numbers = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    with anyio.fail_after(5):
        await anyio.to_thread.run_sync(until_ignored, dog.pid, numbers)
    for number in numbers:
        dog.send_signal(number)
    await one.end()
    assert dog.poll() is None
    await watch.aclose()
    assert dog.returncode == 0
    assert all_gone([two.pid])
    await two.end()


async def test_a_watchdog_that_died_is_replaced() -> None:
    watch = Watch()
    one = await python("input()", watch=watch)
    assert watch._dog is not None
    watch._dog.kill()
    watch._dog.wait()
    two = await python("input()", watch=watch)
    await watch.aclose()
    assert all_gone([one.pid, two.pid])
    await one.end()
    await two.end()


def test_x01_the_watchdog_ends_groups_and_marked_processes() -> None:
    tag = f"acpls-test-{uuid.uuid4().hex}"
    tree = subprocess.Popen(
        [sys.executable, "-I", "-S", "-c", textwrap.dedent(STUBBORN)],
        env={**os.environ, watchdog.MARK: tag},
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    assert tree.stdout is not None
    pids = [int(tree.stdout.readline()), int(tree.stdout.readline())]
    spared = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    dog = subprocess.run(
        [sys.executable, "-I", "-S", watchdog.__file__],
        input=f"+0 {tag}\n+{pids[0]} {tag}2\n+{spared.pid} {tag}3\n-{spared.pid}\n\n".encode(),
        timeout=10,
        check=False,
    )
    tree.wait()
    tree.stdout.close()
    assert dog.returncode == 0
    assert not any(runs(pid) for pid in pids)
    assert spared.poll() is None
    spared.communicate()


def test_x01_the_watchdog_keeps_books(monkeypatch: pytest.MonkeyPatch) -> None:
    tree = subprocess.Popen(["sleep", "60"], start_new_session=True)
    spared = subprocess.Popen(["sleep", "60"], start_new_session=True)
    tag, other = f"acpls-test-{tree.pid}", f"acpls-test-{spared.pid}"
    book = f"+0 {tag}\n+{spared.pid} {other}\n+{tree.pid} {tag}\n?\n-{spared.pid}\n"
    ignored: list[object] = []
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(book.encode())))
    monkeypatch.setattr(signal, "signal", lambda *pair: ignored.append(pair))
    monkeypatch.setattr(os, "chdir", ignored.append)
    watchdog.main()
    assert tree.wait() == -signal.SIGTERM
    assert spared.poll() is None
    spared.kill()
    spared.wait()
    assert ignored[0] == (signal.SIGINT, signal.SIG_IGN)
    assert ignored[-1] == "/"


def test_only_whole_tags_count_and_never_our_own_family() -> None:
    tag = f"acpls-test-{uuid.uuid4().hex}"
    env = {**os.environ, watchdog.MARK: f"outer {tag}", "OTHER": f"{tag}2"}
    code = "import time; print(1, flush=True); time.sleep(60)"
    marked = subprocess.Popen([sys.executable, "-c", code], env=env, stdout=subprocess.PIPE)
    assert marked.stdout is not None
    # Before it has begun its environment cannot be read.
    marked.stdout.readline()
    try:
        assert watchdog.living(set(), {tag}, {}).keys() == {marked.pid}
        assert watchdog.living(set(), {"outer", "no"}, {}).keys() == {marked.pid}
        for wrong in (tag[:-1], f"{tag}2", "e", ""):
            assert watchdog.living(set(), {wrong}, {}) == {}
        family = {os.getpgid(0), os.getpgid(os.getppid())}
        assert not {os.getpid(), os.getppid(), 1} & watchdog.living(family, set(), {}).keys()
    finally:
        marked.kill()
        marked.wait()
        marked.stdout.close()


def test_x01_the_watchdog_uses_force_in_the_end() -> None:
    code = "import signal, time; signal.signal(15, signal.SIG_IGN); print(1, flush=True)"
    argv = [sys.executable, "-c", f"{code}; time.sleep(60)"]
    tree = subprocess.Popen(argv, stdout=subprocess.PIPE, start_new_session=True)
    assert tree.stdout is not None
    tree.stdout.readline()
    watchdog.end_all({tree.pid}, set())
    tree.stdout.close()
    assert tree.wait() == -signal.SIGKILL


def test_where_there_is_no_proc_the_groups_are_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watchdog, "_HAS_PROC", False)
    tree = subprocess.Popen(["sleep", "60"], start_new_session=True)
    assert watchdog.living({tree.pid, 2**22 + 1}, {"acpls-test"}, {}) == {tree.pid: ""}
    watchdog.send_signal(watchdog.groups_of({tree.pid: ""}), {}, signal.SIGTERM)
    assert tree.wait() == -signal.SIGTERM
    assert watchdog.living({tree.pid}, set(), {}) == {}
    monkeypatch.setattr(os, "killpg", _not_permitted)
    assert watchdog.living({tree.pid}, set(), {}) == {tree.pid: ""}


def _not_permitted(*_: int) -> None:
    raise PermissionError


SERVER = """
import sys, anyio
sys.path[:0] = {path!r}
from rim_stage import stage
from acpls.events import SessionTold

async def main():
    async with stage(__import__("pathlib").Path({folder!r})) as it:
        it.start({agent!r})
        await it.wait(SessionTold)
        print(*it.texts(), it.host._watch._dog.pid, flush=True)
        await anyio.sleep_forever()

anyio.run(main)
"""
# Ignores everything, does not end with its input, and has a child that left the tree.
AGENT = """
hello()
signal.signal(signal.SIGTERM, signal.SIG_IGN)
code = "import signal, time; signal.signal(15, signal.SIG_IGN); time.sleep(60)"
child = subprocess.Popen([sys.executable, "-c", code], start_new_session=True)
tell(f"{os.getpid()} {child.pid}")
time.sleep(60)
"""


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_x01_nothing_outlives_a_server_that_is_killed(number: int, tmp_path: Path) -> None:
    code = SERVER.format(path=sys.path, folder=str(tmp_path), agent=AGENT)
    server = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    assert server.stdout is not None
    pids = [int(word) for word in server.stdout.readline().split()]
    assert len(pids) == 3
    assert all(runs(pid) for pid in pids)
    # Also what is aimed at the server's whole group leaves the watchdog alone.
    os.kill(server.pid, number)
    server.wait()
    server.stdout.close()
    assert all_gone(pids)
