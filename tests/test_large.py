"""The tier of gigabytes: no plain run has it, and what takes long in it is no hang."""

import time
from pathlib import Path

import pytest

from tests.test_suite import report, run
from tffs_conformance.suite.engine import collect, index


def test_no_plain_run_moves_gigabytes() -> None:
    larger = {case.id.partition("[")[0] for case in index.in_tiers(("large",))}
    assert larger == {
        "bulk/filled-parts", "bulk/many-appends", "bulk/parts", "bulk/replaced-parts", "changes/large-after",
        "counts/a-mebibyte-of-names", "counts/a-page-is-deleted", "counts/a-page-of-levels", "counts/around-two-pages",
        "counts/below-many", "counts/few-among-many", "counts/hundreds-of-long-names", "counts/two-pages-are-asked-for",
        "leaks/sizes", "lengths/paths", "listing/two-pages", "sizes/beyond-2-gib", "sizes/large-moved",
        "storage/append-to-a-large-file", "storage/one-read-of-2-gib",
    }  # fmt: skip
    plain = {case.id.partition("[")[0] for case in index.in_tiers(collect.tiers("full"))}
    assert not larger & plain
    assert set(collect.tiers("large")) == {"smoke", "quick", "full", "large"}


def test_a_case_of_it_runs_again_as_it_ran(tmp_path: Path) -> None:
    run(tmp_path, "-q", "--plugin=posix", "--tier=large", "--case=listing/two-pages")
    found = report(tmp_path)
    assert [case["verdict"] for case in found["cases"]] == ["conform"]
    assert "--tier=large" in found["suite"]["command"]


def half_of_what_it_takes(folder: Path) -> float:
    """Seconds in which this machine, as busy as it is, reads half of what the cases of gigabytes read at once."""
    file = folder / "sparse"
    with file.open("wb") as opened:
        opened.truncate(512 << 20)
    began = time.monotonic()
    file.read_bytes()
    return 2 * (time.monotonic() - began)


@pytest.mark.long
def test_a_call_that_moves_gigabytes_may_take_longer_than_others(tmp_path: Path) -> None:
    """The time-out of a call is less than what the machine needs, and no case blames the plugin or the machine."""
    seconds = half_of_what_it_takes(tmp_path)
    large = ("-q", "--plugin=posix", "--tier=large", "--case=storage/one-read-of-2-gib")
    done = run(tmp_path, *large, f"--call-timeout={seconds:.2f}")
    assert {case["verdict"] for case in report(tmp_path)["cases"]} == {"conform"}, done.stdout
