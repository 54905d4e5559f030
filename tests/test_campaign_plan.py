"""The plan of a campaign: what it may say, what is wrong with others, and the tasks that it comes to."""

from pathlib import Path

import pytest

from tests.commands import output_of
from tffs_conformance.campaign.plan import BadPlanError, Plan, parsed, read
from tffs_conformance.campaign.tasks import BLOCK, Block, Task, arguments, blocks, in_turn, total

SMALL = 'name = "p"\n[[target]]\nname = "a"\nplugin = "posix"\n'


def plan(text: str = SMALL, folder: Path | None = None, tmp_path: Path | None = None) -> Plan:
    place = folder or tmp_path
    assert place is not None
    (place / "plan.toml").write_text(text)
    return read(place / "plan.toml")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("name = ", "is no TOML"),
        ('name = "p"', "missing required field `target`"),
        ('name = "p"\ntarget = []', "target: Expected `array` of length >= 1"),
        (SMALL.replace('"p"', '"a/b"'), "name: Expected `str` matching regex"),
        (f"shard = 3\n{SMALL}", "unknown field `shard`"),
        (f'tier = "all"\n{SMALL}', "tier: Invalid enum value 'all'"),
        (f"shards = -1\n{SMALL}", "shards: Expected `int` >= 0"),
        (f"shards = 0\n{SMALL}", "there is nothing to do"),
        (f"{SMALL}[stop]\nhours = 0\n", "stop.hours: Expected `float` > 0.0"),
        (f"{SMALL}[histories]\nseed = 3\n", "histories: Object contains unknown field `seed`"),
        (f'{SMALL}profile = "x"\n', "'a' needs either `plugin` or `profile`"),
        (f'{SMALL}options = ["--seed=3"]\n', "'a' has the option '--seed=3', which a campaign gives itself"),
        (f'{SMALL}options = ["tests"]\n', "'a' has the option 'tests'"),
        (f'tier = "smoke"\n{SMALL}[histories]\nseeds = 3\n', "no case of the tier smoke fits 'properties/*'"),
        (f'{SMALL}[histories]\nseeds = 3\ncases = ["nope*"]\n', "no case of the tier full fits 'nope*'"),
        (SMALL + SMALL.partition("\n")[2], "the target 'a' is named twice"),
    ],
)
def test_a_plan_that_is_wrong_is_told_in_a_sentence(tmp_path: Path, text: str, words: str) -> None:
    path = tmp_path / "plan.toml"
    path.write_text(text)
    done = output_of("campaign", path, f"--store={tmp_path / 'store'}", code=4)
    assert words in done
    assert len(done.splitlines()) == 1
    assert not (tmp_path / "store").exists()


def test_a_plan_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(BadPlanError, match="cannot be read: No such file"):
        read(tmp_path / "gone.toml")


def test_targets_are_crossed_with_conditions(tmp_path: Path) -> None:
    text = (
        f'{SMALL}environment = {{A = "1", S = "{{seed}}"}}\noptions = ["--host-scope=module"]\n'
        '[[target]]\nname = "b"\nprofile = "posix-like"\nscheme = "b"\n'
        '[[condition]]\nname = "x"\nenvironment = {A = "2"}\noptions = ["--undefined"]\n[[condition]]\nname = "y"\n'
    )
    found = plan(text, tmp_path)
    assert [target.name for target in found.judged] == ["a.x", "a.y", "b.x", "b.y"]
    first, *_, last = found.judged
    given = arguments(found, first, Task("a.x", "seed", 7))
    assert given == ["--tier=full", "--plugin=posix", "--env=A=2", "--env=S=7", "--host-scope=module", "--undefined",
                     "--case=properties/*", "--seed=7", "--examples=100"]  # fmt: skip
    assert arguments(found, last, Task("b.y", "shard", 3)) == [
        "--tier=full", "--scheme=b", "--plugin-profile=posix-like", "--shard=3/8",
    ]  # fmt: skip


def test_paths_are_those_beside_the_plan(tmp_path: Path) -> None:
    (tmp_path / "libx.so").touch()
    plugins = {given: plan(SMALL.replace('"posix"', f'"{given}"'), tmp_path).targets[0].plugin
               for given in ("posix", "libx.so", "./liby.so", "/z.so", "fakes/faulty")}  # fmt: skip
    assert plugins == {
        "posix": "posix",
        "libx.so": f"{tmp_path}/libx.so",
        "./liby.so": f"{tmp_path}/liby.so",
        "/z.so": "/z.so",
        "fakes/faulty": "fakes/faulty",
    }


def test_what_makes_it_another_plan() -> None:
    def identity(**more: object) -> str:
        return parsed({"name": "p", "target": [{"name": "a", "plugin": "x"}], **more}, "p").identity

    assert identity() == identity(stop={"hours": 1}) == identity(minutes=5)
    assert len({identity(), identity(shards=9), identity(histories={"seeds": 1}), identity(tier="must")}) == 4


def test_all_tasks_are_in_one_block(tmp_path: Path) -> None:
    text = f'{SMALL}[[target]]\nname = "b"\nplugin = "memory"\n[histories]\nseeds = {2 * BLOCK + 5}\n'
    found = plan(text, tmp_path)
    tasks = [Task(block.target, block.kind, number) for block in blocks(found) for number in block.tasks(found)]
    assert len(tasks) == len({task.id for task in tasks}) == total(found) == 2 * (8 + 2 * BLOCK + 5)
    assert all(task.number in task.block.tasks(found) for task in tasks)
    assert list(blocks(found))[:2] == [Block("a", "shard", 0), Block("b", "shard", 0)]


def test_targets_take_turns() -> None:
    one, two = ([Task(name, "seed", number) for number in range(count)] for name, count in (("a", 3), ("b", 1)))
    assert [task.target for task in in_turn([one, two])] == ["a", "b", "a", "a"]
