"""Judges plugins in a sandbox: a mutant of a plugin that deletes trees deletes any tree.

A judge is a process of its own that sees all files, may change none, and has a /tmp in memory. It reads one question a
line, and answers with one line.
"""

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Self

from tests.faults.driven import all_cases, run
from tests.score.sources import CLONE, PLUGINS
from tffs_conformance.harness.targets import profile
from tffs_conformance.reports.model.verdicts import WORST_FIRST, Verdict
from tffs_conformance.run.targets import only_target
from tffs_conformance.suite.contract.catalogue import clause
from tffs_conformance.suite.engine.case_facts import TIERS
from tffs_conformance.suite.engine.collect import Listed
from tffs_conformance.suite.engine.first_look import first_look
from tffs_conformance.suite.engine.workbench import Workbench

#: What a judge may write to /tmp, in bytes. A mutant that appends for ever fills it.
ROOM = 1 << 30
SANDBOX = (
    *("bwrap", "--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc", "--size", str(ROOM), "--tmpfs", "/tmp"),
    *("--unshare-pid", "--unshare-ipc", "--die-with-parent", "--chdir", str(CLONE)),
)
#: Seconds that a call may take. A mutant that hangs costs some of these.
PATIENCE = 5
#: What ends the judging of a plugin.
ENOUGH = (Verdict.VIOLATION, Verdict.ERROR)


@dataclass(frozen=True, slots=True)
class Judged:
    """What the suite said of a plugin: the worst verdict, where it was first given, and after how many seconds."""

    verdict: str
    clause: str
    case: str
    got: str
    seconds: float
    cases: int
    not_run: int


def order(cases: Sequence[Listed], ops: Sequence[str]) -> list[Listed]:
    """The cases about these ops before the others, and the smaller tiers before the larger."""
    return sorted(cases, key=lambda case: (not _is_about(case, ops), TIERS.index(case.tier)))


def _is_about(case: Listed, ops: Sequence[str]) -> bool:
    return any(clause(name).op in ops for name in case.clauses)


def judge(shared_object: str, plugin: str, ops: Sequence[str]) -> Judged:
    """Run the cases of the tier `full` on a plugin with these ops at fault, until one is ENOUGH."""
    (facts,) = (one for one in PLUGINS if one.name == plugin)
    claims = dict(profile.read(facts.profile).claims) if facts.profile else {}
    started = time.monotonic()
    worst = Judged(Verdict.CONFORM.value, "", "", "", 0, 0, 0)
    cases = not_run = 0
    with tempfile.TemporaryDirectory() as folder:
        target = only_target(shared_object, None, None, {"TFFS_BUCKET": f"{folder}/bucket"}, PATIENCE)
        target = replace(target, backing=facts.backing, claims=claims, traces=folder)
        bench = Workbench(target, first_look(target))
        try:
            for listed in order(all_cases("full"), ops):
                record = run(bench, listed)
                cases, not_run = cases + 1, not_run + (record.verdict is Verdict.NOT_RUN)
                for check in record.checks:
                    told = check.verdict in ENOUGH or (
                        check.verdict is Verdict.WARNING and check.clause not in facts.warnings
                    )
                    if told and WORST_FIRST.index(check.verdict) < WORST_FIRST.index(Verdict(worst.verdict)):
                        seconds = round(time.monotonic() - started, 1)
                        worst = Judged(check.verdict.value, check.clause, listed.id, check.got[:200], seconds, 0, 0)
                if worst.verdict in ENOUGH:
                    break
        finally:
            bench.remove_root()
            bench.close()
    return replace(worst, seconds=worst.seconds or round(time.monotonic() - started, 1), cases=cases, not_run=not_run)


class Judge:
    """A judge as others see it."""

    def __init__(self) -> None:
        command = [*SANDBOX, sys.executable, "-m", "tests.score.judging"]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.communicate()

    def ask(self, shared_object: Path, plugin: str, ops: Sequence[str] = ()) -> Judged:
        """What the suite says of a plugin. Raises EOFError when the judge is gone."""
        question, answers = self._process.stdin, self._process.stdout
        assert question is not None
        assert answers is not None
        print(json.dumps([str(shared_object), plugin, ops]), file=question, flush=True)
        if not (answer := answers.readline()):
            raise EOFError(f"the judge of {shared_object} is gone")
        return Judged(**json.loads(answer))


if __name__ == "__main__":
    told = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what is printed meanwhile is no answer
    for line in sys.stdin:
        print(json.dumps(asdict(judge(*json.loads(line)))), file=told, flush=True)
