"""What is known about a run before its first case: the contract, the suite, the target and the clauses."""

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from msgspec import Meta, Struct, field

from ..plain import digest_of
from .abi import AbiFacts
from .claims import StatedClaim
from .records import StatementKind
from .waivers import Waiver

#: What a run says that does not know which commit its suite was built from.
UNKNOWN = "unknown"

Sha256 = Annotated[str, Meta(pattern="^[0-9a-f]{64}$")]

#: How much of the suite runs.
Tier = Literal["smoke", "quick", "full", "large", "deep"]

#: The tiers by the names that they had before: options and reports of earlier versions have them.
FORMER_TIERS: Mapping[str, Tier] = {"must": "quick"}

#: What makes a clause the demand that it is. The others advise a reader and demand nothing.
DEMANDS = ("level", "class", "op", "rule", "source", "disputed", "readings")


def digest(clauses: Mapping[str, Mapping[str, Any]]) -> str:
    """SHA-256 (64 hexadecimal digits) of a catalogue: the ids of the clauses and what they demand.

    `clauses` are plain values as a report has them, by id, in any order; keys beyond DEMANDS do not count.
    """
    return digest_of({name: {key: facts.get(key) for key in DEMANDS} for name, facts in clauses.items()})


class ReadingFacts(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """One accepted reading of a disputed clause."""

    name: Annotated[str, Meta(description="What a check's `reading` calls it.")]
    text: Annotated[str, Meta(description="What the clause demands, read this way.")]
    tensorflow: Annotated[str, Meta(description="What TensorFlow makes of a plugin that follows it.")]
    harmful: Annotated[bool, Meta(description="Whether it is a warning, because it loses data.")] = False


class ClauseFacts(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """A clause of the catalogue as a report carries it, so that a renderer needs no catalogue."""

    level: Literal["MUST", "SHOULD", "MAY"]
    conformance_class: Annotated[str, Meta(description="The conformance class it belongs to.")] = field(name="class")
    op: Annotated[str | None, Meta(description="The op it is about; null for a rule with no single op.")]
    rule: Annotated[str, Meta(description="What it demands.")]
    source: Annotated[tuple[str, ...], Meta(min_length=1, description="Where the rule comes from.")]
    check: Annotated[str, Meta(description="What to look at when it is not kept.")]
    check_for: Annotated[
        tuple[StatementKind, ...], Meta(description="What is wrong where `check` fits; left out where it always does.")
    ] = ()
    tensorflow: Annotated[str | None, Meta(description="What TensorFlow makes of a plugin that breaks it.")] = None
    order: Annotated[
        int, Meta(ge=0, description="Its place among broken clauses: a clause that others depend on has a smaller one.")
    ] = 0
    untested: Annotated[str | None, Meta(description="Why no case checks it.")] = None
    disputed: Annotated[str | None, Meta(description="The topic on which its sources contradict each other.")] = None
    readings: Annotated[tuple[ReadingFacts, ...] | None, Meta(description="The readings that are accepted.")] = None
    damaging: Annotated[
        tuple[str, ...],
        Meta(description="The readings with which something goes wrong without an error, beside harmful ones."),
    ] = ()

    def advice(self, kind: StatementKind | None) -> str | None:
        """What to look at where this is wrong; None if nothing is known that fits. Without a kind, all advice fits."""
        return self.check if kind is None or not self.check_for or kind in self.check_for else None

    def __post_init__(self) -> None:
        if (self.disputed is None) != (self.readings is None):
            raise ValueError("`disputed` and `readings` stand together or not at all")


class SuiteFacts(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What ran, and how."""

    version: Annotated[str, Meta(description="The version of the suite.")]
    commit: Annotated[
        str,
        Meta(
            pattern="^([0-9a-f]{40}(-dirty)?|unknown)$",
            description="The git commit of the suite, with `-dirty` where files differed from it, or `unknown`.",
        ),
    ]
    catalogue: Annotated[
        str, Meta(pattern="^[0-9a-f]{64}$", description="SHA-256 of the ids of all clauses and of what they demand.")
    ]
    tier: Annotated[Tier, Meta(description="How much of the suite was to run.")]
    seed: Annotated[int, Meta(description="The seed of everything random.")]
    selection: Annotated[
        tuple[str, ...], Meta(description="The options that left something out; empty for a whole run.")
    ]
    options: Annotated[
        Mapping[str, str | int | float | bool | None], Meta(description="Other options that shape a result, by name.")
    ]
    python: Annotated[str, Meta(description="The version of Python.")]
    platform: Annotated[str, Meta(description="The operating system and machine.")]
    started: Annotated[str, Meta(description="When the run began: ISO 8601 with a zone.")]
    duration: Annotated[
        Annotated[float, Meta(ge=0)] | None, Meta(description="Seconds; null where the run was killed.")
    ]
    command: Annotated[
        tuple[str, ...],
        Meta(
            min_length=1,
            description="What a person types to run on this target again, one argument an item, without the selection "
            "and without the value of a secret; add `--case=<id>` for one case.",
        ),
    ]


class TargetRecord(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """What is judged."""

    plugin: Annotated[str, Meta(description="The path of the plugin.")]
    name: Annotated[str, Meta(description="What a person calls it.")]
    sha256: Annotated[Sha256 | None, Meta(description="Of the plugin's file; null where it cannot be read.")]
    size: Annotated[
        Annotated[int, Meta(ge=0)] | None,
        Meta(description="Of the plugin's file, in bytes; null where it cannot be read."),
    ]
    scheme: Annotated[str | None, Meta(description="Null where the plugin did not get as far.")]
    root: Annotated[str | None, Meta(description="The URI under which the cases work; null as for `scheme`.")]
    runtime: Annotated[str, Meta(description="What gave the plugin its TF_* symbols.")]
    profile: Annotated[str | None, Meta(description="The profile used, if any.")]
    environment: Annotated[
        tuple[str, ...], Meta(description="Names of the variables set for the plugin; never their values.")
    ]
    values: Annotated[
        Sha256 | None,
        Meta(
            description="A digest, slow to guess, of the values that the profile gives to variables, without those of "
            "secrets; left out where it gives none."
        ),
    ] = None
    tables: Annotated[
        Mapping[str, Literal["plugin", "default", "absent"]],
        Meta(description="For each op, what answers it: `plugin`, `default` of core, or `absent`."),
    ]
    read_only: Annotated[bool, Meta(description="Whether each op that changes something is NULL or refuses to.")] = (
        False
    )
    abi: AbiFacts | None = None
    limits: Annotated[
        Mapping[str, int], Meta(description="The limits of the profile, by name; left out where it has none.")
    ] = field(default_factory=dict)


class Header(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a journal begins with. `contract` is the version of the contract; clauses keep the catalogue's order."""

    contract: str
    suite: SuiteFacts
    target: TargetRecord
    clauses: Mapping[str, ClauseFacts]
    claims: tuple[StatedClaim, ...] = ()
    waivers: tuple[Waiver, ...] = ()
