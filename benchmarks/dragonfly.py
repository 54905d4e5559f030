"""What reads through the dragonfly plugin cost against curl, as ratios of speed; needs docker and its images.

Cold: Dragonfly does not hold the object, for plugin and curl alike: each gets one of its own. Held: Dragonfly holds it,
the plugin does not. Cached: the plugin holds it. The plugin's process has read another object before, as one that
trains or serves has; curl is a process for every object, whose start is not counted. Every figure is the median of
ratios of pairs, run in turn.
"""

import json
import random
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

from tests.store import Store
from tffs_conformance.harness import services
from tffs_conformance.harness.native import RUNTIME_NAME, include_directory, native_directory
from tffs_conformance.harness.services import Running
from tffs_conformance.harness.shipped import compose_files, plugin_path

SIZES = {"64 KiB": 64 << 10, "4 MiB": 4 << 20, "64 MiB": 64 << 20, "512 MiB": 512 << 20}
PIECE = 64 << 10
WARM = "bench/warm"
PAIRS = 5
ENTRIES = 1000


class Workbench:
    """The plugin and curl, each with the same store and the same client of Dragonfly."""

    def __init__(self, running: Running, folder: Path) -> None:
        self._running = running
        self._folder = folder
        self.config = json.loads(Path(running.environment["DRAGONFLY_CONFIG_PATH"]).read_text())
        storage = self.config["object_storage"]
        keys = storage["access_key"], storage["secret_key"]
        self.store = Store(running.address("s3", 7070), *keys)
        self._inside = Store("s3:7070", *keys)
        self._program = self._built()

    def _built(self) -> Path:
        native, program = native_directory(), self._folder / "fetch"
        source = Path(__file__).with_name("fetch.cc")
        subprocess.run(
            ["c++", "-std=c++17", "-O2", f"-I{include_directory()}", str(source), "-o", str(program),
             str(native / RUNTIME_NAME), f"-Wl,-rpath,{native}", "-Wl,--no-as-needed", "-ldl"],
            check=True,
        )  # fmt: skip
        return program

    def read(self, key: str, times: int = 1) -> float:
        """The seconds that the plugin takes for an object, the last time that a process reads it."""
        return self.plugin("read", WARM, *[key] * times)[-1]

    def plugin(self, what: str, *keys: str) -> list[float]:
        """The seconds that the plugin takes for each."""
        uris = [f"dragonfly://tffs/{key}" for key in keys]
        command = [str(self._program), str(plugin_path("dragonfly")), what, *uris]
        done = subprocess.run(command, env=self._running.environment, check=True, capture_output=True, text=True)
        return [float(line) for line in done.stdout.split()]

    def through(self, key: str, tag: str) -> float:
        """The seconds that curl takes for an object through Dragonfly, into a file as the plugin does."""
        headers = ["-H", "X-Dragonfly-Use-P2P: true", "-H", f"X-Dragonfly-Tag: {tag}"]
        return self._curl(
            ["--noproxy", "", "-x", self.config["addr"], *headers, self._inside.url("GET", f"/tffs/{key}")]
        )

    def direct(self, *urls: str) -> float:
        """The seconds that curl takes for all of these, straight from the store."""
        return self._curl(["--noproxy", "*", *urls])

    def _curl(self, arguments: list[str]) -> float:
        outputs = [part for url in arguments if url.startswith(("http://s3", "http://127"))
                   for part in ("-o", str(self._folder / "got"))]  # fmt: skip
        command = ["curl", "-fsS", "-w", "%{time_total}\n", *outputs, *arguments]
        done = subprocess.run(command, check=True, capture_output=True, text=True)
        return sum(float(line) for line in done.stdout.split())


def median(pairs: Iterator[tuple[float, float]]) -> float:
    """The median ratio of speed: of the first's to the second's, which is the second's time to the first's."""
    return statistics.median(theirs / ours for ours, theirs in pairs)


def reads(bench: Workbench, label: str, size: int) -> None:
    """The ratios for objects of one size."""
    numbers = random.Random(size)
    content = b"".join(numbers.randbytes(min(size, PIECE)) for _ in range(0, size, PIECE))
    keys = [f"bench/{size}/{k}" for k in range(2 * PAIRS)]
    for key in keys:
        bench.store.put(f"/tffs/{key}", content)
    cold = median((bench.read(keys[k]), bench.through(keys[PAIRS + k], "curl")) for k in range(PAIRS))
    held = median((bench.read(keys[k]), bench.through(keys[PAIRS + k], "curl")) for k in range(PAIRS))

    def url(key: str) -> str:
        return bench.store.url("GET", f"/tffs/{key}")

    straight = median((bench.read(key), bench.direct(url(key))) for key in keys[:PAIRS])
    cached = median((bench.read(key, 2), bench.direct(url(key))) for key in keys[:PAIRS])
    print(
        f"read of {label}: / curl through the same dfdaemon {cold:.2f} cold, {held:.2f} held;"
        f" / a direct GET {straight:.2f} held, {cached:.2f} cached in the plugin",
        flush=True,
    )


def queries(bench: Workbench) -> None:
    """The ratios for what goes to the store at once."""
    for k in range(ENTRIES):
        bench.store.put(f"/tffs/listed/{k:04d}", b"")
    one, many = "listed/0000", 50
    heads = ["-I", *[bench.store.url("HEAD", f"/tffs/{one}")] * many]
    stat = median((sum(bench.plugin("stat", *[one] * many)), bench.direct(*heads)) for _ in range(PAIRS))
    print(f"stat / a plain HEAD: {stat:.2f}", flush=True)
    listing = bench.store.url("GET", "/tffs", query={"delimiter": "/", "list-type": "2", "prefix": "listed/"})
    listed = median((bench.plugin("list", "listed")[0], bench.direct(listing)) for _ in range(PAIRS))
    print(f"listing of {ENTRIES} entries / a plain ListObjectsV2: {listed:.2f}")


def main() -> None:
    running = services.up(
        services.read(compose_files()["dragonfly"]), "dragonfly", keep=False, fixed_ports=False,
        say=lambda text: print(text, file=sys.stderr),
    )  # fmt: skip
    try:
        with tempfile.TemporaryDirectory() as folder:
            bench = Workbench(running, Path(folder))
            bench.store.put(f"/tffs/{WARM}", b"warm")
            for label, size in SIZES.items():
                reads(bench, label, size)
            queries(bench)
    finally:
        running.stop()


if __name__ == "__main__":
    main()
