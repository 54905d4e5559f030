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
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

from dragonfly_services import Place, in_docker, with_stubs
from dragonfly_soak import soak
from measured import compiled, in_turn, ratio

from tffs_conformance.harness.targets.shipped import plugin_path

MIB = 1 << 20
SIZES = {"64 KiB": 64 << 10, "1 MiB": MIB, "4 MiB": 4 * MIB, "64 MiB": 64 * MIB, "512 MiB": 512 * MIB, "1 GiB": 1 << 30}
#: What the stubs have room for.
STUB_SIZES = ("64 KiB", "4 MiB")
PAIRS = 5
WARM = "bench/warm"


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
