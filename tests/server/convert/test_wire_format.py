"""Bytes of protobuf's wire format, read and written as protobuf does it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from condense_grpc.api.condense.v1 import message_pb2, transcript_pb2
from condense_grpc.server.convert.wire_format import UnusualBytes, fields, length_at, length_tag, opening, varint

NUMBERS = st.one_of(st.integers(0, 300), st.integers(0, (1 << 64) - 1))


@given(st.integers(0, (1 << 63) - 1))
def test_a_number_is_written_as_protobuf_writes_it(number: int) -> None:
    """The field of a message that is nothing but this number."""
    assert b"\x08" + varint(number) == message_pb2.Message(timestamp_ms=number).SerializeToString()


@given(st.binary(max_size=300))
def test_a_field_is_opened_as_protobuf_opens_it(content: bytes) -> None:
    """With the tag from the contract and the length."""
    tag = length_tag(transcript_pb2.NativeMessages.DESCRIPTOR.fields_by_name["json"])
    written = transcript_pb2.NativeMessages(json=content).SerializeToString()
    assert written == (opening(tag, len(content)) + content if content else b"")


@given(st.integers(0, (1 << 28) - 1), st.binary(max_size=3))
def test_a_length_is_read_only_if_so_much_is_there(length: int, before: bytes) -> None:
    """Up to the end that is given, whatever lies behind it."""
    data = before + varint(length)
    assert length_at(data, len(before), len(data) + length) == (length, len(data))
    for end in (len(data) - 1, len(data) + length - 1):
        if length:
            with pytest.raises(UnusualBytes):
                length_at(data, len(before), end)


@given(
    st.lists(
        st.one_of(
            st.tuples(st.integers(1, 3000), st.just(0), st.builds(varint, NUMBERS)),
            st.tuples(st.integers(1, 3000), st.just(1), st.binary(min_size=8, max_size=8)),
            st.tuples(st.integers(1, 3000), st.just(2), st.binary(max_size=200)),
            st.tuples(st.integers(1, 3000), st.just(5), st.binary(min_size=4, max_size=4)),
        ),
        max_size=8,
    )
)
def test_every_field_is_found_where_it_lies(written: list[tuple[int, int, bytes]]) -> None:
    """Those with a length by their numbers, and behind each of them the next."""
    data, expected = b"", []
    for number, kind, value in written:
        start = len(data)
        data += varint(number << 3 | kind) + (varint(len(value)) if kind == 2 else b"") + value
        expected.append((number if kind == 2 else 0, start, len(data) - len(value), len(data)))
    assert list(fields(data, 0, len(data))) == expected
    for other in (b"\x0b\x0c", b"\x08\x80", b"\x12\x02a", b"\x09short", b"\x80"):
        with pytest.raises(UnusualBytes):
            list(fields(data + other, 0, len(data + other)))
