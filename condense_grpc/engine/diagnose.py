"""The report about a live session."""

from condense_grpc.domain.stats import stats_since
from condense_grpc.engine.capture_step import count_pending, find_pending
from condense_grpc.engine.measures import session_metrics, session_status
from condense_grpc.engine.ports import Summarizer
from condense_grpc.engine.requests import DiagnosticsReport, SummarizerHealth
from condense_grpc.engine.state import SessionState


def diagnostics_report(state: SessionState, summarizer: Summarizer, *, flush_running: bool) -> DiagnosticsReport:
    """Counters, measures, statistics, what waits, and the status line."""
    decisions = state.decisions
    metrics = session_metrics(state)
    batches, chars = count_pending(state, find_pending(state))
    return DiagnosticsReport(
        counts={kind.value: count for kind, count in state.sink.counts.items()},
        metrics=metrics,
        stats=decisions.stats,
        session_delta=stats_since(decisions.baseline, decisions.stats),
        reclaim=state.reclaim,
        frontier=decisions.frontier,
        pending_batches=batches,
        pending_chars=chars,
        summarizer=SummarizerHealth(summarizer.name),
        flushes=tuple(decisions.recent_flushes),
        status_line=session_status(state, metrics),
        flush_running=flush_running,
    )
