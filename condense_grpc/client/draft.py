"""A caller's list on its way to the server: compared with what was sent, and read into messages where it is new.

Reading is the door. Whatever cannot be sent is refused here, with the place in the caller's list and before anything
has left: text with lone surrogates (half of a character, which UTF-8 cannot hold), objects of another shape, and
messages larger than one gRPC message.
"""

from collections.abc import Iterator, Sequence
from typing import Generic, TypeVar

from condense_grpc.api.condense.v1.config_pb2 import SessionConfig
from condense_grpc.api.condense.v1.message_pb2 import Message
from condense_grpc.api.condense.v1.transcript_pb2 import AppendMessagesRequest, MessageList, TranscriptDelta
from condense_grpc.client.adapters.base import MessageAdapter
from condense_grpc.client.errors import MessageInvalid, MessageTooLarge
from condense_grpc.client.sent_history import START, Checkpoint, SentHistory

T = TypeVar("T")


class Draft(Generic[T]):
    """One list of the caller, compared with `sent`. Serves one call."""

    def __init__(self, adapter: MessageAdapter[T], objects: Sequence[T], sent: SentHistory, max_bytes: int) -> None:
        self.objects = list(objects)
        self._adapter = adapter
        self._max_bytes = max_bytes
        self._read: dict[int, list[Message]] = {}
        self.sent = sent
        self.unchanged = sent.count_unchanged(adapter, self.objects)
        new = range(self.unchanged, len(self.objects))
        self.piece_counts = [*sent.piece_counts[: self.unchanged], *(len(self._messages_of(i)) for i in new)]
        self.snapshots = [*sent.snapshots[: self.unchanged], *(adapter.snapshot(self.objects[i]) for i in new)]
        self.length = sum(self.piece_counts)
        """How many messages the whole list is."""

    def base(self) -> Checkpoint:
        """The latest checkpoint that the list agrees with."""
        return self.sent.base_for(self.unchanged)

    def accept(self, base: Checkpoint, etag: str) -> SentHistory:
        """Takes note that the server has the whole list, at this etag, after a delta from `base`."""
        checkpoint = Checkpoint(self.length, etag, len(self.objects))
        self.sent = self.sent.cut_to(base).extended(self.snapshots, self.piece_counts, checkpoint)
        self.unchanged = len(self.objects)
        return self.sent

    def all_messages(self) -> Iterator[Message]:
        """The whole list as messages."""
        return self.messages_from(START)

    def messages_from(self, base: Checkpoint) -> Iterator[Message]:
        """The messages behind a base, which stand for the objects behind it."""
        names: dict[str, list[str]] = {}
        for index in range(self._turn_start(base.objects), len(self.objects)):
            for message in self._messages_of(index):
                named = message if self._adapter.results_name_their_tool else _named(message, names)
                if index >= base.objects:
                    yield named

    def delta_bytes(self, base: Checkpoint) -> int:
        """The encoded size of the messages behind a base, nearly."""
        indexes = range(base.objects, len(self.objects))
        return sum(message.ByteSize() + 8 for index in indexes for message in self._messages_of(index))

    def delta(self, base: Checkpoint) -> TranscriptDelta:
        """Everything behind a base. An empty list is sent too: the transcript ends at the base then."""
        delta = delta_at(base)
        delta.messages.CopyFrom(MessageList(messages=self.messages_from(base)))
        return delta

    def chunks(
        self, base: Checkpoint, *, session_id: str, config: SessionConfig | None, size: int
    ) -> Iterator[AppendMessagesRequest]:
        """Everything behind a base as the requests of an upload, at least one, of about that size.

        A larger message is alone in its chunk.
        """
        request = AppendMessagesRequest(session_id=session_id, config=config, delta=delta_at(base))
        request.delta.messages.SetInParent()
        filled = 0
        for message in self.messages_from(base):
            length = message.ByteSize()
            if filled and filled + length > size:
                yield request
                request, filled = AppendMessagesRequest(), 0
            request.delta.messages.messages.append(message)
            filled += length
        yield request

    def _messages_of(self, index: int) -> list[Message]:
        if index not in self._read:
            self._read[index] = self._convert(index)
        return self._read[index]

    def _convert(self, index: int) -> list[Message]:
        try:
            messages = [self._adapter.to_message(piece) for piece in self._adapter.split(self.objects[index])]
        except UnicodeEncodeError as error:
            what = "holds text with a lone surrogate, half of a character: replace it, for example by U+FFFD"
            raise invalid(index, what) from error
        except (TypeError, ValueError, LookupError, AttributeError, RecursionError) as error:
            what = f"is not a message of the shape that {type(self._adapter).__name__} reads ({type(error).__name__})"
            raise invalid(index, what) from error
        if not messages or any(message.WhichOneof("kind") is None for message in messages):
            raise invalid(index, "has no kind: set user, assistant, tool_result or custom")
        size = sum(message.ByteSize() for message in messages)
        if size > self._max_bytes:
            raise too_large(index, size, self._max_bytes)
        return messages

    def _turn_start(self, index: int) -> int:
        """The object whose calls the results from `index` on may belong to."""
        if self._adapter.results_name_their_tool or index >= len(self.objects):
            return index
        start = index
        while start > 0:
            start -= 1
            if any(message.HasField("assistant") for message in self._messages_of(start)):
                return start
        return index


class Chunks(Generic[T]):
    """A draft as the requests of an upload. Can be iterated again for every attempt."""

    def __init__(
        self, draft: Draft[T], base: Checkpoint, *, session_id: str, config: SessionConfig | None, size: int
    ) -> None:
        self._draft, self._base, self._size = draft, base, size
        self._session_id, self._config = session_id, config

    def __iter__(self) -> Iterator[AppendMessagesRequest]:
        """The requests, from the first one on."""
        return self._draft.chunks(self._base, session_id=self._session_id, config=self._config, size=self._size)


def delta_at(base: Checkpoint) -> TranscriptDelta:
    """A delta without a payload."""
    return TranscriptDelta(base_length=base.length, base_etag=base.etag, create_if_missing=True)


def too_large(index: int, size: int, limit: int) -> MessageTooLarge:
    """The refusal of a message that fits into no request."""
    return MessageTooLarge(
        f"message {index} has {size} bytes, more than the {limit} of one gRPC message: "
        "make it smaller, or raise the limit of client and server",
        metadata={"messageIndex": str(index), "bytes": str(size), "maxBytes": str(limit)},
    )


def invalid(index: int, what: str) -> MessageInvalid:
    """The refusal of an object that cannot be sent."""
    return MessageInvalid(f"message {index} {what}", metadata={"messageIndex": str(index)})


def _named(message: Message, names: dict[str, list[str]]) -> Message:
    """The message, a result with the name of its tool. `names`: those of the open calls by id, in call order."""
    if message.HasField("assistant"):
        names.clear()
        for part in message.assistant.parts:
            if part.HasField("tool_call"):
                names.setdefault(part.tool_call.id, []).append(part.tool_call.name)
    elif message.HasField("tool_result") and not message.tool_result.tool_name:
        calls = names.get(message.tool_result.tool_call_id, [])
        if calls:
            named = Message()
            named.CopyFrom(message)
            named.tool_result.tool_name = calls.pop(0) if len(calls) > 1 else calls[0]
            return named
    return message
