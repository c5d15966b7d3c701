"""The server: HTTP/1.1 with kept connections, on loopback, in the running event loop."""

import asyncio
import contextlib
import json
from types import TracebackType
from typing import Self

from condense_grpc.testing.fake_llm.behaviours import Behaviour
from condense_grpc.testing.fake_llm.dialects import dialect_for
from condense_grpc.testing.fake_llm.exchange import ClientGone, Exchange, Received

# Where each provider's client expects the API below its base URL.
_PREFIX = {"anthropic": "", "google": ""}


class FakeLlm:
    """A fake provider. `received` are the requests so far; `behaviour` can be changed at any time.

    An async context manager; leaving it cuts whatever is still being answered.
    """

    def __init__(self, behaviour: Behaviour, *, host: str = "127.0.0.1", port: int = 0) -> None:
        self.behaviour = behaviour
        self.received: list[Received] = []
        self.abandoned = 0
        self._address = (host, port)
        self._server: asyncio.Server | None = None
        self._connections: set[asyncio.Task[None]] = set()

    async def __aenter__(self) -> Self:
        host, port = self._address
        self._server = await asyncio.start_server(self._connected, host, port)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._server is not None:
            self._server.close()
        for task in self._connections:
            task.cancel()
        await asyncio.gather(*self._connections, return_exceptions=True)

    @property
    def port(self) -> int:
        """Where it listens."""
        assert self._server is not None
        port: int = self._server.sockets[0].getsockname()[1]
        return port

    def base_url(self, provider: str = "openai-chat") -> str:
        """What the client of a provider takes as its base URL."""
        return f"http://{self._address[0]}:{self.port}{_PREFIX.get(provider, '/v1')}"

    async def serve_forever(self) -> None:
        """Wait until it is cancelled."""
        assert self._server is not None
        await self._server.serve_forever()

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._connections.add(task)
        try:
            while await self._answer(reader, writer):
                pass
        except (ConnectionError, asyncio.IncompleteReadError, ValueError):
            pass
        except asyncio.CancelledError:
            writer.transport.abort()
        finally:
            self._connections.discard(task)
            writer.close()

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        """Answer one request; whether another one can follow on this connection."""
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
        request_line, *lines = head.strip().split("\r\n")
        pairs = (line.partition(":") for line in lines)
        headers = {name.strip().lower(): value.strip() for name, _, value in pairs}
        body = json.loads(await reader.readexactly(int(headers.get("content-length", "0"))) or b"{}")
        words = request_line.split()
        if len(words) < 3:
            raise ValueError("not HTTP")
        path = words[1]
        kind = dialect_for(path)
        if kind is None:
            writer.write(b"HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n")
            await writer.drain()
            return True
        prompt = kind.prompt_of(body)
        model = str(body.get("model") or path.rpartition("/")[2].partition(":")[0])
        received = Received(len(self.received) + 1, path, headers, body, prompt, model)
        self.received.append(received)
        exchange = Exchange(received, kind(model, max(len(prompt) // 4, 1)), reader, writer)
        try:
            with contextlib.suppress(ClientGone):
                await self.behaviour(exchange)
                await exchange.close()
                return exchange.keeps_connection
            self.abandoned += 1
            return False
        finally:
            await exchange.close()
