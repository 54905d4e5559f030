"""What stays open is waited for: who closes late is not blamed, and who never does is told so once."""

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


def test_who_closes_late_has_the_whole_time_again_and_again(clock: Clock) -> None:
    waiting = Closing(10)
    for _ in range(3):
        closes = clock.now + 9
        assert waiting.wait(lambda: int(clock.now < closes), 0) == 0  # noqa: B023 - it is called here only


def test_who_never_closes_is_waited_for_until_that_is_told(clock: Clock) -> None:
    waiting = Closing(10)
    assert waiting.wait(lambda: 3, 1) == 3
    assert 10 <= clock.now < 11
    waiting.is_told = True
    assert waiting.wait(lambda: 3, 1) is None
    assert clock.now < 11
