"""Which sessions stay in memory: they rest, they leave, and nobody can tell by the answers."""

import asyncio
from dataclasses import replace

import pytest

from condense_grpc.domain.budget import Usage
from condense_grpc.engine.engine import EngineOptions
from condense_grpc.engine.housekeeping import Housekeeper
from condense_grpc.engine.ports import SessionFilter
from condense_grpc.engine.residence import Residence, WriteWindow
from condense_grpc.errors import RevisionConflict, StoreUnavailable
from condense_grpc.testing.fakes import Failure
from tests.domain.histories import user
from tests.engine.harness import NEVER, Agent, World, knows, passes, when_due

REST_MS, EVICT_MS = 60_000, 3_600_000
EVERYONE = SessionFilter()


def registry_of(world: World):
    return world.engine._registry


async def rounds(world: World) -> None:
    """Wait until nothing waits to be written any more."""
    task = registry_of(world)._writing.task
    assert task is not None
    await task


async def look_around(world: World, after_ms: int) -> None:
    world.clock.advance(after_ms)
    await world.engine.look_after_sessions()


async def worked(world: World, name: str = "s") -> Agent:
    """A session with something of everything: summaries, a failure, something that waits, a view that was shown."""
    agent = await world.agent(name)
    await agent.work("a", "b")
    await agent.flush()
    await agent.work("c")
    world.summarizer.script(Failure())
    await agent.flush()
    await agent.prune()
    await world.engine.record_usage(name, Usage(10, 100))
    return agent


async def test_a_session_that_rests_answers_as_before(world: World) -> None:
    """Also with what the store does not know: what was noticed, measured and shown since it was loaded."""
    agent = await worked(world)
    session, report = await world.engine.get_session("s"), await world.engine.diagnostics("s")
    await look_around(world, REST_MS)
    assert registry_of(world).find("s") is None
    assert await world.engine.get_session("s") == replace(session, update_time_ms=world.clock.now_ms())
    assert await world.engine.diagnostics("s") == report
    assert world.store.calls.count("load") == 1
    result = await agent.prune()
    assert result.cache is not None and not result.cache.breaks_cache


async def test_a_session_that_is_used_does_not_rest(world: World) -> None:
    """Only time without any use counts."""
    agent = await worked(world)
    await look_around(world, REST_MS - 1)
    assert registry_of(world).find("s") is not None
    await agent.view()
    await look_around(world, REST_MS - 1)
    assert registry_of(world).find("s") is not None


async def test_who_wants_a_session_while_it_is_packed_gets_it_as_it_is(world: World) -> None:
    """And it does not rest then."""
    agent = await worked(world)
    wanting: list[asyncio.Task[object]] = []

    async def want(name: str) -> None:
        if name == "load":
            wanting.append(asyncio.create_task(agent.view()))
            await asyncio.sleep(0)

    world.store.before = want
    await look_around(world, REST_MS)
    world.store.before = None
    assert registry_of(world).find("s") is not None
    assert len(await asyncio.gather(*wanting)) == 1
    assert world.store.calls.count("load") == 1


async def test_what_was_not_written_is_written_before_a_rest(world: World) -> None:
    """And as long as that does not work the session stays."""
    agent = await worked(world)
    await agent.append(user(None, "not written"))
    world.store.fail("write", StoreUnavailable())
    await look_around(world, EVICT_MS)
    assert registry_of(world).find("s") is not None
    await look_around(world, 0)
    assert not knows(registry_of(world), "s")
    world.crash()
    assert (await world.engine.get_session("s")).length == agent.length


async def test_a_session_that_is_not_used_for_long_leaves(world: World) -> None:
    """It is still listed as it was, without being loaded."""
    await worked(world)
    await look_around(world, REST_MS)
    at_rest = await world.engine.list_sessions(EVERYONE, "", 10)
    await look_around(world, EVICT_MS)
    assert not knows(registry_of(world), "s")
    loads = world.store.calls.count("load")
    assert [replace(one, rearmed=False) for one in await world.engine.list_sessions(EVERYONE, "", 10)] == at_rest
    assert world.store.calls.count("load") == loads
    (told,) = await world.engine.list_sessions(EVERYONE, "", 10)
    assert told.pending_batches == 1 and told.rearmed
    assert replace(await world.engine.get_session("s"), status_line=told.status_line) == told


async def test_a_description_is_not_told_after_a_change(world: World) -> None:
    """What was written since the session rested is told, also when the process has ended at once."""
    agent = await worked(world)
    await look_around(world, REST_MS)
    await agent.append(user(None, "more"))
    async with registry_of(world).locked("s") as live:
        await registry_of(world).persist(live)
    world.crash()
    (told,) = await world.engine.list_sessions(EVERYONE, "", 10)
    assert told.length == agent.length


async def test_a_description_that_holds_on_is_written_again(world: World) -> None:
    """What is written beside it may say the same of the session as before."""
    agent = await world.agent()
    await agent.prune(user(None))
    await look_around(world, EVICT_MS)
    async with registry_of(world).locked("s") as live:
        live.state.show_views()
    await look_around(world, EVICT_MS)
    assert registry_of(world).find("s") is None
    loads = world.store.calls.count("load")
    await world.engine.list_sessions(EVERYONE, "", 10)
    assert world.store.calls.count("load") == loads


async def test_a_fork_of_a_session_that_has_rested_is_told_by_itself(world: World) -> None:
    """What was said of the original holds for the original."""
    await worked(world)
    await look_around(world, REST_MS)
    await world.engine.fork_session("s", "fork", base_length=0)
    world.crash()
    fork, original = await world.engine.list_sessions(EVERYONE, "", 10)
    assert (fork.length, original.length) == (0, 10)


async def test_beyond_the_budget_the_longest_unused_rest_and_then_leave() -> None:
    """However shortly they were not used."""
    world = World(options=EngineOptions(write_delay_seconds=NEVER))
    agents = [await worked(world, name) for name in "abc"]
    registry = registry_of(world)
    sizes = {one.session_id: one.size_bytes for one in registry.residents()}
    budget = registry.size_bytes - 1
    await Housekeeper(registry, world.clock, Residence(memory_bytes=budget)).look_around()
    assert [one.session_id for one in registry.residents() if one.is_resting] == ["a"]
    packed = next(one.size_bytes for one in registry.residents() if one.is_resting)
    assert packed < sizes["a"] / 3
    await Housekeeper(registry, world.clock, Residence(memory_bytes=2 * packed + 10)).look_around()
    assert [(one.session_id, one.is_resting) for one in registry.residents()] == [("b", True), ("c", True)]
    assert registry.size_bytes == sum(one.size_bytes for one in registry.residents())
    assert [len(await agent.view()) > 0 for agent in agents] == [True] * 3
    await world.engine.close()
    assert registry.size_bytes > 0


async def test_memory_is_given_back_once_in_a_pause() -> None:
    """Not while calls come, and not again before there were some."""
    given: list[int] = []
    world = World(options=EngineOptions(write_delay_seconds=NEVER, give_back=lambda: given.append(1)))
    agent = await worked(world)
    await look_around(world, 0)
    assert not given
    await look_around(world, 10_000)
    await look_around(world, 10_000)
    assert len(given) == 1
    await agent.view()
    await look_around(world, 10_000)
    assert len(given) == 2
    await world.engine.close()


async def length_in_store(world: World, name: str) -> int:
    row = await world.store.inner.read_row(name)
    assert row is not None
    return row.length


async def test_appends_wait_when_a_session_has_its_share_of_what_may_wait() -> None:
    """They are durable when they return, and the next ones may wait again."""
    world = World(options=EngineOptions(write_delay_seconds=NEVER, window=WriteWindow(most_messages=16)))
    agent = await world.agent()
    for written in (0, 0, 3, 3, 3, 6):
        await agent.append(user(None))
        assert await length_in_store(world, "s") == written
    await world.engine.close()


async def test_what_waits_of_all_sessions_is_bounded() -> None:
    """Who appends beyond it has the others written first."""
    world = World(options=EngineOptions(write_delay_seconds=NEVER, window=WriteWindow(most_messages=8)))
    agents = [await world.agent(str(number)) for number in range(12)]
    for agent in agents:
        await agent.append(user(None))
    registry = registry_of(world)
    assert registry._writing.waiting.messages <= 9
    assert registry._writing.waiting.messages == 12 - sum(
        [await length_in_store(world, agent.name) for agent in agents]
    )
    await world.engine.close()
    assert registry._writing.waiting.messages == 0


async def test_nothing_is_taken_in_that_could_not_be_written() -> None:
    """The client is told, and sends it again."""
    world = World(options=EngineOptions(write_delay_seconds=NEVER, window=WriteWindow(most_messages=8)))
    agent = await world.agent()
    messages = [user(None), user(None), user(None)]
    world.store.fail("write", StoreUnavailable(), times=2)
    for sent in (messages[:2], messages):
        with pytest.raises(StoreUnavailable):
            await agent.append(*sent)
    assert (await world.engine.get_session("s")).length == 2
    await agent.append(*messages)
    assert (await world.engine.get_session("s")).length == 3
    assert await length_in_store(world, "s") == 2
    await world.engine.close()


async def test_room_is_not_sought_in_a_session_that_goes_away_meanwhile() -> None:
    """Its lock is free when somebody looks for room, but who waited for it comes first, and removes the session."""
    world = World(options=EngineOptions(write_delay_seconds=NEVER, window=WriteWindow(most_messages=8)))
    full, other = await world.agent("full"), await world.agent("other")
    world.store.fail("write", StoreUnavailable())
    with pytest.raises(StoreUnavailable):
        await full.append(*[user(None) for _ in range(9)])
    async with registry_of(world).locked("full"):
        deleting = asyncio.create_task(world.engine.delete_session("full"))
        await passes()
    await other.append(user(None))
    assert await deleting
    assert not knows(registry_of(world), "full") and (await world.engine.get_session("other")).length == 1
    await world.engine.close()


async def test_the_size_of_a_session_that_was_thrown_away_counts_no_more() -> None:
    """Outside of any call, by who found that it was written elsewhere: nobody lets go of it who would take note."""
    world = World(options=EngineOptions(write_delay_seconds=0))
    agent = await world.agent()
    await agent.append(user(None))
    live = registry_of(world).find("s")
    assert live is not None
    world.store.fail("write", RevisionConflict("s"))
    await rounds(world)
    assert live.gone and registry_of(world).size_bytes == 0
    await world.engine.close()


async def test_a_session_that_cannot_be_packed_keeps_no_other(caplog: pytest.LogCaptureFixture) -> None:
    """Whatever is wrong with it; what an error says of it may be content and is not logged."""
    world = World(options=EngineOptions(write_delay_seconds=NEVER))
    agents = [await worked(world, name) for name in "ab"]
    world.store.fail("load", ValueError("a secret"))
    await look_around(world, REST_MS)
    assert [(one.session_id, one.is_resting) for one in registry_of(world).residents()] == [("a", False), ("b", True)]
    assert "ValueError" in caplog.text and "secret" not in caplog.text
    assert [len(await agent.view()) > 0 for agent in agents] == [True] * 2
    await world.engine.close()


@pytest.mark.parametrize("when", ["soon", "at the end", "for others"])
async def test_a_fault_in_one_session_costs_no_other(when: str, caplog: pytest.LogCaptureFixture) -> None:
    """What it had not written is gone, as after any fault of ours; its text is not logged."""
    delay = 0 if when == "soon" else NEVER
    world = World(options=EngineOptions(write_delay_seconds=delay, window=WriteWindow(most_messages=80)))
    bad, good = await world.agent("bad"), await world.agent("good")
    await bad.append(user(None))
    live = registry_of(world).find("bad")
    assert live is not None
    world.store.fail("write", ValueError("a secret"))
    if when == "soon":
        await rounds(world)
    elif when == "for others":
        registry_of(world)._writing._window = WriteWindow(most_messages=0)
        await good.append(user(None))
    else:
        await good.append(user(None))
        await world.engine.close()
        assert await length_in_store(world, "good") == 1
    assert live.gone and "ValueError" in caplog.text and "secret" not in caplog.text
    await world.engine.close()


async def test_branches_that_were_left_count_against_the_budget(world: World) -> None:
    """A host that changes the begin of its history at every turn leaves another branch each time."""
    agent = await world.agent()
    sizes = []
    for number in range(3):
        await agent.append(*[user(None, f"{number} {position}") for position in range(20)], base=0)
        async with registry_of(world).locked("s") as live:
            await registry_of(world).persist(live)
        sizes.append(registry_of(world).size_bytes)
    assert sizes[0] < sizes[1] < sizes[2]
    assert sizes[1] - sizes[0] < sizes[0]


async def test_a_load_goes_on_when_nobody_waits_for_it_any_more(world: World) -> None:
    """A client whose deadline is shorter than a load takes would never get its session otherwise."""
    await worked(world)
    await world.restart()
    calls: list[asyncio.Task[object]] = []

    async def give_up(name: str) -> None:
        if name == "load":
            calls[0].cancel()
            await passes()

    world.store.before = give_up
    calls.append(asyncio.create_task(world.engine.get_session("s")))
    await asyncio.wait(calls)
    assert calls[0].cancelled()
    loads = world.store.calls.count("load")
    assert (await world.engine.get_session("s")).length == 10
    assert world.store.calls.count("load") == loads


async def test_what_was_written_in_a_round_counts_as_memory_no_more() -> None:
    """The budget is about what sessions take, not about what they took while it waited."""
    world = World(options=EngineOptions(write_delay_seconds=NEVER))
    agent = await world.agent()
    await agent.append(user(None, "x" * 100_000))
    registry = registry_of(world)
    assert registry.size_bytes > 100_000
    await when_due(registry._writing)
    live = registry.find("s")
    assert live is not None and registry.size_bytes == live.state.size_bytes < 100_000
    await world.engine.close()
