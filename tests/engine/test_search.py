"""Search over the archive, and expressions in queries."""

import asyncio

import pytest

from condense_grpc.domain.slices import PatternSlice, Slice
from condense_grpc.engine import searching
from condense_grpc.engine.requests import CallState, SearchHit, SearchRequest
from condense_grpc.errors import PatternInvalid, SessionNotFound
from tests.domain.histories import answer, calls, result, user
from tests.engine.harness import LONG, Agent, World
from tests.engine.pi_files import PiWriter, import_data, record


async def search(world: World, query: str, **more: object) -> list[SearchHit]:
    return await world.engine.search_calls("s", SearchRequest(query, **more))  # type: ignore[arg-type]


def ids(hits: list[SearchHit]) -> list[str]:
    return [hit.facts.record.tool_call_id for hit in hits]


async def searched_session(world: World) -> Agent:
    """Results that were summarized, spilled, repeated, and that nothing has looked at."""
    agent = await world.agent(spill_threshold=1000)
    await agent.append(
        user(None),
        calls(None, "a", arguments='{"path": "src/Widget.py"}'),
        result(None, "a", f"one\nTraceback of Widget\n{LONG}"),
        calls(None, "b"),
        result(None, "b", f"widget\nwidget and more widget\n{'x' * 2000}"),
        answer(None),
    )
    await agent.flush()
    found = result(None, "c", "no such thing: WIDGET", tool="grep")
    await agent.append(user(None), calls(None, "c", tool="grep"), found)
    return agent


async def test_every_result_is_searched(world: World) -> None:
    """Summarized, spilled and untouched ones; better matches first, of equal ones the latest."""
    await searched_session(world)
    hits = await search(world, "widget")
    assert ids(hits) == ["b", "c", "a"]
    assert [hit.facts.state for hit in hits] == [CallState.SPILLED, CallState.PENDING, CallState.SUMMARIZED]
    assert [(line.number, line.text) for line in hits[0].lines] == [(1, "widget"), (2, "widget and more widget")]
    assert [hit.line_count for hit in hits] == [2, 1, 1]
    assert (hits[2].facts.ref, hits[2].lines[0].text) == ("t2", "Traceback of Widget")


async def test_arguments_are_searched(world: World) -> None:
    """A result whose call says it matches, without lines of its own."""
    await searched_session(world)
    (hit,) = await search(world, "src/widget.py")
    assert (hit.facts.record.tool_call_id, hit.lines, hit.line_count) == ("a", (), 0)


async def test_searches_are_narrowed(world: World) -> None:
    """By tool, by number of results, by number of lines."""
    await searched_session(world)
    assert ids(await search(world, "widget", tool_names={"grep"})) == ["c"]
    assert ids(await search(world, "widget", max_results=1)) == ["b"]
    assert [hit.line_count for hit in await search(world, "widget", max_lines=1)] == [2, 1, 1]
    assert len((await search(world, "widget", max_lines=1))[0].lines) == 1
    assert await search(world, "nowhere") == []


async def test_expressions_search_too(world: World) -> None:
    """Within a line, case sensitive; what is none is refused, also where nothing could match."""
    await searched_session(world)
    assert ids(await search(world, r"^W\w+T$", regex=True)) == []
    assert ids(await search(world, r": W\w+T$", regex=True)) == ["c"]
    assert ids(await search(world, r"src/W[a-z]+\.py", regex=True)) == ["a"]
    with pytest.raises(PatternInvalid) as refused:
        await search(world, "a(", regex=True, tool_names={"none"})
    assert refused.value.field == "query"


async def test_what_is_not_written_yet_is_found(world: World) -> None:
    """A search makes durable what it looks at."""
    agent = await world.agent()
    await agent.append(user(None), calls(None, "a"), result(None, "a", "needle"))
    assert ids(await search(world, "needle")) == ["a"]
    world.crash()
    assert ids(await search(world, "needle")) == ["a"]


async def test_left_branches_are_not_searched(world: World) -> None:
    """Only the transcript, and what else the archive of it holds."""
    agent = await world.agent()
    await agent.append(user(None), calls(None, "a"), result(None, "a", "needle"))
    await agent.rewind(1)
    assert await search(world, "needle") == []
    pi = PiWriter("p")
    pi.user()
    pi.custom("context-prune-index", {"toolCalls": [record("gone", 5, f"needle {LONG}")]})
    await import_data(world.engine, pi.data)
    found = await world.engine.search_calls("p", SearchRequest("needle"))
    assert ids(found) == ["gone"]


async def test_memory_is_bounded(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """Bodies are read a few at a time, past the cache, and the lock is free meanwhile."""
    monkeypatch.setattr(searching, "_BATCH_CHARS", 500)
    agent = await world.agent()
    for number in range(6):
        await agent.work(f"c{number}", text=f"{LONG} needle")
    reads = 0

    async def before(name: str) -> None:
        nonlocal reads
        if name == "read_bodies":
            reads += 1
            async with asyncio.timeout(5):
                await world.engine.append("s", agent.delta(user(None, "meanwhile"), base=agent.length))

    world.store.before = before
    assert ids(await search(world, "needle", max_results=3)) == ["c5", "c4", "c3"]
    assert reads >= 6


async def test_a_session_that_goes_meanwhile(world: World) -> None:
    """Is not found any more."""
    agent = await world.agent()
    await agent.work("a", text="needle")

    async def before(name: str) -> None:
        if name == "read_bodies":
            world.store.before = None
            await world.engine.delete_session("s")

    world.store.before = before
    with pytest.raises(SessionNotFound):
        await search(world, "needle")


# Expressions in queries


async def test_queries_take_expressions(world: World) -> None:
    """The lines that match, with their numbers and what is around them."""
    agent = await world.agent(spill_threshold=10)
    await agent.append(user(None), calls(None, "a"), result(None, "a", "one\ntwo 22\nthree\nfour 4\n" * 2))
    slices = [Slice("t1", PatternSlice(r"\d\d$", regex=True, context_lines=1)), Slice("t1", PatternSlice("four"))]
    first, second = (await world.engine.query("s", ["t1"], slices)).blocks
    assert first.cut is not None and second.cut is not None
    assert first.cut.text == "1- one\n2: two 22\n3- three\n--\n5- one\n6: two 22\n7- three"
    assert second.cut.text == "4: four 4\n8: four 4"


async def test_expressions_that_cannot_be_read(world: World) -> None:
    """The slice is named, and the place in it, whether or not its ref names anything."""
    await world.agent()
    slices = [Slice("x", PatternSlice("fine", regex=True)), Slice("x", PatternSlice("not[", regex=True))]
    with pytest.raises(PatternInvalid) as refused:
        await world.engine.query("s", [], slices)
    assert refused.value.metadata == {"field": "slices[1].pattern.pattern", "position": "3"}


async def test_a_large_answer_holds_nobody_up(world: World) -> None:
    """It is made on a thread, while the session goes on."""
    agent = await world.agent(spill_threshold=10)
    text = "\n".join(f"line {number}" for number in range(100_000))
    await agent.append(user(None), calls(None, "a"), result(None, "a", text))
    asked = asyncio.ensure_future(world.engine.query("s", ["t1"], [Slice("t1", PatternSlice("9{5}$", regex=True))]))
    for _ in range(5):
        await asyncio.sleep(0)
    await agent.append(user(None))
    assert not asked.done()
    (block,) = (await asked).blocks
    assert block.cut is not None and block.cut.text == "100000: line 99999"
