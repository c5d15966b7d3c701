"""Writing what the live sessions have and the store does not: decisions at once, appends a moment later, together.

Every write is made under the session's lock. Those of appends are made in rounds: all sessions that wait, some at a
time, so that what one round takes is a matter of how much there is, not of how many they are. Nobody is waited for:
who uses a session right now has it written in a later round, or writes it. As a session that is written cannot be used,
one whose appends follow each other closely is written now and then, not in every round. Groups are small, so that a
decision that comes meanwhile is written soon, behind the group that is under way.

When too much waits, appends wait for the store instead. A session that the store refuses is discarded; decisions that
could not be written are given up, and what was appended before them waits on. While the
store does not answer, its sessions are tried again ever more rarely; those whose group has failed each by themselves,
since it may be because of a single one.
"""

import asyncio
import logging
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from condense_grpc.engine.faults import log_fault
from condense_grpc.engine.live_session import LiveSession
from condense_grpc.engine.ports import Changes, Clock, SessionRow, Store
from condense_grpc.engine.residence import Waiting, WriteWindow
from condense_grpc.engine.shielding import begun, completed
from condense_grpc.errors import CondenseError, StoreUnavailable

logger = logging.getLogger(__name__)

_LONGEST_DELAY_SECONDS = 5
# A group is over in about ten milliseconds.
_MOST_TOGETHER, _MOST_BYTES = 64, 1024 * 1024
# A session that is in use at so many rounds in a row is written by who uses it.
_MOST_PASSED_OVER = 10
# One whose appends follow each other closely waits so many times as long at most.
_LONGEST_WAIT = 10
# What is left at the end has so much time to be written, also when none is left.
_LEAST_SECONDS = 1.0


class _Trouble(NamedTuple):
    """How to tell that something could not be written.

    `counts_absence`: of a store that does not answer is told once, for all sessions.
    """

    level: int
    text: str
    counts_absence: bool = False

    def report(self, errors: Iterable[Exception]) -> None:
        """Tell it. What foreign errors say may be content."""
        for error in errors:
            if self.counts_absence and isinstance(error, StoreUnavailable):
                continue
            if isinstance(error, CondenseError):
                logger.log(self.level, "%s: %s", self.text, error.reason)
            else:
                log_fault(logger, self.text, error)


_LATER = _Trouble(logging.WARNING, "appended messages could not be written")
_AT_THE_END = _Trouble(logging.ERROR, "a session could not be written at shutdown", counts_absence=True)


@dataclass(slots=True)
class _Due:
    """How the writing of one session stands: when it may be tried, and how long it is put off when that fails.

    `latest`: until when further appends may put it off.
    """

    delay: float
    at: float
    latest: float
    is_alone: bool = False
    passed_over: int = 0


class Owner(Protocol):
    """Who has the sessions."""

    def is_used(self, live: LiveSession) -> bool:
        """Whether somebody has the lock of a session, or waits for it."""
        ...

    def written(self, live: LiveSession, changes: Changes) -> None:
        """These changes are durable."""
        ...

    def discard(self, live: LiveSession) -> None:
        """The state counts no more, with all that was not written. Calls `forget`."""
        ...

    async def go_on_without_decisions(self, live: LiveSession) -> LiveSession | None:
        """Discard a state whose lock is held; what it is to be from now on, with what was waiting of it.

        None: the next one who wants it has to load it.
        """
        ...


class Writing:
    """The writes of one owner's sessions. For one event loop.

    `delay_seconds`: how long an append may wait, and `window`: how much of them. `waiting` is how much of them waits
    now, `task` makes the rounds while something waits.
    """

    def __init__(self, store: Store, clock: Clock, owner: Owner, *, delay_seconds: float, window: WriteWindow) -> None:
        self._store = store
        self._clock = clock
        self._owner = owner
        self._delay_seconds = delay_seconds
        self._window = window
        self.waiting = Waiting()
        self.task: asyncio.Task[None] | None = None
        self._due: dict[LiveSession, _Due] = {}
        self._closing = False
        self._last: asyncio.Task[None] | None = None

    async def persist(self, live: LiveSession) -> None:
        """Write everything that the store does not know. The lock must be held.

        When this raises and there were decisions, the state is gone.
        """
        if not live.gone and live.state.has_unwritten:
            for error in await completed(self._write([live])):
                raise error

    async def persist_soon(self, live: LiveSession) -> None:
        """Have appends written in a moment; at once when too much waits. The lock must be held."""
        state = live.state
        if live.gone or not state.has_unwritten:
            return
        if state.has_unwritten_decisions:
            await self.persist(live)
            return
        self._count(live, _waiting(live))
        due = self._due_of(live, asyncio.get_running_loop().time())
        many = self._window.is_full_for_one(live.waiting) or self._window.is_full(self.waiting)
        if many or self._closing or due.passed_over > _MOST_PASSED_OVER:
            await self.persist(live)
        else:
            self._begin()

    async def make_room(self, live: LiveSession) -> None:
        """Wait until more may be appended. The lock must be held. Raises StoreUnavailable: nothing can be taken in."""
        if self._window.is_full_for_one(live.waiting) or (live.waiting.messages and self._window.is_full(self.waiting)):
            await self.persist(live)
        if not self._window.is_full(self.waiting):
            return  # as nearly always: all sessions are looked at only when there is a need
        # Who holds a lock writes before letting go of it: only those that nobody holds are to be seen to here.
        for group in self._groups([*self._due]):
            for error in await self._write_group(group):
                if isinstance(error, StoreUnavailable):
                    raise error
            if not self._window.is_full(self.waiting):
                return

    def forget(self, live: LiveSession) -> None:
        """Nothing waits of a session any more."""
        self._due.pop(live, None)
        self._count(live, Waiting())

    def _count(self, live: LiveSession, now: Waiting) -> None:
        self.waiting = self.waiting.changed(live.waiting, now)
        live.waiting = now
        live.told_node = live.state.transcript.head_node

    async def close(self, lives: Sequence[LiveSession], seconds: float) -> None:
        """Write what is left of these sessions. What comes from now on is written at once.

        `seconds`: when they are over it is not waited for any longer. The store is to be closed then, and `end` to
        follow.
        """
        self._closing = True
        self._last = begun(self._write_all(lives))
        done, _ = await asyncio.wait([self._last], timeout=max(seconds, _LEAST_SECONDS))
        for task in done:
            task.result()

    def end(self, lives: Iterable[LiveSession]) -> None:
        """Give up what is still being written, and tell of how many of these sessions something was not."""
        if self._last is not None:
            self._last.cancel()
        unwritten = sum(not live.gone and live.state.has_unwritten for live in lives)
        if unwritten:
            logger.error("sessions that could not be written at shutdown: %d: %s", unwritten, StoreUnavailable.reason)

    async def _write_all(self, lives: Sequence[LiveSession]) -> None:
        """Write all at once, so that they wait for the store together; then those that somebody uses."""
        if self.task is not None:
            self.task.cancel()
            await asyncio.wait([self.task])
        in_use = [live for live in lives if self._owner.is_used(live)]
        groups = [*self._groups(lives)]
        await self._write_groups(groups)
        failed = [live for group in groups if len(group) > 1 for live in group if self._is_alone(live)]
        await self._write_groups([[live] for live in failed if self._is_writable(live)])
        await asyncio.gather(*map(self._write_when_free, in_use))

    async def _write_groups(self, groups: Iterable[Sequence[LiveSession]]) -> None:
        await asyncio.gather(*[begun(self._write_group(group, _AT_THE_END)) for group in groups])

    async def _write_when_free(self, live: LiveSession) -> None:
        async with live.lock:
            if not live.gone and live.state.has_unwritten:
                _AT_THE_END.report(await completed(self._write([live])))

    # Rounds

    def _due_of(self, live: LiveSession, now: float) -> _Due:
        """What is known of the writing of a session that has just been appended to."""
        due, at = self._due.get(live), now + self._delay_seconds
        if due is None:
            due = self._due[live] = _Due(self._delay_seconds, at, now + _LONGEST_WAIT * self._delay_seconds)
        elif due.at < at:
            due.at = max(due.at, min(at, due.latest))
        return due

    def _begin(self) -> None:
        if not self._closing and (self.task is None or self.task.done()):
            self.task = asyncio.create_task(self._rounds())

    async def _rounds(self) -> None:
        while self._due:
            await asyncio.sleep(self._delay_seconds)
            await self._round(asyncio.get_running_loop().time())

    async def _round(self, now: float) -> None:
        """Write all whose time has come, up to the first group for which the store does not answer."""
        for live in [live for live in self._due if live.gone or not live.state.has_unwritten]:
            self.forget(live)
        ready = {live: due for live, due in self._due.items() if due.at <= now}
        for live, due in ready.items():
            due.passed_over += self._owner.is_used(live)
        for group in self._groups([*ready]):
            if any(isinstance(error, StoreUnavailable) for error in await self._write_group(group)):
                for live, due in ready.items():
                    if live in self._due and due.at <= now:
                        self._put_off(live)
                return

    def _groups(self, lives: Sequence[LiveSession]) -> Iterator[list[LiveSession]]:
        """Those of them that have something to write and that nobody uses at the moment when their group is asked for.

        Those whose group has failed come last, each by itself.
        """
        group: list[LiveSession] = []
        size_bytes = 0
        for live in lives:
            if self._is_writable(live) and not self._is_alone(live):
                group.append(live)
                size_bytes += live.waiting.size_bytes
                if len(group) == _MOST_TOGETHER or size_bytes > _MOST_BYTES:
                    yield group
                    group, size_bytes = [], 0
        if group:
            yield group
        for live in lives:
            if self._is_writable(live) and self._is_alone(live):
                yield [live]

    def _is_writable(self, live: LiveSession) -> bool:
        return not live.gone and live.state.has_unwritten and not self._owner.is_used(live)

    def _is_alone(self, live: LiveSession) -> bool:
        due = self._due.get(live)
        return due is not None and due.is_alone

    def _put_off(self, live: LiveSession) -> _Due:
        """Have it tried again later, and behind all others."""
        now = asyncio.get_running_loop().time()
        due = self._due_of(live, now)
        due.at = now + due.delay
        due.delay = min(2 * due.delay, _LONGEST_DELAY_SECONDS)
        self._due[live] = self._due.pop(live)
        self._begin()
        return due

    # Writing

    async def _write_group(self, group: Sequence[LiveSession], trouble: _Trouble = _LATER) -> list[Exception]:
        """Write sessions that nobody uses. What goes wrong is told in the log, and returned."""
        held: list[LiveSession] = []
        try:
            for live in group:
                await live.lock.acquire()  # at once, since nobody has it or waits for it
                held.append(live)
            errors = await completed(self._write(group))
        finally:
            for live in held:
                live.lock.release()
        trouble.report(errors)
        return errors

    async def _write(self, lives: Sequence[LiveSession]) -> list[Exception]:
        """Write sessions whose locks are held; what went wrong, once if it is the same for all of them."""
        now_ms = self._clock.now_ms()
        changes: dict[LiveSession, Changes] = {}
        errors: list[Exception] = []
        for live in lives:
            try:
                changes[live] = live.state.changes(now_ms)
            except Exception as error:
                await self._fail(live, error)
                errors.append(error)
        try:
            outcomes = await self._store_all([*changes.values()])
        except BaseException as error:
            for live in changes:
                await self._fail(live, error, is_alone=len(changes) > 1)
            if isinstance(error, Exception):
                return [*errors, error]
            raise
        for (live, change), outcome in zip(changes.items(), outcomes, strict=True):
            if isinstance(outcome, SessionRow):
                self._take_note(live, change, outcome)
            else:
                await self._fail(live, outcome)
                errors.append(outcome)
        return errors

    async def _store_all(self, changes: Sequence[Changes]) -> Sequence[SessionRow | Exception]:
        return (
            [await self._store.write(one) for one in changes]
            if len(changes) < 2
            else await self._store.write_many(changes)
        )

    async def _fail(self, live: LiveSession, error: BaseException, *, is_alone: bool = False) -> None:
        """What was appended is tried again if the store may answer then; everything else is lost."""
        if not isinstance(error, StoreUnavailable):
            self._owner.discard(live)
            return
        kept: LiveSession | None = live
        if live.state.has_unwritten_decisions:
            kept = await self._owner.go_on_without_decisions(live)
        if kept is not None:
            self._count(kept, _waiting(kept))
            self._put_off(kept).is_alone |= is_alone

    def _take_note(self, live: LiveSession, changes: Changes, row: SessionRow) -> None:
        """These changes are durable."""
        live.state.written(changes, row)
        self.forget(live)
        self._owner.written(live, changes)


def _waiting(live: LiveSession) -> Waiting:
    transcript = live.state.transcript
    return Waiting(transcript.unwritten_bytes, len(transcript.unwritten))
