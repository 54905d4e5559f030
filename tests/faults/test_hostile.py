"""The crashing and the hanging fake of each op: the op is named in a violation, and no case is missed.

On some cases of the op's own clauses in the quick tier, in this process; on the whole quick tier, as a person runs it,
for some ops, and with `-m nightly` on all of the suite for every op.
"""

import time
from pathlib import Path

import pytest

from tests.faults.driven import all_cases, judge, of_op
from tests.test_suite import FEW as FEW_HISTORIES
from tests.test_suite import judged_report
from tffs_conformance.harness.ops.tables import OPS
from tffs_conformance.reports.model.verdicts import Verdict

#: A hanging plugin gets its report within so many seconds, at a call time-out of 1 s.
LONGEST = 300
KINDS = ("crash", "hang")
#: So many cases of an op at most, beside those of the smallest tier: each waits for a hang.
FEW = 12
#: One that nearly every case needs, and one that few need.
SOME = ("crash:new_writable_file", "hang:tell")


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("op", OPS)
def test_cases_of_an_op_name_it(op: str, kind: str) -> None:
    every = of_op(op, "quick")
    step = -(-len(every) // FEW)
    cases = [case for number, case in enumerate(every) if case.tier == "smoke" or number % step == 0]
    assert cases, f"no case of the tier quick calls {op}: write one, see tests/catalogue.toml"
    judged = judge("fakes/faulty", f"{kind}:{op}", cases, timeout=1 if kind == "hang" else None)
    assert any(op in check.got for one in judged.records for check in one.checks if check.verdict is Verdict.VIOLATION)
    assert not [one.id for one in judged.records if one.verdict is Verdict.ERROR]


@pytest.mark.timeout(1800)
@pytest.mark.parametrize(
    ("fault", "tier", "histories"),
    [
        *((fault, "quick", [FEW_HISTORIES]) for fault in SOME),
        *(pytest.param(f"{kind}:{op}", "full", [], marks=pytest.mark.nightly) for op in OPS for kind in KINDS),
    ],
)
def test_a_run_has_its_report(tmp_path: Path, fault: str, tier: str, histories: list[str]) -> None:
    """A run as a person starts it; by day it tries few histories, of which each waits for a hang."""
    started = time.monotonic()
    faulty = ("--plugin=fakes/faulty", f"--env=TFFS_FAULT={fault}", "--call-timeout=1", f"--tier={tier}")
    found = judged_report(tmp_path, "-q", *faulty, *histories, code=1)
    seconds = time.monotonic() - started
    checks = [check for case in found["cases"] for check in case["checks"]]
    assert found["verdict"] == "not conformant"
    assert any(fault.partition(":")[2] in check["got"] for check in checks if check["verdict"] == "violation")
    assert len(found["cases"]) == len(all_cases(tier))
    assert not fault.startswith("hang") or seconds < LONGEST
