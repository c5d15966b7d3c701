"""A stop while the store does not answer: it ends in time, everything is tried once, and the log says what is lost."""

import asyncio
import sqlite3
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from condense_grpc.engine import writing
from condense_grpc.engine.engine import Engine, EngineOptions
from condense_grpc.engine.ports import SessionFilter
from condense_grpc.errors import StoreUnavailable
from condense_grpc.store.sqlite import SqliteStore
from condense_grpc.testing.fakes import Gate, Gated
from tests.domain.histories import user
from tests.engine.harness import NEVER, Agent, World, finished, passes

NAMES = "abcdefgh"


@pytest.fixture
async def world(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[World]:
    """A world in which nothing is written by itself, and groups are small."""
    monkeypatch.setattr(writing, "_MOST_TOGETHER", 3)
    world = World(options=EngineOptions(write_delay_seconds=NEVER))
    yield world
    world.store.before = None
    world.store._failing.clear()
    await world.engine.close(0)


async def appended(world: World, names: str = NAMES) -> list[Agent]:
    """Sessions each of which has one message that waits."""
    agents = [await world.agent(name) for name in names]
    world.store.calls.clear()
    for agent in agents:
        await agent.append(user(None, "a secret"))
    return agents


async def lengths(world: World) -> dict[str, int]:
    return {row.session_id: row.length for row in await world.store.inner.list_rows(SessionFilter(), "", 100)}


def locked(world: World) -> list[str]:
    """Have nothing written until the store is told to wait no more; then it does not answer. The calls that wait."""
    waiting: list[str] = []

    async def wait(name: str) -> None:
        if name in ("write", "write_many"):
            waiting.append(name)
            await world.store.hurried.wait()
            raise StoreUnavailable

    world.store.before = wait
    return waiting


async def test_all_sessions_wait_for_the_store_together(world: World) -> None:
    """The last one has begun before the first one has ended."""
    await appended(world)
    waiting = locked(world)
    closing = asyncio.create_task(world.engine.close(NEVER))
    await passes()
    assert waiting == ["write_many", "write_many", "write_many"] and not closing.done()
    world.store.before = None
    world.store.hurried.set()
    await closing
    assert await lengths(world) == dict.fromkeys(NAMES, 1), "each was tried again by itself"


async def test_at_the_end_of_the_grace_the_store_is_told_to_wait_no_more(
    world: World, caplog: pytest.LogCaptureFixture
) -> None:
    """How many sessions could not be written is told once, and nothing of what they are."""
    await appended(world)
    locked(world)
    await world.engine.close(0)
    assert world.store.calls.count("wait_no_more") == 1 and world.store.calls[-1] == "close"
    assert await lengths(world) == dict.fromkeys(NAMES, 0)
    (told,) = [record.getMessage() for record in caplog.records]
    assert "shutdown: 8" in told and "STORE_UNAVAILABLE" in told and "secret" not in told


async def test_a_store_that_never_answers_is_not_waited_for(
    world: World, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Nor is whoever never lets go of a session."""
    monkeypatch.setattr(writing, "_LEAST_SECONDS", 0.2)
    agents = await appended(world)
    gate = Gate()

    async def hold(name: str) -> None:
        if name in ("write", "write_many"):
            await gate.pass_through()

    world.store.before = hold
    async with world.engine._registry.locked("a"):
        await world.engine.close(0)
    assert gate.reached.is_set() and world.store.calls[-1] == "close"
    assert "shutdown: 8" in caplog.text
    gate.open()
    await passes()
    assert await lengths(world) == {"a": 0, **dict.fromkeys(NAMES[1:], 1)}, "what had begun came to its end"
    assert len(agents) == 8


async def test_what_could_be_written_is_not_told_as_lost(world: World, caplog: pytest.LogCaptureFixture) -> None:
    """A group that fails because of one of its sessions loses only that one."""
    await appended(world, "abc")
    world.store.fail("write_many", StoreUnavailable())
    world.store.fail("write", StoreUnavailable())
    await world.engine.close()
    assert sorted((await lengths(world)).values()) == [0, 1, 1]
    assert "shutdown: 1" in caplog.text


async def test_a_stop_in_good_order_tells_nothing(world: World, caplog: pytest.LogCaptureFixture) -> None:
    """And does not hurry."""
    await appended(world)
    await world.engine.close()
    assert await lengths(world) == dict.fromkeys(NAMES, 1)
    assert not caplog.records and "wait_no_more" not in world.store.calls


async def test_flushes_that_are_stopped_wait_for_the_store_together(world: World) -> None:
    """What each of them still has to write."""
    agents = [await world.agent(name) for name in "ab"]
    gates = [Gate() for _ in agents]
    world.summarizer.script(*map(Gated, gates))
    for agent in agents:
        await agent.work("x")
    flushes = [asyncio.ensure_future(finished(agent.flushing())) for agent in agents]
    for gate in gates:
        await gate.reached.wait()
    waiting = locked(world)
    stopping = asyncio.create_task(world.engine.stop_flushes())
    await stopping
    assert world.store.calls.count("wait_no_more") == 1
    assert len(waiting) == 2
    assert [(await flush).outcome for flush in flushes] == ["cancelled"] * 2


async def test_a_database_that_another_program_has_locked_does_not_keep_a_server_from_stopping(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """However long calls would wait for it. What was written before is there."""
    path = tmp_path / "s.sqlite"
    world = World(options=EngineOptions(write_delay_seconds=NEVER))
    world.engine = Engine(SqliteStore(path, busy_timeout_ms=10**9), world.summarizer, world.clock, world.options)
    agents = [await world.agent(name) for name in NAMES]
    await agents[0].work("x")
    assert (await agents[0].flush()).outcome == "summarized"
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    for agent in agents:
        await agent.append(user(None))
    await world.engine.close(0)
    assert "shutdown: 8" in caplog.text
    other.close()
    again = SqliteStore(path)
    await again.open()
    assert {row.session_id: row.length for row in await again.list_rows(SessionFilter(), "", 100)} == {
        "a": 4,
        **dict.fromkeys(NAMES[1:], 0),
    }
    await again.close()
