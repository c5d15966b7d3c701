"""Measures of Pi messages and views, remembered per object: untouched messages are the same object in every view."""

from collections.abc import Sequence
from typing import Any

from condense_grpc.domain.messages import text_of
from condense_grpc.domain.numbers import token_estimate
from condense_grpc.domain.occurrence import Numbering, occurrence_key
from condense_grpc.domain.pi_json import message_from_pi
from condense_grpc.domain.skeleton import MessageSkeleton, skeleton_of

Json = dict[str, Any]


class Measures:
    """Skeletons of message objects. Holds the objects, so that their identity stays theirs."""

    def __init__(self) -> None:
        self._known: dict[int, tuple[Any, MessageSkeleton]] = {}

    def skeleton(self, message: Json) -> MessageSkeleton:
        """The skeleton of one message."""
        known = self._known.get(id(message))
        if known is None:
            known = self._known[id(message)] = (message, skeleton_of(message_from_pi(message), ()))
        return known[1]

    def skeletons(self, messages: Sequence[Json]) -> list[MessageSkeleton]:
        """The skeletons of a list."""
        return [self.skeleton(message) for message in messages]

    def tokens(self, messages: Sequence[Json]) -> int:
        """The token estimate of a list: characters of its compact JSON, divided by four."""
        chars = sum(self.skeleton(message).json_chars for message in messages)
        return token_estimate(chars + len(messages) + 1 if messages else 2)


def originals(messages: Sequence[Json]) -> dict[str, str]:
    """The text of every tool result by its occurrence key."""
    numbering = Numbering()
    found: dict[str, str] = {}
    for value in messages:
        if value.get("role") == "toolResult":
            message = message_from_pi(value)
            number = numbering.take(message.tool_call_id, message.timestamp_ms)
            found[occurrence_key(message.tool_call_id, message.timestamp_ms, number)] = text_of(message)
    return found


def is_text_only(message: Json) -> bool:
    """Whether a message is an answer without tool calls: the end of a piece of work."""
    content = message.get("content")
    blocks = content if isinstance(content, list) else []
    is_call = any(isinstance(block, dict) and block.get("type") == "toolCall" for block in blocks)
    return message.get("role") == "assistant" and not is_call


def extends(view: Sequence[Json], before: Sequence[Json]) -> bool:
    """Whether a view begins with the one before it, so that a provider's cache holds."""
    if len(view) < len(before):
        return False
    return all(new is old or new == old for new, old in zip(view, before, strict=False))
