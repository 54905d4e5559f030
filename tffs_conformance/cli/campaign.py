"""`tffs-conformance campaign`: a run in shards and under several seeds, on one machine or on all that Dask has."""

import os
import tempfile
from pathlib import Path

import click

from .. import campaign as campaigns
from ..reports.errors import ReportError
from ..reports.escape import printable
from ..reports.model.counts import few, number
from ..reports.model.report import REPORT_NAME
from ..reports.model.verdicts import TargetVerdict
from ..suite.judge.course import is_as_asked
from .report.merge import write_merged

#: The exit codes beside 0 and 1.
INTERRUPTED, NO_REPORT, USAGE = 2, 3, 4
#: The options that a task has from its campaign.
_OWN = ("--seed", "--shard", "--report-dir")
#: The options for an exit code of pytest, which the merged report does not know, and for files beside a report.
_OF_ONE_RUN = ("--fail-on", "--gate", "--baseline", "--report=")


class CampaignError(click.ClickException):
    """A campaign that ends without a report, with this exit code."""

    def __init__(self, code: int, sentence: str) -> None:
        super().__init__(printable(sentence))
        self.exit_code = code  # type: ignore[misc] # click reads it off the instance


@click.command()
@click.option("--shards", type=click.IntRange(1), default=8, show_default=True, help="In how many parts cases run.")
@click.option("--seeds", type=click.IntRange(1), default=1, show_default=True, help="How often, with seeds from 0.")
@click.option("--scheduler", metavar="ADDRESS", help="Dask's, like tcp://head:8786; without it, this machine.")
@click.option("--folder", default="tffs-campaign", show_default=True, help="For reports: a directory, or fsspec's URL.")
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED, metavar="-- --plugin=PLUGIN ...")
def campaign(shards: int, seeds: int, scheduler: str | None, folder: str, arguments: tuple[str, ...]) -> None:
    """Judge a plugin in very many runs of pytest, on all machines that Dask has.

    \b
        tffs-conformance campaign --shards=16 -- --plugin=./libmine.so
        tffs-conformance campaign --seeds=100 --scheduler=tcp://head:8786 --folder=s3://bucket/one -- --plugin=posix

    What follows `--` goes to pytest. A task whose report is in the folder is not run again. At the end there is one
    report in tffs-report, that of one run.

    Exit codes: 0 nothing was wrong; 1 the plugin is not conformant, or the suite made an error; 2 interrupted; 3 a task
    gave no report; 4 the arguments make no sense, or Dask cannot be reached. After 2 and 3 the same command goes on.
    """
    if own := [word for word in arguments if word.startswith(_OWN)]:
        raise CampaignError(USAGE, f"{own[0]}: a campaign gives this option itself")
    if other := [word for word in arguments if word.startswith(_OF_ONE_RUN)]:
        raise CampaignError(USAGE, f"{other[0]}: this option is for a single run, not for a campaign")
    folder = folder if "://" in folder else os.path.abspath(folder)
    try:
        campaigns.prepare(folder)
        tasks = campaigns.tasks(arguments, os.getcwd(), shards, seeds)
        left = [task for task in tasks if not campaigns.has_report(task, folder)]
        if len(left) < len(tasks):
            click.echo(f"{number(len(tasks) - len(left), 'report')} of {len(tasks)} found in {folder}")
        if left:
            _perform(left, scheduler, folder)
        with tempfile.TemporaryDirectory() as copies:
            paths = campaigns.fetch(tasks, folder, Path(copies))
            found = write_merged(campaigns.OUT, paths, campaigns.parts(paths, seeds))
    except KeyboardInterrupt:
        raise CampaignError(INTERRUPTED, "interrupted; the same command goes on from here") from None
    except campaigns.CannotStartError as error:
        raise CampaignError(USAGE, str(error)) from None
    except (ReportError, OSError) as error:
        raise CampaignError(NO_REPORT, str(error)) from None
    if found.differing:
        click.echo(f"ended differently, the worst counts: {printable(few(found.differing))}")
    click.echo(f"{found.report.verdict}: {printable(found.report.reason)} ({campaigns.OUT / REPORT_NAME})")
    report = found.report
    is_whole = report.verdict is not TargetVerdict.INCOMPLETE or is_as_asked(report.left_out)
    is_good = is_whole and report.verdict is not TargetVerdict.NOT_CONFORMANT and not report.counts.error
    raise SystemExit(0 if is_good else 1)


def _perform(tasks: list[campaigns.Task], scheduler: str | None, folder: str) -> None:
    """Perform tasks, and show each as it ends. Raises CampaignError where one gave no report."""
    failed = 0
    with campaigns.connected(scheduler) as client:
        for count, (task, said) in enumerate(campaigns.performed(client, tasks, folder), start=1):
            if isinstance(said, str):
                raise CampaignError(USAGE, f"{task.name}: {said}")
            failed += said is not None
            why = "" if said is None else f": {type(said).__name__}: {' '.join(str(said).split())}"
            click.echo(f"{count} of {len(tasks)}: {task.name}{printable(why)}", err=said is not None)
    if failed:
        raise CampaignError(NO_REPORT, f"{number(failed, 'task')} gave no report; the others are in {folder}")
