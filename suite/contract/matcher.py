"""A second matcher for patterns, written from the grammar in the interface alone, without fnmatch."""

import re
from collections.abc import Iterable

#: A member of a class. `-`, `]` and the backslash stand behind a backslash; classes with a name are another grammar.
_MEMBER = r"(?:\\.|(?!\[[:.=])[^]\\-])"
_MEMBERS = re.compile(f"({_MEMBER})(?:-({_MEMBER}))?", re.DOTALL)
#: Whether `!` negates a class is open.
_TERM = re.compile(rf"\*|\?|\\.|\[(?:\^|(?![!^]))(?:{_MEMBER}(?:-{_MEMBER})?)+\]|[^*?[\\]", re.DOTALL)


def matching(pattern: str, paths: Iterable[str]) -> list[str] | None:
    """The paths that a pattern matches, sorted; None for a pattern that the grammar does not have, such as `[a`.

    Paths and pattern are relative to one directory.
    """
    levels = [_compiled(level) for level in pattern.split("/")]
    wanted = [level for level in levels if level is not None]
    if len(wanted) < len(levels):
        return None
    return sorted(
        path
        for path in paths
        if len(names := path.split("/")) == len(wanted) and all(map(re.Pattern.fullmatch, wanted, names))
    )


def _compiled(level: str) -> re.Pattern[str] | None:
    """The regular expression of one level of a pattern."""
    terms = _TERM.findall(level)
    try:
        return re.compile("".join(map(_expression, terms)), re.DOTALL) if "".join(terms) == level else None
    except re.error:  # a range whose end comes first
        return None


def _expression(term: str) -> str:
    match term[0]:
        case "*":
            return ".*"
        case "?":
            return "."
        case "\\":
            return re.escape(term[1])
        case "[":
            negated = term.startswith("[^")
            members = _MEMBERS.findall(term[1 + negated : -1])
            ranges = ("-".join(re.escape(end[-1]) for end in ends if end) for ends in members)
            return f"[{'^' * negated}{''.join(ranges)}]"
    return re.escape(term)


def rule(pattern: str) -> str:
    """The clause that a pattern is mostly about: that of the first of `[`, `\\`, `?` and `*` that it has."""
    for character, slug in (("[", "class"), ("\\", "escape"), ("?", "question-mark"), ("*", "star")):
        if character in pattern:
            return f"get_matching_paths.{slug}"
    return "get_matching_paths.literal"
