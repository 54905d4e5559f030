"""A report as JUnit XML, which GitLab, Jenkins and most others read: a test case a case.

A violation is a failure, an error an error. What is absent, not run, waived or does not apply is skipped, and says why.
A warning passes, and says so in its output.
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from xml.etree import ElementTree
from xml.etree.ElementTree import Element, SubElement

from ..model.counts import few, number
from ..model.findings import Findings
from ..model.records import CaseRecord, CheckRecord
from ..model.report import Report
from ..model.verdicts import Verdict
from . import words

#: So many characters of one text are shown, and of one line.
LONGEST = 10_000
LONGEST_LINE = 1000
#: The verdicts that say nothing of the plugin.
SAYING_NOTHING = (Verdict.ABSENT, Verdict.NOT_RUN, Verdict.DOES_NOT_APPLY)
#: So many checks of one case are told, and of its last calls and lines of output.
MOST = 50


def render(findings: Findings) -> str:
    """The text of junit.xml: one test suite, in the order of the cases."""
    return "".join(pieces(findings))


def pieces(findings: Findings) -> Iterator[str]:
    """The same case by case: the elements of many are large, and so is their text."""
    report = findings.report
    ended = Counter(case.verdict for case in report.cases)
    document = Element("testsuites", name="tffs-conformance")
    suite = SubElement(
        document,
        "testsuite",
        name=_line(report.target.name),
        timestamp=_line(report.suite.started),
        time=str(report.suite.duration or 0),
        tests=str(ended.total()),
        failures=str(ended[Verdict.VIOLATION]),
        errors=str(ended[Verdict.ERROR]),
        skipped=str(sum(ended[verdict] for verdict in (*SAYING_NOTHING, Verdict.WAIVED))),
    )
    said = {
        "verdict": report.verdict,
        "reason": report.reason,
        "left_out": report.left_out or "",
        "contract": report.contract,
        "tier": report.suite.tier,
        "seed": str(report.suite.seed),
        "version": report.suite.version,
        "plugin": report.target.plugin,
    }
    _add_properties(suite, said.items())
    before, end, after = _text(document).rpartition("</testsuite>")
    yield f'<?xml version="1.0" encoding="utf-8"?>\n{before}'
    for case in report.cases:
        yield f"\n{_text(_case(report, case))}"
    yield f"\n{end}{after}\n"


def _text(element: Element) -> str:
    """An element in ASCII: a text of many cases would be two or four times as large with one letter of another kind."""
    text: bytes = ElementTree.tostring(element, encoding="us-ascii")
    return text.decode("ascii")


def _add_properties(element: Element, properties: Iterable[tuple[str, str]]) -> None:
    listed = SubElement(element, "properties")
    for name, value in properties:
        SubElement(listed, "property", name=name, value=_line(value))


def _case(report: Report, case: CaseRecord) -> Element:
    test = Element(
        "testcase", name=_line(case.id), classname=_line(case.id.partition("/")[0]), time=str(float(case.duration))
    )
    about = [("clause", clause) for clause in dict.fromkeys(case.clauses)]
    _add_properties(test, [*about, ("verdict", case.verdict)])
    checks = [check for check in case.checks if check.verdict is case.verdict][:MOST]
    match case.verdict:
        case Verdict.VIOLATION:
            failure = SubElement(test, "failure", message=_broken(checks[0]), type="violation")
            failure.text = _lines(_findings(report, case, checks))
        case Verdict.ERROR:
            broken = [check for check in case.checks if check.verdict is Verdict.VIOLATION][:MOST]
            error = SubElement(test, "error", message=_line(words.why(case)), type="error")
            error.text = _lines(_findings(report, case, broken))
        case verdict if verdict in SAYING_NOTHING:
            reason = words.why(case) or few([check.clause for check in checks])
            SubElement(test, "skipped", message=_line(f"{verdict}: {reason}"))
        case Verdict.WAIVED:
            why = [words.why_waived(report, case, check) for check in checks]
            SubElement(test, "skipped", message=_line(f"waived: {'; '.join(dict.fromkeys(why))}"))
    said = [f"warning {check.clause}: {words.warning(report, check)}" for check in checks]
    output = [
        *(said if case.verdict is Verdict.WARNING else ()),
        *_last("calls:", case.ops),
        *_last("output:", case.output.splitlines()),
    ]
    if output:
        SubElement(test, "system-out").text = _lines(output)
    return test


def _broken(check: CheckRecord) -> str:
    return _line(f"{check.clause}: expected {check.expected}, got {words.got(check)}")


def _findings(report: Report, case: CaseRecord, checks: Iterable[CheckRecord]) -> Iterator[str]:
    """What was done, what is broken, and how to see it again."""
    yield f"stimulus  {case.stimulus}"
    for check in checks:
        clause = report.clauses[check.clause]
        yield f"clause    {check.clause}"
        yield f"rule      {clause.rule}"
        yield f"source    {'; '.join(clause.source)}"
        yield f"expected  {check.expected}"
        yield f"got       {words.got(check)}"
        if advice := clause.advice(check.kind):
            yield f"look at   {advice}"
    yield f"again     {words.again(report, case)}"


def _last(title: str, lines: tuple[str, ...] | list[str]) -> list[str]:
    """The last of some lines, under a title that says whether there are more."""
    if not lines:
        return []
    before = len(lines) - MOST
    return [f"{title} … {before} before these" if before > 0 else title, *lines[-MOST:]]


def _line(text: str) -> str:
    """A text on one line. What XML 1.0 cannot hold is not printable, and is an escape by then."""
    return words.shortened(text, LONGEST_LINE)


def _lines(lines: Iterable[str]) -> str:
    """Lines, each made printable, with about LONGEST characters: the rest is counted."""
    shown = [_line(line) for line in lines]
    room = LONGEST
    for place, line in enumerate(shown):
        room -= len(line)
        if room < 0:
            return "\n".join((*shown[:place], f"… {number(len(shown) - place, 'line')} left out"))
    return "\n".join(shown)
