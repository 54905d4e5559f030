"""Faults beyond the plainest use of an op: the case that is about them says so, and does not pass for another reason.

Each of them ended without a violation once: an op that never worked raced with itself, or the failure was a set-up
step. Others show only with some sizes, in some order, or after another op.
"""

from pathlib import Path

import pytest

from tests.faults.driven import all_cases, judge, named
from tffs_conformance.reports.model.verdicts import Verdict
from tffs_conformance.suite.engine.collect import Listed
from tffs_conformance.suite.properties.reproducers import KEPT
from tffs_conformance.suite.properties.traces import Trace

WRONG = (Verdict.VIOLATION, Verdict.WARNING)

#: Ops that fail for a name of 77 bytes, and for a path of 777.
OF_NAMES = ("new_appendable_file", "rename_file", "copy_file", "is_directory", "get_children", "delete_recursively")
OF_PATHS = ("stat", "copy_file", "delete_dir")
#: The fault, the case, and the clause that the case finds broken.
SHOWN = (
    ("fails:delete_file", "races/one-winner[delete_file]", "delete_file.succeeds"),
    ("fails:rename_file", "races/one-winner[rename_file]", "rename_file.succeeds"),
    ("fails:rename_file", "threads/rename-is-atomic", "rename_file.succeeds"),
    ("fails:create_dir", "races/no-change-is-lost[directories]", "create_dir.succeeds"),
    ("fails:append", "races/reading-beside-a-writer", "append.succeeds"),
    ("copy_file.only-small", "sizes/copy[131073]", "copy_file.succeeds"),
    ("rename_file.only-beside", "move/directories[rename_file-between]", "rename_file.succeeds"),
    ("rename_file.only-beside", "move/deep[rename_file-5]", "rename_file.succeeds"),
    ("rename_file.only-beside", "scenarios/checkpoint", "rename_file.succeeds"),
    ("appendable.missing-is-error", "write/append-nothing-at-all[missing]", "new_appendable_file.succeeds"),
    ("read.one-call", "storage/one-read-of-2-gib", "read.ok-is-exactly-n"),
    ("get_matching_paths.first-thousand", "listing/two-pages", "get_matching_paths.succeeds"),
    ("append.large-overtakes", "write/mixed-sizes[small-then-large]", "append.writes-exactly-n"),
    ("append.tries-again", "limits/room-again", "append.writes-exactly-n"),
    ("close.closes-twice", "write/another-between-close-and-cleanup", "close.then-cleanup"),
    ("copy_file.in-place", "limits/no-room-to-move[copy_file-over-another]", "copy_file.error-changes-nothing"),
    ("rename_file.by-copy", "limits/no-room-to-move[rename_file-over-another]", "rename_file.error-changes-nothing"),
    # Sizes by name are compared there, and no bytes.
    ("read.caps-length", "limits/no-room-to-move[rename_file-over-another]", "rename_file.keeps-the-content"),
    ("region.stale-data", "changes/after[anew-as-long]", "data.holds-the-file"),
    ("region.stale-data", "changes/after[renamed-onto]", "data.holds-the-file"),
    ("scenario.content-outlives-rename", "changes/after[renamed-onto]", "read.returns-the-bytes"),
    ("stat.mtime-seconds", "metadata/times", "stat.mtime-is-in-nanoseconds"),
    *((f"name-of-77-fails:{op}", "lengths/paths[0]", "paths.names-are-kept") for op in OF_NAMES),
    ("101st-lost:rename_file-target", "lengths/paths[0]", "paths.names-are-kept"),
    ("101st-lost:create_dir", "lengths/paths[0]", "paths.names-are-kept"),
    *((f"path-of-777-fails:{op}", "lengths/paths[2]", "paths.names-are-kept") for op in OF_PATHS),
)
#: Cases that declare other clauses see these.
BY_OTHER_CASES = (
    ("changes-directory:stat", "metadata/plain", "robustness.keeps-the-working-directory"),
    ("changes-directory:delete_file", "tree/delete-file", "robustness.keeps-the-working-directory"),
    ("handed-over.no-time-of-directories", "metadata/plain", "stat.mtime-is-in-nanoseconds"),
    ("transactions.error-returns-zero", "robustness/state-after-errors", "transactions.return-on-error"),
    ("options.one-name-twice", "configuration/near-keys", "get_filesystem_configuration.names-are-distinct"),
    ("options.no-type", "configuration/near-keys", "get_filesystem_configuration.values-fit-their-type"),
    ("plus-fails:get_children", "properties/tour[special]", "paths.names-are-kept"),
    ("cut-at-question:delete_dir", "properties/tour[special]", "paths.names-are-kept"),
    ("plus-is-a-space:new_appendable_file", "properties/tour[special]", "paths.names-are-kept"),
    ("beyond-ascii-fails:recursively_create_dir", "properties/tour[beyond-ascii]", "paths.names-are-kept"),
    ("deep-fails:is_directory", "properties/tour[far-down]", "paths.names-are-kept"),
    ("long-fails:new_read_only_memory_region_from_file", "properties/tour[far-down]", "paths.names-are-kept"),
    ("counts.one-directory-is-none", "properties/tour[plain]", "delete_dir.not-empty-is-failed-precondition"),
    ("stale-after-recursively_create_dir:get_matching_paths", "properties/tour[plain]", "get_matching_paths.literal"),
    ("content.copies-no-zeros-at-the-end", "properties/contents", "common.histories-add-up"),
    ("counts.directories-behind-a-page", "properties/crowded", "common.histories-add-up"),
    ("counts.one-behind-the-page", "properties/crowded", "get_children.names-every-entry-once"),
    ("counts.repeated-at-the-page", "properties/crowded", "get_children.names-every-entry-once"),
)


@pytest.mark.parametrize(("fault", "case", "clause"), [*SHOWN, *BY_OTHER_CASES])
def test_the_case_says_so(fault: str, case: str, clause: str) -> None:
    judged = judge("fakes/faulty", fault, named("large", case), timeout=60)
    assert clause in judged.broken(), judged.records[0].reason


@pytest.mark.parametrize("path", sorted(KEPT.glob("*.json")), ids=lambda path: path.stem)
def test_a_history_that_found_a_fault_once_finds_it_whatever_is_drawn(path: Path) -> None:
    trace = Trace.read(path)
    assert trace.clause in judge("fakes/faulty", path.stem, named("full", trace.case), examples=1).broken()


@pytest.mark.parametrize("case", ["properties/tree", "properties/handles"])
def test_a_right_plugin_keeps_these_histories(case: str) -> None:
    (record,) = judge("posix", "", named("full", case), examples=1).records
    kept = sum(trace.case == case for trace in map(Trace.read, KEPT.glob("*.json")))
    assert (record.verdict, f"{1 + kept} histories were tried" in str(record.reason)) == (Verdict.CONFORM, True)


@pytest.mark.parametrize("kind", ["null", "unimplemented"])
@pytest.mark.parametrize("op", ["path_exists", "new_writable_file", "delete_dir", "delete_recursively", "is_directory"])
def test_threads_find_the_same_whichever_ops_there_are(kind: str, op: str) -> None:
    judged = judge("fakes/faulty", f"{kind}:{op}", named("full", "threads/filesystem[*", "threads/rename*"))
    # What is no answer sets no counters: that is told as it is.
    assert judged.broken(*WRONG) <= {"delete_recursively.writes-both-counters"}


@pytest.mark.parametrize(
    ("fault", "cases", "seconds", "clause"),
    [
        # Threads that wait for each other.
        ("copy_file.takes-two", named("full", "threads/filesystem[list]"), 5, "robustness.no-hang"),
        # No op is blamed because it does not know a name that translate_name did not clean.
        ("translate_name.keeps-spellings", [*all_cases("quick")[::3], *named("full", "*spelling*")], None,
         "translate_name.is-stable"),
        # Wrong bytes are no overrun.
        ("read.garbage", named("full", "ownership/read[*"), None, "read.returns-the-bytes"),
    ],
    ids=["takes-two", "keeps-spellings", "garbage"],
)  # fmt: skip
def test_one_cause_breaks_one_clause(fault: str, cases: list[Listed], seconds: float | None, clause: str) -> None:
    judged = judge("fakes/faulty", fault, cases, seconds)
    assert judged.broken(*WRONG) == {clause}, [one.reason for one in judged.records]


@pytest.mark.parametrize(
    ("fault", "case", "verdict"),
    [
        # What an open that fails leaves behind is not laid upon the op.
        ("changes-on-error:new_random_access_file", "tree/delete-file", Verdict.CONFORM),
        # Options that cannot be set are no error of the suite.
        ("options.cannot-set-all", "configuration/lent", Verdict.ABSENT),
    ],
)
def test_another_op_is_not_blamed(fault: str, case: str, verdict: Verdict) -> None:
    (record,) = judge("fakes/faulty", fault, named("full", case)).records
    assert record.verdict is verdict, (record.checks, record.reason)
