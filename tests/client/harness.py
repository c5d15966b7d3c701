"""One face for both clients, so that every scenario runs against both: the async one is driven to its results."""

import asyncio
from collections.abc import Iterator
from typing import Any

from condense_grpc.client import AsyncCondenseClient, ClientOptions, CondenseClient, RetryPolicy

QUICK = RetryPolicy(first_delay_seconds=0.0)


class AsyncStream:
    """A stream of the async client, read from outside of its loop."""

    def __init__(self, runner: asyncio.Runner, stream: Any) -> None:
        self._runner = runner
        self._stream = stream

    def __iter__(self) -> Iterator[Any]:
        return self

    def __next__(self) -> Any:
        async def step() -> Any:
            return await anext(self._stream, None)

        value = self._runner.run(step())
        if value is None:
            raise StopIteration
        return value

    @property
    def completed(self) -> Any:
        return self._stream.completed

    def wait(self) -> Any:
        return self._runner.run(self._stream.wait())

    def close(self) -> None:
        self._runner.run(self._stream.aclose())


class AsyncFace:
    """The async session or client with blocking methods."""

    def __init__(self, runner: asyncio.Runner, inner: Any) -> None:
        self._runner = runner
        self._inner = inner

    def session(self, *arguments: Any, **named: Any) -> "AsyncFace":
        return AsyncFace(self._runner, self._inner.session(*arguments, **named))

    def flush(self, *arguments: Any, **named: Any) -> AsyncStream:
        return AsyncStream(self._runner, self._inner.flush(*arguments, **named))

    def compact(self, *arguments: Any, **named: Any) -> AsyncStream:
        return AsyncStream(self._runner, self._inner.compact(*arguments, **named))

    def read(self, ref: str) -> AsyncStream:
        return AsyncStream(self._runner, self._inner.read(ref))

    def __getattr__(self, name: str) -> Any:
        method = getattr(self._inner, name)
        return lambda *arguments, **named: self._runner.run(method(*arguments, **named))


def connect(kind: str, target: str, **named: Any) -> Iterator[Any]:
    """A connected client of the kind `sync` or `async`, closed at the end."""
    named.setdefault("options", ClientOptions(retry=QUICK, unary_delta_bytes=20_000, chunk_bytes=5_000))
    if kind == "sync":
        with CondenseClient(target, **named) as client:
            yield client
        return
    with asyncio.Runner() as runner:

        async def make() -> AsyncCondenseClient:
            return AsyncCondenseClient(target, **named)

        face = AsyncFace(runner, runner.run(make()))
        try:
            yield face
        finally:
            face.close()
