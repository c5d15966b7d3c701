"""Watching a session over the wire."""

import asyncio
from typing import Any

import grpc
import pytest

from condense_grpc.api.condense.v1 import (
    flush_event_pb2,
    flush_pb2,
    session_event_pb2,
    session_pb2,
    view_pb2,
)
from tests.server.running import Running, answer, delta, failure, failure_of, running, user, worked

WATCH = session_event_pb2.WatchSessionRequest


async def append(server: Running, *messages: Any, base: int = 0) -> view_pb2.PruneMessagesResponse:
    request = view_pb2.PruneMessagesRequest(session_id="s", delta=delta(*messages, base=base))
    return await server.condense.PruneMessages(request)


async def watch(server: Running, cursor: str = "") -> Any:
    """A stream from which nothing is missed any more."""
    stream = server.sessions.WatchSession(WATCH(session_id="s", cursor=cursor))
    await stream.initial_metadata()
    return stream


async def until(stream: Any, kind: str) -> list[session_event_pb2.SessionEvent]:
    """The events up to the first of a kind."""
    events: list[session_event_pb2.SessionEvent] = []
    while not events or events[-1].WhichOneof("event") != kind:
        events.append((await stream.read()).event)
    return events


async def until_completed(stream: Any) -> list[session_event_pb2.SessionEvent]:
    events = await until(stream, "flush")
    while events[-1].flush.WhichOneof("event") != "completed":
        events += await until(stream, "flush")
    return events


async def test_appends_flushes_and_costs_arrive() -> None:
    """What the client did not ask for too: the flush after an answer is the server's own."""
    async with running() as server:
        await append(server, user("begin"))
        stream = await watch(server)
        appended = await append(server, *worked(), answer("done"), base=1)
        events = await until_completed(stream)
        stream.cancel()
    first = events[0].revision
    assert (first.transcript_length, first.transcript_etag) == (5, appended.transcript_etag)
    assert events[0].event_time.seconds > 1_700_000_000
    flush = [event.flush for event in events if event.HasField("flush")]
    assert [one.sequence for one in flush] == list(range(1, len(flush) + 1))
    kinds = [one.WhichOneof("event") for one in flush]
    assert kinds[0] == "started" and "batch_finished" in kinds
    assert flush[0].started.trigger == flush_pb2.FLUSH_TRIGGER_MESSAGE_END
    assert flush[-1].completed.outcome == flush_pb2.FLUSH_OUTCOME_SUMMARIZED
    assert any(event.HasField("stats") and event.stats.call_count == 1 for event in events)


async def test_a_broken_stream_goes_on_behind_its_cursor() -> None:
    """And a cursor of somebody else does not open it."""
    async with running() as server:
        await append(server, user("0"))
        stream = await watch(server)
        await append(server, user("1"), base=1)
        (event,) = await until(stream, "revision")
        stream.cancel()
        await append(server, user("2"), base=2)
        again = await watch(server, event.cursor)
        (missed,) = await until(again, "revision")
        again.cancel()
        refused = await failure(server.sessions.WatchSession(WATCH(session_id="s", cursor="x" + event.cursor)))
        unknown = await failure(server.sessions.WatchSession(WATCH(session_id="nobody")))
    assert (event.revision.transcript_length, missed.revision.transcript_length) == (2, 3)
    assert (refused.code, refused.reason) == (grpc.StatusCode.INVALID_ARGUMENT, "PAGE_TOKEN_INVALID")
    assert refused.metadata["field"] == "cursor"
    assert unknown.reason == "SESSION_NOT_FOUND"


async def test_nothing_is_kept_over_a_restart() -> None:
    """The cursor of a server that is gone is answered by a gap."""
    async with running() as server:
        await append(server, user("0"))
        stream = await watch(server)
        await append(server, user("1"), base=1)
        (event,) = await until(stream, "revision")
        server.engine._feeds._feeds.clear()
        again = await watch(server, event.cursor)
        (gap,) = await until(again, "gap")
        await append(server, user("2"), base=2)
        await until(again, "revision")
        again.cancel()
    assert not gap.gap.HasField("missed_events")


async def test_a_deleted_session_ends_the_stream_well() -> None:
    """The last event says why, and the status is OK."""
    async with running() as server:
        await append(server, user("0"))
        stream = await watch(server)
        await server.sessions.DeleteSession(session_pb2.DeleteSessionRequest(session_id="s"))
        events = [one.event.WhichOneof("event") async for one in stream]
        code = await stream.code()
    assert events == ["deleted"]
    assert code is grpc.StatusCode.OK


async def test_a_server_that_stops_does_not_wait_for_readers() -> None:
    """They are sent away at once, with the word to come again."""
    async with running() as server:
        await append(server, user("0"))
        stream = await watch(server)
        async with asyncio.timeout(20):
            stopping = asyncio.ensure_future(server.server.stop(3600))
            with pytest.raises(grpc.aio.AioRpcError) as ended:
                await stream.read()
            await stopping
    found = failure_of(ended.value)
    assert (found.code, found.reason) == (grpc.StatusCode.UNAVAILABLE, "SHUTTING_DOWN")
    assert found.retry_ms is not None


async def test_readers_of_a_flush_and_of_the_session_see_the_same() -> None:
    """The events of a flush are those that its own stream tells."""
    async with running() as server:
        await append(server, *worked())
        stream = await watch(server)
        request = flush_event_pb2.FlushBatchesRequest(session_id="s")
        own = [one.event async for one in server.condense.FlushBatches(request)]
        watched = [one.flush for one in await until_completed(stream) if one.HasField("flush")]
        stream.cancel()
    assert watched == own
