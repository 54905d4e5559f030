"""Writes down a failure that was found and shrunk: a trace, a C++ program, and a command that tries it again.

The traces in `kept` found a fault once, of whatever plugin. Each run tries them first, whatever its seed makes.
"""

import re
from contextlib import suppress
from pathlib import Path

from ...reports.escape import command_line
from ...reports.model.verdicts import Verdict
from ..contract.model import Step
from ..engine import callformat
from ..engine.case import Case
from . import cc_reproducer
from .traces import NotATraceError, Trace
from .tried import Tried

KEPT = Path(__file__).with_name("kept")


def known(case: Case) -> list[Trace]:
    """The traces to try first: only that of `--replay`, else what an earlier run left, and all that are kept."""
    target = case.bench.target
    asked = [Trace.read(Path(target.replay))] if target.replay else [*_left(case), *kept()]
    return [trace for trace in asked if trace.case == case.id]


def kept() -> list[Trace]:
    """The traces that found a fault once, of all cases."""
    return [Trace.read(path) for path in sorted(KEPT.glob("*.json"))]


def _left(case: Case) -> list[Trace]:
    path = _path(case)
    if path is None or not path.is_file():
        return []
    try:
        return [Trace.read(path)]
    except NotATraceError:
        # An earlier run of the suite wrote this file, so it may be replaced.
        return []


def forget(case: Case) -> None:
    """Delete the trace and the program of an earlier run, because the history no longer fails."""
    path = _path(case)
    if path is not None and not case.bench.target.replay:
        path.unlink(missing_ok=True)
        path.with_suffix(".cc").unlink(missing_ok=True)


def write(case: Case, tried: Tried, search: str) -> str:
    """Write the trace and the program of a failure. Return the text for the report; `search` says how it was found."""
    path = _path(case)
    ops = f"shrunk to {len(tried.steps)} ops ({search}): {', '.join(map(_told, tried.steps))}"
    if path is None:
        return ops
    broken = next(check for check in tried.record.checks if check.verdict is Verdict.VIOLATION)
    target = case.bench.target
    source = path.with_suffix(".cc")
    trace = Trace(
        case=case.id,
        plugin=target.plugin.name,
        clause=broken.clause,
        expected=broken.expected,
        got=broken.got,
        steps=tried.steps,
        calls=tried.record.ops,
    )
    try:
        trace.write(path)
        source.write_text(cc_reproducer.source(target, tried.calls, tried.names, broken), encoding="utf-8")
    except OSError as error:
        # The disk is full, for instance. What was found is told all the same, and no half of a file is left.
        for begun in (path, source):
            with suppress(OSError):
                begun.unlink()
        return f"{ops}; no trace could be written: {error.strerror or error}"
    line = command_line([*target.command, f"--case={case.id}", f"--replay={path}"])
    return f"{ops}; trace {path}; program {source}; {line}"


def _told(step: Step) -> str:
    """A step as short text, such as `create_dir('a')`."""
    data = [callformat.show(step.data)] if step.op == "append" else []
    numbers = [f"{step.offset}, {step.n}"] if step.op == "read" else []
    return f"{step.op}({', '.join([*map(repr, step.paths), *data, *numbers])})"


def _path(case: Case) -> Path | None:
    traces = case.bench.target.traces
    return Path(traces) / (re.sub(r"[^a-z0-9]+", "-", case.id).strip("-") + ".json") if traces else None
