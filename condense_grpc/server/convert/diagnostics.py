"""Reports about a session, towards the wire."""

from collections.abc import Iterable

from condense_grpc.api.condense.v1 import diagnostics_pb2 as pb
from condense_grpc.api.condense.v1 import flush_pb2
from condense_grpc.domain.entries import ContextMetrics, FlushMetricsEntry
from condense_grpc.engine.ports import StoredDiagnostic, SummarizerHealth
from condense_grpc.engine.requests import DiagnosticsReport, FlushTrigger
from condense_grpc.server.convert.advice import write_advice
from condense_grpc.server.convert.enums import DIAGNOSTIC_KIND, TRIGGER
from condense_grpc.server.convert.flush_event import outcome_of, write_frontier
from condense_grpc.server.convert.stats import write_check, write_stats
from condense_grpc.server.convert.times import write_time
from condense_grpc.server.convert.usage import write_usage
from condense_grpc.server.convert.view import write_reclaim
from condense_grpc.server.convert.wire_text import wire_text

SHOWN_FLUSHES = 20


def kind_of(text: str) -> pb.DiagnosticKind.ValueType:
    """The kind of a stored diagnostic; one of a newer release is unspecified here."""
    return DIAGNOSTIC_KIND.write(text) if text in DIAGNOSTIC_KIND.meanings else pb.DIAGNOSTIC_KIND_UNSPECIFIED


def write_report(
    report: DiagnosticsReport, revision: str, entries: Iterable[StoredDiagnostic], next_page_token: str
) -> pb.GetDiagnosticsResponse:
    """The state of a session with one page of its entries."""
    answer = pb.GetDiagnosticsResponse(
        next_page_token=next_page_token, status_line=wire_text(report.status_line), revision=revision
    )
    for entry in entries:
        write_entry(entry, answer.entries.add())
    for kind, count in report.counts.items():
        if count and kind in DIAGNOSTIC_KIND.meanings:
            answer.counters.add(kind=DIAGNOSTIC_KIND.write(kind), count=count)
    _write_metrics(report.metrics, answer.metrics)
    write_stats(report.stats, answer.stats, report.session_delta)
    if report.reclaim.before_chars:
        write_reclaim(report.reclaim, answer.reclaim)
    if report.frontier is not None:
        write_frontier(report.frontier, answer.frontier)
    write_advice(report.advice, answer.advice)
    if report.usage is not None:
        write_usage(report.usage, answer.usage)
    answer.running_flush_id = report.running_flush_id
    _write_health(report.summarizer, answer.summarizer)
    if report.checks is not None:
        write_check(report.checks, answer.summarizer.checks)
    if report.background is not None:
        background = answer.summarizer.background
        background.SetInParent()
        background.begun, background.used = report.background.begun, report.background.used
        background.discarded = report.background.discarded
    for flush in reversed(report.flushes[-SHOWN_FLUSHES:]):
        _write_flush(flush, answer.last_flushes.add())
    return answer


def _write_health(health: SummarizerHealth, target: pb.SummarizerHealth) -> None:
    target.primary = wire_text(health.name)
    target.fallback = wire_text(health.fallback)
    target.in_fallback = health.in_fallback
    if health.last_probe_ms is not None:
        write_time(health.last_probe_ms, target.last_probe_time)
    target.announcement_owed = health.announcement_owed


def write_entry(entry: StoredDiagnostic, target: pb.DiagnosticEntry) -> None:
    """Write one problem."""
    target.kind = kind_of(entry.kind)
    target.detail = wire_text(entry.detail)
    write_time(entry.time_ms, target.event_time)
    target.transcript_length = entry.transcript_length


def _write_metrics(metrics: ContextMetrics, target: pb.ContextMetrics) -> None:
    target.SetInParent()
    target.open_cycle_thinking_tokens = metrics.open_cycle_thinking_tokens
    target.largest_chain_share_pct = metrics.largest_chain_share_pct
    target.frontier_gap_tokens = metrics.frontier_gap_tokens


def _write_flush(flush: FlushMetricsEntry, target: pb.FlushReport) -> None:
    target.flush_id = wire_text(flush.flush_id)
    write_time(flush.ts_ms, target.event_time)
    target.trigger = _trigger_of(flush.trigger)
    target.captured_batches = flush.captured_batches
    target.processed_batches = flush.processed_batches
    target.outcome = outcome_of(flush.outcome)
    _write_metrics(flush.metrics, target.metrics)


def _trigger_of(text: str) -> flush_pb2.FlushTrigger.ValueType:
    found = next((trigger for trigger in FlushTrigger if trigger.value == text), None)
    return flush_pb2.FLUSH_TRIGGER_UNSPECIFIED if found is None else TRIGGER.write(found)
