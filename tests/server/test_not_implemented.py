"""What this release does not have is said by name, and is not an error of another kind."""

import grpc
import pytest

from condense_grpc.api.condense.v1 import (
    condense_service_pb2,
    query_pb2,
    session_event_pb2,
    session_pb2,
    session_service_pb2,
    session_transfer_pb2,
    summary_pb2,
    tool_call_pb2,
    transcript_pb2,
    view_pb2,
)
from tests.server.running import delta, failure, running, user

WHOLE_CALLS = {
    "SearchToolCalls": query_pb2.SearchToolCallsRequest(session_id="s", query="x"),
    "ListSummaries": summary_pb2.ListSummariesRequest(session_id="s"),
    "WatchSession": session_event_pb2.WatchSessionRequest(session_id="s"),
    "ExportSession": session_transfer_pb2.ExportSessionRequest(session_id="s"),
    "ImportSession": session_transfer_pb2.ImportSessionRequest(header={"session_id": "new"}),
    "PinToolCalls": tool_call_pb2.PinToolCallsRequest(session_id="s", refs=["t1"]),
}
NATIVE = {
    99: "format 99",
}


@pytest.mark.parametrize("name", WHOLE_CALLS)
async def test_calls_that_are_not_there_yet(name: str) -> None:
    async with running() as server:
        stub = (
            server.condense
            if name in condense_service_pb2.DESCRIPTOR.services_by_name["CondenseService"].methods_by_name
            else server.sessions
        )
        request = WHOLE_CALLS[name]
        streams = session_service_pb2.DESCRIPTOR.services_by_name["SessionService"].methods_by_name.get(name)
        found = await failure(
            getattr(stub, name)(iter([request]) if streams is not None and streams.client_streaming else request)
        )
    assert (found.code, found.reason) == (grpc.StatusCode.UNIMPLEMENTED, "NOT_IMPLEMENTED")
    assert found.metadata == {"feature": name}


@pytest.mark.parametrize("number", NATIVE)
async def test_native_formats_that_are_not_known(number: int) -> None:
    native = transcript_pb2.TranscriptDelta(create_if_missing=True, native={"format": number, "json": b"[]"})
    async with running() as server:
        found = await failure(
            server.condense.PruneMessages(view_pb2.PruneMessagesRequest(session_id="s", delta=native))
        )
        missing = await failure(server.sessions.GetSession(session_pb2.GetSessionRequest(session_id="s")))
    assert (found.reason, found.metadata["feature"]) == ("NOT_IMPLEMENTED", NATIVE[number])
    assert missing.reason == "SESSION_NOT_FOUND"


async def test_a_native_payload_without_format_is_a_mistake() -> None:
    native = transcript_pb2.TranscriptDelta(native={"json": b"[]"})
    async with running() as server:
        found = await failure(
            server.condense.PruneMessages(view_pb2.PruneMessagesRequest(session_id="s", delta=native))
        )
    assert (found.reason, found.metadata["field"]) == ("REQUEST_INVALID", "delta.native.format")


async def test_expressions_views_of_newer_clients_and_checked_forks() -> None:
    slices = [query_pb2.Slice(ref="t1", pattern=query_pb2.PatternMatch(pattern="a.b", regex=True))]
    async with running() as server:
        await server.condense.PruneMessages(view_pb2.PruneMessagesRequest(session_id="s", delta=delta(user("x"))))
        failures = [
            await failure(
                server.condense.QueryToolCall(
                    query_pb2.QueryToolCallRequest(session_id="s", refs=["t1"], slices=slices)
                )
            ),
            await failure(server.condense.PruneMessages(view_pb2.PruneMessagesRequest(session_id="s", view=99))),
            await failure(server.sessions.ForkSession(session_pb2.ForkSessionRequest(session_id="s", base_etag="x"))),
        ]
    assert {one.reason for one in failures} == {"NOT_IMPLEMENTED"}
    assert [one.metadata["feature"] for one in failures] == [
        "regular expressions",
        "view 99",
        "ForkSession with base_etag",
    ]
