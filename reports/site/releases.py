"""The published reports of a folder: `<plugin>/<version>/report.json.gz`, by plugin, the newest release first.

A report may be packed by gzip, as `report.json.gz`.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from packaging.version import InvalidVersion, Version

from ..document import load
from ..escape import printable
from ..model.abi import AbiFacts, spans
from ..model.findings import Findings
from ..model.report import PACKED_NAME, REPORT_NAME, Report
from ..model.uses import Decision, Word, answer, decisions, hinders
from ..publish import NOTES_NAME, NotPublishableError, hold, is_name
from .about import About, AboutError, read_about
from .notes import Notes, read_notes


class NoSiteError(Exception):
    """What keeps a site from being made. The text is one sentence."""


@dataclass(frozen=True, slots=True)
class Release:
    """One release of a plugin: its report, what a person decides by, and the notes that a person wrote.

    `path` is that of the report.
    """

    plugin: str
    version: str
    findings: Findings
    notes: Notes | None
    path: Path
    known: About
    decisions: tuple[Decision, ...]

    @property
    def report(self) -> Report:
        """Its report."""
        return self.findings.report

    @property
    def hinders(self) -> tuple[Decision, ...]:
        """What speaks against a training run on it."""
        return hinders(self.decisions)

    @property
    def answer(self) -> str:
        """May a training run use it? In one word."""
        said = answer(self.decisions)
        return f"{said}, in one process" if said == "yes" and not self.known.lasts else said

    @property
    def against(self) -> list[str]:
        """What is lost, then what breaks, else what is not known: of each use the first reason."""
        wrong = [one for one in self.decisions if one.word in (Word.LOSES, Word.BREAKS)] or self.hinders
        return list(dict.fromkeys(one.reasons[0].says for one in sorted(wrong, key=lambda one: one.word != Word.LOSES)))

    def broken(self, name: str | None = None) -> int:
        """How many MUST clauses are broken, of all or of one class."""
        clauses = self.report.clauses.values()
        return sum(one.counts.violation > 0 for one in clauses if name in (None, one.conformance_class))

    @property
    def abi(self) -> AbiFacts | None:
        """In which releases of TensorFlow it loads; None where that is not known, or where it is TensorFlow's own."""
        is_plugin = any(word.startswith("--plugin=") for word in self.report.suite.command)
        return self.report.target.abi if is_plugin else None

    @property
    def loads(self) -> str | None:
        """The same in a few words."""
        return (spans(self.abi.loads, self.abi.releases) or "no release") if self.abi else None

    @property
    def about(self) -> str:
        """What it is, in a few words of the notes."""
        return (self.notes and self.notes.title) or f"{self.plugin} {self.version}"


def read(folder: Path, conclude: Callable[[Report], Findings]) -> dict[str, list[Release]]:
    """The releases of each plugin, the newest first, the plugins by name; `conclude` says what a report found.

    Raises NoSiteError, ReportError or OSError.
    """
    plugins: dict[str, list[Release]] = {}
    for path in sorted([*folder.rglob(REPORT_NAME), *folder.rglob(PACKED_NAME)]):
        release = _release(path, path.relative_to(folder).parts[:-1], conclude)
        plugins.setdefault(release.plugin, []).append(release)
    if not plugins:
        raise NoSiteError(f"{printable(str(folder))} has no published report: PLUGIN/VERSION/{REPORT_NAME} is expected")
    for releases in plugins.values():
        releases.sort(key=_newness, reverse=True)
    return plugins


def _release(path: Path, names: tuple[str, ...], conclude: Callable[[Report], Findings]) -> Release:
    if len(names) != 2 or not all(map(is_name, names)):
        raise NoSiteError(f"{printable(str(path))} is not at PLUGIN/VERSION/{REPORT_NAME}")
    report = load(path)
    try:
        hold(report)
    except NotPublishableError as error:
        raise NoSiteError(f"{path}: {error}") from None
    for name in report.clauses:
        if not is_name(name):
            raise NoSiteError(f"{path}: {printable(name)!r} is no id of a clause")
    notes = path.with_name(NOTES_NAME)
    try:
        known = read_about(path.parents[1])
    except AboutError as error:
        raise NoSiteError(str(error)) from None
    decided = decisions(report, known.cause)
    return Release(*names, conclude(report), read_notes(notes) if notes.is_file() else None, path, known, decided)


def _newness(release: Release) -> tuple[bool, Version, str]:
    """What is no version as Python knows them is older than what is one."""
    try:
        return True, Version(release.version), release.version
    except InvalidVersion:
        return False, Version("0"), release.version


def newest(plugins: Mapping[str, list[Release]]) -> Iterator[Release]:
    """The newest release of each plugin."""
    return (releases[0] for releases in plugins.values())
