"""Transactions and configuration: the ops can be reached, and their codes are those of the interface."""

import pytest

from tffs_conformance.harness.codes import Code
from tffs_conformance.harness.outcomes import Option
from tffs_conformance.harness.raw import FOREIGN_TOKEN
from tffs_conformance.suite.case import Case
from tffs_conformance.suite.marks import clauses

NO_SUCH_KEY = "tffs-no-such-key"


@clauses("start_transaction.succeeds", "transactions.return-on-error", "transactions.return-on-success")
def test_start(case: Case) -> None:
    """A transaction is started."""
    got = case.fs.raw.start_transaction()
    case.status("start_transaction.succeeds", got, Code.OK, Code.FAILED_PRECONDITION)
    if got.ok:
        readings = {"zero": got.value.returned == 0, "other": True}
        case.reading("transactions.return-on-success", readings, f"returned={got.value.returned}")


@clauses("end_transaction.succeeds")
def test_end(case: Case) -> None:
    """A transaction is started and ended."""
    raw = case.fs.raw
    with case.setup():
        token = case.done(raw.start_transaction()).token
    case.status("end_transaction.succeeds", raw.end_transaction(token), Code.OK)


@clauses("add_to_transaction.succeeds", "get_transaction_for_path.succeeds")
def test_add(case: Case) -> None:
    """A path is added to a transaction, and its transaction asked for."""
    raw = case.fs.raw
    path = case.fs.translate(case.uri("file"))
    with case.setup():
        token = case.done(raw.start_transaction()).token
    case.status("add_to_transaction.succeeds", raw.add_to_transaction(path, token), Code.OK)
    if case.fs.available("get_transaction_for_path"):
        got = raw.token_op("get_transaction_for_path", path)
        case.equal("get_transaction_for_path.succeeds", "token", token, got.value.token)


@clauses("get_transaction_for_path.none-is-not-found", "transactions.return-on-error")
def test_none(case: Case) -> None:
    """A path that is in no transaction."""
    got = case.fs.raw.token_op("get_transaction_for_path", case.fs.translate(case.uri("file")))
    case.status("get_transaction_for_path.none-is-not-found", got, Code.NOT_FOUND)


@clauses("get_or_start_transaction_for_path.succeeds")
def test_get_or_start(case: Case) -> None:
    """A transaction for a path that is in none."""
    got = case.fs.raw.token_op("get_or_start_transaction_for_path", case.fs.translate(case.uri("file")))
    case.status("get_or_start_transaction_for_path.succeeds", got, Code.OK, Code.FAILED_PRECONDITION)


@clauses("decode_transaction_token.succeeds")
def test_decode(case: Case) -> None:
    """The text of a token."""
    raw = case.fs.raw
    # Where no token can be had, one that nobody gave out still has an address to show.
    token = FOREIGN_TOKEN
    if case.fs.available("start_transaction"):
        with case.setup():
            token = case.done(raw.start_transaction()).token
    got = raw.decode_transaction_token(token)
    case.check(
        "decode_transaction_token.succeeds", got.value is not None, "a text", "NULL" if got.value is None else "a text"
    )


@pytest.mark.parametrize(
    "op",
    [
        pytest.param("end_transaction", id="end", marks=clauses("end_transaction.foreign-token-is-not-found")),
        pytest.param("add_to_transaction", id="add", marks=clauses("add_to_transaction.foreign-token-is-not-found")),
    ],
)
@clauses("transactions.return-on-error")
def test_foreign_token(case: Case, op: str) -> None:
    """A token that the filesystem never gave out."""
    raw = case.fs.raw
    path = case.fs.translate(case.uri("file"))
    ended = op == "end_transaction"
    got = raw.end_transaction(FOREIGN_TOKEN) if ended else raw.add_to_transaction(path, FOREIGN_TOKEN)
    case.status(f"{op}.foreign-token-is-not-found", got, Code.NOT_FOUND)


@clauses("get_filesystem_configuration.succeeds")
def test_configuration(case: Case) -> None:
    """All options are asked for."""
    case.status("get_filesystem_configuration.succeeds", case.fs.raw.get_filesystem_configuration(), Code.OK)


@clauses("set_filesystem_configuration.succeeds")
def test_set_configuration(case: Case) -> None:
    """All options are set to what they are."""
    raw = case.fs.raw
    with case.setup():
        known = case.done(raw.get_filesystem_configuration())
    got = raw.set_filesystem_configuration(known)
    case.status("set_filesystem_configuration.succeeds", got, Code.OK)


@clauses("set_filesystem_configuration.where-it-is-absent")
def test_where_it_is_absent(case: Case) -> None:
    """Whether the plugin has an op for setting options at all."""
    with case.setup():
        present = "set_filesystem_configuration" in case.present
    case.reading("set_filesystem_configuration.where-it-is-absent", {"present": present, "absent": not present},
                 "present" if present else "NULL")  # fmt: skip


@clauses("set_filesystem_configuration.unknown-key")
def test_set_unknown_configuration(case: Case) -> None:
    """An option that does not exist is set among all; nobody says what the answer is."""
    got = case.fs.raw.set_filesystem_configuration([Option(NO_SUCH_KEY, 0, (1,))])
    case.note("set_filesystem_configuration.unknown-key", f"code={got.code}", got.message)


@clauses("get_filesystem_configuration_option.bad-key-is-not-found")
def test_get_bad_key(case: Case) -> None:
    """An option that does not exist is asked for."""
    got = case.fs.raw.get_filesystem_configuration_option(NO_SUCH_KEY)
    case.status("get_filesystem_configuration_option.bad-key-is-not-found", got, Code.NOT_FOUND)


@clauses("set_filesystem_configuration_option.bad-key-is-not-found")
def test_set_bad_key(case: Case) -> None:
    """An option that does not exist is set."""
    got = case.fs.raw.set_filesystem_configuration_option(Option(NO_SUCH_KEY, 0, (1,)))
    case.status("set_filesystem_configuration_option.bad-key-is-not-found", got, Code.NOT_FOUND)


@clauses("get_filesystem_configuration_option.succeeds", "set_filesystem_configuration_option.succeeds")
def test_known_option(case: Case) -> None:
    """The first option is read and set to what it is."""
    raw = case.fs.raw
    with case.setup():
        known = case.done(raw.get_filesystem_configuration())
    if not known:
        case.blocked("get_filesystem_configuration", "the plugin names no option")
    case.status("get_filesystem_configuration_option.succeeds",
                raw.get_filesystem_configuration_option(known[0].name), Code.OK)  # fmt: skip
    case.status("set_filesystem_configuration_option.succeeds",
                raw.set_filesystem_configuration_option(known[0]), Code.OK)  # fmt: skip


@clauses("get_filesystem_configuration_keys.succeeds")
def test_keys(case: Case) -> None:
    """The keys are asked for; what they are cannot be told."""
    got = case.fs.raw.get_filesystem_configuration_keys()
    case.status("get_filesystem_configuration_keys.succeeds", got, Code.OK)
