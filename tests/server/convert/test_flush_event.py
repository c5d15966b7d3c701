"""Events of a flush on the wire, alone and together."""

from hypothesis import given
from hypothesis import strategies as st

from condense_grpc.api.condense.v1.flush_event_pb2 import FlushBatchesResponse
from condense_grpc.engine.events import Notice, NumberedEvent
from condense_grpc.server.convert.flush_event import write_answers
from condense_grpc.server.workers import LARGE_BYTES

LENGTHS = st.lists(st.integers(0, LARGE_BYTES), max_size=20)


def noticed(lengths: list[int]) -> list[NumberedEvent]:
    return [NumberedEvent(n, 0, "f", Notice("info", "x" * length)) for n, length in enumerate(lengths, 1)]


@given(LENGTHS, st.booleans())
def test_every_event_comes_once_and_in_order(lengths: list[int], joint: bool) -> None:
    """However many there are, and however long they are."""
    answers = list(write_answers(noticed(lengths), FlushBatchesResponse, joint=joint))
    events = [event for one in answers for event in (one.event, *one.further_events)]
    assert [event.sequence for event in events] == list(range(1, len(lengths) + 1))
    assert [len(event.notice.text) for event in events] == lengths


@given(LENGTHS)
def test_a_joint_response_is_closed_once_it_is_large(lengths: list[int]) -> None:
    """Without its last event it is not large; alone, each event has a response of its own."""
    for one in write_answers(noticed(lengths), FlushBatchesResponse, joint=True):
        assert not one.further_events or one.ByteSize() < LARGE_BYTES + 10 * (1 + len(one.further_events))
        parts = [one.event, *one.further_events]
        assert sum(part.ByteSize() for part in parts[:-1]) < LARGE_BYTES
    alone = list(write_answers(noticed(lengths), FlushBatchesResponse, joint=False))
    assert [len(one.further_events) for one in alone] == [0] * len(lengths)


def test_events_that_are_no_burden_come_in_one_response() -> None:
    """A flush of a hundred batches."""
    [one] = write_answers(noticed([100] * 100), FlushBatchesResponse, joint=True)
    assert len(one.further_events) == 99
