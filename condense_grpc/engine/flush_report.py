"""What a flush says about itself: previews and ends of batches, the outcome, the frontier, the last event."""

from collections.abc import Sequence

from condense_grpc.domain.entries import Frontier, FrontierOutcome
from condense_grpc.engine.compression_step import CompressionReport
from condense_grpc.engine.decisions import Decisions
from condense_grpc.engine.events import (
    BatchFinished,
    BatchOutcome,
    BatchPreview,
    FlushCompleted,
    FlushCounts,
    FlushOutcome,
)
from condense_grpc.engine.flush_work import STORED, FlushWork

_SKIPS = (
    (BatchOutcome.SKIPPED_OVERSIZED, FlushOutcome.SKIPPED_OVERSIZED),
    (BatchOutcome.SKIPPED_DEDUPED, FlushOutcome.SKIPPED_DEDUPED),
    (BatchOutcome.SKIPPED_TRIVIAL, FlushOutcome.SKIPPED_TRIVIAL),
)


def batch_preview(work: FlushWork) -> BatchPreview:
    """A batch before it is summarized."""
    calls = work.batch.calls
    names = tuple(call.tool_name for call in calls)
    chars = sum(len(call.result_text) for call in calls)
    return BatchPreview(work.number, work.batch.turn_index, names, len(calls), chars)


def batch_finished(work: FlushWork) -> BatchFinished:
    """A batch after it was settled."""
    return BatchFinished(
        batch_index=work.number,
        turn_index=work.batch.turn_index,
        outcome=work.outcome or BatchOutcome.FAILED,
        occurrence_keys=work.keys,
        refs=work.refs,
        duplicates=tuple(work.shared),
        text=work.text if work.outcome in STORED else "",
        usage=work.reply.usage if work.reply else None,
        failure_reason=work.failure_reason,
        source_chars=work.raw_chars,
        summary_chars=len(work.text),
        check=work.reply.check if work.reply else None,
        wasted=work.wasted,
    )


def flush_outcome(works: Sequence[FlushWork], report: CompressionReport) -> FlushOutcome:
    """What all batches together came to."""
    outcomes = {work.outcome for work in works}
    if outcomes & set(STORED):
        return FlushOutcome.SUMMARIZED
    for batch, flush in _SKIPS:
        if batch in outcomes:
            return flush
    if works:
        return FlushOutcome.ERROR
    return FlushOutcome.COMPRESSED if report.blocks else FlushOutcome.EMPTY


def frontier_of(processed: Sequence[FlushWork]) -> Frontier:
    """The frontier behind these batches; there is at least one."""
    last = processed[-1]
    call = last.calls[-1] if last.calls else last.duplicates[-1].call
    settled = [
        [*work.calls, *(item.call for item in work.duplicates if item.call.key not in work.pending)]
        for work in processed
    ]
    return Frontier(
        last_attempted_tool_call_id=call.tool_call_id,
        last_attempted_tool_name=call.tool_name,
        last_attempted_turn_index=last.batch.turn_index,
        last_attempted_timestamp_ms=last.batch.timestamp_ms,
        attempted_batch_count=len(processed),
        attempted_tool_call_count=sum(map(len, settled)),
        raw_char_count=sum(len(item.result_text) for calls in settled for item in calls),
        summary_char_count=sum(len(work.text) for work in processed),
        outcome=FrontierOutcome.SUMMARIZED if last.outcome in STORED else FrontierOutcome(str(last.outcome)),
    )


def completed_flush(
    outcome: FlushOutcome, works: Sequence[FlushWork], report: CompressionReport, decisions: Decisions, revision: str
) -> FlushCompleted:
    """The last event of a flush."""
    counts = FlushCounts(
        captured_batches=len(works),
        processed_batches=sum(work.is_processed for work in works),
        summarized_batches=sum(work.outcome in STORED for work in works),
        failed_batches=sum(work.outcome is BatchOutcome.FAILED for work in works),
        captured_calls=sum(len(work.batch.calls) for work in works),
        raw_chars=sum(work.raw_chars for work in works),
        summary_chars=sum(len(work.text) for work in works if work.outcome in STORED),
    )
    return FlushCompleted(
        outcome,
        counts,
        decisions.frontier,
        decisions.stats,
        revision,
        report.blocks,
        report.skipped_chains,
        report.reclaimed_tokens,
    )
