"""How fast the dragonfly plugin reads, and whether it is right while its services fail.

`reads` prints ratios of speed, plugin to curl, which gets the same object through the same client of Dragonfly into a
file: 1 is as fast, more is faster. Cold: Dragonfly does not have the object, so plugin and curl get different ones.
Held: Dragonfly has it, the plugin does not. The plugin's process has read another object before.

`soak` lets 32 readers and 4 writers of one process use 500 objects while Dragonfly's client and the store are killed in
turn. It ends with 1 unless every read gave right bytes or a right error, nothing is left open, and memory did not grow.

Both need docker and the images of the services, or `--stub`: a store and a proxy of the tests, whose speed means nothing.
"""

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

from dragonfly_services import Place, in_docker, with_stubs
from measured import compiled, in_turn, ratio

from tffs_conformance.harness.ops.codes import Code
from tffs_conformance.harness.targets.shipped import plugin_path

MIB = 1 << 20
SIZES = {"64 KiB": 64 << 10, "1 MiB": MIB, "4 MiB": 4 * MIB, "64 MiB": 64 * MIB, "512 MiB": 512 * MIB, "1 GiB": 1 << 30}
#: What the stubs have room for.
STUB_SIZES = ("64 KiB", "4 MiB")
PAIRS = 5
WARM = "bench/warm"

READERS, WRITERS, SOAK_OBJECTS, LARGEST_BYTES = 32, 4, 500, 8 * MIB
#: What may be answered while services are killed, and about an object that is overwritten while it is read.
RIGHT_ERRORS = {Code.UNAVAILABLE, Code.DEADLINE_EXCEEDED, Code.ABORTED}
#: So many bytes the process may be larger in the last quarter of its time than in the second.
MAX_GROWTH_BYTES = 64 * MIB


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


def soak(place: Place, folder: Path, seconds: int, every: float) -> list[str]:
    """What went wrong, a sentence each. Prints how often each op ended with each code."""
    spools, path = folder / "spools", folder / "dragonfly.json"
    spools.mkdir()
    # Objects of 1 MiB and more are read while they come, and the cache has room for few.
    more = {"cache_dir": str(spools), "cache_max_bytes": 32 * MIB, "whole_object_below": MIB, "retry_deadline_s": 30}
    path.write_text(json.dumps(place.config | more), encoding="utf-8")
    program = compiled("soak.cc", folder)
    numbers = (seconds, READERS, WRITERS, SOAK_OBJECTS, LARGEST_BYTES)
    command = [str(program), str(plugin_path("dragonfly")), f"dragonfly://{place.bucket}/soak", *map(str, numbers)]
    environment = {**os.environ, "DRAGONFLY_CONFIG_PATH": str(path)}
    failures, pages = 0, list[int]()  # in memory
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True) as driver:
        assert driver.stdout is not None
        driver.stdout.readline()
        begun = time.monotonic()
        # In the end nothing fails any more.
        while driver.poll() is None and time.monotonic() - begun + 2 * every < seconds:
            time.sleep(every)
            pages.append(int(Path(f"/proc/{driver.pid}/statm").read_text().split()[1]))
            place.fail(failures)
            failures += 1
        printed = driver.stdout.read()
    if not printed or len(pages) < 2:
        return [f"the driver ended with {driver.returncode} too early"]
    found = json.loads(printed)
    counts = {(name.split()[0], Code(int(name.split()[1]))): count for name, count in found["ops"].items()}
    print("\n".join(f"{op:<8}{code.name:<20}{count:>10,}" for (op, code), count in counts.items()))
    quarter = max(len(pages) // 4, 1)
    grown = (max(pages[-quarter:]) - max(pages[quarter : 2 * quarter])) * os.sysconf("SC_PAGE_SIZE")
    print(f"{failures} failures; the process grew by {grown / MIB:+.1f} MiB")
    wrong = {
        "the driver ended with an error": driver.returncode != 0,
        "an answer was wrong": found["wrong"] != 0,
        "a code is none that the failures explain": any(code not in RIGHT_ERRORS | {Code.OK} for _, code in counts),
        "nothing was read, or nothing was written": not {("read", Code.OK), ("close", Code.OK)} <= set(counts),
        "nothing failed": failures == 0,
        "files are left in cache_dir": any(spools.iterdir()),
        "descriptors or threads are left": found["after"] != found["before"],
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
