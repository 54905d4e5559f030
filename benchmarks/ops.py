"""What an op, a host of its own, and a large read cost."""

import os
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path

from measured import Spread, compiled, in_turn, ratio, seconds

from tffs_conformance.harness.hosting.loader import Loaded, Loader
from tffs_conformance.harness.launchers.local import Local
from tffs_conformance.harness.ops.guard import Guard
from tffs_conformance.harness.over_tables.filesystem import HostFilesystem
from tffs_conformance.harness.over_tables.raw import RawFilesystem
from tffs_conformance.harness.targets.shipped import plugin_path

CALLS = 2000
HOSTS = 200
#: Bytes of the large read.
LARGE = 64 << 20


def figures(folder: Path) -> Iterator[tuple[str, Spread]]:
    """Names with their spreads."""
    loader = Loader(Local(), plugin_path("posix"), 60)
    kept = loader.load()
    try:
        yield from _calls(loader, kept, f"posix://{folder}")
        yield _large_read(kept, folder)
    finally:
        kept.host.close()
        loader.close()
    yield from _plugin_reads(folder)


def _filesystem(loaded: Loaded, root: str) -> HostFilesystem:
    entry = loaded.registration.registered["posix"]
    assert entry.filesystem is not None
    return HostFilesystem(RawFilesystem(loaded.call, entry.filesystem, []), entry.present, Guard(root))


def _calls(loader: Loader, kept: Loaded, root: str) -> Iterator[tuple[str, Spread]]:
    fs = _filesystem(kept, root)

    def calls() -> float:
        return seconds(lambda: [fs.raw.stat("/tmp") for _ in range(CALLS)]) / CALLS

    def hosts() -> float:
        def work() -> None:
            for _ in range(HOSTS):
                loaded = loader.load()
                _filesystem(loaded, root).raw.stat("/tmp")
                loaded.host.close()

        return seconds(work) / HOSTS

    calls()
    pairs = in_turn(hosts, calls)
    yield "microseconds of one op over the wire", Spread.of([call * 1e6 for _, call in pairs])
    yield "milliseconds of a host of its own with one op", Spread.of([host * 1e3 for host, _ in pairs])


def _large_read(kept: Loaded, folder: Path) -> tuple[str, Spread]:
    file = folder / "large"
    file.write_bytes(os.urandom(1 << 20) * (LARGE >> 20))
    opened = _filesystem(kept, f"posix://{folder}").new_random_access_file(f"posix://{file}").value
    assert opened is not None

    def over_the_wire() -> float:
        return seconds(lambda: opened.read(0, LARGE))

    pairs = in_turn(over_the_wire, _through_a_pipe)
    opened.cleanup()
    file.unlink()
    return "a read of 64 MiB over the wire / a pipe (time)", ratio(pairs)


def _through_a_pipe() -> float:
    """What a pipe alone takes for the same bytes."""
    read, write = os.pipe()
    content = bytes(LARGE)

    def feed() -> None:
        with open(write, "wb", buffering=0) as pipe:
            rest = memoryview(content)
            while rest:
                rest = rest[pipe.write(rest) or 0 :]

    feeder = threading.Thread(target=feed)

    def work() -> None:
        feeder.start()
        with open(read, "rb") as pipe:
            pipe.read()
        feeder.join()

    return seconds(work)


def _plugin_reads(folder: Path) -> Iterator[tuple[str, Spread]]:
    """What the reference plugins make of a disk and of memory; each ratio is the median that reads.cc prints."""
    program = compiled("reads.cc", folder)
    for plugin, path, yardstick in (("posix", f"{folder}/content", "pread"), ("memory", "/content", "memcpy")):
        for size in (4 << 10, 128 << 10, 1 << 20):
            arguments = [str(plugin_path(plugin)), yardstick, path, str(64 << 20), str(size), "21"]
            runs = [subprocess.run([str(program), *arguments], check=True, capture_output=True) for _ in range(3)]
            spread = Spread.of([float(run.stdout) for run in runs])
            yield f"{plugin} reads of {size >> 10} KiB / a plain {yardstick} loop (speed)", spread
