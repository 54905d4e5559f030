"""The journals of a run, one a target, and the header that each of them begins with."""

import platform
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime

from msgspec.structs import replace

from .. import __version__
from ..reports.journal import JOURNAL_NAME, Journal
from ..reports.model.header import Header, SuiteFacts
from ..reports.model.report import REPORT_NAME
from ..reports.model.waivers import Waiver
from ..suite.contract import catalogue, claims
from ..suite.engine.first_look import CHANGES
from ..suite.engine.plugin_facts import PluginFacts
from .commit import commit
from .run_options import RunOptions
from .targets import PreparedTarget


def open_journals(
    options: RunOptions,
    found: Sequence[PreparedTarget],
    known: Mapping[str, PluginFacts],
    waivers: Mapping[str, Sequence[Waiver]],
    selection: tuple[str, ...],
) -> dict[str, Journal]:
    """The journal of each target by its name. Raises OSError."""
    clauses, digest = catalogue.for_report(options.under), catalogue.current_digest(options.under)
    journals = {}
    if len(found) > 1:
        # Each has a folder of its own, and the report of an earlier run would stand above them.
        for name in (REPORT_NAME, JOURNAL_NAME):
            (options.reports / name).unlink(missing_ok=True)
    for one in found:
        target = one.target
        suite = SuiteFacts(
            version=__version__,
            commit=commit(),
            catalogue=digest,
            tier=options.tier,
            seed=target.seed,
            selection=selection,
            options=options.shaping,
            python=platform.python_version(),
            platform=platform.platform(),
            started=datetime.now(UTC).isoformat(timespec="seconds"),
            duration=None,
            command=target.command,
        )
        tables, refusals = one.facts.tables, known[target.name].unimplemented
        read_only = bool(tables) and all(tables[op] == "absent" or op in refusals for op in CHANGES)
        header = Header(
            contract=catalogue.CONTRACT_VERSION,
            suite=suite,
            target=replace(one.facts, read_only=read_only),
            clauses=clauses,
            claims=tuple(claims.for_report(target.claims, clauses)),
            waivers=tuple(waivers[target.name]),
        )
        directory = options.report_directory(target.name, len(found) > 1)
        journals[target.name] = Journal.open(directory, header, target.redaction)
    return journals
