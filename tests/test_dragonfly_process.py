"""The process that has the dragonfly plugin: its configuration, libraries, local files, log and counters."""

import os
import stat
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests import dragonfly_rows as do
from tests.dragonfly_client import BUILT, MISSING, configuration, configured, registered
from tests.dragonfly_rows import Given, Scene, Situation, row
from tests.faulty_http import status, with_header
from tests.hosted import preloaded
from tests.pages import PROJECT
from tests.s3_server import error, is_delete, is_delete_many, is_head
from tests.test_posix import NOTES_SYNC
from tffs_conformance.harness.native import RUNTIME_NAME, native_directory
from tffs_conformance.harness.ops.codes import Code
from tffs_conformance.harness.targets.shipped import plugin_path

pytestmark = pytest.mark.skipif(not BUILT, reason=MISSING)

CONTENT = bytes(range(256)) * 40
SIZE = len(CONTENT)
MEBI = 1 << 20
INFO, WARNING = "[TF_Log INFO] dragonfly: ", "[TF_Log WARNING] dragonfly: "
SERVED = f"{INFO}objects come through Dragonfly"

# Configuration and libraries ----------------------------------------------------------------------------------------

NOWHERE = "http://127.0.0.1:1"
#: What is changed in a configuration, and what the refusal of it says.
REFUSED: list[tuple[dict[str, Any], str]] = [
    ({"addr": None}, "addr is missing"),
    ({"addr": "h:1"}, "the key addr"),
    ({"addr": "http://p:1/path"}, "the key addr"),
    ({"proxy": "http://p:1"}, "addr is given twice"),
    ({"require_p2p": 1}, "the key require_p2p is not true or false"),
    ({"fallback_to_source": 1}, "fallback_to_source is not true or false"),
    ({"task_version": "md5"}, "the key task_version"),
    ({"sign_expires_s": 0}, "the key sign_expires_s is not between 1 and"),
    ({"filter": ["a", 1]}, "the key filter"),
    ({"header": {"A": 1}}, "the key header.A"),
    ({"header": {"A": "b\r\nC: d"}}, "the key header"),
    *(({"object_storage": {"proxy_endpoint": one}}, "object_storage.proxy_endpoint")
      for one in ("s3:9000", "http://a:b@s3")),
]  # fmt: skip


@pytest.mark.parametrize(("given", "named"), [*REFUSED, (__file__, "JSON")])
def test_a_wrong_configuration_is_refused(tmp_path: Path, given: dict[str, Any] | str, named: str) -> None:
    path = given if isinstance(given, str) else configured(tmp_path, configuration(NOWHERE, NOWHERE, **given))
    entry = registered(path)
    assert (entry.code, named in entry.message) == (Code.INVALID_ARGUMENT, True), entry.message


@pytest.mark.parametrize("path", ["", "/no/such/file"])
def test_a_missing_configuration_is_not_found(path: str) -> None:
    entry = registered(path)
    assert (entry.code, "DRAGONFLY_CONFIG_PATH" in entry.message) == (Code.NOT_FOUND, True), entry.message


def test_other_names_a_relative_path_and_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    config = configuration(NOWHERE)
    config["proxy"] = f"{NOWHERE}/"
    keys = {"AWS_ACCESS_KEY_ID": config["object_storage"].pop("access_key"),
            "AWS_SECRET_ACCESS_KEY": config["object_storage"].pop("secret_key")}  # fmt: skip
    path = configured(tmp_path, config)
    monkeypatch.chdir(tmp_path)
    entry = registered(path.name, keys)
    assert entry.code is Code.OK, entry.message


#: What a process may have under the names of libcurl and OpenSSL: not what the plugin was built for.
CAPTORS = """
#include <stdlib.h>
#define CAPTOR(name) void name(void) { abort(); }
CAPTOR(curl_easy_init) CAPTOR(curl_easy_perform) CAPTOR(curl_global_init) CAPTOR(curl_slist_append)
CAPTOR(OPENSSL_init_ssl) CAPTOR(OPENSSL_init_crypto) CAPTOR(EVP_MD_CTX_new) CAPTOR(EVP_sha256) CAPTOR(HMAC)
"""


def agents(scene: Scene) -> tuple[int, bool]:
    """How many user agents there are, and whether libcurl is part of all."""
    asked = scene.proxy.asked + scene.store.asked
    found = {one.headers["user-agent"] for one in asked if "user-agent" in one.headers}
    return len(found), all(" libcurl/" in one for one in found)


#: What dlsym finds: a libcurl that says it is of another version and knows none of the options that came in 7.85, a
#: libcrypto that keeps to FIPS.
OTHER_LIBRARIES = """
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
static void *found(void *library, const char *name) {
  void *(*find)(void *, const char *) = (void *(*)(void *, const char *))dlvsym(RTLD_NEXT, "dlsym", "GLIBC_2.34");
  return find(library, name);
}
static struct { int age; const char *version; unsigned number; char rest[256]; } info = {0, "OTHER", 0, ""};
static void *version(int age) { return (void)age, &info; }
static int (*right_option)(void *, int, ...);
static int option(void *handle, int number, void *value) {
  return number == 10318 || number == 10319 ? 48 : right_option(handle, number, value);
}
static int (*right_digest)(void *, const void *, void *);
static const void *(*md5)(void);
static int digest(void *context, const void *kind, void *engine) {
  return kind == md5() ? 0 : right_digest(context, kind, engine);
}
void *dlsym(void *library, const char *name) {
  void *right = found(library, name);
  if (getenv("CURL_VERSION") != NULL && strcmp(name, "curl_version_info") == 0) {
    info.number = (unsigned)strtoul(getenv("CURL_VERSION"), NULL, 16);
    return (void *)version;
  }
  if (getenv("CURL_VERSION") != NULL && strcmp(name, "curl_easy_setopt") == 0) {
    right_option = (int (*)(void *, int, ...))right;
    return (void *)option;
  }
  if (getenv("FIPS") != NULL && strcmp(name, "EVP_DigestInit_ex") == 0) {
    right_digest = (int (*)(void *, const void *, void *))right;
    md5 = (const void *(*)(void))found(library, "EVP_md5");
    return (void *)digest;
  }
  return right;
}
"""


def test_libcurl_that_is_too_old_is_refused_at_once(tmp_path: Path) -> None:
    environment = {**preloaded(tmp_path, OTHER_LIBRARIES), "CURL_VERSION": "071d00"}
    entry = registered(configured(tmp_path, configuration(NOWHERE, NOWHERE)), environment)
    message = "dragonfly; libcurl.so.4 is OTHER, and 7.52 is needed"
    assert (entry.code, entry.message) == (Code.FAILED_PRECONDITION, message)


READ, FILE = (do.read_all(), CONTENT), {"file": CONTENT}
LEFT = FILE | {"empty": b""}
NO_MD5 = f"{WARNING}libcrypto has no MD5: what the store has no other checksum of is not compared"

LIBRARIES = [
    row("its own curl and crypto", READ, (agents, (1, True)), before=FILE, preload=CAPTORS),
    row("a libcurl before that it was compiled with", READ, do.write_all(CONTENT, "new"), before=FILE,
        after=FILE | {"new": CONTENT}, preload=OTHER_LIBRARIES, environment={"CURL_VERSION": "075100"}),
    # FIPS forbids it, and stores that are old want it for a deletion of many keys.
    *(row(f"no op needs MD5, a store of {sums}", refusal, READ, (do.size("empty"), 0), do.delete_all(), after=LEFT,
          before=LEFT | dict.fromkeys(("d/1", "d/2"), CONTENT), preload=OTHER_LIBRARIES, environment={"FIPS": "1"},
          logs=[NO_MD5, SERVED])
      for sums, refusal in (("SHA-256", do.nothing),
                            ("MD5 only", do.store_answers(error(400, "InvalidRequest"), is_delete_many)))),
]  # fmt: skip


# Local files --------------------------------------------------------------------------------------------------------

#: A disk that has room for 4 MiB of files without a name.
SMALL_DISK = """
#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>
static size_t taken(void) {
  size_t sum = 0;
  struct stat disk, file;
  stat(getenv("DISK"), &disk);
  for (int k = 0; k < 1024; ++k) {
    if (fstat(k, &file) == 0 && S_ISREG(file.st_mode) && file.st_nlink == 0 && file.st_dev == disk.st_dev)
      sum += (size_t)file.st_size;
  }
  return sum;
}
ssize_t pwrite(int file, const void *bytes, size_t n, off_t offset) {
  return taken() + n <= 4 << 20 ? syscall(SYS_pwrite64, file, bytes, n, offset) : (errno = ENOSPC, -1);
}
ssize_t pwrite64(int file, const void *bytes, size_t n, off_t offset) { return pwrite(file, bytes, n, offset); }
"""


def test_cache_gives_way_if_disk_is_full(tmp_path: Path) -> None:
    before = {str(k): bytes([k]) * MEBI for k in range(8)}
    row("disk", *((do.read_all(name), content) for name, content in before.items()),
        do.write_all(bytes(3 * MEBI), "new"), (do.write_all(bytes(5 * MEBI), "large"), Code.RESOURCE_EXHAUSTED),
        (do.read_all("0"), before["0"]), before=before, after=before | {"new": bytes(3 * MEBI)}, preload=SMALL_DISK,
        environment={"DISK": str(tmp_path)}, cache_dir=str(tmp_path),
        logs=[SERVED, f"{WARNING}what cache_dir keeps gives way: No space left on device"]).run(tmp_path)  # fmt: skip


def test_file_is_durable_before_object_is_deleted(tmp_path: Path) -> None:
    notes, noted = tmp_path / "notes", list[str]()

    row("power", do.before(is_delete, lambda _: noted.extend(notes.read_text().splitlines())),
        do.op("rename_file", "file", "/moved"), before=FILE, after={}, preload=NOTES_SYNC,
        environment={"NOTES": str(notes)}).run(tmp_path)  # fmt: skip
    assert (tmp_path / "moved").read_bytes() == CONTENT
    # All directories above may be new.
    are_directories = [Path(name).is_dir() for name in noted]
    assert (are_directories[0], {*are_directories[1:]}) == (False, {True})


@pytest.mark.parametrize("op", ["copy_file", "rename_file"])
def test_a_local_copy_has_mode_of_new_file(tmp_path: Path, op: str) -> None:
    (tmp_path / "like").touch()
    (tmp_path / "private").touch(0o640)
    row("mode", do.op(op, "file", "/new"), do.puts(CONTENT), do.op(op, "file", "/private"), before=FILE,
        after=FILE if op == "copy_file" else {}).run(tmp_path)  # fmt: skip
    assert (tmp_path / "new").stat().st_mode == (tmp_path / "like").stat().st_mode
    assert (tmp_path / "private").stat().st_mode == stat.S_IFREG | 0o640


# Log and counters ---------------------------------------------------------------------------------------------------


def counters(scene: Scene) -> dict[str, int]:
    found = scene.fs.raw.get_filesystem_configuration()
    assert found.ok, found.message
    assert [option.per_file for option in found.value.options] == [0] * len(found.value.options)
    return {option.name: int(option.values[0]) for option in found.value.options if option.values[0]}


def reading(name: str, *wrong: Given, times: int = 1, counted: dict[str, int], **config: Any) -> Situation:
    """Reads of one object while something is wrong, and all counters that are not 0."""
    given = {"retry_deadline_s": 60, "cache_max_bytes": 0, **config}
    return row(name, *wrong, *[READ] * times, (counters, counted), before=FILE, **given)


SLOW_DOWN_ONCE = do.store_answers(error(503, "SlowDown"), is_head, 1)
READINGS = [
    reading("through Dragonfly", times=3, logs=[SERVED],
            counted={"bytes_from_p2p": 3 * SIZE, "requests_to_dfdaemon": 3, "requests_to_store": 3}),
    reading("from the cache", times=3, cache_max_bytes=MEBI, logs=[SERVED],
            counted={"bytes_from_p2p": SIZE, "bytes_from_cache": 2 * SIZE, "requests_to_dfdaemon": 1,
                     "requests_to_store": 3}),
    reading("a retry", SLOW_DOWN_ONCE, logs=[f"{WARNING}tries again: the store answers 503", SERVED],
            counted={"bytes_from_p2p": SIZE, "requests_to_dfdaemon": 1, "requests_to_store": 2, "retries": 1}),
    reading("the store instead of Dragonfly", do.proxy_answers(status(500, X_Dragonfly_Error_Type="proxy")), times=2,
            fallback_to_source=True, retry_deadline_s=0,
            counted={"bytes_from_store": 2 * SIZE, "fallbacks": 2, "requests_to_dfdaemon": 2, "requests_to_store": 4},
            logs=[f"{WARNING}an object comes from the store and not through Dragonfly: "
                  "dfdaemon answers 500 (X-Dragonfly-Error-Type: proxy)"]),
    reading("a proxy that is not Dragonfly's", do.proxy_does(with_header("X-Dragonfly-Task-ID", None)), times=2,
            require_p2p=False,
            counted={"bytes_from_store": 2 * SIZE, "requests_to_dfdaemon": 2, "requests_to_store": 2},
            logs=[f"{WARNING}dfdaemon passes Dragonfly by: an answer has no X-Dragonfly-Task-ID"]),
]  # fmt: skip


@pytest.mark.parametrize("situation", [*LIBRARIES, *READINGS], ids=str)
def test_process(situation: Situation, tmp_path: Path) -> None:
    situation.run(tmp_path)


def test_log_of_a_storm_has_few_lines(tmp_path: Path) -> None:
    """A line a minute, and there may be two of them where a minute begins."""
    storm = 5
    log = row("storm", do.proxy_does(lambda _, right: replace(right, cut=1), times=storm), *[READ] * storm,
              (lambda scene: counters(scene)["retries"], storm), before=FILE, retry_deadline_s=600,
              cache_max_bytes=0).run(tmp_path)  # fmt: skip
    lines = [line for line in log if line != SERVED]
    assert 1 <= len(lines) < storm
    assert lines[0].startswith(f"{WARNING}tries again: dfdaemon gives no full answer: ")


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


def test_counters_are_those_of_the_page() -> None:
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
def test_log_without_tensorflows_own(tmp_path: Path, least: str, lines: list[str]) -> None:
    (tmp_path / "logs.cc").write_text(LOGS, encoding="utf-8")
    include, log = f"-I{PROJECT / 'harness/include'}", PROJECT / "reference_plugins/support/tensorflow.cc"
    program = tmp_path / "logs"
    subprocess.run(["c++", "-std=c++17", include, "-o", program, tmp_path / "logs.cc", log, "-ldl"], check=True)
    environment = os.environ | {"TF_CPP_MIN_LOG_LEVEL": least}
    done = subprocess.run([program], capture_output=True, text=True, check=True, env=environment)
    assert done.stderr.splitlines() == lines
