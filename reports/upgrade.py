"""Reports of earlier schemas, as this version reads them: one step from each schema to the next."""

from collections.abc import Callable, Mapping
from typing import Any

from .model.header import UNKNOWN, digest
from .model.report import SCHEMA

VERSION_2_0 = "tffs-conformance/report/2.0"
VERSION_2_1 = "tffs-conformance/report/2.1"
VERSION_2_2 = "tffs-conformance/report/2.2"


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
    return document | {"schema": SCHEMA}


#: For each earlier schema the step to the one after it.
STEPS: Mapping[str, Callable[[dict[str, Any]], dict[str, Any]]] = {
    "tffs-conformance/report/1": _from_1,
    VERSION_2_0: _from_2_0,
    VERSION_2_1: _from_2_1,
    VERSION_2_2: _from_2_2,
}


def upgraded(document: dict[str, Any]) -> dict[str, Any]:
    """The plain values of a report as its newest version has them. What no step is known for stays as it is."""
    while (schema := document["schema"]) in STEPS:
        document = STEPS[schema](document)
    return document
