"""`tffs-conformance run`: pytest with the options of the suite, which `--help` shows on one screen."""

import os
import re
import sys
import textwrap

import click

from ..run.run_options import declared

EXAMPLES = """\
tffs-conformance run OPTIONS is pytest OPTIONS:

  tffs-conformance run --plugin=posix --tier=smoke            a plugin that ships, in seconds
  tffs-conformance run --plugin=./libmine.so -n auto          yours, the whole suite, on all cores
  tffs-conformance run --plugin=./libmine.so --clause='read.*' --tier=quick
  tffs-conformance run --plugin-profile=mine.toml --waivers=waivers.toml"""
#: The first option of each group, in the order in which they are declared.
GROUPS = {"plugin": "What is judged", "measure": "What is run", "host-command": "How", "report-dir": "The result"}
#: What begins a run, which pytest knows already: values and meaning.
FIRST = {
    "plugin": ("NAME|PATH", "a name that 'tffs-conformance list --plugins' shows, or a shared object"),
    "plugin-profile": ("FILE|NAME", "what it claims and how to reach it, or posix-like, object-store"),
    "through": ("tensorflow|PYTHON", "perform the ops with tf.io.gfile of a TensorFlow"),
}
WIDTH = 110


@click.command(add_help_option=False, context_settings={"ignore_unknown_options": True})
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED)
def run(arguments: tuple[str, ...]) -> None:
    """Judge plugins with pytest; --help shows its options."""
    if arguments and {"-h", "--help"}.isdisjoint(arguments):
        os.execv(sys.executable, [sys.executable, "-m", "pytest", *arguments])
    click.echo(EXAMPLES)
    for _, one in declared():
        if one.name in GROUPS:
            click.echo(f"\n{GROUPS[one.name]}")
        # Of each, how its explanation begins.
        text = re.split(r"; |, e\.g\.|: | \((?:default|docs|those)", one.help)[0]
        values, text = FIRST.get(one.name, ("|".join(one.choices or ()) or one.metavar, text))
        option = f"  --{one.name}={values}" if values else f"  --{one.name}"
        click.echo(f"{option:<42} {textwrap.shorten(text, WIDTH - max(len(option), 42), placeholder=' …')}")
    click.echo("\nIn full, with pytest's own: pytest --plugin=posix --help")
