"""What sessions hold, on the wire: listed, pinned, watched."""

from collections.abc import AsyncGenerator
from contextlib import aclosing
from functools import partial

from condense_grpc.api.condense.v1 import session_event_pb2, summary_pb2, tool_call_pb2
from condense_grpc.engine.engine import Engine
from condense_grpc.engine.listing import CallFilter
from condense_grpc.engine.requests import SummaryFacts
from condense_grpc.server.convert.enums import CALL_STATE, SUMMARY_KIND
from condense_grpc.server.convert.pins import read_lifetime, read_refs, write_pins
from condense_grpc.server.convert.session_event import write_session_event
from condense_grpc.server.convert.session_id import known_session_id
from condense_grpc.server.convert.summary import write_summary
from condense_grpc.server.convert.tool_call import write_page
from condense_grpc.server.limits import page_size
from condense_grpc.server.page_tokens import make_page_token, read_position
from condense_grpc.server.paging import Listing
from condense_grpc.server.wire import LISTENING, Incoming, Listening


class SessionArchiveServicer:
    """The calls of SessionService about what a session holds."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    async def ListToolCalls(
        self, incoming: Incoming[tool_call_pb2.ListToolCallsRequest]
    ) -> tool_call_pb2.ListToolCallsResponse:
        """See the contract."""
        request = await incoming.message()
        states = {state for one in request.states if (state := CALL_STATE.read(one)) is not None}
        if request.states and not states:
            return tool_call_pb2.ListToolCallsResponse()
        page = await self._engine.find_calls(
            known_session_id(request.session_id),
            CallFilter(states, request.summary_id),
            read_position(request, request.page_token),
            page_size(request.page_size),
        )
        token = "" if page.next_position is None else make_page_token(request, page.next_position)
        return write_page(page, token)

    async def ListSummaries(
        self, incoming: Incoming[summary_pb2.ListSummariesRequest]
    ) -> summary_pb2.ListSummariesResponse:
        """See the contract."""
        request = await incoming.message()
        kinds = {SUMMARY_KIND.read(kind) for kind in request.kinds}
        listing: Listing[SummaryFacts] = Listing(
            fetch=partial(self._engine.list_summaries, known_session_id(request.session_id)),
            position_behind=lambda start, index, _: start + index + 1,
            keeps=lambda facts: not kinds or facts.kind in kinds,
        )
        page = await listing.page(read_position(request, request.page_token), page_size(request.page_size))
        answer = summary_pb2.ListSummariesResponse()
        for facts in page.items:
            write_summary(facts, answer.summaries.add())
        if page.next_position is not None:
            answer.next_page_token = make_page_token(request, page.next_position)
        return answer

    async def PinToolCalls(
        self, incoming: Incoming[tool_call_pb2.PinToolCallsRequest]
    ) -> tool_call_pb2.PinToolCallsResponse:
        """See the contract."""
        request = await incoming.message()
        ttl_ms = None if request.unpin else read_lifetime(request)
        session_id, refs = known_session_id(request.session_id), read_refs(request)
        return write_pins(await self._engine.pin_calls(session_id, refs, ttl_ms=ttl_ms, unpin=request.unpin))

    async def WatchSession(
        self, incoming: Incoming[session_event_pb2.WatchSessionRequest]
    ) -> AsyncGenerator[session_event_pb2.WatchSessionResponse | Listening, None]:
        """See the contract. The client's stream is open as soon as nothing can be missed any more."""
        request = await incoming.message()
        watch = await self._engine.watch_session(known_session_id(request.session_id), request.cursor)
        async with aclosing(watch):
            yield LISTENING
            async for event in watch:
                answer = session_event_pb2.WatchSessionResponse()
                write_session_event(event, answer.event)
                yield answer
