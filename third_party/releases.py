"""Which releases of a package are judged, and in which TensorFlow: the table releases.toml."""

from pathlib import Path

from msgspec import Struct

from tffs_conformance import typed_toml
from tffs_conformance.typed_toml import TomlError

TABLE = Path(__file__).with_suffix(".toml")


class Package(Struct, frozen=True, forbid_unknown_fields=True):
    """The releases of a package, the newest first.

    `runtime` and those of single releases are what `--runtime` takes. A TensorFlow has none: it runs in itself.
    """

    releases: tuple[str, ...]
    runtime: str = ""
    runtimes: dict[str, str] = {}

    @property
    def newest(self) -> str:
        """The newest of its releases."""
        return self.releases[0]

    def runtime_of(self, release: str) -> str:
        """In which TensorFlow a release runs."""
        return self.runtimes.get(release, self.runtime)


def package(name: str) -> Package:
    """What the table says of a package. Raises TomlError."""
    try:
        found = typed_toml.read(TABLE, dict[str, Package])[name]
    except KeyError:
        raise TomlError(f"{TABLE} has no releases of {name}") from None
    if unknown := found.runtimes.keys() - set(found.releases):
        raise TomlError(f"{TABLE}: {name}: runtimes has {', '.join(sorted(unknown))}, which is not judged")
    return found
