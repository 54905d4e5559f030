"""--conditions=kill: what a host that is killed leaves is held against what was promised, and nothing else changes."""

import re
import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.test_suite import report, run, run_anew
from tffs_conformance.harness.launchers.strace import Injection, read
from tffs_conformance.reports import document
from tffs_conformance.run.parts import SUITE
from tffs_conformance.suite.contract.survival import (
    CLOSED,
    DONE,
    EITHER,
    FLUSHED,
    KEPT,
    SYNCED,
    WHOLE,
    Moment,
    at_stake,
    broken,
    histories,
)
from tffs_conformance.suite.engine.killing import MOST, is_on_storage, spread
from tffs_conformance.suite.judge.merge import merge

KILL = "--conditions=kill"
CLASS = "survival"
AGAIN = f"{CLASS}.works-again"
#: The ops of a plugin that has all of them.
OWN = ("flush", "sync", "rename_file", "copy_file")
needs_strace = pytest.mark.skipif(shutil.which("strace") is None, reason="strace is not there: apt-get install strace")

#: Each fault, the case and its history that show it, the clause that it breaks, and what is said of it.
FAULTS = {
    "close-is-lazy": ("between", "write", CLOSED, "killed behind close: file has b''"),
    "close-has-a-thread": ("between", "write", CLOSED, "killed behind close: file has b''"),
    "sync-is-lazy": ("between", "sync", SYNCED, "killed behind sync: file has b''"),
    "flush-is-lazy": ("between", "flush", FLUSHED, "killed behind flush: file has b''"),
    "makes-room": ("within", "write", EITHER, r"killed before write 1 in append: file has b'\x00"),
    "writes-over": ("within", "write-over", EITHER, "killed before write 2 in append: file has b'the first piece, on"),
    "packs": ("within", "write", KEPT, "killed before write 4 in close: beside has b''"),
    "append-writes-anew": ("within", "append", KEPT, "killed before write 1 in new_appendable_file: file has b''"),
    "lock-stays": ("between", "write", AGAIN, "killed behind new_writable_file: new_writable_file: code=ABORTED"),
    "hidden-stays": (
        "between", "write", AGAIN, "killed behind new_writable_file: delete_dir: code=FAILED_PRECONDITION",
    ),
    "rename-in-place": ("within", "rename-over", WHOLE, "killed before write 1 in rename_file: target has b''"),
    "rename-by-memory": (
        "within", "rename", KEPT,
        "killed before openat 1 in rename_file: file is lost: it is not there, and new is not there",
    ),
    "rename-elsewhere-by-memory": (
        "within", "rename-elsewhere", KEPT,
        "killed before openat 1 in rename_file: parts/file is lost: it is not there, and new is not there",
    ),
    "rename-moves-trees": ("within", "rename-directory", KEPT, "killed before openat 1 in rename_file: d/"),
    "copy-in-place": ("within", "copy-over", EITHER, "killed before write 1 in copy_file: target has b''"),
    "delete-empties": ("within", "delete_file", EITHER, "killed before unlink 1 in delete_file: file has b''"),
    "delete-is-lazy": ("between", "delete_file", DONE, "killed behind delete_file: file has b'what was there'"),
}  # fmt: skip


def case(when: str, history: str) -> str:
    return f"{CLASS}/{when}-ops[{history}]"


def wrong(found: dict[str, Any]) -> set[tuple[str, str, str]]:
    return {
        (one["verdict"], one["clause"], one["got"])
        for record in found["cases"]
        for one in record["checks"]
        if one["verdict"] in ("violation", "warning")
    }


@needs_strace
@pytest.mark.parametrize("fault", FAULTS)
def test_what_a_kill_loses_is_told(tmp_path: Path, fault: str) -> None:
    when, history, clause, said = FAULTS[fault]
    faulty = ["--plugin=fakes/faulty", f"--env=TFFS_FAULT=killed.{fault}", f"--case={case(when, history)}", KILL]
    done = run(tmp_path, *faulty)
    found = wrong(report(tmp_path))
    assert any(name == clause and got.startswith(f"{history}: {said}") for _, name, got in found), found
    assert all(name.startswith(f"{CLASS}.") for _, name, _ in found)
    assert done.returncode == any(verdict == "violation" for verdict, _, _ in found)
    assert (clause in (CLOSED, SYNCED, KEPT)) == any(
        (verdict, name) == ("violation", clause) for verdict, name, _ in found
    )


@needs_strace
@pytest.mark.parametrize(
    ("claimed", "verdict"), [("true", "violation"), ("false", "absent")], ids=["claimed", "given-up"]
)
def test_the_profile_decides_of_renames(tmp_path: Path, claimed: str, verdict: str) -> None:
    (tmp_path / "mine.toml").write_text(f"[claims]\natomic_rename = {claimed}\n")
    faulty = ["--plugin=fakes/faulty", "--env=TFFS_FAULT=killed.rename-in-place", "--plugin-profile=mine.toml"]
    run(tmp_path, *faulty, f"--case={case('within', 'rename-over')}", KILL)
    (record,) = report(tmp_path)["cases"]
    assert verdict in {one["verdict"] for one in record["checks"] if one["clause"] == WHOLE}


@needs_strace
def test_the_line_of_a_finding_finds_it_again(tmp_path: Path) -> None:
    given = ["--plugin=fakes/faulty", "--env=TFFS_FAULT=killed.append-writes-anew"]
    done = run(tmp_path, *given, f"--case={CLASS}/*[append]", KILL)
    line = next(line for line in done.stdout.splitlines() if "--case=" in line)
    assert KILL in line
    assert case("within", "append") in line


def test_what_lives_in_its_process_leaves_nothing_to_look_at(tmp_path: Path) -> None:
    run(tmp_path, "--plugin=memory", f"--case={CLASS}/*[write]", KILL)
    records = report(tmp_path)["cases"]
    assert {(one["verdict"], one["reason"]) for one in records} == {
        ("absent", "its storage lives in its process, and ends with it")
    }
    assert len(records) == 2


@needs_strace
def test_a_store_of_objects_is_killed_where_its_files_are(tmp_path: Path) -> None:
    given = [
        "--plugin=objectstore_minimal",
        "--plugin-profile=object-store",
        f"--env=TFFS_BUCKET={tmp_path / 'bucket'}",
    ]
    done = run(tmp_path, *given, f"--case={CLASS}/within-ops[write*", KILL)
    assert done.returncode == 0, done.stdout
    for record in report(tmp_path)["cases"]:
        assert record["verdict"] == "conform"
        assert re.match(r"[2-9] kills were tried\n", record["output"])


@needs_strace
def test_a_right_plugin_is_not_blamed_and_parts_make_a_whole_run(tmp_path: Path) -> None:
    parts = []
    for number in (1, 2):
        done = run(tmp_path, "--plugin=posix", "--tier=smoke", KILL, f"--shard={number}/2", f"--report-dir={number}")
        assert done.returncode == 0, done.stdout
        path = tmp_path / str(number) / "report.json"
        parts.append((path, document.load(path)))
    whole = merge(parts, SUITE).report
    assert whole.verdict == whole.classes[CLASS].verdict == "conformant"
    cases = [one for one in whole.cases if one.id.startswith(f"{CLASS}/")]
    assert len(cases) == 2 * len(histories())
    verdicts: dict[str, set[str]] = {}
    for one in cases:
        assert (one.reason == "rename_file takes no directories") == ("rename-directory" in one.id)
        assert one.verdict == "absent" or re.match(r"[1-9]\d* kills were tried\n", one.output), one
        for check in one.checks:
            verdicts.setdefault(check.clause, set()).add(check.verdict)
    # Nobody is right without having been tried.
    assert verdicts.keys() == {name for name in whole.clauses if name.startswith(f"{CLASS}.")}
    assert all("conform" in given for given in verdicts.values())


def test_without_strace_what_needs_it_is_not_run(tmp_path: Path) -> None:
    (tmp_path / "bin").mkdir()
    run_anew(tmp_path, "--plugin=posix", f"--case={CLASS}/*[write]", KILL, PATH=str(tmp_path / "bin"))
    assert {one["id"]: (one["verdict"], one["reason"]) for one in report(tmp_path)["cases"]} == {
        case("between", "write"): ("conform", None),
        case("within", "write"): ("not run", "strace is not there: apt-get install strace"),
    }


def test_a_run_without_it_knows_nothing_of_it(tmp_path: Path) -> None:
    (tmp_path / "mine.toml").write_text("[claims]\natomic_rename = true\n")
    given = ("--plugin=posix", "--plugin-profile=mine.toml", "--case=plain/once[delete_file]")
    assert run(tmp_path, *given).returncode == 0
    assert f'"{CLASS}' not in (tmp_path / "tffs-report" / "report.json").read_text()


# Where a process is killed -------------------------------------------------------------------------------------------


def test_calls_that_change_storage() -> None:
    calls = read(
        '7 openat(AT_FDCWD</work>, "/d/a", O_WRONLY|O_CREAT, 0666) = 5</d/a>\n'
        '7 openat(AT_FDCWD</work>, "/d/a", O_RDONLY) = 6</d/a>\n'
        '7 write(1<pipe:[7]>, ""..., 1) = 1\n'
        '7 write(2</dev/null>, ""..., 1) = 1\n'
        '7 write(5</d/a>, ""..., 1) = ?\n'
    )
    assert [is_on_storage(call) for call in calls] == [True, False, False, False, True]


def test_a_kill_is_told_to_strace() -> None:
    assert Injection("write", 3).words == "inject=write:signal=KILL:when=3"
    assert Injection("write", 3, "EIO").words == "inject=write:error=EIO:when=3"


def test_of_very_many_calls_some_are_tried() -> None:
    planned = [Injection("write", number) for number in range(1, 101)]
    tried = spread(planned)
    assert (len(tried), len(set(tried))) == (MOST, MOST)
    assert (tried[0], tried[-1]) == (planned[0], planned[-1])
    assert spread(planned[:7]) == planned[:7]


# What is wrong with what is left -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("history", "number", "answered", "got", "clauses"),
    [
        # Nothing is promised of a file that is being written, but that its bytes are its own.
        ("write", 1, True, {}, []),
        ("write", 1, True, {"file": b""}, []),
        ("write", 1, True, {"file": b"the first"}, []),
        ("write", 1, True, {"file": b"the first piece, the second"}, [EITHER]),
        ("write", 2, False, {"file": b"the first piece, the second"}, []),
        ("write", 2, False, {"file": b"the second"}, [EITHER]),
        ("write", 4, False, {"file": b""}, []),
        ("write", 4, True, {"file": b"the first piece, the second one, "}, [CLOSED]),
        ("write", 4, True, {"file": b"the first piece, the second one, the third"}, []),
        ("write", 4, True, {"file": b"the first piece, the second one, the third!"}, [CLOSED]),
        # What was synced stays, and what was flushed.
        ("sync", 2, True, {"file": b"the first"}, [SYNCED]),
        ("sync", 3, False, {"file": b"the first piece, the"}, []),
        ("sync", 5, False, {"file": b""}, [SYNCED]),
        ("flush", 2, True, {}, [FLUSHED]),
        ("flush", 5, True, {"file": b""}, [CLOSED]),
        # What is written over is the old one or the new one.
        ("write-over", 0, True, {"file": b"what was there, longer than what comes after"}, []),
        ("write-over", 0, False, {"file": b"what was"}, [EITHER]),
        # What is appended to begins as it did.
        ("append", 0, False, {"file": b""}, [KEPT]),
        ("append", 1, True, {"file": b"what was there, the"}, []),
        ("append", 2, True, {"file": b"what was there"}, [SYNCED]),
        ("append", 2, True, {"file": b"what"}, [KEPT]),
        # What is moved is in one place at least.
        ("rename", 0, False, {"file": b"what was there"}, []),
        ("rename", 0, False, {"new": b"what was there"}, []),
        ("rename", 0, False, {"file": b"what was there", "new": b"what was there"}, []),
        ("rename", 0, False, {"file": b"what was there", "new": b"what"}, [WHOLE]),
        ("rename", 0, False, {}, [KEPT]),
        ("rename", 0, True, {"file": b"what was there"}, [DONE, DONE]),
        ("rename-over", 0, False, {"file": b"what was there"}, [WHOLE]),
        ("rename-over", 0, False, {"target": b"another one"}, [KEPT]),
        ("rename-elsewhere", 0, False, {"parts": None, "parts/other": b"another one", "new": b"what was there"}, []),
        ("rename-elsewhere", 0, False, {"parts": None, "parts/other": b"another one"}, [KEPT]),
        ("rename-directory", 0, False, {"d": None, "new": None, "new/a": b"what is in a", "d/in": None,
                                        "d/in/b": b"what is in b"}, []),
        ("rename-directory", 0, False, {"new": None, "new/a": b"what is in a", "new/in": None}, [KEPT]),
        ("copy", 0, False, {"file": b"what was there", "new": b"what"}, [EITHER]),
        ("copy", 0, False, {}, [KEPT]),
        ("copy-over", 0, True, {"file": b"what was there", "target": b"another one"}, [DONE]),
        ("delete_file", 0, False, {"file": b"what"}, [EITHER]),
        ("delete_file", 0, True, {"file": b"what was there"}, [DONE]),
        ("delete_recursively", 0, False, {"d": None, "d/a": b"what is in a"}, []),
        ("delete_recursively", 0, True, {"d": None}, [DONE]),
        ("directories", 0, True, {}, [DONE]),
        ("directories", 1, False, {"new": None, "far": None}, []),
    ],
)  # fmt: skip
def test_what_is_broken(history: str, number: int, answered: bool, got: Any, clauses: list[str]) -> None:
    moment, beside = Moment(number, answered), {"beside": b"what is beside"}
    assert [name for name, _ in broken(histories()[history], moment, got | beside, OWN)] == clauses
    assert set(clauses) <= at_stake(histories()[history], moment, OWN)
    assert sorted(name for name, _ in broken(histories()[history], moment, got, OWN)) == sorted([*clauses, KEPT])


def test_nobody_promises_what_core_does() -> None:
    half = {"file": b"what was there", "target": b"what", "beside": b"what is beside"}
    for history in ("rename-over", "copy-over"):
        assert not list(broken(histories()[history], Moment(0, False), half, ()))
        assert at_stake(histories()[history], Moment(0, False), ()) == {KEPT}
    empty = {"file": b"", "beside": b"what is beside"}
    assert [name for name, _ in broken(histories()["sync"], Moment(2, True), empty, ("flush",))] == [FLUSHED]
    assert not list(broken(histories()["sync"], Moment(2, True), empty, ()))
