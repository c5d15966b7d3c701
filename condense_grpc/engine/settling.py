"""What becomes of the batches of a flush in the state of its session, and what their summaries have cost.

The fate of a batch by itself is decided in `flush_work`; here a batch whose messages a rewind took away is let go, and
failures and checks are taken note of. Nothing here is durable before the next write.
"""

from collections.abc import Sequence
from dataclasses import replace

from condense_grpc.domain.diagnostics import DiagnosticKind
from condense_grpc.domain.entries import Entry, Stats
from condense_grpc.domain.stats import add_usage, add_wasted
from condense_grpc.engine.flush_work import FlushWork, settle
from condense_grpc.engine.ports import Usage
from condense_grpc.engine.state import SessionState
from condense_grpc.engine.summarizing import sum_of_checks, summary_usage


def with_spending(stats: Stats, works: Sequence[FlushWork], wasted_ahead: Sequence[Usage]) -> Stats:
    """The statistics with what these batches took; a reply that was not kept was paid for, too."""
    for usage in wasted_ahead:
        stats = add_wasted(stats, summary_usage(usage))
    unmeasured = 0
    for work in works:
        if work.reply is not None and work.reply.usage is None and work.is_processed:
            unmeasured += 1
        elif work.reply is not None:
            stats = (add_usage if work.is_processed else add_wasted)(stats, summary_usage(work.reply.usage))
        if work.wasted is not None:
            stats = add_wasted(stats, summary_usage(work.wasted))
    return replace(stats, call_count=stats.call_count + unmeasured)


def settle_in(state: SessionState, work: FlushWork, now_ms: int) -> Sequence[Entry]:
    """Decide what becomes of a batch. The index knows it at once."""
    if not _is_as_captured(state, work):
        work.let_go("history-changed")
        return ()
    entries = settle(work, state.decisions.index, state.failure_counts, now_ms)
    if work.failure_reason:
        _note_failure(state, work, now_ms)
    elif work.reply is not None and work.reply.check is not None:
        state.checks = sum_of_checks(state.checks, work.reply.check)
    return entries


def _note_failure(state: SessionState, work: FlushWork, now_ms: int) -> None:
    """Once per batch and reason."""
    turn, reason = work.batch.turn_index, work.failure_reason
    state.note(DiagnosticKind.SUMMARY_FAILED, f"{work.keys[0]} {reason}", f"turn {turn}: {reason}", now_ms)


def _is_as_captured(state: SessionState, work: FlushWork) -> bool:
    """Whether every message of the batch is still on the active path, and nothing settled its calls meanwhile."""
    has_node, is_settled = state.transcript.has_node, state.decisions.index.is_settled
    is_there = all(call.source is not None and has_node(call.source.result_node) for call in work.batch.calls)
    return is_there and not any(is_settled(call.key) for call in work.calls)
