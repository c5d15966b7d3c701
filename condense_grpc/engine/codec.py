"""How messages, skeletons and decisions are written down: msgpack arrays, headed by a format number.

The bytes of a message are also what its digest covers, so their form must never change for a message that was stored;
a new form gets a new number. Lone surrogates, which msgpack text cannot hold, are kept as bytes.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import msgspec

from condense_grpc.domain.batches import Ref
from condense_grpc.domain.json_text import parse_or_text
from condense_grpc.domain.messages import (
    ImagePart,
    Message,
    OpaquePart,
    Part,
    Role,
    TextPart,
    ThinkingPart,
    ToolCallPart,
)
from condense_grpc.domain.pi_json import message_from_pi
from condense_grpc.domain.skeleton import CallSkeleton, MessageSkeleton, NativeSpan, ThinkingSkeleton
from condense_grpc.native.formats import NativeFormat
from condense_grpc.native.reading import message_of
from condense_grpc.native.unit import Facts, NativeBody

_MESSAGE_FORMAT = 1
_SOURCE_FORMAT = 2
_NATIVE_FORMAT = 3
_SKELETON_FORMAT = 1
_INT64_MAX = 2**63 - 1

_ROLES = (Role.USER, Role.ASSISTANT, Role.TOOL_RESULT, Role.CUSTOM)
_ROLE_NUMBERS = {role: number for number, role in enumerate(_ROLES)}
_encoder = msgspec.msgpack.Encoder()
_decoder = msgspec.msgpack.Decoder()
_skeleton_decoder = msgspec.msgpack.Decoder(MessageSkeleton)
_row_decoder = msgspec.msgpack.Decoder(list[int | MessageSkeleton])
_ROW_OF_OBJECTS = b"\xdd"
# No array begins with this byte, as skeletons do that are written member by member.
_PLAIN_SKELETON = b"\x02"


def pack(value: Any) -> bytes:
    """Write a value of lists, texts, numbers and bytes."""
    try:
        return _encoder.encode(value)
    except UnicodeEncodeError:
        return _encoder.encode(_surrogates_as_bytes(value))


def unpack(data: bytes) -> Any:
    """Read what `pack` wrote; a text with lone surrogates comes as bytes (see `as_text`)."""
    return _decoder.decode(data)


def _surrogates_as_bytes(value: Any) -> Any:
    if isinstance(value, str):
        try:
            value.encode()
        except UnicodeEncodeError:
            return value.encode("utf-8", "surrogatepass")
        return value
    if isinstance(value, list | tuple):
        return [_surrogates_as_bytes(item) for item in value]
    return value


def as_text(value: str | bytes) -> str:
    """A text that may have been kept as bytes."""
    return value if isinstance(value, str) else value.decode("utf-8", "surrogatepass")


# Messages


def encode_message(message: Message) -> bytes:
    """The bytes of a message, with the timestamp that its host gave it (or none)."""
    if message.source_json:
        return pack((_SOURCE_FORMAT, message.source_json))
    return pack(
        (
            _MESSAGE_FORMAT,
            _ROLE_NUMBERS[message.role],
            message.timestamp_ms,
            [write_part(part) for part in message.parts],
            message.tool_call_id,
            message.tool_name,
            message.is_error,
            message.custom_role,
            message.custom_type,
            message.details_json,
            message.display,
            message.extra_json,
        )
    )


def encode_native(body: NativeBody) -> bytes:
    """The bytes of a message that came in a provider's shape. Its digest covers the elements instead of these."""
    facts = body.facts
    opaque = (True,) if facts.is_opaque else ()
    return pack((_NATIVE_FORMAT, body.format.number, body.texts, body.is_fragment, facts.name, facts.ids, *opaque))


def decode_native(data: bytes) -> NativeBody:
    """What `encode_native` wrote."""
    _, number, texts, is_fragment, name, ids, *opaque = unpack(data)
    facts = Facts(as_text(name), tuple(as_text(call_id) for call_id in ids), bool(opaque))
    return NativeBody(NativeFormat.of_number(number), tuple(texts), is_fragment, facts)


def write_part(part: Part) -> tuple[Any, ...]:
    """A part as an array headed by its kind."""
    match part:
        case TextPart():
            return (0, part.text, part.extra_json)
        case ThinkingPart():
            return (1, part.text, part.signature, part.redacted, part.extra_json)
        case ToolCallPart():
            return (2, part.id, part.name, part.arguments_json, part.extra_json)
        case ImagePart():
            return (3, part.media_type, part.data, part.uri, part.extra_json)
        case OpaquePart():
            return (4, part.type, part.json)


def source_text(data: bytes) -> str:
    """The text of a message that came as its host's own JSON; empty for others."""
    form, *fields = unpack(data)
    if form == _NATIVE_FORMAT:
        body = decode_native(data)
        return body.source if body.format is NativeFormat.PI else ""
    return as_text(fields[0]) if form == _SOURCE_FORMAT else ""


def decode_message(data: bytes, timestamp_ms: int) -> Message:
    """The message of these bytes, with the timestamp that is stored beside them."""
    form, *fields = unpack(data)
    if form == _SOURCE_FORMAT:
        source = as_text(fields[0])
        return replace(message_from_pi(parse_or_text(source)), timestamp_ms=timestamp_ms, source_json=source)
    if form == _NATIVE_FORMAT:
        return replace(message_of(decode_native(data)), timestamp_ms=timestamp_ms)
    texts = [as_text(value) for value in (fields[3], fields[4], *fields[6:9], fields[10])]
    return Message(
        role=_ROLES[fields[0]],
        parts=tuple(read_part(part) for part in fields[2]),
        timestamp_ms=timestamp_ms,
        tool_call_id=texts[0],
        tool_name=texts[1],
        is_error=fields[5],
        custom_role=texts[2],
        custom_type=texts[3],
        details_json=texts[4],
        display=fields[9],
        extra_json=texts[5],
    )


def read_part(fields: Sequence[Any]) -> Part:
    """The part of such an array."""
    match fields[0]:
        case 0:
            return TextPart(as_text(fields[1]), as_text(fields[2]))
        case 1:
            return ThinkingPart(as_text(fields[1]), as_text(fields[2]), fields[3], as_text(fields[4]))
        case 2:
            arguments = None if fields[3] is None else as_text(fields[3])
            return ToolCallPart(as_text(fields[1]), as_text(fields[2]), arguments, as_text(fields[4]))
        case 3:
            return ImagePart(as_text(fields[1]), fields[2], as_text(fields[3]), as_text(fields[4]))
        case _:
            return OpaquePart(as_text(fields[1]), as_text(fields[2]))


# Skeletons


def encode_skeleton(skeleton: MessageSkeleton) -> bytes:
    """The bytes of a skeleton: its members as they are, behind the format number.

    The time is in it and counts no more than what is kept beside the message. What this form has no room for (refs of
    a host's own summary, lone surrogates) is written member by member.
    """
    if not skeleton.summary_refs:
        try:
            return _PLAIN_SKELETON + _encoder.encode(skeleton)
        except UnicodeEncodeError:
            pass
    return _encode_by_member(skeleton)


def _encode_by_member(skeleton: MessageSkeleton) -> bytes:
    thinking = skeleton.thinking
    return pack(
        (
            _SKELETON_FORMAT,
            _ROLE_NUMBERS[skeleton.role],
            skeleton.json_chars,
            [
                (
                    call.id,
                    call.name,
                    call.paths,
                    call.captured_paths,
                    call.args_chars,
                    call.args_json_chars,
                    call.is_purged,
                )
                for call in skeleton.calls
            ],
            None if thinking is None else (thinking.block_chars, thinking.strip_chars),
            skeleton.tool_call_id,
            skeleton.tool_name,
            skeleton.is_error,
            skeleton.text_chars,
            skeleton.images,
            skeleton.other_parts,
            skeleton.stub_text,
            skeleton.block_text,
            skeleton.is_empty,
            [_write_ref(ref) for ref in skeleton.summary_refs] if skeleton.is_summary else None,
            skeleton.wide_chars,
            _write_span(skeleton.native),
        )
    )


def _write_span(span: NativeSpan | None) -> tuple[Any, ...] | None:
    return None if span is None else tuple(span)


def _write_ref(ref: Ref) -> tuple[Any, ...]:
    """A ref of a host's own summary. Its time is the host's and may be of any size: no result has one beyond these."""
    time_ms = ref.result_timestamp_ms
    bounded = None if time_ms is None else max(min(time_ms, _INT64_MAX), -_INT64_MAX)
    return (ref.short_id, ref.tool_call_id, bounded, ref.occurrence and min(ref.occurrence, _INT64_MAX))


def decode_skeleton(data: bytes, timestamp_ms: int) -> MessageSkeleton:
    """The skeleton of these bytes."""
    if data[:1] == _PLAIN_SKELETON:
        skeleton = _skeleton_decoder.decode(data[1:])
        return skeleton if skeleton.timestamp_ms == timestamp_ms else skeleton._replace(timestamp_ms=timestamp_ms)
    _, role, chars, calls, thinking, call_id, name, is_error, text_chars, images, others, *rest = unpack(data)
    # Skeletons of the first release end with the refs.
    stub, block, is_empty, refs, *added = rest
    wide_chars, span = added or (0, None)
    return MessageSkeleton(
        _ROLES[role],
        timestamp_ms,
        chars,
        calls=tuple(_read_call(call) for call in calls),
        thinking=None if thinking is None else ThinkingSkeleton(*thinking),
        tool_call_id=as_text(call_id),
        tool_name=as_text(name),
        is_error=is_error,
        text_chars=text_chars,
        images=images,
        other_parts=others,
        stub_text=None if stub is None else as_text(stub),
        block_text=None if block is None else as_text(block),
        is_empty=is_empty,
        is_summary=refs is not None,
        summary_refs=tuple(Ref(as_text(ref[0]), as_text(ref[1]), *ref[2:]) for ref in refs or ()),
        wide_chars=wide_chars,
        native=None if span is None else NativeSpan(*span),
    )


def decode_skeletons(data: Sequence[bytes], times_ms: Sequence[int]) -> list[MessageSkeleton]:
    """The skeletons of many bytes, in order."""
    # The format number of a plain one is also msgpack for a number: in a row they are a list of numbers and skeletons.
    row = b"".join((_ROW_OF_OBJECTS, (2 * len(data)).to_bytes(4), *data))
    try:
        skeletons: list[Any] = _row_decoder.decode(row)[1::2]
    except msgspec.MsgspecError:  # One that was written member by member makes the row shorter.
        return [decode_skeleton(one, time_ms) for one, time_ms in zip(data, times_ms, strict=True)]
    if tuple([skeleton.timestamp_ms for skeleton in skeletons]) != tuple(times_ms):
        pairs = zip(skeletons, times_ms, strict=True)
        return [skeleton._replace(timestamp_ms=time_ms) for skeleton, time_ms in pairs]
    return skeletons


def _read_call(fields: Sequence[Any]) -> CallSkeleton:
    call_id, name, paths, captured, args_chars, json_chars, is_purged = fields
    return CallSkeleton(
        as_text(call_id),
        as_text(name),
        tuple(as_text(path) for path in paths),
        tuple(as_text(path) for path in captured),
        args_chars,
        json_chars,
        is_purged,
    )
