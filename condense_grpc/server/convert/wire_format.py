"""Fields of protobuf's wire format: where they lie in the bytes of a message, and how one is begun.

For large requests and answers only, of which pieces pass through as they are. What is read here is what every encoder
writes; whatever else protobuf allows is told as unusual, and left to protobuf.
"""

from collections.abc import Iterator
from functools import lru_cache

from google.protobuf.descriptor import FieldDescriptor

_VARINT, _FIXED64, _LENGTH, _FIXED32 = 0, 1, 2, 5
_LONGEST_LENGTH = 4
"""Bytes of a length: no message that fits into a call is longer than four of them can say."""


class UnusualBytes(Exception):
    """These bytes are not as encoders write them; perhaps they are no message at all."""


def varint(number: int) -> bytes:
    """A number that is not negative as it stands on the wire."""
    written = bytearray()
    while number > 0x7F:
        written.append(number & 0x7F | 0x80)
        number >>= 7
    written.append(number)
    return bytes(written)


@lru_cache(maxsize=100_000)
def opening(tag: bytes, length: int) -> bytes:
    """What stands before the bytes of a field that has a length."""
    return tag + varint(length)


def length_tag(field: FieldDescriptor) -> bytes:
    """The tag of a field that has a length: a text, bytes or a message."""
    return varint(field.number << 3 | _LENGTH)


def length_at(data: bytes, at: int, end: int) -> tuple[int, int]:
    """A length, and where what has this length begins. It must end before `end`."""
    length = 0
    for count in range(_LONGEST_LENGTH):
        if at >= end:
            break
        byte = data[at]
        at += 1
        length |= (byte & 0x7F) << (7 * count)
        if byte < 0x80:
            if at + length > end:
                break
            return length, at
    raise UnusualBytes


def fields(data: bytes, at: int, end: int) -> Iterator[tuple[int, int, int, int]]:
    """The fields of a message that lies between two places: number (0 for those without a length), where the field
    begins, where its value begins, and where both end.
    """
    while at < end:
        start = at
        tag, at = _number_at(data, at, end)
        number, kind = tag >> 3, tag & 7
        if kind == _LENGTH:
            length, at = length_at(data, at, end)
            yield number, start, at, at + length
            at += length
            continue
        value = at
        if kind == _VARINT:
            _, at = _number_at(data, at, end)
        elif kind in (_FIXED64, _FIXED32):
            at += 8 if kind == _FIXED64 else 4
        else:
            raise UnusualBytes
        if at > end:
            raise UnusualBytes
        yield 0, start, value, at


def _number_at(data: bytes, at: int, end: int) -> tuple[int, int]:
    """A varint, and what is behind it."""
    number = shift = 0
    while at < end and shift < 70:
        byte = data[at]
        at += 1
        number |= (byte & 0x7F) << shift
        if byte < 0x80:
            return number, at
        shift += 7
    raise UnusualBytes
