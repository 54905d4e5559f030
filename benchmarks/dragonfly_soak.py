"""Threads of one process read and write through the dragonfly plugin while its services fail."""

import json
import random
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Callable
from itertools import chain, pairwise
from pathlib import Path

import psutil
from dragonfly_services import Place

from tffs_conformance.harness.hosting.loader import Loader
from tffs_conformance.harness.launchers.local import Local
from tffs_conformance.harness.ops.codes import Code
from tffs_conformance.harness.ops.outcomes import Read
from tffs_conformance.harness.over_tables import programs
from tffs_conformance.harness.over_tables.programs import Program, Timed
from tffs_conformance.harness.over_tables.raw import RawFilesystem
from tffs_conformance.harness.targets.shipped import plugin_path

READERS, WRITERS, OBJECTS, LARGEST_BYTES, PIECE_BYTES = 32, 4, 200, 2 << 20, 300_000
#: So many objects each thread reads or writes before all wait for each other.
PER_THREAD = 4
#: What may be answered while services are killed, and about an object that is overwritten while it is read.
RIGHT_ERRORS = {Code.UNAVAILABLE, Code.DEADLINE_EXCEEDED, Code.ABORTED}
#: So many bytes the process may be larger in the last quarter of the rounds than in the second.
MAX_GROWTH_BYTES = 64 << 20
#: For all ops of a round.
ROUND_SECONDS = 600


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
    failing = _Failing(place.fail, every)
    begun = time.monotonic()
    while time.monotonic() - begun < seconds:
        objects.use()
        resident.append(process.memory_info().rss)
    failing.end()
    raw.cleanup()
    after = process.num_fds(), process.num_threads()
    left = [*spools.iterdir()]
    loaded.host.close()
    loader.close()
    quarter = max(len(resident) // 4, 1)
    grown = max(resident[-quarter:]) - max(resident[quarter : 2 * quarter], default=resident[0])
    print("\n".join(f"{op:<42}{code.name:<20}{count:>10,}" for (op, code), count in sorted(objects.counts.items())))
    print(f"{failing.count} failures; the process grew by {grown / (1 << 20):+.1f} MiB")
    print("\n".join(objects.wrong[:20]))
    wrong = {
        f"{len(objects.wrong)} answers were wrong": bool(objects.wrong),
        "a code is none that the failures explain": not {code for _, code in objects.counts}
        <= RIGHT_ERRORS | {Code.OK, Code.OUT_OF_RANGE, Code.CANCELLED},
        "nothing failed": failing.count == 0,
        "files are left in cache_dir": bool(left),
        f"descriptors and threads are {after}, and were {before}": after > before,
        "memory grew": grown > MAX_GROWTH_BYTES,
    }
    return [sentence for sentence, holds in wrong.items() if holds]


class _Failing(threading.Thread):
    """Lets something fail again and again until `end`; `count` is how often it did."""

    def __init__(self, fail: Callable[[int], None], every: float) -> None:
        super().__init__()
        self.count = 0
        self._fail, self._every, self._over = fail, every, threading.Event()
        self.start()

    def run(self) -> None:
        while not self._over.wait(self._every):
            self._fail(self.count)
            self.count += 1

    def end(self) -> None:
        self._over.set()
        self.join()
