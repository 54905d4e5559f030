"""Ten defects that no run on a good day can see: plugins that have them conform, and a condition tells each."""

from collections.abc import Iterable, Mapping
from pathlib import Path

import pytest

from tests import test_memcheck, test_power, test_processes, test_survival, test_system_calls
from tests.test_suite import report, run
from tests.test_survival import wrong

#: By the condition that tells them, in the table of its own tests.
TOLD: Mapping[str, Iterable[str]] = {
    "failing.": test_system_calls.FAULTS,
    "killed.": test_survival.FAULTS,
    "power.": test_power.FAULTS,
    "processes.": test_processes.FAULTS,
    "": test_memcheck.DEFECTS,
}
#: Two plugins. Each defect of one is in another op.
PLUGINS: tuple[tuple[str, ...], ...] = (
    (
        "failing.listing-ends",
        "overlaps:delete_file",
        "power.syncs-no-directory",
        "processes.reads-on",
        "branches-on-garbage:path_exists",
        "reads-behind:stat",
        "writes-garbage:rename_file",
    ),
    ("frees-otherwise:get_children", "killed.append-writes-anew", "uses-freed:read"),
)


@pytest.mark.nightly
@pytest.mark.parametrize("tier", ["must", "full"])
@pytest.mark.parametrize("defects", PLUGINS, ids=["several", "others"])
def test_a_plugin_with_such_defects_conforms_on_a_good_day(tmp_path: Path, defects: tuple[str, ...], tier: str) -> None:
    given = ["--plugin=fakes/faulty", f"--env=TFFS_FAULT={','.join(defects)}", "--backing=file://{path}"]
    done = run(tmp_path, *given, f"--tier={tier}")
    assert done.returncode == 0, done.stdout
    assert [one for one in wrong(report(tmp_path)) if one[0] == "violation"] == []


@pytest.mark.parametrize("defect", [defect for defects in PLUGINS for defect in defects])
def test_a_condition_tells_it(defect: str) -> None:
    assert defect in {f"{prefix}{name}" for prefix, table in TOLD.items() for name in table}
