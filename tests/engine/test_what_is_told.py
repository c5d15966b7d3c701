"""What clients are told of endings and refusals: nothing is kept quiet, and nothing is told that is not so."""

import pytest

from condense_grpc.engine.events import Notice
from condense_grpc.engine.requests import Delta, PruneRequest
from condense_grpc.errors import SessionNotFound, TranscriptMismatch
from condense_grpc.testing.fakes import Gate, Gated, Reply
from tests.domain.histories import calls, result, user
from tests.engine.harness import LONG, World


async def test_a_refused_request_creates_no_session(world: World) -> None:
    """A base in a history that nobody has is told as such, and nothing has changed."""
    await world.engine.start()
    with pytest.raises(TranscriptMismatch) as refused:
        await world.engine.prune(PruneRequest("new", Delta(9, "", (user(None),), create_if_missing=True)))
    assert refused.value.metadata["serverLength"] == "0"
    with pytest.raises(SessionNotFound):
        await world.engine.get_session("new")


async def test_a_cancelled_flush_is_found_in_the_diagnostics(world: World) -> None:
    agent = await world.agent()
    await agent.work("a")
    gate = Gate()
    world.summarizer.script(Gated(gate, Reply()))
    events = agent.flushing()
    await anext(events)
    await gate.reached.wait()
    await events.aclose()  # type: ignore[attr-defined]
    report = await world.engine.diagnostics("s")
    assert [(flush.outcome, flush.captured_batches, flush.processed_batches) for flush in report.flushes] == [
        ("cancelled", 1, 0)
    ]
    assert report.pending_batches == 1


@pytest.mark.parametrize("quiet", [False, True])
async def test_an_oversized_summary_is_noticed_unless_that_is_not_wanted(world: World, quiet: bool) -> None:
    agent = await world.agent(quiet_oversized_skips=quiet)
    await agent.work("a", text="tiny")
    notices = [event for event in (await agent.flush()).events if isinstance(event, Notice)]
    assert len(notices) == (0 if quiet else 1)


async def test_an_empty_flush_reports_no_frontier(world: World) -> None:
    """That of an earlier flush is not its own."""
    agent = await world.agent()
    await agent.work("a")
    assert (await agent.flush()).completed.frontier is not None
    assert (await agent.flush()).completed.frontier is None


async def test_batches_that_a_rewind_makes_pending_again_are_rearmed(world: World) -> None:
    agent = await world.agent()
    await agent.append(user(None), calls(None, "a"), result(None, "a", LONG))
    assert not (await world.engine.get_session("s")).rearmed
    await agent.append(user(None))
    await agent.rewind(3)
    assert (await world.engine.get_session("s")).rearmed
    await agent.flush()
    assert not (await world.engine.get_session("s")).rearmed
