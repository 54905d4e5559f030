"""Names of clauses and cases as people type them."""

import difflib
import fnmatch
from collections.abc import Iterable


def fitting(name: str, pattern: str) -> bool:
    """Whether an id is this one, or fits this shell pattern. Brackets stand for themselves, or for a set."""
    literally = pattern.replace("[", "[[]")
    return name == pattern or fnmatch.fnmatchcase(name, literally) or fnmatch.fnmatchcase(name, pattern)


def nearest(given: str, names: Iterable[str]) -> str:
    """The end of a sentence about an unknown name: what may have been meant."""
    near = difflib.get_close_matches(given.strip("*?"), names, n=3)
    return f"; did you mean {' or '.join(near)}?" if near else ""
