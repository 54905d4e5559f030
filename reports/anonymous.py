"""Reports that are about a plugin, and not about whose machine it was judged on."""

import re
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from .document import validate
from .model.report import Report
from .plain import digest_of, plain

#: A path begins here, and not inside of a longer name.
_BEGINS = r"(?<![\w.~-])"
_ENDS = r"(?![\w.-])"
#: The home of anybody, whoever ran the suite.
_HOMES = re.compile(rf"{_BEGINS}/(?:(?:home|Users)/[^/\s'\"]+|root){_ENDS}")
#: What the suite wrote, and no path of a machine.
_KEPT = ("schema", "contract", "counts", "classes", "clauses", "end")


def anonymous(report: Report, folders: Iterable[Path]) -> Report:
    """A report without the paths of these folders and of people's homes.

    What lies in one of `folders` (absolute paths) is named as seen from there. Homes are written `~`. The verdicts, the
    counts and the ids stay.
    """
    paths = _paths(folders)
    document = plain(report)
    for key in document.keys() - set(_KEPT):
        document[key] = _without(document[key], paths)
    document["end"]["sha256"] = digest_of(document["cases"])
    return validate(document)


def _paths(folders: Iterable[Path]) -> re.Pattern[str] | None:
    """Where one of these folders stands. Nobody is known by a root or by the folder for temporary files."""
    shared = {Path("/"), Path("/tmp"), Path(tempfile.gettempdir())}
    # The longest first: a folder may lie in another one.
    names = sorted({str(folder) for folder in folders} - set(map(str, shared)), key=lambda name: (-len(name), name))
    return re.compile(rf"{_BEGINS}(?:{'|'.join(map(re.escape, names))})(?:/|{_ENDS})") if names else None


def _without(value: Any, paths: re.Pattern[str] | None) -> Any:
    match value:
        case str():
            inside = paths.sub(lambda found: "" if found[0].endswith("/") else ".", value) if paths else value
            return _HOMES.sub("~", inside)
        case dict():
            return {key: _without(entry, paths) for key, entry in value.items()}
        case list() | tuple():
            return [_without(entry, paths) for entry in value]
    return value
