"""The objectstore plugin: the suite on it in front of the S3 server of the tests, and what it is without Dragonfly."""

import json
from pathlib import Path

import pytest

from tests.dragonfly_client import BUILT, MISSING
from tests.s3_server import ACCESS_KEY, BUCKET, SECRET_KEY, S3Server
from tests.test_memory_failures import counted
from tests.test_suite import report, run
from tffs_conformance.harness.hosting.loader import Loader
from tffs_conformance.harness.launchers.local import Local
from tffs_conformance.harness.native import native_directory
from tffs_conformance.harness.ops.codes import Code
from tffs_conformance.harness.targets.shipped import plugin_path
from tffs_conformance.suite.engine.allocating import LIBRARY

pytestmark = pytest.mark.skipif(not BUILT, reason=MISSING)

PROFILE = Path(__file__).parents[1] / "reference_plugins" / "objectstore" / "objectstore.toml"


def configured(folder: Path, store: S3Server, **more: str) -> Path:
    path = folder / "s3x.json"
    storage = {"endpoint": store.url, "access_key": ACCESS_KEY, "secret_key": SECRET_KEY}
    path.write_text(json.dumps({"object_storage": storage, **more}), encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("tier", "checks"),
    [("smoke", 60), pytest.param("must", 1000, marks=[pytest.mark.nightly, pytest.mark.timeout(1800)])],
)
def test_the_suite_is_conformant(tmp_path: Path, tier: str, checks: int) -> None:
    with S3Server() as store:
        config = configured(tmp_path, store)
        done = run(tmp_path, "--plugin=objectstore", f"--env=S3X_CONFIG_PATH={config}", f"--root=s3x://{BUCKET}/tests",
                   "--backing=none", f"--plugin-profile={PROFILE}", f"--tier={tier}")  # fmt: skip
    assert done.returncode == 0, done.stdout[-3000:]
    found = report(tmp_path)
    assert found["verdict"] == "conformant"
    assert found["executed"]["must"] > checks


@pytest.mark.parametrize("what", ["query", "append"])
def test_the_process_ends_beside_its_threads(tmp_path: Path, what: str) -> None:
    with S3Server() as store:
        config = configured(tmp_path, store)
        run(tmp_path, "--plugin=objectstore", f"--env=S3X_CONFIG_PATH={config}", f"--root=s3x://{BUCKET}/tests",
            "--backing=none", f"--plugin-profile={PROFILE}", "--conditions=processes",
            f"--case=exits/beside-threads[{what}-exit]")  # fmt: skip
    (record,) = report(tmp_path)["cases"]
    assert record["verdict"] == "conform", record


def test_memory_that_runs_out_is_told_and_spoils_no_connection(tmp_path: Path) -> None:
    """Every other allocation of an op fails once, in a fresh process; then the op is performed again."""
    with S3Server() as store:
        path = str(configured(tmp_path, store))
        environment = {"LD_PRELOAD": str(native_directory() / LIBRARY), "S3X_CONFIG_PATH": path}
        loader = Loader(Local(environment), plugin_path("objectstore"), 60)

        def performed(number: int) -> tuple[Code, Code, int]:
            host = loader.load().host
            asked = ("create_dir", 0, f"s3x://{BUCKET}/new-{number}".encode())
            counted(host, 1, number)
            first = host.call(*asked)
            ((_, count),) = counted(host, -1, 0)
            second = host.call(*asked)
            host.close()
            assert first is not None
            assert second is not None
            return Code(first.take_status()[0]), Code(second.take_status()[0]), count

        *whole, count = performed(0)
        assert whole == [Code.OK, Code.ALREADY_EXISTS]
        assert count > 100
        for number in range(1, count + 1, 2):
            first, second, _ = performed(number)
            assert first in (Code.OK, Code.RESOURCE_EXHAUSTED), number
            assert second in (Code.OK, Code.ALREADY_EXISTS), number
        loader.close()


def test_memory_that_runs_out_in_init_is_told(tmp_path: Path) -> None:
    """A configuration for which there is no memory is not one that is not there."""
    with S3Server() as store:
        config = configured(tmp_path, store)
        run(tmp_path, "--plugin=objectstore", f"--env=S3X_CONFIG_PATH={config}", f"--root=s3x://{BUCKET}/tests",
            "--backing=none", f"--plugin-profile={PROFILE}", "--conditions=memory",
            "--case=out-of-memory/registration")  # fmt: skip
    (record,) = report(tmp_path)["cases"]
    assert record["verdict"] == "conform", record


@pytest.mark.parametrize("key", ["addr", "proxy", "header", "filter", "require_p2p", "task_version"])
def test_a_key_of_dragonfly_is_none_of_its_own(tmp_path: Path, key: str) -> None:
    """Nor does anything else of it say Dragonfly."""
    with S3Server() as store:
        path = configured(tmp_path, store, **{key: "http://127.0.0.1:4001"})
        loader = Loader(Local({"S3X_CONFIG_PATH": str(path)}), plugin_path("objectstore"), 60)
        loaded = loader.load()
        entry = loaded.registration
        loaded.host.close()
        loader.close()
    assert (entry.code, entry.message) == (Code.INVALID_ARGUMENT, f"s3x; {path}: the key {key} is not known")


def test_nothing_in_it_says_dragonfly() -> None:
    said = plugin_path("objectstore").read_bytes().lower()
    assert b"s3x" in said
    assert [word for word in (b"dragonfly", b"dfdaemon") if word in said] == []
