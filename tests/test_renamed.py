"""Words of before 1.0: they do what the new ones do, tell them in one line, and stand in no help."""

import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from tests.records import GOOD, broken, report_of
from tests.test_suite import run
from tffs_conformance.cli import COMMANDS, OLD, main
from tffs_conformance.cli.renamed import RENAMED
from tffs_conformance.reports.document import write
from tffs_conformance.reports.forms import FORMS

SMOKE = ("--plugin=posix", "--tier=smoke", "--case=read/plain")


def invoked(*arguments: object) -> Result:
    return CliRunner().invoke(main, list(map(str, arguments)))


def files(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_the_old_words_are_known_and_stand_in_no_help() -> None:
    assert {*OLD} == {*RENAMED}
    # In a process of its own: what other tests leave in this one, such as the language of Sphinx, is no matter of ours.
    program = Path(sys.executable).with_name("tffs-conformance")
    said = subprocess.run([program, "--help"], text=True, capture_output=True, check=True).stdout
    shown = said.partition("Commands:")[2]
    assert {line.split()[0] for line in shown.splitlines() if line.split()} == {*COMMANDS}


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("update-waivers {report} --waivers={out}/w.toml", "waive --sync {report} -o {out}/w.toml"),
        ("host --export={out}", "config --host={out}"),
        ("publish {report} --version=1 --into={out}", "published add {report} --version=1 --into={out}"),
        ("site {out}/s --published={published}", "published site {out}/s --published={published}"),
    ],
)
def test_an_old_word_does_what_the_new_one_does_and_tells_it(
    request: pytest.FixtureRequest, tmp_path: Path, old: str, new: str
) -> None:
    if old.startswith("host "):
        request.getfixturevalue("far_host")
    report = write(report_of(*GOOD, broken("read/x")), tmp_path)
    (tmp_path / "published").mkdir()
    assert invoked("published", "add", report, "--version=1", f"--into={tmp_path / 'published'}").exit_code == 0
    made = []
    for number, line in enumerate((old, new)):
        out = tmp_path / str(number)
        out.mkdir()
        given = line.format(report=report, out=out, published=tmp_path / "published")
        done = invoked(*given.split())
        assert done.exit_code == 0, done.output
        made.append((files(out), done.stdout.replace(str(out), "OUT"), done.stderr.replace(str(out), "OUT")))
    (old_files, old_said, told), (new_files, said, silent) = made
    assert old_files == new_files != {}
    assert old_said == said
    word = old.partition(" ")[0]
    assert told == f"note: '{word}' is '{RENAMED[word][2]}' now, and goes with the next release\n{silent}"


def test_what_an_old_word_did_not_take_it_does_not_take_now() -> None:
    assert "No such option" in invoked("host", "--includes").stderr
    assert "No such option" in invoked("update-waivers", __file__, "--sync").stderr


def test_the_forms_of_a_report_are_one_option(tmp_path: Path) -> None:
    every = ",".join(form.name for form in FORMS)
    done = run(tmp_path, *SMOKE, f"--report={every}")
    assert "note: " not in done.stderr
    assert {form.file for form in FORMS} <= {path.name for path in (tmp_path / "tffs-report").iterdir()}


def test_the_option_is_given_several_times_or_with_commas(tmp_path: Path) -> None:
    run(tmp_path, *SMOKE, "--report=badge", "--report=junit,badge")
    written = {path.name for path in (tmp_path / "tffs-report").iterdir()}
    assert written & {form.file for form in FORMS} == {"badge.svg", "junit.xml"}


@pytest.mark.parametrize(
    ("given", "why"), [("--report=pdf", "--report=pdf: choose from html, markdown, "), ("--report=", "has no value")]
)
def test_a_form_that_is_none_is_refused(tmp_path: Path, given: str, why: str) -> None:
    done = run(tmp_path, *SMOKE, given)
    assert done.returncode == 4
    assert why in done.stderr


def test_an_old_option_works_and_tells_the_new_one(tmp_path: Path) -> None:
    done = run(tmp_path, *SMOKE, "--report-badge", "--report-junit", "--report=shields")
    told = [line for line in done.stderr.splitlines() if line.startswith("note: ")]
    assert told == ["note: --report-junit --report-badge is --report=junit,badge now, and goes with the next release"]
    written = {path.name for path in (tmp_path / "tffs-report").iterdir()}
    assert written & {form.file for form in FORMS} == {"badge.svg", "junit.xml", "badge.json"}
    shown = run(tmp_path, "--help", "--plugin=posix").stdout
    assert "--report=FORMS" in shown
    assert [form.name for form in FORMS if f"--report-{form.name}" in shown] == []
