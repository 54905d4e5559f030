"""Draws the paths of an op: the more seldom it met such paths, the likelier.

The plugin takes no part in it, nor do other cases: the same seed makes the same histories in every run.
"""

import random
from collections import Counter
from collections.abc import Iterable, Sequence

from ..contract.model import Model

#: An op, and for each of its paths the situation, and what was done with the path last.
Meeting = tuple[str, ...]


class Rarity:
    """How often each op met which paths, in all histories of a case."""

    def __init__(self) -> None:
        self._met: Counter[Meeting] = Counter()

    def choose(self, meetings: Sequence[Meeting], draw: random.Random) -> Meeting:
        """One of those that are at hand, and count it."""
        chosen = draw.choices(meetings, [1 / (1 + self._met[one]) for one in meetings])[0]
        self._met[chosen] += 1
        return chosen


class Past:
    """What was done with each path in one history, and the choice of paths that follows from it."""

    def __init__(self, model: Model, rarity: Rarity) -> None:
        self._model = model
        self._rarity = rarity
        self._last: dict[str, str] = {}

    def choose(self, op: str, candidates: Iterable[tuple[str, ...]], draw: random.Random) -> tuple[str, ...]:
        """The paths for an op. In half of the draws it succeeds with them, where it can."""
        every = list(candidates)
        fitting = [paths for paths in every if self._model.succeeds(op, *paths)] if draw.random() < 0.5 else []
        at_hand: dict[Meeting, list[tuple[str, ...]]] = {}
        for paths in fitting or every:
            at_hand.setdefault(self._meeting(op, paths), []).append(paths)
        return draw.choice(at_hand[self._rarity.choose(list(at_hand), draw)])

    def done(self, op: str, paths: Iterable[str], *, refused: bool) -> None:
        """Say what is done with paths now, for the choices to come."""
        self._last |= {path: f"{op} {place} {refused}" for place, path in enumerate(paths)}

    def _meeting(self, op: str, paths: tuple[str, ...]) -> Meeting:
        return (op, *(text for path in paths for text in (self._model.situation(path), self._last.get(path, ""))))
