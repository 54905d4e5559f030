"""Histories: what several threads did at the same time.

They are right if some order of their ops explains every answer. That is linearizability. The search is Wing and Gong's:
it takes an op that may come first and whose answer is right, and searches the rest from there. As in Lowe's, a state
that was searched once (the same ops done, the same files) is not searched again. The model is a flat set of names. Each
is missing, a directory, or a file with its content.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from ...harness.ops.codes import Code
from ...harness.ops.outcomes import Read
from ...harness.over_tables.programs import Program, Timed
from ...harness.over_tables.raw import RawFilesystem

#: The files and directories by name: the content of a file, None for a directory. A missing name has no entry.
Files = frozenset[tuple[str, bytes | None]]

#: The codes that tell what is there. An op that answers another code, such as ABORTED, may have been performed or not.
TELLING = (Code.OK, Code.NOT_FOUND, Code.ALREADY_EXISTS, Code.FAILED_PRECONDITION)


@dataclass(frozen=True, slots=True)
class Event:
    """An op that was performed, or several that count as one. Times are in nanoseconds of one monotonic clock.

    `content` is what was written or read.
    """

    start: int
    end: int
    op: str
    names: tuple[str, ...]
    code: Code
    content: bytes = b""

    def __str__(self) -> str:
        shown = f" {self.content!r}" if self.content else ""
        return f"{self.op}({', '.join(self.names)}) -> {self.code}{shown}"


def ends(events: Sequence[Event], starts: Iterable[Files]) -> set[Files]:
    """The possible states after these events, from one of the states `starts`.

    Empty where no order explains the events.
    """
    everything = (1 << len(events)) - 1
    waiting = [(0, files) for files in starts]
    seen = set(waiting)
    found: set[Files] = set()
    while waiting:
        done, files = waiting.pop()
        if done == everything:
            found.add(files)
            continue
        left = [k for k in range(len(events)) if not done >> k & 1]
        first_end = min(events[k].end for k in left)
        for k in left:
            # An op that began after another one had ended cannot come before it.
            if events[k].start > first_end:
                continue
            for after in _after(files, events[k]):
                step = (done | 1 << k, after)
                if step not in seen:
                    seen.add(step)
                    waiting.append(step)
    return found


def _after(files: Files, event: Event) -> Iterable[Files]:
    """The possible states after the event, where its answer is right in this state."""
    code, content, after = _answer(dict(files), event)
    if event.code not in TELLING:
        return {files, after}
    right = code is event.code and (event.op != "read" or code is not Code.OK or content == event.content)
    return (after,) if right else ()


def _answer(files: dict[str, bytes | None], event: Event) -> tuple[Code, bytes, Files]:
    """The right code in this state, the content that is read, and the state afterwards."""
    before, name = frozenset(files.items()), event.names[0]
    content = files.get(name)
    code = _code(files, event)
    if code is not Code.OK:
        return code, b"", before
    match event.op:
        case "create_dir":
            files[name] = None
        case "write":
            files[name] = event.content
        case "delete_dir" | "delete_file":
            del files[name]
        case "rename_file":
            files[event.names[1]] = files.pop(name)
        case "read":
            return code, content or b"", before
    return code, b"", frozenset(files.items())


def _code(files: dict[str, bytes | None], event: Event) -> Code:
    directories = [name for name in event.names if name in files and files[name] is None]
    there = event.names[0] in files
    match event.op:
        case "create_dir":
            return Code.ALREADY_EXISTS if there else Code.OK
        case "path_exists":
            return Code.OK if there else Code.NOT_FOUND
        case "delete_dir" if there:
            return Code.OK if directories else Code.FAILED_PRECONDITION
        case "write":
            return Code.FAILED_PRECONDITION if directories else Code.OK
        case "delete_dir" | "delete_file" | "rename_file" | "read":
            return Code.NOT_FOUND if not there else Code.FAILED_PRECONDITION if directories else Code.OK
    raise ValueError(f"the model has no {event.op}")


class Actor:
    """The program of one thread, and the events it becomes. `place` gives the translated path of a name."""

    def __init__(self, raw: RawFilesystem, place: Callable[[str], str]) -> None:
        self.program = Program(raw)
        self._place = place
        self._told: list[tuple[str, tuple[str, ...], bytes, int]] = []

    def path_op(self, op: str, *names: str) -> None:
        """Add one of create_dir, delete_dir, delete_file, rename_file and path_exists."""
        self.program.path_op(op, *map(self._place, names))
        self._told.append((op, names, b"", 1))

    def read(self, name: str) -> None:
        """Add opening a file, reading all of it and cleaning up.

        It is one event, from the opening to the answer of read.
        """
        handle = self.program.open("new_random_access_file", self._place(name)).value
        self.program.read(handle, 0, 64)
        self.program.handle_op("random_access_file.cleanup", handle)
        self._told.append(("read", (name,), b"", 3))

    def write(self, name: str, content: bytes) -> None:
        """Add creating a file with this content.

        It is one event, so no other thread may use the name at the same time.
        """
        handle = self.program.open("new_writable_file", self._place(name)).value
        self.program.append(handle, content)
        self.program.handle_op("close", handle)
        self.program.handle_op("writable_file.cleanup", handle)
        self._told.append(("write", (name,), content, 4))

    def rounds(self, went: Sequence[Timed]) -> Iterable[list[Event]]:
        """The events of each round, from what the thread did."""
        length = len(self.program.steps)
        for at in range(0, len(went), length):
            rest = list(went[at : at + length])
            events = []
            for op, names, content, count in self._told:
                events.append(_event(op, names, content, rest[:count]))
                del rest[:count]
            yield events


def _event(op: str, names: tuple[str, ...], content: bytes, parts: Sequence[Timed]) -> Event:
    outcomes = [part.outcome for part in parts]
    code = next((got.code for got in outcomes if not got.ok), Code.OK)
    if op == "read":
        opened, read = outcomes[0], outcomes[1]
        if opened.ok and read.code in (Code.OK, Code.OUT_OF_RANGE) and isinstance(read.value, Read):
            code, content = Code.OK, read.value.data
        # The cleanup has no answer.
        return Event(parts[0].start_ns, parts[1].end_ns if opened.ok else parts[0].end_ns, op, names, code, content)
    return Event(parts[0].start_ns, parts[-1].end_ns, op, names, code, content)
