"""Writes the tables of reports/published/README.md that follow from the reports: `python -m third_party.tables`."""

from collections.abc import Callable, Mapping

from tffs_conformance.reports.site.markdown_table import decisions, matrix
from tffs_conformance.reports.site.releases import Release, read
from tffs_conformance.suite.judge.findings import conclude

from . import judge

#: Each table, after a comment that names it.
TABLES: Mapping[str, Callable[[Mapping[str, list[Release]]], str]] = {"uses": decisions, "releases": matrix}
BEGIN, END = "<!-- {}: python -m third_party.tables -->\n", "<!-- end -->\n"
PAGE = judge.CLONE / judge.PUBLISHED / "README.md"


def filled(page: str, plugins: Mapping[str, list[Release]]) -> str:
    """A page with its tables as they follow from these reports."""
    for name, table in TABLES.items():
        begin = BEGIN.format(name)
        before, marked, rest = page.partition(begin)
        if marked:
            page = f"{before}{begin}\n{table(plugins)}\n{END}{rest.partition(END)[2]}"
    return page


if __name__ == "__main__":
    PAGE.write_text(filled(PAGE.read_text(encoding="utf-8"), read(PAGE.parent, conclude)), encoding="utf-8")
