"""Batches that do not fit: every request stays within the budget, every call keeps its label."""

import json

from hypothesis import given
from hypothesis import strategies as st

from condense_grpc.domain.batches import Batch, Call
from condense_grpc.domain.payload import serialize_batch
from condense_grpc.summarize.payload_budget import bounded_payload


def batch_of(sizes: list[int], argument_chars: int = 0, said_chars: int = 0) -> Batch:
    arguments = json.dumps({"text": "a" * argument_chars})
    calls = tuple(Call(str(size), "bash", arguments, "line of text\n" * (size // 13)) for size in sizes)
    return Batch(1, 1, "s" * said_chars, calls)


def test_what_fits_is_sent_as_it_is() -> None:
    """Also when there is no budget at all."""
    batch = batch_of([100, 200])
    assert bounded_payload(batch, 4000, 100_000) == serialize_batch(batch, 4000)
    assert bounded_payload(batch, 4000, 0) == serialize_batch(batch, 4000)


@given(
    st.lists(st.integers(0, 20_000), min_size=1, max_size=12),
    st.integers(0, 20_000),
    st.integers(0, 20_000),
    st.integers(6_000, 40_000),
)
def test_results_arguments_and_words_shrink_until_all_fit(
    sizes: list[int], argument_chars: int, said_chars: int, budget: int
) -> None:
    """Nothing but a great number of calls keeps a batch from fitting."""
    payload = bounded_payload(batch_of(sizes, argument_chars, said_chars), 4000, budget)
    assert payload is not None
    assert len(payload) <= budget
    assert all(f"[[{number}:bash]] Tool: " in payload for number in range(1, len(sizes) + 1))


def test_too_many_calls_do_not_fit() -> None:
    """They are left to the extractive summary, which has no window."""
    assert bounded_payload(batch_of([1000] * 100), 4000, 5_000) is None
