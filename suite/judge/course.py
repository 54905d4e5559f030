"""How far a run came: what it left out of its tier, and whether that was asked for."""

from collections.abc import Collection, Set
from dataclasses import dataclass

#: What a report begins with to say what it left out, where a user asked for no more and all of that ended.
ASKED = "only a selection was run: "


def is_as_asked(left_out: str | None) -> bool:
    """Whether what a report left out is what its user asked to leave out, and nothing else."""
    return left_out is not None and left_out.startswith(ASKED)


@dataclass(frozen=True, slots=True)
class Course:
    """How far a run came, in all of its targets.

    `collected` counts the cases that pytest was to run, of all that there are in the tier, `tier`, once for each
    target. `interrupted` says that a person ended the run.
    """

    tier: str
    cases: Set[str]
    targets: int
    collected: int
    ended: int
    selected: tuple[str, ...]
    stops: tuple[str, ...]
    interrupted: bool

    @property
    def is_selection(self) -> bool:
        """Whether the user's own options left something out."""
        return bool(self.selected) and self.collected < len(self.cases) * self.targets

    @property
    def is_done(self) -> bool:
        """Whether all that was collected has ended."""
        return not self.interrupted and self.ended >= self.collected

    @property
    def is_as_asked(self) -> bool:
        """Whether the user's own options left something out, and everything else ended."""
        return self.is_selection and self.is_done

    def left_out(self, ended: Collection[str]) -> str | None:
        """Why not all cases of the tier ended on a target, or None where they did."""
        missing = self.cases - set(ended)
        if not missing:
            return None
        count = f"{len(missing)} of {len(self.cases)} cases of the tier {self.tier} were not run"
        if self.interrupted:
            return f"the run was interrupted; {count}"
        if self.is_as_asked:
            return f"{ASKED}{' '.join(self.selected)}; {count}"
        if self.is_done:
            return count
        reasons = [f"stopped by {' '.join(self.stops)}"] if self.stops else []
        reasons += [f"of a selection: {' '.join(self.selected)}"] if self.is_selection else []
        return "; ".join([*reasons, count])
