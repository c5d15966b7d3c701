"""Pairing of calls with results, and the order in which a view shows messages.

The turn of an assistant message reaches to the next assistant message. Inside a turn the n-th call with an id belongs
to the n-th result with that id; a result that belongs to no call is stray, a call without result unanswered.
"""

from collections import deque
from collections.abc import Sequence

from condense_grpc.domain.messages import ASSISTANT, TOOL_RESULT
from condense_grpc.domain.occurrence import Numbering, occurrence_key
from condense_grpc.domain.skeleton import MessageSkeleton


class Pairs:
    """Who answers whom in one list; positions are indexes into it. Immutable after construction."""

    def __init__(self, messages: Sequence[MessageSkeleton], start: int = 0, end: int | None = None) -> None:
        self.result_of: dict[tuple[int, int], int] = {}
        self.call_of: dict[int, tuple[int, int]] = {}
        # Nearly always a message has one call with an id: only the others wait in queues.
        waiting: dict[str, tuple[int, int] | deque[tuple[int, int]]] = {}
        for position in range(start, len(messages) if end is None else end):
            message = messages[position]
            if message.role is ASSISTANT:
                waiting = _waiting(position, message) if message.calls else {}
            elif message.role is TOOL_RESULT:
                call_at = waiting.pop(message.tool_call_id, None)
                if isinstance(call_at, deque):
                    first, rest = call_at.popleft(), call_at
                    if rest:
                        waiting[message.tool_call_id] = rest
                    call_at = first
                if call_at is not None:
                    self.result_of[call_at] = position
                    self.call_of[position] = call_at


def _waiting(position: int, message: MessageSkeleton) -> dict[str, tuple[int, int] | deque[tuple[int, int]]]:
    """The calls of a message by id, those that share one in order."""
    waiting: dict[str, tuple[int, int] | deque[tuple[int, int]]] = {}
    for ordinal, call in enumerate(message.calls):
        other = waiting.setdefault(call.id, (position, ordinal))
        if isinstance(other, deque):
            other.append((position, ordinal))
        elif other != (position, ordinal):
            waiting[call.id] = deque((other, (position, ordinal)))
    return waiting


def keys_of(messages: Sequence[MessageSkeleton]) -> tuple[list[str], list[int | None]]:
    """The occurrence key of every tool result by position (empty for other messages), and its number from 2 on."""
    numbering = Numbering()
    keys: list[str] = []
    numbers: list[int | None] = []
    for message in messages:
        if message.role is TOOL_RESULT:
            number = numbering.take(message.tool_call_id, message.timestamp_ms)
            keys.append(occurrence_key(message.tool_call_id, message.timestamp_ms, number))
            numbers.append(number)
        else:
            keys.append("")
            numbers.append(None)
    return keys, numbers


def view_order(messages: Sequence[MessageSkeleton], pairs: Pairs | None = None) -> list[int]:
    """Positions in view order: what a host slipped between calls and their results comes behind the results.

    For each assistant message only the stretch up to the last result of its own calls is reordered; results come
    first, in their order (stray ones included), then everything else. `pairs`: those of the list, if they are known.
    """
    if not _is_any_displaced(messages):
        return list(range(len(messages)))
    pairs = pairs or Pairs(messages)
    last: dict[int, int] = {}
    for result, (assistant, _) in pairs.call_of.items():
        last[assistant] = max(last.get(assistant, -1), result)
    order: list[int] = []
    position = 0
    while position < len(messages):
        order.append(position)
        end = last.get(position, position)
        stretch = range(position + 1, end + 1)
        if end > position:
            order += [i for i in stretch if messages[i].role is TOOL_RESULT]
            order += [i for i in stretch if messages[i].role is not TOOL_RESULT]
        position = end + 1
    return order


def _is_any_displaced(messages: Sequence[MessageSkeleton]) -> bool:
    """Whether a result stands directly behind what is neither a result nor an assistant message."""
    is_behind_other = False
    for message in messages:
        role = message.role
        if role is TOOL_RESULT:
            if is_behind_other:
                return True
        else:
            is_behind_other = role is not ASSISTANT
    return False
