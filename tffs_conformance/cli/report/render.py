"""`tffs-conformance report render`: a report in other forms."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from ...reports.forms import FORMS, write
from ...suite.judge.findings import conclude
from .reading import load_or_recover


def _options(command: Callable[..., Any]) -> Callable[..., Any]:
    """One option for each form."""
    for form in reversed(FORMS):
        command = click.option(f"--{form.name}", is_flag=True, help=f"{form.file}: {form.says}")(command)
    return command


@click.command()
@click.argument("path", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@_options
@click.option(
    "-o",
    "--out",
    type=click.Path(file_okay=False, path_type=Path),
    help="The folder for the files; without it, the one of the report.",
)
def render(path: Path, out: Path | None, **wanted: bool) -> None:
    """Write a report in other forms, each as a file beside it.

    PATH is a report.json, or the journal of a run that was killed.
    """
    forms = [form for form in FORMS if wanted[form.name]]
    if not forms:
        raise click.UsageError("say in which form: " + ", ".join(f"--{form.name}" for form in FORMS))
    found = conclude(load_or_recover(path))
    for form in forms:
        try:
            click.echo(f"written: {write(form, found, out or path.parent)}")
        except OSError as error:
            raise click.ClickException(str(error)) from None
