"""The command line beside pytest: what there is to check, what a clause says, what the machine lacks."""

import json
import shutil
import textwrap
from pathlib import Path

import click
import pytest

import tffs_conformance
from tffs_conformance.probing import probe
from tffs_conformance.reports import document, terminal
from tffs_conformance.reports.errors import ReportError
from tffs_conformance.reports.journal import recover
from tffs_conformance.services_cli import main as services
from tffs_conformance.suite import collect, machine
from tffs_conformance.suite.catalogue import Clause, Level, UnknownClause, catalogue, clause, matching
from tffs_conformance.waiving import update_waivers


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(tffs_conformance.__version__)
def main() -> None:
    """Conformance of TensorFlow filesystem plugins.

    The suite itself runs in pytest:

    \b
        pytest --plugin=posix              a plugin that ships with the suite
        pytest --plugin=./libmine.so       yours

    These commands say what it checks and read what it wrote.
    """


main.add_command(probe)
main.add_command(services)
main.add_command(update_waivers)


@main.command("list")
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
            "clauses": [{"id": c.id, "level": c.level, "class": c.klass, "rule": c.rule} for c in clauses],
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
    report = _load(path)
    executed = {
        check["clause"]
        for case in report["cases"]
        for check in case["checks"]
        if check["verdict"] not in ("absent", "not run", "error")
    }
    return [entry for entry in clauses if entry.id not in executed]


@main.command()
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

    click.echo(f"{entry.id}  ({entry.level}, class {entry.klass}{', op ' + entry.op if entry.op else ''})")
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


@main.command()
@click.argument("path", type=click.Path(exists=True, dir_okay=False, path_type=Path))
def report(path: Path) -> None:
    """Show a report again. From the journal of a run that was killed, write its report first, marked incomplete."""
    if path.suffix == ".jsonl":
        try:
            loaded = recover(path)
        except ReportError as error:
            raise click.ClickException(str(error)) from None
        click.echo(f"written: {document.write(loaded, path.parent)}", err=True)
    else:
        loaded = _load(path)
    for text, markup in terminal.summary(loaded, width=100, directory=path.parent):
        colour = next((name for name in ("red", "green", "yellow") if markup.get(name)), None)
        click.secho(text, bold=markup.get("bold"), fg=colour)


def _load(path: Path) -> document.Document:
    try:
        return document.load(path)
    except ReportError as error:
        raise click.ClickException(str(error)) from None


@main.command()
def doctor() -> None:
    """Say what this machine lacks, what it would be good for, and how to get it."""
    bad = False
    for finding in machine.findings():
        bad = bad or (finding.required and not finding.found)
        state = (
            click.style("ok     ", fg="green")
            if finding.found
            else click.style("missing", fg="red" if finding.required else "yellow")
        )
        click.echo(f"{state} {finding.name}: {finding.detail}")
    untested = sum(1 for entry in catalogue().values() if entry.level is Level.MUST and entry.untested)
    versions = f"suite {tffs_conformance.__version__}, pytest {pytest.__version__}"
    click.echo(f"{versions}, {len(catalogue())} clauses ({untested} MUST untested)")
    raise SystemExit(1 if bad else 0)
