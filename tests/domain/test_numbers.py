"""Rounding that must not depend on a library's idea of halves."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from condense_grpc.domain.numbers import format_compact_count, format_cost, half_up, token_estimate


@pytest.mark.parametrize(("value", "rounded"), [(0.5, 1), (1.5, 2), (2.5, 3), (-0.5, 0), (-1.5, -1), (2.4999, 2)])
def test_halves_go_up(value: float, rounded: int) -> None:
    assert half_up(value) == rounded


@given(st.integers(0, 2**40))
def test_token_estimates_are_rounded_quarters(chars: int) -> None:
    assert token_estimate(chars) == half_up(chars / 4)


@pytest.mark.parametrize(("dollars", "shown"), [(-0.0625, "$-0.063"), (1e30, f"${10**30 + 19884624838656}.000")])
def test_costs_are_exact(dollars: float, shown: str) -> None:
    assert format_cost(dollars) == shown


def test_small_counts_are_shown_as_they_are() -> None:
    assert [format_compact_count(n) for n in (-5000, 0, 999, 12.0, 0.5)] == ["-5000", "0", "999", "12", "0.5"]
