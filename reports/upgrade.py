"""Reports of earlier schemas, as this version reads them: one step from each schema to the next."""

from collections.abc import Callable, Collection, Mapping
from typing import Any

from msgspec.structs import replace

from .model.header import FORMER_TIERS
from .model.report import SCHEMA, Report
from .plain import digest_of_all

VERSION_3_0 = "tffs-conformance/report/3.0"
VERSION_3_1 = "tffs-conformance/report/3.1"
#: The schemas of before 1.0.0, whose reports are no longer read.
UNREADABLE = frozenset(f"tffs-conformance/report/{version}" for version in ("1", "2.0", "2.1", "2.2", "2.3"))


def _from_3_0(document: dict[str, Any]) -> dict[str, Any]:
    """3.1 added `histories`, of the run and of cases, left out where nobody tried any, and the tier `deep`."""
    return document | {"schema": VERSION_3_1}


def _from_3_1(document: dict[str, Any]) -> dict[str, Any]:
    """4.0 removed the captured symbols from `abi` of the target.

    Of costs it has one table, and what has no figure: sentences, memory and calls of the storage are gone.
    """
    more: dict[str, Any] = {"schema": SCHEMA}
    costs, target = document.get("costs"), document.get("target")
    if isinstance(costs, dict):
        more["costs"] = _one_table(costs)
    if isinstance(target, dict) and isinstance(target.get("abi"), dict):
        more["target"] = target | {"abi": _without(target["abi"], ("captured", "remedy"))}
    return document | more


def _one_table(costs: dict[str, Any]) -> dict[str, Any]:
    """The costs of a report of before 4.0. What are no costs stay as they are."""
    figures = costs.get("figures", [])
    unmeasured = costs.get("unmeasured", [])
    if not isinstance(unmeasured, list) or not isinstance(figures, list):
        return costs
    if not all(isinstance(figure, dict) for figure in figures):
        return costs
    missing = [f"{one.get('what')}: {one['left_out']}" for one in figures if one.get("left_out")]
    missing += [costs["failure"]] if costs.get("failure") else []
    gone = ("findings", "memory", "counted", "called", "alike", "seconds", "failure")
    return _without(costs, gone) | {
        "figures": [_without(figure, ("ratio", "ratio_least", "left_out")) for figure in figures],
        "unmeasured": [*unmeasured, *missing],
    }


def _without(document: dict[str, Any], gone: Collection[str]) -> dict[str, Any]:
    return {key: value for key, value in document.items() if key not in gone}


#: For each earlier schema the step to the one after it.
STEPS: Mapping[str, Callable[[dict[str, Any]], dict[str, Any]]] = {VERSION_3_0: _from_3_0, VERSION_3_1: _from_3_1}


def upgraded(document: dict[str, Any]) -> dict[str, Any]:
    """The plain values of a report as its newest version has them. What no step is known for stays as it is.

    A tier has its name of today: it had the former one in 4.0, too, before that was released.
    """
    while (schema := document["schema"]) in STEPS:
        document = STEPS[schema](document)
    suite = document.get("suite")
    if isinstance(suite, dict) and isinstance(tier := suite.get("tier"), str) and tier in FORMER_TIERS:
        return document | {"suite": suite | {"tier": FORMER_TIERS[tier]}}
    return document


def renamed(report: Report) -> Report:
    """A report whose cases name their tiers as this version does. Its end marker is for these."""
    if all(case.tier not in FORMER_TIERS for case in report.cases):
        return report
    cases = tuple(replace(case, tier=FORMER_TIERS.get(case.tier or "", case.tier)) for case in report.cases)
    return replace(report, cases=cases, end=replace(report.end, sha256=digest_of_all(cases)))
