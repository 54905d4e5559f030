"""Shrinks a history to the fewest and plainest steps that still break the same clause.

Hypothesis would shrink its own draws. Removing steps from the history itself needs a tenth of the tries.
"""

from collections.abc import Callable, Container, Iterable, Iterator, Mapping
from dataclasses import replace

from ..contract.model import Model, Step

Steps = tuple[Step, ...]
#: Whether a history still breaks the clause, and the contract decides its steps. Raises `EnoughTriedError` when
#: enough was tried.
Shows = Callable[[Steps], bool]

#: For some ops, one that does less and may replace it.
PLAINER = {"recursively_create_dir": "create_dir", "new_appendable_file": "new_writable_file"}


class EnoughTriedError(Exception):
    """As many histories were tried as may be."""


def shrink(steps: Steps, shows: Shows) -> Steps:
    """The smallest history that was found. `steps` break the clause."""
    smallest = steps
    try:
        while True:
            before = smallest
            for smaller in (_fewer, _plainer):
                smallest = _as_long_as(smallest, smaller, shows)
            if smallest == before:
                return smallest
    except _BetterError as better:
        return better.steps


class _BetterError(Exception):
    """Enough was tried. `steps` is the smallest history so far."""

    def __init__(self, steps: Steps) -> None:
        super().__init__()
        self.steps = steps


def _as_long_as(steps: Steps, smaller: Callable[[Steps], Iterator[Steps]], shows: Shows) -> Steps:
    """Replace the history by the first smaller one that still breaks the clause, and repeat."""
    going = True
    while going:
        going = False
        for candidate in smaller(steps):
            try:
                going = shows(candidate)
            except EnoughTriedError:
                raise _BetterError(steps) from None
            if going:
                steps = candidate
                break
    return steps


def _fewer(steps: Steps) -> Iterator[Steps]:
    """The histories without some steps in a row: first without half of them, at last without one, from the end."""
    size = len(steps) // 2
    while size:
        for start in range(len(steps) - size, -1, -max(1, size // 2)):
            yield without(steps, range(start, start + size))
        size //= 2


def _plainer(steps: Steps) -> Iterator[Steps]:
    """The histories with ops that do less, with shorter contents, with names that come earlier in the alphabet.

    At last those with a part of a name in its place.
    """
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
                yield _renamed(steps, {name: other})
    for whole in sorted({level for path in names for level in path.split("/") if "-" in level}):
        for part in filter(None, whole.split("-")):
            yield _renamed(
                steps,
                {path: "/".join(part if level == whole else level for level in path.split("/")) for path in names},
            )


def _renamed(steps: Steps, names: Mapping[str, str]) -> Steps:
    return tuple(replace(step, paths=tuple(names.get(path, path) for path in step.paths)) for step in steps)


def without(steps: Steps, gone: range) -> Steps:
    """A history without some steps, and without the steps that use files they opened."""
    kept = [number for number, step in enumerate(steps) if number not in gone and step.file not in gone]
    numbers = {number: place for place, number in enumerate(kept)}
    return tuple(replace(steps[number], file=numbers.get(steps[number].file, -1)) for number in kept)


def valid(steps: Iterable[Step], unsupported: Container[str] = ()) -> bool:
    """Whether the contract, without the clauses in `unsupported`, decides what every step must answer."""
    model = Model(unsupported)
    return all(model.take(step) is not None for step in steps)
