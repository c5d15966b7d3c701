"""Deltas: what a request says about the history, checked against the limits of the server."""

from dataclasses import dataclass, field

from condense_grpc.api.condense.v1 import config_pb2, transcript_pb2
from condense_grpc.domain.messages import Message
from condense_grpc.engine.requests import Delta
from condense_grpc.errors import DeltaTooLarge, MessageTooLarge, NotImplementedYet, RequestInvalid
from condense_grpc.server.convert.config import ConfigReader
from condense_grpc.server.convert.message import read_messages
from condense_grpc.server.convert.session_id import new_session_id
from condense_grpc.server.limits import Limits


@dataclass(frozen=True, slots=True)
class Change:
    """What a request does to the transcript of a session before anything else.

    `delta` None: nothing. `create` then says that the session is to be made if it does not exist: not None, but
    the settings for it.
    """

    delta: Delta | None = None
    create: dict[str, object] | None = None


@dataclass(frozen=True, slots=True)
class DeltaReader:
    """Reads deltas. Safe to use from any thread."""

    limits: Limits
    configs: ConfigReader

    def read(
        self, delta: transcript_pb2.TranscriptDelta, config: config_pb2.SessionConfig, request_bytes: int
    ) -> Change:
        """The change that a request asks for. `config` is looked at only when the session may be created.

        `request_bytes` is the size of the whole request; only when it is beyond a limit its pieces are measured.
        """
        check_base(delta)
        settings = self.configs.new(config) if delta.create_if_missing else {}
        if delta.WhichOneof("payload") is None:
            return Change(create=settings if delta.create_if_missing else None)
        messages = self.payload(delta, request_bytes)
        if request_bytes > self.limits.max_delta_bytes and delta.ByteSize() > self.limits.max_delta_bytes:
            raise DeltaTooLarge(delta.ByteSize(), self.limits.max_delta_bytes)
        return Change(Delta(delta.base_length, delta.base_etag, messages, delta.create_if_missing, settings))

    def payload(self, delta: transcript_pb2.TranscriptDelta, request_bytes: int, first_index: int = 0) -> list[Message]:
        """The messages of a delta or a chunk; `first_index` messages of earlier chunks come before them."""
        if delta.WhichOneof("payload") == "native":
            _refuse_native(delta.native)
        messages = delta.messages.messages
        if first_index + len(messages) > self.limits.max_delta_messages:
            raise DeltaTooLarge(first_index + len(messages), self.limits.max_delta_messages, unit="messages")
        limit = self.limits.max_transcript_message_bytes
        if request_bytes > limit:
            # A single message is named: to send the delta in chunks would not help.
            for index, size in enumerate((message.ByteSize() for message in messages), first_index):
                if size > limit:
                    raise MessageTooLarge(index, size, limit)
        return read_messages(messages, "delta.messages.messages", first_index)


def check_base(delta: transcript_pb2.TranscriptDelta) -> None:
    """Refuse a base that no history can have."""
    if delta.base_length < 0:
        raise RequestInvalid("delta.base_length", f"must not be negative, not {delta.base_length}")


def _refuse_native(native: transcript_pb2.NativeMessages) -> None:
    if native.format == transcript_pb2.MESSAGE_FORMAT_UNSPECIFIED:
        raise RequestInvalid("delta.native.format", "must be set: it says how the JSON is to be read")
    known = native.format in transcript_pb2.MessageFormat.values()
    raise NotImplementedYet(transcript_pb2.MessageFormat.Name(native.format) if known else f"format {native.format}")


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
        self._messages += self.reader.payload(chunk.delta, chunk_bytes, first_index=len(self._messages))

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
        change = self.reader.read(self._first.delta, self._first.config, request_bytes=0)
        if not self._has_payload:
            return change
        delta, settings = self._first.delta, change.create or {}
        return Change(Delta(delta.base_length, delta.base_etag, self._messages, delta.create_if_missing, settings))
