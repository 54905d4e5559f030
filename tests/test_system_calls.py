"""--conditions=syscalls: what a plugin makes of a system call that fails is told, and nothing else changes."""

import re
import shutil
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from tests.test_suite import report, run, run_anew
from tffs_conformance.harness.launchers.strace import Call, read
from tffs_conformance.harness.ops.codes import Code
from tffs_conformance.reports import document
from tffs_conformance.reports.model.verdicts import Verdict
from tffs_conformance.run.parts import SUITE
from tffs_conformance.suite.contract.system_calls import calls, codes
from tffs_conformance.suite.engine.contents import harmed, missing
from tffs_conformance.suite.engine.failing import Attempt, Failure, failures, untold
from tffs_conformance.suite.engine.stimulus import Performance
from tffs_conformance.suite.judge.merge import merge

CLONE = Path(__file__).parents[1]
SYSCALLS = "--conditions=syscalls"
NOTHING = Performance.__new__(Performance)
CLASS = "system-calls"
TOLD, KEPT, AGAIN, CLOSED, CODE, INTERRUPTED = (
    f"{CLASS}.{name}"
    for name in (
        "failure-is-told", "keeps-what-was-there", "works-again", "closes-once", "code",
        "interruption-changes-nothing",
    )
)  # fmt: skip
needs_strace = pytest.mark.skipif(shutil.which("strace") is None, reason="strace is not there: apt-get install strace")

#: Each fault, the stimulus that shows it, the clause that it breaks, and what is said of it.
FAULTS = {
    "write-is-ok": ("write", TOLD, "write 1 of 3 fails with ENOSPC: OK, but file has"),
    "spill-is-ok": ("write-much", TOLD, "write 1 of 74 fails with ENOSPC: OK, but file has"),
    "close-is-ok": ("write", TOLD, "close fails with EIO: OK, but nobody says so"),
    "sync-is-ok": ("sync", TOLD, "fsync fails with EIO: OK, but nobody says so"),
    "append-crashes": ("write", TOLD, "write 1 of 3 fails with ENOSPC: append ended the process"),
    "append-stays-broken": ("write", AGAIN, "write 1 of 3 fails with ENOSPC: append: code=UNKNOWN"),
    "append-is-internal": (
        "write", CODE, "write 1 of 3 fails with ENOSPC: append: code=INTERNAL instead of RESOURCE_EXHAUSTED",
    ),
    "write-interrupted": ("write", INTERRUPTED, "write 1 of 3 fails with EINTR: append: code=UNAVAILABLE"),
    "read-interrupted": ("read", INTERRUPTED, "openat fails with EINTR: new_random_access_file: code=UNAVAILABLE"),
    "read-ends": ("read", TOLD, "pread64 2 of 2 fails with EIO: OK, but the answer is"),
    "rename-removes-first": ("rename-over", KEPT, "rename fails with EIO: target is gone"),
    "copy-is-short": ("copy", TOLD, "read 1 of 2 fails with EIO: OK, but new has b''"),
    "copy-of-much-is-short": ("copy-much", TOLD, "read 1 of 75 fails with EIO: OK, but new has"),
    "rename-elsewhere-is-short": ("rename-elsewhere", TOLD, "read 1 of 2 fails with EIO: OK, but new has b''"),
    "delete-leaves-some": ("delete_recursively", TOLD, "unlink 1 of 3 fails with EIO: OK, but d is still there"),
    "listing-ends": ("get_children", TOLD, "getdents64 1 of 2 fails with EIO: OK, but the answer is"),
    "lookup-misses": ("path_exists", CODE, "newfstatat fails with EIO: path_exists: code=NOT_FOUND instead of UNKNOWN"),
    "lookup-misses-all": (
        "paths_exist", CODE, "newfstatat 1 of 2 fails with EIO: paths_exist: code=NOT_FOUND instead of UNKNOWN",
    ),
    "create-is-ok": ("create_dir", TOLD, "mkdir fails with EIO: OK, but new is not there"),
    "sync-tries-again": ("sync", TOLD, "fsync fails with EIO: OK, but nobody says so"),
    "mapping-is-ok": ("sync", TOLD, "msync fails with EIO: OK, but nobody says so"),
    "synced-too-early": ("write", TOLD, "close fails with EIO: OK, but nobody says so"),
    "created-close-is-ok": ("write", TOLD, "close fails with EIO: OK, but nobody says so"),
    "copied-close-is-ok": ("write", TOLD, "close 2 of 2 fails with EIO: OK, but nobody says so"),
    "append-spoils-its-file": (
        "write", AGAIN, "write 1 of 3 fails with ENOSPC: on the same files: append: code=UNKNOWN",
    ),
    "lookup-is-remembered": (
        "path_exists", AGAIN, "newfstatat fails with EIO: on the same files: path_exists: code=UNKNOWN",
    ),
    "rename-tidies-up": ("rename", KEPT, "rename fails with EIO: beside is gone"),
    "closes-again": ("write", CLOSED, "close fails with EIO: a descriptor is closed once more"),
    "open-leaks": ("read", CLOSED, "newfstatat fails with EIO: a descriptor stays open"),
}  # fmt: skip


def checks(found: dict[str, Any], verdict: str) -> list[dict[str, Any]]:
    return [one for record in found["cases"] for one in record["checks"] if one["verdict"] == verdict]


def case(stimulus: str) -> str:
    return f"system-calls/one-fails[{stimulus}]"


@needs_strace
@pytest.mark.parametrize("fault", FAULTS)
def test_a_careless_op_is_told(tmp_path: Path, fault: str) -> None:
    stimulus, clause, said = FAULTS[fault]
    given = ["--plugin=fakes/faulty", f"--env=TFFS_FAULT=failing.{fault}", f"--case={case(stimulus)}", SYSCALLS]
    done = run(tmp_path, *given)
    found = report(tmp_path)
    wrong = [(one["clause"], one["got"]) for verdict in ("violation", "warning") for one in checks(found, verdict)]
    assert any(name == clause and got.startswith(f"{stimulus}: {said}") for name, got in wrong), wrong
    assert all(name.startswith(f"{CLASS}.") for name, _ in wrong)
    assert done.returncode == (clause in (TOLD, KEPT, AGAIN, CLOSED))
    # Each attempt that leaves something open would be waited for.
    assert sum("stays open" in got for _, got in wrong) <= 1


@needs_strace
def test_the_line_of_a_finding_finds_it_again(tmp_path: Path) -> None:
    given = ["--plugin=fakes/faulty", "--env=TFFS_FAULT=failing.create-is-ok", "--case=system-calls/*dir]", SYSCALLS]
    done = run(tmp_path, *given)
    line = next(line for line in done.stdout.splitlines() if "--case=" in line)
    assert SYSCALLS in line
    assert "system-calls/one-fails[create_dir]" in line


@needs_strace
def test_what_lives_in_its_process_has_no_calls(tmp_path: Path) -> None:
    run(tmp_path, "--plugin=memory", f"--case={case('write')}", SYSCALLS)
    (record,) = report(tmp_path)["cases"]
    assert record["verdict"] == "absent"
    assert record["reason"] == "its storage lives in its process, and not in files"


@needs_strace
def test_what_core_does_by_other_ops_is_not_held_against_a_plugin(tmp_path: Path) -> None:
    given = ["--plugin=posix_choices", "--env=TFFS_CHOICES=no-optional-ops", f"--case={case('get_matching_paths')}"]
    run(tmp_path, *given, SYSCALLS)
    (record,) = report(tmp_path)["cases"]
    assert record["verdict"] == "absent", record
    assert record["reason"] == "core performs get_matching_paths by other ops, which are tried"


@needs_strace
def test_who_creates_late_is_not_blamed(tmp_path: Path) -> None:
    run(tmp_path, "--plugin=posix_choices", "--env=TFFS_CHOICES=all", f"--case={case('write')}", SYSCALLS)
    (record,) = report(tmp_path)["cases"]
    assert record["verdict"] == "conform", record


@needs_strace
def test_a_right_plugin_is_not_blamed_and_parts_make_a_whole_run(tmp_path: Path) -> None:
    parts = []
    for number in (1, 2):
        done = run(
            tmp_path, "--plugin=posix", "--tier=smoke", SYSCALLS, f"--shard={number}/2", f"--report-dir={number}"
        )
        assert done.returncode == 0, done.stdout
        path = tmp_path / str(number) / "report.json"
        parts.append((path, document.load(path)))
    whole = merge(parts, SUITE).report
    assert whole.verdict == whole.classes[CLASS].verdict == "conformant"
    cases = [one for one in whole.cases if one.id.startswith(f"{CLASS}/")]
    verdicts = {check.verdict for one in cases for check in one.checks}
    assert verdicts == {Verdict.CONFORM, Verdict.DOES_NOT_APPLY}
    said = " ".join(one.output for one in cases)
    tried = [int(number) for number in re.findall(r"(\d+) failing system calls were tried", said)]
    assert len(tried) == len(cases) > 18
    assert all(tried)


@needs_strace
@pytest.mark.parametrize("choice", ["sync-aside", "sync-by-mapping", "sync-each-write"])
def test_who_syncs_in_another_way_is_not_blamed(tmp_path: Path, choice: str) -> None:
    given = ["--plugin=posix_choices", f"--env=TFFS_CHOICES={choice}", "--conditions=syscalls,memory"]
    cases = [f"--case={name}/one-fails[{op}]" for name in (CLASS, "out-of-memory") for op in ("sync", "append")]
    done = run(tmp_path, *given, *cases, "--fail-on=warning,not-run")
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize("said", ["strace is not there: apt-get install strace", "strace: attach: not permitted"])
def test_strace_that_cannot_be_used_says_why(tmp_path: Path, said: str) -> None:
    (tmp_path / "bin").mkdir()
    if "attach" in said:
        (tmp_path / "bin" / "strace").write_text(f"#!/bin/sh\necho '{said}' >&2\nexit 1\n")
        (tmp_path / "bin" / "strace").chmod(0o755)
    run_anew(tmp_path, "--plugin=posix", f"--case={case('write')}", SYSCALLS, PATH=str(tmp_path / "bin"))
    (record,) = report(tmp_path)["cases"]
    assert (record["verdict"], record["reason"]) == ("not run", said)


#: Conditions and sanitizers, which start the hosts themselves, and what else starts hosts.
OURS = (SYSCALLS, "--conditions=kill", "--conditions=power", "--sanitizer=memcheck", "--sanitizer=thread")
OTHERS = ("--host-command={host}", "--through=tensorflow", "--sandbox=on")


@pytest.mark.parametrize(("asked", "other"), [*product(OURS, OTHERS), ("--sanitizer=thread", "--runtime=/x")])
def test_options_that_start_hosts_exclude_each_other(tmp_path: Path, asked: str, other: str) -> None:
    done = run(tmp_path, "--plugin=posix", asked, other)
    assert done.returncode == 4
    names = f"{asked.partition('=')[0]} and {other.partition('=')[0]}"
    assert f"{names} exclude each other" in done.stderr + done.stdout


def test_a_condition_that_is_none(tmp_path: Path) -> None:
    done = run(tmp_path, "--plugin=posix", "--conditions=rain")
    assert done.returncode == 4
    assert "--conditions=rain: choose from syscalls, kill, power" in done.stderr + done.stdout


def test_a_run_without_it_knows_nothing_of_it(tmp_path: Path) -> None:
    assert run(tmp_path, "--plugin=posix", "--case=plain/once[delete_file]").returncode == 0
    found = report(tmp_path)
    assert not any(name.startswith((CLASS, "robustness.memory-safe")) for name in found["clauses"])
    assert not {CLASS, "memory-safety"} & {*found["classes"]}


# What strace writes --------------------------------------------------------------------------------------------------


def test_calls_are_read_with_the_files_that_they_name() -> None:
    found = read(
        '7 read(3<pipe:[1]>, ""..., 9) = 9\n'
        '7 openat(AT_FDCWD</work>, "/d/a", O_WRONLY|O_CREAT, 0666) = 5</d/a>\n'
        '8 write(5</d/a>, ""..., 1 <unfinished ...>\n'
        "7 close(5</d/a>) = -1 EIO (Input/output error) (INJECTED)\n"
        "8 <... write resumed>) = 1\n"
        "7 close(6</d/caf\\303\\251>) = 0\n"
        "7 +++ exited with 0 +++\n"
    )
    assert [(call.name, call.number) for call in found] == [
        ("read", 1), ("openat", 1), ("write", 1), ("close", 1), ("close", 2),
    ]  # fmt: skip
    assert [set(call.within("/d")) for call in found] == [set(), {"a"}, {"a"}, {"a"}, {"café"}]
    assert not any(call.within("/d/b") for call in found)
    assert found[1].within("/d/a") == ("",)
    assert [call.injected for call in found] == [False, False, False, True, False]
    assert [call.succeeded for call in found] == [True, True, True, False, True]
    assert [call.descriptor for call in found] == ["3", "5", "5", "5", "6"]


def test_the_plan_has_the_first_the_last_and_the_middle_call_of_each_name() -> None:
    made = [Call("7", "write", number, ("/d/a",), "write(") for number in range(3, 10)]
    made += [Call("7", "fcntl", 1, ("/d/a",), "fcntl(3</d/a>, F_GETFL) = 0")]
    made += [Call("7", "fcntl", 2, ("/d/a",), "fcntl(3</d/a>, F_DUPFD_CLOEXEC, 0) = 4</d/a>")]
    made += [Call("7", "dup", 5, ("/d/odd-4711",), "dup(4</d/odd-4711>) = 5</d/odd-4711>")]
    planned = list(failures(Attempt(NOTHING, NOTHING, {}, {}, tuple(made), "/d"), {"a"}))
    assert {(one.call, one.number, one.file, one.occurrence, one.of) for one in planned} == {
        ("write", 1, "a", 1, 7), ("write", 7, "a", 7, 7), ("write", 4, "a", 4, 7),
        ("fcntl", 2, "a", 1, 1), ("dup", 5, None, 1, 1),
    }  # fmt: skip
    assert {one.error for one in planned if one.call == "write"} == set(calls()["write"].errors)
    assert str(planned[0]) == "write 1 of 7 fails with ENOSPC"


def test_the_codes_are_those_of_the_runtime() -> None:
    text = (CLONE / "harness" / "runtime" / "errno_code.cc").read_text()
    known: dict[str, Code] = {}
    for block in re.findall(r"((?:\s+case E\w+:)+)\s+return TF_(\w+);", text):
        known |= dict.fromkeys(re.findall(r"E\w+", block[0]), Code[block[1]])
    needed = {error for failing in calls().values() for error in failing.errors}
    assert {error: known.get(error, Code.UNKNOWN) for error in needed} == dict(codes())


WROTE, SYNCED = 'write(5</d/a>, ""..., 1) = 1\n', "fsync(5</d/a>) = 0\n"
UNSYNCED, UNCLOSED = "fsync(5</d/a>) = -1 {} (INJECTED)\n", "close(5</d/a>) = -1 {} (INJECTED)\n"
OPENED = 'openat(AT_FDCWD</>, "/d/a", O_WRONLY|O_CREAT, 0666) = 5</d/a>\n'
LOOKED = 'openat(AT_FDCWD</>, "/d/a", O_RDONLY) = 5</d/a>\n'
MADE_ROOM, MAPPED = "ftruncate(5</d/a>, 9) = 0\n", "mmap(NULL, 9, PROT_WRITE, MAP_SHARED, 5</d/a>, 0) = 0x7f00\n"
ANEW = (
    'openat(AT_FDCWD</>, "/d/b", O_WRONLY|O_CREAT, 0666) = 6</d/b>\n', 'write(6</d/b>, ""..., 1) = 1\n',
    "fsync(6</d/b>) = 0\n",
)  # fmt: skip


@pytest.mark.parametrize(
    ("lines", "error", "lost"),
    [
        ((OPENED, WROTE, UNSYNCED), "EIO", True),
        ((OPENED, WROTE, UNSYNCED, SYNCED), "EIO", True),
        ((OPENED, WROTE, UNSYNCED, SYNCED), "EINTR", False),
        ((OPENED, WROTE, UNSYNCED, WROTE, SYNCED), "EIO", False),
        # What was there is safe already.
        ((OPENED, WROTE, SYNCED, UNSYNCED), "EIO", False),
        ((OPENED, WROTE, SYNCED, WROTE, UNSYNCED), "EIO", True),
        ((OPENED, WROTE, SYNCED, OPENED, WROTE, UNSYNCED), "EIO", True),
        ((LOOKED, UNSYNCED), "EIO", True),
        ((OPENED, WROTE, UNCLOSED), "EIO", True),
        ((OPENED, WROTE, UNCLOSED), "EINTR", False),
        ((OPENED, WROTE, SYNCED, UNCLOSED), "EIO", False),
        ((OPENED, WROTE, SYNCED, WROTE, UNCLOSED), "EIO", True),
        ((OPENED, WROTE, SYNCED, OPENED, WROTE, UNCLOSED), "EIO", True),
        ((OPENED, UNCLOSED), "EIO", False),
        ((LOOKED, UNCLOSED), "EIO", False),
        # Durable by other ways.
        ((OPENED.replace("O_CREAT", "O_CREAT|O_DSYNC"), WROTE, UNCLOSED), "EIO", False),
        ((OPENED, WROTE, "syncfs(4</d>) = 0\n", UNCLOSED), "EIO", False),
        ((OPENED, WROTE, "fsync(4</d>) = 0\n", UNCLOSED), "EIO", True),
        ((OPENED, WROTE, "fsync(6</d/a>) = 0\n", UNCLOSED), "EIO", False),
        ((OPENED, MADE_ROOM, MAPPED, "msync(0x7f00, 9, MS_SYNC) = 0\n", UNCLOSED), "EIO", False),
        ((OPENED, MADE_ROOM, MAPPED, UNCLOSED), "EIO", True),
        ((OPENED, WROTE, "syncfs(4</d>) = 0\n", WROTE, UNCLOSED), "EIO", True),
        # A directory keeps names.
        ((OPENED, WROTE, SYNCED, "fsync(4</d>) = -1 {} (INJECTED)\n"), "EIO", False),
        ((OPENED, WROTE, SYNCED, "fsync(4</d/e>) = -1 {} (INJECTED)\n"), "EIO", False),
        # All is written to another file.
        ((OPENED, WROTE, UNSYNCED, *ANEW), "EIO", False),
        ((OPENED, WROTE, UNCLOSED, *ANEW), "EIO", False),
        ((OPENED, WROTE, WROTE, UNSYNCED, *ANEW), "EIO", True),
        ((OPENED, WROTE, UNSYNCED, *ANEW[:-1]), "EIO", True),
        ((OPENED, UNSYNCED, *ANEW), "EIO", True),
    ],
)
def test_what_a_failure_loses(lines: tuple[str, ...], error: str, lost: bool) -> None:
    made = tuple(read("".join(f"7 {line}" for line in lines).replace("{}", error)))
    (failed,) = (call for call in made if call.injected)
    failure = Failure(failed.name, 1, "a", 1, 1, error)
    assert untold(failure, Attempt(NOTHING, NOTHING, {"e": None}, {}, made, "/d"), durable=True) == lost


# What is lost ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("before", "whole", "got", "said"),
    [
        ({"a": b"1"}, {"a": b"1"}, {"a": b"1"}, None),
        ({"a": b"1"}, {"a": b"1"}, {}, "a is gone"),
        ({"a": b"1"}, {"a": b"1"}, {"a": b""}, "a has b''"),
        # Appended to.
        ({"a": b"1"}, {"a": b"123"}, {"a": b"12"}, None),
        ({"a": b"1"}, {"a": b"123"}, {"a": b"2"}, "a has b'2'"),
        # Replaced.
        ({"a": b"1"}, {"a": b"2"}, {"a": b"2"}, None),
        ({"a": b"1"}, {"a": b"2"}, {"a": b""}, "a has b''"),
        ({"a": b"1"}, {"a": b"2"}, {}, "a is gone"),
        # Moved.
        ({"a": b"1"}, {"b": b"1"}, {"a": b"1"}, None),
        ({"a": b"1"}, {"b": b"1"}, {"b": b"1"}, None),
        ({"a": b"1"}, {"b": b"1"}, {"b": b""}, "a is gone"),
        # Deleted.
        ({"a": b"1"}, {}, {}, None),
        ({"a": b"1"}, {}, {"a": b""}, "a has b''"),
    ],
)
def test_what_is_harmed(before: Any, whole: Any, got: Any, said: str | None) -> None:
    assert harmed(before, whole, got, ()) == said
    assert harmed(before, whole, got, before) is None


@pytest.mark.parametrize(
    ("before", "whole", "got", "said"),
    [
        ({}, {"a": b"1"}, {"a": b"1", "of the plugin": b""}, None),
        ({}, {"a": b"1"}, {}, "a is not there"),
        ({}, {"a": b"1"}, {"a": b""}, "a has b'' instead of b'1'"),
        ({"a": b"1"}, {}, {"a": b"1"}, "a is still there"),
        ({}, {"a": None}, {"a": None}, None),
    ],
)
def test_what_is_missing(before: Any, whole: Any, got: Any, said: str | None) -> None:
    assert missing(before, whole, got) == said
