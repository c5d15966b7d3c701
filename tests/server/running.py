"""A real server in this process, on a port of its own choice, in front of a real engine or a fake one."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from typing import Any

import grpc
import grpc.aio
from google.rpc import error_details_pb2, status_pb2
from grpc_status import rpc_status

from condense_grpc.api.condense.v1 import (
    capabilities_service_pb2_grpc,
    condense_service_pb2_grpc,
    message_pb2,
    session_service_pb2_grpc,
    transcript_pb2,
)
from condense_grpc.engine.engine import Engine
from condense_grpc.engine.ports import (
    FuseRequest,
    SummaryEvent,
    SummaryFailure,
    SummaryProgress,
    SummaryReply,
    SummaryRequest,
)
from condense_grpc.server.app import CondenseServer
from condense_grpc.server.composition import Composition, SystemClock
from condense_grpc.server.convert.capabilities import Offered
from condense_grpc.settings import load_server_settings
from condense_grpc.store.memory import MemoryStore


@dataclass
class Running:
    """A server with a channel to it and a stub per service."""

    server: CondenseServer
    engine: Any
    address: str
    channel: grpc.aio.Channel
    condense: Any
    sessions: Any
    capabilities: Any


class GatedSummarizer:
    """Says that it has begun, then waits until it is let go. Knows whether it was cancelled."""

    name = "gated"
    can_fuse = False

    def __init__(self) -> None:
        self.begun = asyncio.Event()
        self.gate = asyncio.Event()
        self.cancelled = asyncio.Event()

    async def summarize(self, request: SummaryRequest) -> AsyncIterator[SummaryEvent]:
        self.begun.set()
        yield SummaryProgress(1)
        try:
            await self.gate.wait()
        except asyncio.CancelledError:
            self.cancelled.set()
            raise
        yield SummaryReply("\n".join(f"[[{n}:{call.tool_name}]] done" for n, call in enumerate(request.batch.calls, 1)))

    async def fuse(self, request: FuseRequest) -> AsyncIterator[SummaryEvent]:
        yield SummaryFailure("cannot-fuse")


@asynccontextmanager
async def running(
    engine: Any = None,
    *,
    summarizer: Any = None,
    flags: Mapping[str, Any] | None = None,
    session_defaults: Mapping[str, Any] | None = None,
    channel_options: list[tuple[str, Any]] | None = None,
) -> AsyncIterator[Running]:
    """Start, give, stop. Without an engine: a real one over memory; `flags` are settings of the server."""
    settings = load_server_settings({"listen": "127.0.0.1:0", "store": "memory:", **(flags or {})})
    settings = replace(settings, session_defaults=session_defaults or {})
    own = engine is None
    if own:
        if summarizer is None:
            from condense_grpc.summarize.extractive import ExtractiveSummarizer

            summarizer = ExtractiveSummarizer()
        engine = Engine(MemoryStore(), summarizer, SystemClock())
        await engine.start()
    composition = Composition(engine, (Offered(engine.summarizer_name, is_default=True),))
    server = CondenseServer(composition, settings)
    address = await server.start()
    options = channel_options or [
        ("grpc.max_receive_message_length", settings.max_message_bytes),
        ("grpc.max_send_message_length", settings.max_message_bytes),
    ]
    try:
        async with grpc.aio.insecure_channel(address, options=options) as channel:
            yield Running(
                server,
                engine,
                address,
                channel,
                condense_service_pb2_grpc.CondenseServiceStub(channel),
                session_service_pb2_grpc.SessionServiceStub(channel),
                capabilities_service_pb2_grpc.CapabilitiesServiceStub(channel),
            )
    finally:
        await server.stop(0)
        if own:
            await engine.close(0)


@dataclass
class Failure:
    """What a failed call told."""

    code: grpc.StatusCode
    message: str
    reason: str
    metadata: dict[str, str]
    violations: list[tuple[str, str]]
    retry_ms: int | None
    status: status_pb2.Status


def failure_of(error: grpc.aio.AioRpcError) -> Failure:
    """The one ErrorInfo of a status, and what stands beside it."""
    status = rpc_status.from_call(error)
    assert status is not None, (error.code(), error.details())
    infos, violations, retry_ms = [], [], None
    for detail in status.details:
        if detail.Is(error_details_pb2.ErrorInfo.DESCRIPTOR):
            info = error_details_pb2.ErrorInfo()
            detail.Unpack(info)
            infos.append(info)
        elif detail.Is(error_details_pb2.BadRequest.DESCRIPTOR):
            bad = error_details_pb2.BadRequest()
            detail.Unpack(bad)
            violations += [(violation.field, violation.description) for violation in bad.field_violations]
        else:
            retry = error_details_pb2.RetryInfo()
            assert detail.Unpack(retry)
            retry_ms = retry.retry_delay.ToMilliseconds()
    [info] = infos
    assert info.domain == "condense.v1"
    return Failure(error.code(), error.details() or "", info.reason, dict(info.metadata), violations, retry_ms, status)


async def failure(call: Any) -> Failure:
    """The failure of a call, unary or streaming."""
    try:
        if hasattr(call, "read"):
            while await call.read() is not grpc.aio.EOF:
                pass
        else:
            await call
    except grpc.aio.AioRpcError as error:
        return failure_of(error)
    raise AssertionError("the call has succeeded")


async def rest(stream: Any) -> list[Any]:
    """The events of a stream that was already read from."""
    events = []
    while (one := await stream.read()) is not grpc.aio.EOF:
        events.append(one.event)
    return events


def user(text: str, **fields: Any) -> message_pb2.Message:
    return message_pb2.Message(user=message_pb2.UserMessage(parts=[text_part(text)]), **fields)


def answer(text: str, **fields: Any) -> message_pb2.Message:
    return message_pb2.Message(assistant=message_pb2.AssistantMessage(parts=[text_part(text)]), **fields)


def call(*ids: str, name: str = "bash", arguments_json: str = '{"command":"ls"}', **fields: Any) -> message_pb2.Message:
    calls = [message_pb2.ToolCallPart(id=one, name=name, arguments_json=arguments_json) for one in ids]
    parts = [message_pb2.Part(tool_call=one) for one in calls]
    return message_pb2.Message(assistant=message_pb2.AssistantMessage(parts=parts), **fields)


def result(call_id: str, text: str, name: str = "bash", **fields: Any) -> message_pb2.Message:
    content = message_pb2.ToolResultMessage(tool_call_id=call_id, tool_name=name, parts=[text_part(text)])
    return message_pb2.Message(tool_result=content, **fields)


def text_part(text: str) -> message_pb2.Part:
    return message_pb2.Part(text=message_pb2.TextPart(text=text))


def delta(*messages: message_pb2.Message, base: int = 0, create: bool = True, **fields: Any) -> Any:
    payload = transcript_pb2.MessageList(messages=messages)
    return transcript_pb2.TranscriptDelta(base_length=base, create_if_missing=create, messages=payload, **fields)


def worked(turns: int = 1, chars: int = 3000) -> list[message_pb2.Message]:
    """A history in which something is worth a summary: calls with long results."""
    messages = [user("do it")]
    for turn in range(turns):
        messages += [call(f"c{turn}"), result(f"c{turn}", f"line {turn}\n" + "output " * (chars // 7))]
    return messages
