"""Many clients call on one session that others delete all the time: none that asks for it is told that it is gone."""

import asyncio
import random
from collections.abc import AsyncIterator
from typing import Any

import grpc
import grpc.aio
import pytest

from condense_grpc.api.condense.v1 import flush_event_pb2, session_pb2, transcript_pb2, view_pb2
from tests.server.running import Failure, Running, answer, delta, failure_of, rest, running, worked

HEALED_BY_RESENDING = {"TRANSCRIPT_MISMATCH", "FLUSH_IN_PROGRESS"}


async def prune(server: Running, sent: Any) -> None:
    await server.condense.PruneMessages(view_pb2.PruneMessagesRequest(session_id="s", delta=sent))


async def flush(server: Running, sent: Any) -> None:
    stream = server.condense.FlushBatches(flush_event_pb2.FlushBatchesRequest(session_id="s", delta=sent))
    assert (await rest(stream))[-1].HasField("completed")


async def append(server: Running, sent: Any) -> None:
    async def chunks() -> AsyncIterator[transcript_pb2.AppendMessagesRequest]:
        yield transcript_pb2.AppendMessagesRequest(session_id="s", delta=sent)

    await server.condense.AppendMessages(chunks())


async def delete(server: Running, sent: Any) -> None:
    await server.sessions.DeleteSession(session_pb2.DeleteSessionRequest(session_id="s", allow_missing=True))


async def outcome(call: Any) -> Failure | None:
    try:
        await call
    except grpc.aio.AioRpcError as error:
        return failure_of(error)
    return None


@pytest.mark.parametrize("seed", range(5))
async def test_no_call_that_may_make_its_session_finds_none(seed: int) -> None:
    """It makes the session, or is told from where on to send."""
    drawn = random.Random(seed)
    history = [*worked(2), answer("done")]
    deltas = [
        delta(*history),
        delta(*worked(1)),
        delta(*history[3:], base=3),
        transcript_pb2.TranscriptDelta(create_if_missing=True),
    ]
    calls = [drawn.choice((prune, flush, append, delete)) for _ in range(120)]
    async with running() as server:
        found = await asyncio.gather(*(outcome(call(server, drawn.choice(deltas))) for call in calls))
    reasons = {one.reason for one in found if one is not None}
    assert reasons <= HEALED_BY_RESENDING, reasons
    missed = [one for one in found if one is not None and one.reason == "TRANSCRIPT_MISMATCH"]
    assert all("serverLength" in one.metadata and one.code is grpc.StatusCode.FAILED_PRECONDITION for one in missed)
