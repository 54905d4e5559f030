"""Laws: rules that every call of an op must keep, whatever the case is about.

All calls of all cases are checked. A breach is recorded in the case in which it shows. That a law was kept is recorded
only in the cases that declare its clause.
"""

import math
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from ...harness.hosting.limits import LEFT, LEFT_MESSAGE
from ...harness.ops.codes import Code
from ...harness.ops.outcomes import (
    POISON_SIGNED,
    POISON_UNSIGNED,
    Configuration,
    Entries,
    Existence,
    Option,
    Outcome,
    Read,
    Source,
    Statistics,
    Token,
    Undeleted,
    Watch,
)
from ...harness.over_tables.raw import Call

OPENS = ("new_random_access_file", "new_writable_file", "new_appendable_file", "new_read_only_memory_region_from_file")
LISTS = ("get_children", "get_matching_paths")
#: The type of an option whose values are bytes; those before are numbers.
BUFFER = 2


@dataclass(frozen=True, slots=True)
class Ruling:
    """What one call shows of one law.

    `reading` is the answer the plugin gave, where the law's clause is disputed. `prepared` says that only calls show it
    that prepared the stimulus of a case. Of a breach, `op` gave the answer, and `at` is the number of calls before it.
    """

    clause: str
    holds: bool
    expected: str
    got: str
    reading: str | None = None
    prepared: bool = False
    op: str | None = None
    at: int = field(default=0, compare=False)


#: A law: it gives a ruling on a call, or None where the law is not about this call.
Law = Callable[[str, Sequence[object], Outcome[object]], Ruling | None]

#: The bits of `Watch`, which the host sets in every call, and the clause that each of them breaks.
WATCHED: Mapping[Watch, str] = {
    Watch.WRAPPER_CHANGED: "common.wrapper-unchanged",
    Watch.ARGUMENT_CHANGED: "common.arguments-unchanged",
    Watch.STATUS_KEPT: "common.status-not-kept",
    Watch.STATUS_REPLACED: "paths_exist.keeps-the-statuses",
    Watch.OVERRUN: "robustness.no-overrun",
    Watch.SHARED_ENTRIES: "common.results-distinct",
    Watch.NULL_ENTRY: "common.results-terminated",
    Watch.LONG_MESSAGE: "robustness.messages-are-short",
    Watch.DIRECTORY_MOVED: "robustness.keeps-the-working-directory",
}
#: What the host sees of nearly every call, and is no breach by itself.
USUAL = (Watch.NOTHING, Watch.OBJECT_SET)


def rulings(calls: Iterable[Call], declared: Container[str], preparing: Container[int] = ()) -> list[Ruling]:
    """The rulings on some calls: all breaches, and of the clauses in `declared` also what was kept.

    `preparing` has the places of the calls that only prepared a stimulus.
    """
    broken: dict[Ruling, None] = {}
    kept: dict[Ruling, bool] = {}
    called = answered = False
    for place, (op, arguments, outcome) in enumerate(calls):
        if not isinstance(outcome, Outcome) or outcome.source is not Source.PLUGIN:
            continue
        counts = place not in preparing
        called = True
        answered |= counts
        if outcome.watch not in USUAL:
            for bit, clause in WATCHED.items():
                if bit in outcome.watch:
                    said = Ruling(clause, False, "kept", f"{op}: {bit.name}", op=op, at=place)
                    broken.setdefault(said)
        # The op did not set the status, so the code is not its answer.
        if outcome.code is LEFT and outcome.message == LEFT_MESSAGE:
            continue
        for law in (_success, *LAWS.get(op, ())):
            finding = law(op, arguments, outcome)
            if finding is not None and not finding.holds:
                broken.setdefault(replace(finding, op=op, at=place))
            elif finding is not None and finding.clause in declared and outcome.code is not Code.UNIMPLEMENTED:
                kept[finding] = kept.get(finding, False) or counts
    seen = {finding.clause for finding in broken}
    whole = [
        Ruling(name, True, "kept", "kept", prepared=not answered)
        for name in WATCHED.values()
        if name in declared and name not in seen
    ]
    of_stimulus = [replace(finding, prepared=not counts) for finding, counts in kept.items()]
    return [*broken, *of_stimulus, *(whole if called else ())]


#: The ruling on nearly every call.
NO_MESSAGE = Ruling("common.success-has-no-message", True, "no message", "no message")


def _success(op: str, _: Sequence[object], outcome: Outcome[object]) -> Ruling | None:
    if not outcome.ok:
        return None
    if not outcome.message:
        return NO_MESSAGE
    return replace(NO_MESSAGE, holds=False, got=f"{op}: {outcome.message!r}")


def _read(op: str, arguments: Sequence[object], outcome: Outcome[object]) -> Ruling | None:
    if not isinstance(outcome.value, Read):
        return None
    returned, asked = outcome.value.returned, arguments[2]
    assert isinstance(asked, int)
    clause = "read.return-agrees-with-the-code"
    match outcome.code:
        case Code.OK:
            return Ruling(clause, returned == asked, "OK: returned=n", f"OK: returned={_of(returned, asked)}")
        case Code.OUT_OF_RANGE:
            fits = 0 <= returned < asked or returned == asked == 0
            return Ruling(
                clause, fits, "OUT_OF_RANGE: returned=0…n-1", f"OUT_OF_RANGE: returned={_of(returned, asked)}"
            )
        case code:
            readings = {"minus-one": returned == -1, "count": 0 <= returned <= asked}
            followed = next((name for name, holds in readings.items() if holds), None)
            return Ruling(
                "read.return-on-error", followed is not None, "minus-one or count", f"{code}: {returned}", followed
            )


def _of(returned: int, asked: int) -> str:
    return "n" if returned == asked else str(returned) if returned <= 0 else "more" if returned > asked else "fewer"


def _tell(op: str, _: Sequence[object], outcome: Outcome[object]) -> Ruling | None:
    assert isinstance(outcome.value, int)
    fits = outcome.value >= 0 if outcome.ok else outcome.value == -1
    got = f"{outcome.code}: {'0 or more' if outcome.value >= 0 else outcome.value}"
    return Ruling("tell.return-agrees-with-the-code", fits, "OK: 0 or more, an error: -1", got)


def _entries(op: str, _: Sequence[object], outcome: Outcome[object]) -> Ruling | None:
    if not isinstance(outcome.value, Entries) or not outcome.ok:
        return None
    count = outcome.value.returned
    fits = count == len(outcome.value.names)
    got = "returned=the number of entries" if fits else f"returned={count} entries={len(outcome.value.names)}"
    return Ruling(f"{op}.returns-the-count", fits, "returned=the number of entries", got)


def _no_entries(op: str, _: Sequence[object], outcome: Outcome[object]) -> Ruling | None:
    if not isinstance(outcome.value, Entries) or outcome.ok:
        return None
    count = outcome.value.returned
    return Ruling(f"{op}.return-on-error", count == -1, "returned=-1", f"returned={count}")


def _written(op: str, _: Sequence[object], outcome: Outcome[object]) -> Ruling | None:
    # What is not implemented counts nothing.
    if not isinstance(outcome.value, Undeleted) or outcome.code is Code.UNIMPLEMENTED:
        return None
    missing = POISON_UNSIGNED in (outcome.value.files, outcome.value.dirs)
    got = f"{outcome.code}: not written" if missing else "both written"
    return Ruling("delete_recursively.writes-both-counters", not missing, "both written", got)


def _undeleted(op: str, _: Sequence[object], outcome: Outcome[object]) -> Ruling | None:
    if not isinstance(outcome.value, Undeleted) or outcome.code in (Code.OK, Code.UNIMPLEMENTED):
        return None
    if outcome.value.files == POISON_UNSIGNED:
        return None
    something = outcome.value.files + outcome.value.dirs > 0
    got = f"{outcome.code}: " + ("1 or more" if something else "0 and 0")
    return Ruling("delete_recursively.counts-what-is-left", something, "an error: 1 or more", got)


def _statistics(op: str, _: Sequence[object], outcome: Outcome[object]) -> Ruling | None:
    if not isinstance(outcome.value, Statistics) or outcome.ok:
        return None
    untouched = outcome.value.untouched
    return Ruling("stat.untouched-on-error", untouched, "untouched", "untouched" if untouched else "written")


#: When times were taken, in nanoseconds, give or take decades: a unit that is wrong is wrong by a thousand at least.
AGE = 1.8e18
HALF_A_UNIT = math.sqrt(1000)


def _time(op: str, _: Sequence[object], outcome: Outcome[object]) -> Ruling | None:
    if not isinstance(outcome.value, Statistics) or not outcome.ok:
        return None
    time = outcome.value.mtime_nsec
    # 0 means: not known.
    right = time == 0 or AGE / HALF_A_UNIT < time < AGE * HALF_A_UNIT
    seen = "not written" if time == POISON_SIGNED else f"{len(str(abs(time)))} digits"
    expected = "nanoseconds, or 0"
    return Ruling("stat.mtime-is-in-nanoseconds", right, expected, expected if right else f"{op}: mtime: {seen}")


def _kind(op: str, _: Sequence[object], outcome: Outcome[object]) -> Ruling | None:
    if outcome.ok:
        return None
    return Ruling("is_directory.returns-false-on-error", outcome.value == 0, "returned=0", f"returned={outcome.value}")


def _all_exist(op: str, _: Sequence[object], outcome: Outcome[object]) -> Ruling | None:
    if not isinstance(outcome.value, Existence) or outcome.value.statuses is None:
        return None
    everything = all(status.code is Code.OK for status in outcome.value.statuses)
    got = f"returned={outcome.value.returned}"
    agrees = outcome.value.returned == everything
    return Ruling("paths_exist.is-true-if-all-exist", agrees, f"returned={everything}", got)


def _object(op: str, _: Sequence[object], outcome: Outcome[object]) -> Ruling | None:
    if outcome.ok:
        return None
    untouched = Watch.OBJECT_SET not in outcome.watch
    got = "object=NULL" if untouched else f"{op}: object=set"
    return Ruling("common.object-untouched-on-error", untouched, "object=NULL", got)


def _tokens(op: str, _: Sequence[object], outcome: Outcome[object]) -> Ruling | None:
    returned: object = outcome.value.returned if isinstance(outcome.value, Token) else outcome.value
    if outcome.ok:
        return None
    return Ruling("transactions.return-on-error", returned == -1, "returned=-1", f"{op}: returned={returned}")


def _distinct(op: str, _: Sequence[object], outcome: Outcome[object]) -> Ruling | None:
    if not isinstance(outcome.value, Configuration) or not outcome.ok or not outcome.value.options:
        return None
    names = [option.name for option in outcome.value.options]
    distinct = len(set(names)) == len(names) and "" not in names
    expected = "each a name of its own"
    return Ruling(f"{op}.names-are-distinct", distinct, expected, expected if distinct else str(names))


def _fitting(op: str, _: Sequence[object], outcome: Outcome[object]) -> Ruling | None:
    if not isinstance(outcome.value, Configuration) or not outcome.ok or not outcome.value.options:
        return None
    odd = [f"{option.name}: type={option.type_tag}" for option in outcome.value.options if not _fits(option)]
    expected = "type=0|1|2, and values of it"
    return Ruling(f"{op}.values-fit-their-type", not odd, expected, ", ".join(odd) or expected)


def _fits(option: Option) -> bool:
    """Whether an option has one of the types, and bytes where it says so."""
    whole = option.type_tag != BUFFER or all(isinstance(value, bytes) for value in option.values)
    return option.type_tag in range(BUFFER + 1) and whole


TRANSACTIONS = ("start_transaction", "end_transaction", "add_to_transaction", "get_transaction_for_path",
                "get_or_start_transaction_for_path")  # fmt: skip

#: The laws of each op.
LAWS: Mapping[str, tuple[Law, ...]] = {
    "read": (_read,),
    "tell": (_tell,),
    "delete_recursively": (_written, _undeleted),
    "stat": (_statistics, _time),
    "is_directory": (_kind,),
    "paths_exist": (_all_exist,),
    **dict.fromkeys(LISTS, (_entries, _no_entries)),
    **dict.fromkeys(OPENS, (_object,)),
    **dict.fromkeys(TRANSACTIONS, (_tokens,)),
    "get_filesystem_configuration": (_distinct, _fitting),
}
