"""A caller's list in the shape of a provider on its way to the server: every object is one element of a JSON array."""

from collections.abc import Iterator, Sequence
from typing import Any

from condense_grpc.api.condense.v1.config_pb2 import SessionConfig
from condense_grpc.api.condense.v1.message_pb2 import Message
from condense_grpc.api.condense.v1.transcript_pb2 import AppendMessagesRequest, NativeMessages, TranscriptDelta
from condense_grpc.client.adapters.native import NativeAdapter
from condense_grpc.client.draft import Draft, delta_at, invalid, too_large
from condense_grpc.client.sent_history import Checkpoint, SentHistory


class NativeDraft(Draft[Any]):
    """One list, compared with what was sent. Serves one call."""

    def __init__(self, adapter: NativeAdapter, objects: Sequence[Any], sent: SentHistory, max_bytes: int) -> None:
        self._native = adapter
        self._texts: dict[int, bytes] = {}
        super().__init__(adapter, objects, sent, max_bytes)

    def _messages_of(self, index: int) -> list[Message]:
        """One message that is never read: an element counts as one."""
        self._text_of(index)
        return [_ELEMENT]

    def _text_of(self, index: int) -> bytes:
        if index not in self._texts:
            try:
                text = self._native.json_of(self.objects[index])
            except (TypeError, ValueError, RecursionError, AttributeError) as error:
                raise invalid(index, f"is no JSON object ({type(error).__name__})") from error
            if len(text) > self._max_bytes:
                raise too_large(index, len(text), self._max_bytes)
            self._texts[index] = text
        return self._texts[index]

    def delta_bytes(self, base: Checkpoint) -> int:
        """See Draft."""
        return sum(len(self._text_of(index)) + 1 for index in range(base.objects, len(self.objects)))

    def delta(self, base: Checkpoint) -> TranscriptDelta:
        """See Draft."""
        delta = delta_at(base)
        delta.native.CopyFrom(self._payload(range(base.objects, len(self.objects))))
        return delta

    def _payload(self, indexes: Sequence[int]) -> NativeMessages:
        json = b"[" + b",".join(self._text_of(index) for index in indexes) + b"]"
        return NativeMessages(format=self._native.native_format, json=json)

    def chunks(
        self, base: Checkpoint, *, session_id: str, config: SessionConfig | None, size: int
    ) -> Iterator[AppendMessagesRequest]:
        """See Draft."""
        request = AppendMessagesRequest(session_id=session_id, config=config, delta=delta_at(base))
        indexes: list[int] = []
        filled = 0
        for index in range(base.objects, len(self.objects)):
            length = len(self._text_of(index))
            if indexes and filled + length > size:
                request.delta.native.CopyFrom(self._payload(indexes))
                yield request
                request, indexes, filled = AppendMessagesRequest(), [], 0
            indexes.append(index)
            filled += length
        request.delta.native.CopyFrom(self._payload(indexes))
        yield request


_ELEMENT = Message()
