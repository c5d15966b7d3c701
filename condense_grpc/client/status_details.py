"""Reads the rich details of a failed call: `google.rpc.Status` out of the trailing metadata.

The client depends on grpcio and protobuf only, and the three detail messages that the contract uses are small and
frozen, so their wire format is read here. Whatever cannot be read counts as absent: a client that fails must be able
to say so, also if a proxy has mangled the details.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

METADATA_KEY = "grpc-status-details-bin"

_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5
_Value = int | bytes


@dataclass(frozen=True, slots=True)
class FieldViolation:
    """A field of the request that cannot be used, by its path in the contract, and what is wrong with it."""

    field: str
    description: str


@dataclass(frozen=True, slots=True)
class StatusDetails:
    """What the details say. Empty or None: not said."""

    reason: str = ""
    domain: str = ""
    metadata: Mapping[str, str] = field(default_factory=dict)
    retry_after_seconds: float | None = None
    violations: tuple[FieldViolation, ...] = ()


def read_details(status: bytes) -> StatusDetails:
    """The details in the bytes of a `google.rpc.Status`. Of several of a kind the first counts."""
    reason, domain, metadata = "", "", dict[str, str]()
    retry_after: float | None = None
    violations: tuple[FieldViolation, ...] = ()
    try:
        for detail in _messages(status, 3):
            kind = _text(detail, 1).rpartition("/")[2]
            content = _bytes(detail, 2)
            if kind == "google.rpc.ErrorInfo" and not reason:
                reason, domain = _text(content, 1), _text(content, 2)
                metadata = {_text(entry, 1): _text(entry, 2) for entry in _messages(content, 3)}
            elif kind == "google.rpc.RetryInfo" and retry_after is None:
                retry_after = _seconds(_bytes(content, 1))
            elif kind == "google.rpc.BadRequest" and not violations:
                violations = tuple(FieldViolation(_text(it, 1), _text(it, 2)) for it in _messages(content, 1))
    except (ValueError, IndexError):
        return StatusDetails()
    return StatusDetails(reason, domain, metadata, retry_after, violations)


def _seconds(duration: bytes) -> float:
    """A `google.protobuf.Duration`; a negative one is no time at all."""
    seconds, nanos = (_signed(_last(duration, number, _VARINT, 0)) for number in (1, 2))
    return max(0.0, seconds + nanos / 1e9)


def _signed(value: _Value) -> int:
    assert isinstance(value, int)
    return value - (1 << 64) if value >= 1 << 63 else value


def _messages(data: bytes, number: int) -> list[bytes]:
    return [value for field_number, value in _fields(data) if field_number == number and isinstance(value, bytes)]


def _bytes(data: bytes, number: int) -> bytes:
    value = _last(data, number, _BYTES, b"")
    assert isinstance(value, bytes)
    return value


def _text(data: bytes, number: int) -> str:
    return _bytes(data, number).decode("utf-8", "replace")


def _last(data: bytes, number: int, wire_type: int, default: _Value) -> _Value:
    """Of a field that repeats the last one counts, as protobuf wants it."""
    expected = int if wire_type == _VARINT else bytes
    for field_number, value in _fields(data):
        if field_number == number and isinstance(value, expected):
            default = value
    return default


def _fields(data: bytes) -> Iterator[tuple[int, _Value]]:
    """Number and value of every field in order: an int for a varint, else bytes. Raises on text that is cut off."""
    position = 0
    while position < len(data):
        key, position = _varint(data, position)
        wire_type = key & 7
        if wire_type == _VARINT:
            value, position = _varint(data, position)
            yield key >> 3, value
            continue
        if wire_type == _BYTES:
            size, position = _varint(data, position)
        elif wire_type in (_FIXED64, _FIXED32):
            size = 8 if wire_type == _FIXED64 else 4
        else:
            raise ValueError("a wire type that the details do not have")
        if position + size > len(data):
            raise ValueError("a field that is cut off")
        yield key >> 3, data[position : position + size]
        position += size


def _varint(data: bytes, position: int) -> tuple[int, int]:
    value = 0
    for shift in range(0, 70, 7):
        byte = data[position]
        position += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value & 0xFFFF_FFFF_FFFF_FFFF, position
    raise ValueError("a number that is too long")
