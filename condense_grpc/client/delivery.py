"""Brings a caller's list to the server, whatever has happened before: lost answers, rewinds, a server that forgot.

A delta starts at the latest checkpoint that the list still agrees with. If the server refuses that base, the next try
starts at an earlier one, and after a few tries at 0, which the server never refuses. Deltas that are too big for one
request are uploaded in chunks first; then nothing is left to send with the request itself.
"""

from collections.abc import Callable, Sequence
from typing import Any, Generic, TypeVar

from google.protobuf.message import Message as ProtoMessage

from condense_grpc.api.condense.v1.config_pb2 import SessionConfig
from condense_grpc.api.condense.v1.transcript_pb2 import TranscriptDelta
from condense_grpc.api.condense.v1.view_pb2 import PruneMessagesRequest, PruneMessagesResponse
from condense_grpc.client.adapters.base import MessageAdapter
from condense_grpc.client.adapters.native import NativeAdapter
from condense_grpc.client.draft import Chunks, Draft
from condense_grpc.client.errors import CondenseError, DeltaTooLarge, TranscriptMismatch
from condense_grpc.client.native_draft import NativeDraft
from condense_grpc.client.options import ClientOptions
from condense_grpc.client.retry import with_retries
from condense_grpc.client.sent_history import START, Checkpoint, SentHistory
from condense_grpc.client.steps import Metadata, Open, Receive, Send, Steps, once

T = TypeVar("T")
MAX_ATTEMPTS = 5


class Delivery(Generic[T]):
    """The calls of one session, and what the server is known to have of its history."""

    def __init__(
        self,
        session_id: str,
        adapter: MessageAdapter[T],
        *,
        config: SessionConfig | None,
        options: ClientOptions,
        metadata: Metadata,
    ) -> None:
        self.session_id = session_id
        self.adapter = adapter
        self.config = config
        self._options = options
        self._metadata = metadata
        self._sent = SentHistory()

    def draft(self, objects: Sequence[T]) -> Draft[T]:
        """A list to deliver, read and checked."""
        if isinstance(self.adapter, NativeAdapter):
            return NativeDraft(self.adapter, objects, self._sent, self._options.max_message_bytes)
        return Draft(self.adapter, objects, self._sent, self._options.max_message_bytes)

    def forget(self) -> None:
        """Assumes from now on that the server has nothing."""
        self._sent = SentHistory()

    def call(self, method: str, request: ProtoMessage) -> Steps[Any]:
        """One unary call, tried again as the policy says."""
        step = Send(method, request, self._metadata, self._options.call_timeout_seconds)
        return with_retries(self._options.retry, lambda: once(step))

    def open(self, method: str, request: ProtoMessage, timeout_seconds: float | None) -> Steps[tuple[Any, Any]]:
        """A server stream and its first message (None: it is empty). Until that has come, it is tried again."""

        def attempt() -> Steps[tuple[Any, Any]]:
            stream = yield Open(method, request, self._metadata, timeout_seconds)
            return stream, (yield Receive(stream))

        return with_retries(self._options.retry, attempt)

    def prune(
        self, draft: Draft[T], request_of: Callable[[TranscriptDelta], PruneMessagesRequest], *, stored: bool = True
    ) -> Steps[PruneMessagesResponse]:
        """Delivers a draft with a `PruneMessages`. Not `stored`: a dry run, which changes nothing anywhere."""
        base, upload = draft.base(), False
        for _ in range(MAX_ATTEMPTS):
            try:
                upload = upload or (stored and draft.delta_bytes(base) > self._options.unary_delta_bytes)
                if upload:
                    base, upload = (yield from self._upload(draft, base)), False
                response: PruneMessagesResponse = yield from self.call("PruneMessages", request_of(draft.delta(base)))
                if stored:
                    self._accept(draft, base, response.transcript_length, response.transcript_etag)
                return response
            except DeltaTooLarge:
                if upload or not stored:
                    raise
                upload = True
            except TranscriptMismatch as error:
                base = _step_back(draft, base, error)
        raise _disagreement(draft)

    def find_small_delta(self, draft: Draft[T]) -> TranscriptDelta | None:
        """What is new in a draft, if that fits into one request."""
        base = draft.base()
        return draft.delta(base) if draft.delta_bytes(base) <= self._options.unary_delta_bytes else None

    def append(self, draft: Draft[T]) -> Steps[TranscriptDelta]:
        """Delivers a draft by an upload. Returns the delta that says: exactly this."""
        base = draft.base()
        for _ in range(MAX_ATTEMPTS):
            try:
                return draft.delta((yield from self._upload(draft, base)))
            except TranscriptMismatch as error:
                base = _step_back(draft, base, error)
        raise _disagreement(draft)

    def _upload(self, draft: Draft[T], base: Checkpoint) -> Steps[Checkpoint]:
        options = self._options
        chunks = Chunks(draft, base, session_id=self.session_id, config=self.config, size=options.chunk_bytes)
        step = Send("AppendMessages", chunks, self._metadata, options.upload_timeout_seconds)
        response = yield from with_retries(options.retry, lambda: once(step))
        return self._accept(draft, base, response.transcript_length, response.transcript_etag)

    def _accept(self, draft: Draft[T], base: Checkpoint, length: int, etag: str) -> Checkpoint:
        if length != draft.length:
            raise _disagreement(draft)
        self._sent = draft.accept(base, etag)
        return draft.base()


def _step_back(draft: Draft[T], refused: Checkpoint, error: TranscriptMismatch) -> Checkpoint:
    """The base to try after a refusal. At 0 there is none."""
    if refused == START:
        raise error
    return draft.sent.base_after_mismatch(refused, error.metadata)


def _disagreement(draft: Draft[Any]) -> CondenseError:
    return CondenseError(
        f"client and server do not agree about a history of {draft.length} messages: "
        "check that client and server are of the same release, and that one client writes to the session"
    )
