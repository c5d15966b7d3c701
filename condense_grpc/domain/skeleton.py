"""Skeletons: what the rules need to know of a message, without its bodies.

A skeleton holds roles, ids, sizes, flags and the path arguments, a few hundred bytes however long the message is, so
that a session can be rendered without touching the texts. Sizes are code points of the compact Pi JSON. Texts are
kept only where a rule compares them: a user text that looks like one of our blocks, a result that looks like one of
our stubs.

A session has one for each of its messages, so that they are tuples: cheap to make and to read back from bytes. The
order of their members is part of what is stored; new ones go to the end and have a default.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from condense_grpc.domain.arguments import (
    captured_arguments,
    paths_in,
    paths_of,
    purged_arguments,
    tested_arguments,
)
from condense_grpc.domain.batches import Ref
from condense_grpc.domain.json_text import compact, parse_or_text, value_chars
from condense_grpc.domain.messages import (
    ASSISTANT,
    TOOL_RESULT,
    USER,
    ImagePart,
    Message,
    Role,
    TextPart,
    ThinkingPart,
    ToolCallPart,
    text_of,
)
from condense_grpc.domain.pi_json import SUMMARY_TYPE, message_to_pi, part_to_pi
from condense_grpc.domain.pi_records import refs_from_pi
from condense_grpc.domain.pi_size import plain_pi_size
from condense_grpc.domain.text import is_blank
from condense_grpc.domain.tokens import wide_chars

BLOCK_OPENING = '<compressed-chain id="'
STUB_OPENINGS = ("[Summarized in pruner summary", "[Oversized output ")


class CallSkeleton(NamedTuple):
    """A tool call. `args_chars` None: without arguments; `args_json_chars`: their share of the message's JSON.

    `is_purged`: the arguments are already what a purge would write.
    """

    id: str
    name: str
    paths: tuple[str, ...] = ()
    captured_paths: tuple[str, ...] = ()
    args_chars: int | None = None
    args_json_chars: int = 0
    is_purged: bool = False


class ThinkingSkeleton(NamedTuple):
    """The thinking of an assistant message: how much of its JSON goes when the thinking goes."""

    block_chars: int
    strip_chars: int


class NativeSpan(NamedTuple):
    """Where a message lies in a history of a provider's shape.

    `elements` begin with it, 0 for a later piece of an element that is several messages. Of such an element it holds
    `parts`; None: it is whole elements. `format` and `style` are numbers of the shape, and of the exact bytes.
    `marks`: how many places in its elements ask the provider to cache what comes up to there. `awaits`: it asks in a
    way that is opaque to us, and is not answered in itself; `resumes`: it has the answer to what was asked so earlier.
    """

    format: int
    elements: int = 1
    parts: int | None = None
    style: int = 0
    marks: int = 0
    awaits: bool = False
    resumes: bool = False


class MessageSkeleton(NamedTuple):
    """One message. The members behind `json_chars` belong to the role that their names say.

    `wide_chars`: how many of the characters are of scripts in which a character is about a token.
    """

    role: Role
    timestamp_ms: int | None
    json_chars: int
    calls: tuple[CallSkeleton, ...] = ()
    thinking: ThinkingSkeleton | None = None
    tool_call_id: str = ""
    tool_name: str = ""
    is_error: bool = False
    text_chars: int = 0
    images: int = 0
    other_parts: int = 0
    stub_text: str | None = None
    block_text: str | None = None
    is_empty: bool = False
    is_summary: bool = False
    summary_refs: tuple[Ref, ...] = ()
    wide_chars: int = 0
    native: NativeSpan | None = None

    @property
    def is_text_only_assistant(self) -> bool:
        """An assistant message without tool calls: the end of a chain."""
        return self.role is ASSISTANT and not self.calls

    @property
    def is_other(self) -> bool:
        """Neither assistant nor tool result."""
        return self.role is not ASSISTANT and self.role is not TOOL_RESULT


def skeleton_of(message: Message, path_arguments: Sequence[str], timestamp_ms: int | None = None) -> MessageSkeleton:
    """The skeleton of a message; `timestamp_ms` is its time if it has none of its own."""
    time_ms = message.timestamp_ms if timestamp_ms is None else timestamp_ms
    calls = [_call_of(part, path_arguments) for part in message.parts if isinstance(part, ToolCallPart)]
    size = plain_pi_size(message, time_ms, [text for _, text in calls])
    if size is None:
        message = message if timestamp_ms is None else replace(message, timestamp_ms=time_ms)
        text = compact(message_to_pi(message))
        size = len(text), wide_chars(text)
    chars, wide = size
    role = message.role
    if role is ASSISTANT:
        return MessageSkeleton(
            role,
            time_ms,
            chars,
            calls=tuple([call for call, _ in calls]),
            thinking=_thinking(message),
            is_empty=not calls and _is_empty(message),
            wide_chars=wide,
        )
    if role is TOOL_RESULT:
        return _result(message, time_ms, chars, wide)
    if role is USER:
        block, is_empty = _block_text(message), _is_empty(message)
        return MessageSkeleton(role, time_ms, chars, block_text=block, is_empty=is_empty, wide_chars=wide)
    is_summary = message.custom_role == "custom" and message.custom_type == SUMMARY_TYPE
    details = parse_or_text(message.details_json) if is_summary and message.details_json else None
    refs = refs_from_pi(details.get("toolCallRefs")) if isinstance(details, dict) else ()
    return MessageSkeleton(role, time_ms, chars, is_summary=is_summary, summary_refs=refs, wide_chars=wide)


def skeletons_of(messages: Sequence[Message], path_arguments: Sequence[str]) -> list[MessageSkeleton]:
    """The skeletons of a list."""
    return [skeleton_of(message, path_arguments) for message in messages]


def _call_of(part: ToolCallPart, path_arguments: Sequence[str]) -> tuple[CallSkeleton, str | None]:
    """The skeleton of a call, and its arguments as compact JSON (None: absent)."""
    value = None if part.arguments_json is None else parse_or_text(part.arguments_json)
    if part.extra_json:
        paths = paths_in(tested_arguments(part), path_arguments)
        captured = paths_in(captured_arguments(part), path_arguments)
    else:
        paths = captured = paths_of(value, path_arguments)
    if part.arguments_json is None:
        return CallSkeleton(part.id, part.name, paths, captured), None
    text = compact(value)
    measured = len(value) if isinstance(value, str) else len(text)
    is_purged = measured < 80 and text == purged_arguments(measured)
    return CallSkeleton(part.id, part.name, paths, captured, measured, len(text), is_purged), text


def _thinking(message: Message) -> ThinkingSkeleton | None:
    blocks = [part for part in message.parts if isinstance(part, ThinkingPart)]
    if not blocks:
        return None
    chars = sum(value_chars(part_to_pi(part)) for part in blocks)
    is_as_written = message.source_json or message.extra_json
    others = len(message_to_pi(message)["content"] if is_as_written else message.parts) - len(blocks)
    commas = len(blocks) if others else len(blocks) - 1
    return ThinkingSkeleton(chars, chars + commas)


def _result(message: Message, time_ms: int | None, chars: int, wide: int) -> MessageSkeleton:
    text = text_of(message)
    images = other = 0
    for part in message.parts:
        if isinstance(part, ImagePart):
            images += 1
        elif not isinstance(part, TextPart):
            other += 1
    return MessageSkeleton(
        message.role,
        time_ms,
        chars,
        tool_call_id=message.tool_call_id,
        tool_name=message.tool_name,
        is_error=message.is_error,
        text_chars=len(text),
        images=images,
        other_parts=other,
        stub_text=text if text.startswith(STUB_OPENINGS) and _is_stub_shaped(message, time_ms, text) else None,
        wide_chars=wide,
    )


def stub_json(skeleton: MessageSkeleton | Message, text: str) -> dict[str, Any]:
    """The Pi JSON of the stub that stands for a result."""
    value: dict[str, Any] = {
        "role": "toolResult",
        "toolCallId": skeleton.tool_call_id,
        "toolName": skeleton.tool_name,
        "content": [{"type": "text", "text": text}],
        "isError": False,
    }
    if skeleton.timestamp_ms is not None:
        value["timestamp"] = skeleton.timestamp_ms
    return value


def stub_chars(skeleton: MessageSkeleton, text: str) -> int:
    """The length of that JSON when it is compact."""
    texts = value_chars(skeleton.tool_call_id) + value_chars(skeleton.tool_name) + value_chars(text)
    time_ms = skeleton.timestamp_ms
    return _STUB_CHARS + texts + (0 if time_ms is None else len(f',"timestamp":{time_ms}'))


# What is written around the three texts; each of them has two quotes.
_STUB_CHARS = value_chars(stub_json(MessageSkeleton(TOOL_RESULT, None, 0), "")) - 3 * len('""')


def _is_stub_shaped(message: Message, time_ms: int | None, text: str) -> bool:
    stamped = replace(message, timestamp_ms=time_ms)
    value, stub = message_to_pi(stamped), stub_json(stamped, text)
    return bool(value == stub) and len(compact(value)) == len(compact(stub))


def _block_text(message: Message) -> str | None:
    """The text of a user message that may be one of our blocks: its only text part, and that the first part."""
    first, *rest = message.parts or (None,)
    if not isinstance(first, TextPart) or any(isinstance(part, TextPart) for part in rest):
        return None
    return first.text if first.text.startswith(BLOCK_OPENING) else None


def _is_empty(message: Message) -> bool:
    """Nothing in it but blank text and thinking."""
    return all(
        isinstance(part, ThinkingPart) or (isinstance(part, TextPart) and is_blank(part.text)) for part in message.parts
    )
