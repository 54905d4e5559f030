"""--sanitizer: misuse of memory and data races of a plugin are reported at their op, and nothing of ours is blamed."""

import os
import re
import shutil
import subprocess
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.pages import PROJECT
from tests.test_abi import library
from tests.test_conditions import CONDITIONS, assert_tried, faulty, merged, needs_strace, path_of
from tests.test_runtimes import release
from tests.test_suite import judged_report, report, run, run_anew
from tffs_conformance.harness.launchers import sanitizers, watch
from tffs_conformance.harness.launchers.local import Local
from tffs_conformance.harness.launchers.misuse import Frame, Misuse, of_plugin
from tffs_conformance.harness.launchers.watch import Log, ToolWatch
from tffs_conformance.harness.native import NATIVE_DIRECTORY_VARIABLE, RUNTIME_NAME, native_directory
from tffs_conformance.harness.targets.shipped import plugin_path
from tffs_conformance.reports import document
from tffs_conformance.run.run_options import SANITIZERS
from tffs_conformance.suite.engine.sanitizers import TOOLS

PLUGINS, SOURCE = PROJECT / "reference_plugins", PROJECT / "tests" / "defects.cc"
SAFE, RACES = "robustness.memory-safe", "robustness.no-data-race"
ONCE = "plain/once[delete_file]"
MEMCHECK = "--sanitizer=memcheck"
needs_valgrind = pytest.mark.skipif(
    shutil.which("valgrind") is None, reason="valgrind is not there: apt-get install valgrind"
)
#: One worker compiles for all.
compiles = pytest.mark.xdist_group("sanitizers")
#: Defects that the cases themselves do not see, the op of each, and what memcheck says of it.
FAULTS = {
    "uses-freed:read": "Invalid write of size 1 in fakes::UseFreed()",
    "overflows-heap:append": "Invalid write of size 1 in fakes::OverflowHeap()",
    "reads-behind:stat": "Invalid read of size 1 in fakes::ReadBehind()",
    "branches-on-garbage:path_exists": "Conditional jump or move depends on uninitialised value(s) in "
    "fakes::BranchOnGarbage()",
    "writes-garbage:rename_file": "Syscall param write(buf) points to uninitialised byte(s) in fakes::WriteGarbage()",
    "frees-otherwise:get_children": "Mismatched free() / delete / delete [] in fakes::FreeOtherwise()",
    "overlaps:delete_file": "Source and destination overlap in strcpy(…, …) in fakes::CopyOverlapping()",
}
ALL_RACES = [
    f"threads: data race in defects::{name}"
    for name in ("Count()", "MakeTable()", "CountLength()", "CountChange(std::mutex&)")
]
#: Compiles a plugin with a sanitizer, from the file with its entry point and with these words beside.
Built = Callable[..., Path]


def compiler(*words: str) -> str:
    done = subprocess.run(["g++", *words], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def required(sanitizer: str) -> None:
    """Skip the test where the compiler has no such runtime."""
    name = f"lib{sanitizer[0]}san.so"
    if not os.path.isabs(compiler(f"-print-file-name={name}")):
        pytest.skip(f"{name} is not there: apt-get install g++")


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory) -> Built:
    """Compiles posix, or what is made of its tables, with a sanitizer."""
    made: dict[tuple[str, ...], Path] = {}

    def build(sanitizer: str, entry: Path, *more: str) -> Path:
        required(sanitizer)
        key = (sanitizer, str(entry), *more)
        if key not in made:
            folder = tmp_path_factory.mktemp(sanitizer)
            tables = made.setdefault((sanitizer,), folder / "tables.o")
            common = ("-std=c++17", "-g1", "-O0", "-fPIC", "-fvisibility=hidden", f"-fsanitize={sanitizer}",
                      "-iquote", str(PLUGINS), f"-I{PROJECT / 'harness' / 'include'}")  # fmt: skip
            if not tables.exists():
                sources = [*(PLUGINS / "posix").glob("*.cc"), *(PLUGINS / "support").glob("*.cc")]
                whole = folder / "tables.cc"
                whole.write_text("".join(f'#include "{one}"\n' for one in sources if one.name != "plugin.cc"))
                compiler(*common, "-c", "-o", str(tables), str(whole))
            made[key] = folder / "libposix.so"
            compiler(*common, *more, "-shared", "-o", str(made[key]), str(entry), str(tables), "-ldl")
        return made[key]

    return build


def broken(found: dict[str, Any], clause: str) -> set[str]:
    """What is said of a clause, which is the only one that is broken."""
    made = [one for record in found["cases"] for one in record["checks"] if one["verdict"] == "violation"]
    assert {one["clause"] for one in made} == {clause}
    return {one["got"] for one in made}


def asked(sanitizer: str, plugin: Path, *more: str) -> tuple[str, ...]:
    return f"--plugin={plugin}", f"--sanitizer={sanitizer}", *more


def checks(found: dict[str, Any], case: str) -> list[dict[str, Any]]:
    return [one for record in found["cases"] if record["id"] == case for one in record["checks"]]


def of_others(found: dict[str, Any]) -> dict[str, Any]:
    """Each case and class with its verdicts, but for what memcheck says."""
    cases = {
        record["id"]: [(one["clause"], one["verdict"]) for one in record["checks"] if one["clause"] != SAFE]
        for record in found["cases"]
        if not record["id"].startswith("conditions/")
    }
    return cases | {name: one["verdict"] for name, one in found["classes"].items() if name != "memory-safety"}


def test_each_tool_can_be_asked_for() -> None:
    assert tuple(TOOLS) == SANITIZERS


@pytest.mark.parametrize(
    ("given", "plugin"),
    [
        *(pytest.param(f"--conditions={name}", "posix", marks=needs_strace) for name in ("syscalls", "kill")),
        pytest.param(MEMCHECK, "posix", marks=needs_valgrind),
        pytest.param(MEMCHECK, "objectstore_minimal", marks=needs_valgrind),
        pytest.param(MEMCHECK, "memory", marks=[needs_valgrind, pytest.mark.nightly]),
        pytest.param("--sanitizer=address", PLUGINS / "posix" / "plugin.cc", marks=compiles),
        pytest.param("--sanitizer=thread", PLUGINS / "posix" / "plugin.cc", marks=[compiles, pytest.mark.nightly]),
    ],
)
def test_shards_of_right_plugin_merge(tmp_path: Path, built: Built, given: str, plugin: str | Path) -> None:
    tool = given.partition("=")[2]
    name = built(tool, plugin) if isinstance(plugin, Path) else plugin
    whole = merged(tmp_path, f"--plugin={name}", given, "--tier=smoke")
    areas = {"syscalls": "system-calls", "kill": "survival", "thread": "thread-safety"}
    area = areas.get(tool, "memory-safety")
    assert whole.verdict == whole.classes[area].verdict == "conformant"
    assert given in whole.suite.command
    if area in CONDITIONS:
        assert_tried(whole, area)
    else:
        assert whole.clauses[RACES if tool == "thread" else SAFE].counts.conform > 20


@needs_valgrind
def test_memory_of_whole_process_is_no_misuse(tmp_path: Path) -> None:
    found = judged_report(tmp_path, "--plugin=memory", "--case=robustness/exit", MEMCHECK)
    assert [one["verdict"] for one in checks(found, "robustness/exit") if one["clause"] == SAFE] == ["conform"]


@needs_valgrind
@pytest.mark.parametrize(
    ("some", "seen_by"),
    [
        (("--case=plain/*", "--case=metadata/plain"), ("--case=conditions/memcheck", MEMCHECK)),
        pytest.param(("--tier=smoke",), (MEMCHECK,), marks=pytest.mark.nightly),
    ],
    ids=["some", "smoke"],
)
def test_memcheck_with_faulty_plugin_reports_faults(
    tmp_path: Path, some: tuple[str, ...], seen_by: tuple[str, ...]
) -> None:
    for folder in ("plain", "seen"):
        (tmp_path / folder).mkdir()
    given = [*faulty(",".join(FAULTS)), *some]
    plain = run(tmp_path / "plain", *given)
    assert plain.returncode == 0, plain.stdout
    seen = run(tmp_path / "seen", *given, *seen_by)
    assert seen.returncode == 1
    found = report(tmp_path / "seen")
    assert broken(found, SAFE) == {f"{fault.partition(':')[2]}: {said}" for fault, said in FAULTS.items()}
    assert of_others(found) == of_others(report(tmp_path / "plain"))
    assert found["classes"]["memory-safety"]["verdict"] == "not conformant"
    case = next(record for record in found["cases"] if record["id"] == "conditions/memcheck")
    assert any(one["clause"] == SAFE and one["verdict"] == "violation" for one in case["checks"])
    # Both stacks, with the lines of the plugin.
    assert re.search(r"fakes::ReadBehind\(\) \(mishaps.cc:\d+\)\n.*kinds.cc:\d+", case["output"])
    assert "Address … is 0 bytes after a block of size 61 alloc'd:\n    malloc" in case["output"]


@compiles
@pytest.mark.parametrize(
    ("sanitizer", "clause", "defects", "case", "stacks"),
    [
        ("address", SAFE, [
            "read: heap-buffer-overflow: write of size 1 in defects::OverflowHeap()",
            "new_appendable_file: heap-use-after-free: write of size 1 in defects::UseFreed()",
            "delete_file: stack-buffer-overflow: write of size 1 in defects::OverflowStack()",
            "rename_file: double-free in defects::FreeTwice()",
         ], ONCE, r"WRITE of size 1 at … thread T0:\n +defects::OverflowStack\(\) \(defects.cc:\d+\)\n(?:.*\n)*"
         r"Address … is located in stack of thread T0 at offset \d+ in frame:\n +defects::OverflowStack\(\)"),
        ("thread", RACES, ALL_RACES, "conditions/thread", r"by thread T\d.*:\n +defects::Count\(\) "
         r"\(defects.cc:\d+\)\n(?:.*\n)* *Previous .*\n +defects::Count\(\)"),
    ],
    ids=["address", "thread"],
)  # fmt: skip
def test_sanitized_plugin_with_defects_reports_them(
    tmp_path: Path, built: Built, sanitizer: str, clause: str, defects: Sequence[str], case: str, stacks: str
) -> None:
    plugin = built(sanitizer, SOURCE, *["-fsanitize-recover=address"] * (sanitizer == "address"))
    found = judged_report(tmp_path, *asked(sanitizer, plugin, "--tier=smoke"), code=1)
    assert broken(found, clause) == {*defects}
    # What is printed has both stacks of a defect, with the lines of the plugin.
    assert re.search(stacks, next(record["output"] for record in found["cases"] if record["id"] == case))
    if sanitizer == "address":
        wrong = [one["got"] for one in checks(found, ONCE) if one["verdict"] == "violation"]
        assert [got.partition(":")[0] for got in wrong] == ["delete_file"]


@pytest.mark.parametrize(
    ("tool", "said"),
    [
        pytest.param("memcheck", "Invalid free() / delete / delete[] / realloc() in fakes::FreeTwice()",
                     marks=needs_valgrind),
        pytest.param("address", "stack-buffer-overflow: write of size 1 in defects::OverflowStack()", marks=compiles),
    ],
)  # fmt: skip
def test_crash_is_reported_with_its_misuse(tmp_path: Path, built: Built, tool: str, said: str) -> None:
    memcheck = tool == "memcheck"
    plugin = faulty("frees-twice:delete_file") if memcheck else [f"--plugin={built(tool, SOURCE)}"]
    found = judged_report(tmp_path, *plugin, f"--sanitizer={tool}", f"--case={ONCE}", code=1)
    made = {one["clause"]: one["got"] for one in checks(found, ONCE)}
    assert made["robustness.no-crash"].startswith("delete_file ended the process")
    assert made[SAFE] == f"delete_file: {said}"


@compiles
def test_flood_is_cut(tmp_path: Path, built: Built) -> None:
    plugin = built("address", SOURCE, "-fsanitize-recover=address")
    case = "move/plain[copy_file]"
    found = judged_report(tmp_path, *asked("address", plugin, "--env=MANY=1", f"--case={case}"), code=1)
    assert len({one["got"] for one in checks(found, case) if one["verdict"] == "violation"}) == 20
    assert "There were more: 20 are shown" in found["cases"][0]["output"]


@pytest.fixture
def one_processor(request: pytest.FixtureRequest) -> Iterator[None]:
    """Where that is asked for, all that the test starts has one: no two threads are at work at the same moment."""
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(before)} if request.param else before)
    yield
    os.sched_setaffinity(0, before)


@compiles
@pytest.mark.usefixtures("one_processor")
@pytest.mark.parametrize(
    ("given", "races", "one_processor"),
    [
        (["--case=conditions/thread"], ALL_RACES, True),
        # Some are seen of pairs of ops only.
        pytest.param(["--case=threads/*", "--case=races/*"], ALL_RACES[:2], False, marks=pytest.mark.nightly),
        # What a user sets stays.
        (["--env=TSAN_OPTIONS=suppressions={}/known.supp", "--case=conditions/thread"], ALL_RACES[1:2], False),
    ],
    indirect=["one_processor"],
)
def test_races_are_reported(tmp_path: Path, built: Built, given: list[str], races: Sequence[str]) -> None:
    (tmp_path / "known.supp").write_text("race:defects::Count\n")
    words = [word.format(tmp_path) for word in given]
    assert run_anew(tmp_path, *asked("thread", built("thread", SOURCE), *words)).returncode == 1
    assert broken(report(tmp_path), RACES) == {*races}


@needs_valgrind
def test_waiver_is_needed_only_with_memcheck(tmp_path: Path) -> None:
    entries = tmp_path / "waivers.toml"
    entries.write_text(f"""
        [[waiver]]
        clause = "{SAFE}"
        case = "{ONCE}"
        fingerprint = "delete_file: Invalid read of size 1 in fakes::ReadBehind()"
        reason = "known"
        owner = "us"
        issue = "https://example.com/1"
        expires = 2999-01-01
    """)
    given = [*faulty("reads-behind:delete_file"), f"--waivers={entries}"]
    waived = run(tmp_path, *given, f"--case={ONCE}", MEMCHECK)
    assert waived.returncode == 0, waived.stdout
    assert [one["verdict"] for one in checks(report(tmp_path), ONCE) if one["clause"] == SAFE] == ["waived"]
    assert run(tmp_path, *given, f"--case={ONCE}").returncode == 0


@needs_valgrind
def test_op_that_hangs_is_not_tried_again(tmp_path: Path) -> None:
    given = (*faulty("hang:delete_file"), f"--case={ONCE}", "--call-timeout=0.5", MEMCHECK)
    assert SAFE not in {one["clause"] for one in checks(judged_report(tmp_path, *given, code=1), ONCE)}


@pytest.mark.parametrize(
    ("programs", "why"),
    [
        ({}, "valgrind is not there: apt-get install valgrind"),
        ({"valgrind": "Fatal error at startup"}, "Fatal error at startup"),
    ],
    ids=["missing", "broken"],
)
def test_memcheck_that_cannot_start_is_not_run(tmp_path: Path, programs: dict[str, str], why: str) -> None:
    done = run(tmp_path, "--plugin=posix", "--tier=smoke", MEMCHECK, PATH=path_of(tmp_path, programs))
    # A MUST clause that was asked for was not run.
    assert done.returncode == 1
    assert "1 × " in done.stdout
    # The terminal wraps its lines, and paths have any length.
    assert why in " ".join(done.stdout.split())
    found = report(tmp_path)
    assert [one["verdict"] for one in checks(found, "conditions/memcheck") if one["clause"] == SAFE] == ["not run"]
    verdicts = {name: one["verdict"] for name, one in found["classes"].items()}
    assert verdicts["memory-safety"] == "incomplete"
    assert verdicts["robustness"] == verdicts["read"] == "conformant"


@needs_valgrind
def test_memcheck_goes_with_tensorflow(tmp_path: Path) -> None:
    given = [f"--runtime={release(tmp_path / 'site')}", "--case=metadata/plain"]
    run(tmp_path, *faulty("reads-behind:stat"), *given, MEMCHECK)
    found = report(tmp_path)
    assert found["target"]["runtime"].startswith("TensorFlow 2.99.1")
    said = [one["got"] for record in found["cases"] for one in checks(found, record["id"]) if one["clause"] == SAFE]
    assert said == ["stat: Invalid read of size 1 in fakes::ReadBehind()"]


# What cannot be tried ------------------------------------------------------------------------------------------------


@compiles
@pytest.mark.parametrize(
    ("sanitizer", "compiled", "why"),
    [
        ("address", (), "was not compiled with -fsanitize=address"),
        ("thread", (), "was not compiled with -fsanitize=thread"),
        ("address", ("-DINIT=__asan_init",), "has the sanitizer's runtime inside, or leaves it to its program"),
        ("thread", ("-DINIT=__tsan_init",), "has the sanitizer's runtime inside, or leaves it to its program"),
        ("thread", ("-DINIT=__asan_init",), "was compiled with -fsanitize=address"),
        ("thread", ("-fsanitize=address",), "was compiled with -fsanitize=address"),
    ],
)
def test_plugin_without_sanitizer_is_refused(
    tmp_path: Path, sanitizer: str, compiled: tuple[str, ...], why: str
) -> None:
    if "-fsanitize=address" in compiled:
        required("address")
    plugin = small(tmp_path, *compiled)
    done = run(tmp_path, *asked(sanitizer, plugin))
    assert done.returncode == 4
    clang = ", or with clang -fsanitize=address -shared-libasan" if sanitizer == "address" else ""
    advice = f"gcc -fsanitize={sanitizer}{clang}"
    said = f"--sanitizer={sanitizer}: libsmall.so {why}: compile and link it with {advice}"
    assert said in done.stdout + done.stderr


@compiles
@pytest.mark.parametrize("broken", [False, True], ids=["missing", "broken"])
def test_runtime_that_does_not_start_is_refused(tmp_path: Path, broken: bool) -> None:
    start = 'write(2, "FATAL: memory mapping\\n", 22); _exit(66);'
    plugin, runtime = with_runtime(tmp_path, "__asan_init", "libclang_rt.asan-x86_64.so", start)
    if not broken:
        runtime.unlink()
    done = run(tmp_path, *asked("address", plugin))
    assert done.returncode == 4
    why = "FATAL: memory mapping" if broken else "cannot be preloaded"
    said = done.stdout + done.stderr
    assert re.search(f"--sanitizer=address: {re.escape(runtime.name)} does not start: .*{why}", said)
    assert ("clang -print-runtime-dir" in said) != broken


@compiles
@pytest.mark.parametrize("allowed", [True, False])
def test_addresses_spread_too_far_are_tried_again(tmp_path: Path, allowed: bool) -> None:
    required("thread")
    if allowed and subprocess.run(["setarch", "-R", "true"], capture_output=True, check=False).returncode != 0:
        pytest.skip("not run: setarch -R is not permitted, as in a container of docker")
    # The first process of this kind starts, and no other one.
    start = """
        if ((personality(0xffffffff) & ADDR_NO_RANDOMIZE) != 0) return;
        if (access(getenv("STARTED"), F_OK) != 0) { fclose(fopen(getenv("STARTED"), "w")); return; }
        write(2, "FATAL: unexpected memory mapping\\n", 33);
        _exit(66);
    """
    plugin, _ = with_runtime(tmp_path, "__tsan_init", "libtsan.so", start)
    programs = path_of(tmp_path, {} if allowed else {"setarch": "setarch: not permitted"})
    if not allowed:
        (tmp_path / "started").touch()
    path = f"{programs}:{os.environ['PATH']}"
    done = run_anew(tmp_path, *asked("thread", plugin), PATH=path, STARTED=str(tmp_path / "started"))
    spread = "does not start: FATAL: unexpected memory mapping" in done.stdout + done.stderr
    # What registers nothing is no plugin: that is said where hosts start.
    assert (done.returncode, spread) == ((1, False) if allowed else (4, True))


def with_runtime(folder: Path, init: str, name: str, start: str) -> tuple[Path, Path]:
    """A plugin and the library of its sanitizer, which does this where a process starts."""
    headers = "".join(f"#include <{one}.h>\n" for one in ("stdio", "stdlib", "sys/personality", "unistd"))
    code = f"{headers}void {init}(void) {{}}\n__attribute__((constructor)) static void Start(void) {{ {start} }}\n"
    runtime = library(folder, name, code)
    return small(folder, f"-DINIT={init}", str(runtime), "-Wl,-rpath,$ORIGIN"), runtime


def small(folder: Path, *compiled: str) -> Path:
    """A plugin that registers nothing."""
    code = "#ifdef INIT\nvoid INIT(void);\nvoid (*volatile init)(void) = INIT;\n#endif\n"
    return library(folder, "libsmall.so", f"{code}void TF_InitPlugin(void *info) {{}}\n", *compiled)


# The reference plugins, all that is native under sanitizers and under valgrind ---------------------------------------


def native_with(tools: str, folder: Path) -> Path:
    """All that is native with these sanitizers; the folder that takes the place of the installed one."""
    for command in (
        ["cmake", "-S", str(PROJECT), "-B", str(folder / "build"), "-G", "Ninja", f"-DTFFS_SANITIZE={tools}",
         "-DTFFS_FAKES=ON", f"-DCMAKE_INSTALL_PREFIX={folder / 'out'}"],
        ["cmake", "--build", str(folder / "build")],
        ["cmake", "--install", str(folder / "build")],
    ):  # fmt: skip
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    return folder / "out" / "tffs_conformance" / "_native"


def native_under_valgrind(folder: Path) -> Path:
    """The installed one with a host that valgrind runs."""
    native, name = folder / "native", "tffs-host"
    native.mkdir()
    for path in native_directory().iterdir():
        if path.name != name:
            (native / path.name).symlink_to(path)
    (native / name).write_text(
        f'#!/bin/sh\nexec valgrind --quiet --error-exitcode=99 {native_directory() / name} "$@"\n'
    )
    (native / name).chmod(0o755)
    return native


@pytest.mark.nightly
@pytest.mark.timeout(3600)
@pytest.mark.parametrize(
    ("tools", "given"),
    [
        ("address,undefined", ()),
        ("thread", ()),
        # A process takes a second to start there.
        pytest.param("valgrind", ("--tier=quick", "--host-scope=module"), marks=needs_valgrind),
    ],
)
def test_tools_have_nothing_to_say(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, tools: str, given: tuple[str, ...]
) -> None:
    """They make a call many times slower, and say so by the exit code of the process."""
    native = native_under_valgrind(tmp_path) if tools == "valgrind" else native_with(tools, tmp_path)
    monkeypatch.setenv(NATIVE_DIRECTORY_VARIABLE, str(native))
    done = run(tmp_path, "--plugin=posix", "--plugin=memory", "--call-timeout=120", "--examples=20", *given)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    for plugin in ("posix", "memory"):
        assert document.load(tmp_path / "tffs-report" / plugin / "report.json").verdict == "conformant"


# Whose an error is, and what is read of a log ------------------------------------------------------------------------

PLUGIN = Path("/opt/mine/libmine.so")
LIBC, CURL, BROUGHT = "/usr/lib/x86_64-linux-gnu/libc.so.6", "/usr/lib/x86_64-linux-gnu/libcurl.so.4", "/opt/mine/b.so"
PRELOADED = "/usr/libexec/valgrind/vgpreload_memcheck-amd64-linux.so"
ASAN = "/usr/lib/x86_64-linux-gnu/libasan.so.8"
RACE = """==================
WARNING: ThreadSanitizer: data race (pid=7)
  Write of size 8 at 0x7b1000 by thread T2 (mutexes: write M1):
    #0\tmemcpy\t/usr/lib/x86_64-linux-gnu/libtsan.so.2\t<null>\t0
    #1\t<null>\t{first}\t<null>\t0

  Previous read of size 8 at 0x7b1000 by main thread:
{second}
  Thread T2 (tid=9, running) created by main thread at:
    #0\tpthread_create\t/usr/lib/x86_64-linux-gnu/libtsan.so.2\t<null>\t0

SUMMARY: ThreadSanitizer: data race (/opt/mine/libmine.so+0x17) in Write
==================
"""
OF_MINE = "    #0\tMake\t/opt/mine/libmine.so\t/src/a/table.cc\t12\n"


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
def test_error_is_of_the_first_own_frame(objects: list[str], culprit: str | None) -> None:
    ours = {"{native}/host": native_directory() / "tffs-host", "{native}/runtime": native_directory() / RUNTIME_NAME}
    frames = tuple(Frame(str(ours.get(path, path)), "f", "") for path in objects)
    found = of_plugin([Misuse("read", "InvalidRead", (("Invalid read", frames),))] * 2, PLUGIN)
    assert [frame.object for _, frames in found for frame in frames] == ([culprit] if culprit else [])


def test_inlined_function_of_library_names_its_caller() -> None:
    names = ("__gthread_mutex_lock", "std::vector<int>::back()", "mine::Last()", "mine::Read()")
    frames = tuple(Frame(str(PLUGIN), name, "") for name in names)
    assert Misuse("read", "race", (("", frames),)).culprits(PLUGIN) == (frames[2],)
    assert Misuse("read", "race", (("", frames[:2]),)).culprits(PLUGIN) == (frames[0],)


@pytest.mark.parametrize("plugin", [Path("/usr/lib/libmine.so"), plugin_path("posix")], ids=["system", "host"])
def test_plugin_beside_other_libraries_is_plugin(plugin: Path) -> None:
    frame = Frame(str(plugin), "f", "")
    misuse = Misuse("read", "InvalidRead", (("Invalid read", (frame,)),))
    assert of_plugin([misuse], plugin) == [(misuse, (frame,))]


def read(written: str) -> list[Misuse]:
    found = [sanitizers.LOG.read(one.decode(), "stat") for one in sanitizers.LOG.error.findall(written.encode())]
    return [one for one in found if one is not None]


@pytest.mark.parametrize(
    ("first", "second", "said"),
    [
        (PLUGIN, OF_MINE, "data race in Make and libmine.so"),
        (PLUGIN, "    [failed to restore the stack]\n", "data race in libmine.so"),
        # One of the two is of a library, of whose locks nothing is known.
        (PLUGIN, "    #0\tadd\t/usr/lib/libcurl.so.4\t<null>\t0\n", None),
        ("/usr/lib/libcurl.so.4", OF_MINE, None),
    ],
)
def test_race_is_of_plugin_with_both_stacks(first: object, second: str, said: str | None) -> None:
    whole = RACE.format(first=first, second=second)
    # One that is cut is none.
    seen = read(whole * 2 + whole.partition("SUMMARY")[0])
    assert len(seen) == 2
    found = of_plugin(seen, PLUGIN)
    assert [misuse.told(culprits) for misuse, culprits in found] == ([said] if said else [])


def test_allocation_of_too_much_is_no_misuse() -> None:
    head = "==7==ERROR: AddressSanitizer: requested allocation size 0x7fff exceeds maximum supported size of 0x1000\n"
    frame = f"    #0\tmalloc\t{ASAN}\t<null>\t0\n    #1\tMake\t{PLUGIN}\t<null>\t0\n"
    assert not read(f"{head}{frame}SUMMARY: AddressSanitizer: allocation-size-too-big in Make\n")
    (found,) = read(
        f"==7==ERROR: AddressSanitizer: attempting double-free on 0x61\n{frame}SUMMARY: AddressSanitizer: double-free\n"
    )
    assert found.stacks == (
        ("attempting double-free on …", (Frame(ASAN, "malloc", ""), Frame(str(PLUGIN), "Make", ""))),
    )


def test_flood_is_not_read_to_its_end(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = RACE.format(first=PLUGIN, second=OF_MINE).encode()
    monkeypatch.setattr(watch, "MOST_READ", 10 * len(whole))
    logs: list[str] = []

    def hosts(log: str) -> Local:
        logs.append(log)
        return Local()

    one = ToolWatch(hosts, Log(sanitizers.LOG.error, sanitizers.LOG.read))
    with Path(f"{logs[0]}.1").open("wb") as file:
        for written, told_of, cut in ((8, 8, False), (50, 2, True), (1, 0, False)):
            file.write(whole * written)
            file.flush()
            one.look("stat")
            found, more = one.taken()
            assert (len(found), more) == (told_of, cut)
    one.close()
