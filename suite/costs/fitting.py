"""How a time grows with a size: an exponent, and how sure it is."""

import math
import random
import statistics
from collections.abc import Mapping, Sequence

from ...reports.model.costs import Growth

#: An exponent needs so many sizes, and so many rounds of all of them.
FEWEST_SIZES, FEWEST_ROUNDS = 3, 3
#: So many times the rounds are drawn again.
DRAWS = 200

#: By size: the times of one round, whichever unit they have.
Rounds = Mapping[int, Sequence[float]]


def growth(rounds: Rounds) -> Growth | None:
    """The exponent over the larger half of the sizes, three at least; None where there are too few.

    A part of the time that is always the same hides the growth at small sizes, so they do not count. The exponent is
    the slope of the medians, by least squares, both axes logarithmic. The rounds of all sizes were measured in turn:
    they are drawn again together, and 95 of 100 slopes of such draws lie within the confidence.
    """
    sizes = sorted(rounds)
    sizes = sizes[-max(FEWEST_SIZES, (len(sizes) + 1) // 2) :]
    count = min((len(rounds[size]) for size in sizes), default=0)
    if len(sizes) < FEWEST_SIZES or count < FEWEST_ROUNDS:
        return None
    # The same figures give the same confidence.
    draw = random.Random(0)
    slopes = sorted(
        _slope(sizes, [[rounds[size][k] for k in chosen] for size in sizes])
        for chosen in ([draw.randrange(count) for _ in range(count)] for _ in range(DRAWS))
    )
    exponent = _slope(sizes, [rounds[size] for size in sizes])
    outside = DRAWS // 40
    # The median of few rounds may lie outside of what draws of them give.
    low, high = min(slopes[outside], exponent), max(slopes[-1 - outside], exponent)
    return Growth(exponent=round(exponent, 3), low=round(low, 3), high=round(high, 3))


def _slope(sizes: Sequence[int], times: Sequence[Sequence[float]]) -> float:
    # A clock may tell no time at all for what is very short.
    medians = [math.log(max(statistics.median(some), 1e-9)) for some in times]
    return statistics.linear_regression([math.log(size) for size in sizes], medians).slope
