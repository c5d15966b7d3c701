"""What a session of the client does, as conversations of steps: the logic that the sync and async clients share.

A session remembers what the server has of the caller's history and the edits it was last told. That memory is only
ever a shortcut: if the server disagrees, or an answer is lost, more is sent again. Calls may overlap; each works with
the memory it has found and replaces it as a whole.
"""

import codecs
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from condense_grpc.api.condense.v1.config_pb2 import SessionConfig
from condense_grpc.api.condense.v1.diagnostics_pb2 import GetDiagnosticsRequest, GetDiagnosticsResponse
from condense_grpc.api.condense.v1.edit_pb2 import Edit
from condense_grpc.api.condense.v1.flush_event_pb2 import CompactChainsRequest, FlushBatchesRequest
from condense_grpc.api.condense.v1.flush_pb2 import FLUSH_TRIGGER_MANUAL, FlushTrigger
from condense_grpc.api.condense.v1.query_pb2 import QueryToolCallRequest, ReadToolResultRequest, Slice
from condense_grpc.api.condense.v1.session_pb2 import DeleteSessionRequest
from condense_grpc.api.condense.v1.transcript_pb2 import TranscriptDelta
from condense_grpc.api.condense.v1.usage_pb2 import ContextUsage
from condense_grpc.api.condense.v1.view_pb2 import VIEW_EDITS, VIEW_FULL, PruneMessagesRequest
from condense_grpc.client.adapters.base import MessageAdapter
from condense_grpc.client.adapters.native import NativeAdapter
from condense_grpc.client.arrangement import EditNotUnderstood, apply_edits, read_full_view
from condense_grpc.client.delivery import MAX_ATTEMPTS, Delivery
from condense_grpc.client.draft import Draft
from condense_grpc.client.errors import (
    CondenseError,
    DeltaTooLarge,
    NotImplementedByServer,
    RequestInvalid,
    ResultNotFound,
    SessionIdInvalid,
    SessionNotFound,
    TranscriptMismatch,
    Unavailable,
)
from condense_grpc.client.native_view import apply_native_edits, read_native_view
from condense_grpc.client.options import ClientOptions, call_metadata
from condense_grpc.client.recovery import ArgumentsUnclear, read_arguments
from condense_grpc.client.steps import Emit, Receive, Steps
from condense_grpc.client.view import Answer, View

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class PruneOptions:
    """What a prune can be told, as `PruneMessagesRequest` names it."""

    usage: ContextUsage | None = None
    min_savings_chars: int | None = None
    dry_run: bool = False


@dataclass(frozen=True, slots=True)
class FlushOptions:
    """What a flush can be told, as `FlushBatchesRequest` names it."""

    trigger: "FlushTrigger.ValueType" = FLUSH_TRIGGER_MANUAL
    attach: bool = True
    compact: bool = False
    dry_run: bool = False
    timeout_seconds: float | None = None


@dataclass(frozen=True, slots=True)
class _HeldEdits:
    """The edits of the last view and their revision."""

    revision: str = ""
    edits: Sequence[Edit] = ()


class SessionCore(Generic[T]):
    """One session. Yields steps and knows nothing of channels."""

    def __init__(
        self,
        session_id: str,
        adapter: MessageAdapter[T],
        *,
        config: SessionConfig | None = None,
        options: ClientOptions | None = None,
        token: str | None = None,
    ) -> None:
        try:
            metadata = call_metadata(token, session_id)
        except UnicodeEncodeError as error:
            raise SessionIdInvalid("the session id holds a lone surrogate: choose another one") from error
        self.session_id = session_id
        self._delivery = Delivery(
            session_id, adapter, config=config, options=options or ClientOptions(), metadata=metadata
        )
        self._held = _HeldEdits()

    def prune(self, objects: Sequence[T], options: PruneOptions) -> Steps[View[T]]:
        """Appends what is new in the caller's whole list, and makes the view of it."""
        draft, held = self._delivery.draft(objects), self._held

        def request_of(delta: TranscriptDelta) -> PruneMessagesRequest:
            return PruneMessagesRequest(
                session_id=self.session_id,
                delta=delta,
                view=VIEW_EDITS,
                known_revision=held.revision,
                dry_run=options.dry_run,
                min_savings_chars=options.min_savings_chars,
                usage=options.usage,
                config=self._delivery.config,
            )

        response = yield from self._delivery.prune(draft, request_of, stored=not options.dry_run)
        if options.dry_run:
            return View(draft.objects, (), response)
        edits = held.edits if response.unchanged else tuple(response.edits)
        try:
            messages = self._apply(draft, edits)
        except EditNotUnderstood:
            return View((yield from self._full_view(draft)), edits, response)
        self._held = _HeldEdits(response.revision, edits)
        return View(messages, edits, response)

    def _apply(self, draft: Draft[T], edits: Sequence[Edit]) -> list[T]:
        adapter = self._delivery.adapter
        if isinstance(adapter, NativeAdapter):
            return apply_native_edits(draft.objects, edits)
        return apply_edits(adapter, draft.objects, draft.piece_counts, edits)

    def _full_view(self, draft: Draft[T]) -> Steps[list[T]]:
        """The same view as the server writes it out: for edits of a kind that this client does not know."""

        def request_of(delta: TranscriptDelta) -> PruneMessagesRequest:
            return PruneMessagesRequest(session_id=self.session_id, delta=delta, view=VIEW_FULL)

        response = yield from self._delivery.prune(draft, request_of)
        adapter = self._delivery.adapter
        if isinstance(adapter, NativeAdapter):
            return read_native_view(adapter, draft.objects, response.native_json)
        sent = draft.all_messages()
        return read_full_view(adapter, draft.objects, draft.piece_counts, sent=sent, shown=response.messages)

    def flush(self, objects: Sequence[T] | None, options: FlushOptions) -> Steps[None]:
        """Emits the events of a flush, the last of which is `completed`."""
        draft = None if objects is None else self._delivery.draft(objects)
        delta = None if draft is None else self._delivery.find_small_delta(draft)
        refusals = 0
        while True:
            if draft is not None and delta is None:  # an upload finds out what the server has
                delta = yield from self._delivery.append(draft)
            request = FlushBatchesRequest(
                session_id=self.session_id,
                delta=delta,
                trigger=options.trigger,
                dry_run=options.dry_run,
                compact=options.compact,
                attach=options.attach,
                config=self._delivery.config,
                joint_events=True,
            )
            try:
                opened = yield from self._delivery.open("FlushBatches", request, options.timeout_seconds)
            except (TranscriptMismatch, DeltaTooLarge):
                refusals += 1
                if draft is None or refusals == MAX_ATTEMPTS:
                    raise
                delta = None
            else:
                return (yield from _emit_events(*opened))

    def compact(self, *, attach: bool, timeout_seconds: float | None) -> Steps[None]:
        """Emits the events of a compaction."""
        request = CompactChainsRequest(session_id=self.session_id, attach=attach, joint_events=True)
        opened = yield from self._delivery.open("CompactChains", request, timeout_seconds)
        yield from _emit_events(*opened)

    def query(self, refs: Sequence[str], slices: Sequence[Slice]) -> Steps[Answer]:
        """Originals, whole or in parts."""
        try:
            request = QueryToolCallRequest(session_id=self.session_id, refs=refs, slices=slices)
        except UnicodeEncodeError as error:
            raise RequestInvalid("a ref holds a lone surrogate, which no ref has") from error
        response = yield from self._delivery.call("QueryToolCall", request)
        return Answer(response.text, response.results)

    def answer_tool_call(self, arguments: Mapping[str, Any] | str | None) -> Steps[str]:
        """What to give a model that has called the recovery tool, also if it has called it wrongly."""
        try:
            wanted = read_arguments(arguments)
            return (yield from self.query(wanted.refs, wanted.slices)).text
        except ArgumentsUnclear as unclear:
            return str(unclear)
        except (RequestInvalid, SessionNotFound, NotImplementedByServer) as error:
            return f"Nothing could be read: {error.message}"

    def read(self, ref: str) -> Steps[None]:
        """Emits the text of one original, piece by piece; after a broken stream it goes on where that ended."""
        # Texts out of JSON escapes can hold lone surrogates, which originals carry as the bytes they would have.
        decoder = codecs.getincrementaldecoder("utf-8")("surrogatepass")
        offset, broken_at = 0, -1
        while True:
            request = ReadToolResultRequest(session_id=self.session_id, ref=ref, offset_bytes=offset)
            stream, chunk = yield from self._delivery.open("ReadToolResult", request, None)
            try:
                while chunk is not None:
                    if not chunk.found:
                        raise ResultNotFound(f"{ref!r} names no result of this session, or several: use a ref")
                    offset = chunk.offset_bytes + len(chunk.data)
                    if chunk.data:
                        yield Emit(decoder.decode(chunk.data))
                    chunk = yield Receive(stream)
                return
            except Unavailable:
                if broken_at == offset:
                    raise
                broken_at = offset

    def diagnostics(self, *, page_size: int, page_token: str) -> Steps[GetDiagnosticsResponse]:
        """How the session is doing; only the entries are paged."""
        request = GetDiagnosticsRequest(session_id=self.session_id, page_size=page_size, page_token=page_token)
        response: GetDiagnosticsResponse = yield from self._delivery.call("GetDiagnostics", request)
        return response

    def delete(self) -> Steps[bool]:
        """Removes the session from the server, and what is remembered about it here."""
        request = DeleteSessionRequest(session_id=self.session_id, allow_missing=True)
        response = yield from self._delivery.call("DeleteSession", request)
        self._delivery.forget()
        self._held = _HeldEdits()
        return bool(response.deleted)


def _emit_events(stream: Any, response: Any) -> Steps[None]:
    """Events of kinds that this client does not know are left out."""
    kind = None
    while response is not None:
        for event in (response.event, *response.further_events):
            kind = event.WhichOneof("event")
            if kind is not None:
                yield Emit(event)
        response = yield Receive(stream)
    if kind != "completed":
        raise CondenseError("the stream ended before its last event: the outcome is in the diagnostics")
