"""The `messages` of the Anthropic Messages API.

Thinking and redacted thinking keep their signatures. Server-side tools (`server_tool_use` and what answers it, both
in one assistant message) are opaque and go where their message goes.
"""

from base64 import b64encode
from collections.abc import Sequence
from typing import Any

from condense_grpc.domain.json_text import compact, parse_object, parse_or_text
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
from condense_grpc.native.fields import bytes_of, objects_in, opaque, rest
from condense_grpc.native.formats import NativeFormat
from condense_grpc.native.json_edit import member_text, with_member, written
from condense_grpc.native.part_shape import PartShape
from condense_grpc.native.unit import Json

THINKING = ("thinking", "redacted_thinking")
SERVER_CALLS = ("server_tool_use", "mcp_tool_use")


class Anthropic(PartShape):
    """Elements of content blocks; content that is one text stands for one text block."""

    format = NativeFormat.ANTHROPIC
    has_cache_marks = True
    list_name = "content"

    def cache_marks(self, value: Json) -> int:
        """See Shape."""
        return cache_marks(value)

    def late_tools(self, values: Sequence[Json]) -> tuple[bool, bool]:
        """See Shape."""
        asked: list[str] = []
        resumes = False
        for block in (block for value in values for block in objects_in(value.get("content"))):
            kind = text_or_empty(block.get("type"))
            if kind in SERVER_CALLS:
                asked.append(text_or_empty(block.get("id")))
            elif kind.endswith("_tool_result"):
                call_id = text_or_empty(block.get("tool_use_id"))
                resumes |= call_id not in asked
                asked = [one for one in asked if one != call_id]
        return bool(asked), resumes

    def is_user(self, value: Json) -> bool:
        """See PartShape."""
        return value.get("role") == "user"

    def is_result(self, part: Json) -> bool:
        """See PartShape."""
        return part.get("type") == "tool_result"

    def is_call(self, part: Json) -> bool:
        """See PartShape."""
        return part.get("type") == "tool_use"

    def is_thinking(self, part: Json) -> bool:
        """See PartShape."""
        return part.get("type") in THINKING

    def message(self, values: Sequence[Json], *, is_fragment: bool = False) -> Message:
        """See Shape."""
        if is_fragment:
            blocks = objects_in(values)
            is_result = bool(blocks) and self.is_result(blocks[0])
            return _result(blocks[0]) if is_result else Message(Role.USER, tuple(map(_part, blocks)))
        value = values[0]
        role, parts = text_or_empty(value.get("role")), tuple(_parts(value.get("content")))
        extra_json = rest(value, "role", "content")
        if role == "user":
            return Message(Role.USER, parts, extra_json=extra_json)
        if role == "assistant":
            return Message(Role.ASSISTANT, parts, extra_json=extra_json)
        return Message(Role.CUSTOM, parts, custom_role=role, extra_json=extra_json)

    def with_stub(self, carrier: str, text: str) -> str:
        """The content keeps its form: a list of blocks becomes a list of one, with the last mark that was on any."""
        changed = with_member(carrier, "content", stub_content(member_text(carrier, "content"), text))
        return with_member(changed, "is_error", "false") if member_text(changed, "is_error") == "true" else changed

    def with_arguments(self, carrier: str, call_index: int, arguments_json: str) -> str:
        """See Shape."""
        return with_member(carrier, "input", arguments_json)

    def with_call_id(self, carrier: str, call_index: int, call_id: str) -> str:
        """See Shape."""
        name = "tool_use_id" if self.is_result(parse_object(carrier)) else "id"
        return with_member(carrier, name, written(call_id))

    def text_part(self, text_json: str) -> str:
        """See PartShape."""
        return f'{{"type":"text","text":{text_json}}}'

    def inserted_parts(self, message: Message) -> list[str]:
        """See PartShape."""
        return [written(_block(part)) for part in message.parts]


def cache_marks(value: Json) -> int:
    """The marks on the blocks of an element, and on those within results."""
    blocks = objects_in(value.get("content"))
    inner = [part for block in blocks for part in objects_in(block.get("content"))]
    return sum(isinstance(block.get(MARK), dict) for block in (*blocks, *inner))


def _result(block: Json) -> Message:
    return Message(
        Role.TOOL_RESULT,
        tuple(_parts(block.get("content"))),
        tool_call_id=text_or_empty(block.get("tool_use_id")),
        is_error=block.get("is_error") is True,
        extra_json=rest(block, "type", "tool_use_id", "content", "is_error", MARK),
    )


def _parts(content: Any) -> list[Part]:
    if isinstance(content, str):
        return [TextPart(content)]
    return [_part(block) for block in objects_in(content)]


def _part(block: Json) -> Part:
    match block.get("type"):
        case "text":
            return TextPart(text_or_empty(block.get("text")), _extra(block, "text"))
        case "thinking":
            text, signature = text_or_empty(block.get("thinking")), text_or_empty(block.get("signature"))
            return ThinkingPart(text, signature, False, _extra(block, "thinking", "signature"))
        case "redacted_thinking":
            return ThinkingPart("", text_or_empty(block.get("data")), True, _extra(block, "data"))
        case "tool_use":
            arguments = block.get("input")
            return ToolCallPart(
                text_or_empty(block.get("id")),
                text_or_empty(block.get("name")),
                None if arguments is None else compact(arguments),
                _extra(block, "id", "name", "input"),
            )
        case "image" if (image := _image(block)) is not None:
            return image
    return opaque({name: member for name, member in block.items() if name != MARK})


def _extra(block: Json, *known: str) -> str:
    return rest(block, "type", MARK, *known)


def _image(block: Json) -> ImagePart | None:
    """An image by its bytes or its address; None for the other ways to say where one is."""
    extra = _extra(block, "source")
    match block.get("source"):
        case {"type": "base64", "media_type": str(media_type), "data": data} if bytes_of(data):
            return ImagePart(media_type, bytes_of(data), "", extra)
        case {"type": "url", "url": str(uri)}:
            return ImagePart("", b"", uri, extra)
    return None


def _block(part: Part) -> Any:
    """A part of a message of ours, or one of a result that has moved into it, as a content block."""
    match part:
        case ImagePart() if part.data:
            source = {"type": "base64", "media_type": part.media_type, "data": b64encode(part.data).decode()}
            return {"type": "image", "source": source}
        case ImagePart():
            return {"type": "image", "source": {"type": "url", "url": part.uri}}
        case OpaquePart():
            return parse_or_text(part.json)
        case _:
            return {"type": "text", "text": getattr(part, "text", "")}
