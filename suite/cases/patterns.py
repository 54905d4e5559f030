"""Patterns, each with the clause it is about and with what it matches in one small tree."""

from collections.abc import Mapping
from dataclasses import dataclass

#: The tree. Most entries are directories, which are cheaper to make: a pattern matches both.
FILES = ("a", "abc", "x-y", "dir/ax", "dir/deep/end")
DIRECTORIES = ("ab", "b", "c.txt", "[x]", "a*b", "dir", "dir/bx", "dir/deep", "dir2", "dir2/ax", "empty")


@dataclass(frozen=True, slots=True)
class Pattern:
    """A pattern. `matches` are the sorted paths that it matches in the tree."""

    text: str
    clause: str
    matches: tuple[str, ...]


def _pattern(text: str, clause: str, *matches: str) -> Pattern:
    return Pattern(text, f"get_matching_paths.{clause}", tuple(sorted(matches)))


_TOP = ("a", "ab", "abc", "b", "c.txt", "[x]", "a*b", "x-y", "dir", "dir2", "empty")

PATTERNS: Mapping[str, Pattern] = {
    "star": _pattern("*", "star", *_TOP),
    "prefix": _pattern("a*", "star", "a", "ab", "abc", "a*b"),
    "suffix": _pattern("*c", "star", "abc"),
    "middle": _pattern("a*c", "star", "abc"),
    "two-stars": _pattern("*b*", "star", "ab", "abc", "b", "a*b"),
    "double-star": _pattern("**", "star", *_TOP),
    "star-matches-nothing-too": _pattern("ab*c", "star", "abc"),
    "whole-name": _pattern("a", "literal", "a"),
    "star-stops-at-a-slash": _pattern("*x", "star-stops-at-a-slash"),
    "star-does-not-descend": _pattern("dir*", "star-stops-at-a-slash", "dir", "dir2"),
    "two-levels": _pattern("*/*", "levels", "dir/ax", "dir/bx", "dir/deep", "dir2/ax"),
    "three-levels": _pattern("*/*/*", "levels", "dir/deep/end"),
    "literal-then-star": _pattern("dir/*", "levels", "dir/ax", "dir/bx", "dir/deep"),
    "star-then-literal": _pattern("*/ax", "levels", "dir/ax", "dir2/ax"),
    "star-in-the-middle": _pattern("d*/deep/e*", "levels", "dir/deep/end"),
    "question-mark-in-a-directory": _pattern("dir?/ax", "levels", "dir2/ax"),
    "question-mark": _pattern("?", "question-mark", "a", "b"),
    "two-question-marks": _pattern("a?", "question-mark", "ab"),
    "question-mark-is-one": _pattern("abc?", "question-mark"),
    "question-mark-is-no-slash": _pattern("dir?ax", "question-mark"),
    "class": _pattern("[ab]", "class", "a", "b"),
    "class-of-one": _pattern("[a]b", "class", "ab"),
    "range": _pattern("[a-c]", "class", "a", "b"),
    "range-in-the-middle": _pattern("a[a-c]c", "class", "abc"),
    "two-ranges": _pattern("[a-bx-z]", "class", "a", "b"),
    "range-and-letter": _pattern("a[0-9b]c", "class", "abc"),
    "negated-class": _pattern("[^a]", "class", "b"),
    "negated-range": _pattern("a[^x-z]", "class", "ab"),
    "class-with-an-escaped-dash": _pattern("x[\\-]y", "escape-in-a-class", "x-y"),
    "class-with-an-escaped-dash-between": _pattern("[a\\-c]", "escape-in-a-class", "a"),
    "class-with-an-escaped-bracket": _pattern("[[]x[\\]]", "escape-in-a-class", "[x]"),
    "class-with-an-escaped-letter": _pattern("[\\a]b", "escape-in-a-class", "ab"),
    "class-with-an-escaped-star": _pattern("a[\\*]b", "escape-in-a-class", "a*b"),
    "negated-class-with-an-escape": _pattern("x[^\\a]y", "escape-in-a-class", "x-y"),
    "class-with-a-bracket": _pattern("[[]x]", "class", "[x]"),
    "class-with-a-star": _pattern("a[*]b", "class", "a*b"),
    "escaped-letter": _pattern("\\a", "escape", "a"),
    "escaped-star": _pattern("a\\*b", "escape", "a*b"),
    "escaped-bracket": _pattern("\\[x\\]", "escape", "[x]"),
    "escaped-question-mark": _pattern("a\\?", "escape"),
    "directory": _pattern("em*", "matches-directories", "empty"),
    "directory-by-name": _pattern("dir2", "matches-directories", "dir2"),
    "literal": _pattern("abc", "literal", "abc"),
    "literal-below": _pattern("dir/ax", "literal", "dir/ax"),
    "literal-that-is-missing": _pattern("abcd", "no-match-is-ok"),
    "nothing": _pattern("q*", "no-match-is-ok"),
    "in-an-empty-directory": _pattern("empty/*", "no-match-is-ok"),
}

#: Patterns that name a directory which is missing, or a file: nothing matches, or the directory is not found.
WITHOUT_A_DIRECTORY: Mapping[str, str] = {
    "below-a-missing-directory": "missing/*",
    "below-a-file": "a/*",
    "far-below-a-missing-directory": "missing/*/*/x?",
}

#: Patterns with a class beyond the grammar, and what fnmatch finds with them.
EDGES: Mapping[str, tuple[str, tuple[str, ...]]] = {
    "dash": ("x[-]y", ("x-y",)),
    "dash-at-the-end": ("[ab-]", ("a", "b")),
    "dash-at-the-end-of-a-range": ("[x-z][+--]y", ("x-y",)),
    "bracket-first": ("[[]x[]]", ("[x]",)),
}

#: Patterns that are incomplete, such as `[a`, or make no sense. No source says what they match.
MALFORMED: Mapping[str, str] = {
    "open-class": "[a",
    "empty-class": "[]",
    "lone-bracket": "a]",
    "reversed-range": "[c-a]",
    "trailing-backslash": "a\\",
    "negation-of-nothing": "[^]",
    "slash-in-a-class": "dir[/]ax",
    "long": "*a" * 40,
}
