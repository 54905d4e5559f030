"""How values are drawn: by the seed alone, so that one seed is the same histories in every run.

Hypothesis also draws constants that it finds in the modules which happen to be loaded: in a plugin of pytest, in a
conftest of the user, in the suite itself. Then a run with other plugins, or in a worker, tries other histories.
"""

from typing import Any

from hypothesis.internal.conjecture.providers import AVAILABLE_PROVIDERS, HypothesisProvider

#: The name under which Hypothesis knows the way to draw.
BY_THE_SEED = "tffs-by-the-seed"


class BySeed(HypothesisProvider):
    """Draws as Hypothesis does, but no constants of modules."""

    def _maybe_draw_constant(self, *_: Any, **__: Any) -> None:
        return None


AVAILABLE_PROVIDERS[BY_THE_SEED] = f"{__name__}.{BySeed.__name__}"
