"""How a report is said in words: what its forms say alike.

Texts of a plugin stay as they are, unless it says otherwise: each form escapes them.
"""

from collections import Counter
from collections.abc import Mapping
from pathlib import Path

from ..escape import command_line, printable
from ..model.counts import few, number
from ..model.findings import Finding
from ..model.header import ClauseFacts
from ..model.records import CaseRecord, CheckRecord, Ending
from ..model.report import REPORT_NAME, ClassAccount, Report
from ..model.verdicts import Verdict, checks_made
from ..model.waivers import REMEDIES, WaiverAccount, WaiverState

#: So many other answers to a waived clause are named.
ANSWERS = 5
#: Why a case did not come to its clauses that gives no reason of its own: a check of it may say more.
_ENDED: Mapping[Ending, str] = {
    Ending.WHOLE: "",
    Ending.BLOCKED: "an op that it needs does not work",
    Ending.DIED: "an op did not come back",
    Ending.LACKING: "the target lacks what it is about",
    Ending.UNWITNESSED: "it needs another way to the storage, and no backing was named",
    Ending.UNABLE: "something that it needs is missing here",
    Ending.BROKEN: "the suite, the profile or the environment is broken",
}


#: What is said of a breach that another run of its case may not show.
_BY_CHANCE = "a race may take several runs to show; --sanitizer=thread on an instrumented plugin finds it each time"


def by_chance(report: Report, finding: Finding) -> str:
    """What is said of a finding of a case about several threads; empty for any other."""
    case, _ = finding.checks[0]
    classes = {report.clauses[name].conformance_class for name in case.clauses}
    return _BY_CHANCE if "concurrency" in classes else ""


def shortened(text: str, most: int) -> str:
    """`text` made printable, on one line, with no more than about `most` characters; it says how many it lacks."""
    shown = printable(text[:most])
    if len(text) <= most and len(shown) <= most:
        return shown
    return f"{shown[:most]}… ({number(len(text), 'character')} in {REPORT_NAME})"


def counts(report: Report) -> str:
    """How many cases there are, and how many checks of each verdict."""
    said = ", ".join(f"{count} {verdict}" for verdict, count in report.counts.by_verdict().items() if count)
    return f"{number(len(report.cases), 'case')}; checks of all clauses: {said or 'none'}"


def of_class(account: ClassAccount) -> str | None:
    """Of how many checks the verdict of a class is; None for a class of which there was no case."""
    found = account.counts.by_verdict()
    if not any(found.values()):
        return None
    said = [number(checks_made(found), "check")]
    apart = (Verdict.NOT_RUN, Verdict.ABSENT, Verdict.DOES_NOT_APPLY)
    said += [f"{found[verdict]} {verdict}" for verdict in apart if found[verdict]]
    return ", ".join(said)


def extent(finding: Finding) -> str:
    """In how many checks and cases a finding shows."""
    return f"{number(finding.times, 'check')} in {number(len(finding.cases), 'case')}"


def fault(finding: Finding) -> str:
    """The op at fault and what it does wrong; empty where no check names an op: then the clause says as much."""
    return f"{finding.op} {finding.does}" if finding.checks[0][1].op else ""


def under(finding: Finding, *, whole: bool = False) -> str:
    """The breaches of other ops after it in the same cases; empty where there are none."""
    if not finding.folded:
        return ""
    clauses = list(dict.fromkeys(check.clause for _, check in finding.folded))
    count = number(sum(check.times for _, check in finding.folded), "check")
    return f"{count} in the same cases: {', '.join(clauses) if whole else few(clauses)}"


def others(finding: Finding, *, whole: bool = False) -> str:
    """The other clauses that it breaks; empty where there are none."""
    names = finding.clauses[1:]
    return ", ".join(names) if whole else few(names)


def alike(finding: Finding) -> str:
    """Which ops do the same wrong; empty where none does. Of many the first are named."""
    if not finding.alike:
        return ""
    checks = number(sum(check.times for _, check in finding.also), "check")
    return f"the same for {number(len(finding.alike), 'more op')}: {few(finding.alike)} ({checks})"


def got(check: CheckRecord) -> str:
    """What was seen, and what the plugin said to it."""
    return check.got + (f" ({check.plugin_said})" if check.plugin_said else "")


def made_of(report: Report, clause: str) -> dict[str, str]:
    """What TensorFlow makes of each reading of a clause."""
    return {reading.name: reading.tensorflow for reading in report.clauses[clause].readings or ()}


def damaging(clause: ClauseFacts) -> set[str]:
    """The accepted readings of a clause with which something goes wrong without an error."""
    return {*clause.damaging, *(reading.name for reading in clause.readings or () if reading.harmful)}


def warning(report: Report, check: CheckRecord) -> str:
    """What a warning is about: the reading that a plugin follows, or what was expected of it."""
    if check.reading is not None:
        return f"{check.reading}: {made_of(report, check.clause).get(check.reading, check.got)}"
    return f"expected {check.expected}, got {check.got}"


def waiver(entry: WaiverAccount) -> str:
    """What became of an entry of the file of waivers, and what is to be done about it."""
    if entry.state in REMEDIES:
        said = f"{entry.state}: {REMEDIES[entry.state]} (owner: {entry.owner}, fingerprint: {entry.fingerprint})"
    elif entry.state is WaiverState.USED:
        said = f"{entry.waived} × {entry.fingerprint}: {entry.reason} (owner: {entry.owner})"
    else:
        said = f"{entry.state}: not all of its cases were run"
    if entry.got_instead:
        said += f"; got instead: {' | '.join(entry.got_instead[:ANSWERS])}"
    return said


def why_waived(report: Report, case: CaseRecord, check: CheckRecord) -> str:
    """Why a waived check is accepted, and who answers for that."""
    for entry in report.waivers:
        if entry.state is WaiverState.USED and entry.fits(check.clause, case.id) and entry.is_of(check.got):
            return f"{entry.reason} (owner: {entry.owner})"
    return "no entry of the file of waivers says why"


def why(case: CaseRecord) -> str:
    """Why a case did not come to its clauses; empty where it did."""
    return case.reason or _ENDED[case.ended]


def has(case: CaseRecord, verdict: Verdict) -> bool:
    """Whether a case ended with a verdict that says nothing of the plugin, or did so with some of its clauses."""
    early = case.ended is not Ending.WHOLE
    return case.verdict is verdict or (early and any(check.verdict is verdict for check in case.checks))


def reasons(report: Report, verdict: Verdict) -> Counter[str]:
    """Why cases have a verdict that says nothing of the plugin, and how many have it."""
    return Counter(why(case) for case in report.cases if has(case, verdict))


def artifact(report: Report) -> str:
    """What stands for a file where a format wants one: a plugin has no source here, so it is the plugin's name."""
    return shortened(report.target.name.replace("/", "-"), 200)


def again(report: Report, case: CaseRecord) -> str:
    """The command that runs one case again."""
    return command_line([*report.suite.command, f"--case={case.id}"])


def waiving(path: Path | str, clause: str | None = None) -> str:
    """The command that accepts the violations of the report at `path`: all, or those of one clause."""
    only = [] if clause is None else [f"--clause={clause}"]
    return f"tffs-conformance waive {command_line([str(path), *only])} --owner=WHO --reason=WHY"
