"""A small server of the contract: transcripts with etags, scripted views, and failures on demand.

`FakeBackend` is the logic, which tests can also drive without a network; `serving` puts it behind gRPC on a port
that the system chooses.
"""

import hashlib
import threading
from collections import defaultdict, deque
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import takewhile
from typing import Any

import grpc
from google.protobuf.duration_pb2 import Duration
from google.rpc import error_details_pb2, status_pb2
from grpc_status import rpc_status

from condense_grpc.api.condense.v1 import (
    capabilities_pb2,
    capabilities_service_pb2_grpc,
    condense_service_pb2_grpc,
    diagnostics_pb2,
    edit_pb2,
    flush_event_pb2,
    flush_pb2,
    message_pb2,
    query_pb2,
    session_pb2,
    session_service_pb2_grpc,
    tool_call_pb2,
    transcript_pb2,
    view_pb2,
)

FIRST_TIME_MS = 1_700_000_000_000


@dataclass
class Refusal(Exception):
    """A failed call: with a reason of the contract, or (empty reason) as the transport would fail."""

    reason: str = ""
    code: grpc.StatusCode = grpc.StatusCode.UNAVAILABLE
    metadata: dict[str, str] = field(default_factory=dict)
    retry_seconds: float | None = None
    fields: dict[str, str] = field(default_factory=dict)
    sentence: str = "refused"

    def status(self) -> status_pb2.Status:
        """What goes into the trailing metadata."""
        status = status_pb2.Status(code=self.code.value[0], message=self.sentence)
        if self.reason:
            info = error_details_pb2.ErrorInfo(reason=self.reason, domain="condense.v1", metadata=self.metadata)
            status.details.add().Pack(info)
        if self.fields:
            bad = error_details_pb2.BadRequest()
            for name, description in self.fields.items():
                bad.field_violations.add(field=name, description=description)
            status.details.add().Pack(bad)
        if self.retry_seconds is not None:
            delay = Duration()
            delay.FromNanoseconds(int(self.retry_seconds * 1e9))
            status.details.add().Pack(error_details_pb2.RetryInfo(retry_delay=delay))
        return status


def mismatch(base: int, length: int, etag: str, common: int | None = None) -> Refusal:
    metadata = {"baseLength": str(base), "serverLength": str(length), "serverEtag": etag}
    metadata |= {} if common is None else {"commonLength": str(common)}
    return Refusal("TRANSCRIPT_MISMATCH", grpc.StatusCode.FAILED_PRECONDITION, metadata)


LOST_ANSWER = Refusal(sentence="connection reset")


@dataclass
class StoredMessage:
    """A message as it was sent, and the time that the server has given to it if it had none."""

    sent: message_pb2.Message
    time_ms: int

    def shown(self) -> message_pb2.Message:
        message = message_pb2.Message()
        message.CopyFrom(self.sent)
        message.timestamp_ms = self.time_ms
        return message


class FakeSession:
    """A transcript: after an append it is its first `base` messages followed by the payload."""

    def __init__(self) -> None:
        self.stored: list[StoredMessage] = []
        self.etags = [""]
        self.clock_ms = FIRST_TIME_MS

    @property
    def length(self) -> int:
        return len(self.stored)

    @property
    def etag(self) -> str:
        return self.etags[-1]

    def sent(self) -> list[message_pb2.Message]:
        return [it.sent for it in self.stored]

    def truncate(self, length: int) -> None:
        del self.stored[length:]
        del self.etags[length + 1 :]

    def copy(self) -> "FakeSession":
        copy = FakeSession()
        copy.stored, copy.etags, copy.clock_ms = list(self.stored), list(self.etags), self.clock_ms
        return copy

    def apply(self, base: int, etag: str, messages: Iterable[message_pb2.Message]) -> None:
        if base > self.length or (etag and etag != self.etags[base]):
            raise mismatch(base, self.length, self.etag)
        position = base
        for message in messages:
            if position < self.length and self._is_equal(self.stored[position], message):
                position += 1
                continue
            self.truncate(position)
            self._push(message)
            position += 1
        self.truncate(position)

    def _is_equal(self, stored: StoredMessage, message: message_pb2.Message) -> bool:
        return stored.sent.SerializeToString(deterministic=True) == message.SerializeToString(deterministic=True)

    def _push(self, message: message_pb2.Message) -> None:
        self.clock_ms += 1
        time_ms = message.timestamp_ms if message.HasField("timestamp_ms") else self.clock_ms
        kept = message_pb2.Message()
        kept.CopyFrom(message)
        self.stored.append(StoredMessage(kept, time_ms))
        content = self.etag.encode() + self.stored[-1].shown().SerializeToString(deterministic=True)
        self.etags.append(hashlib.sha256(content).hexdigest()[:16])


class FakeBackend:
    """The server. Tests set what it shows and how it fails, and look at what it was asked."""

    def __init__(self) -> None:
        self.sessions: dict[str, FakeSession] = {}
        self.edits: list[edit_pb2.Edit] = []
        self.full_view: list[message_pb2.Message] = []
        self.revision = "r0"
        self.originals: dict[str, str] = {}
        self.events: list[flush_event_pb2.FlushEvent] = [completed_event()]
        self.log: list[tuple[str, Any]] = []
        self.metadata: list[dict[str, str]] = []
        self.max_delta_bytes = 1 << 30
        self.chunk_bytes = 1 << 20
        self.break_read_after: deque[int] = deque()
        self.before: dict[str, deque[Refusal]] = defaultdict(deque)
        self.after: dict[str, deque[Refusal]] = defaultdict(deque)

    def requests(self, method: str) -> list[Any]:
        return [request for name, request in self.log if name == method]

    def show(self, edits: list[edit_pb2.Edit], revision: str) -> None:
        self.edits, self.revision = edits, revision

    def handle(self, method: str, request: Any) -> Any:
        """One unary call or one upload."""
        self.log.append((method, request))
        if self.before[method]:
            raise self.before[method].popleft()
        answer = getattr(self, f"_{method}")(request)
        if self.after[method]:
            raise self.after[method].popleft()
        return answer

    def append(self, session_id: str, delta: transcript_pb2.TranscriptDelta, *, stored: bool = True) -> FakeSession:
        session = self.sessions.get(session_id)
        if session is None:
            if not delta.create_if_missing:
                raise Refusal("SESSION_NOT_FOUND", grpc.StatusCode.NOT_FOUND, {"sessionId": session_id})
            if delta.base_length:
                raise mismatch(delta.base_length, 0, "")
            session = FakeSession()
        if delta.ByteSize() > self.max_delta_bytes:
            raise Refusal("DELTA_TOO_LARGE", grpc.StatusCode.INVALID_ARGUMENT)
        session = session if stored else session.copy()
        if delta.WhichOneof("payload"):
            session.apply(delta.base_length, delta.base_etag, delta.messages.messages)
        if stored:
            self.sessions[session_id] = session
        return session

    def _PruneMessages(self, request: view_pb2.PruneMessagesRequest) -> view_pb2.PruneMessagesResponse:
        session = self.append(request.session_id, request.delta, stored=not request.dry_run)
        response = view_pb2.PruneMessagesResponse(
            transcript_length=session.length,
            transcript_etag=session.etag,
            revision=self.revision,
            pruned=bool(self.edits),
            unchanged=self.revision == request.known_revision,
            reclaim=view_pb2.Reclaim(before_chars=100, after_chars=40),
            status_line="condensed",
        )
        if request.view == view_pb2.VIEW_FULL:
            response.messages.extend(self.full_view)
        elif not response.unchanged and not request.dry_run:
            response.edits.extend(self.edits)
        return response

    def _AppendMessages(
        self, requests: list[transcript_pb2.AppendMessagesRequest]
    ) -> transcript_pb2.AppendMessagesResponse:
        delta = transcript_pb2.TranscriptDelta()
        delta.CopyFrom(requests[0].delta)
        for request in requests[1:]:
            delta.messages.messages.extend(request.delta.messages.messages)
        limit, self.max_delta_bytes = self.max_delta_bytes, 1 << 30
        try:
            session = self.append(requests[0].session_id, delta)
        finally:
            self.max_delta_bytes = limit
        return transcript_pb2.AppendMessagesResponse(
            transcript_length=session.length, transcript_etag=session.etag, revision=self.revision
        )

    def _QueryToolCall(self, request: query_pb2.QueryToolCallRequest) -> query_pb2.QueryToolCallResponse:
        response = query_pb2.QueryToolCallResponse()
        for ref in request.refs:
            result = response.results.add(requested=ref, found=ref in self.originals)
            block = result.blocks.add(label=ref, block_text=f"## {ref}\n{self.originals.get(ref, '(not found)')}")
            if result.found:
                block.record.CopyFrom(tool_call_pb2.ToolCallRecord(ref=ref, occurrence_key=f"{ref}@1"))
        response.text = "\n---\n".join(block.block_text for result in response.results for block in result.blocks)
        return response

    def _GetDiagnostics(self, request: diagnostics_pb2.GetDiagnosticsRequest) -> diagnostics_pb2.GetDiagnosticsResponse:
        return diagnostics_pb2.GetDiagnosticsResponse(next_page_token=f"after {request.page_size}")

    def _DeleteSession(self, request: session_pb2.DeleteSessionRequest) -> session_pb2.DeleteSessionResponse:
        return session_pb2.DeleteSessionResponse(deleted=self.sessions.pop(request.session_id, None) is not None)

    def _GetCapabilities(self, _: Any) -> capabilities_pb2.GetCapabilitiesResponse:
        return capabilities_pb2.GetCapabilitiesResponse(version="0.0.0-fake")

    def flush(self, request: flush_event_pb2.FlushBatchesRequest) -> Iterator[flush_event_pb2.FlushEvent]:
        self.log.append(("FlushBatches", request))
        if self.before["FlushBatches"]:
            raise self.before["FlushBatches"].popleft()
        if request.HasField("delta"):
            self.append(request.session_id, request.delta, stored=not request.dry_run)
        return iter(self.events)

    def read(self, request: query_pb2.ReadToolResultRequest) -> Iterator[query_pb2.ReadToolResultResponse]:
        self.log.append(("ReadToolResult", request))
        if request.ref not in self.originals:
            yield query_pb2.ReadToolResultResponse()
            return
        data = self.originals[request.ref].encode("utf-8", "surrogatepass")
        allowed = self.break_read_after.popleft() if self.break_read_after else None
        offset, sent = request.offset_bytes, 0
        while True:
            if allowed is not None and sent >= allowed:
                raise LOST_ANSWER
            end = min(len(data), offset + self.chunk_bytes)
            while end < len(data) and data[end] & 0xC0 == 0x80:
                end += 1
            yield query_pb2.ReadToolResultResponse(
                found=True, offset_bytes=offset, data=data[offset:end], total_bytes=len(data)
            )
            offset, sent = end, sent + 1
            if offset >= len(data):
                return


def completed_event(outcome: int = flush_pb2.FLUSH_OUTCOME_SUMMARIZED) -> flush_event_pb2.FlushEvent:
    completed = flush_event_pb2.FlushCompleted(outcome=outcome)  # type: ignore[arg-type]
    return flush_event_pb2.FlushEvent(sequence=9, completed=completed)


class FakeServicer(
    condense_service_pb2_grpc.CondenseServiceServicer,
    session_service_pb2_grpc.SessionServiceServicer,
    capabilities_service_pb2_grpc.CapabilitiesServiceServicer,
):
    """The backend behind gRPC.

    `hold` lets a flush wait, after its events before the last, until the client leaves. `together` is how many events
    come in a response if the client likes.
    """

    def __init__(self, backend: FakeBackend) -> None:
        self.backend = backend
        self.hold = False
        self.together = 1
        self.left = threading.Event()

    def _answer(self, method: str, request: Any, context: Any) -> Any:
        self.backend.metadata.append({item.key: item.value for item in context.invocation_metadata()})
        try:
            return self.backend.handle(method, request)
        except Refusal as refusal:
            abort(context, refusal)

    def PruneMessages(self, request: Any, context: Any) -> Any:
        return self._answer("PruneMessages", request, context)

    def AppendMessages(self, request_iterator: Any, context: Any) -> Any:
        return self._answer("AppendMessages", list(request_iterator), context)

    def QueryToolCall(self, request: Any, context: Any) -> Any:
        return self._answer("QueryToolCall", request, context)

    def GetDiagnostics(self, request: Any, context: Any) -> Any:
        return self._answer("GetDiagnostics", request, context)

    def DeleteSession(self, request: Any, context: Any) -> Any:
        return self._answer("DeleteSession", request, context)

    def GetCapabilities(self, request: Any, context: Any) -> Any:
        return self._answer("GetCapabilities", request, context)

    def FlushBatches(self, request: Any, context: Any) -> Iterator[Any]:
        context.add_callback(self.left.set)
        try:
            told = takewhile(lambda event: not (self.hold and event.HasField("completed")), self.backend.flush(request))
            yield from self._responses(request, list(told), flush_event_pb2.FlushBatchesResponse)
            if self.hold:
                self.left.wait(30)
        except Refusal as refusal:
            abort(context, refusal)

    def CompactChains(self, request: Any, context: Any) -> Iterator[Any]:
        self.backend.log.append(("CompactChains", request))
        yield from self._responses(request, self.backend.events, flush_event_pb2.CompactChainsResponse)

    def _responses(self, request: Any, events: list[flush_event_pb2.FlushEvent], kind: Any) -> Iterator[Any]:
        together = self.together if request.joint_events else 1
        for at in range(0, len(events), together):
            event, *further = events[at : at + together]
            yield kind(event=event, further_events=further)

    def ReadToolResult(self, request: Any, context: Any) -> Iterator[Any]:
        try:
            yield from self.backend.read(request)
        except Refusal as refusal:
            abort(context, refusal)


def abort(context: Any, refusal: Refusal) -> None:
    if refusal.reason or refusal.retry_seconds is not None:
        context.abort_with_status(rpc_status.to_status(refusal.status()))
    context.abort(refusal.code, refusal.sentence)


@contextmanager
def serving(servicer: FakeServicer) -> Iterator[str]:
    """Serves on a free port; yields `host:port`."""
    from concurrent.futures import ThreadPoolExecutor

    server = grpc.server(ThreadPoolExecutor(8), options=[("grpc.so_reuseport", 0)])
    condense_service_pb2_grpc.add_CondenseServiceServicer_to_server(servicer, server)
    session_service_pb2_grpc.add_SessionServiceServicer_to_server(servicer, server)
    capabilities_service_pb2_grpc.add_CapabilitiesServiceServicer_to_server(servicer, server)
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    try:
        yield f"127.0.0.1:{port}"
    finally:
        server.stop(None).wait()
