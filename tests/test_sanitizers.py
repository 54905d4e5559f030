"""--sanitizer: what a plugin does to memory, and its races, are reported at their op, and nothing else changes."""

import os
import re
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.pages import PROJECT
from tests.test_conditions import faulty, merged, path_of
from tests.test_runtimes import release
from tests.test_suite import report, run, run_anew
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
#: What is said of the defects of defects.cc.
DEFECTS = {
    "address": {
        "read: heap-buffer-overflow: write of size 1 in defects::OverflowHeap()",
        "new_appendable_file: heap-use-after-free: write of size 1 in defects::UseFreed()",
        "delete_file: stack-buffer-overflow: write of size 1 in defects::OverflowStack()",
        "rename_file: double-free in defects::FreeTwice()",
    },
    "thread": {
        "threads: data race in defects::Count()",
        "threads: data race in defects::MakeTable()",
        "threads: data race in defects::CountLength()",
        "threads: data race in defects::CountChange(std::mutex&)",
    },
}
#: Compiles a plugin with a sanitizer, from the file with its entry point and with these words beside.
Built = Callable[..., Path]


def compiler(*words: str) -> str:
    done = subprocess.run(["g++", *words], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def required(sanitizer: str) -> None:
    """Skip the test where the compiler has no such runtime."""
    library = f"lib{sanitizer[0]}san.so"
    if not os.path.isabs(compiler(f"-print-file-name={library}")):
        pytest.skip(f"{library} is not there: apt-get install g++")


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
            common = ("-std=c++17", "-g", "-O1", "-fPIC", "-fvisibility=hidden", f"-fsanitize={sanitizer}",
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
    ("tool", "plugin"),
    [
        pytest.param("memcheck", "posix", marks=needs_valgrind),
        pytest.param("memcheck", "objectstore_minimal", marks=needs_valgrind),
        pytest.param("memcheck", "memory", marks=[needs_valgrind, pytest.mark.nightly]),
        pytest.param("address", PLUGINS / "posix" / "plugin.cc", marks=compiles),
        pytest.param("thread", PLUGINS / "posix" / "plugin.cc", marks=compiles),
    ],
)
def test_right_plugin_is_not_blamed(tmp_path: Path, built: Built, tool: str, plugin: str | Path) -> None:
    name = built(tool, plugin) if isinstance(plugin, Path) else plugin
    clause, area = (RACES, "thread-safety") if tool == "thread" else (SAFE, "memory-safety")
    whole = merged(tmp_path, f"--plugin={name}", f"--sanitizer={tool}", "--tier=smoke")
    assert whole.verdict == whole.classes[area].verdict == "conformant"
    assert whole.clauses[clause].counts.conform > 20
    assert f"--sanitizer={tool}" in whole.suite.command


@needs_valgrind
def test_memory_of_whole_process_is_no_misuse(tmp_path: Path) -> None:
    assert run(tmp_path, "--plugin=memory", "--case=robustness/exit", MEMCHECK).returncode == 0
    made = {one["clause"]: one["verdict"] for one in checks(report(tmp_path), "robustness/exit")}
    assert made[SAFE] == "conform"


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
@pytest.mark.parametrize("sanitizer", ["address", "thread"])
def test_sanitized_plugin_with_defects_reports_them(tmp_path: Path, built: Built, sanitizer: str) -> None:
    recover = [f"-fsanitize-recover={sanitizer}"] if sanitizer == "address" else []
    plugin = built(sanitizer, SOURCE, *recover)
    assert run(tmp_path, *asked(sanitizer, plugin, "--tier=smoke")).returncode == 1
    found = report(tmp_path)
    assert broken(found, SAFE if sanitizer == "address" else RACES) == DEFECTS[sanitizer]
    output = {record["id"]: record["output"] for record in found["cases"]}
    if sanitizer == "address":
        assert [one["got"].partition(":")[0] for one in checks(found, ONCE) if one["verdict"] == "violation"] == [
            "delete_file"
        ]
        # Both stacks, with the lines of the plugin.
        assert re.search(
            r"WRITE of size 1 at … thread T0:\n +defects::OverflowStack\(\) \(defects.cc:\d+\)\n(?:.*\n)*"
            r"Address … is located in stack of thread T0 at offset \d+ in frame:\n +defects::OverflowStack\(\)",
            output[ONCE],
        )
    else:
        both = (
            r"by thread T\d.*:\n +defects::Count\(\) \(defects.cc:\d+\)\n(?:.*\n)* *Previous .*\n +defects::Count\(\)"
        )
        assert re.search(both, output["conditions/thread"])


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
    assert run(tmp_path, *plugin, f"--sanitizer={tool}", f"--case={ONCE}").returncode == 1
    made = {one["clause"]: one["got"] for one in checks(report(tmp_path), ONCE)}
    assert made["robustness.no-crash"].startswith("delete_file ended the process")
    assert made[SAFE] == f"delete_file: {said}"


@compiles
def test_flood_is_cut(tmp_path: Path, built: Built) -> None:
    plugin = built("address", SOURCE, "-fsanitize-recover=address")
    case = "move/plain[copy_file]"
    assert run(tmp_path, *asked("address", plugin, "--env=MANY=1", f"--case={case}")).returncode == 1
    found = report(tmp_path)
    made = {one["got"] for one in checks(found, case) if one["verdict"] == "violation"}
    assert len(made) == 20
    (record,) = found["cases"]
    assert "There were more: 20 are told" in record["output"]


@pytest.fixture
def one_processor() -> Iterator[None]:
    """All that the test starts has one processor: no two threads are at work at the same moment."""
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(before)})
    yield
    os.sched_setaffinity(0, before)


@compiles
@pytest.mark.usefixtures("one_processor")
def test_races_on_one_processor_are_reported(tmp_path: Path, built: Built) -> None:
    plugin = built("thread", SOURCE)
    assert run_anew(tmp_path, *asked("thread", plugin, "--case=conditions/thread")).returncode == 1
    assert broken(report(tmp_path), RACES) == DEFECTS["thread"]


@compiles
@pytest.mark.parametrize(
    ("given", "races"),
    [
        # Some are seen of pairs of ops only.
        pytest.param(["--case=threads/*", "--case=races/*"], ("Count", "MakeTable"), marks=pytest.mark.nightly),
        # What a user sets stays.
        (["--env=TSAN_OPTIONS=suppressions={}/known.supp", "--case=conditions/thread"], ("MakeTable",)),
    ],
)
def test_some_races_are_reported(tmp_path: Path, built: Built, given: list[str], races: tuple[str, ...]) -> None:
    (tmp_path / "known.supp").write_text("race:defects::Count\n")
    words = [word.format(tmp_path) for word in given]
    assert run(tmp_path, *asked("thread", built("thread", SOURCE), *words)).returncode == 1
    assert broken(report(tmp_path), RACES) == {f"threads: data race in defects::{name}()" for name in races}


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
    given = [*faulty("hang:delete_file"), f"--case={ONCE}"]
    assert run(tmp_path, *given, "--call-timeout=0.5", MEMCHECK).returncode == 1
    assert SAFE not in {one["clause"] for one in checks(report(tmp_path), ONCE)}


@pytest.mark.parametrize(
    ("programs", "why"),
    [
        ({}, "valgrind is not there: apt-get install valgrind"),
        ({"valgrind": "Fatal error at startup"}, "Fatal error at startup"),
    ],
    ids=["missing", "broken"],
)
def test_memcheck_that_cannot_start_is_not_run(tmp_path: Path, programs: dict[str, str], why: str) -> None:
    done = run_anew(tmp_path, "--plugin=posix", "--tier=smoke", MEMCHECK, PATH=path_of(tmp_path, programs))
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
    plugin, library = with_runtime(tmp_path, "__asan_init", "libclang_rt.asan-x86_64.so", start)
    if not broken:
        library.unlink()
    done = run(tmp_path, *asked("address", plugin))
    assert done.returncode == 4
    why = "FATAL: memory mapping" if broken else "cannot be preloaded"
    said = done.stdout + done.stderr
    assert re.search(f"--sanitizer=address: {re.escape(library.name)} does not start: .*{why}", said)
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
        if (access(std::getenv("STARTED"), F_OK) != 0) { fclose(fopen(std::getenv("STARTED"), "w")); return; }
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
    library, source = folder / name, folder / "runtime.cc"
    headers = "".join(f"#include <{one}>\n" for one in ("cstdio", "cstdlib", "sys/personality.h", "unistd.h"))
    source.write_text(
        f'{headers}extern "C" void {init}() {{}}\n__attribute__((constructor)) void Start() {{ {start} }}\n'
    )
    compiler("-shared", "-fPIC", f"-Wl,-soname,{name}", "-o", str(library), str(source))
    return small(folder, f"-DINIT={init}", str(library), "-Wl,-rpath,$ORIGIN"), library


def small(folder: Path, *compiled: str) -> Path:
    """A plugin that registers nothing."""
    source = folder / "small.cc"
    source.write_text(
        '#ifdef INIT\nextern "C" void INIT();\nvoid (*volatile init)() = INIT;\n#endif\n'
        'extern "C" void TF_InitPlugin(void*) {}\n'
    )
    plugin = folder / "libsmall.so"
    compiler("-shared", "-fPIC", "-o", str(plugin), str(source), *compiled)
    return plugin
