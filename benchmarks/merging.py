"""What it costs to make one report of many: journals with a hundred thousand cases between them."""

import sys
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from measured import cost
from msgspec.structs import replace

from tffs_conformance.reports.document import load
from tffs_conformance.reports.journal import JOURNAL_NAME, Journal
from tffs_conformance.reports.model.header import ClauseFacts, Header
from tffs_conformance.reports.model.records import CaseRecord
from tffs_conformance.reports.model.report import Report

CASES = 100_000
PARTS = 10
#: The cases are those of real reports, over and over: of a right plugin, and of one that is wrong in many ways.
PUBLISHED = Path(__file__).parent.parent / "reports" / "published"
RIGHT, WRONG = (PUBLISHED / place / "report.json.gz" for place in ("posix/1.0.0", "az/0.37.1"))


def figures(python: str, folder: Path) -> Iterator[tuple[str, float]]:
    """Seconds and memory, by the plugin whose cases they are."""
    for name, path in (("a right plugin", RIGHT), ("a wrong plugin", WRONG)):
        parts = list(journals(load(path), folder / path.parent.name))
        merge = [python, "-m", "tffs_conformance", "report", "merge", str(folder / "merged"), *map(str, parts)]
        found = cost(merge, folder)
        what = f"{CASES:,} cases of {name} in {PARTS} journals, merged"
        yield f"{what}: seconds", found.wall
        yield f"{what}: processor seconds", found.cpu
        yield f"{what}: MiB of memory", found.peak / (1 << 20)
        yield f"{what}: MiB of journals", sum(part.stat().st_size for part in parts) / (1 << 20)


def journals(report: Report, folder: Path) -> Iterator[Path]:
    """The journals of shards, none of which was interrupted."""
    names = ClauseFacts.__struct_fields__
    clauses = {
        name: ClauseFacts(**{key: getattr(clause, key) for key in names}) for name, clause in report.clauses.items()
    }
    cases = many(report)
    for part in range(PARTS):
        suite = replace(report.suite, selection=(f"--shard={part + 1}/{PARTS}",))
        header = Header(contract=report.contract, suite=suite, target=report.target, clauses=clauses)
        journal = Journal.open(folder / str(part), header)
        for case in islice(cases, CASES // PARTS):
            journal.case(case)
        yield folder / str(part) / JOURNAL_NAME


def many(report: Report) -> Iterator[CaseRecord]:
    """The cases of a report over and over, each time with other ids."""
    for time in range(sys.maxsize):
        yield from (replace(case, id=f"{case.id}-{time}") for case in report.cases)
