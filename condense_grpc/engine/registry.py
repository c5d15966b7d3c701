"""The live sessions: loading, locking, writing, letting go.

Every session has one lock, for loading it as for everything else; whoever holds it may change the state. Appends are
written a moment later by a task of the registry. Decisions are written, with everything before them, before the lock
is let go: a state whose decisions are not durable by then is discarded, and the next caller loads the session again.
"""

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Protocol

from condense_grpc.engine.bodies import BodyCache
from condense_grpc.engine.ports import Changes, Clock, SessionRow, Store, StoredSession
from condense_grpc.engine.shielding import completed
from condense_grpc.engine.state import SessionState
from condense_grpc.errors import CondenseError, SessionNotFound, StoreUnavailable

logger = logging.getLogger(__name__)

_MAX_UNWRITTEN_BYTES = 8 * 1024 * 1024
_LONGEST_WRITE_DELAY_SECONDS = 5


class Listener(Protocol):
    """Who is told what happens to sessions. Nothing here may fail."""

    async def released(self, live: "LiveSession") -> None:
        """Somebody is about to let go of the lock."""
        ...

    def written(self, session_id: str, changes: Changes) -> None:
        """Changes are durable."""
        ...

    def deleted(self, session_id: str) -> None:
        """A session is gone."""
        ...


class LiveSession:
    """One loaded session: its state, and the lock under which it changes. `gone`: discarded, it counts no more."""

    def __init__(self, state: SessionState, lock: asyncio.Lock) -> None:
        self.state = state
        self.lock = lock
        self.gone = False
        self.writer: asyncio.Task[None] | None = None

    @property
    def session_id(self) -> str:
        """The id of the session."""
        return self.state.row.session_id


class _Slot:
    """The place of one session: its lock, how many hold it or wait for it, and the session once it is loaded."""

    def __init__(self) -> None:
        self.lock = asyncio.Lock()
        self.users = 0
        self.live: LiveSession | None = None

    @property
    def is_idle(self) -> bool:
        """Whether nothing is lost when the slot goes."""
        return not self.users and (self.live is None or not self.live.state.has_unwritten)


class Registry:
    """All live sessions of one engine. For one event loop.

    `capacity`: how many stay loaded while nobody uses them. `write_delay_seconds`: how long an append may wait.
    """

    def __init__(
        self, store: Store, clock: Clock, bodies: BodyCache, *, capacity: int = 1000, write_delay_seconds: float = 0.05
    ) -> None:
        self._store = store
        self._clock = clock
        self._bodies = bodies
        self._capacity = capacity
        self._write_delay_seconds = write_delay_seconds
        # The least recently used first.
        self._slots: dict[str, _Slot] = {}
        self._closing = False
        self.listener: Listener | None = None

    @asynccontextmanager
    async def locked(self, session_id: str) -> AsyncIterator[LiveSession]:
        """The session with its lock held. Raises SessionNotFound."""
        async with self._slot(session_id) as slot:
            if slot.live is None:
                stored = await self._store.load(session_id)
                if stored is None:
                    raise SessionNotFound(session_id)
                slot.live = LiveSession(SessionState(stored), slot.lock)
            live = slot.live
            try:
                yield live
            except CondenseError:
                raise
            except Exception:
                # A fault of ours may have left half a change behind: the stored session is what counts.
                self.discard(live)
                raise
            finally:
                if live.state.has_unwritten_decisions:
                    self.discard(live)
                if self.listener is not None and not live.gone:
                    await self.listener.released(live)

    @asynccontextmanager
    async def _slot(self, session_id: str) -> AsyncIterator[_Slot]:
        slot = self._slots.pop(session_id, None) or _Slot()
        self._slots[session_id] = slot
        slot.users += 1
        try:
            async with slot.lock:
                yield slot
        finally:
            slot.users -= 1
            if slot.live is None and not slot.users:
                del self._slots[session_id]
            self._let_go()

    def find(self, session_id: str) -> LiveSession | None:
        """The session if it is loaded."""
        slot = self._slots.get(session_id)
        return slot.live if slot else None

    async def create(self, row: SessionRow) -> None:
        """Make a session in the store and take it in. Raises SessionAlreadyExists."""
        async with self._slot(row.session_id) as slot:
            await completed(self._create(slot, row))

    async def _create(self, slot: _Slot, row: SessionRow) -> None:
        created = await self._store.create(row)
        if slot.live is not None:
            self.discard(slot.live)
        slot.live = LiveSession(SessionState(StoredSession(created, (), ())), slot.lock)

    async def delete(self, session_id: str) -> bool:
        """Remove a session from the store and from here; False if there was none."""
        async with self._slot(session_id) as slot:
            return await completed(self._delete(slot, session_id))

    async def _delete(self, slot: _Slot, session_id: str) -> bool:
        deleted = await self._store.delete(session_id)
        if slot.live is not None:
            self.discard(slot.live)
        self._bodies.forget(session_id)
        if self.listener is not None and deleted:
            self.listener.deleted(session_id)
        return deleted

    def discard(self, live: LiveSession) -> None:
        """Forget a state; what it had not written is lost to the store (clients send it again)."""
        live.gone = True
        slot = self._slots.get(live.session_id)
        if slot is not None and slot.live is live:
            slot.live = None

    def _let_go(self) -> None:
        """Beyond the capacity the longest unused sessions go, unless they have something to do or to write."""
        while len(self._slots) > self._capacity:
            idle = next((session_id for session_id, slot in self._slots.items() if slot.is_idle), None)
            if idle is None:
                return
            slot = self._slots.pop(idle)
            if slot.live is not None:
                slot.live.gone = True

    # Writing

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
        except BaseException:
            self.discard(live)
            raise
        state.written(changes, row)
        self._bodies.take_in(state, changes)
        if self.listener is not None:
            self.listener.written(live.session_id, changes)

    async def persist_soon(self, live: LiveSession) -> None:
        """Have appends written in a moment; at once when many bytes wait. The lock must be held."""
        state = live.state
        if not state.has_unwritten or live.gone:
            return
        many = state.transcript.unwritten_bytes > _MAX_UNWRITTEN_BYTES
        if state.has_unwritten_decisions or many or self._closing:
            await self.persist(live)
        elif live.writer is None or live.writer.done():
            live.writer = asyncio.create_task(self._write_later(live))

    async def _write_later(self, live: LiveSession) -> None:
        """Write what waits; while the store does not answer, try again ever more rarely."""
        delay = self._write_delay_seconds
        while not live.gone and live.state.has_unwritten:
            await asyncio.sleep(delay)
            delay = min(2 * delay, _LONGEST_WRITE_DELAY_SECONDS)
            try:
                async with live.lock:
                    await self.persist(live)
            except CondenseError as error:
                logger.warning("appended messages could not be written: %s", error.reason)

    async def close(self) -> None:
        """Write what is left of every session."""
        self._closing = True
        for slot in list(self._slots.values()):
            live = slot.live
            if live is None:
                continue
            if live.writer is not None:
                live.writer.cancel()
                await asyncio.wait([live.writer])
            async with live.lock:
                try:
                    await self.persist(live)
                except CondenseError as error:
                    logger.error("a session could not be written at shutdown: %s", error.reason)
