"""Status codes: each op that takes a path, in each situation the path can be in."""

from collections.abc import Callable

import pytest
from _pytest.mark import ParameterSet

from tffs_conformance.harness.codes import Code
from tffs_conformance.harness.core import Filesystem
from tffs_conformance.harness.files import MemoryRegion, RandomAccessFile, WritableFile
from tffs_conformance.harness.outcomes import Entries, Existence, Outcome, Statistics, Undeleted, Watch
from tffs_conformance.suite.case import Case
from tffs_conformance.suite.marks import clauses
from tffs_conformance.suite.situations import SPELLINGS, build
from tffs_conformance.suite.statuses import (
    EMPTY_PATH,
    ONE_PATH,
    TWO_PATHS,
    Cell,
)

#: The ops whose answer has more than a status: which further clauses their cells check.
BESIDE = {
    "stat": ("stat.untouched-on-error",),
    "is_directory": ("is_directory.returns-false-on-error",),
    "get_children": ("get_children.return-on-error",),
    "delete_recursively": ("delete_recursively.counters-when-it-could-not-start",),
    "paths_exist": ("paths_exist.is-true-if-all-exist",),
}
OPENS = (
    "new_random_access_file",
    "new_writable_file",
    "new_appendable_file",
    "new_read_only_memory_region_from_file",
)


def one_path_cases() -> list[ParameterSet]:
    """Each op in each situation and each spelling; cells that the guard refuses are not collected."""
    params = []
    for op, row in ONE_PATH.items():
        for situation, cell in row.items():
            if cell.guarded:
                continue
            for spelling, form in SPELLINGS.items():
                if spelling != "plain" and situation == EMPTY_PATH:
                    continue
                named = [cell.clause, f"{op}.error-changes-nothing", *BESIDE.get(op, ())]
                if op in OPENS:
                    named.append("common.object-untouched-on-error")
                label = f"{op}-{situation}" + ("" if spelling == "plain" else f"-{spelling}")
                params.append(pytest.param(op, situation, cell, form, id=label, marks=clauses(*named)))
    return params


@pytest.mark.parametrize(("op", "situation", "cell", "form"), one_path_cases())
def test_one_path(case: Case, op: str, situation: str, cell: Cell, form: str) -> None:
    """The op meets a path in this situation."""
    relative, before = build(case, situation, "name")
    if form.startswith("elsewhere"):
        case.mkdir("elsewhere")
        before["elsewhere"] = None
    head, _, leaf = relative.rpartition("/")
    # The spelling is of the last name, so that the situation of the path stays what it is.
    spelt = (f"{head}/" if head else "") + form.format(leaf)
    if form.startswith("elsewhere") and head:
        spelt = "elsewhere/../" + relative
    uri = case.uri() + "/" + spelt if relative else ""
    got: Outcome[object] = call(case.fs, op, uri)
    judge(case, cell, op, status_of(got))
    beside(case, op, got)
    if not got.ok and situation != EMPTY_PATH:
        case.unchanged(f"{op}.error-changes-nothing", before)
    finish(got)


def two_path_cases() -> list[ParameterSet]:
    """Both ops with each situation on either side."""
    params = []
    for op, table in TWO_PATHS.items():
        for (source, target), cell in table.items():
            if cell.guarded:
                continue
            marks = clauses(cell.clause, f"{op}.error-changes-nothing")
            params.append(pytest.param(op, source, target, cell, id=f"{op}-{source}-to-{target}", marks=marks))
    return params


@pytest.mark.parametrize(("op", "source", "target", "cell"), two_path_cases())
def test_two_paths(case: Case, op: str, source: str, target: str, cell: Cell) -> None:
    """The op meets two paths in these situations."""
    first, before = build(case, source, "source")
    second, there = build(case, target, "target")
    before |= there
    from_uri = case.uri(first) if first else ""
    perform = case.fs.rename_file if op == "rename_file" else case.fs.copy_file
    got = perform(from_uri, case.uri(second))
    judge(case, cell, op, got)
    if not got.ok and first:
        case.unchanged(f"{op}.error-changes-nothing", before)


def call(fs: Filesystem, op: str, uri: str) -> Outcome[object]:
    """Perform a one-path op."""
    if op == "paths_exist":
        return fs.paths_exist([uri])
    perform: Callable[[str], Outcome[object]] = getattr(fs, op)
    return perform(uri)


def status_of(got: Outcome[object]) -> Outcome[object]:
    """The outcome to judge: of paths_exist, the status of its one path."""
    if isinstance(got.value, Existence) and got.value.statuses:
        status = got.value.statuses[0]
        return Outcome(got.op, status.code, status.message, got.value, got.watch, got.source)
    return got


def judge(case: Case, cell: Cell, op: str, got: Outcome[object]) -> None:
    """Hold the code to its cell."""
    if cell.readings:
        readings = {name: got.code in codes for name, codes in cell.readings.items()}
        if op == "is_directory" and got.value:
            readings = dict.fromkeys(readings, False)
        case.reading(cell.clause, readings, f"code={got.code}" + value_of(op, got), got.message)
    elif cell.accepts == frozenset(Code):
        case.note(cell.clause, f"code={got.code}", got.message)
    else:
        case.status(cell.clause, got, *cell.accepts)


def value_of(op: str, got: Outcome[object]) -> str:
    """The return value, for ops where it decides."""
    return f" value={got.value}" if op == "is_directory" else ""


def beside(case: Case, op: str, got: Outcome[object]) -> None:
    """What the op owes besides its status."""
    match got.value:
        case Statistics() as statistics if not got.ok:
            case.check(
                "stat.untouched-on-error",
                statistics.untouched,
                "statistics=untouched",
                "statistics=untouched" if statistics.untouched else "statistics=written",
            )
        case Entries(returned=returned) if not got.ok:
            readings = {"minus-one": returned < 0, "zero": returned == 0}
            case.reading("get_children.return-on-error", readings, f"returned={returned}")
        case Undeleted(files=files, dirs=dirs) if not got.ok and got.code in (Code.NOT_FOUND, Code.FAILED_PRECONDITION):
            case.equal("delete_recursively.counters-when-it-could-not-start", "files, dirs", (0, 1), (files, dirs))
        case Existence(returned=returned, statuses=statuses):
            expected = all(status.code is Code.OK for status in statuses or ())
            case.equal("paths_exist.is-true-if-all-exist", "returned", expected, returned)
        case int(value) if op == "is_directory" and not got.ok:
            case.equal("is_directory.returns-false-on-error", "returned", 0, value)
        case None if op in OPENS:
            untouched = Watch.OBJECT_SET not in got.watch
            seen = "object=NULL" if untouched else "object=set"
            case.check("common.object-untouched-on-error", untouched, "object=NULL", seen)
        case _:
            pass


def finish(got: Outcome[object]) -> None:
    """End what was opened."""
    if isinstance(got.value, RandomAccessFile | WritableFile | MemoryRegion):
        got.value.cleanup()
