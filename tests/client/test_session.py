"""What a session sends, how it recovers, and what it hands back. Every scenario runs on both clients."""

from typing import Any

import grpc
import pytest

from condense_grpc.api.condense.v1 import edit_pb2, message_pb2, view_pb2
from condense_grpc.client import ContextUsage, SessionConfig, Unavailable, errors
from tests.client.fake_server import LOST_ANSWER, FakeBackend, Refusal, mismatch
from tests.client.harness import connect
from tests.client.messages import answer, insert, result, stub, summary, turn, user


def deltas(backend: FakeBackend) -> list[tuple[int, int]]:
    """Base and number of messages of every prune."""
    return [(it.delta.base_length, len(it.delta.messages.messages)) for it in backend.requests("PruneMessages")]


def test_only_the_new_messages_are_sent(session: Any, backend: FakeBackend) -> None:
    """After the first call a delta starts where the list ended, with the etag that the server gave."""
    history = turn(1)
    session.prune(history)
    history += turn(2)
    session.prune(history)
    session.prune(history)
    assert deltas(backend) == [(0, 4), (4, 4), (8, 0)]
    first, second, third = backend.requests("PruneMessages")
    assert first.delta.create_if_missing and not first.delta.base_etag
    assert second.delta.base_etag == backend.sessions["s1"].etags[4]
    assert third.delta.WhichOneof("payload") == "messages"
    assert backend.sessions["s1"].sent() == history


def test_an_unpruned_view_is_the_callers_own_objects(session: Any) -> None:
    """Without edits every message of the view is the very object of the caller."""
    history = turn()
    view = session.prune(history)
    assert not view.pruned
    assert [id(it) for it in view.messages] == [id(it) for it in history]
    assert view.messages is not history


def test_edits_apply_to_the_callers_objects(session: Any, backend: FakeBackend) -> None:
    """Only the edited message is a new object, and the numbers of the answer are there."""
    history = turn()
    backend.show([stub(2, "see t1"), insert(3, summary("what happened"))], "r1")
    view = session.prune(history)
    assert view.pruned and view.revision == "r1" and len(view.edits) == 2
    assert view.messages[2].tool_result.parts[0].text.text == "see t1"
    assert view.messages[4] == summary("what happened")
    assert [view.messages[i] is history[i] for i in range(4)] == [True, True, False, True]
    assert history[2].tool_result.parts[0].text.text == "x" * 10
    assert (view.reclaim.before_chars, view.status_line) == (100, "condensed")


def test_unchanged_edits_are_kept_and_applied_to_the_grown_list(session: Any, backend: FakeBackend) -> None:
    """With the revision it holds the client gets no edits and uses its own."""
    history = turn(1)
    backend.show([stub(2)], "r1")
    session.prune(history)
    history += turn(2)
    view = session.prune(history)
    assert view.unchanged and not view.response.edits
    assert backend.requests("PruneMessages")[1].known_revision == "r1"
    assert view.messages[2].tool_result.parts[0].text.text == "stub"
    assert len(view.messages) == 8


def test_a_rebuilt_list_of_equal_messages_is_not_sent_again(session: Any, backend: FakeBackend) -> None:
    """A caller may load its history anew for every request."""
    session.prune(turn())
    session.prune(turn())
    assert deltas(backend) == [(0, 4), (4, 0)]


def test_a_message_changed_in_place_is_noticed(session: Any, backend: FakeBackend) -> None:
    """The objects are the caller's, and it may change them."""
    history = turn(1)
    session.prune(history)
    history += turn(2)
    session.prune(history)
    history[5].assistant.parts[0].tool_call.name = "write"
    session.prune(history)
    assert deltas(backend)[-1] == (4, 4)
    assert backend.sessions["s1"].sent() == history


@pytest.mark.parametrize("keep", [0, 2, 4, 6])
def test_a_shorter_or_different_list_rewinds(session: Any, backend: FakeBackend, keep: int) -> None:
    """The server's transcript is what the caller has, wherever the list parts from what was sent."""
    history = turn(1)
    session.prune(history)
    history = history + turn(2)
    session.prune(history)
    session.prune(history[:keep])
    assert backend.sessions["s1"].sent() == history[:keep]
    other = [*history[:keep], user("something else")]
    session.prune(other)
    assert backend.sessions["s1"].sent() == other


def test_a_lost_answer_is_asked_for_again(session: Any, backend: FakeBackend) -> None:
    """The append has taken effect and the answer was lost: the same delta changes nothing."""
    history = turn(1)
    backend.after["PruneMessages"].append(LOST_ANSWER)
    session.prune(history)
    history += turn(2)
    backend.after["PruneMessages"].append(LOST_ANSWER)
    session.prune(history)
    assert deltas(backend) == [(0, 4), (0, 4), (4, 4), (4, 4)]
    assert backend.sessions["s1"].sent() == history


def test_after_a_failed_call_the_next_one_makes_up_for_it(session: Any, backend: FakeBackend) -> None:
    """When all tries are lost the caller is told, and nothing is remembered wrongly."""
    backend.after["PruneMessages"].extend([LOST_ANSWER] * 4)
    with pytest.raises(Unavailable):
        session.prune([user("a"), user("b")])
    session.prune([user("a"), user("c")])
    assert backend.sessions["s1"].sent() == [user("a"), user("c")]


def test_a_server_that_lost_the_end_is_healed_from_a_checkpoint(session: Any, backend: FakeBackend) -> None:
    """The largest base that the server still knows is enough."""
    history: list[Any] = []
    for number in range(3):
        history = history + turn(number)
        session.prune(history)
    backend.sessions["s1"].truncate(9)
    session.prune(history + turn(4))
    assert deltas(backend)[-2:] == [(12, 4), (8, 8)]
    assert backend.sessions["s1"].sent() == history + turn(4)


def test_a_server_that_forgot_everything_gets_everything(session: Any, backend: FakeBackend) -> None:
    """A missing session is created again."""
    history = turn(1)
    session.prune(history)
    backend.sessions.clear()
    session.prune(history + turn(2))
    assert deltas(backend)[-2:] == [(4, 4), (0, 8)]


def test_a_common_length_says_where_to_start(session: Any, backend: FakeBackend) -> None:
    """The latest checkpoint within the common length is used."""
    history: list[Any] = []
    for number in range(3):
        history = history + turn(number)
        session.prune(history)
    backend.before["PruneMessages"].append(mismatch(12, 30, "other", common=5))
    session.prune(history)
    assert deltas(backend)[-1] == (4, 8)


def test_a_server_that_never_agrees_ends_in_an_error(session: Any, backend: FakeBackend) -> None:
    """Healing is bounded."""
    session.prune(turn())
    before = len(backend.log)
    backend.before["PruneMessages"].extend([mismatch(4, 3, "other")] * 9)
    with pytest.raises(errors.TranscriptMismatch) as caught:
        session.prune(turn())
    assert caught.value.metadata["serverLength"] == "3"
    assert len(backend.log) - before <= 5


def test_another_clients_history_is_replaced(client: Any, backend: FakeBackend) -> None:
    """Two clients that write to one session each get what they sent."""
    one, two = client.session("s1"), client.session("s1")
    one.prune(turn(1))
    two.prune([user("other")])
    one.prune(turn(1) + turn(2))
    assert backend.sessions["s1"].sent() == turn(1) + turn(2)


def test_a_long_history_goes_up_in_chunks(session: Any, backend: FakeBackend) -> None:
    """Above the limit of a unary call the new messages are uploaded, and the prune itself carries none."""
    history = [it for number in range(12) for it in turn(number, size=4000)]
    session.prune(history)
    (chunks,) = backend.requests("AppendMessages")
    assert len(chunks) > 5 and all(it.ByteSize() < 10_000 for it in chunks)
    assert chunks[0].delta.create_if_missing and chunks[0].session_id == "s1"
    assert deltas(backend) == [(48, 0)]
    assert backend.sessions["s1"].sent() == history


def test_an_upload_heals_and_survives_a_lost_answer(session: Any, backend: FakeBackend) -> None:
    """Uploads recover like everything else."""
    session.prune(turn(0))
    backend.sessions.clear()
    backend.after["AppendMessages"].append(LOST_ANSWER)
    history = turn(0) + [it for number in range(12) for it in turn(number, size=4000)]
    session.prune(history)
    assert backend.sessions["s1"].sent() == history


def test_a_server_with_a_smaller_limit_gets_an_upload(session: Any, backend: FakeBackend) -> None:
    """`DELTA_TOO_LARGE` is an instruction, not a failure."""
    backend.max_delta_bytes = 50
    session.prune(turn())
    assert len(backend.requests("AppendMessages")) == 1
    assert backend.sessions["s1"].sent() == turn()


def test_a_dry_run_changes_nothing(session: Any, backend: FakeBackend) -> None:
    """Neither the server nor the client takes note of it."""
    session.prune(turn(1))
    view = session.prune(turn(1) + turn(2), dry_run=True)
    assert len(view.messages) == 8 and view.reclaim.before_chars == 100
    assert backend.sessions["s1"].length == 4
    session.prune(turn(1) + turn(2))
    assert deltas(backend)[-1] == (4, 4)


def test_options_travel(client: Any, backend: FakeBackend) -> None:
    """Configuration, usage and the smallest saving are what the caller said; absent ones are absent."""
    session = client.session("s1", config=SessionConfig())
    session.prune(turn(), usage=ContextUsage(tokens=5, context_window=10), min_savings_chars=0)
    session.prune(turn())
    first, second = backend.requests("PruneMessages")
    assert first.HasField("config") and first.usage.tokens == 5
    assert first.HasField("min_savings_chars") and not second.HasField("min_savings_chars")
    assert not second.HasField("usage") and first.view == view_pb2.VIEW_EDITS


def test_an_edit_of_a_newer_kind_falls_back_to_the_full_view(session: Any, backend: FakeBackend) -> None:
    """The client does not guess; messages that did not change are still the caller's own objects."""
    history = turn()
    shown = result("c1", "shorter")
    backend.full_view = [history[0], history[1], shown, with_time(history[3])]
    backend.show([edit_pb2.Edit(message_index=2)], "r9")
    view = session.prune(history)
    assert [view.messages[i] is history[i] for i in range(4)] == [True, True, False, True]
    assert view.messages[2] == shown
    backend.show([], "r10")
    session.prune(history)
    assert backend.requests("PruneMessages")[-1].known_revision == ""


def with_time(message: message_pb2.Message) -> message_pb2.Message:
    copy = message_pb2.Message()
    copy.CopyFrom(message)
    copy.timestamp_ms = 77
    return copy


def test_an_edit_out_of_place_falls_back_to_the_full_view(session: Any, backend: FakeBackend) -> None:
    """Positions that the history does not have are not guessed at either."""
    backend.full_view = turn()
    for edits in ([stub(9)], [insert(4, user("x"))], [stub(-1)]):
        backend.show(edits, "r9")
        assert session.prune(turn()).messages == turn()
        assert backend.requests("PruneMessages")[-1].view == view_pb2.VIEW_FULL


def test_a_refused_message_leaves_the_session_usable(session: Any, backend: FakeBackend) -> None:
    """An error of the caller is raised as what it is, with its field."""
    refusal = Refusal(
        "MESSAGE_INVALID",
        grpc.StatusCode.INVALID_ARGUMENT,
        {"messageIndex": "1"},
        fields={"delta.messages.messages[1].kind": "is not set"},
    )
    backend.before["PruneMessages"].append(refusal)
    with pytest.raises(errors.MessageInvalid) as caught:
        session.prune(turn())
    assert caught.value.metadata == {"messageIndex": "1"}
    assert caught.value.violations[0].field == "delta.messages.messages[1].kind"
    session.prune(turn())
    assert backend.sessions["s1"].length == 4


def test_a_deleted_session_starts_anew(session: Any, backend: FakeBackend) -> None:
    """Deleting forgets here too, so that the next call sends everything at once."""
    session.prune(turn())
    assert session.delete() is True
    assert session.delete() is False
    session.prune(turn())
    assert deltas(backend)[-1] == (0, 4)


@pytest.mark.parametrize("kind", ["sync", "async"])
def test_metadata_names_the_session_and_the_caller(kind: str, target: str, backend: FakeBackend) -> None:
    """Load balancers see the session; other characters than those of metadata are percent-encoded."""
    for client in connect(kind, target, token="secret"):
        client.session("büro 1").prune([answer("a")])
        client.capabilities()
    assert backend.metadata[0]["x-condense-session"] == "b%C3%BCro%201"
    assert [it["authorization"] for it in backend.metadata] == ["Bearer secret"] * 2
    assert "büro 1" in backend.sessions
