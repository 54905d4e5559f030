"""`tffs-conformance report merge`: one report of the parts of a run."""

import shutil
from collections.abc import Iterable, Sequence
from pathlib import Path

import click

from ...reports.document import write
from ...reports.errors import ReportError
from ...reports.escape import printable
from ...reports.model.counts import few, number
from ...reports.model.report import REPORT_NAME, Report
from ...run.options import TRACES
from ...run.parts import SUITE
from ...suite.judge.merge import Merged
from ...suite.judge.merge import merge as merged
from .reading import UnreadableError, read


@click.command()
@click.argument("out", type=click.Path(file_okay=False, path_type=Path))
@click.argument("parts", nargs=-1, required=True, type=click.Path(exists=True, dir_okay=False, path_type=Path))
def merge(out: Path, parts: tuple[Path, ...]) -> None:
    """Make one report of several, in the folder OUT: of shards, of machines, of a run and of what it left out.

    \b
        pytest --plugin=./libmine.so --shard=1/2 --report-dir=one      here
        pytest --plugin=./libmine.so --shard=2/2 --report-dir=two      elsewhere
        tffs-conformance report merge both one/report.json two/report.json

    PARTS are reports, or journals of runs that were killed. They agree on the suite, the target and the options, or
    nothing is written. The report is the one that a single run would have given: a case that several parts have counts
    once, with the worst that was seen, and the report is whole where together they have all cases of the tier. Traces
    are copied along.

    Exit codes: 0 written, whatever the verdict; 2 a part is no report, or the parts are not of one run.
    """
    path = out / REPORT_NAME
    if any(path.exists() and path.samefile(part) for part in parts):
        raise click.UsageError(f"{path} is one of the parts: choose another folder")
    try:
        # One part after the other: there may be very much in them.
        found = write_merged(out, parts, ((part, read(part)) for part in parts))
    except (ReportError, OSError) as error:
        raise UnreadableError(str(error)) from None
    report = found.report
    if found.repeated:
        click.echo(f"in several parts: {number(len(found.repeated), 'case')}: {printable(few(found.repeated))}")
    if found.differing:
        click.echo(f"ended differently, the worst counts: {printable(few(found.differing))}")
    click.echo(f"{report.verdict}: {printable(report.reason)} (tier {report.suite.tier})")
    click.echo(f"{number(len(report.cases), 'case')} of {number(len(parts), 'part')} written: {path}")


def write_merged(out: Path, paths: Sequence[Path], parts: Iterable[tuple[Path, Report]]) -> Merged:
    """Write the report of the parts at these paths into the folder `out`, and their traces.

    Raises ReportError and OSError.
    """
    found = merged(parts, SUITE)
    out.mkdir(parents=True, exist_ok=True)
    _copy_traces(found, paths, out / TRACES)
    write(found.report, out)
    return found


def _copy_traces(found: Merged, parts: Sequence[Path], into: Path) -> None:
    """The traces of the parts; where several have a case, those of the record that was taken. Raises OSError."""
    # A name that leads elsewhere is none that a run gave.
    cut = {case.id: case.cut for case in found.report.cases if case.cut and Path(case.cut).name == case.cut}
    for name in found.repeated:
        if name in cut:
            _copy(found.places[name] / TRACES / cut[name], into / cut[name])
    for folder in dict.fromkeys(part.parent / TRACES for part in parts):
        for source in folder.rglob("*"):
            if not (into / source.relative_to(folder)).exists():
                _copy(source, into / source.relative_to(folder))


def _copy(source: Path, target: Path) -> None:
    if source.is_file() and not source.is_symlink():
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source, target)
