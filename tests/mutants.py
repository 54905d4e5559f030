"""Mutation testing: changes one thing in a module, and looks whether a test notices.

`python tests/mutants.py [MODULE…]` works on a copy of the tree. A mutant that no test notices has to be in
`mutants.toml` with the reason why that is right; any other fails. The tool is cosmic-ray.
"""

import json
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]
SURVIVORS = Path(__file__).with_suffix(".toml")
#: Seconds that the tests of a module may take: more than ten times what they take.
LONGEST = 120

#: The modules that verdicts follow from, and the tests that hold each of them.
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


#: What makes no difference to whatever runs. Mypy holds that nobody changes a record, slots save memory, a signature
#: may take arguments in more ways, and members of an enumeration are the same where they are equal.
ALIKE = (
    (re.compile(r"\b(frozen|slots|kw_only)=(True|False)"), r"\1"),
    (re.compile(r"(\bis not|!=) (?=[A-Z][A-Za-z]+\.[A-Z_]+\b)"), "is not "),
    (re.compile(r"(\bis(?! not)|==) (?=[A-Z][A-Za-z]+\.[A-Z_]+\b)"), "is "),
)


@dataclass(frozen=True, slots=True)
class Mutant:
    """A change that was tried: the module, the lines that were taken out and those that were put in."""

    module: str
    out: str
    put_in: str
    survived: bool

    @property
    def is_none(self) -> bool:
        """Whether it changes nothing but what is ALIKE."""
        out, put_in = self.out, self.put_in
        for pattern, form in ALIKE:
            out, put_in = pattern.sub(form, out), pattern.sub(form, put_in)
        return out == put_in

    def __str__(self) -> str:
        return f"{self.module}: {self.out!r} -> {self.put_in!r}"


def tried(tree: Path, module: str) -> list[Mutant]:
    """Try all mutants of a module of this tree, which is changed meanwhile."""
    tests = " ".join(f"tests/{name}" for name in MODULES[module])
    pytest = f"{sys.executable} -m pytest -x -q -p no:randomly -p no:cacheprovider -o addopts= {tests}"
    subprocess.run(pytest.split(), cwd=tree, check=True, stdout=subprocess.DEVNULL)
    (tree / "mutants.cfg").write_text(
        f'[cosmic-ray]\nmodule-path = "{module}"\ntimeout = {LONGEST}\nexcluded-modules = []\n'
        f'test-command = "{pytest}"\n[cosmic-ray.distributor]\nname = "local"\n'
    )
    for command in (("init", "mutants.cfg", "mutants.sqlite", "--force"), ("exec", "mutants.cfg", "mutants.sqlite")):
        subprocess.run([sys.executable, "-m", "cosmic_ray.cli", *command], cwd=tree, check=True)
    dump = [sys.executable, "-m", "cosmic_ray.cli", "dump", "mutants.sqlite"]
    done = subprocess.run(dump, cwd=tree, check=True, capture_output=True, text=True)
    return list(_read(module, done.stdout.splitlines()))


def _read(module: str, lines: Sequence[str]) -> Iterator[Mutant]:
    for line in lines:
        _, result = json.loads(line)
        # Without a diff the place of the mutant is one where nothing can be changed.
        if result is None or result["worker_outcome"] in ("no-test", "skipped") or result["diff"] is None:
            continue
        changed = [text for text in result["diff"].splitlines() if text[:1] in "+-" and text[:3] not in ("+++", "---")]
        out, put_in = ("\n".join(text[1:].strip() for text in changed if text[0] == sign) for sign in "-+")
        yield Mutant(module, out, put_in, result["test_outcome"] == "survived")


def accepted() -> dict[tuple[str, str, str], str]:
    """The mutants that may survive, each with its reason."""
    table = tomllib.loads(SURVIVORS.read_text(encoding="utf-8"))
    return {(one["module"], one["out"], one["in"]): one["reason"] for one in table.get("survivor", ())}


def main(modules: Sequence[str]) -> int:
    """Try the mutants of some modules, or of all; 1 where one survives that must not."""
    known, strangers = accepted(), 0
    with tempfile.TemporaryDirectory() as folder:
        tree = Path(folder) / "tree"
        shutil.copytree(ROOT, tree, symlinks=True, ignore=shutil.ignore_patterns(".git", ".tox", "*cache*", "build*"))
        for module in modules or MODULES:
            mutants = tried(tree, module)
            alive = [one for one in mutants if one.survived and not one.is_none]
            strange = [one for one in alive if (one.module, one.out, one.put_in) not in known]
            strangers += len(strange)
            print(f"{module}: {len(mutants)} mutants, {len(alive)} survive, {len(strange)} of them unexplained")
            for one in strange:
                print(f"survived: {one}", flush=True)
    return 1 if strangers else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
