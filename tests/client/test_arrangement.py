"""Edits applied to the caller's objects give what the domain's own reference gives."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from condense_grpc.client.adapters import PI, PROTOBUF
from condense_grpc.client.arrangement import apply_edits
from condense_grpc.domain import edits as reference
from condense_grpc.domain.messages import ImagePart, Message, OpaquePart, Role, TextPart, ThinkingPart, ToolCallPart
from condense_grpc.domain.pi_json import message_from_pi, message_to_pi
from condense_grpc.domain.view import StubReason
from tests.client.domain_bridge import edit_to_proto, message_to_proto

VECTORS = Path(__file__).parents[1] / "vectors" / "public"
WORDS = st.text(st.characters(exclude_categories=["Cs"]), max_size=6)
EXTRA = st.sampled_from(["", '{"cache":1}'])
TIMES = st.none() | st.integers(0, 10**12)
PLAIN_PARTS = st.one_of(
    st.builds(TextPart, WORDS, EXTRA),
    st.builds(ImagePart, st.just("image/png"), st.binary(min_size=1, max_size=4)),
    st.builds(OpaquePart, st.just("audio"), st.just('{"type":"audio"}')),
)
MODEL_PARTS = st.one_of(
    PLAIN_PARTS,
    st.builds(ThinkingPart, WORDS, WORDS, st.booleans(), EXTRA),
    st.builds(ToolCallPart, WORDS, WORDS, st.sampled_from(["", "{}", '{"a":1.0}', "broken"]), EXTRA),
)


def message_of(role: Role, parts: st.SearchStrategy[Any], **fields: Any) -> st.SearchStrategy[Message]:
    listed = st.lists(parts, max_size=4).map(tuple)
    return st.builds(Message, st.just(role), listed, TIMES, extra_json=EXTRA, **fields)


USER = message_of(Role.USER, PLAIN_PARTS)
ASSISTANT = message_of(Role.ASSISTANT, MODEL_PARTS)
RESULT = message_of(Role.TOOL_RESULT, PLAIN_PARTS, tool_call_id=WORDS, tool_name=WORDS, is_error=st.booleans())
CUSTOM = message_of(Role.CUSTOM, PLAIN_PARTS, custom_role=st.just("custom"), custom_type=WORDS, display=st.booleans())
MESSAGES = st.one_of(USER, ASSISTANT, RESULT, CUSTOM)


def edit_of(data: st.DataObject, history: list[Message]) -> reference.Edit:
    """Any edit that has a place in the history."""
    index = data.draw(st.integers(0, len(history) - 1))
    anchor = data.draw(st.integers(-1, len(history) - 1))
    message = history[index]
    kinds = ["drop", "insert", "move"]
    calls = [part for part in message.parts if isinstance(part, ToolCallPart)]
    kinds += ["replace"] if message.role is Role.TOOL_RESULT else []
    kinds += ["strip"] if message.role is Role.ASSISTANT else []
    kinds += ["purge"] if message.role is Role.ASSISTANT and calls else []
    match data.draw(st.sampled_from(kinds)):
        case "drop":
            return reference.Drop(index)
        case "insert":
            inserted = data.draw(st.one_of(USER, CUSTOM))
            return reference.InsertAfter(anchor, inserted, reference.InsertKind.SUMMARY)
        case "move":
            return reference.MoveAfter(index, anchor)
        case "replace":
            return reference.ReplaceResult(index, data.draw(WORDS), "t1", StubReason.SUMMARIZED)
        case "strip":
            return reference.StripThinking(index)
        case _:
            call = data.draw(st.integers(0, len(calls) - 1))
            return reference.PurgeArguments(index, calls[call].id, call, '{"_purged":"x"}')


@given(st.lists(MESSAGES, min_size=1, max_size=8), st.data())
def test_protobuf_views_equal_the_reference(history: list[Message], data: st.DataObject) -> None:
    """Random edits of every kind, in any order, on random histories; what nothing happens to is the same object."""
    edits = [edit_of(data, history) for _ in range(data.draw(st.integers(0, 8)))]
    own = [message_to_proto(message) for message in history]
    before = [message.SerializeToString() for message in own]
    view = apply_edits(PROTOBUF, own, [1] * len(own), [edit_to_proto(edit) for edit in edits])
    assert view == [message_to_proto(message) for message in reference.apply_edits(history, edits)]
    assert [message.SerializeToString() for message in own] == before
    touched = {
        edit.message_index for edit in edits if not isinstance(edit, reference.InsertAfter | reference.MoveAfter)
    }
    shown = {id(message) for message in view}
    kept = set(range(len(own))) - touched
    assert all(id(own[index]) in shown for index in kept)


def histories() -> list[Any]:
    """The histories of the golden vectors of the render."""
    lines = (VECTORS / "prune.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line)["input"]["messages"] for line in lines]


PI_HISTORIES = [history for history in histories() if history]


def test_pi_messages_are_read_as_the_domain_reads_them() -> None:
    """The same typed fields, whether the client or the server reads the JSON."""
    for history in PI_HISTORIES:
        for value in history:
            if isinstance(value, dict):
                expected = message_to_proto(message_from_pi(value, keep_source=False))
                assert PI.to_message(value) == expected


@given(st.data())
def test_pi_views_equal_the_reference(data: st.DataObject) -> None:
    """The same random edits on Pi's JSON, as JSON."""
    history = data.draw(st.sampled_from(PI_HISTORIES).filter(lambda it: all(isinstance(m, dict) for m in it)))[:12]
    messages = [message_from_pi(value) for value in history]
    edits = [edit_of(data, messages) for _ in range(data.draw(st.integers(0, 6)))]
    view = apply_edits(PI, history, [1] * len(history), [edit_to_proto(edit) for edit in edits])
    expected = reference.apply_edits(messages, edits)
    assert [PI.to_message(value) for value in view] == [
        message_to_proto(message_from_pi(message_to_pi(message), keep_source=False)) for message in expected
    ]


@pytest.mark.parametrize("adapter", [PI, PROTOBUF])
def test_no_edits_is_the_same_list(adapter: Any) -> None:
    """An empty history too."""
    assert apply_edits(adapter, [], [], []) == []
