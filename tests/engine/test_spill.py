"""Large results are archived as they arrive."""

from condense_grpc.domain.messages import ImagePart, Message, Role, TextPart
from condense_grpc.engine.requests import CallState
from condense_grpc.errors import StoreUnavailable
from tests.domain.histories import answer, calls, result, user
from tests.engine.harness import World

BIG = "y" * 300
MEDIUM = "word " * 50


async def test_a_large_result_is_a_stub_at_once(world: World) -> None:
    """No flush is needed: the view of the same call shows the preview and the ref."""
    agent = await world.agent(spill_threshold=300, spill_preview_bytes=5)
    pruned = await agent.prune(user(None), calls(None, "a"), result(None, "a", BIG))
    assert pruned.applied.stubs == 1
    stub = (await agent.texts())[2]
    assert stub.startswith("[Oversized output archived — 300 bytes.]")
    assert "\nyyyyy\n" in stub and "`t1`" in stub
    facts = await agent.call("t1")
    assert (facts.state, facts.ref, await agent.read("t1")) == (CallState.SPILLED, "t1", BIG)


async def test_it_stands_right_behind_its_result(world: World) -> None:
    """A rewind to just behind the result keeps the decision, one to before it does not."""
    agent = await world.agent(spill_threshold=300)
    await agent.append(user(None), calls(None, "a"), result(None, "a", BIG), answer(None), user(None))
    await agent.rewind(3)
    assert await agent.refs() != {}
    await agent.rewind(2)
    assert await agent.refs() == {}
    await agent.append(result(None, "a", BIG))
    assert list((await agent.refs()).values()) == ["t1"]


async def test_parallel_calls_get_refs_in_order_of_their_results(world: World) -> None:
    """The order in which they arrived."""
    agent = await world.agent(spill_threshold=300)
    await agent.append(user(None), calls(None, "a", "b"), result(None, "b", BIG), result(None, "a", BIG + "!"))
    assert [await agent.read(ref) for ref in ("t1", "t2")] == [BIG, BIG + "!"]


async def test_a_repeated_large_result_is_a_duplicate(world: World) -> None:
    """It shares the ref of the first; what it says is its own record's."""
    agent = await world.agent(spill_threshold=300)
    await agent.append(user(None), calls(None, "a", "b"), result(None, "a", BIG), result(None, "b", BIG + " \n"))
    facts = await agent.call("b")
    assert (facts.state, facts.ref, await agent.read("b")) == (CallState.DUPLICATE, "t1", BIG + " \n")


async def test_no_duplicates_where_that_is_switched_off_or_something_else_is_in_it(world: World) -> None:
    """Images are not compared."""
    agent = await world.agent(spill_threshold=300)
    parts = (TextPart(BIG), ImagePart("image/png", b"\1"))
    shown = [Message(Role.TOOL_RESULT, parts, None, tool_call_id=one, tool_name="bash") for one in "ab"]
    await agent.append(user(None), calls(None, "a", "b"), *shown)
    assert sorted((await agent.refs()).values()) == ["t1", "t2"]
    other = await world.agent("other", spill_threshold=300, dedup_by_content_hash=False)
    await other.append(user(None), calls(None, "a", "b"), result(None, "a", BIG), result(None, "b", BIG))
    assert sorted((await other.refs()).values()) == ["t1", "t2"]


async def test_protected_stray_and_disabled_stay(world: World) -> None:
    """Only what capture would take is spilled."""
    agent = await world.agent(spill_threshold=300, protected_tools=("keep",))
    kept = calls(None, "a", tool="keep")
    await agent.append(user(None), kept, result(None, "a", BIG, "keep"), result(None, "stray", BIG))
    assert await agent.refs() == {}
    off = await world.agent("off", spill_threshold=300, enabled=False)
    await off.append(user(None), calls(None, "a"), result(None, "a", BIG))
    assert await off.refs() == {}


async def test_the_next_flush_spills_what_became_large(world: World) -> None:
    """The threshold was lowered, or the session was switched on."""
    agent = await world.agent()
    await agent.append(user(None), calls(None, "a"), result(None, "a", BIG), answer(None))
    await world.engine.update_session("s", config={"spill_threshold": 300}, labels=None)
    flushed = await agent.flush()
    assert (flushed.outcome, flushed.batches) == ("empty", [])
    assert (await agent.call("a")).state is CallState.SPILLED


async def test_a_branch_that_comes_back_is_spilled_anew_when_refs_were_given_away(world: World) -> None:
    """Its bodies come from the store; a store that does not answer then costs only the spill."""
    agent = await world.agent(spill_threshold=300)
    await agent.work("x", text=MEDIUM)
    await agent.append(user(None), calls(None, "a"), result(None, "a", BIG), answer(None))
    whole = agent.history
    await world.restart()
    await agent.rewind(4)
    await agent.flush()
    world.store.fail("read_bodies", StoreUnavailable())
    await agent.append(*whole[4:])
    assert (await agent.call("a")).state is CallState.PENDING
    await agent.rewind(4)
    await agent.append(*whole[4:])
    assert (await agent.call("a")).ref == "t2"
    assert len(await agent.refs()) == 2
    assert MEDIUM in await agent.read("t1")
