"""How plugins stand: verdicts as signs that fit into a narrow table, and what all releases say of one clause."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from ..model.records import CaseRecord, CheckRecord
from ..model.report import ClauseAccount, Report
from ..model.uses import Word
from ..model.verdicts import ClauseVerdict, TargetVerdict, Verdict
from .releases import Release


@dataclass(frozen=True, slots=True)
class Sign:
    """What stands for a verdict: a character, the style of the page that it has, and what it means."""

    character: str
    style: str
    means: str


#: Of a target and of a class.
TARGETS: Mapping[TargetVerdict, Sign] = {
    TargetVerdict.CONFORMANT: Sign("✓", "good", "every check of a MUST clause was kept"),
    TargetVerdict.WITH_WAIVERS: Sign("w", "warn", "violations are waived: known, and accepted for a while"),
    TargetVerdict.NOT_CONFORMANT: Sign("✗", "bad", "how many MUST clauses are broken"),
    TargetVerdict.INCOMPLETE: Sign("?", "warn", "too little could be run to know"),
    TargetVerdict.NOT_CLAIMED: Sign("–", "faint", "the plugin has no op of the class"),
}

#: Of what people keep in a storage.
WORDS: Mapping[Word, Sign] = {
    Word.WORKS: Sign("✓", "good", "what TensorFlow does for it was tried, and nothing broke"),
    Word.BREAKS: Sign("!", "warn", "something that TensorFlow does for it fails"),
    Word.LOSES: Sign("✗", "bad", "stored files vanish or lose their content"),
    Word.NOT_KNOWN: Sign("?", "faint", "too little was tried to say"),
}

#: Kept where it was tried, and not tried everywhere.
IN_PART = "kept in part"

#: Of a clause, by what `word` says of it.
CLAUSES: Mapping[str, Sign] = {
    Verdict.VIOLATION: Sign("✗", "bad", "a MUST that is not kept, and how many checks saw that"),
    Verdict.ERROR: Sign("E", "warn", "the suite failed"),
    Verdict.WARNING: Sign("!", "warn", "a SHOULD that is not kept, or an accepted answer that loses data"),
    Verdict.WAIVED: Sign("w", "warn", "a violation that is waived"),
    Verdict.CONFORM: Sign("✓", "good", "kept"),
    IN_PART: Sign("(✓)", "good", "kept where it was tried; some checks were absent or could not be run"),
    Verdict.TOLERATED: Sign("≈", "good", "an accepted answer, where the sources contradict each other"),
    Verdict.INFORMATIONAL: Sign("i", "faint", "an answer that no source demands or forbids"),
    Verdict.ABSENT: Sign("–", "faint", "the plugin does not have what it is about"),
    Verdict.NOT_RUN: Sign("?", "warn", "could not be run"),
    Verdict.DOES_NOT_APPLY: Sign("∅", "faint", "what it answers leaves nothing to check"),
    ClauseVerdict.UNCHECKED: Sign("·", "faint", "no check was made"),
}


def word(account: ClauseAccount) -> str:
    """What a run says of a clause, as a key of CLAUSES.

    The verdict of a clause is the worst of its checks, and what was not tried is worse than what was kept. Who compares
    plugins wants to know first whether it was kept where it was tried.
    """
    counts = account.counts
    tried = (Verdict.VIOLATION, Verdict.ERROR, Verdict.WARNING, Verdict.WAIVED)
    if broken := next((verdict for verdict in tried if counts[verdict]), None):
        return broken
    if counts.conform or counts.tolerated:
        if counts.absent or counts.not_run:
            return IN_PART
        return Verdict.TOLERATED if counts.tolerated else Verdict.CONFORM
    rest = (Verdict.INFORMATIONAL, Verdict.NOT_RUN, Verdict.ABSENT, Verdict.DOES_NOT_APPLY)
    return next((verdict for verdict in rest if counts[verdict]), ClauseVerdict.UNCHECKED)


@dataclass(frozen=True, slots=True)
class Standing:
    """A clause as the latest report has it, and what each plugin's newest release says of it.

    `accounts` has None for a release whose suite did not have the clause. `cases` are the ids of those that check it,
    by what stands before the bracket. `seen` is a breach of it: the smallest, of the first release that has one.
    """

    id: str
    facts: ClauseAccount
    accounts: list[tuple[Release, ClauseAccount | None]]
    cases: dict[str, list[str]] = field(default_factory=dict)
    seen: tuple[Release, CaseRecord, CheckRecord] | None = None

    @property
    def broken(self) -> bool:
        """Whether some plugin does not keep it."""
        return any(
            account.counts.violation or account.counts.warning or account.counts.waived
            for _, account in self.accounts
            if account
        )

    def who(self, *verdicts: str) -> list[tuple[Release, ClauseAccount]]:
        """The releases of which one of these words is said, and what is said."""
        return [(release, account) for release, account in self.accounts if account and word(account) in verdicts]

    def followers(self, reading: str) -> list[Release]:
        """The releases that were seen to follow a reading."""
        return [release for release, account in self.accounts if account and reading in (account.readings_seen or {})]


def standings(releases: Iterable[Release]) -> list[Standing]:
    """All clauses by class, in the order of the latest report; what only earlier ones have comes last."""
    shown = list(releases)
    facts: dict[str, ClauseAccount] = {}
    cases: dict[str, dict[str, list[str]]] = {}
    for report in latest_first(release.report for release in shown):
        new = report.clauses.keys() - facts.keys()
        facts |= {name: account for name, account in report.clauses.items() if name in new}
        cases |= _by_clause(report.cases, new)
    seen: dict[str, tuple[Release, CaseRecord, CheckRecord]] = {}
    for verdict in (Verdict.VIOLATION, Verdict.WARNING):
        for release in shown:
            for name, (case, check) in release.findings.plainest.items():
                if check.verdict is verdict:
                    seen.setdefault(name, (release, case, check))
    return [
        Standing(
            name, known, [(one, one.report.clauses.get(name)) for one in shown], cases.get(name, {}), seen.get(name)
        )
        for name, known in facts.items()
    ]


def latest_first(reports: Iterable[Report]) -> list[Report]:
    """Reports, the one whose run began last before the others."""
    return sorted(reports, key=lambda report: (report.suite.started, report.end.sha256), reverse=True)


def by_class(clauses: Iterable[Standing]) -> dict[str, list[Standing]]:
    """The clauses of each class."""
    classes: dict[str, list[Standing]] = {}
    for one in clauses:
        classes.setdefault(one.facts.conformance_class, []).append(one)
    return classes


def by_op(clauses: Iterable[Standing]) -> dict[str, list[Standing]]:
    """The clauses by what their ids begin with, by name: the op that they are about, or what all ops share."""
    groups: dict[str, list[Standing]] = {}
    for one in sorted(clauses, key=lambda clause: clause.id.partition(".")[0]):
        groups.setdefault(one.id.partition(".")[0], []).append(one)
    return groups


def _by_clause(cases: Iterable[CaseRecord], names: Iterable[str]) -> dict[str, dict[str, list[str]]]:
    """For each of these clauses the cases that are there to check it, in groups."""
    found: dict[str, dict[str, list[str]]] = {name: {} for name in names}
    for case in cases:
        for name in found.keys() & set(case.clauses):
            found[name].setdefault(case.id.partition("[")[0], []).append(case.id)
    return found
