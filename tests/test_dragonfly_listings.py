"""Directories of the dragonfly plugin: right and wrong listings, and deletions of many."""

import re
import time
from dataclasses import replace
from pathlib import Path

import pytest

from tests import dragonfly_rows as do
from tests.dragonfly_client import BUILT, MISSING, ROOT, at
from tests.dragonfly_rows import Scene, Situation, Step, row
from tests.faulty_http import Reply, anything, with_body
from tests.s3_server import BUCKET, document, is_delete_many, is_list
from tffs_conformance.harness.ops.codes import Code

pytestmark = pytest.mark.skipif(not BUILT, reason=MISSING)

OTHER = {"other": b""}
BEFORE = dict.fromkeys(("d/", "d/a", "d/b"), b"") | OTHER
CONTENT = b"content" * 100
#: So many pages of a listing are read at most.
MAX_PAGES = 20
URL = "<EncodingType>url</EncodingType>"


def listing(content: str, token: str | None = None, truncated: str = "false", kind: str = "") -> Reply:
    more = "" if token is None else f"<NextContinuationToken>{token}</NextContinuationToken>"
    return document(f"<ListBucketResult><IsTruncated>{truncated}</IsTruncated>{kind}{more}{content}</ListBucketResult>")


def keys(*names: str) -> str:
    return "".join(f"<Contents><Key>tests/{name}</Key></Contents>" for name in names)


TOKEN_AGAIN = listing(keys("d/a"), "same", "true")
OUTSIDE = listing(keys("d/a", "other"))
NO_END = document("<ListBucketResult/>")
HALF_ENCODED = listing(keys("d/100%"), kind=URL)
#: What the store answers to every listing of the directory `d`, and what get_children returns. NEW is another word each
#: time.
LISTINGS: list[tuple[str, Reply, object]] = [
    ("a token that comes again", TOKEN_AGAIN, Code.INTERNAL),
    ("pages for ever", listing(keys("d/NEW"), "NEW", "true"), Code.RESOURCE_EXHAUSTED),
    ("empty pages for ever", listing("", "NEW", "true"), Code.RESOURCE_EXHAUSTED),
    ("no token to go on with", listing(keys("d/a"), None, "true"), Code.INTERNAL),
    ("nothing of its end", NO_END, Code.INTERNAL),
    ("keys outside of the prefix", OUTSIDE, Code.INTERNAL),
    ("a key without a name", listing("<Contents/>"), Code.INTERNAL),
    ("a prefix without its end", listing("<CommonPrefixes><Prefix>tests/d/a</Prefix></CommonPrefixes>"), Code.INTERNAL),
    ("keys that are not cut", listing(keys("d/a", "d/sub/b")), ["a", "sub"]),
    ("keys twice", listing(keys("d/a", "d/a")), ["a"]),
    ("keys encoded", listing(keys("d/a+b%2Bc%0A"), kind=URL), ["a b+c\n"]),
    # An op's path ends there, and would name another key.
    ("a key with a NUL", listing(keys("d/a%00b", "d/c"), kind=URL), ["c"]),
    ("keys not encoded", listing(keys("d/a+b%2B")), ["a+b%2B"]),
    ("keys half encoded", HALF_ENCODED, Code.INTERNAL),
    *((f"the key {key}", listing(keys(f"d/{key}"), kind=URL), Code.INTERNAL) for key in ("a%4", "a%zz", "a b")),
    # It is a right answer, for those who wait for its end.
    ("a trickle", replace(listing(keys("d/a")), pace=0.05), Code.DEADLINE_EXCEEDED),
]  # fmt: skip


def lists(reply: Reply) -> Step:
    new = with_body(lambda body: body.replace(b"NEW", b"%d" % time.monotonic_ns()))
    return do.store_does(lambda asked, _: new(asked, reply), is_list, done=False)


FEW_PAGES = (lambda scene: sum(map(is_list, scene.store.asked)) <= MAX_PAGES, True)
# Only a trickle is given up because of the time it takes: a busy machine may need a second for any answer.
LISTED = [row(name, lists(reply), (do.children("d"), expected), FEW_PAGES, before=BEFORE,
              list_max_pages=MAX_PAGES, stall_timeout_s=1 if name == "a trickle" else None)
          for name, reply, expected in LISTINGS]  # fmt: skip
ASTRAY = [row(f"a wrong listing deletes nothing, {k}", lists(reply), (do.delete_all(), Code.INTERNAL), before=BEFORE)
          for k, reply in enumerate((OUTSIDE, TOKEN_AGAIN, NO_END, HALF_ENCODED))]  # fmt: skip


def undeleted(scene: Scene) -> tuple[Code, int, int, bool]:
    """The code and counters of delete_recursively, and whether the message has nothing strange from the store."""
    got = scene.fs.delete_recursively(at("d"))
    return got.code, got.value.files, got.value.dirs, got.message.isascii() and "<" not in got.message


def failed(key: str, code: str) -> str:
    return f"<DeleteResult><Error><Key>tests/{key}</Key><Code>{code}</Code></Error></DeleteResult>"


def deleted_keys(scene: Scene) -> list[str]:
    pages = [asked.body.decode() for asked in scene.store.asked if asked.method == "POST"]
    return [key for page in pages for key in re.findall("<Key>tests/(.*?)</Key>", page)]


DELETIONS = [
    # Nothing is done by this answer: what it does not say is refused is deleted by itself.
    *(row(f"a deletion of many: {name}", do.store_answers(document(body), is_delete_many),
          (undeleted, (code, len(left), 0, True)), before=BEFORE, after=OTHER | dict.fromkeys(left, b""),
          retry_deadline_s=0)
      for name, body, code, left in (
          ("silence", "<DeleteResult/>", Code.OK, ()),
          ("one refused", failed("d/a", "AccessDenied"), Code.PERMISSION_DENIED, ("d/a",)),
          ("a strange code", failed("d/b", "&lt;b&gt;&#x202e;[31m"), Code.INTERNAL, ("d/b",)),
          ("another key", "<DeleteResult><Deleted><Key>tests/other</Key></Deleted></DeleteResult>", Code.OK, ()))),
    row("a directory is deleted page by page", do.delete_all(), (lambda scene: len(deleted_keys(scene)), 1507),
        # What is in a directory goes before its marker, and a page before the next but one is asked for.
        (lambda scene: deleted_keys(scene)[-7:], ["d/a/", "d/b", "d/c/d/x", "d/c/d/", "d/c/", "d/", "d"]),
        (do.asked_store(do.method), ["GET", "GET", "POST", "POST", "GET"]), after={"e": b""},
        before=dict.fromkeys(("d/", "d/a/", *(f"d/a/{k:04}" for k in range(1500)), "d/b", "d/c/", "d/c/d/", "d/c/d/x",
                              "e"), b"")),
    row("a third page that is refused: what is left is reported",
        do.refused(lambda one: is_list(one) and "continuation-token" in one.target and "1999" in one.target),
        (undeleted, (Code.PERMISSION_DENIED, 0, 1, True)), before={f"d/{k:04}": b"" for k in range(2500)},
        after={f"d/{k:04}": b"" for k in range(1000, 2500)}),
    row("tokens that are counts", do.has("store", counts=True), do.delete_all(), after={},
        before={f"d/{k:04}": b"" for k in range(5000)}),
    row("an object and a prefix are deleted whole", do.delete_all(),
        before=dict.fromkeys(("d", "d/file", "d/below/file", "d-more"), CONTENT), after={"d-more": CONTENT}),
]  # fmt: skip


@do.step
def matches(scene: Scene, pattern: str) -> object:
    """The names that match, without the tests' root, or the code."""
    got = scene.fs.get_matching_paths(pattern if "://" in pattern else at(pattern))
    return [name.removeprefix(f"{ROOT}/") for name in got.value.names] if got.ok else got.code


def codes(code: Code, *ops: tuple[str, ...]) -> list[tuple[Step, object]]:
    return [(do.op(*one), code) for one in ops]


def bucket_codes(scene: Scene) -> list[object]:
    """Of ops on a bucket itself, which no op deletes."""
    bucket, raw = f"dragonfly://{BUCKET}", scene.fs.raw
    return [scene.fs.stat(bucket).value.is_directory, scene.fs.stat("dragonfly://other").code,
            scene.fs.get_children(bucket).value.names, raw.delete_recursively(f"{bucket}/").code,
            raw.path_op("delete_dir", f"{bucket}/").code]  # fmt: skip


EMPTY_PAGE = listing("", "tests%2Fd%2F", "true")
PAGES = dict.fromkeys((*(f"d/n{k:04}" for k in range(2345)), "d/below/x"), b"")
MANY = dict.fromkeys((*(f"d/{k:04}" for k in range(200)), "d/z", "d/y/file.bin"), b"")
NAMED_ALIKE = {f"d!{k:03}": b"" for k in range(150)}

DIRECTORIES = [
    row("listings of several pages", (do.children("d"), ["below", *(f"n{k:04}" for k in range(2345))]),
        (lambda scene: len(scene.fs.get_matching_paths(at("d/n00*")).value.names), 100), do.delete_all(), before=PAGES,
        after={}),
    row("a first page with nothing in it", do.store_answers(EMPTY_PAGE, is_list, 1), do.op("is_directory", "d"),
        do.store_answers(EMPTY_PAGE, is_list, 1), (do.op("delete_dir", "d"), Code.FAILED_PRECONDITION),
        before={"d/a": b""}),
    row("a pattern in a bucket that does not exist", (matches("dragonfly://other/a"), []),
        (matches("dragonfly://other/a*"), [])),
    row("a pattern asks for what it begins with", (matches("m-*/*.txt"), ["m-1/a.txt", "m-2/b.txt"]),
        (do.count(anything), 3), before=dict.fromkeys(("m-1/a.txt", "m-2/b.txt", "m-2/c.bin", "other/d.txt"), b"")),
    row("directories are markers or prefixes", do.op("is_directory", "implied"), do.op("create_dir", "implied/made"),
        (do.objects, {"implied/file": b"", "implied/made/": b""}),
        *codes(Code.NOT_FOUND, ("create_dir", "nowhere/made")),
        *codes(Code.FAILED_PRECONDITION, ("create_dir", "implied/file/made")), do.op("recursively_create_dir", "a/b"),
        do.op("delete_file", "implied/file"), do.op("delete_dir", "implied/made"),
        *codes(Code.NOT_FOUND, ("is_directory", "implied")), before={"implied/file": b""},
        after={"a/": b"", "a/b/": b""}),
    row("a bucket is a directory that stays", (bucket_codes, [1, Code.NOT_FOUND, (), *[Code.FAILED_PRECONDITION] * 2])),
    row("components that lead elsewhere",
        (lambda scene: {scene.fs.raw.stat(f"{ROOT}/{name}").code for name in ("a/../b", "./a", "a//b", "a/")},
         {Code.INVALID_ARGUMENT})),
    *(row(f"an object and a prefix is a file, {name}", (do.read_all(name), CONTENT), (do.stat(name), (len(CONTENT), 0)),
          (do.children(name), ["file.bin"]),
          *codes(Code.FAILED_PRECONDITION, ("is_directory", name), ("create_dir", f"{name}/new"),
                 ("recursively_create_dir", f"{name}/new/er")),
          (do.write_all(b"new", f"{name}/new.bin"), Code.FAILED_PRECONDITION),
          do.write_all(b"new", name), (do.read_all(name), b"new"),
          before=dict.fromkeys((name, f"{name}/file.bin", f"{name}-more"), CONTENT),
          after={name: b"new", f"{name}/file.bin": CONTENT, f"{name}-more": CONTENT})
      for name in ("both", "both.bin")),
    # More names begin with `d` than are looked at in one request.
    row("a name among many of the same beginning", *codes(Code.NOT_FOUND, ("is_directory", "d")),
        do.puts(b"", "d/file"), do.op("is_directory", "d"), do.puts(b"", "d"),
        *codes(Code.FAILED_PRECONDITION, ("is_directory", "d")), before=NAMED_ALIKE,
        after=NAMED_ALIKE | {"d/file": b"", "d": b""}),
    row("a name among many in a directory",
        *codes(Code.ALREADY_EXISTS, ("create_dir", "d/0001"), ("create_dir", "d/z"), ("create_dir", "d/y")),
        do.op("create_dir", "d/x"), do.op("recursively_create_dir", "d/y"),
        *codes(Code.FAILED_PRECONDITION, ("recursively_create_dir", "d/z/below")), before=MANY,
        after=MANY | {"d/x/": b""}),
    row("a file does not need a listing", do.refused(is_list), (do.stat("file"), (len(CONTENT), 0)),
        (do.stat("nothing"), Code.PERMISSION_DENIED), before={"file": CONTENT}),
]  # fmt: skip


@pytest.mark.parametrize("situation", [*LISTED, *ASTRAY, *DELETIONS, *DIRECTORIES], ids=str)
def test_directory(situation: Situation, tmp_path: Path) -> None:
    situation.run(tmp_path)
