"""What is known of a target before its cases, and what a case makes of it: one cause, told where it is."""

import pickle
import tempfile
from collections import Counter
from collections.abc import Iterator, Set
from contextlib import nullcontext
from dataclasses import replace
from itertools import count, repeat
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import Mock

import pytest

from tests.faults.driven import Judged, judge, named
from tests.test_suite import refused, report, run
from tffs_conformance.harness.ops.codes import Code
from tffs_conformance.harness.ops.outcomes import Outcome
from tffs_conformance.harness.targets.shipped import plugin_path
from tffs_conformance.reports.model.records import CaseRecord, Ending
from tffs_conformance.reports.model.verdicts import Verdict
from tffs_conformance.run.targets import only_target
from tffs_conformance.suite.engine.control import called_plainly, excused
from tffs_conformance.suite.engine.first_look import CHANGES, first_look, refusals
from tffs_conformance.suite.engine.target import Target
from tffs_conformance.suite.engine.witnesses import nobody_finds
from tffs_conformance.suite.judge.evidence import Statement


def of(fault: str, *prefixes: str) -> Judged:
    """The quick tier's cases whose ids begin with one of these, on the fake with this fault."""
    return judge("fakes/faulty", fault, named("quick", *(f"{prefix}*" for prefix in prefixes)))


def reasons(judged: Judged) -> str:
    return "\n".join(one.reason or "" for one in judged.records if one.verdict is Verdict.NOT_RUN)


@pytest.mark.parametrize("plugin", ["posix", "memory", "objectstore_minimal"])
def test_a_right_plugin_fails_at_nothing_plain(plugin: str) -> None:
    known = first_look(only_target(plugin, None, None, {}, 20))
    assert dict(known.fails_plainly) == {}
    assert dict(known.unimplemented) == {}
    assert known.root_made


@pytest.mark.parametrize(("trees", "refuse"), [(repeat({}), CHANGES.keys()), (count(), set())], ids=["no", "yes"])
def test_denied_change_is_not_made(trees: Iterator[Any], refuse: Set[str]) -> None:
    bench, filesystem = Mock(), Mock(present=CHANGES.keys())
    bench.configure_mock(**{"target.claims": {}, "directory.return_value": "x://root/refused"})
    bench.backing.tree.side_effect = trees
    bench.alone.side_effect = lambda _, use: use(filesystem)
    for op in CHANGES:
        getattr(filesystem, op).return_value.code = Code.PERMISSION_DENIED
    assert refusals(bench).keys() == refuse


def test_what_was_found_out_travels_to_workers(tmp_path: Path) -> None:
    root = f"faulty://{tmp_path}/root"
    target = Target("faulty", plugin_path("fakes/faulty"), "faulty", root, {"TFFS_FAULT": "fails:get_children"})
    known = first_look(target)
    assert list(known.fails_plainly) == ["get_children"]
    assert pickle.loads(pickle.dumps(known)) == known


def test_an_op_that_fails_only_here_is_a_violation_also_where_it_prepares() -> None:
    # The name has a '+' or is beyond ASCII: rename works plainly, and its own cases have plain names only.
    broken = of("setup.renames-plain-names-only", "names/moved").broken()
    assert broken & {"rename_file.succeeds", "paths.names-are-kept"}


def test_a_root_is_made_in_any_way_that_works() -> None:
    judged = of("setup.missing-is-unknown", "status/one-path[path_exists", "tree/create-recursively", "read/plain")
    assert judged.broken() == {"path_exists.missing-is-not-found"}
    assert "blocked by path_exists: UNKNOWN" in reasons(judged)


def test_a_crash_while_the_root_is_made_has_its_own_clause() -> None:
    judged = of("crash:recursively_create_dir", "tree/create-recursively", "read/plain")
    assert "robustness.no-crash" in judged.broken()
    assert [one.verdict for one in judged.records if one.id == "read/plain"] == [Verdict.CONFORM]


def test_what_a_crash_before_the_case_printed_is_told() -> None:
    judged = of("crash:translate_name", "translate/")
    assert any("backtrace" in one.output for one in judged.records)


def test_a_directory_that_is_not_there_after_ok_is_the_fault_of_create_dir() -> None:
    judged = of("create_dir.creates-nothing", "tree/create", "read/", "listing/")
    assert {name.partition(".")[0] for name in judged.broken()} == {"create_dir"}
    # What needs a directory gets it from the backing.
    assert "blocked by create_dir" not in reasons(judged)


def test_what_answers_unimplemented_counts_as_null() -> None:
    judged = of("setup.stubs", "read/", "listing/", "robustness/present-op")
    verdicts = Counter(one.verdict for one in judged.records)
    assert verdicts[Verdict.VIOLATION] == 0
    assert verdicts[Verdict.CONFORM] > len(judged.records) / 3
    said = {c.reading for one in judged.records for c in one.checks if c.clause == "common.present-op-is-unimplemented"}
    assert said == {"implemented", "unsupported"}


@pytest.mark.parametrize(
    ("fault", "cases", "said"),
    [
        ("setup.lists-itself", "tree/delete-recursively", "get_children gives '.', which leads to where it was"),
        ("setup.ends-never", "move/", "read answers OK past the end of the file"),
    ],
)
def test_a_default_of_core_that_would_never_end_has_a_bound(fault: str, cases: str, said: str) -> None:
    judged = of(fault, cases)
    texts = [c.got for one in judged.records for c in one.checks] + [one.reason or "" for one in judged.records]
    assert any(said in text for text in texts)


def test_a_backing_that_is_somewhere_else_is_refused_in_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    said = refused(tmp_path, "ERROR: the backing file://", "--plugin=posix", f"--backing=file://{tmp_path}/elsewhere")
    assert f"is not where posix://{tempfile.gettempdir()}/" in said


def test_a_backing_that_is_not_proven_blames_nobody() -> None:
    # The fake loses what it writes, so that nothing is known of the backing.
    known = first_look(replace(only_target("fakes/faulty", None, None, {"TFFS_FAULT": "append.drops"}, 20),
                               backing="file:///elsewhere"))  # fmt: skip
    assert known.wrong_backing is None


@pytest.mark.parametrize(("read", "found"), [(Code.NOT_FOUND, False), (Code.OK, True), (Code.OUT_OF_RANGE, True)])
def test_one_that_opens_everything_tells_by_what_it_reads(read: Code, found: bool) -> None:
    """A filesystem that opens whatever there is, and knows no directories."""
    lazy: Any = SimpleNamespace()
    codes = {"path_exists": Code.NOT_FOUND, "stat": Code.UNAVAILABLE, "get_children": Code.UNIMPLEMENTED,
             "new_random_access_file": Code.OK, "read": read}  # fmt: skip
    for op, code in codes.items():
        setattr(lazy, op, Mock(return_value=Outcome(op, code, "", nullcontext(lazy))))
    assert nobody_finds(lazy, "lazy://host/file", is_file=True) is not found


def test_the_backing_makes_what_a_broken_op_does_not(tmp_path: Path) -> None:
    def judged(*more: str) -> dict[str, str]:
        (tmp_path / "root").mkdir(exist_ok=True)
        run(tmp_path, "--plugin=fakes/faulty", "--env=TFFS_FAULT=fails:create_dir", f"--root=faulty://{tmp_path}/root",
            "--case=metadata/plain", "--case=tree/create", *more)  # fmt: skip
        return {case["id"]: case["verdict"] for case in report(tmp_path)["cases"]}

    assert judged() == {"metadata/plain": "not run", "tree/create": "violation"}
    assert judged("--backing=file://{path}") == {"metadata/plain": "conform", "tree/create": "violation"}


@pytest.mark.parametrize(
    ("fault", "cases", "clause"),
    [
        # What is opened against expectation is given back.
        ("new_random_access_file.opens-directory", "robustness/process-state", "robustness.leaves-no-descriptor"),
        # A name is not blamed for what a plain one is answered, too.
        ("missing-is-ok:delete_file", "names/of-nothing", "paths.names-are-kept"),
    ],
)
def test_what_is_not_at_fault(fault: str, cases: str, clause: str) -> None:
    assert clause not in of(fault, cases).broken()


# What goes wrong with a plain name in the same way is no fault of another name --------------------------------------

KEPT = "paths.names-are-kept"
CALLED = {"a b": "plain", "a ": "plai", "a b-1": "plain-1"}
LABELS = ("plain", "space", "plus", "255-bytes")
NAMES = (
    *(f"names/{kind}[{label}]" for kind in ("file", "directory", "moved") for label in LABELS),
    *("names/deep[1]", "names/deep[2]", "names/long[200]"),
)


@pytest.mark.parametrize(
    ("of_name", "plain", "same"),
    [
        (["a ", "a b", "a b-1"], ["plai", "plain", "plain-1"], True),
        (["!", "a b"], ["plain", "!"], True),
        ({"a b/a b/leaf": b"content"}, {"plain/plain/leaf": b"content"}, True),
        ({"copy": b"content"}, {"copy": b"content"}, True),
        (({"a b"}, 1), ({"plain"}, 1), True),
        (["a ", "a b"], ["plain"], False),
        (["a%20b"], ["plain"], False),
        ({"a b": b"content"}, {"plain": b"conten"}, False),
        ({"a b": b"content"}, {"plai": b"content"}, False),
        ((1, 2), (2, 1), False),
    ],
)
def test_the_same_but_for_the_name(of_name: object, plain: object, same: bool) -> None:
    assert (called_plainly(of_name, CALLED) == called_plainly(plain, {})) is same


WRONG = (KEPT, False, "code=OK", "stat: code=INTERNAL")
OF_OP = ("stat.succeeds", False, "code=OK", "code=INTERNAL")


@pytest.mark.parametrize(
    ("made", "control", "count"),
    [
        (WRONG, WRONG, 1),
        # What the control keeps is no excuse, nor is what it breaks of another clause or finds beside another demand.
        (WRONG, (KEPT, True, *WRONG[2:]), 0),
        (WRONG, ("paths.illegal-names", *WRONG[1:]), 0),
        (WRONG, (KEPT, False, "code=NOT_FOUND", WRONG[3]), 0),
        # A clause about an op is the op's own.
        (OF_OP, OF_OP, 0),
    ],
)
def test_what_is_excused(made: tuple[str, bool, str, str], control: tuple[str, bool, str, str], count: int) -> None:
    assert len(list(excused([Statement(*made)], [Statement(*control)], CALLED))) == count


def of_names(fault: str, *names: str) -> tuple[CaseRecord, ...]:
    return judge("fakes/faulty", fault, named("quick", *(names or NAMES))).records


def wrong(records: tuple[CaseRecord, ...]) -> set[str]:
    """The cases that find something wrong."""
    return {one.id for one in records if one.verdict is Verdict.VIOLATION}


@pytest.mark.parametrize(
    ("fault", "tellers"),
    [
        ("fails:delete_file", {"names/file[plain]", "names/deep[1]"}),
        ("rename_file.copies", {"names/moved[plain]"}),
        ("wrong-code:stat", {"names/deep[1]"}),
        ("get_children.skips-directories", {"names/directory[plain]", "names/deep[1]"}),
        # What is below a long path is cut where it is shown.
        ("get_matching_paths.only-names", {"names/deep[1]"}),
    ],
)
def test_what_is_so_with_a_plain_name_its_case_tells(fault: str, tellers: set[str]) -> None:
    records = of_names(fault)
    assert wrong(records) == tellers
    said = {one.reason for one in records if one.id not in tellers}
    assert said == {None, *(f"a plain name gives the same result: see {teller}" for teller in tellers)}
    # What was not come to is not known.
    for one in records:
        assert one.ended is not Ending.BLOCKED or one.verdict in (Verdict.NOT_RUN, Verdict.VIOLATION)


def test_without_its_control_a_case_tells_what_it_saw() -> None:
    assert wrong(of_names("rename_file.copies", "names/moved[plus]")) == {"names/moved[plus]"}


def test_the_reason_is_that_of_what_is_left() -> None:
    """An op that fails with this name ends the case; that another one lies about all names does not say why."""
    records = {one.id: one for one in of_names("get_file_size.plus-one,plus-fails:new_random_access_file")}
    assert records["names/file[space]"].reason == "a plain name gives the same result: see names/file[plain]"
    assert str(records["names/file[plus]"].reason).startswith("blocked by new_random_access_file")


@pytest.mark.parametrize("plain", ["", ",fails:delete_file", ",rename_file.copies"])
def test_a_fault_of_a_name_is_told_beside_one_of_all_names(plain: str) -> None:
    records = of_names(f"plus-fails:stat{plain}")
    of_plus = {one.id for one in records if "[plus]" in one.id} & wrong(records)
    assert {"names/file[plus]", "names/directory[plus]"} <= of_plus
