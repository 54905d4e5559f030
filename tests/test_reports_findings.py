"""The cause is told before what follows from it, and once."""

import re
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.records import CLAUSES, clause, record, report_of
from tffs_conformance.reports.forms import github, html, markdown, terminal
from tffs_conformance.reports.forms.terminal import summary
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
TOLD = CLAUSES | PLAIN | {
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
}  # fmt: skip


def broken(name: str, *clauses: str, **more: object) -> CaseRecord:
    checks = [CheckRecord(one, Verdict.VIOLATION, "x", "y") for one in clauses]
    return record(name, Verdict.VIOLATION, *checks, **more)


TREE = ("tree has {'a': b''}", "tree has {}")
CODE = ("code=OK", "code=NOT_FOUND")


def seen(name: str, *checks: tuple[str, tuple[str, str]], about: tuple[str, ...] | None = None, calls: int = 3,
         **more: object) -> CaseRecord:  # fmt: skip
    """A case with these checks, as a clause and what was expected and seen; it is about all of them, or `about`."""
    made = [CheckRecord(one, Verdict.VIOLATION, *values) for one, values in checks]
    declared = about if about is not None else tuple(one for one, _ in checks)
    return record(name, Verdict.VIOLATION, *made, clauses=declared, ops=("call",) * calls, **more)


def report(*cases: CaseRecord) -> Report:
    return report_of(*cases, clauses=TOLD, duration=None)


def told(*cases: CaseRecord) -> list[tuple[str, list[str]]]:
    """Each finding, and what is told with it."""
    return [(one.clause, one.beside) for one in findings(report(*cases))]


def test_causes_come_first_and_then_the_order_of_the_catalogue() -> None:
    found = report(broken("1", "b.late"), broken("2", "a.early"), broken("3", "stat.odd"), broken("4", "read.succeeds"))
    assert [one.clause for one in findings(found)] == ["read.succeeds", "stat.odd", "a.early", "b.late"]


def test_what_is_broken_only_beside_its_cause_is_told_with_it() -> None:
    assert told(broken("1", "b.late", "a.early"), broken("2", "a.early"), broken("3", "stat.odd")) == [
        ("stat.odd", []),
        ("a.early", ["b.late"]),
    ]


def test_what_a_case_found_first_is_told_with_what_it_found_after_that() -> None:
    assert told(broken("1", "b.late", "a.early")) == [("b.late", ["a.early"])]


def test_of_clauses_in_one_place_the_one_that_shows_more_often_is_first() -> None:
    assert told(broken("1", "read.succeeds", "stat.odd"), broken("2", "stat.odd")) == [("stat.odd", ["read.succeeds"])]


def test_what_is_broken_alone_as_well_is_a_finding_of_its_own() -> None:
    assert told(broken("1", "a.early", "b.late"), broken("2", "b.late")) == [("a.early", []), ("b.late", [])]


#: The cases of one finding in the order in which they are shown, by what decides it.
SHOWN_FIRST = {
    "the plainest stimulus": [
        broken("e", "a.early", ops=("1", "2", "3"), tier="".join(["smo", "ke"]), clauses=("a.early", "b.late")),
        broken("a", "a.early", ops=("1",)),
        broken("b", "a.early", ops=("1",)),
        broken("c", "a.early", ops=("1", "2")),
        broken("d", "a.early", ops=("1",), clauses=("a.early", "b.late")),
    ],
    "about the clause, or its op": [
        broken("c", "read.succeeds", clauses=("stat.odd", "init.once", "read.succeeds")),
        broken("b", "read.succeeds", clauses=("stat.odd", "read.hint")),
        broken("a", "read.succeeds", clauses=("stat.odd",)),
    ],
    "the smallest size": [seen(f"sizes[{size}]", ("list.names", CODE)) for size in ("4097", "65536", "1048575")],
    "the smallest size in bytes": [
        seen(name, ("list.names", (f"data=b'x'… ({size} bytes)", "data=b'y'")), calls=calls)
        for name, size, calls in (("whole", 131071, 1), ("blocks", 196608, 0), ("part", 5242880, 2))
    ],
    "the shortest number": [
        seen(f"of-{size}", ("list.names", (f"length={size}", "length=4096"))) for size in (4097, 65537, 5242880)
    ],
    "the shortest number that is claimed": [
        seen(f"of-{size}", ("list.names", (f"length={size}, as the profile claims visibility = append", "length=4096")))
        for size in (4097, 65537, 5242880)
    ],
    "the fewest calls of cases about something else": [
        seen("short", ("list.names", CODE), calls=11, about=("met.succeeds", "all.tidy")),
        seen("few", ("list.names", CODE), calls=13, about=("all.tidy",)),
    ],
    "spoilt by no other op": [broken("b", "stat.odd", ops=("1",)), broken("a", "stat.odd", cause="read")],
}


@pytest.mark.parametrize("cases", SHOWN_FIRST.values(), ids=SHOWN_FIRST)
def test_cases_of_a_finding_are_in_order(cases: list[CaseRecord]) -> None:
    for turned in (cases, cases[::-1]):
        (found,) = findings(report(*turned))
        assert list(found.cases) == [case.id for case in cases]


def test_checks_that_stand_for_several_count_as_such() -> None:
    many = CheckRecord("a.early", Verdict.VIOLATION, "x", "y", times=300)
    (found,) = findings(report(record("1", Verdict.VIOLATION, many), broken("2", "a.early")))
    assert found.times == 301


def test_other_verdicts_are_grouped_by_clause_alone() -> None:
    warned = [record(n, Verdict.WARNING, CheckRecord(n, Verdict.WARNING, "x", "y")) for n in ("b.late", "a.early")]
    assert [one.clause for one in by_clause(report(*warned), Verdict.WARNING)] == ["a.early", "b.late"]
    assert findings(report(*warned)) == []
    assert by_clause(report(broken("1", "a.early")), Verdict.WARNING) == []


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


def test_what_spoilt_the_set_up_is_told_before_what_was_seen_then() -> None:
    cause = broken("1", "late.succeeds", "a.early", cause="late")
    # Other cases do not say again that the op goes wrong.
    assert told(cause, broken("2", "a.early", cause="late")) == [("late.succeeds", ["a.early"])]


def test_cases_that_a_cause_spoilt_are_told_where_it_is_told() -> None:
    found = report(
        broken("1", "late.succeeds", "a.early"),
        broken("2", "a.early", cause="late"),
        broken("3", "a.early", cause="late"),
    )
    (cause,) = findings(found)
    assert (cause.beside, cause.spoilt) == (["a.early"], {"2", "3"})
    said = " ".join(line for line, _ in summary(found, width=100, directory=Path("there")))
    assert "a.early, broken in no other cases but 2 cases that read spoilt" in said


def test_what_spoilt_the_set_up_is_told_before_what_cases_are_about() -> None:
    # No case that it spoilt is about it, and a case about another op shows its consequence, too.
    cause = broken("1", "late.succeeds", cause="late", clauses=("read.succeeds",), ops=("call",))
    about = broken("2", "a.early", clauses=("a.early",), ops=("call",) * 2)
    assert told(cause, about) == [("late.succeeds", []), ("a.early", [])]


def test_what_is_broken_mostly_without_a_spoilt_set_up_is_a_finding_of_its_own() -> None:
    cause = broken("1", "late.succeeds", cause="late")
    alone = [broken(name, "a.early") for name in "23"]
    assert told(cause, *alone, broken("4", "a.early", cause="late")) == [("a.early", []), ("late.succeeds", [])]
    assert told(cause, *(broken(name, "a.early", cause="another") for name in "23")) == [
        ("late.succeeds", []),
        ("a.early", []),
    ]


def test_an_op_that_met_what_another_one_left_behind_is_told_after_it() -> None:
    lost = seen("1", ("rename.keeps", TREE), calls=30)
    met = seen("2", ("met.succeeds", CODE), about=("rename.keeps",), calls=9)
    assert told(met, lost) == [("rename.keeps", []), ("met.succeeds", [])]


def test_an_op_that_met_what_its_case_found_is_no_finding_of_its_own() -> None:
    assert told(seen("1", ("rename.keeps", TREE), ("met.succeeds", CODE), about=("rename.keeps",))) == [
        ("rename.keeps", ["met.succeeds"])
    ]


def test_what_is_broken_after_something_else_in_each_of_its_cases_is_told_after_it() -> None:
    both = seen("1", ("list.names", ("names=1", "names=2")), ("met.succeeds", CODE))
    alone = seen("2", ("list.names", ("names=1", "names=2")), calls=40)
    assert told(both, alone) == [("list.names", ["met.succeeds"])]


def test_the_answer_of_an_op_is_told_before_what_others_find_and_before_what_many_do() -> None:
    cases = [
        seen("1", ("rename.keeps", TREE)),
        seen("2", ("all.tidy", ("as it was", "more"))),
        seen("3", ("list.names", ("names=1", "names=2")), calls=9),
    ]
    assert [clause for clause, _ in told(*cases)] == ["list.names", "rename.keeps", "all.tidy"]


def test_of_causes_the_one_with_the_smaller_input_is_first() -> None:
    cases = [seen("1", ("rename.code", CODE), calls=12), seen("2", ("list.names", CODE), calls=4)]
    assert [clause for clause, _ in told(*cases)] == ["list.names", "rename.code"]
    cases.append(seen("3", ("rename.code", CODE), calls=2))
    assert [clause for clause, _ in told(*cases)] == ["rename.code", "list.names"]


def test_what_shows_before_an_op_is_called_is_first() -> None:
    assert told(seen("1", ("met.succeeds", CODE)), seen("2", ("load.works", ("a", "b")), executed=False)) == [
        ("load.works", []),
        ("met.succeeds", []),
    ]


def test_what_a_case_died_of_is_a_cause_though_no_case_is_about_it() -> None:
    met = seen("1", ("met.succeeds", CODE), about=("rename.keeps",))
    died = seen("2", ("all.tidy", ("comes back", "SIGSEGV")), about=("rename.keeps",), ended=Ending.DIED)
    assert told(met, died) == [("all.tidy", []), ("met.succeeds", [])]


def test_what_is_lost_or_leaked_stands_under_no_return_code() -> None:
    lost = seen("1", ("rename.code", CODE), ("rename.keeps", TREE))
    assert told(lost) == [("rename.code", []), ("rename.keeps", [])]
    leaked = seen("1", ("met.succeeds", CODE), ("all.tidy", ("as it was", "1 more process")))
    assert told(leaked) == [("met.succeeds", []), ("all.tidy", [])]


def test_more_of_the_answer_of_an_op_stands_under_its_return_code() -> None:
    assert told(seen("1", ("rename.code", CODE), ("rename.keeps", ("returned=0", "returned=1")))) == [
        ("rename.code", ["rename.keeps"])
    ]


def test_another_op_with_a_case_of_its_own_is_told_for_itself() -> None:
    wrong = ("list.names", ("names=1", "names=2"))
    other = ("rename.keeps", ("returned=0", "returned=1"))
    cases = [seen("1", wrong, calls=1), seen("2", other, wrong)]
    assert told(*cases) == [("list.names", []), ("rename.keeps", [])]


def test_what_is_lost_or_leaked_in_cases_in_which_another_op_goes_wrong_is_told_for_itself() -> None:
    read = ("list.names", ("names=1", "names=2"))
    cases = [seen("1", read, ("rename.keeps", TREE)), seen("2", read, ("all.tidy", ("as it was", "1 more thread")))]
    assert told(*cases) == [("list.names", []), ("rename.keeps", []), ("all.tidy", [])]


def test_a_return_code_after_something_else_is_told_with_it() -> None:
    assert told(seen("1", ("list.names", ("names=1", "names=2")), ("rename.code", CODE))) == [
        ("list.names", ["rename.code"])
    ]


def test_one_wrong_value_is_told_once_whoever_shows_it() -> None:
    cases = [seen("1", ("list.names", TREE), calls=1), seen("2", ("rename.keeps", TREE), ("list.names", TREE))]
    assert told(*cases) == [("list.names", ["rename.keeps"])]
    elsewhere = seen("3", ("rename.keeps", TREE))
    assert told(*cases, elsewhere) == [("list.names", []), ("rename.keeps", [])]


def test_a_wrong_value_of_another_op_is_told_for_itself_though_no_case_is_about_it() -> None:
    names = ("list.names", ("names=1", "names=2"))
    cases = [seen("1", ("stat.odd", ("time=7", "time=9"))), seen("2", ("stat.odd", ("time=7", "time=9")), names,
                                                                 about=("stat.odd",))]  # fmt: skip
    assert told(*cases) == [("stat.odd", []), ("list.names", [])]


TIME = ("stat.odd", ("time=7", "stat: mtime: 10 digits"))


def test_of_what_stat_answers_each_value_is_told_for_itself() -> None:
    """A time that is odd everywhere hides no length, whichever clause that is told on."""
    length = ("rename.keeps", ("stat: length=9", "stat: length=4"))
    cases = [seen("1", TIME), seen("2", TIME, length, about=("rename.keeps",))]
    assert told(*cases) == [("stat.odd", []), ("rename.keeps", [])]


@pytest.mark.parametrize("named", [("stat", "stat"), ("stat", "list")])
def test_what_only_other_ops_answered_is_told_after_the_clauses_of_these(named: tuple[str, str]) -> None:
    """A clause about another op, whose checks name the op that answered each of them."""
    checks = [("rename.keeps", (f"{op}: length=9", f"{op}: length=4")) for op in named]
    cases = [seen("large", *checks, calls=1), seen("small", ("stat.odd", ("length=5", "length=4")), calls=9)]
    assert [clause for clause, _ in told(*cases)] == ["stat.odd", "rename.keeps"]


#: What several ops answer in one situation, and one that has words of its own for it.
BELOW = {
    f"{op}.below-a-file": clause("MUST", "paths", op, rule=f"{does}, where a parent is a file, answers X.")
    for op, does in (("stat", "Asking"), ("delete_dir", "Deleting"), ("create_dir", "Creating"))
} | {
    "copy_file.below-a-file": clause(
        "MUST", "paths", "copy_file", rule="Copying, where a parent is a file, answers Y."
    ),
    "stat.succeeds": clause("MUST", "paths", "stat", rule="stat answers OK."),
    "delete_dir.succeeds": clause("MUST", "paths", "delete_dir", rule="delete_dir answers OK."),
}
MISSING = ("code=X", "code=NOT_FOUND")


def alike(*cases: CaseRecord) -> dict[str, list[str]]:
    return {one.clause: one.alike for one in findings(report_of(*cases, clauses=CLAUSES | BELOW, duration=None))}


def test_what_several_ops_do_wrong_in_one_situation_is_told_once() -> None:
    cases = [seen(str(number), (name, MISSING)) for number, name in enumerate(BELOW) if name.endswith("-a-file")]
    assert alike(*cases) == {"stat.below-a-file": ["delete_dir", "create_dir"], "copy_file.below-a-file": []}


def test_what_several_ops_do_wrong_is_told_once_whichever_claims_their_rules_rest_on() -> None:
    codes = [(f"code=X, as the profile claims {claim}", "code=NOT_FOUND") for claim in ("append = true", "tree = true")]
    cases = [seen(op, (f"{op}.below-a-file", code)) for op, code in zip(("stat", "delete_dir"), codes, strict=True)]
    assert alike(*cases) == {"stat.below-a-file": ["delete_dir"]}


def test_another_answer_or_no_situation_at_all_is_told_for_itself() -> None:
    stat, other = seen("1", ("stat.below-a-file", MISSING)), ("delete_dir.below-a-file", ("code=X", "code=OK"))
    assert alike(stat, seen("2", other)) == {"stat.below-a-file": [], "delete_dir.below-a-file": []}
    both = seen("2", ("delete_dir.below-a-file", MISSING)), seen("3", other)
    assert alike(stat, *both) == {"stat.below-a-file": [], "delete_dir.below-a-file": []}
    cases = [seen(name, (f"{name}.succeeds", ("code=OK", "code=INTERNAL"))) for name in ("stat", "delete_dir")]
    assert alike(*cases) == {"stat.succeeds": [], "delete_dir.succeeds": []}


def test_every_form_tells_the_ops_that_do_the_same(tmp_path: Path) -> None:
    names = [f"{op}.below-a-file" for op in ("stat", "delete_dir", "create_dir")]
    found = report_of(*(seen(name, (name, MISSING)) for name in names), clauses=CLAUSES | BELOW, duration=None)
    lines = "\n".join(text for text, _ in terminal.summary(found, width=100, directory=tmp_path))
    assert lines.count("VIOLATION ") == 1
    assert "\n  others    the same for 2 more ops: delete_dir, create_dir\n" in lines
    said = "the same for 2 more ops: delete_dir, create_dir"
    assert "the same for 2 more ops: `delete_dir, create_dir`" in markdown.render(found)
    page = html.render(found)
    assert "the same for 2 more ops: " in page
    assert page.count('class="finding"') == 1
    assert said in next(github.annotations([found]))


def test_every_form_has_the_same_headlines(tmp_path: Path) -> None:
    hint = CheckRecord("read.hint", Verdict.WARNING, "tree has {'a': None}", "tree has {}")
    odd = CheckRecord("stat.odd", Verdict.WARNING, "x", "y")
    found = report(LISTING, record("2", Verdict.WARNING, hint, ops=MADE), record("3", Verdict.WARNING, odd))
    violations, warnings = split(found)
    assert ([one.clause for one in violations], [one.clause for one in warnings]) == (["get.lists"], ["stat.odd"])
    lines = "\n".join(text for text, _ in terminal.summary(found, width=100, directory=tmp_path))
    assert re.findall(r"^(?:VIOLATION|WARNING) (\S+)", lines, re.MULTILINE) == ["get.lists", "stat.odd"]
    said = markdown.render(found)
    assert re.findall(r"^### \d+\. `(.+)`$", said, re.MULTILINE) == ["get.lists"]
    assert re.findall(r"^- `(.+?)` \(\d+ checks?\)", said, re.MULTILINE) == ["stat.odd"]
    _, _, listed = html.render(found).partition('id="warnings"')
    listed, _, _ = listed.partition("</section>")
    assert "stat.odd" in listed
    assert "read.hint" not in listed


CHECKS = st.tuples(st.sampled_from(sorted(PLAIN)), st.sampled_from((TREE, CODE, ("x", "y"), ("x", "z"))))
CASES = st.builds(
    lambda checks, about, calls, cause: (checks, {"about": about, "calls": calls, "cause": cause}),
    st.lists(CHECKS, min_size=1, max_size=4, unique_by=lambda one: one[0]),
    st.lists(st.sampled_from(sorted(PLAIN)), min_size=1, max_size=3, unique=True).map(tuple),
    st.integers(0, 9),
    st.sampled_from((None, "met", "rename")),
)


@given(st.lists(CASES, max_size=6))
def test_each_broken_clause_is_told_once_and_what_is_stored_under_no_code_of_another_value(
    drawn: list[tuple[list[tuple[str, tuple[str, str]]], dict[str, object]]],
) -> None:
    cases = [seen(str(number), *checks, **more) for number, (checks, more) in enumerate(drawn)]  # type: ignore[arg-type]
    found = told(*cases)
    assert Counter(one for clause, beside in found for one in (clause, *beside)) == Counter(
        {check.clause: 1 for case in cases for check in case.checks if check.verdict is Verdict.VIOLATION}
    )
    shown: dict[str, set[str]] = {}
    for case in cases:
        for check in case.checks:
            shown.setdefault(check.clause, set()).add(check.expected)
    spoilt_by = {f"{case.cause}.succeeds" for case in cases if case.cause}
    for clause_, beside in found:
        if shown[clause_] == {CODE[0]} and clause_ not in spoilt_by:
            assert all(shown[one] != {TREE[0]} for one in beside)


def shown_by(name: str, about: str, expected: str, got: str, *ops: str) -> CaseRecord:
    check = CheckRecord(about, Verdict.VIOLATION, expected, got)
    return record(name, Verdict.VIOLATION, check, ops=ops, clauses=(about,))


MADE = ("create_dir('x/a') -> OK", "get_children('x') -> OK")
LISTING = shown_by("1", "get.lists", "entries=['a', 'b']", "entries=['b']", *MADE)


def test_what_is_seen_through_an_op_that_is_wrong_is_told_with_it() -> None:
    tree = shown_by("2", "make.makes", "tree has {'a': None}", "tree has {}", *MADE)
    assert told(LISTING, tree) == [("get.lists", ["make.makes"])]


def test_what_an_op_left_is_told_with_it_and_not_with_what_was_wrong_everywhere() -> None:
    """Who renames and keeps the source is asked for it later, where a time is odd as well, as it is in all cases."""
    odd = CheckRecord("stat.odd", Verdict.VIOLATION, "time=7", "time=9")
    kept = CheckRecord("rename.moves", Verdict.VIOLATION, "tree has {}", "tree has {'a': b'x'}")
    there = CheckRecord("get.lists", Verdict.VIOLATION, "code=NOT_FOUND", "code=OK")
    renames = ("rename_file('a', 'b') -> OK", "get_children('a') -> OK")
    cases = [
        record(name, Verdict.VIOLATION, *checks, ops=renames, clauses=tuple(one.clause for one in checks))
        for name, *checks in (("1", odd), ("2", kept), ("3", odd, there))
    ]
    assert dict(told(*cases)) == {"stat.odd": [], "rename.moves": ["get.lists"]}


def test_what_a_case_found_right_explains_nothing_there() -> None:
    """A position that is wrong after one byte does not follow from what is lost of many."""
    lost = CheckRecord("rename.moves", Verdict.VIOLATION, "content=b'xy'", "content=b'x'")
    less = CheckRecord("get.lists", Verdict.VIOLATION, "content=b'ab'", "content=b'a'")
    right = CheckRecord("rename.moves", Verdict.CONFORM, "content=b'ab'", "content=b'ab'")
    listed = CheckRecord("get.lists", Verdict.CONFORM, "content=b'xy'", "content=b'xy'")
    renames = ("rename_file('a', 'b') -> OK", "get_children('a') -> OK")
    both = [
        [
            record("1", Verdict.VIOLATION, lost, listed, ops=renames, clauses=("rename.moves",)),
            record("2", Verdict.VIOLATION, *checks, ops=renames, clauses=("get.lists",)),
        ]
        for checks in ((less,), (right, less))
    ]
    assert [len(told(*cases)) for cases in both] == [1, 2]


@pytest.mark.parametrize(("size", "own"), [("2", []), ("4096", [("size.is-length", [])])])
def test_who_repeats_what_another_op_says_repeats_its_number(size: str, own: list[tuple[str, list[str]]]) -> None:
    calls = ("stat('a') -> OK Statistics(length=2, is_directory=0)", f"get_file_size('a') -> OK {size}")
    length = CheckRecord("stat.odd", Verdict.VIOLATION, "length=1", "length=2")
    other = CheckRecord("size.is-length", Verdict.VIOLATION, "size=1", f"size={size}")
    cases = [
        record("1", Verdict.VIOLATION, length, ops=calls, clauses=("stat.odd",)),
        record("2", Verdict.VIOLATION, other, ops=calls, clauses=("size.is-length",)),
    ]
    assert told(*cases) == [("stat.odd", [] if own else ["size.is-length"]), *own]


def test_what_is_wrong_in_another_way_or_seen_otherwise_is_told_itself() -> None:
    calls = ("rename_file('x/a', 'x/b') -> OK", "get_children('x') -> OK")
    left = shown_by("2", "rename.moves", "tree has {'b': b''}", "tree has {'a': b'', 'b': b''}", *calls)
    assert sorted(told(LISTING, left)) == [("get.lists", []), ("rename.moves", [])]
    unseen = shown_by("3", "make.makes", "is there=True", "is there=False", "create_dir('x/a') -> OK")
    file = shown_by("1", "get.lists", "entries=['a', 'b']", "entries=['b']", "get_children('x') -> OK")
    assert sorted(told(file, unseen)) == [("get.lists", []), ("make.makes", [])]


def test_a_directory_that_is_lacking_is_no_consequence_of_a_file_that_is() -> None:
    file = shown_by("1", "get.lists", "entries=['a', 'b']", "entries=['b']", "get_children('x') -> OK")
    tree = shown_by("2", "make.makes", "tree has {'a': None}", "tree has {}", *MADE)
    assert sorted(told(file, tree)) == [("get.lists", []), ("make.makes", [])]
    within = shown_by("2", "make.makes", "tree has {'a': None, 'a/b': b''}", "tree has {}", *MADE)
    assert sorted(told(file, within)) == [("get.lists", []), ("make.makes", [])]
    assert told(LISTING, within) == [("get.lists", ["make.makes"])]


def test_a_file_with_content_that_is_lacking_is_no_consequence_of_empty_files_that_are() -> None:
    calls = ("create_dir('x/a') -> OK", "get_children('x') -> OK")
    empty = shown_by("1", "make.makes", "tree has {'a': b''}", "tree has {}", *calls)
    another = shown_by("2", "rename.moves", "tree beside has {'b': b''}", "tree beside has {}", *calls)
    assert told(empty, another) == [("make.makes", ["rename.moves"])]
    for label in ("tree", "tree beside"):
        lost = shown_by("2", "rename.moves", f"{label} has {{'b': b'stays'}}", f"{label} has {{}}", *calls)
        assert sorted(told(empty, lost)) == [("make.makes", []), ("rename.moves", [])]
        # Who loses what has content may lose what is empty.
        full = shown_by("1", "make.makes", "tree has {'a': b'kept'}", "tree has {}", *calls)
        assert told(full, lost) == [("make.makes", ["rename.moves"])]


@pytest.mark.parametrize(("got", "own"), [(0, []), (1, [("many.agree", [])])])
def test_a_directory_that_is_directory_denies_is_told_once(got: int, own: list[tuple[str, list[str]]]) -> None:
    call = "is_directory('x') -> OK"
    cases = [
        shown_by("1", "is_directory.true", "returned=1", "returned=0", call),
        shown_by("2", "many.agree", f"is_directory: returned={1 - got}", f"is_directory: returned={got}", call),
    ]
    assert told(*cases) == [("is_directory.true", [] if own else ["many.agree"]), *own]


def test_what_only_asks_makes_no_neighbour_lacking() -> None:
    asked = shown_by("1", "stat.odd", "code=OK", "code=NOT_FOUND", "stat('x/a') -> NOT_FOUND")
    calls = ("rename_file('x/a', 'x/b') -> OK", "stat('x/b') -> OK")
    lost = shown_by("2", "rename.moves", "tree beside has {'b': b'stays'}", "tree beside has {}", *calls)
    assert sorted(told(asked, lost)) == [("rename.moves", []), ("stat.odd", [])]


def test_what_an_op_leaves_behind_is_told_before_the_listing_that_shows_it() -> None:
    calls = ("rename_file('x/a', 'x/b') -> OK", "get_children('x') -> OK")
    listing = shown_by("1", "get.lists", "entries=['b']", "entries=['a', 'b']", *calls)
    # What a tree has was opened and read as well.
    left = shown_by("2", "rename.moves", "tree has {'b': b''}", "tree has {'a': b'', 'b': b''}", *calls, "stat('x/a')")
    assert told(listing, left) == [("rename.moves", ["get.lists"])]


def test_of_what_is_told_with_it_a_clause_of_each_other_op_comes_first() -> None:
    def all_told(*clauses: str) -> list[tuple[str, list[str]]]:
        wrong = ("names=1", "names=2")
        alone = seen("alone", ("list.names", wrong), calls=1)
        return told(alone, seen("all", ("list.names", wrong), *((name, wrong) for name in clauses)))

    assert all_told("rename.code", "rename.keeps", "met.succeeds") == [
        ("list.names", ["met.succeeds", "rename.keeps", "rename.code"])
    ]


def test_an_ok_of_one_op_is_not_the_ok_of_another() -> None:
    wrong = [CheckRecord(name, Verdict.VIOLATION, "code=NOT_FOUND", "code=OK") for name in ("get.lists", "make.makes")]
    about = ("get.lists", "make.makes")
    both = record("1", Verdict.VIOLATION, *wrong, clauses=about)
    alone = record("2", Verdict.VIOLATION, wrong[1], clauses=about)
    assert sorted(told(both, alone)) == [("get.lists", []), ("make.makes", [])]


def test_what_a_file_holds_below_a_size_is_more_than_a_return_code() -> None:
    failed = CheckRecord("rename.moves", Verdict.VIOLATION, "code=OK", "code=INTERNAL")
    below = CheckRecord("make.makes", Verdict.VIOLATION, "content below=b'a'", "content below=b''")
    case = record("1", Verdict.VIOLATION, failed, below, clauses=("rename.moves", "make.makes"))
    assert [clause for clause, _ in told(case)] == ["make.makes", "rename.moves"]


def test_a_warning_that_a_violation_explains_is_told_with_it() -> None:
    hint = CheckRecord("read.hint", Verdict.WARNING, "tree has {'a': None}", "tree has {}")
    violations, warnings = split(report(LISTING, record("2", Verdict.WARNING, hint, ops=MADE)))
    assert [(one.clause, one.beside) for one in violations] == [("get.lists", ["read.hint"])]
    assert warnings == []
