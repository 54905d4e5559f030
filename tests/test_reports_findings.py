"""The cause is told before what follows from it, and once."""

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
from tffs_conformance.reports.forms import github, html, markdown, terminal
from tffs_conformance.reports.model.consequences import findings
from tffs_conformance.reports.model.consequences import told as split
from tffs_conformance.reports.model.findings import by_clause
from tffs_conformance.reports.model.records import CaseRecord, CheckRecord, Ending
from tffs_conformance.reports.model.report import Report
from tffs_conformance.reports.model.verdicts import Verdict
from tffs_conformance.suite.contract import catalogue

#: A clause of each of several ops and of none, in the order of the catalogue.
PLAIN = {
    "met.succeeds": clause("MUST", "read", "met", order=1),
    "rename.keeps": clause("MUST", "rename-copy", "rename", order=2),
    "rename.code": clause("MUST", "rename-copy", "rename", order=2),
    "list.names": clause("MUST", "listing", "list", order=3),
    "all.tidy": clause("MUST", "robustness", None, order=4),
    "load.works": clause("MUST", "registration", None, order=5),
}
#: What several ops answer in one situation, and one that has words of its own for it.
BELOW = {
    f"{op}.below-a-file": clause("MUST", "paths", op, rule=f"{does}, where a parent is a file, answers {code}.")
    for op, does, code in (
        ("stat", "Asking", "X"),
        ("delete_dir", "Deleting", "X"),
        ("create_dir", "Creating", "X"),
        ("copy_file", "Copying", "Y"),
    )
}
TOLD = CLAUSES | PLAIN | BELOW | {
    "a.early": clause("MUST", "read", "read", order=3),
    "b.late": clause("MUST", "read", "read", order=7),
    # An op whose clause stands behind another one in the order.
    "late.succeeds": clause("MUST", "read", "read", order=9),
    "get.lists": clause("MUST", "listing", "get_children"),
    "make.makes": clause("MUST", "listing", "create_dir"),
    "rename.moves": clause("MUST", "listing", "rename_file"),
    "size.is-length": clause("MUST", "paths", "get_file_size"),
    "is_directory.true": clause("MUST", "listing", "is_directory"),
    "many.agree": clause("MUST", "paths", None),
    "stat.succeeds": clause("MUST", "paths", "stat", rule="stat answers OK."),
    "delete_dir.succeeds": clause("MUST", "paths", "delete_dir", rule="delete_dir answers OK."),
}  # fmt: skip


def seen(
    name: str,
    checks: Sequence[str],
    about: Sequence[str] | None = None,
    calls: int = 3,
    ended: str = Ending.WHOLE,
    **more: Any,
) -> CaseRecord:
    """A case with these checks, as findings.toml writes them, and so many calls if it has no `ops`."""
    made = [check(one) for one in checks]
    broken = [one.clause for one in made if one.verdict is Verdict.VIOLATION]
    given = {"clauses": tuple(broken if about is None else about), "ops": ("call",) * calls}
    return record(name, Verdict.VIOLATION, *made, ended=Ending(ended), **(given | more))


def check(said: str) -> CheckRecord:
    """A check, from `clause: expected -> got`, from `clause: expected` if it was met, or from a broken clause."""
    name, _, values = said.partition(": ")
    expected, is_broken, got = (values or "x -> y").partition(" -> ")
    return CheckRecord(name, Verdict.VIOLATION if is_broken else Verdict.CONFORM, expected, got or expected)


def report(*cases: CaseRecord) -> Report:
    return report_of(*cases, clauses=TOLD, duration=None)


#: Cases and findings, by what decides which are found.
FOUND: dict[str, Any] = tomllib.loads(Path(__file__).with_name("findings.toml").read_text())


@pytest.mark.parametrize("row", FOUND.values(), ids=FOUND)
def test_findings_are_causes_with_their_consequences(row: dict[str, Any]) -> None:
    alike = {"ops": row["ops"]} if "ops" in row else {}
    cases = [seen(str(number), **(alike | one)) for number, one in enumerate(row["cases"])]
    told = [
        one.clause + (f" ({' '.join(one.beside)})" if one.beside else "") + "".join(f" = {op}" for op in one.alike)
        for one in findings(report(*cases))
    ]
    assert ", ".join(told) == row["found"]


#: The cases of one finding in the order in which they are shown, by what decides it.
SHOWN_FIRST = {
    "the plainest stimulus": [
        seen("a", ["a.early"], ops=("1",)),
        seen("b", ["a.early"], ops=("1",)),
        seen("c", ["a.early"], ops=("1", "2")),
        seen("d", ["a.early"], ("a.early", "b.late"), ops=("1",)),
    ],
    "the tier smoke": [
        seen("e", ["a.early"], ("a.early", "b.late"), tier="".join(["smo", "ke"])),
        seen("a", ["a.early"], calls=1),
    ],
    "about the clause, or its op": [
        seen("c", ["read.succeeds"], ("stat.odd", "init.once", "read.succeeds")),
        seen("b", ["read.succeeds"], ("stat.odd", "read.hint")),
        seen("a", ["read.succeeds"], ("stat.odd",)),
    ],
    "the smallest size": [seen(f"sizes[{size}]", ["list.names"]) for size in ("4097", "65536", "1048575")],
    "the smallest size in bytes": [
        seen("whole", ["list.names: data=b'x'… (131071 bytes) -> data=b'y'"], calls=1),
        seen("blocks", ["list.names: data=b'x'… (196608 bytes) -> data=b'y'"], calls=0),
        seen("part", ["list.names: data=b'x'… (5242880 bytes) -> data=b'y'"], calls=2),
    ],
    "the shortest number": [
        seen(f"of-{size}", [f"list.names: length={size} -> length=4096"]) for size in (4097, 65537, 5242880)
    ],
    "the shortest number that is claimed": [
        seen(f"of-{size}", [f"list.names: length={size}, as the profile claims visibility = append -> length=4096"])
        for size in (4097, 65537, 5242880)
    ],
    "the fewest calls of cases about something else": [
        seen("short", ["list.names"], ("met.succeeds", "all.tidy"), calls=11),
        seen("few", ["list.names"], ("all.tidy",), calls=13),
    ],
    "spoilt by no other op": [seen("b", ["stat.odd"]), seen("a", ["stat.odd"], calls=0, cause="read")],
}


@pytest.mark.parametrize("cases", SHOWN_FIRST.values(), ids=SHOWN_FIRST)
def test_cases_of_a_finding_are_in_order(cases: list[CaseRecord]) -> None:
    for turned in (cases, cases[::-1]):
        (found,) = findings(report(*turned))
        assert list(found.cases) == [case.id for case in cases]


def test_checks_that_stand_for_several_count_as_such() -> None:
    many = CheckRecord("a.early", Verdict.VIOLATION, "x", "y", times=300)
    (found,) = findings(report(record("1", Verdict.VIOLATION, many), seen("2", ["a.early"])))
    assert found.times == 301


def test_other_verdicts_are_grouped_by_clause_alone() -> None:
    warned = [record(n, Verdict.WARNING, CheckRecord(n, Verdict.WARNING, "x", "y")) for n in ("b.late", "a.early")]
    assert [one.clause for one in by_clause(report(*warned), Verdict.WARNING)] == ["a.early", "b.late"]
    assert findings(report(*warned)) == []
    assert by_clause(report(seen("1", ["a.early"])), Verdict.WARNING) == []


def test_registration_comes_before_set_up_and_set_up_before_the_rest() -> None:
    names = ["registration.loads", "robustness.no-crash", "create_dir.succeeds", "new_writable_file.succeeds",
             "append.succeeds", "read.succeeds", "read.ok-is-exactly-n", "copy_file.succeeds",
             "robustness.no-leak"]  # fmt: skip
    assert sorted(names, key=catalogue.order) == names


def test_each_clause_has_a_place_and_each_pattern_a_clause() -> None:
    places = {name: catalogue.order(name) for name in catalogue.catalogue()}
    patterns = catalogue.causes_first()
    assert [name for name, place in places.items() if place == len(patterns)] == []
    assert [pattern for place, pattern in enumerate(patterns) if place not in places.values()] == []


def test_cases_that_a_cause_spoilt_are_told_where_it_is_told() -> None:
    found = report(
        seen("1", ["late.succeeds", "a.early"]),
        seen("2", ["a.early"], cause="late"),
        seen("3", ["a.early"], cause="late"),
    )
    (cause,) = findings(found)
    assert (cause.beside, cause.spoilt) == (["a.early"], {"2", "3"})
    said = " ".join(line for line, _ in terminal.summary(found, width=100, directory=Path("there")))
    assert "a.early, broken in no other cases but 2 cases that read spoilt" in said


def test_every_form_tells_the_ops_that_do_the_same(tmp_path: Path) -> None:
    ops = ("stat", "delete_dir", "create_dir")
    found = report(*(seen(op, [f"{op}.below-a-file: code=X -> code=NOT_FOUND"]) for op in ops))
    lines = "\n".join(text for text, _ in terminal.summary(found, width=100, directory=tmp_path))
    assert lines.count("VIOLATION ") == 1
    assert "\n  others    the same for 2 more ops: delete_dir, create_dir\n" in lines
    assert "the same for 2 more ops: `delete_dir, create_dir`" in markdown.render(found)
    page = html.render(found)
    assert "the same for 2 more ops: " in page
    assert page.count('class="finding"') == 1
    assert "the same for 2 more ops: delete_dir, create_dir" in next(github.annotations([found]))


#: A listing that lacks a directory, which a clause of SHOULD shows as well.
MAKING = ("create_dir('x/a') -> OK", "get_children('x') -> OK")
LISTING = seen("1", ["get.lists: entries=['a', 'b'] -> entries=['b']"], ops=MAKING)
HINT = CheckRecord("read.hint", Verdict.WARNING, "tree has {'a': None}", "tree has {}")
HINTED = record("2", Verdict.WARNING, HINT, ops=MAKING)


def test_warning_that_violation_explains_is_under_it() -> None:
    violations, warnings = split(report(LISTING, HINTED))
    assert [(one.clause, one.beside) for one in violations] == [("get.lists", ["read.hint"])]
    assert warnings == []


def test_every_form_has_the_same_headlines(tmp_path: Path) -> None:
    found = report(LISTING, HINTED, record("3", Verdict.WARNING, CheckRecord("stat.odd", Verdict.WARNING, "x", "y")))
    lines = "\n".join(text for text, _ in terminal.summary(found, width=100, directory=tmp_path))
    assert re.findall(r"^(?:VIOLATION|WARNING) (\S+)", lines, re.MULTILINE) == ["get.lists", "stat.odd"]
    said = markdown.render(found)
    assert re.findall(r"^### \d+\. `(.+)`$", said, re.MULTILINE) == ["get.lists"]
    assert re.findall(r"^- `(.+?)` \(\d+ checks?\)", said, re.MULTILINE) == ["stat.odd"]
    _, _, listed = html.render(found).partition('id="warnings"')
    listed, _, _ = listed.partition("</section>")
    assert "stat.odd" in listed
    assert "read.hint" not in listed


TREE, CODE = "tree has {'a': b''} -> tree has {}", "code=OK -> code=NOT_FOUND"
CASES = st.fixed_dictionaries(
    {
        "checks": st.lists(
            st.tuples(st.sampled_from(sorted(PLAIN)), st.sampled_from((TREE, CODE, "x -> y", "x -> z"))),
            min_size=1,
            max_size=4,
            unique_by=lambda one: one[0],
        ).map(lambda drawn: [": ".join(one) for one in drawn]),
        "about": st.lists(st.sampled_from(sorted(PLAIN)), min_size=1, max_size=3, unique=True),
        "calls": st.integers(0, 9),
        "cause": st.sampled_from((None, "met", "rename")),
    }
)


@given(st.lists(CASES, max_size=6))
def test_broken_clauses_are_found_once_and_under_their_kind(drawn: list[dict[str, Any]]) -> None:
    """What is stored is under no return code of another op."""
    cases = [seen(str(number), **one) for number, one in enumerate(drawn)]
    found = findings(report(*cases))
    shown: dict[str, set[str]] = {}
    for case in cases:
        for check in case.checks:
            if check.verdict is Verdict.VIOLATION:
                shown.setdefault(check.clause, set()).add(check.expected)
    assert Counter(name for one in found for name in (one.clause, *one.beside)) == Counter(shown.keys())
    spoilt_by = {f"{case.cause}.succeeds" for case in cases if case.cause}
    for one in found:
        if shown[one.clause] == {"code=OK"} and one.clause not in spoilt_by:
            assert all(shown[name] != {"tree has {'a': b''}"} for name in one.beside)
