"""Where the report cannot be written, the run ends with one sentence and a code of its own; what was seen is kept.

A limit of the size of files stands for a full disk: a write comes back short, and the next one with an error.
"""

import resource
import shutil
import subprocess
from functools import partial
from pathlib import Path

import pytest

from tests.commands import output_of
from tests.test_suite import command, environment, run
from tffs_conformance.suite.judge.exit_code import UNWRITABLE
from tffs_conformance.suite.judge.reports import recover

SMOKE = ("--plugin=posix", "--tier=smoke")
SENTENCE = "the report cannot be written: File too large"


def run_in(directory: Path, room: int, *arguments: str) -> str:
    """What a run says that can write files of so many bytes, and that ends for want of more."""
    done = subprocess.run(
        command(*SMOKE, *arguments), cwd=directory, env=environment(), text=True, capture_output=True, check=False,
        preexec_fn=partial(resource.setrlimit, resource.RLIMIT_FSIZE, (room, room)),
    )  # fmt: skip
    said = done.stdout + done.stderr
    assert done.returncode == UNWRITABLE, said
    assert said.count(SENTENCE) == 1
    # There is no report, or one of an earlier run.
    assert [word for word in ("report: ", "to accept them", "INTERNALERROR", "Traceback") if word in said] == []
    return said


@pytest.fixture(scope="session")
def ran(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What the same run leaves where there is room."""
    directory = tmp_path_factory.mktemp("room")
    assert run(directory, *SMOKE).returncode == 0
    return directory / "tffs-report"


@pytest.fixture
def whole(tmp_path: Path, ran: Path) -> bytes:
    """The journal of that run, which is the last one in the folder."""
    shutil.copytree(ran, tmp_path / "tffs-report")
    return (ran / "journal.jsonl").read_bytes()


@pytest.mark.parametrize("workers", [(), ("-n", "1")])
def test_full_disk_at_start_keeps_the_last_report(tmp_path: Path, whole: bytes, workers: tuple[str, ...]) -> None:
    before = {path.name: path.read_bytes() for path in (tmp_path / "tffs-report").iterdir()}
    run_in(tmp_path, 1000, *workers)
    assert {path.name: path.read_bytes() for path in (tmp_path / "tffs-report").iterdir()} == before
    assert (before["journal.jsonl"], sorted(before)) == (whole, ["journal.jsonl", "report.json"])


@pytest.mark.parametrize("workers", [(), ("-n", "1")])
def test_in_the_middle_what_was_seen_is_kept(tmp_path: Path, whole: bytes, workers: tuple[str, ...]) -> None:
    header, first, *_ = whole.splitlines(keepends=True)
    said = run_in(tmp_path, len(header) + 2 * len(first) + 700, *workers)
    journal = tmp_path / "tffs-report/journal.jsonl"
    assert f"{journal} has what was seen until then" in said
    assert journal.read_bytes().endswith(b"}\n")
    kept = recover(journal)
    assert 0 < len(kept.cases) < whole.count(b'\n{"case"')
    assert f"checks of all clauses: {kept.counts.conform} conform" in said
    assert "incomplete: " in said
    assert "incomplete: " in output_of("report", "show", journal)


def test_at_the_end_all_is_in_the_journal(tmp_path: Path, whole: bytes) -> None:
    said = run_in(tmp_path, len(whole) + 1000)
    assert not (tmp_path / "tffs-report/report.json").exists()
    assert "conformant: " in said
    assert recover(tmp_path / "tffs-report/journal.jsonl").verdict == "conformant"
