"""A second matcher for patterns, written from the grammar in the interface alone, without fnmatch."""

from collections.abc import Iterable


def matching(pattern: str, paths: Iterable[str]) -> list[str]:
    """The paths that a pattern matches, sorted. Paths and pattern are relative to one directory."""
    wanted = pattern.split("/")
    return sorted(
        path for path in paths if len(names := path.split("/")) == len(wanted) and all(map(matches, names, wanted))
    )


def matches(name: str, pattern: str) -> bool:
    """Whether a name matches one level of a pattern. Neither has a slash."""
    if not pattern:
        return not name
    head, rest = pattern[0], pattern[1:]
    match head:
        case "*":
            return any(matches(name[k:], rest) for k in range(len(name) + 1))
        case "[":
            members, rest = _class(rest)
            return bool(name) and members(name[0]) and matches(name[1:], rest)
        case "\\":
            return bool(name) and name[0] == rest[0] and matches(name[1:], rest[1:])
        case "?":
            return bool(name) and matches(name[1:], rest)
    return bool(name) and name[0] == head and matches(name[1:], rest)


def _class(text: str) -> tuple["_Members", str]:
    """Parse the class that begins after a `[`. Return it, and the text behind its `]`."""
    negated = text.startswith("^")
    at = 1 if negated else 0
    ranges: list[tuple[str, str]] = []
    while text[at] != "]":
        low, at = _character(text, at)
        high = low
        if text[at] == "-":
            high, at = _character(text, at + 1)
        ranges.append((low, high))
    return _Members(ranges, negated), text[at + 1 :]


def _character(text: str, at: int) -> tuple[str, int]:
    """The character of a class at this place, and the place behind it. A backslash escapes what it stands before."""
    return (text[at + 1], at + 2) if text[at] == "\\" else (text[at], at + 1)


class _Members:
    def __init__(self, ranges: list[tuple[str, str]], negated: bool) -> None:
        self._ranges = ranges
        self._negated = negated

    def __call__(self, character: str) -> bool:
        return any(low <= character <= high for low, high in self._ranges) != self._negated


def rule(pattern: str) -> str:
    """The clause that a pattern is mostly about: that of the first of `[`, `\\`, `?` and `*` that it has."""
    for character, slug in (("[", "class"), ("\\", "escape"), ("?", "question-mark"), ("*", "star")):
        if character in pattern:
            return f"get_matching_paths.{slug}"
    return "get_matching_paths.literal"
