"""`tffs-conformance list`: the clauses and the cases there are, and what of the interface they cover."""

import json
from pathlib import Path

import click

from ..reports.escape import printable
from ..reports.model.verdicts import JUDGED
from ..suite.contract.catalogue import Clause, catalogue, matching
from ..suite.contract.coverage import coverage, sentences
from ..suite.engine import index
from ..suite.engine.case_facts import CaseFacts
from .names import fitting, nearest
from .report.reading import load


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
@click.option(
    "--coverage",
    "covered",
    is_flag=True,
    help="Each sentence of the interface that binds a plugin, and the clauses and cases that hold a plugin to it.",
)
@click.option("--json", "as_json", is_flag=True, help="For programs.")
def list_(pattern: str, what: str | None, uncovered: Path | None, covered: bool, as_json: bool) -> None:
    """List the clauses whose id matches PATTERN, such as 'read.*', and their cases; or cases, such as 'read/*'."""
    if covered:
        raise SystemExit(_coverage())
    clauses, cases = _matching(pattern)
    if not clauses and not cases:
        near = nearest(pattern, [*catalogue(), *(case.id for case in index.cases())])
        raise click.UsageError(f"no clause and no case fits {printable(pattern)!r}{near}")
    if uncovered is not None:
        clauses, cases = _uncovered(uncovered, clauses), []
    if as_json:
        both = {
            "clauses": [{"id": c.id, "level": c.level, "class": c.conformance_class, "rule": c.rule} for c in clauses],
            "cases": [{"id": c.id, "tier": c.tier, "clauses": c.clauses} for c in cases],
        }
        click.echo(json.dumps(both, indent=1))
        return
    if what != "cases":
        for entry in clauses:
            click.echo(f"{entry.level:<6} {entry.id}")
    if what != "clauses":
        for case in cases:
            click.echo(f"case   {case.id}")
    click.echo(f"{len(clauses)} clauses, {len(cases)} cases", err=True)


def _matching(pattern: str) -> tuple[list[Clause], list[CaseFacts]]:
    """The clauses that fit; the cases that fit, and those of the clauses."""
    clauses = matching(pattern)
    names = {entry.id for entry in clauses}
    return clauses, [case for case in index.cases() if fitting(case.id, pattern) or not names.isdisjoint(case.clauses)]


def _uncovered(path: Path, clauses: list[Clause]) -> list[Clause]:
    report = load(path)
    executed = {check.clause for case in report.cases for check in case.checks if check.verdict in JUDGED}
    return [entry for entry in clauses if entry.id not in executed]


def _coverage() -> int:
    """Show the table; 1 where a sentence is neither covered nor known to be beyond observation."""
    held = coverage(sentences(), catalogue(), {case.id: case.clauses for case in index.plain_first()})
    click.echo("line\tdemand\tclauses\tcases\tstate")
    for row in held:
        sentence = row.sentence
        shown = ", ".join(row.cases[:3]) + (f", … ({len(row.cases)})" if len(row.cases) > 3 else "")
        click.echo(f"{sentence.line}\t{sentence.demand}\t{', '.join(sentence.clauses)}\t{shown}\t{row.state}")
    beyond = sum(bool(row.sentence.unobservable and not row.sentence.clauses) for row in held)
    unsettled = sum(not row.settled for row in held)
    settled = len(held) - unsettled
    click.echo(
        f"{len(held)} sentences: {settled - beyond} covered, {beyond} cannot be observed, {unsettled} missing or wrong"
        f" ({100 * settled // len(held)} %)",
        err=True,
    )
    return 1 if unsettled else 0
