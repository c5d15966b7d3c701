"""A message on its way into a transcript."""

from dataclasses import replace

from condense_grpc.domain.frozen import frozen
from condense_grpc.domain.messages import Message
from condense_grpc.domain.skeleton import NativeSpan
from condense_grpc.engine.codec import encode_message, encode_native
from condense_grpc.native.unit import NativeMessage

# The years 1 to 9999. A time outside of them is no time: it counts as absent.
FIRST_MS = -62_135_596_800_000
LAST_MS = 253_402_300_799_999


@frozen
class Arrival:
    """A message with its bytes. `keys` are what its digest covers, one after another; `span`: its place in a
    provider's shape, if it came in one.
    """

    message: Message
    body: bytes
    keys: tuple[bytes, ...]
    span: NativeSpan | None = None


def typed_arrival(message: Message) -> Arrival:
    """A message of the contract."""
    if message.timestamp_ms is not None:
        message = _with_possible_time(message)
    body = encode_message(message)
    return Arrival(message, body, (body,))


def read_arrival(message: Message) -> Arrival:
    """A message that was read from a text of its host: it keeps this text, and is the same as one without it."""
    found = typed_arrival(message)
    return replace(found, keys=(encode_message(replace(found.message, source_json="")),))


def native_arrival(found: NativeMessage) -> Arrival:
    """A message that came in a provider's shape."""
    return Arrival(_with_possible_time(found.message), encode_native(found.body), found.keys, found.span)


def _with_possible_time(message: Message) -> Message:
    time_ms = message.timestamp_ms
    return message if time_ms is None or FIRST_MS <= time_ms <= LAST_MS else replace(message, timestamp_ms=None)
