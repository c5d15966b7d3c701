"""A running flush or compaction as others see it: its events from the first on, for as many followers as like."""

import asyncio
import secrets
from collections.abc import AsyncGenerator, Callable, Sequence

from condense_grpc.domain.entries import Stats
from condense_grpc.engine.events import (
    BatchProgress,
    BatchStarted,
    FlushCompleted,
    FlushCounts,
    FlushEvent,
    FlushOutcome,
    NumberedEvent,
)
from condense_grpc.engine.ports import Clock

_FAILED = FlushCompleted(FlushOutcome.ERROR, FlushCounts(), None, Stats(), "")


class FlushRun:
    """The events of one run. A follower that reads slowly holds nobody up; progress of a batch is kept sparse.

    `error` is set when the run ended by an error instead of an outcome. Nothing comes behind the end. `is_abandoned`:
    its session is gone. `after` is the
    number of the last event of the session before this run; `tell` gets every event as it happens.
    """

    PROGRESS_STEPS = 20

    def __init__(self, clock: Clock, tell: Callable[[NumberedEvent], object], after: int = 0) -> None:
        self.flush_id = secrets.token_hex(8)
        self.last_sequence = after
        self._tell = tell
        self.task: asyncio.Task[None] | None = None
        self.error: BaseException | None = None
        self.is_abandoned = False
        self._clock = clock
        self._events: list[NumberedEvent] = []
        self._done = False
        self._changed: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._last_progress: dict[int, int] = {}

    @property
    def is_done(self) -> bool:
        """Whether the run has ended."""
        return self._done

    def emit(self, event: FlushEvent) -> None:
        """Add an event; progress only when it has moved by a share of the batch."""
        if isinstance(event, BatchProgress):
            last = self._last_progress.get(event.batch_index, 0)
            if event.received_chars - last < max(event.raw_chars // (8 * self.PROGRESS_STEPS), 1):
                return
            self._last_progress[event.batch_index] = event.received_chars
        elif isinstance(event, BatchStarted):
            self._last_progress.pop(event.batch_index, None)
        self.last_sequence += 1
        numbered = NumberedEvent(self.last_sequence, self._clock.now_ms(), self.flush_id, event)
        self._events.append(numbered)
        self._tell(numbered)
        self._wake()

    def complete(self, event: FlushCompleted) -> None:
        """End the run by its last event."""
        self._done = True
        self.emit(event)

    def fail(self, error: BaseException) -> None:
        """End the run by an error. Who did not ask for the run learns it as an outcome."""
        self.error = error
        self._done = True
        self.last_sequence += 1
        self._tell(NumberedEvent(self.last_sequence, self._clock.now_ms(), self.flush_id, _FAILED))
        self._wake()

    def _wake(self) -> None:
        changed, self._changed = self._changed, asyncio.get_running_loop().create_future()
        changed.set_result(None)

    async def follow(self) -> AsyncGenerator[Sequence[NumberedEvent], None]:
        """All events, those of the past first, and together what is there at once; then the error, if one ended it."""
        at = 0
        while True:
            while at < len(self._events):
                events = self._events[at:]
                at += len(events)
                yield events
            if self._done:
                if self.error is not None:
                    raise self.error
                return
            await asyncio.shield(self._changed)
