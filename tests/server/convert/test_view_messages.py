"""The messages of a view in the bytes of the answer: what is written is what protobuf would write of them."""

from hypothesis import given
from hypothesis import strategies as st

from condense_grpc.api.condense.v1 import message_pb2 as pb
from condense_grpc.api.condense.v1 import view_pb2
from condense_grpc.domain.messages import Message
from condense_grpc.engine.requests import AsSent
from condense_grpc.server.convert.message import FIRST_TIMESTAMP_MS, LAST_TIMESTAMP_MS, read_messages, write_message
from condense_grpc.server.convert.sent_messages import SentMessages
from condense_grpc.server.convert.view_messages import written_messages, written_time
from tests.server.convert.test_message import MESSAGE

TIMES = st.one_of(st.integers(-200, 20_000), st.integers(FIRST_TIMESTAMP_MS, LAST_TIMESTAMP_MS))


@given(TIMES)
def test_a_time_is_written_as_protobuf_writes_it(time_ms: int) -> None:
    """Also 0 and what lies before it."""
    assert written_time(time_ms) == pb.Message(timestamp_ms=time_ms).SerializeToString()


@given(
    st.lists(MESSAGE, min_size=1, max_size=4), st.lists(st.tuples(st.integers(0, 3), st.booleans()), max_size=6), TIMES
)
def test_sent_messages_are_shown_with_their_times(
    sent: list[pb.Message], shown: list[tuple[int, bool]], time_ms: int
) -> None:
    """In any order and mixed with others; a message with a time of its own keeps it."""
    view: list[Message | AsSent] = []
    expected = view_pb2.PruneMessagesResponse()
    for number, is_as_sent in shown:
        message, target = sent[number % len(sent)], expected.messages.add()
        if is_as_sent:
            target.CopyFrom(message)
            target.timestamp_ms = message.timestamp_ms if message.HasField("timestamp_ms") else time_ms
            view.append(AsSent(number % len(sent), [target.timestamp_ms]))
        else:
            [other] = read_messages([message], "m")
            write_message(other, target)
            view.append(other)
    slices = [message.SerializeToString() for message in sent]
    written = b"".join(written_messages(view, SentMessages(slices)))
    assert view_pb2.PruneMessagesResponse.FromString(written) == expected


def test_a_time_is_not_written_twice() -> None:
    """A message that was sent with its time goes back as it came."""
    data = pb.Message(timestamp_ms=1_700_000_000_123, user=pb.UserMessage()).SerializeToString()
    pieces = [*written_messages([AsSent(0, [1_700_000_000_123])], SentMessages([data]))]
    assert pieces[1:] == [data]


def test_the_later_of_two_times_counts() -> None:
    """As for protobuf: a message that was sent with two is shown with the second."""
    first, second = (pb.Message(timestamp_ms=time).SerializeToString() for time in (6, 5))
    pieces = written_messages([AsSent(0, [5])], SentMessages([first + second]))
    [message] = view_pb2.PruneMessagesResponse.FromString(b"".join(pieces)).messages
    assert message.timestamp_ms == 5
