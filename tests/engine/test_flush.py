"""The flush: what it takes, what it makes of it, what it says."""

import logging

import pytest

from condense_grpc.domain.entries import FrontierOutcome
from condense_grpc.engine.events import (
    BatchFinished,
    BatchProgress,
    BatchStarted,
    FlushCompleted,
    FlushStarted,
    Notice,
)
from condense_grpc.engine.ports import Usage
from condense_grpc.engine.requests import CallState, FlushTrigger
from condense_grpc.testing.fakes import Failure, FakeSummarizer, Outcome, Raise, Reply, Silence
from tests.domain.histories import answer, calls, result, user
from tests.engine.harness import LONG, World

SECRET = "s3cret content"
LONGER = 3 * LONG


async def test_a_finished_turn_becomes_a_summary_and_stubs(world: World) -> None:
    """The view shows the summary where it was made, and stubs with refs that bring the originals back."""
    agent = await world.agent()
    await agent.work("a")
    flushed = await agent.flush()
    assert flushed.outcome == "summarized"
    texts = await agent.texts()
    assert texts[2] == "[Summarized in pruner summary, ref `t1`. Use context_tree_query to retrieve full output.]"
    assert texts[4].startswith("- `t1` ok")
    assert await agent.read("t1") == f"a: {LONG}"


async def test_events_tell_the_whole_story(world: World) -> None:
    """From the snapshot to the end, numbered, with the last event always the same kind."""
    agent = await world.agent()
    world.summarizer.script(Reply(progress=(1, 2, 40)))
    await agent.work("a")
    numbered = [one async for one in agent.flushing(trigger=FlushTrigger.BUDGET)]
    assert [one.sequence for one in numbered] == list(range(1, len(numbered) + 1))
    assert len({one.flush_id for one in numbered}) == 1
    events = [one.event for one in numbered]
    kinds = [FlushStarted, BatchStarted, BatchProgress, BatchProgress, BatchProgress, BatchFinished, FlushCompleted]
    assert [type(one) for one in events] == kinds
    started, finished, completed = events[0], events[5], events[6]
    assert isinstance(started, FlushStarted) and isinstance(finished, BatchFinished)
    assert isinstance(completed, FlushCompleted)
    assert (started.trigger, started.batches[0].tool_names) == ("budget", ("bash",))
    assert (finished.refs, finished.usage) == (("t1",), Usage(100, 20, 0.25))
    assert (completed.counts.summarized_batches, completed.counts.captured_calls) == (1, 1)
    assert completed.stats.total_cost == 0.25
    assert completed.frontier is not None and completed.frontier.last_attempted_tool_call_id == "a"
    assert completed.revision == (await agent.prune()).revision


async def test_progress_is_kept_sparse(world: World) -> None:
    """A model that sends single characters does not fill the memory."""
    agent = await world.agent()
    world.summarizer.script(Reply(progress=tuple(range(1, 3_000))))
    await agent.work("a", text="x" * 32_000)
    progress = [event for event in (await agent.flush()).events if isinstance(event, BatchProgress)]
    assert 5 < len(progress) < 25


@pytest.mark.parametrize(
    ("outcome", "reason"),
    [
        (Failure("timeout"), "timeout"),
        (Failure(""), "failed"),
        (Silence(), "no-reply"),
        (Reply(" \n"), "empty-reply"),
        (Raise(ValueError(SECRET)), "summarizer-error"),
    ],
)
async def test_a_batch_that_fails_stays_as_it_is(
    world: World, caplog: pytest.LogCaptureFixture, outcome: Outcome, reason: str
) -> None:
    """No error text becomes a summary, nor gets into the log; the others of the flush are stored."""
    agent = await world.agent()
    await agent.work("a", "b")
    world.summarizer.script(outcome)
    with caplog.at_level(logging.DEBUG):
        flushed = await agent.flush()
    assert (flushed.outcome, flushed.outcomes) == ("summarized", ["failed", "summarized"])
    assert (flushed.batches[0].failure_reason, flushed.batches[0].text) == (reason, "")
    assert any(isinstance(event, Notice) for event in flushed.events)
    assert list((await agent.refs()).values()) == ["t1"]
    assert (await agent.call("a")).state is CallState.PENDING
    assert SECRET not in caplog.text
    assert (await agent.flush()).outcomes == ["summarized"]


class RefusingSummarizer(FakeSummarizer):
    """Raises when it is asked, not when it is read."""

    def summarize(self, request):
        raise RuntimeError(SECRET)


class UnclosableSummarizer(FakeSummarizer):
    """Its streams cannot be closed in peace."""

    def summarize(self, request):
        return Unclosable(super().summarize(request))


class Unclosable:
    def __init__(self, events):
        self.events = events

    def __aiter__(self):
        return self.events

    async def aclose(self) -> None:
        raise RuntimeError(SECRET)


class BareSummarizer(FakeSummarizer):
    """Its streams are iterators and nothing else."""

    def summarize(self, request):
        return Bare(super().summarize(request))


class Bare:
    def __init__(self, events):
        self.events = events

    def __aiter__(self):
        return self

    async def __anext__(self):
        return await anext(self.events)


@pytest.mark.parametrize(
    ("summarizer", "outcome"),
    [(RefusingSummarizer(), "error"), (UnclosableSummarizer(), "summarized"), (BareSummarizer(), "summarized")],
)
async def test_summarizers_of_every_build(summarizer: FakeSummarizer, outcome: str) -> None:
    """What is not a generator works too, what raises costs its batch."""
    world = World(summarizer=summarizer)
    agent = await world.agent()
    await agent.work("a")
    assert (await agent.flush()).outcome == outcome
    await world.engine.close()


async def test_the_third_failure_in_a_row_gets_the_built_in_summary(world: World) -> None:
    """Work goes on without a model, with a text made from the results themselves."""
    agent = await world.agent()
    await agent.work("a", text=LONGER)
    world.summarizer.default = Failure("down")
    assert [(await agent.flush()).outcome for _ in range(2)] == ["error", "error"]
    flushed = await agent.flush()
    assert flushed.outcomes == ["extractive"]
    assert flushed.batches[0].text.startswith('- `t1` bash {"n":1}: OK, 903 characters')
    assert await agent.read("t1") == f"a: {LONGER}"


async def test_failures_count_in_a_row_only(world: World) -> None:
    """A success in between begins anew; a rewind and a fork keep the count."""
    agent = await world.agent()
    await agent.work("a", text=LONGER)
    world.summarizer.default = Failure("down")
    await agent.flush()
    await agent.append(user(None, "more"))
    await agent.rewind(4)
    await world.engine.fork_session("s", "fork")
    await agent.flush()
    assert (await agent.flush()).outcomes == ["extractive"]
    agent.name = "fork"
    assert (await agent.flush()).outcomes == ["failed"]
    assert (await agent.flush()).outcomes == ["extractive"]
    await agent.rewind(3)
    await agent.append(answer(None))
    assert (await agent.flush()).outcomes == ["failed"]


async def test_a_summary_longer_than_its_source_is_rejected_for_good(world: World) -> None:
    """It uses up no ref, its usage counts, and the calls are not taken again."""
    agent = await world.agent()
    await agent.work("a", text="tiny")
    await agent.work("b")
    flushed = await agent.flush()
    assert flushed.outcomes == ["skipped-oversized", "summarized"]
    assert flushed.batches[1].refs == ("t1",)
    assert flushed.completed.stats.call_count == 2
    assert (await agent.call("a")).state is CallState.SKIPPED
    assert (await agent.flush()).outcome == "empty"


async def test_small_batches_are_marked_without_asking(world: World) -> None:
    """And what repeats them shares their fate."""
    agent = await world.agent(min_batch_chars=1_000)
    await agent.append(user(None), calls(None, "a", "b"), result(None, "a"), result(None, "b"), answer(None))
    flushed = await agent.flush()
    assert (flushed.outcome, world.summarizer.requests) == ("skipped-trivial", [])
    assert flushed.completed.frontier is not None
    assert flushed.completed.frontier.outcome is FrontierOutcome.SKIPPED_TRIVIAL
    assert {(await agent.call(one)).state for one in "ab"} == {CallState.SKIPPED}


async def test_duplicates_of_one_flush_share_the_fate_of_the_first(world: World) -> None:
    """Stored: an alias; failed: pending again with it."""
    agent = await world.agent()
    for one in "ab":
        await agent.append(user(None), calls(None, one), result(None, one, LONG), answer(None))
    world.summarizer.script(Failure())
    assert (await agent.flush()).outcomes == ["failed", "failed"]
    flushed = await agent.flush()
    assert flushed.outcomes == ["summarized", "skipped-deduped"]
    assert [shared.ref for shared in flushed.batches[1].duplicates] == ["t1"]
    assert ((await agent.call("b")).state, (await agent.call("b")).ref) == (CallState.DUPLICATE, "t1")
    await agent.append(user(None), calls(None, "c"), result(None, "c", LONG), answer(None))
    flushed = await agent.flush()
    assert (flushed.outcome, len(world.summarizer.requests)) == ("skipped-deduped", 2)
    assert flushed.completed.frontier is not None
    assert flushed.completed.frontier.last_attempted_tool_call_id == "c"


async def test_batches_of_one_stretch_of_work_are_one_with_that_mode(world: World) -> None:
    """From user message to user message."""
    agent = await world.agent(batching_mode="agent-message")
    await agent.work("a", "b")
    await agent.work("c")
    assert [len(batch.refs) for batch in (await agent.flush()).batches] == [2, 1]


async def test_a_summarizer_hears_what_the_newest_summaries_say(world: World) -> None:
    """It need not say it again."""
    agent = await world.agent()
    world.summarizer.script(Reply("- [[1:bash]] it was the butler"))
    await agent.work("a")
    await agent.flush()
    await agent.work("b")
    await agent.flush()
    assert [("butler" in request.known_text) for request in world.summarizer.requests] == [False, True]


async def test_a_disabled_session_is_not_flushed(world: World) -> None:
    """The outcome says so; what was produced meanwhile is picked up later."""
    agent = await world.agent(enabled=False)
    await agent.work("a")
    assert (await agent.flush()).outcome == "disabled"
    await world.engine.update_session("s", config={"enabled": True}, labels=None)
    assert (await agent.flush()).outcome == "summarized"


async def test_chains_beyond_the_window_become_blocks(world: World) -> None:
    """A flush without new work does that too."""
    agent = await world.agent(chain_compression={"rolling_window": 1})
    await agent.work("a")
    await agent.work("b")
    flushed = await agent.flush()
    assert [(block.block_id, block.refs, block.body_source) for block in flushed.blocks] == [
        ("b1", ("t1",), "summaries")
    ]
    await agent.append(user(None), answer(None))
    await world.engine.update_session("s", config={"chain_compression": {"rolling_window": 0}}, labels=None)
    flushed = await agent.flush()
    assert (flushed.outcome, flushed.completed.blocks) == ("compressed", ("b2",))
    assert flushed.completed.stats.chains_compressed == 2
    assert await agent.read("t1") == f"a: {LONG}"


async def test_a_flush_may_ignore_the_window_or_find_compression_switched_off(world: World) -> None:
    """`compact` compresses the newest chain too."""
    agent = await world.agent(chain_compression={"enabled": False})
    await agent.work("a")
    assert (await agent.flush(compact=True)).blocks == []
    await world.engine.update_session("s", config={"chain_compression": {"enabled": True}}, labels=None)
    assert len((await agent.flush(compact=True)).blocks) == 1


async def test_a_chain_with_a_call_that_is_pending_again_waits(world: World) -> None:
    """A compaction on request does not: it archives the call."""
    agent = await world.agent(chain_compression={"rolling_window": 0})
    await agent.work("a")
    world.summarizer.default = Failure()
    assert (await agent.flush()).blocks == []
    compacted = await agent.compact()
    assert [block.body_source for block in compacted.blocks] == ["deterministic"]
    assert compacted.completed.reclaimed_tokens == 76
    assert ((await agent.call("a")).state, await agent.read("t1")) == (CallState.ARCHIVED, f"a: {LONG}")
    assert (await agent.compact()).outcome == "empty"


async def test_a_chain_without_anything_to_say_is_skipped_and_reported(world: World) -> None:
    """Calls that were never answered leave nothing to archive."""
    agent = await world.agent()
    await agent.append(user(None), calls(None, "a"), answer(None))
    compacted = await agent.compact()
    assert (compacted.outcome, compacted.completed.skipped_chains) == ("empty", 1)
    assert (await world.engine.diagnostics("s")).counts["backfill-empty"] == 1
    assert [entry.kind for entry in await world.engine.diagnostic_entries("s", 0, 10)] == ["backfill-empty"]


async def fusing_world() -> World:
    return World(summarizer=FakeSummarizer(can_fuse=True))


@pytest.mark.parametrize("failing", [Failure(), Reply(" "), Raise(ValueError()), Silence()])
async def test_summaries_of_a_chain_are_fused_or_stay_as_they_are(failing: Outcome) -> None:
    """Whatever the fuser does, the block says what the summaries said."""
    world = await fusing_world()
    agent = await world.agent(chain_compression={"rolling_window": 0})
    await agent.work("a", "b")
    world.summarizer.script(Reply(), Reply(), Reply("- both"))
    flushed = await agent.flush()
    assert [(block.body_source, block.body) for block in flushed.blocks] == [("fused", "- both")]
    assert (flushed.completed.stats.ranges_summarized, flushed.completed.stats.call_count) == (1, 3)
    assert "`t1` ok" in world.summarizer.fuse_requests[0].text
    await agent.work("c", "d")
    world.summarizer.script(Reply(), Reply(), failing)
    flushed = await agent.flush()
    assert [block.body_source for block in flushed.blocks] == ["summaries"]
    assert (flushed.completed.stats.ranges_summarized, flushed.completed.stats.call_count) == (1, 5)
    await world.engine.update_session("s", config={"chain_compression": {"fuse_range_summary": False}}, labels=None)
    await agent.work("e", "f")
    await agent.flush()
    assert len(world.summarizer.fuse_requests) == 2
    await world.engine.close()


async def test_preview_takes_nothing(world: World) -> None:
    """Not even the delta that it looks at."""
    agent = await world.agent(batching_mode="agent-message")
    await agent.work("a")
    delta = agent.delta(user(None), calls(None, "b"), result(None, "b", LONG))
    started, completed = (await agent.flush(dry_run=True, delta=delta)).events
    assert isinstance(started, FlushStarted) and isinstance(completed, FlushCompleted)
    assert [(one.call_count, one.tool_names, one.raw_chars) for one in started.batches] == [
        (1, ("bash",), 303),
        (1, ("bash",), 300),
    ]
    assert started.dry_run and completed.outcome is None and completed.counts.captured_batches == 2
    assert world.summarizer.requests == [] and await agent.refs() == {}
    assert (await world.engine.get_session("s")).length == 4


async def test_flush_metrics_are_kept_for_the_newest_flushes(world: World) -> None:
    """All of them stay in the log."""
    agent = await world.agent()
    await agent.work("a")
    for _ in range(60):
        await agent.flush()
    flushes = (await world.engine.diagnostics("s")).flushes
    assert len(flushes) == 50
    assert {one.outcome for one in flushes} == {"empty"}
    await world.restart()
    assert (await world.engine.diagnostics("s")).flushes == flushes


async def test_a_flush_in_the_middle_of_a_turn_keeps_results_with_their_calls(world: World) -> None:
    """The summary moves behind the results that come later."""
    agent = await world.agent()
    await agent.append(user(None), calls(None, "a", "b"), result(None, "a", LONG))
    assert (await agent.flush()).outcomes == ["summarized"]
    await agent.append(result(None, "b", LONG + "!"))
    roles = [message.role.value for message in await agent.view()]
    assert roles == ["user", "assistant", "toolResult", "toolResult", "custom"]
