"""Performs many small histories in one host, each in a directory of its own, and says which differ from the model.

The host gets them as programs: one frame has as many histories as take a small part of the time that a call may take.
What differs here is only a suspicion, for a host in which much happened may be another one. It is tried again alone.
"""

import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

from ...harness.hosting.loader import BlockedError
from ...harness.launchers.launcher import HostLostError
from ...harness.ops import paths
from ...harness.ops.outcomes import DiedError, Outcome, Source
from ...harness.over_tables import programs
from ...harness.over_tables.filesystem import HostFilesystem
from ...harness.over_tables.programs import Program, Timed
from ...harness.over_tables.raw import RawFilesystem
from ..contract import laws
from ..contract.model import Expectation, Step
from ..engine.case import Case
from .answers import is_right_code, relative, wrong_value
from .performer import Performer
from .small import Small

#: A program takes at most this part of the time that a call may take, and has at most so many histories.
SHARE, MOST = 0.1, 64
#: A host performs so many, in about that time. In the end their directories are deleted, which is one call.
IN_A_HOST = 256

#: Called with each step that came back, and what it answered.
Met = Callable[[Small, int, Outcome[object]], None]


@dataclass(frozen=True, slots=True)
class Suspect:
    """A history that differed, and those before it in its program. `how` it did is the same for all of its like."""

    small: Small
    how: str
    before: tuple[Small, ...]

    @property
    def crowded(self) -> tuple[Step, ...]:
        """One history of it and all before it in its program, each in a directory of its own."""
        steps: list[Step] = []
        for number, small in enumerate((*self.before, self.small)):
            steps.append(Step("create_dir", (f"h{number}",)))
            start = len(steps)
            for step in small.whole:
                inside = tuple(f"h{number}/{path}".rstrip("/") for path in step.paths)
                steps.append(replace(step, paths=inside, file=step.file + start if step.file >= 0 else -1))
        return tuple(steps)


class Crowd:
    """Hosts for many histories, one after the other. `suspects` grows as they are performed."""

    def __init__(self, case: Case, met: Met) -> None:
        self._case = case
        self._met = met
        self._trial: Case | None = None
        self._hosts = 0
        #: How many histories the present host was given, and the seconds they took.
        self._given, self._spent = 0, 0.0
        #: Seconds that one history took of late.
        self._pace = case.bench.target.timeout
        #: How many the last program had.
        self._last = 1
        self.suspects: list[Suspect] = []
        #: Why no more can be performed; empty as long as more can.
        self.ended = ""

    def perform(self, waiting: list[Small]) -> int:
        """Perform the first few of the histories. How many these were; 0 where it cannot be gone on."""
        budget = SHARE * self._case.bench.target.timeout
        # What was fast so far may be slow from here on: a program grows fourfold at most.
        some = waiting[: max(1, min(MOST, 4 * self._last, int(budget / self._pace)))]
        self._last = len(some)
        began = time.monotonic()
        try:
            self._all(some)
        except (BlockedError, HostLostError) as lost:
            self.ended = str(lost)
            return 0
        took = time.monotonic() - began
        self._pace, self._spent = took / len(some), self._spent + took
        if self._given >= IN_A_HOST or self._spent > budget:
            self.close()
        return len(some)

    def close(self) -> None:
        """End the host, and remove what is left."""
        if self._trial is not None:
            self._trial.surroundings.clear()
            self._trial = None
            self._given, self._spent = 0, 0.0

    def _all(self, some: Sequence[Small]) -> None:
        """Perform them in one program, or each in one of its own where a host does not survive them together."""
        try:
            return self._together(some)
        except DiedError:
            self.close()
        known = len(self.suspects)
        for small in some:
            try:
                self._together([small])
            except DiedError as died:
                self.close()
                self.suspects.append(Suspect(small, f"{died.death.op} {type(died.death).__name__}", ()))
        if len(self.suspects) == known:
            self.suspects.append(Suspect(some[-1], "together", tuple(some[:-1])))
        return None

    def _together(self, some: Sequence[Small]) -> None:
        if self._trial is None:
            self._hosts += 1
            self._trial = self._case.trial(self._case.bench, -self._hosts)
            self._trial.uri()
        trial = self._trial
        fs = trial.fs
        assert isinstance(fs, HostFilesystem)
        raw = RawFilesystem(fs.raw.call, fs.raw.filesystem, [])
        recording = _Recording(fs, raw)
        bases = [trial.uri(f"h{self._given + number}") for number in range(len(some))]
        self._given += len(some)
        _translate(fs, raw, [uri for base, small in zip(bases, some, strict=True) for uri in _uris(base, small)])
        places = [recording.add(base, small) for base, small in zip(bases, some, strict=True)]
        went = programs.repeat(raw, recording.program, 1)
        for number, small in enumerate(some):
            how = self._judge(recording, bases[number], small, places[number], went)
            if how is not None:
                self.suspects.append(Suspect(small, how, tuple(some[:number])))

    def _judge(
        self, recording: "_Recording", base: str, small: Small, places: Sequence[int], went: Sequence[Timed]
    ) -> str | None:
        """How a history differed, or None."""
        making = small.making
        for number, place in enumerate(places):
            outcome, step = went[place].outcome, making.steps[number]
            if outcome.source is Source.ABSENT:
                return f"{step.op} not performed"
            self._met(small, number, outcome)
            how = self._differs(recording.fs, base, outcome, making.expectations[number])
            if how is None:
                asked = recording.program.steps[place]
                broken = laws.rulings([(asked.op, asked.arguments, outcome)], ())
                how = broken[0].clause if broken else None
            if how is not None:
                return f"{step.op} {small.situations[number]} {how}"
        return None

    @staticmethod
    def _differs(fs: HostFilesystem, base: str, outcome: Outcome[object], expectation: Expectation) -> str | None:
        if not is_right_code(outcome, expectation):
            return str(outcome.code)
        wrong = wrong_value(outcome, expectation, lambda name: relative(fs, base, name))
        return None if wrong is None else wrong.value.clause


class _Recording:
    """The program of some histories. What adds to it is the filesystem that performs ops elsewhere."""

    def __init__(self, fs: HostFilesystem, raw: RawFilesystem) -> None:
        self.fs = fs
        self.program = Program(raw)
        self._onto = fs.over(self.program)

    def add(self, base: str, small: Small) -> list[int]:
        """Add a history in the directory `base`, which is made first; the places of its steps in the program."""
        self._onto.create_dir(base)
        performer = Performer(self._onto, lambda path: paths.join(base, *path.split("/")) if path else base)
        places = []
        for number, (step, expectation) in enumerate(zip(small.making.steps, small.making.expectations, strict=True)):
            # A region that holds less than the model says ends the process.
            held = [value.expected for value in expectation.values if isinstance(value.expected, bytes)]
            performer.perform(number, step, len(held[0]) if held else None)
            places.append(len(self.program.steps) - 1)
        return places


def _uris(base: str, small: Small) -> list[str]:
    """The URIs that a history's ops are given."""
    return [base, *(paths.join(base, *path.split("/")) for step in small.making.steps for path in step.paths if path)]


def _translate(fs: HostFilesystem, raw: RawFilesystem, uris: Sequence[str]) -> None:
    """Have the plugin translate all URIs at once, as far as it was not asked for them before."""
    if "translate_name" not in fs.present:
        return
    new = [uri for uri in dict.fromkeys(uris) if uri not in fs.translated]
    program = Program(raw)
    for uri in new:
        program.translate_name(uri)
    if not new:
        return
    for uri, timed in zip(new, programs.repeat(raw, program, 1), strict=True):
        # Where it gives NULL, who asks again is told.
        with suppress(TypeError):
            if timed.outcome.value is not None:
                fs.translated[uri] = timed.outcome.value
