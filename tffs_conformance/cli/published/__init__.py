"""`tffs-conformance published`: reports that are published; one module a command."""

import click

from .add import add
from .site import site


@click.group()
def published() -> None:
    """Put a report among those that are published, and make the site of them all."""


for command in (add, site):
    published.add_command(command)
