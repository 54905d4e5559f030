"""The commands that say what there is and what a report has: list, explain, report."""

import importlib
import re
from pathlib import Path

import pytest

from tests.commands import output_of
from tests.records import GOOD, HEADER, record, report_of
from tffs_conformance.cli.run import GROUPS, WIDTH
from tffs_conformance.reports.document import load, write
from tffs_conformance.reports.journal import JOURNAL_NAME, Journal
from tffs_conformance.reports.model.records import CheckRecord
from tffs_conformance.reports.model.report import REPORT_NAME
from tffs_conformance.reports.model.verdicts import Verdict
from tffs_conformance.run.run_options import declared
from tffs_conformance.suite.contract.catalogue import Clause, Level, catalogue, causes_first, clause
from tffs_conformance.suite.contract.coverage import Sentence
from tffs_conformance.suite.engine import collect


def listed(*arguments: str) -> tuple[list[str], list[str]]:
    lines = [line.split() for line in output_of("list", *arguments).splitlines()]
    levels = set(Level.__members__)
    return [line[1] for line in lines if line[0] in levels], [line[1] for line in lines if line[0] == "case"]


# list ----------------------------------------------------------------------------------------------------------------


def test_all_clauses_and_cases_are_listed() -> None:
    assert listed() == (list(catalogue()), [one.id for one in collect.cases()])


@pytest.mark.parametrize("given", ["status/one-path[stat-missing]", "status/one-path[stat-missing*"])
def test_brackets_of_an_id_stand_for_themselves(given: str) -> None:
    clauses, cases = listed(given)
    assert clauses == []
    assert "status/one-path[stat-missing]" in cases
    assert all(name.startswith("status/one-path[stat-missing") for name in cases)


def test_the_cases_of_clauses_are_listed_with_them() -> None:
    clauses, cases = listed("read.*")
    assert clauses == [name for name in catalogue() if name.startswith("read.")]
    assert cases == [one.id for one in collect.cases() if any(name.startswith("read.") for name in one.clauses)]
    assert listed("read.*", "--cases") == ([], cases)
    assert listed("read.*", "--clauses") == (clauses, [])


@pytest.mark.parametrize(
    ("command", "given", "said"),
    [
        *(("list", given, "no clause and no case fits") for given in ("nope*", "", "read/plan", "read.succeed")),
        ("list", "read/plan", "read/plain"),
        ("list", "read.succeed", "read.succeeds"),
        ("list", "read", "; did you mean read/* or read.*"),
        ("explain", "read.succeed", "read.succeeds"),
        ("explain", "read/plane", "read/plain"),
    ],
)
def test_what_fits_nothing_is_an_error_with_near_names(command: str, given: str, said: str) -> None:
    assert said in output_of(command, given, code=2)


@pytest.mark.parametrize("command", ["list", "explain"])
def test_what_a_user_types_steers_no_terminal(command: str) -> None:
    assert not {"\x1b", "\u202e"} & set(output_of(command, "\x1b[31m\u202e", code=2))


def test_the_exit_code_says_whether_all_is_settled(monkeypatch: pytest.MonkeyPatch) -> None:
    table = [
        Sentence("228", "OK iff exactly n bytes", ("read.ok-is-exactly-n",), ""),
        Sentence("999", "said of the past", (), "it is over"),
    ]
    monkeypatch.setattr("tffs_conformance.cli.list.sentences", lambda: table)
    output = output_of("list", "--coverage")
    assert "228\tOK iff exactly n bytes\tread.ok-is-exactly-n\tread/plain, " in output
    assert "999\tsaid of the past\t\t\tcannot be observed: it is over" in output
    assert "2 sentences: 1 covered, 1 cannot be observed, 0 missing or wrong (100 %)" in output
    table.append(Sentence("1", "nobody knows", (), ""))
    output = output_of("list", "--coverage", code=1)
    assert "1\tnobody knows\t\t\tmissing" in output
    assert "3 sentences: 1 covered, 1 cannot be observed, 1 missing or wrong (66 %)" in output


# run -----------------------------------------------------------------------------------------------------------------


def test_options_of_a_run_stand_on_one_screen() -> None:
    lines = output_of("run", "--help").splitlines()
    assert re.findall(r"(?m)^  --([\w-]+)", "\n".join(lines)) == [one.name for _, one in declared()]
    assert set(GROUPS.values()) <= set(lines)
    assert (len(lines) <= 50, max(map(len, lines)) <= WIDTH + 1) == (True, True)


def test_run_is_pytest(monkeypatch: pytest.MonkeyPatch) -> None:
    given: list[list[str]] = []
    monkeypatch.setattr("os.execv", lambda _, words: given.append(words[1:]))
    output_of("run", "--plugin=posix", "-n2")
    assert given == [["-m", "pytest", "--plugin=posix", "-n2"]]


# explain -------------------------------------------------------------------------------------------------------------


def test_a_clause_is_explained() -> None:
    output = output_of("explain", "read.short-read-is-out-of-range")
    first, *rest = output.splitlines()
    assert first == "read.short-read-is-out-of-range   MUST · read"
    assert [line.split("  ")[0] for line in rest if not line.startswith(" ")][:3] == ["rule", "source", "look at"]
    assert "filesystem_interface.h:229 (2.21)" in output
    assert "read/across-the-end ×" in output
    assert "TensorFlow" not in output or clause("read.short-read-is-out-of-range").tensorflow


def test_what_tensorflow_makes_of_a_breach_is_told_where_it_is_known(monkeypatch: pytest.MonkeyPatch) -> None:
    known = Clause("a.b", Level.MUST, "rule", ("s",), "read", "look", tensorflow="It never ends.")
    # `cli.explain` may be the command of that name: what a package binds depends on what was imported last.
    module = importlib.import_module("tffs_conformance.cli.explain")
    monkeypatch.setattr(module, "catalogue", lambda: {"a.b": known})
    monkeypatch.setattr(module, "clause", {"a.b": known}.__getitem__)
    assert "TensorFlow  It never ends." in output_of("explain", "a.b")
    assert "cases       none" in output_of("explain", "a.b")


def test_every_case_of_a_clause_is_named_on_request() -> None:
    output, few = output_of("explain", "read.succeeds", "--all"), output_of("explain", "read.succeeds")
    wanted = [one.id for one in collect.cases() if "read.succeeds" in one.clauses]
    assert [name for name in wanted if name not in output] == []
    assert f"{len(wanted)}: " in few
    assert len(few) < len(output)


def test_accepted_readings_are_named() -> None:
    disputed = next(entry for entry in catalogue().values() if entry.readings)
    output = " ".join(output_of("explain", disputed.id).split())
    for reading in disputed.readings:
        assert f"{reading.name}: {reading.text} TensorFlow: {reading.tensorflow}" in output


@pytest.mark.parametrize("name", list(catalogue())[::20])
def test_clauses_of_every_kind_can_be_explained(name: str) -> None:
    assert output_of("explain", name).startswith(name)


def test_a_case_is_explained() -> None:
    output = output_of("explain", "status/one-path[stat-missing]")
    assert output.startswith("status/one-path[stat-missing]   tier quick\n")
    assert "checks" in output
    assert "pytest --plugin=libmine.so '--case=status/one-path[stat-missing]'" in output


@pytest.mark.parametrize("command", [("list",), ("explain",), ("abi",), ("probe",), ("doctor",), ("services", "up")])
def test_what_does_not_exist_has_one_exit_code_in_all_commands(command: tuple[str, ...]) -> None:
    assert "nope" in output_of(*command, "nope", code=2)


# report --------------------------------------------------------------------------------------------------------------

BROKEN = CheckRecord("read.succeeds", Verdict.VIOLATION, "code=OK", "code=UNKNOWN")


def test_a_report_is_shown_again_with_more_on_request(tmp_path: Path) -> None:
    broken = record("read/b", Verdict.VIOLATION, BROKEN, ops=("read() -> UNKNOWN",))
    path = write(report_of(*GOOD, broken), tmp_path)
    output = output_of("report", "show", path)
    assert "VIOLATION read.succeeds" in output
    assert "read() -> UNKNOWN" not in output
    assert "read() -> UNKNOWN" in output_of("report", "show", "-v", path)


def test_the_report_of_a_run_that_was_killed_is_written_from_its_journal(tmp_path: Path) -> None:
    journal = Journal.open(tmp_path, HEADER)
    journal.case(GOOD[0])
    assert "incomplete: the run was killed" in output_of("report", "show", tmp_path / JOURNAL_NAME)
    assert len(load(tmp_path / REPORT_NAME).cases) == 1


def test_what_is_no_report_is_told_in_one_sentence(tmp_path: Path) -> None:
    for name in ("x.json", "x.jsonl"):
        (tmp_path / name).write_text("\x1b[31m")
        output = output_of("report", "show", tmp_path / name, code=1)
        assert (output.startswith("Error: "), "\x1b" in output) == (True, False)


@pytest.mark.parametrize("command", ["doctor", "probe posix", "probe ./x.so"])
def test_bare_clone_reports_what_is_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: str) -> None:
    monkeypatch.setenv("TFFS_NATIVE_DIR", str(tmp_path))
    assert "the native parts are not built" in output_of(*command.split(), code=1)


def test_the_order_of_causes_names_no_pattern_twice() -> None:
    assert len(set(causes_first())) == len(causes_first())
