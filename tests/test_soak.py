"""The soak of the dragonfly plugin: half a minute of it on stubs, and what it finds."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.dragonfly_client import BUILT, MISSING
from tffs_conformance.harness.ops.codes import Code

CLONE = Path(__file__).parents[1]
sys.path.insert(0, str(CLONE / "benchmarks"))

import soak  # noqa: E402  a script, beside those that it imports

RIGHT = {"read": 10, "close": 10, f"read {int(Code.UNAVAILABLE)}": 2}


@pytest.mark.nightly
@pytest.mark.skipif(not BUILT, reason=MISSING)
@pytest.mark.parametrize("more", [[], ["--read-ahead=65536"]], ids=["whole", "ranges"])
def test_half_a_minute_on_stubs(more: list[str]) -> None:
    command = [sys.executable, str(CLONE / "benchmarks" / "soak.py"), "--stub", "--minutes=0.5", "--objects=100", *more]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "all of it holds" in done.stdout


def lines(ops: dict[str, int], descriptors: int = 3, resident: int = 100 << 20) -> list[dict[str, Any]]:
    first = {"seconds": 0, "descriptors": 3, "threads": 1, "resident": 1 << 20, "ops": {"wrong": 0}}
    during = [first | {"descriptors": 99, "threads": 37, "resident": 100 << 20, "ops": ops}] * 8
    after = first | {"descriptors": 99, "resident": resident, "ops": ops}
    return [first, *during, after, first | {"descriptors": descriptors, "ops": ops}]


@pytest.mark.parametrize(
    ("told", "failures", "left", "finding"),
    [
        (lines({"wrong": 0, **RIGHT}), 1, 0, None),
        (lines({"wrong": 1, **RIGHT}), 1, 0, "an answer was wrong"),
        (lines({"wrong": 0, **RIGHT, f"open {int(Code.NOT_FOUND)}": 1}), 1, 0, "a code does not tell the truth"),
        (lines({"wrong": 0, "read": 10}), 1, 0, "nothing was read, or written"),
        (lines({"wrong": 0, **RIGHT}), 0, 0, "nothing failed, so nothing was tried"),
        (lines({"wrong": 0, **RIGHT}, descriptors=4), 1, 0, "descriptors are left open"),
        (lines({"wrong": 0, **RIGHT}, resident=200 << 20), 1, 0, "memory grew"),
        (lines({"wrong": 0, **RIGHT}), 1, 2, "files are left in cache_dir"),
    ],
)
def test_what_a_soak_finds(told: list[dict[str, Any]], failures: int, left: int, finding: str | None) -> None:
    found = soak.judged(soak.arguments(["--stub"]), told, failures, 0, left)
    assert found == ([] if finding is None else [finding])
