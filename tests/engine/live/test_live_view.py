"""The live view gives what a render of the whole list gives, whatever happens to a session, in whatever order."""

import asyncio
from collections.abc import Sequence

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from condense_grpc.domain.capture import group_runs
from condense_grpc.domain.config import SessionConfig, merge
from condense_grpc.domain.messages import Message
from condense_grpc.engine.arrival import typed_arrival
from condense_grpc.engine.bodies import BodyCache
from condense_grpc.engine.capture_step import count_pending, find_pending, pending_of_whole
from condense_grpc.engine.config_codec import config_to_json
from condense_grpc.engine.edit_sums import revision_of
from condense_grpc.engine.measures import metrics_of_whole, session_metrics
from condense_grpc.engine.ports import SessionRow, StoredSession
from condense_grpc.engine.revision import SessionView, current_view
from condense_grpc.engine.state import SessionState
from condense_grpc.engine.whole_view import WholeView, whole_view
from condense_grpc.store.memory import MemoryStore
from tests.domain.histories import answer, calls, notice, result, user
from tests.engine.harness import LONG, World
from tests.engine.live.drawn import Decisions, Messages
from tests.engine.live.steps import START, Steps

RANDOM = settings(deadline=None, suppress_health_check=list(HealthCheck))


async def _compare(state: SessionState, bodies: BodyCache) -> WholeView:
    live, whole = await current_view(bodies, state), await whole_view(bodies, state)
    assert live is state.view.read(state), "the session was rendered as a whole"
    _compare_views(live, whole)
    _compare_measures(state)
    read_again = state.copy()
    _compare_views(await current_view(bodies, read_again), await whole_view(bodies, read_again))
    _compare_measures(read_again)
    return whole


def _compare_views(live: SessionView, whole: WholeView) -> None:
    assert live.edits == whole.edits
    assert live.revision == whole.revision == revision_of(whole.edits)
    assert (live.chars, live.is_pruned) == (whole.chars, whole.is_pruned)
    assert live.before_chars == whole.before_chars or not whole.is_pruned
    assert live.applied == whole.applied
    assert live.wide_gain == whole.wide_gain
    assert tuple(live.diagnostics) == whole.diagnostics
    for is_plain in (True, False):
        mine, theirs = live.shown(is_plain=is_plain).written_down(), whole.shown(is_plain=is_plain)
        assert (list(mine.marks), list(mine.chars)) == (list(theirs.marks), list(theirs.chars))


def _compare_measures(state: SessionState) -> None:
    pending = pending_of_whole(state)
    assert find_pending(state) == pending
    skeletons = state.transcript.skeletons
    chars = sum(skeletons[call.result_position].text_chars for batch in pending for call in batch.calls)
    assert count_pending(state) == (len(group_runs(pending, state.config.batching_mode)), chars)
    assert session_metrics(state) == metrics_of_whole(state)


def _append(state: SessionState, messages: Sequence[Message], now_ms: int) -> None:
    state.append(len(state.transcript), [typed_arrival(message) for message in messages], now_ms)


@RANDOM
@given(st.data())
def test_whatever_an_engine_does(data: st.DataObject) -> None:
    """Appends, flushes, compactions, settings, rewinds, forks, restarts and pins."""

    async def run() -> None:
        steps = Steps(data.draw)
        await steps.begin()
        try:
            for _ in range(data.draw(st.integers(1, 12))):
                await steps.step()
                if data.draw(st.integers(0, 3)):
                    whole = await _compare(await steps.state(), steps.world.engine._tools.bodies)
                    blocks = (element.block for element in whole.view.elements)
                    steps.messages.block_texts = [block.text for block in blocks if block is not None]
        finally:
            await steps.world.engine.close(0)

    asyncio.run(run())


@RANDOM
@given(st.data())
def test_whatever_was_decided(data: st.DataObject) -> None:
    """Entries of all kinds about a few results, one after another, with messages in between."""

    async def run() -> None:
        config = config_to_json(merge(SessionConfig(), START))
        state = SessionState(StoredSession(SessionRow("s", 0, 0, config_json=config), (), ()))
        bodies, messages = BodyCache(MemoryStore()), Messages(data.draw)
        _append(state, messages.chain(), 1000)
        _append(state, messages.chain(), 2000)
        for _ in range(data.draw(st.integers(1, 16))):
            if data.draw(st.integers(0, 4)) == 0:
                added = messages.chain() if data.draw(st.booleans()) else [messages.any()]
                _append(state, added, 3000)
            else:
                entry = Decisions(data.draw, state).any()
                state.decide([entry] if entry else [], 5)
            if data.draw(st.integers(0, 3)):
                await _compare(state, bodies)

    asyncio.run(run())


async def test_summaries_and_notices_within_a_compressed_chain() -> None:
    """Turns of which something else than drops is told are not among those that are dropped together."""
    world = World()
    agent = await world.agent(chain_compression={"rolling_window": 0})
    await agent.append(user(None), calls(None, "a"), result(None, "a", LONG), calls(None, "b"), result(None, "b", LONG))
    await agent.flush(compact=False)  # the summary stands behind the turn of b
    await agent.append(
        calls(None, "c"), result(None, "c", LONG), notice(None), calls(None, "d"), result(None, "d", LONG)
    )
    await agent.append(answer(None))
    await agent.flush()
    await agent.work("e", "f")
    async with world.engine._registry.locked(agent.name) as live:
        whole = await _compare(live.state, world.engine._tools.bodies)
    assert [element.block.entry.block_id for element in whole.view.elements if element.block] == ["b1"]
    await world.engine.close()
