"""The server that runners are tested against: the product's own, with a few pieces between its parts.

`python clients/conformance/server_main.py LISTEN DATABASE` runs `condense_grpc.server.app.serve` over an SQLite file.
What a healthy server never does on demand is arranged per session, so that sessions do not disturb each other:

- a summarizer that waits (`hold`, `release`) in front of the built-in one;
- an interceptor behind the translation of errors, which keeps a list of the calls (`calls`), refuses some of them
  with an error of the server's own (`refuse`), ends their stream with one (`break`), or does not answer (`stall`).

Both are told what to do over one more service, in JSON.
"""

from __future__ import annotations

import asyncio
import json
import logging
import sys
import time
from collections import defaultdict
from collections.abc import AsyncIterator, Callable
from typing import Any
from urllib.parse import unquote

import grpc
import grpc.aio
from google.protobuf.message_factory import GetMessageClass

from condense_grpc import errors
from condense_grpc.api.condense.v1 import condense_service_pb2, transcript_pb2
from condense_grpc.engine.engine import Engine
from condense_grpc.engine.ports import FuseRequest, SummaryEvent, SummaryProgress, SummaryRequest
from condense_grpc.server.app import serve
from condense_grpc.server.composition import Composition, SystemClock, engine_options, make_store
from condense_grpc.server.convert.capabilities import Offered
from condense_grpc.settings import load_server_settings
from condense_grpc.summarize.extractive import ExtractiveSummarizer

CONTROL = "/condense.conformance.v1.Control/Do"

ERRORS: dict[str, Callable[[], Exception]] = {
    "SESSION_NOT_FOUND": lambda: errors.SessionNotFound("x"),
    "SESSION_ALREADY_EXISTS": lambda: errors.SessionAlreadyExists("x"),
    "SESSION_ID_INVALID": lambda: errors.SessionIdInvalid("session_id", "must not be empty"),
    "TRANSCRIPT_MISMATCH": lambda: errors.TranscriptMismatch(4, 2, "0"),
    "MESSAGE_INVALID": lambda: errors.MessageInvalid("delta.messages.messages[7].kind", "must be set", messageIndex=7),
    "MESSAGE_TOO_LARGE": lambda: errors.MessageTooLarge(7, 91_750_400, 33_554_432),
    "DELTA_TOO_LARGE": lambda: errors.DeltaTooLarge(48_234_496, 33_554_432),
    "NATIVE_JSON_INVALID": lambda: errors.NativeJsonInvalid("delta.native.json", "is no JSON array", offset=5120),
    "CONFIG_INVALID": lambda: errors.ConfigInvalid("config.min_batch_chars", "must be a number, at least 0"),
    "FLUSH_IN_PROGRESS": lambda: errors.FlushInProgress("x", "f9"),
    "REVISION_CONFLICT": lambda: errors.RevisionConflict("x", 5),
    "PAGE_TOKEN_INVALID": lambda: errors.PageTokenInvalid(),
    "PATTERN_INVALID": lambda: errors.PatternInvalid("slices[0].pattern.pattern", "is malformed", position=4),
    "QUOTA_EXCEEDED": lambda: errors.QuotaExceeded("sessions", 10_000, 10_000, "delete some"),
    "SUMMARIZER_UNKNOWN": lambda: errors.SummarizerUnknown("config.summarizer_model", "acme/small", ["extractive"]),
    "UNAUTHENTICATED": lambda: errors.Unauthenticated(),
    "PERMISSION_DENIED": lambda: errors.PermissionDenied("/condense.v1.SessionService/DeleteSession"),
    "STORE_UNAVAILABLE": lambda: errors.StoreUnavailable(),
    "SHUTTING_DOWN": lambda: errors.ShuttingDown(),
    "REQUEST_INVALID": lambda: errors.RequestInvalid("delta.base_length", "must not be negative"),
    "NOT_IMPLEMENTED": lambda: errors.NotImplementedYet("MESSAGE_FORMAT_GEMINI"),
    "INTERNAL": lambda: RuntimeError("a defect whose text nobody outside may see"),
}


class Desk:
    """What is arranged, by session id, and what has been called."""

    def __init__(self) -> None:
        self.calls: dict[str, list[dict[str, Any]]] = defaultdict(list)
        self.plans: dict[str, list[dict[str, Any]]] = defaultdict(list)
        self.gates: dict[str, asyncio.Event] = {}

    def do(self, order: dict[str, Any]) -> Any:
        """Carries out one order of the driver."""
        session = order["session"]
        match order["do"]:
            case "hold":
                self.gates[session] = asyncio.Event()
            case "release":
                self.gates.pop(session).set()
            case "refuse" | "stall" | "break":
                self.plans[session] += [order] * order.get("times", 1)
            case "calls":
                return self.calls.pop(session, [])
            case other:
                raise ValueError(f"no order {other!r}")
        return None

    def plan_for(self, session: str, method: str) -> dict[str, Any] | None:
        """What is to happen to a call, if anything; every plan is used once."""
        plans = self.plans.get(session) or []
        found = next((plan for plan in plans if plan.get("method", method) == method), None)
        if found is not None:
            plans.remove(found)
        return found


class HeldSummarizer:
    """The built-in summarizer, behind the gate of the session."""

    name = "extractive"
    can_fuse = False

    def __init__(self, desk: Desk) -> None:
        self._desk = desk
        self._inner = ExtractiveSummarizer()

    async def summarize(self, request: SummaryRequest) -> AsyncIterator[SummaryEvent]:
        """See Summarizer."""
        gate = self._desk.gates.get(request.session_id)
        if gate is not None:
            yield SummaryProgress(1)
            await gate.wait()
        async for event in self._inner.summarize(request):
            yield event

    def fuse(self, request: FuseRequest) -> AsyncIterator[SummaryEvent]:
        """See Summarizer."""
        return self._inner.fuse(request)


class CallKeeper(grpc.aio.ServerInterceptor):
    """Keeps the calls of the contract that name their session in the metadata, and does to them what is arranged."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk

    async def intercept_service(self, continuation: Any, handler_call_details: grpc.HandlerCallDetails) -> Any:
        """Put the arrangements around the method."""
        handler = await continuation(handler_call_details)
        path = handler_call_details.method
        if handler is None or not path.startswith("/condense.v1."):
            return handler
        if handler.request_streaming:
            return grpc.stream_unary_rpc_method_handler(self._arranged(path, handler.stream_unary))
        if handler.response_streaming:
            return grpc.unary_stream_rpc_method_handler(self._arranged(path, handler.unary_stream))
        return grpc.unary_unary_rpc_method_handler(self._arranged(path, handler.unary_unary))

    def _arranged(self, path: str, behaviour: Any) -> Any:
        method = path.rpartition("/")[2]

        async def call(request: Any, context: Any) -> Any:
            metadata = dict(context.invocation_metadata())
            session = unquote(metadata.get("x-condense-session", ""))
            entry = {"method": method, "at": time.monotonic(), "authorization": metadata.get("authorization", "")}
            self._desk.calls[session].append(entry)
            if isinstance(request, bytes):
                _describe(entry, method, request)
            else:
                request = _counted(request, entry)
            plan = self._desk.plan_for(session, method)
            if plan is None:
                return await behaviour(request, context)
            if plan["do"] == "stall":
                return await asyncio.Event().wait()
            if plan["do"] == "break":
                error = ERRORS[plan["reason"]]()
                await behaviour(request, _Breaking(context, plan["messages"], error))
                raise error
            if plan.get("after"):
                await behaviour(request, context)
            raise ERRORS[plan["reason"]]()

        return call


class _Breaking:
    """The context of a call whose stream fails behind so many messages; one that has no more fails at its end."""

    def __init__(self, inner: Any, messages: int, error: Exception) -> None:
        self._inner, self._left, self._error = inner, messages, error

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)

    async def write(self, message: bytes) -> None:
        """Send it on, while there may be more."""
        if not self._left:
            raise self._error
        self._left -= 1
        await self._inner.write(message)


def _describe(entry: dict[str, Any], method: str, data: bytes) -> None:
    """What a request holds."""
    service = condense_service_pb2.DESCRIPTOR.services_by_name["CondenseService"]
    entry["bytes"] = len(data)
    if method in service.methods_by_name:
        request: Any = GetMessageClass(service.methods_by_name[method].input_type).FromString(data)
        if hasattr(request, "delta") and request.HasField("delta"):
            entry |= _delta(request.delta)
        if hasattr(request, "joint_events"):
            entry["jointEvents"] = request.joint_events


def _delta(delta: transcript_pb2.TranscriptDelta) -> dict[str, Any]:
    elements = len(json.loads(delta.native.json)) if delta.native.json else len(delta.messages.messages)
    return {"base": delta.base_length, "elements": elements, "hasEtag": bool(delta.base_etag)}


async def _counted(chunks: AsyncIterator[bytes], entry: dict[str, Any]) -> AsyncIterator[bytes]:
    entry |= {"chunks": 0, "bytes": 0, "largestChunk": 0}
    async for chunk in chunks:
        entry["chunks"] += 1
        entry["bytes"] += len(chunk)
        entry["largestChunk"] = max(entry["largestChunk"], len(chunk))
        yield chunk


def _control(desk: Desk) -> grpc.GenericRpcHandler:
    async def do(data: bytes, context: Any) -> bytes:
        return json.dumps(desk.do(json.loads(data))).encode()

    service, _, method = CONTROL.strip("/").partition("/")
    return grpc.method_handlers_generic_handler(service, {method: grpc.unary_unary_rpc_method_handler(do)})


def main() -> None:
    """Runs the server until it is told to stop."""
    listen, database = sys.argv[1:]
    settings = load_server_settings({"listen": listen, "store": f"sqlite:///{database}"}, {})
    logging.getLogger("condense_grpc.server.interceptor").setLevel(logging.CRITICAL)  # defects are made on purpose
    desk = Desk()
    engine = Engine(make_store(settings.store), HeldSummarizer(desk), SystemClock(), engine_options(settings))
    composition = Composition(engine, (Offered("extractive", is_default=True, is_remote=False),))
    announce = lambda line: print(line, flush=True)  # noqa: E731
    asyncio.run(serve(settings, announce, composition=composition, further=[_control(desk)], inner=[CallKeeper(desk)]))


if __name__ == "__main__":
    main()
