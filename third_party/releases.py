"""Which releases of a package are judged, and in which TensorFlow: the table releases.toml."""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

TABLE = Path(__file__).with_suffix(".toml")


class BadTableError(Exception):
    """The table is wrong, or has no such release; the text is one sentence."""


@dataclass(frozen=True)
class Package:
    """A package, and its releases, the newest first.

    `runtime` and those of single releases are what `--runtime` takes. A TensorFlow has none: it runs in itself.
    """

    name: str
    releases: tuple[str, ...]
    runtime: str = ""
    runtimes: Mapping[str, str] = field(default_factory=dict)

    @property
    def newest(self) -> str:
        """The newest of its releases."""
        return self.releases[0]

    def runtime_of(self, release: str) -> str:
        """In which TensorFlow a release runs."""
        return self.runtimes.get(release, self.runtime)


def package(name: str) -> Package:
    """What the table says of a package. Raises BadTableError."""
    try:
        table = tomllib.loads(TABLE.read_text(encoding="utf-8"))[name]
        found = Package(name, releases=tuple(table.pop("releases")), **table)
    except KeyError:
        raise BadTableError(f"{TABLE} has no releases of {name}") from None
    except (tomllib.TOMLDecodeError, TypeError) as error:
        raise BadTableError(f"{TABLE}: {error}") from error
    if unknown := found.runtimes.keys() - set(found.releases):
        raise BadTableError(f"{TABLE}: a runtime for {', '.join(sorted(unknown))}, which is not judged")
    return found
