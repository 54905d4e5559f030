"""One report a target, from the store alone: the document that a run on one machine would have given.

The journals are read a few at a time, so that it takes the same memory however many there are.
"""

import shutil
import tempfile
from collections.abc import Collection, Iterator
from itertools import islice
from pathlib import Path

from msgspec.structs import replace

from ..reports.document import write
from ..reports.model.report import Report
from ..reports.model.verdicts import TargetVerdict
from ..run.options import TRACES
from ..run.parts import SUITE
from ..suite.judge.merge import merge
from ..suite.judge.reports import recover
from .perform import unpacked
from .plan import Plan
from .store import Ended, Store
from .tasks import Block, blocks

#: So many journals are in memory at a time.
AT_A_TIME = 24


def reports(store: Store, plan: Plan, out: Path) -> Iterator[tuple[str, Report]]:
    """Write a report of each target that has a result into a folder below `out`; the target and its report.

    Raises StoreError, ReportError (results that are not of one suite), OSError.
    """
    for target in plan.judged:
        report = _merged(store, _ended(store, plan, target.name), out / target.name)
        if report is not None:
            (out / target.name).mkdir(parents=True, exist_ok=True)
            write(report, out / target.name)
            yield target.name, report


def _ended(store: Store, plan: Plan, target: str) -> Iterator[tuple[Block, Ended]]:
    """What ended of a target and has cases: shards first, and each by number, whoever was first."""
    for block in blocks(plan):
        if block.target == target:
            for _, entry in sorted(store.ended(block).items()):
                if entry.cases:
                    yield block, entry


def _merged(store: Store, ended: Iterator[tuple[Block, Ended]], out: Path) -> Report | None:
    whole: Report | None = None
    seeds = histories = 0
    while some := list(islice(ended, AT_A_TIME)):
        with tempfile.TemporaryDirectory(prefix="tffs-campaign-") as folder:
            parts = [] if whole is None else [(Path("merged"), whole)]
            for block, entry in some:
                journal = unpacked(store.result(entry), Path(folder) / f"{block.kind}-{entry.number}")
                part = recover(journal)
                first = parts[0][1] if parts else part
                parts.append((journal, _as_one_run(part, first) if block.kind == "seed" else part))
                _keep(journal.parent / TRACES, out / TRACES)
                seeds += block.kind == "seed"
                histories += entry.histories if block.kind == "seed" else 0
            whole = merge(parts, SUITE).report
    if whole is None or not seeds:
        return whole
    options = {**whole.suite.options, "more seeds": seeds, "more histories": histories}
    return replace(whole, suite=replace(whole.suite, options=options))


def _as_one_run(part: Report, first: Report) -> Report:
    """The report of a task with a seed of its own as a part of the run that the others are of."""
    suite = replace(part.suite, seed=first.suite.seed, options=first.suite.options, command=first.suite.command)
    return replace(part, suite=suite)


def _keep(traces: Path, into: Path) -> None:
    """Keep the traces of a part; where several have one of a case, the first."""
    for source in sorted(traces.rglob("*")):
        target = into / source.relative_to(traces)
        if source.is_file() and not target.exists():
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(source, target)


def is_good(verdicts: Collection[TargetVerdict]) -> bool:
    """Whether all targets are conformant, of which there is at least one."""
    good = (TargetVerdict.CONFORMANT, TargetVerdict.WITH_WAIVERS)
    return bool(verdicts) and all(verdict in good for verdict in verdicts)
