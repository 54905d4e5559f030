"""--conditions=processes: what an exit of a process at work does is told, and right plugins are not blamed."""

from pathlib import Path

import pytest

from tests.test_suite import report, run
from tests.test_survival import wrong

PROCESSES = "--conditions=processes"
NAME = "exits"
ENDS, STATUS, CLOSED, SYNCED = (
    f"processes.exit-{what}" for what in ("ends", "keeps-the-status", "keeps-what-was-closed", "keeps-what-was-synced")
)
#: Each fault, the case that shows it, the clause that it breaks, and what is said of it.
FAULTS = {
    "exit-waits-for-readers": ("with-open[reader-exit]", ENDS, "reader, exit: it did not end"),
    "exit-waits-for-threads": ("beside-threads[list-exit]", ENDS, "list, exit: it did not end"),
    "exit-joins-nobody": ("with-open[writer-exit]", ENDS, "writer, exit: signal SIGABRT"),
    "exit-is-success": ("beside-threads[glob-exit]", STATUS, "glob, exit: exit status 0"),
    "quick-exit-is-success": ("with-open[region-quick_exit]", STATUS, "region, quick_exit: exit status 0"),
    "exit-empties": ("with-open[writer-exit]", SYNCED, "writer, exit: open has b''"),
    "exit-deletes": ("with-open[region-exit]", CLOSED, "region, exit: closed has None"),
    **{
        f"uses-what-is-gone:{op}": (f"beside-threads[{what}-exit]", ENDS, f"{what}, exit: signal SIGSEGV")
        for what, op in {
            "query": "stat", "list": "get_children", "glob": "get_matching_paths", "read": "read",
            "open": "new_random_access_file", "region": "data", "write": "close", "create": "create_dir",
            "rename": "rename_file", "delete": "delete_file", "flush_caches": "flush_caches", "append": "append",
        }.items()
    },
}  # fmt: skip


@pytest.mark.parametrize("fault", FAULTS)
def test_what_an_exit_does_is_told(tmp_path: Path, fault: str) -> None:
    case, clause, said = FAULTS[fault]
    # Who waits for ever is told from who is slow by a time-out, which each hang costs.
    given = ["--plugin=fakes/faulty", f"--env=TFFS_FAULT=processes.{fault}", f"--case={NAME}/{case}", PROCESSES]
    run(tmp_path, *given, "--call-timeout=5")
    level = "violation" if clause in (CLOSED, SYNCED) else "warning"
    assert wrong(report(tmp_path)) == {(level, clause, said)}


def test_an_op_that_does_not_come_back_then_is_no_fault(tmp_path: Path) -> None:
    given = ["--plugin=fakes/faulty", "--env=TFFS_FAULT=processes.stops-threads:get_children", "--call-timeout=4"]
    run(tmp_path, *given, f"--case={NAME}/beside-threads[list-exit]", PROCESSES)
    (record,) = report(tmp_path)["cases"]
    assert record["verdict"] == "conform"


#: What right plugins are given, and the clauses of what they store: an object store and core's sync promise nothing of
#: files that are not closed, and where nothing is kept nothing is lost.
RIGHT = {
    "posix": (["--plugin=posix"], {CLOSED, SYNCED}),
    "memory": (["--plugin=memory"], set()),
    "choices": (["--plugin=posix_choices", "--env=TFFS_CHOICES=all"], {CLOSED, SYNCED}),
    "few-ops": (["--plugin=posix_choices", "--env=TFFS_CHOICES=all,no-optional-ops"], {CLOSED}),
    "objectstore_minimal": (["--plugin=objectstore_minimal", "--plugin-profile=object-store"], {CLOSED}),
}


@pytest.mark.parametrize("name", RIGHT)
def test_a_right_plugin_is_not_blamed(tmp_path: Path, name: str) -> None:
    given, stored = RIGHT[name]
    done = run(tmp_path, *given, f"--case={NAME}/*", PROCESSES)
    assert done.returncode == 0, done.stdout
    found = report(tmp_path)
    assert wrong(found) == set()
    told = {one["clause"] for record in found["cases"] for one in record["checks"] if one["verdict"] == "conform"}
    assert told == {ENDS, STATUS} | stored
