"""What a plugin costs: figures for who is to use it. They are never a verdict, and no time is a limit."""

from typing import Annotated

from msgspec import Meta, Struct
from msgspec.structs import replace

from .redaction import Redaction

Microseconds = Annotated[float, Meta(ge=0)]


class Point(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """What an op costs at one size. Times are those of the plugin's own functions."""

    at: Annotated[int, Meta(ge=0, description="The size: of what `grows` of the figure names.")]
    calls: Annotated[int, Meta(ge=1, description="How often it was measured.")]
    median: Annotated[Microseconds, Meta(description="Half of the calls took at most so many microseconds.")]
    p95: Annotated[Microseconds, Meta(description="Of 100 calls 95 took at most so many microseconds.")]
    reference: Annotated[
        Microseconds | None, Meta(description="The median of the same work on the reference plugin.")
    ] = None
    rate: Annotated[
        Annotated[float, Meta(ge=0)] | None, Meta(description="Of reads: bytes a second, of all threads together.")
    ] = None
    reference_rate: Annotated[
        Annotated[float, Meta(ge=0)] | None, Meta(description="The same for the reference plugin.")
    ] = None


class Growth(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """How the median grows over the larger sizes: as the size to the power of `exponent`."""

    exponent: Annotated[float, Meta(description="0: it stays; 1: twice the size, twice the time; 2: four times.")]
    low: Annotated[float, Meta(description="With a confidence of 95 % the exponent is not less.")]
    high: Annotated[float, Meta(description="With a confidence of 95 % the exponent is not more.")]
    reference: Annotated[float | None, Meta(description="The exponent of the reference plugin.")] = None


class Cost(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """What one kind of work costs."""

    op: Annotated[str, Meta(description="The op whose time it is.")]
    what: Annotated[str, Meta(description="The work, in a few words.")]
    grows: Annotated[str | None, Meta(description="What `at` of the points counts; null where nothing grows.")] = None
    points: Annotated[tuple[Point, ...], Meta(description="The sizes that were measured, the smallest first.")] = ()
    growth: Annotated[Growth | None, Meta(description="Null where fewer than three sizes were measured.")] = None
    ratio: Annotated[
        Annotated[float, Meta(ge=0)] | None,
        Meta(description="At the largest size: how many times the reference plugin's median it takes."),
    ] = None
    ratio_least: Annotated[
        Annotated[float, Meta(ge=0)] | None,
        Meta(description="The same of a quick call (a quarter are quicker) to a slow one (a quarter are slower)."),
    ] = None
    left_out: Annotated[str | None, Meta(description="Why sizes are missing, or all of them.")] = None


class HeldMemory(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """Memory that the process of the plugin holds."""

    what: Annotated[str, Meta(description="For what: each of something.")]
    count: Annotated[int, Meta(ge=1, description="So many were there when it was counted.")]
    bytes: Annotated[int, Meta(description="For each: allocated by malloc, or mapped beside that.")]
    reference: Annotated[int | None, Meta(description="The same for the reference plugin.")] = None


class Called(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How often the storage was called for one kind of work."""

    what: Annotated[str, Meta(description="The work, in a few words.")]
    calls: Annotated[dict[str, float], Meta(description="Calls each time, by their kind. Empty: there was none.")]


class Costs(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """What `--measure` found out: informational, never a violation."""

    storage: Annotated[str, Meta(description="What kind of storage the target was taken for.")]
    reference: Annotated[
        str | None, Meta(description="The reference plugin that did the same work in the same run; null for none.")
    ] = None
    alike: Annotated[bool, Meta(description="Whether the reference plugin is one for the same kind of storage.")] = (
        False
    )
    seconds: Annotated[float, Meta(ge=0, description="How long the measuring took.")] = 0
    findings: Annotated[tuple[str, ...], Meta(description="What a person may want to act on, in words.")] = ()
    figures: Annotated[tuple[Cost, ...], Meta(description="What was measured.")] = ()
    memory: Annotated[tuple[HeldMemory, ...], Meta(description="What memory it takes.")] = ()
    counted: Annotated[str | None, Meta(description="What `called` counts; null where nobody counts.")] = None
    called: Annotated[tuple[Called, ...], Meta(description="How often the storage was called.")] = ()
    unmeasured: Annotated[
        tuple[str, ...], Meta(description="What memory and which calls of the storage have no figure, and why.")
    ] = ()
    failure: Annotated[str | None, Meta(description="What ended the measuring early; null where nothing did.")] = None

    def without_secrets(self, redaction: Redaction) -> "Costs":
        """The same, with no secret in what a plugin may have said."""
        figures = tuple(replace(cost, left_out=redaction.optional(cost.left_out)) for cost in self.figures)
        return replace(self, figures=figures, failure=redaction.optional(self.failure))
