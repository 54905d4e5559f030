"""What a run records: one record a case, with one record for each of its checks.

Every text may hold anything a plugin said, lone surrogates and control characters included: records keep it as it is,
and whoever shows it escapes it.
"""

from typing import Annotated

from msgspec import Meta, Struct

from .verdicts import Verdict


class CheckRecord(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """One statement about one clause. `expected` and `got` are what a reader compares."""

    clause: Annotated[str, Meta(description="The id of the clause.")]
    verdict: Verdict
    expected: Annotated[str, Meta(description="`field=value` where one field decided, such as `code=NOT_FOUND`.")]
    got: Annotated[str, Meta(description="What was seen instead, or as expected, in the same form.")]
    reading: Annotated[
        str | None, Meta(description="The accepted reading of a disputed clause that the plugin follows.")
    ] = None
    plugin_said: Annotated[str | None, Meta(description="The plugin's own words: the message of its status.")] = None
    times: Annotated[
        int, Meta(ge=1, description="How many checks it stands for: those that conform alike, or very many.")
    ] = 1


class CaseRecord(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """One case as it ended.

    Its verdict is the worst of its checks. It is worse where the case itself ended badly (an error), and stands alone
    where the case made no check (absent, not run); then `reason` says why.
    """

    id: Annotated[str, Meta(description="Such as `read/short-read[0]`; `--case` takes it.")]
    clauses: Annotated[tuple[str, ...], Meta(description="The clauses that the case is there to check.")]
    verdict: Verdict
    reason: Annotated[str | None, Meta(description="Why the case is absent, not run or an error.")]
    stimulus: Annotated[str, Meta(description="What was set up and called, in one sentence.")]
    checks: Annotated[tuple[CheckRecord, ...], Meta(description="The checks made, in their order.")]
    ops: Annotated[
        tuple[str, ...],
        Meta(description="The trace: one op call an item; empty where nothing is wrong with the case."),
    ]
    executed: Annotated[bool, Meta(description="Whether an op of the plugin beyond registration ran.")]
    duration: Annotated[float, Meta(ge=0, description="Seconds, rounded to microseconds.")]
    output: Annotated[str, Meta(description="What the plugin wrote or logged.")]
    tier: Annotated[str | None, Meta(description="The smallest tier that has the case.")] = None
    cut: Annotated[str | None, Meta(description="The file in the folder of the traces that has the calls whole.")] = (
        None
    )
