"""Patterns for the ids of clauses and cases as people write them, in options and in files of waivers alike."""

import fnmatch


def fits(pattern: str, name: str) -> bool:
    """Whether a pattern fits an id. `*` and `?` stand for others, all else for itself: ids of cases have brackets."""
    return fnmatch.fnmatchcase(name, pattern.replace("[", "[[]"))
