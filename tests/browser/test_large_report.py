"""The page of a large report: it opens and filters without delay, and is rendered within bounds."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.browser.conftest import Opener, Written
from tests.full_reports import large
from tffs_conformance.reports import document

_FILTERED = """async () => {
  const field = document.querySelector("#filter [name=text]");
  const began = performance.now();
  for (const text of ["7", "77", "77]", ""]) {
    field.value = text;
    field.dispatchEvent(new Event("input", { bubbles: true }));
  }
  await new Promise(requestAnimationFrame);
  return (performance.now() - began) / 4;
}"""

#: A process counts as at least as large as the one that starts it, so a small one does.
_LARGEST = """
import resource, subprocess, sys
subprocess.run(sys.argv[1:], check=True)
took = resource.getrusage(resource.RUSAGE_CHILDREN)
print(took.ru_utime + took.ru_stime, took.ru_maxrss)
"""


@pytest.mark.long
def test_ten_times_the_cases_take_no_more_than_their_share(opened: Opener, written: Written) -> None:
    took = {}
    for cases in (10_000, 100_000):
        page = opened(written(large(cases)))
        assert page.inner_text("#cases-shown") == f"{cases:,} cases"
        took[cases] = min(page.evaluate(_FILTERED) for _ in range(3))
        opening = page.evaluate("performance.getEntriesByType('navigation')[0].loadEventEnd")
        print(f"{cases:,} cases: open in {opening:.0f} ms, filtered in {took[cases]:.0f} ms")
        page.close()
    assert took[100_000] < 30 * max(took[10_000], 5)


@pytest.mark.nightly
@pytest.mark.long
def test_a_large_report_is_rendered_within_bounds(tmp_path: Path) -> None:
    path = document.write(large(100_000), tmp_path)
    rendering = [sys.executable, "-m", "tffs_conformance", "report", "render", "--html", str(path)]
    done = subprocess.run([sys.executable, "-c", _LARGEST, *rendering], capture_output=True, text=True, check=True)
    seconds, largest = map(float, done.stdout.splitlines()[-1].split())
    print(f"{seconds:.1f} s, {largest / 1024:.0f} MiB at most")
    assert largest < 500 * 1024
