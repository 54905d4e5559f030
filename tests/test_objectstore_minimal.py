"""The objectstore_minimal plugin over HTTP, on a store that misbehaves."""

import re
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests import dragonfly_rows as do
from tests import s3_server as s3
from tests.dragonfly_client import BUILT, MISSING, filesystem_in, loaded, read, registration, write
from tests.dragonfly_rows import Given, Scene, Situation, row
from tests.faulty_http import Fault, Reply, silent, with_header, without_length
from tests.proxy_stub import ProxyStub
from tests.s3_server import ACCESS_KEY, BUCKET, SECRET_KEY, S3Server, Stored, error
from tests.test_suite import judged_report
from tffs_conformance.harness.ops.codes import Code
from tffs_conformance.harness.over_tables.filesystem import HostFilesystem

# It is built without libcurl, too, but then there is nothing to judge here.
pytestmark = pytest.mark.skipif(not BUILT, reason=MISSING)

ROOT = "objects:///tests"
FILE = f"{ROOT}/file"
CONTENT = bytes(range(256)) * 40
KEYS = {"AWS_ACCESS_KEY_ID": ACCESS_KEY, "AWS_SECRET_ACCESS_KEY": SECRET_KEY}


@contextmanager
def in_process(bucket: str) -> Iterator[tuple[int, HostFilesystem]]:
    """The process that has the plugin, and its filesystem."""
    with loaded("objectstore_minimal", {"TFFS_BUCKET": bucket, **KEYS}) as found:
        facts = found.host.process.facts
        assert facts is not None
        yield facts.pid, filesystem_in(found, "objects", ROOT)


@pytest.fixture(scope="module")
def served() -> Iterator[tuple[S3Server, ProxyStub, HostFilesystem]]:
    """One plugin for all rows: between two requests it knows nothing."""
    with S3Server() as store, ProxyStub() as unused, in_process(f"{store.url}/{BUCKET}") as (_, fs):
        yield store, unused, fs


def judged(folder: Path, *options: str) -> dict[str, Any]:
    """The report of a run on a store of its own; it ends with 0."""
    with S3Server() as store:
        variables = {"TFFS_BUCKET": f"{store.url}/{BUCKET}", **KEYS}
        given = (f"--env={name}={value}" for name, value in variables.items())
        # A thousand objects are deleted one by one, and this server is no fast one.
        return judged_report(folder, "--plugin=objectstore_minimal", "--plugin-profile=object-store", "--backing=none",
                             f"--root={ROOT}", "--call-timeout=60", *given, *options)  # fmt: skip


def status(code: int, reason: str = "") -> Fault:
    return lambda _, __: error(code, reason) if reason else Reply(code, {"Content-Type": "text/html"}, b"<p>no</p>")


def body(change: Fault) -> Fault:
    """What comes in answer to GET, which alone has a body, is another."""
    return lambda asked, right: change(asked, right) if asked.method == "GET" else right


#: What happens to each answer, and the code of the op.
FAULTS = {
    "503": (status(503), Code.UNAVAILABLE),
    "503 SlowDown": (status(503, "SlowDown"), Code.UNAVAILABLE),
    "500": (status(500, "InternalError"), Code.UNAVAILABLE),
    "403": (status(403, "AccessDenied"), Code.PERMISSION_DENIED),
    "401": (status(401), Code.UNAUTHENTICATED),
    "404 of the store": (status(404, "NoSuchKey"), Code.NOT_FOUND),
    "404 of somebody else": (status(404), Code.UNAVAILABLE),
    "no answer": (silent, Code.UNAVAILABLE),
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


def situation(name: str, *steps: Given, before: Mapping[str, bytes | Stored] | None = None, **after: Any) -> Situation:
    """A row about one file, and others."""
    return row(name, *steps, before={"file": CONTENT} | dict(before or {}), **after)


def message(scene: Scene) -> tuple[str, bool]:
    """What the message of a read begins with, and whether it has the secret."""
    said = read(scene.fs, FILE)[1]
    return said.partition(" ")[0], SECRET_KEY in said


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
#: S3 begins to answer before a copy ends.
LATE = (lambda _, __: error(200, "InternalError")), Code.UNAVAILABLE
PUTS = {name: FAULTS[name] for name in ("503", "403", "404 of somebody else", "no answer")} | {"late": LATE}
MANY = {f"{k} +%&ü" for k in range(2500)}
NAMES = ("100%", "a+b", "%41", "a%2Fb", "\N{SNOWMAN}", " ", "&amp;")
REFUSED_NAMES = ("a\x01", "\udcff\udcfe", "\uffff", "\udced\udca0\udc80", "\udcf7\udcbf\udcbf\udcbf")
HALF_HEAD = Reply(200, {"ETag": '"new"'}, head=-2)

SITUATIONS = [
    *(situation(f"a faulty read, {name}", do.store_does(fault), (do.read_all(), code),
                (message, ("/tests/file;", False)), do.heals, (do.read_all(), CONTENT))
      for name, (fault, code) in FAULTS.items()),
    # A file of which there is no copy is not deleted.
    *(situation(f"a put that fails, {name}", do.store_does(fault, s3.is_put, done=False),
                (do.op("copy_file", "file", "copy"), code),
                do.nothing if name == "late" else (do.write_all(b"new"), code),
                (do.op("rename_file", "file", "other"), code))
      for name, (fault, code) in PUTS.items()),
    situation("a read asks for its bytes alone", do.open_file, do.heals, (do.reads(1000, 10), CONTENT[1000:1010]),
              (do.asked_store(do.span), ["bytes=1000-1009"]), do.puts(b"other"), (do.reads(1000, 10), Code.ABORTED),
              after={"file": b"other"}),
    situation("a listing of several pages is all of it", (do.children("many"), sorted(MANY)), do.heals,
              do.store_does(status(503), lambda one: s3.is_list(one) and "continuation-token=" in one.target),
              (do.children("many"), Code.UNAVAILABLE), before={f"many/{name}": b"" for name in MANY}),
    *(situation(f"a wrong listing deletes nothing, {name}", do.store_does(fault, s3.is_list), (do.delete_all(), code),
                (do.count(s3.is_delete), 0), before={"d/file": b""})
      for name, (fault, code) in WRONG_LISTINGS.items()),
    situation("a file that is closed is put once", do.begin(), do.append(b"new"), do.close,
              *((step, Code.FAILED_PRECONDITION)
                for step in (do.append(b"more"), *map(do.on_writer, ("flush", "sync", "tell", "close")))),
              after={"file": b"new"}),
    situation("a close that failed can be tried again", do.store_does(status(503), s3.is_put, 1, done=False),
              do.begin(), do.append(b"new"), (do.close, Code.UNAVAILABLE), do.close, after={"file": b"new"}),
    situation("an answer to DELETE that ends within its head", do.store_answers(HALF_HEAD, s3.is_delete),
              (do.op("delete_file", "file"), Code.UNAVAILABLE)),
    situation("an answer to PUT that ends within its head", do.store_answers(HALF_HEAD, s3.is_put),
              (do.write_all(b"new" * (1 << 20)), Code.UNAVAILABLE)),
    situation("an object and a directory is deleted with what is in it", do.delete_all("file"),
              before={"file/below": b"", "file2": b""}, after={"file2": b""}),
    # Some stores encode no key, and say so with an empty word.
    *(situation(f"a name is taken or refused, the store encodes {encodes}", do.has("store", encodes=encodes),
                *(do.write_all(b"", f"d/{name}") for name in NAMES), (do.children("d"), sorted(NAMES)),
                *((do.write_all(b"", f"d/{name}"), Code.INVALID_ARGUMENT) for name in REFUSED_NAMES),
                after={"file": CONTENT} | {f"d/{name}": b"" for name in NAMES}) for encodes in (True, False)),
    situation("a name that is refused is no obstacle to whoever deletes all", do.delete_all(),
              before={"d/\x01": b"", "d/a+b": b""}, after={"file": CONTENT}),
    # Who walks a tree would never come to its end, or would leave it.
    situation("a name that no path can have is not listed", (do.children("d"), ["file"]),
              before=dict.fromkeys(("d/./file", "d/../file", "d//file", "d/file"), b"")),
    situation("a store that says of every object that it is empty",
              do.store_does(with_header("Content-Length", "0"), s3.is_head), (do.read_all(), Code.UNAVAILABLE),
              (do.size("empty"), 0), (do.size("other"), 0),
              before={"empty": b"", "other": Stored(b"", '"of nothing, encrypted"')}),
]  # fmt: skip


@pytest.mark.parametrize("situation", SITUATIONS, ids=str)
def test_over_http(served: tuple[S3Server, ProxyStub, HostFilesystem], situation: Situation, tmp_path: Path) -> None:
    served[0].heal()
    served[0].renew()
    situation.run(tmp_path, serve=lambda *_, **__: nullcontext(served), root=ROOT)


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


def test_what_cannot_be_looked_at_in_a_directory_is_not_missing(tmp_path: Path) -> None:
    (tmp_path / "tests%2Ffile").symlink_to("tests%2Ffile")
    with in_process(str(tmp_path)) as (_, fs):
        said = [read(fs, FILE)[0], fs.path_exists(FILE).code, fs.stat(FILE).code]
    assert Code.NOT_FOUND not in said
    assert Code.OK not in said


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
    entry = registration("objectstore_minimal", {name: value for name, value in given.items() if value})
    assert (entry.code, entry.message) == (Code.INVALID_ARGUMENT, f"objects; {message}")
