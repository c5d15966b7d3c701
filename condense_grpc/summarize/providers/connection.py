"""The HTTP client under all providers: one pool of connections, and a look at the bytes that arrive.

No client of a provider tells of keep-alives, and each has an idea of its own of timeouts. So the transport reports
every piece of an answer to the request that waits for it, and sets the read timeout to that request's idle limit.
"""

from collections.abc import AsyncIterator, Callable
from contextvars import ContextVar
from dataclasses import field

import httpx2

from condense_grpc.domain.frozen import frozen

_CONNECT_TIMEOUT_S = 10.0
# For requests that are not ours to time; there are none.
_UNTAPPED_TIMEOUT_S = 600.0


@frozen
class Tap:
    """Who wants to know about the bytes of an answer, and how long they may stay away (0: for ever).

    `close` lets go of the connections of answers that were not read to the end; some clients forget to.
    """

    arrived: Callable[[], None]
    idle_timeout_ms: int = 0
    open_streams: set[httpx2.AsyncByteStream] = field(default_factory=set)

    async def close(self) -> None:
        """Close what is still open. Idempotent."""
        for stream in list(self.open_streams):
            await stream.aclose()


current_tap: ContextVar[Tap | None] = ContextVar("current_tap", default=None)
"""The tap of the request that the running task makes."""


class _TappedStream(httpx2.AsyncByteStream):
    def __init__(self, stream: httpx2.AsyncByteStream, tap: Tap) -> None:
        self._stream = stream
        self._tap = tap
        tap.open_streams.add(self)

    async def __aiter__(self) -> AsyncIterator[bytes]:
        async for piece in self._stream:
            self._tap.arrived()
            yield piece

    async def aclose(self) -> None:
        self._tap.open_streams.discard(self)
        await self._stream.aclose()


class TappedTransport(httpx2.AsyncBaseTransport):
    """A transport that reports arriving bytes to the tap of the task that sends. Safe to share."""

    def __init__(self, inner: httpx2.AsyncBaseTransport) -> None:
        self._inner = inner

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """Send a request under the limits of its tap."""
        tap = current_tap.get()
        if tap is None:
            return await self._inner.handle_async_request(request)
        idle_s = tap.idle_timeout_ms / 1000 or None
        connect_s = min(_CONNECT_TIMEOUT_S, idle_s or _CONNECT_TIMEOUT_S)
        timeout = {"connect": connect_s, "read": idle_s, "write": idle_s, "pool": None}
        request.extensions = {**request.extensions, "timeout": timeout}
        response = await self._inner.handle_async_request(request)
        tap.arrived()
        if isinstance(response.stream, httpx2.AsyncByteStream):
            response.stream = _TappedStream(response.stream, tap)
        return response

    async def aclose(self) -> None:
        """Close all connections."""
        await self._inner.aclose()


def http_client() -> httpx2.AsyncClient:
    """A client for all requests of one server. Proxies and certificates come from the environment, as usual."""
    client = httpx2.AsyncClient(follow_redirects=True, timeout=_UNTAPPED_TIMEOUT_S)
    _tap_transports(client)
    return client


def _tap_transports(client: httpx2.AsyncClient) -> None:
    """Put the tap on whatever transports the client has made for itself, those of proxies too."""
    client._transport = TappedTransport(client._transport)
    client._mounts = {
        pattern: None if transport is None else TappedTransport(transport)
        for pattern, transport in client._mounts.items()
    }
