"""A report that means harm is text in every form of it, and long names make no long files."""

from pathlib import Path

import pytest

from tests.hostile_report import HOSTILE, hostile_report
from tffs_conformance.reports.escape import steers
from tffs_conformance.reports.forms import FORMS, Form, write
from tffs_conformance.suite.judge.findings import conclude

#: What others' sites show, which take no file of any length.
BOUNDED = [form for form in FORMS if form.name != "html"]


@pytest.mark.parametrize("form", FORMS, ids=lambda form: form.name)
def test_a_form_is_written_in_utf_8_and_holds_nothing_that_steers(form: Form, tmp_path: Path) -> None:
    text = write(form, conclude(hostile_report()), tmp_path).read_text(encoding="utf-8")
    assert {one for one in text if steers(one)} <= {"\n"}
    # Each form escapes what its readers know as markup: what is left whole is no markup to them.
    assert HOSTILE not in text
    assert write(form, conclude(hostile_report()), tmp_path).read_text(encoding="utf-8") == text


@pytest.mark.parametrize("form", BOUNDED, ids=lambda form: form.name)
def test_a_form_for_sites_is_no_longer_for_long_names(form: Form, tmp_path: Path) -> None:
    short = write(form, conclude(hostile_report(long=20_000)), tmp_path).stat().st_size
    assert write(form, conclude(hostile_report()), tmp_path).stat().st_size < short + 1000
