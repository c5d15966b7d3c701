"""One request and its answer, as a behaviour sees them."""

import asyncio
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from condense_grpc.testing.fake_llm.dialects import Dialect, Stop


@dataclass(frozen=True, slots=True)
class Received:
    """A request as it came in. `number` counts the requests of the server from 1."""

    number: int
    path: str
    headers: Mapping[str, str]
    body: Mapping[str, Any]
    prompt: str
    model: str


class ClientGone(Exception):
    """The client has closed its connection."""


class Exchange:
    """The answer to one request, written piece by piece. Used by one behaviour.

    Everything raises ClientGone once the client is gone; the server takes care of it.
    """

    def __init__(
        self, received: Received, dialect: Dialect, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        self.received = received
        self.dialect = dialect
        self.keeps_connection = True
        self._writer = writer
        self._begun = False
        self._ended = False
        self._watch = asyncio.create_task(_end_of(reader))

    async def begin(self) -> None:
        """Send the head of a stream and what its format opens with."""
        if not self._begun:
            await self._head(200, {"content-type": "text/event-stream", "transfer-encoding": "chunked"})
            await self._send(self.dialect.opening())

    async def text(self, piece: str) -> None:
        """Send a piece of the text."""
        await self.begin()
        await self._send(self.dialect.text(piece))

    async def refuse(self, piece: str) -> None:
        """Send a piece of a refusal."""
        await self.begin()
        await self._send(self.dialect.refusal(piece))

    async def thinking(self, piece: str) -> None:
        """Send a piece of reasoning."""
        await self.begin()
        await self._send(self.dialect.thinking(piece))

    async def ping(self) -> None:
        """Send a keep-alive."""
        await self.begin()
        await self._send(self.dialect.ping())

    async def finish(self, stop: Stop = "stop", *, tokens: tuple[int, int] | None = (100, 20)) -> None:
        """End the answer in the way of its format."""
        await self.begin()
        await self._send(self.dialect.closing(stop, tokens))
        await self.leave_off()

    async def leave_off(self) -> None:
        """End the stream as if it were complete, whatever is missing."""
        await self.begin()
        await self._end(b"0\r\n\r\n")

    async def cut(self) -> None:
        """Tear the connection."""
        self._writer.transport.abort()
        self._ended = True
        self.keeps_connection = False

    async def fail(self, status: int, *, retry_after: str = "") -> None:
        """Answer with an error instead of a stream."""
        data = json.dumps(self.dialect.error(status)).encode()
        headers = {"content-type": "application/json", "content-length": str(len(data))}
        await self._head(status, headers | ({"retry-after": retry_after} if retry_after else {}))
        await self._end(data)

    async def gone(self) -> None:
        """Wait until the client gives up."""
        await asyncio.shield(self._watch)
        raise ClientGone

    async def close(self) -> None:
        """What is left to do when the behaviour is done: an answer that was not ended is cut."""
        if not self._ended:
            await self.cut()
        await self._stop_watching()

    async def _head(self, status: int, headers: Mapping[str, str]) -> None:
        self._begun = True
        lines = [f"HTTP/1.1 {status} Fake", *(f"{name}: {value}" for name, value in headers.items())]
        await self._write(("\r\n".join(lines) + "\r\n\r\n").encode())

    async def _send(self, data: bytes) -> None:
        if data:
            await self._write(f"{len(data):x}\r\n".encode() + data + b"\r\n")

    async def _end(self, data: bytes) -> None:
        """Send the last bytes. A client may send its next request at once: nobody else must read then."""
        if self._watch.done():
            raise ClientGone
        await self._stop_watching()
        self._ended = True
        await self._write(data)

    async def _stop_watching(self) -> None:
        self._watch.cancel()
        await asyncio.gather(self._watch, return_exceptions=True)

    async def _write(self, data: bytes) -> None:
        if (self._watch.done() and not self._ended) or self._writer.is_closing():
            raise ClientGone
        self._writer.write(data)
        try:
            await self._writer.drain()
            # The client may live in the same loop: it gets its turn after every piece.
            await asyncio.sleep(0)
        except ConnectionError:
            raise ClientGone from None


async def _end_of(reader: asyncio.StreamReader) -> None:
    """Returns when the other side has closed; nothing else comes while it waits for an answer."""
    try:
        await reader.read(1)
    except ConnectionError:
        return
