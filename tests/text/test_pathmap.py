"""Path maps: longest folder, whole segments, both platforms, and there and back again."""

from __future__ import annotations

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from acpls.text.pathmap import PathMap, normal

WSL = PathMap([("C:\\Code\\me\\p", "/mnt/c/Code/me/p"), (r"\\wsl$\Ubuntu\home", "/home")])


@pytest.mark.parametrize(
    ("path", "spelled"),
    [
        ("C:\\a\\b", "C:\\a\\b"),
        ("c:\\a\\b\\", "C:\\a\\b"),
        ("c:/a//b", "C:\\a\\b"),
        ("\\\\?\\c:\\a", "C:\\a"),
        ("//?/c:/a", "C:\\a"),
        ("\\\\.\\C:\\a", "C:\\a"),
        ("\\\\?\\UNC\\Server\\share\\a\\", "\\\\Server\\share\\a"),
        ("\\\\Server\\share\\", "\\\\Server\\share"),
        ("C:\\", "C:\\"),
        ("c:", "C:\\"),
        ("/a/b/", "/a/b"),
        ("/a//b", "/a/b"),
        ("/a\\b/", "/a\\b"),
        ("/", "/"),
        # What is not absolute, or not a path of files.
        ("a/b/", "a/b/"),
        ("c:a", "c:a"),
        ("", ""),
        ("\\\\.\\pipe\\x", "\\\\.\\pipe\\x"),
        ("\\\\?\\Volume{1}\\a", "\\\\?\\Volume{1}\\a"),
    ],
)
def test_s08_a_folder_has_one_spelling(path: str, spelled: str) -> None:
    assert normal(path) == spelled
    assert normal(spelled) == spelled


@pytest.mark.parametrize(
    ("here", "there"),
    [
        ("C:\\Code\\me\\p", "/mnt/c/Code/me/p"),
        ("C:\\Code\\me\\p\\src\\a b.py", "/mnt/c/Code/me/p/src/a b.py"),
        (r"\\wsl$\Ubuntu\home\me\x", "/home/me/x"),
    ],
)
def test_x22_paths_of_windows_and_wsl_become_each_other(here: str, there: str) -> None:
    assert WSL.to_agent(here) == there
    assert WSL.to_editor(there) == here


@pytest.mark.parametrize(
    "spelled",
    [
        "c:\\Code\\me\\p\\f",
        "C:/Code/me/p/f",
        "\\\\?\\C:\\Code\\me\\p\\f",
        "//?/c:/Code\\me/p//f",
    ],
)
def test_x22_s08_a_windows_path_is_known_however_it_is_spelled(spelled: str) -> None:
    assert WSL.to_agent(spelled) == "/mnt/c/Code/me/p/f"


def test_x22_the_server_and_share_of_a_path_have_no_case() -> None:
    assert WSL.to_agent("\\\\WSL$\\ubuntu\\home\\me") == "/home/me"
    assert WSL.to_agent("\\\\?\\UNC\\WSL$\\ubuntu\\home\\me") == "/home/me"
    assert WSL.to_agent("\\\\wsl.localhost\\Ubuntu\\home\\me") == "/home/me"
    assert WSL.to_agent("//wsl$/Ubuntu/home/me") == "//wsl$/Ubuntu/home/me"


@pytest.mark.parametrize(
    "path",
    ["C:\\Code\\me\\project", "C:\\Code\\Me\\p", "D:\\Code\\me\\p", "C:p", "p/x", "", "~/p"],
)
def test_x22_other_paths_stay_as_they_are(path: str) -> None:
    assert WSL.to_agent(path) == path
    assert WSL.to_editor(path) == path


def test_the_longest_folder_wins_by_whole_segments() -> None:
    paths = PathMap([("/", "/far"), ("/a", "/x"), ("/a/b", "/y/")])
    assert paths.to_agent("/a/b/f") == "/y/f"
    assert paths.to_agent("/a/bc/f") == "/x/bc/f"
    assert paths.to_agent("/ab") == "/far/ab"
    assert paths.to_agent("/") == "/far"
    assert paths.to_editor("/y") == "/a/b"
    assert paths.to_editor("/yy") == "/yy"


def test_a_whole_drive_can_be_mapped() -> None:
    paths = PathMap([("D:\\", "/mnt/d")])
    assert paths.to_agent("d:\\") == "/mnt/d"
    assert paths.to_editor("/mnt/d") == "D:\\"
    assert paths.to_editor("/mnt/d/x") == "D:\\x"


def test_pairs_that_are_no_absolute_folders_are_passed_over() -> None:
    assert not PathMap([("a", "/b"), ("/a", "b")])
    assert not PathMap()
    assert PathMap([("/a", "/b")])


@pytest.mark.parametrize(
    ("here", "there"),
    [
        ("file:///C:/Code/me/p/a%20b", "file:///mnt/c/Code/me/p/a%20b"),
        ("file:///c%3A/Code/me/p/f", "file:///mnt/c/Code/me/p/f"),
        ("file:///C:/Code/me/p/f#L3", "file:///mnt/c/Code/me/p/f#L3"),
        ("file:///C:/Code/me/p/f?q#L3", "file:///mnt/c/Code/me/p/f?q#L3"),
        ("file://wsl$/Ubuntu/home/x", "file:///home/x"),
        ("https://C:/Code/me/p", "https://C:/Code/me/p"),
        ("file:///D:/x", "file:///D:/x"),
    ],
)
def test_x22_uris_of_files_move_with_their_paths(here: str, there: str) -> None:
    assert WSL.uri_to_agent(here) == there
    if "%3A" not in here and "$" not in here:
        assert WSL.uri_to_editor(there) == here


NAMES = st.text(st.characters(exclude_characters="/\\\0", exclude_categories=["Cs"]), min_size=1)
FOLDERS = st.lists(NAMES, min_size=1, max_size=3)
ROOTS = st.sampled_from(["/", "C:\\", "\\\\server\\share\\"])


def path(root: str, names: list[str]) -> str:
    return root + ("/" if root == "/" else "\\").join(names)


@given(ROOTS, FOLDERS, ROOTS, FOLDERS, FOLDERS)
def test_x22_what_was_moved_comes_back(
    here: str, ours: list[str], there: str, theirs: list[str], below: list[str]
) -> None:
    paths = PathMap([(path(here, ours), path(there, theirs))])
    given_path = path(here, ours + below)
    # A drive in another place is a name of a POSIX system; ours would be one of Windows.
    assume(normal(given_path) == given_path)
    moved = paths.to_agent(given_path)
    assert moved == path(there, theirs + below)
    assert paths.to_editor(moved) == given_path


@given(st.text(), ROOTS, FOLDERS)
def test_nothing_raises_and_what_is_unmapped_is_unchanged(
    text: str, root: str, names: list[str]
) -> None:
    paths = PathMap([(path(root, names), "/x")])
    assert isinstance(normal(text), str)
    moved = paths.to_agent(text)
    assert moved == text or moved.startswith("/x")
