"""Messages go in and come out the same; what cannot be stored is named exactly."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from condense_grpc.api.condense.v1 import message_pb2 as pb
from condense_grpc.domain.messages import Message, OpaquePart, Role, TextPart, ToolCallPart
from condense_grpc.errors import MessageInvalid
from condense_grpc.server.convert.message import (
    FIRST_TIMESTAMP_MS,
    LAST_TIMESTAMP_MS,
    read_messages,
    write_message,
    write_parts,
)
from tests.server.running import result, text_part, user

TEXT = st.text(alphabet=st.characters(codec="utf-8"), max_size=20)
OBJECT = st.sampled_from(
    ["", "{}", '{ "b" : 1.0, "a":"\\u00e9", "a": 9007199254740993 }', '{"x":"\\ud800"}', '\n{"a":[]}\t']
)
JSON = st.one_of(TEXT, st.sampled_from(['{"a":1.0}', "{", "1" * 5000]))

PART = st.one_of(
    st.builds(lambda text, extra: pb.Part(text=pb.TextPart(text=text), extra_json=extra), TEXT, OBJECT),
    st.builds(
        lambda text, signature, redacted, extra: pb.Part(
            thinking=pb.ThinkingPart(text=text, signature=signature, redacted=redacted), extra_json=extra
        ),
        TEXT,
        TEXT,
        st.booleans(),
        OBJECT,
    ),
    st.builds(
        lambda id_, name, json, extra: pb.Part(
            tool_call=pb.ToolCallPart(id=id_, name=name, arguments_json=json), extra_json=extra
        ),
        TEXT,
        TEXT,
        JSON,
        OBJECT,
    ),
    st.builds(
        lambda data, extra: pb.Part(image=pb.ImagePart(media_type="a/b", data=data), extra_json=extra),
        st.binary(min_size=1, max_size=5),
        OBJECT,
    ),
    st.builds(
        lambda uri, extra: pb.Part(image=pb.ImagePart(media_type="", uri=uri), extra_json=extra),
        st.text(alphabet="abc:/", min_size=1, max_size=5),
        OBJECT,
    ),
    st.builds(lambda extra: pb.Part(image=pb.ImagePart(), extra_json=extra), OBJECT),
    st.builds(lambda kind, json: pb.Part(opaque=pb.OpaquePart(type=kind, json=json)), TEXT, JSON),
)
PARTS = st.lists(PART, max_size=4)
KIND = st.one_of(
    st.builds(lambda parts: {"user": pb.UserMessage(parts=parts)}, PARTS),
    st.builds(lambda parts: {"assistant": pb.AssistantMessage(parts=parts)}, PARTS),
    st.builds(
        lambda id_, name, parts, error: {
            "tool_result": pb.ToolResultMessage(tool_call_id=id_, tool_name=name, parts=parts, is_error=error)
        },
        TEXT,
        TEXT,
        PARTS,
        st.booleans(),
    ),
    st.builds(
        lambda role, kind, parts, details, display: {
            "custom": pb.CustomMessage(role=role, custom_type=kind, parts=parts, details_json=details, display=display)
        },
        TEXT,
        TEXT,
        PARTS,
        st.one_of(OBJECT, st.sampled_from(["[1.0]", "null", '"x"'])),
        st.booleans(),
    ),
)
TIME = st.one_of(st.none(), st.integers(FIRST_TIMESTAMP_MS, LAST_TIMESTAMP_MS))
MESSAGE = st.builds(
    lambda kind, time, extra: pb.Message(timestamp_ms=time, extra_json=extra, **kind), KIND, TIME, OBJECT
)


@given(st.lists(MESSAGE, max_size=5))
def test_what_goes_in_comes_out_byte_for_byte(messages: list[pb.Message]) -> None:
    for message, stored in zip(messages, read_messages(messages, "m"), strict=True):
        written = pb.Message()
        write_message(stored, written)
        assert written.SerializeToString(deterministic=True) == message.SerializeToString(deterministic=True)


def test_arguments_that_are_not_there_differ_from_an_empty_object() -> None:
    parts = [
        pb.Part(tool_call=pb.ToolCallPart(id="a")),
        pb.Part(tool_call=pb.ToolCallPart(id="a", arguments_json="{}")),
    ]
    [message] = read_messages([pb.Message(assistant=pb.AssistantMessage(parts=parts))], "m")
    assert [part.arguments_json for part in message.parts if isinstance(part, ToolCallPart)] == [None, "{}"]


def refused(message: pb.Message) -> MessageInvalid:
    with pytest.raises(MessageInvalid) as raised:
        read_messages([user("fine"), message], "delta.messages.messages", first_index=10)
    assert raised.value.metadata["messageIndex"] == "11"
    return raised.value


@pytest.mark.parametrize(
    ("message", "place"),
    [
        (pb.Message(), ".kind"),
        (pb.Message(extra_json="{}"), ".kind"),
        (pb.Message(user=pb.UserMessage(parts=[text_part("a"), pb.Part()])), ".user.parts[1].kind"),
        (pb.Message(assistant=pb.AssistantMessage(parts=[pb.Part()])), ".assistant.parts[0].kind"),
        (result("a", "b", extra_json="[]"), ".extra_json"),
        (result("a", "b", extra_json="{} {}"), ".extra_json"),
        (result("a", "b", extra_json="{'a':1}"), ".extra_json"),
        (result("a", "b", extra_json='{"a":NaN}'), ".extra_json"),
        (result("a", "b", extra_json='{"a":' * 100_000), ".extra_json"),
        (user("x", timestamp_ms=FIRST_TIMESTAMP_MS - 1), ".timestamp_ms"),
        (user("x", timestamp_ms=LAST_TIMESTAMP_MS + 1), ".timestamp_ms"),
        (
            pb.Message(custom=pb.CustomMessage(parts=[pb.Part(text=pb.TextPart(), extra_json="1")])),
            ".custom.parts[0].extra_json",
        ),
        (pb.Message(custom=pb.CustomMessage(details_json="{")), ".custom.details_json"),
        (
            pb.Message(user=pb.UserMessage(parts=[pb.Part(opaque=pb.OpaquePart(json="1"), extra_json="{}")])),
            ".user.parts[0].extra_json",
        ),
    ],
)
def test_what_cannot_be_stored_is_named(message: pb.Message, place: str) -> None:
    error = refused(message)
    assert error.field == f"delta.messages.messages[1]{place}"
    assert error.metadata["field"] == error.field


def test_a_refusal_quotes_nothing() -> None:
    assert "secret" not in refused(user("x", extra_json="secret")).message


def test_numbers_of_any_length_are_json() -> None:
    read_messages([user("x", extra_json='{"n":' + "9" * 10_000 + "}")], "m")


def test_lone_surrogates_from_elsewhere_are_shown_as_replacements() -> None:
    written = pb.Message()
    write_message(Message(Role.USER, (TextPart("a\ud800b\U0001f600"),)), written)
    assert written.user.parts[0].text.text == "a\ufffdb\U0001f600"


def test_parts_without_content_keep_their_kind() -> None:
    written: Any = pb.UserMessage()
    write_parts([OpaquePart("audio", '{"data":"long"}')], written.parts, with_content=False)
    assert written.parts[0].opaque == pb.OpaquePart(type="audio")
