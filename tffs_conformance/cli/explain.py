"""`tffs-conformance explain`: what a clause demands, or what a case tries."""

import shutil
import textwrap
from collections import Counter
from collections.abc import Iterable

import click

from ..reports.escape import command_line, printable
from ..reports.patterns import nearest
from ..suite.contract.catalogue import Clause, catalogue, clause
from ..suite.engine import index
from ..suite.engine.case_facts import CaseFacts

#: So many groups of cases are named where nobody asks for all.
_GROUPS = 8
_HEAD = 12
#: The option that gives a run each condition.
_GIVEN = {
    **{name: f"--sanitizer={name}" for name in ("memcheck", "address", "thread")},
    **{name: f"--conditions={name}" for name in ("syscalls", "kill", "power", "network", "processes", "memory")},
}


@click.command()
@click.argument("name", metavar="CLAUSE|CASE")
@click.option("--all", "every", is_flag=True, help="Name every case, one a line.")
def explain(name: str, every: bool) -> None:
    """Say what a clause demands, where that comes from, what TensorFlow makes of a breach, and which cases check it.

    Of a case: what it tries, which clauses it checks, and how it is run alone.
    """
    listed = index.plain_first()
    if name in catalogue():
        _clause(clause(name), [case.id for case in listed if name in case.clauses], every)
        return
    found = next((case for case in listed if case.id == name), None)
    if found is None:
        near = nearest(name, [*catalogue(), *(case.id for case in listed)])
        raise click.UsageError(f"there is no clause and no case {printable(name)!r}{near}")
    _case(found)


def _clause(entry: Clause, cases: list[str], every: bool) -> None:
    click.echo(f"{entry.id}   {entry.level} · {entry.conformance_class}")
    _show("rule", entry.rule)
    for number, reading in enumerate(entry.readings):
        harm = " (a warning)" if reading.harmful else ""
        _show("" if number else "accepted", f"{reading.name}: {reading.text} TensorFlow: {reading.tensorflow}{harm}")
    if entry.disputed:
        _show("disputed", entry.disputed)
    for number, source in enumerate(entry.sources):
        _show("" if number else "source", source)
    if entry.tensorflow:
        _show("TensorFlow", entry.tensorflow)
    _show("look at", entry.check)
    if entry.conditions:
        _show("checked", f"with {' or '.join(_GIVEN[one] for one in entry.conditions)} only")
    if every:
        for number, case in enumerate(cases):
            _show("" if number else "cases", case)
    else:
        _show("cases", _grouped(cases) if cases else "none")


def _grouped(cases: Iterable[str]) -> str:
    """Cases that differ in their brackets only are one group, with their number."""
    groups = Counter(case.partition("[")[0] for case in cases)
    named = [f"{name} ×{count}" if count > 1 else name for name, count in groups.items()]
    more = len(named) - _GROUPS
    rest = f", and {more} more groups" if more > 0 else ""
    return f"{groups.total()}: {', '.join(named[:_GROUPS])}{rest}   (--all)"


def _case(case: CaseFacts) -> None:
    click.echo(f"{case.id}   tier {case.tier}")
    _show("tries", case.doc)
    for number, name in enumerate(case.clauses):
        _show("" if number else "checks", f"{clause(name).level} {name}: {clause(name).rule}")
    under = [_GIVEN[case.tier]] if case.tier in _GIVEN else []
    _show("run it", command_line(["pytest", "--plugin=libmine.so", f"--case={case.id}", *under]))


def _show(head: str, text: str) -> None:
    width = min(shutil.get_terminal_size().columns, 100)
    indent = " " * _HEAD
    click.echo(
        textwrap.fill(text, width, initial_indent=f"{head:<{_HEAD}}", subsequent_indent=indent, break_on_hyphens=False)
    )
