"""The asyncio client."""

from collections.abc import AsyncGenerator, AsyncIterator, Mapping, Sequence
from typing import Any, Generic, TypeVar, overload

import grpc
import grpc.aio

from condense_grpc.api.condense.v1.capabilities_pb2 import GetCapabilitiesRequest, GetCapabilitiesResponse
from condense_grpc.api.condense.v1.config_pb2 import SessionConfig
from condense_grpc.api.condense.v1.diagnostics_pb2 import GetDiagnosticsResponse
from condense_grpc.api.condense.v1.flush_event_pb2 import FlushCompleted, FlushEvent
from condense_grpc.api.condense.v1.flush_pb2 import FLUSH_TRIGGER_MANUAL, FlushTrigger
from condense_grpc.api.condense.v1.message_pb2 import Message
from condense_grpc.api.condense.v1.query_pb2 import Slice
from condense_grpc.api.condense.v1.usage_pb2 import ContextUsage
from condense_grpc.client.adapters import PROTOBUF, MessageAdapter
from condense_grpc.client.async_driver import AsyncDriver
from condense_grpc.client.errors import CondenseError
from condense_grpc.client.options import ClientOptions, call_metadata, checked_token
from condense_grpc.client.retry import with_retries
from condense_grpc.client.session_core import FlushOptions, PruneOptions, SessionCore
from condense_grpc.client.steps import Send, once
from condense_grpc.client.view import Answer, View

T = TypeVar("T")


class AsyncCondenseClient:
    """A connection to a server. Owns its channel and belongs to one event loop. Closed by `close` or `async with`."""

    def __init__(
        self,
        target: str,
        *,
        credentials: grpc.ChannelCredentials | None = None,
        token: str | None = None,
        options: ClientOptions | None = None,
    ) -> None:
        """Connects, lazily, to `host:port`. Without `credentials` in plain text; `token` is sent as a bearer."""
        self.options = options or ClientOptions()
        arguments = self.options.channel_arguments()
        if credentials is None:
            self._use(grpc.aio.insecure_channel(target, arguments), token)
        else:
            self._use(grpc.aio.secure_channel(target, credentials, arguments), token)

    @classmethod
    def over(
        cls, channel: grpc.aio.Channel, *, token: str | None = None, options: ClientOptions | None = None
    ) -> "AsyncCondenseClient":
        """A client over a channel that is there already. `close` closes it."""
        client = cls.__new__(cls)
        client.options = options or ClientOptions()
        client._use(channel, token)
        return client

    def _use(self, channel: grpc.aio.Channel, token: str | None) -> None:
        self.channel = channel
        self._token = checked_token(token)
        self._driver = AsyncDriver(channel)

    @overload
    def session(self, session_id: str, *, config: SessionConfig | None = None) -> "AsyncSession[Message]": ...

    @overload
    def session(
        self, session_id: str, *, config: SessionConfig | None = None, adapter: MessageAdapter[T]
    ) -> "AsyncSession[T]": ...

    def session(
        self, session_id: str, *, config: SessionConfig | None = None, adapter: MessageAdapter[Any] = PROTOBUF
    ) -> "AsyncSession[Any]":
        """A session of the server; its first call creates it, with `config`, if it does not exist."""
        core = SessionCore(session_id, adapter, config=config, options=self.options, token=self._token)
        return AsyncSession(core, self._driver)

    async def capabilities(self) -> GetCapabilitiesResponse:
        """What the server can do, and its limits."""
        timeout = self.options.call_timeout_seconds
        step = Send("GetCapabilities", GetCapabilitiesRequest(), call_metadata(self._token), timeout)
        response: GetCapabilitiesResponse = await self._driver.run(with_retries(self.options.retry, lambda: once(step)))
        return response

    async def close(self) -> None:
        """Ends all calls and closes the channel. The sessions stay on the server."""
        await self.channel.close()

    async def __aenter__(self) -> "AsyncCondenseClient":
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()


class AsyncSession(Generic[T]):
    """One history of the caller, mirrored by the server. May be shared by tasks; calls may overlap."""

    def __init__(self, core: SessionCore[T], driver: "AsyncDriver") -> None:
        self._core = core
        self._driver = driver

    @property
    def session_id(self) -> str:
        """The id of the session."""
        return self._core.session_id

    async def prune(
        self,
        messages: Sequence[T],
        *,
        usage: ContextUsage | None = None,
        min_savings_chars: int | None = None,
        dry_run: bool = False,
    ) -> View[T]:
        """What to send to the model instead of `messages`, the whole raw history. Only what is new in it is sent.

        Raises `MessageInvalid` or `MessageTooLarge` before anything is sent if a message cannot be stored.
        """
        options = PruneOptions(usage=usage, min_savings_chars=min_savings_chars, dry_run=dry_run)
        return await self._driver.run(self._core.prune(messages, options))

    def flush(
        self,
        messages: Sequence[T] | None = None,
        *,
        trigger: "FlushTrigger.ValueType" = FLUSH_TRIGGER_MANUAL,
        attach: bool = True,
        compact: bool = False,
        dry_run: bool = False,
        timeout_seconds: float | None = None,
    ) -> "AsyncFlushStream":
        """Condenses what is pending, `messages` (the whole raw history) included. Begins when it is iterated.

        Closing the stream before its end stops a flush that this call has started; one that it followed
        (`attach`) goes on.
        """
        options = FlushOptions(trigger, attach, compact, dry_run, timeout_seconds)
        return AsyncFlushStream(self._driver.iterate(self._core.flush(messages, options)))

    def compact(self, *, attach: bool = True, timeout_seconds: float | None = None) -> "AsyncFlushStream":
        """Compresses every finished chain. Otherwise like `flush`."""
        return AsyncFlushStream(
            self._driver.iterate(self._core.compact(attach=attach, timeout_seconds=timeout_seconds))
        )

    async def query(self, refs: Sequence[str], slices: Sequence[Slice] = ()) -> Answer:
        """Originals by short ref, tool call id or occurrence key. Unknown refs are answered, not raised."""
        return await self._driver.run(self._core.query(refs, slices))

    async def answer_tool_call(self, arguments: Mapping[str, Any] | str | None) -> str:
        """The result for a model that has called the recovery tool, from its arguments, parsed or as text.

        Arguments that make no sense get an answer that says so. Raises only if the server cannot be asked.
        """
        return await self._driver.run(self._core.answer_tool_call(arguments))

    def read(self, ref: str) -> AsyncIterator[str]:
        """One original, verbatim and of any size, piece by piece. Raises `ResultNotFound`."""
        return self._driver.iterate(self._core.read(ref))

    async def diagnostics(self, *, page_size: int = 0, page_token: str = "") -> GetDiagnosticsResponse:
        """How the session is doing. Only the entries are paged."""
        return await self._driver.run(self._core.diagnostics(page_size=page_size, page_token=page_token))

    async def delete(self) -> bool:
        """Removes everything of the session from the server. Returns whether there was one."""
        return await self._driver.run(self._core.delete())


class AsyncFlushStream(AsyncIterator[FlushEvent]):
    """The events of a flush or a compaction as they come, for one reader.

    Closed at its end, by `aclose`, or by `async with`.
    """

    completed: FlushCompleted | None = None
    """How it ended; None until the last event has come."""

    def __init__(self, events: AsyncGenerator[Any, None]) -> None:
        self._events = events

    async def __anext__(self) -> FlushEvent:
        event: FlushEvent = await anext(self._events)
        if event.HasField("completed"):
            self.completed = event.completed
        return event

    async def wait(self) -> FlushCompleted:
        """Reads to the end and says how it ended."""
        async for _ in self:
            pass
        if self.completed is None:
            raise CondenseError("the stream was closed before its last event: the outcome is in the diagnostics")
        return self.completed

    async def aclose(self) -> None:
        """Leaves the stream."""
        await self._events.aclose()

    async def __aenter__(self) -> "AsyncFlushStream":
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()
