"""`tffs-conformance campaign`: very many cases and histories, on one machine or on all that Dask has."""

import os
from pathlib import Path
from typing import Any

import click

from .. import __version__
from ..campaign import engine, plan, report, status
from ..campaign.driver import SURROUNDINGS, USAGE, CampaignBrokenError, Driver
from ..campaign.plan import BadPlanError, Plan
from ..campaign.progress import shown
from ..campaign.store import Store, StoreError
from ..reports.errors import ReportError
from ..reports.escape import printable
from ..reports.model.report import REPORT_NAME
from ..run.commit import commit

#: So many findings are told; the store has all.
TOLD = 20


def ended(code: int, sentence: str) -> click.ClickException:
    """What to raise for a campaign that cannot go on, with its exit code."""
    error = click.ClickException(sentence)
    error.exit_code = code  # type: ignore[misc] # click reads it off the instance
    return error


class OrPlan(click.Group):
    """A group whose first word may also be a plan: `campaign plan.toml` is `campaign run plan.toml`."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The command that is meant."""
        known = args[0] in self.commands
        return super().resolve_command(ctx, args if known else ["run", *args])

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Options before the plan are those of a run."""
        asks_for_help = bool(args) and args[0] in ctx.help_option_names
        begins = bool(args) and args[0].startswith("-") and not asks_for_help
        return super().parse_args(ctx, ["run", *args] if begins else args)

    def invoke(self, ctx: click.Context) -> Any:
        """Run a command; what makes no sense, and what is out of order, is told in a sentence."""
        try:
            return super().invoke(ctx)
        except BadPlanError as error:
            raise ended(USAGE, str(error)) from None
        except CampaignBrokenError as broken:
            raise ended(broken.code, printable(str(broken))) from None
        except (StoreError, engine.NoEngineError) as error:
            raise ended(SURROUNDINGS, str(error)) from None


@click.group(cls=OrPlan, subcommand_metavar="PLAN.TOML [OPTIONS] | status STORE | report STORE")
def campaign() -> None:
    """Judge plugins with very many cases and histories, on all machines that Dask has.

    \b
        tffs-conformance campaign plan.toml                              here
        tffs-conformance campaign plan.toml --scheduler=tcp://host:8786 --store=s3://bucket/nightly
        tffs-conformance campaign status tffs-campaign                   how far it is
        tffs-conformance campaign report tffs-campaign                   a report of what is there

    A plan names the targets, what is spread, and when it is enough; docs/campaigns.md has all of its keys. What ended
    is in the store: whatever dies, the same command goes on from there.
    """


@campaign.command(hidden=True)
@click.argument("file", type=click.Path(path_type=Path), metavar="PLAN.TOML")
@click.option("--scheduler", metavar="ADDRESS", help="Dask's scheduler, such as tcp://host:8786 or tls://host:8786.")
@click.option("--store", "url", default="tffs-campaign", show_default=True, help="A directory, or a URL of fsspec.")
@click.option("--workers", type=click.IntRange(1, 256), default=os.cpu_count() or 1, help="Workers on this machine.")
@click.option(
    "--patience", type=float, default=600, show_default=True, help="Seconds for a store or scheduler to heal."
)
def run(file: Path, scheduler: str | None, url: str, workers: int, patience: float) -> None:
    """Begin a campaign, or go on with it.

    Exit codes: 0 all targets conformant and nothing found; 1 something was found, or a target is not conformant; 2
    interrupted; 3 a task failed again and again; 4 the plan or the store makes no sense; 5 the store or the scheduler
    is out of order. After 2, 3 and 5 the same command goes on.
    """
    try:
        asked = plan.read(file)
        store = Store(_anywhere(url))
        store.claim(asked, f"{__version__} ({commit()})")
        begun = status.read(store)
        with engine.connected(scheduler, workers) as client, shown(begun) as (show, say):
            driver = Driver(asked, store, client, begun, patience, show, say)
            why = driver.run()
            show(begun)
    except KeyboardInterrupt:
        raise ended(2, "interrupted; the same command goes on from here") from None
    click.echo(f"{why}: {begun.line()}")
    raise SystemExit(_finish(store, asked, Path("tffs-report") / asked.name))


@campaign.command("status")
@click.argument("url", metavar="STORE")
def status_(url: str) -> None:
    """How far a campaign is, and what it found, from its store alone."""
    store = Store(_anywhere(url))
    now = status.read(store)
    click.echo(f"{now.plan.name}: {now.line()}")
    _tell_findings(store)


@campaign.command("report")
@click.argument("url", metavar="STORE")
@click.argument("out", type=click.Path(file_okay=False, path_type=Path), required=False)
def report_(url: str, out: Path | None) -> None:
    """Write a report a target of what is in a store by now, into OUT (default: tffs-report/NAME)."""
    store = Store(_anywhere(url))
    asked, _ = store.plan()
    raise SystemExit(_finish(store, asked, out or Path("tffs-report") / asked.name))


def _finish(store: Store, asked: Plan, out: Path) -> int:
    """Write the reports, and tell what was found; the exit code."""
    verdicts = {}
    try:
        for name, one in report.reports(store, asked, out):
            click.echo(f"{name}: {one.verdict}: {printable(one.reason)} ({out / name / REPORT_NAME})")
            verdicts[name] = one.verdict
        absent = [target.name for target in asked.judged if target.name not in verdicts]
        for name in absent:
            click.echo(f"{name}: no case of it was run")
        found = _tell_findings(store)
    except (ReportError, OSError) as error:
        raise ended(SURROUNDINGS, str(error)) from None
    return 0 if report.is_good(verdicts.values()) and not absent and not found else 1


def _tell_findings(store: Store) -> int:
    count = 0
    for count, one in enumerate(store.findings(), start=1):
        if count <= TOLD:
            click.echo(f"  {printable(status.finding_line(one))}")
    if count > TOLD:
        click.echo(f"  and {count - TOLD} more findings")
    return count


def _anywhere(url: str) -> str:
    """A directory as seen by workers, whatever they work in."""
    return url if "://" in url else os.path.abspath(url)
