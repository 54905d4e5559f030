"""The JSON schema is that of the types, and says what they say; the page of the report has their keys."""

import functools
import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from tests.full_reports import full as full_report
from tests.records import report_of
from tffs_conformance.reports import json_schema
from tffs_conformance.reports.document import render, validate
from tffs_conformance.reports.errors import ReportError, WrongSchemaError
from tffs_conformance.reports.model.report import SCHEMA
from tffs_conformance.reports.model.verdicts import ClauseVerdict, Verdict
from tffs_conformance.reports.plain import digest_of

ROOT = Path(__file__).parent.parent
COMMITTED = ROOT / "reports" / "schema" / json_schema.FILE_NAME
COMMAND = "python -m tffs_conformance.reports.json_schema"


@functools.cache
def validator() -> Any:
    return jsonschema.Draft202012Validator(json.loads(COMMITTED.read_text()))


@functools.cache
def full() -> str:
    """A report that has every key there is."""
    return render(full_report())


def test_the_committed_schema_is_that_of_the_types() -> None:
    assert COMMITTED.read_text() == json_schema.text(), f"run: {COMMAND} > {COMMITTED.relative_to(ROOT)}"
    assert [path.name for path in COMMITTED.parent.iterdir()] == [json_schema.FILE_NAME]


def test_the_page_has_the_keys_of_the_types() -> None:
    page = (ROOT / "docs" / "report-keys.md").read_text()
    _, _, tables = page.partition(f"<!-- From here on: {COMMAND} --keys -->\n")
    assert tables == "\n".join(json_schema.keys()) + "\n", f"put what {COMMAND} --keys prints below the comment"


def test_the_schema_is_one_names_its_version_and_says_what_every_object_is() -> None:
    validator().check_schema(validator().schema)
    assert validator().schema["$id"] == validator().schema["properties"]["schema"]["const"] == SCHEMA
    for definition in (validator().schema, *validator().schema["$defs"].values()):
        assert definition["description"]
        assert "properties" not in definition or definition["additionalProperties"] is False


def test_a_clause_can_have_every_verdict_of_a_check() -> None:
    assert {verdict.value for verdict in ClauseVerdict} - {verdict.value for verdict in Verdict} == {"unchecked"}
    assert {verdict.value for verdict in Verdict} < {verdict.value for verdict in ClauseVerdict}


def test_what_is_written_is_as_the_schema_says() -> None:
    validator().validate(json.loads(full()))
    validator().validate(json.loads(render(report_of(duration=None, left_out="all"))))
    validate(json.loads(full()))


def places(value: Any, place: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Every place in a document."""
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [place] * bool(place) + [found for key, item in inner for found in places(item, (*place, key))]


PLACES = places(json.loads(full()))
VALUES = st.sampled_from([None, True, -1, 7, 0.5, "", "x", "MUST", "conform", "\udcff", [], ["x"], {}, {"x": 1}])


#: Keys that are left out where there is nothing to say. Null is never written for them, and read as nothing to say.
LEFT_OUT = {
    key
    for definition in json_schema.schema()["$defs"].values()
    for key in definition.get("properties", {}).keys() - definition.get("required", ())
}


@settings(deadline=None)
@given(st.sampled_from(PLACES), VALUES, st.sampled_from(["replace", "remove", "add"]))
def test_what_the_schema_refuses_is_refused(place: tuple[Any, ...], value: Any, how: str) -> None:
    found = json.loads(full())
    holder = functools.reduce(lambda inner, key: inner[key], place[:-1], found)
    if how == "replace":
        holder[place[-1]] = value
    elif how == "remove":
        del holder[place[-1]]
    elif isinstance(holder, dict):
        holder["x"] = value
    else:
        holder.append(value)
    if "cases" in found and "end" in found and isinstance(found["end"], dict) and "sha256" in found["end"]:
        found["end"]["sha256"] = digest_of(found["cases"])
    assume(not validator().is_valid(found))
    assume(how != "replace" or value is not None or place[-1] not in LEFT_OUT)
    with pytest.raises(ReportError):
        validate(found)


@pytest.mark.parametrize("level", ["must", "MUST "])
def test_an_enumeration_takes_its_values_only(level: str) -> None:
    found = json.loads(full())
    found["clauses"]["read.hint"]["level"] = level
    assert not validator().is_valid(found)
    with pytest.raises(WrongSchemaError, match="Invalid enum value"):
        validate(found)
