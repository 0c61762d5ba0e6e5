"""Says which optional programs were missing in a test run, and what was left out for that.

A test that needs a program carries ``@pytest.mark.needs("hx")``; when it is no program of
the search path, ``found`` tells whether it is there: ``needs("node 22", found=node22())``.
Where the program is missing the test is not collected, and the end of the run names both.

With ``ACPLS_MISSING`` set, the names are also appended to that file, one a line.
"""

from __future__ import annotations

import os
import shutil
from collections import defaultdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

LEFT_OUT = pytest.StashKey[dict[str, list[str]]]()


@pytest.hookimpl(trylast=True)  # after -m and -k, so that only wanted tests are reported
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out the tests whose programs are missing, and remember them."""
    left_out: dict[str, list[str]] = defaultdict(list)
    config.stash[LEFT_OUT] = left_out
    kept: list[pytest.Item] = []
    dropped: list[pytest.Item] = []
    for item in items:
        missing = [name for name, found in _needs(item) if not found]
        for name in missing:
            left_out[name].append(item.nodeid)
        (dropped if missing else kept).append(item)
    if dropped:
        config.hook.pytest_deselected(items=dropped)
        items[:] = kept


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Tell the process that this one works for, when tests run in several."""
    output: dict[str, object] | None = getattr(session.config, "workeroutput", None)
    if output is not None:
        left_out: dict[str, list[str]] = session.config.stash.get(LEFT_OUT, {})
        output["left out"] = dict(left_out)


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    """Take over what a worker left out; all of them collect the same tests."""
    output = getattr(node, "workeroutput", None)
    if output:
        node.config.stash[LEFT_OUT] = output["left out"]


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    """Name each missing program with the tests that did not run for it."""
    left_out = config.stash.get(LEFT_OUT, {})
    if not left_out:
        return
    terminalreporter.section("missing optional programs")
    for name, tests in sorted(left_out.items()):
        terminalreporter.line(f"{name}: {len(tests)} not run")
        for test in tests:
            terminalreporter.line(f"    {test}")
    note = os.environ.get("ACPLS_MISSING")
    if note:
        with Path(note).open("a", encoding="utf-8") as lines:
            lines.writelines(f"{name}: {len(left_out[name])} tests\n" for name in sorted(left_out))


def _needs(item: pytest.Item) -> Iterator[tuple[str, object]]:
    for mark in item.iter_markers("needs"):
        name = mark.args[0]
        yield name, mark.kwargs["found"] if "found" in mark.kwargs else shutil.which(name)
