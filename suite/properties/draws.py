"""How values are drawn: by the seed alone, so that one seed is the same histories in every run.

Hypothesis also draws constants that it finds in the modules which happen to be loaded: in a plugin of pytest, in a
conftest of the user, in the suite itself. Then a run with other plugins, or in a worker, tries other histories. What
turns that off is private to Hypothesis: where a release lacks it, histories are drawn with constants, and `CAVEAT`
states so.
"""

from typing import Any

try:
    from hypothesis.internal.conjecture.providers import AVAILABLE_PROVIDERS, HypothesisProvider

    _ = HypothesisProvider._maybe_draw_constant
except (ImportError, AttributeError):
    BACKEND = "hypothesis"
    CAVEAT = ", which draws constants of loaded modules, too: another run may draw other histories"
else:
    #: The name under which Hypothesis knows the way to draw.
    BACKEND = "tffs-by-the-seed"
    CAVEAT = ""

    class BySeed(HypothesisProvider):
        """Draws as Hypothesis does, but no constants of modules."""

        def _maybe_draw_constant(self, *_: Any, **__: Any) -> None:
            return None

    AVAILABLE_PROVIDERS[BACKEND] = f"{__name__}.{BySeed.__name__}"
