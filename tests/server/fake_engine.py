"""An engine that only does what a test tells it."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

from condense_grpc.engine.events import NumberedEvent


class FakeEngine:
    """Raises `error` from every call, or runs `action` first; flushes give `events`.

    `open_flushes` counts the iterators that were begun and not closed.
    """

    store_kind = "sqlite"
    summarizer_name = "extractive"

    def __init__(self, error: BaseException | None = None) -> None:
        self.error = error
        self.action: Any = None
        self.events: list[NumberedEvent] = []
        self.waits_after_events = False
        self.open_flushes = 0
        self.flush_closed = asyncio.Event()
        self.calls: list[str] = []

    def __getattr__(self, name: str) -> Any:
        async def call(*arguments: Any, **named: Any) -> Any:
            self.calls.append(name)
            if self.action is not None:
                return await self.action(name, *arguments, **named)
            if self.error is not None:
                raise self.error
            raise AssertionError(f"nothing is said about {name}")

        return call

    def end_watches(self) -> None:
        """Nobody watches."""

    async def flush(self, *arguments: Any, **named: Any) -> AsyncIterator[list[NumberedEvent]]:
        self.calls.append("flush")
        self.open_flushes += 1
        try:
            for event in self.events:
                yield [event]
            if self.error is not None:
                raise self.error
            if self.waits_after_events:
                await asyncio.Event().wait()
        finally:
            self.open_flushes -= 1
            self.flush_closed.set()

    compact = flush
