"""One message of a native history as it is kept: its exact text, and what the text alone does not say.

Most elements are one message. An element of several tool results is several messages, each of which keeps its
fragment of the text; all fragments one behind the other are the element. And where a provider writes one answer as
several elements, these are one message.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from condense_grpc.domain.frozen import frozen
from condense_grpc.domain.messages import Message, Part, Role, ToolCallPart
from condense_grpc.domain.skeleton import NativeSpan
from condense_grpc.native.formats import NativeFormat

Json = Mapping[str, Any]


@frozen
class Facts:
    """What follows from the messages before: the name of a result's tool, and ids where the provider gives none.

    `ids`: those of the calls of a message, or that of a result; empty: those that are written in it. `is_opaque`: a
    result whose call we do not see, which no rule is for.
    """

    name: str = ""
    ids: tuple[str, ...] = ()
    is_opaque: bool = False

    def told(self, message: Message) -> Message:
        """The message with these facts."""
        if self.is_opaque:
            return Message(Role.CUSTOM, message.parts, custom_role="tool", extra_json=message.extra_json)
        if message.role is Role.TOOL_RESULT:
            call_id = self.ids[0] if self.ids else message.tool_call_id
            return replace(message, tool_name=self.name or message.tool_name, tool_call_id=call_id)
        if not self.ids:
            return message
        ids = iter(self.ids)
        parts: list[Part] = [
            replace(part, id=next(ids, part.id)) if isinstance(part, ToolCallPart) else part for part in message.parts
        ]
        return replace(message, parts=tuple(parts))


@frozen
class Unit:
    """The text of one message: whole elements, or as a fragment what stands before its parts, these, and behind.

    `values` are the elements, or the parts.
    """

    texts: tuple[str, ...]
    values: Sequence[Json]
    is_fragment: bool = False
    opens_element: bool = True


@frozen
class NativeBody:
    """What is stored of a message."""

    format: NativeFormat
    texts: tuple[str, ...]
    is_fragment: bool = False
    facts: Facts = Facts()

    @property
    def source(self) -> str:
        """The text that it came as; of several elements one behind the other."""
        return "".join(self.texts)


@frozen
class NativeMessage:
    """A message on its way into a transcript. `keys`: the bytes by which each of its elements is identified."""

    message: Message
    body: NativeBody
    keys: tuple[bytes, ...]
    span: NativeSpan
