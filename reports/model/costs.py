"""What the ops of a plugin take: figures for readers. They are never a verdict, and no time is a limit."""

from typing import Annotated

from msgspec import Meta, Struct
from msgspec.structs import replace

from .redaction import Redaction

Microseconds = Annotated[float, Meta(ge=0)]
BytesPerSecond = Annotated[float, Meta(ge=0)]


class Point(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """What an op takes at one size. Times are those of the plugin's own functions."""

    at: Annotated[int, Meta(ge=0, description="The size: of what `grows` of the figure names.")]
    calls: Annotated[int, Meta(ge=1, description="How often it was measured.")]
    median: Annotated[Microseconds, Meta(description="Microseconds: half of the calls took at most this.")]
    p95: Annotated[Microseconds, Meta(description="Microseconds: 95 of 100 calls took at most this.")]
    reference: Annotated[Microseconds | None, Meta(description="The median of the reference plugin.")] = None
    rate: Annotated[BytesPerSecond | None, Meta(description="Of what moves bytes: bytes a second.")] = None
    reference_rate: Annotated[BytesPerSecond | None, Meta(description="The same for the reference plugin.")] = None


class Growth(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """How the median grows over the larger sizes: as the size to the power of `exponent`."""

    exponent: Annotated[float, Meta(description="0: it stays; 1: twice the size, twice the time; 2: four times.")]
    low: Annotated[float, Meta(description="With a confidence of 95 % the exponent is not less.")]
    high: Annotated[float, Meta(description="With a confidence of 95 % the exponent is not more.")]
    reference: Annotated[float | None, Meta(description="The exponent of the reference plugin.")] = None


class Cost(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """What one op takes, or several together."""

    op: Annotated[str, Meta(description="The op whose time it is.")]
    what: Annotated[str, Meta(description="The op, or the work in a few words.")]
    grows: Annotated[str | None, Meta(description="What `at` of the points counts; null where nothing grows.")] = None
    points: Annotated[tuple[Point, ...], Meta(description="The sizes that were measured, the smallest first.")] = ()
    growth: Annotated[Growth | None, Meta(description="Null where fewer than three sizes were measured.")] = None


class Costs(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """What `--measure` found out: informational, never a violation."""

    storage: Annotated[str, Meta(description="What kind of storage the target was taken for.")]
    reference: Annotated[str | None, Meta(description="The plugin that did the same in turn; null for none.")] = None
    figures: Annotated[tuple[Cost, ...], Meta(description="What was measured.")] = ()
    unmeasured: Annotated[tuple[str, ...], Meta(description="What has no figure, or not at all sizes, and why.")] = ()

    def without_secrets(self, redaction: Redaction) -> "Costs":
        """The same, with no secret in what a plugin may have said."""
        return replace(self, unmeasured=tuple(map(redaction.text, self.unmeasured)))
