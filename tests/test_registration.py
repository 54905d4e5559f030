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

#: What is wrong with the plugin: the code that registration gives, and the clause.
ROWS = {
    "allocate-null": (Code.FAILED_PRECONDITION, "registration.sets-allocate"),
    "free-null": (Code.FAILED_PRECONDITION, "registration.sets-free"),
    "scheme-null": (Code.INVALID_ARGUMENT, "registration.scheme-is-set"),
    "abi:filesystem": (Code.FAILED_PRECONDITION, "registration.abi-matches"),
    "abi:random_access_file": (Code.FAILED_PRECONDITION, "registration.abi-matches"),
    "abi:writable_file": (Code.FAILED_PRECONDITION, "registration.abi-matches"),
    "abi:read_only_memory_region": (Code.FAILED_PRECONDITION, "registration.abi-matches"),
    "filesystem-ops-null": (Code.FAILED_PRECONDITION, "registration.required-ops"),
    "init-null": (Code.FAILED_PRECONDITION, "registration.required-ops"),
    "cleanup-null": (Code.FAILED_PRECONDITION, "registration.required-ops"),
    "random_access_file.cleanup-null": (Code.FAILED_PRECONDITION, "registration.required-ops"),
    "writable_file.cleanup-null": (Code.FAILED_PRECONDITION, "registration.required-ops"),
    "region.cleanup-null": (Code.FAILED_PRECONDITION, "registration.required-ops"),
    "region.data-null": (Code.FAILED_PRECONDITION, "registration.required-ops"),
    "region.length-null": (Code.FAILED_PRECONDITION, "registration.required-ops"),
    "no-table:new_random_access_file": (Code.FAILED_PRECONDITION, "registration.creators-have-tables"),
    "no-table:new_writable_file": (Code.FAILED_PRECONDITION, "registration.creators-have-tables"),
    "no-table:new_appendable_file": (Code.FAILED_PRECONDITION, "registration.creators-have-tables"),
    "no-table:new_read_only_memory_region_from_file": (
        Code.FAILED_PRECONDITION,
        "registration.creators-have-tables",
    ),
    "init-fails": (Code.PERMISSION_DENIED, "init.succeeds"),
    "duplicate-scheme": (Code.ALREADY_EXISTS, "registration.no-duplicate-scheme"),
    "zero-schemes": (Code.OK, "registration.has-a-scheme"),
    "scheme:weird+scheme": (Code.OK, "registration.scheme-can-be-reached"),
    "api:filesystem": (Code.OK, "registration.api-matches"),
    "size:8": (None, "registration.size-covers-required-ops"),
    "shared-table": (None, "registration.blocks-are-distinct"),
    "static-table": (None, "registration.blocks-are-freeable"),
    "static-scheme": (None, "registration.blocks-are-freeable"),
    "free-rejects-null": (None, "registration.blocks-are-freeable"),
}
#: What looks odd and is right: tables of an older and of a later interface, several schemes.
RIGHT = {"size:176": 1, "size:224": 1, "size:longer": 1, "two-schemes": 2}


@pytest.mark.parametrize(
    ("fault", "code"),
    [*((fault, code) for fault, (code, _) in ROWS.items() if code is not None), *((fault, Code.OK) for fault in RIGHT)],
)
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
