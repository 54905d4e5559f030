"""Core's default for get_matching_paths. Source: TensorFlow's file_system_helper.cc."""

import ctypes
import os
from collections.abc import Callable, Iterator, Sequence

from . import paths

GLOB_CHARACTERS = frozenset("*?[\\")

_FNM_PATHNAME = 1
_fnmatch = ctypes.CDLL(None).fnmatch


def matches(name: str, pattern: str) -> bool:
    """Whether a path matches a pattern by fnmatch(3) with FNM_PATHNAME: `*`, `?` and `[…]` do not match a slash."""
    return bool(_fnmatch(os.fsencode(pattern), os.fsencode(name), _FNM_PATHNAME) == 0)


def walk(
    pattern: str,
    exists: Callable[[str], bool],
    is_directory: Callable[[str], bool],
    names: Callable[[str], Sequence[str]],
) -> Iterator[str]:
    """The paths that match `pattern`, in the form of the pattern.

    The walk is breadth first. It begins at the last directory before the first glob character.
    """
    if not pattern:
        return
    uri = paths.parse(pattern)
    path = uri.path.rstrip("/") or uri.path
    if not GLOB_CHARACTERS.intersection(path):
        if exists(pattern):
            yield pattern
        return
    if not path.startswith("/"):
        path = "./" + path
    levels = path.split("/")
    literal = next(k for k, level in enumerate(levels) if GLOB_CHARACTERS.intersection(level))
    # The beginnings of the pattern, level by level, from the first level with a glob character: `/a/*`, `/a/*/b`.
    prefixes = [uri.prefix + "/".join(levels[: k + 1]) for k in range(literal, len(levels))]
    directories = [uri.prefix + ("/".join(levels[:literal]) or "/")]
    for prefix in prefixes:
        last = prefix is prefixes[-1]
        below: list[str] = []
        for directory in directories:
            for name in names(directory):
                child = paths.join(directory, name)
                if not matches(child, prefix):
                    continue
                descends = is_directory(child)
                if last:
                    yield child
                elif descends:
                    below.append(child)
        directories = below
