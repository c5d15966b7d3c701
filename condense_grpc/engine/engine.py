"""The engine: every use case of the service behind one object.

One instance serves one store. It owns the live sessions, their locks and the flushes that run.
"""

import asyncio
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from dataclasses import field, replace
from typing import Any

from condense_grpc.domain.batches import Record
from condense_grpc.domain.budget import Usage as ContextUsage
from condense_grpc.domain.frozen import frozen
from condense_grpc.domain.recovery import QueryAnswer
from condense_grpc.domain.slices import Slice
from condense_grpc.engine.background import Background
from condense_grpc.engine.bodies import BodyCache
from condense_grpc.engine.events import NumberedEvent
from condense_grpc.engine.feed import Feeds, Watch
from condense_grpc.engine.flushing import Flushing
from condense_grpc.engine.housekeeping import Housekeeper
from condense_grpc.engine.listing import CallFilter, Listing
from condense_grpc.engine.pi_file import PiFile
from condense_grpc.engine.pinning import Pinning
from condense_grpc.engine.ports import (
    Clock,
    KeepsOutages,
    SessionFilter,
    Store,
    StoredDiagnostic,
    Summarizer,
    WaitsForOthers,
)
from condense_grpc.engine.pruning import flush_advice
from condense_grpc.engine.reading import Reading
from condense_grpc.engine.recognition import Recollection
from condense_grpc.engine.registry import Registry
from condense_grpc.engine.requests import (
    AppendResult,
    CallFacts,
    CallPage,
    Delta,
    DiagnosticsReport,
    FlushAdvice,
    FlushRequest,
    ImportResult,
    PinResult,
    PruneRequest,
    PruneResult,
    SearchHit,
    SearchRequest,
    SessionInfo,
    SummaryFacts,
)
from condense_grpc.engine.residence import Residence, WriteWindow
from condense_grpc.engine.revision import read_view
from condense_grpc.engine.searching import Searching
from condense_grpc.engine.sessions import ForkBase, Sessions
from condense_grpc.engine.shielding import completed
from condense_grpc.engine.token_report import note_host_count
from condense_grpc.engine.tools import Tools
from condense_grpc.engine.transfers import Transfers
from condense_grpc.engine.turns import Turns, usage_trigger, with_usage
from condense_grpc.engine.watching import Announcer, Watching


@frozen
class EngineOptions:
    """How an engine works.

    `concurrency`: summaries at a time per flush; `sessions_kept`: how many stay loaded; `write_delay_seconds`: how
    long an append may wait before it is written; `works_ahead`: models summarize before a flush asks for it;
    `give_back`: returns memory that is free to the operating system, and may block.
    """

    concurrency: int = 4
    sessions_kept: int = 1000
    body_cache_bytes: int = 64 * 1024 * 1024
    write_delay_seconds: float = 0.05
    works_ahead: bool = False
    residence: Residence = field(default_factory=Residence)
    window: WriteWindow = field(default_factory=WriteWindow)
    give_back: Callable[[], object] | None = None


class Engine:
    """The use cases. Safe to use from many tasks of one event loop.

    Calls raise the errors of `condense_grpc.errors`. A cancelled call leaves nothing half done: what it was about to
    write is written, or was never begun.
    """

    def __init__(
        self, store: Store, summarizer: Summarizer, clock: Clock, options: EngineOptions | None = None
    ) -> None:
        options = options or EngineOptions()
        bodies = BodyCache(store, options.body_cache_bytes)
        self._registry = Registry(
            store,
            clock,
            bodies,
            capacity=options.sessions_kept,
            write_delay_seconds=options.write_delay_seconds,
            window=options.window,
        )
        self._housekeeper = Housekeeper(self._registry, clock, options.residence, options.give_back)
        background = Background(summarizer, options.concurrency) if options.works_ahead else None
        writer = background or summarizer
        self._tools = Tools(store, self._registry, bodies, writer, clock, options.concurrency, background)
        self._sessions = Sessions(self._tools)
        self._turns = Turns(self._tools, self._sessions)
        self._feeds = Feeds(clock)
        self._registry.listener = Announcer(self._feeds, bodies)
        self._watching = Watching(self._registry, self._feeds, bodies)
        self._flushing = Flushing(self._tools, self._sessions, self._turns, self._feeds.publish)
        self._reading = Reading(self._tools)
        self._listing = Listing(self._tools)
        self._searching = Searching(self._tools)
        self._pinning = Pinning(self._tools)
        self._transfers = Transfers(self._tools, self._sessions)

    @property
    def store_kind(self) -> str:
        """The kind of the store."""
        return self._tools.store.kind

    @property
    def summarizer_name(self) -> str:
        """The name of the summarizer."""
        return self._tools.summarizer.name

    async def start(self) -> None:
        """Open the store. Call this before anything else."""
        await self._tools.store.open()
        self._housekeeper.start()

    async def look_after_sessions(self) -> None:
        """Pack and let go of sessions whose time has come; it happens by itself every few seconds."""
        await self._housekeeper.look_around()

    async def close(self, grace_seconds: float = 10) -> None:
        """Finish what runs or cancel it, write everything that was accepted, close the store.

        When the grace is over, nothing is waited for any longer but what the store has begun.
        """
        loop = asyncio.get_running_loop()
        end = loop.time() + grace_seconds
        hurry = loop.call_at(end, self._hurry)
        try:
            self.end_watches()
            await self._flushing.close(grace_seconds)
            await self._housekeeper.stop()
            await self._registry.close(end - loop.time())
            await self._tools.store.close()
        finally:
            hurry.cancel()
            self._registry.end()

    async def stop_flushes(self) -> None:
        """The grace is over: cancel what is being flushed and take no more flushes; each ends with its last event."""
        self._hurry()
        await self._flushing.close(0)

    def _hurry(self) -> None:
        if isinstance(self._tools.store, WaitsForOthers):
            self._tools.store.wait_no_more()

    def end_watches(self) -> None:
        """Send everybody away who watches a session: they would stay for ever. They get ShuttingDown."""
        self._feeds.close()

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
        return await self._sessions.create(self._sessions.new_row(session_id, config, labels, request_id))

    async def get_session(self, session_id: str) -> SessionInfo:
        """One session. Raises SessionNotFound."""
        return await self._sessions.get(session_id)

    async def list_sessions(self, where: SessionFilter, after_id: str, limit: int) -> list[SessionInfo]:
        """Sessions by id, those behind `after_id` first."""
        return await self._sessions.list(where, after_id, limit)

    async def update_session(
        self, session_id: str, *, config: Mapping[str, Any], labels: Mapping[str, str] | None
    ) -> SessionInfo:
        """Change single settings (nested blocks member by member) and replace the labels, if given."""
        return await self._sessions.update(session_id, config, labels)

    async def delete_session(self, session_id: str) -> bool:
        """Remove a session with everything of it; a running flush is stopped. False if there was none."""
        desk = self._flushing.desk
        await desk.stop_session(session_id)
        # One that was started meanwhile must not go on with a session that is made behind this one.
        deleted = await self._registry.delete(session_id, desk.abandon)
        if isinstance(self._tools.summarizer, KeepsOutages):
            self._tools.summarizer.forget(session_id)
        return deleted

    async def fork_session(
        self,
        source_id: str,
        session_id: str,
        *,
        base_length: int | None = None,
        base_etag: str = "",
        labels: Mapping[str, str] | None = None,
        request_id: str = "",
    ) -> SessionInfo:
        """Make a session that begins with the first `base_length` messages of another and what was decided on them.

        Without `labels` it has those of the other one. Raises TranscriptMismatch when the base is not the other's.
        """
        row = self._sessions.new_row(session_id, {}, labels or {}, request_id)
        base = ForkBase(source_id, base_length, base_etag, keeps_labels=labels is None)
        return await self._sessions.fork(base, row)

    async def watch_session(self, session_id: str, cursor: str = "") -> Watch:
        """What happens to a session from now on, or behind a cursor. To be closed."""
        return await self._watching.watch(session_id, cursor)

    async def import_session(
        self,
        file: PiFile,
        session_id: str = "",
        *,
        config: Mapping[str, Any],
        labels: Mapping[str, str],
        request_id: str = "",
        is_native: bool = False,
    ) -> ImportResult:
        """Make a session of a file that is complete; an empty id is that of the file. On repeat as `create_session`.

        It goes on in the shape of Pi, or with messages of the contract.
        """
        row = self._sessions.new_row(session_id or file.header_id, config, labels, request_id)
        return await self._transfers.import_session(row, file, is_native=is_native)

    def export_session(self, session_id: str) -> AsyncGenerator[bytes, None]:
        """A session as a file, in chunks of at most a mebibyte."""
        return self._transfers.export_session(session_id)

    # The hot path

    async def append(self, session_id: str, delta: Delta) -> AppendResult:
        """Append a delta and nothing else."""
        use = self._registry.locked(session_id, self._sessions.maker(session_id, delta))
        async with use as live:
            appended = await completed(self._turns.append_to(live, delta, created=use.created))
        self._flushing.start_if_wanted(live)
        return appended

    async def prune(self, request: PruneRequest) -> PruneResult:
        """Append the delta, if there is one, and render."""
        if request.dry_run:
            return await self._turns.prune_dry(request)
        session_id, trigger = request.session_id, None
        use = self._registry.locked(session_id, self._sessions.maker(session_id, request.delta, request.create))
        async with use as live:
            result = await completed(self._turns.prune_in(live, request, created=use.created))
            if request.usage is not None:
                result, trigger = with_usage(result, live.state, request.usage)
        started = self._flushing.start_if_wanted(live, trigger)
        advice = self._told(session_id, result.advice, started=started)
        return result if advice is result.advice else replace(result, advice=advice)

    def recollect(self, session_id: str) -> Recollection | None:
        """How the messages of a session were sent, if it is loaded. Any thread may ask."""
        live = self._registry.find(session_id)
        return None if live is None else live.state.transcript.recollect()

    async def record_usage(self, session_id: str, usage: ContextUsage) -> FlushAdvice:
        """Take the host's own count of its last request; a budget or a delta that is hit starts a flush."""
        async with self._registry.locked(session_id) as live:
            await read_view(live.state)
            trigger = usage_trigger(live.state, usage)
            note_host_count(live.state, usage)
            advice = flush_advice(live.state, trigger)
        started = self._flushing.start_if_wanted(live, trigger)
        return self._told(session_id, advice, started=started)

    def _told(self, session_id: str, advice: FlushAdvice, *, started: bool) -> FlushAdvice:
        running = self._flushing.desk.running(session_id) is not None
        return replace(advice, started=started, running=running) if started or running else advice

    # Flush and compaction

    def flush(self, request: FlushRequest) -> AsyncGenerator[Sequence[NumberedEvent], None]:
        """Append the delta, if there is one, and flush; the events of the run, together what is there at once.

        Raises FlushInProgress when one runs, unless `attach` asks to follow it. Closing the iterator stops a flush
        that it started, and only leaves one that it attached to.
        """
        return self._flushing.flush(request)

    def compact(self, session_id: str, *, attach: bool = False) -> AsyncGenerator[Sequence[NumberedEvent], None]:
        """Compress every eligible chain, the newest too; the events of the run. As `flush` does otherwise."""
        return self._flushing.compact(session_id, attach=attach)

    # Reading back

    async def query(self, session_id: str, refs: Sequence[str], slices: Sequence[Slice]) -> QueryAnswer:
        """The answer to a recovery query; works in a disabled session too."""
        return await self._reading.query(session_id, refs, slices)

    async def call_facts(self, session_id: str, name: str) -> list[CallFacts]:
        """What a ref, an occurrence key or a tool call id names; results that no flush has filed too."""
        return await self._reading.call_facts(session_id, name)

    async def pin_calls(
        self, session_id: str, refs: Sequence[str], *, ttl_ms: int | None = None, unpin: bool = False
    ) -> PinResult:
        """Keep the results of these names verbatim, for a time or until they are unpinned."""
        return await self._pinning.pin(session_id, refs, ttl_ms=ttl_ms, unpin=unpin)

    async def search_calls(self, session_id: str, request: SearchRequest) -> list[SearchHit]:
        """The results that match, best matches first."""
        return await self._searching.search(session_id, request)

    async def find_calls(self, session_id: str, where: CallFilter, after: int, limit: int) -> CallPage:
        """A page of calls, all of one summary together, from number `after` on."""
        return await self._listing.calls(session_id, where, after, limit)

    async def list_summaries(self, session_id: str, after: int, limit: int) -> Sequence[SummaryFacts]:
        """The summaries and blocks of a session, oldest first, from number `after` on."""
        return await self._listing.summaries(session_id, after, limit)

    async def list_calls(self, session_id: str, after: int, limit: int) -> list[CallFacts]:
        """The results of a session in order, from number `after` (0: the first) on."""
        return await self._reading.list_calls(session_id, after, limit)

    async def read_text(self, session_id: str, record: Record) -> str:
        """The verbatim text of a record."""
        return await self._reading.read_text(session_id, record)

    async def diagnostics(self, session_id: str) -> DiagnosticsReport:
        """Everything about a session."""
        running = self._flushing.desk.running(session_id)
        report = await self._reading.diagnostics(session_id, flush_running=running is not None)
        return replace(report, running_flush_id=running.flush_id if running else "")

    async def diagnostic_entries(self, session_id: str, after: int, limit: int) -> list[StoredDiagnostic]:
        """What was noticed, oldest first, from behind number `after`."""
        return await self._reading.diagnostic_entries(session_id, after, limit)
