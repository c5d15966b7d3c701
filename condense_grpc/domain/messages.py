"""Messages and their parts: one host history, in one shape for all hosts.

A message is an immutable value. What a provider or host adds beside the fields we know travels as JSON text in
`extra_json` and comes back untouched. `source_json` holds the element as its host wrote it when it came in a
host's own JSON; it wins over the typed fields whenever the message is written out again.
"""

from enum import StrEnum
from typing import Final, TypeAlias

from condense_grpc.domain.frozen import frozen


class Role(StrEnum):
    """Who speaks; CUSTOM stands for every role that is not one of the first three."""

    USER = "user"
    ASSISTANT = "assistant"
    TOOL_RESULT = "toolResult"
    CUSTOM = "custom"


# The same by name, for loops over thousands of messages: to read a member from its class takes several times as long.
USER: Final = Role.USER
ASSISTANT: Final = Role.ASSISTANT
TOOL_RESULT: Final = Role.TOOL_RESULT
CUSTOM: Final = Role.CUSTOM


@frozen
class TextPart:
    """Plain text."""

    text: str
    extra_json: str = ""


@frozen
class ThinkingPart:
    """Reasoning of the model, with the provider's signature."""

    text: str
    signature: str = ""
    redacted: bool = False
    extra_json: str = ""


@frozen
class ToolCallPart:
    """A call of a tool. `arguments_json` is the model's own text (None: absent or null)."""

    id: str
    name: str
    arguments_json: str | None
    extra_json: str = ""


@frozen
class ImagePart:
    """An image, by its bytes or by an address."""

    media_type: str
    data: bytes = b""
    uri: str = ""
    extra_json: str = ""


@frozen
class OpaquePart:
    """A part of a kind that we do not know: its whole JSON."""

    type: str
    json: str


Part: TypeAlias = TextPart | ThinkingPart | ToolCallPart | ImagePart | OpaquePart


@frozen
class Message:
    """One element of a transcript. `timestamp_ms` None: the host has none, and the service assigns one."""

    role: Role
    parts: tuple[Part, ...] = ()
    timestamp_ms: int | None = None
    tool_call_id: str = ""
    tool_name: str = ""
    is_error: bool = False
    custom_role: str = ""
    custom_type: str = ""
    details_json: str = ""
    display: bool = False
    extra_json: str = ""
    source_json: str = ""


def text_of(message: Message) -> str:
    """The text parts joined with line feeds; images and other parts contribute nothing."""
    return "\n".join([part.text for part in message.parts if isinstance(part, TextPart)])


def calls_of(message: Message) -> list[ToolCallPart]:
    """The tool calls of an assistant message in order; none for other roles."""
    if message.role is not ASSISTANT:
        return []
    return [part for part in message.parts if isinstance(part, ToolCallPart)]


def has_other_parts(message: Message) -> bool:
    """Whether there is a part that is not text."""
    return any(not isinstance(part, TextPart) for part in message.parts)
