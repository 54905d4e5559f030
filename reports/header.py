"""What is known about a run before its first case: the contract, the suite, the target and the clauses."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from .claims import StatedClaim
from .waivers import Waiver


@dataclass(frozen=True, slots=True)
class ReadingFacts:
    """One accepted reading of a disputed clause, and what TensorFlow makes of a plugin that follows it."""

    name: str
    text: str
    tensorflow: str = ""


@dataclass(frozen=True, slots=True)
class ClauseFacts:
    """A clause of the catalogue as a report carries it, so that a renderer needs no catalogue.

    `conformance_class` is the clause's class; `op` is None for a rule with no single op; `source` names where the rule
    comes from, `check` what to look at when it is not kept; `untested` says why no case checks it; `disputed` is the
    topic its sources contradict each other on, with `readings`.
    """

    id: str
    level: str
    conformance_class: str
    rule: str
    source: tuple[str, ...]
    check: str
    op: str | None = None
    untested: str | None = None
    disputed: str | None = None
    readings: tuple[ReadingFacts, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """The JSON object of a report, without the id, which is its key; facts that say nothing are left out."""
        document: dict[str, Any] = {
            "level": self.level,
            "class": self.conformance_class,
            "op": self.op,
            "rule": self.rule,
            "source": list(self.source),
            "check": self.check,
        }
        if self.untested is not None:
            document["untested"] = self.untested
        if self.disputed is not None:
            document["disputed"] = self.disputed
            document["readings"] = [
                {"name": reading.name, "text": reading.text, "tensorflow": reading.tensorflow}
                for reading in self.readings
            ]
        return document


@dataclass(frozen=True, slots=True)
class SuiteFacts:
    """What ran, and how.

    `selection` holds the options that left something out (`--clause=read.*`), empty for a whole run; `options` the
    other options that shape a result, by name. `started` is an ISO 8601 time with its zone. `command` is what a person
    types to run on the same target again, one argument an item, without the selection: a re-run line is this and
    `--case=<id>`. It must not hold the value of a secret.
    """

    version: str
    tier: str
    seed: int
    python: str
    platform: str
    started: str
    command: tuple[str, ...]
    selection: tuple[str, ...] = ()
    options: Mapping[str, str | int | float | bool | None] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        """The JSON object of a report; its duration, in seconds, is known at the end."""
        return {
            "version": self.version,
            "tier": self.tier,
            "seed": self.seed,
            "selection": list(self.selection),
            "options": dict(sorted(self.options.items())),
            "python": self.python,
            "platform": self.platform,
            "started": self.started,
            "duration": None,
            "command": list(self.command),
        }


@dataclass(frozen=True, slots=True)
class TargetFacts:
    """What is judged.

    `plugin` is the path, `name` what a person calls it, `sha256` and `size` (bytes) those of the file, None where it
    cannot be read. `scheme` and `root` are None where the plugin did not get as far. `runtime` and `profile` say what
    stood in for TensorFlow and which profile was used. `environment` holds names of variables, never values.
    `tables` says for each op who answers it: "plugin", "default" or "absent".
    """

    plugin: str
    name: str
    sha256: str | None
    size: int | None
    scheme: str | None
    root: str | None
    runtime: str
    profile: str | None = None
    environment: tuple[str, ...] = ()
    tables: Mapping[str, str] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        """The JSON object of a report."""
        return {
            "plugin": self.plugin,
            "name": self.name,
            "sha256": self.sha256,
            "size": self.size,
            "scheme": self.scheme,
            "root": self.root,
            "runtime": self.runtime,
            "profile": self.profile,
            "environment": sorted(self.environment),
            "tables": dict(self.tables),
        }


@dataclass(frozen=True, slots=True)
class Header:
    """`contract` is the version of the interface and of the catalogue; clauses keep the catalogue's order."""

    contract: str
    suite: SuiteFacts
    target: TargetFacts
    clauses: tuple[ClauseFacts, ...]
    claims: tuple[StatedClaim, ...] = ()
    waivers: tuple[Waiver, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """The JSON object a journal begins with."""
        return {
            "contract": self.contract,
            "suite": self.suite.to_json(),
            "target": self.target.to_json(),
            "clauses": {clause.id: clause.to_json() for clause in self.clauses},
            "claims": [claim.to_json() for claim in self.claims],
            "waivers": [waiver.to_json() for waiver in self.waivers],
        }
