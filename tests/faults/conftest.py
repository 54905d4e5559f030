"""A table of what was seen, at the end of the run, from what tests record with the fixture `record`."""

import statistics
from collections.abc import Callable
from typing import Any

import pytest
from rich.console import Console
from rich.markup import escape
from rich.table import Table

#: Takes the title of a table, and the cells of one row by the names of their columns.
Record = Callable[..., None]
_ROW = "a row of a table"


@pytest.fixture
def record(record_property: Callable[[str, object], None]) -> Record:
    """Adds a row to the table of this title."""

    def add(title: str, **cells: str) -> None:
        record_property(_ROW, [title, cells])

    return add


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Print the tables, and of the column `violations` the median: how many of them does one fault cause?"""
    tables: dict[str, list[dict[str, str]]] = {}
    for outcome in ("passed", "failed"):
        for report in terminalreporter.stats.get(outcome, []):
            for name, value in getattr(report, "user_properties", ()):
                if name == _ROW and report.when == "call":
                    tables.setdefault(value[0], []).append(value[1])
    console = Console(width=180)
    for title, rows in tables.items():
        table = Table(*rows[0], title=title)
        for row in sorted(rows, key=lambda row: next(iter(row.values()))):
            table.add_row(*map(escape, row.values()))
        with console.capture() as printed:
            console.print(table)
        terminalreporter.write_line(printed.get())
        if counts := [int(row["violations"]) for row in rows if "violations" in row]:
            middle = f"{statistics.median(counts):g}"
            terminalreporter.write_line(f"violations of one fault: median {middle}, most {max(counts)}\n")
