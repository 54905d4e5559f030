"""The score: which mutants there are, what they are called, and what is made of what the suite said of them."""

from dataclasses import replace

import pytest

from tests.faults.driven import all_cases
from tests.score.judging import Judged, order
from tests.score.scoring import HEADINGS, Result, accepted, page, table
from tests.score.sources import CLONE, PLUGINS, Mutant, Plugin, named, ops
from tffs_conformance.harness.ops.tables import OPS
from tffs_conformance.suite.contract.catalogue import clause

TEXT = """\
int Twice(int n) {
  n += n;
  n += n;
  return n;
}

void Stat(Facts* facts) noexcept {
  n += n;
}
"""
CHANGES = [(2, "  n -= n;\n"), (3, "  n -= n;\n"), (8, "  n -= n;\n"), (2, "  n += n;\n"), (2, "  n -= n;\n")]
TABLE = {("", "Stat"): ["stat"], ("other.cc", "Twice"): ["read"]}


def of(text: str = TEXT, changes: list[tuple[int, str]] = CHANGES) -> list[Mutant]:
    return list(named("posix", "posix/queries.cc", text, changes, TABLE))


def result(verdict: str, name: str = "", *, reason: str = "", mutant: Mutant | None = None) -> Result:
    return Result(mutant or of()[2], Judged(verdict, name, "stat/plain", "", 1.5, 10, 0), reason)


def test_a_mutant_has_the_function_and_the_op_of_its_line() -> None:
    assert [(one.function, one.nth, one.ops) for one in of()] == [
        ("Twice", 0, ()), ("Twice", 1, ()), ("Stat", 0, ("stat",)),
    ]  # fmt: skip
    assert {one.near for one in of()} == {("stat",)}


def test_a_mutant_is_drawn_whatever_changes_elsewhere() -> None:
    moved = of("// new\n" + TEXT, [(number + 1, line) for number, line in CHANGES])
    assert [one.digest for one in moved] == [one.digest for one in of()]
    assert len({one.digest for one in of()}) == 3


def test_the_text_of_a_mutant_differs_in_its_line_alone() -> None:
    source, text = PLUGINS[0].units()[0]
    number, line = next((k, line) for k, line in enumerate(text.splitlines(), 1) if line.strip() == "return left;")
    (mutant,) = named("posix", source, text, [(number, line + "\n  break;")], {})
    before, after = text.splitlines(), mutant.text().splitlines()
    assert after == [*before[:number], "  break;", *before[number:]]


@pytest.mark.parametrize("plugin", PLUGINS, ids=lambda plugin: plugin.name)
def test_every_op_of_a_plugin_has_its_function(plugin: Plugin) -> None:
    found = {op for mine in ops(plugin).values() for op in mine}
    assert found <= set(OPS)
    assert {"stat", "cleanup", "append", "writable_file.cleanup"} <= found


@pytest.mark.parametrize(("key", "reason"), accepted().items(), ids=lambda one: None)
def test_who_may_survive_is_there(key: tuple[str, str, str, str, int], reason: str) -> None:
    source, _, out, put_in, _ = key
    text = (CLONE / "reference_plugins" / source).read_text()
    numbers = [k for k, line in enumerate(text.splitlines(), 1) if line.strip() == out]
    mutants = named("", source, text, [(number, put_in) for number in numbers], {})
    assert key in {one.key for one in mutants}, "no line of that function is so"
    assert reason.endswith(".")


def test_cases_of_the_op_come_first_and_smaller_tiers_before_larger() -> None:
    cases = order(all_cases("full"), ["stat"])
    about = [any(clause(name).op == "stat" for name in case.clauses) for case in cases]
    assert about == sorted(about, reverse=True)
    first = [case.tier for case in cases[: about.count(True)]]
    assert first == sorted(first, key=["smoke", "must", "full"].index)


@pytest.mark.parametrize(
    ("given", "fate", "told"),
    [
        (result("violation", "stat.succeeds"), "killed", "yes"),
        (result("violation", "read.succeeds"), "killed", "no"),
        (result("violation", "robustness.no-crash"), "killed", ""),
        (result("violation", "stat.succeeds", mutant=of()[0]), "killed", ""),
        (result("violation", "stat.succeeds", reason="Equal."), "killed", "yes"),
        (result("warning", "stat.succeeds"), "warned", "yes"),
        (result("error", "stat.succeeds"), "error", "yes"),
        (result("conform"), "survived", ""),
        (result("conform", reason="Equal."), "excused", ""),
        (Result(of()[0], None, "Equal."), "excused", ""),
    ],
)
def test_what_became_of_a_mutant(given: Result, fate: str, told: str) -> None:
    assert (given.fate, given.told) == (fate, told)


def test_what_makes_a_run_judge_nothing_is_told_apart() -> None:
    judged = Judged("conform", "", "", "", 1.5, 10, 6)
    assert Result(of()[2], judged).fate == "killed"
    assert Result(of()[2], replace(judged, not_run=5)).fate == "survived"


def test_excused_ones_do_not_count() -> None:
    results = [result("violation", "stat.succeeds"), result("conform"), Result(of()[0], None, "Equal.")]
    row = dict(zip(HEADINGS, table(results)[0], strict=True))
    assert (row["mutants"], row["excused"], row["killed"], row["survived"]) == ("3", "1", "1", "1")
    assert (row["score"], row["own op"], row["longest"]) == ("50 %", "1 of 1", "1.5 s")


def test_a_page_has_the_last_results_in_place_of_those_before() -> None:
    start = "# The score\n\n## The last score\n"
    once = page(start, [result("conform"), Result(of()[0], None, "Equal.")])
    assert once.startswith(start)
    assert page(once, [result("violation", "stat.succeeds")]).count("n += n") == 0
    assert "  -n += n;\n  +n -= n;" in once
    assert "Equal." in once.partition("## What is excused")[2]
