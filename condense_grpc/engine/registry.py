"""The live sessions: loading, locking, resting, letting go.

Every session has one lock, for loading it as for everything else; whoever holds it may change the state. Decisions are
written, with everything before them, before the lock is let go: a state whose decisions are not durable by then is
discarded. The next caller finds the session as the store has it, with what was appended since. How and when appends are
written is a matter of `writing`; when a session is to rest or to go, others decide.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from dataclasses import replace
from types import TracebackType
from typing import Any

from condense_grpc.engine.bodies import BodyCache
from condense_grpc.engine.live_session import Listener, LiveSession
from condense_grpc.engine.ports import Changes, Clock, SessionRow, Store, StoredSession
from condense_grpc.engine.requests import SessionInfo
from condense_grpc.engine.residence import Resident, WriteWindow
from condense_grpc.engine.resting import RestingSession
from condense_grpc.engine.session_info import described, info_of_row, session_info
from condense_grpc.engine.shielding import begun, completed
from condense_grpc.engine.state import INFO_FACT, SessionState
from condense_grpc.engine.writing import Writing
from condense_grpc.errors import CondenseError, RevisionConflict, SessionAlreadyExists, SessionNotFound

# A state of more messages is built aside: others must not wait for it.
_LONG_SESSION_MESSAGES = 1000
# So often a session is looked for, and made, while others make and remove it.
_TRIES = 3


class _Slot:
    """The place of one session: its lock, how many hold it or wait for it, and the session once it is loaded.

    A session at rest is in `resting` instead of `live`. `size_bytes` is what it took when it was let go of last.
    """

    def __init__(self) -> None:
        self.lock = asyncio.Lock()
        self.users = 0
        self.live: LiveSession | None = None
        self.resting: RestingSession | None = None
        self.last_used_ms = 0
        self.size_bytes = 0

    @property
    def is_idle(self) -> bool:
        """Whether nothing is lost when the slot goes."""
        is_unwritten = self.live is not None and self.live.state.has_unwritten
        return not self.users and not self.lock.locked() and not is_unwritten


class Registry:
    """All live sessions of one engine. For one event loop.

    `capacity`: how many stay loaded while nobody uses them. `write_delay_seconds`: how long an append may wait, and
    `window`: how much of them.
    """

    def __init__(
        self,
        store: Store,
        clock: Clock,
        bodies: BodyCache,
        *,
        capacity: int = 1000,
        write_delay_seconds: float = 0.05,
        window: WriteWindow | None = None,
    ) -> None:
        self._store = store
        self._clock = clock
        self._bodies = bodies
        self._capacity = capacity
        self._writing = Writing(store, clock, self, delay_seconds=write_delay_seconds, window=window or WriteWindow())
        self.size_bytes = 0
        """About what all loaded sessions take of memory."""
        self.last_used_ms = 0
        self.on_release: Callable[[], None] | None = None
        # The least recently used first.
        self._slots: dict[str, _Slot] = {}
        self.listener: Listener | None = None

    def locked(self, session_id: str, make: "Callable[[], SessionRow] | None" = None) -> "_Locked":
        """The session with its lock held, as a context. Raises SessionNotFound, or makes it, when there is none.

        `make` gives its row, or raises why it is not made. `created` of the context says whether it was.
        """
        return _Locked(self, session_id, make)

    async def hold(self, use: "_Locked") -> LiveSession:
        """Wait for a session's lock, and load the session. `let_go_of` is to follow unless this raises."""
        session_id = use.session_id
        use.slot = slot = self._enter(session_id)
        try:
            await slot.lock.acquire()
        except BaseException:
            self._leave(session_id, slot)
            raise
        try:
            # To its end, also when nobody waits any more: else who has little time would never find it loaded.
            use.live = slot.live if slot.live is not None else await completed(self._load(slot, use))
        except BaseException:
            slot.lock.release()
            self._leave(session_id, slot)
            raise
        return use.live

    async def let_go_of(self, use: "_Locked", error: BaseException | None) -> None:
        """The end of a use, which may have been an error."""
        slot, live = use.slot, use.live
        try:
            if isinstance(error, RevisionConflict) or (
                isinstance(error, Exception) and not isinstance(error, CondenseError)
            ):
                # The stored session is what counts: it is another one, or a fault of ours has left half a change here.
                self.discard(live)
            if live.state.has_unwritten_decisions:
                self.discard(live)
            if use.make is not None and isinstance(error, SessionNotFound):
                # Another process has removed it. Whoever builds on its messages is told so, others only try again.
                use.make()
                raise RevisionConflict(use.session_id) from None
            listener = self.listener
            if listener is not None and not live.gone and listener.listens_to(use.session_id):
                await listener.released(live)
        finally:
            slot.lock.release()
            self._leave(use.session_id, slot)

    async def _load(self, slot: _Slot, use: "_Locked") -> LiveSession:
        resting = slot.resting
        if resting is not None:
            live = LiveSession(await _built(resting.wake, resting.row.length), slot.lock, resting.info)
        else:
            stored = await self._stored(use)
            live = LiveSession(await _built(lambda: SessionState(stored), len(stored.messages)), slot.lock)
        slot.live, slot.resting = live, None
        return live

    async def _stored(self, use: "_Locked") -> StoredSession:
        for _ in range(_TRIES):
            stored = await self._store.load(use.session_id)
            if stored is not None:
                return stored
            if use.make is None:
                raise SessionNotFound(use.session_id)
            try:
                row = await self._store.create(use.make())
            except SessionAlreadyExists:
                continue  # another process was faster
            use.created = True
            return StoredSession(row, (), ())
        raise RevisionConflict(use.session_id)

    @asynccontextmanager
    async def _slot(self, session_id: str) -> AsyncIterator[_Slot]:
        slot = self._enter(session_id)
        try:
            async with slot.lock:
                yield slot
        finally:
            self._leave(session_id, slot)

    def _enter(self, session_id: str) -> _Slot:
        """Take part in the use of a slot, which is the most recently used one from now on."""
        slot = self._slots.pop(session_id, None) or _Slot()
        self._slots[session_id] = slot
        slot.users += 1
        return slot

    def _leave(self, session_id: str, slot: _Slot) -> None:
        slot.users -= 1
        slot.last_used_ms = self.last_used_ms = self._clock.now_ms()
        self._measure(slot)
        if slot.live is None and slot.resting is None and not slot.users:
            del self._slots[session_id]
        self._let_go()
        if self.on_release is not None:
            self.on_release()

    def find(self, session_id: str) -> LiveSession | None:
        """The session if it is loaded."""
        slot = self._slots.get(session_id)
        return slot.live if slot else None

    def is_watched(self, session_id: str) -> bool:
        """Whether somebody is told of a session whenever its lock is let go."""
        return self.listener is not None and self.listener.listens_to(session_id)

    def find_info(self, session_id: str) -> SessionInfo | None:
        """What clients are told of a session, if it is at rest."""
        slot = self._slots.get(session_id)
        return slot.resting.info if slot and slot.resting else None

    async def create(self, row: SessionRow) -> None:
        """Make a session in the store and take it in. Raises SessionAlreadyExists."""
        async with self._slot(row.session_id) as slot:
            await completed(self._create(slot, row))

    async def _create(self, slot: _Slot, row: SessionRow) -> None:
        created = await self._store.create(row)
        self._empty(slot)
        slot.live = LiveSession(SessionState(StoredSession(created, (), ())), slot.lock)

    async def delete(self, session_id: str, then: Callable[[str], object]) -> bool:
        """Remove a session from the store and from here; False if there was none.

        `then` is told of it before anybody can make another session of that id.
        """
        async with self._slot(session_id) as slot:
            return await completed(self._delete(slot, session_id, then))

    async def _delete(self, slot: _Slot, session_id: str, then: Callable[[str], object]) -> bool:
        deleted = await self._store.delete(session_id)
        self._empty(slot)
        self._bodies.forget(session_id)
        then(session_id)
        if self.listener is not None and deleted:
            self.listener.deleted(session_id)
        return deleted

    def discard(self, live: LiveSession) -> None:
        """Forget a state; what it had not written is lost to the store (clients send it again)."""
        live.gone = True
        self._writing.forget(live)
        slot = self._slots.get(live.session_id)
        if slot is not None and slot.live is live:
            slot.live = None
            self._measure(slot)

    async def go_on_without_decisions(self, live: LiveSession) -> LiveSession | None:
        """See Owner."""
        slot, length = self._slots.get(live.session_id), len(live.state.transcript)
        is_held = slot is not None and slot.live is live
        make = live.state.without_news(live.told_node) if is_held else None
        self.discard(live)
        if slot is None or make is None:
            return None
        slot.live = kept = LiveSession(await _built(make, length), slot.lock)
        self._measure(slot)
        return kept

    def _empty(self, slot: _Slot) -> None:
        if slot.live is not None:
            self.discard(slot.live)
        slot.resting = None

    # Resting and letting go

    def _measure(self, slot: _Slot) -> None:
        """Take note of the size of a session, of what it was before it changed."""
        before = slot.size_bytes
        loaded = slot.live.state if slot.live else slot.resting
        slot.size_bytes = loaded.size_bytes if loaded else 0
        self.size_bytes += slot.size_bytes - before

    def residents(self) -> list[Resident]:
        """The loaded sessions that nobody uses, those first that were not used for longest."""
        found = map(self.find_resident, self._slots)
        return [resident for resident in found if resident is not None]

    def find_resident(self, session_id: str) -> Resident | None:
        """A loaded session that nobody uses."""
        slot = self._slots.get(session_id)
        if slot is None or slot.users or not (slot.live or slot.resting):
            return None
        return Resident(session_id, slot.last_used_ms, slot.size_bytes, slot.live is None)

    async def rest(self, session_id: str) -> bool:
        """Write and pack a session, unless somebody wants it; whether it rests now. Raises StoreUnavailable."""
        slot = self._slots.get(session_id)
        if slot is None or slot.live is None or slot.users:
            return slot is not None and slot.resting is not None
        live = slot.live
        async with slot.lock:
            info = await completed(self._written_info(live))
            stored = await self._store.load(session_id)
            if live.gone or stored is None or stored.row != live.state.row:
                return False
            resting = await asyncio.to_thread(RestingSession.of, stored, info, live.state.remembered())
        if live.gone or slot.live is not live or slot.users:
            return False
        slot.live, slot.resting, live.gone = None, resting, True
        self._measure(slot)
        return True

    async def _written_info(self, live: LiveSession) -> SessionInfo:
        """Write what is left together with what clients are told, so that telling it needs no load."""
        state = live.state
        if INFO_FACT in state.facts and not state.has_unwritten:
            known = live.info or info_of_row(state.row)
            if known is not None:
                return known
        info = await session_info(self._bodies, state)
        state.describe(described(info))
        try:
            await self.persist(live)
        finally:
            state.describe(None)
        return replace(info, update_time_ms=state.row.update_time_ms)

    def evict(self, session_id: str) -> bool:
        """Let a session go that nobody uses and that has nothing to write; whether it is gone."""
        slot = self._slots.get(session_id)
        if slot is None or not slot.is_idle:
            return slot is None
        del self._slots[session_id]
        if slot.live is not None:
            slot.live.gone = True
        slot.live = slot.resting = None
        self._measure(slot)
        return True

    def _let_go(self) -> None:
        """Beyond the capacity the longest unused sessions go, unless they have something to do or to write."""
        while len(self._slots) > self._capacity:
            idle = next((session_id for session_id, slot in self._slots.items() if slot.is_idle), None)
            if idle is None:
                return
            self.evict(idle)

    # Writing

    async def persist(self, live: LiveSession) -> None:
        """See Writing."""
        await self._writing.persist(live)

    def begin_write(self, live: LiveSession) -> "asyncio.Task[None]":
        """The same with everything up to now; `ended` must have waited for it before anything else is written.

        What is decided meanwhile is left to the next write.
        """
        return begun(self._writing.persist(live))

    async def persist_soon(self, live: LiveSession) -> None:
        """See Writing."""
        await self._writing.persist_soon(live)

    async def make_room(self, live: LiveSession) -> None:
        """See Writing."""
        await self._writing.make_room(live)

    def is_used(self, live: LiveSession) -> bool:
        """See Owner."""
        slot = self._slots.get(live.session_id)
        return live.lock.locked() or (slot is not None and slot.users > 0)

    def written(self, live: LiveSession, changes: Changes) -> None:
        """See Owner."""
        self._bodies.take_in(live.state, changes)
        slot = self._slots.get(live.session_id)
        if slot is not None and slot.live is live:
            self._measure(slot)  # what was waiting takes memory no more
        if self.listener is not None:
            self.listener.written(live.session_id, changes)

    async def close(self, seconds: float) -> None:
        """See Writing: write what is left of every session, and wait for that no longer than for so many seconds."""
        await self._writing.close(self._lives(), seconds)

    def end(self) -> None:
        """See Writing: to follow when the store is closed."""
        self._writing.end(self._lives())

    def _lives(self) -> list[LiveSession]:
        return [slot.live for slot in self._slots.values() if slot.live is not None]


class _Locked:
    """One use of a session under its lock. A class, since a generator for each turn would cost more than the lock."""

    __slots__ = ("_registry", "created", "live", "make", "session_id", "slot")

    def __init__(self, registry: Registry, session_id: str, make: Callable[[], SessionRow] | None) -> None:
        self._registry = registry
        self.session_id = session_id
        self.make = make
        self.created = False
        self.slot: _Slot
        self.live: LiveSession

    def __aenter__(self) -> Coroutine[Any, Any, LiveSession]:
        return self._registry.hold(self)

    def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> Coroutine[Any, Any, None]:
        return self._registry.let_go_of(self, error)


async def _built(build: Callable[[], SessionState], messages: int) -> SessionState:
    """A state that is made of bytes; that of a long session on another thread."""
    return build() if messages < _LONG_SESSION_MESSAGES else await asyncio.to_thread(build)
