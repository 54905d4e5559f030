"""The journals of a run, one a target, and the header that each of them begins with."""

import platform
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime

from .. import __version__
from ..reports.header import ClauseFacts, Header, ReadingFacts, SuiteFacts
from ..reports.journal import Journal
from ..reports.waivers import Waiver
from ..suite.contract.catalogue import CONTRACT_VERSION, Clause, catalogue
from ..suite.contract.claims import for_report
from .run_options import BadUsage, RunOptions
from .targets import PreparedTarget


def open_journals(
    options: RunOptions,
    found: Sequence[PreparedTarget],
    waivers: Mapping[str, Sequence[Waiver]],
    selection: tuple[str, ...],
) -> dict[str, Journal]:
    """The journal of each target by its name. Raises BadUsage where one cannot be written."""
    clauses = tuple(map(_facts, catalogue().values()))
    journals = {}
    for one in found:
        target = one.target
        suite = SuiteFacts(
            version=__version__,
            tier=options.tier,
            seed=target.seed,
            python=platform.python_version(),
            platform=platform.platform(),
            started=datetime.now(UTC).isoformat(timespec="seconds"),
            command=target.command,
            selection=selection,
            options={"host-scope": target.host_scope, "call-timeout": target.timeout, "examples": target.examples},
        )
        claims, accepted = tuple(for_report(target.claims)), tuple(waivers[target.name])
        header = Header(CONTRACT_VERSION, suite, one.facts, clauses, claims=claims, waivers=accepted)
        directory = options.report_directory(target.name, len(found) > 1)
        try:
            journals[target.name] = Journal.open(directory, header, one.secrets)
        except OSError as error:
            raise BadUsage(f"--report-dir: the report cannot be written: {error}") from error
    return journals


def _facts(clause: Clause) -> ClauseFacts:
    return ClauseFacts(
        id=clause.id,
        level=clause.level.value,
        conformance_class=clause.conformance_class,
        rule=clause.rule,
        source=clause.source,
        check=clause.check,
        op=clause.op or None,
        untested=clause.untested,
        disputed=clause.disputed,
        readings=tuple(ReadingFacts(r.name, r.text, r.tensorflow) for r in clause.readings),
    )
