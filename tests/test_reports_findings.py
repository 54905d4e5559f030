"""Findings: which breaches are one, which are listed under another, and what comes first."""

import json
import re
import tomllib
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.records import CLAUSES, clause, record, report_of
from tffs_conformance.reports.forms import github, html, markdown, sarif, terminal
from tffs_conformance.reports.model.findings import Finding, Findings
from tffs_conformance.reports.model.records import CaseRecord, CheckRecord, StatementKind
from tffs_conformance.reports.model.verdicts import Verdict
from tffs_conformance.suite.contract import catalogue
from tffs_conformance.suite.judge.findings import conclude

#: A clause of each of several ops and of none, in the order of the catalogue.
PLAIN = {
    "met.succeeds": clause("MUST", "read", "met", order=1),
    "rename.keeps": clause("MUST", "rename-copy", "rename", order=2),
    "rename.code": clause("MUST", "rename-copy", "rename", order=2),
    "list.names": clause("MUST", "listing", "list", order=3),
    "all.tidy": clause("MUST", "robustness", None, order=4),
    "load.works": clause("MUST", "registration", None, order=5),
}
TOLD = CLAUSES | PLAIN | {
    "a.early": clause("MUST", "read", "read", order=3),
    "b.late": clause("MUST", "read", "read", order=7),
    "late.succeeds": clause("MUST", "read", "read", order=9),
    "many.agree": clause("MUST", "paths", None),
    "append.writes": clause("MUST", "write", "append"),
    "close.keeps": clause("MUST", "write", "close"),
    **{f"{op}.{name}": clause("MUST", "paths", op) for op in ("stat", "delete_dir", "create_dir")
       for name in ("succeeds", "below-a-file")},
}  # fmt: skip
#: A breach, as findings.toml writes it: its clause, and the op and what it does wrong.
WRITTEN = re.compile(r"(?P<clause>[^:]+)(?:: (?P<op>\S+) (?P<what>.+))?")


def seen(
    name: str, checks: Sequence[str], about: Sequence[str] | None = None, calls: int = 3, **more: Any
) -> CaseRecord:
    """A case with these breaches, and so many calls if it has no `ops`."""
    made = [check(one) for one in checks]
    given = {"clauses": tuple(about or [one.clause for one in made]), "ops": ("call",) * calls}
    return record(name, Verdict.VIOLATION, *made, **(given | more))


def check(said: str) -> CheckRecord:
    """A breach."""
    parts = WRITTEN.fullmatch(said)
    assert parts is not None
    what = parts["what"] or ""
    code = what if what.isupper() else None
    kind = StatementKind.CODE if code else StatementKind(what) if what else None
    return CheckRecord(parts["clause"], Verdict.VIOLATION, "x", "y", op=parts["op"], kind=kind, code=code)


def found_in(*cases: CaseRecord) -> Findings:
    return conclude(report_of(*cases, clauses=TOLD, duration=None))


def written(one: Finding) -> str:
    """A finding as findings.toml writes it."""
    others, under = one.clauses[1:], list(dict.fromkeys(check.clause for _, check in one.folded))
    name = f"{one.op} {one.does}" if one.checks[0][1].op else one.clause
    more = [f" [{' '.join(others)}]"] * bool(others) + [f" ({' '.join(under)})"] * bool(under)
    return name + "".join([*more, *(f" = {op}" for op in one.alike)])


#: Cases and findings, by what decides which are found.
FOUND: dict[str, Any] = tomllib.loads(Path(__file__).with_name("findings.toml").read_text())


@pytest.mark.parametrize("row", FOUND.values(), ids=FOUND)
def test_findings_are_ops_and_what_they_do_wrong(row: dict[str, Any]) -> None:
    cases = [seen(one.pop("id", str(number)), **one) for number, one in enumerate(map(dict, row["cases"]))]
    assert ", ".join(map(written, found_in(*cases).violations)) == row["found"]


#: The cases of one finding in the order in which they are shown, by what decides it.
SHOWN_FIRST = {
    "the fewest calls": [seen("b", ["a.early"], calls=1), seen("a", ["a.early"], calls=2)],
    "about the clause": [
        seen("c", ["read.succeeds"], ("read.succeeds",), calls=9),
        seen("a", ["read.succeeds"], ("stat.odd",), calls=1),
    ],
    "named after the op": [seen("b[read]", ["a.early: read X"]), seen("a[stat]", ["a.early: read X"])],
    "the smallest number": [seen(f"sizes[{size}]", ["list.names"]) for size in ("4097", "65536", "1048575")],
    "spoilt by no other op": [seen("b", ["stat.odd"]), seen("a", ["stat.odd"], calls=0, cause="read")],
}


@pytest.mark.parametrize("cases", SHOWN_FIRST.values(), ids=SHOWN_FIRST)
def test_cases_of_a_finding_are_in_order(cases: list[CaseRecord]) -> None:
    for turned in (cases, cases[::-1]):
        (found,) = found_in(*turned).violations
        assert list(found.cases) == [case.id for case in cases]


def test_warnings_and_plainest_checks() -> None:
    rows = (("1", "b.late", "x"), ("2", "a.early", "longer"), ("3", "a.early", "x"))
    found = found_in(*(record(n, Verdict.WARNING, CheckRecord(a, Verdict.WARNING, x, "y")) for n, a, x in rows))
    assert {name: case.id for name, (case, _) in found.plainest.items()} == {"a.early": "3", "b.late": "1"}
    assert found.violations == []
    # Checks that stand for several count as that many.
    many = CheckRecord("a.early", Verdict.VIOLATION, "x", "y", times=300)
    (one,) = found_in(record("1", Verdict.VIOLATION, many), seen("2", ["a.early"])).violations
    assert one.times == 301


def test_each_clause_has_a_place_and_each_pattern_a_clause() -> None:
    # Registration comes first, then set-up, and then the rest.
    names = ["registration.loads", "robustness.no-crash", "create_dir.succeeds", "new_writable_file.succeeds",
             "append.succeeds", "read.succeeds", "read.ok-is-exactly-n", "copy_file.succeeds",
             "robustness.no-leak"]  # fmt: skip
    assert sorted(names, key=catalogue.order) == names
    places = {name: catalogue.order(name) for name in catalogue.catalogue()}
    patterns = catalogue.causes_first()
    unplaced = [name for name, place in places.items() if place == len(patterns)]
    assert not unplaced, f"add patterns for these to suite/contract/order.toml, causes first: {unplaced}"
    unused = [pattern for place, pattern in enumerate(patterns) if place not in places.values()]
    assert not unused, f"delete these from suite/contract/order.toml: {unused}"


def lines_of(found: Findings, width: int = 100, verbosity: int = 0) -> str:
    shown = terminal.summary(found, width=width, directory=None, verbosity=verbosity)
    return "\n".join(line for line, _ in shown)


def test_what_is_under_a_finding_is_counted_and_listed_in_full() -> None:
    names = [*PLAIN, "a.early", "b.late", "many.agree"]
    under = [f"{name}: other{k} returned" for k, name in enumerate(names)]
    found = found_in(seen("1", ["late.succeeds: made X", *under]))
    text = [lines_of(found, 2000, verbosity) for verbosity in (0, 1)]
    count = sum(name != "late.succeeds" for name in names)
    assert f"1 finding, with {count} checks of other ops under them" in text[0]
    for whole in (text[1], markdown.render(found), html.render(found)):
        assert f"{count} checks in the same cases" in whole
        assert all(name in whole for name in names)


def test_every_form_tells_the_ops_that_do_the_same() -> None:
    ops = ("stat", "delete_dir", "create_dir")
    found = found_in(*(seen(f"below[{op}]", [f"{op}.below-a-file: {op} X"]) for op in ops))
    lines = lines_of(found)
    assert lines.count("VIOLATION ") == 1
    assert "\n  others    the same for 2 more ops: delete_dir, stat (2 checks)\n" in lines
    assert "the same for 2 more ops: `delete_dir`, stat" in markdown.render(found)
    page = html.render(found)
    assert "the same for 2 more ops: " in page
    assert page.count('class="finding"') == 1
    assert "the same for 2 more ops: delete_dir, stat (2 checks)" in next(github.annotations([found]))
    assert len(json.loads(sarif.render(found))["runs"][0]["results"]) == len(ops)


LISTING = seen("1", ["list.names: list names"])
HINT = CheckRecord("read.hint", Verdict.WARNING, "x", "y", op="list", kind=StatementKind.NAMES)
HINTED = record("2", Verdict.WARNING, HINT)


def test_every_form_has_the_same_headlines() -> None:
    # A warning of the same op and kind is no finding of its own.
    joined = found_in(LISTING, HINTED)
    assert [(one.clause, one.beside) for one in joined.violations] == [("list.names", ["read.hint"])]
    assert joined.warnings == []
    found = found_in(LISTING, HINTED, record("3", Verdict.WARNING, CheckRecord("stat.odd", Verdict.WARNING, "x", "y")))
    lines = lines_of(found)
    assert re.findall(r"^(?:VIOLATION|WARNING) ([\w.-]+)", lines, re.MULTILINE) == ["list.names", "stat.odd"]
    said = markdown.render(found)
    assert re.findall(r"^### \d+\. `(.+?)`", said, re.MULTILINE) == ["list.names"]
    assert re.findall(r"^- `(.+?)` \(\d+ checks?\)", said, re.MULTILINE) == ["stat.odd"]
    _, _, listed = html.render(found).partition('id="warnings"')
    listed, _, _ = listed.partition("</section>")
    assert "stat.odd" in listed
    assert "read.hint" not in listed


OPS, KINDS = ("met", "read", "stat", "list"), ("X", "Y", "names", "content", "leak", "crash")
PARTS = st.tuples(*map(st.sampled_from, (sorted(TOLD), OPS, KINDS)))
CASES = st.fixed_dictionaries(
    {
        "checks": st.lists(PARTS.map("{0[0]}: {0[1]} {0[2]}".format), min_size=1, max_size=4),
        "calls": st.integers(0, 9),
        "cause": st.sampled_from((None, *OPS)),
    }
)


@given(st.lists(CASES, max_size=6))
def test_each_breach_is_in_one_finding_and_the_independent_ones_under_none(drawn: list[dict[str, Any]]) -> None:
    cases = [seen(str(number), **one) for number, one in enumerate(drawn)]
    found = found_in(*cases).violations
    there = Counter((case.id, check) for one in found for case, check in (*one.checks, *one.folded))
    alike = {op for one in found for op in one.alike}
    assert there <= Counter((case.id, check) for case in cases for check in case.checks)
    assert alike or there.total() == sum(len(case.checks) for case in cases)
    independent = (StatementKind.LEAK, StatementKind.CRASH)
    assert not any(check.kind in independent for one in found for _, check in one.folded)
