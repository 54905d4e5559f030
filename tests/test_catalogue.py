"""The catalogue and what hangs on it: every clause has a case, every question its readings, the floor is kept.

And what of the interface is held: each row of the table, and what a wrong row is told. And the index of cases: what it
says is what collection finds, whatever changed since it was written.
"""

import ast
import functools
import os
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Container, Iterable
from dataclasses import fields
from fnmatch import fnmatch
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest

import tffs_conformance
from tests.pages import PROJECT
from tests.test_suite import PEER, run
from tffs_conformance.harness.ops.tables import FILESYSTEM, OPS, TABLES
from tffs_conformance.reports.model.records import StatementKind
from tffs_conformance.run.run_options import CONDITIONS
from tffs_conformance.suite.cases.successes import SUCCESSES
from tffs_conformance.suite.cases.test_leaks import OF_SIZES, of_a_new_path
from tffs_conformance.suite.contract import catalogue, statuses
from tffs_conformance.suite.contract.catalogue import Clause, Level
from tffs_conformance.suite.contract.coverage import Sentence, cites, coverage, sentences
from tffs_conformance.suite.engine import collect, index
from tffs_conformance.suite.engine.case_facts import CaseFacts
from tffs_conformance.suite.properties import small
from tffs_conformance.typed_toml import TomlError


def test_every_must_clause_has_a_case_and_every_clause_of_a_case_exists() -> None:
    clauses = catalogue.catalogue()
    declared = {name for case in collect.cases() for name in case.clauses}
    untried = sorted({one.id for one in clauses.values() if one.level is Level.MUST} - declared)
    assert not untried, f"name each of these in @clauses of a case in suite/cases: {untried}"
    unknown = sorted(declared - clauses.keys())
    assert not unknown, f"write these into suite/contract/clauses, or correct @clauses of their cases: {unknown}"


def test_open_questions_are_data() -> None:
    disputed = [one for one in catalogue.catalogue().values() if one.disputed]
    assert {one.disputed for one in disputed} >= {f"A{number}" for number in range(1, 26)}
    readings = [reading for one in disputed for reading in one.readings]
    assert [reading.name for reading in readings if not (reading.text and reading.tensorflow)] == []


def test_cases_are_listed_as_pytest_collects_them(tmp_path: Path) -> None:
    """`list` reads the modules without pytest: the ids must be those that a run has."""
    done = run(tmp_path, "--plugin=posix", "--collect-only", "--tier=deep", "--undefined", "--sanitizer=memcheck",
               f"--conditions={','.join(CONDITIONS)}", "-q")  # fmt: skip
    collected = re.findall(r"^tffs/([a-z-]+)::test_(\w*)(.*)$", done.stdout, re.MULTILINE)
    ids = {f"{module}/{name.replace('_', '-')}{parameters}" for module, name, parameters in collected}
    # A run has one condition at most.
    assert ids == {case.id for case in collect.cases() if case.tier not in ("address", "thread")}


# Levels: docs/report.md defines them ---------------------------------------------------------------------------------

#: What was decided by hand of levels, and of the places of ops.
DECIDED: dict[str, dict[str, Any]] = tomllib.loads(Path(__file__).with_name("catalogue.toml").read_text())
#: A sentence of TensorFlow's headers that is no 'should'; what refuses a plugin, and where it is called.
STATES = re.compile(
    r"""(filesystem_interface\.h|tf_file_statistics\.h|env\.h:\d)(?!.*"[^"]*\bshould\b)
    |modular_filesystem_registration\.cc$|the[ ]interface[ ]is[ ](C|called[ ]in[ ]TensorFlow's[ ]own[ ]process)$""",
    re.VERBOSE,
)
#: The code of TensorFlow that works with the files of a scenario, and loses them where the plugin does otherwise.
SCENARIO = re.compile(r"[\w/]+\.(cc|py)\b")
OPEN = re.compile(r"no (word|sentence|source) |\bMight\b|\ballowed\b")


def follows(clause: Clause) -> bool:
    """Whether the level of a clause follows from its sources."""
    stated = [bool(STATES.match(source)) for source in clause.sources]
    match clause.level:
        case Level.MUST:
            of_scenario = clause.conformance_class == "scenarios" and any(map(SCENARIO.match, clause.sources))
            return any(stated) or of_scenario
        case Level.SHOULD:
            return not all(stated)
        case Level.MAY:
            return clause.disputed is not None or any(map(OPEN.search, clause.sources))


def test_each_level_follows_from_its_sources_or_is_judged() -> None:
    left = [one for one in catalogue.catalogue().values() if not follows(one)]
    fitting = {
        one.id: [key for key, why in DECIDED["levels"].items() if fnmatch(one.id, key) and why.startswith(one.level)]
        for one in left
    }
    unknown = "\n".join(f"{one.id}: {one.level}, from {one.sources}" for one in left if not fitting[one.id])
    assert not unknown, f"change these, or say in `levels` of tests/catalogue.toml why they are right:\n{unknown}"
    unused = DECIDED["levels"].keys() - {key for keys in fitting.values() for key in keys}
    assert not unused, f"delete these from `levels` of tests/catalogue.toml, for no clause needs them: {unused}"


CLAUSE = '[[clause]]\nid = "a.b"\nlevel = "MUST"\nclass = "read"\nrule = "r"\nsource = "s"\ncheck = "c"\n'


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (CLAUSE.replace('"r"', "5"), r"clause 1 \(a.b\): rule is wrong: expected text, got int"),
        (f'{CLAUSE}conditions = "power"\n', "conditions is wrong: expected array, got text"),
        (f"{CLAUSE}source = [1]\n".replace('source = "s"\n', ""), r"source 1 is wrong: expected text"),
        (CLAUSE.replace("MUST", "MIGHT"), "level is wrong"),
        (CLAUSE.replace('"read"', '"reed"'), "the class 'reed' is none of"),
        (f'{CLAUSE}disputed = "A1"\n', "it is 'disputed', but has no 'readings'"),
        (f"{CLAUSE}why = 1\n", "the unknown key 'why'; known are id, level, rule, source, class"),
        (CLAUSE.replace('rule = "r"\n', ""), "has no rule"),
        (CLAUSE.replace('check = "c"\n', ""), "a MUST needs a 'check'"),
        (CLAUSE + CLAUSE, "a.b stands in the catalogue twice"),
    ],
)
def test_clause_that_is_not_valid_is_refused(tmp_path: Path, text: str, said: str) -> None:
    file = tmp_path / "clauses.toml"
    file.write_text(text)
    with pytest.raises(TomlError, match=said):
        catalogue.read([file])


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


def test_every_case_of_the_peer_is_covered() -> None:
    assert len(PEER) == 104
    assert [name for name, cases in PEER.items() if not cases] == []
    gone = {case for cases in PEER.values() for case in cases} - {case.id for case in collect.cases()}
    assert not gone, f"suite/contract/peer.toml names cases that are gone; name others that make the same call: {gone}"


# The sentences of the interface ---------------------------------------------------------------------------------------


def test_every_sentence_of_the_interface_is_covered_or_cannot_be_observed() -> None:
    """Each clause that a row names exists, has a case, and cites the row's line; or the row says why there is none."""
    rows = coverage(sentences(), catalogue.catalogue(), {one.id: one.clauses for one in collect.cases()})
    wrong = {row.sentence.line: row.state for row in rows if not row.settled}
    assert not wrong, f"name a clause that cites the line, or the reason, in suite/contract/interface.tsv: {wrong}"


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
    return Clause("a.b", Level.MUST, "", source, "read", "c")


@pytest.mark.parametrize(
    ("line", "sources", "cited"),
    [
        ("229", "h:229 (2.21), read | h:214,229 (2.21), read | h:220-230 (2.21), read", True),
        ("229", "h:228,230 (2.21), read | h (2.21), read | modular_filesystem.cc:229 (2.21)", False),
        ("229b", "h:229 (2.21), read", True),
        ("345+NF", "h:340, 345 (2.21)", True),
        ("168-175", "h:175 (2.21) | h:168 (2.21) | h:160-180 (2.21)", True),
        ("168-175", "h:176 (2.21) | h:167 (2.21) | h:160-167, 176-180 (2.21)", False),
        ("2", "h:229 (2.21), read", False),
        ("sign.", "anything", True),
    ],
)
def test_a_source_cites_a_line(line: str, sources: str, cited: bool) -> None:
    for source in sources.split(" | "):
        clause = made("RFC", re.sub("^h", "filesystem_interface.h", source))
        assert cites(clause, Sentence(line, "", (), "")) is cited, source


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


# The places of an op --------------------------------------------------------------------------------------------------

GROUPS = {
    "HANDLES": [op for op in OPS if op not in TABLES[FILESYSTEM]],
    "CLEANUPS": [op for op in OPS if op.endswith(".cleanup")],
    "APART": [op for op in OPS if re.search("^init$|^cleanup$|transaction|configuration", op)],
}
#: What is in tables, by the place.
IN_TABLES: dict[str, Container[str]] = {
    "OP.succeeds": {name.removesuffix(".succeeds") for name in catalogue.catalogue() if name.endswith(".succeeds")},
    "ONE_PATH, TWO_PATHS": {*statuses.ONE_PATH, *statuses.TWO_PATHS},
    "SUCCESSES": SUCCESSES,
    "OF_SIZES, of_a_new_path": {*OF_SIZES, *of_a_new_path(Mock(), "new")},
    "MOVES": small.OPS,
}


@functools.cache
def words(path: Path) -> frozenset[str]:
    """The attributes, functions and texts of a Python file; the words of another."""
    if path.suffix != ".py":
        return frozenset(re.findall(r"\w+", path.read_text()))
    nodes = list(ast.walk(ast.parse(path.read_text())))
    named = {node.name for node in nodes if isinstance(node, ast.FunctionDef)}
    named |= {node.attr for node in nodes if isinstance(node, ast.Attribute)}
    return frozenset(named | {str(node.value) for node in nodes if isinstance(node, ast.Constant)})


def without_place(op: str) -> list[str]:
    """The places that lack an op without a reason."""

    def there(place: str) -> bool:
        files, _, table = place.partition(": ")
        if table:
            return op in IN_TABLES[table]
        names = {op, op.rpartition(".")[2]}
        return any(names & words(PROJECT / file) for file in files.split())

    def excused(ops: str) -> bool:
        return any(op in GROUPS.get(one, [one]) for one in ops.split())

    return [place for place, why in DECIDED["places"].items() if not any(map(excused, why)) and not there(place)]


def test_each_op_has_every_place() -> None:
    missing = {op: places for op in OPS if (places := without_place(op))}
    where = "to each of these, or why it needs none to `places` of tests/catalogue.toml:"
    assert not missing, "\n".join("\n  ".join([f"add {op} {where}", *places]) for op, places in missing.items())


def test_op_in_its_table_alone_lacks_every_place() -> None:
    assert without_place("truncate") == [*DECIDED["places"]]


# The index of cases --------------------------------------------------------------------------------------------------

#: An editable installation would answer for the copy of the package that is first on the path.
PROGRAM = """
import sys
sys.meta_path = [finder for finder in sys.meta_path if "editable" not in type(finder).__module__]
sys.path.insert(0, sys.argv.pop(1))
from tffs_conformance.cli import main
main(standalone_mode=False)
print("pytest" in sys.modules)
"""


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where the index is going to be."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache" / "tffs-conformance"


def afresh() -> tuple[CaseFacts, ...]:
    """What a new process would be told."""
    index.cases.cache_clear()
    return index.cases()


def rows(cases: Iterable[CaseFacts]) -> list[tuple[object, ...]]:
    return [tuple(getattr(case, field.name) for field in fields(CaseFacts)) for case in cases]


def test_the_index_is_what_collection_finds(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = afresh()
    assert [path.suffix for path in cache.iterdir()] == [".json"]
    monkeypatch.setattr(index, "_collected", Mock(side_effect=AssertionError("all cases were imported")))
    assert rows(made) == rows(afresh()) == rows(collect.cases())


@pytest.mark.parametrize("wrong", [b"", b"{", b"[]", b"{}", b'{"of": 1, "cases": 2}', b"\xff\xfe"])
def test_what_is_no_index_is_made_again(cache: Path, wrong: bytes) -> None:
    made = afresh()
    (path,) = cache.iterdir()
    written = path.read_bytes()
    path.write_bytes(wrong)
    assert afresh() == made
    assert path.read_bytes() == written


def test_no_place_for_caches_is_no_harm(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    assert rows(afresh()) == rows(collect.cases())


def explained(package: Path, clause: str) -> str:
    command = [sys.executable, "-c", PROGRAM, str(package), "explain", "--all", clause]
    return subprocess.run(command, check=True, capture_output=True, text=True, cwd=package).stdout


def test_a_change_of_a_case_is_seen_whatever_its_time_and_size(cache: Path, tmp_path: Path) -> None:
    package = tmp_path / "copy"
    shutil.copytree(
        Path(tffs_conformance.__file__).parent,
        package / "tffs_conformance",
        ignore=lambda _, names: [name for name in names if name in ("__pycache__", "published", "_native", "host")],
    )
    first, second = (explained(package, "read.succeeds") for _ in range(2))
    assert "read/plain\n" in first
    assert (first.splitlines()[-1], second.splitlines()[-1]) == ("True", "False"), "the second time it is in the index"
    assert first.splitlines()[:-1] == second.splitlines()[:-1]
    changed = package / "tffs_conformance" / "suite" / "cases" / "test_read.py"
    before = changed.stat()
    text = changed.read_text()
    assert text.count("def test_plain(") == 1
    changed.write_text(text.replace("def test_plain(", "def test_plane("))
    # As compiled modules go by times and sizes, Python itself would not see it.
    shutil.rmtree(changed.parent / "__pycache__", ignore_errors=True)
    os.utime(changed, ns=(before.st_atime_ns, before.st_mtime_ns))
    third = explained(package, "read.succeeds")
    assert "read/plane\n" in third
    assert "read/plain\n" not in third
