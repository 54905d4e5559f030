"""Shrinking: the fewest and plainest steps of a history that still show what it shows.

Hypothesis would take away what it drew; a history is data, and taking steps away from it needs a tenth of the tries.
"""

from collections.abc import Callable, Container, Iterable, Iterator
from dataclasses import replace

from ..contract.model import Model, Step

Steps = tuple[Step, ...]
#: Whether a history still shows it, and the contract decides its steps. Raises `Enough` when no more may be tried.
Shows = Callable[[Steps], bool]

#: For some ops one that does less.
PLAINER = {"recursively_create_dir": "create_dir", "new_appendable_file": "new_writable_file"}


class Enough(Exception):
    """No more histories may be tried."""


def shrink(steps: Steps, shows: Shows) -> Steps:
    """The smallest history that was found; `steps` themselves show it."""
    smallest = steps
    try:
        while True:
            before = smallest
            for smaller in (_fewer, _plainer):
                smallest = _as_long_as(smallest, smaller, shows)
            if smallest == before:
                return smallest
    except _Better as better:
        return better.steps


class _Better(Exception):
    """The tries are used up; this is what they gave."""

    def __init__(self, steps: Steps) -> None:
        super().__init__()
        self.steps = steps


def _as_long_as(steps: Steps, smaller: Callable[[Steps], Iterator[Steps]], shows: Shows) -> Steps:
    """Take the first smaller history that shows it, and go on from there."""
    going = True
    while going:
        going = False
        for candidate in smaller(steps):
            try:
                going = shows(candidate)
            except Enough:
                raise _Better(steps) from None
            if going:
                steps = candidate
                break
    return steps


def _fewer(steps: Steps) -> Iterator[Steps]:
    """Without some steps in a row: first half of them, at last each alone, from the end."""
    size = len(steps) // 2
    while size:
        for start in range(len(steps) - size, -1, -max(1, size // 2)):
            yield without(steps, range(start, start + size))
        size //= 2


def _plainer(steps: Steps) -> Iterator[Steps]:
    """With ops that do less, with shorter contents, and with names that come earlier."""
    for at, step in enumerate(steps):
        if step.op in PLAINER:
            yield (*steps[:at], replace(step, op=PLAINER[step.op]), *steps[at + 1 :])
        for data in (b"", b"x"):
            if len(data) < len(step.data):
                yield (*steps[:at], replace(step, data=data), *steps[at + 1 :])
    names = sorted({path for step in steps for path in step.paths}, key=lambda path: (path.count("/"), path))
    for name in reversed(names):
        for other in ("a", "b", "a/a", "a/b"):
            if (other.count("/"), other) < (name.count("/"), name):
                yield tuple(
                    replace(step, paths=tuple(other if path == name else path for path in step.paths)) for step in steps
                )


def without(steps: Steps, gone: range) -> Steps:
    """A history without some steps, and without what used the files that they opened."""
    kept = [number for number, step in enumerate(steps) if number not in gone and step.file not in gone]
    numbers = {number: place for place, number in enumerate(kept)}
    return tuple(replace(steps[number], file=numbers.get(steps[number].file, -1)) for number in kept)


def valid(steps: Iterable[Step], unsupported: Container[str] = ()) -> bool:
    """Whether the contract says of every step what it must answer, but for the clauses in `unsupported`."""
    model = Model(unsupported)
    return all(model.take(step) is not None for step in steps)
