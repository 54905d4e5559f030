"""Reports of earlier versions are read as if this version had written them.

`tests/reports/report-of-0.1.0.json` was written by 0.1.0: cases of its runs on a wrong plugin and on an object store,
with the clauses that they name, two claims and a waiver.
"""

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from tffs_conformance.cli import main
from tffs_conformance.reports.document import load, render, validate, write
from tffs_conformance.reports.errors import AlteredReport, WrongSchema
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
    for document in (now, before):
        del document["schema"]
        document["suite"] = {key: document["suite"][key] for key in old()["suite"]}
    assert now == before


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
    done = CliRunner().invoke(main, ["report", "show", str(OLD)])
    assert done.exit_code == 0, done.output
    assert "not conformant: 2 violations" in done.output
    assert "19 cases; checks: 58 conform" in done.output


@pytest.mark.parametrize("change", [{"suite": 3}, {"clauses": []}, {"clauses": {"a": 1}}, {"suite": {}}, {"extra": 1}])
def test_what_was_no_report_then_is_none_now(change: dict[str, Any]) -> None:
    with pytest.raises(WrongSchema):
        validate(old() | change)


def test_it_is_held_to_its_end_marker_and_to_itself() -> None:
    found = old()
    found["cases"][0]["stimulus"] += "."
    with pytest.raises(AlteredReport, match="end marker"):
        validate(found)
    with pytest.raises(AlteredReport, match="the target is called conformant"):
        validate(old() | {"verdict": "conformant"})
    found = old()
    found["counts"]["conform"] += 1
    with pytest.raises(AlteredReport, match="counts"):
        validate(found)
    found = old()
    found["claims"][0]["checks"] = {"conform": 1}
    with pytest.raises(AlteredReport, match="what it says of the claim 'append'"):
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


@pytest.mark.parametrize("name", ["tffs-conformance/report/2.4", "tffs-conformance/report/3.0", "another/report/1"])
def test_a_newer_report_is_told_apart(name: str) -> None:
    with pytest.raises(WrongSchema, match=f"the report follows {name}, this version reads {SCHEMA} and earlier ones"):
        validate(old() | {"schema": name})
