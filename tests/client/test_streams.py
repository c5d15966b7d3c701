"""Flush, compact, read and query, on both clients."""

from typing import Any

import grpc
import pytest

from condense_grpc.api.condense.v1 import flush_event_pb2, flush_pb2
from condense_grpc.client import errors, slices
from tests.client.fake_server import LOST_ANSWER, FakeBackend, FakeServicer, Refusal, completed_event, mismatch
from tests.client.messages import turn

STARTED = flush_event_pb2.FlushEvent(sequence=1, started=flush_event_pb2.FlushStarted(transcript_length=4))
NOTICE = flush_event_pb2.FlushEvent(sequence=3, notice=flush_event_pb2.Notice(text="so it is"))
NEWER = flush_event_pb2.FlushEvent(sequence=2)


def test_a_flush_tells_its_events(session: Any, backend: FakeBackend) -> None:
    """Events come as they are, unknown ones are left out, and the last one is kept."""
    backend.events = [STARTED, NEWER, completed_event()]
    stream = session.flush(turn(), trigger=flush_pb2.FLUSH_TRIGGER_MESSAGE_END)
    assert [event.sequence for event in stream] == [1, 9]
    assert stream.completed.outcome == flush_pb2.FLUSH_OUTCOME_SUMMARIZED
    (request,) = backend.requests("FlushBatches")
    assert request.attach and request.trigger == flush_pb2.FLUSH_TRIGGER_MESSAGE_END
    assert backend.sessions["s1"].sent() == turn()


@pytest.mark.parametrize("together", [1, 2, 3, 4, 5])
@pytest.mark.parametrize("call", ["flush", "compact"])
def test_events_come_one_by_one_however_many_a_response_has(
    session: Any, backend: FakeBackend, servicer: FakeServicer, call: str, together: int
) -> None:
    """In order, without those of unknown kinds, also if these are at an end of a response."""
    servicer.together = together
    backend.events = [STARTED, NEWER, NOTICE, NEWER, completed_event()]
    stream = getattr(session, call)()
    assert [event.sequence for event in stream] == [1, 3, 9]
    assert stream.completed.outcome == flush_pb2.FLUSH_OUTCOME_SUMMARIZED


def test_a_response_of_many_events_can_be_left_in_its_middle(
    session: Any, backend: FakeBackend, servicer: FakeServicer
) -> None:
    """That stops the flush as well."""
    servicer.together, servicer.hold = 9, True
    backend.events = [STARTED, NOTICE, NOTICE, completed_event()]
    stream = session.flush(turn())
    assert next(stream).sequence == 1
    stream.close()
    assert servicer.left.wait(20)
    assert stream.completed is None


def test_a_flush_without_messages_sends_no_delta(session: Any, backend: FakeBackend) -> None:
    """The transcript stays as it is."""
    session.prune(turn())
    assert session.flush(attach=False).wait().outcome == flush_pb2.FLUSH_OUTCOME_SUMMARIZED
    (request,) = backend.requests("FlushBatches")
    assert not request.HasField("delta") and not request.attach


def test_a_flush_sends_what_is_new_and_the_next_prune_repeats_it(session: Any, backend: FakeBackend) -> None:
    """A flush answers no etag, so its messages travel again, which changes nothing."""
    session.prune(turn(1))
    session.flush(turn(1) + turn(2)).wait()
    assert backend.requests("FlushBatches")[0].delta.base_length == 4
    session.prune(turn(1) + turn(2))
    assert backend.requests("PruneMessages")[-1].delta.base_length == 4
    assert backend.sessions["s1"].length == 8


def test_a_flush_heals_a_mismatch(session: Any, backend: FakeBackend) -> None:
    """The history is uploaded from a base that the server knows, then the flush begins."""
    session.prune(turn(1))
    backend.sessions.clear()
    session.flush(turn(1) + turn(2)).wait()
    assert backend.sessions["s1"].sent() == turn(1) + turn(2)
    assert [name for name, _ in backend.log][1:] == ["FlushBatches", "AppendMessages", "AppendMessages", "FlushBatches"]


def test_a_flush_that_never_agrees_ends_in_an_error(session: Any, backend: FakeBackend) -> None:
    """Healing is bounded here too."""
    backend.before["FlushBatches"].extend([mismatch(4, 3, "other")] * 9)
    with pytest.raises(errors.TranscriptMismatch):
        session.flush(turn()).wait()


def test_a_flush_of_a_long_history_uploads_it_first(session: Any, backend: FakeBackend) -> None:
    """The request itself stays small."""
    history = [it for number in range(12) for it in turn(number, size=4000)]
    session.flush(history).wait()
    (request,) = backend.requests("FlushBatches")
    assert (request.delta.base_length, len(request.delta.messages.messages)) == (48, 0)
    assert backend.sessions["s1"].sent() == history


def test_a_flush_that_cannot_begin_is_tried_again(session: Any, backend: FakeBackend) -> None:
    """Until the first event has come, a lost connection is nothing but a lost connection."""
    backend.before["FlushBatches"].append(LOST_ANSWER)
    session.flush(turn()).wait()
    assert len(backend.requests("FlushBatches")) == 2


def test_a_running_flush_is_the_callers_to_decide(session: Any, backend: FakeBackend) -> None:
    """It is not waited for, although the server says when to come back."""
    refusal = Refusal("FLUSH_IN_PROGRESS", grpc.StatusCode.ABORTED, {"flushId": "f9"}, retry_seconds=0.01)
    backend.before["FlushBatches"].append(refusal)
    with pytest.raises(errors.FlushInProgress) as caught:
        session.flush(turn(), attach=False).wait()
    assert caught.value.metadata["flushId"] == "f9"
    assert caught.value.retry_after_seconds == pytest.approx(0.01)


def test_closing_the_stream_cancels_the_call(session: Any, backend: FakeBackend, servicer: FakeServicer) -> None:
    """The server learns that the client has left, and no outcome is made up."""
    servicer.hold = True
    backend.events = [STARTED, completed_event()]
    stream = session.flush(turn())
    assert next(stream).sequence == 1
    stream.close()
    assert servicer.left.wait(20)
    assert stream.completed is None
    with pytest.raises(errors.CondenseError):
        stream.wait()


@pytest.mark.parametrize("together", [1, 2])
def test_a_stream_without_its_last_event_is_an_error(
    session: Any, backend: FakeBackend, servicer: FakeServicer, together: int
) -> None:
    """A flush whose end was not seen must not look like one that has ended."""
    servicer.together = together
    backend.events = [STARTED, NOTICE]
    with pytest.raises(errors.CondenseError, match="last event"):
        session.flush(turn()).wait()


def test_a_flush_can_be_given_a_time(session: Any, backend: FakeBackend, servicer: FakeServicer) -> None:
    """Beyond it the call ends as `DeadlineExceeded`."""
    servicer.hold = True
    with pytest.raises(errors.DeadlineExceeded):
        session.flush(turn(), timeout_seconds=0.05).wait()


def test_a_compaction_tells_its_events(session: Any, backend: FakeBackend) -> None:
    """Like a flush, without batches."""
    assert session.compact(attach=True).wait().outcome == flush_pb2.FLUSH_OUTCOME_SUMMARIZED
    assert backend.requests("CompactChains")[0].attach


def test_an_original_is_read_in_pieces(session: Any, backend: FakeBackend) -> None:
    """The pieces are the text, to the character."""
    backend.originals["t1"] = "größe 🎈\x00\u2028 \ud83d and more" * 50
    backend.chunk_bytes = 7
    pieces = list(session.read("t1"))
    assert len(pieces) > 10 and "".join(pieces) == backend.originals["t1"]
    backend.originals["t2"] = ""
    assert list(session.read("t2")) == []


def test_a_broken_read_goes_on_where_it_ended(session: Any, backend: FakeBackend) -> None:
    """Nothing is read twice."""
    backend.originals["t1"] = "0123456789" * 10
    backend.chunk_bytes = 10
    backend.break_read_after.extend([3, 2, 2])
    assert "".join(session.read("t1")) == backend.originals["t1"]
    assert [it.offset_bytes for it in backend.requests("ReadToolResult")] == [0, 30, 50, 70]


def test_a_read_without_progress_ends_in_an_error(session: Any, backend: FakeBackend) -> None:
    """A server that is gone is not asked for ever."""
    backend.originals["t1"] = "0123456789" * 10
    backend.chunk_bytes = 10
    backend.break_read_after.extend([3] + [0] * 10)
    with pytest.raises(errors.Unavailable):
        "".join(session.read("t1"))


def test_an_unknown_ref_cannot_be_read(session: Any) -> None:
    """Missing is different from empty."""
    with pytest.raises(errors.ResultNotFound):
        list(session.read("t404"))


def test_a_query_answers_text_and_records(session: Any, backend: FakeBackend) -> None:
    """Unknown refs are part of the answer."""
    backend.originals["t1"] = "whole"
    answer = session.query(["t1", "t2"], [slices.lines("t1", 2, 4), slices.chars("t1", 5), slices.matches("t1", "x")])
    assert answer.text == "## t1\nwhole\n---\n## t2\n(not found)"
    assert [it.ref for it in answer.records] == ["t1"]
    request = backend.requests("QueryToolCall")[0]
    assert (request.slices[0].lines.start_line, request.slices[0].lines.line_count) == (2, 3)
    assert not request.slices[1].chars.HasField("end_char")
    with pytest.raises(errors.RequestInvalid):
        session.query(["\ud800"])


def test_a_tool_call_is_answered(session: Any, backend: FakeBackend) -> None:
    """Parsed arguments and the model's own text do the same; nonsense gets a sentence."""
    backend.originals["t1"] = "whole"
    assert session.answer_tool_call({"toolCallIds": ["t1"]}) == "## t1\nwhole"
    assert session.answer_tool_call('{"toolCallIds": ["t1"]}') == "## t1\nwhole"
    assert "toolCallIds" in session.answer_tool_call('{"toolCallIds": [')
    for reason in ("PATTERN_INVALID", "NOT_IMPLEMENTED", "SESSION_NOT_FOUND"):
        backend.before["QueryToolCall"].append(Refusal(reason, sentence=f"not so: {reason}"))
        assert f"not so: {reason}" in session.answer_tool_call({"toolCallIds": ["t1"]})
    backend.before["QueryToolCall"].extend([LOST_ANSWER] * 4)
    with pytest.raises(errors.Unavailable):
        session.answer_tool_call({"toolCallIds": ["t1"]})


def test_diagnostics_are_paged(session: Any) -> None:
    """Page size and token travel."""
    assert session.diagnostics(page_size=3).next_page_token == "after 3"
