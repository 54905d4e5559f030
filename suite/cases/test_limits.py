"""Limits: what an op answers when there is no room, and when its status does not say OK on arrival."""

from collections.abc import Callable

import pytest

from ...harness.hosting import limits as host_limits
from ...harness.ops.codes import Code
from ...harness.ops.outcomes import Outcome
from ...reports.model.records import StatementKind
from ..engine.answers import Answer
from ..engine.case import Case
from ..engine.marks import clauses, over_tables, undefined
from ..engine.setup import Tree
from .successes import SUCCESSES, prepared

pytestmark = over_tables

ROOM = 64 << 10
#: Contents longer than a file may be: in pieces that fit one by one, and in one piece that does not.
PIECES = {"one-piece": [b"x" * (ROOM + 1000)], "many-pieces": [b"y" * 10_000] * 10}


@pytest.mark.parametrize("pieces", list(PIECES))
@clauses("append.shortfall-is-resource-exhausted", "append.nothing-is-lost-in-silence")
def test_no_room(case: Case, pieces: str) -> None:
    """More is appended than a file of this process may have, which a plugin meets that writes local files."""
    uri = case.uri("file")
    answers: list[Outcome[None]] = []
    with (
        case.setup,
        case.setup.opened(case.fs.new_writable_file(uri)) as file,
        host_limits.file_size(case.surroundings.host, ROOM),
    ):
        for piece in PIECES[pieces]:
            answers.append(file.append(piece))
            if not answers[-1].ok:
                break
        failed = [answer for answer in answers if not answer.ok]
        if not failed:
            answers += [file.flush(), file.sync()]
        answers.append(file.close())
    if failed:
        code = failed[0].code
        readings = {"resource-exhausted": code is Code.RESOURCE_EXHAUSTED, "translated": code is Code.OUT_OF_RANGE}
        case.check.reading("append.shortfall-is-resource-exhausted", readings, f"code={code}", failed[0].message)
    if all(answer.ok for answer in answers):
        length = case.setup.require(case.fs.stat(uri)).length
        case.check.equal("append.nothing-is-lost-in-silence", "length", sum(map(len, PIECES[pieces])), length)
    else:
        last = next(answer for answer in answers if not answer.ok)
        case.check.that(
            "append.nothing-is-lost-in-silence", True, "an error or everything", f"{last.op}: code={last.code}"
        )


@clauses("append.writes-exactly-n")
def test_room_again(case: Case) -> None:
    """Pieces are appended until there is no room; then there is room again, and one more is appended."""
    uri, pieces, tail = case.uri("file"), [bytes([97 + k]) * 10_000 for k in range(8)], b"~"
    answers = []
    with case.setup, case.setup.opened(case.fs.new_writable_file(uri)) as file:
        with host_limits.file_size(case.surroundings.host, ROOM):
            for piece in pieces:
                answers.append(file.append(piece))
                if not answers[-1].ok:
                    break
            answers.append(file.flush())
        # The contract does not say whether a file can be written after an error. An error may tell of the loss of what
        # was answered with OK before. No byte may be there twice or out of order.
        answers += [file.append(tail), file.close()]
    # A store that gets a file when it is closed has none, then.
    refused = any(not answer.ok for answer in answers)
    gone = refused and case.fs.path_exists(uri).code is Code.NOT_FOUND
    content = b"" if gone else case.setup.content(uri)
    appended = b"".join([*pieces[: len(answers) - 3], tail])
    twice = [piece for piece in {*pieces, tail} if content.count(piece[:1]) > len(piece)]
    in_order = not twice and content == bytes(sorted(content))
    complete = refused or content == appended
    right = "no byte twice, and all of them unless an error says so"
    got = "bytes twice or out of order" if not in_order else right if complete else "bytes are missing without an error"
    kind = StatementKind.MISSING if in_order else StatementKind.CONTENT
    case.check.that(
        "append.writes-exactly-n", in_order and complete, right, got, f"{len(content)} bytes", of=Answer(kind=kind)
    )


@pytest.mark.parametrize(
    ("op", "there"),
    [
        pytest.param(
            op,
            there,
            id=f"{op}-{'over-another' if there else 'to-nothing'}",
            marks=clauses(f"{op}.error-changes-nothing", f"{op}.keeps-the-content"),
        )
        for op in ("copy_file", "rename_file")
        for there in (False, True)
    ],
)
def test_no_room_to_move(case: Case, op: str, there: bool) -> None:
    """A file that is larger than a file of this process may be is copied or renamed: whole, or not at all."""
    case.needs(op, itself=True)
    large, old = b"large" * ROOM, b"an older one"
    case.setup.write("source", large)
    before: Tree = {"source": large, "target": old} if there else {"source": large}
    if there:
        case.setup.write("target", old)
    perform = getattr(case.fs, op)
    source, target = case.uri("source"), case.uri("target")
    SUCCESSES["path_exists"](case)
    with host_limits.file_size(case.surroundings.host, ROOM):
        got = perform(source, target)
    case.check.implemented(got)
    after: Tree = {"target": large}
    if op == "copy_file":
        after["source"] = large
    name = f"{op}.keeps-the-content" if got.ok else f"{op}.error-changes-nothing"
    # Contents are long, so they are shown by their lengths.
    expected = after if got.ok else before
    left = case.setup.tree()
    shown = {path: len(content or b"") for path, content in left.items()}
    lengths = {path: len(content or b"") for path, content in expected.items()}
    case.check.equal(name, "lengths", lengths, shown)
    case.check.that(name, left == expected, "the same bytes", "the same bytes" if left == expected else "other bytes")


#: The ops of an open file that have a status.
ON_FILES = ("read", "append", "tell", "flush", "sync", "close")


def judge(case: Case, got: Outcome[object]) -> None:
    """Record which reading the op follows. A status with a third code is a breach."""
    case.check.implemented(got)
    left = (got.code, got.message) == (host_limits.LEFT, host_limits.LEFT_MESSAGE)
    readings = {"resets": got.ok, "leaves": left}
    case.check.reading("common.status-is-reset", readings, f"{got.op}: code={got.code}", got.message, of=Answer.of(got))
    seen = f"{got.op} leaves the status as it came" if left else f"{got.op}: code={got.code}"
    case.check.that("common.success-sets-ok", got.ok, "OK, whatever the status said before", seen, of=Answer.of(got))


@pytest.mark.parametrize("op", list(SUCCESSES))
@clauses("common.status-is-reset", "common.success-sets-ok")
def test_used_status(case: Case, op: str) -> None:
    """The op succeeds with a status that arrives with an error in it."""
    case.needs(op, itself=True)
    prepared(case)
    # Names are translated before the block, because translate_name has no status.
    SUCCESSES["path_exists"](case)
    with host_limits.statuses_arrive_used(case.surroundings.host):
        got = SUCCESSES[op](case)
    judge(case, got)


@pytest.mark.parametrize("op", ON_FILES)
@clauses("common.status-is-reset", "common.success-sets-ok")
def test_used_status_on_a_file(case: Case, op: str) -> None:
    """The op of an open file succeeds with a status that arrives with an error in it."""
    case.needs(op, itself=True)
    uri = case.setup.write("file", b"content")
    with case.setup:
        writer = case.setup.opened(case.fs.new_writable_file(case.uri("new")))
        reader = case.setup.opened(case.fs.new_random_access_file(uri))
    ways: dict[str, Callable[[], Outcome[object]]] = {
        "read": lambda: reader.read(0, 7),
        "append": lambda: writer.append(b"appended"),
        "tell": writer.tell,
        "flush": writer.flush,
        "sync": writer.sync,
        "close": writer.close,
    }
    with host_limits.statuses_arrive_used(case.surroundings.host):
        got = ways[op]()
    judge(case, got)
    reader.cleanup()
    writer.cleanup()


@undefined
@clauses("append.after-close", "robustness.no-hang")
def test_after_close(case: Case) -> None:
    """append, tell, flush and sync are called after close, which nobody may do."""
    with case.setup, case.setup.opened(case.fs.new_writable_file(case.uri("file"))) as file:
        case.setup.require(file.close())
        for got in (file.append(b"late"), file.tell(), file.flush(), file.sync()):
            case.check.reading("append.after-close", {"ok": got.ok, "refused": True}, f"{got.op}: code={got.code}")
