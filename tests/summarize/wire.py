"""An engine whose models are asked over HTTP: a real client of every provider against the fake one.

`Service` is everything from the settings of a server to the wire. Its agent works in turns of one call with a result
that is worth a summary.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from condense_grpc.domain.messages import Message, text_of
from condense_grpc.engine.engine import Engine, EngineOptions
from condense_grpc.engine.events import BatchFinished, BatchStarted, FlushCompleted, FlushEvent, Notice
from condense_grpc.engine.requests import Delta, DiagnosticsReport, FlushRequest, PruneRequest, ViewKind
from condense_grpc.settings import load_server_settings
from condense_grpc.store.memory import MemoryStore
from condense_grpc.summarize.setup import set_up
from condense_grpc.testing.fake_llm import Behaviour, FakeLlm
from condense_grpc.testing.fakes import FakeClock
from tests.domain.histories import answer, calls, result, user

PROVIDERS = {
    "openai-chat": "openai-chat:gpt-test",
    "openai": "openai:gpt-test",
    "anthropic": "anthropic:claude-test",
    "google": "google:gemini-test",
}
QUIET = {"prune_on": "on-demand", "min_batch_chars": 0}


def output_of(number: int) -> str:
    """The result of a call: 40 lines that name a file each."""
    return "\n".join(f"src/module_{number}/file_{line}.py: checked, {line} warnings" for line in range(40))


@dataclass
class Flushed:
    """What a flush has told."""

    events: list[FlushEvent] = field(default_factory=list)

    @property
    def batches(self) -> list[BatchFinished]:
        return [event for event in self.events if isinstance(event, BatchFinished)]

    @property
    def outcomes(self) -> list[str]:
        return [batch.outcome.value for batch in self.batches]

    @property
    def reasons(self) -> list[str]:
        return [batch.failure_reason for batch in self.batches]

    @property
    def notices(self) -> list[tuple[str, str]]:
        return [(event.level, event.text) for event in self.events if isinstance(event, Notice)]

    @property
    def writers(self) -> list[str]:
        return [event.summarizer for event in self.events if isinstance(event, BatchStarted)]

    @property
    def outcome(self) -> str:
        last = self.events[-1]
        assert isinstance(last, FlushCompleted)
        assert last.outcome is not None
        return last.outcome.value


class Service:
    """One engine, one session, one agent."""

    def __init__(self, engine: Engine, clock: FakeClock) -> None:
        self.engine = engine
        self.clock = clock
        self.history: list[Message] = []
        self._sent = 0

    async def work(self, turns: int = 1, text: str | None = None) -> None:
        """Do some turns of work, and send them."""
        if not self.history:
            self.history.append(user(None, "please check"))
        for _ in range(turns):
            number = len(self.history)
            self.history += [calls(None, f"c{number}"), result(None, f"c{number}", text or output_of(number))]
        await self.send()

    async def end_chain(self) -> None:
        """Answer, and have the next thing asked."""
        self.history += [answer(None, "all checked"), user(None, "and now?")]
        await self.send()

    async def send(self) -> None:
        """Send what is new."""
        delta = Delta(self._sent, "", self.history[self._sent :])
        self._sent = (await self.engine.append("s", delta)).length

    async def rewind(self, length: int) -> None:
        """Take back everything behind the first `length` messages."""
        self.history = self.history[:length]
        self._sent = (await self.engine.append("s", Delta(length, "", ()))).length

    async def flush(self) -> Flushed:
        """Flush, and everything that it tells."""
        return Flushed([one.event async for events in self.engine.flush(FlushRequest("s")) for one in events])

    async def view(self) -> str:
        """The texts of the next render."""
        pruned = await self.engine.prune(PruneRequest("s", view=ViewKind.FULL))
        assert pruned.messages is not None
        return "\n".join(map(text_of, pruned.messages))

    async def raw(self) -> str:
        """The texts of the history as it is."""
        return "\n".join(map(text_of, self.history))

    async def diagnostics(self) -> DiagnosticsReport:
        return await self.engine.diagnostics("s")

    async def states(self) -> list[str]:
        """What became of the calls."""
        return [facts.state.value for facts in await self.engine.list_calls("s", 0, 1000)]


@asynccontextmanager
async def service(
    llm: FakeLlm,
    provider: str = "openai-chat",
    config: dict[str, Any] | None = None,
    *,
    env: dict[str, str] | None = None,
    **settings: Any,
) -> AsyncIterator[Service]:
    """A service whose own model is the fake, behind the client of a provider."""
    own = {"summarizer": PROVIDERS[provider], "summarizer_base_url": llm.base_url(provider), "summarizer_retries": 0}
    loaded = load_server_settings(own | settings)
    clock = FakeClock()
    summaries = set_up(loaded, env or {}, clock)
    options = EngineOptions(concurrency=4, works_ahead=loaded.summarize_in_background)
    engine = Engine(MemoryStore(), summaries.summarizer, clock, options)
    await engine.start()
    await engine.create_session("s", config=QUIET | (config or {}), labels={})
    try:
        yield Service(engine, clock)
    finally:
        await engine.close()
        await summaries.close()


@asynccontextmanager
async def talking_to(
    behaviour: Behaviour, provider: str = "openai-chat", config: dict[str, Any] | None = None, **settings: Any
) -> AsyncIterator[tuple[Service, FakeLlm]]:
    """A service and the fake behind it."""
    async with FakeLlm(behaviour) as llm, service(llm, provider, config, **settings) as made:
        yield made, llm


async def soon(condition: Any) -> None:
    """Give the loop turns until something holds; a bound in turns, not in time."""
    for _ in range(20_000):
        if condition():
            return
        await asyncio.sleep(0)
    raise AssertionError("it does not come")
