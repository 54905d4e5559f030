"""What the services behind a target were, and what they say of a read."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Figures:
    """A file of `size` bytes was read by the target, then by the same plugin on another node of the services.

    `images` are those of the services. `figures` says what was counted, and by how many bytes it grew meanwhile;
    `failure` says why there are none.
    """

    images: tuple[str, ...]
    size: int
    figures: Mapping[str, int] = field(default_factory=dict)
    failure: str | None = None

    def to_json(self) -> dict[str, Any]:
        """The JSON object of a report."""
        return {
            "images": list(self.images),
            "size": self.size,
            "figures": [{"what": what, "bytes": count} for what, count in self.figures.items()],
            "failure": self.failure,
        }
