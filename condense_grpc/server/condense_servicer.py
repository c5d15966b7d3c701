"""The hot path on the wire: each call is read, given to the engine, and its answer is written."""

from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing
from functools import partial
from typing import Any

from condense_grpc.api.condense.v1 import diagnostics_pb2, flush_event_pb2, query_pb2, transcript_pb2, view_pb2
from condense_grpc.domain.text import utf8
from condense_grpc.engine.engine import Engine
from condense_grpc.engine.ports import StoredDiagnostic
from condense_grpc.engine.requests import NativeAnswer, PruneResult
from condense_grpc.errors import RequestInvalid
from condense_grpc.server.convert.delta import ChunkedDelta, DeltaReader
from condense_grpc.server.convert.diagnostics import kind_of, write_report
from condense_grpc.server.convert.flush_event import FlushReader, write_answers
from condense_grpc.server.convert.query import read_slices, write_answer, write_chunk
from condense_grpc.server.convert.search import read_search, write_hit
from condense_grpc.server.convert.session_id import known_session_id
from condense_grpc.server.convert.view import PruneReader, append_request, write_append, write_prune
from condense_grpc.server.limits import page_size
from condense_grpc.server.originals import chunks
from condense_grpc.server.page_tokens import make_page_token, read_position
from condense_grpc.server.paging import Listing
from condense_grpc.server.wire import Incoming, Outgoing
from condense_grpc.server.workers import LARGE_BYTES, LARGE_COUNT


class CondenseServicer:
    """CondenseService. Safe for any number of calls at once; errors are left to the interceptor."""

    def __init__(self, engine: Engine, deltas: DeltaReader) -> None:
        self._engine = engine
        self._deltas = deltas
        self._prunes = PruneReader(deltas)
        self._flushes = FlushReader(deltas)

    async def PruneMessages(self, incoming: Incoming[view_pb2.PruneMessagesRequest]) -> Outgoing:
        """See the contract."""
        if incoming.is_large:
            prune = await incoming.read(self._prunes.read, self._prunes.read_cut)
        else:
            prune = incoming.read_here(self._prunes.read)
        result = await self._engine.prune(prune.request)
        return Outgoing(partial(write_prune, result, prune.sent), is_large=_is_large(result))

    async def FlushBatches(
        self, incoming: Incoming[flush_event_pb2.FlushBatchesRequest]
    ) -> AsyncGenerator[flush_event_pb2.FlushBatchesResponse, None]:
        """See the contract."""
        call = await incoming.read(self._flushes.read, self._flushes.read_cut)
        async with aclosing(self._engine.flush(call.request)) as steps:
            async for events in steps:
                for answer in write_answers(events, flush_event_pb2.FlushBatchesResponse, joint=call.joint_events):
                    yield answer

    async def CompactChains(
        self, incoming: Incoming[flush_event_pb2.CompactChainsRequest]
    ) -> AsyncGenerator[flush_event_pb2.CompactChainsResponse, None]:
        """See the contract."""
        request = await incoming.message()
        session_id = known_session_id(request.session_id)
        async with aclosing(self._engine.compact(session_id, attach=request.attach)) as steps:
            async for events in steps:
                for answer in write_answers(events, flush_event_pb2.CompactChainsResponse, joint=request.joint_events):
                    yield answer

    async def AppendMessages(
        self, stream: AsyncIterator[Incoming[transcript_pb2.AppendMessagesRequest]]
    ) -> transcript_pb2.AppendMessagesResponse:
        """See the contract."""
        collected = ChunkedDelta(self._deltas)
        async for incoming in stream:
            await incoming.read(collected.add)
        change = collected.finished()
        return write_append(await self._engine.prune(append_request(collected.session_id, change)))

    async def QueryToolCall(self, incoming: Incoming[query_pb2.QueryToolCallRequest]) -> Outgoing:
        """See the contract."""
        request = await incoming.message()
        session_id = known_session_id(request.session_id)
        refs = list(request.refs)
        answer = await self._engine.query(session_id, refs, read_slices(request))
        named = dict.fromkeys(block.request for block in answer.blocks if block.record is not None)
        facts = {one.record.key: one for name in named for one in await self._engine.call_facts(session_id, name)}
        is_large = sum(len(block.text) for block in answer.blocks) > LARGE_BYTES
        return Outgoing(partial(write_answer, refs, answer, facts), is_large)

    async def ReadToolResult(
        self, incoming: Incoming[query_pb2.ReadToolResultRequest]
    ) -> AsyncGenerator[query_pb2.ReadToolResultResponse, None]:
        """See the contract."""
        request = await incoming.message()
        session_id = known_session_id(request.session_id)
        limit = request.limit_bytes if request.HasField("limit_bytes") else None
        for field, value in (("offset_bytes", request.offset_bytes), ("limit_bytes", limit or 0)):
            if value < 0:
                raise RequestInvalid(field, f"must not be negative, not {value}")
        found = await self._engine.call_facts(session_id, request.ref)
        if len(found) != 1:
            yield query_pb2.ReadToolResultResponse()
            return
        data = utf8(await self._engine.read_text(session_id, found[0].record))
        first: Any = found[0]
        for offset, piece in chunks(data, request.offset_bytes, limit):
            yield write_chunk(piece, offset, len(data), first)
            first = None

    async def SearchToolCalls(
        self, incoming: Incoming[query_pb2.SearchToolCallsRequest]
    ) -> AsyncGenerator[query_pb2.SearchToolCallsResponse, None]:
        """See the contract."""
        request = await incoming.message()
        for hit in await self._engine.search_calls(known_session_id(request.session_id), read_search(request)):
            yield write_hit(hit)

    async def GetDiagnostics(
        self, incoming: Incoming[diagnostics_pb2.GetDiagnosticsRequest]
    ) -> diagnostics_pb2.GetDiagnosticsResponse:
        """See the contract."""
        request = await incoming.message()
        session_id = known_session_id(request.session_id)
        start = read_position(request, request.page_token)
        kinds = set(request.kinds)
        listing: Listing[StoredDiagnostic] = Listing(
            fetch=partial(self._engine.diagnostic_entries, session_id),
            position_behind=lambda _start, _index, entry: entry.number,
            keeps=lambda entry: not kinds or kind_of(entry.kind) in kinds,
        )
        page = await listing.page(start, page_size(request.page_size))
        token = "" if page.next_position is None else make_page_token(request, page.next_position)
        report = await self._engine.diagnostics(session_id)
        revision = (await self._engine.get_session(session_id)).revision
        return write_report(report, revision, page.items, token)


def _is_large(result: PruneResult) -> bool:
    """Whether others would notice that the answer is written: for its pieces, or few that are long."""
    if result.native is None and result.messages is None and not len(result.edits):
        return False
    native = result.native or NativeAnswer()
    count = len(result.messages or ()) + len(result.edits) + len(native.edits)
    chars = len(native.json) if result.messages is None else result.reclaim.after_chars
    return count > LARGE_COUNT or chars > LARGE_BYTES
