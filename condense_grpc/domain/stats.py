"""What a session has spent on summaries, and the reports that its entries hold.

Totals are written as full snapshots, so the last entry says everything. What was spent since a session was loaded
is the difference to the baseline, the totals at that time.
"""

from collections.abc import Iterable
from dataclasses import replace

from condense_grpc.domain.entries import Entry, Frontier, FrontierEntry, Stats, StatsEntry
from condense_grpc.domain.frozen import frozen


@frozen
class SummaryUsage:
    """What one reply of a summarizer cost. Cost in dollars; without a known price it is 0 and the flag says so."""

    input_tokens: int = 0
    output_tokens: int = 0
    cost: float = 0
    is_priced: bool = True


@frozen
class StatsDelta:
    """What was spent since the baseline. Cost in dollars."""

    total_cost: float = 0
    input_tokens: int = 0
    output_tokens: int = 0


def add_usage(stats: Stats, usage: SummaryUsage) -> Stats:
    """The totals after one more accepted reply."""
    return replace(_spent(stats, usage), call_count=stats.call_count + 1)


def add_wasted(stats: Stats, usage: SummaryUsage) -> Stats:
    """The totals after something that was paid for in vain."""
    return replace(
        _spent(stats, usage),
        wasted_input_tokens=stats.wasted_input_tokens + usage.input_tokens,
        wasted_output_tokens=stats.wasted_output_tokens + usage.output_tokens,
        wasted_cost=stats.wasted_cost + usage.cost,
    )


def _spent(stats: Stats, usage: SummaryUsage) -> Stats:
    return replace(
        stats,
        total_input_tokens=stats.total_input_tokens + usage.input_tokens,
        total_output_tokens=stats.total_output_tokens + usage.output_tokens,
        total_cost=stats.total_cost + usage.cost,
        unpriced_calls=stats.unpriced_calls + (not usage.is_priced),
    )


def stats_since(baseline: Stats, stats: Stats) -> StatsDelta:
    """What was spent since the baseline."""
    return StatsDelta(
        total_cost=stats.total_cost - baseline.total_cost,
        input_tokens=stats.total_input_tokens - baseline.total_input_tokens,
        output_tokens=stats.total_output_tokens - baseline.total_output_tokens,
    )


def load_stats(entries: Iterable[Entry]) -> Stats:
    """The totals after these entries."""
    stats = Stats()
    for entry in entries:
        if isinstance(entry, StatsEntry):
            stats = entry.stats
    return stats


def load_frontier(entries: Iterable[Entry]) -> Frontier | None:
    """The frontier after these entries; None before the first flush that processed something."""
    frontier = None
    for entry in entries:
        if isinstance(entry, FrontierEntry) and entry.frontier.last_attempted_tool_call_id:
            frontier = entry.frontier
    return frontier
