"""Histories in the `messages` of the Anthropic Messages API.

A user message may hold tool results and other content side by side. Each result is a transcript message of its own,
and so is each run of other blocks, so that results can be condensed one by one.

How summaries and blocks of the service find their place between these messages is told by `anthropic_turns`.

Cache marks (`cache_control`) are hints about sending, not content: a history in which they wander is still the same.
"""

from collections.abc import Sequence
from itertools import groupby
from typing import Any

from condense_grpc.api.condense.v1.edit_pb2 import InsertKind
from condense_grpc.api.condense.v1.message_pb2 import (
    AssistantMessage,
    CustomMessage,
    ImagePart,
    Message,
    Part,
    ThinkingPart,
    ToolCallPart,
    ToolResultMessage,
    UserMessage,
)
from condense_grpc.client.adapters.anthropic_turns import blocks_of, is_result, joined
from condense_grpc.client.adapters.base import Turn
from condense_grpc.client.adapters.json_value import (
    JsonAdapter,
    base64_of,
    bytes_of,
    compact,
    opaque_part,
    parse_object,
    parse_or_text,
    plain_object,
    rest,
    text_or_empty,
    text_part,
)

_MARK = "cache_control"


class AnthropicAdapter(JsonAdapter):
    """An object is one message, a dict whose content may hold objects of Anthropic's SDK."""

    results_name_their_tool = False

    def split(self, item: Any) -> list[Any]:
        """The message cut into its results and the runs between them."""
        message = plain_object(item)
        blocks = message.get("content")
        if message.get("role") != "user" or not isinstance(blocks, list) or not any(map(is_result, blocks)):
            return [message]
        runs = groupby(enumerate(blocks), lambda entry: entry[0] if is_result(entry[1]) else -1)
        return [message | {"content": [block for _, block in run]} for _, run in runs]

    def join(self, turns: Sequence[Turn[Any]]) -> list[Any]:
        """Messages in which the service's own text, and what was torn apart, belong to the turn beside them."""
        return joined(turns)

    def to_message(self, piece: Any) -> Message:
        """Typed fields for what the API names, `extra_json` for the rest."""
        role, content = text_or_empty(piece.get("role")), piece.get("content")
        extra_json = rest(piece, "role", "content")
        if role == "user" and isinstance(content, list) and len(content) == 1 and is_result(content[0]):
            block = content[0]
            result = ToolResultMessage(
                tool_call_id=text_or_empty(block.get("tool_use_id")),
                parts=_parts(block.get("content")),
                is_error=block.get("is_error") is True,
            )
            return Message(tool_result=result, extra_json=_extra(block, "tool_use_id", "content", "is_error"))
        parts = _parts(content)
        if role == "user":
            return Message(user=UserMessage(parts=parts), extra_json=extra_json)
        if role == "assistant":
            return Message(assistant=AssistantMessage(parts=parts), extra_json=extra_json)
        return Message(custom=CustomMessage(role=role, parts=parts), extra_json=extra_json)

    def from_message(self, message: Message, kind: "InsertKind.ValueType") -> Any:
        """A message of the same role; a custom one becomes a user message."""
        match message.WhichOneof("kind"):
            case "assistant":
                content = [_block(part) for part in message.assistant.parts]
                return {"role": "assistant", "content": content} | parse_object(message.extra_json)
            case "tool_result":
                result = message.tool_result
                block: dict[str, Any] = {"type": "tool_result", "tool_use_id": result.tool_call_id}
                block |= {"content": [_block(part) for part in result.parts]}
                block |= {"is_error": True} if result.is_error else {}
                return {"role": "user", "content": [block | parse_object(message.extra_json)]}
            case "user":
                content = [_block(part) for part in message.user.parts]
                return {"role": "user", "content": content} | parse_object(message.extra_json)
            case _:
                return {"role": "user", "content": [_block(part) for part in message.custom.parts]}

    def replace_result(self, piece: Any, text: str) -> Any:
        """The answer to the same call, with the text in the form that the content had. A cache mark stays."""
        block = piece["content"][0]
        is_list = isinstance(block.get("content"), list)
        kept = {name: block[name] for name in ("type", "tool_use_id", _MARK) if name in block}
        stub = kept | {"content": [{"type": "text", "text": text}] if is_list else text}
        return piece | {"content": [stub]}

    def purge_arguments(self, piece: Any, call_index: int, arguments_json: str) -> Any:
        """The call's `input` becomes the placeholder."""
        blocks = list(piece["content"])
        calls = [place for place, block in enumerate(blocks) if block.get("type") == "tool_use"]
        blocks[calls[call_index]] = blocks[calls[call_index]] | {"input": parse_or_text(arguments_json)}
        return piece | {"content": blocks}

    def strip_thinking(self, piece: Any) -> Any:
        """The content without thinking, unless nothing would be left, which the API refuses."""
        kinds = ("thinking", "redacted_thinking")
        kept = [block for block in blocks_of(piece) if block.get("type") not in kinds]
        return piece | {"content": kept} if kept else piece


def _extra(block: dict[str, Any], *known: str) -> str:
    return rest(block, "type", _MARK, *known)


def _parts(content: Any) -> list[Part]:
    if isinstance(content, str):
        return [text_part(content)]
    return [_part(block) for block in content] if isinstance(content, list) else []


def _part(block: Any) -> Part:
    match block.get("type"):
        case "text":
            return text_part(text_or_empty(block.get("text")), _extra(block, "text"))
        case "thinking":
            text, signature = text_or_empty(block.get("thinking")), text_or_empty(block.get("signature"))
            thinking = ThinkingPart(text=text, signature=signature)
            return Part(thinking=thinking, extra_json=_extra(block, "thinking", "signature"))
        case "redacted_thinking":
            thinking = ThinkingPart(signature=text_or_empty(block.get("data")), redacted=True)
            return Part(thinking=thinking, extra_json=_extra(block, "data"))
        case "tool_use":
            name, arguments = text_or_empty(block.get("name")), block.get("input")
            arguments_json = "" if arguments is None else compact(arguments)
            call = ToolCallPart(id=text_or_empty(block.get("id")), name=name, arguments_json=arguments_json)
            return Part(tool_call=call, extra_json=_extra(block, "id", "name", "input"))
        case "image" if (image := _image(block.get("source"))) is not None:
            return Part(image=image, extra_json=_extra(block, "source"))
        case kind:
            return opaque_part(text_or_empty(kind), {name: block[name] for name in block if name != _MARK})


def _image(source: Any) -> ImagePart | None:
    """An image by its bytes or its address; None for the other ways to say where one is."""
    match source:
        case {"type": "base64", "media_type": str(media_type), "data": data} if bytes_of(data):
            return ImagePart(media_type=media_type, data=bytes_of(data))
        case {"type": "url", "url": str(uri)}:
            return ImagePart(uri=uri)
    return None


def _block(part: Part) -> Any:
    block: dict[str, Any]
    match part.WhichOneof("kind"):
        case "text":
            block = {"type": "text", "text": part.text.text}
        case "thinking" if part.thinking.redacted:
            block = {"type": "redacted_thinking", "data": part.thinking.signature}
        case "thinking":
            block = {"type": "thinking", "thinking": part.thinking.text, "signature": part.thinking.signature}
        case "tool_call":
            call = part.tool_call
            block = {"type": "tool_use", "id": call.id, "name": call.name}
            block["input"] = parse_or_text(call.arguments_json) if call.arguments_json else {}
        case "image" if part.image.data:
            source = {"type": "base64", "media_type": part.image.media_type, "data": base64_of(part.image.data)}
            block = {"type": "image", "source": source}
        case "image":
            block = {"type": "image", "source": {"type": "url", "url": part.image.uri}}
        case _:
            return parse_or_text(part.opaque.json)
    return block | parse_object(part.extra_json)
