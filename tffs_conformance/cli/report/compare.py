"""`tffs-conformance report compare`: what changed from one report to another."""

from pathlib import Path

import click

from ...reports import plain
from ...reports.escape import printable
from ...run.comparison_text import lines
from ...suite.judge.compare import compare as compared
from ...suite.judge.gate import Baseline, GateResult
from .reading import read, tell_selection
from .show import show_lines


@click.command()
@click.argument("old", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.argument("new", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("-v", "verbosity", count=True, help="All clauses and cases of each kind.")
@click.option("--json", "as_json", is_flag=True, help="For programs: each change by case and clause.")
@click.option("--fail-on-broken", is_flag=True, help="Exit with 1 where something is worse.")
def compare(old: Path, new: Path, verbosity: int, as_json: bool, fail_on_broken: bool) -> None:
    """Tell what changed from one report to another, by clause, causes first.

    OLD and NEW are a report.json or a journal each. Any two can be compared: what differs of suite, target and options
    is told first. What a newer suite brought, such as a violation in a case that was not there, is told apart.

    Exit codes: 0 compared; 1 with --fail-on-broken, where a gate with OLD as its baseline fails NEW; 2 a file is no
    report.
    """
    then, now = tell_selection(old, read(old)), tell_selection(new, read(new))
    found = compared(then, now)
    if as_json:
        click.echo(plain.text(found))
    else:
        show_lines(lines(then, now, found, width=100, verbosity=verbosity))
    held = GateResult(Baseline(str(old), then), now)
    if fail_on_broken and held.reasons:
        click.echo(printable(f"FAILED: {'; '.join(held.reasons)}"), err=True)
        raise SystemExit(1)
