"""What condensing has cost, towards the wire."""

from condense_grpc.api.condense.v1 import stats_pb2, summary_pb2
from condense_grpc.domain.entries import Stats
from condense_grpc.domain.stats import StatsDelta
from condense_grpc.engine.ports import SummaryCheck, Usage


def write_summarizer_usage(usage: Usage, target: stats_pb2.SummarizerUsage) -> None:
    """Write what one reply took; an unknown price stays absent."""
    target.input_tokens = usage.input_tokens
    target.output_tokens = usage.output_tokens
    if usage.cost is not None:
        target.cost_usd = usage.cost


def write_check(check: SummaryCheck, target: summary_pb2.SummaryCheck) -> None:
    """Write what was found in summaries."""
    target.SetInParent()
    target.quoted_facts = check.quoted_facts
    target.unfounded_facts = check.unfounded_facts
    target.stripped_marks = check.stripped_marks
    target.unlabelled_calls = check.unlabelled_calls
    target.redactions = check.redactions


def write_stats(stats: Stats, target: stats_pb2.SessionStats, since_load: StatsDelta | None = None) -> None:
    """Write the totals of a session."""
    _write_sum(stats.total_input_tokens, stats.total_output_tokens, _known(stats.total_cost, stats), target.total)
    if since_load is not None:
        cost = _known(since_load.total_cost, stats)
        _write_sum(since_load.input_tokens, since_load.output_tokens, cost, target.since_load)
    wasted_cost = _known(stats.wasted_cost, stats)
    _write_sum(stats.wasted_input_tokens, stats.wasted_output_tokens, wasted_cost, target.wasted)
    target.call_count = stats.call_count
    target.chains_compressed = stats.chains_compressed
    target.ranges_summarized = stats.ranges_summarized
    target.unpriced_calls = stats.unpriced_calls


def _known(cost: float, stats: Stats) -> float | None:
    """A sum of costs. Nothing that is known, among prices that are not, is no zero."""
    return None if stats.unpriced_calls and not cost else cost


def _write_sum(input_tokens: int, output_tokens: int, cost: float | None, target: stats_pb2.SummarizerUsage) -> None:
    target.SetInParent()
    write_summarizer_usage(Usage(input_tokens, output_tokens, cost), target)
