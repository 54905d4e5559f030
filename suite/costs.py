"""Measures what the ops of a target take, by size, beside a reference plugin. What goes wrong here fails no run."""

import math
import os
import random
import secrets
import statistics
import time
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace

from ..harness.hosting.loader import BlockedError
from ..harness.ops import paths
from ..harness.ops.codes import Code
from ..harness.ops.guard import Guard
from ..harness.ops.outcomes import DiedError
from ..harness.over_tables import programs
from ..harness.over_tables.programs import Program, Spent
from ..harness.over_tables.raw import RawFilesystem
from ..harness.targets.shipped import plugin_path
from ..reports.model.costs import Cost, Costs, Growth, Point
from .engine.plugin_facts import UNSEEN, PluginFacts
from .engine.target import Target
from .engine.workbench import Workbench

FILE, DIRECTORY = "bytes of the file", "entries of the directory"
#: What grows, and the sizes that are tried, the smallest first.
SIZES = {FILE: (4 << 10, 64 << 10, 1 << 20, 4 << 20), DIRECTORY: (16, 64, 256, 1024)}
#: An exponent is that of so many sizes, the largest: at small ones, what every call takes hides the growth. For its
#: confidence the times are drawn again so many times.
FITTED_SIZES, DRAWS = 3, 200
#: Seconds for the ops of one program, at all sizes, and for making the entries of one directory.
SECONDS, MAKING_SECONDS = 0.5, 10.0
#: All sizes are visited so many times, unless the time is spent before: then so many at least.
VISITS, FEWEST_VISITS = 100, 3
#: So many files are made by one command of the wire, which has the time of one call.
BATCH = 64
#: The ops that move as many bytes as the file has.
MOVING = ("read", "append", "copy_file")
#: What an op is called in the table when a program has it again. If it has no other name, the first one counts.
NAMES: Mapping[str, Sequence[str]] = {"read": ("read of one byte", "read")}

#: A filesystem, and the paths of files and directories in it, by what grows and the size.
Place = tuple[RawFilesystem, Mapping[str, dict[int, str]]]
#: Adds ops on a file or a directory to a program: its path, and its size.
Steps = Callable[[Program, str, int], object]
#: By name in the table and what grows. None is for an op that is not OK.
Figures = dict[tuple[str, str], Cost | None]
#: Microseconds of each visit, by size.
Times = dict[int, list[float]]


def _read(program: Program, path: str, size: int) -> None:
    handle = program.open("new_random_access_file", path).value
    program.read(handle, size // 2, 1)
    program.read(handle, 0, size)
    program.handle_op("random_access_file.cleanup", handle)
    handle = program.open("new_read_only_memory_region_from_file", path).value
    program.data(handle, 0, 1)
    program.length(handle)
    program.handle_op("read_only_memory_region.cleanup", handle)


def _write(program: Program, path: str, size: int, op: str = "new_writable_file", sync: bool = True) -> None:
    handle = program.open(op, path).value
    program.append(handle, bytes(size))
    program.tell(handle)
    for step in ("flush", "sync", "close", "writable_file.cleanup") if sync else ("close", "writable_file.cleanup"):
        program.handle_op(step, handle)


def _rename_and_copy(program: Program, path: str, _: int) -> None:
    program.path_op("rename_file", path, f"{path}-away")
    program.path_op("rename_file", f"{path}-away", path)
    program.path_op("copy_file", path, f"{path}-new")


def _one_more(program: Program, path: str, _: int) -> None:
    _write(program, f"{path}/new", 0, sync=False)
    program.path_op("delete_file", f"{path}/new")
    program.path_op("create_dir", f"{path}/new")
    program.path_op("delete_dir", f"{path}/new")
    program.path_op("recursively_create_dir", f"{path}/new/below")
    program.delete_recursively(f"{path}/new")


WORK: tuple[tuple[str, Steps], ...] = (
    (FILE, lambda program, path, size: program.path_op("path_exists", path)),
    (FILE, lambda program, path, size: program.number_op("get_file_size", path)),
    (FILE, lambda program, path, size: program.stat(path)),
    (FILE, _read),
    (FILE, _rename_and_copy),
    (FILE, lambda program, path, size: _write(program, f"{path}-new", size)),
    (FILE, lambda program, path, size: _write(program, path, 1, "new_appendable_file")),
    (DIRECTORY, lambda program, path, size: program.number_op("is_directory", path)),
    (DIRECTORY, lambda program, path, size: program.stat(f"{path}/{size // 2}")),
    (DIRECTORY, lambda program, path, size: program.paths_exist([f"{path}/{size // 2}"], with_statuses=True)),
    (DIRECTORY, lambda program, path, size: program.entries_op("get_children", path)),
    (DIRECTORY, lambda program, path, size: program.entries_op("get_matching_paths", f"{path}/*")),
    (DIRECTORY, _one_more),
    (DIRECTORY, lambda program, path, size: program.path_op("flush_caches")),
)


def measure(target: Target, facts: PluginFacts) -> Costs:
    """What the ops of a target take that nothing else uses now."""
    if target.root is None or target.through:
        why = "ops go through TensorFlow" if target.through else "there is no root"
        return Costs(storage="not looked at", unmeasured=(f"all ops: {why}",))
    figures: Figures = {}
    unmeasured: list[str] = []
    storage, reference = "not looked at", None
    try:
        with ExitStack() as stack:
            # An allocator that fills what it gives takes time of its own.
            bench = Workbench(target, replace(facts, filling=False))
            stack.callback(bench.close)
            places = [_place(bench, target.root, stack, unmeasured)]
            storage, reference, root = _reference(target, target.root, hosts_differ=bench.facts.hosts_differ)
            if reference is not None:
                other = Target(reference, plugin_path(reference), reference, root, timeout=target.timeout)
                beside = Workbench(other, replace(UNSEEN, filling=False))
                stack.callback(beside.close)
                stack.callback(beside.remove_root)
                try:
                    places.append(_place(beside, root, stack, unmeasured, "the reference: "))
                except BlockedError as blocked:
                    unmeasured.append(f"the reference: {blocked}")
            for grows, steps in WORK:
                try:
                    _add_figures(figures, grows, steps, places, unmeasured)
                except DiedError as died:
                    unmeasured.append(f"{died.death.op}, and ops with it: {died}")
                    places[0] = _place(bench, target.root, stack, unmeasured)
    except Exception as error:
        # Whatever a plugin does: what was measured until then is in the report, and the run goes on.
        unmeasured.append(f"everything else: {error or type(error).__name__}")
    measured = tuple(filter(None, figures.values()))
    return Costs(storage=storage, reference=reference, figures=measured, unmeasured=tuple(dict.fromkeys(unmeasured)))


def _reference(target: Target, root: str, *, hosts_differ: bool) -> tuple[str, str | None, str]:
    """What storage a target has, in words, and the plugin to compare it with, if there is one, with a root for it."""
    path = paths.parse(root).path.rstrip("/")
    if target.host_command:
        return "another machine, or through another command", None, ""
    if hosts_differ:
        return "memory of the process", "memory", "memory:///tffs-reference"
    if path and os.path.isdir(path):
        return "a disk of this machine", "posix", f"posix://{path}-reference"
    return "something else than a disk of this machine", "posix", f"posix:///tmp/{paths.basename(root)}-reference"


def _place(bench: Workbench, root: str, stack: ExitStack, unmeasured: list[str], whose: str = "") -> Place:
    """A new host, and new directories, which `stack` removes. What cannot be made goes to `unmeasured`."""
    bench.make_root()
    loaded = bench.load("costs")
    stack.callback(bench.release, loaded)
    filesystem = bench.filesystem(loaded, Guard(root), [])
    made: dict[str, dict[int, str]] = {grows: {} for grows in SIZES}
    for grows, size in ((grows, size) for grows, sizes in SIZES.items() for size in sizes):
        uri = bench.directory(f"costs {size} {secrets.token_hex(4)}")
        directory = bench.make(filesystem, uri)
        stack.callback(bench.remove, uri)
        path = filesystem.translate(uri)
        count, length = (1, size) if grows == FILE else (size, 0)
        why = None if directory.ok else f"create_dir answers {directory.code}"
        if directory.ok and bench.seeds(filesystem, "new_writable_file"):
            for number in range(count):
                bench.backing.write(f"{paths.basename(uri)}/{number}", bytes(length))
        elif directory.ok:
            why = _fill(filesystem.raw, path, count, length)
        if why is None:
            made[grows][size] = f"{path}/0" if grows == FILE else path
        else:
            unmeasured.append(f"{whose}all ops at {size:,} {grows}: {why}")
    return filesystem.raw, made


def _fill(raw: RawFilesystem, path: str, count: int, size: int) -> str | None:
    """Make so many files of so many bytes in a directory. Return why that did not work, or None."""
    deadline = time.monotonic() + MAKING_SECONDS
    for begin in range(0, count, BATCH):
        if time.monotonic() > deadline:
            return f"{begin:,} entries were made when the time was spent"
        program = Program(raw)
        for number in range(begin, min(count, begin + BATCH)):
            _write(program, f"{path}/{number}", size, sync=False)
        for one in programs.measure(raw, [program])[0]:
            if one.code is not Code.OK and one.op not in ("tell", "close"):
                return _said(one)
    return None


def _said(one: Spent) -> str:
    return f"{one.op} is not there, or had nothing to work on" if one.code is None else f"{one.op} answers {one.code}"


def _add_figures(figures: Figures, grows: str, steps: Steps, places: Sequence[Place], unmeasured: list[str]) -> None:
    """Add the figures of the ops of one program that no program before it has. Raises DiedError."""
    runs = [(size, side, Program(places[side][0])) for size in SIZES[grows] for side in range(len(places))
            if size in places[0][1][grows] and size in places[side][1][grows]]  # fmt: skip
    for size, side, program in runs:
        steps(program, places[side][1][grows][size], size)
    names: list[str] = []
    for step in runs[0][-1].steps if runs else ():
        names.append(next((name for name in NAMES.get(step.op, (step.op,)) if name not in names), ""))
    fresh = {name for name in names if name and not name.endswith(".cleanup") and (name, grows) not in figures}
    figures.update(((name, grows), None) for name in fresh)
    # By op and name in the table: the times of the target, and those of the reference.
    times: dict[tuple[str, str], tuple[Times, Times]] = defaultdict(lambda: (defaultdict(list), defaultdict(list)))
    wrong: dict[tuple[int, str, int], str] = {}
    deadline = time.monotonic() + SECONDS
    for number in range(VISITS):
        if number >= FEWEST_VISITS and time.monotonic() > deadline:
            break
        for size, side, program in runs:
            for name, one in zip(names, programs.measure(program, [program])[0], strict=True):
                if name in fresh:
                    times[one.op, name][side][size].append(one.ns / 1000)
                    if one.code is not Code.OK:
                        wrong[side, name, size] = "the reference: " * side + _said(one)
    for side, text in dict.fromkeys((side, text) for (side, _, _), text in wrong.items()):
        at = sorted({size for (of, _, size), said in wrong.items() if (of, said) == (side, text)})
        is_some = len(at) < sum(of == side for _, of, _ in runs)
        unmeasured.append(f"{text} at {', '.join(f'{size:,}' for size in at)} {grows}" if is_some else text)
    for (op, name), sides in times.items():
        own, beside = ({size: some for size, some in one.items() if (side, name, size) not in wrong}
                       for side, one in enumerate(sides))  # fmt: skip
        if own:
            figures[name, grows] = _cost(op, name, grows, own, beside)


def _cost(op: str, what: str, grows: str, own: Times, beside: Times) -> Cost:
    moves = what in MOVING and grows == FILE
    points = []
    for size, some in own.items():
        both = (some, beside.get(size))
        median, *others = (round(max(statistics.median(times), 1e-3), 3) for times in both if times)
        point = Point(
            at=size,
            calls=len(some),
            median=median,
            p95=round(statistics.quantiles(some, n=20)[-1], 3),
            reference=others[0] if others else None,
            rate=round(size / median * 1e6) if moves else None,
            reference_rate=round(size / others[0] * 1e6) if moves and others else None,
        )
        points.append(point)
    return Cost(op=op, what=what, grows=grows, points=tuple(points), growth=growth(own, beside))


def growth(own: Times, beside: Times) -> Growth | None:
    """The exponent with which times grow over the largest sizes; None where there are too few."""
    sizes = sorted(own)[-FITTED_SIZES:]
    if len(sizes) < FITTED_SIZES:
        return None

    def slope(visits: Sequence[Sequence[float]]) -> float:
        # A clock may tell no time for what is very short.
        medians = [math.log(max(statistics.median(column), 1e-3)) for column in zip(*visits, strict=True)]
        return round(statistics.linear_regression([math.log(size) for size in sizes], medians).slope, 3)

    # The reference may lack a size: then it has no exponent.
    visits, others = (list(zip(*(times.get(size, ()) for size in sizes), strict=False)) for times in (own, beside))
    # All sizes were visited in turn, so visits are drawn with all their sizes. The same ones give the same confidence.
    draw = random.Random(0)
    slopes = sorted(slope(draw.choices(visits, k=len(visits))) for _ in range(DRAWS))
    low, high = slopes[DRAWS // 40], slopes[-1 - DRAWS // 40]
    return Growth(exponent=slope(visits), low=low, high=high, reference=slope(others) if others else None)
