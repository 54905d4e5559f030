"""What the suite costs, as ratios: machines are noisy, so nothing here is an absolute time, and nothing fails."""

import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from tffs_conformance.harness.guard import Guard
from tffs_conformance.harness.host_filesystem import HostFilesystem
from tffs_conformance.harness.launchers.local import Local
from tffs_conformance.harness.loader import Loaded, Loader
from tffs_conformance.harness.native import native_directory
from tffs_conformance.harness.raw import RawFilesystem
from tffs_conformance.harness.shipped import plugin_path
from tffs_conformance.suite.engine import collect

ROUNDS = 5
HEADER = Path(__file__).parent.parent / "harness" / "include"


def pairwise(first: Callable[[], None], second: Callable[[], None]) -> float:
    """The median of the ratios of time, first to second, run in turn."""
    return statistics.median(seconds(first) / seconds(second) for _ in range(ROUNDS))


def seconds(work: Callable[[], None]) -> float:
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


def pytest_run(directory: str, *arguments: str) -> Callable[[], None]:
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:randomly", *arguments]
    return lambda: check(command, directory)


def check(command: list[str], directory: str) -> None:
    subprocess.run(command, cwd=directory, check=True, stdout=subprocess.DEVNULL)


def suite_against_empty_tests(directory: str) -> None:
    cases = sum(case.tier in ("smoke", "must") for case in collect.cases())
    empty = Path(directory) / "test_empty.py"
    empty.write_text("".join(f"def test_{k}():\n    pass\n" for k in range(cases)))
    ratio = pairwise(
        pytest_run(directory, "--plugin=posix", "--tier=must"),
        pytest_run(directory, "-p", "no:tffs", str(empty)),
    )
    print(f"MUST tier on posix / {cases} empty tests in bare pytest: {ratio:.2f}")


def filesystem(loaded: Loaded, root: str) -> HostFilesystem:
    entry = loaded.registration.registered["posix"]
    assert entry.filesystem is not None
    return HostFilesystem(RawFilesystem(loaded.call, entry.filesystem, []), entry.present, Guard(root))


def isolation(directory: str) -> None:
    loader = Loader(Local(), plugin_path("posix"), 10)
    root = f"posix://{directory}"
    kept = loader.load()
    times = 200

    def isolated() -> None:
        for _ in range(times):
            loaded = loader.load()
            filesystem(loaded, root).stat(root)
            loaded.host.close()

    def together() -> None:
        fs = filesystem(kept, root)
        for _ in range(times):
            fs.stat(root)

    ratio = pairwise(isolated, together)
    print(f"one op in a host of its own / one in a kept host: {ratio:.1f}")
    kept.host.close()
    loader.close()


def reads(directory: str) -> None:
    native = native_directory()
    program = Path(directory) / "reads"
    subprocess.run(
        ["c++", "-std=c++17", "-O2", f"-I{HEADER}", str(Path(__file__).with_name("reads.cc")), "-o", str(program),
         str(native / "libtensorflow_framework.so.2"), f"-Wl,-rpath,{native}", "-Wl,--no-as-needed", "-ldl"],
        check=True,
    )  # fmt: skip
    for plugin, path, yardstick in (("posix", f"{directory}/content", "pread"), ("memory", "/content", "memcpy")):
        for size in (4 << 10, 128 << 10, 1 << 20):
            arguments = [str(plugin_path(plugin)), path, str(64 << 20), str(size), "21", yardstick]
            done = subprocess.run([str(program), *arguments], check=True, capture_output=True, text=True)
            print(f"{plugin} reads of {size >> 10} KiB / a plain {yardstick} loop (speed): {done.stdout.strip()}")


def main() -> None:
    with tempfile.TemporaryDirectory() as directory:
        suite_against_empty_tests(directory)
        isolation(directory)
        reads(directory)


if __name__ == "__main__":
    main()
