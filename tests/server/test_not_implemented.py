"""What this release does not have is said by name, and is not an error of another kind."""

import pytest

from condense_grpc.api.condense.v1 import session_pb2, transcript_pb2, view_pb2
from tests.server.running import delta, failure, running, user

NATIVE = {
    99: "format 99",
}


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


async def test_views_of_newer_clients() -> None:
    async with running() as server:
        await server.condense.PruneMessages(view_pb2.PruneMessagesRequest(session_id="s", delta=delta(user("x"))))
        found = await failure(server.condense.PruneMessages(view_pb2.PruneMessagesRequest(session_id="s", view=99)))
    assert (found.reason, found.metadata["feature"]) == ("NOT_IMPLEMENTED", "view 99")
