"""Registration, row by row of what core checks: the code it gives, and the clause on which our suite finds it."""

from pathlib import Path

import pytest

from tests.faults.driven import judge, of_clause
from tests.test_suite import run
from tffs_conformance.harness.hosting.client import Host
from tffs_conformance.harness.hosting.registration import register
from tffs_conformance.harness.launchers.local import Local
from tffs_conformance.harness.ops.codes import Code
from tffs_conformance.harness.targets.shipped import plugin_path
from tffs_conformance.reports import document
from tffs_conformance.reports.model.verdicts import Verdict

#: The code that registration gives, the clause, and what is wrong with the plugin.
TABLE = (
    (Code.FAILED_PRECONDITION, "registration.sets-allocate", "allocate-null"),
    (Code.FAILED_PRECONDITION, "registration.sets-free", "free-null"),
    (Code.INVALID_ARGUMENT, "registration.scheme-is-set", "scheme-null"),
    (Code.FAILED_PRECONDITION, "registration.abi-matches",
     "abi:filesystem abi:random_access_file abi:writable_file abi:read_only_memory_region"),
    (Code.FAILED_PRECONDITION, "registration.required-ops",
     "filesystem-ops-null init-null cleanup-null random_access_file.cleanup-null writable_file.cleanup-null"
     " region.cleanup-null region.data-null region.length-null"),
    (Code.FAILED_PRECONDITION, "registration.creators-have-tables",
     "no-table:new_random_access_file no-table:new_writable_file no-table:new_appendable_file"
     " no-table:new_read_only_memory_region_from_file"),
    (Code.PERMISSION_DENIED, "init.succeeds", "init-fails"),
    (Code.ALREADY_EXISTS, "registration.no-duplicate-scheme", "duplicate-scheme"),
    (Code.OK, "registration.has-a-scheme", "zero-schemes"),
    (Code.OK, "registration.scheme-can-be-reached", "scheme:weird+scheme"),
    (Code.OK, "registration.api-matches", "api:filesystem"),
    (None, "registration.size-covers-required-ops", "size:8"),
    (None, "registration.blocks-are-distinct", "shared-table"),
    (None, "registration.blocks-are-freeable", "static-table static-scheme free-rejects-null"),
)  # fmt: skip
ROWS = {fault: (code, clause) for code, clause, faults in TABLE for fault in faults.split()}
#: What looks odd and is right: tables of an older and of a later interface, several schemes.
RIGHT = {"size:176": 1, "size:224": 1, "size:longer": 1, "two-schemes": 2}


@pytest.mark.parametrize(("fault", "code"), [(fault, code) for fault, (code, _) in ROWS.items() if code is not None])
def test_core_gives_the_code(fault: str, code: Code) -> None:
    host = Host(Local({"TFFS_FAULT": fault}), 10)
    assert register(host, plugin_path("fakes/malformed")).code is code
    host.close()


@pytest.mark.parametrize(("fault", "clause"), [(fault, clause) for fault, (_, clause) in ROWS.items()])
def test_the_suite_finds_it(fault: str, clause: str) -> None:
    judged = judge("fakes/malformed", fault, of_clause(clause))
    checks = [check for record in judged.records for check in record.checks if check.clause == clause]
    assert {check.verdict for check in checks} & {Verdict.VIOLATION, Verdict.WARNING}


# The oldest table lacks most; of the others the way through every op says enough.
@pytest.mark.parametrize(
    ("fault", "tier"),
    [*((fault, "smoke") for fault in RIGHT), pytest.param("size:176", "quick", marks=pytest.mark.nightly)],
)
def test_what_is_right_is_conformant(tmp_path: Path, fault: str, tier: str) -> None:
    run(tmp_path, "--plugin=fakes/malformed", "--backing=none", f"--env=TFFS_FAULT={fault}", "--scheme=*",
        f"--tier={tier}")  # fmt: skip
    found = [document.load(path) for path in (tmp_path / "tffs-report").rglob("report.json")]
    assert [one.verdict for one in found] == ["conformant"] * RIGHT[fault]
