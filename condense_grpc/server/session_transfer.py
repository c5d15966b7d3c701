"""Sessions moving in and out, on the wire."""

from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing

from condense_grpc.api.condense.v1 import session_transfer_pb2
from condense_grpc.engine.engine import Engine
from condense_grpc.server.convert.config import ConfigReader
from condense_grpc.server.convert.session_id import known_session_id
from condense_grpc.server.convert.transfer import ImportReader, write_import
from condense_grpc.server.limits import Limits
from condense_grpc.server.wire import Incoming


class SessionTransferServicer:
    """The calls of SessionService that move sessions."""

    def __init__(self, engine: Engine, configs: ConfigReader, limits: Limits) -> None:
        self._engine = engine
        self._configs = configs
        self._limits = limits

    async def ExportSession(
        self, incoming: Incoming[session_transfer_pb2.ExportSessionRequest]
    ) -> AsyncGenerator[session_transfer_pb2.ExportSessionResponse, None]:
        """See the contract."""
        request = await incoming.message()
        async with aclosing(self._engine.export_session(known_session_id(request.session_id))) as chunks:
            async for chunk in chunks:
                yield session_transfer_pb2.ExportSessionResponse(chunk=chunk)

    async def ImportSession(
        self, stream: AsyncIterator[Incoming[session_transfer_pb2.ImportSessionRequest]]
    ) -> session_transfer_pb2.ImportSessionResponse:
        """See the contract."""
        reader = ImportReader(self._configs, self._limits)
        async for incoming in stream:
            await incoming.read(reader.add)
        order = reader.finished()
        result = await self._engine.import_session(
            reader.file,
            order.session_id,
            config=order.config,
            labels=order.labels,
            request_id=order.request_id,
            is_native=order.is_native,
        )
        return write_import(result)
