"""The folders into which a run writes its reports: no two runs at a time write into one."""

import fcntl
import os
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from .run_options import BadUsageError


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
