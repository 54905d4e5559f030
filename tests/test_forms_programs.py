"""Programs beside a report are shown with it; nothing else of the machine is read, whatever a report says."""

from pathlib import Path

import pytest

from tests.full_reports import full
from tffs_conformance.reports.forms import html
from tffs_conformance.reports.forms.programs import program


def test_a_program_beside_the_report_is_found(tmp_path: Path) -> None:
    (tmp_path / "traces").mkdir()
    (tmp_path / "traces" / "read-c.cc").write_text("int main() {}\n")
    reason = "shrunk to 1 ops: read(); trace r/traces/read-c.json; program r/traces/read-c.cc; pytest --plugin=mine.so"
    assert program(reason, tmp_path) == ("traces/read-c.cc", "int main() {}\n")
    assert program(reason, tmp_path / "traces") is None


def test_a_program_is_on_the_page_as_it_is(tmp_path: Path) -> None:
    (tmp_path / "traces").mkdir()
    (tmp_path / "traces" / "read-c.cc").write_text("int main() { return '<'; }\n// \u202e")
    assert "int main() { return &#39;&lt;&#39;; }\n// \\u202e" in html.render(full(), tmp_path)


@pytest.mark.parametrize(
    "named",
    ["x; program /etc/passwd", "x; program ../secret.cc", "x; program traces/../secret.cc", "x; program link.cc", None,
     "x; program folder.cc; y", "x; program huge.cc; y", "x; program traces/\udcff.cc", "program secret.cc"],
)  # fmt: skip
def test_no_other_file_is_read(tmp_path: Path, named: str | None) -> None:
    traces = tmp_path / "report" / "traces"
    (traces / "folder.cc").mkdir(parents=True)
    for secret in (tmp_path / "secret.cc", tmp_path / "report" / "secret.cc"):
        secret.write_text("a secret")
    (traces / "link.cc").symlink_to(tmp_path / "secret.cc")
    (traces / "huge.cc").write_text("x" * 1_000_000)
    assert program(named, tmp_path / "report") is None


def test_traces_that_are_elsewhere_are_not_read(tmp_path: Path) -> None:
    (tmp_path / "report").mkdir()
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "a.cc").write_text("a secret")
    (tmp_path / "report" / "traces").symlink_to(tmp_path / "other")
    assert program("x; program traces/a.cc; y", tmp_path / "report") is None
