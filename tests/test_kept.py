"""A history that found a fault once, the one of fakes/faulty in its name, finds it again, whatever a seed makes."""

from pathlib import Path

import pytest

from tests.test_suite import report, run
from tffs_conformance.suite.properties.reproducers import KEPT
from tffs_conformance.suite.properties.traces import Trace


@pytest.mark.parametrize("path", sorted(KEPT.glob("*.json")), ids=lambda path: path.stem)
def test_a_run_that_draws_next_to_nothing_finds_it(path: Path, tmp_path: Path) -> None:
    trace = Trace.read(path)
    faulty = ("--plugin=fakes/faulty", f"--env=TFFS_FAULT={path.stem}", "--backing=file://{path}")
    done = run(tmp_path, *faulty, f"--case={trace.case}", "--examples=1")
    assert done.returncode == 1, done.stdout
    (case,) = report(tmp_path)["cases"]
    assert trace.clause in {check["clause"] for check in case["checks"] if check["verdict"] == "violation"}


@pytest.mark.parametrize("case", ["properties/tree", "properties/handles"])
def test_a_right_plugin_keeps_them(case: str, tmp_path: Path) -> None:
    done = run(tmp_path, "--plugin=posix", f"--case={case}", "--examples=1")
    assert done.returncode == 0, done.stdout
    assert (
        f"{1 + sum(trace.case == case for trace in map(Trace.read, KEPT.glob('*.json')))} histories were tried"
        in (report(tmp_path)["cases"][0]["reason"])
    )
