"""The report of a plugin that answers far too much is small, and so is the memory of the process that writes it."""

import os
import resource
import subprocess
from pathlib import Path

import pytest

from tests.test_suite import command, environment, report

MEBI = 1 << 20

#: A wrong count at the end of files, a listing with the directory itself in it, a message that is none for people, and
#: wrong counts everywhere; and the clauses of which the cases are run every day.
FAULTS = {
    "read.claims-full": "read.*",
    "read.one-less": "read.*",
    "get_children.dots": "*recursive*",
    "huge-message:stat": "stat.*",
}


def peak(directory: Path, *arguments: str) -> tuple[int, int]:
    """Run pytest; its exit code, and the most memory that it took, in bytes."""
    with subprocess.Popen(
        command(*arguments), cwd=directory, env=environment(), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    ) as process:
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    # wait4 counts the process itself; its children are in RUSAGE_CHILDREN of whoever waited for them.
    assert isinstance(usage, resource.struct_rusage)
    return process.returncode, usage.ru_maxrss * 1024


@pytest.mark.long
@pytest.mark.parametrize("fault", FAULTS)
def test_the_report_and_the_memory_of_a_few_cases_are_bounded(tmp_path: Path, fault: str) -> None:
    bounded(tmp_path, fault, "--tier=must", f"--clause={FAULTS[fault]}")


@pytest.mark.nightly
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("fault", FAULTS)
def test_the_report_and_the_memory_of_a_whole_run_are_bounded(tmp_path: Path, fault: str) -> None:
    bounded(tmp_path, fault)
    assert report(tmp_path)["left_out"] is None


def bounded(directory: Path, fault: str, *arguments: str) -> None:
    code, memory = peak(directory, "--plugin=fakes/faulty", f"--env=TFFS_FAULT={fault}", "--call-timeout=5", *arguments)
    assert code == 1
    assert report(directory)["counts"]["violation"]
    written = {path.name: path.stat().st_size for path in (directory / "tffs-report").iterdir() if path.is_file()}
    assert max(written.values()) < 20 * MEBI, written
    assert max(map(len, (directory / "tffs-report" / "report.json").read_text().splitlines())) < MEBI
    assert memory < 300 * MEBI
