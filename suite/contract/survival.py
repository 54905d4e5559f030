"""What is left of a process that is killed: histories (`survival.toml`), and what each step promises."""

import functools
import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from enum import Enum
from pathlib import Path

from msgspec import Struct

from ... import typed_toml

CLOSED, SYNCED, FLUSHED = (f"survival.keeps-what-was-{done}" for done in ("closed", "synced", "flushed"))
KEPT, DONE = "survival.keeps-what-was-there", "survival.keeps-what-was-done"
WHOLE, EITHER = "survival.rename-is-whole", "survival.old-or-new"

#: The ops of which core has an algorithm of its own, in several steps: where it is at work, a plugin has no part in
#: what a kill between them leaves.
IN_STEPS = ("rename_file", "copy_file")
#: The ops that take nothing away from what is there.
ON_FILES = ("new_appendable_file", "append", "flush", "sync", "close")


class Nothing(Enum):
    """What is where there is neither a file nor a directory."""

    NOTHING = "nothing"


NOTHING = Nothing.NOTHING
#: What is at a path: the bytes of a file, None for a directory, or nothing.
Content = bytes | None | Nothing


@dataclass(frozen=True, slots=True)
class SurvivalStep:
    """One op of a history, on these relative paths; `data` is what it appends."""

    op: str
    paths: tuple[str, ...]
    data: bytes = b""


@dataclass(frozen=True, slots=True)
class History:
    """Ops that a process performs before it is killed; `before` is what is there, None for a directory."""

    before: Mapping[str, bytes | None]
    steps: tuple[SurvivalStep, ...]

    @property
    def prepared(self) -> tuple[SurvivalStep, ...]:
        """Steps that make what is there before."""
        made: list[SurvivalStep] = []
        for path, content in self.before.items():
            if content is None:
                made.append(SurvivalStep("create_dir", (path,)))
            else:
                made += (
                    SurvivalStep("new_writable_file", (path,)),
                    SurvivalStep("append", (path,), content),
                    SurvivalStep("close", (path,)),
                )
        return tuple(made)

    @property
    def takes_a_directory(self) -> bool:
        """Whether it moves a directory, which not all plugins do."""
        return any(step.op == "rename_file" and self.before.get(step.paths[0], b"") is None for step in self.steps)


@dataclass(frozen=True, slots=True)
class Moment:
    """When a process was killed: when the step of this number, from 0, had `answered`, or was under way."""

    number: int
    answered: bool


@dataclass(frozen=True, slots=True)
class AllowedContent:
    """What may be at a path: `whole`, or, while it `grows`, a beginning of it; or one of what is in `instead`.

    `promised` has clauses, and of each what it promises that is there: that much of it, at least.
    """

    whole: Content
    promised: tuple[tuple[str, Content], ...]
    grows: bool = False
    instead: frozenset[Content] = frozenset()

    def broken(self, got: Content) -> str | None:
        """The clause that is broken where this is found; None for none."""
        if got in self.instead:
            return None
        for clause, least in self.promised:
            if not _begins(got, least):
                return clause
        if got == self.whole or (self.grows and _begins(self.whole, got)):
            return None
        return EITHER if self.grows or not self.promised else self.promised[-1][0]

    def promising(self, clause: str) -> "AllowedContent":
        """The same once a clause promises all that was appended so far, and so no flush has to."""
        kept = tuple(one for one in self.promised if one[0] != FLUSHED)
        return replace(self, promised=(*kept, (clause, self.whole)), instead=frozenset())


def _begins(got: Content, least: Content) -> bool:
    return got.startswith(least) if isinstance(got, bytes) and isinstance(least, bytes) else got == least


#: What may be at each path that somebody changed, or that was there before.
State = Mapping[str, AllowedContent]


def after(state: State, step: SurvivalStep, own: Collection[str]) -> State:
    """The state when a step has answered OK. `own` are the ops that the plugin has itself, and makes promises by."""
    path, last = step.paths[0], step.paths[-1]
    there = state.get(path, AllowedContent(NOTHING, ()))
    match step.op:
        case "new_writable_file":
            # What is there is gone at once, or as soon as the new one is there.
            opened = AllowedContent(b"", (), grows=True, instead=frozenset({there.whole, NOTHING}))
            return {**state, path: opened}
        case "new_appendable_file" if there.whole is NOTHING:
            return {**state, path: AllowedContent(b"", (), grows=True, instead=frozenset({NOTHING}))}
        case "new_appendable_file":
            return {**state, path: replace(there, grows=True)}
        case "append":
            assert isinstance(there.whole, bytes)
            return {**state, path: replace(there, whole=there.whole + step.data)}
        case "sync" if "sync" in own:
            return {**state, path: there.promising(SYNCED)}
        # Core flushes where there is no sync.
        case "flush" | "sync":
            return {**state, path: there.promising(FLUSHED)} if "flush" in own else state
        case "close":
            return {**state, path: replace(there.promising(CLOSED), grows=False)}
        case "rename_file":
            moved = _below(state, path)
            new = {last + old.removeprefix(path): _done(place.whole) for old, place in moved.items()}
            return {**state, **{old: _done(NOTHING) for old in moved}, **new}
        case "copy_file":
            return {**state, last: _done(there.whole)}
        case "create_dir":
            return {**state, path: _done(None)}
        case "recursively_create_dir":
            names = path.split("/")
            return {**state, **{"/".join(names[: k + 1]): _done(None) for k in range(len(names))}}
        case _:
            return {**state, **{old: _done(NOTHING) for old in _below(state, path)}}


def _done(content: Content) -> AllowedContent:
    return AllowedContent(content, ((DONE, content),))


def _below(state: State, path: str) -> State:
    return {one: place for one, place in state.items() if one == path or one.startswith(path + "/")}


def at_stake(history: History, moment: Moment, own: Collection[str]) -> set[str]:
    """The clauses that a kill at this moment can break."""
    step = history.steps[moment.number]
    places = _state(history, moment.number + moment.answered, own).values()
    clauses = {clause for place in places for clause, _ in place.promised}
    if any(place.grows for place in places):
        clauses.add(EITHER)
    if not moment.answered and step.op not in ON_FILES and not is_of_core(step, own):
        clauses.add(_of_changes(step))
    return clauses


def broken(
    history: History, moment: Moment, got: Mapping[str, bytes | None], own: Collection[str]
) -> Iterator[tuple[str, str]]:
    """The clauses that are broken by what is found after a kill, each with what is wrong.

    A step that was under way may have done its work, or not.
    """
    step, state = history.steps[moment.number], _state(history, moment.number, own)
    then = after(state, step, own)
    for path, place in sorted(then.items()):
        found: Content = got.get(path, NOTHING)
        now = place if moment.answered else state.get(path, AllowedContent(NOTHING, ()))
        clause = now.broken(found)
        if clause is None or place.broken(found) is None:
            continue
        if now != place and step.op not in ON_FILES:
            if is_of_core(step, own):
                continue
            clause = _of_changes(step)
        yield clause, f"{path} {shown(found)}"
    if step.op == "rename_file":
        yield from _lost(state, step, got)


def _state(history: History, count: int, own: Collection[str]) -> State:
    """What so many steps gave that all answered OK."""
    first: State = {path: AllowedContent(content, ((KEPT, content),)) for path, content in history.before.items()}
    return functools.reduce(lambda state, step: after(state, step, own), history.steps[:count], first)


def is_of_core(step: SurvivalStep, own: Collection[str]) -> bool:
    """Whether core performs an op in several steps, of which a plugin does not know that they are one."""
    return step.op in IN_STEPS and step.op not in own


def _of_changes(step: SurvivalStep) -> str:
    """The clause that says what an op may leave that changes names, where a process is killed in it."""
    return WHOLE if step.op == "rename_file" else EITHER


def _lost(state: State, rename: SurvivalStep, got: Mapping[str, bytes | None]) -> Iterator[tuple[str, str]]:
    """What is neither at its old nor at its new place."""
    source, target = rename.paths
    for path, place in sorted(_below(state, source).items()):
        new = target + path.removeprefix(source)
        if all(got.get(where, NOTHING) != place.whole for where in (path, new)):
            yield (
                KEPT,
                f"{path} is lost: it {shown(got.get(path, NOTHING))}, and {new} {shown(got.get(new, NOTHING))}",
            )


def shown(content: Content) -> str:
    """What was found, in words."""
    if content is NOTHING:
        return "is not there"
    return "is a directory" if content is None else f"has {content!r}"


class _WrittenHistory(Struct, forbid_unknown_fields=True):
    """A history as it is written; a name with a slash at its end is that of a directory."""

    name: str
    before: dict[str, str]
    ops: tuple[tuple[str, ...], ...]

    @property
    def history(self) -> History:
        return History(
            {path.rstrip("/"): None if path.endswith("/") else text.encode() for path, text in self.before.items()},
            tuple(_step(*words) for words in self.ops),
        )


class HistoryFile(Struct, forbid_unknown_fields=True):
    """A file of histories. `also` names those of survival.toml that count as well."""

    history: tuple[_WrittenHistory, ...]
    also: tuple[str, ...] = ()
    calls: dict[str, str] = {}

    @property
    def by_name(self) -> Mapping[str, History]:
        """The histories by name."""
        return {one.name: one.history for one in self.history}


@functools.cache
def histories() -> Mapping[str, History]:
    """The histories by name."""
    return _read().by_name


def _step(op: str, *words: str) -> SurvivalStep:
    return SurvivalStep(op, words[:1], words[1].encode()) if op == "append" else SurvivalStep(op, words)


def changing() -> Mapping[str, str]:
    """The system calls that change something, each with what has to be in its line, a regular expression."""
    return _read().calls


def changes(call: str, line: str) -> bool:
    """Whether a system call of this line changes something."""
    return re.search(changing()[call], line) is not None


@functools.cache
def _read() -> HistoryFile:
    return typed_toml.read(Path(__file__).with_suffix(".toml"), HistoryFile)
