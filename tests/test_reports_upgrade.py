"""Reports of earlier versions are read as if this version had written them, those of before 1.0.0 are not read."""

import json

import pytest
from msgspec.structs import replace

from tests.records import COSTS, HEADER, case, report_of
from tests.test_reports_schema import full
from tffs_conformance.reports.document import render, validate
from tffs_conformance.reports.errors import WrongSchemaError
from tffs_conformance.reports.model.report import SCHEMA, Report

BEFORE = "the report follows {}, which tffs-conformance 1.0.0 reads"
NEWER = f"the report follows {{}}, this version reads {SCHEMA} and earlier ones from .*3.0"


@pytest.mark.parametrize(
    ("name", "said"),
    [
        *((f"tffs-conformance/report/{version}", BEFORE) for version in ("1", "2.0", "2.1", "2.2", "2.3")),
        *((name, NEWER) for name in ("tffs-conformance/report/2.4", "tffs-conformance/report/5.0", "another/report/1")),
    ],
)
def test_what_cannot_be_read_is_named_with_its_reader(name: str, said: str) -> None:
    with pytest.raises(WrongSchemaError, match=said.format(name)):
        validate(json.loads(full()) | {"schema": name})


def test_costs_of_3_0_become_one_table() -> None:
    now = json.loads(full())
    more = {"ratio": 2, "ratio_least": 1.5, "left_out": "it was late"}
    gone = {"findings": ["listing is slow"], "memory": [], "counted": "calls", "called": [], "seconds": 5}
    old_costs = {"storage": "a disk", "figures": [one | more for one in now["costs"]["figures"]]} | gone
    costs = validate(now | {"schema": "tffs-conformance/report/3.0", "costs": old_costs}).costs
    assert costs is not None
    assert costs.figures == COSTS.figures
    assert costs.unmeasured == tuple(f"{one.what}: it was late" for one in COSTS.figures)


@pytest.mark.parametrize("more", [{}, {"captured": [], "remedy": "hide them"}])
@pytest.mark.parametrize("version", ["3.0", "3.1"])
def test_earlier_report_is_read_without_captured_symbols(version: str, more: dict[str, object]) -> None:
    now = json.loads(full())
    target = now["target"] | {"abi": now["target"]["abi"] | more}
    then = now | {"schema": f"tffs-conformance/report/{version}", "target": target}
    assert validate(then) == validate(now)


@pytest.mark.parametrize("version", ["3.0", "3.1", "4.0"])
def test_earlier_tier_has_the_name_of_today(version: str) -> None:
    def made(tier: str) -> Report:
        good = case("read/a", ("read.succeeds", "conform"), tier=tier)
        return report_of(good, suite=replace(HEADER.suite, tier=tier))

    then = json.loads(render(made("must"))) | {"schema": f"tffs-conformance/report/{version}"}
    assert validate(then) == made("quick")
