"""--conditions: what a plugin does under each of them is reported, and right plugins are not blamed."""

import functools
import re
import shutil
import tomllib
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from msgspec import to_builtins

from tests.faults.driven import judge
from tests.test_choices import HALVES
from tests.test_suite import judged_report, report, run
from tffs_conformance.harness.power.mounted import DEVICE, lacking
from tffs_conformance.reports import document
from tffs_conformance.reports.model.report import Report
from tffs_conformance.reports.model.verdicts import Verdict
from tffs_conformance.run.parts import SUITE
from tffs_conformance.run.run_options import BadUsageError, RunOptions, declared
from tffs_conformance.suite.cases.test_system_calls import STIMULI
from tffs_conformance.suite.contract import power, survival
from tffs_conformance.suite.engine import collect
from tffs_conformance.suite.engine.collect import Listed
from tffs_conformance.suite.judge.merge import merge

NO_STRACE = "strace is not there: apt-get install strace"
LACKS_STRACE = None if shutil.which("strace") else NO_STRACE
LACKS_FUSE = lacking() or LACKS_STRACE
#: Why there is no loss of power where the PATH leads to no programs.
NO_FUSE = str(LACKS_FUSE) if str(LACKS_FUSE).startswith(DEVICE) else "fusermount3 is not there: apt-get install fuse3"
needs_strace = pytest.mark.skipif(LACKS_STRACE is not None, reason=str(LACKS_STRACE))
needs_fuse = pytest.mark.skipif(LACKS_FUSE is not None, reason=str(LACKS_FUSE))


@dataclass(frozen=True)
class Condition:
    """A condition that a module of cases needs: what is alike of all its runs."""

    asked: str
    #: Its clauses, a pattern.
    clauses: str
    marks: tuple[pytest.MarkDecorator, ...] = ()
    #: How many cases the module has, where that is known.
    cases: int | None = None
    #: What the output of a case has in which a right plugin was tried, a pattern.
    tried: str = ""
    #: What is said of clauses of a right plugin beside that they are true.
    beside: tuple[Verdict, ...] = (Verdict.ABSENT, Verdict.DOES_NOT_APPLY)
    #: Whether nothing but its fault is wrong with a faulty plugin.
    only: bool = True


CONDITIONS = {
    "system-calls": Condition("syscalls", "system-calls", (needs_strace,), len(STIMULI),
                              r"[1-9]\d* failing system calls were tried", (Verdict.DOES_NOT_APPLY,), only=False),
    "survival": Condition("kill", "survival", (needs_strace,), 2 * len(survival.histories()),
                          r"^[1-9]\d* kills were tried\n", only=False),
    "power": Condition("power", "power", (needs_fuse,), len(power.histories()), only=False),
    "out-of-memory": Condition("memory", "out-of-memory", (), len(STIMULI) + 1,
                               r"[1-9]\d* failing allocations were tried", (Verdict.ABSENT,)),
    "processes": Condition("processes", r"processes\.(?!exit)"),
    "exits": Condition("processes", r"processes\.exit"),
}  # fmt: skip


#: Seconds that a call may take where the process ends: what waits for ever costs them each time.
HANGING = 5


def condition_of(case: str) -> Condition:
    return CONDITIONS[case.partition("/")[0]]


def asked(*cases: str) -> list[str]:
    """The options of a run of these cases under their conditions."""
    conditions = ",".join(dict.fromkeys(condition_of(case).asked for case in cases))
    limit = [f"--call-timeout={HANGING}"] * cases[0].startswith("exits/")
    return [f"--conditions={conditions}", *(f"--case={case}" for case in cases), *limit]


def faulty(fault: str) -> list[str]:
    return ["--plugin=fakes/faulty", f"--env=TFFS_FAULT={fault}"]


def with_choices(choices: str) -> list[str]:
    return ["--plugin=posix_choices", f"--env=TFFS_CHOICES={choices}"]


def wrong(found: dict[str, Any]) -> set[tuple[str, str, str]]:
    """The verdict, the clause and the text of all checks of a report that show something wrong."""
    checks = [one for record in found["cases"] for one in record["checks"]]
    return {(one["verdict"], one["clause"], one["got"]) for one in checks if one["verdict"] in ("violation", "warning")}


# Faults --------------------------------------------------------------------------------------------------------------


#: So many faults of a clause are tried for every change, the first ones, and the others at night.
BY_DAY = 6
#: By family of faults, verdict, clause and fault: the cases that show it, each with what is said of it.
Rows = dict[str, dict[str, dict[str, dict[str, dict[str, str]]]]]


def faults() -> list[Any]:
    """Each fault, its case, the verdict on the clause that it breaks, and a pattern of what is said of it."""
    rows: Rows = tomllib.loads(Path(__file__).with_name("conditions.toml").read_text())
    return [
        pytest.param(
            f"{family}.{fault}", case, verdict, clause,
            re.escape(said).replace("…", "(?s:.*)").replace("№", r"\d+"),
            id=f"{family}.{fault}-{case}",
            marks=[*condition_of(case).marks, *[pytest.mark.nightly] * (number >= BY_DAY)],
        )
        for family, verdicts in rows.items()
        for verdict, clauses in verdicts.items()
        for clause, by_fault in clauses.items()
        for number, (fault, cases) in enumerate(by_fault.items())
        for case, said in cases.items()
    ]  # fmt: skip


@functools.cache
def all_cases() -> Mapping[str, Listed]:
    """Each case by its id, those of conditions as well."""
    return {case.id: case for case in collect.cases()}


def wrong_with(fault: str, case: str) -> set[tuple[str, str, str]]:
    """The same of one case and the faulty plugin: the engine runs it in this process."""
    judged = judge("fakes/faulty", fault, [all_cases()[case]], HANGING if case.startswith("exits/") else None)
    return wrong({"cases": to_builtins(judged.records)})


@pytest.mark.parametrize(("fault", "case", "verdict", "clause", "said"), faults())
def test_condition_with_faulty_plugin_reports_it(fault: str, case: str, verdict: str, clause: str, said: str) -> None:
    found = wrong_with(fault, case)
    of_clause = {(level, got) for level, name, got in found if name == clause}
    assert any(level == verdict and re.fullmatch(said, got) for level, got in of_clause), found
    assert {name.partition(".")[0] for _, name, _ in found} == {clause.partition(".")[0]}
    # When the power is lost, a rename that is not whole loses what was there as well.
    violated = any(level == "violation" for level, _, _ in found)
    assert violated == (verdict == "violation") or fault.startswith("power.rename-")
    assert len(found) == 1 or not condition_of(case).only
    # Each attempt that leaves something open would be waited for.
    assert sum("stays open" in got for _, _, got in found) <= 1


@pytest.mark.parametrize(
    ("fault", "clause", "said"),
    [
        ("init-throws", "out-of-memory.process-lives-on", "init let a C++ exception out: std::bad_alloc"),
        ("init-is-internal", "out-of-memory.code", "INTERNAL"),
    ],
)
def test_registration_without_memory_is_reported(fault: str, clause: str, said: str) -> None:
    # What chooses the fault has no memory to read its name, either.
    found = wrong_with(f"memory.{fault}", "out-of-memory/registration")
    of_plugin, of_init = sorted(found, key=lambda one: one[2])
    assert of_plugin[:2] == ("warning", "out-of-memory.process-lives-on")
    thrown = r"allocation 1 of \d+ in TF_InitPlugin fails: TF_InitPlugin let a C\+\+ exception out: std::bad_alloc.*"
    assert re.fullmatch(thrown, of_plugin[2])
    assert of_init[:2] == ("warning", clause)
    assert of_init[2].startswith(f"allocation in init fails: {said}")


@pytest.mark.parametrize(
    ("fault", "cases", "case"),
    [
        ("failing.create-is-ok", "system-calls/*dir]", "system-calls/one-fails[create_dir]"),
        ("killed.append-writes-anew", "survival/*[append]", "survival/within-ops[append]"),
    ],
)
@needs_strace
def test_finding_has_line_to_run_again(tmp_path: Path, fault: str, cases: str, case: str) -> None:
    done = run(tmp_path, *faulty(fault), *asked(cases))
    assert done.returncode == 1
    line = next(line for line in done.stdout.splitlines() if "--case=" in line)
    assert asked(cases)[0] in line
    assert case in line


@pytest.mark.parametrize(
    ("fault", "case", "clause"),
    [
        pytest.param("killed.rename-in-place", "survival/within-ops[rename-over]", survival.WHOLE, marks=needs_strace),
        pytest.param("power.rename-removes-first", "power/fails[rename-over]", power.WHOLE, marks=needs_fuse),
    ],
)
@pytest.mark.parametrize(("claimed", "verdict"), [("true", "violation"), ("false", "absent")])
def test_profile_decides_of_renames(
    tmp_path: Path, fault: str, case: str, clause: str, claimed: str, verdict: str
) -> None:
    (tmp_path / "mine.toml").write_text(f"[claims]\natomic_rename = {claimed}\n")
    run(tmp_path, *faulty(fault), "--plugin-profile=mine.toml", *asked(case))
    (record,) = report(tmp_path)["cases"]
    assert verdict in {one["verdict"] for one in record["checks"] if one["clause"] == clause}


# Right plugins -------------------------------------------------------------------------------------------------------


def assert_tried(whole: Report, module: str, lacks: Collection[str] = ()) -> None:
    """That of a right plugin all cases of the module were tried, and all its clauses found to be true but for some."""
    condition = CONDITIONS[module]
    cases = [one for one in whole.cases if one.id.startswith(f"{module}/")]
    assert condition.cases in (None, len(cases))
    verdicts: dict[str, set[Verdict]] = {name: set() for name in whole.clauses if re.match(condition.clauses, name)}
    for one in cases:
        if module in ("survival", "power"):
            assert (one.reason == "rename_file takes no directories") == ("rename-directory" in one.id)
            assert one.verdict == ("absent" if one.reason else "conform"), one
        assert one.verdict == "absent" or re.search(condition.tried, one.output), one
        for check in one.checks:
            # In init posix asks for no memory.
            if (one.id, check.verdict) != ("out-of-memory/registration", Verdict.DOES_NOT_APPLY):
                verdicts[check.clause].add(check.verdict)
    assert {name for name, seen in verdicts.items() if Verdict.CONFORM not in seen} == set(lacks)
    assert set[Verdict]().union(*verdicts.values()) <= {Verdict.CONFORM, *condition.beside}
    assert sum(one.verdict != "absent" for one in cases) >= 13


def merged(directory: Path, *arguments: str) -> Report:
    """The report of the two shards of a run that finds nothing wrong."""
    parts = []
    for number in (1, 2):
        done = run(directory, *arguments, f"--shard={number}/2", f"--report-dir={number}")
        assert done.returncode == 0, done.stdout
        path = directory / str(number) / "report.json"
        parts.append((path, document.load(path)))
    return merge(parts, SUITE).report


def named(value: Any) -> str:
    """The name of a parameter in the name of a test."""
    return value if isinstance(value, str) else " ".join(value or ())


OBJECTS = ["--plugin=objectstore_minimal", "--plugin-profile=object-store", "--env=TFFS_BUCKET={}/bucket"]
EXIT_CLOSED, EXIT_SYNCED = "processes.exit-keeps-what-was-closed", "processes.exit-keeps-what-was-synced"
#: Right plugins, and of each module of cases the clauses that are not tried: an object store and core's sync promise
#: nothing of files that are not closed, and where nothing is stored nothing is lost.
RIGHT: list[Any] = [
    pytest.param(["--plugin=posix"], {"power": []}, marks=needs_fuse),
    (["--plugin=posix"], {"out-of-memory": [], "processes": [], "exits": []}),
    (["--plugin=memory"], {"processes": ["processes.work-side-by-side"], "exits": [EXIT_CLOSED, EXIT_SYNCED]}),
    pytest.param(["--plugin=memory"], {"out-of-memory": []}, marks=pytest.mark.nightly),
    pytest.param(with_choices("all,slash-behind-directories"), {"out-of-memory": [], "processes": [], "exits": []},
                 marks=pytest.mark.nightly),
    (with_choices("all,no-optional-ops"), {"exits": [EXIT_SYNCED]}),
    (OBJECTS[:1], {"processes": []}),
    (OBJECTS[:2], {"exits": [EXIT_SYNCED]}),
]  # fmt: skip


@pytest.mark.parametrize(("plugin", "lacks"), RIGHT, ids=named)
def test_right_plugin_is_not_blamed(tmp_path: Path, plugin: list[str], lacks: dict[str, list[str]]) -> None:
    conditions = ",".join(dict.fromkeys(CONDITIONS[module].asked for module in lacks))
    done = run(tmp_path, *plugin, f"--conditions={conditions}", *(f"--case={module}/*" for module in lacks))
    assert done.returncode == 0, done.stdout
    assert wrong(report(tmp_path)) == set()
    whole = document.load(tmp_path / "tffs-report" / "report.json")
    for module, untried in lacks.items():
        assert_tried(whole, module, untried)


#: What is decided otherwise than posix does it: the plugin, cases, and the verdicts that they have.
CONFORM, EITHER = ["conform"], ["conform", "absent"]
CHOICES: list[tuple[list[str], list[str], list[str]]] = [
    *((with_choices(f"sync-{way}"),
       [f"{module}/one-fails[{op}]" for module in ("system-calls", "out-of-memory") for op in ("sync", "append")],
       EITHER) for way in ("aside", "by-mapping", "each-write")),
    (with_choices("all"), ["system-calls/one-fails[write]"], CONFORM),
    *((with_choices(choices), [f"power/fails[{name}]" for name in ("sync", "append", "rename-over", "sync-far-below")],
       EITHER)
      for choices in ("all", "late-creation", "all,no-optional-ops", "no-sync", "sync-aside", "sync-by-mapping",
                      "sync-each-write")),
    (OBJECTS[:1], ["out-of-memory/one-fails[get_children]"], CONFORM),
    # An op that does not come back while the process ends is no fault.
    (faulty("processes.stops-threads:get_children"), ["exits/beside-threads[list-exit]"], CONFORM),
]  # fmt: skip
#: By day there is another way to sync.
AT_NIGHT = [with_choices("sync-aside"), with_choices("sync-each-write")]


@pytest.mark.parametrize(
    ("plugin", "cases", "verdicts"),
    [pytest.param(*row, marks=[*condition_of(row[1][0]).marks, *[pytest.mark.nightly] * (row[0] in AT_NIGHT)])
     for row in CHOICES],
    ids=named,
)  # fmt: skip
def test_choices_are_not_blamed(tmp_path: Path, plugin: list[str], cases: list[str], verdicts: list[str]) -> None:
    words = [word.format(tmp_path) for word in plugin]
    done = run(tmp_path, *words, *asked(*cases), "--fail-on=warning,not-run")
    assert done.returncode == 0, done.stdout
    records = report(tmp_path)["cases"]
    assert {one["id"] for one in records} == set(cases)
    assert {one["verdict"] for one in records} <= set(verdicts)
    for one in records:
        assert one["verdict"] == "absent" or re.search(condition_of(one["id"]).tried, one["output"])


@pytest.mark.nightly
@pytest.mark.parametrize(
    "choices", [*HALVES, "no-tree-ops", "no-optional-ops", "sync-aside", "sync-each-write", "sync-the-filesystem"]
)
def test_choices_without_memory_are_not_blamed(tmp_path: Path, choices: str) -> None:
    run(tmp_path, *with_choices(choices), *asked("out-of-memory/*"))
    found = report(tmp_path)
    assert wrong(found) == set()
    assert found["counts"]["conform"] > 150


@needs_strace
def test_object_store_is_killed_beside_its_files(tmp_path: Path) -> None:
    words = [word.format(tmp_path) for word in OBJECTS]
    done = run(tmp_path, *words, *asked("survival/within-ops[write*"))
    assert done.returncode == 0, done.stdout
    for record in report(tmp_path)["cases"]:
        assert record["verdict"] == "conform"
        assert re.match(r"[2-9] kills were tried\n", record["output"])


# What is not tried ---------------------------------------------------------------------------------------------------

LOSSES = ("survival/between-ops[write]", "survival/within-ops[write]", "power/fails[sync]")
NOT_ATTACHED = "strace: attach: not permitted"
#: The plugin, the programs that the PATH leads to where it is not the usual one, with what they say when they fail, and
#: of each case its verdict and the reason.
NOT_TRIED: list[Any] = [
    (["--plugin=memory"], None,
     {"system-calls/one-fails[write]": ("absent", "its storage lives in its process, and not in files"),
      **dict.fromkeys(LOSSES, ("absent", "its storage lives in its process, and ends with it"))}),
    pytest.param(
        with_choices("no-optional-ops"), None,
        {"system-calls/one-fails[get_matching_paths]":
         ("absent", "core performs get_matching_paths by other ops, which are tried")}, marks=needs_strace),
    pytest.param(
        with_choices("sync-the-filesystem"), None,
        {"power/fails[sync]": ("not run", "calls syncfs(2), which a filesystem in user space does not see")},
        marks=needs_fuse),
    pytest.param(
        OBJECTS, None, {"power/fails[sync]": ("not run", "keeps nothing in files below its root on this machine")},
        marks=needs_fuse),
    (["--plugin=posix"], None,
     {"out-of-memory/one-fails[stat]": ("absent", "it asks the C library for no memory")}),
    (["--plugin=memory", "--env=LD_PRELOAD=libm.so.6"], None,
     {"out-of-memory/one-fails[stat]": ("not run", "LD_PRELOAD is set, which may bring another allocator")}),
    (["--plugin=posix"], {"strace": NOT_ATTACHED}, {"system-calls/one-fails[write]": ("not run", NOT_ATTACHED)}),
    (["--plugin=posix"], {},
     {"system-calls/one-fails[write]": ("not run", NO_STRACE), "survival/between-ops[write]": ("conform", None),
      "survival/within-ops[write]": ("not run", NO_STRACE), "power/fails[sync]": ("not run", NO_FUSE)}),
]  # fmt: skip


@pytest.mark.parametrize(("plugin", "programs", "expected"), NOT_TRIED, ids=named)
def test_case_that_cannot_be_tried_says_why(
    tmp_path: Path, plugin: list[str], programs: dict[str, str] | None, expected: dict[str, tuple[str, str | None]]
) -> None:
    given = [*(word.format(tmp_path) for word in plugin), *asked(*expected)]
    variables = {} if programs is None else {"PATH": path_of(tmp_path, programs)}
    run(tmp_path, *given, **variables)
    assert {one["id"]: (one["verdict"], one["reason"]) for one in report(tmp_path)["cases"]} == expected


def path_of(directory: Path, programs: dict[str, str]) -> str:
    """A PATH of these programs, each of which says something and fails."""
    folder = directory / "bin"
    folder.mkdir()
    for name, said in programs.items():
        (folder / name).write_text(f"#!/bin/sh\necho '{said}' >&2\nexit 1\n")
        (folder / name).chmod(0o755)
    return str(folder)


# Options -------------------------------------------------------------------------------------------------------------

#: What starts the hosts itself, and what else starts hosts.
OURS = ("--conditions=syscalls", "--conditions=kill", "--conditions=power", "--sanitizer=memcheck",
        "--sanitizer=thread")  # fmt: skip
OTHERS = ("--host-command={host}", "--through=tensorflow", "--sandbox=on")


@pytest.mark.parametrize(("ours", "other"), [*product(OURS, OTHERS), ("--sanitizer=thread", "--runtime=/x")])
def test_options_that_start_hosts_exclude_each_other(ours: str, other: str) -> None:
    given = dict(option.removeprefix("--").split("=") for option in (ours, other))
    parsed = SimpleNamespace(**{one.dest: given.get(one.name, one.default) for _, one in declared()})
    names = f"{ours.partition('=')[0]} and {other.partition('=')[0]}"
    with pytest.raises(BadUsageError, match=f"{names} exclude each other"):
        RunOptions.of(parsed)


def test_run_without_conditions_names_none(tmp_path: Path) -> None:
    (tmp_path / "mine.toml").write_text("[claims]\natomic_rename = true\n")
    given = ("--plugin=posix", "--plugin-profile=mine.toml", "--case=plain/once[delete_file]")
    assert run(tmp_path, *given).returncode == 0
    found = report(tmp_path)
    assert not found["classes"].keys() & {*CONDITIONS, "memory-safety"}
    assert not [name for name in found["clauses"] if name.startswith((*CONDITIONS, "robustness.memory-safe"))]
    assert '"survival' not in (tmp_path / "tffs-report" / "report.json").read_text()


def test_faulty_plugin_without_condition_is_right(tmp_path: Path) -> None:
    found = judged_report(tmp_path, *faulty("memory.read-crashes,processes.stat-is-cut"), "--tier=smoke")
    assert wrong(found) == set()
    assert not found["classes"].keys() & CONDITIONS.keys()
