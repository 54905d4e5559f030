"""What a run says of a claim follows from the checks of the clauses that the claim is about."""

import pytest
from msgspec.structs import replace

from tests.records import case, record
from tffs_conformance.reports import plain
from tffs_conformance.reports.model.claims import ClaimAccount, ClaimState, StatedClaim, accounts
from tffs_conformance.reports.model.records import CheckRecord
from tffs_conformance.reports.model.verdicts import Verdict

CLAIM = StatedClaim(name="append", value=True, text="", supported=True, clauses=("append.succeeds",))


@pytest.mark.parametrize(
    ("supported", "verdicts", "state"),
    [
        (True, ["conform"], ClaimState.KEPT),
        (True, ["conform", "violation"], ClaimState.BROKEN),
        (True, ["conform", "waived"], ClaimState.BROKEN),
        (True, ["absent"], ClaimState.UNCHECKED),
        (True, [], ClaimState.UNCHECKED),
        (None, ["tolerated"], ClaimState.KEPT),
        (True, ["tolerated", "conform"], ClaimState.KEPT),
        (False, ["absent", "conform"], ClaimState.KEPT),
        (False, ["conform"], ClaimState.UNDER_DECLARED),
        (False, ["absent", "violation"], ClaimState.BROKEN),
        (False, ["not run"], ClaimState.UNCHECKED),
    ],
)
def test_the_state_of_a_claim(supported: bool | None, verdicts: list[str], state: ClaimState) -> None:
    cases = [case(f"append/{k}", ("append.succeeds", verdict)) for k, verdict in enumerate(verdicts)]
    beside = case("read/a", ("read.succeeds", "violation"))
    (account,) = accounts([replace(CLAIM, supported=supported)], [*cases, beside])
    assert account.state is state
    assert account.checks == {verdict: verdicts.count(verdict) for verdict in verdicts}


def test_an_account_counts_checks_as_often_as_they_stand_for_and_is_read_strictly() -> None:
    checks = [CheckRecord("append.succeeds", Verdict.CONFORM, "x", "x", times=times) for times in (1, 3)]
    (account,) = accounts([CLAIM], [record("a", Verdict.CONFORM, *checks)])
    assert account.checks == {"conform": 4}
    written = plain.plain(accounts([CLAIM], [case("a", ("append.succeeds", "conform"))])[0])
    assert plain.typed(written, ClaimAccount).checks == {"conform": 1}
    for wrong in ({"more": 1}, {"checks": {"conform": 0}}):
        with pytest.raises(ValueError, match=r"more|>= 1"):
            plain.typed(written | wrong, ClaimAccount)
    with pytest.raises(ValueError, match="more"):
        plain.typed(plain.plain(CLAIM) | {"more": 1}, StatedClaim)
