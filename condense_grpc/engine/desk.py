"""The flushes and compactions that run: one per session, started here, stopped here."""

import asyncio
import logging
from collections import OrderedDict
from collections.abc import AsyncGenerator, Callable, Coroutine, Sequence
from contextlib import aclosing
from functools import partial
from typing import Any

from condense_grpc.domain.entries import Stats
from condense_grpc.engine.events import FlushCompleted, FlushCounts, FlushOutcome, NumberedEvent
from condense_grpc.engine.flush_run import FlushRun
from condense_grpc.engine.ports import Clock
from condense_grpc.errors import CondenseError, FlushInProgress, ShuttingDown

logger = logging.getLogger(__name__)

Work = Callable[[FlushRun], Coroutine[Any, Any, FlushCompleted]]

_REMEMBERED_SESSIONS = 10_000
_CANCELLED = FlushCompleted(FlushOutcome.CANCELLED, FlushCounts(), None, Stats(), "")


class FlushDesk:
    """All runs of one engine. For one event loop.

    `then` is told the session of a run that has ended, `tell` every event with its session.
    """

    def __init__(
        self, clock: Clock, then: Callable[[str], object], tell: Callable[[str, NumberedEvent], object]
    ) -> None:
        self._clock = clock
        self._then = then
        self._tell = tell
        # The number of the last event of each session; the least recent go first.
        self._sequences: OrderedDict[str, int] = OrderedDict()
        self._running: dict[str, FlushRun] = {}
        self._closing = False

    @property
    def is_closing(self) -> bool:
        """Whether nothing is started any more."""
        return self._closing

    def running(self, session_id: str) -> FlushRun | None:
        """The run of a session, if there is one."""
        return self._running.get(session_id)

    def start(self, session_id: str, work: Work) -> FlushRun:
        """Start a run in a task of its own. Raises FlushInProgress when one runs."""
        if self._closing:
            raise ShuttingDown
        running = self._running.get(session_id)
        if running is not None:
            raise FlushInProgress(session_id, running.flush_id)
        run = self._running[session_id] = FlushRun(
            self._clock, partial(self._tell, session_id), self._sequences.get(session_id, 0)
        )
        run.task = asyncio.create_task(self._carry(session_id, run, work))
        run.task.add_done_callback(lambda _: self._end(session_id, run, _CANCELLED))
        return run

    async def _carry(self, session_id: str, run: FlushRun, work: Work) -> None:
        ending: FlushCompleted | BaseException
        try:
            ending = await work(run)
        except asyncio.CancelledError:
            ending = _CANCELLED
        except Exception as error:
            ending = _first(error)
            _log(ending)
        self._end(session_id, run, ending)

    def _end(self, session_id: str, run: FlushRun, ending: FlushCompleted | BaseException) -> None:
        """End a run, unless that was done. A task that was cancelled before its first step comes here only."""
        if run.is_done:
            return
        del self._running[session_id]
        if isinstance(ending, FlushCompleted):
            run.complete(ending)
        else:
            run.fail(ending)
        self._remember(session_id, run.last_sequence)
        self._then(session_id)

    def _remember(self, session_id: str, sequence: int) -> None:
        self._sequences[session_id] = sequence
        self._sequences.move_to_end(session_id)
        if len(self._sequences) > _REMEMBERED_SESSIONS:
            self._sequences.popitem(last=False)

    async def follow(self, run: FlushRun, *, owner: bool) -> AsyncGenerator[Sequence[NumberedEvent], None]:
        """The events of a run. When its owner stops listening the run is stopped; others only go away."""
        try:
            async with aclosing(run.follow()) as steps:
                async for events in steps:
                    yield events
        finally:
            if owner and not run.is_done:
                await self.stop(run)

    async def stop(self, run: FlushRun) -> None:
        """Cancel a run and wait until it has ended, with nothing half committed."""
        if run.task is not None and not run.task.done():
            run.task.cancel()
            await asyncio.wait([run.task])

    def abandon(self, session_id: str) -> None:
        """Cancel the run of a session that is gone: nothing of it may get into another one of that id."""
        run = self._running.get(session_id)
        if run is not None and run.task is not None:
            run.is_abandoned = True
            run.task.cancel()

    async def stop_session(self, session_id: str) -> None:
        """Cancel the run of a session, if there is one."""
        run = self._running.get(session_id)
        if run is not None:
            await self.stop(run)

    async def close(self, grace_seconds: float) -> None:
        """Take no more; wait for what runs, then cancel it."""
        self._closing = True
        tasks = [run.task for run in self._running.values() if run.task is not None]
        if tasks:
            await asyncio.wait(tasks, timeout=grace_seconds)
        # All at once: what each still writes waits for the store together.
        await asyncio.gather(*map(self.stop, self._running.values()))


def _first(error: Exception) -> BaseException:
    """The error itself, or the first one of a group."""
    found: BaseException = error
    while isinstance(found, BaseExceptionGroup):
        found = found.exceptions[0]
    return found


def _log(error: BaseException) -> None:
    """Nobody may be listening. The message of a foreign error may hold content."""
    what = error.reason if isinstance(error, CondenseError) else type(error).__name__
    logger.warning("a flush or compaction ended by an error: %s", what)
