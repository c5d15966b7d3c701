"""The end of a flush: its last batches and the chains behind them are written together, and told once they are."""

from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from condense_grpc.engine import flush as module
from condense_grpc.engine.events import BatchFinished, ChainCompressed, FlushCompleted, FlushEvent, Notice
from condense_grpc.engine.flush_run import FlushRun
from condense_grpc.errors import StoreUnavailable
from tests.engine.harness import Agent, Flushed, World

Kinds = list[type[FlushEvent]]


async def prepared(world: World) -> Agent:
    """A session in which a flush has a batch to summarize and a chain to compress."""
    agent = await world.agent(chain_compression={"rolling_window": 1})
    await agent.work("a")
    await agent.flush()
    await agent.work("b")
    await world.restart()
    return agent


def block_ids(flushed: Flushed) -> list[str]:
    return [block.block_id for block in flushed.blocks]


def told_so_far(monkeypatch: pytest.MonkeyPatch) -> Kinds:
    """The kinds of the events that are told from here on."""
    told: Kinds = []
    emit = FlushRun.emit

    def noted(self: FlushRun, event: FlushEvent) -> None:
        told.append(type(event))
        emit(self, event)

    monkeypatch.setattr(FlushRun, "emit", noted)
    return told


def at_writes(world: World, told: Kinds) -> list[Kinds]:
    """What was told of ends when each write had just become durable, and nobody knew of it yet."""
    seen: list[Kinds] = []

    async def look(name: str) -> None:
        if name == "write":
            seen.append([kind for kind in told if kind in (BatchFinished, ChainCompressed, FlushCompleted)])

    world.store.after = look
    return seen


async def test_nothing_is_told_before_it_is_durable(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """One write for the batch and the chain; both are told behind it."""
    agent = await prepared(world)
    seen = at_writes(world, told_so_far(monkeypatch))
    flushed = await agent.flush()
    assert seen == [[]]
    assert [type(one) for one in flushed.events][-3:] == [BatchFinished, ChainCompressed, FlushCompleted]
    view = await agent.texts()
    await world.restart()
    assert await agent.texts() == view
    assert flushed.completed.revision == (await agent.prune()).revision


@pytest.mark.parametrize("is_watched", [False, True])
async def test_a_write_that_fails_takes_only_what_was_not_durable(
    world: World, monkeypatch: pytest.MonkeyPatch, is_watched: bool
) -> None:
    """Without it nothing has happened, and nothing was told; who watches has the batch by a write of its own."""
    agent = await prepared(world)
    if is_watched:
        await world.engine.watch_session("s")
    told = told_so_far(monkeypatch)
    world.store.before = failing_at(2 if is_watched else 1)
    if is_watched:
        flushed = await agent.flush()
        assert flushed.outcomes == ["summarized"] and not flushed.blocks
        assert Notice("error", "chains were not compressed: STORE_UNAVAILABLE") in flushed.events
    else:
        with pytest.raises(StoreUnavailable):
            await agent.flush()
        assert not {BatchFinished, ChainCompressed, FlushCompleted} & {*told}
    world.store.before = None
    again = await agent.flush()
    assert again.outcomes == ([] if is_watched else ["summarized"]) and block_ids(again) == ["b1"]
    await world.restart()
    assert (await agent.prune()).revision == again.completed.revision


def failing_at(write: int) -> Callable[[str], Awaitable[None]]:
    """A store that is away for one of the next writes."""
    writes = 0

    async def fail(name: str) -> None:
        nonlocal writes
        writes += name == "write"
        if name == "write" and writes == write:
            raise StoreUnavailable

    return fail


async def test_the_batches_are_told_also_when_the_name_of_the_view_is_not_found(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They are durable by then."""
    agent = await prepared(world)
    told = told_so_far(monkeypatch)

    async def broken(*_: Any) -> None:
        raise StoreUnavailable

    with monkeypatch.context() as patched:
        patched.setattr(module, "current_revision", broken)
        with pytest.raises(StoreUnavailable):
            await agent.flush()
    assert {BatchFinished, ChainCompressed} <= {*told}
    again = await agent.flush()
    assert (again.outcomes, again.blocks) == ([], [])


async def test_a_fault_with_the_chains_does_not_undo_the_batches(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """They are told; the chain waits for the next flush."""
    agent = await prepared(world)

    async def broken(*_: Any) -> None:
        raise ZeroDivisionError

    with monkeypatch.context() as patched:
        patched.setattr(module, "decide_chains", broken)
        flushed = await agent.flush()
    assert flushed.outcomes == ["summarized"] and not flushed.blocks
    assert Notice("error", "chains were not compressed: ZeroDivisionError") in flushed.events
    assert block_ids(await agent.flush()) == ["b1"]
    outcomes = [one.outcome for one in (await world.engine.diagnostics("s")).flushes]
    assert outcomes == ["summarized", "summarized", "compressed"]


async def test_whoever_watches_is_told_step_by_step(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """The view of the batches first, then that of the chain."""
    agent = await prepared(world)
    await world.engine.watch_session("s")
    seen = at_writes(world, told_so_far(monkeypatch))
    flushed = await agent.flush()
    assert seen[-2:] == [[], [BatchFinished]] and block_ids(flushed) == ["b1"]
