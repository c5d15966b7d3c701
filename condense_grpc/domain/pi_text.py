"""The compact Pi JSON of plain messages, written straight from their fields.

The same text as `compact(message_to_pi(message))`, without the value in between: measuring is what an append does
most. What is not plain (a host's own JSON, further members, images, other parts, other roles) has to go the long way.
"""

from collections.abc import Sequence
from json.encoder import encode_basestring as quoted

from condense_grpc.domain.messages import Message, Role, TextPart, ThinkingPart, ToolCallPart


def plain_pi_text(message: Message, timestamp_ms: int | None, arguments: Sequence[str | None]) -> str | None:
    """The text of a message with this time; None for one that is not plain.

    `arguments` are those of its calls, in order, as compact JSON (None: absent).
    """
    if message.source_json or message.extra_json or message.details_json or message.custom_type or message.custom_role:
        return None
    blocks: list[str] = []
    calls = iter(arguments)
    for part in message.parts:
        match part:
            case TextPart(text, ""):
                blocks.append(f'{{"type":"text","text":{quoted(text)}}}')
            case ToolCallPart(call_id, name, _, ""):
                given = next(calls)
                rest = "" if given is None else f',"arguments":{given}'
                blocks.append(f'{{"type":"toolCall","id":{quoted(call_id)},"name":{quoted(name)}{rest}}}')
            case ThinkingPart(text, "", False, ""):
                blocks.append(f'{{"type":"thinking","thinking":{quoted(text)}}}')
            case _:
                return None
    time = "" if timestamp_ms is None else f',"timestamp":{timestamp_ms}'
    content = f'"content":[{",".join(blocks)}]'
    match message.role:
        case Role.USER | Role.ASSISTANT:
            return f'{{"role":"{message.role.value}",{content}{time}}}'
        case Role.TOOL_RESULT:
            named = f'"toolCallId":{quoted(message.tool_call_id)},"toolName":{quoted(message.tool_name)}'
            is_error = "true" if message.is_error else "false"
            return f'{{"role":"toolResult",{named},{content},"isError":{is_error}{time}}}'
    return None
