"""A flush that is stopped when there is little left of it: what is durable is told, and ends as it is reported."""

import asyncio

import pytest

from condense_grpc.engine.events import FlushOutcome
from condense_grpc.engine.live_session import LiveSession
from condense_grpc.errors import StoreUnavailable
from condense_grpc.testing.fakes import FakeSummarizer, Gate, Gated
from tests.engine.harness import Agent, Flushed, World, finished, passes, singly


async def prepared(world: World, *, chains: bool = True) -> Agent:
    """A session in which a flush has a batch to summarize, and a chain to compress if that is wanted."""
    agent = await world.agent(chain_compression={"rolling_window": 1, "enabled": chains})
    await agent.work("a")
    await agent.flush()
    await agent.work("b")
    return agent


async def stopped_at(world: World, agent: Agent, write: int, *, compacts: bool = False) -> Flushed:
    """What a follower sees of a flush whose client goes when a write has just become durable."""
    writes = 0

    async def stop(name: str) -> None:
        nonlocal writes
        writes += name == "write"
        if name == "write" and writes == write:
            owner.cancel()
            await passes(3)

    world.store.after = stop
    owner = asyncio.ensure_future(agent.compact() if compacts else agent.flush())
    desk = world.engine._flushing.desk
    while (run := desk.running("s")) is None:
        await passes(1)
    follower = asyncio.ensure_future(finished(singly(desk.follow(run, owner=False))))
    await asyncio.wait([owner, follower])
    world.store.after = None
    assert owner.cancelled() and writes >= write
    return await follower


async def reported(world: World) -> list[str]:
    """The outcomes that are reported of all flushes but the first."""
    return [flush.outcome for flush in (await world.engine.diagnostics("s")).flushes][1:]


@pytest.mark.parametrize(("is_watched", "fuses"), [(False, False), (True, False), (False, True)])
async def test_stopped_while_the_last_decisions_are_written(is_watched: bool, fuses: bool) -> None:
    """There was nothing left to stop: the block is told, and the end is that of the report."""
    world = World(summarizer=FakeSummarizer(can_fuse=fuses))
    agent = await prepared(world)
    if is_watched:
        await world.engine.watch_session("s")
    seen = await stopped_at(world, agent, 2 if is_watched or fuses else 1)
    assert (seen.outcomes, [block.block_id for block in seen.blocks]) == (["summarized"], ["b1"])
    assert (await reported(world), seen.outcome) == (["summarized"], "summarized")
    assert seen.completed.revision == (await agent.prune()).revision
    again = await agent.flush()
    assert (again.outcomes, again.blocks) == ([], [])
    await world.engine.close()


async def test_stopped_while_its_report_is_written(world: World) -> None:
    """Without chains the report is written by itself: it is written once, and says what the end says."""
    agent = await prepared(world, chains=False)
    seen = await stopped_at(world, agent, 2)
    assert (await reported(world), seen.outcome) == (["summarized"], "summarized")


async def test_stopped_before_its_last_decisions(world: World) -> None:
    """The batch is durable and told; the chain waits, and the report says that somebody stopped the flush."""
    agent = await prepared(world)
    await world.engine.watch_session("s")
    seen = await stopped_at(world, agent, 1)
    assert (seen.outcomes, seen.blocks, seen.outcome) == (["summarized"], [], "cancelled")
    assert await reported(world) == ["cancelled"]
    assert [block.block_id for block in (await agent.flush()).blocks] == ["b1"]


async def test_a_compaction_that_is_stopped_while_it_writes_tells_its_blocks(world: World) -> None:
    """They are durable by then."""
    agent = await prepared(world)
    seen = await stopped_at(world, agent, 2, compacts=True)
    assert [block.block_id for block in seen.blocks] == ["b1", "b2"]
    assert (await agent.compact()).blocks == []


async def test_the_report_of_a_flush_does_not_get_into_another_session(world: World) -> None:
    """It waits for the lock while its session is deleted and one of the same id is made."""
    agent = await prepared(world)
    gate = Gate()
    world.summarizer.script(Gated(gate))
    owner = asyncio.ensure_future(agent.flush())
    await gate.reached.wait()
    async with world.engine._registry.locked("s"):
        owner.cancel()
        await passes()
        world.engine._flushing.desk.abandon("s")
    await asyncio.wait([owner])
    assert await reported(world) == []


async def test_a_call_that_goes_while_others_are_told_of_its_messages_leaves_no_flush_behind(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nobody would follow it."""
    agent = await prepared(world)
    await world.engine.watch_session("s")
    listener = world.engine._registry.listener
    assert listener is not None
    released = listener.released

    async def gone(live: LiveSession) -> None:
        patched.undo()
        owner.cancel()
        await passes(1)
        await released(live)

    owner = asyncio.ensure_future(agent.flush())
    with monkeypatch.context() as patched:
        patched.setattr(listener, "released", gone)
        await asyncio.wait([owner])
    assert world.engine._flushing.desk.running("s") is None
    assert (await agent.flush()).outcomes == ["summarized"]


async def test_a_flush_that_is_stopped_while_its_write_fails_is_reported_as_stopped(world: World) -> None:
    """What was to be written with its report is not there, so the report must not count as written."""
    agent = await prepared(world)

    async def fail(name: str) -> None:
        if name == "write":
            world.store.before = None
            owner.cancel()
            await passes(3)
            raise StoreUnavailable

    owner = asyncio.ensure_future(agent.flush())
    while world.engine._flushing.desk.running("s") is None:
        await passes(1)
    world.store.before = fail
    await asyncio.wait([owner])
    assert await reported(world) == [FlushOutcome.CANCELLED]
    assert (await agent.flush()).outcomes == ["summarized"]
