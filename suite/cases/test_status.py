"""Status codes: each op that takes a path, in each situation of the path."""

from collections.abc import Callable

import pytest
from _pytest.mark import ParameterSet

from ...harness.ops.codes import Code
from ...harness.ops.filesystem import Filesystem, MemoryRegion, RandomAccessFile, WritableFile
from ...harness.ops.outcomes import Existence, Outcome, Source, Undeleted
from ..contract.laws import OPENS
from ..contract.statuses import (
    AFTER_OK,
    BELOW_A_FILE,
    EMPTY_FILE,
    EMPTY_PATH,
    FAR_BELOW_A_FILE,
    FILE,
    MISSING,
    MISSING_PARENT,
    ONE_PATH,
    TWO_PATHS,
    Cell,
    after_ok,
)
from ..engine.answers import Answer
from ..engine.case import Case
from ..engine.marks import clauses
from ..engine.setup import Tree
from .situations import SPELLINGS, build

#: The ops whose answer is more than a status, with the further clauses that are checked.
BESIDE = {
    "stat": ("stat.untouched-on-error",),
    "is_directory": ("is_directory.returns-false-on-error",),
    "get_children": ("get_children.return-on-error", "get_children.returns-the-count"),
    "delete_recursively": ("delete_recursively.writes-both-counters",),
    "paths_exist": ("paths_exist.is-true-if-all-exist", "paths_exist.keeps-the-statuses"),
}
#: The situations in which delete_recursively cannot begin to traverse.
NOTHING_THERE = (BELOW_A_FILE, FAR_BELOW_A_FILE, MISSING, MISSING_PARENT)
#: The situations in which a path is below a file.
BELOW = (BELOW_A_FILE, FAR_BELOW_A_FILE)
COUNTERS = ("delete_recursively.counters-when-it-could-not-start", "delete_recursively.counts-what-is-left")
#: The ops that may have done a part before they fail.
BY_PARTS = ("delete_recursively", "recursively_create_dir")
#: The situations in which these ops must not even begin.
NO_PART = (FILE, EMPTY_FILE, *NOTHING_THERE)
FORM = "translate_name.form"


def could_not_start(op: str, situation: str) -> bool:
    """Whether an op that fails in this situation has changed nothing. What the empty path means nobody knows."""
    return situation != EMPTY_PATH and (op not in BY_PARTS or situation in NO_PART)


def one_path_cases() -> list[ParameterSet]:
    """Each op in each situation and each spelling. Guarded cells are left out."""
    params = []
    for op, row in ONE_PATH.items():
        for situation, cell in row.items():
            if cell.guarded:
                continue
            for spelling, form in SPELLINGS.items():
                if spelling != "plain" and situation in (EMPTY_PATH, FAR_BELOW_A_FILE):
                    continue
                named = [cell.clause, *BESIDE.get(op, ())]
                if could_not_start(op, situation):
                    named.append(f"{op}.error-changes-nothing")
                if op in AFTER_OK and cell.may_be_ok and not cell.readings:
                    named.append(AFTER_OK[op])
                if op == "delete_recursively" and situation in NOTHING_THERE:
                    named.extend(COUNTERS)
                if spelling != "plain":
                    named.append(FORM)
                if op in OPENS:
                    named.append("common.object-untouched-on-error")
                label = f"{op}-{situation}" + ("" if spelling == "plain" else f"-{spelling}")
                params.append(pytest.param((op, situation, cell, form), id=label, marks=clauses(*named)))
    return params


# One parameter instead of four, because pytest makes a fixture of each parameter for every case.
@pytest.mark.parametrize("met", one_path_cases())
def test_one_path(case: Case, met: tuple[str, str, Cell, str]) -> None:
    """The op meets a path in this situation."""
    op, situation, cell, form = met
    relative, before = build(case, situation, "name")
    if form.startswith("elsewhere"):
        case.setup.mkdir("elsewhere")
        before["elsewhere"] = None
    head, _, leaf = relative.rpartition("/")
    # Only the last name is spelt differently, so that the situation stays the same.
    spelt = (f"{head}/" if head else "") + form.format(leaf)
    if form.startswith("elsewhere") and head:
        spelt = "elsewhere/../" + relative
    uri = case.uri() + "/" + spelt if relative else ""
    if spelt != relative and not is_one_path(case, case.uri() + "/" + relative, uri):
        return
    got: Outcome[object] = call(case.fs, op, uri)
    judge(case, cell, op, status_of(got))
    is_right = got.code in cell.accepts.union(*cell.readings.values())
    if op == "delete_recursively" and is_right and not got.ok and situation in NOTHING_THERE:
        counters = got.value
        assert isinstance(counters, Undeleted)
        case.check.equal(COUNTERS[0], "files, dirs", (0, 1), (counters.files, counters.dirs))
    if got.ok and op in AFTER_OK:
        look_after_ok(case, cell, got, before, after_ok(op, before, relative), murky=situation in BELOW)
    elif not status_of(got).ok and could_not_start(op, situation):
        case.unchanged(f"{op}.error-changes-nothing", before)
    finish(got)


def two_path_cases() -> list[ParameterSet]:
    """rename_file and copy_file with each situation of the source and of the target."""
    params = []
    for op, table in TWO_PATHS.items():
        for (source, target), cell in table.items():
            if cell.guarded:
                continue
            after = [AFTER_OK[op]] if cell.may_be_ok and not cell.readings else []
            marks = clauses(cell.clause, f"{op}.error-changes-nothing", *after)
            params.append(pytest.param((op, source, target, cell), id=f"{op}-{source}-to-{target}", marks=marks))
    return params


@pytest.mark.parametrize("met", two_path_cases())
def test_two_paths(case: Case, met: tuple[str, str, str, Cell]) -> None:
    """The op meets two paths in these situations."""
    op, source, target, cell = met
    first, before = build(case, source, "source")
    second, there = build(case, target, "target")
    before |= there
    from_uri = case.uri(first) if first else ""
    perform = case.fs.rename_file if op == "rename_file" else case.fs.copy_file
    got = perform(from_uri, case.uri(second))
    judge(case, cell, op, got)
    if got.ok and first:
        after = after_ok(op, before, first, second)
        look_after_ok(case, cell, got, before, after, murky=BELOW_A_FILE in (source, target))
    elif first:
        case.unchanged(f"{op}.error-changes-nothing", before)


def look_after_ok(case: Case, cell: Cell, got: Outcome[object], before: Tree, after: Tree, *, murky: bool) -> None:
    """Compare the tree with what OK says. After an OK that should be an error there may also be nothing done.

    `murky` is a path below a file: where a profile gives the error up, nobody says what a listing shows of such names.
    """
    if cell.may_be_ok and (got.source is Source.DEFAULT or not cell.by_default):
        # Where readings differ, the clause of the cell says what OK means in its own.
        case.tree_is(cell.clause if cell.readings else AFTER_OK[got.op], after)
    elif not (murky and cell.clause in case.bench.claims.unsupported) and case.setup.tree() not in (before, after):
        case.tree_is(f"{got.op}.error-changes-nothing", before)


def is_one_path(case: Case, plain: str, spelt: str) -> bool:
    """Whether a path that is spelt otherwise is translated to the same name.

    A plugin that does not clean names keeps them apart. The cases of translate_name tell that: no op is judged by it.
    """
    if case.fs.translate(plain) == case.fs.translate(spelt):
        return True
    case.check.note(FORM, "this spelling is kept apart")
    return False


def call(fs: Filesystem, op: str, uri: str) -> Outcome[object]:
    """Perform an op with one path."""
    if op == "paths_exist":
        return fs.paths_exist([uri])
    perform: Callable[[str], Outcome[object]] = getattr(fs, op)
    return perform(uri)


def status_of(got: Outcome[object]) -> Outcome[object]:
    """The status that is judged: for paths_exist, that of its one path."""
    if isinstance(got.value, Existence) and got.value.statuses:
        status = got.value.statuses[0]
        return Outcome(got.op, status.code, status.message, got.value, got.watch, got.source)
    return got


def judge(case: Case, cell: Cell, op: str, got: Outcome[object]) -> None:
    """Check the code against its cell."""
    case.check.implemented(got)
    # What core passes on is judged by the cases of the op that answered it.
    passed_on = bool(got.passed_on) and not cell.readings and got.code not in cell.accepts
    if got.source is Source.DEFAULT and (passed_on or got.code in cell.by_default):
        case.check.reading(cell.clause, {"core's default": True}, f"code={got.code}", got.message, of=Answer.of(got))
    elif cell.readings:
        readings = {name: got.code in codes for name, codes in cell.readings.items()}
        if op == "is_directory" and got.value:
            readings = dict.fromkeys(readings, False)
        value = f" value={got.value}" if op == "is_directory" else ""
        case.check.reading(cell.clause, readings, f"code={got.code}{value}", got.message, of=Answer.of(got))
    elif cell.accepts == frozenset(Code):
        case.check.note(cell.clause, f"code={got.code}", got.message)
    else:
        case.check.status(cell.clause, got, *cell.accepts)


def finish(got: Outcome[object]) -> None:
    """Clean up what the op opened."""
    if isinstance(got.value, RandomAccessFile | WritableFile | MemoryRegion):
        got.value.cleanup()
