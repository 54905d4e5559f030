"""Profiles: what a target claims decides what is held against it, in both directions."""

import fnmatch
import tomllib
from pathlib import Path
from typing import Any

import pytest

from tests.commands import output_of
from tests.test_suite import judged_report, refused, report, run
from tffs_conformance.harness.ops.tables import OPS
from tffs_conformance.harness.targets import profile
from tffs_conformance.harness.targets.profile import ProfileError
from tffs_conformance.harness.targets.shipped import ENTRY_POINTS, plugin_path
from tffs_conformance.reports.model.verdicts import Verdict
from tffs_conformance.suite.contract import claims
from tffs_conformance.suite.contract.catalogue import catalogue
from tffs_conformance.suite.contract.claims import Claims, UnknownClaimError
from tffs_conformance.suite.judge import checks
from tffs_conformance.suite.judge.evidence import Statement

STORE = "--plugin=objectstore_minimal"
#: Nobody else sees what is in it.
ALONE = "--backing=none"
MUST = "--tier=quick"


# Tests come in random order, and what belongs to a module ends with each change to another one.
@pytest.fixture(scope="session")
def both(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, Any]]:
    """The store, as each profile sees it."""
    return {
        name: judged_report(tmp_path_factory.mktemp(name), STORE, ALONE, f"--plugin-profile={name}", MUST,
                            code=int(name != "object-store"))
        for name in profile.shipped()
    }  # fmt: skip


def states(document: dict[str, Any]) -> dict[str, str]:
    """The state of each claim, by its name."""
    return {claim["name"]: claim["state"] for claim in document["claims"]}


def verdicts(document: dict[str, Any]) -> dict[tuple[str, str], list[str]]:
    found: dict[tuple[str, str], list[str]] = {}
    for case in document["cases"]:
        for check in case["checks"]:
            # The others say that a case did not come to them.
            if "expected" in check:
                found.setdefault((case["id"], check["clause"]), []).append(check["verdict"])
    return found


#: Tests that look at the same two reports.
of_both = pytest.mark.xdist_group("profiles")


@pytest.mark.nightly
@pytest.mark.parametrize("seed", [0, 1])
def test_histories_ask_a_store_without_directories_only_what_its_profile_promises(tmp_path: Path, seed: int) -> None:
    arguments = ("--plugin-profile=object-store", "--case=properties/*", f"--seed={seed}")
    document = judged_report(tmp_path, STORE, ALONE, *arguments)
    assert {case["verdict"] for case in document["cases"]} == {"conform"}


@pytest.mark.nightly
@of_both
def test_the_checks_that_differ_are_the_disputed_and_the_claimed_ones(both: dict[str, dict[str, Any]]) -> None:
    store, disk = (verdicts(both[name]) for name in ("object-store", "posix-like"))
    # What is not looked at in one of them, because a history ended before, says nothing where it was kept in the other.
    kept = ["conform"]
    differing = {clause for case, clause in store.keys() | disk.keys()
                 if set(store.get((case, clause), kept)) != set(disk.get((case, clause), kept))}  # fmt: skip
    named = {
        *(f"{op}.below-a-file-is-failed-precondition" for op in (
            "copy_file", "create_dir", "delete_dir", "delete_file", "delete_recursively", "get_children",
            "new_random_access_file", "new_read_only_memory_region_from_file", "new_writable_file",
            "recursively_create_dir", "rename_file",
        )),
        *(f"{op}.missing-parent-is-not-found"
          for op in ("copy_file", "create_dir", "new_writable_file", "rename_file")),
        "paths.far-below-a-file",
        "new_appendable_file.succeeds",
        "flush.makes-data-visible",
        "sync.makes-data-visible",
        "scenarios.event-file-is-followed",
    }  # fmt: skip
    # Whether a reader meets a rename in its midst is up to both.
    assert differing - {"scenarios.state-file-is-always-there", "rename_file.error-changes-nothing"} == named
    # Each of them is one on which the two profiles claim something else, or what an OK did that is wrong on a disk.
    differing -= {"rename_file.error-changes-nothing"}
    on = {name: {one.claim: one for one in claims.stated(profile.read(name).claims)} for name in profile.shipped()}
    apart = [one for stated in on.values() for claim, one in stated.items()
             if any(other.get(claim) is not one for other in on.values())]  # fmt: skip
    claimed = {name for one in apart for name in (*one.clauses, *one.readings, *(f"{op}.succeeds" for op in one.ops))}
    assert differing <= claimed
    # And nothing that the store can do is judged otherwise.
    for key in store.keys() & disk.keys():
        if key[1] not in claimed:
            assert set(store[key]) == set(disk[key])


@pytest.mark.nightly
@of_both
def test_a_store_is_conformant_as_a_store_and_not_as_a_disk(both: dict[str, dict[str, Any]]) -> None:
    assert [both[name]["verdict"] for name in ("object-store", "posix-like")] == ["conformant", "not conformant"]
    assert not both["object-store"]["counts"]["violation"] + both["object-store"]["counts"]["error"]
    # What is given up is absent, with the claim as its reason.
    found = {case["id"]: (case["verdict"], case["reason"]) for case in both["object-store"]["cases"]}
    emulated = ("absent", "the profile claims directories = emulated")
    assert found["move/refused[copy_file-below-a-file]"] == emulated
    assert found["sizes/append[0]"] == ("absent", "the profile claims append = false")
    store, disk = states(both["object-store"]), states(both["posix-like"])
    assert store["directories"] == store["visibility"] == "kept"
    assert disk["directories"] == disk["append"] == disk["visibility"] == "broken"


@pytest.mark.nightly
def test_a_disk_is_conformant_as_a_disk(tmp_path: Path) -> None:
    found = judged_report(tmp_path, "--plugin=posix", "--plugin-profile=posix-like", MUST)
    assert found["verdict"] == "conformant"
    claimed = states(found)
    # What takes threads is checked in the tier full.
    assert claimed.pop("atomic_rename") == "unchecked"
    assert {*claimed.values()} == {"kept"}
    assert found["target"]["profile"] == "posix-like"


def test_a_disk_that_claims_to_be_a_store_is_under_declared(tmp_path: Path) -> None:
    some = [f"--clause={one}" for one in ("*.missing-parent-*", "*.below-a-file-*", "new_appendable_file.*", "flush.*")]
    done = run(tmp_path, "--plugin=posix", "--plugin-profile=object-store", MUST, *some)
    assert done.returncode == 0, done.stdout[-2000:]
    under = {name for name, state in states(report(tmp_path)).items() if state == "under-declared"}
    assert under == {"directories", "append", "visibility"}
    assert "under-declared: append = false" in done.stdout


@pytest.mark.parametrize(("semantics", "state"), [("posix-like", "kept"), ("object-store", "under-declared")])
def test_whether_renames_are_atomic_is_found_out_with_threads(tmp_path: Path, semantics: str, state: str) -> None:
    asked = (f"--plugin-profile={semantics}", "--clause=rename_file.is-atomic")
    assert states(judged_report(tmp_path, "--plugin=posix", *asked))["atomic_rename"] == state


@pytest.mark.parametrize(
    ("choices", "claim", "asked", "state"),
    [
        ("locked-files:UNAVAILABLE", 'open_files = "free"', "--case=lifetimes/path-*", "broken"),
        ("locked-files:UNAVAILABLE", 'open_files = "locked"', "--case=lifetimes/path-*", "kept"),
        ("ascii-names", 'names = "bytes"', "--case=names/file[co*", "broken"),
        ("windows-names", 'names = "ascii"', "--case=names/file[co*", "broken"),
        ("windows-names", 'names = "windows"', "--case=names/file[co*", "kept"),
        ("", 'names = "utf-8"', "--case=names/file[not-utf-8]", "under-declared"),
        ("no-sync", "read_only = true", "--tier=smoke", "under-declared"),
        ("no-sync", "read_only = false", "--tier=smoke", "kept"),
        ("denied:delete_file,denied:rename_file", "read_only = true", "--tier=smoke", "kept"),
        ("read-only", "read_only = false", "--tier=smoke", "broken"),
    ],
)
def test_claim_of_a_choice_is_checked_both_ways(
    tmp_path: Path, choices: str, claim: str, asked: str, state: str
) -> None:
    (tmp_path / "mine.toml").write_text(f"[claims]\n{claim}\n")
    plugin = ("--plugin=posix_choices", f"--env=TFFS_CHOICES={choices}", "--backing=file://{path}")
    found = judged_report(tmp_path, *plugin, "--plugin-profile=mine.toml", asked, code=int(state == "broken"))
    assert {*states(found).values()} == {state}


@pytest.mark.parametrize(("op", "kind"), [("delete_file", "file"), ("stat", "directory")])
def test_name_beyond_the_claim_is_judged_where_it_is_taken(tmp_path: Path, op: str, kind: str) -> None:
    (tmp_path / "mine.toml").write_text('[claims]\nnames = "windows"\n')
    plugin = ("--plugin=fakes/faulty", f"--env=TFFS_FAULT=spaces-trimmed:{op}", "--plugin-profile=mine.toml")
    found = judged_report(tmp_path, *plugin, f"--case=names/{kind}[trailing-space]", code=1)
    assert found["clauses"]["paths.names-are-kept"]["verdict"] == "violation"


FLAT = (STORE, ALONE, "--env=TFFS_DIRECTORIES=none")


@pytest.fixture
def flat(tmp_path: Path) -> str:
    """The option of a profile that claims that there are no directories."""
    path = tmp_path / "flat.toml"
    path.write_text('semantics = "object-store"\n[claims]\ndirectories = "none"\n')
    return f"--plugin-profile={path}"


@pytest.mark.parametrize("makes", ["none", "nothing"])
@pytest.mark.parametrize(("tier", "least"), [("smoke", 20), pytest.param("full", 1500, marks=pytest.mark.nightly)])
def test_store_without_directories_is_judged_on_its_files(
    flat: str, tmp_path: Path, tier: str, least: int, makes: str
) -> None:
    found = judged_report(tmp_path, *FLAT[:2], f"--env=TFFS_DIRECTORIES={makes}", f"--tier={tier}", flat)
    assert found["verdict"] == "conformant"
    assert found["counts"]["conform"] > least
    assert not [case["id"] for case in found["cases"] if case["verdict"] == "error"]


@pytest.mark.parametrize(
    ("tier", "verdict"), [("smoke", "not conformant"), pytest.param("quick", "incomplete", marks=pytest.mark.nightly)]
)
def test_store_without_directories_needs_a_profile(tmp_path: Path, tier: str, verdict: str) -> None:
    found = judged_report(tmp_path, *FLAT, f"--tier={tier}", code=1)
    assert (found["verdict"], found["counts"]["violation"]) == (verdict, 0)
    assert found["counts"]["not run"] > (found["counts"]["conform"] if tier == "smoke" else 1000)


def test_histories_that_a_profile_leaves_open_are_absent(flat: str, tmp_path: Path) -> None:
    found = judged_report(tmp_path, *FLAT, "--case=properties/*", "--examples=5", flat)
    assert found["counts"]["error"] == 0
    absent = {case["id"] for case in found["cases"] if case["verdict"] == "absent"}
    assert absent == {
        "properties/patterns", "properties/spellings", "properties/crowded", "properties/tour[far-down]",
    }  # fmt: skip


def test_cases_of_directories_are_absent_where_none_is_made(flat: str, tmp_path: Path) -> None:
    about = ("races/mixed[0]", "races/no-change-is-lost[directories]", "leaks/situations[new_writable_file-there]")
    store = (*FLAT[:2], "--env=TFFS_DIRECTORIES=nothing", flat)
    found = judged_report(tmp_path, *store, *(f"--case={case}" for case in about), code=1)
    assert {case["id"]: case["verdict"] for case in found["cases"]} == dict.fromkeys(about, "absent")


def test_disk_claiming_no_directories_is_one_finding(flat: str, tmp_path: Path) -> None:
    found = judged_report(tmp_path, "--plugin=posix", flat, "--tier=smoke", code=1)
    assert found["counts"]["error"] == 0
    broken = {check["clause"] for case in found["cases"] for check in case["checks"] if check["verdict"] == "violation"}
    assert broken == {"new_writable_file.succeeds"}


def test_a_claim_that_is_not_kept_is_a_violation(tmp_path: Path) -> None:
    (tmp_path / "claims.toml").write_text('[claims]\nis_directory_on_file = "header"\nrename_directories = true\n')
    # Most cases of rename_file are about what succeeds.
    asked = ("--clause=is_directory.*", "--clause=rename_file.*-is-*", MUST)
    found = judged_report(tmp_path, "--plugin=posix", "--plugin-profile=claims.toml", *asked, code=1)
    broken = {check["clause"]: check for case in found["cases"] for check in case["checks"]
              if check["verdict"] == "violation"}  # fmt: skip
    assert set(broken) == {"is_directory.of-a-file", "rename_file.directory-is-failed-precondition"}
    assert broken["is_directory.of-a-file"]["expected"] == "header, as the profile claims is_directory_on_file = header"


def test_a_profile_names_the_plugin_and_how_to_reach_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CI_VALUE", "create_dir.makes-parents")
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "profile.toml").write_text(
        'semantics = "posix-like"\n[plugin]\npath = "fakes/faulty"\nroot = "faulty:///tmp/from-profile"\n'
        '[env]\nTFFS_FAULT = {from = "CI_VALUE"}\nOTHER = "plain"\n[claims]\nappend = false\n'
    )
    given = ("--plugin-profile=mine/profile.toml", "--clause=create_dir.missing-parent-*")
    found = judged_report(tmp_path, *given, code=1)
    assert found["target"]["root"].startswith("faulty:///tmp/from-profile/")
    assert found["target"]["environment"] == ["OTHER", "TFFS_FAULT"]
    assert found["suite"]["command"] == ["pytest", "--plugin-profile=mine/profile.toml"]
    assert {claim["name"]: claim["value"] for claim in found["claims"]}["append"] is False
    for written in (tmp_path / "tffs-report").iterdir():
        assert "makes-parents" not in written.read_text()
    found = judged_report(tmp_path, *given, "--env=TFFS_FAULT=", "--root=faulty:///tmp/from-option")
    assert found["target"]["root"].startswith("faulty:///tmp/from-option/")


@pytest.mark.parametrize(
    ("returned", "code", "said"),
    [
        ("pathlib.Path(__file__).with_name('mine.toml')", 0, ""),
        (repr(str(plugin_path("posix"))), 0, ""),
        ("'/no/such.so'", 4, "--plugin=mine: there is no /no/such.so: build it first"),
        ("'/no/such.toml'", 4, "--plugin=mine: /no/such.toml: there is no such file"),
        ("1 / 0", 4, "--plugin=mine: mine_plugin:plugin_path cannot be called: ZeroDivisionError"),
    ],
)
def test_distribution_declares_a_plugin(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, returned: str, code: int, said: str
) -> None:
    info = tmp_path / "mine-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: mine\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(f"[{ENTRY_POINTS}]\nmine = mine_plugin:plugin_path\n")
    (tmp_path / "mine_plugin.py").write_text(f"import pathlib\n\ndef plugin_path():\n    return {returned}\n")
    (tmp_path / "mine.toml").write_text(f'[plugin]\npath = "posix"\nroot = "posix://{tmp_path}/root"\n')
    done = run(tmp_path, "--plugin=mine", "--case=read/plain", code=code, PYTHONPATH=str(tmp_path))
    assert said in done.stderr
    if not code:
        target = report(tmp_path)["target"]
        assert (target["name"], target["profile"]) == ("posix", "mine" if "toml" in returned else None)
        assert target["root"].startswith(f"posix://{tmp_path}/root/") is ("toml" in returned)
    monkeypatch.syspath_prepend(tmp_path)
    lines = output_of("list", "--plugins").splitlines()
    assert f"{'mine':<20} mine, mine_plugin:plugin_path" in lines
    assert f"{'fakes/null':<20} ships with tffs-conformance" in lines


def test_plugins_and_profiles_pair_up(tmp_path: Path) -> None:
    done = run(tmp_path, "--plugin=posix", STORE, "--plugin-profile=posix-like", "--plugin-profile=object-store",
               "--clause=create_dir.missing-parent-is-not-found", "--clause=delete_dir.succeeds")  # fmt: skip
    assert done.returncode == 0, done.stdout[-2000:]


#: What is wrong with a profile, and what the one sentence about it names.
WRONG = {
    "[claims]\nappends = true\n": ["appends", "append,", "; did you mean append"],
    '[claims]\nappend = "yes"\n': ["append", "true, false"],
    "[claims]\nappend = 1\n": ["append"],
    '[claims]\ndirectories = "flat"\n': ["directories", '"real", "emulated"'],
    'semantics = "windows-like"\n': ["windows-like", "posix-like"],
    'semantic = "posix-like"\n': ["semantic", "semantics"],
    "[plugins]\n": ["plugins", "plugin"],
    '[plugin]\nname = "x"\n': ["name", "path"],
    "[limits]\nmax_paths = 3\n": ["max_paths", "max_path"],
    '[limits]\nmax_path = "3"\n': ["max_path"],
    "[env]\nNAME = 3\n": ["NAME"],
    '[env]\nNAME = {from = "NO_SUCH_VARIABLE"}\n': ["NAME", "NO_SUCH_VARIABLE"],
    "[services]\ncompose = 3\n": ["services", "compose"],
    "claims = 3\n": ["claims"],
    "[claims\n": ["TOML"],
}


@pytest.mark.parametrize("text", WRONG, ids=[text.strip().replace("\n", " ") for text in WRONG])
def test_what_can_be_seen_to_be_wrong_is_named(tmp_path: Path, text: str) -> None:
    (tmp_path / "mine.toml").write_text(text)
    with pytest.raises((ProfileError, UnknownClaimError)) as wrong:
        claims.stated(profile.read(str(tmp_path / "mine.toml")).claims)
    said = str(wrong.value)
    assert [word for word in WRONG[text] if word not in said] == []
    assert "\n" not in said


@pytest.mark.parametrize("text", [next(iter(WRONG)), "[claims\n"])
def test_it_is_a_usage_error(tmp_path: Path, text: str) -> None:
    (tmp_path / "mine.toml").write_text(text)
    said = refused(tmp_path, "mine.toml", "--plugin=posix", "--plugin-profile=mine.toml")
    assert len(said.strip().splitlines()) == 1
    assert [word for word in WRONG[text] if word not in said] == []
    # So is one without a plugin.
    refused(tmp_path, "names no plugin", "--plugin-profile=posix-like")


def test_limits_leave_out_what_needs_more(tmp_path: Path) -> None:
    limits = "[limits]\nmax_name = 200\nmax_file_size = 100000\nmtime_granularity_ns = 1000000000\n"
    (tmp_path / "limits.toml").write_text(limits)
    limited = ("--plugin=posix", "--plugin-profile=limits.toml")
    found = judged_report(tmp_path, *limited, MUST, "--case=sizes/whole*", "--case=names/file*")
    assert found["verdict"] == "incomplete"
    cases = {case["id"]: case for case in found["cases"]}
    # What a name that is too long answers is a clause of its own.
    for case, verdict in (
        ("sizes/whole[1048576]", "absent"), ("sizes/whole[4096]", "conform"), ("names/file[256-bytes]", "tolerated"),
    ):  # fmt: skip
        assert cases[case]["verdict"] == verdict
    assert cases["sizes/whole[1048576]"]["reason"].startswith("the profile limits max_file_size to 100000")
    # Of one that is taken, and that the profile leaves out, nothing else is asked.
    assert cases["names/file[255-bytes]"]["reason"].startswith("the profile limits max_name to 200")
    asked = {check["clause"] for check in cases["names/file[255-bytes]"]["checks"] if check["verdict"] != "absent"}
    assert asked <= {"paths.illegal-names", "paths.names-are-kept"}
    (tmp_path / "limits.toml").write_text("[limits]\nmtime_granularity_ns = 1\nmax_path = 40\n")
    # Nothing is executed.
    found = judged_report(tmp_path, *limited, "--case=sizes/whole[4096]", code=1)
    assert found["counts"]["absent"]
    (tmp_path / "limits.toml").write_text("[limits]\nmax_open_files = 65\n")
    few = ("--plugin=posix_choices", "--env=TFFS_CHOICES=few-open-files", "--plugin-profile=limits.toml")
    assert judged_report(tmp_path, *few, "--case=lifetimes/many*", code=1)["counts"]["violation"]


def test_the_data_names_clauses_ops_and_readings_that_there_are() -> None:
    for table in tomllib.loads((Path(claims.__file__).parent / "claims.toml").read_text())["claim"]:
        for entry in (table, *table["values"]):
            for pattern in entry.get("clauses", []):
                assert any(fnmatch.fnmatchcase(name, pattern) for name in catalogue()), pattern
            assert set(entry.get("ops", ())) <= set(OPS)
    for values in claims.meanings().values():
        for meaning in values.values():
            assert meaning.clauses or meaning.readings or meaning.ops
            for name, readings in meaning.readings.items():
                assert set(readings) <= {reading.name for reading in catalogue()[name].readings}


def test_a_finer_clock_than_was_promised_breaks_nothing() -> None:
    def judged_as(granularity: int, reading: str) -> Verdict:
        limits = Claims.of({}, {"mtime_granularity_ns": granularity})
        return checks.verdict(Statement(claims.MTIME, True, "", "", reading), limits)

    assert judged_as(10**9, "fine") is judged_as(10**9, "seconds") is judged_as(1, "fine") is Verdict.CONFORM
    assert judged_as(1, "seconds") is judged_as(10**9, "unknown") is Verdict.VIOLATION
    assert judged_as(0, "unknown") is Verdict.INFORMATIONAL


def test_profiles_are_data_for_the_harness(tmp_path: Path) -> None:
    (tmp_path / "mine.toml").write_text('[plugin]\npath = "./libmine.so"\n[env]\nSECRET = {from = "A"}\n')
    read = profile.read(str(tmp_path / "mine.toml"), {"A": "value"})
    assert read.plugin == str(tmp_path / "libmine.so")
    assert read.environment == {"SECRET": "value"}
    assert read.secrets == {"SECRET"}
    with pytest.raises(ProfileError, match="SECRET"):
        profile.read(str(tmp_path / "mine.toml"), {})
