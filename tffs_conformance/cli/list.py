"""`tffs-conformance list`: the clauses and the cases there are."""

import json
from pathlib import Path

import click

from ..reports.verdicts import Verdict
from ..suite.contract.catalogue import Clause, matching
from ..suite.engine import collect
from .report import load


@click.command("list")
@click.argument("pattern", default="*")
@click.option("--clauses", "what", flag_value="clauses", help="Only clauses.")
@click.option("--cases", "what", flag_value="cases", help="Only cases.")
@click.option(
    "--uncovered",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    metavar="REPORT.JSON",
    help="The clauses for which this report has no executed check.",
)
@click.option("--json", "as_json", is_flag=True, help="For programs.")
def list_(pattern: str, what: str | None, uncovered: Path | None, as_json: bool) -> None:
    """List clauses and cases whose id matches PATTERN, such as 'read.*' or 'read/*'."""
    clauses = matching(pattern)
    if uncovered is not None:
        clauses = _uncovered(uncovered, clauses)
    cases = [] if uncovered else [case for case in collect.cases() if Path(case.id).match(pattern) or pattern == "*"]
    if as_json:
        both = {
            "clauses": [{"id": c.id, "level": c.level, "class": c.conformance_class, "rule": c.rule} for c in clauses],
            "cases": [{"id": c.id, "tier": c.tier, "clauses": c.clauses} for c in cases],
        }
        click.echo(json.dumps(both, indent=1))
        return
    if what != "cases":
        for entry in clauses:
            note = f"  [untested: {entry.untested}]" if entry.untested else ""
            click.echo(f"{entry.level:<6} {entry.id}{note}")
    if what != "clauses":
        for case in cases:
            click.echo(f"case   {case.id}")
    click.echo(f"{len(clauses)} clauses, {len(cases)} cases", err=True)


def _uncovered(path: Path, clauses: list[Clause]) -> list[Clause]:
    report = load(path)
    executed = {
        check.clause
        for case in report.cases
        for check in case.checks
        if check.verdict not in (Verdict.ABSENT, Verdict.NOT_RUN, Verdict.ERROR)
    }
    return [entry for entry in clauses if entry.id not in executed]
