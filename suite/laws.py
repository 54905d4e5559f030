"""Laws: what holds of every call of an op, whatever the case is about.

All calls of all cases are held to them. A law that is broken is recorded in whichever case shows it; that it was kept
is recorded in the cases that declare its clause.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from tffs_conformance.harness.codes import Code
from tffs_conformance.harness.limits import LEFT, LEFT_MESSAGE
from tffs_conformance.harness.outcomes import (
    POISON_UNSIGNED,
    Entries,
    Existence,
    Outcome,
    Read,
    Source,
    Statistics,
    Token,
    Undeleted,
    Watch,
)
from tffs_conformance.harness.raw import Call

OPENS = (
    "new_random_access_file",
    "new_writable_file",
    "new_appendable_file",
    "new_read_only_memory_region_from_file",
)
LISTS = ("get_children", "get_matching_paths")


@dataclass(frozen=True, slots=True)
class Finding:
    """What one call says about one law; `reading` is set where the law's clause is disputed."""

    clause: str
    holds: bool
    expected: str
    got: str
    reading: str | None = None


#: What a law says of a call: a finding, or None where the call is none of its business.
Law = Callable[[str, tuple[object, ...], Outcome[object]], Finding | None]


def findings(calls: Iterable[Call]) -> list[Finding]:
    """What the laws say of some calls: one finding a clause and answer, broken ones first."""
    found: dict[Finding, None] = {}
    for op, arguments, outcome in calls:
        if not isinstance(outcome, Outcome) or outcome.source is not Source.PLUGIN:
            continue
        # A status that was left as it came says nothing of the call.
        if (outcome.code, outcome.message) != (LEFT, LEFT_MESSAGE):
            for law in LAWS:
                finding = law(op, tuple(arguments), outcome)
                if finding is not None:
                    found[finding] = None
    return sorted(found, key=lambda finding: finding.holds)


def _watched(bit: Watch, clause: str) -> Law:
    def law(op: str, _: tuple[object, ...], outcome: Outcome[object]) -> Finding:
        kept = bit not in outcome.watch
        return Finding(clause, kept, "kept", "kept" if kept else f"{op}: {bit.name}")

    return law


def _read(op: str, arguments: tuple[object, ...], outcome: Outcome[object]) -> Finding | None:
    if not isinstance(outcome.value, Read):
        return None
    returned, asked = outcome.value.returned, arguments[2]
    assert isinstance(asked, int)
    clause = "read.return-agrees-with-the-code"
    match outcome.code:
        case Code.OK:
            return Finding(clause, returned == asked, "OK: returned=n", f"OK: returned={_of(returned, asked)}")
        case Code.OUT_OF_RANGE:
            fits = 0 <= returned < asked or returned == asked == 0
            return Finding(
                clause, fits, "OUT_OF_RANGE: returned=0…n-1", f"OUT_OF_RANGE: returned={_of(returned, asked)}"
            )
        case code:
            readings = {"minus-one": returned == -1, "count": 0 <= returned <= asked}
            followed = next((name for name, holds in readings.items() if holds), None)
            return Finding(
                "read.return-on-error", followed is not None, "minus-one or count", f"{code}: {returned}", followed
            )


def _of(returned: int, asked: int) -> str:
    return "n" if returned == asked else str(returned) if returned <= 0 else "more" if returned > asked else "fewer"


def _tell(op: str, _: tuple[object, ...], outcome: Outcome[object]) -> Finding | None:
    if op != "tell" or not isinstance(outcome.value, int):
        return None
    fits = outcome.value >= 0 if outcome.ok else outcome.value == -1
    got = f"{outcome.code}: {'0 or more' if outcome.value >= 0 else outcome.value}"
    return Finding("tell.return-agrees-with-the-code", fits, "OK: 0 or more, an error: -1", got)


def _entries(op: str, _: tuple[object, ...], outcome: Outcome[object]) -> Finding | None:
    if not isinstance(outcome.value, Entries) or not outcome.ok:
        return None
    count = outcome.value.returned
    fits = count == len(outcome.value.names)
    got = "returned=the number of entries" if fits else f"returned={count} entries={len(outcome.value.names)}"
    return Finding(f"{op}.returns-the-count", fits, "returned=the number of entries", got)


def _no_entries(op: str, _: tuple[object, ...], outcome: Outcome[object]) -> Finding | None:
    if not isinstance(outcome.value, Entries) or outcome.ok:
        return None
    count = outcome.value.returned
    followed = "minus-one" if count < 0 else "zero" if count == 0 else None
    return Finding(f"{op}.return-on-error", followed is not None, "minus-one or zero", f"returned={count}", followed)


def _written(op: str, _: tuple[object, ...], outcome: Outcome[object]) -> Finding | None:
    if not isinstance(outcome.value, Undeleted):
        return None
    missing = POISON_UNSIGNED in (outcome.value.files, outcome.value.dirs)
    got = f"{outcome.code}: not written" if missing else "both written"
    return Finding("delete_recursively.writes-both-counters", not missing, "both written", got)


def _undeleted(op: str, _: tuple[object, ...], outcome: Outcome[object]) -> Finding | None:
    if not isinstance(outcome.value, Undeleted) or outcome.ok:
        return None
    something = outcome.value.files + outcome.value.dirs > 0
    got = f"{outcome.code}: " + ("1 or more" if something else "0 and 0")
    return Finding("delete_recursively.counts-what-is-left", something, "an error: 1 or more", got)


def _statistics(op: str, _: tuple[object, ...], outcome: Outcome[object]) -> Finding | None:
    if not isinstance(outcome.value, Statistics) or outcome.ok:
        return None
    untouched = outcome.value.untouched
    return Finding("stat.untouched-on-error", untouched, "untouched", "untouched" if untouched else "written")


def _kind(op: str, _: tuple[object, ...], outcome: Outcome[object]) -> Finding | None:
    if op != "is_directory" or outcome.ok:
        return None
    return Finding("is_directory.returns-false-on-error", outcome.value == 0, "returned=0", f"returned={outcome.value}")


def _all_exist(op: str, _: tuple[object, ...], outcome: Outcome[object]) -> Finding | None:
    if not isinstance(outcome.value, Existence) or outcome.value.statuses is None:
        return None
    everything = all(status.code is Code.OK for status in outcome.value.statuses)
    got = f"returned={outcome.value.returned}"
    agrees = outcome.value.returned == everything
    return Finding("paths_exist.is-true-if-all-exist", agrees, f"returned={everything}", got)


def _object(op: str, _: tuple[object, ...], outcome: Outcome[object]) -> Finding | None:
    if op not in OPENS or outcome.ok:
        return None
    untouched = Watch.OBJECT_SET not in outcome.watch
    got = "object=NULL" if untouched else f"{op}: object=set"
    return Finding("common.object-untouched-on-error", untouched, "object=NULL", got)


def _tokens(op: str, _: tuple[object, ...], outcome: Outcome[object]) -> Finding | None:
    returned: object = outcome.value.returned if isinstance(outcome.value, Token) else outcome.value
    transaction = op in ("end_transaction", "add_to_transaction") or isinstance(outcome.value, Token)
    if not transaction or outcome.ok:
        return None
    return Finding("transactions.return-on-error", returned == -1, "returned=-1", f"{op}: returned={returned}")


LAWS: tuple[Law, ...] = (
    _watched(Watch.WRAPPER_CHANGED, "common.wrapper-unchanged"),
    _watched(Watch.ARGUMENT_CHANGED, "common.arguments-unchanged"),
    _watched(Watch.STATUS_KEPT, "common.status-not-kept"),
    _watched(Watch.OVERRUN, "robustness.no-overrun"),
    _watched(Watch.SHARED_ENTRIES, "common.results-distinct"),
    _watched(Watch.NULL_ENTRY, "common.results-terminated"),
    _read,
    _tell,
    _entries,
    _no_entries,
    _written,
    _undeleted,
    _statistics,
    _kind,
    _all_exist,
    _object,
    _tokens,
)
