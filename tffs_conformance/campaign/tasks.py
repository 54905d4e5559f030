"""The tasks of a plan: a target, and either a shard of its cases or a seed for histories."""

from collections.abc import Iterator
from itertools import chain, zip_longest
from typing import Literal

from msgspec import Struct

from .plan import SEED, Plan, PlannedTarget

Kind = Literal["shard", "seed"]
#: So many tasks stand in one folder of a store: no listing is longer, and nobody knows more ids at a time.
BLOCK = 1000


class Task(Struct, frozen=True):
    """One run of pytest on a worker; `number` is a shard from 1, or a seed from 1."""

    target: str
    kind: Kind
    number: int

    @property
    def id(self) -> str:
        """Its name in a campaign."""
        return f"{self.target}/{self.kind}/{self.number:07}"

    @property
    def block(self) -> "Block":
        """The block that it is in."""
        return Block(self.target, self.kind, self.number // BLOCK)


class Block(Struct, frozen=True):
    """Up to BLOCK tasks of one kind and target."""

    target: str
    kind: Kind
    number: int

    def tasks(self, plan: Plan) -> range:
        """The numbers of its tasks."""
        first = max(1, self.number * BLOCK)
        return range(first, min((self.number + 1) * BLOCK, _last(plan, self.kind) + 1))


def blocks(plan: Plan) -> Iterator[Block]:
    """All blocks: first the shards of every target; then its seeds, the targets taking turns."""
    for kind in ("shard", "seed"):
        last = _last(plan, kind)
        for number in range(last // BLOCK + 1 if last else 0):
            yield from (Block(target.name, kind, number) for target in plan.judged)


def total(plan: Plan) -> int:
    """How many tasks there are."""
    return len(plan.judged) * (plan.shards + plan.histories.seeds)


def in_turn(several: list[list[Task]]) -> Iterator[Task]:
    """The tasks of several lists, one of each at a time."""
    return (task for task in chain.from_iterable(zip_longest(*several)) if task is not None)


def arguments(plan: Plan, target: PlannedTarget, task: Task) -> list[str]:
    """What pytest is given for a task, beside where its report goes."""
    given = [f"--tier={plan.tier}"]
    for name in ("plugin", "scheme", "root", "backing"):
        value = getattr(target, name)
        given += [] if value is None else [f"--{name}={value}"]
    given += [] if target.profile is None else [f"--plugin-profile={target.profile}"]
    seed = 0 if task.kind == "shard" else task.number
    given += [f"--env={name}={value.replace(SEED, str(seed))}" for name, value in target.environment.items()]
    given += target.options
    if task.kind == "shard":
        return [*given, f"--shard={task.number}/{plan.shards}"]
    cases = [f"--case={pattern}" for pattern in plan.histories.cases]
    return [*given, *cases, f"--seed={seed}", f"--examples={plan.histories.each}"]


def _last(plan: Plan, kind: Kind) -> int:
    return plan.shards if kind == "shard" else plan.histories.seeds
