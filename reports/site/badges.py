"""A badge for a plugin: what people call it, and the worst that is said of keeping data there."""

from ..forms import badge
from ..forms.words import shortened
from ..model.uses import Word
from .releases import Release

#: Each has a contrast of at least 4.5 with white text.
COLOURS = {Word.WORKS: "#2e7d32", Word.BREAKS: "#8a5a00", Word.LOSES: "#c62828", Word.NOT_KNOWN: "#616161"}
#: From the worst to the best.
WORST_FIRST = (Word.LOSES, Word.BREAKS, Word.NOT_KNOWN, Word.WORKS)


def picture(release: Release) -> str:
    """The text of its badge.svg."""
    word = min((one.word for one in release.decisions), key=WORST_FIRST.index)
    uses = [one.use for one in release.decisions if one.word is word]
    of_some = f": {', '.join(uses)}" if len(uses) < len(release.decisions) else ""
    label = shortened(f"{release.known.name} {release.version}", badge.LONGEST)
    return badge.drawn(label, f"{word}{of_some}", COLOURS[word])


def line(url: str, plugin: str) -> str:
    """The line of Markdown that shows it in a README, from a site at an address that ends in a slash."""
    here = f"{url}plugins/{plugin}"
    return f"[![TensorFlow filesystem conformance]({here}/badge.svg)]({here}/index.html)"
