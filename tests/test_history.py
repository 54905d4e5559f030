"""What changed from one release to the next: which clauses, and the tables that say so."""

from pathlib import Path

import pytest
from msgspec.structs import replace

from tests.records import CLAUSES, GOOD, case
from tests.site.pages import put
from tffs_conformance.reports.document import load, write
from tffs_conformance.reports.model.records import CaseRecord
from tffs_conformance.reports.site.history import steps
from tffs_conformance.reports.site.markdown_history import differences, matrix
from tffs_conformance.reports.site.releases import Release, read
from third_party import history, judge, releases
from third_party.releases import BadTableError


def released(folder: Path, **versions: tuple[CaseRecord, ...]) -> list[Release]:
    """The releases of a plugin, the newest first: `v1` is release 1."""
    for name, cases in versions.items():
        put(folder, "mine", name.removeprefix("v"), *GOOD, *cases)
    return read(folder)["mine"]


def of(clause: str, verdict: str) -> tuple[CaseRecord, ...]:
    return (case("read/x", (clause, verdict)),)


@pytest.mark.parametrize(
    ("then", "now", "broken", "mended", "unseen"),
    [
        ("conform", "violation", ("read.succeeds",), (), ()),
        ("violation", "conform", (), ("read.succeeds",), ()),
        ("violation", "violation", (), (), ()),
        ("conform", "warning", (), (), ()),
    ],
)
def test_a_step_names_what_broke_and_what_was_mended(
    then: str, now: str, broken: tuple[str, ...], mended: tuple[str, ...], unseen: tuple[str, ...], tmp_path: Path
) -> None:
    (step,) = steps(released(tmp_path, v1=of("read.succeeds", then), v2=of("read.succeeds", now)))
    assert (step.then.version, step.now.version) == ("1", "2")
    assert (step.broke, step.mended, step.unseen) == (broken, mended, unseen)


def test_what_was_not_tried_is_neither_broken_nor_mended(tmp_path: Path) -> None:
    absent = (case("sync/x", ("sync.durable", "absent"), executed=False),)
    broken = (case("sync/x", ("sync.durable", "violation")),)
    (gone, new) = steps(released(tmp_path, v1=absent, v2=broken, v3=absent))
    assert (new.broke, new.mended, new.unseen) == ((), (), ())
    assert (gone.broke, gone.mended, gone.unseen) == ((), (), ("sync.durable",))


def test_what_only_a_new_case_shows_may_have_been_broken_before(tmp_path: Path) -> None:
    kept = of("read.succeeds", "conform")
    shown = (case("changes/x", ("read.succeeds", "violation")),)
    (step,) = steps(released(tmp_path, v1=kept, v2=(*kept, *shown)))
    assert (step.broke, step.new) == ((), ("read.succeeds",))


def test_a_clause_that_only_one_suite_has_changed_nothing(tmp_path: Path) -> None:
    old = {name: facts for name, facts in CLAUSES.items() if name != "read.hint"}
    put(tmp_path, "mine", "1", *GOOD[:1], clauses=old)
    put(tmp_path, "mine", "2", *GOOD, *of("read.hint", "violation"))
    (step,) = steps(read(tmp_path)["mine"])
    assert not step.broke


def test_the_matrix_has_a_row_for_each_release_of_what_has_several(tmp_path: Path) -> None:
    released(tmp_path, v1=of("read.succeeds", "violation"), v2=())
    put(tmp_path, "other", "1", *GOOD)
    head, line, newest, oldest = matrix(read(tmp_path)).splitlines()
    assert head.startswith("| plugin | release | loads in TensorFlow | datasets | checkpoints ")
    assert set(line) == set("|- ")
    assert newest == "| mine | [2](mine/2/report.json) | 2.2 to 2.3 | ? | ? | ? | ? | 0 | 1 | – |"
    assert oldest == "|  | [1](mine/1/report.json) | 2.2 to 2.3 | ? | ? | ? | ? | 1 |  |  |"
    told = differences(read(tmp_path))
    assert "### mine\n" in told
    assert "| 1 | 2 | `read.succeeds` | – | – |\n" in told
    assert "other" not in told


def test_reports_of_different_suites_are_not_compared(tmp_path: Path) -> None:
    (path,) = [one.path for one in released(tmp_path, v1=of("read.succeeds", "violation"))]
    found = load(path)
    write(replace(found, suite=replace(found.suite, version="another")), path.parent)
    released(tmp_path, v2=())
    newest, oldest = matrix(read(tmp_path)).splitlines()[2:]
    assert newest.endswith("| 0 | ? | ? |")
    assert oldest.endswith("| 1 |  |  |")
    assert "| 1 | 2 | not compared: different versions of the suite judged them | " in differences(read(tmp_path))


def test_a_page_gets_what_follows_from_the_reports_and_keeps_the_rest(tmp_path: Path) -> None:
    plugins = {"mine": released(tmp_path, v1=of("read.succeeds", "violation"), v2=())}
    begin = history.BEGIN.format("releases")
    page = f"# By hand\n\n{begin}\nold\n{history.END}\nBy hand, too.\n"
    filled = history.filled(page, plugins)
    assert filled == f"# By hand\n\n{begin}\n{matrix(plugins)}\n{history.END}\nBy hand, too.\n"
    assert history.filled(filled, plugins) == filled
    assert history.filled("# By hand\n", plugins) == "# By hand\n"


# the table of releases ------------------------------------------------------------------------------------------------


def test_every_release_of_the_table_can_be_meant() -> None:
    targets = list(history.targets(history.TARGETS))
    assert {target.name for target in targets} == set(history.TARGETS)
    for name in ("tensorflow-io", "tensorflow-io-gcs-filesystem", "tensorflow-cpu"):
        assert len(releases.package(name).releases) >= 4
    for target in targets:
        told = target.judged
        if target.library:
            assert f"--runtime={target.package.runtime_of(target.version)}" in told
            assert target.package.runtime_of(target.version).startswith(("stand-in", "tensorflow-cpu=="))
        else:
            assert f"--through=build/third_party/tensorflow-cpu-{target.version}/bin/python" in told
        assert ("--release=" in " ".join(target.command)) == (target.version != target.package.newest)


def test_a_release_that_is_not_in_the_table_is_refused() -> None:
    with pytest.raises(judge.BadTargetError, match=r"0\.1 is none of 0\.37\.1, "):
        judge.read("gs", "0.1")


def test_a_wrong_table_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(releases, "TABLE", tmp_path / "releases.toml")
    for text, why in (
        ("", "has no releases of x"),
        ("[x]\nruntime = 'a'", "has no releases of x"),
        ("[x]\nreleases = ['1']\nother = 1", "other"),
        ("[x]\nreleases = ['1']\nruntimes = {'2' = 'a'}", "a runtime for 2, which is not judged"),
        ("[x", "releases.toml"),
    ):
        releases.TABLE.write_text(text)
        with pytest.raises(BadTableError, match=why):
            releases.package("x")
