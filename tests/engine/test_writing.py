"""Appends of many sessions are written together, and none of them suffers for another."""

import asyncio

import pytest

from condense_grpc.engine import writing
from condense_grpc.engine.engine import EngineOptions
from condense_grpc.engine.ports import SessionFilter
from condense_grpc.engine.residence import WriteWindow
from condense_grpc.errors import StoreUnavailable
from condense_grpc.testing.fakes import Gate
from tests.domain.histories import user
from tests.engine.harness import NEVER, Agent, World, passes, when_due

NAMES = "abcd"


def at_once(**options: object) -> World:
    """A world in which appends wait for nothing but the next round."""
    return World(options=EngineOptions(write_delay_seconds=0, **options))  # type: ignore[arg-type]


async def appended(world: World, names: str = NAMES) -> list[Agent]:
    """Sessions each of which has one message that waits."""
    agents = [await world.agent(name) for name in names]
    world.store.calls.clear()
    await asyncio.gather(*(agent.append(user(None)) for agent in agents))
    return agents


async def lengths(world: World) -> dict[str, int]:
    """What the store has of every session."""
    return {row.session_id: row.length for row in await world.store.inner.list_rows(SessionFilter(), "", 100)}


async def rounds(world: World) -> None:
    """Wait until nothing waits any more."""
    task = world.engine._registry._writing.task
    assert task is not None
    await task


def when_asked() -> World:
    """A world in which appends wait for `one_round`."""
    return World(options=EngineOptions(write_delay_seconds=NEVER))


async def one_round(world: World) -> None:
    """What happens when appends have waited for long enough; those that were put off wait on."""
    await when_due(world.engine._registry._writing)


async def test_sessions_that_wait_are_written_together() -> None:
    """By one call."""
    world = at_once()
    await appended(world)
    await rounds(world)
    assert await lengths(world) == dict.fromkeys(NAMES, 1)
    assert world.store.calls == ["write_many", *["write"] * 4], "the fake makes one of each"
    await world.engine.close()


async def test_a_group_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """In sessions, and in what their messages take."""
    monkeypatch.setattr(writing, "_MOST_TOGETHER", 3)
    monkeypatch.setattr(writing, "_MOST_BYTES", 5000)
    world = at_once()
    agents = await appended(world, "abcdefgh")
    await rounds(world)
    assert world.store.calls.count("write_many") == 3
    world.store.calls.clear()
    await asyncio.gather(*(agent.append(user(None, "x" * 3000)) for agent in agents))
    await rounds(world)
    assert world.store.calls.count("write_many") == 4
    await world.engine.close()


async def test_a_session_in_use_is_not_waited_for() -> None:
    """The others are written while somebody holds it, and it is written in a later round."""
    world = at_once()
    agents = [await world.agent(name) for name in NAMES]
    async with world.engine._registry.locked("a") as live:
        await agents[0].engine._registry.persist_soon(live)
        live.state.show_views()
        await world.engine._registry.persist_soon(live)
        await asyncio.gather(*(agent.append(user(None)) for agent in agents[1:]))
        await passes()
        assert await lengths(world) == {"a": 0, "b": 1, "c": 1, "d": 1}
        row = await world.store.inner.read_row("a")
        assert row is not None and row.version == 1
    await rounds(world)
    row = await world.store.inner.read_row("a")
    assert row is not None and row.version == 2
    await world.engine.close()


async def test_a_session_that_is_always_in_use_is_written_by_who_uses_it() -> None:
    """A round never finds it free; it must not wait for ever."""
    world = at_once()
    await world.agent("a")
    registry = world.engine._registry
    async with registry.locked("a") as live:
        live.state.show_views()
        await registry.persist_soon(live)
        await passes(100)
        assert live.state.has_unwritten
        await registry.persist_soon(live)
        assert not live.state.has_unwritten
    await world.engine.close()


async def test_what_is_refused_to_one_is_written_of_the_others(caplog: pytest.LogCaptureFixture) -> None:
    """It was written elsewhere meanwhile: it is loaded again by whoever asks next."""
    world = when_asked()
    agents = await appended(world)
    other = world.other_engine()
    await other.update_session("b", config={}, labels={"by": "another"})
    live = world.engine._registry.find("b")
    await one_round(world)
    assert await lengths(world) == {"a": 1, "b": 0, "c": 1, "d": 1}
    assert live is not None and live.gone and "REVISION_CONFLICT" in caplog.text
    assert world.engine._registry._writing.waiting.messages == 0
    await agents[1].append(*agents[1].history, base=0)
    await one_round(world)
    assert await lengths(world) == dict.fromkeys(NAMES, 1)
    await world.engine.close()


async def test_a_fault_in_one_is_no_fault_of_the_others(caplog: pytest.LogCaptureFixture) -> None:
    """Whatever it is, its text is not in the log."""
    world = when_asked()
    await appended(world)
    live = world.engine._registry.find("c")
    assert live is not None
    live.state.facts["a secret"] = object()
    await one_round(world)
    assert await lengths(world) == {"a": 1, "b": 1, "c": 0, "d": 1}
    assert live.gone and "TypeError" in caplog.text and "secret" not in caplog.text
    await world.engine.close()


async def test_sessions_whose_group_has_failed_are_tried_by_themselves(caplog: pytest.LogCaptureFixture) -> None:
    """It may have been because of one of them, which must not keep the others from the disk."""
    world = at_once()
    world.store.fail("write_many", StoreUnavailable())
    await appended(world)
    broken: list[str] = []

    async def refuse_the_first(name: str) -> None:
        if name == "write" and len(broken) < 3:
            broken.append(name)
            raise StoreUnavailable

    world.store.before = refuse_the_first
    await rounds(world)
    assert await lengths(world) == dict.fromkeys(NAMES, 1)
    assert world.store.calls == ["write_many", *["write"] * 7]
    assert caplog.text.count("STORE_UNAVAILABLE") == 4, "once for the group, then for each that failed"
    await world.engine.close()


async def test_a_store_that_does_not_answer_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """For a while, by all that would have been written in that round: one group has found out for all of them."""
    monkeypatch.setattr(writing, "_MOST_TOGETHER", 2)
    world = when_asked()
    await appended(world)
    world.store.calls.clear()
    world.store.fail("write_many", StoreUnavailable())
    await one_round(world)
    await one_round(world)
    assert world.store.calls == ["write_many"]
    late = await world.agent("e")
    await late.append(user(None))
    await one_round(world)
    assert await lengths(world) == {**dict.fromkeys(NAMES, 0), "e": 1}, "its own time has come"
    await world.engine.close()
    assert await lengths(world) == dict.fromkeys("abcde", 1)


async def test_while_the_store_does_not_answer_nothing_is_lost_and_decisions_are_refused() -> None:
    """What waits is written once it answers again."""
    world = at_once()
    agents = await appended(world)
    world.store.fail("write_many", StoreUnavailable())
    world.store.fail("write", StoreUnavailable(), times=30)
    await passes()
    with pytest.raises(StoreUnavailable):
        await agents[0].flush()
    await rounds(world)
    assert await lengths(world) == dict.fromkeys(NAMES, 1)
    await world.engine.close()


async def test_a_turn_that_comes_while_its_session_is_written_follows_it() -> None:
    """Nothing of it gets into the write that is under way, and nothing is lost."""
    world = at_once()
    gate = Gate()

    async def hold(name: str) -> None:
        if name == "write_many":
            await gate.pass_through()

    world.store.before = hold
    agents = await appended(world)
    await gate.reached.wait()
    turn = asyncio.create_task(agents[0].append(user(None)))
    other = await world.agent("e")
    await other.append(user(None))
    await passes()
    assert not turn.done(), "its session is being written"
    gate.open()
    await turn
    await rounds(world)
    assert await lengths(world) == {"a": 2, "b": 1, "c": 1, "d": 1, "e": 1}
    await world.engine.close()


async def test_closing_writes_all_and_waits_for_who_uses_a_session() -> None:
    """What it appends meanwhile is written, too."""
    world = World(options=EngineOptions(write_delay_seconds=NEVER))
    await appended(world)
    async with world.engine._registry.locked("a") as live:
        closing = asyncio.create_task(world.engine._registry.close(NEVER))
        await passes()
        assert await lengths(world) == {"a": 0, "b": 1, "c": 1, "d": 1}
        live.state.show_views()
        assert not closing.done()
    await closing
    assert await lengths(world) == dict.fromkeys(NAMES, 1)
    assert world.store.calls.count("write_many") == 1


async def test_closing_during_a_round_lets_it_come_to_its_end() -> None:
    """What was begun is complete, and its sessions are written once."""
    world = at_once()
    gate = Gate()

    async def hold(name: str) -> None:
        if name == "write_many":
            await gate.pass_through()

    world.store.before = hold
    await appended(world)
    await gate.reached.wait()
    closing = asyncio.create_task(world.engine.close())
    await passes()
    assert not closing.done()
    gate.open()
    await closing
    assert await lengths(world) == dict.fromkeys(NAMES, 1)
    assert world.store.calls.count("write") == 4


async def test_room_is_made_by_writing_together() -> None:
    """Who appends beyond the window has as many others written as there are, at once."""
    world = World(options=EngineOptions(write_delay_seconds=NEVER, window=WriteWindow(most_messages=4)))
    await appended(world, "abcde")
    late = await world.agent("f")
    world.store.calls.clear()
    await late.append(user(None))
    assert world.store.calls.count("write_many") <= 1
    assert world.engine._registry._writing.waiting.messages <= 5
    await world.engine.close()
    assert await lengths(world) == dict.fromkeys("abcdef", 1)


async def test_appends_that_follow_each_other_closely_are_not_written_in_every_round() -> None:
    """But when there is a pause, and now and then all the same."""
    world = World(options=EngineOptions(write_delay_seconds=1000))
    agent = await world.agent("a")
    writing, loop = world.engine._registry._writing, asyncio.get_running_loop()
    await agent.append(user(None))
    begun = loop.time()
    await writing._round(begun + 999)
    assert await lengths(world) == {"a": 0}
    (due,) = writing._due.values()
    due.at, due.latest = begun - 500, begun + 700
    await agent.append(user(None))
    await writing._round(begun + 600)
    assert await lengths(world) == {"a": 0}, "the second append has put it off"
    await writing._round(begun + 700)
    assert await lengths(world) == {"a": 2}, "though not for ever"
    await world.engine.close()
