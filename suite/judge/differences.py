"""The facts in which two runs differ, beside what they found: the suites, the targets, the options."""

from collections.abc import Mapping

from msgspec import Struct

from ...reports.model.report import Report
from ...reports.plain import dumps


class Difference(Struct, frozen=True):
    """A fact about the two runs in which they differ."""

    what: str
    then: str
    now: str


def differences(then: Report, now: Report) -> list[Difference]:
    """The facts about suite, target and options in which two runs differ; not their times, nor their random roots."""
    facts_then, facts_now = facts(then), facts(now)
    return [
        Difference(what, facts_then.get(what, "none"), facts_now.get(what, "none"))
        for what in facts_then | facts_now
        if facts_then.get(what) != facts_now.get(what)
    ]


def facts(report: Report) -> dict[str, str]:
    """What a run was held to, on what, and how, by name: nothing that every run has of its own."""
    suite, target = report.suite, report.target
    found: dict[str, object] = {
        "contract": report.contract,
        "suite": suite.version,
        "commit": suite.commit,
        "catalogue": suite.catalogue,
        "tier": suite.tier,
        "seed": suite.seed,
        **suite.options,
        "left out": report.left_out,
        "python": suite.python,
        "platform": suite.platform,
        "target": target.name,
        "sha256 of the plugin": target.sha256,
        "scheme": target.scheme,
        "runtime": target.runtime,
        "profile": target.profile,
        "claims": {claim.name: claim.value for claim in report.claims},
        "variables": list(target.environment),
        "digest of the profile's variables": target.values,
        "ops of the plugin": [op for op, answer in target.tables.items() if answer == "plugin"],
    }
    return {what: value if isinstance(value, str) else _shown(value) for what, value in found.items()}


def _shown(value: object) -> str:
    if isinstance(value, Mapping):
        return ", ".join(f"{name} = {dumps(claimed)}" for name, claimed in sorted(value.items())) or "none"
    if isinstance(value, list):
        return ", ".join(value) or "none"
    return "none" if value is None else str(value)
