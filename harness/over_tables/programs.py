"""Programs of ops: threads of the host perform several at the same time, or the host repeats one."""

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from .. import wire
from ..hosting.client import HostFaultError
from ..launchers.launcher import HostLostError
from ..ops.codes import Code
from ..ops.outcomes import Crashed, Death, DiedError, Outcome, Source, Threw
from ..wire import Reply, Value
from .raw import RawFilesystem

T = TypeVar("T")

#: The message of an op that was not performed, because the file it needs was not opened.
SKIPPED = "not performed: nothing was opened"


@dataclass(frozen=True, slots=True)
class Timed:
    """One op that was performed. Begin and end are nanoseconds of one monotonic clock."""

    start_ns: int
    end_ns: int
    outcome: Outcome[Any]


@dataclass(frozen=True, slots=True)
class Spent:
    """What one op took in the plugin's own function, without what the host does. No `code`: it was not performed."""

    op: str
    start_ns: int
    end_ns: int
    code: Code | None

    @property
    def ns(self) -> int:
        """Nanoseconds from its begin to its end."""
        return self.end_ns - self.start_ns


@dataclass(frozen=True, slots=True)
class ProgramStep:
    """One op of a program: the command, how its reply is read, and the value where it has none."""

    op: str
    arguments: Sequence[Value]
    take: Callable[[Reply], Any]
    empty: Any


class Program(RawFilesystem):
    """The ops of one thread in order. Each method adds its op instead of performing it.

    The outcome that a method returns is empty, except for that of `open`: its value stands for the file in later ops
    of the same program. Files that were opened outside can be used, too. Paths are not checked by a guard.
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
    """Perform each program `rounds` times in a thread of its own. All threads wait for each other before each round.

    Return what each thread did, in order. Raise `DiedError` where the call of any thread did not return. An exception
    that left an op counts as such, because a thread of TensorFlow would end there.
    """
    return _performed(raw, "threads", programs, rounds, rounds)


def repeat(raw: RawFilesystem, program: Program, rounds: int) -> list[Timed]:
    """Perform a program `rounds` times, at least once, in the host's main thread. Return the last round.

    Nothing of the other rounds is kept, so that the host grows only by what the plugin leaks.
    """
    return _performed(raw, "repeat", [program], rounds, 1)[0]


def measure(raw: RawFilesystem, programs: Sequence[Program], rounds: int = 1) -> list[list[Spent]]:
    """As `run`, for who asks for times only: of the answers nothing is kept but the codes, so rounds may be many.

    Raises `DiedError` as `run` does where a call did not return; an op that threw has no code.
    """
    answer = _asked(raw, "measure", programs, rounds)
    number = answer.take_number
    return [
        [Spent(step.op, number(), number(), _code(number())) for step in program.steps * rounds] for program in programs
    ]


def keep_busy(raw: RawFilesystem, programs: Sequence[Program], rounds: int, patience: int) -> list[int]:
    """Leave a thread busy with each program, again and again, until the process ends.

    Return when each has performed it `rounds` times: how often each op of it answered OK. Where the process ends by
    itself, it waits `patience` seconds at most, behind the plugin's destructors, until each has performed it again.
    """
    answer = _asked(raw, "keep_busy", programs, patience, rounds)
    return [answer.take_number() for _ in programs]


def _code(number: int) -> Code | None:
    return None if number < 0 else Code(number)


def run_within(raw: RawFilesystem, programs: Sequence[Program], rounds: int, seconds: float) -> list[list[Timed]]:
    """As `run`, but a slow plugin performs only as many rounds as take about `seconds`, and at least one.

    Each run has as many rounds as all before it: the first ones of a busy machine say little about the others.
    """
    started = time.monotonic()
    went = run(raw, programs)
    done = 1
    while (more := min(done, rounds - done)) > 0 and time.monotonic() - started < seconds:
        went = [one + others for one, others in zip(went, run(raw, programs, more), strict=True)]
        done += more
    return went


def _performed(
    raw: RawFilesystem, command: str, programs: Sequence[Program], rounds: int, told: int
) -> list[list[Timed]]:
    """What each program did, read from the host's reply."""
    answer = _asked(raw, command, programs, rounds)
    deaths: list[Death] = []
    went = [list(_timed(raw, program.steps * told, answer, deaths)) for program in programs]
    if deaths:
        raise DiedError(deaths[0])
    return went


def _asked(raw: RawFilesystem, command: str, programs: Sequence[Program], *numbers: int) -> Reply:
    """The host's reply to a command that performs programs."""
    values: list[Value] = [*numbers]
    for program in programs:
        values.append(len(program.steps))
        values += [wire.values_of(step.op, step.arguments) for step in program.steps]
    try:
        answer = raw.call(command, *values, ops=[step.op for program in programs for step in program.steps])
    except DiedError as died:
        op = died.death.op
        found = (step.arguments for program in programs for step in program.steps if step.op == op)
        raw.lost(op, next(found, ()), died.death)
        raise
    if answer is None:
        raise HostFaultError(f"the host has no {command}")
    return answer


def _timed(raw: RawFilesystem, steps: Sequence[ProgramStep], answer: Reply, deaths: list[Death]) -> Iterator[Timed]:
    """What one thread did. Ops that did not return are added to `deaths` instead."""
    for step in steps:
        start, end = answer.take_number(), answer.take_number()
        reply = answer.take_reply()
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
            case b"lost":
                deaths.append(Crashed(step.op, "it ended the thread that called it"))
                raw.lost(step.op, step.arguments, deaths[-1])
                continue
            case b"lacks":
                raise HostLostError(f"the host cannot perform {step.op}: {reply.take_text()}")
            case _:
                raise HostFaultError(f"{step.op}: {reply.take_text()}")
        yield Timed(start, end, outcome)
