"""Misuse of memory and data races: whose each is, and what is read of a log of sanitizers."""

from pathlib import Path

import pytest

from tffs_conformance.harness.launchers import sanitizers, watch
from tffs_conformance.harness.launchers.local import Local
from tffs_conformance.harness.launchers.misuse import Frame, Misuse, of_plugin
from tffs_conformance.harness.launchers.watch import Log, ToolWatch
from tffs_conformance.harness.native import RUNTIME_NAME, native_directory
from tffs_conformance.harness.targets.shipped import plugin_path

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
OF_CURL = "    #0\tadd\t/usr/lib/libcurl.so.4\t<null>\t0\n"
OF_MINE = "    #0\tMake\t/opt/mine/libmine.so\t/src/a/table.cc\t12\n"
LOST = "    [failed to restore the stack]\n"


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
        (PLUGIN, LOST, "data race in libmine.so"),
        # One of the two is of a library, of whose locks nothing is known.
        (PLUGIN, OF_CURL, None),
        ("/usr/lib/libcurl.so.4", OF_MINE, None),
    ],
)
def test_race_is_of_plugin_with_both_stacks(first: object, second: str, said: str | None) -> None:
    found = of_plugin(read(RACE.format(first=first, second=second) * 2), PLUGIN)
    assert [misuse.told(culprits) for misuse, culprits in found] == ([said] if said else [])


def test_report_that_is_cut_is_none() -> None:
    whole = RACE.format(first=PLUGIN, second=OF_MINE)
    assert len(read(whole + whole.partition("SUMMARY")[0])) == 1


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
