"""How fast the dragonfly plugin reads, and whether it is right while its services fail.

`reads` prints ratios of speed, plugin to curl, which gets the same object through the same client of Dragonfly into a
file: 1 is as fast, more is faster. Cold: Dragonfly does not have the object, so plugin and curl get different ones.
Held: Dragonfly has it, the plugin does not. The plugin's process has read another object before.

`soak` lets 32 threads read and 4 write in one process while Dragonfly's client and the store are killed in turn. It
ends with 1 unless every read gave right bytes or a right error, nothing is left open, and memory did not grow.

Both need docker and the images of the services, or `--stub`: a store and a proxy of the tests, to see that it works.
"""

import argparse
import json
import os
import random
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import chain, count, pairwise
from pathlib import Path
from typing import Any

import psutil

sys.path.insert(0, str(Path(__file__).parent.parent))

from measured import compiled, in_turn, ratio

from tests.dragonfly_client import configuration
from tests.faulty_http import Reply
from tests.proxy_stub import ProxyStub
from tests.s3_server import ACCESS_KEY, BUCKET, SECRET_KEY, S3Server
from tests.topology import Store
from tffs_conformance.harness import services
from tffs_conformance.harness.hosting.loader import Loader
from tffs_conformance.harness.launchers.local import Local
from tffs_conformance.harness.ops.codes import Code
from tffs_conformance.harness.ops.outcomes import Read
from tffs_conformance.harness.over_tables import programs
from tffs_conformance.harness.over_tables.programs import Program, Timed
from tffs_conformance.harness.over_tables.raw import RawFilesystem
from tffs_conformance.harness.targets.shipped import compose_files, plugin_path

PORTS = ("S3", "SEED_METRICS", "A_PROXY", "A_METRICS", "B_PROXY", "B_METRICS")
MIB = 1 << 20
SIZES = {"64 KiB": 64 << 10, "1 MiB": MIB, "4 MiB": 4 * MIB, "64 MiB": 64 * MIB, "512 MiB": 512 * MIB, "1 GiB": 1 << 30}
#: What the stubs have room for.
STUB_SIZES = ("64 KiB", "4 MiB")
PAIRS = 5
WARM = "bench/warm"
#: What the soak uses.
READERS, WRITERS, OBJECTS, LARGEST_BYTES, PIECE_BYTES = 32, 4, 200, 2 << 20, 300_000
#: So many objects each thread reads or writes before all wait for each other.
PER_THREAD = 4
#: What may be answered while services are killed, and about an object that is overwritten while it is read.
RIGHT_ERRORS = {Code.UNAVAILABLE, Code.DEADLINE_EXCEEDED, Code.ABORTED}
#: So many bytes the process may be larger in the last quarter of the rounds than in the second.
MAX_GROWTH_BYTES = 64 << 20
#: For all ops of a round.
ROUND_SECONDS = 600


@dataclass(frozen=True)
class Place:
    """A store with a bucket, and a client of Dragonfly.

    `config` is the plugin's. `outside` is the store as this process knows it, `inside` as Dragonfly does. `fail` lets
    Dragonfly's client, for an even number, or the store, for an odd one, fail for a moment.
    """

    bucket: str
    config: dict[str, Any]
    outside: Store
    inside: Store
    fail: Callable[[int], None]


@contextmanager
def in_docker() -> Iterator[Place]:
    """Dragonfly and a store, which have the same ports when they are started again."""
    os.environ.update({f"DRAGONFLY_{name}_PORT": str(_free_port()) for name in PORTS})
    running = services.up(
        services.read(compose_files()["dragonfly"]), "dragonfly", keep=False, fixed_ports=True,
        say=lambda text: print(text, file=sys.stderr),
    )  # fmt: skip

    def fail(number: int) -> None:
        # With no time to end by themselves they are killed at once.
        running.containers[("client-a", "s3")[number % 2]].restart(timeout=0)

    try:
        config = json.loads(Path(running.environment["DRAGONFLY_CONFIG_PATH"]).read_text())
        keys = config["object_storage"]["access_key"], config["object_storage"]["secret_key"]
        outside, inside = Store(running.address("s3", 7070), *keys), Store("s3:7070", *keys)
        yield Place("tffs", config, outside, inside, fail)
    finally:
        running.stop()


def _free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


@contextmanager
def with_stubs() -> Iterator[Place]:
    """A store and a proxy of the tests. From the first failure on, some transfers are cut and some requests refused."""
    numbers = random.Random(1)
    with S3Server() as store, ProxyStub() as proxy:

        def fail(number: int) -> None:
            failing = (proxy, store)[number % 2]
            failing.heal()
            failing.inject(lambda _, __: Reply(200, head=0), done=False)
            time.sleep(1)
            # A client of Dragonfly that is started again has no objects.
            proxy.tasks.clear()
            for server in (proxy, store):
                server.heal()
                server.inject(
                    lambda _, right: replace(right, cut=numbers.randrange(len(right.body) or 1)),
                    when=lambda asked: asked.method == "GET" and numbers.random() < 0.1,
                )
                server.inject(lambda _, __: Reply(503), when=lambda _: numbers.random() < 0.02, done=False)

        at = Store(store.host, ACCESS_KEY, SECRET_KEY)
        yield Place(BUCKET, configuration(store.url, proxy.url), at, at, fail)


class Bench:
    """The plugin and curl, with the same store and the same client of Dragonfly."""

    def __init__(self, place: Place, folder: Path) -> None:
        self.place, self.folder = place, folder
        self._program = compiled("reads.cc", folder)
        self._config = folder / "dragonfly.json"
        self._config.write_text(json.dumps(place.config), encoding="utf-8")
        self.put([WARM], 4)

    def put(self, keys: Sequence[str], size: int) -> None:
        """Put objects, each with a CRC-32 that the store keeps, as today's SDKs do."""
        for key in keys:
            piece = random.Random(key).randbytes(min(size, 64 << 10))
            self.place.outside.put(f"/{self.place.bucket}/{key}", piece * (size // len(piece)), crc=True)

    def plugin(self, key: str) -> float:
        """The seconds that the plugin takes."""
        uris = [f"dragonfly://{self.place.bucket}/{one}" for one in (WARM, key)]
        command = [str(self._program), str(plugin_path("dragonfly")), "read", *uris]
        environment = {**os.environ, "DRAGONFLY_CONFIG_PATH": str(self._config), "TMPDIR": str(self.folder)}
        return float(subprocess.run(command, env=environment, check=True, stdout=subprocess.PIPE).stdout)

    def curl(self, key: str) -> float:
        """The seconds that curl takes."""
        url = self.place.inside.url("GET", f"/{self.place.bucket}/{key}")
        command = ["curl", "-fsS", "--noproxy", "", "-x", self.place.config["addr"], "-H", "X-Dragonfly-Use-P2P: true"]
        command += ["-H", "X-Dragonfly-Tag: curl", "-w", "%{time_total}", "-o", str(self.folder / "got"), url]
        return float(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)


def reads(place: Place, folder: Path, sizes: Sequence[str]) -> None:
    """Print the ratios for objects of each size."""
    bench = Bench(place, folder)
    for size in sizes:
        ours, theirs = ([f"bench/{size}/{side}/{k}" for k in range(PAIRS)] for side in ("plugin", "curl"))
        bench.put(ours + theirs, SIZES[size])
        for state in ("cold", "held"):
            by_plugin, by_curl = map(bench.plugin, ours), map(bench.curl, theirs)
            pairs = in_turn(by_curl.__next__, by_plugin.__next__, PAIRS)
            print(f"{size}, {state}: {ratio(pairs)}", flush=True)


class Objects:
    """The objects, what they may contain, and what threads did with them."""

    def __init__(self, raw: RawFilesystem, root: str) -> None:
        self._raw, self._root = raw, root
        self._random = random.Random(1)
        self._last = Counter[int]()  # the last version of each that was written
        self._possible: defaultdict[int, set[int]] = defaultdict(set)
        self.counts = Counter[tuple[str, Code]]()
        self.wrong: list[str] = []

    def fill(self) -> None:
        """Write each object once."""
        self._perform([], [list(range(writer, OBJECTS, WRITERS)) for writer in range(WRITERS)])

    def use(self) -> None:
        """Let threads read and write some of the objects at the same time, each writer other ones."""
        pick = self._random.sample
        written = [pick(range(writer, OBJECTS, WRITERS), PER_THREAD) for writer in range(WRITERS)]
        self._perform([pick(range(OBJECTS), PER_THREAD) for _ in range(READERS)], written)

    def _perform(self, read: list[list[int]], written: list[list[int]]) -> None:
        """Let a thread read or write the objects of each list, and compare what they read."""
        before = {key: len(self._possible[key]) for key in chain(*written)}
        for key in before:
            self._last[key] += 1
            self._possible[key].add(self._last[key])
        threads = [*((self._read, keys) for keys in read), *((self._write, keys) for keys in written)]
        asked = [Program(self._raw) for _ in threads]
        ends = [[use(program, key) for key in keys] for program, (use, keys) in zip(asked, threads, strict=True)]
        for (use, keys), counts, ops in zip(threads, ends, programs.run(self._raw, asked), strict=True):
            self.counts.update((one.outcome.op, one.outcome.code) for one in ops)
            for key, (begin, end) in zip(keys, pairwise([0, *counts]), strict=True):
                if use == self._read:
                    self._compare(key, ops[begin:end])
                # A write that failed may still take effect, after later ones.
                elif before[key] <= 1 and all(one.outcome.ok for one in ops[begin:end]):
                    self._possible[key] = {self._last[key]}

    def _content(self, key: int, version: int) -> bytes:
        """Small objects are many, large ones few."""
        return random.Random(f"{key} {version}").randbytes(max(1000, LARGEST_BYTES >> key % 10) + key)

    def _read(self, program: Program, key: int) -> int:
        """Add the ops that read an object in one way or the other, and return how many ops there are then."""
        length = len(self._content(key, 0))
        if self._random.randrange(8) == 0:
            handle = program.open("new_read_only_memory_region_from_file", f"{self._root}/{key}").value
            program.data(handle, 0, length)
            program.handle_op("read_only_memory_region.cleanup", handle)
        else:
            handle = program.open("new_random_access_file", f"{self._root}/{key}").value
            for offset in range(0, length + 1, PIECE_BYTES):
                program.read(handle, offset, PIECE_BYTES)
            program.handle_op("random_access_file.cleanup", handle)
        return len(program.steps)

    def _write(self, program: Program, key: int) -> int:
        """Add the ops that write the last version of an object, and return how many ops there are then."""
        handle = program.open("new_writable_file", f"{self._root}/{key}").value
        program.append(handle, self._content(key, self._last[key]))
        program.handle_op("close", handle)
        program.handle_op("writable_file.cleanup", handle)
        return len(program.steps)

    def _compare(self, key: int, ops: list[Timed]) -> None:
        """Note it if a read gave bytes of no version that is possible, or not all of them."""
        got, is_whole = b"", True
        for one in ops[1:-1]:
            is_whole = one.outcome.code in (Code.OK, Code.OUT_OF_RANGE)
            if not is_whole:
                break
            value = one.outcome.value
            got += value.data if isinstance(value, Read) else value[1]
        contents = [self._content(key, version) for version in self._possible[key]]
        if ops[0].outcome.ok and not any(got == one if is_whole else one.startswith(got) for one in contents):
            self.wrong.append(f"object {key}: {len(got)} bytes of no version of {sorted(self._possible[key])}")


def soak(place: Place, folder: Path, seconds: float, every: float) -> list[str]:
    """What went wrong, a sentence each. Prints how often each op ended with each code."""
    spools, path, root = folder / "spools", folder / "dragonfly.json", f"dragonfly://{place.bucket}/soak"
    spools.mkdir()
    # Objects of 256 KiB and more are read while they come, and the cache has room for few.
    more = {"cache_dir": str(spools), "cache_max_bytes": 8 << 20, "whole_object_below": 256 << 10}
    path.write_text(json.dumps(place.config | more | {"retry_deadline_s": 30}), encoding="utf-8")
    loader = Loader(Local({"DRAGONFLY_CONFIG_PATH": str(path)}), plugin_path("dragonfly"), ROUND_SECONDS)
    loaded = loader.load()
    filesystem, facts = loaded.registration.registered["dragonfly"].filesystem, loaded.host.process.facts
    assert filesystem is not None
    assert facts is not None
    process, raw = psutil.Process(facts.pid), RawFilesystem(loaded.call, filesystem, [])
    before, resident = (process.num_fds(), process.num_threads()), list[int]()
    objects = Objects(raw, root)
    objects.fill()
    over, numbers = threading.Event(), count()

    def fail() -> None:
        while not over.wait(every):
            place.fail(next(numbers))

    failing = threading.Thread(target=fail)
    failing.start()
    begun = time.monotonic()
    while time.monotonic() - begun < seconds:
        objects.use()
        resident.append(process.memory_info().rss)
    over.set()
    failing.join()
    failures = next(numbers)
    raw.cleanup()
    after = process.num_fds(), process.num_threads()
    left = [*spools.iterdir()]
    loaded.host.close()
    loader.close()
    quarter = max(len(resident) // 4, 1)
    grown = max(resident[-quarter:]) - max(resident[quarter : 2 * quarter], default=resident[0])
    print("\n".join(f"{op:<42}{code.name:<20}{number:>10,}" for (op, code), number in sorted(objects.counts.items())))
    print(f"{failures} failures; the process grew by {grown / (1 << 20):+.1f} MiB")
    print("\n".join(objects.wrong[:20]))
    wrong = {
        f"{len(objects.wrong)} answers were wrong": bool(objects.wrong),
        "a code is none that the failures explain": not {code for _, code in objects.counts}
        <= RIGHT_ERRORS | {Code.OK, Code.OUT_OF_RANGE, Code.CANCELLED},
        "nothing failed": failures == 0,
        "files are left in cache_dir": bool(left),
        f"descriptors and threads are {after}, and were {before}": after > before,
        "memory grew": grown > MAX_GROWTH_BYTES,
    }
    return [sentence for sentence, holds in wrong.items() if holds]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("what", choices=["reads", "soak"])
    parser.add_argument("--stub", action="store_true", help="without docker")
    parser.add_argument("--size", action="append", choices=SIZES, help="of the objects for reads")
    parser.add_argument("--minutes", type=float, default=10, help="of the soak (default: 10)")
    options = parser.parse_args()
    with with_stubs() if options.stub else in_docker() as place, tempfile.TemporaryDirectory() as folder:
        if options.what == "reads":
            reads(place, Path(folder), options.size or (STUB_SIZES if options.stub else tuple(SIZES)))
            return 0
        wrong = soak(place, Path(folder), int(options.minutes * 60), every=4 if options.stub else 20)
    print("\n".join(wrong) or "all is right")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
