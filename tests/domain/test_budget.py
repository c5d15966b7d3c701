"""Usage that is not known never asks for a flush."""

import pytest

from condense_grpc.domain.budget import Usage, should_budget_flush, should_delta_flush, usage_fraction


@pytest.mark.parametrize("usage", [None, Usage(None, 1000), Usage(10**9, 0), Usage(10**9, -1)])
def test_unknown_usage(usage: Usage | None) -> None:
    assert usage_fraction(usage) is None
    assert not should_budget_flush(usage, 0.1)
    assert not should_delta_flush(usage, 0.0, 0.1)


def test_the_ceiling_holds_for_huge_windows() -> None:
    assert should_budget_flush(Usage(300_000, 10_000_000), 0.9)
    assert not should_budget_flush(Usage(299_999, 10_000_000), 0.9)
