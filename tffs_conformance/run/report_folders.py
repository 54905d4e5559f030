"""The folders into which a run writes its reports: no two runs at a time write into one."""

import errno
import fcntl
import os
from collections.abc import Iterable
from contextlib import suppress
from itertools import islice
from pathlib import Path

from ..reports.journal import JOURNAL_NAME
from ..reports.model.report import REPORT_NAME
from ..reports.plain import parse
from .run_options import BadUsageError, UnwritableError

#: The folder, below that of the reports, of a selection that would take the place of a whole run.
SELECTION = "selection"
#: In so many lines from its beginning a report says what was selected.
_OPENING = 10


class ReportFolders:
    """Folders that are made, and that are this run's until it ends, however it ends."""

    def __init__(self, folders: Iterable[Path]) -> None:
        self._descriptors: dict[Path, int] = {}
        self._made: list[Path] = []
        try:
            for folder in dict.fromkeys(folders):
                if not folder.is_dir():
                    folder.mkdir(parents=True)
                    self._made.append(folder)
                descriptor = self._descriptors[folder] = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
                _lock(descriptor, folder)
                if not os.access(folder, os.W_OK):
                    raise BadUsageError(f"--report-dir: the report cannot be written: {folder} is not writable")
        except OSError as error:
            self.release()
            if error.errno in (errno.ENOSPC, errno.EDQUOT):
                raise UnwritableError(error) from error
            raise BadUsageError(f"--report-dir: the report cannot be written: {error}") from error
        except BadUsageError:
            self.release()
            raise

    def release(self) -> None:
        """Give the folders back; one that was made and has nothing in it is removed."""
        for descriptor in self._descriptors.values():
            os.close(descriptor)
        for folder in reversed(self._made):
            with suppress(OSError):
                folder.rmdir()
        self._descriptors, self._made = {}, []


def _lock(descriptor: int, folder: Path) -> None:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise BadUsageError(
            f"--report-dir: another run writes into {folder}, give this one a folder of its own"
        ) from None
    except OSError:
        return  # this file system knows no locks


def holds_whole_run(folder: Path) -> bool:
    """Whether the report or the journal of a whole run is in this folder, or in that of one of several targets."""
    below = [one for one in folder.iterdir() if one.name != SELECTION] if folder.is_dir() else []
    return any(_selected(one / name) == [] for one in (folder, *below) for name in (REPORT_NAME, JOURNAL_NAME))


def _selected(path: Path) -> object:
    """What a report or a journal says was selected; None where it is neither. No more than its beginning is read."""
    with suppress(OSError, ValueError, LookupError, TypeError), path.open(encoding="utf-8") as file:
        for line in islice(file, _OPENING):
            if path.name == JOURNAL_NAME:
                return parse(line)["header"]["suite"]["selection"]
            if line.startswith('"suite": '):
                return parse(f"{{{line.rstrip().rstrip(',')}}}")["suite"]["selection"]
    return None
