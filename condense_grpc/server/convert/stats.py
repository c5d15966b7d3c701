"""What condensing has cost, towards the wire."""

from condense_grpc.api.condense.v1 import stats_pb2
from condense_grpc.domain.entries import Stats
from condense_grpc.domain.stats import StatsDelta
from condense_grpc.engine.ports import Usage


def write_summarizer_usage(usage: Usage, target: stats_pb2.SummarizerUsage) -> None:
    """Write what one reply took; an unknown price stays absent."""
    target.input_tokens = usage.input_tokens
    target.output_tokens = usage.output_tokens
    if usage.cost is not None:
        target.cost_usd = usage.cost


def write_stats(stats: Stats, target: stats_pb2.SessionStats, since_load: StatsDelta | None = None) -> None:
    """Write the totals of a session."""
    total = Usage(stats.total_input_tokens, stats.total_output_tokens, stats.total_cost)
    write_summarizer_usage(total, target.total)
    if since_load is not None:
        recent = Usage(since_load.input_tokens, since_load.output_tokens, since_load.total_cost)
        write_summarizer_usage(recent, target.since_load)
    target.call_count = stats.call_count
    target.chains_compressed = stats.chains_compressed
    target.ranges_summarized = stats.ranges_summarized
