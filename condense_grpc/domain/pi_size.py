"""The size of the compact Pi JSON of plain messages, counted straight from their fields.

The same as that of `compact(message_to_pi(message))`, without the value or the text in between: measuring is what an
append does most. What is not plain (a host's own JSON, further members, images, other parts, other roles) has to go
the long way.
"""

from collections.abc import Sequence
from json.encoder import encode_basestring as quoted

from condense_grpc.domain.messages import ASSISTANT, TOOL_RESULT, USER, Message, TextPart, ThinkingPart, ToolCallPart
from condense_grpc.domain.tokens import wide_chars

_TEXT = len('{"type":"text","text":},')
_THINKING = len('{"type":"thinking","thinking":},')
_CALL = len('{"type":"toolCall","id":,"name":},')
_ARGUMENTS = len(',"arguments":')
_TIME = len(',"timestamp":')
_FRAMES = {
    USER: len('{"role":"user","content":[]}'),
    ASSISTANT: len('{"role":"assistant","content":[]}'),
    TOOL_RESULT: len('{"role":"toolResult","toolCallId":,"toolName":,"content":[],"isError":false}'),
}


def plain_pi_size(
    message: Message, timestamp_ms: int | None, arguments: Sequence[str | None]
) -> tuple[int, int] | None:
    """Characters, and how many of them are of wide scripts, of a message with this time; None if it is not plain.

    `arguments` are those of its calls, in order, as compact JSON (None: absent).
    """
    frame = _FRAMES.get(message.role)
    if frame is None or message.source_json or message.extra_json or message.details_json:
        return None
    if message.custom_type or message.custom_role:
        return None
    chars, wide = frame, 0
    texts: list[str] = []
    calls = iter(arguments)
    for part in message.parts:
        if isinstance(part, TextPart) and not part.extra_json:
            chars += _TEXT
            texts.append(part.text)
        elif isinstance(part, ToolCallPart) and not part.extra_json:
            chars += _CALL
            texts += (part.id, part.name)
            given = next(calls)
            if given is not None:
                chars += _ARGUMENTS + len(given)
                if not given.isascii():
                    wide += wide_chars(given)
        elif isinstance(part, ThinkingPart) and not (part.signature or part.redacted or part.extra_json):
            chars += _THINKING
            texts.append(part.text)
        else:
            return None
    if message.parts:
        chars -= 1  # no comma behind the last part
    if message.role is TOOL_RESULT:
        texts += (message.tool_call_id, message.tool_name)
        chars -= message.is_error
    if timestamp_ms is not None:
        chars += _TIME + len(str(timestamp_ms))
    for text in texts:
        chars += len(quoted(text))
        if not text.isascii():
            wide += wide_chars(text)
    return chars, wide
