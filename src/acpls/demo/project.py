r"""The sample project: a tea timer with a test, for the first steps with an agent.

Its files lie beside this module, each with ``.txt`` after its name, so that no tool takes
them for a part of the product. They are copied with ``\n`` line ends, whatever the product
was installed with, except for one file that has ``\r\n``.
"""

from __future__ import annotations

from pathlib import Path

_SOURCE = Path(__file__).with_suffix("")
_SUFFIX = ".txt"
_CRLF = "docs/menu.txt"


def copy_to(folder: str | Path) -> Path:
    """Copy the project into ``folder``, made if missing, and return its absolute path.

    Raises ``FileExistsError`` when a file of the project is there already; nothing is
    written then.
    """
    root = Path(folder).absolute()
    texts = {
        root / name.removesuffix(_SUFFIX): path.read_bytes().replace(b"\r\n", b"\n")
        for path in sorted(_SOURCE.rglob(f"*{_SUFFIX}"))
        for name in [path.relative_to(_SOURCE).as_posix()]
    }
    for path in texts:
        if path.exists():
            raise FileExistsError(f"{path} exists already")
    for path, text in texts.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        crlf = path == root / _CRLF
        path.write_bytes(text.replace(b"\n", b"\r\n") if crlf else text)
    return root
