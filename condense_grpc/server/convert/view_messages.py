"""The messages of a full view as bytes of the answer: those that were just sent stay the bytes in which they came.

The answer is then put together of pieces. Nothing is parsed or copied but these pieces, once.
"""

from collections.abc import Iterable, Sequence
from functools import lru_cache

from condense_grpc.api.condense.v1 import message_pb2, view_pb2
from condense_grpc.domain.messages import Message
from condense_grpc.engine.requests import AsSent
from condense_grpc.server.convert.message import write_message
from condense_grpc.server.convert.sent_messages import SentMessages
from condense_grpc.server.convert.wire_format import length_tag, opening, varint

_EACH = length_tag(view_pb2.PruneMessagesResponse.DESCRIPTOR.fields_by_name["messages"])
_TIME = varint(message_pb2.Message.DESCRIPTOR.fields_by_name["timestamp_ms"].number << 3)
_UINT64 = (1 << 64) - 1


def written_messages(messages: Iterable[Message | AsSent], sent: SentMessages) -> list[bytes]:
    """The messages of a view, each as a field of the answer, in pieces."""
    pieces: list[bytes] = []
    for message in messages:
        if isinstance(message, AsSent):
            end = message.index + len(message.times_ms)
            _write_sent(sent.slices[message.index : end], message.times_ms, pieces)
        else:
            target = message_pb2.Message()
            write_message(message, target)
            written = target.SerializeToString()
            pieces += (opening(_EACH, len(written)), written)
    return pieces


def _write_sent(slices: Sequence[bytes], times_ms: Sequence[int], pieces: list[bytes]) -> None:
    """Messages as they were sent, with these times: of two values of a field the later one counts."""
    for data, time_ms in zip(slices, times_ms, strict=True):
        time = written_time(time_ms)
        if data.startswith(time):
            pieces += (opening(_EACH, len(data)), data)
        else:
            pieces += (opening(_EACH, len(data) + len(time)), data, time)


def written_time(timestamp_ms: int) -> bytes:
    """The field of a message that says its time."""
    number = timestamp_ms & _UINT64
    if number <= 0x7F:
        return _TIME + bytes([number])
    return _STARTS[number & 0x7F] + _rest(number >> 7)


_STARTS = [_TIME + bytes([low | 0x80]) for low in range(0x80)]


@lru_cache(maxsize=1000)
def _rest(number: int) -> bytes:
    """The bytes of a time but the first; they are the same for many that follow each other."""
    return varint(number)
