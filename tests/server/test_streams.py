"""Streams of flushes: whoever started one can stop it, others only leave, and a slow reader holds nobody up."""

import asyncio
from typing import Any

import grpc
import grpc.aio
import pytest

from condense_grpc.api.condense.v1 import diagnostics_pb2, flush_event_pb2, flush_pb2, session_pb2, view_pb2
from condense_grpc.domain.entries import Stats
from condense_grpc.engine.events import (
    BatchProgress,
    FlushCompleted,
    FlushCounts,
    FlushOutcome,
    FlushStarted,
    NumberedEvent,
)
from tests.server.fake_engine import FakeEngine
from tests.server.running import GatedSummarizer, Running, answer, delta, failure, rest, running, worked

WAIT = 5


def flush(**fields: Any) -> flush_event_pb2.FlushBatchesRequest:
    return flush_event_pb2.FlushBatchesRequest(session_id="s", **fields)


async def fill(server: Running) -> None:
    config = {"prune_on": "PRUNE_ON_ON_DEMAND"}
    history = delta(*worked(), answer("done"))
    await server.condense.PruneMessages(view_pb2.PruneMessagesRequest(session_id="s", delta=history, config=config))


async def report(server: Running) -> diagnostics_pb2.GetDiagnosticsResponse:
    answer: diagnostics_pb2.GetDiagnosticsResponse = await server.condense.GetDiagnostics(
        diagnostics_pb2.GetDiagnosticsRequest(session_id="s")
    )
    return answer


async def test_a_client_that_cancels_stops_its_flush_and_everything_is_pending_again() -> None:
    summarizer = GatedSummarizer()
    async with running(summarizer=summarizer) as server:
        await fill(server)
        stream = server.condense.FlushBatches(flush())
        await stream.read()
        await asyncio.wait_for(summarizer.begun.wait(), WAIT)
        assert (await report(server)).advice.running
        stream.cancel()
        await asyncio.wait_for(summarizer.cancelled.wait(), WAIT)
        summarizer.gate.set()
        events = [one.event async for one in server.condense.FlushBatches(flush(attach=True))]
        last = events[-1].completed.outcome
        if last == flush_pb2.FLUSH_OUTCOME_CANCELLED:  # attached to the end of the cancelled one
            events = [one.event async for one in server.condense.FlushBatches(flush())]
        after = await report(server)
    assert events[-1].completed.outcome != flush_pb2.FLUSH_OUTCOME_CANCELLED
    assert not after.advice.running


async def test_a_deadline_stops_a_flush() -> None:
    summarizer = GatedSummarizer()
    async with running(summarizer=summarizer) as server:
        await fill(server)
        with pytest.raises(grpc.aio.AioRpcError) as raised:
            async for _ in server.condense.FlushBatches(flush(), timeout=0.3):
                pass
        await asyncio.wait_for(summarizer.cancelled.wait(), WAIT)
    assert raised.value.code() is grpc.StatusCode.DEADLINE_EXCEEDED


async def test_a_connection_that_breaks_stops_its_flush() -> None:
    summarizer = GatedSummarizer()
    async with running(summarizer=summarizer) as server:
        await fill(server)
        async with grpc.aio.insecure_channel(server.address) as other:
            call = other.unary_stream("/condense.v1.CondenseService/FlushBatches")(flush().SerializeToString())
            await call.read()
            await asyncio.wait_for(summarizer.begun.wait(), WAIT)
        await asyncio.wait_for(summarizer.cancelled.wait(), WAIT)


async def test_one_that_attached_only_leaves() -> None:
    summarizer = GatedSummarizer()
    async with running(summarizer=summarizer) as server:
        await fill(server)
        owner = server.condense.FlushBatches(flush())
        await owner.read()
        await asyncio.wait_for(summarizer.begun.wait(), WAIT)
        guest = server.condense.FlushBatches(flush(attach=True))
        first = await guest.read()
        guest.cancel()
        refused = await failure(server.condense.FlushBatches(flush()))
        summarizer.gate.set()
        events = await rest(owner)
    assert first.event.WhichOneof("event") == "started"
    assert (refused.code, refused.reason, refused.metadata["sessionId"]) == (
        grpc.StatusCode.ABORTED,
        "FLUSH_IN_PROGRESS",
        "s",
    )
    assert refused.retry_ms
    assert events[-1].completed.outcome == flush_pb2.FLUSH_OUTCOME_SUMMARIZED
    assert not summarizer.cancelled.is_set()


async def test_messages_are_taken_in_while_a_flush_runs() -> None:
    summarizer = GatedSummarizer()
    async with running(summarizer=summarizer) as server:
        await fill(server)
        owner = server.condense.FlushBatches(flush())
        await owner.read()
        await asyncio.wait_for(summarizer.begun.wait(), WAIT)
        more = view_pb2.PruneMessagesRequest(session_id="s", delta=delta(answer("more"), base=4))
        reply = await server.condense.PruneMessages(more)
        summarizer.gate.set()
        events = await rest(owner)
    assert (reply.transcript_length, reply.advice.running) == (5, True)
    assert events[-1].completed.outcome == flush_pb2.FLUSH_OUTCOME_SUMMARIZED


async def test_a_session_that_is_deleted_ends_its_flush() -> None:
    summarizer = GatedSummarizer()
    async with running(summarizer=summarizer) as server:
        await fill(server)
        owner = server.condense.FlushBatches(flush())
        await owner.read()
        await asyncio.wait_for(summarizer.begun.wait(), WAIT)
        await server.sessions.DeleteSession(session_pb2.DeleteSessionRequest(session_id="s"))
        events = await rest(owner)
    assert events[-1].completed.outcome == flush_pb2.FLUSH_OUTCOME_CANCELLED


async def test_the_iterator_of_the_engine_is_closed_however_a_stream_ends() -> None:
    engine = FakeEngine()
    engine.events = [NumberedEvent(1, 1, "f", FlushStarted("manual", ()))]
    engine.waits_after_events = True
    async with running(engine) as server:
        for stop in ("cancel", "finish"):
            engine.flush_closed.clear()
            stream = server.condense.CompactChains(flush_event_pb2.CompactChainsRequest(session_id="s"))
            await stream.read()
            if stop == "cancel":
                stream.cancel()
                engine.waits_after_events = False
            else:
                assert await stream.read() is grpc.aio.EOF
            await asyncio.wait_for(engine.flush_closed.wait(), WAIT)
            assert engine.open_flushes == 0


async def test_a_stream_whose_reader_has_gone_in_the_middle_of_writing_is_closed(caplog) -> None:
    engine = FakeEngine()
    progress = [NumberedEvent(n, 1, "f" * 5000, BatchProgress(0, n, 9)) for n in range(20_000)]
    engine.events = progress
    async with running(engine) as server:
        async with grpc.aio.insecure_channel(server.address) as other:
            call = other.unary_stream("/condense.v1.CondenseService/FlushBatches")(flush().SerializeToString())
            await call.read()
        await asyncio.wait_for(engine.flush_closed.wait(), WAIT)
    assert engine.open_flushes == 0
    assert "incident" not in caplog.text


async def test_an_error_in_the_middle_comes_after_the_events_before_it() -> None:
    engine = FakeEngine(RuntimeError("x"))
    engine.events = [
        NumberedEvent(1, 1, "f", FlushStarted("manual", ())),
        NumberedEvent(2, 2, "f", FlushCompleted(FlushOutcome.EMPTY, FlushCounts(), None, Stats(), "r")),
    ]
    async with running(engine) as server:
        stream = server.condense.FlushBatches(flush())
        got = [(await stream.read()).event.sequence for _ in range(2)]
        found = await failure(stream)
    assert got == [1, 2]
    assert found.reason == "INTERNAL"


async def test_a_slow_reader_holds_neither_the_flush_nor_the_session() -> None:
    """The reader takes nothing after the first event; the flush ends and the session answers all the same."""
    summarizer = GatedSummarizer()
    async with running(summarizer=summarizer, channel_options=[("grpc.http2.lookahead_bytes", 1024)]) as server:
        await fill(server)
        slow = server.condense.FlushBatches(flush())
        await slow.read()
        summarizer.gate.set()
        follower = [one.event async for one in server.condense.FlushBatches(flush(attach=True))]
        events = await rest(slow)
    assert follower[-1].completed.outcome in (
        flush_pb2.FLUSH_OUTCOME_SUMMARIZED,
        flush_pb2.FLUSH_OUTCOME_EMPTY,
    )
    assert events[-1].completed.outcome == flush_pb2.FLUSH_OUTCOME_SUMMARIZED
