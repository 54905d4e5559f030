"""What memory a plugin takes for what is open, and for what it lists."""

from collections.abc import Callable, Iterator

from ...harness.hosting.state import State
from ...reports.model.costs import HeldMemory
from .ground import Ground, UnmeasuredError
from .workloads import KIB, MIB, READER, REGION, WRITER

#: So many files and regions are open at the same time; and the bytes of each file.
FILES, REGIONS, BYTES = 64, 16, MIB
#: Memory of entries is told for so many.
ENTRIES = 10_000


def held(target: Ground, reference: Ground | None, count: int, unmeasured: list[str]) -> Iterator[HeldMemory]:
    """What each of some things takes. `count` is how many entries are made for one figure.

    `unmeasured` grows by each that has no figure, with the reason.
    """
    rows: tuple[tuple[str, int, Callable[[Ground], int]], ...] = (
        ("a file that is open for reading, after a read of 4 KiB", FILES, _reading),
        ("a file that is open for writing, after an append of 4 KiB", FILES, _writing),
        (f"a region of {BYTES >> 20} MiB", REGIONS, _mapping),
        (
            f"{ENTRIES:,} entries of a directory, made and listed",
            count,
            lambda ground: _listing(ground, count),
        ),
    )
    for what, number, weigh in rows:
        try:
            each = weigh(target)
        except UnmeasuredError as why:
            unmeasured.append(f"memory of {what}: {why}")
            continue
        yield HeldMemory(what=what, count=number, bytes=each, reference=_of(reference, weigh))


def _of(reference: Ground | None, weigh: Callable[[Ground], int]) -> int | None:
    try:
        return None if reference is None else weigh(reference)
    except UnmeasuredError:
        return None


def _weight(ground: Ground) -> State:
    state = State.of(ground.loaded.host)
    if not state.heap:
        raise UnmeasuredError("the allocator does not tell how much is allocated")
    return state


def _grown(before: State, after: State) -> int:
    # What malloc takes from memory that was reserved for it before is mapped no more, and was never used.
    return after.heap - before.heap + max(0, after.mapped - before.mapped)


def _needs(ground: Ground, *ops: str) -> None:
    if missing := [op for op in ops if not ground.has(op)]:
        raise UnmeasuredError(f"the plugin has no {missing[0]}")


def _open(ground: Ground, op: str, cleanup: str, names: Iterator[str], use: Callable[[int], object]) -> int:
    """The bytes that one more open object takes. The first ones fill what is made once."""
    handles: list[int] = []
    weights: list[State] = []
    for number, name in enumerate(names):
        if number == 1:
            weights.append(_weight(ground))
        opened = ground.raw.open(op, name)
        if not opened.value:
            raise UnmeasuredError(f"{op} answers {opened.code}")
        handles.append(opened.value)
        use(opened.value)
    weights.append(_weight(ground))
    for handle in handles:
        ground.raw.handle_op(cleanup, handle)
    return _grown(weights[0], weights[1]) // (len(handles) - 1)


def _reading(ground: Ground) -> int:
    _needs(ground, READER)
    path = ground.file("held", BYTES)
    return _open(
        ground, READER, "random_access_file.cleanup", iter([path] * (FILES + 1)),
        lambda handle: ground.raw.read(handle, 0, 4 * KIB),
    )  # fmt: skip


def _writing(ground: Ground) -> int:
    _needs(ground, WRITER)
    names = (ground.at(f"held-{number}") for number in range(FILES + 1))
    return _open(
        ground, WRITER, "writable_file.cleanup", names, lambda handle: ground.raw.append(handle, bytes(4 * KIB))
    )


def _mapping(ground: Ground) -> int:
    _needs(ground, REGION)
    path = ground.file("held", BYTES)
    return _open(ground, REGION, "read_only_memory_region.cleanup", iter([path] * (REGIONS + 1)), lambda handle: None)


def _listing(ground: Ground, count: int) -> int:
    _needs(ground, WRITER, "get_children")
    # One thread makes them: each has memory of its own, which would count.
    ground.fill("listed-before", 1, makers=1)
    ground.raw.entries_op("get_children", ground.directory("listed"))
    before = _weight(ground)
    ground.fill("listed", count, makers=1)
    ground.raw.entries_op("get_children", ground.at("listed"))
    return _grown(before, _weight(ground)) * ENTRIES // count
