"""Which statements of a case share a record: a case may make a million of them, and all are counted."""

from dataclasses import dataclass, field, replace
from hashlib import blake2b

from ...reports.model.records import OF_OTHERS
from ..judge.evidence import Statement

#: One case makes so many statements that a clause is not kept, or so many that it is; those beyond share one.
STATEMENTS, KEPT = 16, 3
#: What a statement says that stands for others beyond these; of breaches it has the digest of what they got, too.
OTHERS = "another answer than those above"
#: Of so many answers that one statement stands for the digest is made.
DIGESTED = 10_000


@dataclass(slots=True)
class _Shared:
    """The place of a statement that stands for others, and what those got."""

    place: int
    seen: set[int] = field(default_factory=set)
    digest: int = 0

    def takes(self, got: str) -> None:
        """Add an answer to the digest: each once, whatever their order is, so that two runs of the same agree."""
        value = int.from_bytes(blake2b(got.encode(errors="surrogatepass"), digest_size=8).digest())
        if value not in self.seen and len(self.seen) < DIGESTED:
            self.seen.add(value)
            self.digest ^= value


class Statements(list[Statement]):
    """The statements of a case. Those that hold alike share one, and so do all beyond the first few."""

    def __init__(self) -> None:
        super().__init__()
        self._shared: dict[Statement, _Shared] = {}

    def add(self, said: Statement) -> None:
        """Take a statement."""
        alike = [k for k, one in enumerate(self) if one.clause == said.clause and one.holds is said.holds]
        many = len(alike) >= (KEPT if said.holds else STATEMENTS)
        same = next((k for k in alike if replace(self[k], times=1) == said), None) if many or said.holds else None
        if same is not None:
            self[same] = replace(self[same], times=self[same].times + 1)
        elif many:
            self._share(said)
        else:
            self.append(said)

    def _share(self, said: Statement) -> None:
        """Count it where others are that no record shows. A waiver of those breaches is none of another one."""
        stands = replace(said, got=OTHERS, expected=OF_OTHERS, said=None)
        shared = self._shared.setdefault(stands, _Shared(len(self)))
        if shared.place == len(self):
            self.append(replace(stands, times=0))
        if not said.holds:
            shared.takes(said.got)
            stands = replace(stands, got=f"{OTHERS} ({shared.digest:016x})")
        self[shared.place] = replace(stands, times=self[shared.place].times + 1)
