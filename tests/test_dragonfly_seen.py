"""What whoever operates dragonfly sees of it: lines in the log, and counters."""

import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from tests.credential_services import Issuer, RotatingStore
from tests.dragonfly_client import BUILT, MISSING, at, configuration, filesystem, read
from tests.faulty_http import Reply
from tests.pages import PROJECT
from tests.proxy_stub import ProxyStub
from tests.s3_server import SECRET_KEY, S3Server, error
from tests.test_dragonfly_credentials import NOTHING
from tffs_conformance.harness.native import RUNTIME_NAME, native_directory
from tffs_conformance.harness.ops.codes import Code
from tffs_conformance.harness.over_tables.filesystem import HostFilesystem
from tffs_conformance.harness.targets.shipped import plugin_path

pytestmark = pytest.mark.skipif(not BUILT, reason=MISSING)

CONTENT = bytes(range(256)) * 40
INFO, WARNING = "[TF_Log INFO] dragonfly: ", "[TF_Log WARNING] dragonfly: "
SERVED = f"{INFO}objects come through Dragonfly"


@dataclass
class Seen:
    """What was read, what was logged, and what was counted."""

    got: tuple[Code, str, bytes]
    log: list[str]
    counters: dict[str, int]


def counters(fs: HostFilesystem) -> dict[str, int]:
    found = fs.raw.get_filesystem_configuration()
    assert found.ok, found.message
    assert [option.per_file for option in found.value.options] == [0] * len(found.value.options)
    return {option.name: int(option.values[0]) for option in found.value.options if option.values[0]}


def seen(folder: Path, wrong: Callable[[S3Server, ProxyStub], None], times: int = 1, **config: Any) -> Seen:
    """What is seen of so many reads of one object while something is wrong."""
    log: list[str] = []
    with S3Server() as store, ProxyStub() as proxy:
        store.put("tests/file", CONTENT)
        wrong(store, proxy)
        given = configuration(store.url, proxy.url, **{"retry_deadline_s": 60, "cache_max_bytes": 0, **config})
        with filesystem(folder, given, log=log) as fs:
            got = [read(fs, at("file")) for _ in range(times)]
            return Seen(got[-1], log, counters(fs))


def nothing(_: S3Server, __: ProxyStub) -> None:
    """All is well."""


def test_objects_through_dragonfly_are_told_once(tmp_path: Path) -> None:
    told = seen(tmp_path, nothing, times=3)
    assert told.log == [SERVED]
    size = 3 * len(CONTENT)
    assert told.counters == {"bytes_from_p2p": size, "requests_to_dfdaemon": 3, "requests_to_store": 3}


def test_objects_that_are_kept(tmp_path: Path) -> None:
    told = seen(tmp_path, nothing, times=3, cache_max_bytes=1 << 20)
    assert told.log == [SERVED]
    size = len(CONTENT)
    expected = {"bytes_from_p2p": size, "bytes_from_cache": 2 * size, "requests_to_dfdaemon": 1, "requests_to_store": 3}
    assert told.counters == expected


def test_a_try_again(tmp_path: Path) -> None:
    def busy(store: S3Server, _: ProxyStub) -> None:
        store.inject(lambda _, __: error(503, "SlowDown"), 1, lambda asked: asked.method == "HEAD", done=False)

    told = seen(tmp_path, busy)
    assert told.got[::2] == (Code.OK, CONTENT)
    assert told.log == [f"{WARNING}tries again: the store answers 503", SERVED]
    assert told.counters["retries"] == 1
    assert told.counters["requests_to_store"] == 2


def test_a_storm_is_no_flood_of_lines(tmp_path: Path) -> None:
    """A line a minute, and there may be two of them where a minute begins."""
    storm = 10

    def busy(_: S3Server, proxy: ProxyStub) -> None:
        proxy.inject(lambda _, right: replace(right, cut=1), storm)

    told = seen(tmp_path, busy, times=storm, retry_deadline_s=600)
    assert told.got[::2] == (Code.OK, CONTENT)
    assert told.counters["retries"] == storm
    lines = [line for line in told.log if line != SERVED]
    assert 1 <= len(lines) < storm
    assert lines[0].startswith(f"{WARNING}tries again: dfdaemon gives no full answer: ")


def test_the_store_instead_of_dragonfly(tmp_path: Path) -> None:
    def down(_: S3Server, proxy: ProxyStub) -> None:
        proxy.inject(lambda _, __: Reply(500, {"X-Dragonfly-Error-Type": "proxy"}))

    told = seen(tmp_path, down, times=2, fallback_to_source=True, retry_deadline_s=0)
    assert told.got[::2] == (Code.OK, CONTENT)
    why = "dfdaemon answers 500 (X-Dragonfly-Error-Type: proxy)"
    assert told.log == [f"{WARNING}an object comes from the store and not through Dragonfly: {why}"]
    assert told.counters["fallbacks"] == 2
    assert told.counters["bytes_from_store"] == 2 * len(CONTENT)
    assert "bytes_from_p2p" not in told.counters


def test_a_proxy_that_is_none_of_dragonfly(tmp_path: Path) -> None:
    def passes_by(_: S3Server, proxy: ProxyStub) -> None:
        def bare(_: object, right: Reply) -> Reply:
            return replace(right, headers={k: v for k, v in right.headers.items() if k != "X-Dragonfly-Task-ID"})

        proxy.inject(bare)

    told = seen(tmp_path, passes_by, times=2, require_p2p=False)
    assert told.log == [f"{WARNING}dfdaemon passes Dragonfly by: an answer has no X-Dragonfly-Task-ID"]
    assert told.counters["bytes_from_store"] == 2 * len(CONTENT)


def test_credentials_that_are_replaced(tmp_path: Path) -> None:
    """And no line has a secret in it, or a name of an object."""
    log: list[str] = []
    with RotatingStore(Issuer()) as store, ProxyStub() as proxy:
        store.put("tests/file", CONTENT)
        environment = NOTHING | {
            "HOME": str(tmp_path),
            "AWS_EC2_METADATA_DISABLED": "false",
            "AWS_EC2_METADATA_SERVICE_ENDPOINT": store.url,
        }
        config = configuration(store.url, proxy.url)
        config["object_storage"] = {"endpoint": store.url}
        with filesystem(tmp_path, config, environment, log=log) as fs:
            store.issuer.revoke_all()
            assert read(fs, at("file"))[::2] == (Code.OK, CONTENT)
            store.issuer.revoke_all()
            store.inject(lambda _, __: Reply(404), when=lambda asked: "/latest" in asked.target, done=False)
            assert fs.stat(at("file")).code is not Code.OK
        secrets = {SECRET_KEY, "tests/file"} | {text for key, token, _ in store.issuer.issued for text in (key, token)}
    assert log[0] == f"{INFO}credentials are replaced"
    assert not [line for line in log if any(secret in line for secret in secrets)]


#: Prints the counters of a process that has the runtime and the plugin.
READS = """
import ctypes, sys
sys.path.insert(0, sys.argv[1])
import counters
ctypes.CDLL(sys.argv[2], ctypes.RTLD_GLOBAL)
for _ in range(100):
    found = counters.read(sys.argv[3])
print(*(f"{name}={count}" for name, count in found.items()))
"""


def test_the_program_that_reads_the_counters() -> None:
    folder, runtime = PROJECT / "reference_plugins/dragonfly", native_directory() / RUNTIME_NAME
    command = [sys.executable, "-c", READS, str(folder), str(runtime), str(plugin_path("dragonfly"))]
    environment = os.environ | {"LD_LIBRARY_PATH": str(runtime.parent)}
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
    names = ["bytes_from_p2p", "bytes_from_store", "bytes_from_cache", "requests_to_dfdaemon", "requests_to_store",
             "retries", "fallbacks", "evictions"]  # fmt: skip
    assert done.stdout.split() == [f"{name}=0" for name in names]
    page = (folder / "operating.md").read_text(encoding="utf-8")
    assert [name for name in names if f"| `{name}` |" not in page] == []


#: A host as TensorFlow is since 2.21: it has no TF_Log.
LOGS = """
#include "tf_filesystem_plugin.h"
int main() {
  TF_Log(TF_INFO, "an %s", "info");
  TF_Log(TF_WARNING, "warnings: %d %%", 5);
}
"""


@pytest.mark.parametrize(("least", "lines"), [("0", ["I an info", "W warnings: 5 %"]), ("1", ["W warnings: 5 %"])])
def test_the_log_where_tensorflow_has_none(tmp_path: Path, least: str, lines: list[str]) -> None:
    (tmp_path / "logs.cc").write_text(LOGS, encoding="utf-8")
    plugins = PROJECT / "reference_plugins"
    subprocess.run(
        ["c++", "-std=c++17", f"-I{PROJECT / 'harness/include'}", "-o", tmp_path / "logs", tmp_path / "logs.cc",
         plugins / "support/tensorflow.cc", "-ldl"], check=True,
    )  # fmt: skip
    environment = os.environ | {"TF_CPP_MIN_LOG_LEVEL": least}
    done = subprocess.run([tmp_path / "logs"], capture_output=True, text=True, check=True, env=environment)
    assert done.stderr.splitlines() == lines
