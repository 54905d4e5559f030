"""The process that loaded the plugin: it must be unchanged after everything was closed."""

import pytest

from ...harness.codes import Code
from ...harness.state import State
from ..engine.case import Case
from ..engine.marks import clauses, over_tables, smoke
from .successes import SUCCESSES, prepared

pytestmark = over_tables

#: The number of rounds. It tells a descriptor that leaks in every round from one that is kept once.
TIMES = 10


def round_trip(case: Case) -> None:
    """Perform every op once, in success and in error. All that was opened is cleaned up."""
    fs = case.fs
    case.write("directory/file", b"content")
    case.content(case.uri("directory/file"))
    fs.new_random_access_file(case.uri("missing"))
    fs.new_random_access_file(case.uri("directory"))
    fs.new_writable_file(case.uri("directory"))
    for file in (fs.new_writable_file(case.uri("dropped")), fs.new_appendable_file(case.uri("directory/file"))):
        if file.value is not None:
            file.value.append(b"more")
            file.value.cleanup()
    region = fs.new_read_only_memory_region_from_file(case.uri("directory/file"))
    if region.value is not None:
        region.value.cleanup()
    fs.stat(case.uri("directory/file"))
    fs.get_children(case.uri("directory"))
    fs.get_children(case.uri("missing"))
    fs.rename_file(case.uri("missing"), case.uri("directory/target"))
    fs.copy_file(case.uri("directory/file"), case.uri("directory/copy"))
    fs.copy_file(case.uri("directory/file"), case.uri("missing/copy"))


@smoke
@clauses("robustness.leaves-no-descriptor", "robustness.leaves-no-thread", "robustness.keeps-the-working-directory",
         "robustness.keeps-signal-handlers")  # fmt: skip
def test_process_state(case: Case) -> None:
    """The process is looked at before and after many rounds of everything."""
    with case.setup():
        fresh = State.of(case.host)
        case.mkdir("directory")
        # The first round may fill caches, so it is not counted.
        round_trip(case)
    before = State.of(case.host)
    for _ in range(TIMES):
        round_trip(case)
    after = State.of(case.host)
    for what in ("descriptors", "threads"):
        grown = getattr(after, what) - getattr(before, what)
        leaks, none = grown >= TIMES, f"no more {what} each time"
        case.check(f"robustness.leaves-no-{what[:-1]}", not leaks, none,
                   f"{grown} more after {TIMES} rounds" if leaks else none)  # fmt: skip
    case.equal("robustness.keeps-the-working-directory", "moved", False, after.directory != fresh.directory)
    case.equal("robustness.keeps-signal-handlers", "handlers", fresh.handlers, after.handlers)


@pytest.mark.parametrize("op", list(SUCCESSES))
@clauses("common.present-op-is-unimplemented")
def test_present_op(case: Case, op: str) -> None:
    """An op whose entry is set does what it is for, or says that it does not."""
    if op not in case.fs.present:
        case.missing(op)
    prepared(case)
    got = SUCCESSES[op](case)
    unsupported = got.code is Code.UNIMPLEMENTED
    readings = {"implemented": not unsupported, "unsupported": unsupported}
    case.reading("common.present-op-is-unimplemented", readings, f"{op}: code={got.code}", got.message)


@clauses("common.error-names-the-path")
def test_messages(case: Case) -> None:
    """What is missing is asked for: the message of the error may name it."""
    for got in (case.fs.stat(case.uri("missing")), case.fs.new_random_access_file(case.uri("missing"))):
        named = "missing" in got.message
        case.note("common.error-names-the-path", "named" if named else "not named", got.message)
