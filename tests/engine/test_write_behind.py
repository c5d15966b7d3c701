"""When what becomes durable: appends a moment later, decisions before anybody hears of them."""

import pytest

from condense_grpc.engine.engine import EngineOptions
from condense_grpc.engine.requests import CallState
from condense_grpc.errors import CondenseError, StoreUnavailable, TranscriptMismatch
from condense_grpc.testing.fakes import Gate, Gated, Reply
from tests.domain.histories import answer, calls, result, user
from tests.engine.harness import LONG, NEVER, World, passes

BIG = "y" * 300


async def length_in_store(world: World) -> int:
    row = await world.store.inner.read_row("s")
    assert row is not None
    return row.length


async def test_appends_wait_and_nothing_is_lost_on_close(world: World) -> None:
    """The client still has them; closing writes them."""
    agent = await world.agent()
    await agent.append(user(None), answer(None))
    assert await length_in_store(world) == 0
    await world.restart()
    assert (await world.engine.get_session("s")).length == await length_in_store(world) == 2


async def test_appends_are_written_a_moment_later() -> None:
    """By a task of the engine's own."""
    world = World(options=EngineOptions(write_delay_seconds=0))
    agent = await world.agent()
    await agent.append(user(None))
    await passes()
    assert await length_in_store(world) == 1
    await agent.append(user(None))
    await passes()
    assert await length_in_store(world) == 2
    await world.engine.close()


async def test_a_store_that_does_not_answer_is_tried_again() -> None:
    """An append is not lost because of one failure."""
    world = World(options=EngineOptions(write_delay_seconds=0))
    agent = await world.agent()
    world.store.fail("write", StoreUnavailable(), times=3)
    await agent.append(user(None))
    await passes()
    assert await length_in_store(world) == 1
    await world.engine.close()


async def test_what_a_closing_store_refuses_is_reported_and_closing_goes_on(
    world: World, caplog: pytest.LogCaptureFixture
) -> None:
    """One session that cannot be written keeps no other from it."""
    agent, other = await world.agent(), await world.agent("other")
    await agent.append(user(None))
    await other.append(user(None))
    world.store.fail("write", StoreUnavailable())
    await world.engine.close()
    assert await length_in_store(world) == 0
    row = await world.store.inner.read_row("other")
    assert row is not None and row.length == 1
    assert "STORE_UNAVAILABLE" in caplog.text
    assert world.store.calls[-1] == "close"


async def test_many_bytes_do_not_wait(world: World) -> None:
    """What waits is bounded."""
    agent = await world.agent()
    await agent.append(user(None, "x" * 9_000_000))
    assert await length_in_store(world) == 1


async def test_appends_while_the_engine_closes_are_written_at_once(world: World) -> None:
    """Nobody comes behind them any more; no flush starts, and that is no error."""
    agent = await world.agent(prune_on="agent-message")
    world.engine._registry._writing._closing = True
    world.engine._flushing.desk._closing = True
    await agent.work("a")
    assert await length_in_store(world) == 4


async def test_unwritten_messages_go_with_decisions(world: World) -> None:
    """A stub is never shown before its original is durable."""
    agent = await world.agent(spill_threshold=300)
    await agent.append(user(None), calls(None, "a"))
    await agent.append(result(None, "a", BIG))
    assert await length_in_store(world) == 3
    world.crash()
    assert await agent.read("t1") == BIG


async def test_a_crash_takes_what_was_not_written_and_the_client_heals_it(world: World) -> None:
    """The etag of the lost messages does not match, and the whole history does."""
    agent = await world.agent()
    await agent.work("a")
    await agent.flush()
    await agent.append(user(None, "lost"))
    world.crash()
    with pytest.raises(TranscriptMismatch):
        await agent.append(answer(None))
    await agent.append(*agent.history, answer(None), base=0)
    assert len(await agent.refs()) == 1
    assert agent.length == 6


@pytest.mark.parametrize("step", ["append", "flush", "compact"])
async def test_decisions_that_could_not_be_written_are_as_if_never_made(world: World, step: str) -> None:
    """The state is thrown away: nothing is half visible, not even in memory."""
    agent = await world.agent(spill_threshold=300, chain_compression={"rolling_window": 0})
    await agent.work("a")
    if step == "compact":
        await agent.flush()
    await world.restart()
    before = await agent.view(), await agent.refs()
    world.store.fail("write", StoreUnavailable())
    with pytest.raises(StoreUnavailable):
        if step == "append":
            await agent.append(user(None), calls(None, "b"), result(None, "b", BIG))
        elif step == "flush":
            await agent.flush()
        else:
            await agent.compact()
    assert (await agent.view(), await agent.refs()) == before
    world.crash()
    assert (await agent.view(), await agent.refs()) == before


async def test_what_was_appended_outlasts_decisions_that_could_not_be_written(world: World) -> None:
    """Nobody has to send it again, and it is written when the store answers."""
    agent = await world.agent()
    await agent.work("a")
    assert (await agent.flush()).outcome == "summarized"
    await agent.work("b")
    await agent.append(user(None, "more"))
    world.store.fail("write", StoreUnavailable(), times=2)
    for _ in range(2):
        with pytest.raises(StoreUnavailable):
            await agent.flush()
    await agent.append(answer(None))
    view = await agent.texts()
    assert (view[-2], len(await agent.refs()), await length_in_store(world)) == ("more", 1, 4)
    await world.restart()
    assert await length_in_store(world) == 10
    assert await agent.texts() == view
    assert (await agent.flush()).outcomes == ["summarized"]
    assert await agent.read("b") == f"b: {LONG}"


async def test_what_was_refused_together_with_its_decisions_is_not_there(world: World) -> None:
    """The caller was told that it failed; what was taken in before is."""
    agent = await world.agent(spill_threshold=300)
    await agent.append(user(None, "kept"))
    large = [calls(None, "a"), result(None, "a", BIG)]
    world.store.fail("write", StoreUnavailable())
    with pytest.raises(StoreUnavailable):
        await agent.append(*large)
    assert await agent.texts() == ["kept"]
    await agent.append(*large)
    assert await length_in_store(world) == 3 and await agent.read("t1") == BIG


async def test_a_way_back_outlasts_them_too(world: World) -> None:
    """With the decisions that hold again there, and without those that were left."""
    agent = await world.agent()
    await agent.work("a")
    await agent.flush()
    whole = agent.history
    await agent.work("b")
    await agent.flush()
    await agent.rewind(4)
    await agent.append(user(None, "elsewhere"))
    await agent.work("c")
    world.store.fail("write", StoreUnavailable(), times=2)
    with pytest.raises(StoreUnavailable):
        await agent.flush()
    assert list((await agent.refs()).values()) == ["t1"] and (await agent.texts())[-5] == "elsewhere"
    await agent.append(*whole, base=0)
    await agent.append(answer(None))
    with pytest.raises(StoreUnavailable):
        await agent.compact()
    assert len(agent.history) == 5 and list((await agent.refs()).values()) == ["t1"]
    view = await agent.view()
    await world.restart()
    assert await agent.view() == view


async def test_a_flush_whose_write_fails_keeps_the_batches_before(world: World) -> None:
    """What was ready before is committed; the rest is pending and comes next time, without a lost or doubled ref."""
    agent = await world.agent()
    await agent.work("a", "b")
    await world.restart()
    gate = Gate()
    world.summarizer.script(Reply(), Gated(gate, Reply()))
    world.store.after = lambda name: fail_second_commit(world, name, gate)
    with pytest.raises(StoreUnavailable):
        await agent.flush()
    world.store.after = None
    assert list((await agent.refs()).values()) == ["t1"]
    assert (await agent.flush()).outcomes == ["summarized"]
    assert list((await agent.refs()).values()) == ["t1", "t2"]


async def fail_second_commit(world: World, name: str, gate: Gate) -> None:
    """The second reply comes once the first batch is written, and its own write fails."""
    if name == "write" and not world.store._failing:
        world.store.fail("write", StoreUnavailable())
        gate.open()


async def test_batches_that_are_ready_together_share_one_write(world: World) -> None:
    """All of them are there afterwards, or none: the write fails as a whole."""
    agent = await world.agent()
    await agent.work("a", "b", "c")
    await world.restart()
    world.store.fail("write", StoreUnavailable())
    with pytest.raises(StoreUnavailable):
        await agent.flush()
    assert await agent.refs() == {}
    writes = world.store.calls.count("write")
    assert (await agent.flush()).outcomes == ["summarized"] * 3
    assert world.store.calls.count("write") - writes == 1, "with the chains and the report"


async def test_a_write_that_was_made_but_not_confirmed_heals(world: World) -> None:
    """The answer was lost: the version differs, the state is loaded again, the client repeats its call."""
    agent = await world.agent()
    await agent.work("a")

    async def lose_answer(name: str) -> None:
        if name == "write":
            world.store.after = None
            raise StoreUnavailable

    world.store.after = lose_answer
    await world.engine.close()
    world.engine = world.other_engine()
    assert (await agent.flush()).outcome == "summarized"

    await agent.append(user(None))
    world.store.after = lose_answer
    with pytest.raises(StoreUnavailable):
        await world.engine.diagnostic_entries("s", 0, 1)
    with pytest.raises(CondenseError, match="changed meanwhile"):
        await world.engine.diagnostic_entries("s", 0, 1)
    assert (await world.engine.get_session("s")).length == 5


async def test_settings_that_could_not_be_written_do_not_hold(world: World) -> None:
    """The caller was told that it failed, so a later write must not make it true."""
    agent = await world.agent()
    world.store.fail("write", StoreUnavailable())
    with pytest.raises(StoreUnavailable):
        await world.engine.update_session("s", config={"enabled": False}, labels={"a": "b"})
    await agent.work("a")
    await world.restart()
    session = await world.engine.get_session("s")
    assert session.config.enabled and session.labels == {} and session.length == 4
    assert (await agent.call("a")).state is CallState.PENDING


async def test_options_have_sane_defaults() -> None:
    """A write waits for a moment, not for ever."""
    assert 0 < EngineOptions().write_delay_seconds < 1 < NEVER
