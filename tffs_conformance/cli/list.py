"""`tffs-conformance list`: the clauses, cases and plugins there are, and what of the interface the clauses cover."""

import click

from ..harness.targets.shipped import named
from ..reports.escape import printable
from ..reports.patterns import fits, nearest
from ..suite.contract.catalogue import catalogue, matching
from ..suite.contract.coverage import coverage, sentences
from ..suite.engine import index


@click.command("list")
@click.argument("pattern", default="*")
@click.option("--clauses", "what", flag_value="clauses", help="Only clauses.")
@click.option("--cases", "what", flag_value="cases", help="Only cases.")
@click.option("--plugins", "what", flag_value="plugins", help="The plugins that --plugin takes by name.")
@click.option(
    "--coverage",
    "what",
    flag_value="coverage",
    help="Each sentence of the interface that binds a plugin, and the clauses and cases that hold a plugin to it.",
)
def list_(pattern: str, what: str | None) -> None:
    """List the clauses whose id matches PATTERN, such as 'read.*', and their cases; or cases, such as 'read/*'."""
    if what == "coverage":
        raise SystemExit(_coverage())
    if what == "plugins":
        for name, source in named().items():
            click.echo(printable(f"{name:<20} {source}"))
        return
    clauses = matching(pattern)
    names = {entry.id for entry in clauses}
    cases = [case for case in index.cases() if fits(pattern, case.id) or not names.isdisjoint(case.clauses)]
    if not clauses and not cases:
        near = nearest(pattern, [*catalogue(), *(case.id for case in index.cases())], groups=True)
        raise click.UsageError(f"no clause and no case fits {printable(pattern)!r}{near}")
    if what != "cases":
        for entry in clauses:
            click.echo(f"{entry.level:<6} {entry.id}")
    if what != "clauses":
        for case in cases:
            click.echo(f"case   {case.id}")
    click.echo(f"{len(clauses)} clauses, {len(cases)} cases", err=True)


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
