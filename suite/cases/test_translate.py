"""translate_name, and flush_caches."""

import pytest

from ...harness.ops import paths
from ...harness.ops.codes import Code
from ..engine.case import Case
from ..engine.marks import clauses, smoke

#: The path of a URI, and what core's default makes of it.
EXAMPLES = {
    "nothing": ("", "/"),
    "root": ("/", "/"),
    "two-slashes": ("//", "/"),
    "many-slashes": ("////", "/"),
    "file": ("/a_file", "/a_file"),
    "below": ("/a_dir/a_file", "/a_dir/a_file"),
    "up": ("/a_dir/..", "/"),
    "dot": ("/./a_file", "/a_file"),
    "convoluted": ("/a/convoluted/../path/./to/.//.///a/file", "/a/path/to/a/file"),
    "above-the-root": ("/../../a", "/a"),
    "trailing-slash": ("/a_dir/", "/a_dir"),
    "doubled-slash": ("/a//b", "/a/b"),
    "dots-in-names": ("/a../.b/...", "/a../.b/..."),
    "percent": ("/a%20b%2Fc", "/a%20b%2Fc"),
    "space": ("/a b", "/a b"),
}


def translated(case: Case, name: str) -> str:
    """The result of translate_name. NULL is a breach."""
    got = case.fs.translate_name(name)
    given = got.value is not None
    case.check.that("translate_name.succeeds", given, "a name", "a name" if given else "NULL")
    return got.value or ""


@smoke
@clauses("translate_name.succeeds", "translate_name.form", "translate_name.idempotent")
def test_plain(case: Case) -> None:
    """The URI of the case's directory, and what comes of it."""
    uri = case.uri()
    got = translated(case, uri)
    case.check.note("translate_name.form", "core's default" if got == paths.translate(uri) else "its own")
    case.check.note("translate_name.idempotent", "stays" if translated(case, got) == got else "changes")


@pytest.mark.parametrize("name", list(EXAMPLES))
@pytest.mark.parametrize("host", [pytest.param(host, id=host or "no-host") for host in ("", "host")])
@clauses("translate_name.succeeds", "translate_name.form", "translate_name.repeats")
def test_example(case: Case, host: str, name: str) -> None:
    """A URI of this form, with and without a host; what comes of it is the plugin's own affair."""
    text, default = EXAMPLES[name]
    scheme = paths.parse(case.uri()).scheme
    uri = f"{scheme}://{host}{text}"
    got = translated(case, uri)
    case.check.equal("translate_name.repeats", "again", got, translated(case, uri))
    case.check.note("translate_name.form", "core's default" if got == default else f"name={got}")


@clauses("translate_name.succeeds", "translate_name.of-nothing")
def test_nothing(case: Case) -> None:
    """The empty name."""
    case.uri()
    got = translated(case, "")
    case.check.reading("translate_name.of-nothing", {"empty": got == "", "root": True}, f"name={got}")


@pytest.mark.parametrize(
    "spelling",
    [
        pytest.param("{}/", id="trailing-slash"),
        pytest.param("{}//", id="two-slashes"),
        pytest.param("{}/.", id="dot"),
        pytest.param("{}/a/..", id="dot-dot"),
        pytest.param("{}/./a/../", id="all-of-it"),
    ],
)
@clauses("translate_name.is-stable", "translate_name.succeeds")
def test_stable(case: Case, spelling: str) -> None:
    """The case's directory, written with what translation removes."""
    uri = case.uri()
    got = translated(case, spelling.format(uri))
    case.check.equal("translate_name.is-stable", "name", translated(case, uri), got)


@pytest.mark.parametrize(
    "spelling",
    [
        pytest.param("a//b", id="two-slashes"),
        pytest.param("a////b", id="many-slashes"),
        pytest.param("a/./b", id="dot"),
        pytest.param("./a/b", id="dot-first"),
        pytest.param("a/././b", id="two-dots"),
        pytest.param("a/c/../b", id="dot-dot"),
        pytest.param("c/../a/b", id="dot-dot-first"),
        pytest.param("a/c/d/../../b", id="two-dot-dots"),
        pytest.param("a//./c/..//b", id="all-of-it"),
    ],
)
@clauses("translate_name.is-stable", "translate_name.succeeds")
def test_stable_inside(case: Case, spelling: str) -> None:
    """A path below the case's directory has what translation removes between its names."""
    uri = case.uri()
    case.check.equal(
        "translate_name.is-stable", "name", translated(case, f"{uri}/a/b"), translated(case, f"{uri}/{spelling}")
    )


@smoke
@clauses("flush_caches.succeeds")
def test_flush_caches(case: Case) -> None:
    """Caches are flushed while there are a file and an open reader."""
    uri = case.setup.write("file", b"content")
    with case.setup, case.setup.opened(case.fs.new_random_access_file(uri)) as reader:
        case.check.status("flush_caches.succeeds", case.fs.flush_caches(), Code.OK)
        case.check.equal("flush_caches.succeeds", "data", b"content", reader.read(0, 7).value.data)
    case.tree_is("flush_caches.succeeds", {"file": b"content"})


@clauses("flush_caches.succeeds")
def test_flush_caches_in_the_midst(case: Case) -> None:
    """Caches are flushed while somebody writes."""
    with case.setup, case.setup.opened(case.fs.new_writable_file(case.uri("new"))) as writer:
        case.setup.require(writer.append(b"before"))
        case.check.status("flush_caches.succeeds", case.fs.flush_caches(), Code.OK)
        case.setup.require(writer.append(b"after"))
        case.setup.require(writer.close())
    case.tree_is("flush_caches.succeeds", {"new": b"beforeafter"})
