"""Transactions: tokens, the paths they hold, and their end."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest

from ...harness.hosting import leaks
from ...harness.ops.codes import Code
from ...harness.ops.outcomes import Outcome, Token
from ...harness.over_tables.raw import FOREIGN_TOKEN
from ..engine.answers import Answer
from ..engine.case import Case
from ..engine.marks import clauses, full, over_tables

pytestmark = over_tables

GET = "get_transaction_for_path"
GET_OR_START = "get_or_start_transaction_for_path"
#: A scheme that no plugin has.
FOREIGN_PATH = "tffselsewhere://host/file"
OLD, NEW = b"as it was", b"changed in a transaction"


@contextmanager
def started(case: Case) -> Iterator[int]:
    """Start a transaction for the block and end it afterwards, both as set-up steps."""
    token = case.setup.token()
    yield token
    with case.setup:
        case.setup.require(case.tables.end_transaction(token))


def place(case: Case, name: str) -> str:
    """The translated path of a name in the case's directory."""
    return case.fs.translate(case.uri(name))


def add(case: Case, path: str, token: int) -> None:
    """Put a path into a transaction, as a set-up step."""
    with case.setup:
        case.setup.require(case.tables.add_to_transaction(path, token))


def ended(case: Case, *tokens: int) -> None:
    """End transactions, as a set-up step."""
    with case.setup:
        for token in dict.fromkeys(token for token in tokens if token):
            case.setup.require(case.tables.end_transaction(token))


def holder(case: Case, path: str) -> Outcome[Token]:
    """The transaction that a path is in."""
    return case.tables.token_op(GET, path)


def token_of(got: Outcome[Token]) -> str:
    """The result of an op that gives a token, without what differs from run to run."""
    return f"code={got.code} token={'one' if got.value.token else 'NULL'}"


#: Whose a token says it is.
OWNERS = {0: "owner=NULL", 1: "owner=the filesystem", 2: "owner=another"}


@clauses("start_transaction.succeeds", "start_transaction.gives-a-token", "transactions.return-on-error",
         "transactions.return-on-success", "start_transaction.token-has-an-owner")  # fmt: skip
def test_start(case: Case) -> None:
    """A transaction is started."""
    got = case.tables.start_transaction()
    case.check.status("start_transaction.succeeds", got, Code.OK, Code.FAILED_PRECONDITION)
    if got.ok:
        case.check.that("start_transaction.gives-a-token", got.value.token != 0, "code=OK token=one", token_of(got))
        readings = {"zero": got.value.returned == 0, "other": True}
        case.check.reading("transactions.return-on-success", readings, f"returned={got.value.returned}")
        case.check.that(
            "start_transaction.token-has-an-owner", got.value.owner == 1, OWNERS[1], OWNERS[got.value.owner]
        )
        ended(case, got.value.token)


@clauses("start_transaction.several", "start_transaction.tokens-differ")
def test_several(case: Case) -> None:
    """A second transaction is started while the first one is open."""
    raw = case.tables
    with started(case) as first:
        second = raw.start_transaction()
        case.check.implemented(second)
        refused = second.code is Code.FAILED_PRECONDITION
        case.check.reading("start_transaction.several", {"several": second.ok, "one-at-a-time": refused},
                     f"code={second.code}", second.message)  # fmt: skip
        if second.ok:
            differ = second.value.token != first
            case.check.that(
                "start_transaction.tokens-differ", differ, "two tokens", "two tokens" if differ else "one token"
            )
            if differ:
                ended(case, second.value.token)


@clauses("end_transaction.succeeds")
def test_end(case: Case) -> None:
    """Transactions are started and ended, one after the other, each with the same path."""
    raw = case.tables
    path = place(case, "file")
    for _ in range(3):
        token = case.setup.token()
        if case.does("add_to_transaction"):
            add(case, path, token)
        case.check.status("end_transaction.succeeds", raw.end_transaction(token), Code.OK)


@clauses("end_transaction.releases-its-paths")
def test_end_releases(case: Case) -> None:
    """A transaction ends; the path that was in it is asked for, and added to the next one."""
    clause, raw = "end_transaction.releases-its-paths", case.tables
    path = place(case, "file")
    with started(case) as token:
        add(case, path, token)
    if case.does(GET):
        case.check.status(clause, holder(case, path), Code.NOT_FOUND)
    with started(case) as token:
        case.check.status(clause, raw.add_to_transaction(path, token), Code.OK)


@pytest.mark.parametrize("last", ["first", "second"])
@clauses("end_transaction.releases-its-paths", "add_to_transaction.succeeds", f"{GET}.succeeds")
def test_two_apart(case: Case, last: str) -> None:
    """Two transactions are open, each with a path; one of them ends, and the other holds its own path as before."""
    raw, clause = case.tables, f"{GET}.succeeds"
    tokens = {"first": case.setup.token(), "second": case.setup.token()}
    held = {name: place(case, name) for name in tokens}
    for name, path in held.items():
        case.check.status("add_to_transaction.succeeds", raw.add_to_transaction(path, tokens[name]), Code.OK)
    for name, path in held.items():
        got = holder(case, path)
        case.check.status(clause, got, Code.OK)
        case.check.that(clause, got.value.token == tokens[name], f"the token of the {name}", token_of(got))
    gone = "second" if last == "first" else "first"
    ended(case, tokens[gone])
    kept = holder(case, held[last])
    case.check.status(clause, kept, Code.OK)
    case.check.that(clause, kept.value.token == tokens[last], f"the token of the {last}", token_of(kept))
    case.check.status("end_transaction.releases-its-paths", holder(case, held[gone]), Code.NOT_FOUND)
    ended(case, tokens[last])
    case.check.status("end_transaction.releases-its-paths", holder(case, held[last]), Code.NOT_FOUND)


@clauses(f"{GET}.none-is-not-found", "add_to_transaction.succeeds")
def test_paths_are_kept_apart(case: Case) -> None:
    """A path is in a transaction; paths that begin alike, its parent and what is below it are in none."""
    path = place(case, "name")
    with started(case) as token:
        case.check.status("add_to_transaction.succeeds", case.tables.add_to_transaction(path, token), Code.OK)
        for other in ("names", "nam", "name.", "name/below"):
            case.check.status(f"{GET}.none-is-not-found", holder(case, case.translated(other)), Code.NOT_FOUND)


@full
@clauses("end_transaction.frees-the-token", "robustness.leaves-no-memory", "transactions.return-on-error")
def test_leaves_nothing(case: Case) -> None:
    """Transactions with a path are started and ended, many times over; then each other op is called in between."""
    raw, add, (path, none) = case.tables, "add_to_transaction", (place(case, "file"), place(case, "none"))

    def with_path(token: int) -> None:
        if case.does(add):
            raw.add_to_transaction(path, token)

    def got_or_started(token: int) -> None:
        for one in (path, FOREIGN_PATH):
            got = raw.token_op(GET_OR_START, one)
            if got.ok and got.value.token not in (0, token):
                raw.end_transaction(got.value.token)

    def grows(*steps: Callable[[int], object]) -> int:
        def repeat(rounds: int) -> None:
            for _ in range(rounds):
                token = case.setup.token()
                for step in steps:
                    step(token)
                raw.end_transaction(token)

        return leaks.leaked_per_round(case.surroundings.host, repeat).get("heap", 0)

    ways: dict[str, Callable[[int], object]] = {
        add: lambda token: [raw.add_to_transaction(path, one) for one in (token, FOREIGN_TOKEN)],
        GET: lambda _: [raw.token_op(GET, one) for one in (path, none)],
        GET_OR_START: got_or_started,
        "decode_transaction_token": raw.decode_transaction_token,
    }
    with started(case):
        pass
    bare, usual = grows(), grows(with_path)
    # Where the end of one leaves something, what ends another one does, too.
    more = {op: grows(with_path, way) - usual for op, way in ways.items() if case.does(op) and not bare}
    # What a transaction with a path costs, its end leaves, unless to add the path costs it.
    more["end_transaction"] = max(bare, usual - max(0, more.get(add, 0)))
    for op, growth in more.items():
        clause = "end_transaction.frees-the-token" if op == "end_transaction" else "robustness.leaves-no-memory"
        less = "no more bytes allocated each time"
        got = f"more bytes: {op}" if growth >= leaks.LEAST["heap"] else less
        case.check.that(clause, got == less, less, got, of=Answer(op))


@pytest.mark.parametrize("what", ["file", "directory", "missing"])
@clauses("add_to_transaction.succeeds", "add_to_transaction.path-need-not-exist", f"{GET}.succeeds",
         "common.arguments-unchanged")  # fmt: skip
def test_add(case: Case, what: str) -> None:
    """A path is added to a transaction, and its transaction asked for."""
    path = place(case, "path")
    if what == "file":
        case.setup.write("path", OLD)
    elif what == "directory":
        case.setup.mkdir("path")
    clause = "add_to_transaction." + ("path-need-not-exist" if what == "missing" else "succeeds")
    with started(case) as token:
        case.check.status(clause, case.tables.add_to_transaction(path, token), Code.OK)
        if case.does(GET):
            got = holder(case, path)
            case.check.status(f"{GET}.succeeds", got, Code.OK)
            case.check.equal(f"{GET}.succeeds", "token", token, got.value.token)


@clauses("add_to_transaction.twice")
def test_add_twice(case: Case) -> None:
    """A path is added to the transaction it is in."""
    path = place(case, "file")
    with started(case) as token:
        add(case, path, token)
        got = case.tables.add_to_transaction(path, token)
        case.check.note("add_to_transaction.twice", f"code={got.code}", got.message)


@clauses("add_to_transaction.in-another-transaction", "transactions.return-on-error")
def test_add_to_another(case: Case) -> None:
    """A path that is in one transaction is added to a second one, and its transaction asked for."""
    clause, raw = "add_to_transaction.in-another-transaction", case.tables
    path = place(case, "file")
    with started(case) as first, started(case) as second:
        add(case, path, first)
        got = raw.add_to_transaction(path, second)
        case.check.implemented(got)
        refused = got.code is Code.FAILED_PRECONDITION
        case.check.reading(clause, {"refused": refused, "accepted": got.ok}, f"code={got.code}", got.message)
        if case.does(GET):
            kept = holder(case, path)
            owners = (first,) if refused else (first, second)
            case.check.that(clause, kept.value.token in owners, f"{GET}: a transaction it was added to",
                       f"{GET}: {token_of(kept)}, not one it was added to")  # fmt: skip


@clauses(f"{GET}.none-is-not-found", "transactions.return-on-error", "transactions.token-on-error")
def test_none(case: Case) -> None:
    """A path that is in no transaction, before and while another path is in one."""
    path = place(case, "file")
    got = holder(case, path)
    case.check.status(f"{GET}.none-is-not-found", got, Code.NOT_FOUND)
    case.check.note("transactions.token-on-error", token_of(got))
    if case.does("start_transaction") and case.does("add_to_transaction"):
        with started(case) as token:
            add(case, path + "-longer", token)
            case.check.status(f"{GET}.none-is-not-found", holder(case, path), Code.NOT_FOUND)


@clauses(f"{GET_OR_START}.succeeds", f"{GET_OR_START}.finds-the-transaction", "common.arguments-unchanged")
def test_get_or_start(case: Case) -> None:
    """A transaction is started for a path that is in none; then the path's transaction is asked for in both ways."""
    raw, clause = case.tables, f"{GET_OR_START}.finds-the-transaction"
    path = place(case, "file")
    got = raw.token_op(GET_OR_START, path)
    case.check.status(f"{GET_OR_START}.succeeds", got, Code.OK, Code.FAILED_PRECONDITION)
    if not got.ok:
        return
    case.check.that(f"{GET_OR_START}.succeeds", got.value.token != 0, "code=OK token=one", token_of(got))
    again = raw.token_op(GET_OR_START, path)
    case.check.status(clause, again, Code.OK)
    case.check.equal(clause, "token", got.value.token, again.value.token)
    if case.does(GET):
        case.check.equal(clause, f"{GET} token", got.value.token, holder(case, path).value.token)
    ended(case, got.value.token, again.value.token)


@clauses(f"{GET_OR_START}.finds-the-transaction")
def test_get_added(case: Case) -> None:
    """The transaction of a path that was added to one is got or started."""
    clause = f"{GET_OR_START}.finds-the-transaction"
    path = place(case, "file")
    with started(case) as token:
        add(case, path, token)
        got = case.tables.token_op(GET_OR_START, path)
        case.check.status(clause, got, Code.OK)
        case.check.equal(clause, "token", token, got.value.token)


@pytest.mark.parametrize("how", ["start", "other-path"])
@clauses("start_transaction.tokens-differ", f"{GET_OR_START}.succeeds")
def test_started_for_a_path(case: Case, how: str) -> None:
    """A transaction was started for a path; another one is started, or got for a path that is in none."""
    raw = case.tables
    with case.setup:
        first = case.setup.require(raw.token_op(GET_OR_START, place(case, "file"))).token
    second = raw.start_transaction() if how == "start" else raw.token_op(GET_OR_START, place(case, "other"))
    case.check.status("start_transaction.tokens-differ", second, Code.OK, Code.FAILED_PRECONDITION)
    differ = second.value.token != first
    case.check.that("start_transaction.tokens-differ", differ, "two tokens", "two tokens" if differ else "one token")
    ended(case, first, second.value.token)


@clauses(f"{GET}.foreign-path", "transactions.return-on-error")
def test_get_of_a_foreign_path(case: Case) -> None:
    """The transaction of a path that has the scheme of another filesystem."""
    got = holder(case, FOREIGN_PATH)
    case.check.implemented(got)
    readings = {"refused": got.code is Code.FAILED_PRECONDITION, "a-path-like-others": got.code is Code.NOT_FOUND}
    case.check.reading(f"{GET}.foreign-path", readings, f"code={got.code}", got.message)


@clauses(f"{GET_OR_START}.foreign-path", "transactions.return-on-error")
def test_get_or_start_of_a_foreign_path(case: Case) -> None:
    """A transaction for a path that has the scheme of another filesystem."""
    # The op does not touch the path, so it may be sent although it is outside of the case's directory.
    got = case.tables.token_op(GET_OR_START, FOREIGN_PATH)
    case.check.implemented(got)
    taken = got.code in (Code.OK, Code.FAILED_PRECONDITION)
    readings = {"refused": got.code is Code.NOT_FOUND, "a-path-like-others": taken}
    case.check.reading(f"{GET_OR_START}.foreign-path", readings, f"code={got.code}", got.message)
    if got.ok and got.value.token:
        ended(case, got.value.token)


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
    raw = case.tables
    path = place(case, "file")
    is_end = op == "end_transaction"
    got = raw.end_transaction(FOREIGN_TOKEN) if is_end else raw.add_to_transaction(path, FOREIGN_TOKEN)
    case.check.status(f"{op}.foreign-token-is-not-found", got, Code.NOT_FOUND)
    if not is_end and case.does(GET):
        # No transaction was started.
        case.check.status(f"{op}.foreign-token-is-not-found", holder(case, path), Code.NOT_FOUND)


@clauses("decode_transaction_token.succeeds")
def test_decode(case: Case) -> None:
    """The text of a token, twice: each is a block to be freed."""
    raw = case.tables
    # Where the plugin gives no token, one with an arbitrary address is decoded.
    token = FOREIGN_TOKEN
    if case.does("start_transaction"):
        token = case.setup.token()
    for _ in range(2):
        got = raw.decode_transaction_token(token)
        text = "NULL" if got.value is None else "a text"
        case.check.that("decode_transaction_token.succeeds", text == "a text", "a text", text)
    if token != FOREIGN_TOKEN and case.does("end_transaction"):
        ended(case, token)


@clauses("decode_transaction_token.tells-tokens-apart")
def test_decode_two(case: Case) -> None:
    """The texts of two tokens."""
    raw = case.tables
    with started(case) as first, started(case) as second:
        texts = {raw.decode_transaction_token(token).value for token in (first, second)}
        got = "two texts" if len(texts) == 2 else "one text"
        case.check.that("decode_transaction_token.tells-tokens-apart", len(texts) == 2, "two texts", got)


@clauses("end_transaction.keeps-the-changes", "transactions.isolation")
def test_isolation(case: Case) -> None:
    """Files in a transaction are written anew, made and deleted; they are looked at before and after its end."""
    before = {"changed": OLD, "deleted": OLD}
    after = {"changed": NEW, "made": NEW}
    for name, content in before.items():
        case.setup.write(name, content)
    with started(case) as token:
        for name in ("changed", "made", "deleted"):
            add(case, place(case, name), token)
        for name in after:
            case.setup.write(name, NEW)
        with case.setup:
            case.setup.require(case.fs.delete_file(case.uri("deleted")))
        seen = case.setup.tree()
    readings = {"at-the-end": seen == before, "at-once": seen == after, "in-part": True}
    case.check.reading(
        "transactions.isolation", readings, "before the end: " + next(k for k, v in readings.items() if v)
    )
    case.tree_is("end_transaction.keeps-the-changes", after)
