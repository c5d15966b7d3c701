"""The flush: finished batches of tool calls become summaries, and finished chains become blocks.

The session's lock is held to take the snapshot and for each decision, never while a summary is written. Batches are
independent: each one is decided completely or not at all, in order; what fails is captured again by the next flush.
Those that are ready at the same time share one commit.
Messages that arrive meanwhile are none of its business; a batch whose messages a rewind took away is let go.
"""

import asyncio
import logging
from collections import deque
from collections.abc import Sequence
from functools import partial

from condense_grpc.domain.capture import group_batches
from condense_grpc.domain.config import ChainCompressionConfig, SessionConfig
from condense_grpc.domain.entries import ContextMetrics, Entry, FlushMetricsEntry, FrontierEntry, StatsEntry
from condense_grpc.domain.frozen import frozen
from condense_grpc.domain.messages import text_of
from condense_grpc.engine.capture_step import find_pending, large_calls, places_of, spill, with_texts
from condense_grpc.engine.compression_step import (
    CompressionOrder,
    CompressionReport,
    DecidedChains,
    compress_chains,
    decide_chains,
    may_fuse,
)
from condense_grpc.engine.events import (
    BatchOutcome,
    BatchProgress,
    BatchStarted,
    FlushCompleted,
    FlushOutcome,
    FlushStarted,
    Notice,
)
from condense_grpc.engine.flush_report import batch_finished, batch_preview, completed_flush, flush_outcome, frontier_of
from condense_grpc.engine.flush_run import FlushRun
from condense_grpc.engine.flush_work import FlushWork, take_out_duplicates
from condense_grpc.engine.live_session import LiveSession
from condense_grpc.engine.measures import session_metrics
from condense_grpc.engine.offloading import MANY_MESSAGES, PIECES_AT_ONCE, offloaded, worked_off
from condense_grpc.engine.pinning import end_pins
from condense_grpc.engine.ports import SummaryAttempt, SummaryFailure, SummaryProgress, SummaryRequest, Usage
from condense_grpc.engine.revision import current_revision, read_view
from condense_grpc.engine.settling import settle_in, with_spending
from condense_grpc.engine.shielding import completed, ended
from condense_grpc.engine.state import SessionState
from condense_grpc.engine.summarizing import OnTheWay, Stream, answer_of, ask, writer_of
from condense_grpc.engine.tools import Tools
from condense_grpc.errors import CondenseError

logger = logging.getLogger(__name__)

# How many of the newest summaries a new one need not repeat.
_KNOWN_SUMMARIES = 100


@frozen
class FlushOrder:
    """One flush to run."""

    session_id: str
    trigger: str
    ignore_window: bool = False


class Flush:
    """One run. Call `run` once, in a task of its own; cancelling the task stops it between two decisions."""

    def __init__(self, tools: Tools, order: FlushOrder, run: FlushRun) -> None:
        self._tools = tools
        self._order = order
        self._run = run
        self._works: list[FlushWork] = []
        self._metrics = ContextMetrics()
        self._known_text = ""
        self._config = SessionConfig()
        self._writers: dict[int, str] = {}
        self._unanswered: set[int] = set()
        self._answered = asyncio.Event()
        # What became of the chains, and whether the store has it with the report of the flush.
        self._report: CompressionReport | None = None
        self._is_reported = False
        self._ending: FlushCompleted | None = None
        # What was written and not told yet.
        self._durable: Sequence[FlushWork] = ()
        self._chains: DecidedChains | None = None

    async def run(self) -> FlushCompleted:
        """Everything, from the snapshot to what its last event says.

        A cancellation that comes when all is durable has nothing left to stop: the flush ends as it is reported.
        """
        try:
            if not await self._begin():
                return await self._completed(FlushOutcome.DISABLED, CompressionReport())
            await self._summarize_and_commit()
            report = self._report or await self._compress()
        except asyncio.CancelledError:
            if self._run.is_abandoned:
                raise
            if self._report is None:
                await completed(self._write_metrics(FlushOutcome.CANCELLED))
                raise
            report = self._report
        try:
            return await completed(self._end(report))
        except asyncio.CancelledError:
            if self._ending is None:
                raise
            return self._ending

    async def _end(self, report: CompressionReport) -> FlushCompleted:
        """What is left when batches and chains are done with."""
        if self._ending is None:
            outcome = flush_outcome(self._works, report)
            if not self._is_reported:
                await self._write_metrics(outcome)
            self._ending = await self._completed(outcome, report)
        return self._ending

    # Snapshot

    async def _begin(self) -> bool:
        """Spill what is large, then take what is ready and has no twin. False: the session is disabled."""
        async with self._tools.registry.locked(self._order.session_id) as live:
            state = live.state
            if not state.config.enabled:
                return False
            state.flushed_since_load = True
            end_pins(state, self._tools.clock.now_ms())
            await read_view(state)
            self._metrics = session_metrics(state)
            self._config = state.config
            await self._spill(live)
            await self._take_snapshot(state)
            previews, length = tuple(map(batch_preview, self._works)), state.transcript.element_count
            self._run.emit(FlushStarted(self._order.trigger, previews, transcript_length=length))
            works, index, enabled = self._works, state.decisions.index, state.config.dedup_by_content_hash
            calls = sum([len(work.batch.calls) for work in works])
            entries = await offloaded(calls, lambda: take_out_duplicates(works, index, enabled=enabled))
            state.decide(entries, self._tools.clock.now_ms(), applied=True)
            if state.has_unwritten_decisions:
                await self._tools.registry.persist(live)
            for work in self._works:
                if work.calls and work.raw_chars < state.config.min_batch_chars:
                    work.outcome = BatchOutcome.SKIPPED_TRIVIAL
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

    async def _take_snapshot(self, state: SessionState) -> None:
        captured = find_pending(state)
        messages = await self._tools.bodies.messages(state, places_of(captured))
        batches = await offloaded(len(messages), lambda: [with_texts(state, batch, messages) for batch in captured])
        self._known_text = "\n".join(text_of(one.message) for one in state.decisions.summaries[-_KNOWN_SUMMARIES:])
        paths = state.config.path_arguments
        grouped = group_batches(batches, state.config.batching_mode)
        self._works = [FlushWork(number, batch, paths) for number, batch in enumerate(grouped)]

    # Batches

    async def _summarize_and_commit(self) -> None:
        """Summarize with bounded parallelism; commit in order, each batch as soon as those before it are ready."""
        # The summarizer chooses where to send a batch when it is asked, so all are asked in order before any reply.
        asked = deque((work, self._ask(work)) for work in self._works if work.calls and work.outcome is None)
        self._unanswered = {work.number for work, _ in asked}
        async with asyncio.TaskGroup() as group:
            for _ in range(min(self._tools.concurrency, len(asked))):
                group.create_task(self._summarize(asked))
            rest = deque(self._works)
            while rest:
                await self._wait_for(rest[0])
                ready: list[FlushWork] = []
                while rest and rest[0].number not in self._unanswered:
                    ready.append(rest.popleft())
                await self._commit(ready, are_last=not rest)
        if not self._works:
            await self._commit([], are_last=True)

    async def _wait_for(self, work: FlushWork) -> None:
        """Until the reply for a batch is there, and those that need nothing more than a moment."""
        while work.number in self._unanswered:
            self._answered.clear()
            await self._answered.wait()
        waiting = 0
        while waiting != len(self._unanswered):
            waiting = len(self._unanswered)
            await asyncio.sleep(0)

    def _ask(self, work: FlushWork) -> Stream:
        session_id, config = self._order.session_id, self._config
        request = SummaryRequest(session_id, work.remaining, config.result_budget_chars, self._known_text, config)
        return ask(lambda: self._tools.summarizer.summarize(request))

    async def _summarize(self, asked: deque[tuple[FlushWork, Stream]]) -> None:
        """Have one batch after another summarized, as long as there are some. Several do so at once."""
        while asked:
            work, stream = asked.popleft()
            self._begin_batch(work, writer_of(self._tools.summarizer, self._order.session_id, self._config))
            answer = await answer_of(stream, partial(self._tell, work))
            work.wasted = answer.wasted
            if isinstance(answer, SummaryFailure):
                work.failure_reason = answer.reason or "failed"
            else:
                work.reply = answer
            self._unanswered.discard(work.number)
            self._answered.set()
            if work.number % PIECES_AT_ONCE == 0:
                await asyncio.sleep(0)  # a summarizer that never waits must not hold up everybody

    def _begin_batch(self, work: FlushWork, writer: str) -> None:
        if self._writers.get(work.number) != writer:
            self._writers[work.number] = writer
            self._run.emit(BatchStarted(work.number, work.raw_chars, writer))

    def _tell(self, work: FlushWork, event: OnTheWay) -> None:
        """What happens to a batch on its way."""
        if isinstance(event, SummaryProgress):
            self._run.emit(BatchProgress(work.number, event.received_chars, work.raw_chars))
        elif isinstance(event, SummaryAttempt):
            self._begin_batch(work, event.summarizer)
        else:
            self._run.emit(Notice(event.level, event.text))

    async def _commit(self, works: Sequence[FlushWork], *, are_last: bool) -> None:
        """Settle these batches and write them together; behind the last one the frontier and the statistics."""
        now_ms = self._tools.clock.now_ms()
        try:
            try:
                async with self._tools.registry.locked(self._order.session_id) as live:
                    await completed(self._settle_and_write(live, works, now_ms, are_last=are_last))
            finally:
                # In one step with the end of the flush: whoever follows has all of it at once.
                self._tell_what_is_durable()
        except _NotCompressed as failed:
            self._report = self._not_compressed(failed.reason)

    async def _settle_and_write(
        self, live: LiveSession, works: Sequence[FlushWork], now_ms: int, *, are_last: bool
    ) -> None:
        state, calls = live.state, sum([len(work.batch.calls) for work in works])
        settled = await worked_off(calls, works, lambda work: settle_in(state, work, now_ms))
        entries = [entry for decided in settled for entry in decided]
        await offloaded(calls, lambda: state.decide(entries, now_ms, applied=True))
        if are_last:
            self._decide_frontier(state, now_ms)
            if self._can_go_on(state):
                await self._go_on(live, works)
                return
        # Also what was only appended: that another process has written meanwhile must not stay unnoticed.
        await self._tools.registry.persist(live)
        self._durable = works

    def _tell_what_is_durable(self) -> None:
        works, self._durable = self._durable, ()
        for work in works:
            self._tell_end(work)
        chains, self._chains = self._chains, None
        if chains is not None:
            chains.tell(self._run)

    def _tell_end(self, work: FlushWork) -> None:
        self._run.emit(batch_finished(work))
        if work.outcome is BatchOutcome.FAILED:
            self._run.emit(Notice("warning", f"batch {work.number} stays as it is: {work.failure_reason or 'pending'}"))
        elif work.outcome is BatchOutcome.SKIPPED_OVERSIZED and not self._config.quiet_oversized_skips:
            self._run.emit(
                Notice("info", f"batch {work.number} stays as it is: its summary was longer than its source")
            )

    # After the batches

    def _decide_frontier(self, state: SessionState, now_ms: int) -> None:
        processed = [work for work in self._works if work.is_processed]
        before = state.decisions.stats
        stats = with_spending(before, self._works, self._wasted_ahead())
        entries: list[Entry] = [FrontierEntry(frontier_of(processed))] if processed else []
        if processed or stats != before:
            state.decide([*entries, StatsEntry(stats)], now_ms)

    def _wasted_ahead(self) -> list[Usage]:
        """What summaries took that were made in the background for nothing."""
        background = self._tools.background
        return [] if background is None else background.take_waste(self._order.session_id)

    def _can_go_on(self, state: SessionState) -> bool:
        """Whether chains can be compressed at once: without asking anybody, looking at much, or telling in between."""
        config = state.config.chain_compression
        if not config.enabled or may_fuse(self._tools, config) or state.view.unread(state) > MANY_MESSAGES:
            return False
        # What was only appended is written by itself: that a write fails then costs nothing but time.
        return state.has_unwritten_decisions and not self._tools.registry.is_watched(self._order.session_id)

    async def _go_on(self, live: LiveSession, works: Sequence[FlushWork]) -> None:
        """Decide on the chains too, write everything together, and end the flush.

        The name of the view is worked out while the disk is busy; nothing is told before it is durable. Raises
        _NotCompressed when there was a fault with the chains: then the batches are written alone.
        """
        registry, state = self._tools.registry, live.state
        order = self._compression_order(state.config.chain_compression)
        try:
            chains = await decide_chains(self._tools, state, order, {}, self._closing)
        except Exception as error:
            await registry.persist(live)
            self._durable = works
            raise _NotCompressed(_reason_of(error)) from error
        writing = registry.begin_write(live)
        try:
            revision = await current_revision(self._tools.bodies, state)
        finally:
            await ended(writing)
            self._durable, self._chains = works, chains
            self._take_report(chains.report)
        outcome = flush_outcome(self._works, chains.report)
        self._ending = completed_flush(outcome, self._works, chains.report, state.decisions, revision)

    async def _compress(self) -> CompressionReport:
        async with self._tools.registry.locked(self._order.session_id) as live:
            config = live.state.config.chain_compression
        if not config.enabled:
            return CompressionReport()
        order = self._compression_order(config)
        try:
            return await compress_chains(self._tools, order, self._run, self._closing, self._take_report)
        except Exception as error:
            return self._not_compressed(_reason_of(error))

    def _compression_order(self, config: ChainCompressionConfig) -> CompressionOrder:
        window = 0 if self._order.ignore_window else config.rolling_window
        return CompressionOrder(self._order.session_id, window, waits_for_pending=True)

    def _not_compressed(self, reason: str) -> CompressionReport:
        """What was committed stays."""
        logger.warning("chains were not compressed: %s", reason)
        self._run.emit(Notice("error", f"chains were not compressed: {reason}"))
        return CompressionReport()

    def _closing(self, report: CompressionReport) -> Entry:
        """The report of the flush, to be written with the last of its decisions."""
        return self._metrics_entry(flush_outcome(self._works, report))

    def _take_report(self, report: CompressionReport) -> None:
        """The last of its decisions are durable, and the report of the flush with them."""
        self._report, self._is_reported = report, True

    def _metrics_entry(self, outcome: FlushOutcome) -> FlushMetricsEntry:
        now_ms = self._tools.clock.now_ms()
        processed = sum(work.is_processed for work in self._works)
        trigger, captured = self._order.trigger, len(self._works)
        flush_id = self._run.flush_id
        return FlushMetricsEntry(now_ms, trigger, captured, processed, outcome.value, self._metrics, flush_id)

    async def _write_metrics(self, outcome: FlushOutcome) -> None:
        """Write the report by itself; that it could not be written is no failure of the flush."""
        entry = self._metrics_entry(outcome)
        try:
            async with self._tools.registry.locked(self._order.session_id) as live:
                if not self._run.is_abandoned:
                    live.state.decide([entry], entry.ts_ms)
                    await self._tools.registry.persist(live)
        except CondenseError as error:
            logger.warning("flush metrics were not written: %s", error.reason)

    async def _completed(self, outcome: FlushOutcome, report: CompressionReport) -> FlushCompleted:
        async with self._tools.registry.locked(self._order.session_id) as live:
            revision = await current_revision(self._tools.bodies, live.state)
            return completed_flush(outcome, self._works, report, live.state.decisions, revision)


class _NotCompressed(Exception):
    """The batches are durable; there was a fault with what was to follow."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


def _reason_of(error: Exception) -> str:
    """A message that is not ours may hold content."""
    return error.reason if isinstance(error, CondenseError) else type(error).__name__
