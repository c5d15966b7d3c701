"""Lists: tool calls under their summaries, and the summaries themselves."""

from condense_grpc.engine.listing import CallFilter
from condense_grpc.engine.requests import CallState, SummaryKind
from condense_grpc.testing.fakes import Failure
from tests.domain.histories import answer, calls, result, user
from tests.engine.harness import LONG, Agent, World
from tests.engine.pi_files import PiWriter, import_data, record, ref


async def ids(world: World, after: int = 0, limit: int = 100, **where: object) -> list[str]:
    page = await world.engine.find_calls("s", CallFilter(**where), after, limit)  # type: ignore[arg-type]
    return [facts.record.tool_call_id for facts in page.calls]


async def busy_session(world: World) -> Agent:
    """Summarized, kept by its name, repeated, too short and pending calls, the first ones in a block."""
    agent = await world.agent(min_batch_chars=10, protected_tools=("keep",), chain_compression={"rolling_window": 2})
    await agent.append(
        user(None),
        calls(None, "a", "b"),
        result(None, "a", f"a: {LONG}"),
        result(None, "b", f"b: {LONG}"),
        calls(None, "k", tool="keep"),
        result(None, "k", LONG, tool="keep"),
        answer(None),
    )
    await agent.work("c")
    await agent.work("d", text="")
    await agent.append(user(None), calls(None, "e"), result(None, "e", f"c: {LONG}"), answer(None))
    await agent.flush()
    await agent.append(user(None), calls(None, "f"), result(None, "f", LONG))
    return agent


async def test_calls_stand_under_their_summaries(world: World) -> None:
    """All of one summary together, where the first of them stands; each with what became of it."""
    await busy_session(world)
    page = await world.engine.find_calls("s", CallFilter(), 0, 100)
    listed = [(one.record.tool_call_id, one.state, one.summary_id, one.block_id) for one in page.calls]
    assert listed == [
        ("a", CallState.SUMMARIZED, "s1", "b1"),
        ("b", CallState.SUMMARIZED, "s1", "b1"),
        ("k", CallState.PROTECTED, "", "b1"),
        ("c", CallState.SUMMARIZED, "s2", "b2"),
        ("e", CallState.DUPLICATE, "s2", ""),
        ("d", CallState.SKIPPED, "", ""),
        ("f", CallState.PENDING, "", ""),
    ]
    assert {name: one.block_id for name, one in page.summaries.items()} == {"s1": "b1", "s2": "b2"}
    assert page.calls[0].arguments_json == '{"n": 1}'
    assert page.next_position is None


async def test_pages_show_every_call_once(world: World) -> None:
    """Whatever their size, with the summary of a group on each of its pages."""
    await busy_session(world)
    everything = await ids(world)
    for size in (1, 2, 3, 7, 8):
        found: list[str] = []
        position: int | None = 0
        while position is not None:
            page = await world.engine.find_calls("s", CallFilter(), position, size)
            assert all(not one.summary_id or one.summary_id in page.summaries for one in page.calls)
            found += [one.record.tool_call_id for one in page.calls]
            position = page.next_position
        assert found == everything


async def test_calls_are_filtered(world: World) -> None:
    """By what became of them, by summary and by block; bodies are read only for what is shown."""
    await busy_session(world)
    assert await ids(world, states={CallState.PENDING, CallState.SKIPPED}) == ["d", "f"]
    assert await ids(world, summary_id="s1") == ["a", "b"]
    assert await ids(world, summary_id="b1") == ["a", "b", "k"]
    assert await ids(world, states={CallState.DUPLICATE}, summary_id="s2") == ["e"]
    assert await ids(world, summary_id="s9") == []
    await world.restart()
    await ids(world)
    before = len(world.store.calls)
    assert await ids(world, states={CallState.SPILLED}) == []
    assert world.store.calls[before:] == []


async def test_summaries_are_listed_oldest_first(world: World) -> None:
    """With what they stand for, when they were made, and what has taken their place."""
    await busy_session(world)
    world.clock.advance(1000)
    listed = await world.engine.list_summaries("s", 0, 100)
    assert [(one.summary_id, one.kind, one.block_id) for one in listed] == [
        ("s1", SummaryKind.BATCH, "b1"),
        ("s2", SummaryKind.BATCH, "b2"),
        ("b1", SummaryKind.CHAIN, ""),
        ("b2", SummaryKind.CHAIN, ""),
    ]
    first, block = listed[0], listed[2]
    assert (first.refs, first.tool_names, first.turn_index) == (("t1", "t2"), ("bash", "bash"), 0)
    assert first.text.startswith("- `t1` ok")
    assert (first.transcript_length, first.source_chars) == (19, 2 * (3 + len(LONG)))
    assert (block.refs, block.tool_names, block.turn_index) == (("t1", "t2"), ("bash", "bash"), -1)
    assert block.text == first.text
    assert await world.engine.list_summaries("s", 1, 2) == listed[1:3]
    await world.engine.update_session("s", config={"chain_compression": {"enabled": False}}, labels=None)
    assert [one.block_id for one in await world.engine.list_summaries("s", 0, 2)] == ["", ""]


async def test_a_rewind_takes_summaries_away(world: World) -> None:
    """Before the length at which it was made a summary is not listed."""
    agent = await busy_session(world)
    await agent.rewind(19)
    assert len(await world.engine.list_summaries("s", 0, 100)) == 4
    await agent.rewind(18)
    assert await world.engine.list_summaries("s", 0, 100) == []


async def test_the_extractive_summary_says_so(world: World) -> None:
    """Also after a restart."""
    agent = await world.agent()
    world.summarizer.default = Failure()
    await agent.work("a", text=LONG * 3)
    for _ in range(3):
        await agent.flush()
    await world.restart()
    assert [one.kind for one in await world.engine.list_summaries("s", 0, 9)] == [SummaryKind.EXTRACTIVE]


async def test_what_only_the_archive_holds_is_listed_too(world: World) -> None:
    """Records of results that the transcript does not have come first, by their time."""
    pi = PiWriter("s")
    pi.user()
    pi.call("here")
    time = pi.result("here", LONG)
    records = [record("later", 9, LONG), record("early", 5, LONG), record("here", time, LONG)]
    pi.custom("context-prune-index", {"toolCalls": records})
    pi.summary("- `t1` both", [ref("t1", "early", 5), ref("t2", "here", time)])
    await import_data(world.engine, pi.data)
    assert await ids(world) == ["early", "here", "later"]
