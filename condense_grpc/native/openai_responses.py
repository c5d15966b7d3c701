"""The `input` items of the OpenAI Responses API.

One answer of the model is several items: reasoning, messages, calls, items of built-in tools. All of them up to the
next item of the host are one assistant message, so that parallel calls are one turn. Reasoning items are opaque and
stay with what follows them. Outputs answer calls by `call_id`; those of the computer, of patches and of approvals
cannot hold a text, so they are shown as they are or, with their call, not at all. Hosts may name items that the
provider keeps instead of sending them; an output behind such a reference may answer one, and is opaque then.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from condense_grpc.domain.json_text import compact, parse_object, parse_or_text
from condense_grpc.domain.messages import ImagePart, Message, OpaquePart, Part, Role, TextPart, ToolCallPart
from condense_grpc.domain.pi_json import text_or_empty
from condense_grpc.native.fields import image_of_uri, objects_in, opaque, rest, text_only, uri_of_image
from condense_grpc.native.formats import NativeFormat
from condense_grpc.native.json_edit import member_text, with_member, written
from condense_grpc.native.json_read import RawElement
from condense_grpc.native.open_calls import OpenCalls
from condense_grpc.native.shape import Shape
from condense_grpc.native.unit import Facts, Json, Unit

# Calls that the host answers by an item of its own: where their arguments are, and whether these are a text.
CALLS = {
    "function_call": ("arguments", True),
    "custom_tool_call": ("input", True),
    "local_shell_call": ("action", False),
    "shell_call": ("action", False),
    "computer_call": ("action", False),
    "apply_patch_call": ("operation", False),
    "mcp_approval_request": ("arguments", True),
}
OUTPUTS = {
    "function_call_output": "function_call",
    "custom_tool_call_output": "custom_tool_call",
    "local_shell_call_output": "local_shell_call",
    "shell_call_output": "shell_call",
    "computer_call_output": "computer_call",
    "apply_patch_call_output": "apply_patch_call",
    "mcp_approval_response": "mcp_approval_request",
}
_HOLD_TEXT = ("function_call_output", "custom_tool_call_output", "local_shell_call_output")
_ID_MEMBERS = {"mcp_approval_request": "id", "mcp_approval_response": "approval_request_id"}
_HOST_TYPES = ("compaction", "compaction_summary")
REFERENCE = "item_reference"


def kind_of(item: Json) -> str:
    """The type of an item; a message may leave it out."""
    kind = text_or_empty(item.get("type"))
    return kind or ("message" if "role" in item else "")


def is_of_model(item: Json) -> bool:
    """Whether an item is part of an answer of the model. Types that are not known are."""
    kind = kind_of(item)
    if kind == "message":
        return item.get("role") == "assistant"
    return kind not in OUTPUTS and kind not in _HOST_TYPES


class OpenAIResponses(Shape):
    """An answer of the model is one message; every item of the host is one."""

    format = NativeFormat.OPENAI_RESPONSES

    def units(self, elements: Iterable[RawElement]) -> Iterator[Unit]:
        """See Shape."""
        answer: list[RawElement] = []
        for element in elements:
            if is_of_model(element.value):
                answer.append(element)
                continue
            if answer:
                yield _unit(answer)
                answer = []
            yield Unit((element.text,), (element.value,))
        if answer:
            yield _unit(answer)

    def late_tools(self, values: Sequence[Json]) -> tuple[bool, bool]:
        """See Shape. What an item refers to may be a call."""
        return any(kind_of(item) == REFERENCE for item in values), False

    def facts(self, message: Message, element_index: int, calls: OpenCalls) -> Facts:
        """See Shape."""
        if message.role is Role.TOOL_RESULT and calls.may_be_elsewhere(message.tool_call_id):
            return Facts(is_opaque=True)
        return super().facts(message, element_index, calls)

    def message(self, values: Sequence[Json], *, is_fragment: bool = False) -> Message:
        """See Shape."""
        if is_of_model(values[0]):
            return Message(Role.ASSISTANT, tuple(part for item in values for part in _answer_parts(item)))
        item = values[0]
        kind = kind_of(item)
        if kind in OUTPUTS:
            return _result(item, kind)
        role = text_or_empty(item.get("role")) if kind == "message" else kind
        parts = tuple(_content(item.get("content")))
        extra_json = rest(item, "type", "role", "content")
        if role == "user":
            return Message(Role.USER, parts, extra_json=extra_json)
        return Message(Role.CUSTOM, parts, custom_role=role, extra_json=extra_json)

    def with_stub(self, carrier: str, text: str) -> str:
        """The output keeps its form: a text, or a list of one."""
        item = parse_object(carrier)
        kind = kind_of(item)
        if kind == "shell_call_output":
            outcome = {"type": "exit", "exit_code": 0}
            return with_member(carrier, "output", written([{"stdout": text, "stderr": "", "outcome": outcome}]))
        if kind not in _HOLD_TEXT:
            return carrier
        is_list = (member_text(carrier, "output") or "").startswith("[")
        output: Any = [{"type": "input_text", "text": text}] if is_list else text
        return with_member(carrier, "output", written(output))

    def with_arguments(self, carrier: str, call_index: int, arguments_json: str) -> str:
        """Arguments that are no text belong to tools of the provider, which know no other object: they stay."""
        name, is_text = CALLS[kind_of(parse_object(carrier))]
        return with_member(carrier, name, written(arguments_json)) if is_text else carrier

    def with_call_id(self, carrier: str, call_index: int, call_id: str) -> str:
        """See Shape."""
        kind = kind_of(parse_object(carrier))
        name = _ID_MEMBERS.get(kind, "call_id")
        return with_member(carrier, name, written(call_id)) if kind in CALLS or kind in OUTPUTS else carrier

    def inserted(self, message: Message) -> str:
        """A user message."""
        content = text_only(message.parts)
        blocks = [_block(part) for part in message.parts]
        value = {"type": "message", "role": "user", "content": blocks if content is None else content}
        return written(value)


def _unit(answer: Sequence[RawElement]) -> Unit:
    return Unit(tuple(element.text for element in answer), tuple(element.value for element in answer))


def _answer_parts(item: Json) -> list[Part]:
    kind = kind_of(item)
    if kind in CALLS:
        return [_call(item, kind)]
    if kind == "message":
        return _content(item.get("content"))
    return [opaque(item)]


def _call(item: Json, kind: str) -> ToolCallPart:
    name, _ = CALLS[kind]
    arguments = item.get(name)
    text = arguments if isinstance(arguments, str) else None if arguments is None else compact(arguments)
    call_id = text_or_empty(item.get(_ID_MEMBERS.get(kind, "call_id")))
    return ToolCallPart(
        call_id, text_or_empty(item.get("name")) or kind, text, rest(item, "type", "call_id", "name", name)
    )


def _result(item: Json, kind: str) -> Message:
    call_id = item.get(_ID_MEMBERS.get(kind, "call_id"))
    return Message(
        Role.TOOL_RESULT,
        tuple(_output(item, kind)),
        tool_call_id=text_or_empty(call_id),
        is_error=_has_failed(item, kind),
        extra_json=rest(item, "type", "call_id", "output"),
    )


def _has_failed(item: Json, kind: str) -> bool:
    """Whether an output says that its call went wrong; those of functions have no place for that."""
    if kind == "shell_call_output":
        ends = [one["outcome"] for one in objects_in(item.get("output")) if isinstance(one.get("outcome"), dict)]
        return any(end.get("type") == "timeout" or end.get("exit_code") not in (0, None) for end in ends)
    return kind == "apply_patch_call_output" and item.get("status") == "failed"


def _output(item: Json, kind: str) -> list[Part]:
    output = item.get("output")
    if isinstance(output, str):
        return [TextPart(output)]
    if kind == "shell_call_output":
        said = [text_or_empty(one.get(name)) for one in objects_in(output) for name in ("stdout", "stderr")]
        return [TextPart("\n".join(text for text in said if text))]
    if isinstance(output, dict):
        return [opaque(output)]
    return _content(output)


def _content(content: Any) -> list[Part]:
    if isinstance(content, str):
        return [TextPart(content)]
    return [_part(block) for block in objects_in(content)]


def _part(block: Json) -> Part:
    kind = block.get("type")
    if kind in ("input_text", "output_text", "text"):
        return TextPart(text_or_empty(block.get("text")), rest(block, "type", "text"))
    if kind == "input_image" and isinstance(block.get("image_url"), str):
        return image_of_uri(block["image_url"], rest(block, "type", "image_url"))
    return opaque(block)


def _block(part: Part) -> Any:
    match part:
        case ImagePart():
            return {"type": "input_image", "image_url": uri_of_image(part)} | parse_object(part.extra_json)
        case OpaquePart():
            return parse_or_text(part.json)
        case _:
            return {"type": "input_text", "text": getattr(part, "text", "")}
