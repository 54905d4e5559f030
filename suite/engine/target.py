"""The target of a run: what is judged, and what its user said about it."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ...reports.model.redaction import Redaction

    # Options need this module in every run of pytest, and claims take long to import.
    from ..contract.claims import Value

#: Histories that each property tries unless it is told otherwise.
EXAMPLES = 100


@dataclass(frozen=True, slots=True)
class Target:
    """A plugin, one of its schemes, and the root below which cases work; `timeout` in seconds.

    `backing` is the URL of another way to the same storage, where `{path}` stands for the path of the root, and
    `unbacked` says that there is none;
    `backing_options` are those of fsspec for it. `claims` and `limits` are those of a profile. The values of the
    environment variables in `secrets` are told to nobody. `missing` says why its services are not there.

    Properties try `examples` histories that follow from `seed`, and leave what they find in the folder `traces`; with
    `replay`, the path of a trace, they try that one only. `host_command` runs hosts somewhere else, where `plugin` is a
    path; it is empty for this machine. `sanitizer` names the tool under which each case is repeated. `runtime` has the
    paths of TensorFlow's libraries with which the plugin is loaded; none where the stand-in of this package does it.
    `through` is the program of hosts whose ops go through TensorFlow; empty where they go through the plugin's tables.
    `apart` differs between workers that run the same cases.
    `command` is the line that judges this target again.
    """

    name: str
    plugin: Path
    scheme: str | None
    root: str | None
    environment: dict[str, str] = field(default_factory=dict)
    timeout: float = 10.0
    host_scope: str = "case"
    keep: bool = False
    backing: str | None = None
    unbacked: bool = False
    backing_options: dict[str, Any] = field(default_factory=dict)
    missing: str | None = None
    claims: dict[str, "Value"] = field(default_factory=dict)
    limits: dict[str, int] = field(default_factory=dict)
    secrets: tuple[str, ...] = ()
    examples: int = EXAMPLES
    seed: int = 0
    traces: str | None = None
    replay: str | None = None
    host_command: tuple[str, ...] = ()
    sanitizer: str = ""
    runtime: tuple[str, ...] = ()
    through: tuple[str, ...] = ()
    apart: str = ""
    command: tuple[str, ...] = ()

    @property
    def redaction(self) -> "Redaction":
        """What takes its secrets out of texts."""
        from ...reports.model.redaction import Redaction, looks_secret  # noqa: PLC0415 - options need this module

        options = {name: value for name, value in self.backing_options.items() if isinstance(value, str)}
        secret = {name: self.environment[name] for name in self.secrets}
        secret |= {f"backing.{name}": value for name, value in options.items() if looks_secret(name)}
        return Redaction(secret, [*self.environment.values(), *options.values(), self.backing or ""])
