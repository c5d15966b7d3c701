"""Appending: bases, retries, rewinds, abandoned branches, times."""

import pytest

from condense_grpc.domain.validity import Violation, ViolationKind
from condense_grpc.engine.requests import Delta, PruneRequest, ViewKind
from condense_grpc.errors import SessionNotFound, TranscriptMismatch
from tests.domain.histories import answer, calls, notice, result, user
from tests.engine.harness import LONG, World, stamped


async def test_an_etag_names_the_history(world: World) -> None:
    """Equal histories have equal etags, in every session; an empty one has an empty etag."""
    one, other = await world.agent("one"), await world.agent("other")
    first = await one.append(user(1), answer(2))
    assert (await other.append(user(1), answer(2))).etag == first.etag != ""
    assert (await one.append(user(3))).etag != first.etag
    assert (await one.rewind(0)).etag == ""


@pytest.mark.parametrize(("base", "etag"), [(3, ""), (2, "00"), (-1, ""), (1, "right for 2")])
async def test_a_base_that_is_not_ours_is_refused_with_what_helps(world: World, base: int, etag: str) -> None:
    """A mismatch changes nothing and says what the history is."""
    agent = await world.agent()
    appended = await agent.append(user(1), answer(2))
    asked = Delta(base, appended.etag if etag.startswith("right") else etag, [user(9)])
    with pytest.raises(TranscriptMismatch) as refused:
        await world.engine.append("s", asked)
    assert refused.value.metadata == {"baseLength": str(base), "serverLength": "2", "serverEtag": appended.etag}
    assert (await world.engine.get_session("s")).etag == appended.etag


async def test_a_repeated_append_changes_nothing(world: World) -> None:
    """An answer that was lost: the same delta again."""
    agent = await world.agent()
    await agent.append(user(None), answer(None))
    delta = agent.delta(user(None, "more"), answer(None, "done"))
    first = await world.engine.append("s", delta)
    world.clock.advance(1_000)
    assert await world.engine.append("s", delta) == first


async def test_a_whole_history_keeps_what_is_there(world: World) -> None:
    """A client without memory resends everything: common messages stay, with their decisions."""
    agent = await world.agent()
    await agent.work("a")
    await agent.flush()
    refs = await agent.refs()
    history = [*agent.history, user(None, "next")]
    appended = await world.engine.append("s", Delta(0, "", history))
    assert appended.length == len(history)
    assert await agent.refs() == refs != {}


async def test_a_shorter_history_is_a_rewind(world: World) -> None:
    """Afterwards the transcript is exactly what was sent."""
    agent = await world.agent()
    await agent.work("a")
    appended = await world.engine.append("s", Delta(0, "", agent.history[:2]))
    assert appended.length == 2


async def test_an_earlier_base_is_a_rewind(world: World) -> None:
    """What was decided behind it stops."""
    agent = await world.agent()
    await agent.work("a")
    await agent.flush()
    await agent.rewind(3)
    assert await agent.refs() == {}
    assert await agent.view() == [stamped(one, at) for one, at in zip(agent.history, await _times(world), strict=True)]
    assert (await world.engine.get_session("s")).pending_batches == 1


async def _times(world: World) -> list[int]:
    result = await world.engine.prune(PruneRequest("s", view=ViewKind.FULL))
    return [message.timestamp_ms or 0 for message in result.messages or ()]


async def test_coming_back_restores_decisions(world: World) -> None:
    """The abandoned branch is taken up again, with its refs."""
    agent = await world.agent()
    await agent.work("a")
    await agent.work("b")
    whole = agent.history
    await agent.flush()
    before = await agent.view(), await agent.refs()
    await agent.append(user(None, "another way"), base=4)
    assert await agent.refs() == {}
    await agent.append(*whole[4:], base=4)
    assert (await agent.view(), await agent.refs()) == before


async def test_coming_back_after_a_restart_restores_decisions(world: World) -> None:
    """Branches that were left are in the store too."""
    agent = await world.agent()
    await agent.work("a")
    whole = agent.history
    await agent.flush()
    before = await agent.view(), await agent.refs()
    await agent.rewind(2)
    await world.restart()
    await agent.append(*whole[2:])
    assert (await agent.view(), await agent.refs()) == before


async def test_coming_back_part_of_the_way_restores_only_that(world: World) -> None:
    """Decisions hold from the length on at which they were made."""
    agent = await world.agent()
    await agent.work("a")
    await agent.flush()
    first = await agent.refs()
    await agent.work("b")
    await agent.flush()
    whole = agent.history
    await agent.rewind(1)
    await agent.append(*whole[1:6])
    assert await agent.refs() == first
    await agent.append(*whole[6:])
    assert len(await agent.refs()) == 2


async def test_decisions_made_meanwhile_keep_refs_unambiguous(world: World) -> None:
    """A ref that was given away while a branch was left is not given to two calls when it comes back."""
    agent = await world.agent()
    await agent.work("a")
    await agent.work("b")
    whole = agent.history
    await agent.flush()
    await agent.rewind(4)
    await agent.flush()
    meanwhile = await agent.refs()
    await agent.append(*whole[4:])
    await agent.flush()
    refs = await agent.refs()
    assert meanwhile.items() <= refs.items()
    assert len(set(refs.values())) == len(refs) == 2


async def test_reports_made_meanwhile_do_not_keep_a_branch_away(world: World) -> None:
    """A flush that found nothing to do gives no ref away."""
    agent = await world.agent()
    await agent.work("a")
    await agent.flush()
    await agent.work("b")
    await agent.flush()
    whole, before = agent.history, await agent.refs()
    await agent.rewind(4)
    assert (await agent.flush()).outcome == "empty"
    assert (await agent.flush()).outcome == "empty"
    await agent.append(*whole[4:])
    assert await agent.refs() == before
    await world.restart()
    assert await agent.refs() == before


async def test_times_are_given_strictly_increasing(world: World) -> None:
    """Messages without times get one each, above all that there were, and keep it."""
    agent = await world.agent()
    await agent.append(user(None), user(None), stamped(user(None), world.clock.now_ms() + 500), user(None))
    times = await _times(world)
    assert times == sorted(set(times))
    await agent.rewind(1)
    await agent.append(user(None, "else"))
    assert (await _times(world))[1] > times[-1]


async def test_stamped_messages_are_sent_again_without_times(world: World) -> None:
    """The client never learns the times, so that its history is the same without them."""
    agent = await world.agent()
    await agent.append(user(None), answer(None))
    times = await _times(world)
    world.clock.advance(10_000)
    await world.engine.append("s", Delta(0, "", agent.history))
    assert await _times(world) == times


@pytest.mark.parametrize("time_ms", [10**300, -(10**300), 253_402_300_800_000, -62_135_596_800_001])
async def test_a_time_that_cannot_be_is_no_time(world: World, time_ms: int) -> None:
    """What no calendar has counts as absent."""
    agent = await world.agent()
    await agent.append(user(1), user(time_ms))
    assert await _times(world) == [1, world.clock.now_ms()]


async def test_a_delta_can_create_its_session(world: World) -> None:
    """With its settings, once."""
    await world.engine.start()
    delta = Delta(0, "", [user(None)], create_if_missing=True, config={"min_batch_chars": 7})
    assert (await world.engine.append("new", delta)).created
    assert not (await world.engine.append("new", delta)).created
    assert (await world.engine.get_session("new")).config.min_batch_chars == 7
    with pytest.raises(SessionNotFound):
        await world.engine.append("other", Delta(0, "", [user(None)]))


async def test_defects_are_reported_once_by_the_append_that_brings_them(world: World) -> None:
    """Those of the turn before count for the message that made them visible."""
    agent = await world.agent()
    assert list((await agent.append(user(None), calls(None, "a", "b"))).violations) == []
    assert list((await agent.append(result(None, "a"), result(None, "a"))).violations) == [
        Violation(ViolationKind.DUPLICATE_RESULT, 3, "a")
    ]
    assert list((await agent.append(answer(None))).violations) == [Violation(ViolationKind.UNANSWERED_CALL, 1, "b")]
    assert list((await agent.append(result(None, "x"))).violations) == [Violation(ViolationKind.ORPHAN_RESULT, 5, "x")]
    assert list((await agent.append(user(None))).violations) == []


async def test_a_late_result_is_reported_and_kept(world: World) -> None:
    """A notice between a call and its result is moved, not swept."""
    agent = await world.agent()
    await agent.append(user(None), calls(None, "a"))
    assert [one.kind for one in (await agent.append(notice(None))).violations] == [ViolationKind.UNANSWERED_CALL]
    late = await agent.append(result(None, "a", LONG))
    assert [one.kind for one in late.violations] == [ViolationKind.INTERRUPTED_RESULTS]
    assert [one.role.value for one in await agent.view()] == ["user", "assistant", "toolResult", "custom"]
