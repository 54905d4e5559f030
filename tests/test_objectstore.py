"""The suite on the plugins of object stores, in front of S3 servers that differ: that of the tests, s3rver and moto."""

import contextlib
import os
import shutil
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests import test_objectstore_minimal
from tests.dragonfly_client import BUILT, MISSING, configuration, configured, registration
from tests.s3_server import BUCKET, S3Server
from tests.test_suite import judged_report
from tests.topology import Store, until
from tffs_conformance.harness.ops.codes import Code
from tffs_conformance.harness.targets.shipped import plugin_path

pytestmark = pytest.mark.skipif(not BUILT, reason=MISSING)

PROFILE = Path(__file__).parents[1] / "reference_plugins" / "objectstore" / "objectstore.toml"


def judged(folder: Path, *options: str) -> dict[str, Any]:
    """The report of a run of objectstore on a store of its own; it ends with 0."""
    with S3Server() as store:
        config = configured(folder, configuration(store.url))
        return judged_report(folder, "--plugin=objectstore", f"--env=S3X_CONFIG_PATH={config}", "--backing=none",
                             f"--root=s3x://{BUCKET}/tests", f"--plugin-profile={PROFILE}", *options)  # fmt: skip


@pytest.mark.parametrize(
    ("judge", "options"),
    [(judged, ()), (test_objectstore_minimal.judged, ("--fail-on=not-run",))],
    ids=["objectstore", "objectstore_minimal"],
)
@pytest.mark.parametrize(
    "tier", ["smoke", pytest.param("quick", marks=[pytest.mark.nightly, pytest.mark.timeout(3600)])]
)
def test_the_suite_is_conformant(
    tmp_path: Path, judge: Callable[..., dict[str, Any]], options: tuple[str, ...], tier: str
) -> None:
    assert_conformant(judge(tmp_path, f"--tier={tier}", *options), tier)


def assert_conformant(found: dict[str, Any], tier: str) -> None:
    assert found["verdict"] == "conformant"
    assert found["executed"]["must"] > {"smoke": 60, "quick": 1000}[tier]


def test_cases_under_a_condition_conform(tmp_path: Path) -> None:
    # A configuration for which there is no memory is not one that is missing.
    cases = ["exits/beside-threads[append-exit]", "exits/beside-threads[query-exit]",
             "out-of-memory/one-fails[create_dir]", "out-of-memory/registration"]  # fmt: skip
    found = judged(tmp_path, "--conditions=processes,memory", *(f"--case={case}" for case in cases))["cases"]
    assert sorted((record["id"], record["verdict"]) for record in found) == [(case, "conform") for case in cases], found


@pytest.mark.parametrize("key", ["addr", "proxy", "header", "filter", "require_p2p", "task_version"])
def test_a_key_of_dragonfly_is_none_of_its_own(tmp_path: Path, key: str) -> None:
    """Nor does anything else of it say Dragonfly."""
    path = configured(tmp_path, configuration("http://127.0.0.1:1", **{key: "http://127.0.0.1:4001"}))
    entry = registration("objectstore", {"S3X_CONFIG_PATH": str(path)})
    assert (entry.code, entry.message) == (Code.INVALID_ARGUMENT, f"s3x; {path}: the key {key} is not known")


def test_nothing_in_it_says_dragonfly() -> None:
    said = plugin_path("objectstore").read_bytes().lower()
    assert b"s3x" in said
    assert [word for word in (b"dragonfly", b"dfdaemon") if word in said] == []


# Other stores ---------------------------------------------------------------------------------------------------------

#: s3rver knows no others.
KEYS = ("S3RVER", "S3RVER")


def s3rver(folder: Path, port: int) -> list[str]:
    if shutil.which("npm") is None:
        pytest.skip("not run: there is no npm")
    install = ["npm", "install", "--silent", "--no-audit", "--no-fund", "--prefix", str(folder), "s3rver@3.7.1"]
    subprocess.run(install, check=True)
    where = ["--directory", str(folder / "objects"), "--address", "127.0.0.1", "--port", str(port)]
    return [str(folder / "node_modules/.bin/s3rver"), *where, "--silent"]


def moto(folder: Path, port: int) -> list[str]:
    subprocess.run([sys.executable, "-m", "venv", str(folder / "venv")], check=True)
    subprocess.run([str(folder / "venv/bin/pip"), "install", "-q", "moto[server]>=5,<6"], check=True)
    return [str(folder / "venv/bin/moto_server"), "-H", "127.0.0.1", "-p", str(port)]


#: s3rver ends when a name has more than 240 bytes, as some of the quick tier have.
TIERS = {s3rver: "smoke", moto: "quick"}


@pytest.fixture(scope="module", params=TIERS, ids=["s3rver", "moto"])
def other_store(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, str]]:
    """The plugin's configuration for a store that has an empty bucket, and the tier for it."""
    folder = tmp_path_factory.mktemp("store")
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    # Node 17 and newer refuse the digest of s3rver's listings.
    environment = os.environ | {"NODE_OPTIONS": "--openssl-legacy-provider"}
    with (folder / "log").open("wb") as log:
        command = request.param(folder, port)
        server = subprocess.Popen(command, stdout=log, stderr=subprocess.STDOUT, env=environment)
    try:
        store = Store(f"127.0.0.1:{port}", *KEYS)

        def has_bucket() -> bool:
            assert server.poll() is None, (folder / "log").read_text()
            with contextlib.suppress(OSError):
                store.put(f"/{BUCKET}", b"")
                return True
            return False

        until(has_bucket, "the store does not answer")
        storage = {"access_key": KEYS[0], "secret_key": KEYS[1]}
        # Each first read waits a tenth of the deadline for a Dragonfly that is not there.
        more = {"fallback_to_source": True, "retry_deadline_s": 1, "object_storage": storage}
        given = configuration(f"http://127.0.0.1:{port}", "http://127.0.0.1:9", **more)
        yield configured(folder, given), TIERS[request.param]
    finally:
        server.terminate()
        server.wait()


@pytest.mark.nightly
@pytest.mark.timeout(900)
def test_the_suite_is_conformant_on_other_stores(other_store: tuple[Path, str], tmp_path: Path) -> None:
    """With dragonfly, which reads from the store itself. versitygw is what the services are tested with."""
    path, tier = other_store
    given = (f"--env=DRAGONFLY_CONFIG_PATH={path}", f"--root=dragonfly://{BUCKET}/", "--plugin-profile=object-store")
    assert_conformant(judged_report(tmp_path, "--plugin=dragonfly", *given, f"--tier={tier}"), tier)
