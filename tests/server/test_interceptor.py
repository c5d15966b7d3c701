"""Errors become statuses, the same for unary calls and streams; what is not an error of ours says nothing."""

import asyncio
import logging

import grpc
import grpc.aio
import pytest

from condense_grpc.api.condense.v1 import (
    flush_event_pb2,
    session_pb2,
    transcript_pb2,
    view_pb2,
)
from condense_grpc.errors import (
    CondenseError,
    ConfigInvalid,
    DeltaTooLarge,
    FlushInProgress,
    MessageInvalid,
    MessageTooLarge,
    NativeJsonInvalid,
    NotImplementedYet,
    PageTokenInvalid,
    PatternInvalid,
    PermissionDenied,
    QuotaExceeded,
    RequestInvalid,
    RevisionConflict,
    SessionAlreadyExists,
    SessionIdInvalid,
    SessionNotFound,
    ShuttingDown,
    StoreUnavailable,
    SummarizerUnknown,
    TranscriptMismatch,
    Unauthenticated,
)
from condense_grpc.server.status import TREATMENTS
from tests.server.fake_engine import FakeEngine
from tests.server.running import delta, failure, running, user

SECRET = "the password is hunter2"

# One error of each class with the metadata that the contract's examples show.
ERRORS: list[tuple[CondenseError, set[str]]] = [
    (SessionNotFound("s"), {"sessionId"}),
    (SessionAlreadyExists("s"), {"sessionId"}),
    (SessionIdInvalid("session_id", "is too long", chars=600, maxChars=512), {"chars", "maxChars"}),
    (TranscriptMismatch(112, 108, "etag", common_length=100), {"baseLength", "serverLength", "serverEtag"}),
    (MessageInvalid("delta.messages.messages[7].kind", "must be set", messageIndex=7), {"messageIndex", "field"}),
    (MessageTooLarge(7, 9, 8), {"messageIndex", "bytes", "maxBytes"}),
    (DeltaTooLarge(9, 8), {"bytes", "maxBytes"}),
    (NativeJsonInvalid("delta.native.json", "ends", format="MESSAGE_FORMAT_PI", offset=1), {"format", "offset"}),
    (ConfigInvalid("config.min_batch_chars", "must be at least 0, not -1"), {"field"}),
    (FlushInProgress("s", "f9"), {"sessionId", "flushId"}),
    (RevisionConflict("s", 5), {"sessionId", "attempts"}),
    (PageTokenInvalid(), {"field"}),
    (PatternInvalid("slices[0].pattern.pattern", "is open", position=4), {"field", "position"}),
    (QuotaExceeded("sessions", 10, 10, "delete some"), {"resource", "used", "limit"}),
    (SummarizerUnknown("config.summarizer_model", "acme", ["default"]), {"summarizerModel", "available"}),
    (Unauthenticated(), {"scheme"}),
    (PermissionDenied("/condense.v1.SessionService/DeleteSession"), {"method"}),
    (StoreUnavailable(), {"store"}),
    (ShuttingDown(), set()),
    (RequestInvalid("delta.base_length", "must not be negative"), {"field"}),
    (NotImplementedYet("MESSAGE_FORMAT_GEMINI"), {"feature"}),
]


def test_every_reason_is_tried() -> None:
    assert {error.reason for error, _ in ERRORS} == set(TREATMENTS) - {"INTERNAL"}


@pytest.mark.parametrize(("error", "keys"), ERRORS, ids=lambda one: type(one).__name__)
async def test_an_error_has_its_code_its_reason_and_its_facts_in_every_kind_of_call(error, keys) -> None:
    async with running(FakeEngine(error)) as server:
        failures = [
            await failure(server.sessions.GetSession(session_pb2.GetSessionRequest(session_id="s"))),
            await failure(server.condense.FlushBatches(flush_event_pb2.FlushBatchesRequest(session_id="s"))),
            await failure(
                server.condense.AppendMessages(
                    iter([transcript_pb2.AppendMessagesRequest(session_id="s", delta=delta(user("x")))])
                )
            ),
        ]
    for found in failures:
        assert found.code is TREATMENTS[error.reason].code
        assert found.reason == error.reason
        assert found.message == error.message
        assert keys <= set(found.metadata)
        assert bool(found.violations) == isinstance(error, RequestInvalid)
        assert (found.retry_ms is not None) == (TREATMENTS[error.reason].retry_seconds is not None)


async def test_a_defect_is_told_as_a_number_and_logged_without_content(caplog: pytest.LogCaptureFixture) -> None:
    try:
        try:
            raise KeyError(SECRET)
        except KeyError as inner:
            raise RuntimeError(SECRET) from inner
    except RuntimeError as outer:
        error = ExceptionGroup(SECRET, [outer])
    with caplog.at_level(logging.ERROR):
        async with running(FakeEngine(error)) as server:
            found = await failure(server.sessions.GetSession(session_pb2.GetSessionRequest(session_id="s")))
            streamed = await failure(server.condense.FlushBatches(flush_event_pb2.FlushBatchesRequest(session_id="s")))
    for one in (found, streamed):
        assert (one.code, one.reason) == (grpc.StatusCode.INTERNAL, "INTERNAL")
        assert SECRET not in one.status.SerializeToString().decode(errors="replace")
        assert one.metadata["incidentId"] in caplog.text
    assert found.metadata != streamed.metadata
    assert SECRET not in caplog.text
    assert "RuntimeError" in caplog.text
    assert "KeyError" in caplog.text
    assert "test_interceptor.py" in caplog.text


async def test_a_call_of_a_newer_client_is_not_implemented() -> None:
    async with running(FakeEngine()) as server:
        found = await failure(server.channel.unary_unary("/condense.v1.CondenseService/ReadMinds")(b""))
    assert (found.code, found.reason) == (grpc.StatusCode.UNIMPLEMENTED, "NOT_IMPLEMENTED")
    assert found.metadata == {"feature": "CondenseService/ReadMinds"}


async def test_bytes_that_are_no_message_are_refused() -> None:
    async with running(FakeEngine()) as server:
        for garbage in (b"\xff\xff\xff", b"\x0a\x01\xff"):
            found = await failure(server.channel.unary_unary("/condense.v1.CondenseService/PruneMessages")(garbage))
            assert (found.code, found.reason) == (grpc.StatusCode.INVALID_ARGUMENT, "REQUEST_INVALID")


async def test_fields_of_a_newer_client_are_ignored() -> None:
    request = view_pb2.PruneMessagesRequest(session_id="s", delta=delta(user("x")))
    unknown = request.SerializeToString() + b"\xfa\x3f\x03abc"
    async with running() as server:
        answer = await server.channel.unary_unary("/condense.v1.CondenseService/PruneMessages")(unknown)
    assert view_pb2.PruneMessagesResponse.FromString(answer).transcript_length == 1


async def test_more_calls_than_allowed_are_refused_with_the_advice_to_wait() -> None:
    engine, arrived, gate = FakeEngine(), asyncio.Event(), asyncio.Event()

    async def wait(*_: object, **__: object) -> None:
        arrived.set()
        await gate.wait()
        raise SessionNotFound("s")

    engine.action = wait
    async with running(engine, flags={"max_concurrent_calls": 1}) as server:
        request = session_pb2.GetSessionRequest(session_id="s")
        first = asyncio.ensure_future(failure(server.sessions.GetSession(request)))
        await arrived.wait()
        second = await failure(server.sessions.GetSession(request))
        gate.set()
        assert (await first).reason == "SESSION_NOT_FOUND"
    assert (second.reason, second.metadata["limit"], second.retry_ms) == ("QUOTA_EXCEEDED", "1", 1000)


async def test_a_cancelled_call_is_cancelled_in_the_engine() -> None:
    engine, arrived, cancelled = FakeEngine(), asyncio.Event(), asyncio.Event()

    async def wait(*_: object, **__: object) -> None:
        arrived.set()
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            cancelled.set()
            raise

    engine.action = wait
    async with running(engine) as server:
        call = server.sessions.GetSession(session_pb2.GetSessionRequest(session_id="s"))
        waiting = asyncio.ensure_future(call.code())
        await arrived.wait()
        call.cancel()
        await asyncio.wait_for(cancelled.wait(), 5)
        assert await waiting is grpc.StatusCode.CANCELLED


async def test_a_call_beyond_its_deadline_is_cancelled_in_the_engine() -> None:
    engine, cancelled = FakeEngine(), asyncio.Event()

    async def wait(*_: object, **__: object) -> None:
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            cancelled.set()
            raise

    engine.action = wait
    async with running(engine) as server:
        with pytest.raises(grpc.aio.AioRpcError) as raised:
            await server.sessions.GetSession(session_pb2.GetSessionRequest(session_id="s"), timeout=0.2)
        await asyncio.wait_for(cancelled.wait(), 5)
    assert raised.value.code() is grpc.StatusCode.DEADLINE_EXCEEDED
