"""The report of a plugin that answers far too much is small, and so is the memory of the process that writes it."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.test_suite import environment, report

MEBI = 1 << 20

#: A wrong count at the end of files, a listing with the directory itself in it, a message that is none for people, and
#: wrong counts everywhere; and the cases that are run.
FAULTS = {
    "read.claims-full": "--clause=read.*",
    "read.one-less": "--clause=read.*",
    "get_children.dots": "--clause=*recursive*",
    "huge-message:stat": "--case=status/one-path[stat-missing-d*",
}
BY_DAY = ("huge-message:stat",)

#: Runs pytest, and writes down how many KiB the process itself took at most; its hosts are not counted. What `resource`
#: tells may be what the process took that started it.
MEASURED = """
import sys; sys.path.pop(0)
import pathlib, re, pytest
code = pytest.main()
status = pathlib.Path("/proc/self/status").read_text()
pathlib.Path("peak").write_text(re.search(r"VmHWM:\\s*(\\d+) kB", status)[1])
sys.exit(code)
"""


@pytest.mark.long
@pytest.mark.parametrize(
    "fault", [pytest.param(fault, marks=() if fault in BY_DAY else pytest.mark.nightly) for fault in FAULTS]
)
def test_the_report_and_the_memory_of_a_few_cases_are_bounded(tmp_path: Path, fault: str) -> None:
    bounded(tmp_path, fault, "--tier=quick", FAULTS[fault])


@pytest.mark.nightly
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("fault", FAULTS)
def test_the_report_and_the_memory_of_a_whole_run_are_bounded(tmp_path: Path, fault: str) -> None:
    bounded(tmp_path, fault)
    assert report(tmp_path)["left_out"] is None


def bounded(directory: Path, fault: str, *arguments: str) -> None:
    given = ["-p", "no:randomly", "-p", "no:cacheprovider", "--plugin=fakes/faulty", f"--env=TFFS_FAULT={fault}",
             "--call-timeout=5", *arguments]  # fmt: skip
    done = subprocess.run(
        [sys.executable, "-c", MEASURED, *given],
        cwd=directory, env=environment(), text=True, capture_output=True, check=False,
    )  # fmt: skip
    counts = report(directory)["counts"]
    assert counts["violation"] or counts["warning"], done.stdout[-3000:] + done.stderr
    written = {path.name: path.stat().st_size for path in (directory / "tffs-report").iterdir() if path.is_file()}
    assert max(written.values()) < 20 * MEBI, written
    assert max(map(len, (directory / "tffs-report" / "report.json").read_text().splitlines())) < MEBI
    assert len(done.stdout) < MEBI
    assert int((directory / "peak").read_text()) * 1024 < 300 * MEBI
