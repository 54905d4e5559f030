"""What goes wrong with a plain name in the same way is no fault of another name; all else is."""

import pytest

from tests.faults.driven import all_cases, judge
from tffs_conformance.reports.model.records import CaseRecord, Ending
from tffs_conformance.reports.model.verdicts import Verdict
from tffs_conformance.suite.engine.control import called_plainly, excused
from tffs_conformance.suite.judge.evidence import Statement

KEPT = "paths.names-are-kept"
CALLED = {"a b": "plain", "a ": "plai", "a b-1": "plain-1"}
LABELS = ("plain", "space", "plus", "255-bytes")


@pytest.mark.parametrize(
    ("named", "plain"),
    [
        (["a ", "a b", "a b-1"], ["plai", "plain", "plain-1"]),
        (["!", "a b"], ["plain", "!"]),
        ({"a b/a b/leaf": b"content"}, {"plain/plain/leaf": b"content"}),
        ({"copy": b"content"}, {"copy": b"content"}),
        (({"a b"}, 1), ({"plain"}, 1)),
    ],
)
def test_the_same_but_for_the_name(named: object, plain: object) -> None:
    assert called_plainly(named, CALLED) == called_plainly(plain, {})


@pytest.mark.parametrize(
    ("named", "plain"),
    [
        (["a ", "a b"], ["plain"]),
        (["a%20b"], ["plain"]),
        ({"a b": b"content"}, {"plain": b"conten"}),
        ({"a b": b"content"}, {"plai": b"content"}),
        ((1, 2), (2, 1)),
    ],
)
def test_another_wrong(named: object, plain: object) -> None:
    assert called_plainly(named, CALLED) != called_plainly(plain, {})


@pytest.mark.parametrize(
    ("made", "control", "count"),
    [
        ((KEPT, False, "code=OK", "stat: code=INTERNAL"), (KEPT, False, "code=OK", "stat: code=INTERNAL"), 1),
        # What the control keeps is no excuse, nor is what it breaks of another clause or finds beside another demand.
        ((KEPT, False, "code=OK", "stat: code=INTERNAL"), (KEPT, True, "code=OK", "stat: code=INTERNAL"), 0),
        ((KEPT, False, "code=OK", "stat: code=INTERNAL"), ("paths.illegal-names", False, "code=OK",
                                                           "stat: code=INTERNAL"), 0),
        ((KEPT, False, "code=OK", "stat: code=INTERNAL"), (KEPT, False, "code=NOT_FOUND", "stat: code=INTERNAL"), 0),
        # A clause about an op is the op's own.
        (("stat.succeeds", False, "code=OK", "code=INTERNAL"), ("stat.succeeds", False, "code=OK", "code=INTERNAL"), 0),
    ],
)  # fmt: skip
def test_what_is_excused(made: tuple[str, bool, str, str], control: tuple[str, bool, str, str], count: int) -> None:
    assert len(list(excused([Statement(*made)], [Statement(*control)], CALLED))) == count


def of_names(fault: str) -> tuple[CaseRecord, ...]:
    chosen = {f"names/{kind}[{label}]" for kind in ("file", "directory", "moved") for label in LABELS}
    chosen |= {"names/deep[1]", "names/deep[2]", "names/long[200]"}
    return judge("fakes/faulty", fault, [case for case in all_cases("quick") if case.id in chosen]).records


def wrong(records: tuple[CaseRecord, ...]) -> set[str]:
    """The cases that find something wrong."""
    return {one.id for one in records if one.verdict is Verdict.VIOLATION}


@pytest.mark.parametrize(
    ("fault", "tellers"),
    [
        ("fails:delete_file", {"names/file[plain]", "names/deep[1]"}),
        ("rename_file.copies", {"names/moved[plain]"}),
        ("wrong-code:stat", {"names/deep[1]"}),
        ("get_children.skips-directories", {"names/directory[plain]", "names/deep[1]"}),
        # What is below a long path is cut where it is shown.
        ("get_matching_paths.only-names", {"names/deep[1]"}),
    ],
)
def test_what_is_so_with_a_plain_name_its_case_tells(fault: str, tellers: set[str]) -> None:
    records = of_names(fault)
    assert wrong(records) == tellers
    said = {one.reason for one in records if one.id not in tellers}
    assert said == {None, *(f"so it is with a plain name: {teller} tells it" for teller in tellers)}
    # What was not come to is not known.
    for one in records:
        assert one.ended is not Ending.BLOCKED or one.verdict in (Verdict.NOT_RUN, Verdict.VIOLATION)


def test_without_its_control_a_case_tells_what_it_saw() -> None:
    cases = [case for case in all_cases("quick") if case.id == "names/moved[plus]"]
    assert wrong(judge("fakes/faulty", "rename_file.copies", cases).records) == {"names/moved[plus]"}


def test_the_reason_is_that_of_what_is_left() -> None:
    """An op that fails with this name ends the case; that another one lies about all names does not say why."""
    records = {one.id: one for one in of_names("get_file_size.plus-one,plus-fails:new_random_access_file")}
    assert records["names/file[space]"].reason == "so it is with a plain name: names/file[plain] tells it"
    assert str(records["names/file[plus]"].reason).startswith("blocked by new_random_access_file")


@pytest.mark.parametrize("plain", ["", ",fails:delete_file", ",rename_file.copies"])
def test_a_fault_of_a_name_is_told_beside_one_of_all_names(plain: str) -> None:
    records = of_names(f"plus-fails:stat{plain}")
    of_plus = {one.id for one in records if "[plus]" in one.id} & wrong(records)
    assert {"names/file[plus]", "names/directory[plus]"} <= of_plus
