"""When the service flushes by itself."""

import pytest

from condense_grpc.domain.budget import Usage
from condense_grpc.engine.requests import FlushAdvice, FlushTrigger
from condense_grpc.testing.fakes import Gate, Gated
from tests.domain.histories import answer, calls, result, user
from tests.engine.harness import LONG, World, finished

AUTO = {"prune_on": "agent-message"}


async def test_an_answer_starts_a_flush_in_the_background(world: World) -> None:
    """The append does not wait for it; whoever likes may attach."""
    agent = await world.agent(**AUTO)
    await agent.append(user(None), calls(None, "a"), result(None, "a", LONG))
    await world.idle()
    assert world.summarizer.requests == []
    pruned = await agent.prune(answer(None))
    assert pruned.advice == FlushAdvice(FlushTrigger.MESSAGE_END, 1, 300, running=True, started=True)
    assert (await finished(agent.flushing(attach=True))).outcome == "summarized"
    assert list((await agent.refs()).values()) == ["t1"]
    assert (await world.engine.diagnostics("s")).flushes[-1].trigger == "message-end"


async def test_only_new_messages_reach_a_boundary(world: World) -> None:
    """A retry, a look, and a rewind to an answer start nothing."""
    agent = await world.agent(**AUTO)
    await agent.work("a")
    await world.idle()
    await agent.work("b")
    await world.idle()
    flushes = len((await world.engine.diagnostics("s")).flushes)
    assert flushes == 2
    await agent.append()
    await agent.prune()
    await agent.rewind(4)
    await world.idle()
    assert len((await world.engine.diagnostics("s")).flushes) == 1


async def test_not_when_it_is_off(world: World) -> None:
    """On demand means on demand; a disabled session is left alone."""
    quiet, off = await world.agent("quiet"), await world.agent("off", enabled=False, **AUTO)
    for agent in (quiet, off):
        await agent.work("a")
        await world.idle(agent.name)
    assert world.summarizer.requests == []
    assert (await off.prune()).advice.trigger is None
    assert (await quiet.prune()).advice == FlushAdvice(FlushTrigger.MESSAGE_END, 1, 303)


async def test_a_boundary_that_is_reached_during_a_flush_is_not_forgotten(world: World) -> None:
    """It gets a flush of its own when the running one ends."""
    agent = await world.agent(**AUTO)
    gate = Gate()
    world.summarizer.script(Gated(gate))
    await agent.work("a")
    await gate.reached.wait()
    await agent.work("b")
    gate.open()
    await world.idle()
    assert len(await agent.refs()) == 2
    assert len((await world.engine.diagnostics("s")).flushes) == 2


async def test_a_flush_on_request_serves_the_boundary_too(world: World) -> None:
    """The delta that comes with it starts no second one."""
    agent = await world.agent(**AUTO)
    delta = agent.delta(user(None), calls(None, "a"), result(None, "a", LONG), answer(None))
    assert (await agent.flush(delta=delta)).outcome == "summarized"
    await world.idle()
    assert len((await world.engine.diagnostics("s")).flushes) == 1


@pytest.mark.parametrize(
    ("settings", "reports", "trigger"),
    [
        ({"auto_budget_threshold": 0.5}, [60], "budget"),
        ({"auto_budget_threshold": 0.5}, [40], None),
        ({"budget_turn_delta": 0.2}, [10, 40], "delta"),
        ({"budget_turn_delta": 0.2}, [40], None),
        ({"budget_turn_delta": 0.2}, [10, 20, 30], None),
        ({"budget_turn_delta": 0.2}, [10, None, 40], "delta"),
        ({"budget_turn_delta": 0.2, "auto_budget_threshold": 0.5}, [10, 60], "budget"),
    ],
)
async def test_usage_starts_a_flush(
    world: World, settings: dict[str, float], reports: list[int | None], trigger: str | None
) -> None:
    """By its height or by its growth since the report before, in a call of its own or with a prune."""
    for with_prune in (False, True):
        agent = await world.agent(str(with_prune), **settings)
        await agent.append(user(None), calls(None, "a"), result(None, "a", LONG))
        for tokens in reports:
            usage = Usage(tokens, 100)
            if with_prune:
                advice = (await agent.prune(usage=usage)).advice
            else:
                advice = await world.engine.record_usage(agent.name, usage)
        assert (advice.trigger, advice.started, advice.running) == (trigger, trigger is not None, trigger is not None)
        await world.idle(agent.name)
        flushes = (await world.engine.diagnostics(agent.name)).flushes
        assert [one.trigger for one in flushes] == ([trigger] if trigger else [])


async def test_usage_starts_nothing_without_work_or_where_it_runs(world: World) -> None:
    """Nothing to capture, disabled, or a flush under way: the advice says how it is."""
    agent = await world.agent(auto_budget_threshold=0.5)
    full = Usage(90, 100)
    assert await world.engine.record_usage("s", full) == FlushAdvice()
    await agent.append(user(None), calls(None, "a"), result(None, "a", LONG))
    await world.engine.update_session("s", config={"enabled": False}, labels=None)
    assert await world.engine.record_usage("s", full) == FlushAdvice(None, 1, 300)
    await world.engine.update_session("s", config={"enabled": True}, labels=None)
    gate = Gate()
    world.summarizer.script(Gated(gate))
    assert (await world.engine.record_usage("s", full)).started
    again = await world.engine.record_usage("s", full)
    assert (again.trigger, again.running, again.started) == (FlushTrigger.BUDGET, True, False)
    gate.open()
    await world.idle()


async def test_the_last_report_is_forgotten_by_a_rewind_and_a_restart(world: World) -> None:
    """Growth is measured on one history."""
    agent = await world.agent(budget_turn_delta=0.2)
    await agent.append(user(None), calls(None, "a"), result(None, "a", LONG), user(None))
    await world.engine.record_usage("s", Usage(10, 100))
    await agent.rewind(3)
    assert not (await world.engine.record_usage("s", Usage(50, 100))).started
    await world.restart()
    assert not (await world.engine.record_usage("s", Usage(90, 100))).started
