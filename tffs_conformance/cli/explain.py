"""`tffs-conformance explain`: what a clause demands."""

import shutil
import textwrap

import click

from ..suite.contract.catalogue import UnknownClause, clause
from ..suite.engine import collect


@click.command()
@click.argument("name", metavar="CLAUSE")
def explain(name: str) -> None:
    """Say what a clause demands, where it comes from, which cases check it, and what to look at."""
    try:
        entry = clause(name)
    except UnknownClause as error:
        raise click.UsageError(str(error)) from None
    width = min(shutil.get_terminal_size().columns, 100)

    def show(head: str, text: str) -> None:
        click.echo(textwrap.fill(text, width, initial_indent=f"{head:<10}", subsequent_indent=" " * 10))

    click.echo(f"{entry.id}  ({entry.level}, class {entry.conformance_class}{', op ' + entry.op if entry.op else ''})")
    show("rule", entry.rule)
    show("source", "; ".join(entry.source))
    show("check", entry.check)
    if entry.untested:
        show("untested", entry.untested)
    for reading in entry.readings:
        show(f"{entry.disputed}", f"{reading.name}: {reading.text} In TensorFlow: {reading.tensorflow}")
    cases = [case for case in collect.cases() if entry.id in case.clauses]
    for case in cases[:20]:
        show("case", case.id)
    if len(cases) > 20:
        show("", f"… and {len(cases) - 20} more")
