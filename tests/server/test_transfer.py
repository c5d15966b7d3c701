"""Sessions in and out as Pi session files, over the wire."""

import json
from collections.abc import Iterable
from typing import Any

import grpc
import pytest

from condense_grpc.api.condense.v1 import (
    flush_event_pb2,
    query_pb2,
    session_pb2,
    session_transfer_pb2,
    transcript_pb2,
    view_pb2,
)
from condense_grpc.domain.json_text import compact
from tests.engine.pi_files import PiWriter, record, ref
from tests.server.running import Running, answer, delta, failure, running, user, worked

IMPORT, HEADER = session_transfer_pb2.ImportSessionRequest, session_transfer_pb2.ImportHeader
LONG = "word " * 60


def pieces(
    data: bytes, files: dict[str, bytes] | None = None, size: int = 777, **header: Any
) -> Iterable[session_transfer_pb2.ImportSessionRequest]:
    yield IMPORT(header=HEADER(**header))
    for path, content in (files or {}).items():
        half = len(content) // 2
        for part in (content[:half], content[half:]):
            yield IMPORT(spill_file=session_transfer_pb2.SpillFile(path=path, content=part))
    for start in range(0, len(data), size):
        yield IMPORT(chunk=data[start : start + size])


async def imported(server: Running, data: bytes, **more: Any) -> session_transfer_pb2.ImportSessionResponse:
    return await server.sessions.ImportSession(pieces(data, **more))


async def exported(server: Running, session_id: str) -> bytes:
    request = session_transfer_pb2.ExportSessionRequest(session_id=session_id)
    return b"".join([one.chunk async for one in server.sessions.ExportSession(request)])


async def query(server: Running, session_id: str, *refs: str) -> str:
    request = query_pb2.QueryToolCallRequest(session_id=session_id, refs=refs)
    return (await server.condense.QueryToolCall(request)).text


def pi_session() -> PiWriter:
    """A session with a summarized turn, a large result in a file, entries of others, and a line that is damaged."""
    pi = PiWriter("pi-7")
    pi.add("model_change", provider="p", modelId="m")
    pi.user()
    pi.call("a", "b")
    time, large = pi.result("a", LONG), pi.result("b", "cut by the host")
    pi.answer()
    spilled = record("b", large, "", spilled=True, spillBytes=9, spillPath="/spills/b.txt", resultPreview="head")
    pi.custom("context-prune-index", {"toolCalls": [spilled], "refs": [ref("t1", "b", large)]})
    pi.custom("context-prune-index", {"toolCalls": [record("a", time, LONG)]})
    pi.summary("- `t2` done", [ref("t2", "a", time)])
    pi.raw("{damaged")
    pi.custom("other-extension", {"x": 1.0})
    return pi


async def test_a_pi_session_moves_in_goes_on_and_moves_out() -> None:
    """With everything decided, its files, and its own lines byte for byte."""
    pi = pi_session()
    kept = b"".join(line.encode() + b"\n" for line in pi.lines if line != "{damaged")
    files = {"/spills/b.txt": "the whole résult".encode()}
    async with running() as server:
        answered = await imported(server, pi.data, files=files)
        stubs = await server.condense.PruneMessages(view_pb2.PruneMessagesRequest(session_id="pi-7"))
        texts = [await query(server, "pi-7", name) for name in ("t1", "t2")]
        unchanged = await exported(server, "pi-7")
        more = delta(*worked(), answer("done"), base=answered.session.transcript_length)
        more.base_etag = answered.session.transcript_etag
        flush = flush_event_pb2.FlushBatchesRequest(session_id="pi-7", delta=more, attach=True)
        completed = [one.event async for one in server.condense.FlushBatches(flush)][-1].completed
        grown = await exported(server, "pi-7")
        elsewhere = await imported(server, grown, files=files, session_id="elsewhere")
        again = [await query(server, "elsewhere", name) for name in ("t1", "t2", "t3")]
        original = await query(server, "pi-7", "t3")
    assert (answered.session.session_id, answered.session.transcript_length) == ("pi-7", 5)
    counts = answered.message_count, answered.entry_count, answered.ignored_line_count
    assert counts == (5, 3, 3)
    assert stubs.pruned and stubs.applied.summarized_results == 1 and stubs.applied.spilled_results == 1
    assert "the whole résult" in texts[0] and LONG in texts[1]
    assert unchanged == kept
    assert completed.counts.summarized_batches == 1
    assert grown.startswith(kept) and len(grown) > len(kept)
    assert again == [*texts, original]
    assert elsewhere.message_count == 9


async def test_without_its_file_a_large_result_is_its_preview() -> None:
    async with running() as server:
        await imported(server, pi_session().data)
        text = await query(server, "pi-7", "t1")
    assert text.endswith("\n\nhead")


async def test_a_host_in_its_own_shape_goes_on_in_it() -> None:
    """Its whole history is known again, and answered in that shape."""
    pi = pi_session()
    told = [json.loads(line)["message"] for line in pi.lines if '"type":"message"' in line]
    history = transcript_pb2.NativeMessages(format=transcript_pb2.MESSAGE_FORMAT_PI, json=compact(told).encode())
    sent = transcript_pb2.TranscriptDelta(native=history)
    async with running() as server:
        answered = await imported(server, pi.data, format=transcript_pb2.MESSAGE_FORMAT_PI)
        request = view_pb2.PruneMessagesRequest(session_id="pi-7", delta=sent, view=view_pb2.VIEW_FULL)
        view = await server.condense.PruneMessages(request)
        typed = await imported(server, pi.data, session_id="typed")
        other = await failure(server.sessions.ImportSession(pieces(pi.data, session_id="x", format=3)))
    assert answered.session.format == transcript_pb2.MESSAGE_FORMAT_PI
    assert typed.session.format == transcript_pb2.MESSAGE_FORMAT_UNSPECIFIED
    assert view.transcript_etag == answered.session.transcript_etag
    assert (view.applied.summarized_results, view.applied.spilled_results) == (1, 1)
    assert len(json.loads(view.native_json)) == 6
    assert (other.reason, other.metadata["field"]) == ("REQUEST_INVALID", "header.format")


async def test_an_import_is_repeated_like_a_creation() -> None:
    data = pi_session().data
    async with running() as server:
        first = await imported(server, data, request_id="r", labels={"a": "1"}, config={"min_batch_chars": 7})
        again = await imported(server, data, request_id="r", labels={"a": "1"}, config={"min_batch_chars": 7})
        taken = await failure(server.sessions.ImportSession(pieces(data)))
    assert first == again
    assert (dict(first.session.labels), first.session.config.min_batch_chars) == ({"a": "1"}, 7)
    assert (taken.code, taken.reason) == (grpc.StatusCode.ALREADY_EXISTS, "SESSION_ALREADY_EXISTS")


@pytest.mark.parametrize(
    ("requests", "reason", "field"),
    [
        ([], "REQUEST_INVALID", "header"),
        ([IMPORT(chunk=b"x")], "REQUEST_INVALID", "header"),
        ([IMPORT()], "REQUEST_INVALID", "header"),
        ([IMPORT(header=HEADER()), IMPORT(header=HEADER())], "REQUEST_INVALID", "header"),
        ([IMPORT(header=HEADER(session_id="a\n"))], "SESSION_ID_INVALID", "header.session_id"),
        ([IMPORT(header=HEADER()), IMPORT(chunk=b'{"type":"session","id":"a\\n"}')], "SESSION_ID_INVALID", ""),
        ([IMPORT(header=HEADER(config={"min_batch_chars": -1}))], "CONFIG_INVALID", "config.min_batch_chars"),
        ([IMPORT(header=HEADER(session_id="s"))], "NATIVE_JSON_INVALID", "chunk"),
        ([IMPORT(header=HEADER(session_id="s")), IMPORT(chunk=b"nonsense\n")], "NATIVE_JSON_INVALID", "chunk"),
    ],
)
async def test_streams_that_cannot_be_used(requests: list[Any], reason: str, field: str) -> None:
    """Nothing is made of them."""
    async with running() as server:
        found = await failure(server.sessions.ImportSession(iter(requests)))
        sessions = (await server.sessions.ListSessions(session_pb2.ListSessionsRequest())).sessions
    assert (found.code, found.reason) == (grpc.StatusCode.INVALID_ARGUMENT, reason)
    if field:
        assert found.metadata["field"].endswith(field)
    assert not sessions


async def test_a_stream_has_its_limit() -> None:
    data = pi_session().data
    async with running(flags={"max_stream_bytes": 1024}) as server:
        found = await failure(server.sessions.ImportSession(pieces(data)))
    assert (found.code, found.reason) == (grpc.StatusCode.INVALID_ARGUMENT, "DELTA_TOO_LARGE")


async def test_a_client_that_goes_away_has_made_nothing() -> None:
    """The session is made when the client has closed its side, and not before."""

    async with running() as server:
        call = server.sessions.ImportSession()
        for piece in pieces(pi_session().data):
            await call.write(piece)
        call.cancel()
        assert await call.code() == grpc.StatusCode.CANCELLED
        missing = await failure(server.sessions.GetSession(session_pb2.GetSessionRequest(session_id="pi-7")))
    assert missing.reason == "SESSION_NOT_FOUND"


async def test_exports_come_in_chunks() -> None:
    """Of at most a mebibyte; together they are the file."""
    async with running() as server:
        messages = [user("x" * 700_000) for _ in range(3)]
        await server.condense.PruneMessages(view_pb2.PruneMessagesRequest(session_id="s", delta=delta(*messages)))
        request = session_transfer_pb2.ExportSessionRequest(session_id="s")
        chunks = [one.chunk async for one in server.sessions.ExportSession(request)]
        again = await imported(server, b"".join(chunks), session_id="t", size=1 << 20)
        missing = await failure(
            server.sessions.ExportSession(session_transfer_pb2.ExportSessionRequest(session_id="nobody"))
        )
    assert [len(chunk) for chunk in chunks[:-1]] == [1 << 20] * 2
    assert again.message_count == 3
    assert missing.reason == "SESSION_NOT_FOUND"
