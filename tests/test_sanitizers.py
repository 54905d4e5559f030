"""--sanitizer=address and --sanitizer=thread: what a plugin that was compiled so does is told at its op."""

import os
import re
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.pages import PROJECT
from tests.test_memcheck import checks
from tests.test_suite import report, run, run_anew
from tffs_conformance.harness.launchers import sanitizers, watch
from tffs_conformance.harness.launchers.local import Local
from tffs_conformance.harness.launchers.misuse import Frame, Misuse, of_plugin
from tffs_conformance.harness.launchers.watch import Log, Watch
from tffs_conformance.reports import document
from tffs_conformance.run.parts import SUITE
from tffs_conformance.run.run_options import SANITIZERS
from tffs_conformance.suite.engine.sanitizers import TOOLS
from tffs_conformance.suite.judge.merge import merge

#: One worker compiles for all.
pytestmark = pytest.mark.xdist_group("sanitizers")

PLUGINS = PROJECT / "reference_plugins"
SAFE, RACES = "robustness.memory-safe", "robustness.no-data-race"
ONCE = "plain/once[delete_file]"
#: What is told of the defects of defects.cc.
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


def told(found: dict[str, Any], clause: str) -> set[str]:
    """What is told of a clause where it is broken."""
    made = [one for record in found["cases"] for one in record["checks"] if one["verdict"] == "violation"]
    assert {one["clause"] for one in made} == {clause}
    return {one["got"] for one in made}


def asked(sanitizer: str, plugin: Path, *more: str) -> tuple[str, ...]:
    return f"--plugin={plugin}", f"--sanitizer={sanitizer}", *more


def test_each_tool_can_be_asked_for() -> None:
    assert tuple(TOOLS) == SANITIZERS


@pytest.mark.parametrize("sanitizer", ["address", "thread"])
def test_a_right_plugin_is_not_blamed(tmp_path: Path, built: Built, sanitizer: str) -> None:
    plugin, parts = built(sanitizer, PLUGINS / "posix" / "plugin.cc"), []
    clause, area = (SAFE, "memory-safety") if sanitizer == "address" else (RACES, "thread-safety")
    for number in (1, 2):
        given = asked(sanitizer, plugin, "--tier=smoke", f"--shard={number}/2", f"--report-dir={number}")
        done = run(tmp_path, *given)
        assert done.returncode == 0, done.stdout
        path = tmp_path / str(number) / "report.json"
        parts.append((path, document.load(path)))
    whole = merge(parts, SUITE).report
    assert whole.verdict == whole.classes[area].verdict == "conformant"
    assert whole.clauses[clause].counts.conform > 20
    assert f"--sanitizer={sanitizer}" in whole.suite.command


@pytest.mark.parametrize("sanitizer", ["address", "thread"])
def test_what_only_a_sanitizer_sees_is_told_at_its_op(tmp_path: Path, built: Built, sanitizer: str) -> None:
    recover = [f"-fsanitize-recover={sanitizer}"] if sanitizer == "address" else []
    plugin = built(sanitizer, PROJECT / "tests" / "defects.cc", *recover)
    assert run(tmp_path, *asked(sanitizer, plugin, "--tier=smoke")).returncode == 1
    found = report(tmp_path)
    assert told(found, SAFE if sanitizer == "address" else RACES) == DEFECTS[sanitizer]
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


def test_who_does_not_recover_is_told_all_the_same(tmp_path: Path, built: Built) -> None:
    plugin = built("address", PROJECT / "tests" / "defects.cc")
    assert run(tmp_path, *asked("address", plugin, f"--case={ONCE}")).returncode == 1
    made = {one["clause"]: one["got"] for one in checks(report(tmp_path), ONCE)}
    assert made["robustness.no-crash"].startswith("delete_file ended the process")
    assert made[SAFE] == "delete_file: stack-buffer-overflow: write of size 1 in defects::OverflowStack()"


def test_a_flood_is_cut(tmp_path: Path, built: Built) -> None:
    plugin = built("address", PROJECT / "tests" / "defects.cc", "-fsanitize-recover=address")
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


@pytest.mark.usefixtures("one_processor")
def test_what_the_host_does_between_ops_is_no_order_of_theirs(tmp_path: Path, built: Built) -> None:
    plugin = built("thread", PROJECT / "tests" / "defects.cc")
    assert run_anew(tmp_path, *asked("thread", plugin, "--case=conditions/thread")).returncode == 1
    assert told(report(tmp_path), RACES) == DEFECTS["thread"]


@pytest.mark.nightly
def test_some_races_are_told_of_pairs_of_ops_only(tmp_path: Path, built: Built) -> None:
    plugin = built("thread", PROJECT / "tests" / "defects.cc")
    cases = [f"--case={module}/*" for module in ("threads", "races")]
    assert run(tmp_path, *asked("thread", plugin, *cases)).returncode == 1
    assert told(report(tmp_path), RACES) == {
        said for said in DEFECTS["thread"] if said.endswith(("Count()", "Table()"))
    }


def test_what_a_user_sets_is_kept(tmp_path: Path, built: Built) -> None:
    plugin = built("thread", PROJECT / "tests" / "defects.cc")
    (tmp_path / "known.supp").write_text("race:defects::Count\n")
    given = (f"--env=TSAN_OPTIONS=suppressions={tmp_path / 'known.supp'}", "--case=conditions/thread")
    assert run(tmp_path, *asked("thread", plugin, *given)).returncode == 1
    assert told(report(tmp_path), RACES) == {"threads: data race in defects::MakeTable()"}


# Who cannot be tried -------------------------------------------------------------------------------------------------


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
def test_who_was_not_compiled_for_it(tmp_path: Path, sanitizer: str, compiled: tuple[str, ...], why: str) -> None:
    if "-fsanitize=address" in compiled:
        required("address")
    plugin = small(tmp_path, *compiled)
    done = run(tmp_path, *asked(sanitizer, plugin))
    assert done.returncode == 4
    clang = ", or with clang -fsanitize=address -shared-libasan" if sanitizer == "address" else ""
    advice = f"gcc -fsanitize={sanitizer}{clang}"
    said = f"--sanitizer={sanitizer}: libsmall.so {why}: compile and link it with {advice}"
    assert said in done.stdout + done.stderr


@pytest.mark.parametrize("broken", [False, True], ids=["missing", "broken"])
def test_a_runtime_that_does_not_start(tmp_path: Path, broken: bool) -> None:
    library = tmp_path / "libclang_rt.asan-x86_64.so"
    source = tmp_path / "runtime.cc"
    source.write_text(
        '#include <unistd.h>\nextern "C" void __asan_init() {}\n'
        '__attribute__((constructor)) void Start() { write(2, "FATAL: memory mapping\\n", 22); _exit(66); }\n'
    )
    compiler("-shared", "-fPIC", f"-Wl,-soname,{library.name}", "-o", str(library), str(source))
    plugin = small(tmp_path, "-DINIT=__asan_init", str(library), "-Wl,-rpath,$ORIGIN")
    if not broken:
        library.unlink()
    done = run(tmp_path, *asked("address", plugin))
    assert done.returncode == 4
    why = "FATAL: memory mapping" if broken else "cannot be preloaded"
    said = done.stdout + done.stderr
    assert re.search(f"--sanitizer=address: {re.escape(library.name)} does not start: .*{why}", said)
    assert ("clang -print-runtime-dir" in said) != broken


@pytest.mark.parametrize("allowed", [True, False])
def test_addresses_that_are_spread_too_far_now_and_then(tmp_path: Path, allowed: bool) -> None:
    required("thread")
    if allowed and subprocess.run(["setarch", "-R", "true"], capture_output=True, check=False).returncode != 0:
        pytest.skip("not run: setarch -R is not permitted, as in a container of docker")
    library = tmp_path / "libtsan.so"
    source = tmp_path / "runtime.cc"
    source.write_text(
        "#include <cstdio>\n#include <cstdlib>\n#include <sys/personality.h>\n#include <unistd.h>\n"
        'extern "C" void __tsan_init() {}\n'
        "__attribute__((constructor)) void Start() {\n"
        "  if ((personality(0xffffffff) & ADDR_NO_RANDOMIZE) != 0) return;\n"
        # The first process of this kind starts, and no other one.
        '  if (access(std::getenv("STARTED"), F_OK) != 0) { fclose(fopen(std::getenv("STARTED"), "w")); return; }\n'
        '  write(2, "FATAL: unexpected memory mapping\\n", 33);\n  _exit(66);\n}\n'
    )
    compiler("-shared", "-fPIC", f"-Wl,-soname,{library.name}", "-o", str(library), str(source))
    plugin = small(tmp_path, "-DINIT=__tsan_init", str(library), "-Wl,-rpath,$ORIGIN")
    (tmp_path / "bin").mkdir()
    if not allowed:
        (tmp_path / "bin" / "setarch").write_text("#!/bin/sh\necho 'setarch: not permitted' >&2\nexit 1\n")
        (tmp_path / "bin" / "setarch").chmod(0o755)
        (tmp_path / "started").touch()
    path = f"{tmp_path / 'bin'}:{os.environ['PATH']}"
    done = run_anew(tmp_path, *asked("thread", plugin), PATH=path, STARTED=str(tmp_path / "started"))
    spread = "does not start: FATAL: unexpected memory mapping" in done.stdout + done.stderr
    # What registers nothing is no plugin: that is told where hosts start.
    assert (done.returncode, spread) == ((1, False) if allowed else (4, True))


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


# What is read of a log -----------------------------------------------------------------------------------------------

PLUGIN = Path("/opt/mine/libmine.so")
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
OF_CURL = "    #0\tadd\t/usr/lib/libcurl.so.4\t<null>\t0\n"
OF_MINE = "    #0\tMake\t/opt/mine/libmine.so\t/src/a/table.cc\t12\n"
LOST = "    [failed to restore the stack]\n"


def read(written: str) -> list[Misuse]:
    found = [sanitizers.LOG.read(one.decode(), "stat") for one in sanitizers.LOG.error.findall(written.encode())]
    return [one for one in found if one is not None]


@pytest.mark.parametrize(
    ("first", "second", "said"),
    [
        (PLUGIN, OF_MINE, "data race in Make and libmine.so"),
        (PLUGIN, LOST, "data race in libmine.so"),
        # One of the two is of a library, of whose locks nothing is known.
        (PLUGIN, OF_CURL, None),
        ("/usr/lib/libcurl.so.4", OF_MINE, None),
    ],
)
def test_whose_a_race_is(first: object, second: str, said: str | None) -> None:
    found = of_plugin(read(RACE.format(first=first, second=second) * 2), PLUGIN)
    assert [misuse.told(culprits) for misuse, culprits in found] == ([said] if said else [])


def test_a_report_that_is_not_whole_is_none() -> None:
    whole = RACE.format(first=PLUGIN, second=OF_MINE)
    assert len(read(whole + whole.partition("SUMMARY")[0])) == 1


def test_more_than_there_is_is_no_misuse() -> None:
    head = "==7==ERROR: AddressSanitizer: requested allocation size 0x7fff exceeds maximum supported size of 0x1000\n"
    frame = f"    #0\tmalloc\t{ASAN}\t<null>\t0\n    #1\tMake\t{PLUGIN}\t<null>\t0\n"
    assert not read(f"{head}{frame}SUMMARY: AddressSanitizer: allocation-size-too-big in Make\n")
    (found,) = read(
        f"==7==ERROR: AddressSanitizer: attempting double-free on 0x61\n{frame}SUMMARY: AddressSanitizer: double-free\n"
    )
    assert found.stacks == (
        ("attempting double-free on …", (Frame(ASAN, "malloc", ""), Frame(str(PLUGIN), "Make", ""))),
    )


def test_a_flood_of_a_process_is_not_read_to_its_end(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = RACE.format(first=PLUGIN, second=OF_MINE).encode()
    monkeypatch.setattr(watch, "MOST_READ", 10 * len(whole))
    logs: list[str] = []

    def hosts(log: str) -> Local:
        logs.append(log)
        return Local()

    one = Watch(hosts, Log(sanitizers.LOG.error, sanitizers.LOG.read))
    with Path(f"{logs[0]}.1").open("wb") as file:
        for written, told_of, cut in ((8, 8, False), (50, 2, True), (1, 0, False)):
            file.write(whole * written)
            file.flush()
            one.look("stat")
            found, more = one.taken()
            assert (len(found), more) == (told_of, cut)
    one.close()
