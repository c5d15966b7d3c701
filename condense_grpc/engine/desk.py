"""The flushes and compactions that run: one per session, started here, stopped here."""

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine
from typing import Any

from condense_grpc.domain.entries import Stats
from condense_grpc.engine.events import FlushCompleted, FlushCounts, FlushOutcome, NumberedEvent
from condense_grpc.engine.flush_run import FlushRun
from condense_grpc.engine.ports import Clock
from condense_grpc.errors import FlushInProgress, ShuttingDown

Work = Callable[[FlushRun], Coroutine[Any, Any, None]]


class FlushDesk:
    """All runs of one engine. For one event loop."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._running: dict[str, FlushRun] = {}
        self._closing = False

    def running(self, session_id: str) -> FlushRun | None:
        """The run of a session, if there is one."""
        return self._running.get(session_id)

    def start(self, session_id: str, work: Work) -> FlushRun:
        """Start a run in a task of its own. Raises FlushInProgress when one runs."""
        if self._closing:
            raise ShuttingDown()
        if session_id in self._running:
            raise FlushInProgress(session_id)
        run = self._running[session_id] = FlushRun(self._clock)
        run.task = asyncio.create_task(self._carry(session_id, run, work))
        return run

    async def _carry(self, session_id: str, run: FlushRun, work: Work) -> None:
        try:
            await work(run)
        except asyncio.CancelledError:
            run.emit(FlushCompleted(FlushOutcome.CANCELLED, FlushCounts(), None, Stats(), ""))
        except BaseExceptionGroup as errors:
            run.fail(errors.exceptions[0])
        except Exception as error:
            run.fail(error)
        finally:
            if self._running.get(session_id) is run:
                del self._running[session_id]

    async def follow(self, run: FlushRun, *, owner: bool) -> AsyncIterator[NumberedEvent]:
        """The events of a run. When its owner stops listening the run is stopped; others only go away."""
        try:
            async for event in run.follow():
                yield event
        finally:
            if owner and not run.is_done:
                await self.stop(run)

    async def stop(self, run: FlushRun) -> None:
        """Cancel a run and wait until it has ended, with nothing half committed."""
        if run.task is not None and not run.task.done():
            run.task.cancel()
            await asyncio.wait([run.task])

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
        for run in list(self._running.values()):
            await self.stop(run)
