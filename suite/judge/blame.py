"""Blame: what a death, a step that did not work, and a flaw of what was prepared say of clauses.

Blame adds statements and takes none away: what a case saw stays.
"""

from collections.abc import Iterator, Mapping

from ...reports.model.records import StatementKind
from .evidence import Block, Death, Evidence, Fall, Statement

#: The clause that an op breaks which does not come back.
FALLS: Mapping[Fall, str] = {
    Fall.HUNG: "robustness.no-hang",
    Fall.CRASHED: "robustness.no-crash",
    Fall.THREW: "robustness.no-exception",
}
#: The clauses that every op keeps by coming back.
SURVIVED = tuple(sorted(FALLS.values()))
#: The clause that says of a step of loading what `<op>.succeeds` says of an op.
LOADING: Mapping[str, str] = {
    "dlopen": "registration.loads",
    "TF_InitPlugin": "registration.loads",
    "registration": "registration.required-ops",
    "plugin_memory_free": "registration.blocks-are-freeable",
}


def blamed(evidence: Evidence) -> Iterator[Statement]:
    """What the case says beyond what it compared, causes first."""
    flaw = evidence.flaw
    if flaw is not None and evidence.is_news(flaw.op):
        yield _breach(f"{flaw.op}.succeeds", f"{flaw.op} works", flaw.why, flaw.op, flaw.kind)
    if evidence.death is not None and not is_a_consequence(evidence, evidence.death):
        yield from _of_death(evidence, evidence.death)
    if evidence.block is not None:
        yield from _of_block(evidence, evidence.block)


def is_a_consequence(evidence: Evidence, death: Death) -> bool:
    """Whether an op only died on the way to the stimulus, and other cases say so."""
    return death.prepared and not evidence.is_news(death.op)


def _of_death(evidence: Evidence, death: Death) -> Iterator[Statement]:
    freeing = death.fall is Fall.CRASHED and death.op == "plugin_memory_free"
    expected = f"{death.op} comes back"
    kind = StatementKind.HANG if death.fall is Fall.HUNG else StatementKind.CRASH
    yield _breach(LOADING[death.op] if freeing else FALLS[death.fall], expected, death.said, death.op, kind)
    # An op without a status has no other way to fail.
    for name in (f"{death.op}.succeeds", f"{death.op}.after-init"):
        if name in evidence.clauses:
            yield _breach(name, expected, death.said, death.op, kind)


def _of_block(evidence: Evidence, block: Block) -> Iterator[Statement]:
    """Where the case is about the op that blocks it, that is the violation which all others wait for."""
    name = LOADING.get(block.op, f"{block.op}.succeeds")
    if name not in evidence.clauses:
        return
    if block.death is not None:
        # What hangs in special situations only was not called in this one: nobody knows.
        unknown = block.death.fall is Fall.HUNG and block.op not in LOADING and block.op not in evidence.known
        if not unknown:
            yield from _of_death(evidence, block.death)
        return
    broken = any(said.clause == name and not said.holds for said in evidence.statements)
    if not broken and not (block.absent and block.op not in evidence.promised):
        yield _breach(name, f"{block.op} works", f"{block.op}: {block.why}", block.op)


def _breach(clause: str, expected: str, got: str, op: str, kind: StatementKind = StatementKind.OTHER) -> Statement:
    return Statement(clause, False, expected, got, op=op, kind=kind)
