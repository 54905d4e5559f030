"""The libraries that dragonfly finds at run time are not those that it was compiled with."""

import json
from pathlib import Path

import pytest

from tests import dragonfly_rows as do
from tests.dragonfly_client import BUILT, MISSING, configuration, preloaded, registered
from tests.dragonfly_rows import row
from tests.s3_server import error, is_delete_many
from tffs_conformance.harness.ops.codes import Code

pytestmark = pytest.mark.skipif(not BUILT, reason=MISSING)

CONTENT = bytes(range(256)) * 40

#: What dlsym finds: a libcurl that says it is of another version and knows none of the
#: options that came in 7.85, a libcrypto that keeps to FIPS.
OTHER_LIBRARIES = """
#define _GNU_SOURCE
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


def test_a_libcurl_before_that_it_was_compiled_with(tmp_path: Path) -> None:
    environment = {"LD_PRELOAD": preloaded(tmp_path, OTHER_LIBRARIES), "CURL_VERSION": "075100"}
    row("older", (do.read_all(), CONTENT), do.write_all(CONTENT, "new"), before={"file": CONTENT},
        after={"file": CONTENT, "new": CONTENT}, environment=environment).run(tmp_path)  # fmt: skip


def test_a_libcurl_that_is_too_old_is_told_at_once(tmp_path: Path) -> None:
    path = tmp_path / "dragonfly.json"
    path.write_text(json.dumps(configuration("http://127.0.0.1:1", "http://127.0.0.1:1")))
    environment = {"LD_PRELOAD": preloaded(tmp_path, OTHER_LIBRARIES), "CURL_VERSION": "071d00"}
    entry = registered(path, environment)
    assert entry.code is Code.FAILED_PRECONDITION
    assert entry.message == "dragonfly; libcurl.so.4 is OTHER, and 7.52 is needed"


@pytest.mark.parametrize("knows_others", [True, False], ids=["sha256", "md5-only"])
def test_no_op_needs_md5(tmp_path: Path, knows_others: bool) -> None:
    """Which FIPS forbids, and which stores that are old want for a deletion of many keys."""
    environment, log = {"LD_PRELOAD": preloaded(tmp_path, OTHER_LIBRARIES), "FIPS": "1"}, list[str]()
    left = {"file": CONTENT, "empty": b""}
    row("fips", do.nothing if knows_others else do.store_answers(error(400, "InvalidRequest"), is_delete_many),
        (do.read_all(), CONTENT), (do.size("empty"), 0), do.delete_all(), after=left,
        before=left | dict.fromkeys(("d/1", "d/2"), CONTENT), environment=environment).run(tmp_path, log)  # fmt: skip
    assert "libcrypto has no MD5" in log[0]
