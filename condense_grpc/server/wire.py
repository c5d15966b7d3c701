"""Between gRPC and the servicers: bytes in, bytes out.

Requests arrive as bytes and are read where the servicer says so, large ones in a thread. So a request that cannot be
read is an error like any other, and no large one holds up the event loop. Answers leave as bytes, after their size
was checked: what is beyond the limit would fail at the client without a reason.

Every method becomes a coroutine. One that streams writes its answers itself, so that its cancellation arrives in it
and closes, at once and in order, whatever the answers come from.
"""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import aclosing, suppress
from functools import partial
from typing import Any, Generic, TypeVar

import grpc
import grpc.aio
from google.protobuf.descriptor import MethodDescriptor, ServiceDescriptor
from google.protobuf.message import DecodeError
from google.protobuf.message import Message as ProtoMessage
from google.protobuf.message_factory import GetMessageClass

from condense_grpc.domain.frozen import frozen
from condense_grpc.errors import CondenseError, QuotaExceeded, RequestInvalid
from condense_grpc.server.workers import LARGE_BYTES, Workers

M = TypeVar("M", bound=ProtoMessage)
T = TypeVar("T")

_READ_ON_BYTES = 64 * 1024 * 1024
_READ_ON_SECONDS = 2.0


class Incoming(Generic[M]):
    """One request as it came."""

    def __init__(self, kind: type[M], data: bytes, workers: Workers) -> None:
        self._kind = kind
        self._data = data
        self._workers = workers

    @property
    def is_large(self) -> bool:
        """Whether others would notice that it is read."""
        return len(self._data) >= LARGE_BYTES

    def read_here(self, convert: Callable[[M, int], T]) -> T:
        """What `convert` makes of a request that is not large, and of its size in bytes."""
        return convert(self._parsed(), len(self._data))

    async def message(self) -> M:
        """The request. Raises RequestInvalid when the bytes are none."""
        return self._parsed() if not self.is_large else await self._workers.run(self._parsed)

    async def read(self, convert: Callable[[M, int], T], shortcut: Callable[[bytes], T | None] | None = None) -> T:
        """What `convert` makes of the request and of its size in bytes.

        `shortcut` makes the same of the bytes of a large request, or says by None that it cannot. Both may run in a
        thread: they must touch nothing that others use meanwhile.
        """
        if not self.is_large:
            return self.read_here(convert)
        data = self._data

        def converted() -> T:
            found = None if shortcut is None else shortcut(data)
            return convert(self._parsed(), len(data)) if found is None else found

        return await self._workers.run(converted)

    def _parsed(self) -> M:
        try:
            return self._kind.FromString(self._data)
        except DecodeError:
            raise RequestInvalid(
                self._kind.DESCRIPTOR.name, "cannot be read: the bytes are not this message, or a text is not UTF-8"
            ) from None


@frozen
class Outgoing:
    """An answer that is still to be written, as a message or its bytes.

    Others must not notice that `write` runs: it does so in a thread if the answer is large.
    """

    write: Callable[[], ProtoMessage | bytes]
    is_large: bool


class Listening:
    """The word of a stream that nothing can be missed from here on, long before its first answer perhaps."""


LISTENING = Listening()


class Wire:
    """Makes handlers of servicers. `max_message_bytes` is what one answer may have."""

    def __init__(self, workers: Workers, max_message_bytes: int) -> None:
        self._workers = workers
        self._max_message_bytes = max_message_bytes

    def handler(self, service: ServiceDescriptor, servicer: object) -> grpc.GenericRpcHandler:
        """All methods of a service; the servicer has one of the same name for each."""
        methods = {method.name: self._method(method, getattr(servicer, method.name)) for method in service.methods}
        return grpc.method_handlers_generic_handler(service.full_name, methods)

    def _method(self, method: MethodDescriptor, behaviour: Any) -> Any:
        incoming = partial(Incoming, GetMessageClass(method.input_type), workers=self._workers)
        if method.server_streaming:
            return grpc.unary_stream_rpc_method_handler(self._streaming(behaviour, incoming))
        if method.client_streaming:
            return grpc.stream_unary_rpc_method_handler(self._collecting(behaviour, incoming))
        return grpc.unary_unary_rpc_method_handler(self._unary(behaviour, incoming))

    def _unary(self, behaviour: Any, incoming: Callable[..., Incoming[Any]]) -> Any:
        async def call(data: bytes, context: Any) -> bytes:
            answer = await behaviour(incoming(data=data))
            if isinstance(answer, Outgoing) and not answer.is_large:
                return self._written(answer.write())
            return await self._sent(answer)

        return call

    def _collecting(self, behaviour: Any, incoming: Callable[..., Incoming[Any]]) -> Any:
        async def call(chunks: AsyncIterator[bytes], context: Any) -> bytes:
            async def requests() -> AsyncGenerator[Incoming[Any], None]:
                async for data in chunks:
                    yield incoming(data=data)

            try:
                async with aclosing(requests()) as source:
                    answer = await behaviour(source)
            except CondenseError:
                await _read_on(chunks)
                raise
            return await self._sent(answer)

        return call

    def _streaming(self, behaviour: Any, incoming: Callable[..., Incoming[Any]]) -> Any:
        async def call(data: bytes, context: Any) -> None:
            async with aclosing(behaviour(incoming(data=data))) as answers:
                async for answer in answers:
                    try:
                        if answer is LISTENING:
                            await context.send_initial_metadata(())
                        else:
                            await context.write(self._written(answer))
                    except grpc.aio.InternalError:
                        return  # The connection is gone and nobody reads on.

        return call

    async def _sent(self, answer: ProtoMessage | Outgoing) -> bytes:
        if isinstance(answer, Outgoing):
            write = answer.write
            if answer.is_large:
                return await self._workers.run(lambda: self._written(write()))
            return self._written(write())
        return self._written(answer)

    def _written(self, answer: ProtoMessage | bytes) -> bytes:
        data = answer if isinstance(answer, bytes) else answer.SerializeToString()
        if len(data) > self._max_message_bytes:
            way_out = "ask for less (edits instead of the full view, slices, a smaller page), or raise the limit"
            raise QuotaExceeded("bytes of the answer", len(data), self._max_message_bytes, way_out)
        return data


async def _read_on(chunks: AsyncIterator[bytes]) -> None:
    """Take in, for a moment, what a client is still sending after its stream was refused.

    A client whose sending is cut off may report that instead of the status (Python's asyncio client does).
    """
    left = _READ_ON_BYTES
    with suppress(TimeoutError):
        async with asyncio.timeout(_READ_ON_SECONDS):
            async for data in chunks:
                left -= len(data)
                if left < 0:
                    return
