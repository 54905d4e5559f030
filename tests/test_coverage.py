"""What of the interface is held: each row of the table, and what a wrong row is told."""

from pathlib import Path
from typing import Any

import pytest

from tffs_conformance.suite.contract.catalogue import Clause, Level, catalogue
from tffs_conformance.suite.contract.coverage import Sentence, cites, coverage, sentences
from tffs_conformance.suite.engine import collect


def test_every_sentence_of_the_interface_is_covered_or_cannot_be_observed() -> None:
    """Each clause that a row names exists, has a case, and cites the row's line; or the row says why there is none."""
    held = coverage(sentences(), catalogue(), {one.id: one.clauses for one in collect.cases()})
    assert {row.sentence.line: row.state for row in held if not row.settled} == {}


def test_the_table_has_no_sentence_twice_and_no_row_that_says_both() -> None:
    table = sentences()
    assert len({(row.line, row.demand) for row in table}) == len(table) >= 245
    assert [row.line for row in table if row.clauses and row.unobservable] == []


ROW = "7\tsaid\ta.b, c.d\t"


@pytest.mark.parametrize("more", ["8\tshort\ta.b", "8\tlong\ta.b\t\t"])
def test_a_row_with_other_columns_is_told_by_its_line(tmp_path: Path, more: str) -> None:
    path = tmp_path / "interface.tsv"
    path.write_text(f"line\tdemand\tclauses\tunobservable\n{ROW}\n")
    assert sentences(path) == [Sentence("7", "said", ("a.b", "c.d"), "")]
    path.write_text(f"line\tdemand\tclauses\tunobservable\n{ROW}\n{more}\n")
    with pytest.raises(ValueError, match=f"line 3 has {len(more.split(chr(9)))} columns, not 4"):
        sentences(path)


def made(*source: str) -> Clause:
    return Clause("a.b", Level.MUST, "read", "", source, "")


@pytest.mark.parametrize(
    ("line", "source", "cited"),
    [
        ("229", "filesystem_interface.h:229 (2.21), read", True),
        ("229", "filesystem_interface.h:214,229 (2.21), read", True),
        ("229", "filesystem_interface.h:220-230 (2.21), read", True),
        ("229b", "filesystem_interface.h:229 (2.21), read", True),
        ("345+NF", "filesystem_interface.h:340, 345 (2.21)", True),
        ("168-175", "filesystem_interface.h:175 (2.21)", True),
        ("168-175", "filesystem_interface.h:176 (2.21)", False),
        ("168-175", "filesystem_interface.h:167 (2.21)", False),
        ("168-175", "filesystem_interface.h:168 (2.21)", True),
        ("168-175", "filesystem_interface.h:160-167, 176-180 (2.21)", False),
        ("168-175", "filesystem_interface.h:160-180 (2.21)", True),
        ("229", "filesystem_interface.h:228,230 (2.21), read", False),
        ("229", "filesystem_interface.h (2.21), read", False),
        ("229", "modular_filesystem.cc:229 (2.21)", False),
        ("2", "filesystem_interface.h:229 (2.21), read", False),
        ("sign.", "anything", True),
    ],
)
def test_a_source_cites_a_line(line: str, source: str, cited: bool) -> None:
    assert cites(made("RFC", source), Sentence(line, "", (), "")) is cited


@pytest.mark.parametrize(
    ("name", "cases", "state"),
    [
        ("a.b", {"c": ["a.b"]}, "covered"),
        ("a.b", {"c": ["a.c"]}, "a.b has no case"),
        ("a.x", {"c": ["a.x"]}, "there is no clause a.x"),
        ("a.far", {"c": ["a.far"]}, "a.far does not cite line 7"),
    ],
)
def test_what_is_wrong_with_a_row_is_said(name: str, cases: dict[str, Any], state: str) -> None:
    clauses = {"a.b": made("filesystem_interface.h:7"), "a.far": made("filesystem_interface.h:8")}
    (row,) = coverage([Sentence("7", "d", (name,), "")], clauses, cases)
    assert (row.state, row.settled) == (state, state == "covered")
