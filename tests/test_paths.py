"""Names as core treats them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tffs_conformance.harness.ops import glob, paths


@pytest.mark.parametrize(
    ("name", "translated"),
    [
        ("", ""),
        ("/", "/"),
        ("//", "/"),
        ("a_file", "a_file"),
        ("a_dir/..", "."),
        ("s://", "/"),
        ("s:///", "/"),
        ("s:////", "/"),
        ("xp://host", "/"),
        ("xp://host/some/../x//y/", "/x/y"),
        ("xp://host/a/../b//c/", "/b/c"),
        ("/a/convoluted/../path/./to/.//.///a/file", "/a/path/to/a/file"),
        ("../a", "../a"),
        ("/../a", "/a"),
        ("weird+scheme://host/a", "weird+scheme:/host/a"),
    ],
)
def test_translate(name: str, translated: str) -> None:
    assert paths.translate(name) == translated


@given(st.text(alphabet="./ab", min_size=1, max_size=30))
def test_translating_twice_changes_nothing(name: str) -> None:
    once = paths.translate(name)
    assert paths.translate(once) == once


def test_dirname_stops_at_the_root() -> None:
    assert paths.dirname("x://h/a") == "x://h/"
    assert paths.dirname("x://h/") == "x://h/"
    assert paths.dirname("x://h/a/b") == "x://h/a"


TREE = {"x:///d": ["a", "ab", "sub"], "x:///d/sub": ["ax", "bx"]}


@pytest.mark.parametrize(
    ("pattern", "found"),
    [
        ("", []),
        ("x:///d/*", ["x:///d/a", "x:///d/ab", "x:///d/sub"]),
        ("x:///d/a?", ["x:///d/ab"]),
        ("x:///d/*/a*", ["x:///d/sub/ax"]),
        ("x:///d/[^a]*", ["x:///d/sub"]),
        ("x:///d/ab", ["x:///d/ab"]),
        ("x:///d/missing", []),
        ("x:///none/*", []),
    ],
)
def test_glob(pattern: str, found: list[str]) -> None:
    there = {paths.join(directory, name) for directory, names in TREE.items() for name in names} | set(TREE)
    assert list(glob.walk(pattern, there.__contains__, TREE.__contains__, lambda d: TREE.get(d, []))) == found
