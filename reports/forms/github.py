"""A report as lines that GitHub Actions reads in the log of a job: annotations, and what keeps others from being read.

The runner takes a line for a command where it begins with `::name::`, spaces before it or not, and where `##[name]`
stands anywhere in it.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice

from ..escape import printable
from ..model.counts import number
from ..model.findings import Finding, Findings
from ..model.verdicts import TargetVerdict
from . import words

#: GitHub shows so many annotations of a kind for a step, and no more.
MOST = 10
#: So many characters of one text are shown.
LONGEST = 1000
_GOOD = (TargetVerdict.CONFORMANT, TargetVerdict.WITH_WAIVERS)


@dataclass(frozen=True, slots=True)
class Gated:
    """What a gate made of a report: what fails the run as new, and each reason for which it fails."""

    failing: Sequence[Finding]
    reasons: Sequence[str]


def annotations(reports: Iterable[Findings], gates: Mapping[str, Gated] | None = None) -> Iterator[str]:
    """The lines that make annotations of the first findings, causes first, target by target.

    `gates` has the targets that were held to a baseline, by name. What their gate lets pass is no error.
    """
    gates = gates or {}
    return islice((line for one in reports for line in _of(one, gates.get(one.report.target.name))), MOST)


def _of(findings: Findings, gate: Gated | None) -> Iterator[str]:
    report, found = findings.report, findings.violations
    target = words.shortened(report.target.name, 100)
    failing = found if gate is None else gate.failing
    for finding in failing:
        case, check = finding.checks[0]
        said = (
            f"{report.clauses[finding.clause].rule}",
            f"{words.extent(finding)}; in {case.id}: {words.warning(report, check)}",
            words.again(report, case),
            *filter(None, [words.alike(finding)]),
        )
        text = "\n".join(words.shortened(line, LONGEST) for line in said)
        yield command("error", text, title=f"{target}: {words.shortened(finding.clause, 100)}")
    if gate is not None:
        if gate.reasons and not failing:
            yield command("error", words.shortened("; ".join(gate.reasons), LONGEST), title=f"{target}: gate")
        new = {check.clause for one in failing for _, check in (*one.checks, *one.also, *one.folded)}
        if passed := [finding.clause for finding in found if finding.clause not in new]:
            text = f"The baseline has {number(len(passed), 'finding')}, too: {', '.join(passed)}"
            yield command("notice", words.shortened(text, LONGEST), title=f"{target}: gate")
    elif not found and report.verdict not in _GOOD:
        kind = "warning" if report.verdict is TargetVerdict.INCOMPLETE else "error"
        yield command(kind, words.shortened(report.reason, LONGEST), title=f"{target}: {report.verdict}")


def inert(line: str) -> str:
    """A line that is no command, if it does not begin with what somebody else said."""
    return line.replace("##[", "## [")


def stop(token: str) -> str:
    """The line after which no line is a command, until `go_on` with the same token; nobody else may know the token."""
    return command("stop-commands", token)


def go_on(token: str) -> str:
    """The line that ends what `stop` began."""
    return command(token, "")


def command(name: str, text: str, **properties: str) -> str:
    """A line that is this command and no other, whatever `text` and the properties hold."""
    given = ",".join(f"{key}={_property(value)}" for key, value in properties.items())
    return f"::{name}{' ' if given else ''}{given}::{_data(text)}"


def _data(text: str) -> str:
    """A text as the runner unescapes it. Line ends are kept; what else would steer a terminal is printable."""
    lines = (printable(line).replace("%", "%25") for line in text.split("\n"))
    return "%0A".join(lines)


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
