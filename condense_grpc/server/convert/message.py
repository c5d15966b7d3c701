"""Messages and their parts, in both directions.

On the hot path: no reflection, one pass, names for errors are made only when there is one. JSON stays text; that a
text which must be one JSON object is one is checked by reading it, and nothing of what was read is kept.
"""

import json
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from condense_grpc.api.condense.v1 import message_pb2 as pb
from condense_grpc.domain.messages import (
    ASSISTANT,
    CUSTOM,
    TOOL_RESULT,
    USER,
    ImagePart,
    Message,
    OpaquePart,
    Part,
    TextPart,
    ThinkingPart,
    ToolCallPart,
)
from condense_grpc.errors import MessageInvalid
from condense_grpc.server.convert.wire_text import wire_text

if TYPE_CHECKING:
    from google.protobuf.internal.containers import RepeatedCompositeFieldContainer

# The years 1 to 9999, which is what protobuf's Timestamp and the calendars of most languages can say.
FIRST_TIMESTAMP_MS = -62_135_596_800_000
LAST_TIMESTAMP_MS = 253_402_300_799_999


class _Fault(Exception):
    """What is wrong with a message: the place within it, and the rule."""

    def __init__(self, place: str, rule: str) -> None:
        super().__init__(place, rule)
        self.place = place
        self.rule = rule


def read_messages(
    messages: Sequence[pb.Message], field: str, first_index: int = 0, *, skipped: int = 0
) -> list[Message]:
    """The messages of a list behind the first `skipped`. `field` names the list, `first_index` counts the messages
    of earlier chunks.

    Raises MessageInvalid for the first that cannot be stored.
    """
    found: list[Message] = []
    for index, message in enumerate(messages[skipped:] if skipped else messages, skipped):
        try:
            found.append(_read_message(message))
        except _Fault as fault:
            place = f"{field}[{index}]{fault.place}"
            raise MessageInvalid(place, fault.rule, messageIndex=first_index + index) from None
    return found


def _read_message(message: pb.Message) -> Message:
    timestamp_ms = message.timestamp_ms if message.HasField("timestamp_ms") else None
    if timestamp_ms is not None and not FIRST_TIMESTAMP_MS <= timestamp_ms <= LAST_TIMESTAMP_MS:
        raise _Fault(".timestamp_ms", f"must be in [{FIRST_TIMESTAMP_MS}, {LAST_TIMESTAMP_MS}] (years 1 to 9999)")
    extra_json = message.extra_json
    if extra_json:
        _check_json(extra_json, ".extra_json", as_object=True)
    match message.WhichOneof("kind"):
        case "user":
            parts = _read_parts(message.user.parts, ".user")
            return Message(USER, parts, timestamp_ms, extra_json=extra_json)
        case "assistant":
            parts = _read_parts(message.assistant.parts, ".assistant")
            return Message(ASSISTANT, parts, timestamp_ms, extra_json=extra_json)
        case "tool_result":
            result = message.tool_result
            return Message(
                TOOL_RESULT,
                _read_parts(result.parts, ".tool_result"),
                timestamp_ms,
                tool_call_id=result.tool_call_id,
                tool_name=result.tool_name,
                is_error=result.is_error,
                extra_json=extra_json,
            )
        case "custom":
            return _read_custom(message.custom, timestamp_ms, extra_json)
        case _:
            raise _Fault(".kind", "must be set: user, assistant, tool_result or custom")


def _read_custom(custom: pb.CustomMessage, timestamp_ms: int | None, extra_json: str) -> Message:
    if custom.details_json:
        _check_json(custom.details_json, ".custom.details_json", as_object=False)
    return Message(
        CUSTOM,
        _read_parts(custom.parts, ".custom"),
        timestamp_ms,
        custom_role=custom.role,
        custom_type=custom.custom_type,
        details_json=custom.details_json,
        display=custom.display,
        extra_json=extra_json,
    )


def _read_parts(parts: Sequence[pb.Part], place: str) -> tuple[Part, ...]:
    try:
        return tuple([_read_part(part) for part in parts])
    except _Fault:
        pass
    # Something is wrong with one of them: only now it matters with which.
    for index, part in enumerate(parts):
        try:
            _read_part(part)
        except _Fault as fault:
            raise _Fault(f"{place}.parts[{index}]{fault.place}", fault.rule) from None
    raise AssertionError("a fault that is gone when it is looked for")


def _read_part(part: pb.Part) -> Part:
    extra_json = part.extra_json
    if extra_json:
        _check_json(extra_json, ".extra_json", as_object=True)
    match part.WhichOneof("kind"):
        case "text":
            return TextPart(part.text.text, extra_json)
        case "tool_call":
            call = part.tool_call
            return ToolCallPart(call.id, call.name, call.arguments_json or None, extra_json)
        case "thinking":
            thinking = part.thinking
            return ThinkingPart(thinking.text, thinking.signature, thinking.redacted, extra_json)
        case "image":
            image = part.image
            return ImagePart(image.media_type, image.data, image.uri, extra_json)
        case "opaque":
            if extra_json:
                raise _Fault(".extra_json", "must be empty for an opaque part: everything of it belongs into its json")
            return OpaquePart(part.opaque.type, part.opaque.json)
        case _:
            raise _Fault(".kind", "must be set: text, thinking, tool_call, image or opaque")


def _refuse_constant(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")


def _number(text: str) -> None:
    """Numbers are not looked at, so that no limit of a number type applies."""


_decoder = json.JSONDecoder(parse_int=_number, parse_float=_number, parse_constant=_refuse_constant)


def _check_json(text: str, place: str, *, as_object: bool) -> None:
    """Refuse a text that is not one JSON value, or not an object."""
    what = "one JSON object" if as_object else "one JSON value"
    try:
        value = _decoder.decode(text)
    except ValueError:
        raise _Fault(place, f"must be the text of {what}, or empty") from None
    except RecursionError:
        raise _Fault(place, f"must be the text of {what} that is not nested so deeply") from None
    if as_object and not isinstance(value, dict):
        raise _Fault(place, f"must be the text of {what}, or empty")


def write_message(message: Message, target: pb.Message) -> None:
    """Write one message into an empty one. (In place: protobuf copies whatever is put into it as a whole.)"""
    if message.extra_json:
        target.extra_json = wire_text(message.extra_json)
    if message.timestamp_ms is not None:
        target.timestamp_ms = message.timestamp_ms
    if message.role is USER:
        target.user.SetInParent()
        write_parts(message.parts, target.user.parts)
    elif message.role is ASSISTANT:
        target.assistant.SetInParent()
        write_parts(message.parts, target.assistant.parts)
    elif message.role is TOOL_RESULT:
        result = target.tool_result
        result.tool_call_id = wire_text(message.tool_call_id)
        result.tool_name = wire_text(message.tool_name)
        result.is_error = message.is_error
        write_parts(message.parts, result.parts)
    else:
        custom = target.custom
        custom.role = wire_text(message.custom_role)
        custom.custom_type = wire_text(message.custom_type)
        custom.details_json = wire_text(message.details_json)
        custom.display = message.display
        write_parts(message.parts, custom.parts)


def write_parts(
    parts: Iterable[Part], target: "RepeatedCompositeFieldContainer[pb.Part]", *, with_content: bool = True
) -> None:
    """Write parts. Without content an image or an opaque part is there by its kind and type only."""
    for part in parts:
        _write_part(part, target.add(), with_content=with_content)


def _write_part(part: Part, target: pb.Part, *, with_content: bool) -> None:
    match part:
        case TextPart():
            target.text.text = wire_text(part.text)
        case ToolCallPart():
            call = target.tool_call
            call.id = wire_text(part.id)
            call.name = wire_text(part.name)
            call.arguments_json = wire_text(part.arguments_json or "")
        case ThinkingPart():
            thinking = target.thinking
            thinking.text = wire_text(part.text)
            thinking.signature = wire_text(part.signature)
            thinking.redacted = part.redacted
        case ImagePart():
            image = target.image
            image.media_type = wire_text(part.media_type)
            if with_content and part.uri:
                image.uri = wire_text(part.uri)
            elif with_content and part.data:
                image.data = part.data
        case OpaquePart():
            target.opaque.type = wire_text(part.type)
            target.opaque.json = wire_text(part.json) if with_content else ""
            return
    if part.extra_json and with_content:
        target.extra_json = wire_text(part.extra_json)
