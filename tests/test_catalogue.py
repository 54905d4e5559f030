"""The catalogue and what hangs on it: every clause has a case, every question its readings, the floor is kept."""

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from tffs_conformance.reports.model.records import StatementKind
from tffs_conformance.run.run_options import CONDITIONS
from tffs_conformance.suite.contract import catalogue
from tffs_conformance.suite.engine import collect
from tffs_conformance.typed_toml import TomlError

SUITE = Path(catalogue.__file__).parent


def declared() -> set[str]:
    return {name for case in collect.cases() for name in case.clauses}


def test_every_must_clause_has_a_case() -> None:
    alone = [c.id for c in catalogue.catalogue().values() if c.level == "MUST" and not c.untested]
    assert sorted(set(alone) - declared()) == []


def test_nothing_is_untested() -> None:
    assert [c.id for c in catalogue.catalogue().values() if c.untested] == []


def test_every_clause_that_a_case_names_exists() -> None:
    assert sorted(declared() - set(catalogue.catalogue())) == []


@pytest.mark.parametrize("question", [f"A{number}" for number in range(1, 26)])
def test_open_questions_are_data(question: str) -> None:
    clauses = [c for c in catalogue.catalogue().values() if c.disputed == question]
    assert clauses, f"no clause holds {question}"
    for clause in clauses:
        assert all(reading.text and reading.tensorflow for reading in clause.readings), clause.id


def test_cases_are_listed_as_pytest_collects_them(tmp_path: Path) -> None:
    """`list` reads the modules without pytest: the ids must be those that a run has."""
    command = [sys.executable, "-m", "pytest", "--plugin=posix", "--collect-only", "--tier=deep", "--undefined",
               "--sanitizer=memcheck", f"--conditions={','.join(CONDITIONS)}",
               "-q", "-p", "no:cacheprovider", f"--report-dir={tmp_path}"]  # fmt: skip
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    collected = re.findall(r"^tffs/([a-z-]+)::test_(.*)$", done.stdout, re.MULTILINE)
    ids = set()
    for module, rest in collected:
        name, bracket, parameters = rest.partition("[")
        ids.add(f"{module}/{name.replace('_', '-')}{bracket}{parameters}")
    # A run has one condition at most.
    assert ids == {case.id for case in collect.cases() if case.tier not in ("address", "thread")}


CLAUSE = '[[clause]]\nid = "a.b"\nlevel = "MUST"\nclass = "read"\nrule = "r"\nsource = "s"\ncheck = "c"\n'


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (CLAUSE.replace('"r"', "5"), r"clause 1 \(a.b\): rule is wrong: expected text, got int"),
        (f'{CLAUSE}conditions = "power"\n', "conditions is wrong: expected array, got text"),
        (f"{CLAUSE}source = [1]\n".replace('source = "s"\n', ""), r"source 1 is wrong: expected text"),
        (CLAUSE.replace("MUST", "MIGHT"), "level is wrong"),
        (CLAUSE.replace('"read"', '"reed"'), "the class 'reed' is none of"),
        (f'{CLAUSE}disputed = "A1"\n', "both 'disputed' and 'readings'"),
        (f"{CLAUSE}why = 1\n", "the unknown key 'why'; known are id, level, class"),
        (CLAUSE.replace('rule = "r"\n', ""), "has no rule"),
        (CLAUSE + CLAUSE, "a.b stands in the catalogue twice"),
    ],
)
def test_clause_that_is_not_valid_is_refused(tmp_path: Path, text: str, said: str) -> None:
    file = tmp_path / "clauses.toml"
    file.write_text(text)
    with pytest.raises(TomlError, match=said):
        catalogue.read([file])


def peer() -> dict[str, list[str]]:
    table: dict[str, list[str]] = tomllib.loads((SUITE / "peer.toml").read_text())["cases"]
    return table


@pytest.mark.parametrize(
    ("name", "kind", "said"),
    [
        ("append.succeeds", "code", "Find what makes it refuse the call"),
        ("append.succeeds", "crash", None),
        ("get_children.succeeds", "code", "it refuses the work, or does it and does not answer OK"),
        ("get_children.succeeds", "names", None),
        ("get_matching_paths.star", "names", "characters such as . ^ $ + ( are escaped in it"),
        ("get_matching_paths.star", "code", None),
        ("delete_file.missing-is-not-found", "names", None),
        ("close.keeps-the-data", "missing content", "buffers that close does not flush"),
        ("close.keeps-the-data", "names", None),
        ("close.then-cleanup", "content", None),
        ("rename_file.keeps-the-content", "names", None),
        ("common.queries-agree", "length", "Look for caches"),
        ("append.succeeds", None, "Find what makes it refuse the call"),
    ],
)
def test_advice_is_given_for_what_it_fits(name: str, kind: StatementKind | None, said: str | None) -> None:
    advice = catalogue.for_report()[name].advice(kind)
    assert advice is None if said is None else advice and said in advice


def test_the_floor_has_all_of_the_peers_cases() -> None:
    assert len(peer()) == 104


@pytest.mark.parametrize("name", list(peer()))
def test_a_case_of_the_peer_is_covered(name: str) -> None:
    known = {case.id for case in collect.cases()}
    missing = [identity for identity in peer()[name] if identity not in known]
    assert peer()[name], f"{name} maps to nothing"
    assert not missing, f"{name} maps to cases that are not collected"
