"""What the dragonfly plugin costs against curl and against s3fs, as ratios of speed: 1 is as fast, more is faster.

Cold: Dragonfly does not hold the object, for plugin and curl alike: each gets one of its own. Held: Dragonfly holds it,
the plugin does not. Its version known: somebody asked about it before, and `metadata_ttl_s` allows to believe that.
Cached: the plugin holds it. curl gets the same object through the same client of Dragonfly, into a
file, as the plugin does; s3fs gets it straight from the store, into memory. The plugin's process has read another
object before, as one that trains or serves has; so has s3fs. Where several threads read, curl is one process with as
many transfers, whose start counts. Every figure is the median of the ratios of pairs, run in turn.

It needs docker and the images of the services. With `--stub` it runs against the stubs of the project's tests: their
figures say nothing of Dragonfly, only how many requests an op takes, and that this program works.
"""

import argparse
import json
import os
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import IO, Any

sys.path.insert(0, str(Path(__file__).parent.parent))

import fsspec
from dragonfly_services import Docker, Place, Stubs

from tests.dragonfly_client import filesystem, read, unnamed, write
from tffs_conformance.harness.native import RUNTIME_NAME, include_directory, native_directory
from tffs_conformance.harness.over_tables.filesystem import HostFilesystem
from tffs_conformance.harness.targets.shipped import plugin_path

MIB = 1 << 20
SIZES = {"64 KiB": 64 << 10, "1 MiB": MIB, "4 MiB": 4 * MIB, "64 MiB": 64 * MIB, "512 MiB": 512 * MIB, "1 GiB": 1 << 30}
QUICK = ("64 KiB", "4 MiB", "64 MiB")
#: Several threads read several objects, of a size of which there is room for all.
THREADS = (8, 32)
OBJECTS, SHARED = 64, ("64 KiB", "4 MiB")
PIECE = 64 << 10
WARM = "bench/warm"
PAIRS = 5
ENTRIES = 1000


class Workbench:
    """The plugin, curl and s3fs, with the same store; the first two with the same client of Dragonfly."""

    def __init__(self, place: Place, folder: Path) -> None:
        self.place = place
        self.folder = folder
        self._program = self._built()
        self.peak = 0  # bytes of the largest process that had the plugin
        self.plain: Any = fsspec.filesystem(
            "s3", key=place.store.access_key, secret=place.store.secret_key, endpoint_url=f"http://{place.store.address}",
            client_kwargs={"region_name": "us-east-1"}, config_kwargs={"max_pool_connections": 64},
            use_listings_cache=False,
        )  # fmt: skip

    def _built(self) -> Path:
        native, program = native_directory(), self.folder / "fetch"
        source = Path(__file__).with_name("fetch.cc")
        subprocess.run(
            ["c++", "-std=c++17", "-O2", f"-I{include_directory()}", str(source), "-o", str(program),
             str(native / RUNTIME_NAME), f"-Wl,-rpath,{native}", "-Wl,--no-as-needed", "-ldl", "-pthread"],
            check=True,
        )  # fmt: skip
        return program

    def put(self, key: str, size: int, *, crc: bool = True) -> None:
        """Put an object, as today's SDKs do with a CRC-32 that the store keeps, or with its ETag alone, an MD5."""
        numbers = random.Random(key)
        content = b"".join(numbers.randbytes(min(size, PIECE)) for _ in range(0, size, PIECE))
        self.place.store.put(f"/{self.place.bucket}/{key}", content, crc=crc)

    def write(self, key: str, source: Path) -> float:
        """The seconds that the plugin takes to write this file's bytes."""
        with source.open("rb") as content:
            return self.plugin("write", key, content=content)[0]

    def by_uploader(self, key: str, source: Path) -> float:
        """The seconds that s5cmd takes for the same, straight to the store, with its start."""
        keys = {"AWS_ACCESS_KEY_ID": self.place.store.access_key, "AWS_SECRET_ACCESS_KEY": self.place.store.secret_key}
        command = ["s5cmd", "--endpoint-url", f"http://{self.place.store.address}", "cp", str(source)]
        started = time.perf_counter()
        subprocess.run(
            [*command, f"s3://{self.place.bucket}/{key}"], env={**os.environ, **keys, "AWS_REGION": "us-east-1"},
            check=True, stdout=subprocess.DEVNULL,
        )  # fmt: skip
        return time.perf_counter() - started

    def plugin(self, what: str, *keys: str, content: IO[bytes] | None = None) -> list[float]:
        """The seconds that the plugin takes for each; with a number in `what`, for the first and for all others."""
        uris = [f"dragonfly://{self.place.bucket}/{key}" for key in keys]
        command = [str(self._program), str(plugin_path("dragonfly")), what, *uris]
        environment = {**self.place.environment, "TMPDIR": str(self.folder)}
        if what == "known":
            remembering = self.folder / "remembering.json"
            remembering.write_text(json.dumps(self.place.config | {"metadata_ttl_s": 60}), encoding="utf-8")
            environment["DRAGONFLY_CONFIG_PATH"] = str(remembering)
        pipe = subprocess.PIPE
        done = subprocess.run(command, env=environment, check=False, stdin=content, stdout=pipe, stderr=pipe, text=True)
        # What the plugin logs is not asked for where all went well.
        if done.returncode:
            sys.exit(done.stderr)
        *seconds, peak = done.stdout.split()
        self.peak = max(self.peak, int(peak) << 10)
        return [float(line) for line in seconds]

    def read(self, key: str, times: int = 1, what: str = "read") -> float:
        """The seconds that the plugin takes for an object, the last time that a process reads it."""
        return self.plugin(what, WARM, *[key] * times)[-1]

    def read_all(self, threads: int, keys: list[str]) -> float:
        return self.plugin(f"read{threads}", WARM, *keys)[-1]

    def through(self, key: str, *more: str) -> float:
        """The seconds that curl takes for an object through Dragonfly."""
        url = self.place.inside.url("GET", f"/{self.place.bucket}/{key}")
        return self._curl([*self._by_proxy(), *more, "-o", str(self.folder / "got"), url])

    def all_through(self, threads: int, keys: list[str]) -> float:
        """The seconds that a process of curl takes for all of these, so many at a time."""
        urls = [self.place.inside.url("GET", f"/{self.place.bucket}/{key}") for key in keys]
        targets = [part for k, url in enumerate(urls) for part in ("-o", str(self.folder / f"got{k}"), url)]
        started = time.perf_counter()
        self._curl(["-Z", "--parallel-max", str(threads), *self._by_proxy(), *targets])
        return time.perf_counter() - started

    def direct(self, *arguments: str) -> float:
        """The seconds that curl takes, straight from the store."""
        return self._curl(["--noproxy", "*", *arguments])

    def _by_proxy(self) -> list[str]:
        headers = ["-H", "X-Dragonfly-Use-P2P: true", "-H", "X-Dragonfly-Tag: curl"]
        return ["--noproxy", "", "-x", self.place.proxy, *headers]

    def _curl(self, arguments: list[str]) -> float:
        # In parallel it shows how far it is, unless it is told twice.
        command = ["curl", "-fsS", "--no-progress-meter", "-w", "%{stderr}%{time_total}\n", *arguments]
        done = subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        return sum(float(line) for line in done.stderr.split())

    def by_s3fs(self, keys: list[str], threads: int = 1) -> float:
        paths = [f"{self.place.bucket}/{key}" for key in keys]
        with ThreadPoolExecutor(threads) as pool:
            started = time.perf_counter()
            for _ in pool.map(self.plain.cat_file, paths):
                pass
            return time.perf_counter() - started


def median(pairs: Iterator[tuple[float, float]]) -> float:
    """The median ratio of speed: of the first's to the second's, which is the second's time to the first's."""
    return statistics.median(theirs / ours for ours, theirs in pairs)


def reads(bench: Workbench, label: str, size: int, pairs: int) -> None:
    """The ratios for objects of one size, one after the other."""
    keys = [f"bench/{size}/{k}" for k in range(2 * pairs)]
    for key in keys:
        bench.put(key, size)
    ours, theirs = keys[:pairs], keys[pairs:]
    cold = median((bench.read(one), bench.through(other)) for one, other in zip(ours, theirs, strict=True))
    held = median((bench.read(one), bench.through(other)) for one, other in zip(ours, theirs, strict=True))
    known = median(
        (bench.read(one, what="known"), bench.through(other)) for one, other in zip(ours, theirs, strict=True)
    )
    plain = median((bench.read(key), bench.by_s3fs([key])) for key in ours)
    cached = median((bench.read(key, 2), bench.by_s3fs([key])) for key in ours)
    print(
        f"read of {label}: / curl {cold:.2f} cold, {held:.2f} held, {known:.2f} held and its version known;"
        f" / s3fs {plain:.2f} held, {cached:.2f} cached",
        flush=True,
    )
    if size >= 64 * MIB:
        first = statistics.median(bench.read(key, what="first") / bench.read(key) for key in ours)
        print(f"the first MiB of {label}, held: {first:.3f} of the time of all of it", flush=True)
    if size >= 4 * MIB:
        summed = median((bench.read(key), bench.through(key)) for key in by_md5(bench, size, keys[:2]))
        print(f"read of {label} with an MD5 alone: / curl {summed:.2f} held", flush=True)
    for key in keys:
        bench.plain.rm_file(f"{bench.place.bucket}/{key}")


def by_md5(bench: Workbench, size: int, keys: list[str]) -> Iterator[str]:
    """Put these objects without a CRC, and have Dragonfly hold them: an MD5 takes as long as many transfers do."""
    for key in keys:
        bench.put(key, size, crc=False)
        bench.through(key)
    yield from keys * 2


def shared(bench: Workbench, label: str, size: int, threads: int) -> None:
    """The ratios for many objects, read by several threads."""
    keys = [f"bench/shared/{size}/{threads}/{k}" for k in range(2 * OBJECTS)]
    for key in keys:
        bench.put(key, size)
    ours, theirs = keys[:OBJECTS], keys[OBJECTS:]
    cold = bench.all_through(threads, theirs) / bench.read_all(threads, ours)
    held = median((bench.read_all(threads, ours), bench.all_through(threads, theirs)) for _ in range(PAIRS))
    plain = median((bench.read_all(threads, ours), bench.by_s3fs(ours, threads)) for _ in range(PAIRS))
    print(f"{OBJECTS} objects of {label}, {threads} threads: / curl {cold:.2f} cold (once), {held:.2f} held;"
          f" / s3fs {plain:.2f} held", flush=True)  # fmt: skip


def writes(bench: Workbench, label: str, size: int) -> None:
    """The ratio for an object that is written, first byte to last answer, and the most that is in temporary files."""
    source = bench.folder / "source"
    with source.open("wb") as file:
        for _ in range(size // MIB):
            file.write(random.randbytes(MIB))
    most, ended = 0, threading.Event()

    def look() -> None:
        nonlocal most
        while not ended.wait(0.02):
            most = max(most, unnamed(bench.folder))

    watch = threading.Thread(target=look)
    watch.start()
    ratio = median((bench.write("bench/ours", source), bench.by_uploader("bench/theirs", source)) for _ in range(PAIRS))
    ended.set()
    watch.join()
    print(f"write of {label}: / s5cmd {ratio:.2f}; {most / MIB:.0f} MiB of temporary files at most", flush=True)


def queries(bench: Workbench) -> None:
    """The ratios for what goes to the store at once."""
    for k in range(ENTRIES):
        bench.place.store.put(f"/{bench.place.bucket}/listed/{k:04d}", b"")
    one, many = "listed/0000", 50
    url = bench.place.store.url("HEAD", f"/{bench.place.bucket}/{one}")
    stat = median((sum(bench.plugin("stat", *[one] * many)), bench.direct("-I", *[url] * many)) for _ in range(PAIRS))
    print(f"stat / a plain HEAD: {stat:.2f}", flush=True)
    query = {"delimiter": "/", "list-type": "2", "prefix": "listed/"}
    listing = bench.place.store.url("GET", f"/{bench.place.bucket}", query=query)
    listed = median((bench.plugin("list", "listed")[0], bench.direct(listing)) for _ in range(PAIRS))
    print(f"listing of {ENTRIES} entries / a plain ListObjectsV2: {listed:.2f}", flush=True)


def requests(place: Place, folder: Path) -> None:
    """How many requests the store gets for an op, those of Dragonfly included."""
    root = f"dragonfly://{place.bucket}/counted"
    small, large = f"{root}/small", f"{root}/large"

    def steps(fs: HostFilesystem) -> Iterator[tuple[str, Callable[[], Any]]]:
        yield "write of a new file", lambda: write(fs, small, bytes(1000))
        yield "write of 96 MiB", lambda: write(fs, large, bytes(96 * MIB))
        yield "read of a small file", lambda: read(fs, small)
        yield "the same again", lambda: read(fs, small)
        yield "read of 96 MiB", lambda: read(fs, large, 1 << 27)
        yield "stat of a file", lambda: fs.stat(small)
        yield "stat of a directory", lambda: fs.stat(root)
        yield "get_children", lambda: fs.get_children(root)
        yield "rename_file", lambda: fs.rename_file(small, f"{root}/moved")
        yield "delete_file", lambda: fs.delete_file(f"{root}/moved")

    with filesystem(folder, place.config, root=root) as fs:
        fs.recursively_create_dir(root)
        for name, step in steps(fs):
            before = place.requests()
            step()
            print(f"requests to the store, {name}: {place.requests() - before}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="dragonfly", description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help=f"only objects of {', '.join(QUICK)}, one thread")
    parser.add_argument(
        "--size", action="append", choices=SIZES, help="only reads of objects of this size; may be given again"
    )
    parser.add_argument("--pairs", type=int, default=PAIRS, help=f"of which the median is taken (default: {PAIRS})")
    parser.add_argument(
        "--stub", action="store_true", help="without docker, and --quick; most of its figures say nothing"
    )
    options = parser.parse_args()
    options.quick = options.quick or options.stub  # the stubs keep all of it in memory
    with Stubs() if options.stub else Docker() as place, tempfile.TemporaryDirectory() as folder:
        requests(place, Path(folder))
        bench = Workbench(place, Path(folder))
        bench.put(WARM, 4)
        bench.by_s3fs([WARM])
        for label, size in SIZES.items():
            if label in (options.size or (QUICK if options.quick else SIZES)):
                reads(bench, label, size, options.pairs if size < 256 * MIB else 3)
        if options.size:
            return
        for threads in () if options.quick else THREADS:
            for label in SHARED:
                shared(bench, label, SIZES[label], threads)
        if shutil.which("s5cmd") is not None:
            for label in ("64 MiB",) if options.quick else ("512 MiB", "1 GiB"):
                writes(bench, label, SIZES[label])
        queries(bench)
        print(f"most memory of a process with the plugin: {bench.peak / MIB:.0f} MiB")


if __name__ == "__main__":
    main()
