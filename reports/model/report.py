"""The report: the one document that says what a run found. Every other format is rendered from it."""

from collections.abc import Mapping
from typing import Annotated, Literal

from msgspec import Meta, Struct

from .claims import ClaimAccount
from .costs import Costs
from .counts import Counts
from .header import ClauseFacts, Sha256, SuiteFacts, TargetRecord
from .histories import Histories
from .records import CaseRecord
from .services import Figures
from .verdicts import ClauseVerdict, TargetVerdict
from .waivers import WaiverAccount

#: The version of the document: docs/contract.md says when which number moves.
Schema = Literal["tffs-conformance/report/4.0"]
SCHEMA: Schema = "tffs-conformance/report/4.0"

#: The file name of a report in the directory of a run.
REPORT_NAME = "report.json"
#: The same, packed by gzip.
PACKED_NAME = "report.json.gz"


class Executed(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What stands against a vacuous pass."""

    cases: Annotated[int, Meta(ge=0, description="Cases in which an op of the plugin beyond registration ran.")]
    must: Annotated[
        int, Meta(ge=0, description="Checks of MUST clauses, outside the class registration, made in them.")
    ]


class ClassAccount(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One conformance class."""

    verdict: TargetVerdict
    reason: Annotated[str, Meta(description="What decided the verdict, in a few words.")]
    counts: Counts


class ClauseAccount(ClauseFacts, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """One clause of the catalogue, and what the run says of it."""

    verdict: Annotated[ClauseVerdict, Meta(description="The worst of its checks, or that there are none.")]
    counts: Counts
    readings_seen: Annotated[
        Mapping[str, Annotated[int, Meta(ge=1)]] | None,
        Meta(description="Of a disputed clause: how many checks saw which reading."),
    ] = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if (self.disputed is None) != (self.readings_seen is None):
            raise ValueError("`disputed` and `readings_seen` stand together or not at all")


class End(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The end marker, the last key: a report cut short lacks it."""

    cases: Annotated[int, Meta(ge=0, description="How many cases there are.")]
    sha256: Annotated[Sha256, Meta(description="Over the cases as compact ASCII JSON with sorted keys.")]


class Report(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """The report of one run of the conformance suite on one target.

    Texts may hold anything a plugin said, control characters and lone surrogates included; a program that shows them
    escapes them.
    """

    schema: Annotated[Schema, Meta(description="The version of this document.")]
    contract: Annotated[str, Meta(description="The version of the contract: of the interface and the clauses.")]
    suite: SuiteFacts
    target: TargetRecord
    verdict: Annotated[TargetVerdict, Meta(description="What the run says of the target.")]
    reason: Annotated[str, Meta(description="What decided the verdict, in a few words.")]
    left_out: Annotated[str | None, Meta(description="What kept the run from being whole; null for a whole run.")]
    counts: Counts
    executed: Executed
    classes: Annotated[Mapping[str, ClassAccount], Meta(description="The conformance classes, by name.")]
    clauses: Annotated[Mapping[str, ClauseAccount], Meta(description="The clauses of the catalogue, by id.")]
    claims: Annotated[
        tuple[ClaimAccount, ...], Meta(description="What the profile claims, and what the run says of that.")
    ]
    waivers: Annotated[tuple[WaiverAccount, ...], Meta(description="The entries of the file of waivers, in its order.")]
    services: Annotated[
        Figures | None, Meta(description="What was measured of the target's services; null where nothing was.")
    ]
    costs: Costs | None = None
    histories: Annotated[
        Histories | None, Meta(description="What all small histories met; left out where no case tried any.")
    ] = None
    cases: Annotated[tuple[CaseRecord, ...], Meta(description="In the order of their ids.")]
    end: End
