"""Other names for path arguments, in a session that has messages."""

import pytest

from condense_grpc.domain.messages import Message
from condense_grpc.engine.requests import CallState, ViewKind
from condense_grpc.errors import StoreUnavailable
from tests.domain.histories import answer, calls, result, user
from tests.engine.harness import LONG, Agent, World

KEEPS = {"protected_paths": ("*.md",), "path_arguments": ("path",)}
STUB = "[Summarized in pruner summary"


def turn(one: str, arguments: str) -> list[Message]:
    return [calls(None, one, arguments=arguments), result(None, one, f"{one}: {LONG}")]


async def two_files(world: World, **more: object) -> Agent:
    agent = await world.agent(**(KEEPS | more))
    await agent.append(
        user(None),
        *turn("a", '{"path": "a.md"}'),
        *turn("b", '{"where": "b.md"}'),
        *turn("c", '{"n": 1}'),
        answer(None),
    )
    return agent


async def rename(world: World, *names: str) -> None:
    await world.engine.update_session("s", config={"path_arguments": names}, labels=None)


async def states(world: World, name: str = "s") -> dict[str, CallState]:
    return {one.record.tool_call_id: one.state for one in await world.engine.list_calls(name, 0, 99)}


async def test_calls_that_wait_are_judged_anew(world: World) -> None:
    """What was a path is none any more, and what was none is one; also after a restart."""
    await two_files(world)
    assert await states(world) == {"a": CallState.PROTECTED, "b": CallState.PENDING, "c": CallState.PENDING}
    await rename(world, "where")
    expected = {"a": CallState.PENDING, "b": CallState.PROTECTED, "c": CallState.PENDING}
    assert await states(world) == expected
    await world.restart()
    assert await states(world) == expected
    await rename(world, "path", "where")
    assert (await states(world))["a"] is CallState.PROTECTED


async def test_records_are_judged_anew(world: World) -> None:
    """A stub becomes the result again when its path is protected by another name, and goes when it is not."""
    agent = await two_files(world)
    await agent.flush()
    before = await agent.prune()
    assert [text.startswith(STUB) for text in (await agent.texts())[2:7:2]] == [False, True, True]
    await rename(world, "where")
    for _ in range(2):
        assert [text.startswith(STUB) for text in (await agent.texts())[2:7:2]] == [False, False, True]
        await world.restart()
    await rename(world, "path")
    assert (await agent.prune()).revision == before.revision


async def test_the_view_change_is_reported(world: World) -> None:
    """As every other change."""
    agent = await two_files(world)
    await agent.flush()
    await agent.prune()
    await rename(world, "where")
    cache = (await agent.prune()).cache
    assert cache is not None and (cache.first_changed_index, cache.breaks_cache) == (4, True)


async def test_branches_that_were_left_are_renamed_too(world: World) -> None:
    """Coming back finds everything judged by the names of now."""
    agent = await two_files(world)
    await agent.flush()
    history = agent.history
    await agent.rewind(1)
    await rename(world, "where")
    await world.restart()
    await agent.append(*history[1:], base=1)
    assert [text.startswith(STUB) for text in (await agent.texts())[2:7:2]] == [False, False, True]
    assert (await states(world))["b"] is CallState.PROTECTED


async def test_a_fork_has_the_names_too(world: World) -> None:
    """Its records were copied as they were written."""
    agent = await two_files(world)
    await agent.flush()
    await rename(world, "where")
    await world.engine.fork_session("s", "copy")
    assert await states(world, "copy") == await states(world)


async def test_a_failure_changes_nothing(world: World) -> None:
    """Neither names nor labels, and not by a later write either."""
    agent = await two_files(world)
    before = await states(world)
    await agent.prune(view=ViewKind.FULL)
    world.store.fail("write", StoreUnavailable(), times=1)
    with pytest.raises(StoreUnavailable):
        await world.engine.update_session("s", config={"path_arguments": ("where",)}, labels={"a": "b"})
    await world.engine.update_session("s", config={"path_arguments": ("path",)}, labels=None)
    writes = world.store.calls.count("write")

    async def second(name: str) -> None:
        if name == "write" and world.store.calls.count("write") == writes + 1:
            raise StoreUnavailable

    world.store.before = second
    with pytest.raises(StoreUnavailable):
        await world.engine.update_session("s", config={"path_arguments": ("where",)}, labels={"a": "b"})
    world.store.before = None
    for _ in range(2):
        info = await world.engine.get_session("s")
        assert (info.config.path_arguments, info.labels, await states(world)) == (("path",), {}, before)
        await agent.append(user(None))
        await world.restart()


async def test_costs_since_the_load_stay(world: World) -> None:
    """Nothing but paths is made anew."""
    agent = await two_files(world)
    await agent.flush()
    before = await world.engine.diagnostics("s")
    await rename(world, "where")
    after = await world.engine.diagnostics("s")
    assert (after.stats, after.session_delta) == (before.stats, before.session_delta)
    assert after.session_delta.total_cost > 0
