"""Waivers: what they accept, and when they make a run fail themselves."""

import subprocess
import tomllib
from pathlib import Path
from typing import Any

import pytest

from tests.commands import output_of
from tests.test_suite import refused, report, run

CLAUSE = "create_dir.missing-parent-is-not-found"
#: A plugin that breaks this clause, and nothing that these selections look at.
PLUGIN = ("--plugin=fakes/faulty", "--env=TFFS_FAULT=create_dir.makes-parents")
SELECTION = f"--clause={CLAUSE}"


def entry(**changes: Any) -> str:
    """One entry that fits, but for the changes; None leaves a key out."""
    keys = {"clause": CLAUSE, "case": "*", "fingerprint": "code=OK", "reason": "no parents", "owner": "us"} | changes
    return "[[waiver]]\n" + "".join(
        f"{key} = {value}\n" if key == "expires" else f'{key} = "{value}"\n'
        for key, value in keys.items()
        if value is not None
    )


def judged(directory: Path, waivers: str | None, *arguments: str) -> subprocess.CompletedProcess[str]:
    if waivers is not None:
        (directory / "waivers.toml").write_text(waivers)
    return run(directory, *(arguments or (*PLUGIN, SELECTION)), "--waivers=waivers.toml")


def updated(directory: Path, *arguments: str) -> str:
    """Have the file say what the report found; what that prints."""
    path = directory / "tffs-report/report.json"
    return output_of("waive", "--sync", path, f"-o{directory / 'waivers.toml'}", *arguments)


def states(directory: Path) -> list[str]:
    return [account["state"] for account in report(directory)["waivers"]]


def test_a_waived_violation_is_accepted_and_only_what_ran_is_judged(tmp_path: Path) -> None:
    elsewhere = entry(clause="delete_file.deletes", case="tree/*", fingerprint="gone")
    done = judged(tmp_path, entry() + elsewhere)
    assert done.returncode == 0, done.stdout[-3000:]
    found = report(tmp_path)
    assert found["waivers"][0]["waived"] == found["counts"]["waived"] > 1
    assert (found["counts"]["violation"], states(tmp_path)) == (0, ["used", "not judged"])
    assert f"{found['counts']['waived']} xfailed" in done.stdout


@pytest.mark.parametrize(
    ("tier", "fault", "some"),
    [
        ("smoke", "path_exists.keeps-status", "--case=metadata/*"),
        pytest.param("quick", "create_dir.makes-parents", "--clause=create_dir.*", marks=pytest.mark.nightly),
    ],
)
def test_waived_run_is_conformant_also_with_workers(tmp_path: Path, tier: str, fault: str, some: str) -> None:
    whole = ("--plugin=fakes/faulty", f"--env=TFFS_FAULT={fault}", f"--tier={tier}")
    broken = (*whole, some)
    assert run(tmp_path, *broken).returncode == 1
    updated(tmp_path)
    waived = []
    # Nobody else sees its storage, which leaves nothing open.
    selection = (*broken, "-n", "2", "--report-dir=tffs-report")
    for arguments in ((*whole, "--backing=none"), selection):
        done = judged(tmp_path, None, *arguments)
        assert done.returncode == 0, done.stdout[-3000:]
        found = report(tmp_path)
        assert set(states(tmp_path)) == {"used"}
        waived.append((found["verdict"], found["counts"]["waived"]))
    assert waived == [("conformant with waivers", waived[0][1]), ("incomplete", waived[0][1])]


def test_a_crash_can_be_waived(tmp_path: Path) -> None:
    crash = ("--plugin=fakes/faulty", "--env=TFFS_FAULT=crash:get_children", "--clause=get_children.names-only")
    assert run(tmp_path, *crash).returncode == 1
    updated(tmp_path)
    assert "robustness.no-crash" in (tmp_path / "waivers.toml").read_text()
    done = judged(tmp_path, None, *crash)
    found = report(tmp_path)
    assert (found["verdict"], found["counts"]["violation"]) == ("incomplete", 0), done.stdout
    assert set(states(tmp_path)) == {"used"}
    assert "MUST clauses not run in a case: " in found["reason"]
    assert done.returncode == 0


#: Another clause that the plugin keeps, and cases that the selection runs.
OTHER = {"clause": "create_dir.error-changes-nothing", "case": "status/one-path[create_dir-missing-parent*"}
#: What makes a run fail: the file, and what the summary says of the entry.
STALE = {
    "unneeded": (entry() + entry(**OTHER), [OTHER["clause"], "unneeded", "remove it"]),
    "expired": (entry(expires="2020-01-31"), [CLAUSE, "expired"]),
    "expired-and-unneeded": (entry() + entry(**OTHER, expires="2020-01-31"), [OTHER["clause"], "expired"]),
    "changed": (
        entry(case=OTHER["case"], fingerprint="code=UNKNOWN"), [CLAUSE, "fingerprint changed", "code=OK"],
    ),
}  # fmt: skip


@pytest.mark.parametrize("why", STALE)
def test_an_entry_that_is_no_longer_right_fails_the_run(tmp_path: Path, why: str) -> None:
    text, words = STALE[why]
    workers = ("-n", "1") if why == "unneeded" else ()
    done = judged(tmp_path, text, *PLUGIN, SELECTION, *workers)
    assert done.returncode == 1
    section = " ".join(done.stdout.partition("waivers:")[2].partition("disputed")[0].split())
    assert [word for word in words if word not in section] == []
    updated(tmp_path, "--owner=them")
    again = judged(tmp_path, None, *PLUGIN, SELECTION, *workers)
    assert again.returncode == 0, again.stdout[-3000:]
    entries = tomllib.loads((tmp_path / "waivers.toml").read_text())["waiver"]
    assert [(one["clause"], one["fingerprint"]) for one in entries if one["owner"] == "us"] == [(CLAUSE, "code=OK")]


def test_what_a_part_of_its_cases_shows_otherwise_changes_no_entry(tmp_path: Path) -> None:
    assert judged(tmp_path, entry(fingerprint="code=UNKNOWN")).returncode == 1
    assert states(tmp_path) == ["not judged"]
    updated(tmp_path)
    entries = tomllib.loads((tmp_path / "waivers.toml").read_text())["waiver"]
    assert [(one.get("case", "*"), one["fingerprint"]) for one in entries[:1]] == [("*", "code=UNKNOWN")]
    assert {one["fingerprint"] for one in entries[1:]} == {"code=OK"}


def test_entry_that_fits_no_case_is_a_usage_error(tmp_path: Path) -> None:
    (tmp_path / "waivers.toml").write_text(entry(case="no/such*"))
    said = refused(tmp_path, "waiver 1", *PLUGIN, SELECTION, "--waivers=waivers.toml")
    assert (len(said.strip().splitlines()), "no/such*" in said) == (1, True)


def test_what_is_kept_stays_as_it_was_written(tmp_path: Path) -> None:
    said = '""café \\t\n[[waiver]]\n""'
    # Some violations have no entry yet.
    ours = entry(reason=said, case="status/one-path[create_dir-missing-parent-d*").replace("owner =", "owner  =")
    kept = f"# Ours since 2024.\n{ours}# more\n"
    gone = "\n# Was it ever true?\n" + entry(**OTHER)
    unknown = entry(clause="no.such")
    assert run(tmp_path, *PLUGIN, SELECTION).returncode == 1
    (tmp_path / "waivers.toml").write_text("# Head.\n\n# Nor this.\n" + unknown + kept + gone)
    options = ("--owner=them", '--reason=a "quoted" reason', "--issue=https://example.org/1")
    assert "dropped  no.such" in updated(tmp_path, *options)
    text = (tmp_path / "waivers.toml").read_text()
    assert text.startswith("# Head.\n\n" + kept)
    assert "Was it ever true" not in text
    added = [one for one in tomllib.loads(text)["waiver"] if one["owner"] == "them"]
    assert {(one["reason"], one["issue"]) for one in added} == {('a "quoted" reason', "https://example.org/1")}


def test_one_file_serves_several_targets(tmp_path: Path) -> None:
    done = judged(tmp_path, entry(), "--plugin=posix", *PLUGIN, SELECTION)
    assert done.returncode == 0, done.stdout[-3000:]
