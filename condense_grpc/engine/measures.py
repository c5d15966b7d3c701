"""Measures of a live session: context metrics and the status line."""

from condense_grpc.domain.entries import ContextMetrics
from condense_grpc.domain.metrics import MetricsInput, compute_context_metrics
from condense_grpc.domain.pairing import keys_of
from condense_grpc.domain.status import Reclaim as ReclaimMeasure
from condense_grpc.domain.status import status_line
from condense_grpc.engine.capture_step import stays_as_it_is
from condense_grpc.engine.rendering import view_list
from condense_grpc.engine.state import SessionState


def session_metrics(state: SessionState) -> ContextMetrics:
    """The context metrics of the transcript with its summaries where they stand."""
    live = state.view.read(state)
    return metrics_of_whole(state) if live is None or not live.cycle.is_exact else live.metrics


def metrics_of_whole(state: SessionState) -> ContextMetrics:
    """The same, measured by a walk through the whole list."""
    skeletons = view_list(state).skeletons
    keys, _ = keys_of(skeletons)
    return compute_context_metrics(MetricsInput(skeletons, keys, stays_as_it_is(state), state.protection))


def session_status(state: SessionState, metrics: ContextMetrics, text: str | None = None) -> str:
    """The status line; empty when the settings hide it."""
    measure = ReclaimMeasure(state.reclaim.before_chars, state.reclaim.after_chars)
    line = status_line(state.config, text=text, reclaim=measure, diagnostics=state.sink.counts, metrics=metrics)
    return line or ""
