"""Conditions: what a run sees only where it asks for one. Then other cases are repeated under it, too."""

from ...harness.over_tables.files import handle_of
from ...harness.over_tables.programs import Program, run_within
from ..engine.case import Case
from ..engine.marks import clauses, condition, over_tables
from ..judge.blame import SURVIVED
from .test_robustness import round_trip
from .test_threads import BUSY, busy

#: Threads that do the same, rounds of it at most, and seconds for which they do it.
THREADS, ROUNDS, SECONDS = 2, 50, 0.2


@condition("memcheck")
@clauses("robustness.memory-safe", *SURVIVED)
def test_memcheck(case: Case) -> None:
    """Files are written, read, mapped, copied, listed and missed, under memcheck."""
    with case.setup:
        case.setup.mkdir_where_known("directory")
    round_trip(case)


@condition("address")
@clauses("robustness.memory-safe", *SURVIVED)
def test_address(case: Case) -> None:
    """Files are written, read, mapped, copied, listed and missed, with AddressSanitizer."""
    with case.setup:
        case.setup.mkdir_where_known("directory")
    round_trip(case)


@condition("thread")
@over_tables
@clauses("robustness.no-data-race", *SURVIVED)
def test_thread(case: Case) -> None:
    """Two threads do the same on paths of their own, and read one file, with ThreadSanitizer."""
    with case.setup:
        for k in range(THREADS):
            case.setup.mkdir_where_known(f"thread{k}")
            uri = case.setup.write(f"thread{k}/file0", b"content")
    for what in BUSY:
        run_within(case.tables, [busy(case, what, k) for k in range(THREADS)], ROUNDS, SECONDS)
    with case.setup, case.setup.opened(case.fs.new_random_access_file(uri)) as file:
        readers = [Program(case.tables) for _ in range(THREADS)]
        for reader in readers:
            reader.read(handle_of(file), 0, 4)
        run_within(case.tables, readers, ROUNDS, SECONDS)
