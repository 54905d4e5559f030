"""The unit tests of the parts of objectstore and dragonfly under sanitizers and valgrind."""

import os
import shutil
import subprocess
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest

from tests.dragonfly_client import BUILT, MISSING, configuration, configured
from tests.faulty_http import Asked, FaultyServer, Reply
from tests.proxy_stub import ProxyStub
from tests.s3_server import S3Server

CLONE = Path(__file__).parents[1]
SUPPRESSIONS = Path(__file__).with_name("valgrind.supp")
KINDS = {"plain": "", "address,undefined": "address,undefined", "thread": "thread", "memcheck": ""}
#: The variable that names the configuration of each room's plugin.
ROOMS = {"objectstore": "S3X_CONFIG_PATH", "dragonfly": "DRAGONFLY_CONFIG_PATH"}
#: What is run for every change; the rest at night.
ALWAYS = "address,undefined"
#: Ends with this where a sanitizer or valgrind has something to say.
COMPLAINS = "99"

#: Times that the object that all threads read breaks off.
BREAKS = 3

pytestmark = [
    pytest.mark.skipif(not BUILT, reason=MISSING),
    pytest.mark.skipif(
        not (shutil.which("cmake") and shutil.which("make")),
        reason="cmake or make is not there: apt-get install cmake make",
    ),
    # One worker builds for all.
    pytest.mark.xdist_group("unit"),
    pytest.mark.long,
    # What it waits for is compilers.
    pytest.mark.timeout(2400),
]


def cut(_: Asked, right: Reply) -> Reply:
    return replace(right, cut=min(50_000, len(right.body) // 2))


@cache
def built(sanitizers: str) -> Path:
    """The folder of the binaries of all rooms."""
    # In the clone: from there to its sources the way is the same in every clone, as ccache needs it.
    folder = CLONE / "build" / f"unit-{sanitizers or 'plain'}"
    given = [f"-DTFFS_SANITIZE={sanitizers}", "-DTFFS_UNIT_TESTS=ON", "-DCMAKE_BUILD_TYPE=Debug"]
    # Each takes a part of the time away. Sanitizers and valgrind name lines, for which -g1 is enough.
    given += ["-DCMAKE_UNITY_BUILD=ON", "-DCMAKE_CXX_FLAGS_DEBUG=-g1"]
    targets = ["--target", *(f"{room}_unit" for room in ROOMS), "-j", str(os.cpu_count() or 1)]
    for command in (["-S", str(CLONE), "-B", str(folder), *given], ["--build", str(folder), *targets]):
        done = subprocess.run(["cmake", *command], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    return folder / "reference_plugins"


@pytest.mark.parametrize(
    "kind", [kind if kind == ALWAYS else pytest.param(kind, marks=pytest.mark.nightly) for kind in KINDS]
)
@pytest.mark.parametrize("room", ROOMS)
def test_parts(kind: str, room: str, tmp_path: Path) -> None:
    command = [str(built(KINDS[kind]) / room / "unit" / f"{room}_unit")]
    if kind == "memcheck":
        valgrind = shutil.which("valgrind")
        if valgrind is None:
            pytest.skip("valgrind is not there: apt-get install valgrind")
        # What libcurl and libcrypto keep for the end of the process is reachable, and no leak. A child of fork has lost
        # what threads of its parent hold.
        given = ["--quiet", "--leak-check=full", "--child-silent-after-fork=yes", f"--suppressions={SUPPRESSIONS}"]
        command = [valgrind, *given, f"--error-exitcode={COMPLAINS}", *command]
    options = {f"{name}_OPTIONS": f"exitcode={COMPLAINS}" for name in ("ASAN", "TSAN", "UBSAN")}
    with S3Server() as store, ProxyStub() as proxy:
        # Of a store alone objectstore knows.
        # An object is read by many threads while it comes, and breaks in the midst.
        settings = configuration(store.url, proxy.url if room == "dragonfly" else None, whole_object_below=1)
        sender: FaultyServer = proxy if room == "dragonfly" else store
        sender.inject(cut, BREAKS, lambda asked: asked.method == "GET" and "/shared" in asked.target)
        environment = {**os.environ, **options, ROOMS[room]: str(configured(tmp_path, settings))}
        done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
        assert len(store.asked) > 0
        assert (len(proxy.asked) > 0) == (room == "dragonfly")
        # What did not come is asked for.
        ranges = [one.headers.get("range", "bytes=0-") for one in sender.asked if "/shared" in one.target]
        assert sum(not span.startswith("bytes=0-") for span in ranges) >= BREAKS
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    assert done.stdout == ""
