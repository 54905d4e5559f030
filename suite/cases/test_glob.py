"""Matching: the grammar of patterns, and the form of the matches."""

from collections.abc import Iterable

import pytest

from ...harness.hosting import limits as host_limits
from ...harness.ops import paths
from ...harness.ops.codes import Code
from ..engine.case import Case
from ..engine.marks import clauses, full, over_tables, smoke
from .patterns import DIRECTORIES, EDGES, FILES, MALFORMED, PATTERNS, WITHOUT_A_DIRECTORY
from .test_listing import frees
from .test_names import KEPT, behind, written

MATCHES = "get_matching_paths.succeeds"


def grown(case: Case) -> str:
    """Set up the tree. Return its URI."""
    case.setup.build(dict.fromkeys(possible(case, DIRECTORIES)) | dict.fromkeys(FILES, b""))
    return case.uri()


def possible(case: Case, paths: Iterable[str]) -> list[str]:
    """Those of the tree's paths that there may be, as the profile claims."""
    return [path for path in paths if not case.bench.claims.is_other_name(path)]


@smoke
@clauses("get_matching_paths.succeeds", "get_matching_paths.returns-the-count")
def test_plain(case: Case) -> None:
    """One of two files matches."""
    case.setup.write("a", b"")
    case.setup.write("b", b"")
    got = case.fs.get_matching_paths(case.uri() + "/a*")
    case.check.status("get_matching_paths.succeeds", got, Code.OK)
    case.check.equal("get_matching_paths.succeeds", "matches", ["a"], behind(case, got.value))


@pytest.mark.parametrize(
    "name", [pytest.param(name, id=name, marks=clauses(pattern.clause, MATCHES)) for name, pattern in PATTERNS.items()]
)
def test_pattern(case: Case, name: str) -> None:
    """A pattern is matched against a small tree."""
    pattern = PATTERNS[name]
    got = case.fs.get_matching_paths(grown(case) + "/" + pattern.text)
    case.check.status(pattern.clause, got, Code.OK)
    matches = possible(case, pattern.matches)
    case.check.equal(pattern.clause, f"matches of {pattern.text}", matches, behind(case, got.value))


@clauses("get_matching_paths.star", MATCHES, KEPT, "paths.illegal-names")
def test_accented(case: Case) -> None:
    """A star meets a name that is not ASCII, where there can be one."""
    if written(case, "x\u00e9"):
        matches = behind(case, case.setup.require(case.fs.get_matching_paths(case.uri() + "/x*")))
        case.check.equal("get_matching_paths.star", "matches of x*", ["x\u00e9"], matches)


@pytest.mark.parametrize("text", [pytest.param(text, id=name) for name, text in MALFORMED.items()])
@clauses("get_matching_paths.malformed-pattern", "get_matching_paths.return-on-error")
def test_malformed(case: Case, text: str) -> None:
    """A pattern that breaks off is matched."""
    got = case.fs.get_matching_paths(grown(case) + "/" + text)
    case.check.implemented(got)
    matches = behind(case, got.value) if got.ok else []
    case.check.note("get_matching_paths.malformed-pattern", f"code={got.code} matches={matches}", got.message)


@pytest.mark.parametrize("name", list(EDGES))
@clauses("get_matching_paths.edges-of-a-class", "get_matching_paths.return-on-error")
def test_edge(case: Case, name: str) -> None:
    """A class holds a dash or a bracket that is not escaped, which the grammar does not have."""
    text, found = EDGES[name]
    got = case.fs.get_matching_paths(grown(case) + "/" + text)
    case.check.implemented(got)
    matches = behind(case, got.value) if got.ok else []
    readings = {"fnmatch": got.ok and matches == possible(case, found), "grammar": not got.ok or not matches}
    case.check.reading(
        "get_matching_paths.edges-of-a-class", readings, f"code={got.code} matches={matches}", got.message
    )


@pytest.mark.parametrize("name", list(WITHOUT_A_DIRECTORY))
@clauses("get_matching_paths.without-a-directory", "get_matching_paths.return-on-error")
def test_without_a_directory(case: Case, name: str) -> None:
    """A pattern names a directory that is missing, or a file."""
    got = case.fs.get_matching_paths(grown(case) + "/" + WITHOUT_A_DIRECTORY[name])
    case.check.implemented(got)
    wrong = (Code.NOT_FOUND, Code.FAILED_PRECONDITION) if name == "below-a-file" else (Code.NOT_FOUND,)
    readings = {"nothing": got.ok and not got.value.names, "not-found": got.code in wrong}
    said = f"code={got.code} matches={behind(case, got.value)}"
    case.check.reading("get_matching_paths.without-a-directory", readings, said, got.message)


@clauses("get_matching_paths.empty-pattern", "get_matching_paths.return-on-error")
def test_no_pattern(case: Case) -> None:
    """The empty pattern matches nothing, or is refused."""
    case.uri()
    got = case.fs.get_matching_paths("")
    case.check.implemented(got)
    readings = {"nothing": got.ok and not got.value.names, "refused": not got.ok}
    said = f"code={got.code} matches={got.value.names}"
    case.check.reading("get_matching_paths.empty-pattern", readings, said, got.message)


#: Patterns that some plugin may refuse. No source says that one must.
REFUSED = ("missing/*", "a/*", "", "[a", "a\\", "x[-]y", "n" * 5000, "/".join(["d" * 200] * 40))


@full
@over_tables
@clauses("get_matching_paths.frees-on-error", "get_matching_paths.return-on-error")
def test_errors_leave_nothing(case: Case) -> None:
    """A pattern that this plugin refuses is matched many times over; else one for which descriptors are lacking."""
    clause = "get_matching_paths.frees-on-error"
    uri = grown(case)
    for text in REFUSED:
        pattern = f"{uri}/{text}" if text else text
        if not case.tables.entries_op("get_matching_paths", pattern).ok:
            frees(case, clause, lambda: case.tables.entries_op("get_matching_paths", pattern))  # noqa: B023
            return
    with host_limits.few_descriptors(case.surroundings.host, 0):
        frees(case, clause, lambda: case.tables.entries_op("get_matching_paths", f"{uri}/*"))


@clauses("get_matching_paths.literal", MATCHES)
def test_the_directory_itself(case: Case) -> None:
    """The URI of a directory, as a pattern, matches the directory."""
    uri = case.uri()
    got = case.fs.get_matching_paths(uri)
    case.check.status("get_matching_paths.literal", got, Code.OK)
    case.check.that("get_matching_paths.literal", got.value.names in ((uri,), (case.fs.translate(uri),)), "itself",
               f"matches={got.value.names}")  # fmt: skip


@clauses("get_matching_paths.form", "get_matching_paths.order", MATCHES)
def test_form(case: Case) -> None:
    """What comes back, and in which order."""
    uri = grown(case)
    names = case.setup.require(case.fs.get_matching_paths(uri + "/*")).names
    readings = {
        "uri": all(name.startswith(uri) for name in names),
        "translated": all(name.startswith(case.fs.translate(uri)) for name in names),
    }
    case.check.reading("get_matching_paths.form", readings, f"first={names[:1]}")
    case.check.reading("get_matching_paths.order", {"sorted": list(names) == sorted(names), "other": True}, "order")


@clauses("get_matching_paths.hidden-names", MATCHES)
def test_hidden(case: Case) -> None:
    """A star meets a name that begins with a dot."""
    case.setup.write(".hidden", b"")
    matches = behind(case, case.setup.require(case.fs.get_matching_paths(case.uri() + "/*")))
    readings = {"matched": matches == [".hidden"], "hidden": matches == []}
    case.check.reading("get_matching_paths.hidden-names", readings, f"matches={matches}")


@clauses("get_matching_paths.bang-class", MATCHES)
def test_bang(case: Case) -> None:
    """A class that begins with an exclamation mark."""
    for name in ("!", "a", "b"):
        case.setup.write(name, b"")
    matches = behind(case, case.setup.require(case.fs.get_matching_paths(case.uri() + "/[!a]")))
    readings = {"negates": matches == ["!", "b"], "literal": matches == ["!", "a"]}
    case.check.reading("get_matching_paths.bang-class", readings, f"matches={matches}")


@clauses("get_matching_paths.star", "paths.letter-case", MATCHES)
def test_letter_case(case: Case) -> None:
    """A pattern in capitals meets a name in small letters: it matches only if the two are one name here."""
    case.setup.write("name", b"")
    one = case.fs.path_exists(case.uri("NAME")).ok
    matches = behind(case, case.setup.require(case.fs.get_matching_paths(case.uri() + "/NA*")))
    if one:
        case.check.note("paths.letter-case", f"one name, matches={matches}")
    else:
        case.check.equal("get_matching_paths.star", "matches", [], matches)


@clauses("paths.host-part", "get_matching_paths.return-on-error")
def test_host(case: Case) -> None:
    """A pattern goes through another host, which core's default would drop."""
    case.setup.write("a", b"")
    uri = paths.parse(case.uri())
    got = case.fs.get_matching_paths(f"{uri.scheme}://another{uri.path}/a*")
    case.check.note("paths.host-part", f"code={got.code} matches={len(got.value.names)}", got.message)
