"""What cannot be sent is refused before anything is sent, with its place in the caller's list."""

from typing import Any

import pytest

from condense_grpc.api.condense.v1 import message_pb2
from condense_grpc.client import ANTHROPIC, OPENAI, PI, CondenseClient, errors
from tests.client.fake_server import FakeBackend
from tests.client.harness import connect
from tests.client.messages import turn, user

BROKEN = "half of a smile \ud83d"
PI_MESSAGES: list[Any] = [
    {"role": "user", "content": BROKEN},
    {"role": "user", "content": [{"type": "text", "text": BROKEN}]},
    {"role": "assistant", "content": [{"type": "toolCall", "id": "a", "name": "n", "arguments": {"x": BROKEN}}]},
    {"role": "toolResult", "toolCallId": BROKEN, "content": []},
    {"role": "notice", "details": {"x": [BROKEN]}},
    {"role": "user", "content": "fine", "usage": {BROKEN: 1}},
]


@pytest.mark.parametrize("message", PI_MESSAGES)
def test_lone_surrogates_are_named_before_anything_is_sent(client: Any, backend: FakeBackend, message: Any) -> None:
    """Wherever they are in a message: text, arguments, ids, unknown fields."""
    session = client.session("s1", adapter=PI)
    fine = {"role": "user", "content": "😀 whole"}
    with pytest.raises(errors.MessageInvalid, match=r"message 1 .*surrogate") as caught:
        session.prune([fine, message])
    assert caught.value.metadata == {"messageIndex": "1"} and caught.value.code is None
    assert BROKEN not in str(caught.value)
    assert not backend.log
    session.prune([fine])
    assert len(backend.log) == 1


@pytest.mark.parametrize(
    ("adapter", "message"),
    [
        (PI, "text"),
        (PI, {"role": "user", "content": "x", "timestamp": float("nan"), "rest": float("nan")}),
        (OPENAI, None),
        (OPENAI, {"role": "assistant", "tool_calls": [5]}),
        (OPENAI, {"role": "user", "content": ["text"]}),
        (OPENAI, {"role": "user", "content": "x", "more": object()}),
        (ANTHROPIC, {"role": "user", "content": [None]}),
        (ANTHROPIC, 7),
    ],
)
def test_objects_of_another_shape_are_named(client: Any, backend: FakeBackend, adapter: Any, message: Any) -> None:
    """The caller mixed something up; the error says where."""
    with pytest.raises(errors.MessageInvalid, match="message 0 "):
        client.session("s1", adapter=adapter).prune([message])
    assert not backend.log


def test_messages_without_a_kind_and_foreign_objects_are_named(session: Any, backend: FakeBackend) -> None:
    """The contract refuses the one; the other is no message at all."""
    with pytest.raises(errors.MessageInvalid, match="message 4 has no kind"):
        session.prune([*turn(), message_pb2.Message()])
    with pytest.raises(errors.MessageInvalid, match="message 0 is not"):
        session.prune([{"role": "user"}])
    assert not backend.log


def test_a_message_beyond_one_grpc_message_is_named(target: str, backend: FakeBackend) -> None:
    """No chunk can carry it."""
    for client in connect("sync", target):
        client.options = type(client.options)(max_message_bytes=100)
        with pytest.raises(errors.MessageTooLarge, match=r"message 1 has .* bytes") as caught:
            client.session("s1").prune([user("a"), user("x" * 200)])
        assert caught.value.metadata["maxBytes"] == "100" and not backend.log


def test_session_ids_must_be_text() -> None:
    """An id with half of a character names no session."""
    with CondenseClient("127.0.0.1:1") as client, pytest.raises(errors.SessionIdInvalid):
        client.session("s\ud800")
