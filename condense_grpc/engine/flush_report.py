"""What a flush says about itself: previews and ends of batches, the outcome, the frontier, the last event."""

from collections.abc import Sequence

from condense_grpc.domain.batches import Call
from condense_grpc.domain.entries import Frontier, FrontierOutcome
from condense_grpc.domain.stats import stats_since
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
        summary_id=work.summary_id,
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
    settled = settled_calls(processed)
    return Frontier(
        last_attempted_tool_call_id=call.tool_call_id,
        last_attempted_tool_name=call.tool_name,
        last_attempted_turn_index=last.batch.turn_index,
        last_attempted_timestamp_ms=last.batch.timestamp_ms,
        attempted_batch_count=len(processed),
        attempted_tool_call_count=len(settled),
        raw_char_count=sum(len(call.result_text) for call in settled),
        summary_char_count=sum(len(work.text) for work in processed),
        outcome=FrontierOutcome.SUMMARIZED if last.outcome in STORED else FrontierOutcome(str(last.outcome)),
    )


def settled_calls(processed: Sequence[FlushWork]) -> list[Call]:
    """The calls that these batches have settled, duplicates among them."""
    return [
        call
        for work in processed
        for call in (*work.calls, *(item.call for item in work.duplicates if item.call.key not in work.pending))
    ]


def _counts_of(works: Sequence[FlushWork]) -> FlushCounts:
    processed = [work for work in works if work.is_processed]
    outcomes = [work.outcome for work in works]
    settled = settled_calls(processed)
    return FlushCounts(
        captured_batches=len(works),
        processed_batches=len(processed),
        summarized_batches=outcomes.count(BatchOutcome.SUMMARIZED),
        failed_batches=outcomes.count(BatchOutcome.FAILED),
        captured_calls=sum(len(work.batch.calls) for work in works),
        raw_chars=sum(len(call.result_text) for call in settled),
        summary_chars=sum(len(work.text) for work in processed),
        extractive_batches=outcomes.count(BatchOutcome.EXTRACTIVE),
        trivial_batches=outcomes.count(BatchOutcome.SKIPPED_TRIVIAL),
        oversized_batches=outcomes.count(BatchOutcome.SKIPPED_OVERSIZED),
        deduped_batches=outcomes.count(BatchOutcome.SKIPPED_DEDUPED),
        processed_calls=len(settled),
    )


def completed_flush(
    outcome: FlushOutcome, works: Sequence[FlushWork], report: CompressionReport, decisions: Decisions, revision: str
) -> FlushCompleted:
    """The last event of a flush."""
    return FlushCompleted(
        outcome,
        _counts_of(works),
        decisions.frontier if any(work.is_processed for work in works) else None,
        decisions.stats,
        revision,
        report.blocks,
        report.skipped_chains,
        report.reclaimed_tokens,
        report.skipped,
        stats_since(decisions.baseline, decisions.stats),
    )
