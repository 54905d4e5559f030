"""What the verdicts and tiers of a report mean, in a sentence each, for readers who have no other page at hand."""

from collections.abc import Mapping

from ..model.claims import ClaimState
from ..model.header import Tier
from ..model.verdicts import ClauseVerdict, TargetVerdict
from ..model.waivers import WaiverState

#: Of the target, or of a class of it.
OF_TARGET: Mapping[TargetVerdict, str] = {
    TargetVerdict.CONFORMANT: "Every case of the tier ended, and nothing was broken.",
    TargetVerdict.WITH_WAIVERS: "What was broken is accepted by waivers.",
    TargetVerdict.NOT_CONFORMANT: "The plugin broke a rule that TensorFlow relies on, or nothing was executed.",
    TargetVerdict.INCOMPLETE: "Not all of it is known. That is no pass.",
    TargetVerdict.NOT_CLAIMED: "Every op it needs is absent.",
}

#: Of a check, a case or a clause; worst first.
OF_CHECK: Mapping[ClauseVerdict, str] = {
    ClauseVerdict.ERROR: "The suite, the profile or the machine failed. It is never held against the plugin.",
    ClauseVerdict.VIOLATION: "The plugin did not keep a MUST, or something that its profile claims.",
    ClauseVerdict.WARNING: "The plugin did not keep a SHOULD, or follows an accepted reading with which data is lost.",
    ClauseVerdict.NOT_RUN: "Something is missing, such as a service, or an op that the case needs does not work.",
    ClauseVerdict.WAIVED: "The plugin broke the clause, and a waiver accepts it.",
    ClauseVerdict.ABSENT: "The plugin does not have the op and TensorFlow has no default for it, or the profile says "
    "that it is not supported.",
    ClauseVerdict.TOLERATED: "The sources contradict each other. The plugin gave one of the answers that are accepted.",
    ClauseVerdict.INFORMATIONAL: "No source names an answer for this situation. The report has what the plugin did.",
    ClauseVerdict.CONFORM: "The plugin kept the clause.",
    ClauseVerdict.DOES_NOT_APPLY: "What the plugin answered left nothing to check. It is no pass.",
    ClauseVerdict.UNCHECKED: "No check was made.",
}

OF_TIER: Mapping[Tier, str] = {
    "smoke": "The way through every op was tried once.",
    "quick": "Every case of what TensorFlow demands was tried, without searches, threads and advice.",
    "full": "All was tried but files of gigabytes and listings of thousands.",
    "large": "The whole suite was tried.",
}

_TONES = {
    "good": {
        TargetVerdict.CONFORMANT, TargetVerdict.WITH_WAIVERS, ClauseVerdict.CONFORM, ClaimState.KEPT, WaiverState.USED,
    },
    "bad": {
        TargetVerdict.NOT_CONFORMANT, ClauseVerdict.VIOLATION, ClauseVerdict.ERROR, ClaimState.BROKEN,
        WaiverState.CHANGED, WaiverState.EXPIRED, WaiverState.UNNEEDED,
    },
    "warn": {TargetVerdict.INCOMPLETE, ClauseVerdict.WARNING, ClauseVerdict.NOT_RUN, ClaimState.UNDER_DECLARED},
}  # fmt: skip


def tone(verdict: str) -> str:
    """Whether a verdict or state is good, bad or a warning, or else faint: what a colour or a mark may repeat of it."""
    return next((tone for tone, verdicts in _TONES.items() if verdict in verdicts), "faint")
