"""`tffs-conformance waive` writes what a report found into a file of waivers, and nothing else."""

import tomllib
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from tests.commands import output_of
from tests.records import GOOD, broken, record, report_of
from tffs_conformance.reports.document import write
from tffs_conformance.reports.model.records import CaseRecord, CheckRecord
from tffs_conformance.reports.model.verdicts import Verdict
from tffs_conformance.reports.waivers import read
from tffs_conformance.suite.judge.waivers import waived

X = """[[waiver]]
clause = "read.succeeds"
case = "read/x"
fingerprint = "code=UNKNOWN"
reason = "known"
owner = "team"
"""

ODD = 'a "quoted" \\ \x1b\udcff'


def waive(directory: Path, *cases: CaseRecord, more: tuple[str, ...] = (), code: int = 0) -> str:
    path = write(report_of(*cases), directory)
    arguments = [str(path), "--owner=team", "--reason=known", f"-o{directory / 'waivers.toml'}", *more]
    return output_of("waive", *arguments, code=code)


def entries(directory: Path) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = tomllib.loads((directory / "waivers.toml").read_text())["waiver"]
    return found


def test_an_entry_for_each_clause_and_fingerprint(tmp_path: Path) -> None:
    output = waive(tmp_path, *GOOD, broken("read/x"), broken("read/y"), broken("read/z", got=ODD))
    assert "added    read.succeeds" in output
    said = {"reason": "known", "owner": "team"}
    assert entries(tmp_path) == [
        {"clause": "read.succeeds", "case": "*", "fingerprint": "code=UNKNOWN"} | said,
        {"clause": "read.succeeds", "case": "read/z", "fingerprint": 'a "quoted" \\\\ \\x1b\\xff'} | said,
    ]


RIGHT = record("read/right", Verdict.CONFORM, CheckRecord("read.succeeds", Verdict.CONFORM, "", "code=UNKNOWN"))


@pytest.mark.parametrize(
    ("cases", "before", "fits"),
    [
        (("read/x",), "", ["read/x"]),
        (("read/x", "read/y"), "", ["*"]),
        # What is right in one case, or has an entry of its own, is no mistake wherever it is seen.
        (("read/x", "read/y", "read/right"), "", ["read/x", "read/y"]),
        (("read/x", "read/y", "read/z"), "read/x", ["read/x", "read/y", "read/z"]),
    ],
)
def test_what_is_wrong_in_several_cases_alike_has_one_entry(
    tmp_path: Path, cases: tuple[str, ...], before: str, fits: list[str]
) -> None:
    (tmp_path / "waivers.toml").write_text(X if before else "")
    waive(tmp_path, *(RIGHT if name == RIGHT.id else broken(name) for name in cases))
    assert [entry["case"] for entry in entries(tmp_path)] == fits
    accepted = read(tmp_path / "waivers.toml", date.today())
    seen = [waived(broken(name), accepted).verdict for name in ("read/x", "read/new", "read/right")]
    assert seen == [Verdict.WAIVED, *[Verdict.WAIVED if fits == ["*"] else Verdict.VIOLATION] * 2]


def test_only_of_the_clauses_that_are_asked_for(tmp_path: Path) -> None:
    cases = (broken("read/x"), broken("stat/x", about="stat.odd"))
    waive(tmp_path, *cases, more=("--clause=stat.*", "--expires=2099-01-02", "--issue=https://example.org/1"))
    (entry,) = entries(tmp_path)
    asked = ("stat.odd", "2099-01-02", "https://example.org/1")
    assert (entry["clause"], str(entry["expires"]), entry["issue"]) == asked
    assert "no violation of init.*" in waive(tmp_path, *cases, more=("--clause=init.*",), code=1)


def test_what_the_file_has_stays_with_its_comments(tmp_path: Path) -> None:
    before = '# ours\n\n[[waiver]]  # why\nclause   = "stat.odd"\ncase="*"\nfingerprint = "x"\nreason="é"\nowner="me"\n'
    (tmp_path / "waivers.toml").write_text(before)
    waive(tmp_path, broken("read/x"), broken("stat/x", "x", "stat.odd"))
    assert (tmp_path / "waivers.toml").read_text().startswith(before)
    assert [entry["clause"] for entry in entries(tmp_path)] == ["stat.odd", "read.succeeds"]


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (("--owner= ",), "--owner says nothing"),
        (("--reason=",), "--reason says nothing"),
        (("--issue=",), "--issue says nothing"),
        (("--expires=soon",), "soon"),
        (("--clause=read.suceeds",), "no clause fits 'read.suceeds'; did you mean read.succeeds?"),
    ],
)
def test_what_says_nothing_or_names_nothing_is_refused(tmp_path: Path, more: tuple[str, ...], said: str) -> None:
    assert said in waive(tmp_path, broken("read/x"), more=more, code=2)
    assert not (tmp_path / "waivers.toml").exists()


@pytest.mark.parametrize(
    ("before", "said"),
    [
        (X, "does not accept already"),
        (f"{X}expires = 2020-01-01\n".replace("read/x", "*"), "waiver 1 (read.succeeds, *) says so already"),
        (f"{X}expires = 2020-01-01\n", "waiver 1 (read.succeeds, read/x) says so already, and it expired"),
        ('waiver = [{clause = "stat.odd", fingerprint = "x", reason = "r", owner = "o"}]', "begin with [[waiver]]"),
        ("no = [", "is no TOML"),
    ],
)
def test_file_that_cannot_take_an_entry_stays(tmp_path: Path, before: str, said: str) -> None:
    (tmp_path / "waivers.toml").write_text(before)
    assert said in waive(tmp_path, broken("read/x"), code=1)
    assert (tmp_path / "waivers.toml").read_text() == before
