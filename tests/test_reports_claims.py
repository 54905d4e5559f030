"""What a run says of a claim follows from the checks of the clauses that the claim is about."""

import pytest

from tests.records import case
from tffs_conformance.reports.claims import ClaimState, StatedClaim, accounts


@pytest.mark.parametrize(
    ("supported", "verdicts", "state"),
    [
        (True, ["conform"], ClaimState.KEPT),
        (True, ["conform", "violation"], ClaimState.BROKEN),
        (True, ["conform", "waived"], ClaimState.BROKEN),
        (True, ["absent"], ClaimState.UNCHECKED),
        (True, [], ClaimState.UNCHECKED),
        (None, ["tolerated"], ClaimState.KEPT),
        (False, ["absent", "conform"], ClaimState.KEPT),
        (False, ["conform"], ClaimState.UNDER_DECLARED),
        (False, ["absent", "violation"], ClaimState.BROKEN),
        (False, ["not run"], ClaimState.UNCHECKED),
    ],
)
def test_the_state_of_a_claim(supported: bool | None, verdicts: list[str], state: ClaimState) -> None:
    claim = StatedClaim(name="append", value=True, text="", supported=supported, clauses=("append.succeeds",))
    cases = [case(f"append/{k}", ("append.succeeds", verdict)) for k, verdict in enumerate(verdicts)]
    (account,) = accounts([claim], [*cases, case("read/a", ("read.succeeds", "violation"))])
    assert account.state is state
    assert account.checks == {verdict: verdicts.count(verdict) for verdict in verdicts}
