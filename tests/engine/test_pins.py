"""Pins: results that a client keeps verbatim."""

from condense_grpc.domain.pins import Pin
from condense_grpc.engine.requests import CallState, PinResult
from condense_grpc.testing.fakes import Gate, Gated
from tests.domain.histories import answer, calls, result, user
from tests.engine.harness import LONG, Agent, World, finished

STUB = "[Summarized in pruner summary"


async def pin(agent: Agent, *refs: str, ttl_ms: int | None = None, unpin: bool = False) -> PinResult:
    return await agent.engine.pin_calls(agent.name, refs, ttl_ms=ttl_ms, unpin=unpin)


def decided(world: World, name: str = "s") -> int:
    live = world.engine._registry.find(name)
    assert live is not None
    return len(live.state.decisions.commits)


async def test_a_pinned_result_is_not_captured(world: World) -> None:
    """A flush takes the others; without the pin the next one takes it too."""
    agent = await world.agent()
    await agent.work("a", "b")
    pinned = await pin(agent, "a")
    assert (pinned.facts[0].state, pinned.facts[0].pin) == (CallState.PROTECTED, Pin())
    assert (await world.engine.get_session("s")).pending_batches == 1
    assert [batch.refs for batch in (await agent.flush()).batches] == [("t1",)]
    assert (await agent.texts())[2] == f"a: {LONG}"
    assert (await pin(agent, "a", unpin=True)).facts[0].state is CallState.PENDING
    assert [batch.refs for batch in (await agent.flush()).batches] == [("t2",)]


async def test_a_summarized_result_comes_back(world: World) -> None:
    """It is shown verbatim from the next view on, whatever stands for it, and goes when the pin goes."""
    agent = await world.agent()
    await agent.work("a")
    await agent.flush()
    before = await agent.prune()
    pinned = await pin(agent, "t1")
    texts = await agent.texts()
    assert texts[2] == f"a: {LONG}"
    assert texts[4].startswith("- `t1` ok")
    after = await agent.prune()
    assert pinned.revision == after.revision != before.revision
    facts = await agent.call("t1")
    assert (facts.state, facts.summary_id) == (CallState.PROTECTED, "s1")
    assert (await pin(agent, "t1", unpin=True)).revision == before.revision
    assert (await agent.texts())[2].startswith(STUB)


async def test_a_spilled_result_comes_back(world: World) -> None:
    """Its size does not matter."""
    agent = await world.agent(spill_threshold=100)
    await agent.work("a")
    assert (await agent.texts())[2].startswith("[Oversized output archived")
    await pin(agent, "t1")
    assert (await agent.texts())[2] == f"a: {LONG}"


async def test_a_pin_ends_with_the_next_flush_only(world: World) -> None:
    """Its time alone changes no view."""
    agent = await world.agent()
    await agent.work("a")
    await agent.flush()
    assert (await pin(agent, "t1", ttl_ms=1000)).facts[0].pin == Pin(world.clock.now_ms() + 1000)
    shown = await agent.prune()
    world.clock.advance(999)
    await agent.flush()
    assert (await agent.prune()).revision == shown.revision
    world.clock.advance(1)
    await world.restart()
    assert (await agent.prune()).revision == shown.revision
    assert (await agent.call("t1")).pin is not None
    await agent.flush()
    assert (await agent.call("t1")).pin is None
    assert (await agent.texts())[2].startswith(STUB)


async def test_a_flush_takes_what_was_pinned_up_to_now(world: World) -> None:
    """A pin whose time is over keeps nothing from the flush that ends it."""
    agent = await world.agent()
    await agent.work("a")
    await pin(agent, "a", ttl_ms=1)
    world.clock.advance(1)
    assert (await agent.flush()).batches[0].refs == ("t1",)


async def test_a_compaction_ends_pins_too(world: World) -> None:
    """The chain goes into its block as if there never was a pin."""
    agent = await world.agent()
    await agent.work("a")
    await pin(agent, "a", ttl_ms=1)
    world.clock.advance(1)
    await agent.compact()
    assert (await agent.call("a")).state is CallState.ARCHIVED


async def test_a_refused_flush_ends_no_pin(world: World) -> None:
    """What a disabled session has stays."""
    agent = await world.agent()
    await agent.work("a")
    await pin(agent, "a", ttl_ms=1)
    world.clock.advance(1)
    await world.engine.update_session("s", config={"enabled": False}, labels=None)
    assert (await agent.flush()).outcome == "disabled"
    assert (await agent.call("a")).pin is not None


async def test_a_lifetime_counts_from_the_last_call(world: World) -> None:
    """Repeating a pin without lifetime decides nothing; one with lifetime begins anew."""
    agent = await world.agent()
    await agent.work("a")
    await pin(agent, "a")
    before = decided(world)
    await pin(agent, "a")
    await pin(agent, "unknown")
    assert decided(world) == before
    first = (await pin(agent, "a", ttl_ms=10)).facts[0].pin
    world.clock.advance(5)
    second = (await pin(agent, "a", ttl_ms=10)).facts[0].pin
    assert first is not None and second is not None
    assert (second.expires_ms or 0) - (first.expires_ms or 0) == 5
    await pin(agent, "a", unpin=True)
    before = decided(world)
    await pin(agent, "a", unpin=True)
    assert decided(world) == before


async def test_a_chain_that_is_compressed_later_keeps_it_in_its_block(world: World) -> None:
    """Relocated verbatim; a chain that was compressed before does not give it back."""
    agent = await world.agent(chain_compression={"rolling_window": 0})
    await agent.work("a", "b")
    await pin(agent, "a")
    await agent.flush()
    block = (await agent.texts())[1]
    assert f'<protected-output tool="bash">\na: {LONG}\n</protected-output>' in block
    assert f"b: {LONG}" not in block
    assert (await agent.call("a")).state is CallState.PROTECTED
    await pin(agent, "b")
    assert f"b: {LONG}" not in (await agent.texts())[1]
    assert (await agent.call("b")).state is CallState.SUMMARIZED


async def test_a_summarized_result_is_relocated_whole(world: World) -> None:
    """A pin counts more than the summary that covers the result, also inside of a block."""
    agent = await world.agent()
    await agent.work("a")
    await agent.flush()
    await pin(agent, "t1")
    await agent.compact()
    assert f"a: {LONG}\n</protected-output>" in (await agent.texts())[1]
    await pin(agent, "t1", unpin=True)
    assert f"{STUB}, ref `t1`" in (await agent.texts())[1]


async def test_a_ref_of_several_results_pins_all(world: World) -> None:
    """Duplicates share a ref, and providers reuse ids."""
    agent = await world.agent()
    for one in ("a", "b"):
        await agent.append(user(None), calls(None, one), result(None, one, LONG), answer(None))
    await agent.append(user(None), calls(None, "a"), result(None, "a", f"other {LONG}"), answer(None))
    await agent.flush()
    assert [text.startswith(STUB) for text in await agent.texts()].count(True) == 3
    pinned = await pin(agent, "t1", "nothing", "t1")
    assert [facts.record.tool_call_id for facts in pinned.facts] == ["a", "b"]
    assert pinned.unknown_refs == ("nothing",)
    assert (await agent.texts()).count(LONG) == 2
    await pin(agent, "t1", unpin=True)
    assert len((await pin(agent, "a")).facts) == 2
    assert [text.startswith(STUB) for text in await agent.texts()].count(True) == 1


async def test_pins_are_decisions(world: World) -> None:
    """A rewind takes them away, coming back brings them back; forks and restarts keep them."""
    agent = await world.agent()
    await agent.work("a")
    await agent.work("b")
    await pin(agent, "a")
    history = agent.history
    await agent.rewind(4)
    assert (await agent.call("a")).pin is None
    await agent.append(*history[4:])
    assert (await agent.call("a")).pin == Pin()
    await world.engine.fork_session("s", "copy")
    await world.restart()
    for name in ("s", "copy"):
        assert (await Agent(world, name).call("a")).pin == Pin()


async def test_a_pin_during_a_flush_holds(world: World) -> None:
    """What the flush has taken already is shown verbatim all the same."""
    agent = await world.agent()
    await agent.work("a")
    gate = Gate()
    world.summarizer.script(Gated(gate))
    events = agent.flushing()
    await anext(events)
    await gate.reached.wait()
    await pin(agent, "a")
    gate.open()
    await finished(events)
    assert (await agent.call("a")).summary_id == "s1"
    assert (await agent.texts())[2] == f"a: {LONG}"


async def test_a_pin_is_durable_when_it_is_told(world: World) -> None:
    """Also after the end of the process at that very moment."""
    agent = await world.agent()
    await agent.work("a")
    await pin(agent, "a")
    world.crash()
    assert (await agent.call("a")).pin == Pin()
