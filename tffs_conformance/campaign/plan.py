"""The plan of a campaign: a TOML file that says what is judged, what is spread, and when it is enough."""

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import msgspec
from msgspec import Meta, Struct
from msgspec.structs import replace

from ..harness.targets.shipped import shipped
from ..reports.escape import printable
from ..reports.model.header import Tier
from ..reports.patterns import fits
from ..reports.plain import digest_of, plain
from ..suite.engine import collect, index

#: A name that may stand in the name of a file, and in an address.
Name = Annotated[str, Meta(pattern="^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$")]
Count = Annotated[int, Meta(ge=0, le=10_000_000)]
#: What is replaced by the seed of a task in the value of a variable.
SEED = "{seed}"
#: Options of pytest that a plan says in its own words, or that a task has to itself.
_OWN = ("--plugin", "--tier", "--shard", "--seed", "--examples", "--report-dir", "--case", "--clause", "--replay",
        "--env", "--scheme", "--root", "--backing", "-n")  # fmt: skip


class BadPlanError(Exception):
    """A plan cannot be read or makes no sense. The text is one sentence."""


class Condition(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What targets are judged under: variables of the plugin's process, and options for pytest."""

    name: Name
    environment: Mapping[str, str] = {}
    options: tuple[str, ...] = ()


class PlannedTarget(Condition, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What is judged: a plugin or a profile that names one. Paths are those of the machines that run the workers."""

    plugin: str | None = None
    profile: str | None = None
    scheme: str | None = None
    root: str | None = None
    backing: str | None = None


class Histories(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Histories beyond those of a run: `seeds` tasks a target, in each of which a property tries `each` histories."""

    seeds: Count = 0
    each: Annotated[int, Meta(ge=1, le=100_000)] = 100
    cases: tuple[str, ...] = ("properties/*",)


class Stop(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """When it is enough: after so many hours, or so many histories without a new difference."""

    hours: Annotated[float, Meta(gt=0)] | None = None
    quiet: Annotated[int, Meta(ge=1)] | None = None


class Plan(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A campaign: each target under each condition, its cases in `shards` tasks, and histories in further ones."""

    name: Name
    targets: Annotated[tuple[PlannedTarget, ...], Meta(min_length=1)] = msgspec.field(name="target")
    conditions: tuple[Condition, ...] = msgspec.field(name="condition", default=())
    tier: Tier = "full"
    shards: Annotated[int, Meta(ge=0, le=10_000)] = 8
    minutes: Annotated[float, Meta(gt=0)] = 60
    histories: Histories = Histories()
    stop: Stop = Stop()

    @property
    def identity(self) -> str:
        """64 hexadecimal digits: a store belongs to one. When it stops, and how long a task may take, is not in it."""
        return digest_of(plain(replace(self, stop=Stop(), minutes=60)))

    @property
    def judged(self) -> tuple[PlannedTarget, ...]:
        """Each target under each condition, the names of both in its name."""
        return tuple(_under(target, condition) for target in self.targets for condition in self.conditions) or (
            self.targets
        )


def read(path: Path) -> Plan:
    """The plan that a file has. Raises BadPlanError."""
    try:
        tables = tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise BadPlanError(f"{path} is no TOML: {error}") from None
    except OSError as error:
        raise BadPlanError(f"{path} cannot be read: {error.strerror}") from None
    plan = parsed(tables, str(path))
    _hold_to_tier(plan, str(path))
    folder = path.absolute().parent
    return replace(plan, targets=tuple(_placed(target, folder) for target in plan.targets))


def parsed(tables: Mapping[str, Any], where: str) -> Plan:
    """The plan that plain values stand for. Raises BadPlanError, whose sentence begins with `where`."""
    try:
        plan = msgspec.convert(tables, Plan)
    except msgspec.ValidationError as error:
        what, _, place = str(error).partition(" - at ")
        place = place.strip("`").removeprefix("$").lstrip(".") or "the plan"
        raise BadPlanError(f"{where}: {printable(place)}: {printable(what)}") from None
    for target in plan.targets:
        if (target.plugin is None) == (target.profile is None):
            raise BadPlanError(f"{where}: the target {target.name!r} needs either `plugin` or `profile`")
    for one in (*plan.targets, *plan.conditions):
        for option in one.options:
            if option.partition("=")[0] in _OWN or not option.startswith("-"):
                raise BadPlanError(
                    f"{where}: {one.name!r} has the option {printable(option)!r}, which a campaign gives itself"
                )
    names = [target.name for target in plan.judged]
    if twice := next((name for name in names if names.count(name) > 1), None):
        raise BadPlanError(f"{where}: the target {twice!r} is named twice")
    if not plan.shards and not plan.histories.seeds:
        raise BadPlanError(f"{where}: with `shards = 0` and no `seeds` in [histories] there is nothing to do")
    return plan


def _hold_to_tier(plan: Plan, where: str) -> None:
    """Raise BadPlanError where a task of histories would have no case to run."""
    if not plan.histories.seeds:
        return
    for undefined in sorted({"--undefined" in target.options for target in plan.judged}):
        known = [case.id for case in index.in_tiers(collect.tiers(plan.tier, undefined=undefined))]
        for pattern in plan.histories.cases:
            if not any(fits(pattern, name) for name in known):
                raise BadPlanError(
                    f"{where}: histories.cases: no case of the tier {plan.tier} fits {printable(pattern)!r}"
                )


def _placed(target: PlannedTarget, folder: Path) -> PlannedTarget:
    """The target with paths that do not depend on where a worker runs."""

    def placed(given: str | None) -> str | None:
        if given is None or given in shipped() or ("/" not in given and not (folder / given).exists()):
            return given
        return str(folder / given)

    return replace(target, plugin=placed(target.plugin), profile=placed(target.profile))


def _under(target: PlannedTarget, condition: Condition) -> PlannedTarget:
    return replace(
        target,
        name=f"{target.name}.{condition.name}",
        environment={**target.environment, **condition.environment},
        options=(*target.options, *condition.options),
    )
