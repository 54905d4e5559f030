"""What the forms of a report cost: a process that reads a large report and writes it in one form."""

import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from measured import cost
from msgspec.structs import fields, replace

from tffs_conformance.reports.document import load, write
from tffs_conformance.reports.forms import FORMS
from tffs_conformance.reports.model.header import ClauseFacts, Header
from tffs_conformance.reports.model.report import REPORT_NAME, Report
from tffs_conformance.suite.judge.reports import build

CASES = (10_000, 100_000)
#: A report with findings of every kind: every fifth of its cases is broken.
BROKEN = Path(__file__).parent.parent / "reports" / "published" / "az" / "0.37.1" / "report.json.gz"


def figures(python: str, folder: Path) -> Iterator[tuple[str, float]]:
    """Seconds of a processor, and MiB of the process. The first of each size only reads and shows the report."""
    for count in CASES:
        # In a process of its own: this one would become as large as the report.
        subprocess.run([python, __file__, str(count), str(folder)], check=True)
        path = str(folder / REPORT_NAME)
        yield from _cost(python, folder, f"a report of {count:,} cases shown", ["show", path])
        for form in FORMS:
            yield from _cost(python, folder, f"{form.file} of {count:,} cases", ["render", f"--{form.name}", path])


def _cost(python: str, folder: Path, name: str, arguments: Sequence[str]) -> Iterator[tuple[str, float]]:
    found = cost([python, "-m", "tffs_conformance", "report", *arguments], folder)
    yield f"{name}, s", found.cpu
    yield f"{name}, MiB", found.peak / (1 << 20)


def _enlarged(report: Report, count: int) -> Report:
    """The report with its cases again and again, up to so many."""
    rounds = range(count // len(report.cases) + 1)
    cases = [replace(case, id=f"{case.id}~{number}") for number in rounds for case in report.cases][:count]
    clauses = {
        name: ClauseFacts(**{field.name: getattr(clause, field.name) for field in fields(ClauseFacts)})
        for name, clause in report.clauses.items()
    }
    header = Header(contract=report.contract, suite=report.suite, target=report.target, clauses=clauses)
    return build(header, cases, duration=report.suite.duration, left_out=None)


if __name__ == "__main__":
    write(_enlarged(load(BROKEN), int(sys.argv[1])), Path(sys.argv[2]))
