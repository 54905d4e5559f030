"""Reports of earlier versions are read as if this version had written them.

`tests/reports/report-of-0.1.0.json` was written by 0.1.0: cases of its runs on a wrong plugin and on an object store,
with the clauses that they name, two claims and a waiver.
"""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from tests.commands import output_of
from tests.records import COSTS
from tests.test_reports_schema import full
from tffs_conformance.reports.document import load, render, validate, write
from tffs_conformance.reports.errors import AlteredReportError, WrongSchemaError
from tffs_conformance.reports.model.header import digest
from tffs_conformance.reports.model.report import SCHEMA

OLD = Path(__file__).parent / "reports" / "report-of-0.1.0.json"


def old() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(OLD.read_text())
    return found


def test_a_report_of_0_1_0_is_read() -> None:
    found, before = load(OLD), old()
    assert before["schema"] == "tffs-conformance/report/1"
    assert (found.schema, found.suite.version, found.contract) == (SCHEMA, "0.1.0", "tensorflow-2.21/1")
    assert (found.verdict, found.reason) == ("not conformant", "2 violations")
    assert (found.suite.commit, found.suite.catalogue) == ("unknown", digest(before["clauses"]))
    assert [entry.state for entry in found.waivers] == ["used"]
    assert {claim.name for claim in found.claims} == {"append", "visibility"}
    assert any("\udcff" in case.output or "\udcff" in "".join(case.ops) or "\\udc" in json.dumps(each)
               for case, each in zip(found.cases, before["cases"], strict=True))  # fmt: skip


def test_nothing_that_it_says_is_lost() -> None:
    now = json.loads(render(load(OLD)))
    before = old()
    assert {key: value for key, value in now["suite"].items() if key not in before["suite"]}.keys() == {
        "commit",
        "catalogue",
    }
    more = now["counts"]
    for document in (now, before):
        del document["schema"]
        document["suite"] = {key: document["suite"][key] for key in old()["suite"]}
        del document["end"]
    for then, today in zip(before["cases"], now["cases"], strict=True):
        early = then["verdict"] in ("absent", "not run")
        # In a case that ended early what conformed may have been a call that only prepared the stimulus.
        stay = [check for check in then["checks"] if not early or check["verdict"] != "conform"]
        assert today["checks"][: len(stay)] == stay
        rest = today["checks"][len(stay) :]
        assert all(check.keys() == {"clause", "verdict"} for check in rest)
        assert {check["clause"] for check in rest} == {*then["clauses"]} - {check["clause"] for check in stay}
        assert {check["verdict"] for check in rest} <= {then["verdict"], "not run", "does not apply"}
        assert (today.pop("ended", "whole") == "whole") is not early
        del today["checks"], then["checks"]
    assert more.pop("does not apply") == sum(each["counts"]["does not apply"] for each in now["classes"].values())
    for then, today in ((before, now), *pairs(before, now, "classes"), *pairs(before, now, "clauses")):
        counts, again = then.pop("counts"), today.pop("counts")
        assert all(counts[verdict] == again[verdict] for verdict in SEEN)
        assert counts["conform"] - again["conform"] in (0, 1)
    for then, today in pairs(before, now, "clauses"):
        assert then["verdict"] == today["verdict"] or today["verdict"] in ("does not apply", "not run")
        del today["verdict"], then["verdict"]
    assert (before.pop("executed"), now.pop("executed")) == ({"cases": 16, "must": 64}, {"cases": 16, "must": 63})
    for then, today in zip(before["claims"], now["claims"], strict=True):
        assert {verdict: today["checks"].get(verdict) for verdict in then["checks"]} == then["checks"]
        del today["checks"], then["checks"]
    assert now == before


#: What a check says of an answer, whichever version counted it.
SEEN = ("tolerated", "informational", "warning", "violation", "waived")


def pairs(before: dict[str, Any], now: dict[str, Any], key: str) -> list[tuple[dict[str, Any], dict[str, Any]]]:
    """The accounts of each class or clause, then and now."""
    assert before[key].keys() == now[key].keys()
    return [(before[key][name], now[key][name]) for name in before[key]]


@pytest.mark.parametrize("key", ["claims", "waivers", "services"])
def test_the_first_reports_of_its_version_lacked_keys(key: str) -> None:
    before = old()
    del before[key]
    assert not getattr(validate(before), key)


def test_it_can_be_written_again_as_what_it_is_now(tmp_path: Path) -> None:
    found = load(OLD)
    path = write(found, tmp_path)
    assert json.loads(path.read_text())["schema"] == SCHEMA
    assert load(path) == found


def test_it_is_shown() -> None:
    done = output_of("report", "show", OLD)
    assert "not conformant: 2 violations" in done
    assert "19 cases; checks: 57 conform" in done
    assert re.search(r"checks: 57 conform, .*, \d+ does not apply\n", done)


@pytest.mark.parametrize("change", [{"suite": 3}, {"clauses": []}, {"clauses": {"a": 1}}, {"suite": {}}, {"extra": 1}])
def test_what_was_no_report_then_is_none_now(change: dict[str, Any]) -> None:
    with pytest.raises(WrongSchemaError):
        validate(old() | change)


def test_it_is_held_to_its_end_marker_and_to_itself() -> None:
    found = old()
    found["cases"][0]["stimulus"] += "."
    with pytest.raises(AlteredReportError, match="end marker"):
        validate(found)
    with pytest.raises(AlteredReportError, match="the target is called conformant"):
        validate(old() | {"verdict": "conformant"})
    for verdict, by in (("violation", 1), ("violation", -1), ("tolerated", 1), ("waived", -1), ("conform", -3)):
        found = old()
        for holder, what in (
            (found, "what it counts"),
            (found["classes"]["write"], "what it counts for the class 'write'"),
            (found["clauses"]["append.succeeds"], "what it counts for the clause 'append.succeeds'"),
        ):
            counts = dict(holder["counts"])
            if counts[verdict] + by < 0:
                continue
            holder["counts"][verdict] += by
            with pytest.raises(AlteredReportError, match=f"{what} is not what its checks say"):
                validate(found)
            holder["counts"] = counts
    found = old()
    found["claims"][0]["checks"] = {"violation": 1}
    with pytest.raises(AlteredReportError, match="what it counts for the claim 'append' is not what its checks say"):
        validate(found)


def test_what_2_1_added_is_nothing_to_say_in_a_report_of_2_0() -> None:
    current = json.loads(render(load(OLD)))
    for facts in current["clauses"].values():
        assert "order" not in facts
    assert validate(current | {"schema": "tffs-conformance/report/2.0"}) == load(OLD)


def test_what_2_2_added_is_left_out_in_a_report_of_2_1() -> None:
    current = json.loads(render(load(OLD)))
    assert "abi" not in current["target"]
    assert validate(current | {"schema": "tffs-conformance/report/2.1"}) == load(OLD)


@pytest.mark.parametrize("name", ["tffs-conformance/report/2.4", "tffs-conformance/report/5.0", "another/report/1"])
def test_a_newer_report_is_told_apart(name: str) -> None:
    with pytest.raises(
        WrongSchemaError, match=f"the report follows {name}, this version reads {SCHEMA} and earlier ones"
    ):
        validate(old() | {"schema": name})


def test_costs_of_3_0_become_one_table() -> None:
    now = json.loads(full())
    more = {"ratio": 2, "ratio_least": 1.5, "left_out": "it was late"}
    gone = {"findings": ["listing is slow"], "memory": [], "counted": "calls", "called": [], "seconds": 5}
    old_costs = {"storage": "a disk", "figures": [one | more for one in now["costs"]["figures"]]} | gone
    costs = validate(now | {"schema": "tffs-conformance/report/3.0", "costs": old_costs}).costs
    assert costs is not None
    assert costs.figures == COSTS.figures
    assert costs.unmeasured == tuple(f"{one.what}: it was late" for one in COSTS.figures)


def test_a_report_of_3_0_is_read_as_it_stands() -> None:
    now = json.loads(full())
    then = now | {"schema": "tffs-conformance/report/3.0"}
    assert validate(then) == validate(now)


def test_captured_symbols_of_3_1_are_left_out() -> None:
    now = json.loads(full())
    abi = now["target"]["abi"] | {"captured": [], "remedy": "hide them"}
    then = now | {"schema": "tffs-conformance/report/3.1", "target": now["target"] | {"abi": abi}}
    assert validate(then) == validate(now)
