"""`tffs-conformance report`: what can be done with reports that were written before; one module a command."""

import click

from .compare import compare
from .merge import merge
from .render import render
from .show import show


@click.group()
def report() -> None:
    """Show, render, compare and merge reports that were written before."""


for command in (show, render, compare, merge):
    report.add_command(command)
