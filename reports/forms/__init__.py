"""The forms of a report, for people and for other programs. Each is made by a module here.

A module has `render(findings)`, which gives the whole text of the file. One whose text grows with every
case has `pieces`, too, which gives it part by part.
Texts in a report may be anything that a plugin said: each form escapes them for itself.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

from ..document import write_whole
from ..model.findings import Findings


@dataclass(frozen=True, slots=True)
class Form:
    """A form: the name of its option and its module, its file, and what its help says."""

    name: str
    file: str
    says: str

    def pieces(self, findings: Findings) -> Iterator[str]:
        """The text of the file. The module is imported when it is needed: some stand on large libraries."""
        module = import_module(f".{self.name}", __package__)
        if hasattr(module, "pieces"):
            yield from module.pieces(findings)
        else:
            yield module.render(findings)


#: In the order of the help.
FORMS: tuple[Form, ...] = (
    Form("html", "report.html", "a page for a browser, with all clauses and cases"),
    Form("markdown", "report.md", "for a pull request or the summary of a job"),
    Form("junit", "junit.xml", "for GitLab, Jenkins and others that show tests"),
    Form("sarif", "report.sarif", "for code scanning"),
    Form("badge", "badge.svg", "a picture of the verdict"),
)


def write(form: Form, findings: Findings, into: Path) -> Path:
    """Write a report in this form into a folder, whole or not at all; the path.

    Raises OSError.
    """
    into.mkdir(parents=True, exist_ok=True)
    return write_whole(into / form.file, form.pieces(findings))
