"""What is told once: a plugin that does one thing wrong is not told so for each way that shows it."""

from collections.abc import Callable
from typing import TypeVar

from ..engine.case import Case

Failure = TypeVar("Failure")
#: A clause, the failure, what was expected, and what was wrong: None where nothing was.
Check = Callable[[str, Failure, str, str | None], None]


def told_once(case: Case, cause: Callable[[Failure], str], prefix: str = "") -> Check[Failure]:
    """A check that makes one statement for each clause and cause; `cause` is what several failures have in common."""
    broken: set[tuple[str, str]] = set()

    def check(clause: str, failure: Failure, expected: str, wrong: str | None) -> None:
        if wrong is None:
            case.check.that(clause, True, expected, "so it was")
        elif (clause, cause(failure)) not in broken:
            broken.add((clause, cause(failure)))
            case.check.that(clause, False, expected, f"{prefix}{failure}: {wrong}")

    return check
