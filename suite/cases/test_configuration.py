"""Configuration: an option has the value it was set to.

A plugin may refuse a value; then nothing may have changed. Every option is set back to the value it had. TensorFlow
never hands over an option without values: it answers INVALID_ARGUMENT itself.
"""

from collections.abc import Iterator, Sequence

import pytest

from ...harness.codes import Code
from ...harness.outcomes import Option, Outcome, Watch
from ..engine.case import Case
from ..engine.marks import clauses, over_tables

pytestmark = over_tables

NO_SUCH_KEY = "tffs-no-such-key"
INT, REAL, BUFFER = 0, 1, 2
Values = tuple[int | float | bytes, ...]


def options(case: Case) -> tuple[Option, ...]:
    """Get all options that have a value, as a set-up step. Block the case where there are none."""
    with case.setup():
        known = tuple(option for option in case.require(case.tables.get_filesystem_configuration()) if option.values)
    if not known:
        case.blocked("get_filesystem_configuration", "the plugin names no option")
    return known


def with_values(option: Option, values: Values) -> Option:
    """The option with these values, as a user sets it: without a description."""
    return Option(option.name, option.type_tag, values)


def others(option: Option) -> Iterator[Values]:
    """Values of the option's type that it does not have now."""
    value = option.values[0]
    new: Sequence[int | float | bytes]
    match value:
        case bytes():
            new = (b"tffs", b"with\0NULs\0", b"", value + b"+")
        case float():
            new = (value + 0.5, 0.1, -1.5)
        case _:
            new = (value - 1 if value > 0 else value + 1, 1, 12345)
    for other in new:
        if other != value:
            yield (other, *option.values[1:])


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


def restored(case: Case, before: Sequence[Option]) -> None:
    """Set the options back at the end of the block, as a set-up step: other cases may use the same host."""
    with case.setup():
        case.require(case.tables.set_filesystem_configuration(before))


@clauses("get_filesystem_configuration.succeeds", "get_filesystem_configuration.names-are-distinct",
         "get_filesystem_configuration.values-fit-their-type")  # fmt: skip
def test_all(case: Case) -> None:
    """All options are asked for, twice."""
    for _ in range(2):
        got = case.tables.get_filesystem_configuration()
        case.status("get_filesystem_configuration.succeeds", got, Code.OK)
        names = [option.name for option in got.value]
        distinct = len(set(names)) == len(names) and "" not in names
        case.check("get_filesystem_configuration.names-are-distinct", distinct, "each a name of its own", str(names))
        for option in got.value:
            fits = option.type_tag in (INT, REAL, BUFFER)
            said = f"{option.name}: type={option.type_tag}"
            case.check("get_filesystem_configuration.values-fit-their-type", fits, f"{option.name}: type=0|1|2", said)


@clauses("get_filesystem_configuration_option.succeeds", "get_filesystem_configuration_option.is-the-one-asked-for",
         "get_filesystem_configuration_option.agrees-with-all", "common.arguments-unchanged")  # fmt: skip
def test_each(case: Case) -> None:
    """Each option that there is among all is asked for by its name."""
    op = "get_filesystem_configuration_option"
    for known in options(case):
        outcome = case.tables.get_filesystem_configuration_option(known.name)
        case.status(f"{op}.succeeds", outcome, Code.OK)
        got = outcome.value
        said = "nothing" if got is None else f"name={got.name} type={got.type_tag}"
        same = got is not None and (got.name, got.type_tag) == (known.name, known.type_tag)
        case.check(f"{op}.is-the-one-asked-for", same, f"name={known.name} type={known.type_tag}", said)
        if got is not None:
            case.equal(f"{op}.agrees-with-all", known.name, shown(known.values), shown(got.values))


@clauses("set_filesystem_configuration.succeeds")
def test_set_all_to_what_they_are(case: Case) -> None:
    """All options are set to what they are."""
    got = case.tables.set_filesystem_configuration(options(case))
    case.status("set_filesystem_configuration.succeeds", got, Code.OK)


@clauses("set_filesystem_configuration_option.succeeds")
def test_set_each_to_what_it_is(case: Case) -> None:
    """Each option is set to what it is."""
    for known in options(case):
        got = case.tables.set_filesystem_configuration_option(known)
        case.status("set_filesystem_configuration_option.succeeds", got, Code.OK)


@pytest.mark.parametrize("op", ["set_filesystem_configuration", "set_filesystem_configuration_option"])
@clauses("configuration.round-trip", "configuration.disturbs-no-other", "configuration.refused-changes-nothing",
         "common.arguments-unchanged")  # fmt: skip
def test_round_trip(case: Case, op: str) -> None:
    """Each option is set to other values of its type, one after the other, and all options are read back."""
    if not case.fs.available(op):
        case.missing(op)
    before = now(case)
    for known in options(case):
        for values in (known.values, *others(known)):
            got = set_by(case, op, with_values(known, values))
            case.implemented(got)
            after = now(case)
            if got.ok:
                case.equal("configuration.round-trip", known.name, shown(values), after.pop(known.name, None))
                rest = {name: value for name, value in before.items() if name != known.name}
                case.equal("configuration.disturbs-no-other", "the others", rest, after)
            else:
                case.equal("configuration.refused-changes-nothing", "options", before, after)
            with case.setup():
                case.require(set_by(case, op, known))
    case.equal("configuration.round-trip", "options", before, now(case))


@clauses("configuration.disturbs-no-other")
def test_together(case: Case) -> None:
    """All options are set to another value, one by one, and keep what they have then while the others are set."""
    before, expected = options(case), now(case)
    for known in before:
        case.tables.set_filesystem_configuration([with_values(known, next(others(known), known.values))])
        got = now(case)
        expected[known.name] = got.get(known.name, "")
        case.equal("configuration.disturbs-no-other", "options", expected, got)
    restored(case, before)


@clauses("configuration.copies-what-it-is-lent", "get_filesystem_configuration_option.agrees-with-all")
def test_lent(case: Case) -> None:
    """An option is set and much else asked for; the memory that was lent means something else by then."""
    clause, op = "configuration.copies-what-it-is-lent", "set_filesystem_configuration"
    if not case.fs.available(op):
        case.missing(op)
    for known in options(case):
        for values in (*others(known), known.values):
            if not set_by(case, op, with_values(known, values)).ok:
                continue
            # Only ops that no option, such as a limit, can prevent.
            for length in (8, 30, 100):
                case.fs.path_exists(case.uri("x" * length))
            case.equal(clause, known.name, shown(values), now(case).get(known.name))
            if case.fs.available("get_filesystem_configuration_option"):
                alone = case.require(case.tables.get_filesystem_configuration_option(known.name))
                case.equal("get_filesystem_configuration_option.agrees-with-all", known.name, shown(values),
                           shown(alone.values) if alone else "nothing")  # fmt: skip


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
            case.implemented(got)
            case.note("configuration.wrong-type", f"{known.name}: code={got.code}", got.message)
            if not got.ok:
                case.equal("configuration.refused-changes-nothing", "options", before, now(case))
            else:
                restored(case, [known])


@clauses("set_filesystem_configuration.unknown-key")
def test_set_unknown_configuration(case: Case) -> None:
    """An option that does not exist is set, alone and behind one that does; nobody says what the answer is."""
    raw, clause = case.tables, "set_filesystem_configuration.unknown-key"
    unknown = Option(NO_SUCH_KEY, INT, (1,))
    alone = raw.set_filesystem_configuration([unknown])
    case.note(clause, f"alone: code={alone.code}", alone.message)
    if not case.fs.available("get_filesystem_configuration"):
        return
    before = now(case)
    for known in options(case):
        values = next(others(known), known.values)
        got = raw.set_filesystem_configuration([with_values(known, values), unknown])
        kept = now(case) == before
        case.note(clause, f"behind another: code={got.code}, {'nothing' if kept else 'the other'} was set", got.message)
        restored(case, [known])


@clauses("set_filesystem_configuration.where-it-is-absent")
def test_where_it_is_absent(case: Case) -> None:
    """Whether the plugin has an op for setting options at all."""
    with case.setup():
        present = "set_filesystem_configuration" in case.present
    case.reading("set_filesystem_configuration.where-it-is-absent", {"present": present, "absent": not present},
                 "present" if present else "NULL")  # fmt: skip


@pytest.mark.parametrize(
    "key",
    [pytest.param(NO_SUCH_KEY, id="word"), pytest.param("", id="empty"), pytest.param("x" * 1000, id="long")],
)
@clauses("get_filesystem_configuration_option.bad-key-is-not-found", "configuration.result-on-error")
def test_get_bad_key(case: Case, key: str) -> None:
    """An option that does not exist is asked for."""
    got = case.tables.get_filesystem_configuration_option(key)
    case.status("get_filesystem_configuration_option.bad-key-is-not-found", got, Code.NOT_FOUND)
    case.note("configuration.result-on-error", "option=set" if Watch.OBJECT_SET in got.watch else "option=NULL")


@clauses("set_filesystem_configuration_option.bad-key-is-not-found")
def test_set_bad_key(case: Case) -> None:
    """An option that does not exist is set."""
    got = case.tables.set_filesystem_configuration_option(Option(NO_SUCH_KEY, INT, (1,)))
    case.status("set_filesystem_configuration_option.bad-key-is-not-found", got, Code.NOT_FOUND)


@clauses("get_filesystem_configuration_keys.succeeds", "get_filesystem_configuration_keys.what-comes-back")
def test_keys(case: Case) -> None:
    """The keys are asked for, with room for many pointers: what comes back tells how the signature was read."""
    got = case.tables.get_filesystem_configuration_keys()
    case.status("get_filesystem_configuration_keys.succeeds", got, Code.OK)
    names = now(case) if case.fs.available("get_filesystem_configuration") else {}
    keys = got.value
    readings = {"array": keys.pointers > 1, "one-string": keys.pointers == 0 or keys.first in names, "other": True}
    case.reading("get_filesystem_configuration_keys.what-comes-back", readings,
                 f"{keys.returned} keys in {keys.pointers} pointers, of {len(names)} options")  # fmt: skip
