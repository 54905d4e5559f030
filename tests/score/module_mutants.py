"""Mutants of the modules that verdicts follow from: cosmic-ray changes one thing, and a test has to fail.

Works on a copy of the tree. Fails if a mutant survives that module_survivors.toml does not excuse with a reason.
"""

import json
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

CLONE = Path(__file__).parents[2]
SURVIVORS = Path(__file__).with_name("module_survivors.toml")
#: The tests of a module may take so long: more than ten times what they take.
TESTS_TIMEOUT_SECONDS = 120

#: The modules, and the tests that have to notice a change.
MODULES = {
    "reports/escape.py": (
        "test_reports_escape.py",
        "test_rerun.py::test_an_argument_comes_out_of_a_shell_as_it_went_in",
    ),
    "reports/model/verdicts.py": ("test_reports_verdicts.py",),
    "reports/model/findings.py": ("test_reports_findings.py",),
    "reports/model/waivers.py": ("test_reports_waivers.py",),
    "reports/journal.py": ("test_reports_journal.py",),
    "reports/model/tally.py": ("test_reports_document.py", "test_reports_verdicts.py", "test_reports_tally.py"),
    "reports/model/claims.py": ("test_reports_claims.py",),
    "reports/model/redaction.py": ("test_reports_redaction.py",),
    "suite/judge/exit_code.py": ("test_exit_code.py",),
    "tffs_conformance/run/selection.py": ("test_course.py",),
    "suite/engine/sharing.py": ("test_sharing.py",),
    "suite/engine/checks.py": ("test_checks.py", "test_fingerprints.py::test_what_differs_from_run_to_run_is_not_told"),
    "suite/contract/coverage.py": ("test_coverage.py",),
}
#: Changes without an effect at run time: mypy checks that records are not changed, slots save memory, a signature may
#: take arguments in more ways, and members of an enumeration are identical if they are equal.
ALIKE = (
    (re.compile(r"\b(frozen|slots|kw_only)=(True|False)"), r"\1"),
    (re.compile(r"(\bis not|!=) (?=[A-Z][A-Za-z]+\.[A-Z_]+\b)"), "is not "),
    (re.compile(r"(\bis(?! not)|==) (?=[A-Z][A-Za-z]+\.[A-Z_]+\b)"), "is "),
)


@dataclass(frozen=True, slots=True)
class ModuleMutant:
    """A change of a module: the lines that were taken out, those that were put in, and whether no test noticed."""

    module: str
    out: str
    put_in: str
    survived: bool

    @property
    def has_effect(self) -> bool:
        """Whether it changes more than what is ALIKE."""
        out, put_in = self.out, self.put_in
        for pattern, form in ALIKE:
            out, put_in = pattern.sub(form, out), pattern.sub(form, put_in)
        return out != put_in


def mutants(tree: Path, module: str) -> Iterator[ModuleMutant]:
    """Try all mutants of a module of this tree, which is changed meanwhile."""
    tests = " ".join(f"tests/{name}" for name in MODULES[module])
    pytest = f"{sys.executable} -m pytest -x -q --noconftest -p no:randomly -p no:cacheprovider -o addopts= {tests}"
    subprocess.run(pytest.split(), cwd=tree, check=True, stdout=subprocess.DEVNULL)
    (tree / "mutants.cfg").write_text(
        f'[cosmic-ray]\nmodule-path = "{module}"\ntimeout = {TESTS_TIMEOUT_SECONDS}\nexcluded-modules = []\n'
        f'test-command = "{pytest}"\n[cosmic-ray.distributor]\nname = "local"\n'
    )
    cosmic_ray = [sys.executable, "-m", "cosmic_ray.cli"]
    for command in (("init", "mutants.cfg", "mutants.sqlite", "--force"), ("exec", "mutants.cfg", "mutants.sqlite")):
        subprocess.run([*cosmic_ray, *command], cwd=tree, check=True)
    dump = subprocess.run([*cosmic_ray, "dump", "mutants.sqlite"], cwd=tree, check=True, capture_output=True, text=True)
    return read(module, dump.stdout.splitlines())


def read(module: str, lines: Sequence[str]) -> Iterator[ModuleMutant]:
    """The mutants in cosmic-ray's dump."""
    for line in lines:
        _, result = json.loads(line)
        # Without a diff the place of the mutant is one where nothing can be changed.
        if result is None or result["worker_outcome"] in ("no-test", "skipped") or result["diff"] is None:
            continue
        changed = [text for text in result["diff"].splitlines() if text[:1] in "+-" and text[:3] not in ("+++", "---")]
        out, put_in = ("\n".join(text[1:].strip() for text in changed if text[0] == sign) for sign in "-+")
        yield ModuleMutant(module, out, put_in, result["test_outcome"] == "survived")


def unexplained(found: Sequence[ModuleMutant]) -> list[ModuleMutant]:
    """The mutants that survive and must not."""
    survivors = tomllib.loads(SURVIVORS.read_text(encoding="utf-8"))
    excused = {(module, one["out"], one["in"]) for module, entries in survivors.items() for one in entries}
    alive = [one for one in found if one.survived and one.has_effect]
    return [one for one in alive if (one.module, one.out, one.put_in) not in excused]


def add_arguments(parser: ArgumentParser) -> None:
    """Add the options of this command."""
    parser.add_argument("modules", nargs="*", metavar="MODULE", default=list(MODULES), help="default: all")


def run(given: Namespace) -> bool:
    """Try the mutants of the modules, and return whether all that survive are excused."""
    all_excused = True
    with tempfile.TemporaryDirectory() as folder:
        tree = Path(folder) / "tree"
        unused = shutil.ignore_patterns(".git", ".tox", ".venv*", ".*_cache", "__pycache__", "build")
        shutil.copytree(CLONE, tree, symlinks=True, ignore=unused)
        for module in given.modules:
            found = list(mutants(tree, module))
            alive = unexplained(found)
            all_excused &= not alive
            print(f"{module}: {len(found)} mutants, {len(alive)} survive without an excuse")
            for one in alive:
                print(f"survived: {one.out!r} -> {one.put_in!r}", flush=True)
    return all_excused
