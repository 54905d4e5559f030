"""What stays open is waited for: who closes late is not blamed, and who never does is told so once."""

import pytest

from tests.test_system_calls import NOTHING
from tffs_conformance.harness.launchers.strace import Call
from tffs_conformance.suite.engine import closing
from tffs_conformance.suite.engine.closing import Closing
from tffs_conformance.suite.engine.disturbing import Attempt


class Clock:
    """Stands for the module `time`."""

    def __init__(self) -> None:
        self.now = 0.0

    def monotonic(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.now += seconds


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    one = Clock()
    monkeypatch.setattr(closing, "time", one)
    return one


def test_who_closes_late_has_the_whole_time_again_and_again(clock: Clock) -> None:
    waiting, closes_at = Closing(10), []
    for _ in range(3):
        closes_at.append(clock.now + 9)
        assert waiting.wait(lambda: int(clock.now < closes_at[-1]), 0) == 0


def test_who_never_closes_is_waited_for_until_that_is_told(clock: Clock) -> None:
    waiting = Closing(10)
    assert waiting.wait(lambda: 3, 1) == 3
    assert 10 <= clock.now < 11
    waiting.is_told = True
    assert waiting.wait(lambda: 3, 1) == 3
    assert clock.now < 11


#: Where two descriptors were open before, and a close fails that strace does not make: so many are open at the end,
#: whether that was waited for, and what is said of it.
LEFT = {
    "as many": (3, True, None),
    "more": (4, True, "a descriptor stays open"),
    "more, not waited for": (4, False, None),
    "fewer": (2, True, "a descriptor is closed once more"),
    "fewer, not waited for": (2, False, "a descriptor is closed once more"),
}


@pytest.mark.parametrize(("left", "waited", "said"), LEFT.values(), ids=LEFT)
def test_who_is_not_waited_for_is_blamed_for_what_no_waiting_mends(left: int, waited: bool, said: str | None) -> None:
    failed = Call("7", "close", 1, ("/d/a",), "close(3</d/a>) = -1 EIO (Input/output error) (INJECTED)")
    whole = Attempt(NOTHING, NOTHING, {}, {}, open_before=2, open=2)
    attempt = Attempt(NOTHING, NOTHING, {}, {}, (failed,), "/d", open_before=2, open=left, waited=waited)
    assert attempt.closed_wrongly(whole) == said
    assert attempt.stays_open(whole) == (said == "a descriptor stays open")
