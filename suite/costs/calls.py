"""How often the storage is called for one op, where something counts its calls."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from typing import Protocol

from ...harness.over_tables.programs import Program
from ...reports.model.costs import Called
from .ground import Ground, UnmeasuredError
from .workloads import KIB, READER, WRITER

#: So often each is done: each time with names that nobody has asked for before.
TIMES = 3
#: Bytes of a file, and entries of the directory that is listed.
BYTES, ENTRIES = 64 * KIB, 16


class CallCounter(Protocol):
    """Says how many calls of each kind the storage has had; `what` are these calls in words."""

    what: str

    def __call__(self) -> Counter[str]:
        """By kind, since it began to count."""


#: Makes what is needed, and adds the ops that count to the program; the number is another one each time.
Steps = Callable[[Program, Ground, int], object]


def _read(program: Program, ground: Ground, number: int) -> None:
    handle = program.open(READER, _file(ground, number)).value
    program.read(handle, 0, BYTES)
    program.handle_op("random_access_file.cleanup", handle)


def _read_again(program: Program, ground: Ground, number: int) -> None:
    seen = ground.program()
    _read(seen, ground, number)
    ground.perform([seen])
    _read(program, ground, number)


def _write(program: Program, ground: Ground, number: int) -> None:
    ground.write(program, _new(ground, number), BYTES)


def _make_directory(program: Program, ground: Ground, number: int) -> None:
    program.path_op("create_dir", ground.at(f"{_place(ground)}/made-{number}"))


def _delete_directory(program: Program, ground: Ground, number: int) -> None:
    program.path_op("delete_dir", ground.directory(f"{_place(ground)}/gone-{number}"))


#: The ops that each work needs, and its steps.
WORK: Mapping[str, tuple[tuple[str, ...], Steps]] = {
    "open and read a file": ((READER,), _read),
    "open and read it again": ((READER,), _read_again),
    "path_exists of a file": (("path_exists",), lambda p, g, k: p.path_op("path_exists", _file(g, k))),
    "stat of a file": (("stat",), lambda p, g, k: p.stat(_file(g, k))),
    "stat of a directory": (("stat",), lambda p, g, k: p.stat(g.directory(f"{_place(g)}/dir-{k}"))),
    f"list a directory of {ENTRIES}": (
        ("get_children",),
        lambda p, g, k: p.entries_op("get_children", g.entries(ENTRIES)),
    ),
    "write a new file": ((WRITER,), _write),
    "copy a file": (("copy_file",), lambda p, g, k: p.path_op("copy_file", _file(g, k), _new(g, k))),
    "rename a file": (("rename_file",), lambda p, g, k: p.path_op("rename_file", _file(g, k), _new(g, k))),
    "delete a file": (("delete_file",), lambda p, g, k: p.path_op("delete_file", _file(g, k))),
    "create a directory": (("create_dir",), _make_directory),
    "delete an empty directory": (("delete_dir", "create_dir"), _delete_directory),
}


def called(ground: Ground, counter: CallCounter, unmeasured: list[str]) -> Iterator[Called]:
    """The calls of the storage for each work that the plugin can do. Raises what the counter raises.

    `unmeasured` grows by each that has no figure, with the reason.
    """
    for offset, (what, (needs, steps)) in enumerate(WORK.items()):
        if missing := [op for op in needs if not ground.has(op)]:
            unmeasured.append(f"calls of the storage to {what}: the plugin has no {missing[0]}")
            continue
        programs = [ground.program() for _ in range(TIMES)]
        try:
            for k, program in enumerate(programs):
                steps(program, ground, offset * TIMES + k)
            before = counter()
            for program in programs:
                ground.perform([program])
        except UnmeasuredError as why:
            unmeasured.append(f"calls of the storage to {what}: {why}")
            continue
        grown = counter() - before
        yield Called(what=what, calls={kind: round(count / TIMES, 2) for kind, count in sorted(grown.items())})


def _file(ground: Ground, number: int) -> str:
    return ground.file(f"{_place(ground)}/{number}.bin", BYTES)


def _new(ground: Ground, number: int) -> str:
    return ground.at(f"{_place(ground)}/new-{number}.bin")


def _place(ground: Ground) -> str:
    """The name of a directory with few names in it."""
    ground.directory("counted")
    return "counted"
