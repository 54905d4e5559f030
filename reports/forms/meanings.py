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
    TargetVerdict.INCOMPLETE: "Not everything is known. This is not a pass.",
    TargetVerdict.NOT_CLAIMED: "Every op it needs is absent.",
}

#: Of a check, a case or a clause; worst first.
OF_CHECK: Mapping[ClauseVerdict, str] = {
    ClauseVerdict.ERROR: "The suite, the profile or the machine failed. The plugin is not blamed.",
    ClauseVerdict.VIOLATION: "The plugin broke a MUST, or a claim of its profile.",
    ClauseVerdict.WARNING: "The plugin broke a SHOULD, or follows an accepted reading that loses data.",
    ClauseVerdict.NOT_RUN: "Something is missing, such as a service, or an op that the case needs does not work.",
    ClauseVerdict.WAIVED: "The plugin broke the clause, and a waiver accepts it.",
    ClauseVerdict.ABSENT: "The plugin does not have the op and TensorFlow has no default for it, or the profile says "
    "that it is not supported.",
    ClauseVerdict.TOLERATED: "The sources contradict each other. The plugin gave one of the answers that are accepted.",
    ClauseVerdict.INFORMATIONAL: "No source names an answer for this situation. The report has what the plugin did.",
    ClauseVerdict.CONFORM: "The plugin does what the clause demands.",
    ClauseVerdict.DOES_NOT_APPLY: "The plugin's answer left nothing to check. This is not a pass.",
    ClauseVerdict.UNCHECKED: "No check was made.",
}

OF_TIER: Mapping[Tier, str] = {
    "smoke": "Each op was called in a plain situation.",
    "quick": "All that TensorFlow demands was tried, except searches and threads.",
    "full": "Everything was tried, except files of gigabytes and directories of thousands of entries.",
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
