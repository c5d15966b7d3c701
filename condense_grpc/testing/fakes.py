"""A clock and a summarizer for tests: they do what a script says, and nothing by themselves.

    summarizer = FakeSummarizer()
    gate = Gate()
    summarizer.script(Failure("timeout"), Gated(gate, Reply("- [[1:bash]] built")))

The first request fails, the second one waits until the test calls `gate.open()`. Requests beyond the script get
the default reply.
"""

import asyncio
from collections import deque
from collections.abc import AsyncGenerator
from dataclasses import dataclass
from typing import TypeAlias

from condense_grpc.engine.ports import (
    FuseRequest,
    SummaryEvent,
    SummaryFailure,
    SummaryProgress,
    SummaryReply,
    SummaryRequest,
    Usage,
)

FIRST_MS = 1_700_000_000_000
_USAGE = Usage(100, 20, 0.25)


class FakeClock:
    """A clock that stands still until the test moves it."""

    def __init__(self, start_ms: int = FIRST_MS) -> None:
        self._now_ms = start_ms

    def now_ms(self) -> int:
        """See Clock."""
        return self._now_ms

    def advance(self, by_ms: int) -> None:
        """Let time pass."""
        self._now_ms += by_ms


class Gate:
    """Where a scripted request waits. `reached` tells the test that one has come to it."""

    def __init__(self) -> None:
        self.reached = asyncio.Event()
        self._opened = asyncio.Event()

    def open(self) -> None:
        """Let everybody through, now and later."""
        self._opened.set()

    async def pass_through(self) -> None:
        """Wait until the gate is open."""
        self.reached.set()
        await self._opened.wait()


@dataclass(frozen=True, slots=True)
class Reply:
    """A request that is answered. `text` None: one short line for each call, with its label."""

    text: str | None = None
    usage: Usage | None = _USAGE
    progress: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Failure:
    """A request that fails, as a summarizer should say so."""

    reason: str = "scripted"


@dataclass(frozen=True, slots=True)
class Raise:
    """A request during which the summarizer raises, which it must not do."""

    error: Exception


@dataclass(frozen=True, slots=True)
class Silence:
    """A request whose stream ends without an answer."""


@dataclass(frozen=True, slots=True)
class Gated:
    """What happens once the gate is open."""

    gate: Gate
    then: "Outcome" = Reply()


Outcome: TypeAlias = Reply | Failure | Raise | Silence | Gated


class FakeSummarizer:
    """A summarizer that plays a script, one outcome for each request in the order in which they are made.

    `requests` and `fuse_requests` hold what was asked; `cancelled` counts requests that were stopped.
    """

    name = "fake"

    def __init__(self, default: Outcome | None = None, *, can_fuse: bool = False) -> None:
        self.default: Outcome = default or Reply()
        self.requests: list[SummaryRequest] = []
        self.fuse_requests: list[FuseRequest] = []
        self.cancelled = 0
        self._can_fuse = can_fuse
        self._script: deque[Outcome] = deque()

    @property
    def can_fuse(self) -> bool:
        """See Summarizer."""
        return self._can_fuse

    def script(self, *outcomes: Outcome) -> None:
        """What the next requests come to."""
        self._script.extend(outcomes)

    def summarize(self, request: SummaryRequest) -> AsyncGenerator[SummaryEvent, None]:
        """See Summarizer."""
        self.requests.append(request)
        labels = (f"- [[{number}:{call.tool_name}]] ok" for number, call in enumerate(request.batch.calls, 1))
        return self._play(self._next(), "\n".join(labels))

    def fuse(self, request: FuseRequest) -> AsyncGenerator[SummaryEvent, None]:
        """See Summarizer."""
        self.fuse_requests.append(request)
        return self._play(self._next() if self._can_fuse else Failure("unavailable"), "- all of it")

    def _next(self) -> Outcome:
        return self._script.popleft() if self._script else self.default

    async def _play(self, outcome: Outcome, text: str) -> AsyncGenerator[SummaryEvent, None]:
        try:
            while isinstance(outcome, Gated):
                await outcome.gate.pass_through()
                outcome = outcome.then
            if isinstance(outcome, Reply):
                for received in outcome.progress:
                    yield SummaryProgress(received)
                yield SummaryReply(text if outcome.text is None else outcome.text, outcome.usage)
            elif isinstance(outcome, Failure):
                yield SummaryFailure(outcome.reason)
            elif isinstance(outcome, Raise):
                raise outcome.error.with_traceback(None)
        except asyncio.CancelledError:
            self.cancelled += 1
            raise
