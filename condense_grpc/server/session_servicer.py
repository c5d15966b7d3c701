"""Sessions on the wire: each call is read, given to the engine, and its answer is written."""

from condense_grpc.api.condense.v1 import session_pb2, usage_pb2
from condense_grpc.domain.budget import Usage, usage_fraction
from condense_grpc.engine.engine import Engine
from condense_grpc.engine.requests import SessionInfo
from condense_grpc.errors import RequestInvalid, SessionNotFound
from condense_grpc.server.convert.advice import write_advice
from condense_grpc.server.convert.config import ConfigReader
from condense_grpc.server.convert.session import (
    changes_labels,
    read_filter,
    read_labels,
    read_request_id,
    write_session,
)
from condense_grpc.server.convert.session_id import is_session_id, known_session_id, new_session_id
from condense_grpc.server.convert.usage import read_usage
from condense_grpc.server.limits import Limits, page_size
from condense_grpc.server.page_tokens import make_page_token, read_name
from condense_grpc.server.session_archive import SessionArchiveServicer
from condense_grpc.server.session_transfer import SessionTransferServicer
from condense_grpc.server.wire import Incoming


class SessionServicer(SessionArchiveServicer, SessionTransferServicer):
    """SessionService. Safe for any number of calls at once; errors are left to the interceptor."""

    def __init__(self, engine: Engine, configs: ConfigReader, limits: Limits) -> None:
        SessionArchiveServicer.__init__(self, engine)
        SessionTransferServicer.__init__(self, engine, configs, limits)

    async def CreateSession(
        self, incoming: Incoming[session_pb2.CreateSessionRequest]
    ) -> session_pb2.CreateSessionResponse:
        """See the contract."""
        request = await incoming.message()
        info = await self._engine.create_session(
            new_session_id(request.session_id) if request.session_id else "",
            config=self._configs.new(request.config),
            labels=read_labels(request.labels),
            request_id=read_request_id(request.request_id),
        )
        answer = session_pb2.CreateSessionResponse()
        write_session(info, answer.session)
        return answer

    async def GetSession(self, incoming: Incoming[session_pb2.GetSessionRequest]) -> session_pb2.GetSessionResponse:
        """See the contract."""
        request = await incoming.message()
        info = await self._engine.get_session(known_session_id(request.session_id))
        answer = session_pb2.GetSessionResponse()
        write_session(info, answer.session)
        return answer

    async def ListSessions(
        self, incoming: Incoming[session_pb2.ListSessionsRequest]
    ) -> session_pb2.ListSessionsResponse:
        """See the contract."""
        request = await incoming.message()
        where, size = read_filter(request), page_size(request.page_size)
        after, found = read_name(request, request.page_token), list[SessionInfo]()
        # A page can come back short because sessions are deleted meanwhile; only an empty one is the end.
        while len(found) <= size:
            more = await self._engine.list_sessions(where, after, size + 1 - len(found))
            if not more:
                break
            found += more
            after = more[-1].session_id
        answer = session_pb2.ListSessionsResponse()
        for info in found[:size]:
            write_session(info, answer.sessions.add())
        if len(found) > size:
            answer.next_page_token = make_page_token(request, found[size - 1].session_id)
        return answer

    async def UpdateSession(
        self, incoming: Incoming[session_pb2.UpdateSessionRequest]
    ) -> session_pb2.UpdateSessionResponse:
        """See the contract."""
        request = await incoming.message()
        info = await self._engine.update_session(
            known_session_id(request.session_id),
            config=self._configs.masked(request.config, request.update_mask),
            labels=read_labels(request.labels) if changes_labels(request) else None,
        )
        answer = session_pb2.UpdateSessionResponse()
        write_session(info, answer.session)
        return answer

    async def DeleteSession(
        self, incoming: Incoming[session_pb2.DeleteSessionRequest]
    ) -> session_pb2.DeleteSessionResponse:
        """See the contract."""
        request = await incoming.message()
        session_id = request.session_id
        deleted = is_session_id(session_id) and await self._engine.delete_session(session_id)
        if not deleted and not request.allow_missing:
            raise SessionNotFound(session_id)
        return session_pb2.DeleteSessionResponse(deleted=deleted)

    async def ForkSession(self, incoming: Incoming[session_pb2.ForkSessionRequest]) -> session_pb2.ForkSessionResponse:
        """See the contract."""
        request = await incoming.message()
        source_id = known_session_id(request.session_id)
        if request.base_length < 0:
            raise RequestInvalid("base_length", f"must not be negative, not {request.base_length}")
        info = await self._engine.fork_session(
            source_id,
            new_session_id(request.new_session_id, "new_session_id") if request.new_session_id else "",
            base_length=request.base_length if request.HasField("base_length") else None,
            base_etag=request.base_etag,
            labels=read_labels(request.labels) or None,
            request_id=read_request_id(request.request_id),
        )
        answer = session_pb2.ForkSessionResponse()
        write_session(info, answer.session)
        return answer

    async def RecordUsage(self, incoming: Incoming[usage_pb2.RecordUsageRequest]) -> usage_pb2.RecordUsageResponse:
        """See the contract."""
        request = await incoming.message()
        usage = read_usage(request.usage) if request.HasField("usage") else Usage(None, 0)
        advice = await self._engine.record_usage(known_session_id(request.session_id), usage)
        answer = usage_pb2.RecordUsageResponse(usage_fraction=usage_fraction(usage))
        write_advice(advice, answer.advice)
        return answer
