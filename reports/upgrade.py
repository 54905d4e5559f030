"""Reports of earlier schemas, as this version reads them: one step from each schema to the next.

Before 3.0 a case that ended early had no checks of the clauses that it did not come to, and some of what it only
prepared passed for what it was about. Its checks are completed, and what is no evidence is taken back; then everything
is counted again. Verdicts of classes and of the target stay as they were given.
"""

from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from .model.claims import accounts
from .model.counts import Counts
from .model.header import UNKNOWN, digest
from .model.records import REST, Ending
from .model.report import SCHEMA, End, Report
from .model.tally import Tally
from .model.verdicts import Verdict, worst
from .plain import digest_of_all

VERSION_2_0 = "tffs-conformance/report/2.0"
VERSION_2_1 = "tffs-conformance/report/2.1"
VERSION_2_2 = "tffs-conformance/report/2.2"
VERSION_2_3 = "tffs-conformance/report/2.3"
VERSION_3_0 = "tffs-conformance/report/3.0"
VERSION_3_1 = "tffs-conformance/report/3.1"
#: The schemas of which the cases are whole as they stand.
COMPLETED = (VERSION_3_0, VERSION_3_1, SCHEMA)

#: How a case ended that had no check of its own, by its verdict.
_ENDED = {"absent": Ending.LACKING, "not run": Ending.UNABLE, "error": Ending.BROKEN}
#: The clauses that a death broke.
FALLEN = ("robustness.no-crash", "robustness.no-hang", "robustness.no-exception")


def _from_1(document: dict[str, Any]) -> dict[str, Any]:
    """Reports of version 1 name neither the suite's commit nor the digest of the clauses that they carry.

    While that version was the only one it gained `claims`, `waivers` and `services`: its first reports lack them.
    """
    suite, clauses = document.get("suite"), document.get("clauses")
    if isinstance(suite, dict) and isinstance(clauses, dict) and all(isinstance(c, dict) for c in clauses.values()):
        suite = suite | {"commit": UNKNOWN, "catalogue": digest(clauses)}
    gained: dict[str, Any] = {"claims": [], "waivers": [], "services": None}
    return gained | document | {"schema": VERSION_2_0, "suite": suite}


def _from_2_0(document: dict[str, Any]) -> dict[str, Any]:
    """The keys that 2.1 added have values that stand for their absence."""
    return document | {"schema": VERSION_2_1}


def _from_2_1(document: dict[str, Any]) -> dict[str, Any]:
    """2.2 added `abi` of the target, which is left out where nobody can tell."""
    return document | {"schema": VERSION_2_2}


def _from_2_2(document: dict[str, Any]) -> dict[str, Any]:
    """2.3 added `costs`, which is left out where nobody asked for it."""
    return document | {"schema": VERSION_2_3}


def _from_2_3(document: dict[str, Any]) -> dict[str, Any]:
    """3.0 completed the checks of cases. Counts that are not known yet are zero: `recounted` counts again."""
    if not all(isinstance(document.get(key), kind) for key, kind in (("cases", list), ("classes", dict))):
        return document | {"schema": VERSION_3_0}
    more: dict[str, Any] = {"schema": VERSION_3_0, "cases": [completed(case) for case in document["cases"]]}
    for key in ("classes", "clauses"):
        accounts = document.get(key)
        if isinstance(accounts, dict) and all(isinstance(account, dict) for account in accounts.values()):
            more[key] = {name: account | _none(account) for name, account in accounts.items()}
    return document | more | _none(document)


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
    if not isinstance(figures, list) or not all(isinstance(figure, dict) for figure in figures):
        return costs
    missing = [f"{one.get('what')}: {one['left_out']}" for one in figures if one.get("left_out")]
    missing += [costs["failure"]] if costs.get("failure") else []
    gone = ("findings", "memory", "counted", "called", "alike", "seconds", "failure")
    return _without(costs, gone) | {
        "figures": [_without(figure, ("ratio", "ratio_least", "left_out")) for figure in figures],
        "unmeasured": [*costs.get("unmeasured", ()), *missing],
    }


def _without(document: dict[str, Any], gone: Collection[str]) -> dict[str, Any]:
    return {key: value for key, value in document.items() if key not in gone}


def _none(holder: dict[str, Any]) -> dict[str, Any]:
    """The counts of a report, a class or a clause with the word that 3.0 added."""
    counts = holder.get("counts")
    return {"counts": {"does not apply": 0} | counts} if isinstance(counts, dict) else {}


def completed(case: Any) -> Any:
    """A case of before 3.0 with a check of each of its clauses. What is no case stays as it is."""
    if not isinstance(case, dict) or not isinstance(case.get("checks"), list):
        return case
    ended = _ended(case)
    checks = case["checks"]
    if ended in (Ending.BLOCKED, Ending.LACKING, Ending.UNABLE):
        # Nobody knows which call kept a clause: it may have been one that only prepared the stimulus.
        checks = [check for check in checks if check.get("verdict") != "conform"]
    made = {check.get("clause") for check in checks}
    rest = [{"clause": name, "verdict": REST[ended].value} for name in case.get("clauses", ()) if name not in made]
    checks = checks + rest
    verdicts = [Verdict(check["verdict"]) for check in checks] or [Verdict(case["verdict"])]
    return case | {"checks": checks, "ended": ended.value, "verdict": worst(verdicts).value}


def _ended(case: dict[str, Any]) -> Ending:
    """How a case of before 3.0 ended, as far as it says."""
    reason = case.get("reason") or ""
    if reason.startswith("blocked by"):
        return Ending.BLOCKED
    # What a claim gave up was looked at all the same.
    given_up = any(check.get("verdict") == "absent" and check.get("expected") for check in case["checks"])
    if case.get("verdict") in _ENDED and not (given_up and case["verdict"] == "absent"):
        return _ENDED[case["verdict"]]
    fallen = [check for check in case["checks"] if check.get("clause") in FALLEN]
    broken = any(check.get("verdict") in ("violation", "waived") for check in fallen)
    return Ending.DIED if broken else Ending.WHOLE


def recounted(report: Report, path: Path | None = None) -> Report:
    """A report with everything counted again, from its cases; `path` is for the error.

    Raises DuplicateCaseError and UndeclaredClauseError.
    """
    tally = Tally(report.clauses, path)
    for case in report.cases:
        tally.add(case)
    return replace(
        report,
        counts=Counts.of(tally.counts),
        executed=tally.executed,
        classes={
            name: replace(account, counts=Counts.of(tally.classes[name])) for name, account in report.classes.items()
        },
        clauses={
            name: replace(
                account,
                counts=Counts.of(tally.clauses[name]),
                verdict=tally.verdict(name),
                readings_seen=tally.readings(name),
            )
            for name, account in report.clauses.items()
        },
        claims=accounts(report.claims, report.cases),
        end=End(cases=report.end.cases, sha256=digest_of_all(report.cases)),
    )


#: For each earlier schema the step to the one after it.
STEPS: Mapping[str, Callable[[dict[str, Any]], dict[str, Any]]] = {
    "tffs-conformance/report/1": _from_1,
    VERSION_2_0: _from_2_0,
    VERSION_2_1: _from_2_1,
    VERSION_2_2: _from_2_2,
    VERSION_2_3: _from_2_3,
    VERSION_3_0: _from_3_0,
    VERSION_3_1: _from_3_1,
}


def upgraded(document: dict[str, Any]) -> dict[str, Any]:
    """The plain values of a report as its newest version has them. What no step is known for stays as it is."""
    while (schema := document["schema"]) in STEPS:
        document = STEPS[schema](document)
    return document
