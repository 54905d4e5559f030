"""The objectstore_minimal plugin over HTTP: the suite on it, and what it makes of a store that misbehaves.

What it makes of a directory is judged wherever the tests need a store of objects.
"""

import re
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from tests.dragonfly_client import BUILT, MISSING, read, write
from tests.faulty_http import Fault, Reply, without_length
from tests.s3_server import ACCESS_KEY, BUCKET, SECRET_KEY, S3Server, Stored, error
from tests.test_suite import report, run
from tffs_conformance.harness.hosting.loader import Loader
from tffs_conformance.harness.launchers.local import Local
from tffs_conformance.harness.ops.codes import Code
from tffs_conformance.harness.ops.guard import Guard
from tffs_conformance.harness.over_tables.filesystem import HostFilesystem
from tffs_conformance.harness.over_tables.raw import RawFilesystem
from tffs_conformance.harness.targets.shipped import plugin_path

# It is built without libcurl, too, but then there is nothing to judge here.
pytestmark = pytest.mark.skipif(not BUILT, reason=MISSING)

ROOT = "objects:///tests"
FILE = f"{ROOT}/file"
CONTENT = bytes(range(256)) * 40
KEYS = {"AWS_ACCESS_KEY_ID": ACCESS_KEY, "AWS_SECRET_ACCESS_KEY": SECRET_KEY}


@contextmanager
def in_process(bucket: str) -> Iterator[tuple[int, HostFilesystem]]:
    """The process that has the plugin, and its filesystem."""
    loader = Loader(Local({"TFFS_BUCKET": bucket, **KEYS}), plugin_path("objectstore_minimal"), 60)
    found = loader.load()
    entry = found.registration.registered["objects"]
    assert entry.filesystem is not None, entry.message
    facts = found.host.process.facts
    assert facts is not None
    yield facts.pid, HostFilesystem(RawFilesystem(found.call, entry.filesystem, []), entry.present, Guard(ROOT))
    found.host.close()
    loader.close()


@pytest.fixture
def served() -> Iterator[tuple[S3Server, HostFilesystem]]:
    with S3Server() as store, in_process(f"{store.url}/{BUCKET}") as (_, fs):
        store.put("tests/file", CONTENT)
        yield store, fs


@pytest.mark.parametrize(
    ("tier", "checks"),
    [("smoke", 60), pytest.param("must", 1000, marks=[pytest.mark.nightly, pytest.mark.timeout(3600)])],
)
def test_the_suite_is_conformant(tmp_path: Path, tier: str, checks: int) -> None:
    # A thousand objects are deleted one by one, and this server is no fast one.
    with S3Server() as store:
        variables = {"TFFS_BUCKET": f"{store.url}/{BUCKET}", **KEYS}
        done = run(tmp_path, "--plugin=objectstore_minimal", "--plugin-profile=object-store", "--backing=none",
                   f"--root={ROOT}", f"--tier={tier}", "--fail-on=not-run", "--call-timeout=60",
                   *(f"--env={name}={value}" for name, value in variables.items()))  # fmt: skip
    assert done.returncode == 0, done.stdout[-3000:]
    assert report(tmp_path)["verdict"] == "conformant"
    assert report(tmp_path)["executed"]["must"] > checks


def status(code: int, reason: str = "") -> Fault:
    return lambda _, __: error(code, reason) if reason else Reply(code, {"Content-Type": "text/html"}, b"<p>no</p>")


def body(change: Fault) -> Fault:
    """What comes in answer to GET, which alone has a body, is another."""
    return lambda asked, right: change(asked, right) if asked.method == "GET" else right


def with_header(name: str, value: str) -> Fault:
    return lambda _, right: replace(right, headers=right.headers | {name: value})


#: What happens to each answer, and the code of the op.
FAULTS = {
    "503": (status(503), Code.UNAVAILABLE),
    "503 SlowDown": (status(503, "SlowDown"), Code.UNAVAILABLE),
    "500": (status(500, "InternalError"), Code.UNAVAILABLE),
    "403": (status(403, "AccessDenied"), Code.PERMISSION_DENIED),
    "401": (status(401), Code.UNAUTHENTICATED),
    "404 of the store": (status(404, "NoSuchKey"), Code.NOT_FOUND),
    "404 of somebody else": (status(404), Code.UNAVAILABLE),
    "no answer": (lambda _, right: replace(right, silent=True), Code.UNAVAILABLE),
    "cut": (body(lambda _, right: replace(right, cut=5000)), Code.UNAVAILABLE),
    "cut, of no length": (
        body(lambda asked, right: without_length(asked, replace(right, body=right.body[:5000]))), Code.INTERNAL,
    ),
    "shorter": (body(lambda _, right: replace(right, body=right.body[:-1])), Code.INTERNAL),
    "longer": (body(lambda _, right: replace(right, body=right.body + b"more")), Code.INTERNAL),
    "endless": (body(lambda _, right: replace(right, body=right.body + bytes(1 << 24))), Code.INTERNAL),
    "another range": (body(with_header("Content-Range", f"bytes 1-{len(CONTENT)}/{len(CONTENT)}")), Code.INTERNAL),
    "another total": (body(with_header("Content-Range", f"bytes 0-{len(CONTENT) - 1}/9")), Code.INTERNAL),
    "another version": (body(with_header("ETag", '"other"')), Code.ABORTED),
    "replaced": (body(status(412, "PreconditionFailed")), Code.ABORTED),
    "a page": (body(lambda _, __: Reply(200, {"Content-Type": "text/html"}, b"<p>sign in</p>")), Code.INTERNAL),
}  # fmt: skip


@pytest.mark.parametrize("injected", FAULTS)
def test_a_faulty_read_has_its_code_and_no_bytes(served: tuple[S3Server, HostFilesystem], injected: str) -> None:
    store, fs = served
    fault, code = FAULTS[injected]
    store.inject(fault)
    got, message, content = read(fs, FILE)
    assert (got, content) == (code, b""), message
    assert message.startswith("/tests/file; ")
    assert SECRET_KEY not in message
    store.heal()
    assert read(fs, FILE)[::2] == (Code.OK, CONTENT)


def test_without_a_store_nothing_is_not_found() -> None:
    with S3Server() as store:
        gone = f"{store.url}/{BUCKET}"
    with in_process(gone) as (_, fs):
        answers = [
            read(fs, FILE)[0], write(fs, FILE, b"new")[0], fs.path_exists(FILE).code, fs.stat(FILE).code,
            fs.get_children(ROOT).code, fs.delete_file(FILE).code, fs.create_dir(FILE).code,
            fs.rename_file(FILE, f"{ROOT}/other").code,
        ]  # fmt: skip
    assert answers == [Code.UNAVAILABLE] * len(answers)


@pytest.mark.parametrize("injected", ["503", "403", "404 of somebody else", "no answer", "late"])
def test_put_that_fails_has_its_code(served: tuple[S3Server, HostFilesystem], injected: str) -> None:
    store, fs = served
    # S3 begins to answer before a copy ends.
    late: tuple[Fault, Code] = (lambda _, __: error(200, "InternalError")), Code.UNAVAILABLE
    fault, code = FAULTS.get(injected, late)
    store.inject(fault, when=lambda asked: asked.method == "PUT", done=False)
    assert fs.copy_file(FILE, f"{ROOT}/copy").code is code
    assert injected == "late" or write(fs, FILE, b"new")[0] is code
    # A file of which there is no copy is not deleted.
    assert fs.rename_file(FILE, f"{ROOT}/other").code is code
    assert {key: stored.content for key, stored in store.buckets[BUCKET].items()} == {"tests/file": CONTENT}


def test_a_read_asks_for_its_bytes_alone(served: tuple[S3Server, HostFilesystem]) -> None:
    store, fs = served
    opened = fs.new_random_access_file(FILE)
    assert opened.value is not None
    with opened.value as file:
        store.heal()
        assert file.read(1000, 10).value.data == CONTENT[1000:1010]
        assert [asked.headers["range"] for asked in store.asked] == ["bytes=1000-1009"]
        store.put("tests/file", b"other")
        assert file.read(1000, 10).code is Code.ABORTED


def test_a_listing_of_several_pages_is_all_of_it(served: tuple[S3Server, HostFilesystem]) -> None:
    store, fs = served
    names = {f"{k} +%&ü" for k in range(2500)}
    for name in names:
        store.put(f"tests/many/{name}", b"")
    listed = fs.get_children(f"{ROOT}/many")
    assert listed.value is not None
    assert (listed.code, {*listed.value.names}) == (Code.OK, names)
    store.heal()
    pages = ("list-type=2", "continuation-token=")
    store.inject(status(503), when=lambda asked: all(word in asked.target for word in pages))
    assert fs.get_children(f"{ROOT}/many").code is Code.UNAVAILABLE


def in_body(old: bytes, new: bytes) -> Fault:
    """Something else in the body of an answer."""
    return lambda _, right: replace(right, body=re.sub(old, new, right.body))


#: Wrong listings, and the codes of the op. The first has the keys of others; the next two are half an answer, or one of
#: a server between; the last ones name no byte after the percent sign.
WRONG_LISTINGS = {
    "of others": (in_body(b"<Key>tests/", b"<Key>other/"), Code.INTERNAL),
    "of unknown end": (in_body(b"<IsTruncated>.*</IsTruncated>", b""), Code.UNAVAILABLE),
    "none": (lambda _, __: Reply(200, {}, b"<html>sign in</html>"), Code.UNAVAILABLE),
    "without a token": (in_body(b">false<", b">true<"), Code.INTERNAL),
    "%": (in_body(b"</Key>", b"%</Key>"), Code.INTERNAL),
    "%4": (in_body(b"</Key>", b"%4</Key>"), Code.INTERNAL),
    "%+4": (in_body(b"</Key>", b"%+4</Key>"), Code.INTERNAL),
}  # fmt: skip


@pytest.mark.parametrize("wrong", WRONG_LISTINGS)
def test_a_wrong_listing_deletes_nothing(served: tuple[S3Server, HostFilesystem], wrong: str) -> None:
    store, fs = served
    fault, code = WRONG_LISTINGS[wrong]
    store.inject(fault, when=lambda asked: "list-type=2" in asked.target)
    assert fs.delete_recursively(ROOT).code is code
    assert [asked.method for asked in store.asked if asked.method == "DELETE"] == []


def test_a_file_that_is_closed_is_put_once(served: tuple[S3Server, HostFilesystem]) -> None:
    store, fs = served
    opened = fs.new_writable_file(FILE)
    assert opened.value is not None
    with opened.value as file:
        assert [file.append(b"new").code, file.close().code] == [Code.OK] * 2
        said = [op() for op in (lambda: file.append(b"more"), file.flush, file.sync, file.tell, file.close)]
    assert {got.code for got in said} == {Code.FAILED_PRECONDITION}
    assert store.buckets[BUCKET]["tests/file"].content == b"new"


def test_a_close_that_failed_can_be_tried_again(served: tuple[S3Server, HostFilesystem]) -> None:
    store, fs = served
    store.inject(status(503), 1, when=lambda asked: asked.method == "PUT", done=False)
    opened = fs.new_writable_file(FILE)
    assert opened.value is not None
    with opened.value as file:
        assert [file.append(b"new").code, file.close().code, file.close().code] == [Code.OK, Code.UNAVAILABLE, Code.OK]
    assert store.buckets[BUCKET]["tests/file"].content == b"new"


@pytest.mark.parametrize("method", ["DELETE", "PUT"])
def test_an_answer_that_ends_within_its_head_is_none(served: tuple[S3Server, HostFilesystem], method: str) -> None:
    store, fs = served
    cut = Reply(204 if method == "DELETE" else 200, {"ETag": '"new"'}, head=-2)
    store.inject(lambda _, __: cut, when=lambda asked: asked.method == method, done=False)
    got = fs.delete_file(FILE).code if method == "DELETE" else write(fs, FILE, b"new" * (1 << 20))[0]
    assert (got, store.buckets[BUCKET]["tests/file"].content) == (Code.UNAVAILABLE, CONTENT)


def test_what_is_an_object_and_a_directory_is_deleted_with_what_is_in_it(
    served: tuple[S3Server, HostFilesystem],
) -> None:
    store, fs = served
    store.put("tests/file/below", b"")
    store.put("tests/file2", b"")
    assert fs.delete_recursively(FILE).ok
    assert [*store.buckets[BUCKET]] == ["tests/file2"]


@pytest.mark.parametrize("encodes", [True, False])
def test_a_name_is_kept_or_refused(served: tuple[S3Server, HostFilesystem], encodes: bool) -> None:
    """Some stores encode no key, and say so with an empty word."""
    store, fs = served
    store.encodes = encodes
    names = ("100%", "a+b", "%41", "a%2Fb", "\N{SNOWMAN}", " ", "&amp;")
    assert {write(fs, f"{ROOT}/d/{name}", b"")[0] for name in names} == {Code.OK}
    listed = fs.get_children(f"{ROOT}/d")
    assert listed.value is not None
    assert sorted(listed.value.names) == sorted(names)
    refused = ("a\x01", "\udcff\udcfe", "\uffff", "\udced\udca0\udc80", "\udcf7\udcbf\udcbf\udcbf")
    assert {write(fs, f"{ROOT}/d/{name}", b"")[0] for name in refused} == {Code.INVALID_ARGUMENT}
    # Somebody else's is no obstacle to whoever deletes all.
    store.put("tests/d/\x01", b"")
    if encodes:
        assert fs.delete_recursively(f"{ROOT}/d").ok
        assert [*store.buckets[BUCKET]] == ["tests/file"]


def test_a_name_that_no_path_can_have_is_not_listed(served: tuple[S3Server, HostFilesystem]) -> None:
    """Who walks a tree would never come to its end, or would leave it."""
    store, fs = served
    for key in ("tests/./file", "tests/../file", "tests//file"):
        store.put(key, b"")
    listed = fs.get_children(ROOT)
    assert listed.value is not None
    assert (listed.code, listed.value.names) == (Code.OK, ("file",))


def test_what_cannot_be_looked_at_in_a_directory_is_not_missing(tmp_path: Path) -> None:
    (tmp_path / "tests%2Ffile").symlink_to("tests%2Ffile")
    with in_process(str(tmp_path)) as (_, fs):
        said = [read(fs, FILE)[0], fs.path_exists(FILE).code, fs.stat(FILE).code]
    assert Code.NOT_FOUND not in said
    assert Code.OK not in said


def test_a_store_that_says_of_every_object_that_it_is_empty_is_not_believed(
    served: tuple[S3Server, HostFilesystem],
) -> None:
    store, fs = served
    store.put("tests/empty", b"")
    store.buckets[BUCKET]["tests/other"] = Stored(b"", '"of nothing, encrypted"')
    store.inject(
        lambda _, right: replace(right, headers=right.headers | {"Content-Length": "0"}),
        when=lambda asked: asked.method == "HEAD",
    )
    assert read(fs, FILE)[0] is Code.UNAVAILABLE
    assert [fs.get_file_size(f"{ROOT}/{name}").value for name in ("empty", "other")] == [0, 0]


@pytest.mark.skipif(shutil.which("strace") is None, reason="not run: strace is not there: apt-get install strace")
def test_a_directory_that_cannot_be_read_to_its_end_is_no_listing(tmp_path: Path) -> None:
    with in_process(str(tmp_path)) as (process, fs):
        assert write(fs, FILE, CONTENT)[0] is Code.OK
        log = str(tmp_path / ".log")
        command = ["strace", "-f", "-p", str(process), "-e", "inject=getdents64:error=EIO", "-o", log]
        with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as tracer:
            assert tracer.stderr is not None
            assert "attached" in tracer.stderr.readline()
            said = fs.get_children(ROOT)
            tracer.terminate()
        assert said.code not in (Code.OK, Code.NOT_FOUND)
        assert fs.get_children(ROOT).ok


@pytest.mark.parametrize(
    ("variables", "message"),
    [
        ({"TFFS_BUCKET": "http://127.0.0.1:1"}, "TFFS_BUCKET is a URL, but not http(s)://host:port/bucket"),
        ({"TFFS_BUCKET": "http://127.0.0.1:1/a/b"}, "TFFS_BUCKET is a URL, but not http(s)://host:port/bucket"),
        ({"AWS_SECRET_ACCESS_KEY": ""}, "AWS_SECRET_ACCESS_KEY is not set"),
    ],
)
def test_a_bucket_that_cannot_be_is_refused_at_once(variables: dict[str, str], message: str) -> None:
    given = {"TFFS_BUCKET": "http://127.0.0.1:1/bucket", **KEYS, **variables}
    local = Local({name: value for name, value in given.items() if value})
    loader = Loader(local, plugin_path("objectstore_minimal"), 60)
    found = loader.load()
    found.host.close()
    loader.close()
    assert (found.registration.code, found.registration.message) == (Code.INVALID_ARGUMENT, f"objects; {message}")
