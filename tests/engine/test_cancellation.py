"""A call that is cancelled, at whatever point, leaves nothing half done.

Each test runs one call again and again, and cancels it when it makes its k-th call of the store or the summarizer,
for every k there is, before that call and behind it. Afterwards the session must be as it was before some decision
and after all those before it, must be the same after a restart, and must go on to work.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

import pytest

from condense_grpc.domain.messages import Message
from condense_grpc.engine.events import FlushOutcome
from condense_grpc.engine.requests import PruneRequest, ViewKind
from condense_grpc.errors import SessionNotFound
from condense_grpc.testing.fakes import FakeSummarizer, Gate, Gated
from tests.domain.histories import answer, calls, result, user
from tests.engine.harness import LONG, Agent, World, finished, passes

BIG = "y" * 400


class Canceller:
    """Cancels the call under test when its k-th step comes, `before` it is made or after it."""

    def __init__(self, world: World, step: int, *, before: bool) -> None:
        self.step, self.before = step, before
        self.steps = 0
        self.task: asyncio.Task[Any] | None = None
        if before:
            world.store.before = self.count
        else:
            world.store.after = self.count
        world.summarizer.default = Gated(Telling(self.count), world.summarizer.default)

    async def count(self, _name: str) -> None:
        self.steps += 1
        if self.steps == self.step and self.task is not None:
            self.task.cancel()
        # Whoever is cancelled hears of it here at the latest.
        await passes(3)

    async def run(self, call: Callable[[], Awaitable[Any]]) -> bool:
        """Make the call; whether it was cancelled."""
        self.task = asyncio.ensure_future(call())
        await asyncio.wait([self.task])
        if self.task.cancelled():
            return True
        self.task.result()
        return False


class Telling(Gate):
    """A gate that tells of itself instead of waiting."""

    def __init__(self, tell: Callable[[str], Awaitable[None]]) -> None:
        super().__init__()
        self._tell = tell

    async def pass_through(self) -> None:
        await self._tell("summarize")


async def prepared() -> tuple[World, Agent]:
    """A session with several batches to flush, a chain to compress, a large result, and unwritten messages."""
    world = World(summarizer=FakeSummarizer(can_fuse=True))
    agent = await world.agent(spill_threshold=400, chain_compression={"rolling_window": 1})
    await agent.work("a", "b")
    await agent.flush()
    await agent.work("c", "d")
    await agent.work("c2", text=LONG)
    await world.restart()
    await agent.append(user(None), calls(None, "e", "f"), result(None, "e", LONG))
    return world, agent


async def flush(agent: Agent) -> None:
    await agent.flush()


async def watch(agent: Agent) -> None:
    outcome = (await agent.flush()).outcome
    if outcome == FlushOutcome.CANCELLED:
        raise asyncio.CancelledError


async def compact(agent: Agent) -> None:
    await agent.compact()


async def append(agent: Agent) -> None:
    await agent.engine.append(agent.name, agent.delta(*arriving()))


async def prune(agent: Agent) -> None:
    delta = agent.delta(*arriving())
    await agent.engine.prune(PruneRequest(agent.name, delta, ViewKind.FULL))


async def flush_with_delta(agent: Agent) -> None:
    await finished(agent.flushing(delta=agent.delta(*arriving())))


async def rewind(agent: Agent) -> None:
    await agent.engine.append(agent.name, agent.delta(*arriving(), base=7))


async def configure(agent: Agent) -> None:
    await agent.engine.update_session(agent.name, config={"min_batch_chars": 5}, labels={"a": "b"})


def arriving() -> Sequence[Message]:
    return [result(None, "f", BIG), calls(None, "g"), result(None, "g", BIG + "!"), answer(None)]


CALLS = [flush, watch, compact, append, prune, flush_with_delta, rewind, configure]


@pytest.mark.parametrize("before", [True, False], ids=["before", "after"])
@pytest.mark.parametrize("call", CALLS, ids=lambda call: call.__name__)
async def test_cancelled_at_any_step(call: Callable[[Agent], Awaitable[None]], before: bool) -> None:
    """For every step there is."""
    step = 0
    while True:
        step += 1
        world, agent = await prepared()
        canceller = Canceller(world, step, before=before)
        cancelled = await canceller.run(lambda agent=agent: call(agent))
        world.store.before = world.store.after = None
        await world.idle()
        await check(world, agent)
        await world.engine.close()
        if canceller.steps < step:
            assert not cancelled and step > 1
            return


async def check(world: World, agent: Agent) -> None:
    """Nothing is half there: what is seen now is what a restart finds, every ref reads back, and work goes on."""
    session = await agent.engine.get_session(agent.name)
    agent.length, agent.etag = session.length, session.etag
    seen = await agent.view(), await agent.refs(), await agent.engine.list_calls("s", 0, 1_000)
    pending = session.pending_batches
    await world.restart()
    assert (await agent.view(), await agent.refs(), await agent.engine.list_calls("s", 0, 1_000)) == seen
    assert (await agent.engine.get_session("s")).pending_batches == pending
    refs = await agent.refs()
    for key, ref in refs.items():
        assert await agent.read(key) == await agent.read(ref) != ""
    stubs = [text for text in await agent.texts() if text.startswith(("[Summarized", "[Oversized"))]
    assert all(any(f"`{ref}`" in stub for ref in refs.values()) for stub in stubs)
    more = agent.delta(user(None), calls(None, "z"), result(None, "z", LONG + "z"), answer(None))
    await agent.engine.append(agent.name, more)
    assert (await agent.flush()).outcome == "summarized"
    assert refs.items() <= (await agent.refs()).items()


@pytest.mark.parametrize("before", [True, False], ids=["before", "after"])
async def test_creations_and_deletions(before: bool) -> None:
    """A cancelled creation or deletion was made or was not; a repetition settles it."""
    create = {"config": {"min_batch_chars": 3}, "labels": {}, "request_id": "r"}
    for step in (1, 2, 3):
        world = World()
        await world.engine.start()
        canceller = Canceller(world, step, before=before)
        await canceller.run(lambda engine=world.engine: engine.create_session("s", **create))
        assert (await world.engine.create_session("s", **create)).config.min_batch_chars == 3
        canceller = Canceller(world, step, before=before)
        await canceller.run(lambda engine=world.engine: engine.fork_session("s", "f", request_id="q"))
        assert (await world.engine.fork_session("s", "f", request_id="q")).length == 0
        canceller = Canceller(world, step, before=before)
        await canceller.run(lambda engine=world.engine: engine.delete_session("s"))
        world.store.before = world.store.after = None
        in_store = await world.store.inner.read_row("s") is not None
        try:
            await world.engine.get_session("s")
        except SessionNotFound:
            assert not in_store
        else:
            assert in_store
        await world.engine.delete_session("s")
        await world.engine.close()
