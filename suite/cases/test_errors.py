"""Errors: ops that are made to fail, and what the ops after them answer."""

from collections.abc import Callable

import pytest

from ...harness.hosting import limits as host_limits
from ...harness.ops import paths
from ...harness.ops.codes import Code
from ...harness.ops.outcomes import Outcome
from ..engine.case import Case, NoStimulusError
from ..engine.marks import clauses, over_tables
from .successes import SUCCESSES, prepared

CONTENT = b"content"

#: What is done wrong before an op that succeeds. Each needs the names that `prepared` sets up.
FAILURES: dict[str, Callable[[Case], Outcome[object]]] = {
    "missing": lambda case: case.fs.stat(case.uri("missing")),
    "missing-parent": lambda case: case.fs.new_random_access_file(case.uri("missing/leaf")),
    "existing": lambda case: case.fs.create_dir(case.uri("full")),
    "not-empty": lambda case: case.fs.delete_dir(case.uri("full")),
    "directory": lambda case: case.fs.new_random_access_file(case.uri("full")),
}


@pytest.mark.parametrize("op", [pytest.param(op, id=op, marks=clauses(f"{op}.succeeds")) for op in SUCCESSES])
@clauses("common.success-after-an-error")
def test_then_success(case: Case, op: str) -> None:
    """Other ops fail in several ways; then this op does what it can do."""
    prepared(case)
    failed = [name for name, fail in FAILURES.items() if not fail(case).ok]
    if not failed:
        raise NoStimulusError("nothing of what is tried here fails")
    got = SUCCESSES[op](case)
    case.check.status(f"{op}.succeeds", got, Code.OK)
    said = f"code={got.code} after: {', '.join(failed)}"
    case.check.that("common.success-after-an-error", got.ok, "code=OK", "code=OK" if got.ok else said, got.message)


@clauses("common.success-after-an-error", "read.succeeds")
def test_read_after_the_end(case: Case) -> None:
    """A file is read at its end and behind it, and then inside."""
    uri = case.setup.write("file", CONTENT)
    with case.setup, case.setup.opened(case.fs.new_random_access_file(uri)) as file:
        for offset in (len(CONTENT), 1 << 40, 3):
            file.read(offset, 100)
        got = file.read(0, len(CONTENT))
    case.check.status("read.succeeds", got, Code.OK)
    case.check.status("common.success-after-an-error", got, Code.OK)
    case.check.equal("common.success-after-an-error", "data", CONTENT, got.value.data)


@over_tables
@clauses("common.success-after-an-error", "append.succeeds", "close.succeeds")
def test_append_after_no_room(case: Case) -> None:
    """There is no room for one file; another one, opened before, is written afterwards."""
    with case.setup, case.setup.opened(case.fs.new_writable_file(case.uri("other"))) as other:
        with case.setup.opened(case.fs.new_writable_file(case.uri("file"))) as file:
            with host_limits.file_size(case.surroundings.host, 4096):
                file.append(b"x" * 10_000)
                file.flush()
            file.close()
        for got in (other.append(CONTENT), other.flush(), other.close()):
            case.check.status("common.success-after-an-error", got, Code.OK)
    case.check.equal("common.success-after-an-error", "content", CONTENT, case.setup.content(case.uri("other")))


#: A file of Linux that opens, and of which no byte at the start can be read.
UNREADABLE = "/proc/self/mem"


@pytest.mark.parametrize("n", [pytest.param(n, id=str(n)) for n in (1, 100, 1 << 20)])
@clauses("read.an-error-is-not-the-end", "read.return-on-error", "read.return-agrees-with-the-code")
def test_read(case: Case, n: int) -> None:
    """A file is read whose bytes the system refuses to give, though it opened it."""
    uri = paths.parse(case.uri()).prefix + UNREADABLE
    got = case.fs.new_random_access_file(uri)
    if got.value is None:
        raise NoStimulusError(f"no read can be made to fail: the plugin does not open {UNREADABLE} ({got.code})")
    with got.value as file:
        answer = file.read(0, n)
        again = file.read(0, n)
    for one in (answer, again):
        an_error = one.code not in (Code.OK, Code.OUT_OF_RANGE)
        case.check.that(
            "read.an-error-is-not-the-end", an_error, "another code than OK and OUT_OF_RANGE", f"code={one.code}"
        )
