"""Does the reference host tell the truth? The same cases on it and through TensorFlow, check by check.

Each fault of the fakes, and the right plugins, are judged in both ways on the smoke tier and on what is asked of paths
in every situation. If a check differs, that is a defect of ours, or one of the rows of `fidelity.toml`, which say why.
"""

import contextlib
import fnmatch
import functools
import tempfile
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from unittest import mock

from tests import fakes
from tests.faults.driven import all_cases, run
from tffs_conformance.harness.launchers.choice import launcher
from tffs_conformance.harness.launchers.launcher import Launcher
from tffs_conformance.harness.launchers.local import Local, LocalProcess
from tffs_conformance.harness.through import interpreter
from tffs_conformance.harness.through.interpreter import Interpreter
from tffs_conformance.harness.wire import encode
from tffs_conformance.reports.model.records import CaseRecord, CheckRecord
from tffs_conformance.reports.model.verdicts import Verdict
from tffs_conformance.run.targets import only_target
from tffs_conformance.suite.engine import workbench
from tffs_conformance.suite.engine.collect import Listed
from tffs_conformance.suite.engine.first_look import first_look
from tffs_conformance.suite.engine.target import Target
from tffs_conformance.suite.engine.workbench import Workbench
from third_party import tensorflows

#: Plugins that do nothing wrong, with their values of TFFS_FAULT.
RIGHT = (("posix", ""), ("memory", ""), ("posix_choices", ""), ("objectstore_minimal", ""))
#: A fault that hangs costs its time-out again and again, and says nothing of TensorFlow.
COSTLY = ("hang", "slow", "leak", "endless")
#: What a plugin makes of a spelling of a path, as far as its translate_name tells.
SPELLING = "translate_name.form"
#: In seconds.
TIMEOUT = 5.0


@dataclass(frozen=True, slots=True)
class Row:
    """A check that differs: of which plugin and fault, in which case, of which clause; what each of the two got."""

    plugin: str
    fault: str
    case: str
    clause: str
    ours: str
    theirs: str

    def __str__(self) -> str:
        where = f"{self.plugin} {self.fault or '-'}  {self.case}  {self.clause}"
        return f"{where}: host {self.ours:.200}, TensorFlow {self.theirs:.200}"


class Told:
    """Starts hosts of a launcher that many targets share, and tells each the environment of its target."""

    def __init__(self, shared: Local, environment: Mapping[str, str]) -> None:
        self._shared = shared
        self._said = encode("environment", [part.encode() for item in environment.items() for part in item])

    def start(self) -> LocalProcess:
        """A host that knows its environment."""
        process = self._shared.start()
        process.send(self._said, TIMEOUT)
        process.receive(TIMEOUT)
        return process

    def without_filling(self) -> "Told":
        """The same: nothing is filled."""
        return self

    def reap(self) -> None:
        """Wait for what was killed."""
        self._shared.reap()

    def close(self) -> None:
        """The launcher serves others."""


def asked(fault: str) -> tuple[Listed, ...]:
    """The cases: the way through every op, and every op in every situation; of a fault its own op."""
    op = fault.rpartition(":")[2]
    begin = (f"status/one-path[{op}-", f"status/two-paths[{op}-") if fault else ("status/",)
    reached = [case for case in all_cases("quick") if not case.over_tables]
    return tuple(case for case in reached if case.tier == "smoke" or case.id.startswith(begin))


def every() -> Iterator[tuple[str, str]]:
    """All plugins with their faults."""
    yield from RIGHT
    for name, *_ in fakes.faults("faulty"):
        if not any(word in name for word in COSTLY):
            yield "fakes/faulty", name


def of(plugin: str, fault: str, program: tuple[str, ...]) -> Target:
    """A plugin with a fault as a target with a root of its own; `program` is the host of ops through TensorFlow."""
    target = only_target(plugin, None, None, {"TFFS_FAULT": fault} if fault else {}, TIMEOUT)
    return replace(target, backing=None if plugin == "memory" else "file://{path}", through=program)


def judged(target: Target, cases: Sequence[Listed]) -> dict[str, CaseRecord]:
    """The records of cases by their ids."""
    with tempfile.TemporaryDirectory() as traces:
        target = replace(target, traces=traces)
        bench = Workbench(target, first_look(target))
        try:
            return {case.id: run(bench, case) for case in cases}
        finally:
            bench.remove_root()
            bench.close()


@functools.lru_cache(maxsize=len(RIGHT))
def on_the_reference_host(plugin: str, fault: str) -> dict[str, CaseRecord]:
    """The records of a plugin and fault, which are the same for every release."""
    return judged(of(plugin, fault, ()), asked(fault))


def compared(ours: CaseRecord, theirs: CaseRecord) -> Iterator[tuple[str, str, str]]:
    """The clauses of which the checks of two records differ, with what each got."""
    both = (ours, theirs)
    if any(record.verdict is Verdict.ABSENT and not record.checks for record in both):
        return
    if any(record.verdict is Verdict.NOT_RUN for record in both) and ours.reason != theirs.reason:
        if ours.verdict is not theirs.verdict:
            yield "(case)", str(ours.reason or ours.verdict), str(theirs.reason or theirs.verdict)
        return
    form = [[check.got for check in record.checks if check.clause == SPELLING] for record in both]
    if form[0] != form[1]:
        # What a case makes of a spelling follows from that.
        yield SPELLING, "; ".join(form[0]) or "nothing", "; ".join(form[1]) or "nothing"
        return
    hidden = {check.clause for record in both for check in record.checks if check.verdict is Verdict.ABSENT}
    for clause in sorted({check.clause for record in both for check in record.checks} - hidden):
        got = [{told_of(check) for check in record.checks if check.clause == clause} for record in both]
        if got[0] != got[1]:
            only = ["; ".join(sorted(one - other)) or "nothing" for one, other in (got, got[::-1])]
            yield clause, only[0], only[1]


def told_of(check: CheckRecord) -> str:
    """What a check says: its verdict, and the code. What a faulty plugin leaves in memory differs by itself."""
    return f"{check.verdict} {check.got}" if check.got.startswith("code=") else str(check.verdict)


def rows(given: Interpreter, plugins: Iterable[tuple[str, str]]) -> Iterator[Row]:
    """What differs, plugin by plugin."""
    shared = Local({}, {}, given.host)

    def either(command: Sequence[str], environment: Mapping[str, str], *more: Any) -> Launcher:
        through = more[1]
        return Told(shared, environment) if through else launcher(command, environment, *more)

    with contextlib.closing(shared), mock.patch.object(workbench, "launcher", either):
        for plugin, fault in plugins:
            cases = asked(fault)
            ours, theirs = on_the_reference_host(plugin, fault), judged(of(plugin, fault, given.host), cases)
            for case in cases:
                for clause, one, other in compared(ours[case.id], theirs[case.id]):
                    yield Row(plugin, fault, case.id, clause, one, other)


def reason(row: Row, release: str, explained: Sequence[Mapping[str, str]]) -> str | None:
    """Why a row differs, as far as it is known: the first entry that fits says it."""
    plugin = f"{row.plugin} {row.fault}".strip()
    of_row = {"clause": row.clause, "case": row.case, "plugin": plugin, "release": release}
    fitting = (
        one["why"]
        for one in explained
        if all(fnmatch.fnmatchcase(text, one.get(key, "*")) for key, text in of_row.items())
    )
    return next(fitting, None)


@contextlib.contextmanager
def installed(release: str) -> Iterator[str]:
    """A Python with this release of TensorFlow in it."""
    with tempfile.TemporaryDirectory() as folder:
        yield str(tensorflows.install(release, Path(folder)))


def unexplained(python: str, plugins: Iterable[tuple[str, str]]) -> list[Row]:
    """What differs without a reason between these plugins on the host and with the TensorFlow of one Python."""
    explained = tomllib.loads(Path(__file__).with_suffix(".toml").read_text())["explained"]
    given = interpreter.find(python)
    return [row for row in rows(given, plugins) if reason(row, given.runtime.version, explained) is None]
