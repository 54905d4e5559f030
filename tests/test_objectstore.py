"""The objectstore plugin: the suite on it in front of the S3 server of the tests, and what it is without Dragonfly."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.dragonfly_client import BUILT, MISSING, configuration, registration
from tests.s3_server import BUCKET, S3Server
from tests.test_suite import report, run
from tffs_conformance.harness.ops.codes import Code
from tffs_conformance.harness.targets.shipped import plugin_path

pytestmark = pytest.mark.skipif(not BUILT, reason=MISSING)

PROFILE = Path(__file__).parents[1] / "reference_plugins" / "objectstore" / "objectstore.toml"


def configured(folder: Path, store: S3Server, **more: str) -> Path:
    path = folder / "s3x.json"
    path.write_text(json.dumps(configuration(store.url, **more)), encoding="utf-8")
    return path


def judged(folder: Path, *options: str) -> dict[str, Any]:
    """The report of a run on a store of its own, and the exit code in it."""
    with S3Server() as store:
        config = configured(folder, store)
        done = run(folder, "--plugin=objectstore", f"--env=S3X_CONFIG_PATH={config}", f"--root=s3x://{BUCKET}/tests",
                   "--backing=none", f"--plugin-profile={PROFILE}", *options)  # fmt: skip
    return report(folder) | {"exit_code": done.returncode}


@pytest.mark.parametrize(
    ("tier", "checks"),
    [("smoke", 60), pytest.param("must", 1000, marks=[pytest.mark.nightly, pytest.mark.timeout(1800)])],
)
def test_the_suite_is_conformant(tmp_path: Path, tier: str, checks: int) -> None:
    found = judged(tmp_path, f"--tier={tier}")
    assert (found["exit_code"], found["verdict"]) == (0, "conformant")
    assert found["executed"]["must"] > checks


@pytest.mark.parametrize(
    ("condition", "case"),
    [
        ("processes", "exits/beside-threads[query-exit]"),
        ("processes", "exits/beside-threads[append-exit]"),
        ("memory", "out-of-memory/one-fails[create_dir]"),
        # A configuration for which there is no memory is not one that is missing.
        ("memory", "out-of-memory/registration"),
    ],
)
def test_case_under_a_condition_conforms(tmp_path: Path, condition: str, case: str) -> None:
    (record,) = judged(tmp_path, f"--conditions={condition}", f"--case={case}")["cases"]
    assert record["verdict"] == "conform", record


@pytest.mark.parametrize("key", ["addr", "proxy", "header", "filter", "require_p2p", "task_version"])
def test_a_key_of_dragonfly_is_none_of_its_own(tmp_path: Path, key: str) -> None:
    """Nor does anything else of it say Dragonfly."""
    with S3Server() as store:
        path = configured(tmp_path, store, **{key: "http://127.0.0.1:4001"})
        entry = registration("objectstore", {"S3X_CONFIG_PATH": str(path)})
    assert (entry.code, entry.message) == (Code.INVALID_ARGUMENT, f"s3x; {path}: the key {key} is not known")


def test_nothing_in_it_says_dragonfly() -> None:
    said = plugin_path("objectstore").read_bytes().lower()
    assert b"s3x" in said
    assert [word for word in (b"dragonfly", b"dfdaemon") if word in said] == []
