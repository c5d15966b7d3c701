"""What flushes and reports say about themselves, down to the numbers."""

from condense_grpc.domain.budget import Usage
from condense_grpc.engine.events import FlushStarted, SkippedChain
from condense_grpc.engine.requests import FlushTrigger
from condense_grpc.testing.fakes import Failure, Gate, Gated, Reply
from tests.domain.histories import answer, calls, result, user
from tests.engine.harness import LONG, World, finished


async def test_every_batch_counts_in_one_outcome(world: World) -> None:
    """Calls and characters are those of the batches that did not fail, rejected summaries included."""
    agent = await world.agent(min_batch_chars=10, chain_compression={"enabled": False})
    await agent.work("kept")
    await agent.work("too_long")
    await agent.append(user(None), calls(None, "same"), result(None, "same", f"kept: {LONG}"), answer(None))
    await agent.append(user(None), calls(None, "tiny"), result(None, "tiny", "x"), answer(None))
    await agent.work("fails")
    world.summarizer.script(Reply(), Reply("y" * 5000), Failure())
    flushed = await agent.flush()
    counts = flushed.completed.counts
    assert (counts.captured_batches, counts.processed_batches, counts.captured_calls) == (5, 4, 5)
    outcomes = (
        counts.summarized_batches,
        counts.oversized_batches,
        counts.deduped_batches,
        counts.trivial_batches,
        counts.failed_batches,
    )
    assert outcomes == (1, 1, 1, 1, 1)
    kept, too_long = f"kept: {LONG}", f"too_long: {LONG}"
    assert (counts.processed_calls, counts.raw_chars) == (4, 2 * len(kept) + len(too_long) + 1)
    assert counts.summary_chars == sum(batch.summary_chars for batch in flushed.batches) > 5000


async def test_the_last_resort_is_an_outcome_of_its_own(world: World) -> None:
    """Not counted among the summaries of summarizers."""
    agent = await world.agent()
    world.summarizer.default = Failure()
    await agent.work("a", text=LONG * 2)
    for _ in range(3):
        counts = (await agent.flush()).completed.counts
    assert (counts.extractive_batches, counts.summarized_batches, counts.failed_batches) == (1, 0, 0)


async def test_summaries_are_named_as_they_are_listed(world: World) -> None:
    """The id of the event is that of the list; a batch without summary has none."""
    agent = await world.agent(chain_compression={"enabled": False})
    await agent.work("a")
    await agent.work("b")
    world.summarizer.script(Reply(), Failure())
    assert [batch.summary_id for batch in (await agent.flush()).batches] == ["s1", ""]
    assert [batch.summary_id for batch in (await agent.flush()).batches] == ["s2"]
    assert [one.summary_id for one in await world.engine.list_summaries("s", 0, 9)] == ["s1", "s2"]
    assert (await agent.call("b")).summary_id == "s2"


async def test_blocks_say_where_they_are(world: World) -> None:
    """Positions in the client's history, and the tokens that are gone; what was skipped says where and why."""
    agent = await world.agent()
    await agent.append(user(None, "nothing to do"), answer(None))
    await agent.work("a")
    await agent.work("b")
    first = await agent.compact()
    assert [(block.start_index, block.final_index) for block in first.blocks] == [(2, 5), (6, 9)]
    assert [block.reclaimed_tokens for block in first.blocks] == [76, 76]
    assert first.completed.reclaimed_tokens == 152
    assert first.completed.skipped == ()
    again = await agent.compact()
    assert again.completed.skipped == (SkippedChain("already-compressed", 2), SkippedChain("already-compressed", 6))
    assert again.completed.skipped_chains == 0


async def test_chains_for_which_nothing_can_stand(world: World) -> None:
    """Are named with their place."""
    agent = await world.agent()
    await agent.append(user(None), calls(None, "unanswered"), answer(None))
    completed = (await agent.compact()).completed
    assert completed.skipped == (SkippedChain("no-summary", 0),)
    assert completed.skipped_chains == 1


async def test_starts_and_ends_say_where_they_stand(world: World) -> None:
    """The length of the transcript at the snapshot, and what was spent since the load at the end."""
    agent = await world.agent()
    await agent.work("a")
    await agent.flush()
    await world.restart()
    await agent.work("b")
    flushed = await agent.flush()
    started = flushed.events[0]
    assert isinstance(started, FlushStarted) and started.transcript_length == 8
    since_load = flushed.completed.since_load
    assert since_load is not None and (since_load.total_cost, flushed.completed.stats.total_cost) == (0.25, 0.5)
    compacted = (await agent.compact()).events[0]
    assert isinstance(compacted, FlushStarted) and compacted.transcript_length == 8
    preview = (await agent.flush(dry_run=True)).events[0]
    assert isinstance(preview, FlushStarted) and preview.transcript_length == 8


async def test_reports_name_the_flush(world: World) -> None:
    """The one that runs, and those that have ended, also after a restart."""
    agent = await world.agent()
    await agent.work("a")
    gate = Gate()
    world.summarizer.script(Gated(gate))
    events = agent.flushing(trigger=FlushTrigger.BUDGET)
    started = await anext(events)
    report = await world.engine.diagnostics("s")
    assert (report.running_flush_id, report.advice.running) == (started.flush_id, True)
    gate.open()
    await finished(events)
    await world.restart()
    report = await world.engine.diagnostics("s")
    assert (report.running_flush_id, report.advice.running) == ("", False)
    assert [(flush.flush_id, flush.trigger) for flush in report.flushes] == [(started.flush_id, "budget")]


async def test_reports_say_what_a_flush_would_find(world: World) -> None:
    """As the advice of a prune does."""
    agent = await world.agent()
    await agent.work("a")
    report = await world.engine.diagnostics("s")
    assert (report.advice.trigger, report.advice.pending_batches) == (FlushTrigger.MESSAGE_END, 1)
    assert report.advice.pending_chars == report.pending_chars == 3 + len(LONG)


async def test_the_last_report_of_usage_is_given_back(world: World) -> None:
    """Until the session is loaded again, or goes back."""
    agent = await world.agent()
    await agent.work("a")
    assert (await world.engine.diagnostics("s")).usage is None
    await world.engine.record_usage("s", Usage(70, 100))
    await agent.prune(usage=Usage(None, 100))
    assert (await world.engine.diagnostics("s")).usage == Usage(None, 100)
    await agent.rewind(2)
    assert (await world.engine.diagnostics("s")).usage is None
    await world.engine.record_usage("s", Usage(1, 2))
    await world.restart()
    assert (await world.engine.diagnostics("s")).usage is None


async def test_problems_say_how_long_the_transcript_was(world: World) -> None:
    """When they were met first."""
    agent = await world.agent()
    await agent.append(user(None), result(None, "stray"))
    await agent.prune()
    await agent.append(answer(None))
    await agent.prune()
    (noticed,) = await world.engine.diagnostic_entries("s", 0, 9)
    assert noticed.transcript_length == 2
