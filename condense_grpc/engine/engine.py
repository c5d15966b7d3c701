"""The engine: every use case of the service behind one object.

One instance serves one store. It owns the live sessions, their locks and the flushes that run.
"""

import hashlib
import secrets
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from condense_grpc.domain.batches import Record
from condense_grpc.domain.budget import Usage as ContextUsage
from condense_grpc.domain.config import SessionConfig, merge
from condense_grpc.domain.recovery import QueryAnswer
from condense_grpc.domain.slices import Slice
from condense_grpc.engine.appending import append_delta, wants_flush
from condense_grpc.engine.bodies import BodyCache
from condense_grpc.engine.calls import facts_of, find_records, records_of_transcript
from condense_grpc.engine.capture_step import find_pending
from condense_grpc.engine.compression_step import CompressionOrder, CompressionTools, compress_chains
from condense_grpc.engine.config_codec import config_to_json
from condense_grpc.engine.desk import FlushDesk, Work
from condense_grpc.engine.diagnose import diagnostics_report
from condense_grpc.engine.events import FlushCompleted, FlushCounts, FlushOutcome, FlushStarted, NumberedEvent
from condense_grpc.engine.flush import Flush, FlushOrder
from condense_grpc.engine.flush_preview import preview
from condense_grpc.engine.flush_run import FlushRun
from condense_grpc.engine.ports import Clock, SessionFilter, SessionRow, Store, StoredDiagnostic, Summarizer
from condense_grpc.engine.forking import fork_session
from condense_grpc.engine.pruning import flush_advice, prune
from condense_grpc.engine.recall import answer_query, record_bodies
from condense_grpc.engine.registry import LiveSession, Registry
from condense_grpc.engine.requests import (
    AppendResult,
    CallFacts,
    Delta,
    DiagnosticsReport,
    FlushAdvice,
    FlushRequest,
    FlushTrigger,
    PruneRequest,
    PruneResult,
    SessionInfo,
)
from condense_grpc.engine.scratch import scratch_state
from condense_grpc.engine.session_info import session_info
from condense_grpc.engine.shielding import completed
from condense_grpc.engine.triggers import usage_trigger
from condense_grpc.errors import CondenseError, ConfigInvalid, SessionAlreadyExists, SessionNotFound


@dataclass(frozen=True, slots=True)
class EngineOptions:
    """How an engine works. `sessions_kept`: how many stay loaded; `concurrency`: summaries at a time per flush."""

    concurrency: int = 4
    sessions_kept: int = 1000
    body_cache_bytes: int = 64 * 1024 * 1024


class Engine:
    """The use cases. Safe to use from many tasks of one event loop.

    Calls raise the errors of `condense_grpc.errors`. A cancelled call leaves nothing half done: what it was about to
    write is written, or was never begun.
    """

    def __init__(
        self, store: Store, summarizer: Summarizer, clock: Clock, options: EngineOptions | None = None
    ) -> None:
        options = options or EngineOptions()
        self._store = store
        self._clock = clock
        self._options = options
        self._bodies = BodyCache(store, options.body_cache_bytes)
        self._registry = Registry(store, clock, self._bodies, options.sessions_kept)
        self._summarizer = summarizer
        self._tools = CompressionTools(self._registry, self._bodies, summarizer, clock)
        self._desk = FlushDesk(clock)

    @property
    def store_kind(self) -> str:
        """The kind of the store."""
        return self._store.kind

    @property
    def summarizer_name(self) -> str:
        """The name of the summarizer."""
        return self._summarizer.name

    async def start(self) -> None:
        """Open the store. Call this before anything else."""
        await self._store.open()

    async def close(self, grace_seconds: float = 10) -> None:
        """Finish what runs or cancel it, write everything that was accepted, close the store."""
        await self._desk.close(grace_seconds)
        await self._registry.close()
        await self._store.close()

    # Sessions

    async def create_session(
        self,
        session_id: str,
        *,
        config: Mapping[str, Any],
        labels: Mapping[str, str],
        request_id: str = "",
    ) -> SessionInfo:
        """Make a session; an empty id has one made. Repeating it with its request id gives the session it made."""
        row = self._new_row(session_id or _made_id(request_id), config, labels, request_id)
        try:
            await self._registry.adopt(await completed(self._store.create(row)))
        except SessionAlreadyExists:
            await self._require_same_request(row)
        return await self.get_session(row.session_id)

    async def _require_same_request(self, row: SessionRow) -> None:
        """A repeated creation is fine when it is the same request."""
        existing = await self._store.read_row(row.session_id)
        asked = row.create_request_id
        if existing is None or not asked or existing.create_request_id != asked:
            raise SessionAlreadyExists(row.session_id)

    def _new_row(
        self, session_id: str, config: Mapping[str, Any], labels: Mapping[str, str], request_id: str
    ) -> SessionRow:
        now_ms = self._clock.now_ms()
        settings = config_to_json(merge(SessionConfig(), dict(config)))
        return SessionRow(
            session_id, now_ms, now_ms, labels=dict(labels), config_json=settings, create_request_id=request_id
        )

    async def get_session(self, session_id: str) -> SessionInfo:
        """One session. Raises SessionNotFound."""
        async with self._registry.locked(session_id) as live:
            return await session_info(self._bodies, live.state)

    async def list_sessions(self, where: SessionFilter, after_id: str, limit: int) -> list[SessionInfo]:
        """Sessions by id, those behind `after_id` first."""
        found: list[SessionInfo] = []
        for row in await self._store.list_rows(where, after_id, limit):
            try:
                found.append(await self.get_session(row.session_id))
            except SessionNotFound:
                continue
        return found

    async def update_session(
        self, session_id: str, *, config: Mapping[str, Any], labels: Mapping[str, str] | None
    ) -> SessionInfo:
        """Change single settings (nested blocks member by member) and replace the labels, if given."""
        async with self._registry.locked(session_id) as live:
            state = live.state
            merged = merge(state.config, dict(config))
            if merged.path_arguments != state.config.path_arguments and len(state.transcript):
                raise ConfigInvalid(
                    "path_arguments", "can be set only while the session has no messages: set it when you create one"
                )
            state.configure(merged, None if labels is None else dict(labels), config_to_json(merged))
            await self._registry.persist(live)
            return await session_info(self._bodies, state)

    async def delete_session(self, session_id: str) -> bool:
        """Remove a session with everything of it; a running flush is stopped. False if there was none."""
        await self._desk.stop_session(session_id)
        live = self._registry.find(session_id)
        if live is None:
            return await completed(self._store.delete(session_id))
        async with live.lock:
            deleted = await completed(self._store.delete(session_id))
            self._registry.discard(live)
        self._bodies.forget(session_id)
        return deleted

    async def fork_session(
        self,
        source_id: str,
        session_id: str,
        *,
        base_length: int | None = None,
        labels: Mapping[str, str] | None = None,
        request_id: str = "",
    ) -> SessionInfo:
        """Make a session that begins with the first `base_length` messages of another and what was decided on them."""
        row = self._new_row(session_id or _made_id(request_id), {}, labels or {}, request_id)
        try:
            await fork_session(self._store, self._registry, self._clock, source_id, row, base_length)
        except SessionAlreadyExists:
            await self._require_same_request(row)
        return await self.get_session(row.session_id)

    # The hot path

    async def append(self, session_id: str, delta: Delta) -> AppendResult:
        """Append a delta and nothing else."""
        created = await self._ensure(session_id, delta)
        async with self._registry.locked(session_id) as live:
            appended = await completed(self._append(live, delta, created))
        self._flush_if_wanted(live)
        return appended

    async def prune(self, request: PruneRequest) -> PruneResult:
        """Append the delta, if there is one, and render."""
        if request.dry_run:
            return await self._prune_dry(request)
        created = await self._ensure(request.session_id, request.delta)
        async with self._registry.locked(request.session_id) as live:
            result = await completed(self._prune(live, request, created))
            trigger = None if request.usage is None else usage_trigger(live.state, request.usage)
        started = self._flush_if_wanted(live, trigger)
        running = self._desk.running(request.session_id) is not None
        return replace(result, advice=replace(result.advice, started=started, running=running))

    async def _prune(self, live: LiveSession, request: PruneRequest, created: bool) -> PruneResult:
        state = live.state
        if request.delta is None:
            appended = AppendResult(len(state.transcript), state.transcript.etag, created)
        else:
            appended = await self._append(live, request.delta, created)
        result = await prune(state, request, appended, self._bodies, self._clock)
        await self._registry.persist_soon(live)
        return result

    async def _prune_dry(self, request: PruneRequest) -> PruneResult:
        """Report what a prune would do, on a copy that is thrown away."""
        state = await scratch_state(self._store, self._registry, request, self._clock)
        appended = AppendResult(len(state.transcript), state.transcript.etag)
        if request.delta is not None:
            violations = await append_delta(state, request.delta, self._bodies, self._clock)
            appended = AppendResult(len(state.transcript), state.transcript.etag, violations=violations)
        return await prune(state, request, appended, self._bodies, self._clock)

    async def _ensure(self, session_id: str, delta: Delta | None) -> bool:
        """Create the session of a delta that asks for it; whether that was done."""
        if delta is None or not delta.create_if_missing or self._registry.find(session_id) is not None:
            return False
        if await self._store.read_row(session_id) is not None:
            return False
        try:
            row = await completed(self._store.create(self._new_row(session_id, delta.config, {}, "")))
        except SessionAlreadyExists:
            return False
        await self._registry.adopt(row)
        return True

    async def _append(self, live: LiveSession, delta: Delta, created: bool) -> AppendResult:
        state = live.state
        before = state.transcript.head_node
        try:
            violations = await append_delta(state, delta, self._bodies, self._clock)
        except CondenseError:
            raise
        except Exception:
            # A fault of ours may have left half an append behind: the stored session is what counts.
            self._registry.discard(live)
            raise
        await self._registry.persist_soon(live)
        if state.transcript.head_node != before:
            state.boundary_due = wants_flush(state)
        return AppendResult(len(state.transcript), state.transcript.etag, created, violations)

    async def record_usage(self, session_id: str, usage: ContextUsage) -> FlushAdvice:
        """Take the host's own count of its last request; a budget or a delta that is hit starts a flush."""
        async with self._registry.locked(session_id) as live:
            trigger = usage_trigger(live.state, usage)
            advice = flush_advice(live.state)
        started = self._flush_if_wanted(live, trigger)
        running = self._desk.running(session_id) is not None
        return replace(advice, trigger=trigger or advice.trigger, started=started, running=running)

    def _flush_if_wanted(self, live: LiveSession, trigger: FlushTrigger | None = None) -> bool:
        """Start a flush in the background when a boundary or a budget asks for it; whether one was started."""
        state = live.state
        if self._desk.running(live.session_id) is not None or not state.config.enabled:
            return False
        if state.boundary_due:
            trigger = trigger or FlushTrigger.MESSAGE_END
        elif trigger is None or not find_pending(state):
            return False
        state.boundary_due = False
        self._desk.start(live.session_id, self._flush_work(live.session_id, trigger))
        return True

    # Flush and compaction

    async def flush(self, request: FlushRequest) -> AsyncIterator[NumberedEvent]:
        """Append the delta, if there is one, and flush; the events of the run.

        Raises FlushInProgress when one runs, unless `attach` asks to follow it. Closing the iterator stops a flush
        that it started, and only leaves one that it attached to.
        """
        if request.dry_run:
            async for event in self._preview(request):
                yield event
            return
        run, owner = await self._start_flush(request)
        events = self._desk.follow(run, owner=owner)
        try:
            async for event in events:
                yield event
        finally:
            await events.aclose()  # type: ignore[attr-defined]

    async def _start_flush(self, request: FlushRequest) -> tuple[FlushRun, bool]:
        session_id = request.session_id
        created = await self._ensure(session_id, request.delta)
        async with self._registry.locked(session_id) as live:
            if request.delta is not None:
                await completed(self._append(live, request.delta, created))
            running = self._desk.running(session_id)
            if running is not None and request.attach:
                return running, False
            live.state.boundary_due = False
            work = self._flush_work(session_id, request.trigger, ignore_window=request.compact)
            return self._desk.start(session_id, work), True

    def _flush_work(self, session_id: str, trigger: FlushTrigger, *, ignore_window: bool = False) -> Work:
        order = FlushOrder(session_id, trigger.value, ignore_window, self._options.concurrency)

        async def work(run: FlushRun) -> None:
            await Flush(self._tools, order, run).run()

        return work

    async def _preview(self, request: FlushRequest) -> AsyncIterator[NumberedEvent]:
        async with self._registry.locked(request.session_id) as live:
            batches = preview(live.state)
            now_ms = self._clock.now_ms()
            done = FlushCompleted(
                None, FlushCounts(len(batches)), live.state.decisions.frontier, live.state.decisions.stats, ""
            )
        yield NumberedEvent(1, now_ms, "", FlushStarted(request.trigger.value, batches, dry_run=True))
        yield NumberedEvent(2, now_ms, "", done)

    async def compact(self, session_id: str) -> AsyncIterator[NumberedEvent]:
        """Compress every eligible chain, the newest too; the events of the run."""
        async with self._registry.locked(session_id):
            run = self._desk.start(session_id, self._compaction_work(session_id))
        events = self._desk.follow(run, owner=True)
        try:
            async for event in events:
                yield event
        finally:
            await events.aclose()  # type: ignore[attr-defined]

    def _compaction_work(self, session_id: str) -> Work:
        async def work(run: FlushRun) -> None:
            run.emit(FlushStarted("manual", ()))
            report = await compress_chains(self._tools, CompressionOrder(session_id, 0), run)
            async with self._registry.locked(session_id) as live:
                outcome = FlushOutcome.COMPRESSED if report.blocks else FlushOutcome.EMPTY
                info = await session_info(self._bodies, live.state)
                decisions = live.state.decisions
                run.emit(
                    FlushCompleted(
                        outcome,
                        FlushCounts(),
                        decisions.frontier,
                        decisions.stats,
                        info.revision,
                        report.blocks,
                        report.skipped_chains,
                        report.reclaimed_tokens,
                    )
                )

        return work

    # Reading back

    async def query(self, session_id: str, refs: Sequence[str], slices: Sequence[Slice]) -> QueryAnswer:
        """The answer to a recovery query; works in a disabled session too."""
        async with self._registry.locked(session_id) as live:
            return await answer_query(self._bodies, live.state, refs, slices)

    async def call_facts(self, session_id: str, name: str) -> list[CallFacts]:
        """What a ref, an occurrence key or a tool call id names."""
        async with self._registry.locked(session_id) as live:
            return await facts_of(self._bodies, live.state, find_records(live.state, name))

    async def list_calls(self, session_id: str, after: int, limit: int) -> list[CallFacts]:
        """The answered calls of a session in order, from number `after` (0: the first) on."""
        async with self._registry.locked(session_id) as live:
            records = records_of_transcript(live.state)[after : after + limit]
            return await facts_of(self._bodies, live.state, records)

    async def read_text(self, session_id: str, record: Record) -> str:
        """The verbatim text of a record."""
        async with self._registry.locked(session_id) as live:
            return (await record_bodies(self._bodies, live.state, [record]))[record.key].text

    async def diagnostics(self, session_id: str) -> DiagnosticsReport:
        """Everything about a session."""
        async with self._registry.locked(session_id) as live:
            running = self._desk.running(session_id) is not None
            return diagnostics_report(live.state, self._summarizer, flush_running=running)

    async def diagnostic_entries(self, session_id: str, after: int, limit: int) -> list[StoredDiagnostic]:
        """What was noticed, oldest first, from behind number `after`."""
        async with self._registry.locked(session_id) as live:
            await self._registry.persist(live)
            return await self._store.read_diagnostics(session_id, after, limit)


def _made_id(request_id: str) -> str:
    """An id for a session whose client chose none: the same for the same request."""
    seed = hashlib.sha256(request_id.encode()).hexdigest() if request_id else secrets.token_hex(16)
    return f"s-{seed[:24]}"
