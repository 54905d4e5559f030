"""Programs of ops: several threads of the host perform them at the same time, or it repeats one by itself."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from . import wire
from .client import HostFault
from .codes import Code
from .outcomes import Death, Died, Outcome, Source, Threw
from .raw import RawFilesystem
from .wire import Reply, Value

T = TypeVar("T")

#: The message of an op that was not performed, because an earlier one did not open what it is about.
SKIPPED = "not performed: nothing was opened"


@dataclass(frozen=True, slots=True)
class Timed:
    """One op as it went; times in nanoseconds of one clock that only moves forward."""

    start_ns: int
    end_ns: int
    outcome: Outcome[Any]


@dataclass(frozen=True, slots=True)
class ProgramStep:
    """One op of a program: what is asked, how the answer is read, and the value where there is none."""

    op: str
    arguments: Sequence[Value]
    take: Callable[[Reply], Any]
    empty: Any


class Program(RawFilesystem):
    """The ops of one thread, in their order: each method adds its op instead of performing it.

    The outcome that a method gives says nothing, but for that of `open`: its value stands for the handle in later ops
    of the same program. Handles of files that were opened outside are used as they are. Paths pass no guard.
    """

    def __init__(self, raw: RawFilesystem) -> None:
        super().__init__(raw.call, raw.filesystem, [])
        self.steps: list[ProgramStep] = []

    def perform(self, op: str, arguments: Sequence[Value], take: Callable[[Reply], T], empty: T) -> Outcome[T]:
        """Add an op."""
        self.steps.append(ProgramStep(op, arguments, take, empty))
        return Outcome(op, Code.OK, "", empty)

    def open(self, op: str, path: str) -> Outcome[int]:
        """Add one of the four new_* ops."""
        super().open(op, path)
        return Outcome(op, Code.OK, "", -len(self.steps))


def run(raw: RawFilesystem, programs: Sequence[Program], rounds: int = 1) -> list[list[Timed]]:
    """Perform each program `rounds` times in a thread of its own; all threads wait for each other before each round.

    What each thread did, in its order. Raises `Died` where the plugin did not come back, also if only one thread did
    not; an exception that left an op counts as that, for a thread of TensorFlow would end there.
    """
    return _performed(raw, "threads", programs, rounds, rounds)


def repeat(raw: RawFilesystem, program: Program, rounds: int) -> list[Timed]:
    """Perform a program `rounds` times, at least once, in the host's main thread; how the last round went.

    Nothing of the other rounds is kept anywhere, so that the host holds no more afterwards than the plugin left in it.
    """
    return _performed(raw, "repeat", [program], rounds, 1)[0]


def run_within(raw: RawFilesystem, programs: Sequence[Program], rounds: int, seconds: float) -> list[list[Timed]]:
    """The same, but with a plugin that is slow only as many rounds as take about so long, and one at least."""
    first = run(raw, programs)
    times = [timed for thread in first for timed in thread]
    took = (max(timed.end_ns for timed in times) - min(timed.start_ns for timed in times)) / 1e9
    more = min(rounds - 1, int(seconds / took) if took else rounds)
    if more <= 0:
        return first
    return [one + others for one, others in zip(first, run(raw, programs, more), strict=True)]


def _performed(
    raw: RawFilesystem, command: str, programs: Sequence[Program], rounds: int, told: int
) -> list[list[Timed]]:
    """What each program did in the rounds that the host tells of."""
    values: list[Value] = [rounds]
    for program in programs:
        values.append(len(program.steps))
        values += [wire.values_of(step.op, step.arguments) for step in program.steps]
    try:
        answer = raw.call(command, *values, ops=[step.op for program in programs for step in program.steps])
    except Died as died:
        op = died.death.op
        found = (step.arguments for program in programs for step in program.steps if step.op == op)
        raw.lost(op, next(found, ()), died.death)
        raise
    if answer is None:
        raise HostFault(f"the host has no {command}")
    deaths: list[Death] = []
    went = [list(_timed(raw, program.steps * told, answer, deaths)) for program in programs]
    if deaths:
        raise Died(deaths[0])
    return went


def _timed(raw: RawFilesystem, steps: Sequence[ProgramStep], answer: Reply, deaths: list[Death]) -> Iterator[Timed]:
    """What one thread did; the ops that did not come back are in `deaths` instead."""
    for step in steps:
        start, end = answer.take_number(), answer.take_number()
        reply = Reply(answer.take_bytes())
        match reply.take_bytes():
            case b"done":
                outcome = raw.answered(step.op, step.arguments, reply, step.take, step.empty)
            case b"absent":
                outcome = raw.answered(step.op, step.arguments, None, step.take, step.empty)
            case b"skipped":
                outcome = Outcome(step.op, Code.CANCELLED, SKIPPED, step.empty, source=Source.ABSENT)
            case b"threw":
                deaths.append(Threw(step.op, reply.take_text(), reply.take_text()))
                raw.lost(step.op, step.arguments, deaths[-1])
                continue
            case _:
                raise HostFault(f"{step.op}: {reply.take_text()}")
        yield Timed(start, end, outcome)
