"""What a run records: one record a case, with one record for each of its checks.

Every text may hold anything a plugin said, lone surrogates and control characters included: records keep it as it is,
and whoever shows it escapes it.
"""

from collections.abc import Mapping
from enum import StrEnum
from typing import Annotated

from msgspec import Meta, Struct

from .histories import Histories
from .verdicts import Verdict

#: What a check expects that stands for others which no record shows.
OF_OTHERS = "as above"


class Ending(StrEnum):
    """How a case ended, which decides what becomes of the clauses that it did not come to."""

    WHOLE = "whole"
    BLOCKED = "blocked"
    DIED = "died"
    LACKING = "lacking"
    UNWITNESSED = "unwitnessed"
    UNABLE = "unable"
    BROKEN = "broken"


#: What becomes of a clause that a case declares and did not come to. A case that came to its end came to all that its
#: answers left of them.
REST: Mapping[Ending, Verdict] = {
    Ending.WHOLE: Verdict.DOES_NOT_APPLY,
    Ending.BLOCKED: Verdict.NOT_RUN,
    Ending.DIED: Verdict.NOT_RUN,
    Ending.LACKING: Verdict.ABSENT,
    Ending.UNWITNESSED: Verdict.ABSENT,
    Ending.UNABLE: Verdict.NOT_RUN,
    Ending.BROKEN: Verdict.ERROR,
}


class StatementKind(StrEnum):
    """What of an answer a statement compares, or what else an op did wrong."""

    CODE = "code"
    RETURNED = "returned"
    LENGTH = "length"
    TIME = "time"
    TYPE = "type"
    CONTENT = "content"
    MISSING = "missing content"
    NAMES = "names"
    OUT_PARAMETER = "out-parameter"
    OWNERSHIP = "ownership"
    LEAK = "leak"
    ORDER = "order"
    CRASH = "crash"
    HANG = "hang"
    OTHER = "other"


class CheckRecord(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """One statement about one clause. `expected` and `got` are what a reader compares."""

    clause: Annotated[str, Meta(description="The id of the clause.")]
    verdict: Verdict
    expected: Annotated[
        str,
        Meta(
            description="`field=value` where one field decided, such as `code=NOT_FOUND`. Left out where nothing was "
            "compared: then the case says why."
        ),
    ] = ""
    got: Annotated[str, Meta(description="What was seen instead, or as expected, in the same form.")] = ""
    reading: Annotated[
        str | None, Meta(description="The accepted reading of a disputed clause that the plugin follows.")
    ] = None
    plugin_said: Annotated[str | None, Meta(description="The plugin's own words: the message of its status.")] = None
    times: Annotated[
        int, Meta(ge=1, description="How many checks it stands for: those that conform alike, or very many.")
    ] = 1
    holds: Annotated[
        bool | None,
        Meta(description="Whether what was seen is as expected, where the verdict does not tell: of a MAY clause."),
    ] = None
    op: Annotated[
        str | None, Meta(description="The op whose answer was compared, as the next two of a breach only.")
    ] = None
    kind: Annotated[StatementKind | None, Meta(description="What of the answer is wrong.")] = None
    code: Annotated[str | None, Meta(description="The code that the op answered, where the code is wrong.")] = None
    loses: Annotated[bool, Meta(description="Whether stored data is gone.")] = False


class CaseRecord(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """One case as it ended.

    Its verdict is the worst of its checks. Each of its clauses has one at least: a clause that the case did not come to
    is not run, absent or an error, as the case `ended`, and `reason` says why; one that the answer made empty does not
    apply.
    """

    id: Annotated[str, Meta(description="Such as `read/short-read[0]`; `--case` takes it.")]
    clauses: Annotated[tuple[str, ...], Meta(description="The clauses that the case is there to check.")]
    verdict: Verdict
    reason: Annotated[str | None, Meta(description="Why the case is absent, not run or an error.")]
    stimulus: Annotated[str, Meta(description="What was set up and called, in one sentence.")]
    checks: Annotated[tuple[CheckRecord, ...], Meta(description="The checks made, in their order.")]
    ops: Annotated[
        tuple[str, ...], Meta(description="The trace: one op call an item; empty where nothing is wrong with the case.")
    ]
    ended: Annotated[
        Ending,
        Meta(
            description="Whole: it came to its end. Blocked: an op that it needs does not work. Died: the process "
            "ended or hung in an op. Lacking: the target lacks what it is about. Unwitnessed: it needs another way to"
            " the storage, and no backing was named. Unable: a tool, a service or a permission is missing here. "
            "Broken: the suite, the profile or the environment is."
        ),
    ] = Ending.WHOLE
    cause: Annotated[
        str | None,
        Meta(description="The op to which what the case saw is due: what it prepared was wrong before its stimulus."),
    ] = None
    executed: Annotated[bool, Meta(description="Whether an op of the plugin beyond registration ran.")]
    duration: Annotated[float, Meta(ge=0, description="Seconds, rounded to microseconds.")]
    output: Annotated[str, Meta(description="What the plugin wrote or logged.")]
    tier: Annotated[str | None, Meta(description="The smallest tier that has the case.")] = None
    histories: Annotated[Histories | None, Meta(description="The small histories that a case tried.")] = None
    cut: Annotated[str | None, Meta(description="The file in the folder of the traces that has the calls whole.")] = (
        None
    )
