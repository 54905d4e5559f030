"""What is known of a target before its cases, and what a case makes of it: one cause, told where it is."""

import pickle
import tempfile
from collections import Counter
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import Mock

import pytest

from tests.faults.driven import Judged, all_cases, judge
from tests.test_suite import report, run
from tffs_conformance.harness.ops.codes import Code
from tffs_conformance.harness.ops.outcomes import Outcome
from tffs_conformance.harness.targets.shipped import plugin_path
from tffs_conformance.reports.model.verdicts import Verdict
from tffs_conformance.run.targets import only_target
from tffs_conformance.suite.engine.first_look import first_look
from tffs_conformance.suite.engine.target import Target
from tffs_conformance.suite.engine.witnesses import nobody_finds


def of(fault: str, *prefixes: str) -> Judged:
    """The quick tier's cases whose ids begin with one of these, on the fake with this fault."""
    cases = [one for one in all_cases("quick") if one.id.startswith(prefixes)]
    assert cases
    return judge("fakes/faulty", fault, cases)


def violations(judged: Judged) -> Counter[str]:
    return Counter(c.clause for one in judged.records for c in one.checks if c.verdict is Verdict.VIOLATION)


def reasons(judged: Judged) -> str:
    return "\n".join(one.reason or "" for one in judged.records if one.verdict is Verdict.NOT_RUN)


@pytest.mark.parametrize("plugin", ["posix", "memory", "objectstore_minimal"])
def test_a_right_plugin_fails_at_nothing_plain(plugin: str) -> None:
    known = first_look(only_target(plugin, None, None, {}, 20))
    assert dict(known.fails_plainly) == {}
    assert known.unimplemented == frozenset()
    assert known.root_made


def test_what_was_found_out_travels_to_workers(tmp_path: Path) -> None:
    root = f"faulty://{tmp_path}/root"
    target = Target("faulty", plugin_path("fakes/faulty"), "faulty", root, {"TFFS_FAULT": "fails:get_children"})
    known = first_look(target)
    assert list(known.fails_plainly) == ["get_children"]
    assert pickle.loads(pickle.dumps(known)) == known


def test_an_op_that_fails_only_here_is_a_violation_also_where_it_prepares() -> None:
    # The name has a '+' or is beyond ASCII: rename works plainly, and its own cases have plain names only.
    found = violations(of("setup.renames-plain-names-only", "names/moved"))
    assert found["rename_file.succeeds"] + found["paths.names-are-kept"] > 0


def test_a_root_is_made_in_any_way_that_works() -> None:
    judged = of("setup.missing-is-unknown", "status/one-path[path_exists", "tree/create-recursively", "read/plain")
    assert set(violations(judged)) == {"path_exists.missing-is-not-found"}
    assert "blocked by path_exists: UNKNOWN" in reasons(judged)


def test_a_crash_while_the_root_is_made_has_its_own_clause() -> None:
    judged = of("crash:recursively_create_dir", "tree/create-recursively", "read/plain")
    assert violations(judged)["robustness.no-crash"] > 0
    assert [one.verdict for one in judged.records if one.id == "read/plain"] == [Verdict.CONFORM]


def test_what_a_crash_before_the_case_printed_is_told() -> None:
    judged = of("crash:translate_name", "translate/")
    assert any("backtrace" in one.output for one in judged.records)


def test_a_directory_that_is_not_there_after_ok_is_the_fault_of_create_dir() -> None:
    judged = of("create_dir.creates-nothing", "tree/create", "read/", "listing/")
    assert {name.partition(".")[0] for name in violations(judged)} == {"create_dir"}
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
        ("setup.ends-never", "move/", "read answers OK behind the end of the file"),
    ],
)
def test_a_default_of_core_that_would_never_end_has_a_bound(fault: str, cases: str, said: str) -> None:
    judged = of(fault, cases)
    texts = [c.got for one in judged.records for c in one.checks] + [one.reason or "" for one in judged.records]
    assert any(said in text for text in texts)


def test_a_backing_that_is_somewhere_else_is_refused_in_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    done = run(tmp_path, "--plugin=posix", f"--backing=file://{tmp_path}/elsewhere", "--tier=smoke")
    assert done.returncode == pytest.ExitCode.USAGE_ERROR
    assert "ERROR: the backing file://" in done.stderr + done.stdout
    assert f"is not where posix://{tempfile.gettempdir()}/" in done.stderr + done.stdout


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


def test_what_is_opened_against_expectation_is_given_back() -> None:
    judged = of("new_random_access_file.opens-directory", "robustness/process-state")
    assert violations(judged)["robustness.leaves-no-descriptor"] == 0


def test_a_name_is_not_blamed_for_what_a_plain_one_is_answered_too() -> None:
    found = violations(of("missing-is-ok:delete_file", "names/of-nothing"))
    assert found["paths.names-are-kept"] == 0
