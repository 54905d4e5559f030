"""What stays open is waited for: who closes late is not blamed, and who never does costs little."""

import pytest

from tffs_conformance.suite.engine import closing
from tffs_conformance.suite.engine.closing import Closing


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


def took(clock: Clock, waiting: Closing, closes_at: float) -> tuple[int, float]:
    """What one wait gave of a plugin that closes its one descriptor then, and the seconds that it took."""
    begun = clock.now
    left = waiting.wait(lambda: int(clock.now - begun < closes_at), 0)
    return left, clock.now - begun


def test_who_closes_late_has_the_whole_time_again_and_again(clock: Clock) -> None:
    waiting = Closing(10)
    assert {took(clock, waiting, 9)[0] for _ in range(5)} == {0}


def test_who_never_closes_is_waited_for_twice(clock: Clock) -> None:
    waiting = Closing(10)
    waits = [took(clock, waiting, 1000) for _ in range(4)]
    assert [left for left, _ in waits] == [1, 1, 1, 1]
    assert [round(seconds) for _, seconds in waits] == [10, 10, 1, 1]


def test_one_wait_in_vain_may_be_chance(clock: Clock) -> None:
    waiting = Closing(10)
    took(clock, waiting, 1000)
    assert took(clock, waiting, 9)[0] == 0
    took(clock, waiting, 1000)
    assert took(clock, waiting, 9)[0] == 0
