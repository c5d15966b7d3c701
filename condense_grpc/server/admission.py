"""Which calls are let in: none while the server stops, and no more at once than it may have."""

import asyncio

from condense_grpc.errors import QuotaExceeded, ShuttingDown


class Admission:
    """Counts the running calls of one server. For one event loop."""

    def __init__(self, max_concurrent_calls: int) -> None:
        self._limit = max_concurrent_calls
        self._running = 0
        self._stopping = False
        self._idle = asyncio.Event()
        self._idle.set()

    def enter(self) -> None:
        """A call begins; unless this raises, `leave` is to follow at its end. Raises ShuttingDown or QuotaExceeded."""
        if self._stopping:
            raise ShuttingDown
        if self._running >= self._limit:
            raise QuotaExceeded(
                "concurrent calls", self._running, self._limit, "try again in a moment", waiting_helps=True
            )
        self._running += 1
        self._idle.clear()

    def leave(self) -> None:
        """A call has ended."""
        self._running -= 1
        if not self._running:
            self._idle.set()

    async def drain(self, grace_seconds: float) -> bool:
        """Let nobody in any more, and wait until all calls have ended; False if they have not within the grace."""
        self._stopping = True
        try:
            async with asyncio.timeout(grace_seconds):
                await self._idle.wait()
        except TimeoutError:
            return False
        return True
