"""Faults beyond the plainest use of an op: the case that is about them says so, and does not pass for another reason.

Each of them ended without a violation once: an op that never worked raced with itself, or the failure was a set-up
step. Others show only with some sizes, in some order, or after another op.
"""

import pytest

from tests.faults.driven import all_cases, judge
from tffs_conformance.reports.model.verdicts import Verdict

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
    ("region.stale-data", "changes/after[anew-as-long]", "data.holds-the-file"),
    ("region.stale-data", "changes/after[renamed-onto]", "data.holds-the-file"),
    ("scenario.content-outlives-rename", "changes/after[renamed-onto]", "read.returns-the-bytes"),
    ("stat.mtime-seconds", "metadata/times", "stat.mtime-is-in-nanoseconds"),
    ("name-of-77-fails:new_appendable_file", "lengths/paths[0]", "paths.names-are-kept"),
    ("name-of-77-fails:rename_file", "lengths/paths[0]", "paths.names-are-kept"),
    ("name-of-77-fails:copy_file", "lengths/paths[0]", "paths.names-are-kept"),
    ("name-of-77-fails:is_directory", "lengths/paths[0]", "paths.names-are-kept"),
    ("name-of-77-fails:get_children", "lengths/paths[0]", "paths.names-are-kept"),
    ("name-of-77-fails:delete_recursively", "lengths/paths[0]", "paths.names-are-kept"),
    ("101st-lost:rename_file-target", "lengths/paths[0]", "paths.names-are-kept"),
    ("101st-lost:create_dir", "lengths/paths[0]", "paths.names-are-kept"),
    ("path-of-777-fails:stat", "lengths/paths[2]", "paths.names-are-kept"),
    ("path-of-777-fails:copy_file", "lengths/paths[2]", "paths.names-are-kept"),
    ("path-of-777-fails:delete_dir", "lengths/paths[2]", "paths.names-are-kept"),
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
    ("counts.one-behind-the-page", "properties/crowded", "get_children.names-every-entry-once"),
    ("counts.repeated-at-the-page", "properties/crowded", "get_children.names-every-entry-once"),
)


@pytest.mark.parametrize(("fault", "case", "clause"), [*SHOWN, *BY_OTHER_CASES])
def test_the_case_says_so(fault: str, case: str, clause: str) -> None:
    (listed,) = [one for one in all_cases("large") if one.id == case]
    (record,) = judge("fakes/faulty", fault, [listed], timeout=60).records
    broken = {check.clause for check in record.checks if check.verdict is Verdict.VIOLATION}
    assert clause in broken, f"{record.verdict}: {record.reason}"


@pytest.mark.parametrize("kind", ["null", "unimplemented"])
@pytest.mark.parametrize("op", ["path_exists", "new_writable_file", "delete_dir", "delete_recursively", "is_directory"])
def test_threads_find_the_same_whichever_ops_there_are(kind: str, op: str) -> None:
    cases = [one for one in all_cases("full") if one.id.startswith(("threads/filesystem[", "threads/rename"))]
    records = judge("fakes/faulty", f"{kind}:{op}", cases).records
    broken = {
        check.clause for one in records for check in one.checks if check.verdict in (Verdict.VIOLATION, Verdict.WARNING)
    }
    # What is no answer sets no counters: that is told as it is.
    assert broken <= {"delete_recursively.writes-both-counters"}


def test_threads_that_wait_for_each_other_are_a_hang() -> None:
    (listed,) = [one for one in all_cases("full") if one.id == "threads/filesystem[list]"]
    (record,) = judge("fakes/faulty", "copy_file.takes-two", [listed], timeout=5).records
    broken = {check.clause for check in record.checks if check.verdict is Verdict.VIOLATION}
    assert broken == {"robustness.no-hang"}, f"{record.verdict}: {record.reason}"


def test_what_spellings_break_is_told_of_translate_name_alone() -> None:
    """One cause: no op is blamed because it does not know a name that translate_name did not clean."""
    cases = list(all_cases("quick")) + [one for one in all_cases("full") if "spelling" in one.id]
    records = judge("fakes/faulty", "translate_name.keeps-spellings", cases).records
    wrong = (Verdict.VIOLATION, Verdict.WARNING)
    broken = {check.clause for one in records for check in one.checks if check.verdict in wrong}
    assert broken == {"translate_name.is-stable"}


def test_wrong_bytes_are_no_overrun() -> None:
    cases = [one for one in all_cases("full") if one.id.startswith("ownership/read[")]
    records = judge("fakes/faulty", "read.garbage", cases).records
    broken = {check.clause for one in records for check in one.checks if check.verdict is Verdict.VIOLATION}
    assert broken == {"read.returns-the-bytes"}


def test_what_an_open_that_fails_leaves_behind_is_not_laid_upon_delete_file() -> None:
    cases = [one for one in all_cases("full") if one.id == "tree/delete-file"]
    (record,) = judge("fakes/faulty", "changes-on-error:new_random_access_file", cases).records
    assert record.verdict is Verdict.CONFORM, record.checks


def test_options_that_cannot_be_set_are_no_error_of_the_suite() -> None:
    cases = [one for one in all_cases("full") if one.id == "configuration/lent"]
    (record,) = judge("fakes/faulty", "options.cannot-set-all", cases).records
    assert record.verdict is Verdict.ABSENT, record.reason
