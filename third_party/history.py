"""Judges the releases of plugins of others that have no report yet, and says what changed from one to the next."""

import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

import click

from tffs_conformance.reports.site import markdown_history, markdown_table
from tffs_conformance.reports.site.releases import Release, newest, read

from . import judge
from .judge import BadTargetError, Target

Plugins = dict[str, list[Release]]

#: Targets of which every release is judged; of the others the newest.
TARGETS = ("s3-versitygw", "gs", "tensorflow-ram", "tensorflow-local")
#: The parts of pages that follow from the reports, each behind a comment that names it.
PARTS: Mapping[str, Callable[[Plugins], str]] = {
    "uses": lambda plugins: markdown_table.table(newest(plugins)),
    "releases": markdown_history.matrix,
    "differences": markdown_history.differences,
}
BEGIN, END = "<!-- {}: python -m third_party.history --pages -->\n", "<!-- end -->\n"
PAGES = ("README.md", "history.md")


@click.command(context_settings={"ignore_unknown_options": True})
@click.argument("more", metavar="[TARGET]... [OPTIONS OF PYTEST]", nargs=-1, type=click.UNPROCESSED)
@click.option("--anew", is_flag=True, help="Judge also those that have a report.")
@click.option("--pages", is_flag=True, help="Judge nothing: write the pages anew.")
def main(more: tuple[str, ...], anew: bool, pages: bool) -> None:
    """Judge every release in third_party/releases.toml that has no report yet.

    \b
      python -m third_party.history
      python -m third_party.history gs -n 2

    Each is judged as by third_party.judge, one after the other. A release that cannot be loaded has a report, too. Then
    the tables in reports/published/README.md and history.md are written.

    The exit code is 1 where a release has no report at the end.
    """
    chosen = [name for name in more if name in judge.names()]
    given = [word for word in more if word not in chosen]
    try:
        wanted = [target for target in targets(chosen or TARGETS) if anew or not published(target)]
    except BadTargetError as error:
        raise click.ClickException(str(error)) from error
    for target in () if pages else wanted:
        click.echo(f"{target.name} {target.version}")
        program = (sys.executable, "-m", "third_party.judge", target.name, f"--release={target.version}")
        subprocess.run([*program, *given], cwd=judge.CLONE, check=False)
    write(judge.CLONE / judge.PUBLISHED)
    lacking = [f"{one.name} {one.version}" for one in targets(chosen or TARGETS) if not published(one)]
    if lacking:
        click.echo(f"without a report: {', '.join(lacking)}")
    sys.exit(bool(lacking))


def targets(names: Sequence[str]) -> Iterator[Target]:
    """Each release of these targets, the newest first. Raises BadTargetError."""
    for name in names:
        for release in judge.read(name).package.releases:
            yield judge.read(name, release)


def published(target: Target) -> bool:
    """Whether the release has a report."""
    return any((judge.CLONE / target.published).glob("report.json*"))


def write(folder: Path) -> None:
    """Write what follows from the reports into the pages beside them."""
    plugins = read(folder)
    for page in PAGES:
        path = folder / page
        path.write_text(filled(path.read_text(encoding="utf-8"), plugins), encoding="utf-8")


def filled(page: str, plugins: Plugins) -> str:
    """A page with its parts as they follow from these reports."""
    for name, make in PARTS.items():
        begin = BEGIN.format(name)
        before, marked, rest = page.partition(begin)
        if marked:
            page = f"{before}{begin}\n{make(plugins)}\n{END}{rest.partition(END)[2]}"
    return page


if __name__ == "__main__":
    main(prog_name="python -m third_party.history")
