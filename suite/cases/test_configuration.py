"""Configuration: an option has the value it was set to.

A plugin may refuse a value; then nothing may have changed. Every option is set back to the value it had. TensorFlow
never hands over an option without values: it answers INVALID_ARGUMENT itself.
"""

from collections.abc import Iterator, Sequence

import pytest

from ...harness.hosting import leaks
from ...harness.ops.codes import Code
from ...harness.ops.outcomes import Option, Outcome, Watch
from ..engine.case import Case, NoStimulusError
from ..engine.marks import clauses, full, over_tables

pytestmark = over_tables

NO_SUCH_KEY = "tffs-no-such-key"
INT, REAL, BUFFER = 0, 1, 2
Values = tuple[int | float | bytes, ...]


def options(case: Case) -> tuple[Option, ...]:
    """Get all options that have a value, as a set-up step. Block the case where there are none."""
    case.needs("get_filesystem_configuration")
    with case.setup:
        every = case.setup.require(case.tables.get_filesystem_configuration()).options
    known = tuple(option for option in every if option.values)
    if not known:
        case.blocked("get_filesystem_configuration", "the plugin names no option")
    return known


def with_values(option: Option, values: Values) -> Option:
    """The option with these values, as a user sets it: without a description."""
    return Option(option.name, option.type_tag, values)


def likely(value: int | float | bytes) -> Sequence[int | float | bytes]:
    """Values of the same type that an option like this may well take."""
    match value:
        case bytes():
            return (b"tffs", b"with\0NULs\0", b"", value + b"+")
        case float():
            return (value + 0.5, 0.1, -1.5)
        case _:
            return (value - 1 if value > 0 else value + 1, 1, 12345)


def unlikely(value: int | float | bytes) -> Sequence[int | float | bytes]:
    """Values of the same type at the ends of its range, and of lengths around those of buffers."""
    match value:
        case bytes():
            return (b"\0", b"\xff" * 3, *(bytes(k % 251 for k in range(length)) for length in (255, 256, 4097, 70_000)))
        case float():
            return (0.0, -0.0, 1e-308, 1.7976931348623157e308, 1 / 3, float("inf"), float("nan"))
        case _:
            return (0, -1, 2**31 - 1, 2**31, 2**32, 2**32 + 1, 2**63 - 1, -(2**63))


def others(option: Option) -> Iterator[Values]:
    """Values of the option's type that it does not have now, in each of its places and in all of them."""
    first, *rest = option.values
    for other in likely(first):
        if other != first:
            yield (other, *rest)
    for place, value in enumerate(rest, start=1):
        other = next(one for one in likely(value) if one != value)
        yield (*option.values[:place], other, *option.values[place + 1 :])
    if rest:
        yield tuple(next(one for one in likely(value) if one != value) for value in option.values)


def at_the_ends(option: Option) -> Iterator[Values]:
    """Values at the ends of the type, and values that are more or fewer than the option has."""
    first, *rest = option.values
    for other in unlikely(first):
        yield (other, *rest)
    yield (*option.values, likely(first)[0])
    if rest:
        yield (first,)


def shown(values: Values) -> str:
    """Values as text, so that NaN is equal to itself."""
    return ", ".join(map(repr, values))


def now(case: Case) -> dict[str, str]:
    """The values of all options now, by name."""
    return {option.name: shown(option.values) for option in options(case)}


def set_by(case: Case, op: str, option: Option) -> Outcome[None]:
    """Set one option by this op, alone or as a list of one."""
    raw = case.tables
    if op == "set_filesystem_configuration":
        return raw.set_filesystem_configuration([option])
    return raw.set_filesystem_configuration_option(option)


def put(case: Case, op: str, known: Option, values: Values) -> bool:
    """Set an option, and check that it has these values then, or that nothing changed. Give whether it took them."""
    before = now(case)
    got = set_by(case, op, with_values(known, values))
    case.check.implemented(got)
    after = now(case)
    if got.ok:
        case.check.equal("configuration.round-trip", known.name, shown(values), after.get(known.name))
    else:
        case.check.equal("configuration.refused-changes-nothing", "options", before, after)
    return got.ok


def restored(case: Case, before: Sequence[Option]) -> None:
    """Set the options back at the end of the block, as a set-up step: other cases may use the same host."""
    with case.setup:
        case.setup.require(case.tables.set_filesystem_configuration(before))


@clauses("get_filesystem_configuration.succeeds", "get_filesystem_configuration.names-are-distinct",
         "get_filesystem_configuration.values-fit-their-type", "get_filesystem_configuration.sets-the-number",
         "get_filesystem_configuration.per-file-is-a-bool", "common.results-distinct",
         "common.results-terminated")  # fmt: skip
def test_all(case: Case) -> None:
    """All options are asked for, twice."""
    for _ in range(2):
        got = case.tables.get_filesystem_configuration()
        case.check.status("get_filesystem_configuration.succeeds", got, Code.OK)
        if not got.ok:
            return
        number, found = got.value.returned, got.value.options
        said = "not written" if number is None else f"{number}, and {len(found)} options"
        case.check.that(
            "get_filesystem_configuration.sets-the-number", number == len(found), "the number of options", said
        )
        # Laws look at their names and types, in this case as in all.
        for option in found:
            case.check.that("get_filesystem_configuration.per-file-is-a-bool", option.per_file in (0, 1),
                       f"{option.name}: per_file=0|1", f"{option.name}: per_file={option.per_file}")  # fmt: skip


@clauses("get_filesystem_configuration_option.succeeds", "get_filesystem_configuration_option.is-the-one-asked-for",
         "get_filesystem_configuration_option.agrees-with-all", "common.arguments-unchanged",
         "common.results-distinct")  # fmt: skip
def test_each(case: Case) -> None:
    """Each option that there is among all is asked for by its name."""
    op = "get_filesystem_configuration_option"
    for known in options(case):
        outcome = case.tables.get_filesystem_configuration_option(known.name)
        case.check.status(f"{op}.succeeds", outcome, Code.OK)
        got = outcome.value
        said = "nothing" if got is None else f"name={got.name} type={got.type_tag}"
        same = got is not None and (got.name, got.type_tag) == (known.name, known.type_tag)
        case.check.that(f"{op}.is-the-one-asked-for", same, f"name={known.name} type={known.type_tag}", said)
        if got is not None:
            case.check.equal(f"{op}.agrees-with-all", known.name, shown(known.values), shown(got.values))


@clauses("set_filesystem_configuration.succeeds")
def test_set_all_to_what_they_are(case: Case) -> None:
    """All options are set to what they are."""
    got = case.tables.set_filesystem_configuration(options(case))
    case.check.status("set_filesystem_configuration.succeeds", got, Code.OK)


@clauses("set_filesystem_configuration_option.succeeds")
def test_set_each_to_what_it_is(case: Case) -> None:
    """Each option is set to what it is."""
    for known in options(case):
        got = case.tables.set_filesystem_configuration_option(known)
        case.check.status("set_filesystem_configuration_option.succeeds", got, Code.OK)


@pytest.mark.parametrize("op", ["set_filesystem_configuration", "set_filesystem_configuration_option"])
@clauses("configuration.round-trip", "configuration.disturbs-no-other", "configuration.refused-changes-nothing",
         "common.arguments-unchanged")  # fmt: skip
def test_round_trip(case: Case, op: str) -> None:
    """Each option is set to other values of its type, one after the other, and all options are read back."""
    case.needs(op)
    before = now(case)
    for known in options(case):
        for values in (known.values, *others(known)):
            if put(case, op, known, values):
                after = now(case) | {name: value for name, value in before.items() if name == known.name}
                case.check.equal("configuration.disturbs-no-other", "options", before, after)
            with case.setup:
                case.setup.require(set_by(case, op, known))
    case.check.equal("configuration.round-trip", "options", before, now(case))


@pytest.mark.parametrize("op", ["set_filesystem_configuration", "set_filesystem_configuration_option"])
@clauses("configuration.round-trip", "configuration.refused-changes-nothing")
def test_ends(case: Case, op: str) -> None:
    """Each option is set to values at the ends of its type, and to more or fewer values than it has.

    The plugin may refuse any of these. What it takes it keeps, and what it refuses changes nothing.
    """
    case.needs(op)
    for known in options(case):
        for values in at_the_ends(known):
            put(case, op, known, values)
        with case.setup:
            case.setup.require(set_by(case, op, known))


@pytest.mark.parametrize("op", ["set_filesystem_configuration", "set_filesystem_configuration_option"])
@clauses("configuration.disturbs-no-other")
def test_together(case: Case, op: str) -> None:
    """All options are set to another value, one by one, and keep what they have then while the others are set."""
    case.needs(op)
    before, expected = options(case), now(case)
    for _ in range(2):
        # In the second round none of them has the value of the start any more.
        for known in options(case):
            set_by(case, op, with_values(known, next(others(known), known.values)))
            got = now(case)
            expected[known.name] = got.get(known.name, "")
            case.check.equal("configuration.disturbs-no-other", "options", expected, got)
    restored(case, before)


@clauses("configuration.round-trip", "configuration.refused-changes-nothing", "set_filesystem_configuration.succeeds")
def test_all_at_once(case: Case) -> None:
    """All options are set to another value in one call, in their order and in the reverse of it."""
    before = options(case)
    new = [with_values(known, next(others(known), known.values)) for known in before]
    for order in (new, new[::-1]):
        was = now(case)
        got = case.tables.set_filesystem_configuration(order)
        case.check.implemented(got)
        clause = "configuration.round-trip" if got.ok else "configuration.refused-changes-nothing"
        expected = {option.name: shown(option.values) for option in new} if got.ok else was
        case.check.equal(clause, "options", expected, now(case))
        case.check.status(
            "set_filesystem_configuration.succeeds", case.tables.set_filesystem_configuration(before), Code.OK
        )


def near(name: str) -> list[str]:
    """Keys that miss a name by a little."""
    return [name[:-1], name + "x", name + " ", " " + name, name[1:], name.swapcase(), name + "/", f"x{name}"]


@clauses("get_filesystem_configuration_option.bad-key-is-not-found",
         "set_filesystem_configuration_option.bad-key-is-not-found", "configuration.disturbs-no-other")  # fmt: skip
def test_near_keys(case: Case) -> None:
    """Options are asked for, and set, by keys that miss one of theirs by a little."""
    known = {option.name: option for option in options(case)}
    before = now(case)
    for name, option in known.items():
        for key in near(name):
            if key in known:
                continue
            if case.does("get_filesystem_configuration_option"):
                got = case.tables.get_filesystem_configuration_option(key)
                case.check.status("get_filesystem_configuration_option.bad-key-is-not-found", got, Code.NOT_FOUND)
            if case.does("set_filesystem_configuration_option"):
                values = next(others(option), option.values)
                put = case.tables.set_filesystem_configuration_option(Option(key, option.type_tag, values))
                case.check.status("set_filesystem_configuration_option.bad-key-is-not-found", put, Code.NOT_FOUND)
    case.check.equal("configuration.disturbs-no-other", "options", before, now(case))


@clauses("configuration.copies-what-it-is-lent", "get_filesystem_configuration_option.agrees-with-all")
def test_lent(case: Case) -> None:
    """An option is set and much else asked for; the memory that was lent means something else by then."""
    clause, op = "configuration.copies-what-it-is-lent", "set_filesystem_configuration"
    case.needs(op)
    taken = False
    for known in options(case):
        for values in (*others(known), known.values):
            if not set_by(case, op, with_values(known, values)).ok:
                continue
            taken = True
            # Only ops that no option, such as a limit, can prevent.
            for length in (8, 30, 100):
                case.fs.path_exists(case.uri("x" * length))
            case.check.equal(clause, known.name, shown(values), now(case).get(known.name))
            if case.does("get_filesystem_configuration_option"):
                alone = case.setup.require(case.tables.get_filesystem_configuration_option(known.name))
                case.check.equal("get_filesystem_configuration_option.agrees-with-all", known.name, shown(values),
                           shown(alone.values) if alone else "nothing")  # fmt: skip
    if not taken:
        raise NoStimulusError("no option takes a value")


@clauses("configuration.ignored-error-is-told", "set_filesystem_configuration.unknown-key")
def test_ignored(case: Case) -> None:
    """An option that does not exist is set: where the answer is OK, something is printed."""
    clause, unknown = "configuration.ignored-error-is-told", Option(NO_SUCH_KEY, INT, (1,))
    case.tables.set_filesystem_configuration([])
    printed = len(case.surroundings.output)
    got = case.tables.set_filesystem_configuration([unknown])
    case.check.implemented(got)
    case.check.note("set_filesystem_configuration.unknown-key", f"code={got.code}", got.message)
    # What was printed has come by the time another call is answered.
    case.fs.path_exists(case.uri("missing"))
    told = not got.ok or len(case.surroundings.output) > printed
    case.check.that(clause, told, "an error, or a message", "told" if told else "code=OK, and nothing printed")


@clauses("configuration.wrong-type", "configuration.refused-changes-nothing")
def test_wrong_type(case: Case) -> None:
    """Each option is set to nothing of a type that it does not have."""
    nothing: dict[int, int | float | bytes] = {INT: 0, REAL: 0.0, BUFFER: b""}
    before = now(case)
    for known in options(case):
        for tag, value in nothing.items():
            if tag == known.type_tag:
                continue
            got = set_by(case, "set_filesystem_configuration", Option(known.name, tag, (value,)))
            case.check.implemented(got)
            case.check.note("configuration.wrong-type", f"{known.name}: code={got.code}", got.message)
            if not got.ok:
                case.check.equal("configuration.refused-changes-nothing", "options", before, now(case))
            else:
                restored(case, [known])


@clauses("set_filesystem_configuration.unknown-key")
def test_set_unknown_configuration(case: Case) -> None:
    """An option that does not exist is set, alone and behind one that does; nobody says what the answer is."""
    raw, clause = case.tables, "set_filesystem_configuration.unknown-key"
    unknown = Option(NO_SUCH_KEY, INT, (1,))
    alone = raw.set_filesystem_configuration([unknown])
    case.check.note(clause, f"alone: code={alone.code}", alone.message)
    if not case.does("get_filesystem_configuration"):
        return
    before = now(case)
    for known in options(case):
        values = next(others(known), known.values)
        got = raw.set_filesystem_configuration([with_values(known, values), unknown])
        kept = now(case) == before
        case.check.note(
            clause, f"after another: code={got.code}, {'nothing' if kept else 'the other'} was set", got.message
        )
        restored(case, [known])


@clauses("set_filesystem_configuration.where-it-is-absent")
def test_where_it_is_absent(case: Case) -> None:
    """Whether the plugin has an op for setting options at all."""
    with case.setup:
        present = "set_filesystem_configuration" in case.surroundings.present
    case.check.reading("set_filesystem_configuration.where-it-is-absent", {"present": present, "absent": not present},
                 "present" if present else "NULL")  # fmt: skip


@pytest.mark.parametrize(
    "key", [pytest.param(NO_SUCH_KEY, id="word"), pytest.param("", id="empty"), pytest.param("x" * 1000, id="long")]
)
@clauses("get_filesystem_configuration_option.bad-key-is-not-found", "configuration.result-on-error")
def test_get_bad_key(case: Case, key: str) -> None:
    """An option that does not exist is asked for."""
    got = case.tables.get_filesystem_configuration_option(key)
    case.check.status("get_filesystem_configuration_option.bad-key-is-not-found", got, Code.NOT_FOUND)
    case.check.note("configuration.result-on-error", "option=set" if Watch.OBJECT_SET in got.watch else "option=NULL")


@clauses("set_filesystem_configuration_option.bad-key-is-not-found")
def test_set_bad_key(case: Case) -> None:
    """An option that does not exist is set."""
    got = case.tables.set_filesystem_configuration_option(Option(NO_SUCH_KEY, INT, (1,)))
    case.check.status("set_filesystem_configuration_option.bad-key-is-not-found", got, Code.NOT_FOUND)


@clauses("get_filesystem_configuration_keys.succeeds", "get_filesystem_configuration_keys.what-comes-back",
         "get_filesystem_configuration_keys.sets-the-number",
         "get_filesystem_configuration_keys.are-those-of-the-options")  # fmt: skip
def test_keys(case: Case) -> None:
    """The keys are asked for, with room for many pointers: what comes back tells how the signature was read."""
    clause = "get_filesystem_configuration_keys.are-those-of-the-options"
    got = case.tables.get_filesystem_configuration_keys()
    case.check.status("get_filesystem_configuration_keys.succeeds", got, Code.OK)
    if not got.ok:
        return
    keys = got.value
    number = keys.returned
    said = "not written" if number is None else str(number)
    case.check.that("get_filesystem_configuration_keys.sets-the-number", number is not None and number >= 0,
               "the number of keys", said)  # fmt: skip
    names: list[str] = []
    if case.does("get_filesystem_configuration"):
        with case.setup:
            names = [one.name for one in case.setup.require(case.tables.get_filesystem_configuration()).options]
        case.check.equal(clause, "number of keys", len(names), number)
    array = keys.pointers > 1 and keys.pointers == number
    one = keys.pointers <= 1 and (not names or keys.texts[0] in names)
    readings = {"array": array, "one-string": one, "other": True}
    case.check.reading("get_filesystem_configuration_keys.what-comes-back", readings,
                 f"{said} keys in {keys.pointers} pointers, of {len(names)} options")  # fmt: skip
    # Of one string only the first key can be told: where it ends and another begins no source says.
    if array and names:
        case.check.equal(clause, "keys", sorted(names), sorted(keys.texts))
    if case.does("get_filesystem_configuration_option"):
        for key in keys.texts if keys.pointers else ():
            case.check.status(clause, case.tables.get_filesystem_configuration_option(key), Code.OK)


@full
@clauses("robustness.leaves-no-memory")
def test_leaves_nothing(case: Case) -> None:
    """Options are asked for, set, and asked for and set by a wrong key, many times over."""
    raw, known = case.tables, options(case)
    bad = Option(NO_SUCH_KEY, INT, (1,))

    def repeat(rounds: int) -> None:
        for _ in range(rounds):
            raw.get_filesystem_configuration()
            raw.set_filesystem_configuration(known)
            raw.get_filesystem_configuration_option(known[0].name)
            raw.get_filesystem_configuration_option(NO_SUCH_KEY)
            raw.set_filesystem_configuration_option(known[0])
            raw.set_filesystem_configuration_option(bad)

    more = leaks.leaked_per_round(case.surroundings.host, repeat).get("heap", 0)
    case.check.that("robustness.leaves-no-memory", not more, "no more bytes allocated each time",
               "more bytes allocated each time" if more else "no more bytes allocated each time")  # fmt: skip
