"""The `contents` of the Gemini API, with its names in camel case or, as its Python SDK takes them, in snake case.

Calls may have no ids. Such a call gets one that nobody sees, made of its function and its place, so that calls of one
function are never taken for each other; it is nowhere written into the history.

The text of a result is its `output`, `result`, `content` or `error` if that is all there is and a text; else the
whole `response` as JSON.
"""

from base64 import b64encode
from collections.abc import Sequence
from typing import Any

from condense_grpc.domain.json_text import compact, parse_or_text
from condense_grpc.domain.messages import (
    ImagePart,
    Message,
    OpaquePart,
    Part,
    Role,
    TextPart,
    ThinkingPart,
    ToolCallPart,
    calls_of,
)
from condense_grpc.domain.pi_json import text_or_empty
from condense_grpc.native.fields import bytes_of, first_text, objects_in, rest
from condense_grpc.native.formats import NativeFormat
from condense_grpc.native.json_edit import edited_member, member_text, with_member, without_members, written
from condense_grpc.native.json_read import read_value
from condense_grpc.native.json_scan import member_at
from condense_grpc.native.open_calls import OpenCalls, made_id
from condense_grpc.native.part_shape import PartShape
from condense_grpc.native.unit import Facts, Json

CALL = ("functionCall", "function_call")
RESPONSE = ("functionResponse", "function_response")
SIGNATURE = ("thoughtSignature", "thought_signature")
_INLINE = ("inlineData", "inline_data")
_FILE = ("fileData", "file_data")
_TEXTS = ("output", "result", "content", "error")
_RESPONDING_ROLES = ("user", "function", "tool", "")


def member_of(value: Json, names: Sequence[str]) -> Json | None:
    """The member of one of these names that is an object."""
    return next((value[name] for name in names if isinstance(value.get(name), dict)), None)


class Gemini(PartShape):
    """Elements of parts; without role it is the user's."""

    format = NativeFormat.GEMINI
    list_name = "parts"

    def is_user(self, value: Json) -> bool:
        """See PartShape."""
        return text_or_empty(value.get("role")) in _RESPONDING_ROLES

    def is_result(self, part: Json) -> bool:
        """See PartShape."""
        return member_of(part, RESPONSE) is not None

    def is_call(self, part: Json) -> bool:
        """See PartShape."""
        return member_of(part, CALL) is not None

    def is_thinking(self, part: Json) -> bool:
        """See PartShape. A part that says something and only carries a signature is none."""
        return part.get("thought") is True and isinstance(part.get("text"), str)

    def message(self, values: Sequence[Json], *, is_fragment: bool = False) -> Message:
        """See Shape."""
        if is_fragment:
            given = objects_in(values)
            is_result = bool(given) and self.is_result(given[0])
            return _result(given[0]) if is_result else Message(Role.USER, tuple(map(self._part, given)))
        value = values[0]
        role = text_or_empty(value.get("role"))
        parts = tuple(self._part(part) for part in objects_in(value.get("parts")))
        extra_json = rest(value, "role", "parts")
        if role == "model":
            return Message(Role.ASSISTANT, parts, extra_json=extra_json)
        if role in _RESPONDING_ROLES:
            return Message(Role.USER, parts, extra_json=extra_json)
        return Message(Role.CUSTOM, parts, custom_role=role, extra_json=extra_json)

    def facts(self, message: Message, element_index: int, calls: OpenCalls) -> Facts:
        """Ids for what has none."""
        if message.role is Role.TOOL_RESULT and not message.tool_call_id:
            return Facts(ids=(calls.unnumbered_id(message.tool_name),))
        asked = calls_of(message)
        if all(call.id for call in asked):
            return Facts()
        return Facts(ids=tuple(call.id or made_id(call.name, element_index, place) for place, call in enumerate(asked)))

    def _part(self, part: Json) -> Part:
        call, data = member_of(part, CALL), member_of(part, _INLINE)
        if call is not None:
            arguments = call.get("args")
            return ToolCallPart(
                text_or_empty(call.get("id")),
                text_or_empty(call.get("name")),
                None if arguments is None else compact(arguments),
                rest(part, *CALL),
            )
        if self.is_thinking(part):
            return ThinkingPart(part["text"], first_text(part, SIGNATURE), False, rest(part, "text", *SIGNATURE))
        if isinstance(part.get("text"), str):
            return TextPart(part["text"], rest(part, "text"))
        media_type = first_text(data, ("mimeType", "mime_type")) if data else ""
        if data and media_type.startswith("image/") and bytes_of(data.get("data")):
            return ImagePart(media_type, bytes_of(data["data"]), "", rest(part, *_INLINE))
        return OpaquePart(next(iter(part), ""), compact(part))

    def with_stub(self, carrier: str, text: str) -> str:
        """The text keeps its name, unless that says that it is an error; media beside it go."""
        name = next(name for name in RESPONSE if member_at(carrier, name) is not None)
        response = member_text(carrier, name) or "{}"
        said = parse_or_text(member_text(response, "response") or "{}")
        kept = _only_text(said)
        label = kept if kept in ("output", "result", "content") else "output"
        changed = with_member(without_members(response, ("parts",)), "response", written({label: text}))
        return with_member(carrier, name, changed)

    def with_arguments(self, carrier: str, call_index: int, arguments_json: str) -> str:
        """See Shape."""
        name = next(name for name in CALL if member_at(carrier, name) is not None)
        return edited_member(carrier, (name, "args"), arguments_json)

    def with_call_id(self, carrier: str, call_index: int, call_id: str) -> str:
        """See Shape."""
        name = next(name for name in (*CALL, *RESPONSE) if member_at(carrier, name) is not None)
        return edited_member(carrier, (name, "id"), written(call_id))

    def text_part(self, text_json: str) -> str:
        """See PartShape."""
        return f'{{"text":{text_json}}}'

    def framed(self, frame: str, parts: str) -> str:
        """See PartShape. An element with more than results in it is the user's."""
        changed = super().framed(frame, parts)
        is_old = parse_or_text(member_text(frame, "role") or "null") in ("function", "tool")
        return with_member(changed, "role", '"user"') if is_old else changed

    def inserted_parts(self, message: Message) -> list[str]:
        """See PartShape."""
        return [written(_written_part(part)) for part in message.parts]


def _only_text(response: Any) -> str:
    """The name of the text that a response consists of; empty if it does not."""
    if isinstance(response, dict) and len(response) == 1:
        [(name, value)] = response.items()
        return name if name in _TEXTS and isinstance(value, str) else ""
    return ""


def _result(part: Json) -> Message:
    response = member_of(part, RESPONSE) or {}
    said: Any = response.get("response")
    name = _only_text(said)
    text = said[name] if name else "" if said is None else compact(said)
    media = [OpaquePart(next(iter(item), ""), compact(item)) for item in objects_in(response.get("parts"))]
    return Message(
        Role.TOOL_RESULT,
        (TextPart(text), *map(_medium, media)),
        tool_call_id=text_or_empty(response.get("id")),
        tool_name=text_or_empty(response.get("name")),
        is_error=isinstance(said, dict) and "error" in said and "output" not in said,
        extra_json=rest(part, *RESPONSE),
    )


def _medium(part: OpaquePart) -> Part:
    """A medium beside a result: an image if it is one."""
    data = member_of(read_value(part.json), _INLINE)
    media_type = first_text(data, ("mimeType", "mime_type")) if data else ""
    if data and media_type.startswith("image/") and bytes_of(data.get("data")):
        return ImagePart(media_type, bytes_of(data["data"]))
    return part


def _written_part(part: Part) -> Any:
    match part:
        case ImagePart() if part.data:
            return {"inlineData": {"mimeType": part.media_type, "data": b64encode(part.data).decode()}}
        case ImagePart():
            return {"fileData": {"fileUri": part.uri}}
        case OpaquePart():
            return parse_or_text(part.json)
        case _:
            return {"text": getattr(part, "text", "")}
