"""Allocations that fail while a plugin is registered: in TF_InitPlugin, which has no status, and in init."""

from collections.abc import Iterator

from ...harness.hosting.client import OP_OF_COMMAND
from ...harness.hosting.loader import BlockedError
from ...harness.hosting.registration import Registration, register
from ...harness.ops.codes import Code
from ...harness.ops.outcomes import DiedError
from ..judge.evidence import Condition
from .allocating import COUNT, MOST, NO_MORE, Failure, allocating, plan, watched
from .case import Case, NoStimulusError


class Registrations:
    """The plugin of a case is loaded and registered, in a fresh host each time.

    Raises BlockedError where it does not work even if nothing fails, NoStimulusError where it allocates nothing
    meanwhile, and NotTriedError.
    """

    def __init__(self, case: Case) -> None:
        self._case = case
        self._bench = allocating(case.bench)

    def __enter__(self) -> "Registrations":
        return self

    def __exit__(self, *_: object) -> None:
        self._bench.close()

    def attempts(self) -> Iterator[tuple[Failure, Registration | DiedError]]:
        """Each failure of the plan, and what came of it. What ended the process is not tried again in that function."""
        whole, called = self._attempt(COUNT, 0)
        if isinstance(whole, DiedError):
            raise BlockedError(whole.death.op, str(whole)) from whole
        if whole.code is not Code.OK:
            raise BlockedError("registration", whole.message)
        planned = plan([(OP_OF_COMMAND.get(command, command), count) for command, count in called])
        if not planned:
            raise NoStimulusError("it asks the C library for no memory")
        ended, tried = set[str](), 0
        for failure in planned[:MOST]:
            if failure.op in ended:
                continue
            went, _ = self._attempt(failure.call, failure.number)
            if isinstance(went, DiedError):
                ended.add(failure.op)
            tried += 1
            yield failure, went
        left = len(planned) - tried
        said = f"{tried} failing allocations were tried" + (f", {left} were left out" if left else "")
        self._case.condition = Condition(output=f"{said}\n")

    def _attempt(self, call: int, number: int) -> tuple[Registration | DiedError, list[tuple[str, int]]]:
        host = self._bench.loader.bare()
        try:
            watched(host, call, number)
            return register(host, self._bench.target.plugin), watched(host, NO_MORE, 0)
        except DiedError as died:
            return died, []
        finally:
            host.close()
