"""How an option of a run is declared: once, as a field of RunOptions, which says all that follows from it alone."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, ParamSpec

import pytest

from ..reports.patterns import nearest

#: The folder beside the report in which properties leave what they found.
TRACES = "traces"
P = ParamSpec("P")


def names_in(text: str) -> tuple[str, ...]:
    """What commas separate."""
    return tuple(name for name in text.split(",") if name)


@dataclass(frozen=True, slots=True)
class RunOption:
    """An option of a run. It is a flag where its default is False, and repeatable where that is an empty tuple.

    `read` makes the value of a run of what pytest parsed. One that `speaks` says nothing when it is empty, which is an
    error. What `shapes` a result stands in reports. A target has a field of that name where it is `of_target`. The line
    that runs a case again has it where it is said `again`, but for its default and what is as `usual`. Without `help`,
    pytest knows it already. `choices` are its values, or if it has a `metavar`, what its value names with commas.
    """

    name: str
    help: str = ""
    default: Any = None
    type: Callable[[str], Any] | None = None
    choices: Sequence[str] | None = None
    metavar: str | None = None
    read: Callable[[Any], Any] | None = None
    speaks: bool = False
    shapes: bool = False
    of_target: bool = False
    again: bool = False
    usual: Sequence[Any] = ()

    @property
    def dest(self) -> str:
        """Where pytest keeps it."""
        return f"tffs_{self.name.replace('-', '_')}"

    def add(self, group: pytest.OptionGroup) -> None:
        """Tell pytest of it."""
        metavar = self.metavar or ("|".join(self.choices) if self.choices else None)
        told = {"type": self.type, "metavar": metavar, "default": self.default}
        if self.default is False:
            told["action"] = "store_true"
        if self.default == ():
            told |= {"action": "append", "default": []}
        if self.help:
            given = {name: one for name, one in told.items() if one is not None}
            group.addoption(f"--{self.name}", dest=self.dest, help=self.help, **given)

    def parsed(self, parsed: Any) -> Any:
        """Its value among what pytest parsed."""
        value = getattr(parsed, self.dest)
        return tuple(value or ()) if self.default == () else value

    def wrong(self, value: Any) -> str:
        """A sentence about what in its value is none of its choices; empty where all is."""
        if not self.choices or value == self.default:
            return ""
        names = names_in(value if isinstance(value, str) else ",".join(value)) if self.metavar else [value]
        unknown = next((name for name in names if name not in self.choices), None)
        known = f"choose from {', '.join(self.choices)}{nearest(unknown or '', self.choices)}"
        return "" if unknown is None else f"--{self.name}={unknown}: {known}"

    def line(self, value: Any) -> list[str]:
        """What says this value on the line that runs a case again."""
        if value == self.default or value in self.usual:
            return []
        shown = f"{value:g}" if isinstance(value, float) else ",".join(value) if isinstance(value, tuple) else value
        return [f"--{self.name}" if value is True else f"--{self.name}={shown}"]


def _field(make: Callable[P, RunOption]) -> Callable[P, Any]:
    def declared(*given: P.args, **named: P.kwargs) -> Any:
        return field(metadata={"option": make(*given, **named)})

    return declared


#: A field that is read off an option, which is declared as an Option is.
option = _field(RunOption)
