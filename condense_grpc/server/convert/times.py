"""Epoch milliseconds and Timestamps."""

from google.protobuf.timestamp_pb2 import Timestamp

from condense_grpc.server.convert.message import FIRST_TIMESTAMP_MS, LAST_TIMESTAMP_MS


def write_time(time_ms: int, target: Timestamp) -> None:
    """Write a time; one that no calendar has becomes the nearest that it has."""
    seconds, rest_ms = divmod(min(max(time_ms, FIRST_TIMESTAMP_MS), LAST_TIMESTAMP_MS), 1000)
    target.seconds = seconds
    target.nanos = rest_ms * 1_000_000


def read_time(time: Timestamp) -> int:
    """A time in milliseconds, within the range of `write_time`; fractions of one are cut off."""
    return min(max(time.seconds * 1000 + time.nanos // 1_000_000, FIRST_TIMESTAMP_MS), LAST_TIMESTAMP_MS)
