"""--conditions=processes: what signals, forks and other processes change is told, and right plugins are not blamed."""

from pathlib import Path

import pytest

from tests.test_suite import report, run
from tests.test_survival import wrong

PROCESSES = "--conditions=processes"
NAME = "processes"
INTERRUPTED = f"{NAME}.interruption-changes-nothing"
WRITERS, READERS, READS = (f"{NAME}.fork-{what}" for what in ("keeps-writers", "keeps-readers", "reads"))
BESIDE = f"{NAME}.work-side-by-side"
READER, REGION = "new_random_access_file", "new_read_only_memory_region_from_file"

#: Each fault, the case that shows it, the clause that it breaks, and what is said of it.
FAULTS = {
    "stat-is-cut": ("interrupted[stat]", INTERRUPTED, "stat: stat: code=UNAVAILABLE"),
    "read-is-cut": ("interrupted[read]", INTERRUPTED, "read: read: code=OUT_OF_RANGE"),
    "drops-unfinished": (
        "forked-beside-a-writer[exits]", WRITERS, "the child exits: close: code=ABORTED",
    ),
    "reads-on": (f"forked-to-read[{READER}]", READERS, f"{READER}: the child reads: code=OK b'ijkl'"),
    "shares-a-name": (
        f"forked-beside-a-reader[{READER}-cleans-up]", READERS, f"{READER}: the child cleans up: code=INTERNAL b''",
    ),
    "maps-for-one": (f"forked-to-read[{REGION}]", READS, f"{REGION}: the child: signal SIGSEGV b''"),
    "same-temporary": ("side-by-side", BESIDE, "close: code=ABORTED"),
}  # fmt: skip


@pytest.mark.parametrize("fault", FAULTS)
def test_what_is_changed_is_told(tmp_path: Path, fault: str) -> None:
    case, clause, said = FAULTS[fault]
    given = ["--plugin=fakes/faulty", f"--env=TFFS_FAULT=processes.{fault}", f"--case={NAME}/{case}", PROCESSES]
    assert run(tmp_path, *given).returncode == 0
    assert wrong(report(tmp_path)) == {("warning", clause, said)}


def test_who_deletes_in_a_child_is_told_of_its_cleanup_too(tmp_path: Path) -> None:
    given = ["--plugin=fakes/faulty", "--env=TFFS_FAULT=processes.drops-unfinished"]
    run(tmp_path, *given, f"--case={NAME}/forked-beside-a-writer[cleans-up]", PROCESSES)
    assert wrong(report(tmp_path)) == {("warning", WRITERS, "the child cleans up: close: code=ABORTED")}


@pytest.mark.parametrize(
    ("plugin", "choices"),
    [("posix", ""), ("memory", ""), ("posix_choices", "all"), ("objectstore_minimal", "")],
    ids=["posix", "memory", "choices", "objectstore_minimal"],
)
def test_a_right_plugin_is_not_blamed(tmp_path: Path, plugin: str, choices: str) -> None:
    done = run(tmp_path, f"--plugin={plugin}", f"--env=TFFS_CHOICES={choices}", f"--case={NAME}/*", PROCESSES)
    assert done.returncode == 0, done.stdout
    found = report(tmp_path)
    assert wrong(found) == set()
    told = {one["clause"] for record in found["cases"] for one in record["checks"] if one["verdict"] == "conform"}
    assert told >= {INTERRUPTED, WRITERS, READERS, READS} | ({BESIDE} if plugin != "memory" else set())


def test_without_signals_the_same_plugin_is_right(tmp_path: Path) -> None:
    given = ["--plugin=fakes/faulty", "--env=TFFS_FAULT=processes.stat-is-cut", "--tier=smoke"]
    assert run(tmp_path, *given).returncode == 0
    assert wrong(report(tmp_path)) == set()
