"""Compares what a step answered with what the model expects."""

from collections.abc import Callable
from dataclasses import dataclass

from ...harness.ops import paths
from ...harness.ops.codes import Code
from ...harness.ops.filesystem import Filesystem
from ...harness.ops.outcomes import Entries, Existence, Outcome, Read, Statistics, Undeleted
from ..contract.model import Expectation, Value


@dataclass(frozen=True, slots=True)
class WrongValue:
    """A value that is not as it must be, and both as they are shown."""

    value: Value
    expected: object
    got: object


#: Makes of the name that a match has a path relative to the history's directory.
Relative = Callable[[str], str]


def relative(fs: Filesystem, base: str, name: str) -> str:
    """A match as a path relative to `base`, a URI; whatever is not below it stays as it is."""
    for prefix in (base, fs.translate(base), paths.parse(base).path):
        if name.startswith(f"{prefix}/"):
            return name.removeprefix(f"{prefix}/")
    return name


def is_right_code(outcome: Outcome[object], expectation: Expectation) -> bool:
    """Whether a step answered one of the codes that it may."""
    # Core may have asked another op, and passed on its error: the cases of that op judge which one.
    fails_as_asked = bool(outcome.passed_on) and not outcome.ok and Code.OK not in expectation.codes
    return outcome.code in expectation.codes or fails_as_asked


def wrong_value(outcome: Outcome[object], expectation: Expectation, relative: Relative) -> WrongValue | None:
    """The first value of a step with the right code that is not as it must be."""
    if not outcome.ok and outcome.op != "read":
        return None
    for value in expectation.values:
        got, expected = _shown(outcome.value, value.what, relative), value.expected
        if value.what == "statuses" and isinstance(expected, tuple) and isinstance(got, tuple):
            fits = len(got) == len(expected) and all(map(frozenset.__contains__, expected, got))
            expected = got if fits else tuple("|".join(sorted(map(str, codes))) for codes in expected)
        if expected != got:
            return WrongValue(value, expected, got)
    return None


def _shown(value: object, what: str, relative: Relative) -> object:
    """The part of an op's value that an expectation compares."""
    match value:
        case Read():
            return value.data if what == "data" else value.returned
        case Statistics():
            return value.length if what == "length" else value.is_directory
        case Undeleted():
            return (value.files, value.dirs)
        case Existence(statuses=statuses):
            return value.returned if what == "returned" else tuple(status.code for status in statuses or ())
        case Entries(names=names) if what == "matches":
            return sorted(relative(name) for name in names)
        case Entries() as entries:
            return sorted(entries.bare)
        case (int(), bytes() as data):
            return data
    return value
