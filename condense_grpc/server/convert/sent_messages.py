"""The messages of a large request as the bytes in which they were sent.

Most of a long history that comes again was sent before. Its messages are cut out of the request without being parsed:
they are recognised by their bytes, and answered in these bytes; only new ones are parsed. The rest of the request, the
head, is parsed as always.

That is a shortcut. A request that is not laid out as encoders do it is not cut, and read as a whole instead.
"""

from collections.abc import Sequence
from typing import Any, Generic, TypeVar, overload

from google.protobuf.message import Message as ProtoMessage

from condense_grpc.api.condense.v1 import message_pb2, transcript_pb2
from condense_grpc.domain.frozen import frozen
from condense_grpc.server.convert.wire_format import UnusualBytes, fields, length_at, length_tag, opening

M = TypeVar("M", bound=ProtoMessage)

_PAYLOAD = transcript_pb2.TranscriptDelta.DESCRIPTOR.oneofs_by_name["payload"]
_PAYLOAD_NUMBERS = {field.number for field in _PAYLOAD.fields}
_MESSAGES = transcript_pb2.TranscriptDelta.DESCRIPTOR.fields_by_name["messages"]
_EACH = length_tag(transcript_pb2.MessageList.DESCRIPTOR.fields_by_name["messages"])


class SentMessages(Sequence[message_pb2.Message]):
    """Messages as they were sent, each parsed anew when it is asked for. Raises DecodeError for one that is none."""

    __slots__ = ("slices",)

    def __init__(self, slices: Sequence[bytes]) -> None:
        self.slices = slices

    def __len__(self) -> int:
        return len(self.slices)

    @overload
    def __getitem__(self, index: int) -> message_pb2.Message: ...
    @overload
    def __getitem__(self, index: slice) -> list[message_pb2.Message]: ...
    def __getitem__(self, index: int | slice) -> message_pb2.Message | list[message_pb2.Message]:
        if isinstance(index, slice):
            return [message_pb2.Message.FromString(data) for data in self.slices[index]]
        return message_pb2.Message.FromString(self.slices[index])

    @property
    def longest_bytes(self) -> int:
        """The size of the largest one."""
        return max(map(len, self.slices), default=0)


@frozen
class CutRequest(Generic[M]):
    """A request in two: `head` has everything but the messages of its delta, of which it has an empty list."""

    head: M
    messages: SentMessages


def cut_request(kind: type[M], data: bytes) -> CutRequest[M] | None:
    """A request with a `delta`; None if it brings no messages of the contract, or is not laid out as encoders do it.

    Raises DecodeError when the head cannot be read.
    """
    try:
        return _cut(kind, data)
    except UnusualBytes:
        return None


def _cut(kind: type[M], data: bytes) -> CutRequest[M] | None:
    delta_field: Any = kind.DESCRIPTOR.fields_by_name["delta"]
    found = _only({delta_field.number}, data, 0, len(data))
    if found is None:
        return None
    delta_start, delta, delta_end = found
    found = _only(_PAYLOAD_NUMBERS, data, delta, delta_end)
    if found is None or not data.startswith(length_tag(_MESSAGES), found[0]):
        return None
    list_start, messages, list_end = found
    slices = _slices(data, messages, list_end)
    rest = data[delta:list_start] + opening(length_tag(_MESSAGES), 0) + data[list_end:delta_end]
    head = data[:delta_start] + opening(length_tag(delta_field), len(rest)) + rest + data[delta_end:]
    return CutRequest(kind.FromString(head), SentMessages(slices))


def _only(numbers: set[int], data: bytes, at: int, end: int) -> tuple[int, int, int] | None:
    """Where the only field with one of these numbers lies, its start, its value and its end; None if there is none."""
    found = [place[1:] for place in fields(data, at, end) if place[0] in numbers]
    if len(found) > 1:
        raise UnusualBytes  # Their merging is an art of its own.
    return found[0] if found else None


def _slices(data: bytes, at: int, end: int) -> list[bytes]:
    """The messages of a list that lies between two places. It must have nothing else."""
    tag, found = _EACH[0], []
    while at < end:
        if data[at] != tag:
            raise UnusualBytes
        # Nearly every length has one or two bytes. (Thousands of messages: a call for each is what it costs.)
        first = data[at + 1] if at + 1 < end else 0x80
        if first < 0x80:
            length, at = first, at + 2
        elif at + 2 < end and data[at + 2] < 0x80:
            length, at = first & 0x7F | data[at + 2] << 7, at + 3
        else:
            length, at = length_at(data, at + 1, end)
        if at + length > end:
            raise UnusualBytes
        found.append(data[at : at + length])
        at += length
    return found
