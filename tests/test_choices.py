"""A right plugin may decide open questions otherwise than posix: nothing is wrong with it, and its choice is named."""

import itertools
import random
import re
from pathlib import Path
from typing import Any

import pytest

from tests.faults.driven import all_cases
from tests.test_suite import FEW as FEW_HISTORIES
from tests.test_suite import report, run
from tffs_conformance.harness.hosting import leaks
from tffs_conformance.harness.ops.tables import OPS
from tffs_conformance.suite.engine.first_look import CHANGES

#: Each choice, and a reading that the report then names of the clause it is about.
CHOICES = {
    "reverse-listing": ("get_matching_paths.order", "other"),
    "block-entries": ("get_children.no-entries", "block"),
    "slash-behind-directories": ("get_children.names-only", "slash-behind-directories"),
    "strict-classes": ("get_matching_paths.edges-of-a-class", "grammar"),
    "refuse-empty-pattern": ("get_matching_paths.empty-pattern", "refused"),
    "glob-needs-its-directory": ("get_matching_paths.without-a-directory", "not-found"),
    "below-a-file-is-not-found": ("path_exists.below-a-file-is-failed-precondition", "not-found"),
    "illegal-names-are-internal": ("paths.illegal-names", "another-error"),
    "coarse-mtime": ("stat.mtime-granularity", "seconds"),
    "no-mtime": ("stat.mtime-granularity", "unknown"),
    "late-visibility": ("new_writable_file.unflushed-data", "file-at-once"),
    "late-creation": ("new_writable_file.unflushed-data", "later"),
    "copy-into-directory": ("copy_file.target-directory", "inside"),
    "rename-directories": ("rename_file.directory-is-failed-precondition", "supported"),
    "header-is-directory": ("is_directory.of-a-file", "header"),
    "refuse-tree-of-file": ("delete_recursively.of-a-file", "refuses"),
    "tell-from-handle": ("tell.on-an-appendable-file", "handle"),
    "zero-read-out-of-range": ("read.zero-bytes-at-the-end", "end-of-file"),
    "huge-offset-is-invalid": ("read.offset-no-file-has", "invalid"),
    "translated-matches": ("get_matching_paths.form", "translated"),
    "hide-dot-files": ("get_matching_paths.hidden-names", "hidden"),
    "no-bang-class": ("get_matching_paths.bang-class", "literal"),
    "leave-status-alone": ("common.status-is-reset", "leaves"),
    "refuse-itself": ("copy_file.onto-itself", "refused"),
    "illegal-names": ("paths.illegal-names", "failed-precondition"),
    "far-below-a-file-is-not-found": ("paths.far-below-a-file", "not-found"),
    "unimplemented": ("common.present-op-is-unimplemented", "unsupported"),
    "no-sync": ("sync.where-it-is-absent", "flush"),
    "no-tree-ops": ("copy_file.target-directory", "inside"),
    "no-optional-ops": ("copy_file.target-directory", "inside"),
    "all": ("get_children.no-entries", "block"),
}
#: A choice that no clause asks for: what is freed is nobody's to look at.
UNASKED = {"stale-entries"}
#: What is chosen together. Of two that answer the same question each run has one.
HALVES = (
    "reverse-listing,coarse-mtime,late-visibility,copy-into-directory,rename-directories,tell-from-handle,"
    "huge-offset-is-invalid,no-bang-class,below-a-file-is-not-found,slash-behind-directories,strict-classes,"
    "illegal-names-are-internal",
    "block-entries,no-mtime,late-creation,stale-entries,refuse-empty-pattern,glob-needs-its-directory,"
    "header-is-directory,refuse-tree-of-file,translated-matches,"
    "zero-read-out-of-range,refuse-itself,hide-dot-files,leave-status-alone,illegal-names,no-sync,"
    "far-below-a-file-is-not-found",
)
#: Those that "all" does not make. What takes long is looked at where all the others are made at once.
REST = "no-sync,no-mtime,illegal-names-are-internal,slash-behind-directories,late-visibility"
FULL = "all"
RUNS = (f"header-is-directory,no-tree-ops,unimplemented,{REST}", FULL, "all,no-optional-ops")
#: Each choice that is in one of the halves.
EACH = {choice for half in HALVES for choice in half.split(",")}
#: A few at a time: what one choice hides of another is seen here.
FEW = (
    "reverse-listing,coarse-mtime,late-visibility",
    "block-entries,no-mtime,late-creation",
    "stale-entries,copy-into-directory,header-is-directory",
    "slash-behind-directories,strict-classes",
    "refuse-empty-pattern,glob-needs-its-directory,below-a-file-is-not-found",
    "illegal-names-are-internal",
    "rename-directories,refuse-tree-of-file,zero-read-out-of-range",
    "tell-from-handle,translated-matches,refuse-itself",
    "huge-offset-is-invalid,hide-dot-files,leave-status-alone",
    "no-bang-class,illegal-names,no-sync",
    "far-below-a-file-is-not-found,unimplemented",
    "no-tree-ops",
    "no-optional-ops",
)
#: Where one choice leaves nothing to be seen of another.
HIDDEN = {RUNS[0]: {"no-tree-ops"}, "all,no-optional-ops": {"no-optional-ops"}}


def changes(way: str) -> str:
    """The choice of one way to refuse for each op that changes something."""
    return ",".join(f"{way}:{op}" for op in CHANGES)


DENYING = changes("denied")

#: What is tried by day: the cases of all clauses that leave something open.
BY_DAY = tuple(f"--clause={clause}" for clause in sorted({clause for clause, _ in CHOICES.values()}))
#: What is tried by night: all of the suite with all choices, and a part of it with the others.
BY_NIGHT = {FULL: ("--tier=full",)} | {some: ("--tier=quick",) for some in (*RUNS, *HALVES, *FEW) if some != FULL}


@pytest.mark.long
@pytest.mark.parametrize(
    ("choices", "some"), [(FULL, BY_DAY), *(pytest.param(*one, marks=pytest.mark.nightly) for one in BY_NIGHT.items())]
)
def test_no_alarm(tmp_path: Path, choices: str, some: tuple[str, ...]) -> None:
    document = judged(tmp_path, choices, *some, FEW_HISTORIES)
    wrong = [(case["id"], check["clause"], check["got"]) for case in document["cases"] for check in case["checks"]
             if check["verdict"] in ("violation", "error")]  # fmt: skip
    assert wrong == []
    assert document["verdict"] == ("incomplete" if some is BY_DAY else "conformant")
    assert document["counts"]["error"] == 0
    made = set(choices.split(",")) | (EACH - set(REST.split(",")) if choices == FULL else set())
    for choice in made - HIDDEN.get(choices, set()) - UNASKED:
        clause, reading = CHOICES[choice]
        assert reading in readings(document, clause), choice


LOCKS = ("PERMISSION_DENIED", "FAILED_PRECONDITION", "UNAVAILABLE")
#: The cases that change what is open, and some of those that make names with odd characters.
OPEN_FILES = (
    "--case=lifetimes/path-* --case=read/the-file-* --case=properties/handles --case=races/replacing "
    "--case=threads/rename-* --case=scenarios/state-*"
)
ODD_NAMES = "--case=glob/* --case=names/file[co* --case=names/pairs*"
LATE, LOCKED, FEW_OPEN = "limits.listing_delay_ms = 60", 'claims.open_files = "locked"', "limits.max_open_files = 64"
SMALL = "limits = {max_file_size = 100000, max_name = 50}"
#: Ops that a plugin may lack, two at a time.
LACKING = [op for op in OPS if not re.search("transaction|configuration|cleanup|^init$|^data$|^length$", op)]
PAIRS = random.Random(0).sample([*itertools.combinations(LACKING, 2)], 30)
LACKS = [f"without:{one},without:{other}" for one, other in PAIRS]
#: What is tried at night: the choices, the profile that says so, and the cases.
AT_NIGHT = [
    *((f"locked-files:{code}", LOCKED, "") for code in LOCKS),
    *((choice, LATE, "") for choice in ("hex-names", "versioned-names", "late-listing")),
    *((f"{kind}-names", f'claims.names = "{kind}"', "") for kind in ("ascii", "windows")),
    *((f"illegal-names:{most}", f"limits.max_name = {most}", "--tier=quick") for most in (48, 64, 200)),
    *((f"short-paths:{most}", f"limits.max_path = {most}", "--tier=quick") for most in (300, 1000, 4000)),
    *((f"coarse-mtime:{ns}", f"limits.mtime_granularity_ns = {ns}", "--tier=quick") for ns in (100, 10**6, 10**9)),
    *((f"late-listing:{ms}", f"limits.listing_delay_ms = {2 * ms}", "--case=listing/*") for ms in (5, 100, 500)),
    *((f"small-files:{most}", f"limits.max_file_size = {most}", "--tier=quick") for most in (1000, 10**5, 10**7)),
    *((f"few-open-files:{most}", f"limits.max_open_files = {most}", "--tier=quick") for most in (8, 64, 256)),
    *((f"remembers-calls:{calls}", "", "--case=leaks/*") for calls in (64, 1000, 10_000)),
    *((f"connects-as-needed:{pool}", "", "--case=leaks/*") for pool in (64, leaks.FULL["descriptors"])),
    *((f"slow:{milliseconds}", "", "--tier=smoke") for milliseconds in (1, 50)),
    *((lacks, "", "--tier=quick") for lacks in LACKS),
    *((choice, "", "--tier=quick") for choice in ("skewed-mtime", "uri-names")),
    ("background-thread", "", "--tier=full"),
    *((f"{way}:{op}", "", "--tier=quick") for way in ("without", "unsupported") for op in LACKING),
    *((some, "", "--case=properties/* --examples=500") for some in RUNS),
]


@pytest.mark.long
@pytest.mark.parametrize("tier", ["smoke", pytest.param("full", marks=pytest.mark.nightly)])
@pytest.mark.parametrize(
    ("choices", "profile"),
    [
        ("read-only", ""),
        (changes("unsupported"), ""),
        (DENYING, "read_only = true"),
        (f"{DENYING},no-tree-ops", "read_only = true"),
        (changes("refused"), "read_only = true"),
    ],
    ids=["null", "unsupported", "denied", "denied-or-null", "refused"],
)
def test_no_alarm_of_a_plugin_that_only_reads(tmp_path: Path, choices: str, profile: str, tier: str) -> None:
    (tmp_path / "mine.toml").write_text(f"[claims]\n{profile}")
    asked = ("--plugin-profile=mine.toml", "--backing=file://{path}", f"--tier={tier}", FEW_HISTORIES)
    document = judged(tmp_path, choices, *asked)
    counts = document["counts"]
    assert not sum(counts[verdict] for verdict in ("violation", "warning", "error", "not run"))
    assert (document["verdict"], document["target"]["read_only"]) == ("conformant", True)
    assert counts["conform"] > {"smoke": 50, "full": 9000}[tier]
    assert [claim["state"] for claim in document["claims"]] == ["kept"] * bool(profile)


@pytest.mark.parametrize(
    ("choices", "asked", "wrong"),
    [
        ("denied:create_dir", "--tier=smoke", {"create_dir.succeeds", "create_dir.creates-an-empty-directory"}),
        (DENYING, "--tier=smoke", {"recursively_create_dir.succeeds"}),
        *((f"locked-files:{code}", "--case=lifetimes/path-changes*", {"delete_file.succeeds", "rename_file.succeeds"})
          for code in LOCKS),
    ],
    ids=["one-op", "all-ops", *LOCKS],
)  # fmt: skip
def test_refusal_without_a_claim_is_a_violation(tmp_path: Path, choices: str, asked: str, wrong: set[str]) -> None:
    document = judged(tmp_path, choices, "--backing=file://{path}", asked)
    broken = {name for name, clause in document["clauses"].items() if clause["verdict"] == "violation"}
    assert broken == wrong
    assert "read_only" not in document["target"]


@pytest.mark.long
@pytest.mark.parametrize(
    ("choices", "profile", "asked"),
    [
        ("slash-behind-directories", "", "--case=threads/changes"),
        *(
            (f"{way}:new_random_access_file", "", "--case=neighbours/beside[synced-* --case=scenarios/event-*")
            for way in ("without", "unsupported")
        ),
        ("without:path_exists", "", "--case=move/deep*"),
        ("unsupported:paths_exist", "", "--case=metadata/* --case=counts/a-page-is-asked-for --case=names/deep[1]"),
        ("unsupported:read", "", "--case=changes/by-others* --case=neighbours/beside[synced-*"),
        ("unsupported:is_directory", "", "--case=scenarios/others-made*"),
        *(("few-open-files", profile, "--case=lifetimes/many*") for profile in ("", FEW_OPEN)),
        *((f"{kind}-names", f'claims.names = "{kind}"', ODD_NAMES) for kind in ("ascii", "windows")),
        (f"locked-files:{LOCKS[0]}", LOCKED, OPEN_FILES),
        ("hex-names", "", "--case=tree/*"),
        ("late-listing", LATE, "--case=listing/*"),
        (
            "small-files",
            SMALL,
            "--case=content/comes-and-goes[blocks-alike] --case=leaks/closed --case=ownership/append*",
        ),
        ("small-files", SMALL, "--case=scenarios/records* --case=write/* --case=properties/contents"),
        *((lacks, "", "--tier=smoke") for lacks in LACKS[:2]),
        *(pytest.param(*row, marks=pytest.mark.nightly) for row in AT_NIGHT),
    ],
)
def test_no_alarm_of_what_some_cases_meet(tmp_path: Path, choices: str, profile: str, asked: str) -> None:
    (tmp_path / "mine.toml").write_text(profile)
    document = judged(tmp_path, choices, "--plugin-profile=mine.toml", *asked.split())
    assert document["counts"]["conform"]
    assert not sum(document["counts"][verdict] for verdict in ("violation", "warning", "error", "not run"))


@pytest.mark.parametrize(("delay", "verdict"), [(2, "violation"), (60, "conform")])
def test_a_listing_is_no_later_than_the_profile_says(tmp_path: Path, delay: int, verdict: str) -> None:
    (tmp_path / "late.toml").write_text(f"[limits]\nlisting_delay_ms = {delay}\n")
    document = judged(tmp_path, "late-listing", "--plugin-profile=late.toml", "--case=listing/plain")
    assert document["clauses"]["get_children.names-every-entry-once"]["verdict"] == verdict


@pytest.mark.parametrize("most", [20, pytest.param(None, marks=pytest.mark.nightly)])
def test_without_choices_it_is_posix(tmp_path: Path, most: int | None) -> None:
    clauses = {clause for clause, _ in CHOICES.values()}
    cases = {case.id for one in clauses for case in [case for case in all_cases("quick") if one in case.clauses][:most]}
    document = judged(tmp_path, "", "--tier=quick", *(f"--case={case}" for case in sorted(cases)))
    for clause, reading in CHOICES.values():
        if (clause, reading) != ("copy_file.target-directory", "refuses"):
            assert reading not in readings(document, clause), clause


def test_a_file_that_is_replaced_late_keeps_its_content(tmp_path: Path) -> None:
    document = judged(tmp_path, "late-creation", "--case=write/unflushed-over-another")
    assert readings(document, "new_writable_file.unflushed-data") == {"old-content"}


def test_pass_of_an_op_needs_a_call_of_it(tmp_path: Path) -> None:
    document = judged(tmp_path, "read-only", "--backing=file://{path}", "--case=content/comes-and-goes[line-ends]")
    wanted = {"append.writes-exactly-n": "does not apply", "read.returns-the-bytes": "conform"}
    assert {name: document["clauses"][name]["verdict"] for name in wanted} == wanted


def test_what_cores_default_counts_is_not_held_against_the_plugin(tmp_path: Path) -> None:
    document = judged(tmp_path, "no-tree-ops", "--backing=file://{path}", "--case=tree/delete-recursively-midway")
    assert (document["counts"]["conform"], document["counts"]["violation"]) == (2, 0)


def test_a_choice_nobody_knows_is_no_choice(tmp_path: Path) -> None:
    assert judged(tmp_path, "no-such-choice", "--tier=smoke")["verdict"] == "not conformant"


def judged(directory: Path, choices: str, *arguments: str) -> dict[str, Any]:
    run(directory, "-q", "--plugin=posix_choices", f"--env=TFFS_CHOICES={choices}", *arguments)
    return report(directory)


def readings(document: dict[str, Any], clause: str) -> set[str]:
    checks = [check for case in document["cases"] for check in case["checks"]]
    return {check["reading"] for check in checks if check["clause"] == clause and "reading" in check}


def test_runs_make_every_choice() -> None:
    made = EACH | {choice for choices in RUNS for choice in choices.split(",")}
    assert made == CHOICES.keys() | UNASKED, (
        f"name these in RUNS or EACH, or delete them: {made ^ (CHOICES.keys() | UNASKED)}"
    )
