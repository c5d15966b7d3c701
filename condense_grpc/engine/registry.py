"""The live sessions: loading, locking, writing, letting go.

Every session has one lock; whoever holds it may change the state. A state whose decisions could not be written is
discarded, and the next caller loads the session again. Appends are written a moment later by a task of the registry;
a decision is written, with everything before it, before it is told to anybody.
"""

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from condense_grpc.engine.bodies import BodyCache
from condense_grpc.engine.ports import Clock, SessionRow, Store, StoredSession
from condense_grpc.engine.shielding import completed
from condense_grpc.engine.state import SessionState
from condense_grpc.errors import CondenseError, SessionNotFound, StoreUnavailable

logger = logging.getLogger(__name__)

_WRITE_DELAY_SECONDS = 0.05
_MAX_UNWRITTEN_BYTES = 8 * 1024 * 1024


class LiveSession:
    """One loaded session: its state and its lock. `gone`: discarded, load again."""

    def __init__(self, session_id: str, state: SessionState) -> None:
        self.session_id = session_id
        self.state = state
        self.lock = asyncio.Lock()
        self.gone = False
        self.writer: asyncio.Task[None] | None = None


class Registry:
    """All live sessions of one engine. For one event loop."""

    def __init__(self, store: Store, clock: Clock, bodies: BodyCache, capacity: int = 1000) -> None:
        self._store = store
        self._clock = clock
        self._bodies = bodies
        self._capacity = capacity
        self._live: dict[str, LiveSession] = {}
        self._loading: dict[str, asyncio.Lock] = {}
        self._closing = False

    @asynccontextmanager
    async def locked(self, session_id: str) -> AsyncIterator[LiveSession]:
        """The session with its lock held. Raises SessionNotFound."""
        while True:
            live = await self._get(session_id)
            async with live.lock:
                if not live.gone:
                    self._live[session_id] = self._live.pop(session_id, live)
                    yield live
                    return

    async def _get(self, session_id: str) -> LiveSession:
        live = self._live.get(session_id)
        if live is not None:
            return live
        lock = self._loading.setdefault(session_id, asyncio.Lock())
        try:
            async with lock:
                live = self._live.get(session_id)
                if live is None:
                    stored = await self._store.load(session_id)
                    if stored is None:
                        raise SessionNotFound(session_id)
                    live = self._live[session_id] = LiveSession(session_id, SessionState(stored))
        finally:
            if not lock.locked():
                self._loading.pop(session_id, None)
        self._let_go()
        return live

    async def adopt(self, row: SessionRow) -> None:
        """Take in a session that was just created."""
        self._live.setdefault(row.session_id, LiveSession(row.session_id, SessionState(StoredSession(row, (), ()))))
        self._let_go()

    def find(self, session_id: str) -> LiveSession | None:
        """The session if it is loaded."""
        return self._live.get(session_id)

    def discard(self, live: LiveSession) -> None:
        """Forget a state; what it had not written is lost to the store (clients send it again)."""
        live.gone = True
        if self._live.get(live.session_id) is live:
            del self._live[live.session_id]

    def _let_go(self) -> None:
        """Beyond the capacity the longest unused sessions go, unless they have something to do or to write."""
        for live in list(self._live.values()):
            if len(self._live) <= self._capacity:
                return
            if not live.lock.locked() and not live.state.has_unwritten:
                self.discard(live)

    async def persist(self, live: LiveSession) -> None:
        """Write everything that the store does not know. The lock must be held.

        When this raises and there were decisions, the state is gone.
        """
        await completed(self._write(live))

    async def _write(self, live: LiveSession) -> None:
        state = live.state
        if live.gone or not state.has_unwritten:
            return
        changes = state.changes(self._clock.now_ms())
        try:
            row = await self._store.write(changes)
        except StoreUnavailable:
            if state.has_unwritten_decisions:
                self.discard(live)
            raise
        except CondenseError:
            self.discard(live)
            raise
        state.written(changes, row)

    async def persist_soon(self, live: LiveSession) -> None:
        """Have appends written in a moment; at once when many bytes wait. The lock must be held."""
        state = live.state
        if not state.has_unwritten:
            return
        waiting = sum(len(message.body) for message in state.transcript.unwritten.values())
        if state.has_unwritten_decisions or waiting > _MAX_UNWRITTEN_BYTES or self._closing:
            await self.persist(live)
        elif live.writer is None or live.writer.done():
            live.writer = asyncio.create_task(self._write_later(live))

    async def _write_later(self, live: LiveSession) -> None:
        await asyncio.sleep(0 if self._closing else _WRITE_DELAY_SECONDS)
        try:
            async with live.lock:
                await self.persist(live)
        except CondenseError as error:
            logger.warning("appends could not be written yet: %s", error.reason)

    async def close(self) -> None:
        """Write what is left of every session."""
        self._closing = True
        for live in list(self._live.values()):
            if live.writer is not None:
                live.writer.cancel()
                await asyncio.gather(live.writer, return_exceptions=True)
            async with live.lock:
                try:
                    await self.persist(live)
                except CondenseError as error:
                    logger.error("a session could not be written at shutdown: %s", error.reason)
