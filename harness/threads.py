"""Programs of ops that several threads of the host perform at the same time."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from tffs_conformance.harness import wire
from tffs_conformance.harness.client import HostFault
from tffs_conformance.harness.codes import Code
from tffs_conformance.harness.outcomes import Died, Outcome, Source, Threw
from tffs_conformance.harness.raw import RawFilesystem
from tffs_conformance.harness.wire import Reply, Value

T = TypeVar("T")

#: The message of an op that was not performed, because an earlier one did not open what it is about.
SKIPPED = "not performed: nothing was opened"


@dataclass(frozen=True, slots=True)
class Timed:
    """One op as it went; times in nanoseconds of one clock that only moves forward."""

    start_ns: int
    end_ns: int
    outcome: Outcome[Any]


class Program(RawFilesystem):
    """The ops of one thread, in their order: each method adds its op instead of performing it.

    The outcome that a method gives says nothing, but for that of `open`: its value stands for the handle in later ops
    of the same program. Handles of files that were opened outside are used as they are. Paths pass no guard.
    """

    def __init__(self, raw: RawFilesystem) -> None:
        super().__init__(raw.call, raw.filesystem, [])
        self.steps: list[tuple[str, Sequence[Value], Callable[[Reply], Any], Any]] = []

    def perform(self, op: str, arguments: Sequence[Value], take: Callable[[Reply], T], empty: T) -> Outcome[T]:
        """Add an op."""
        self.steps.append((op, arguments, take, empty))
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
    values: list[Value] = [rounds]
    for program in programs:
        values.append(len(program.steps))
        values += [wire.encode((op.encode(), *arguments))[wire.LENGTH_BYTES :] for op, arguments, _, _ in program.steps]
    answer = raw.call("threads", *values)
    if answer is None:
        raise HostFault("the host has no threads")
    return [[_timed(raw, step, answer) for _ in range(rounds) for step in program.steps] for program in programs]


def _timed(raw: RawFilesystem, step: tuple[str, Sequence[Value], Callable[[Reply], Any], Any], answer: Reply) -> Timed:
    op, arguments, take, empty = step
    start, end = answer.take_number(), answer.take_number()
    reply = Reply(wire.decode(answer.take_bytes()))
    kind = reply.take_bytes()
    if kind == b"threw":
        raise Died(Threw(op, reply.take_text(), reply.take_text()))
    if kind == b"bad":
        raise HostFault(f"{op}: {reply.take_text()}")
    if kind == b"skipped":
        return Timed(start, end, Outcome(op, Code.CANCELLED, SKIPPED, empty, source=Source.ABSENT))
    return Timed(start, end, raw.answered(op, arguments, reply if kind == b"done" else None, take, empty))
