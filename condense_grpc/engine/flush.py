"""The flush: finished batches of tool calls become summaries, and finished chains become blocks.

The session's lock is held to take the snapshot and for each decision, never while a summary is written. Batches are
independent: each one is committed by itself and completely, in order; what fails is captured again by the next flush.
Messages that arrive meanwhile are none of its business; a batch whose messages a rewind took away is let go.
"""

import asyncio
import logging
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, replace

from condense_grpc.domain.capture import group_batches
from condense_grpc.domain.entries import (
    ContextMetrics,
    Entry,
    FlushMetricsEntry,
    Frontier,
    FrontierEntry,
    FrontierOutcome,
    Stats,
    StatsEntry,
)
from condense_grpc.domain.messages import text_of
from condense_grpc.domain.stats import add_usage
from condense_grpc.engine.capture_step import find_pending, large_calls, places_of, spill, with_texts
from condense_grpc.engine.compression_step import (
    CompressionOrder,
    CompressionReport,
    CompressionTools,
    compress_chains,
    summary_usage,
)
from condense_grpc.engine.events import (
    BatchFinished,
    BatchOutcome,
    BatchPreview,
    BatchProgress,
    BatchStarted,
    FlushCompleted,
    FlushCounts,
    FlushOutcome,
    FlushStarted,
    Notice,
)
from condense_grpc.engine.flush_run import FlushRun
from condense_grpc.engine.flush_work import STORED, FlushWork, settle, take_out_duplicates
from condense_grpc.engine.measures import session_metrics
from condense_grpc.engine.ports import SummaryEvent, SummaryFailure, SummaryProgress, SummaryReply, SummaryRequest
from condense_grpc.engine.registry import LiveSession
from condense_grpc.engine.revision import current_revision
from condense_grpc.engine.state import SessionState
from condense_grpc.errors import CondenseError

logger = logging.getLogger(__name__)

# How many of the newest summaries a new one need not repeat.
_KNOWN_SUMMARIES = 100


@dataclass(frozen=True, slots=True)
class FlushOrder:
    """One flush to run."""

    session_id: str
    trigger: str
    ignore_window: bool = False
    concurrency: int = 4


class Flush:
    """One run. Call `run` once, in a task of its own; cancelling the task stops it between two decisions."""

    def __init__(self, tools: CompressionTools, order: FlushOrder, run: FlushRun) -> None:
        self._tools = tools
        self._order = order
        self._run = run
        self._works: list[FlushWork] = []
        self._captured = 0
        self._metrics = ContextMetrics()
        self._stats = Stats()
        self._known_text = ""
        self._result_budget_chars = 0

    async def run(self) -> None:
        """Everything, from the snapshot to the last event."""
        if not await self._snapshot():
            return
        self._run.emit(FlushStarted(self._order.trigger, tuple(self._previews())))
        await self._deduplicate()
        await self._summarize_and_commit()
        await self._write_frontier()
        report = await self._compress()
        outcome = self._outcome(report)
        await self._write_metrics(outcome)
        await self._complete(outcome, report)

    # Snapshot

    async def _snapshot(self) -> bool:
        """Spill what is large, then take what is ready, with its texts. False: the session is disabled."""
        async with self._tools.registry.locked(self._order.session_id) as live:
            state = live.state
            self._stats = state.decisions.stats
            if not state.config.enabled:
                await self._complete_locked(state, FlushOutcome.DISABLED, CompressionReport())
                return False
            state.flushed_since_load = True
            self._metrics = session_metrics(state)
            await self._spill(live)
            captured = find_pending(state)
            messages = await self._tools.bodies.messages(state, places_of(captured))
            batches = [with_texts(state, batch, messages) for batch in captured]
            grouped = group_batches(batches, state.config.batching_mode)
            self._known_text = "\n".join(text_of(one.message) for one in state.decisions.summaries[-_KNOWN_SUMMARIES:])
            paths = state.config.path_arguments
            self._works = [FlushWork(number, batch, paths) for number, batch in enumerate(grouped)]
            self._captured = len(grouped)
            return True

    async def _spill(self, live: LiveSession) -> None:
        state = live.state
        large = large_calls(state, find_pending(state))
        if not large:
            return
        messages = await self._tools.bodies.messages(state, places_of(large))
        for captured in large:
            batch = with_texts(state, captured, messages)
            state.decide(spill(state, batch, batch.calls), self._tools.clock.now_ms(), applied=True)
        await self._tools.registry.persist(live)

    def _previews(self) -> list[BatchPreview]:
        return [
            BatchPreview(
                work.number,
                work.batch.turn_index,
                tuple(call.tool_name for call in work.batch.calls),
                len(work.batch.calls),
                sum(len(call.result_text) for call in work.batch.calls),
            )
            for work in self._works
        ]

    # Batches

    async def _deduplicate(self) -> None:
        """Take out what repeats something, and settle what is too small to be worth a summary."""
        async with self._tools.registry.locked(self._order.session_id) as live:
            config = live.state.config
            enabled = config.dedup_by_content_hash
            entries = take_out_duplicates(self._works, live.state.decisions.index, enabled=enabled)
            live.state.decide(entries, self._tools.clock.now_ms(), applied=True)
            await self._tools.registry.persist(live)
        for work in self._works:
            if work.calls and config.min_batch_chars > 0 and work.raw_chars < config.min_batch_chars:
                work.outcome = BatchOutcome.SKIPPED_TRIVIAL
        self._result_budget_chars = config.result_budget_chars

    async def _summarize_and_commit(self) -> None:
        """Summarize with bounded parallelism; commit in order, each batch as soon as those before it are."""
        # The summarizer chooses where to send a batch when it is asked, so all are asked in order before any reply.
        streams = {
            work.number: self._tools.summarizer.summarize(
                SummaryRequest(self._order.session_id, work.remaining, self._result_budget_chars, self._known_text)
            )
            for work in self._works
            if work.calls and work.outcome is None
        }
        slots = asyncio.Semaphore(self._order.concurrency)
        async with asyncio.TaskGroup() as group:
            tasks = {
                number: group.create_task(self._summarize(self._works[number], stream, slots))
                for number, stream in streams.items()
            }
            for work in self._works:
                if work.number in tasks:
                    await tasks[work.number]
                await self._commit(work)

    async def _summarize(self, work: FlushWork, stream: AsyncIterator[SummaryEvent], slots: asyncio.Semaphore) -> None:
        async with slots:
            self._run.emit(BatchStarted(work.number, work.raw_chars))
            try:
                async for event in stream:
                    match event:
                        case SummaryProgress():
                            self._run.emit(BatchProgress(work.number, event.received_chars, work.raw_chars))
                        case SummaryReply():
                            work.reply = event
                        case SummaryFailure():
                            work.failure_reason = event.reason
            except Exception as error:
                # A summarizer answers by values; whatever it raises all the same costs this batch only.
                logger.exception("summarizer raised", exc_info=_without_text(error))
                work.failure_reason = "summarizer-error"
        if work.reply is None and not work.failure_reason:
            work.failure_reason = "no-reply"

    async def _commit(self, work: FlushWork) -> None:
        now_ms = self._tools.clock.now_ms()
        async with self._tools.registry.locked(self._order.session_id) as live:
            state = live.state
            if not _still_there(state, work):
                work.outcome, work.failure_reason = BatchOutcome.FAILED, "history-changed"
            else:
                entries = settle(work, state.decisions.index, state.failure_counts, now_ms)
                state.decide(entries, now_ms, applied=True)
                await self._tools.registry.persist(live)
        if work.reply is not None and work.is_processed:
            self._stats = add_usage(self._stats, summary_usage(work.reply.usage))
        self._run.emit(_finished(work))
        if work.outcome is BatchOutcome.FAILED:
            self._run.emit(Notice("warning", f"batch {work.number} stays as it is: {work.failure_reason or 'pending'}"))

    # After the batches

    async def _write_frontier(self) -> None:
        processed = [work for work in self._works if work.is_processed]
        if not processed:
            return
        async with self._tools.registry.locked(self._order.session_id) as live:
            stats = replace(
                self._stats,
                chains_compressed=live.state.decisions.stats.chains_compressed,
                ranges_summarized=live.state.decisions.stats.ranges_summarized,
            )
            entries: list[Entry] = [FrontierEntry(_frontier(processed)), StatsEntry(stats)]
            live.state.decide(entries, self._tools.clock.now_ms())
            await self._tools.registry.persist(live)

    async def _compress(self) -> CompressionReport:
        async with self._tools.registry.locked(self._order.session_id) as live:
            config = live.state.config.chain_compression
        if not config.enabled:
            return CompressionReport()
        pending = {key for work in self._works for key in work.pending}
        window = 0 if self._order.ignore_window else config.rolling_window
        order = CompressionOrder(self._order.session_id, window, pending)
        try:
            return await compress_chains(self._tools, order, self._run)
        except CondenseError as error:
            self._run.emit(Notice("error", f"chains were not compressed: {error.reason}"))
            return CompressionReport()

    def _outcome(self, report: CompressionReport) -> FlushOutcome:
        outcomes = {work.outcome for work in self._works}
        if outcomes & set(STORED):
            return FlushOutcome.SUMMARIZED
        for batch, flush in (
            (BatchOutcome.SKIPPED_OVERSIZED, FlushOutcome.SKIPPED_OVERSIZED),
            (BatchOutcome.SKIPPED_DEDUPED, FlushOutcome.SKIPPED_DEDUPED),
            (BatchOutcome.SKIPPED_TRIVIAL, FlushOutcome.SKIPPED_TRIVIAL),
        ):
            if batch in outcomes:
                return flush
        if self._works:
            return FlushOutcome.ERROR
        return FlushOutcome.COMPRESSED if report.blocks else FlushOutcome.EMPTY

    async def _write_metrics(self, outcome: FlushOutcome) -> None:
        """The report of the flush; that it could not be written is no failure of the flush."""
        now_ms = self._tools.clock.now_ms()
        processed = sum(work.is_processed for work in self._works)
        entry = FlushMetricsEntry(now_ms, self._order.trigger, self._captured, processed, outcome.value, self._metrics)
        try:
            async with self._tools.registry.locked(self._order.session_id) as live:
                live.state.decide([entry], now_ms)
                await self._tools.registry.persist(live)
        except CondenseError as error:
            logger.warning("flush metrics were not written: %s", error.reason)

    async def _complete(self, outcome: FlushOutcome, report: CompressionReport) -> None:
        async with self._tools.registry.locked(self._order.session_id) as live:
            await self._complete_locked(live.state, outcome, report)

    async def _complete_locked(self, state: SessionState, outcome: FlushOutcome, report: CompressionReport) -> None:
        works = self._works
        counts = FlushCounts(
            captured_batches=self._captured,
            processed_batches=sum(work.is_processed for work in works),
            summarized_batches=sum(work.outcome in STORED for work in works),
            failed_batches=sum(work.outcome is BatchOutcome.FAILED for work in works),
            captured_calls=sum(len(work.batch.calls) for work in works),
            raw_chars=sum(work.raw_chars for work in works),
            summary_chars=sum(len(work.text) for work in works if work.outcome in STORED),
        )
        revision = await current_revision(self._tools.bodies, state)
        self._run.emit(
            FlushCompleted(
                outcome,
                counts,
                state.decisions.frontier,
                state.decisions.stats,
                revision,
                report.blocks,
                report.skipped_chains,
                report.reclaimed_tokens,
            )
        )


def _without_text(error: BaseException) -> BaseException:
    """The error's class and place, without its message, which may hold content."""
    return RuntimeError(type(error).__name__).with_traceback(error.__traceback__)


def _still_there(state: SessionState, work: FlushWork) -> bool:
    """Whether every message of the batch is still on the active path."""
    nodes = set(state.transcript.nodes)
    return all(call.source is not None and call.source.result_node in nodes for call in work.batch.calls)


def _finished(work: FlushWork) -> BatchFinished:
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
    )


def _frontier(processed: Sequence[FlushWork]) -> Frontier:
    last = processed[-1]
    call = last.calls[-1] if last.calls else last.duplicates[-1].call
    settled = [
        [*work.calls, *(item.call for item in work.duplicates if item.call.key not in work.pending)]
        for work in processed
    ]
    outcome = FrontierOutcome.SUMMARIZED if last.outcome in STORED else FrontierOutcome(str(last.outcome))
    return Frontier(
        last_attempted_tool_call_id=call.tool_call_id,
        last_attempted_tool_name=call.tool_name,
        last_attempted_turn_index=last.batch.turn_index,
        last_attempted_timestamp_ms=last.batch.timestamp_ms,
        attempted_batch_count=len(processed),
        attempted_tool_call_count=sum(map(len, settled)),
        raw_char_count=sum(len(item.result_text) for calls in settled for item in calls),
        summary_char_count=sum(len(work.text) for work in processed),
        outcome=outcome,
    )
