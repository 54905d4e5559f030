"""A report in Markdown: for a pull request, a comment, or the summary of a job.

A site that shows Markdown makes links, mentions and pictures of text. So a text of the report is prose only as far as
it is plain words; everything else of it stands in code, where nothing is made of it.
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import groupby

from ..model.claims import ClaimState
from ..model.costs import Costs
from ..model.counts import few, number
from ..model.findings import Finding, Findings
from ..model.report import REPORT_NAME, Report
from ..model.verdicts import Verdict
from ..plain import dumps
from . import cost_table, words
from .terminal import CALLS_SHOWN, CASES_SHOWN, FINDINGS_SHOWN

#: Bytes of the file. A comment on GitHub takes 65,536 characters, the summary of a job 1 MiB.
LIMIT = 65_000
#: So many characters of one text are shown, and of one call.
LONGEST = 1000
LONGEST_CALL = 200
#: So many lines of one list are shown; the rest is counted.
LINES_SHOWN = 30
#: Bytes that are kept for saying what was left out.
_KEPT = 500

#: Words that nothing is made of: letters, or few digits, with marks of a sentence around them. Letters that are all
#: hexadecimal digits could name a commit.
_PLAIN = re.compile(
    r"[(\"“]?(?!(?:[a-f]{7,})(?:\W|$))(?:[^\W\d_]+(?:['’-][^\W\d_]+)*|\d{1,6}(?:\.\d{1,6})*)[)\"”]*[.,;:?]?|[–—…×=+]",
    re.IGNORECASE,
)
#: A part of the file: its name, and its text, which is whole Markdown in itself.
Part = tuple[str, str]


def render(findings: Findings) -> str:
    """The text of report.md: no more than LIMIT bytes of UTF-8."""
    return bounded(findings, LIMIT)


def bounded(findings: Findings, limit: int) -> str:
    """The same with no more than `limit` bytes of UTF-8, at least 1,000: it says what it left out for want of room."""
    taken, left, room = [], [], limit - _KEPT
    for name, text in _parts(findings):
        size = len(text.encode()) + 1
        if size <= room:
            taken.append(text)
            room -= size
        else:
            left.append(name)
    if left:
        kinds = ", ".join(f"{name} ({count})" for name, count in Counter(left).items())
        taken.append(f"Left out here to save room: {kinds}. All of it is in `{REPORT_NAME}`.\n")
    return "\n".join(taken)


def _parts(findings: Findings) -> Iterator[Part]:
    report = findings.report
    yield "the verdict", _head(report)
    yield from _findings(report, findings.violations)
    if report.classes:
        yield "the classes", _classes(report)
    yield from _list("waivers", [f"{_code(one.clause)}: {_prose(words.waiver(one))}" for one in report.waivers])
    yield from _list("warnings", [_warning(report, one) for one in findings.warnings])
    for verdict in (Verdict.ERROR, Verdict.NOT_RUN, Verdict.ABSENT):
        why = words.reasons(report, verdict).most_common()
        yield from _list(f"{verdict}", [f"{number(count, 'case')}: {_prose(reason)}" for reason, count in why])
    under = [one for one in report.claims if one.state is ClaimState.UNDER_DECLARED]
    if report.costs is not None:
        yield from _costs(report.costs)
    yield from _list("under-declared claims", [f"{_code(f'{one.name} = {dumps(one.value)}')}" for one in under])


def _head(report: Report) -> str:
    target = report.target
    scheme = f" ({_code(f'{target.scheme}://')})" if target.scheme else ""
    return "\n".join(
        (
            f"# {_code(target.name)}{scheme}: {report.verdict}\n",
            f"{_prose(report.reason)}\n",
            *([f"Not a whole run: {_prose(report.left_out)}\n"] if report.left_out is not None else []),
            f"{words.counts(report)}\n",
            f"Contract {_code(report.contract)}, tier {report.suite.tier}, suite {_code(report.suite.version)}, "
            f"runtime {_code(target.runtime)}.\n",
        )
    )


def _classes(report: Report) -> str:
    lines = ["## Classes\n"]
    untouched = []
    for name, account in report.classes.items():
        if said := words.of_class(account):
            lines.append(f"- {_code(name)}: **{account.verdict}**, {said}")
        else:
            untouched.append(name)
    if untouched:
        lines.append(f"- no case of {', '.join(map(_code, untouched))}")
    return "\n".join((*lines, ""))


def _findings(report: Report, found: Sequence[Finding]) -> Iterator[Part]:
    if not found:
        return
    yield "findings", f"## Findings\n\n{number(len(found), 'finding')}, causes first.\n"
    for place, finding in enumerate(found[:FINDINGS_SHOWN], start=1):
        yield "findings", _finding(report, place, finding)
        if calls := _calls(finding):
            yield "calls", calls
    rest = [f"{_code(finding.clause)}: {words.extent(finding)}" for finding in found[FINDINGS_SHOWN:]]
    if rest:
        yield "findings", _details(number(len(rest), "more finding"), _lines(rest))


def _finding(report: Report, place: int, finding: Finding) -> str:
    clause = report.clauses[finding.clause]
    case, check = finding.checks[0]
    others = [name for name in finding.cases if name != case.id]
    said = {
        "Rule": _prose(clause.rule),
        "Source": _prose("; ".join(clause.source)),
        "TensorFlow": _prose(clause.tensorflow or ""),
        "Case": f"{_code(case.id)} {_prose(case.stimulus)}",
        "Expected": _code(check.expected),
        "Got": _code(words.got(check)),
        "Found": _prose(case.reason or ""),
        "Also in": _prose(few(others)),
        "Breaks": _prose(words.others(finding)),
        "Others": _prose(words.alike(finding)),
        "After it": _prose(words.under(finding, whole=True)),
        "Look at": _prose(clause.advice(check.kind) or ""),
    }
    title = ": ".join(filter(None, (_code(finding.clause), _prose(words.fault(finding)))))
    return "\n".join(
        (
            f"### {place}. {title}\n",
            f"{words.extent(finding)}\n",
            *(f"- **{name}:** {text}" for name, text in said.items() if text),
            "\nRun it again, or accept it:\n",
            _block(_cut(words.again(report, case)), _cut(words.waiving(REPORT_NAME, finding.clause))),
        )
    )


def _calls(finding: Finding) -> str:
    case, _ = finding.checks[0]
    if not case.ops:
        return ""
    shown = [words.shortened(call, LONGEST_CALL) for call in case.ops[-CALLS_SHOWN:]]
    before = len(case.ops) - len(shown)
    title = number(len(case.ops), "call") + (f", the last {len(shown)}" if before else "")
    return _details(title, _block(*shown))


def _costs(costs: Costs) -> Iterator[Part]:
    """What was measured, and the table, a line each."""
    missing = _lines([_prose(f"Not measured: {text}") for text in costs.unmeasured])
    yield "costs", f"## Costs\n\n{_prose(cost_table.head(costs))}.\n\n{missing}"
    rows = [
        f"{_prose(op)}: {_code(', '.join(filter(None, figures)))}"
        for op, *figures in cost_table.rows(costs, largest_only=True)
    ]
    if rows:
        yield "costs", _details(number(len(rows), "figure"), _lines(rows))


def _warning(report: Report, finding: Finding) -> str:
    case, check = finding.checks[0]
    count = number(finding.times, "check")
    return f"{_code(finding.clause)} ({count}): {_code(case.id)} {_prose(words.warning(report, check))}"


def _list(name: str, lines: list[str]) -> Iterator[Part]:
    """A section that is a list; a long one is folded."""
    if not lines:
        return
    title = name.capitalize()
    if len(lines) > CASES_SHOWN:
        yield name, f"## {title}\n\n{_details(number(len(lines), 'line'), _lines(lines))}"
    else:
        yield name, f"## {title}\n\n{_lines(lines)}"


def _lines(lines: list[str]) -> str:
    more = len(lines) - LINES_SHOWN
    rest = [f"- … and {more} more in `{REPORT_NAME}`"] if more > 0 else []
    return "\n".join((*(f"- {line}" for line in lines[:LINES_SHOWN]), *rest, ""))


def _details(title: str, text: str) -> str:
    """Text that a reader unfolds. `title` is ours."""
    return f"<details><summary>{title}</summary>\n\n{text}\n</details>\n"


def _block(*lines: str) -> str:
    """Lines of code, each printable."""
    fence = "`" * max(3, 1 + max(map(_ticks, lines)))
    return "\n".join((fence, *lines, fence, ""))


def _code(text: str) -> str:
    """A text as code."""
    return _span(words.shortened(text, LONGEST)) if text else ""


def _cut(command: str) -> str:
    """A command, which is printable, and no command any more where it is too long."""
    return words.shortened(command, LONGEST) if len(command) > LONGEST else command


def _prose(text: str) -> str:
    """A text whose plain words are prose, and the rest of it code."""
    parts = groupby(words.shortened(text, LONGEST).split(), key=lambda word: bool(_PLAIN.fullmatch(word)))
    return " ".join(" ".join(group) if plain else _code_in_prose(" ".join(group)) for plain, group in parts)


def _code_in_prose(text: str) -> str:
    """Code, without the mark of the sentence that it ends with."""
    has_mark = re.search(r"[\w)\]'\"][,.:;]$", text)
    return _span(text[:-1]) + text[-1] if has_mark else _span(text)


def _span(text: str) -> str:
    fence = "`" * (1 + _ticks(text))
    space = " " if text.startswith(("`", " ")) or text.endswith(("`", " ")) else ""
    return f"{fence}{space}{text}{space}{fence}"


def _ticks(text: str) -> int:
    """The most backticks that stand side by side."""
    return max(map(len, re.findall("`+", text)), default=0)
