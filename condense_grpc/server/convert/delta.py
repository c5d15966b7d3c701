"""Deltas: what a request says about the history, checked against the limits of the server."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeVar

from google.protobuf.message import DecodeError
from google.protobuf.message import Message as ProtoMessage

from condense_grpc.api.condense.v1 import config_pb2, transcript_pb2
from condense_grpc.domain.frozen import frozen
from condense_grpc.domain.messages import Message
from condense_grpc.engine.recognition import Recognised, Recollection, SentPrints
from condense_grpc.engine.requests import Delta, NativeElements
from condense_grpc.errors import CondenseError, DeltaTooLarge, MessageTooLarge, RequestInvalid
from condense_grpc.server.convert.config import ConfigReader
from condense_grpc.server.convert.message import read_messages
from condense_grpc.server.convert.native import joined, read_native, sizes_of
from condense_grpc.server.convert.sent_messages import SentMessages, cut_request
from condense_grpc.server.convert.session_id import new_session_id
from condense_grpc.server.limits import Limits

M = TypeVar("M", bound=ProtoMessage)
T = TypeVar("T")

_FIELD = "delta.messages.messages"


@frozen
class Change:
    """What a request does to the transcript of a session before anything else.

    `delta` None: nothing. `create` then says that the session is to be made if it does not exist: not None, but
    the settings for it.
    """

    delta: Delta | None = None
    create: dict[str, object] | None = None


@frozen
class DeltaReader:
    """Reads deltas. Safe to use from any thread."""

    limits: Limits
    configs: ConfigReader
    recollect: Callable[[str], Recollection | None]

    def read(
        self,
        delta: transcript_pb2.TranscriptDelta,
        config: config_pb2.SessionConfig,
        request_bytes: int,
        session_id: str,
        *,
        sent: SentMessages | None = None,
    ) -> Change:
        """The change that a request asks for. `config` is looked at only when the session may be created.

        `request_bytes` is the size of the whole request: only when it is beyond a limit its pieces are measured.
        `sent`: the messages, if they were cut out of the delta; it is looked up which of them were sent before.
        """
        check_base(delta)
        settings = self.configs.new(config) if delta.create_if_missing else {}
        if delta.WhichOneof("payload") is None:
            return Change(create=settings if delta.create_if_missing else None)
        prints = known = None
        if sent is None:
            messages, native = self.payload(delta, request_bytes)
        else:
            native, prints = None, SentPrints.of(delta.base_length, sent.slices)
            known = self._recognise(sent, prints, session_id)
            messages = read_messages(sent, _FIELD, skipped=0 if known is None else known.count)
        if request_bytes > self.limits.max_delta_bytes and delta.ByteSize() > self.limits.max_delta_bytes:
            raise DeltaTooLarge(delta.ByteSize(), self.limits.max_delta_bytes)
        may_create = delta.create_if_missing
        return Change(Delta(delta.base_length, delta.base_etag, messages, may_create, settings, native, known, prints))

    def _recognise(self, sent: SentMessages, prints: SentPrints, session_id: str) -> Recognised | None:
        """The messages that the session is known to have; they need not be read."""
        recollection = self.recollect(session_id)
        return None if recollection is None else recollection.recognise(prints, lambda: read_messages(sent, _FIELD))

    def read_cut(self, kind: type[M], data: bytes, read: Callable[[M, int, SentMessages], T]) -> T | None:
        """What `read` makes of a request whose messages were cut out of it, and of its size.

        None: it is to be read as a whole, since it cannot be cut, or since something is wrong with it. The errors are
        those of reading it as a whole.
        """
        try:
            cut = cut_request(kind, data)
            if cut is None or not self._is_within_limits(cut.messages, len(data)):
                return None
            return read(cut.head, len(data), cut.messages)
        except (DecodeError, CondenseError):
            return None

    def _is_within_limits(self, sent: SentMessages, request_bytes: int) -> bool:
        limits = self.limits
        return (
            request_bytes <= limits.max_delta_bytes
            and len(sent) <= limits.max_delta_messages
            and sent.longest_bytes <= limits.max_transcript_message_bytes
        )

    def payload(
        self, delta: transcript_pb2.TranscriptDelta, request_bytes: int, first_index: int = 0
    ) -> tuple[list[Message], NativeElements | None]:
        """The messages of a delta or a chunk, or its elements in the shape of a provider.

        `first_index` messages of earlier chunks come before them.
        """
        messages = delta.messages.messages
        native = read_native(delta.native, first_index) if delta.WhichOneof("payload") == "native" else None
        count = first_index + (len(messages) if native is None else len(native.elements))
        if count > self.limits.max_delta_messages:
            raise DeltaTooLarge(count, self.limits.max_delta_messages, unit="messages")
        limit = self.limits.max_transcript_message_bytes
        if request_bytes > limit:
            # A single message is named: to send the delta in chunks would not help.
            sizes = [message.ByteSize() for message in messages] if native is None else sizes_of(native.elements)
            for index, size in enumerate(sizes, first_index):
                if size > limit:
                    raise MessageTooLarge(index, size, limit)
        return read_messages(messages, _FIELD, first_index), native


def check_base(delta: transcript_pb2.TranscriptDelta) -> None:
    """Refuse a base that no history can have."""
    if delta.base_length < 0:
        raise RequestInvalid("delta.base_length", f"must not be negative, not {delta.base_length}")


@dataclass(slots=True)
class ChunkedDelta:
    """The chunks of one AppendMessages stream, collected. Nothing of them is applied before `finished`.

    The first chunk names session, base and configuration; later ones only carry messages.
    """

    reader: DeltaReader
    session_id: str = ""
    _first: transcript_pb2.AppendMessagesRequest | None = None
    _has_payload: bool = False
    _messages: list[Message] = field(default_factory=list)
    _native: NativeElements | None = None
    _bytes: int = 0

    def add(self, chunk: transcript_pb2.AppendMessagesRequest, chunk_bytes: int) -> None:
        """Take in the next chunk. Raises what is wrong with it; the stream is over then."""
        if self._first is None:
            self._first = self._head_of(chunk)
            self.session_id = new_session_id(chunk.session_id)
        elif chunk.session_id not in ("", self.session_id):
            raise RequestInvalid("session_id", "must be empty or the same in all chunks of a stream")
        self._bytes += chunk_bytes
        limits = self.reader.limits
        if self._bytes > limits.max_stream_bytes:
            raise DeltaTooLarge(self._bytes, limits.max_stream_bytes, is_stream=True)
        self._has_payload |= chunk.delta.WhichOneof("payload") is not None
        count = len(self._messages) if self._native is None else len(self._native.elements)
        messages, native = self.reader.payload(chunk.delta, chunk_bytes, first_index=count)
        self._messages += messages
        if native is not None:
            self._native = joined(self._native, native)
        if self._native is not None and self._messages:
            raise RequestInvalid("delta.payload", "must have one form in all chunks of a stream")

    def _head_of(self, chunk: transcript_pb2.AppendMessagesRequest) -> transcript_pb2.AppendMessagesRequest:
        check_base(chunk.delta)
        head = transcript_pb2.AppendMessagesRequest()
        head.delta.base_length = chunk.delta.base_length
        head.delta.base_etag = chunk.delta.base_etag
        head.delta.create_if_missing = chunk.delta.create_if_missing
        head.config.CopyFrom(chunk.config)
        return head

    def finished(self) -> Change:
        """The change, after the client has closed its side."""
        if self._first is None:
            raise RequestInvalid("delta", "must be there: the stream has no chunk")
        change = self.reader.read(self._first.delta, self._first.config, 0, self.session_id)
        if not self._has_payload:
            return change
        delta, settings = self._first.delta, change.create or {}
        return Change(
            Delta(delta.base_length, delta.base_etag, self._messages, delta.create_if_missing, settings, self._native)
        )
