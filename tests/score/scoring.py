"""What became of mutants, and the page that says so."""

import textwrap
import tomllib
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from tests.score.judging import Judged
from tests.score.sources import Mutant
from tffs_conformance.reports.model.verdicts import Verdict
from tffs_conformance.suite.contract.catalogue import clause

ACCEPTED = Path(__file__).with_name("survivors.toml")
HEADINGS = ("plugin", "mutants", "excused", "killed", "warned", "survived", "score", "own op", "median", "longest")
_FATES = {Verdict.VIOLATION: "killed", Verdict.ERROR: "error"}
#: What the generated part of the page begins with.
LAST = "## The last score\n"


@dataclass(frozen=True, slots=True)
class Result:
    """A mutant, and what the suite said of it: nothing where it is excused, which its `reason` says, and not judged."""

    mutant: Mutant
    judged: Judged | None
    reason: str = ""

    @property
    def fate(self) -> str:
        """`killed`, `warned`, `survived`, `excused` or `error`. An excused one that is killed should not be excused."""
        if self.judged and 2 * self.judged.not_run > self.judged.cases:
            return "killed"  # such a run is refused, since it judged nothing
        verdict = Verdict(self.judged.verdict) if self.judged else Verdict.NOT_RUN
        alive = "excused" if self.reason else "warned" if verdict is Verdict.WARNING else "survived"
        return _FATES.get(verdict, alive)

    @property
    def told(self) -> str:
        """Whether the clause that was shown first is about the op whose source was changed: `yes`, `no`, or nothing."""
        op = clause(self.judged.clause).op if self.judged and self.judged.clause else ""
        return "" if not op or not self.mutant.ops else "yes" if op in self.mutant.ops else "no"

    @property
    def plain(self) -> dict[str, Any]:
        """As it stands in a JSON file."""
        said = asdict(self.judged) if self.judged else {}
        return {**asdict(self.mutant), **said, "fate": self.fate, "told": self.told, "reason": self.reason}

    def __str__(self) -> str:
        said = self.judged
        shown = f": {said.clause} in {said.case}, {said.seconds} s" if said and said.clause else ""
        mutant = self.mutant
        return f"{self.fate} {mutant.source}:{mutant.line} {mutant.out!r} -> {mutant.put_in!r}{shown}"


def accepted() -> dict[tuple[str, str, str, str, int], str]:
    """The mutants that may survive, by their keys, each with its reason."""
    entries = tomllib.loads(ACCEPTED.read_text(encoding="utf-8")).get("survivor", ())
    return {
        (one["source"], one["function"], one["out"], put_in, one.get("nth", 0)): one["reason"]
        for one in entries
        for put_in in ([one["in"]] if isinstance(one["in"], str) else one["in"])
    }


def table(results: Sequence[Result]) -> list[tuple[str, ...]]:
    """The cells below HEADINGS: a row for each plugin, and one for all."""
    plugins = dict.fromkeys(one.mutant.plugin for one in results)
    rows = [_row(name, [one for one in results if one.mutant.plugin == name]) for name in plugins]
    return [*rows, _row("all", results)]


def _row(name: str, results: Sequence[Result]) -> tuple[str, ...]:
    fates = [one.fate for one in results]
    number = {fate: str(fates.count(fate)) for fate in ("excused", "killed", "warned", "survived")}
    apart = len(fates) - fates.count("excused")
    told = [one.told for one in results if one.fate == "killed"]
    seconds = sorted(one.judged.seconds for one in results if one.judged and one.fate == "killed") or [0.0]
    score = f"{100 * fates.count('killed') / max(apart, 1):.0f} %"
    own = f"{told.count('yes')} of {told.count('yes') + told.count('no')}"
    return (name, str(len(fates)), *number.values(), score, own, f"{seconds[len(seconds) // 2]} s", f"{seconds[-1]} s")


def page(text: str, results: Sequence[Result]) -> str:
    """The page with these results in place of the last."""
    rows = (HEADINGS, ("---",) * len(HEADINGS), *table(results))
    lines = [LAST, *(f"| {' | '.join(row)} |" for row in rows), "", "## What survived", ""]
    alive = [one for one in results if one.fate in ("warned", "survived", "error")]
    lines += _listed(alive) if alive else ["None.", ""]
    excused = Counter((one.mutant.source, one.reason) for one in results if one.fate == "excused")
    lines += ["## What is excused", ""]
    lines += [wrap(f"- `{source}`, {number}: {why}") for (source, why), number in excused.items()]
    return text.partition(LAST)[0] + "\n".join(lines).rstrip() + "\n"


def wrap(text: str) -> str:
    """An item of a list, in lines as they are in documents."""
    return textwrap.fill(text, 128, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False)


def _listed(results: Iterable[Result]) -> Iterator[str]:
    for one in results:
        shown = f"{one.fate.capitalize()}: `{one.judged.clause}`." if one.judged and one.judged.clause else ""
        yield from (f"- `{one.mutant.source}`, `{one.mutant.function}`:", "", "  ```diff", f"  -{one.mutant.out}")
        yield from (f"  +{line}" for line in one.mutant.put_in.splitlines())
        yield from ("  ```", "", *([f"  {shown}", ""] if shown else ()))
