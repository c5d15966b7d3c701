"""A session that is deleted at the very moment when somebody goes on with it: it is made again, or its base is gone."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from typing import Any

import pytest

from condense_grpc.engine.requests import Delta, FlushRequest, PruneRequest
from condense_grpc.errors import RevisionConflict, SessionNotFound, TranscriptMismatch
from condense_grpc.testing.fakes import Gate
from tests.domain.histories import answer, calls, result, user
from tests.engine.harness import LONG, QUIET, Agent, World, finished, passes, singly

Call = Callable[[World, Delta], Awaitable[Any]]


async def append(world: World, delta: Delta) -> bool:
    return (await world.engine.append("s", delta)).created


async def prune(world: World, delta: Delta) -> bool:
    return (await world.engine.prune(PruneRequest("s", delta))).created


async def flush(world: World, delta: Delta) -> bool:
    return (await finished(singly(world.engine.flush(FlushRequest("s", delta))))).outcome == "empty"


CALLS = pytest.mark.parametrize("call", [append, prune, flush], ids=lambda call: call.__name__)


def delta(base: int = 0, *, create: bool = True) -> Delta:
    return Delta(base, "", [user(None, "new"), answer(None)], create_if_missing=create, config=QUIET)


async def deleted_meanwhile(world: World, call: Awaitable[Any]) -> Any:
    """A session of one message is deleted while a call of it waits: what becomes of the call."""
    agent = await world.agent()
    await agent.append(user(None, "old"))
    gate = Gate()

    async def hold(name: str) -> None:
        if name == "delete":
            await gate.pass_through()

    world.store.before = hold
    deleting = asyncio.ensure_future(world.engine.delete_session("s"))
    await gate.reached.wait()
    calling = asyncio.ensure_future(call)
    await passes()
    assert not calling.done()
    gate.open()
    assert await deleting
    return await calling


@CALLS
async def test_from_the_beginning_it_is_made_again(world: World, call: Call) -> None:
    """With what the call brings, and nothing of what was there before."""
    assert await deleted_meanwhile(world, call(world, delta()))
    session = await world.engine.get_session("s")
    assert (session.length, session.config.min_batch_chars) == (2, 0)
    assert (await Agent(world, "s").texts())[0] == "new"


@CALLS
async def test_whoever_builds_on_its_messages_is_told_that_there_are_none(world: World, call: Call) -> None:
    """And has to send them again; no session is left behind."""
    with pytest.raises(TranscriptMismatch) as raised:
        await deleted_meanwhile(world, call(world, delta(1)))
    assert raised.value.metadata["serverLength"] == "0"
    with pytest.raises(SessionNotFound):
        await world.engine.get_session("s")


@CALLS
async def test_without_the_wish_it_is_not_found(world: World, call: Call) -> None:
    """Nobody asked for another one."""
    with pytest.raises(SessionNotFound):
        await deleted_meanwhile(world, call(world, delta(1, create=False)))


@pytest.mark.parametrize("create", [{"min_batch_chars": 7}, None], ids=["wanted", "not wanted"])
async def test_it_can_be_made_without_messages(world: World, create: Mapping[str, Any] | None) -> None:
    """By a prune that changes nothing else, and by a flush; a report of what they would do makes none."""
    await world.engine.start()
    look = PruneRequest("s", create=create)
    flushing = FlushRequest("f", create=create)
    dry = [world.engine.prune(replace(look, dry_run=True)), anext(world.engine.flush(replace(flushing, dry_run=True)))]
    real = [deleted_meanwhile(world, world.engine.prune(look)), finished(singly(world.engine.flush(flushing)))]
    if create is None:
        for one in (*dry, *real):
            with pytest.raises(SessionNotFound):
                await one
        return
    await asyncio.gather(*dry)
    assert await world.store.inner.read_row("s") is None
    result, flushed = await real[0], await real[1]
    assert (result.created, result.length, flushed.outcome) == (True, 0, "empty")
    for name in ("s", "f"):
        assert (await world.engine.get_session(name)).config.min_batch_chars == 7


async def test_one_that_another_process_makes_meanwhile_is_used(world: World) -> None:
    """It was not there when it was looked for."""
    await world.engine.start()
    second = world.other_engine()

    async def be_faster(name: str) -> None:
        if name == "create":
            world.store.before = None
            await second.append("s", delta())

    world.store.before = be_faster
    made = await world.engine.append("s", replace(delta(), messages=[user(None, "mine")]))
    assert (made.created, made.length) == (False, 1)
    await second.close()


async def test_one_that_always_comes_and_goes_is_a_conflict(world: World) -> None:
    """It is tried a few times."""
    await world.engine.start()
    second = world.other_engine()
    row = world.engine._sessions.new_row("s", {}, {})

    async def come_and_go(name: str) -> None:
        if name == "create":
            await world.store.inner.create(row)
        elif name == "load":
            await world.store.inner.delete("s")

    world.store.before = come_and_go
    with pytest.raises(RevisionConflict):
        await world.engine.append("s", delta())
    assert world.store.calls.count("create") == 3
    world.store.before = None
    await second.close()


@CALLS
async def test_one_that_another_process_deletes_is_found_out_by_the_write(world: World, call: Call) -> None:
    """The base is gone then, too; from the beginning a repetition makes it again."""
    agent = await world.agent(spill_threshold=300)
    await agent.append(user(None))
    large = [calls(None, "a"), result(None, "a", LONG), answer(None)]
    for base, error in ((1, TranscriptMismatch), (0, RevisionConflict)):
        await world.engine.get_session("s")
        await world.store.inner.delete("s")
        with pytest.raises(error):
            await call(world, replace(delta(base), messages=large))
        made = replace(delta(), messages=[user(None)], config=QUIET | {"spill_threshold": 300})
        assert await append(world, made)


async def test_a_flush_that_starts_while_its_session_is_deleted_is_cancelled(world: World) -> None:
    """It gets into none that is made behind it, not even as a report."""
    agent = await world.agent()
    await agent.work("a")
    async with world.engine._registry.locked("s"):
        flushing = asyncio.ensure_future(finished(singly(world.engine.flush(FlushRequest("s", create={})))))
        await passes()
        deleting = asyncio.ensure_future(world.engine.delete_session("s"))
        await passes()
        again = asyncio.ensure_future(world.engine.append("s", delta()))
        await passes()
    assert (await flushing).outcome == "cancelled"
    assert await deleting and (await again).created
    report = await world.engine.diagnostics("s")
    assert not report.flushes
