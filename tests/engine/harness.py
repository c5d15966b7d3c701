"""What the tests of the engine share: a store that does as it is told, and an agent that talks to an engine."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from typing import Any

from condense_grpc.domain.messages import Message, TextPart
from condense_grpc.engine.engine import Engine, EngineOptions
from condense_grpc.engine.events import BatchFinished, ChainCompressed, FlushCompleted, FlushEvent, NumberedEvent
from condense_grpc.engine.ports import Changes, Store
from condense_grpc.engine.registry import Registry
from condense_grpc.engine.requests import (
    AppendResult,
    CallFacts,
    Delta,
    FlushRequest,
    FlushTrigger,
    PruneRequest,
    PruneResult,
    ViewKind,
)
from condense_grpc.engine.writing import Writing
from condense_grpc.store.memory import MemoryStore
from condense_grpc.testing.fakes import FakeClock, FakeSummarizer
from tests.domain.histories import answer, calls, result, user

LONG = "word " * 60
QUIET = {"prune_on": "on-demand", "min_batch_chars": 0}
NEVER = 1e9


class ToldStore:
    """A store around another one. `before` is asked before each call (its name), and may raise or wait.

    `wait_no_more` is only noted, in `hurried` too, for which `before` may wait. `fail` makes the next calls of a name
    raise; `close` leaves the inner store open, so that engines can follow each other on it.
    """

    def __init__(self, inner: Store | None = None) -> None:
        self.inner: Store = inner or MemoryStore()
        self.calls: list[str] = []
        self.before: Callable[[str], Awaitable[None]] | None = None
        self.after: Callable[[str], Awaitable[None]] | None = None
        self._failing: list[tuple[str, Exception]] = []
        self.hurried = asyncio.Event()

    def wait_no_more(self) -> None:
        self.calls.append("wait_no_more")
        self.hurried.set()

    def fail(self, name: str, error: Exception, times: int = 1) -> None:
        self._failing += [(name, error)] * times

    @property
    def kind(self) -> str:
        return self.inner.kind

    async def close(self) -> None:
        self.calls.append("close")

    async def write_many(self, changes: Sequence[Changes]) -> list[Any]:
        """All of it may fail. Else it is one write after another, each of which may fail."""
        await self._begin("write_many")
        return await asyncio.gather(*map(self.write, changes), return_exceptions=True)

    async def _begin(self, name: str) -> None:
        self.calls.append(name)
        if self.before is not None:
            await self.before(name)
        for failing in self._failing:
            if failing[0] == name:
                self._failing.remove(failing)
                raise failing[1]

    def __getattr__(self, name: str) -> Any:
        method = getattr(self.inner, name)

        async def call(*args: Any) -> Any:
            await self._begin(name)
            result = await method(*args)
            if self.after is not None:
                await self.after(name)
            return result

        return call


@dataclass
class World:
    """A store, a summarizer, a clock, and the engine that works with them now."""

    store: ToldStore = field(default_factory=ToldStore)
    summarizer: FakeSummarizer = field(default_factory=FakeSummarizer)
    clock: FakeClock = field(default_factory=FakeClock)
    options: EngineOptions = field(default_factory=lambda: EngineOptions(write_delay_seconds=NEVER))

    def __post_init__(self) -> None:
        self.engine = self.other_engine()

    def other_engine(self) -> Engine:
        """A further engine on the same store."""
        return Engine(self.store, self.summarizer, self.clock, self.options)

    async def agent(self, name: str = "s", **config: Any) -> "Agent":
        """An agent with a session of its own."""
        await self.engine.start()
        await self.engine.create_session(name, config=QUIET | config, labels={})
        return Agent(self, name)

    async def restart(self) -> None:
        """The process ends in good order and begins again."""
        await self.engine.close()
        self.engine = self.other_engine()

    def crash(self) -> None:
        """The process ends at once: what was not written is gone."""
        registry = self.engine._registry
        for live in [slot.live for slot in registry._slots.values() if slot.live]:
            live.gone = True
        if registry._writing.task is not None:
            registry._writing.task.cancel()
        self.engine = self.other_engine()

    async def idle(self, name: str = "s") -> None:
        """Wait until no flush runs."""
        while (run := self.engine._flushing.desk.running(name)) is not None:
            assert run.task is not None
            await asyncio.wait([run.task])


class Agent:
    """A client: it has a history of its own and sends what is new."""

    def __init__(self, world: World, name: str) -> None:
        self.world, self.name = world, name
        self.history: list[Message] = []
        self.length, self.etag = 0, ""

    @property
    def engine(self) -> Engine:
        return self.world.engine

    def delta(self, *messages: Message, base: int | None = None) -> Delta:
        return Delta(self.length if base is None else base, self.etag if base is None else "", messages)

    def took(self, result: AppendResult | PruneResult, delta: Delta) -> None:
        self.history = [*self.history[: delta.base_length], *delta.messages]
        self.length, self.etag = result.length, result.etag
        assert len(self.history) == self.length

    async def append(self, *messages: Message, base: int | None = None) -> AppendResult:
        delta = self.delta(*messages, base=base)
        appended = await self.engine.append(self.name, delta)
        self.took(appended, delta)
        return appended

    async def work(self, *ids: str, text: str = LONG) -> AppendResult:
        """One finished piece of work: a request, a turn for each id, an answer."""
        messages = [user(None, f"do {' '.join(ids)}")]
        for one in ids:
            messages += [calls(None, one), result(None, one, f"{one}: {text}")]
        return await self.append(*messages, answer(None, f"did {' '.join(ids)}"))

    async def rewind(self, length: int) -> AppendResult:
        return await self.append(base=length)

    async def prune(self, *messages: Message, view: ViewKind = ViewKind.EDITS, **more: Any) -> PruneResult:
        delta = self.delta(*messages) if messages else None
        result = await self.engine.prune(PruneRequest(self.name, delta, view, **more))
        if delta is not None and not more.get("dry_run"):
            self.took(result, delta)
        return result

    async def view(self) -> list[Message]:
        """The whole view."""
        messages = (await self.prune(view=ViewKind.FULL)).messages
        assert messages is not None
        return list(messages)

    async def texts(self) -> list[str]:
        """The view in short."""
        return [
            "\n".join(part.text for part in message.parts if isinstance(part, TextPart)) or message.role.value
            for message in await self.view()
        ]

    def flushing(self, trigger: FlushTrigger = FlushTrigger.MANUAL, **more: Any) -> AsyncGenerator[NumberedEvent, None]:
        return singly(self.engine.flush(FlushRequest(self.name, trigger=trigger, **more)))

    async def flush(self, **more: Any) -> "Flushed":
        return await finished(self.flushing(**more))

    async def compact(self) -> "Flushed":
        return await finished(singly(self.engine.compact(self.name)))

    async def call(self, name: str) -> CallFacts:
        (facts,) = await self.engine.call_facts(self.name, name)
        return facts

    async def read(self, name: str) -> str:
        return await self.engine.read_text(self.name, (await self.call(name)).record)

    async def refs(self) -> dict[str, str]:
        """Key -> ref, of the calls that have one."""
        listed = await self.engine.list_calls(self.name, 0, 10_000)
        return {facts.record.key: facts.ref for facts in listed if facts.ref}


@dataclass
class Flushed:
    """The events of a flush that came to its end."""

    events: Sequence[FlushEvent]

    @property
    def completed(self) -> FlushCompleted:
        last = self.events[-1]
        assert isinstance(last, FlushCompleted)
        return last

    @property
    def outcome(self) -> str | None:
        return self.completed.outcome

    @property
    def batches(self) -> list[BatchFinished]:
        return [event for event in self.events if isinstance(event, BatchFinished)]

    @property
    def outcomes(self) -> list[str]:
        return [batch.outcome for batch in self.batches]

    @property
    def blocks(self) -> list[ChainCompressed]:
        return [event for event in self.events if isinstance(event, ChainCompressed)]


async def singly(steps: AsyncGenerator[Sequence[NumberedEvent], None]) -> AsyncGenerator[NumberedEvent, None]:
    """The events of a run one by one."""
    async with aclosing(steps):
        async for events in steps:
            for event in events:
                yield event


async def finished(events: AsyncIterator[NumberedEvent]) -> Flushed:
    """Listen to the end."""
    return Flushed([numbered.event async for numbered in events])


async def passes(times: int = 20) -> None:
    """Let everybody else go on for a while."""
    for _ in range(times):
        await asyncio.sleep(0)


def stamped(message: Message, timestamp_ms: int) -> Message:
    return replace(message, timestamp_ms=timestamp_ms)


async def when_due(writing: Writing) -> None:
    """The round in which all that was appended has waited for long enough; what was put off waits on."""
    for due in writing._due.values():
        if due.delay == writing._delay_seconds:
            due.at = 0
    await writing._round(asyncio.get_running_loop().time())


def knows(registry: Registry, session_id: str) -> bool:
    """Whether a session is loaded, or at rest."""
    return registry.find(session_id) is not None or registry.find_info(session_id) is not None
