"""Watching a session: what is told, to whom, and what a reader may miss."""

import asyncio
from typing import Any

import pytest

from condense_grpc.engine.events import FlushCompleted, FlushStarted, NumberedEvent
from condense_grpc.engine.feed import (
    KEPT_EVENTS,
    KEPT_FEEDS,
    Deleted,
    Gap,
    RevisionChanged,
    SessionEvent,
    StatsChanged,
    Watch,
    WatchedEvent,
)
from condense_grpc.engine.ports import StoredDiagnostic
from condense_grpc.engine.requests import FlushTrigger
from condense_grpc.errors import FlushInProgress, PageTokenInvalid, SessionNotFound, ShuttingDown, StoreUnavailable
from condense_grpc.testing.fakes import Gate, Gated
from tests.domain.histories import answer, calls, result, user
from tests.engine.harness import LONG, World, finished


async def read(watch: Watch, count: int) -> list[SessionEvent]:
    return [await anext(watch) for _ in range(count)]


async def told(watch: Watch) -> list[WatchedEvent]:
    """Everything that waits to be read."""
    return [one.event for one in await waiting(watch)]


async def waiting(watch: Watch) -> list[SessionEvent]:
    found: list[SessionEvent] = []
    while True:
        reading = asyncio.ensure_future(anext(watch))
        for _ in range(3):
            await asyncio.sleep(0)
        if not reading.done():
            reading.cancel()
            return found
        found.append(reading.result())


def kinds(events: list[Any]) -> list[str]:
    return [type(one.event if isinstance(one, NumberedEvent) else one).__name__ for one in events]


async def test_what_changes_is_told(world: World) -> None:
    """An append, a flush with everything in it, its costs; each once, in the order in which it happened."""
    agent = await world.agent()
    watch = await world.engine.watch_session("s")
    appended = await agent.work("a")
    (change,) = await read(watch, 1)
    assert change.event == RevisionChanged((await agent.prune()).revision, appended.length, appended.etag)
    assert change.time_ms == world.clock.now_ms()
    numbered = [one async for one in agent.flushing()]
    events = [one.event for one in await read(watch, len(numbered) + 2)]
    assert [one for one in events if isinstance(one, NumberedEvent)] == numbered
    others = [one for one in events if not isinstance(one, NumberedEvent)]
    assert kinds(others) == ["RevisionChanged", "StatsChanged"]
    assert isinstance(others[0], RevisionChanged) and isinstance(others[1], StatsChanged)
    assert others[0].revision == (await agent.prune()).revision != change.event.revision
    assert (others[1].stats.total_cost, others[1].since_load.total_cost) == (0.25, 0.25)
    assert kinds(events).index("RevisionChanged") < kinds(events).index("BatchFinished")


async def test_flushes_of_whoever_started_them(world: World) -> None:
    """Also those that the service starts by itself; numbers of events grow over all flushes of a session."""
    agent = await world.agent(prune_on="agent-message")
    watch = await world.engine.watch_session("s")
    await agent.work("a")
    await world.idle()
    await agent.flush()
    flushes = [one for one in await told(watch) if isinstance(one, NumberedEvent)]
    assert [one.sequence for one in flushes] == list(range(1, len(flushes) + 1))
    starts = [one.event.trigger for one in flushes if isinstance(one.event, FlushStarted)]
    assert starts == ["message-end", "manual"]
    assert len({one.flush_id for one in flushes}) == 2


async def test_reading_tells_nothing(world: World) -> None:
    """Queries, listings, renders and changes that change nothing are no events."""
    agent = await world.agent()
    await agent.work("a")
    await agent.flush()
    watch = await world.engine.watch_session("s")
    await agent.prune()
    await world.engine.query("s", ["t1"], [])
    await world.engine.list_calls("s", 0, 9)
    await world.engine.update_session("s", config={"protected_tools": ("other",)}, labels={"a": "b"})
    await agent.append(*agent.history, base=0)
    assert await told(watch) == []


async def test_settings_pins_and_rewinds_change_the_view(world: World) -> None:
    """Whatever makes another view is told."""
    agent = await world.agent()
    await agent.work("a")
    await agent.flush()
    watch = await world.engine.watch_session("s")
    await world.engine.update_session("s", config={"protected_tools": ("bash",)}, labels=None)
    await world.engine.update_session("s", config={"protected_tools": ()}, labels=None)
    await world.engine.pin_calls("s", ["t1"])
    await agent.rewind(2)
    changes = await told(watch)
    assert kinds(changes) == ["RevisionChanged"] * 4 + ["StatsChanged"]
    assert isinstance(changes[3], RevisionChanged) and changes[3].length == 2


async def test_a_delta_of_a_refused_flush_is_told(world: World) -> None:
    """It was appended."""
    agent = await world.agent()
    await agent.work("a")
    gate = Gate()
    world.summarizer.script(Gated(gate))
    events = agent.flushing()
    await anext(events)
    watch = await world.engine.watch_session("s")
    with pytest.raises(FlushInProgress):
        await finished(agent.flushing(delta=agent.delta(user(None))))
    changes = await told(watch)
    assert [one.length for one in changes if isinstance(one, RevisionChanged)] == [5]
    gate.open()
    await finished(events)


async def test_problems_are_told_when_they_are_durable(world: World) -> None:
    """Once each."""
    agent = await world.agent()
    await agent.append(user(None), result(None, "stray"))
    watch = await world.engine.watch_session("s")
    await agent.prune()
    assert await told(watch) == []
    await agent.append(user(None))
    await agent.prune()
    noticed = await world.engine.diagnostic_entries("s", 0, 9)
    problems = [one for one in await told(watch) if isinstance(one, StoredDiagnostic)]
    assert problems == noticed != []


async def test_a_broken_stream_goes_on(world: World) -> None:
    """Behind the cursor of any event come exactly those that followed it."""
    agent = await world.agent()
    watch = await world.engine.watch_session("s")
    await agent.work("a")
    await agent.flush()
    events = await waiting(watch)
    await watch.aclose()
    await agent.append(user(None))
    for place, event in enumerate(events):
        again = await world.engine.watch_session("s", event.cursor)
        followed = await waiting(again)
        assert [one.cursor for one in followed[:-1]] == [one.cursor for one in events[place + 1 :]]
        assert kinds([followed[-1].event]) == ["RevisionChanged"]
        await again.aclose()


async def test_a_slow_reader_gets_a_gap(world: World) -> None:
    """It learns how much it has missed, goes on with the rest, and held nobody up."""
    agent = await world.agent()
    watch = await world.engine.watch_session("s")
    total = KEPT_EVENTS + 7
    for number in range(total):
        await agent.append(user(None, str(number)))
    events = await waiting(watch)
    assert events[0].event == Gap(7)
    changes = [one.event for one in events[1:]]
    assert [one.length for one in changes if isinstance(one, RevisionChanged)] == list(range(8, total + 1))
    again = await world.engine.watch_session("s", events[0].cursor)
    assert [one.cursor for one in await waiting(again)] == [one.cursor for one in events[1:]]


async def test_nothing_is_kept_over_a_restart(world: World) -> None:
    """A cursor from before is answered by a gap of unknown size, and then by what happens."""
    agent = await world.agent()
    watch = await world.engine.watch_session("s")
    await agent.append(user(None))
    (event,) = await read(watch, 1)
    await world.restart()
    watch = await world.engine.watch_session("s", event.cursor)
    await agent.append(answer(None))
    first, second = await read(watch, 2)
    assert first.event == Gap(None)
    assert isinstance(second.event, RevisionChanged)
    assert await told(await world.engine.watch_session("s", first.cursor)) == [second.event]


@pytest.mark.parametrize("change", ["other", "garbage", "again", "short"])
async def test_cursors_of_others_are_refused(world: World, change: str) -> None:
    """One session's cursor is nothing to another, not even to one that has its id now."""
    agent = await world.agent()
    watch = await world.engine.watch_session("s")
    await agent.append(user(None))
    ((event),) = await read(watch, 1)
    cursor, name = event.cursor, "s"
    if change == "other":
        name = (await world.agent("t")).name
    elif change == "garbage":
        cursor = "é" * 32
    elif change == "short":
        cursor = cursor[:-4]
    else:
        world.clock.advance(1)
        await world.engine.delete_session("s")
        await world.agent("s")
    with pytest.raises(PageTokenInvalid):
        await world.engine.watch_session(name, cursor)


async def test_a_deleted_session_ends_its_streams(world: World) -> None:
    """The last event says so; a running flush is stopped before."""
    agent = await world.agent()
    await agent.work("a")
    gate = Gate()
    world.summarizer.script(Gated(gate))
    flushing = agent.flushing()
    await anext(flushing)
    await gate.reached.wait()
    watch = await world.engine.watch_session("s")
    await world.engine.delete_session("s")
    events = [one.event async for one in watch]
    assert kinds(events) == ["FlushCompleted", "Deleted"]
    assert events[-1] == Deleted()
    with pytest.raises(SessionNotFound):
        await world.engine.watch_session("s")
    await finished(flushing)


async def test_a_flush_that_fails_as_a_whole_is_told(world: World) -> None:
    """Whoever watches learns the end of every flush, also where the one who asked gets an error."""
    agent = await world.agent()
    await agent.work("a")
    watch = await world.engine.watch_session("s")
    world.store.fail("write", StoreUnavailable())
    with pytest.raises(StoreUnavailable):
        await agent.flush()
    last = (await told(watch))[-1]
    assert isinstance(last, NumberedEvent) and isinstance(last.event, FlushCompleted)
    assert last.event.outcome == "error"
    await agent.flush(trigger=FlushTrigger.MANUAL)


async def test_a_server_that_stops_sends_readers_away(world: World) -> None:
    """They get what waits, and then the word to come again."""
    agent = await world.agent()
    watch = await world.engine.watch_session("s")
    await agent.append(user(None))
    world.engine.end_watches()
    assert len(await read(watch, 1)) == 1
    with pytest.raises(ShuttingDown):
        await anext(watch)
    with pytest.raises(ShuttingDown):
        await world.engine.watch_session("s")


async def test_sessions_that_nobody_watches_cost_nothing(world: World) -> None:
    """No feed, no render; and of those that were watched only the latest are remembered."""
    agent = await world.agent()
    await agent.work("a")
    await agent.flush()
    feeds = world.engine._feeds
    assert feeds.find("s") is None
    watch = await world.engine.watch_session("s")
    await agent.append(user(None))
    ((event),) = await read(watch, 1)
    await watch.aclose()
    for number in range(KEPT_FEEDS + 1):
        await world.agent(f"o{number}")
        await (await world.engine.watch_session(f"o{number}")).aclose()
    assert feeds.find("s") is None
    assert [one.event for one in await waiting(await world.engine.watch_session("s", event.cursor))] == [Gap(None)]


async def test_a_change_that_could_not_be_told_comes_with_the_next(world: World) -> None:
    """A store that does not answer while the view is looked at does not fail the call."""
    agent = await world.agent(protected_tools=("keep",))
    kept = [calls(None, "a", tool="keep"), result(None, "a", LONG, tool="keep")]
    await agent.append(user(None), *kept, calls(None, "b"), result(None, "b"), answer(None))
    await agent.compact()
    await world.restart()
    watch = await world.engine.watch_session("s")
    world.engine._tools.bodies._kept.clear()
    live = world.engine._registry.find("s")
    assert live is not None
    live.state.view.rest()
    world.store.fail("read_bodies", StoreUnavailable())
    await agent.append(user(None))
    assert await told(watch) == []
    await agent.append(user(None))
    changes = await told(watch)
    assert [one.length for one in changes if isinstance(one, RevisionChanged)] == [8]
