"""Allocations that fail while a plugin is registered: in TF_InitPlugin, which has no status, and in init."""

from collections.abc import Iterator
from dataclasses import dataclass

from ...harness.hosting.client import OP_OF_COMMAND
from ...harness.hosting.loader import BlockedError
from ...harness.hosting.registration import Scheme, register
from ...harness.ops.codes import Code
from ...harness.ops.outcomes import DiedError
from ..judge.evidence import Condition
from .allocating import COUNT, MOST, NO_MORE, TIMES, FailedAllocation, allocating, plan, watched
from .case import Case, NoStimulusError, NotTriedError


@dataclass(frozen=True, slots=True)
class RegistrationOutcome:
    """How a registration went: what ended the process, and what became of each scheme whose init was called.

    `called` has a function of the plugin and a number of allocations for each call, as long as the process lived.
    """

    died: DiedError | None
    called: list[tuple[str, int]]
    registered: frozenset[str] = frozenset()
    schemes: tuple[Scheme, ...] = ()
    message: str = ""

    def made(self, call: int) -> int:
        """How many allocations that call made."""
        return self.called[call - 1][1] if call <= len(self.called) else 0

    def of(self, failure: FailedAllocation) -> Scheme | None:
        """The scheme in whose init an allocation failed."""
        inits = [call for call, (op, _) in enumerate(self.called, 1) if op == "init"]
        return dict(zip(inits, self.schemes, strict=False)).get(failure.call)


class Registrations:
    """The plugin of a case is loaded and registered, in a fresh host each time.

    Raises BlockedError where the scheme cannot be registered even if nothing fails, NoStimulusError where the plugin
    allocates nothing meanwhile, and NotTriedError where no failure came about, or none can.
    """

    def __init__(self, case: Case) -> None:
        self._case = case
        self._bench = allocating(case.bench)

    def __enter__(self) -> "Registrations":
        return self

    def __exit__(self, *_: object) -> None:
        self._bench.close()

    def attempts(self) -> Iterator[tuple[FailedAllocation, RegistrationOutcome]]:
        """Each failure of the plan, and what came of it. What ended the process is not tried again in that function.

        What does not work even if nothing fails is left out.
        """
        whole = self._attempt(COUNT, 0)
        if whole.died is not None:
            raise BlockedError(whole.died.death.op, str(whole.died)) from whole.died
        if self._bench.target.scheme not in whole.registered:
            raise BlockedError("registration", whole.message)
        planned = [one for one in plan(whole.called) if (scheme := whole.of(one)) is None or scheme.code is Code.OK]
        if not planned:
            raise NoStimulusError("it asks the C library for no memory")
        ended, tried = set[str](), 0
        for failure in planned[:MOST]:
            attempt = None if failure.op in ended else self._brought_about(failure)
            if attempt is None:
                continue
            if attempt.died is not None:
                ended.add(failure.op)
            tried += 1
            yield failure, attempt
        if not tried:
            raise NotTriedError(f"no allocation failed of {len(planned)} that were made before")
        left = len(planned) - tried
        said = f"{tried} failing allocations were tried" + (f", {left} were left out" if left else "")
        self._case.condition = Condition(output=f"{said}\n")

    def _brought_about(self, failure: FailedAllocation) -> RegistrationOutcome | None:
        """What came of a failure; None where less was allocated each time."""
        for _ in range(TIMES):
            attempt = self._attempt(failure.call, failure.number)
            if attempt.died is not None or attempt.made(failure.call) >= failure.number:
                return attempt
        return None

    def _attempt(self, call: int, number: int) -> RegistrationOutcome:
        host = self._bench.loader.bare()
        try:
            watched(host, call, number)
            went = register(host, self._bench.target.plugin)
            called = [(OP_OF_COMMAND.get(command, command), count) for command, count in watched(host, NO_MORE, 0)]
        except DiedError as died:
            return RegistrationOutcome(died, [])
        finally:
            host.close()
        tried = tuple(scheme for scheme in went.schemes if scheme.init_called)
        return RegistrationOutcome(None, called, frozenset(went.registered), tried, went.message)
