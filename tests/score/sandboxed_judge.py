"""Judges plugins in a sandbox: a mutant of a plugin that deletes trees may delete any tree.

Run as a module, it is a process that sees all files, may change none, and has a /tmp in memory. It reads one question a
line, and answers with one line.
"""

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Self

from tests.faults.driven import all_cases, ordered, run
from tests.score.mutations import CLONE, PLUGINS
from tffs_conformance.harness.targets import profile
from tffs_conformance.reports.model.verdicts import WORST_FIRST, Verdict
from tffs_conformance.run.targets import only_target
from tffs_conformance.suite.engine.first_look import first_look
from tffs_conformance.suite.engine.workbench import Workbench

#: The bytes that a judge may write to /tmp. A mutant that appends for ever fills it.
TMP_BYTES = 1 << 30
SANDBOX = (
    *("bwrap", "--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc", "--size", str(TMP_BYTES), "--tmpfs", "/tmp"),
    *("--unshare-pid", "--unshare-ipc", "--die-with-parent", "--chdir", str(CLONE)),
)
#: A mutant that hangs costs some of these.
CALL_TIMEOUT_SECONDS = 5
#: The verdicts after which no other case is run.
FINAL = (Verdict.VIOLATION, Verdict.ERROR)


@dataclass(frozen=True, slots=True)
class MutantVerdict:
    """The worst verdict of the suite, the check that has it, and how many cases were run, and how many were not run."""

    verdict: str
    clause: str = ""
    case: str = ""
    got: str = ""
    cases: int = 0
    not_run: int = 0


def judge(shared_object: str, plugin: str, ops: Sequence[str]) -> MutantVerdict:
    """Run the cases of the tier full on a plugin, those of these ops first, until a verdict is FINAL."""
    (facts,) = (one for one in PLUGINS if one.name == plugin)
    claims = dict(profile.read(facts.profile).claims) if facts.profile else {}
    worst = MutantVerdict(Verdict.CONFORM.value)
    cases = not_run = 0
    with tempfile.TemporaryDirectory() as folder:
        environment = {"TFFS_BUCKET": f"{folder}/bucket"}
        target = only_target(shared_object, None, None, environment, CALL_TIMEOUT_SECONDS)
        target = replace(target, backing=facts.backing, claims=claims, traces=folder)
        bench = Workbench(target, first_look(target))
        try:
            for listed in ordered(all_cases("full"), ops):
                record = run(bench, listed)
                cases, not_run = cases + 1, not_run + (record.verdict is Verdict.NOT_RUN)
                for check in record.checks:
                    counts = check.verdict in FINAL or (
                        check.verdict is Verdict.WARNING and check.clause not in facts.warnings
                    )
                    if counts and WORST_FIRST.index(check.verdict) < WORST_FIRST.index(Verdict(worst.verdict)):
                        worst = MutantVerdict(check.verdict.value, check.clause, listed.id, check.got[:200])
                if worst.verdict in FINAL:
                    break
        finally:
            bench.remove_root()
            bench.close()
    return replace(worst, cases=cases, not_run=not_run)


class SandboxedJudge:
    """A judge in its sandbox, as a caller uses it."""

    def __init__(self) -> None:
        command = [*SANDBOX, sys.executable, "-m", "tests.score.sandboxed_judge"]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.communicate()

    def ask(self, shared_object: Path, plugin: str, ops: Sequence[str] = ()) -> MutantVerdict:
        """The verdict on a plugin. Raises EOFError if the process has ended."""
        question, answers = self._process.stdin, self._process.stdout
        assert question is not None
        assert answers is not None
        print(json.dumps([str(shared_object), plugin, ops]), file=question, flush=True)
        if not (answer := answers.readline()):
            raise EOFError(f"the judge of {shared_object} has ended")
        return MutantVerdict(**json.loads(answer))


if __name__ == "__main__":
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what is printed meanwhile is no answer
    for line in sys.stdin:
        print(json.dumps(asdict(judge(*json.loads(line)))), file=answers, flush=True)
