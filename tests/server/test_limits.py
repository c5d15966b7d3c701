"""Limits hold in both directions, and what is beyond one is told with both numbers and the way out."""

import grpc
import grpc.aio
import pytest

from condense_grpc.api.condense.v1 import (
    capabilities_pb2,
    message_pb2,
    query_pb2,
    session_pb2,
    transcript_pb2,
    view_pb2,
)
from tests.server.running import call, delta, failure, result, running, user

MIB = 1024 * 1024
SMALL = {
    "max_message_bytes": 4 * MIB,
    "max_delta_bytes": 2 * MIB,
    "max_transcript_message_bytes": MIB,
    "max_stream_bytes": 3 * MIB,
    "max_delta_messages": 10,
}
WIDE = [("grpc.max_receive_message_length", -1), ("grpc.max_send_message_length", -1)]


def prune(*messages: message_pb2.Message, **fields: object) -> view_pb2.PruneMessagesRequest:
    return view_pb2.PruneMessagesRequest(session_id="s", delta=delta(*messages), **fields)


async def test_the_limits_are_published() -> None:
    async with running(flags=SMALL) as server:
        answer = await server.capabilities.GetCapabilities(capabilities_pb2.GetCapabilitiesRequest())
    assert {name: getattr(answer.limits, name) for name in SMALL} == SMALL
    fixed = answer.limits
    assert (fixed.max_session_id_chars, fixed.max_query_refs, fixed.max_block_bytes) == (512, 256, 51_200)


async def test_a_message_that_is_too_large_is_named() -> None:
    async with running(flags=SMALL) as server:
        found = await failure(server.condense.PruneMessages(prune(user("a"), user("b" * (MIB + 1)))))
        missing = await failure(server.sessions.GetSession(session_pb2.GetSessionRequest(session_id="s")))
    assert (found.code, found.reason) == (grpc.StatusCode.INVALID_ARGUMENT, "MESSAGE_TOO_LARGE")
    assert (found.metadata["messageIndex"], found.metadata["maxBytes"]) == ("1", str(MIB))
    assert int(found.metadata["bytes"]) > MIB
    assert missing.reason == "SESSION_NOT_FOUND"


async def test_a_delta_that_is_too_large_is_sent_to_the_stream() -> None:
    parts = [user(letter * (MIB - 100)) for letter in "abc"]
    async with running(flags=SMALL) as server:
        found = await failure(server.condense.PruneMessages(prune(*parts)))
        chunks = [transcript_pb2.AppendMessagesRequest(session_id="s", delta=delta(part)) for part in parts]
        appended = await server.condense.AppendMessages(iter(chunks))
    assert (found.reason, found.metadata["maxBytes"]) == ("DELTA_TOO_LARGE", str(2 * MIB))
    assert "AppendMessages" in found.message
    assert appended.transcript_length == 3


async def test_a_delta_of_too_many_messages_is_refused() -> None:
    async with running(flags=SMALL) as server:
        found = await failure(server.condense.PruneMessages(prune(*[user("x")] * 11)))
        chunks = [transcript_pb2.AppendMessagesRequest(session_id="s", delta=delta(*[user("x")] * 6))] * 2
        streamed = await failure(server.condense.AppendMessages(iter(chunks)))
    assert (found.reason, found.metadata) == ("DELTA_TOO_LARGE", {"messages": "11", "maxMessages": "10"})
    assert (streamed.reason, streamed.metadata["messages"]) == ("DELTA_TOO_LARGE", "12")


async def test_a_stream_that_is_too_long_is_refused_and_nothing_of_it_is_kept() -> None:
    chunk = transcript_pb2.AppendMessagesRequest(session_id="s", delta=delta(user("x" * (MIB - 100))))
    async with running(flags=SMALL) as server:
        found = await failure(server.condense.AppendMessages(iter([chunk] * 5)))
        missing = await failure(server.sessions.GetSession(session_pb2.GetSessionRequest(session_id="s")))
    assert (found.reason, found.metadata["maxBytes"]) == ("DELTA_TOO_LARGE", str(3 * MIB))
    assert missing.reason == "SESSION_NOT_FOUND"


async def test_an_answer_that_is_too_large_says_what_to_ask_for_instead() -> None:
    messages = [user(letter * (MIB - 100)) for letter in "abcde"]
    async with running(flags={**SMALL, "max_stream_bytes": 20 * MIB}, channel_options=WIDE) as server:
        chunks = [transcript_pb2.AppendMessagesRequest(session_id="s", delta=delta(one)) for one in messages]
        await server.condense.AppendMessages(iter(chunks))
        request = view_pb2.PruneMessagesRequest(session_id="s", view=view_pb2.VIEW_FULL)
        found = await failure(server.condense.PruneMessages(request))
        edits = await server.condense.PruneMessages(view_pb2.PruneMessagesRequest(session_id="s"))
    assert (found.code, found.reason) == (grpc.StatusCode.RESOURCE_EXHAUSTED, "QUOTA_EXCEEDED")
    assert found.metadata["limit"] == str(4 * MIB)
    assert "edits" in found.message
    assert edits.transcript_length == 5


@pytest.mark.parametrize("compression", [grpc.Compression.NoCompression, grpc.Compression.Gzip])
async def test_a_request_beyond_the_transport_is_refused_also_when_it_was_packed(compression: grpc.Compression) -> None:
    async with running(flags=SMALL, channel_options=WIDE) as server:
        with pytest.raises(grpc.aio.AioRpcError) as raised:
            await server.condense.PruneMessages(prune(user("x" * 8 * MIB)), compression=compression)
    assert raised.value.code() is grpc.StatusCode.RESOURCE_EXHAUSTED


async def test_a_query_has_a_size() -> None:
    many = query_pb2.QueryToolCallRequest(session_id="s", refs=["t1"] * 257)
    product = query_pb2.QueryToolCallRequest(session_id="s", refs=["t1"] * 20, slices=[query_pb2.Slice(ref="t1")] * 20)
    pattern = query_pb2.PatternMatch(pattern="x" * 10_001)
    long = query_pb2.QueryToolCallRequest(session_id="s", refs=["t1"], slices=[query_pb2.Slice(pattern=pattern)])
    none = query_pb2.QueryToolCallRequest(session_id="s", slices=[query_pb2.Slice(max_chars=0)])
    async with running() as server:
        await server.condense.PruneMessages(prune(user("x")))
        found = [await failure(server.condense.QueryToolCall(one)) for one in (many, product, long, none)]
    assert [(one.reason, one.metadata["field"]) for one in found] == [
        ("REQUEST_INVALID", "refs"),
        ("REQUEST_INVALID", "slices"),
        ("REQUEST_INVALID", "slices[0].pattern.pattern"),
        ("REQUEST_INVALID", "slices[0].max_chars"),
    ]


@pytest.mark.parametrize(
    "labels", [{str(n): "" for n in range(65)}, {"": "x"}, {"x" * 257: ""}, {"x": "y" * 4097}, {"a\0": ""}]
)
async def test_labels_have_limits(labels: dict[str, str]) -> None:
    async with running() as server:
        found = await failure(server.sessions.CreateSession(session_pb2.CreateSessionRequest(labels=labels)))
    assert (found.reason, found.metadata["field"]) == ("REQUEST_INVALID", "labels")


@pytest.mark.parametrize("session_id", ["", "x" * 513, "a\nb", "a\0", "\x7f", "\x85"])
async def test_an_id_that_no_session_can_have(session_id: str) -> None:
    """Where a session may be made it is refused; elsewhere there is no such session."""
    async with running() as server:
        request = view_pb2.PruneMessagesRequest(session_id=session_id, delta=delta(user("x")))
        made = await failure(server.condense.PruneMessages(request))
        read = await failure(server.sessions.GetSession(session_pb2.GetSessionRequest(session_id=session_id)))
        gone = await server.sessions.DeleteSession(
            session_pb2.DeleteSessionRequest(session_id=session_id, allow_missing=True)
        )
    assert (made.reason, made.metadata["maxChars"]) == ("SESSION_ID_INVALID", "512")
    assert made.violations[0][0] == "session_id"
    assert read.reason == "SESSION_NOT_FOUND"
    assert not gone.deleted


@pytest.mark.parametrize(
    "session_id", ["x" * 512, "\U0001f600" * 512, "../../etc/passwd", "é", "e\u0301", "a\u2028b", " "]
)
async def test_any_other_text_is_an_id(session_id: str) -> None:
    async with running() as server:
        request = view_pb2.PruneMessagesRequest(session_id=session_id, delta=delta(user("x")))
        assert (await server.condense.PruneMessages(request)).created
        found = await server.sessions.GetSession(session_pb2.GetSessionRequest(session_id=session_id))
    assert found.session.session_id == session_id


async def test_a_large_history_goes_through_in_one_call_and_comes_back() -> None:
    """Beyond the 4 MiB that gRPC allows by default, in both directions."""
    messages = [user("start")]
    for number in range(150):
        messages += [call(f"c{number}"), result(f"c{number}", f"{number} " * 10_000)]
    async with running() as server:
        request = prune(*messages, view=view_pb2.VIEW_FULL, config={"enabled": False})
        answer = await server.condense.PruneMessages(request)
    assert request.ByteSize() > 4 * MIB
    assert [message.tool_result for message in answer.messages] == [message.tool_result for message in messages]
