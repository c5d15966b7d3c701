"""The `messages` of the OpenAI Chat Completions API and of the many servers that speak it.

`reasoning_content` and `reasoning`, the two names under which compatible servers return thinking, count as thinking.
Arguments are a text here. System and developer messages are custom messages of that role.
"""

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

from condense_grpc.domain.json_text import parse_object, parse_or_text
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
from condense_grpc.domain.pi_json import text_or_empty
from condense_grpc.native.cache_mark import MARK, stub_content
from condense_grpc.native.fields import image_of_uri, objects_in, opaque, rest, text_only, uri_of_image
from condense_grpc.native.formats import NativeFormat
from condense_grpc.native.json_edit import edited_member, member_text, with_member, without_members, written
from condense_grpc.native.json_scan import items_at, member_at
from condense_grpc.native.shape import Shape
from condense_grpc.native.unit import Json

REASONING = ("reasoning_content", "reasoning")


class OpenAIChat(Shape):
    """One element is one message."""

    format = NativeFormat.OPENAI_CHAT
    has_cache_marks = True

    def message(self, values: Sequence[Json], *, is_fragment: bool = False) -> Message:
        """See Shape."""
        value = values[0]
        role, parts = text_or_empty(value.get("role")), tuple(_content(value.get("content")))
        match role:
            case "user":
                return Message(Role.USER, parts, extra_json=rest(value, "role", "content"))
            case "assistant":
                return _assistant(value, parts)
            case "tool" | "function":
                return Message(
                    Role.TOOL_RESULT,
                    parts,
                    tool_call_id=text_or_empty(value.get("tool_call_id")),
                    tool_name=text_or_empty(value.get("name")),
                    extra_json=rest(value, "role", "content", "tool_call_id", "name"),
                )
            case _:
                return Message(Role.CUSTOM, parts, custom_role=role, extra_json=rest(value, "role", "content"))

    def with_stub(self, carrier: str, text: str) -> str:
        """The content keeps its form: a text, or a list of one with the last mark that was on any."""
        return with_member(carrier, "content", stub_content(member_text(carrier, "content"), text))

    def with_arguments(self, carrier: str, call_index: int, arguments_json: str) -> str:
        """See Shape."""
        return _with_call(carrier, call_index, _set_arguments(arguments_json))

    def with_call_id(self, carrier: str, call_index: int, call_id: str) -> str:
        """See Shape."""
        if member_at(carrier, "tool_call_id") is not None:
            return with_member(carrier, "tool_call_id", written(call_id))
        return _with_call(carrier, call_index, lambda call: with_member(call, "id", written(call_id)))

    def without_thinking(self, element: str) -> str:
        """The message without reasoning."""
        return without_members(element, REASONING)

    def inserted(self, message: Message) -> str:
        """A user message: the API takes these in any number and place, except between a call and its results."""
        content = text_only(message.parts)
        blocks = [block_of(part) for part in message.parts]
        return written({"role": "user", "content": blocks if content is None else content})


Change: TypeAlias = Callable[[str], str]


def _set_arguments(arguments_json: str) -> Change:
    def change(call: str) -> str:
        is_custom = member_at(call, "custom") is not None and member_at(call, "function") is None
        if is_custom:
            return edited_member(call, ("custom", "input"), written(arguments_json))
        if member_at(call, "function") is not None:
            return edited_member(call, ("function", "arguments"), written(arguments_json))
        return with_member(call, "arguments", written(arguments_json))  # a `function_call`, the call's own body

    return change


def _with_call(element: str, call_index: int, change: Change) -> str:
    """The element with one of its calls changed. Behind all `tool_calls` comes the `function_call` of old."""
    calls = member_at(element, "tool_calls")
    places = items_at(element, calls.start) if calls is not None and element[calls.start] == "[" else []
    objects = [place for place in places if element[place.start] == "{"]
    place: Any = objects[call_index] if call_index < len(objects) else member_at(element, "function_call")
    return element[: place.start] + change(element[place.start : place.end]) + element[place.end :]


def _assistant(value: Json, content: tuple[Part, ...]) -> Message:
    parts: list[Part] = []
    known = ["role", "content", "tool_calls"]
    for name in REASONING:
        if isinstance(value.get(name), str) and not parts:
            parts.append(ThinkingPart(value[name]))
            known.append(name)
    parts += content
    for call in objects_in(value.get("tool_calls")):
        name = "custom" if "custom" in call and "function" not in call else "function"
        body = call.get(name)
        member = "input" if name == "custom" else "arguments"
        extra = rest(call, "id", "type", name)
        parts.append(_call(text_or_empty(call.get("id")), body if isinstance(body, dict) else {}, member, extra))
    old = value.get("function_call")
    if isinstance(old, dict):
        parts.append(_call("", old, "arguments", ""))
        known.append("function_call")
    return Message(Role.ASSISTANT, tuple(parts), extra_json=rest(value, *known))


def _call(call_id: str, body: Json, member: str, extra_json: str) -> ToolCallPart:
    arguments = body.get(member)
    return ToolCallPart(
        call_id, text_or_empty(body.get("name")), arguments if isinstance(arguments, str) else None, extra_json
    )


def _content(content: Any) -> list[Part]:
    if isinstance(content, str):
        return [TextPart(content)]
    return [_part(block) for block in objects_in(content)]


def _part(block: Json) -> Part:
    kind, image = block.get("type"), block.get("image_url")
    if kind == "text":
        return TextPart(text_or_empty(block.get("text")), rest(block, "type", "text", MARK))
    if kind == "image_url" and isinstance(image, dict):
        return image_of_uri(text_or_empty(image.get("url")), rest(image, "url"))
    return opaque(block)


def block_of(part: Part) -> Any:
    """A part of a message of ours as a content part."""
    match part:
        case ImagePart():
            return {"type": "image_url", "image_url": {"url": uri_of_image(part)} | parse_object(part.extra_json)}
        case OpaquePart():
            return parse_or_text(part.json)
        case TextPart():
            return {"type": "text", "text": part.text}
        case _:
            return {"type": "text", "text": getattr(part, "text", "")}
