"""The store of a campaign: a folder on any file system of fsspec, and the only truth about how far it is.

`results/` has what tasks gave, named by content. `ended/` has an entry for each task that ended, whose name says what
status needs, so that a listing is enough. It is written last: who finds it finds all the rest. `findings/` has one
entry a fingerprint.
"""

import hashlib
import json
import secrets
import time
from collections.abc import Iterator
from typing import Any, Self

import fsspec
from msgspec import Struct

from ..reports import plain
from .findings import Found
from .plan import BadPlanError, Plan
from .tasks import Block, Task

PLAN = "plan.json"


class StoreError(Exception):
    """The store cannot be read or written: it is full, or out of reach. The text is one sentence."""


class Ended(Struct, frozen=True):
    """A task that ended: the digest of its result, when (seconds since the epoch), and how much was in it."""

    number: int
    digest: str
    ended: int
    seconds: int
    cases: int
    histories: int

    @property
    def name(self) -> str:
        """The name of its entry. No two fields are apart by more than a dash."""
        numbers = "-".join(map(str, (self.ended, self.seconds, self.cases, self.histories)))
        return f"{self.number:07}-{numbers}-{self.digest}"

    @classmethod
    def of(cls, name: str) -> Self | None:
        """The entry of this name; None for a file of somebody else."""
        fields = name.split("-")
        if len(fields) != 6 or not all(field.isdecimal() for field in fields[:5]):
            return None
        number, *figures = map(int, fields[:5])
        return cls(number, fields[5], *figures)


class Store:
    """A store at a URL of fsspec, or in a directory. Every method raises StoreError where it cannot do its work."""

    def __init__(self, url: str) -> None:
        self.url = url
        try:
            self._fs, self._root = fsspec.core.url_to_fs(url)
        except (ImportError, ValueError) as error:
            raise BadPlanError(f"--store={url}: {error}") from None
        self._is_local = "file" in self._fs.protocol

    # The plan --------------------------------------------------------------------------------------------------------

    def claim(self, plan: Plan, suite: str) -> int:
        """Take the store for this plan and suite, or go on with it; when it began, in seconds since the epoch.

        Raises BadPlanError where the store belongs to others: what two suites found makes no report.
        """
        kept = self._json(PLAN)
        if kept is None:
            kept = {"identity": plan.identity, "suite": suite, "began": int(time.time()), "plan": plain.plain(plan)}
            self._write(PLAN, json.dumps(kept, indent=1).encode())
        if kept["identity"] != plan.identity:
            raise BadPlanError(
                f"{self.url} has the results of another plan: choose another store, or take its own plan"
            )
        if kept["suite"] != suite:
            raise BadPlanError(
                f"{self.url} has the results of the suite {kept['suite']}, and this is {suite}: choose another store"
            )
        return int(kept["began"])

    def plan(self) -> tuple[Plan, int]:
        """The plan that the store belongs to, and when it began. Raises BadPlanError where there is none."""
        kept = self._json(PLAN)
        if kept is None:
            raise BadPlanError(f"{self.url} is no store of a campaign: it has no {PLAN}")
        return plain.typed(kept["plan"], Plan), int(kept["began"])

    # Results ---------------------------------------------------------------------------------------------------------

    def keep(self, task: Task, result: bytes, ended: Ended, found: list[Found]) -> int:
        """Keep what came of a task; how many of its findings nobody had before. Doing so twice changes nothing."""
        self._write(f"results/{ended.digest}", result)
        new = [one for one in found if not self._exists(f"findings/{one.fingerprint}.json")]
        for one in new:
            self._write(f"findings/{one.fingerprint}.json", plain.text(one).encode())
        self._write(f"{_folder(task.block)}/{ended.name}", b"")
        return len(new)

    def ended(self, block: Block) -> dict[int, Ended]:
        """The tasks of a block that ended, by number. One that two workers ended counts once: the first entry."""
        known: dict[int, Ended] = {}
        for name in sorted(self._names(_folder(block))):
            if entry := Ended.of(name):
                known.setdefault(entry.number, entry)
        return known

    def result(self, ended: Ended) -> bytes:
        """What a task gave."""
        content = self._read(f"results/{ended.digest}")
        if content is None or digest(content) != ended.digest:
            raise StoreError(f"{self.url}: results/{ended.digest} is missing or not what its name says")
        return content

    def findings(self) -> Iterator[Found]:
        """All findings, by fingerprint."""
        for name in sorted(self._names("findings")):
            content = self._read(f"findings/{name}")
            if content is not None:
                yield plain.read(content.decode(), Found)

    # The file system -------------------------------------------------------------------------------------------------

    def _json(self, name: str) -> Any:
        content = self._read(name)
        return None if content is None else json.loads(content)

    def _read(self, name: str) -> bytes | None:
        try:
            return bytes(self._fs.cat_file(f"{self._root}/{name}"))
        except FileNotFoundError:
            return None
        except OSError as error:
            raise self._trouble("read", name, error) from error

    def _exists(self, name: str) -> bool:
        try:
            return bool(self._fs.exists(f"{self._root}/{name}"))
        except OSError as error:
            raise self._trouble("read", name, error) from error

    def _names(self, folder: str) -> list[str]:
        try:
            # What others wrote meanwhile counts.
            self._fs.invalidate_cache(f"{self._root}/{folder}")
            return [str(path).rpartition("/")[2] for path in self._fs.ls(f"{self._root}/{folder}", detail=False)]
        except FileNotFoundError:
            return []
        except OSError as error:
            raise self._trouble("list", folder, error) from error

    def _write(self, name: str, content: bytes) -> None:
        """Write whole or not at all: under another name first, where a file can be seen while it grows."""
        path = f"{self._root}/{name}"
        try:
            if not self._is_local:
                self._fs.pipe_file(path, content)
                return
            self._fs.makedirs(path.rpartition("/")[0], exist_ok=True)
            draft = f"{self._root}/draft-{secrets.token_hex(8)}"
            try:
                self._fs.pipe_file(draft, content)
                self._fs.mv(draft, path)
            except OSError:
                if self._fs.exists(draft):
                    self._fs.rm_file(draft)
                raise
        except OSError as error:
            raise self._trouble("write", name, error) from error

    def _trouble(self, what: str, name: str, error: OSError) -> StoreError:
        return StoreError(f"the store {self.url} cannot {what} {name}: {error.strerror or error}")


def digest(content: bytes) -> str:
    """SHA-256: 64 hexadecimal digits."""
    return hashlib.sha256(content).hexdigest()


def _folder(block: Block) -> str:
    return f"ended/{block.target}/{block.kind}-{block.number:05}"
