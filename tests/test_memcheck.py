"""--sanitizer=memcheck: what a plugin does to memory is told at its op and its case, and nothing else changes."""

import re
import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.test_runtimes import release
from tests.test_suite import report, run, run_anew
from tffs_conformance.harness.launchers.misuse import Frame, Misuse, of_plugin
from tffs_conformance.harness.native import RUNTIME_NAME, native_directory
from tffs_conformance.harness.targets.shipped import plugin_path
from tffs_conformance.reports import document
from tffs_conformance.run.parts import SUITE
from tffs_conformance.suite.judge.merge import merge

NAME = "robustness.memory-safe"
MEMCHECK = "--sanitizer=memcheck"
needs_valgrind = pytest.mark.skipif(
    shutil.which("valgrind") is None, reason="valgrind is not there: apt-get install valgrind"
)

SAID = "delete_file: Invalid read of size 1 in fakes::ReadBehind()"
#: Defects that the cases themselves do not see, the op of each, and what memcheck says of it.
DEFECTS = {
    "uses-freed:read": "Invalid write of size 1 in fakes::UseFreed()",
    "overflows-heap:append": "Invalid write of size 1 in fakes::OverflowHeap()",
    "reads-behind:stat": "Invalid read of size 1 in fakes::ReadBehind()",
    "branches-on-garbage:path_exists": "Conditional jump or move depends on uninitialised value(s) in "
    "fakes::BranchOnGarbage()",
    "writes-garbage:rename_file": "Syscall param write(buf) points to uninitialised byte(s) in fakes::WriteGarbage()",
    "frees-otherwise:get_children": "Mismatched free() / delete / delete [] in fakes::FreeOtherwise()",
    "overlaps:delete_file": "Source and destination overlap in strcpy(…, …) in fakes::CopyOverlapping()",
}


def checks(found: dict[str, Any], case: str) -> list[dict[str, Any]]:
    return [one for record in found["cases"] if record["id"] == case for one in record["checks"]]


def of_others(found: dict[str, Any]) -> dict[str, Any]:
    """Each case and class with its verdicts, but for what memcheck says."""
    cases = {
        record["id"]: [(one["clause"], one["verdict"]) for one in record["checks"] if one["clause"] != NAME]
        for record in found["cases"]
        if not record["id"].startswith("conditions/")
    }
    return cases | {name: one["verdict"] for name, one in found["classes"].items() if name != "memory-safety"}


@needs_valgrind
@pytest.mark.parametrize(
    ("some", "told_by"),
    [
        (("--case=plain/*", "--case=metadata/plain"), ("--case=conditions/memcheck", MEMCHECK)),
        pytest.param(("--tier=smoke",), (MEMCHECK,), marks=pytest.mark.nightly),
    ],
    ids=["some", "smoke"],
)
def test_what_only_memcheck_sees_is_told_at_its_op(
    tmp_path: Path, some: tuple[str, ...], told_by: tuple[str, ...]
) -> None:
    for folder in ("plain", "seen"):
        (tmp_path / folder).mkdir()
    given = ["--plugin=fakes/faulty", f"--env=TFFS_FAULT={','.join(DEFECTS)}", *some]
    plain = run(tmp_path / "plain", *given)
    assert plain.returncode == 0, plain.stdout
    seen = run(tmp_path / "seen", *given, *told_by)
    assert seen.returncode == 1
    found = report(tmp_path / "seen")
    told = {one["got"] for record in found["cases"] for one in record["checks"] if one["verdict"] == "violation"}
    assert told == {f"{fault.partition(':')[2]}: {said}" for fault, said in DEFECTS.items()}
    assert of_others(found) == of_others(report(tmp_path / "plain"))
    assert found["classes"]["memory-safety"]["verdict"] == "not conformant"
    case = next(record for record in found["cases"] if record["id"] == "conditions/memcheck")
    assert any(one["clause"] == NAME and one["verdict"] == "violation" for one in case["checks"])
    # Both stacks, with the lines of the plugin.
    assert re.search(r"fakes::ReadBehind\(\) \(mishaps.cc:\d+\)\n.*kinds.cc:\d+", case["output"])
    assert "Address … is 0 bytes after a block of size 61 alloc'd:\n    malloc" in case["output"]


@needs_valgrind
@pytest.mark.parametrize(
    "plugin", ["objectstore_minimal", *(pytest.param(name, marks=pytest.mark.nightly) for name in ("posix", "memory"))]
)
def test_a_right_plugin_is_not_blamed(tmp_path: Path, plugin: str) -> None:
    done = run(tmp_path, f"--plugin={plugin}", "--tier=smoke", MEMCHECK)
    assert done.returncode == 0, done.stdout
    found = report(tmp_path)
    assert found["classes"]["memory-safety"]["verdict"] == "conformant"
    assert found["clauses"][NAME]["counts"]["conform"] > 20
    assert MEMCHECK in found["suite"]["command"]


@needs_valgrind
def test_parts_of_a_run_make_a_whole_one(tmp_path: Path) -> None:
    parts = []
    for number in (1, 2):
        done = run(
            tmp_path, "--plugin=posix", "--tier=smoke", MEMCHECK, f"--shard={number}/2", f"--report-dir={number}"
        )
        assert done.returncode == 0, done.stdout
        path = tmp_path / str(number) / "report.json"
        parts.append((path, document.load(path)))
    whole = merge(parts, SUITE).report
    assert whole.verdict == whole.classes["memory-safety"].verdict == "conformant"
    assert whole.clauses[NAME].counts.conform > 20


@needs_valgrind
def test_what_lives_as_long_as_the_process_is_no_misuse(tmp_path: Path) -> None:
    assert run(tmp_path, "--plugin=memory", "--case=robustness/exit", MEMCHECK).returncode == 0
    made = {one["clause"]: one["verdict"] for one in checks(report(tmp_path), "robustness/exit")}
    assert made[NAME] == "conform"


@needs_valgrind
def test_a_crash_is_told_with_what_was_done_to_memory(tmp_path: Path) -> None:
    given = ["--plugin=fakes/faulty", "--env=TFFS_FAULT=frees-twice:delete_file", "--case=plain/once[delete_file]"]
    assert run(tmp_path, *given, MEMCHECK).returncode == 1
    made = {one["clause"]: one["got"] for one in checks(report(tmp_path), "plain/once[delete_file]")}
    assert made["robustness.no-crash"].startswith("delete_file ended the process")
    assert made[NAME] == "delete_file: Invalid free() / delete / delete[] / realloc() in fakes::FreeTwice()"


@needs_valgrind
def test_what_is_waived_is_needed_only_where_it_is_looked_for(tmp_path: Path) -> None:
    case, entries = "plain/once[delete_file]", tmp_path / "waivers.toml"
    entries.write_text(f"""
        [[waiver]]
        clause = "{NAME}"
        case = "{case}"
        fingerprint = "{SAID}"
        reason = "known"
        owner = "us"
        issue = "https://example.com/1"
        expires = 2999-01-01
    """)
    given = ["--plugin=fakes/faulty", "--env=TFFS_FAULT=reads-behind:delete_file", f"--waivers={entries}"]
    waived = run(tmp_path, *given, f"--case={case}", MEMCHECK)
    assert waived.returncode == 0, waived.stdout
    assert [one["verdict"] for one in checks(report(tmp_path), case) if one["clause"] == NAME] == ["waived"]
    assert run(tmp_path, *given, f"--case={case}").returncode == 0


@needs_valgrind
def test_who_hangs_is_not_tried_again(tmp_path: Path) -> None:
    given = ["--plugin=fakes/faulty", "--env=TFFS_FAULT=hang:delete_file", "--case=plain/once[delete_file]"]
    assert run(tmp_path, *given, "--call-timeout=0.5", MEMCHECK).returncode == 1
    assert NAME not in {one["clause"] for one in checks(report(tmp_path), "plain/once[delete_file]")}


@pytest.mark.parametrize("broken", [False, True], ids=["missing", "broken"])
def test_without_valgrind_one_case_is_not_run(tmp_path: Path, broken: bool) -> None:
    (tmp_path / "bin").mkdir()
    if broken:
        (tmp_path / "bin" / "valgrind").write_text("#!/bin/sh\necho 'Fatal error at startup' >&2\nexit 1\n")
        (tmp_path / "bin" / "valgrind").chmod(0o755)
    done = run_anew(tmp_path, "--plugin=posix", "--tier=smoke", MEMCHECK, PATH=str(tmp_path / "bin"))
    # A MUST clause that somebody asked for was not run.
    assert done.returncode == 1
    why = "Fatal error at startup" if broken else "valgrind is not there: apt-get install valgrind"
    assert "1 × " in done.stdout
    # What is told is wrapped, and names a path of any length.
    assert why in " ".join(done.stdout.split())
    found = report(tmp_path)
    assert [one["verdict"] for one in checks(found, "conditions/memcheck") if one["clause"] == NAME] == ["not run"]
    verdicts = {name: one["verdict"] for name, one in found["classes"].items()}
    assert verdicts["memory-safety"] == "incomplete"
    assert verdicts["robustness"] == verdicts["read"] == "conformant"


@needs_valgrind
def test_it_goes_with_a_tensorflow(tmp_path: Path) -> None:
    given = [f"--runtime={release(tmp_path / 'site')}", "--case=metadata/plain"]
    run(tmp_path, "--plugin=fakes/faulty", "--env=TFFS_FAULT=reads-behind:stat", *given, MEMCHECK)
    found = report(tmp_path)
    assert found["target"]["runtime"].startswith("TensorFlow 2.99.1")
    said = [one["got"] for record in found["cases"] for one in checks(found, record["id"]) if one["clause"] == NAME]
    assert said == ["stat: Invalid read of size 1 in fakes::ReadBehind()"]


# Whose an error is ---------------------------------------------------------------------------------------------------

PLUGIN = Path("/opt/mine/libmine.so")
LIBC, CURL, BROUGHT = "/usr/lib/x86_64-linux-gnu/libc.so.6", "/usr/lib/x86_64-linux-gnu/libcurl.so.4", "/opt/mine/b.so"
PRELOADED = "/usr/libexec/valgrind/vgpreload_memcheck-amd64-linux.so"


@pytest.mark.parametrize(
    ("objects", "culprit"),
    [
        ([str(PLUGIN)], str(PLUGIN)),
        ([LIBC, str(PLUGIN)], str(PLUGIN)),
        ([PRELOADED, LIBC, str(PLUGIN)], str(PLUGIN)),
        (["", str(PLUGIN)], str(PLUGIN)),
        ([BROUGHT, str(PLUGIN)], BROUGHT),
        (["{native}/runtime", str(PLUGIN)], str(PLUGIN)),
        (["/usr/lib/x86_64-linux-gnu/libstdc++.so.6.0.30", str(PLUGIN)], str(PLUGIN)),
        # A thread of the plugin's own.
        ([LIBC, str(PLUGIN), LIBC, LIBC], str(PLUGIN)),
        ([CURL, str(PLUGIN)], None),
        (["{native}/host", str(PLUGIN)], None),
        ([LIBC, "{native}/host"], None),
        ([LIBC], None),
        ([], None),
    ],
)
def test_whose_an_error_is(objects: list[str], culprit: str | None) -> None:
    ours = {"{native}/host": native_directory() / "tffs-host", "{native}/runtime": native_directory() / RUNTIME_NAME}
    frames = tuple(Frame(str(ours.get(path, path)), "f", "") for path in objects)
    found = of_plugin([Misuse("read", "InvalidRead", (("Invalid read", frames),))] * 2, PLUGIN)
    assert [frame.object for _, frames in found for frame in frames] == ([culprit] if culprit else [])


def test_what_a_plugin_has_of_the_library_names_its_caller() -> None:
    names = ("__gthread_mutex_lock", "std::vector<int>::back()", "mine::Last()", "mine::Read()")
    frames = tuple(Frame(str(PLUGIN), name, "") for name in names)
    assert Misuse("read", "race", (("", frames),)).culprits(PLUGIN) == (frames[2],)
    assert Misuse("read", "race", (("", frames[:2]),)).culprits(PLUGIN) == (frames[0],)


def test_a_plugin_in_a_folder_of_the_system_is_a_plugin() -> None:
    frame = Frame("/usr/lib/libmine.so", "f", "")
    misuse = Misuse("read", "InvalidRead", (("Invalid read", (frame,)),))
    assert of_plugin([misuse], Path("/usr/lib/libmine.so")) == [(misuse, (frame,))]


def test_our_own_plugins_lie_beside_the_host() -> None:
    frame = Frame(str(plugin_path("posix")), "f", "")
    misuse = Misuse("read", "InvalidRead", (("Invalid read", (frame,)),))
    assert of_plugin([misuse], plugin_path("posix")) == [(misuse, (frame,))]
