"""Requests whose messages are cut out of their bytes: never anything else than what protobuf reads there."""

from typing import Any

import pytest
from google.protobuf.message import DecodeError
from hypothesis import given
from hypothesis import strategies as st

from condense_grpc.api.condense.v1 import flush_event_pb2, transcript_pb2, view_pb2
from condense_grpc.server.convert.sent_messages import cut_request
from condense_grpc.server.convert.wire_format import varint
from tests.server.convert.test_message import MESSAGE
from tests.server.running import delta, user

PRUNE = view_pb2.PruneMessagesRequest

UNKNOWN = st.sampled_from(
    [
        *(
            varint(99 << 3 | kind) + value
            for kind, value in ((0, b"\x05"), (1, b"8 bytes."), (2, b"\x01a"), (5, b"four"))
        ),
        varint(99 << 3 | 3) + varint(99 << 3 | 4),
        b"\x00\x00",
        b"\x07",
        b"\x0d" + b"four",
    ]
)


def lengthy(number: int, content: bytes, padding: int = 0) -> bytes:
    """A field with a length, which may be written with more bytes than it needs."""
    length = varint(len(content))
    if padding:
        length = length[:-1] + bytes([length[-1] | 0x80]) + b"\x80" * (padding - 1) + b"\x00"
    return varint(number << 3 | 2) + length + content


def joined(fields: st.SearchStrategy[bytes], max_size: int = 4) -> st.SearchStrategy[bytes]:
    """Fields behind each other, now and then with one that nobody knows."""
    return st.lists(st.one_of(*[fields] * 7, UNKNOWN), max_size=max_size).map(b"".join)


def part_of(number: int, content: st.SearchStrategy[bytes]) -> st.SearchStrategy[bytes]:
    return st.builds(lengthy, st.just(number), content, st.sampled_from([0] * 9 + [1, 2, 5]))


EACH = part_of(1, st.one_of(*[MESSAGE.map(lambda message: message.SerializeToString())] * 9, st.binary(max_size=9)))
LIST = part_of(4, joined(EACH))
NATIVE = part_of(5, st.just(transcript_pb2.NativeMessages(json=b"[]").SerializeToString()))
BASE = st.sampled_from([b"\x08\x02", b"\x12\x01e", b"\x18\x01"])
DELTA = part_of(2, joined(st.one_of(LIST, LIST, BASE, BASE, NATIVE)))
REST = st.sampled_from([b"\x0a\x01s", b"\x18\x02", b"\x22\x03abc", b"\x0a\x02\xff\xfe"])
REQUEST = joined(st.one_of(DELTA, REST, REST))


def damaged(data: bytes, at: int, byte: int | None) -> bytes:
    """With another byte at a place, or ending there."""
    at %= len(data) + 1
    return data[:at] + (b"" if byte is None else bytes([byte]) + data[at + 1 :])


DAMAGED = st.builds(damaged, REQUEST, st.integers(0), st.one_of(st.none(), st.integers(0, 255)))


def read(kind: Any, data: bytes) -> Any:
    try:
        return kind.FromString(data)
    except DecodeError:
        return None


def put_together(kind: Any, data: bytes) -> Any:
    """What the cut gives as a whole again; None for bytes of which it says that they cannot be read."""
    try:
        cut = cut_request(kind, data)
        if cut is None:
            return "uncut"
        assert not cut.head.delta.messages.messages
        cut.head.delta.messages.messages.extend(cut.messages[:])
    except DecodeError:
        return None
    return cut.head


@given(st.one_of(REQUEST, DAMAGED), st.sampled_from([PRUNE, flush_event_pb2.FlushBatchesRequest]))
def test_a_cut_request_is_what_protobuf_reads(data: bytes, kind: Any) -> None:
    """In whatever order its fields are, split, repeated, unknown, padded or damaged; or it is not cut."""
    found = put_together(kind, data)
    assert found == "uncut" or found == read(kind, data)


@given(st.lists(MESSAGE, max_size=5), st.integers(0, 3), st.sampled_from(["", "s"]))
def test_what_an_encoder_writes_is_cut(messages: list[Any], base: int, name: str) -> None:
    """Whatever fields are set."""
    request = PRUNE(session_id=name, delta=delta(*messages, base=base), view=view_pb2.VIEW_FULL)
    assert put_together(PRUNE, request.SerializeToString()) == request


def test_one_message_can_be_asked_for() -> None:
    """By its index, and by any slice."""
    messages = [user("a"), user("b" * 20_000), user("c")]
    cut = cut_request(PRUNE, PRUNE(delta=delta(*messages)).SerializeToString())
    assert cut is not None
    assert (len(cut.messages), cut.messages[1], cut.messages[1:]) == (3, messages[1], messages[1:])
    assert cut.messages.longest_bytes == messages[1].ByteSize()


@pytest.mark.parametrize(
    "request_", [PRUNE(session_id="s"), PRUNE(delta=transcript_pb2.TranscriptDelta(base_length=1))]
)
def test_a_request_without_messages_is_not_cut(request_: Any) -> None:
    """There is nothing to be gained."""
    assert cut_request(PRUNE, request_.SerializeToString()) is None
