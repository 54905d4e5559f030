"""What is left when the power is lost: histories (`power.toml`), and what each step promises.

Only sync promises something. What close, flush and changes of names answer OK for may be lost, one by one, and may be
there: but what was durable before is not to be lost by any of them.
"""

import functools
from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace
from pathlib import Path

from ... import typed_toml
from . import survival
from .survival import NOTHING, AllowedContent, Content, History, Moment, State, SurvivalStep, is_of_core, shown

SYNCED, NAMED = "power.keeps-what-was-synced", "power.keeps-the-name"
KEPT, WHOLE = "power.keeps-what-was-there", "power.rename-is-whole"


@functools.cache
def histories() -> Mapping[str, History]:
    """The histories by name."""
    file = typed_toml.read(Path(__file__).with_suffix(".toml"), survival.HistoryFile)
    return {**{name: survival.histories()[name] for name in file.also}, **file.by_name}


def after(state: State, step: SurvivalStep) -> State:
    """What may be there once a step has answered OK."""
    path, last = step.paths[0], step.paths[-1]
    there = state.get(path, AllowedContent(NOTHING, ()))
    match step.op:
        case "new_writable_file":
            return {**state, path: AllowedContent(b"", (), grows=True, instead=_any(there) | {NOTHING})}
        case "new_appendable_file" if there.whole is NOTHING:
            return {**state, path: AllowedContent(b"", (), grows=True, instead=frozenset({NOTHING}))}
        case "new_appendable_file":
            return {**state, path: replace(there, grows=True)}
        case "append":
            assert isinstance(there.whole, bytes)
            return {**state, path: replace(there, whole=there.whole + step.data)}
        case "sync":
            return {**state, path: replace(there, promised=((SYNCED, there.whole),), instead=frozenset())}
        case "rename_file":
            return {**state, **_moved(state, path, last)}
        case "copy_file":
            return {**state, last: _unsure(there.whole, state.get(last))}
        case "create_dir" | "recursively_create_dir":
            return {**state, path: _unsure(None, state.get(path))}
        case "delete_file" | "delete_dir" | "delete_recursively":
            return {**state, **{old: _unsure(NOTHING, place) for old, place in _below(state, path).items()}}
        case _:
            # Nobody made anything durable.
            return state


def _moved(state: State, source: str, target: str) -> State:
    """What may be at both places of what is moved. What is durable is whole in its new place, once it is there."""
    changed: dict[str, AllowedContent] = {}
    for old, place in _below(state, source).items():
        new = target + old.removeprefix(source)
        changed[old] = _unsure(NOTHING, place)
        if _is_durable(place):
            before = state.get(new, AllowedContent(NOTHING, ()))
            changed[new] = AllowedContent(place.whole, ((WHOLE, place.whole),), instead=_any(before))
        else:
            changed[new] = _unsure(place.whole, state.get(new))
    return changed


def _is_durable(place: AllowedContent) -> bool:
    return any(least == place.whole for _, least in place.promised)


def _any(place: AllowedContent) -> frozenset[Content]:
    """What may be found where nothing more happens."""
    return frozenset({place.whole, *(least for _, least in place.promised)}) | place.instead


def _unsure(content: Content, before: AllowedContent | None) -> AllowedContent:
    """What may be this, and may be as it was."""
    return AllowedContent(content, (), grows=True, instead=_any(before) if before else frozenset({NOTHING}))


def _below(state: State, path: str) -> State:
    return {one: place for one, place in state.items() if one == path or one.startswith(path + "/")}


def at_stake(history: History, moment: Moment, own: Collection[str], *, names: bool) -> set[str]:
    """The clauses that a loss at this moment can break, with or without `names` that are not durable."""
    step = history.steps[moment.number]
    if is_of_core(step, own):
        return {KEPT}
    states = _states(history, own)[moment.number : moment.number + 2]
    # A rename promises the same while it is under way, and not to lose what it moves.
    if step.op != "rename_file":
        del states[not moment.answered]
    return {_of(clause, names) for state in states for place in state.values() for clause, _ in place.promised}


def _of(clause: str, names: bool) -> str:
    """The clause that is broken: without its name a file that was synced may be gone."""
    return NAMED if clause == SYNCED and not names else clause


def broken(
    history: History, moment: Moment, got: Mapping[str, bytes | None], own: Collection[str], *, names: bool
) -> Iterator[tuple[str, str]]:
    """The clauses that are broken by what is found after a loss, each with what is wrong.

    A step that was under way may have done its work, or not. Where no `names` are kept that are not durable, a file
    that was synced may be gone with its name.
    """
    step = history.steps[moment.number]
    of_core = is_of_core(step, own)
    state, then = _states(history, own)[moment.number : moment.number + 2]
    for path, place in sorted(then.items()):
        found: Content = got.get(path, NOTHING)
        now = place if moment.answered else state.get(path, AllowedContent(NOTHING, ()))
        clause = now.broken(found)
        # What core does in several steps is no work of the plugin.
        if of_core and any(path in _below(then, one) for one in step.paths):
            continue
        # Of what nobody promised nothing is wrong.
        if clause is None or place.broken(found) is None or clause == survival.EITHER:
            continue
        if now != place and step.op not in survival.ON_FILES:
            # What an op is to replace or to remove is promised by nobody any more, but for what is renamed.
            if not place.promised:
                continue
            clause = place.promised[0][0]
        yield _of(clause, names), f"{path} {shown(found)}"
    if step.op == "rename_file" and not of_core:
        for path, place in sorted(_below(state, step.paths[0]).items()):
            new = step.paths[1] + path.removeprefix(step.paths[0])
            here, there = got.get(path, NOTHING), got.get(new, NOTHING)
            if _is_durable(place) and place.whole not in (here, there):
                told = f"{path} is lost: it {shown(here)}, and {new} {shown(there)}"
                yield _of(place.promised[0][0], names), told


def _states(history: History, own: Collection[str]) -> list[State]:
    """What may be there before each step, and behind the last one. A NULL sync makes nothing durable."""
    states: list[State] = [
        {path: AllowedContent(content, ((KEPT, content),)) for path, content in history.before.items()}
    ]
    for step in history.steps:
        promises = step.op != "sync" or "sync" in own
        states.append(after(states[-1], step) if promises else states[-1])
    return states
