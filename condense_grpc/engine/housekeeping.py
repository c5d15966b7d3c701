"""Looks after the sessions in memory: packs those that rest, lets those go that nobody needs, gives memory back.

It looks around every few seconds, and at once when the memory budget is exceeded. What it does to one session waits
for nothing but the store; a session that somebody wants meanwhile stays as it is.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable

from condense_grpc.engine.faults import log_fault
from condense_grpc.engine.ports import Clock
from condense_grpc.engine.registry import Registry
from condense_grpc.engine.residence import Residence, Resident
from condense_grpc.errors import CondenseError

logger = logging.getLogger(__name__)

_SHORTEST_ROUND_SECONDS, _LONGEST_ROUND_SECONDS = 0.1, 10.0
_QUIET_MS = 2000
# Of its time a round pauses so many times what it works, so that those who wait for an answer do not wait for it.
_PAUSE_SHARE = 3


class Housekeeper:
    """One for a registry, which tells it when it lets go of a session. `give_back`: returns free memory; may block."""

    def __init__(
        self, registry: Registry, clock: Clock, residence: Residence, give_back: Callable[[], object] | None = None
    ) -> None:
        self._registry = registry
        self._clock = clock
        self._residence = residence
        self._give_back = give_back
        self._given_back_ms = 0
        self._is_over = asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        registry.on_release = self._look_at_budget

    def start(self) -> None:
        """Begin to look around. Idempotent."""
        if self._task is None:
            self._task = asyncio.create_task(self._rounds())

    async def stop(self) -> None:
        """No more rounds."""
        task, self._task = self._task, None
        if task is not None:
            task.cancel()
            await asyncio.wait([task])

    def _look_at_budget(self) -> None:
        if self._registry.size_bytes > self._residence.memory_bytes:
            self._is_over.set()

    async def _rounds(self) -> None:
        seconds = min(self._residence.rest_seconds, self._residence.evict_seconds) / 4
        seconds = min(max(seconds, _SHORTEST_ROUND_SECONDS), _LONGEST_ROUND_SECONDS)
        while True:
            try:
                await asyncio.wait_for(self._is_over.wait(), seconds)
                # What is in use cannot be packed: without a pause the rounds would follow each other for nothing.
                await asyncio.sleep(_SHORTEST_ROUND_SECONDS)
            except TimeoutError:
                pass
            self._is_over.clear()
            try:
                await self.look_around(is_paced=True)
            except Exception as error:
                log_fault(logger, "looking after the sessions in memory failed; it is tried again", error)

    async def look_around(self, *, is_paced: bool = False) -> None:
        """One round: pack and let go whoever's time has come, then whoever is too much; give memory back in a pause.

        `is_paced`: it takes its time with those whose time has come.
        """
        now_ms, residence, loop = self._clock.now_ms(), self._residence, asyncio.get_running_loop()
        for seen in self._registry.residents():
            if self._due_step(seen, now_ms) is None:
                continue
            # It may have been used since the round began.
            one, start = self._registry.find_resident(seen.session_id), loop.time()
            due = None if one is None else self._due_step(one, now_ms)
            if one is None or due is None:
                continue
            await due(one)
            if is_paced:
                await asyncio.sleep(_PAUSE_SHARE * (loop.time() - start))
        for step in (self._rest, self._evict):
            # Mostly it is not too much, and nobody has to be looked at.
            over = self._registry.residents() if self._registry.size_bytes > residence.memory_bytes else ()
            for one in over:
                if self._registry.size_bytes <= residence.memory_bytes:
                    break
                await step(one)
        await self._give_back_in_a_pause(now_ms)

    def _due_step(self, one: Resident, now_ms: int) -> Callable[[Resident], Awaitable[bool]] | None:
        """What the time has come for, of a session that nobody uses."""
        unused_ms = now_ms - one.last_used_ms
        if unused_ms >= 1000 * self._residence.evict_seconds:
            return self._evict
        return self._rest if not one.is_resting and unused_ms >= 1000 * self._residence.rest_seconds else None

    async def _rest(self, one: Resident) -> bool:
        try:
            return await self._registry.rest(one.session_id)
        except CondenseError as error:
            logger.warning("a session could not be packed and stays as it is: %s", error.reason)
        except Exception as error:
            # A fault of ours in one session must not keep all others in memory.
            log_fault(logger, "a session could not be packed and stays as it is", error)
        return False

    async def _evict(self, one: Resident) -> bool:
        """A session is packed first, which writes what is left, and what clients are told of it."""
        return await self._rest(one) and self._registry.evict(one.session_id)

    async def _give_back_in_a_pause(self, now_ms: int) -> None:
        last_used_ms = self._registry.last_used_ms
        is_pause = now_ms - last_used_ms >= _QUIET_MS
        if self._give_back is not None and is_pause and last_used_ms > self._given_back_ms:
            self._given_back_ms = last_used_ms
            await asyncio.to_thread(self._give_back)
