"""The last view over a restart: the first report afterwards compares with what was shown before."""

import pytest

from condense_grpc.engine.requests import CacheReport, PruneResult, ViewKind
from condense_grpc.errors import StoreUnavailable
from tests.domain.histories import answer, calls, result, user
from tests.engine.harness import LONG, Agent, World


async def session(world: World) -> Agent:
    agent = await world.agent()
    await agent.work("a")
    await agent.work("b")
    await agent.flush()
    return agent


def report(pruned: PruneResult) -> CacheReport:
    assert pruned.cache is not None
    return pruned.cache


async def test_nothing_has_changed(world: World) -> None:
    """The whole view is where it was."""
    agent = await session(world)
    shown = await agent.prune(view=ViewKind.FULL)
    await world.restart()
    again = await agent.prune(view=ViewKind.FULL)
    assert again.messages == shown.messages is not None
    assert report(again) == CacheReport(len(again.messages or ()), report(again).unchanged_prefix_chars, False)
    assert report(await agent.prune()) == report(again)


@pytest.mark.parametrize("change", ["append", "flush", "pin", "config", "rewind", "compact"])
@pytest.mark.parametrize("restarts", [False, True])
async def test_a_change_is_told_as_without_a_restart(change: str, restarts: bool) -> None:
    """Whether the process ended in between makes no difference, wherever in between that was."""

    async def reported(before: bool, after: bool) -> CacheReport:
        world = World()
        agent = await session(world)
        await agent.append(user(None), calls(None, "c"), result(None, "c", LONG), answer(None))
        await agent.prune()
        if before:
            await world.restart()
        if change == "append":
            await agent.append(user(None))
        elif change == "flush":
            await agent.flush()
        elif change == "pin":
            await world.engine.pin_calls("s", ["t2"])
        elif change == "config":
            await world.engine.update_session("s", config={"protected_tools": ("bash",)}, labels=None)
        elif change == "rewind" and not after:
            await agent.rewind(7)
        else:
            await agent.compact()
        if after:
            await world.restart()
        pruned = await agent.prune()
        await world.engine.close(0)
        return report(pruned)

    expected = await reported(before=False, after=False)
    assert await reported(before=True, after=False) == expected
    if change != "rewind":
        assert await reported(before=restarts, after=True) == expected


async def test_a_view_that_was_withheld(world: World) -> None:
    """The transcript as it is was shown, and that is what the next view is compared with."""
    agent = await session(world)
    await agent.prune(min_savings_chars=10**6)
    await world.restart()
    changed = report(await agent.prune())
    assert (changed.first_changed_index, changed.breaks_cache) == (2, True)


async def test_a_look_is_compared_too(world: World) -> None:
    """A dry run after a restart knows what was shown before it."""
    agent = await session(world)
    await agent.prune()
    await world.restart()
    looked = await agent.prune(user(None), dry_run=True)
    assert (report(looked).first_changed_index, report(looked).breaks_cache) == (10, False)


async def test_a_branch_that_was_left_is_not_remembered(world: World) -> None:
    """Then there is nothing to compare with, which is said by saying nothing."""
    agent = await session(world)
    await agent.prune()
    await agent.rewind(7)
    await world.restart()
    assert (await agent.prune()).cache is None
    assert report(await agent.prune()).first_changed_index == 7


async def test_a_fork_was_never_shown(world: World) -> None:
    """Its client has seen nothing of it."""
    agent = await session(world)
    await agent.prune()
    await world.restart()
    await world.engine.fork_session("s", "copy")
    assert (await Agent(world, "copy").prune()).cache is None


async def test_a_view_that_cannot_be_made_again_fails_no_call(world: World) -> None:
    """A store that does not answer costs the report, not the append."""
    agent = await world.agent(protected_tools=("keep",))
    kept = [calls(None, "a", tool="keep"), result(None, "a", LONG, tool="keep")]
    await agent.append(user(None), *kept, calls(None, "b"), result(None, "b", LONG), answer(None))
    await agent.compact()
    await agent.prune()
    await world.restart()
    world.store.fail("read_bodies", StoreUnavailable())
    await agent.append(user(None))
    assert report(await agent.prune()).first_changed_index == 3
