"""What happens to a session while a flush of it is under way, and who may watch."""

import asyncio

import pytest

from condense_grpc.engine.events import FlushStarted
from condense_grpc.engine.requests import CallState
from condense_grpc.errors import (
    FlushInProgress,
    SessionAlreadyExists,
    SessionNotFound,
    ShuttingDown,
    StoreUnavailable,
)
from condense_grpc.testing.fakes import FakeSummarizer, Gate, Gated, Reply
from tests.domain.histories import answer, calls, result, user
from tests.engine.harness import LONG, Agent, Flushed, World, finished, passes, singly


class Gates:
    """A flush of `agent` that has come to the summarizer and waits there."""

    def __init__(self, agent: Agent, count: int = 1) -> None:
        self.agent = agent
        self.gates = [Gate() for _ in range(count)]
        agent.world.summarizer.script(*(Gated(gate) for gate in self.gates))

    async def __aenter__(self) -> "Gates":
        self.task = asyncio.ensure_future(finished(self.agent.flushing()))
        for gate in self.gates:
            await gate.reached.wait()
        return self

    async def __aexit__(self, *_: object) -> None:
        self.task.cancel()
        await asyncio.gather(self.task, return_exceptions=True)

    async def opened(self) -> Flushed:
        for gate in self.gates:
            gate.open()
        return await self.task


async def test_messages_that_arrive_meanwhile_are_safe_and_stay(world: World) -> None:
    """The summary stands behind them; they are for the next flush."""
    agent = await world.agent()
    await agent.work("a")
    async with Gates(agent) as flush:
        await agent.work("b")
        assert (await agent.texts())[2].startswith("a:")
        assert (await flush.opened()).outcomes == ["summarized"]
    texts = await agent.texts()
    assert texts[-1].startswith("- `t1` ok") and texts[6].startswith("b:")
    assert (await world.engine.get_session("s")).pending_batches == 1
    assert (await agent.flush()).outcomes == ["summarized"]


async def test_chains_that_arrive_meanwhile_wait_for_their_own_flush(world: World) -> None:
    """Their calls were not summarized yet, and a block would only count them."""
    agent = await world.agent(chain_compression={"rolling_window": 0})
    await agent.work("a")
    async with Gates(agent) as flush:
        await agent.work("b")
        assert [block.refs for block in (await flush.opened()).blocks] == [("t1",)]
    assert [block.body_source for block in (await agent.flush()).blocks] == ["summaries"]


async def test_a_rewind_lets_its_batches_go(world: World) -> None:
    """What is left of the history is summarized, what is gone is not."""
    agent = await world.agent()
    await agent.work("a", "b")
    async with Gates(agent, 2) as flush:
        await agent.rewind(3)
        flushed = await flush.opened()
    assert flushed.outcomes == ["summarized", "failed"]
    assert flushed.batches[1].failure_reason == "history-changed"
    assert list((await agent.refs()).values()) == ["t1"]


async def test_a_rewind_and_back_is_no_change(world: World) -> None:
    """The messages are the same ones."""
    agent = await world.agent()
    await agent.work("a")
    whole = agent.history
    async with Gates(agent) as flush:
        await agent.rewind(0)
        await agent.append(*whole)
        assert (await flush.opened()).outcomes == ["summarized"]
    assert (await agent.read("t1")).startswith("a:")


async def test_a_rewind_to_another_text_under_the_same_key_is_a_change(world: World) -> None:
    """A host may edit a result and keep its id and time: the summary of the old text must not stand for the new one."""
    agent = await world.agent()
    await agent.append(user(1), calls(2, "a"), result(3, "a", LONG))
    async with Gates(agent) as flush:
        await agent.append(result(3, "a", "edited"), base=2)
        assert (await flush.opened()).outcomes == ["failed"]
    assert (await agent.call("a@3")).state is CallState.PENDING
    assert await agent.read("a@3") == "edited"


async def test_duplicates_of_a_taken_back_summary_are_pending_again(world: World) -> None:
    """An alias to something that is not there would be a stub without a summary."""
    agent = await world.agent()
    await agent.append(user(None), calls(None, "a"), result(None, "a", LONG))
    await agent.append(calls(None, "b"), result(None, "b", LONG + "!"), calls(None, "c"), result(None, "c", LONG))
    await agent.append(answer(None))
    first, second = Gate(), Gate()
    world.summarizer.script(Gated(first), Gated(second))
    task = asyncio.ensure_future(finished(agent.flushing()))
    await second.reached.wait()
    first.open()
    while not await agent.refs():
        await passes(1)
    await agent.rewind(7)
    second.open()
    flushed = await task
    assert flushed.outcomes == ["summarized", "summarized", "failed"]
    assert (await agent.call("c")).state is CallState.PENDING
    assert list((await agent.refs()).values()) == ["t1"]


async def test_calls_that_were_settled_meanwhile_are_let_go(world: World) -> None:
    """A lower threshold and a way back spill what the flush holds: one ref is enough."""
    agent = await world.agent()
    await agent.work("a")
    whole = agent.history
    async with Gates(agent) as flush:
        await world.engine.update_session("s", config={"spill_threshold": 100}, labels=None)
        await agent.rewind(1)
        await agent.append(*whole[1:])
        assert (await agent.call("t1")).state is CallState.SPILLED
        assert (await flush.opened()).outcomes == ["failed"]
    assert list((await agent.refs()).values()) == ["t1"]
    assert (await agent.call("t1")).state is CallState.SPILLED


async def test_a_fused_text_of_another_history_is_not_used() -> None:
    """A rewind into the chain while its summaries are fused: the block says what is in the new chain."""
    world = World(summarizer=FakeSummarizer(can_fuse=True))
    agent = await world.agent(chain_compression={"rolling_window": 0})
    await agent.work("a", "b")
    gate = Gate()
    world.summarizer.script(Reply(), Reply(), Gated(gate, Reply("- old story")))
    task = asyncio.ensure_future(finished(agent.flushing()))
    await gate.reached.wait()
    await agent.append(calls(None, "x"), result(None, "x", LONG), answer(None, "new"), base=3)
    gate.open()
    assert (await task).blocks == []
    assert [block.body for block in (await agent.flush()).blocks] == ["- all of it"]
    assert len(world.summarizer.fuse_requests) == 2
    await world.engine.close()


async def test_deleting_the_session_stops_the_flush(world: World) -> None:
    """Its followers hear that it was cancelled; a session of that name begins anew."""
    agent = await world.agent()
    await agent.work("a")
    async with Gates(agent) as flush:
        assert await world.engine.delete_session("s")
        assert (await flush.task).outcome == "cancelled"
    assert world.summarizer.cancelled == 1
    with pytest.raises(SessionNotFound):
        await agent.view()
    again = await world.agent()
    assert await again.view() == []


async def test_settings_that_change_meanwhile_hold_for_what_comes(world: World) -> None:
    """Disabled: what was begun is finished, and not shown."""
    agent = await world.agent()
    await agent.work("a")
    async with Gates(agent) as flush:
        await world.engine.update_session("s", config={"enabled": False}, labels=None)
        assert (await flush.opened()).outcome == "summarized"
    assert (await agent.texts())[2].startswith("a:")
    await world.engine.update_session("s", config={"enabled": True}, labels=None)
    assert "`t1`" in (await agent.texts())[2]


async def test_one_run_at_a_time(world: World) -> None:
    """A second flush or compaction is refused, its delta is not."""
    agent = await world.agent()
    await agent.work("a")
    async with Gates(agent) as flush:
        delta = agent.delta(user(None, "more"))
        for refused in (agent.flushing(delta=delta), singly(world.engine.compact("s"))):
            with pytest.raises(FlushInProgress) as error:
                await finished(refused)
            assert error.value.metadata["flushId"]
        assert (await flush.opened()).outcome == "summarized"
    assert (await world.engine.get_session("s")).length == 5


async def test_many_may_watch_and_go(world: World) -> None:
    """Everybody who attaches sees all events from the first; going away stops nothing."""
    agent = await world.agent()
    await agent.work("a")
    async with Gates(agent) as flush:
        watching = [asyncio.ensure_future(finished(agent.flushing(attach=True))) for _ in range(5)]
        watching.append(asyncio.ensure_future(finished(singly(world.engine.compact("s", attach=True)))))
        leaving = agent.flushing(attach=True)
        assert isinstance((await anext(leaving)).event, FlushStarted)
        await leaving.aclose()
        slow = agent.flushing(attach=True)
        await anext(slow)
        seen = await flush.opened()
        assert [await one for one in watching] == [seen] * 6
        rest = [numbered.event async for numbered in slow]
        assert rest == list(seen.events[1:])
    assert (await agent.flush(attach=True)).outcome == "empty"


async def test_its_owner_stops_it(world: World) -> None:
    """Closing the iterator of the call that started it, or cancelling that call."""
    agent = await world.agent()
    await agent.work("a")
    gate = Gate()
    world.summarizer.script(Gated(gate))
    events = agent.flushing()
    await anext(events)
    await gate.reached.wait()
    await events.aclose()
    async with Gates(agent) as flush:
        watching = asyncio.ensure_future(finished(agent.flushing(attach=True)))
        await passes()
        flush.task.cancel()
        assert (await watching).outcome == "cancelled"
        with pytest.raises(asyncio.CancelledError):
            await flush.task
    assert await agent.refs() == {}
    assert (await agent.flush()).outcome == "summarized"


async def test_a_run_that_is_stopped_before_its_first_step_ends(world: World) -> None:
    """A delete may come between the start of a background flush and its first step."""
    agent = await world.agent(prune_on="agent-message")
    await agent.work("a")
    desk = world.engine._flushing.desk
    run = desk.running("s")
    assert run is not None and run.task is not None
    run.task.cancel()
    events = await finished(singly(run.follow()))
    assert events.outcome == "cancelled"
    assert desk.running("s") is None
    assert (await agent.flush()).outcome == "summarized"


async def test_an_error_reaches_all_followers_and_the_log(world: World, caplog: pytest.LogCaptureFixture) -> None:
    """A store that fails in the middle."""
    agent = await world.agent()
    await agent.work("a")
    async with Gates(agent) as flush:
        watching = asyncio.ensure_future(finished(agent.flushing(attach=True)))
        await passes()
        world.store.fail("write", StoreUnavailable())
        with pytest.raises(StoreUnavailable):
            await flush.opened()
        with pytest.raises(StoreUnavailable):
            await watching
    assert "STORE_UNAVAILABLE" in caplog.text


async def test_a_fault_of_ours_keeps_nothing_half_done(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """The state is loaded again; the log names the kind of error and no content."""
    agent = await world.agent(chain_compression={"rolling_window": 0})
    await agent.work("a")
    await world.restart()
    with monkeypatch.context() as patch:
        patch.setattr("condense_grpc.engine.settling.settle", _half_settle)
        with pytest.raises(ZeroDivisionError):
            await agent.flush()
    assert await agent.refs() == {}
    with monkeypatch.context() as patch:
        patch.setattr("condense_grpc.engine.compression_step.compress", _half_compress)
        flushed = await agent.flush()
    assert (flushed.outcome, flushed.blocks) == ("summarized", [])
    assert "ZeroDivisionError" in repr(flushed.events)
    assert len((await agent.flush()).blocks) == 1


def _half_settle(work, index, failures, now_ms):
    from condense_grpc.engine.flush_work import settle

    settle(work, index, failures, now_ms)
    raise ZeroDivisionError


def _half_compress(source, fused):
    from condense_grpc.domain.compression import compress

    compress(source, fused)
    raise ZeroDivisionError


async def test_closing_waits_and_then_cancels(world: World) -> None:
    """A server that stops gives flushes a grace; nothing starts any more."""
    agent = await world.agent()
    await agent.work("a")
    async with Gates(agent) as flush:
        closing = asyncio.ensure_future(world.engine.close(grace_seconds=3_600))
        await passes()
        with pytest.raises(ShuttingDown):
            await finished(singly(world.engine.compact("s")))
        assert (await flush.opened()).outcome == "summarized"
        await closing
    world.engine = world.other_engine()
    await agent.work("b")
    async with Gates(agent) as flush:
        await world.engine.close(grace_seconds=0)
        assert (await flush.task).outcome == "cancelled"
    world.engine = world.other_engine()
    assert list((await agent.refs()).values()) == ["t1"]
    assert (await agent.flush()).outcome == "summarized"


async def test_sessions_do_not_wait_for_each_other(world: World) -> None:
    """A slow flush of one is nothing to another."""
    agent, other = await world.agent("a"), await world.agent("b")
    await agent.work("x")
    async with Gates(agent) as flush:
        await other.work("x")
        assert (await other.flush()).outcome == "summarized"
        assert (await flush.opened()).outcome == "summarized"


async def test_many_creations_at_once_make_one_session(world: World) -> None:
    """One wins, the others hear of it; with a request id all of them are the same."""
    await world.engine.start()
    made = [world.engine.create_session("s", config={}, labels={}) for _ in range(5)]
    answers = await asyncio.gather(*made, return_exceptions=True)
    assert sum(isinstance(one, SessionAlreadyExists) for one in answers) == 4
    same = [world.engine.create_session("", config={}, labels={}, request_id="r") for _ in range(5)]
    assert len({one.session_id for one in await asyncio.gather(*same)}) == 1


async def test_many_appends_at_once_go_one_after_another(world: World) -> None:
    """Each sees a whole history."""
    agent = await world.agent()
    await agent.append(user(None))
    deltas = [agent.delta(user(None, str(number))) for number in range(20)]
    results = await asyncio.gather(*(world.engine.append("s", delta) for delta in deltas))
    assert {one.length for one in results} == {2}
    assert len({one.etag for one in results}) == 20
