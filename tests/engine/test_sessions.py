"""Sessions as a whole: made, listed, changed, forked, removed, and shared by engines on one store."""

import pytest

from condense_grpc.domain.config import PurgeErrorsConfig
from condense_grpc.engine.engine import EngineOptions
from condense_grpc.engine.ports import SessionFilter
from condense_grpc.engine.requests import Delta
from condense_grpc.errors import (
    RevisionConflict,
    SessionAlreadyExists,
    SessionNotFound,
    StoreUnavailable,
    TranscriptMismatch,
)
from condense_grpc.testing.fakes import FakeSummarizer
from tests.domain.histories import answer, user
from tests.engine.harness import LONG, NEVER, Agent, World, passes, singly


async def test_a_session_is_made_once(world: World) -> None:
    """The same request gives the same session, another one is refused."""
    await world.engine.start()
    made = await world.engine.create_session("s", config={}, labels={"k": "v"}, request_id="r")
    assert await world.engine.create_session("s", config={"enabled": False}, labels={}, request_id="r") == made
    for request_id in ("", "other"):
        with pytest.raises(SessionAlreadyExists):
            await world.engine.create_session("s", config={}, labels={}, request_id=request_id)
    assert (made.length, made.etag, made.labels, made.pending_batches) == (0, "", {"k": "v"}, 0)
    assert made.create_time_ms == world.clock.now_ms()
    assert world.engine.store_kind == "memory"


async def test_sessions_without_a_name_get_one(world: World) -> None:
    """A new one each, or the same one for the same request."""
    await world.engine.start()
    names = [(await world.engine.create_session("", config={}, labels={})).session_id for _ in range(3)]
    assert len(set(names)) == 3
    first = await world.engine.create_session("", config={}, labels={}, request_id="r")
    assert await world.engine.create_session("", config={}, labels={}, request_id="r") == first


async def test_unknown_sessions_are_told(world: World) -> None:
    """Every call says so."""
    await world.engine.start()
    for call in (world.engine.get_session("s"), world.engine.diagnostics("s"), world.engine.query("s", ["t1"], [])):
        with pytest.raises(SessionNotFound):
            await call
    for events in (singly(world.engine.compact("s")), Agent(world, "s").flushing()):
        with pytest.raises(SessionNotFound):
            await anext(events)
    assert not await world.engine.delete_session("s")


async def test_lists_go_by_id_and_labels(world: World) -> None:
    """In pages; a session that goes away meanwhile is left out."""
    for name in ("b", "a", "c"):
        await world.agent(name)
    await world.engine.update_session("c", config={}, labels={"k": "v"})
    names = [one.session_id for one in await world.engine.list_sessions(SessionFilter(), "a", 10)]
    assert names == ["b", "c"]
    labelled = await world.engine.list_sessions(SessionFilter({"k": "v"}), "", 10)
    assert [one.session_id for one in labelled] == ["c"]

    async def delete_b(name: str) -> None:
        if name == "list_rows":
            world.store.after = None
            await world.engine.delete_session("b")

    world.store.after = delete_b
    names = [one.session_id for one in await world.engine.list_sessions(SessionFilter(), "", 10)]
    assert names == ["a", "c"]


async def test_settings_change_one_by_one(world: World) -> None:
    """Nested blocks member by member; they outlive a rewind and a restart."""
    agent = await world.agent()
    await world.engine.update_session("s", config={"purge_errors": {"cooldown_turns": 9}}, labels={"a": "b"})
    await agent.work("a")
    await agent.rewind(0)
    await world.restart()
    session = await world.engine.get_session("s")
    assert session.config.purge_errors == PurgeErrorsConfig(cooldown_turns=9)
    assert session.labels == {"a": "b"}
    await world.engine.update_session("s", config={}, labels={})
    assert (await world.engine.get_session("s")).labels == {}


async def test_a_fork_is_a_copy_and_then_independent(world: World) -> None:
    """Messages, decisions and settings; labels are its own."""
    agent = await world.agent(purge_errors={"cooldown_turns": 9})
    await agent.work("a")
    await agent.flush()
    await agent.append(user(None, "unwritten"))
    made = await world.engine.fork_session("s", "f", labels={"of": "s"}, request_id="r")
    assert await world.engine.fork_session("s", "f", labels={}, request_id="r") == made
    with pytest.raises(SessionAlreadyExists):
        await world.engine.fork_session("s", "f")
    fork = Agent(world, "f")
    assert await fork.view() == await agent.view()
    assert (await fork.refs(), made.labels, made.config) == (
        await agent.refs(),
        {"of": "s"},
        (await world.engine.get_session("s")).config,
    )
    await world.engine.append("f", Delta(made.length, made.etag, [answer(None)]))
    assert (await world.engine.get_session("s")).length == 5
    await world.engine.delete_session("s")
    assert await fork.read("t1") == f"a: {LONG}"


async def test_a_fork_may_begin_earlier(world: World) -> None:
    """With what was decided up to there."""
    agent = await world.agent()
    await agent.work("a")
    await agent.flush()
    await agent.work("b")
    await agent.flush()
    made = await world.engine.fork_session("s", "f", base_length=6)
    assert (made.length, made.pending_batches) == (6, 0)
    assert list((await Agent(world, "f").refs()).values()) == ["t1"]
    assert (await world.engine.fork_session("s", "", base_length=0)).etag == ""
    for length in (-1, 9):
        with pytest.raises(TranscriptMismatch):
            await world.engine.fork_session("s", "g", base_length=length)
    with pytest.raises(SessionNotFound):
        await world.engine.fork_session("unknown", "g")


async def test_work_from_before_a_restart_is_told_until_it_is_flushed(world: World) -> None:
    """A client that comes back sees that something waits."""
    agent = await world.agent()
    await agent.work("a")
    assert not (await world.engine.get_session("s")).rearmed
    await world.restart()
    assert (await world.engine.get_session("s")).rearmed
    world.summarizer.default = FakeSummarizer().default
    await agent.flush()
    assert not (await world.engine.get_session("s")).rearmed


async def test_sessions_that_rest_are_let_go_and_come_back() -> None:
    """The longest unused first; those with something to write stay."""
    world = World(options=EngineOptions(sessions_kept=2, write_delay_seconds=NEVER))
    agents = [await world.agent(str(number)) for number in range(4)]
    for agent in agents:
        await agent.append(user(None, agent.name))
    live = world.engine._registry._slots
    assert set(live) == {"0", "1", "2", "3"}
    for agent in agents[:3]:
        await agent.flush()
    assert set(live) == {"2", "3"}
    assert [(await agent.view())[0].parts[0].text for agent in agents] == ["0", "1", "2", "3"]
    await world.engine.close()


async def test_the_newest_is_not_let_go_while_it_is_loaded() -> None:
    """However full it is: nobody waits for ever."""
    world = World(options=EngineOptions(sessions_kept=1, write_delay_seconds=NEVER))
    busy, other = await world.agent("busy"), await world.agent("other")
    await busy.append(user(None))
    assert await other.view() == []
    assert len(await busy.view()) == 1
    await world.engine.close()


async def test_a_load_that_fails_is_tried_again(world: World) -> None:
    """By the next caller."""
    agent = await world.agent()
    await world.restart()
    world.store.fail("load", StoreUnavailable())
    with pytest.raises(StoreUnavailable):
        await agent.view()
    assert await agent.view() == []


async def test_a_deleted_session_does_not_come_back_from_a_load_under_way(world: World) -> None:
    """Loading and deleting take turns."""
    import asyncio

    agent = await world.agent()
    await world.restart()
    deleting = None

    async def delete_meanwhile(name: str) -> None:
        nonlocal deleting
        if name == "load":
            world.store.after = None
            deleting = asyncio.ensure_future(world.engine.delete_session("s"))
            await passes()

    world.store.after = delete_meanwhile
    assert await agent.view() == []
    assert deleting is not None and await deleting
    with pytest.raises(SessionNotFound):
        await agent.view()


async def test_two_engines_on_one_store_heal(world: World) -> None:
    """Whoever comes late is told, loads again, and goes on from what is there; nothing is decided twice."""
    agent = await world.agent()
    await agent.work("a")
    await world.engine._registry.close(NEVER)
    world.engine._registry._writing._closing = False
    second = world.other_engine()
    other = Agent(World(world.store, world.summarizer, world.clock), "s")
    other.world.engine = second
    other.history, other.length, other.etag = agent.history, agent.length, agent.etag
    assert await other.view() == await agent.view()
    assert (await agent.flush()).outcome == "summarized"
    with pytest.raises(RevisionConflict):
        await other.flush()
    assert await other.refs() == await agent.refs()
    assert (await other.flush()).outcome == "empty"

    await agent.append(user(None, "mine"))
    with pytest.raises(RevisionConflict):
        await agent.flush()
    with pytest.raises(TranscriptMismatch):
        await agent.append(answer(None))
    await agent.append(*agent.history, base=0)
    assert (await agent.flush()).outcome == "empty"


async def test_another_engine_may_delete_and_make_a_session_again(world: World) -> None:
    """What is written for the old one does not get into the new one."""
    agent = await world.agent()
    await agent.append(user(None, "old"))
    second = world.other_engine()
    await second.delete_session("s")
    world.clock.advance(1)
    await second.create_session("s", config={}, labels={})
    with pytest.raises(RevisionConflict):
        await agent.flush()
    assert await agent.view() == []
    await second.delete_session("s")
    with pytest.raises(SessionNotFound):
        await agent.flush()


@pytest.mark.parametrize("call", ["view", "flush", "query"])
async def test_a_session_that_another_engine_has_deleted_is_a_conflict_for_whoever_reads_it(call: str) -> None:
    """What is loaded counts no more once the store does not have its messages; the next call finds none."""
    world = World(options=EngineOptions(write_delay_seconds=NEVER, body_cache_bytes=0))
    agent = await world.agent(min_batch_chars=0)
    await agent.work("a")
    await agent.flush()
    await agent.work("b")
    await world.engine._registry.close(NEVER)
    await world.other_engine().delete_session("s")
    with pytest.raises(RevisionConflict):
        await {"view": agent.view, "flush": agent.flush, "query": lambda: agent.read("t1")}[call]()
    with pytest.raises(SessionNotFound):
        await agent.view()
    await world.engine.close(0)
