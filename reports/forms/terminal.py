"""The summary at the end of a run, made from the report alone: lines of text with the markup of pytest's writer.

It says what to do next: the verdict, and what is broken, the cause first; after that the classes that are not
conformant, and what the plugin lacks, a line each. The rest is in the report, and here where more is asked for: with a
verbosity of 1 all findings, the calls of the first, and all classes, with 2 the calls of all.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from ..escape import command_line, printable
from ..model.abi import AbiFacts, AbiSymbols, spans
from ..model.claims import ClaimState
from ..model.counts import few, number
from ..model.findings import Finding, Findings, Made
from ..model.histories import Histories
from ..model.records import CaseRecord, Ending
from ..model.report import REPORT_NAME, Report
from ..model.services import Figures
from ..model.verdicts import TargetVerdict, Verdict
from ..model.waivers import REMEDIES
from ..plain import dumps
from . import words
from .cost_table import cost_lines
from .lines import Line, fitting, rule, wrapped

#: So many findings are shown where nobody asks for all.
FINDINGS_SHOWN = 10
#: So many cases of one clause are shown where all findings are; the rest is counted.
CASES_SHOWN = 5
#: So many calls of one case are shown, the last ones.
CALLS_SHOWN = 40
#: So many lines of output of a case with an error are shown, the last ones.
OUTPUT_SHOWN = 30
#: The clause that says how long is too long.
HANG = "robustness.no-hang"
_COLOUR = {
    TargetVerdict.CONFORMANT: "green",
    TargetVerdict.WITH_WAIVERS: "green",
    TargetVerdict.NOT_CONFORMANT: "red",
    TargetVerdict.INCOMPLETE: "yellow",
    TargetVerdict.NOT_CLAIMED: "yellow",
}


def summary(findings: Findings, *, width: int, directory: Path | None, verbosity: int = 0) -> Iterator[Line]:
    """The lines for one target; `directory` is where its report is, None where it could not be written."""
    columns, report = fitting(width), findings.report
    verbosity = max(0, verbosity)
    target = report.target
    scheme = f" ({target.scheme}://)" if target.scheme else ""
    yield rule(f" conformance of {printable(target.name)}{printable(scheme)} ", columns), {"bold": True}
    verdict = f"{report.verdict}: {printable(report.reason)} (tier {report.suite.tier})"
    yield verdict, {"bold": True, _COLOUR[report.verdict]: True}
    yield words.counts(report), {}
    yield from _violations(report, findings.violations, columns, directory, verbosity)
    yield from _waived(report, columns, verbosity)
    yield from _warnings(report, findings.warnings, columns, verbosity)
    yield "", {}
    yield from _classes(report, columns, verbosity)
    if target.read_only:
        yield "read-only: each op that changes something is NULL or refuses to", {}
    yield from _tables(target.tables, columns, verbosity)
    yield from _claims(report, columns)
    yield from _abi(target.abi, columns, verbosity)
    yield from _readings(report, columns, verbosity)
    yield from _not_run(report, columns, verbosity)
    yield from _services(report.services, columns)
    yield from _histories(report.histories, columns, verbosity)
    if report.costs is not None:
        yield from cost_lines(report.costs, columns, verbosity)
    if directory is not None:
        yield "", {}
        yield f"report: {printable(_path(directory))}", {}


def _path(directory: Path) -> str:
    """The path of the report, as short as it can be typed here."""
    path = directory / REPORT_NAME
    return str(path.relative_to(Path.cwd())) if path.is_relative_to(Path.cwd()) else str(path)


def _histories(histories: Histories | None, columns: int, verbosity: int) -> Iterator[Line]:
    """How many small histories were tried, and what they met."""
    if histories is None:
        return
    met = sum(map(len, histories.met.values()))
    never = sum(map(len, histories.never.values()))
    left = f", {histories.left_out:,} left out" if histories.left_out else ""
    text = f"{histories.tried:,} tried{left}; {met} pairs of op and situation met, {never} of the tables never"
    yield from wrapped("small histories: ", text + ("" if verbosity or not never else " (-v says which)"), columns)
    for op, situations in histories.never.items() if verbosity else ():
        yield from wrapped(f"  {op} never with ", ", ".join(situations), columns)


def _abi(abi: AbiFacts | None, columns: int, verbosity: int) -> Iterator[Line]:
    """In which releases of TensorFlow it loads, and why not in the others."""
    if abi is None:
        return
    loads = f"TensorFlow {spans(abi.loads, abi.releases)}" if abi.loads else "no release of TensorFlow"
    lacking = [release for release in abi.releases if release not in abi.loads]
    if abi.missing and not verbosity:
        loads += f"; not in {spans(lacking, abi.releases)}, which lacks {_symbols(abi.missing)} (-v says more)"
    for line, _ in wrapped("loads in ", loads, columns):
        yield line, {"yellow": bool(lacking)}
    for one in abi.missing if verbosity else ():
        where = f": {one.library} has it, which the plugin does not name" if one.library else ""
        text = f"{spans(one.releases, abi.releases)}, which lacks {_symbols([one])}{where}"
        yield from wrapped("  not in ", text, columns)


def _symbols(groups: Sequence[AbiSymbols]) -> str:
    """The first of these symbols, and how many more there are. One may be in several groups, which hold not all."""
    first, *others = groups
    known = {symbol for one in groups for symbol in one.symbols}
    if others and any(one.count > len(one.symbols) for one in groups):
        return f"{first.symbols[0]} and others"
    more = (len(known) if others else first.count) - 1
    return first.symbols[0] + (f" and {more} more" if more else "")


def _classes(report: Report, columns: int, verbosity: int) -> Iterator[Line]:
    """The classes that are not conformant, and of how many checks their verdict is; the others where more is asked."""
    untouched, conformant = [], []
    for name, account in report.classes.items():
        said = words.of_class(account)
        if said is None:
            untouched.append(name)
        elif account.verdict is TargetVerdict.CONFORMANT and not verbosity:
            conformant.append(name)
        else:
            line = f"  {printable(name):<14} {account.verdict:<22} {said}"
            yield line, {_COLOUR[account.verdict]: True}
    if conformant:
        yield from _on_one_line("conformant classes: ", conformant, columns)
    if untouched:
        yield from _on_one_line("no case of: ", untouched, columns)


def _tables(tables: Mapping[str, str], columns: int, verbosity: int) -> Iterator[Line]:
    """The ops that the plugin does not have."""
    for answer, title in (("default", "answered by core's default"), ("absent", "absent")):
        ops = [op for op, given in tables.items() if given == answer]
        if ops and verbosity:
            yield from wrapped(f"{title}: ", ", ".join(ops), columns)
        elif ops:
            yield from _on_one_line(f"{title}: ", ops, columns)


def _on_one_line(head: str, names: Sequence[str], columns: int) -> Iterator[Line]:
    """The first of these names, as many as there is room for, and how many more there are."""
    for shown in range(len(names), 0, -1):
        more = f", … and {len(names) - shown} more" if shown < len(names) else ""
        line = f"{head}{printable(', '.join(names[:shown]))}{more}"
        if len(line) <= columns or shown == 1:
            yield line[:columns], {}
            return


def _claims(report: Report, columns: int) -> Iterator[Line]:
    """What the profile claims; what is kept beyond that is worth a line of its own."""
    said = {claim.name: dumps(claim.value) for claim in report.claims}
    if said:
        yield from wrapped("claims: ", ", ".join(f"{name} = {value}" for name, value in said.items()), columns)
    for claim in report.claims:
        if claim.state is ClaimState.UNDER_DECLARED:
            text = f"{claim.name} = {said[claim.name]}, but everything it gives up is kept"
            for line, _ in wrapped("  under-declared: ", text, columns):
                yield line, {"yellow": True}


def _violations(
    report: Report, found: Sequence[Finding], columns: int, directory: Path | None, verbosity: int
) -> Iterator[Line]:
    shown = found if verbosity else found[:FINDINGS_SHOWN]
    for place, finding in enumerate(shown):
        yield from _finding(report, finding, columns, verbosity, calls=verbosity > 1 or (verbosity == 1 and not place))
    if not found:
        return
    yield "", {}
    if rest := [words.fault(finding) or finding.clause for finding in found[len(shown) :]]:
        yield from wrapped(f"… and {number(len(rest), 'more finding')}: ", f"{few(rest)}; -v shows them all", columns)
    folded = sum(check.times for finding in found for _, check in finding.folded)
    more = f", with {number(folded, 'check')} of other ops under them (-v names their clauses)" if folded else ""
    yield f"{number(len(found), 'finding')}{more}; each with all of its cases in {REPORT_NAME}", {}
    yield f"more on the first rule: {command_line(['tffs-conformance', 'explain', found[0].clause])}", {}
    if any(HANG in (finding.clause, *finding.beside) for finding in found):
        seconds = report.suite.options.get("call-timeout")
        yield f"slow, and no hang? --call-timeout=SECONDS waits longer for each call; it was {seconds}", {}
    if directory is not None:
        yield f"to accept them: {words.waiving(_path(directory))}", {"light": True}


def _finding(report: Report, finding: Finding, columns: int, verbosity: int, calls: bool) -> Iterator[Line]:
    clause = report.clauses[finding.clause]
    yield "", {}
    cases = list(finding.cases)
    title = ": ".join(filter(None, (finding.clause, words.fault(finding))))
    yield f"VIOLATION {printable(title)} ({words.extent(finding)})", {"bold": True, "red": True}
    yield from wrapped("  rule      ", clause.rule, columns)
    yield from wrapped("  source    ", "; ".join(clause.source), columns)
    if clause.tensorflow:
        yield from wrapped("  TensorFlow ", clause.tensorflow, columns)
    stimuli = finding.checks[: CASES_SHOWN if verbosity else 1]
    for made in stimuli:
        yield from _stimulus(made, columns, calls)
    shown = {case.id for case, _ in stimuli}
    if others := [case for case in cases if case not in shown]:
        yield from wrapped("  also in   ", few(others), columns)
    for title, text in (
        ("  breaks    ", words.others(finding, whole=bool(verbosity))),
        ("  others    ", words.alike(finding)),
        ("  after it  ", words.under(finding, whole=bool(verbosity))),
        ("  look at   ", clause.advice(finding.checks[0][1].kind) or ""),
    ):
        yield from wrapped(title, text, columns) if text else ()
    case, _ = finding.checks[0]
    yield f"  again     {words.again(report, case)}", {}
    if said := words.by_chance(report, finding):
        yield from wrapped("            ", said, columns)


def _stimulus(made: Made, columns: int, calls: bool) -> Iterator[Line]:
    case, check = made
    yield from wrapped("  stimulus  ", f"{case.id}: {case.stimulus}", columns)
    yield from wrapped("    expected  ", check.expected, columns)
    yield from wrapped("    got       ", words.got(check), columns)
    yield from _found(case.reason or "", columns)
    if calls:
        yield from _calls(case, columns)


def _found(reason: str, columns: int) -> Iterator[Line]:
    """How a history was shrunk, in words, and where it was written down, in paths and commands to be copied."""
    words, *copied = reason.split("; ")
    yield from wrapped("    found     ", words, columns) if words else ()
    for text in copied:
        yield f"{'':<14}{printable(text)}", {}


def _calls(case: CaseRecord, columns: int) -> Iterator[Line]:
    """The last calls of a case: what went wrong is among them, or shortly before."""
    before = len(case.ops) - CALLS_SHOWN
    if before > 0:
        yield f"    calls     … {before} before these", {}
    for call in case.ops[max(0, before) :]:
        yield from wrapped("    call      ", call, columns)


def _waived(report: Report, columns: int, verbosity: int) -> Iterator[Line]:
    """The entries of the file of waivers that fail the run, what is to be done about them, and some of the others."""
    if report.waivers:
        yield "", {}
        yield "waivers:", {"bold": True}
    others = 0
    for place, entry in enumerate(report.waivers, start=1):
        fails = entry.state in REMEDIES
        others += not fails
        if not (fails or verbosity or others <= FINDINGS_SHOWN):
            continue
        red = {"red": True} if fails else {}
        yield f"  waiver {place} ({printable(entry.clause)}, {printable(entry.case)})", red
        for text, _ in wrapped("    ", words.waiver(entry), columns):
            yield text, red
    if others > FINDINGS_SHOWN and not verbosity:
        yield f"  … and {others - FINDINGS_SHOWN} more, with nothing to do; -v shows them all", {}


def _warnings(report: Report, warned: Sequence[Finding], columns: int, verbosity: int) -> Iterator[Line]:
    shown = warned if verbosity else warned[:FINDINGS_SHOWN]
    if warned:
        yield "", {}
    for finding in shown:
        (case, check), clause = finding.checks[0], report.clauses[finding.clause]
        yield f"WARNING {printable(finding.clause)} ({number(finding.times, 'check')})", {"yellow": True}
        yield from wrapped("  rule      ", clause.rule, columns)
        if check.reading is None:
            yield from _stimulus((case, check), columns, calls=False)
        else:
            yield from wrapped("  stimulus  ", f"{case.id}: {case.stimulus}", columns)
            yield from wrapped("    reading   ", words.warning(report, check), columns)
        advice = clause.advice(check.kind)
        yield from wrapped("  look at   ", advice, columns) if advice else ()
    if rest := [finding.clause for finding in warned[len(shown) :]]:
        yield from wrapped(f"… and {len(rest)} more warnings: ", f"{few(rest)}; -v shows them all", columns)


def _readings(report: Report, columns: int, verbosity: int) -> Iterator[Line]:
    """Where sources contradict each other and the plugin gave one of the accepted answers."""
    readings: dict[str, Counter[str]] = {}
    for case in report.cases:
        for check in case.checks:
            if check.reading and check.verdict is not Verdict.WARNING:
                readings.setdefault(check.clause, Counter())[check.reading] += check.times
    if not readings:
        return
    yield "", {}
    if not verbosity:
        yield f"{number(len(readings), 'disputed clause')}, answered in an accepted way (-v lists the answers)", {}
        for name, followed in readings.items():
            made, bad = words.made_of(report, name), words.damaging(report.clauses[name])
            for reading in (one for one in followed if one in bad):
                for line, _ in wrapped(f"  {printable(name)}: ", f"{reading}: {made.get(reading)}", columns):
                    yield line, {"yellow": True}
        return
    yield "disputed clauses, the reading that this plugin follows, and its effect on TensorFlow:", {}
    for name, counter in readings.items():
        made = words.made_of(report, name)
        said = " | ".join(f"{reading}: {made[reading]}" if reading in made else reading for reading in counter)
        yield from wrapped(f"  {printable(name)}: ", said, columns)


def _not_run(report: Report, columns: int, verbosity: int) -> Iterator[Line]:
    most = 50 if verbosity else CASES_SHOWN
    for verdict in (Verdict.ERROR, Verdict.NOT_RUN, Verdict.ABSENT):
        reasons = words.reasons(report, verdict)
        if verdict is Verdict.ABSENT and reasons and not verbosity:
            yield f"absent: {number(reasons.total(), 'case')} (-v says why)", {}
            if unwitnessed := sum(case.ended is Ending.UNWITNESSED for case in report.cases):
                added = f"--backing=URL names another way to the storage and adds {number(unwitnessed, 'case')}"
                yield from wrapped("  of these: ", added, columns)
            continue
        if reasons:
            yield "", {}
            yield f"{verdict}:", {"bold": True, "red": verdict is Verdict.ERROR, "yellow": verdict is not Verdict.ERROR}
        for reason, count in reasons.most_common(most):
            yield from wrapped(f"  {count:>4} × ", reason, columns)
            if verdict is Verdict.ERROR:
                yield from _output(report, reason, columns)
        if len(reasons) > most:
            yield f"  … and {len(reasons) - most} more reasons in {REPORT_NAME}", {}


def _output(report: Report, reason: str, columns: int) -> Iterator[Line]:
    """The end of what was printed in the first case with this error: the traceback stands last."""
    case = next(one for one in report.cases if words.has(one, Verdict.ERROR) and words.why(one) == reason)
    for text in case.output.splitlines()[-OUTPUT_SHOWN:]:
        indent = " " * (9 + len(text) - len(text.lstrip()))
        yield from wrapped(indent, text.lstrip(), columns)


def _services(measured: Figures | None, columns: int) -> Iterator[Line]:
    if measured is None:
        return
    yield "", {}
    yield from wrapped("services: ", ", ".join(measured.images), columns)
    if measured.failure is not None:
        for text, _ in wrapped("  nothing could be measured: ", measured.failure, columns):
            yield text, {"red": True}
        return
    yield f"  what they counted while a file of {measured.size:,} bytes was read, here and then on another node:", {}
    for figure in measured.figures:
        yield from wrapped(f"  {figure.bytes:>14,}  ", figure.what, columns)
