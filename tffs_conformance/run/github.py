"""A run inside GitHub Actions: what was found stands in the summary of the job and as annotations.

What a plugin said is in the log, and the runner would take some of that for commands. So it reads none while the run
lasts.
"""

import os
import secrets
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

from ..reports.forms import github, markdown
from ..reports.model.findings import Findings
from ..suite.judge.compare import findings_of
from ..suite.judge.gate import GateResult

#: Bytes that the summary of one step may have. GitHub refuses all of a larger one.
LIMIT = 1 << 20
#: Bytes with which there is something to say.
_LEAST = 2000


def attend(config: pytest.Config, findings: Mapping[str, Findings], held: Mapping[str, GateResult]) -> None:
    """Where this is a job of GitHub's, say at the end of the run what reports and gates hold by then, by target."""
    if is_there():
        stack = ExitStack()
        stack.callback(say, findings, held)
        stack.enter_context(no_commands())
        config.add_cleanup(stack.close)


def is_there() -> bool:
    """Whether this is a job of GitHub's."""
    return os.environ.get("GITHUB_ACTIONS") == "true"


@contextmanager
def no_commands() -> Iterator[None]:
    """Meanwhile, in a job of GitHub's, nothing that is printed is a command."""
    if not is_there():
        yield
        return
    token = secrets.token_hex(16)
    _print(github.stop(token))
    try:
        yield
    finally:
        _print(github.go_on(token))


def say(findings: Mapping[str, Findings], held: Mapping[str, GateResult]) -> None:
    """Print the annotations, and append to the summary of the step."""
    gates = {name: github.Gated(findings_of(one.report, one.new), one.reasons) for name, one in held.items()}
    for line in github.annotations(findings.values(), gates):
        _print(line)
    if path := os.environ.get("GITHUB_STEP_SUMMARY"):
        try:
            _summarise(Path(path), findings)
        except OSError as error:
            _print(github.command("warning", f"the summary of the job cannot be written: {error}"))


def _summarise(path: Path, findings: Mapping[str, Findings]) -> None:
    """Append each report to the summary. Raises OSError."""
    with path.open("a", encoding="utf-8") as file:
        for name, one in findings.items():
            room = min(markdown.LIMIT, LIMIT - file.tell() - 1)
            if room < _LEAST:
                _print(github.command("warning", f"the summary of the job has no room for {name}"))
                return
            file.write("\n" + markdown.bounded(one, room))
            file.flush()


def _print(line: str) -> None:
    print(line, flush=True)
