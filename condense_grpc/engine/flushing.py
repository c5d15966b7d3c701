"""Flushes and compactions as use cases: on request, watched by whoever likes, and in the background."""

import asyncio
import logging
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing

from condense_grpc.domain.capture import group_runs
from condense_grpc.engine.background import Background
from condense_grpc.engine.capture_step import find_pending
from condense_grpc.engine.compression_step import CompressionOrder, compress_chains
from condense_grpc.engine.desk import FlushDesk, Work
from condense_grpc.engine.events import (
    BatchPreview,
    FlushCompleted,
    FlushCounts,
    FlushOutcome,
    FlushStarted,
    NumberedEvent,
)
from condense_grpc.engine.flush import Flush, FlushOrder
from condense_grpc.engine.flush_report import completed_flush
from condense_grpc.engine.flush_run import FlushRun
from condense_grpc.engine.foresight import foreseen_requests
from condense_grpc.engine.live_session import LiveSession
from condense_grpc.engine.pinning import end_pins
from condense_grpc.engine.requests import FlushRequest, FlushTrigger
from condense_grpc.engine.revision import current_revision
from condense_grpc.engine.sessions import Maker, Sessions
from condense_grpc.engine.shielding import completed
from condense_grpc.engine.state import SessionState
from condense_grpc.engine.tools import Tools
from condense_grpc.engine.turns import Turns
from condense_grpc.errors import CondenseError, RevisionConflict, SessionNotFound

logger = logging.getLogger(__name__)


class Flushing:
    """Starts flushes and compactions and follows them. For one event loop. `tell` gets every event of a session."""

    def __init__(
        self, tools: Tools, sessions: Sessions, turns: Turns, tell: Callable[[str, NumberedEvent], object]
    ) -> None:
        self._tools = tools
        self._sessions = sessions
        self._turns = turns
        self.desk = FlushDesk(tools.clock, self._start_what_is_due, tell)
        self._looking: dict[str, asyncio.Task[None]] = {}

    # On request

    async def flush(self, request: FlushRequest) -> AsyncGenerator[Sequence[NumberedEvent], None]:
        """Append the delta, if there is one, and flush; the events of the run, together what is there at once."""
        if request.dry_run:
            yield await self._preview(request)
            return
        make = self._sessions.maker(request.session_id, request.delta, request.create)
        run, owner = await self._start(request, make)
        try:
            async with aclosing(self.desk.follow(run, owner=owner)) as steps:
                async for events in steps:
                    yield events
        except SessionNotFound:
            if make is None:
                raise
            raise RevisionConflict(request.session_id) from None

    async def _start(self, request: FlushRequest, make: Maker | None) -> tuple[FlushRun, bool]:
        """The run to follow, and whether it was started here."""
        session_id, run = request.session_id, None
        use = self._tools.registry.locked(session_id, make)
        try:
            async with use as live:
                if request.delta is not None:
                    await completed(self._turns.append_to(live, request.delta, created=use.created))
                running = self.desk.running(session_id)
                if running is not None and request.attach:
                    return running, False
                run = self.desk.start(session_id, self._flush_work(session_id, request.trigger, request.compact))
                live.state.boundary_due = False
            return run, True
        except BaseException:
            # Cancelled while those who watch were told of the delta: nobody follows what was started here.
            if run is not None:
                await self.desk.stop(run)
            raise

    def _flush_work(self, session_id: str, trigger: FlushTrigger, ignore_window: bool = False) -> Work:
        order = FlushOrder(session_id, trigger.value, ignore_window)
        return lambda run: Flush(self._tools, order, run).run()

    async def _preview(self, request: FlushRequest) -> tuple[NumberedEvent, NumberedEvent]:
        """What a flush would take, without taking it."""
        state, _ = await self._turns.scratch(request.session_id, request.delta, request.create)
        batches, decisions = _batches_of(state), state.decisions
        now_ms = self._tools.clock.now_ms()
        done = FlushCompleted(None, FlushCounts(len(batches)), decisions.frontier, decisions.stats, "")
        length = state.transcript.element_count
        started = FlushStarted(request.trigger.value, batches, dry_run=True, transcript_length=length)
        return NumberedEvent(1, now_ms, "", started), NumberedEvent(2, now_ms, "", done)

    async def compact(self, session_id: str, *, attach: bool = False) -> AsyncGenerator[Sequence[NumberedEvent], None]:
        """Compress every eligible chain, the newest too; the events of the run."""
        async with self._tools.registry.locked(session_id):
            running = self.desk.running(session_id) if attach else None
            run = running or self.desk.start(session_id, lambda run: self._compact(session_id, run))
        async with aclosing(self.desk.follow(run, owner=running is None)) as steps:
            async for events in steps:
                yield events

    async def _compact(self, session_id: str, run: FlushRun) -> FlushCompleted:
        async with self._tools.registry.locked(session_id) as live:
            end_pins(live.state, self._tools.clock.now_ms())
            await self._tools.registry.persist(live)
            length = live.state.transcript.element_count
        run.emit(FlushStarted(FlushTrigger.MANUAL.value, (), transcript_length=length))
        order = CompressionOrder(session_id, rolling_window=0, waits_for_pending=False)
        report = await compress_chains(self._tools, order, run)
        outcome = FlushOutcome.COMPRESSED if report.blocks else FlushOutcome.EMPTY
        async with self._tools.registry.locked(session_id) as live:
            revision = await current_revision(self._tools.bodies, live.state)
            return completed_flush(outcome, (), report, live.state.decisions, revision)

    # In the background

    async def close(self, grace_seconds: float) -> None:
        """Take no more; wait for what runs, then cancel it."""
        await self.desk.close(grace_seconds)
        looking = list(self._looking.values())
        for task in looking:
            task.cancel()
        await asyncio.gather(*looking, return_exceptions=True)
        if self._tools.background is not None:
            await self._tools.background.close()

    def start_if_wanted(self, live: LiveSession, trigger: FlushTrigger | None = None) -> bool:
        """Start a flush when a boundary or a budget asks for it; whether one was started."""
        started = self._start_if_wanted(live, trigger)
        if not started and self._tools.background is not None:
            self._look_ahead(live, self._tools.background)
        return started

    def _start_if_wanted(self, live: LiveSession, trigger: FlushTrigger | None) -> bool:
        state = live.state
        if self.desk.is_closing or self.desk.running(live.session_id) is not None or not state.config.enabled:
            return False
        if state.boundary_due:
            trigger = trigger or FlushTrigger.MESSAGE_END
        elif trigger is None or not find_pending(state):
            return False
        state.boundary_due = False
        self.desk.start(live.session_id, self._flush_work(live.session_id, trigger))
        return True

    def _look_ahead(self, live: LiveSession, background: Background) -> None:
        """Have summaries made of what is complete, soon. One look at a time takes in all that has come until then."""
        session_id, config = live.session_id, live.state.config
        is_off = self.desk.is_closing or not config.enabled or session_id in self._looking
        if not is_off and background.wants(session_id, config):
            self._looking[session_id] = asyncio.create_task(self._prepare(session_id, background))

    async def _prepare(self, session_id: str, background: Background) -> None:
        try:
            async with self._tools.registry.locked(session_id) as live:
                self._looking.pop(session_id, None)
                # What a running flush has taken is not settled yet.
                if self.desk.running(session_id) is None:
                    background.prepare(session_id, await foreseen_requests(self._tools, session_id, live.state))
        except CondenseError as error:
            logger.warning("nothing was summarized in the background: %s", error.reason)
        finally:
            if self._looking.get(session_id) is asyncio.current_task():
                del self._looking[session_id]

    def _start_what_is_due(self, session_id: str) -> None:
        """A boundary that was reached while a run went on asks for a flush of its own."""
        live = self._tools.registry.find(session_id)
        if live is not None:
            self.start_if_wanted(live)


def _batches_of(state: SessionState) -> tuple[BatchPreview, ...]:
    """The batches that capture finds now, grouped as a flush would."""
    skeletons = state.transcript.skeletons
    previews = []
    for number, run in enumerate(group_runs(find_pending(state), state.config.batching_mode)):
        calls = [(batch, call) for batch in run for call in batch.calls]
        names = tuple(skeletons[batch.position].calls[call.ordinal].name for batch, call in calls)
        chars = sum(skeletons[call.result_position].text_chars for _, call in calls)
        previews.append(BatchPreview(number, run[-1].turn_index, names, len(calls), chars))
    return tuple(previews)
