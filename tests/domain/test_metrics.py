"""Measures of a transcript, beyond what the vectors show."""

from typing import Any

from hypothesis import given

from condense_grpc.domain.entries import ContextMetrics, Frontier
from condense_grpc.domain.messages import Message
from condense_grpc.domain.metrics import MetricsInput, compute_context_metrics
from condense_grpc.domain.numbers import token_estimate
from condense_grpc.domain.pi_json import message_from_pi
from condense_grpc.domain.protection import Protection
from tests.domain.histories import answer, calls, malformed_lists, messy_histories, result, seen, user

WORK = [user(1), calls(2, "a"), result(3, "a", "x" * 100), answer(4)]


def measure(messages: list[Message], settled: set[str] | None = None, **members: Any) -> ContextMetrics:
    skeletons, keys = seen(messages)
    options: dict[str, Any] = {"is_settled": (settled or set()).__contains__, "protection": Protection()}
    return compute_context_metrics(MetricsInput(skeletons, keys, **options | members))


def test_empty_list_measures_nothing() -> None:
    assert measure([]) == ContextMetrics(0, 0, 0)


def test_gap_is_what_is_not_settled() -> None:
    """A result counts with its whole JSON until its key is settled or protected."""
    size = seen(WORK)[0][2].json_chars
    assert measure(WORK).frontier_gap_tokens == token_estimate(size)
    assert measure(WORK, {"a@3"}).frontier_gap_tokens == 0
    assert measure(WORK, protection=Protection(("bash",))).frontier_gap_tokens == 0


def test_unknown_frontier_counts_everything() -> None:
    """A frontier whose turn or call is not in the list hides nothing."""
    everything = measure(WORK).frontier_gap_tokens
    for id_, turn in (("a", 7), ("a", -1), ("b", 0)):
        frontier = Frontier(id_, last_attempted_turn_index=turn)
        assert measure(WORK, frontier=frontier).frontier_gap_tokens == everything
    assert measure(WORK, frontier=Frontier("a")).frontier_gap_tokens == 0


def test_thinking_of_the_open_cycle_counts() -> None:
    """Only thinking behind the last text-only answer is in flight."""
    assert measure([user(1), answer(2, thinking="x" * 100)]).open_cycle_thinking_tokens == 0
    thinking = Message(calls(2, "a").role, (*answer(0, thinking="x" * 100).parts[:1], *calls(2, "a").parts), 2)
    assert measure([user(1), thinking]).open_cycle_thinking_tokens > 25


@given(messy_histories)
def test_share_is_a_percentage(messages: list[Message]) -> None:
    metrics = measure(messages)
    assert 0 <= metrics.largest_chain_share_pct <= 100
    assert metrics.open_cycle_thinking_tokens == 0


@given(messy_histories)
def test_settling_never_widens_the_gap(messages: list[Message]) -> None:
    """Whatever is settled, the gap only shrinks, down to nothing when everything is."""
    keys = {key for key in seen(messages)[1] if key}
    some = set(sorted(keys)[::2])
    gaps = [measure(messages, settled).frontier_gap_tokens for settled in (set(), some, keys)]
    assert gaps == sorted(gaps, reverse=True)


@given(malformed_lists)
def test_malformed_lists_never_raise(values: list[Any]) -> None:
    measure([message_from_pi(value) for value in values])
