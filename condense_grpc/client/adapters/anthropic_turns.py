"""How the turns of a view become messages of Anthropic's API, in which user and assistant alternate.

What the service inserts, and what is left of a user message, become blocks of the user turn beside it, behind its tool
results: the API wants the results of a call first in the very next message, and not every server of its kind takes
two user messages in a row. Only between two assistant messages do they form a user message of their own. None comes
between an answer that the provider has paused and how it goes on. Where all results of a user message were left out, a
notice keeps its place if two assistant messages would meet there, or the first would have nobody before it.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from condense_grpc.client.adapters.base import Turn, TurnKind
from condense_grpc.client.adapters.json_value import plain_object

NOTICE = "[Tool results that belong to no call were left out here.]"
_SERVER_CALLS = ("server_tool_use", "mcp_tool_use")


def joined(turns: Sequence[Turn[Any]]) -> list[Any]:
    """The messages of a view."""
    messages = _Messages()
    for turn in turns:
        if turn.kind is TurnKind.DROPPED:
            messages.leave_out(turn.source)
            continue
        item = _item(turn)
        is_rest = turn.kind is TurnKind.PARTIAL and messages.ends_with("user")
        if role_of(item) == "user" and (is_rest or turn.kind is TurnKind.INSERTED):
            messages.insert(blocks_of(item))
        else:
            messages.append(item)
    return messages.finished()


class _Messages:
    """The messages so far. `_waiting`: blocks that have found no user turn before them."""

    def __init__(self) -> None:
        self._found: list[Any] = []
        self._waiting: list[Any] = []
        self._is_missed = False

    def ends_with(self, role: str) -> bool:
        """Whether the last message is of this role."""
        return bool(self._found) and role_of(self._found[-1]) == role

    def insert(self, blocks: Sequence[Any]) -> None:
        """Blocks that belong to the user turn beside them."""
        if self.ends_with("user"):
            self._found[-1] = with_content(self._found[-1], [*blocks_of(self._found[-1]), *blocks])
        elif self._is_paused():
            self._insert_before_answer(blocks)
        else:
            self._waiting += blocks

    def append(self, item: Any) -> None:
        """A message of its own."""
        is_user = role_of(item) == "user"
        if self._is_missed and not self._waiting and role_of(item) == "assistant":
            self._waiting = [_notice()]
        if self._waiting and is_user:
            item = _behind_results(item, self._waiting)
        elif self._waiting:
            self._found.append({"role": "user", "content": self._waiting})
        self._waiting, self._is_missed = [], False
        self._found.append(item)

    def leave_out(self, source: Any) -> None:
        """A message of which nothing is shown. Results of a call that waits for them may still come behind it."""
        if role_of(source) != "user" or self._waiting or self._is_paused():
            return
        if self.ends_with("assistant") and "tool_use" in self._kinds():
            self._is_missed = True
        elif not self._found or self.ends_with("assistant"):
            self._waiting = [_notice()]

    def finished(self) -> list[Any]:
        """All of them."""
        return [*self._found, {"role": "user", "content": self._waiting}] if self._waiting else self._found

    def _kinds(self) -> list[Any]:
        return [block.get("type") for block in map(plain_object, blocks_of(self._found[-1]))]

    def _is_paused(self) -> bool:
        return self.ends_with("assistant") and bool(kinds := self._kinds()) and kinds[-1] in _SERVER_CALLS

    def _insert_before_answer(self, blocks: Sequence[Any]) -> None:
        place = len(self._found)
        while place and role_of(self._found[place - 1]) == "assistant":
            place -= 1
        if place and role_of(self._found[place - 1]) == "user":
            before = self._found[place - 1]
            self._found[place - 1] = with_content(before, [*blocks_of(before), *blocks])
        else:
            self._found.insert(place, {"role": "user", "content": list(blocks)})


def _item(turn: Turn[Any]) -> Any:
    if len(turn.pieces) == 1:
        return turn.pieces[0]
    return with_content(turn.source, [block for piece in turn.pieces for block in blocks_of(piece)])


def _notice() -> dict[str, Any]:
    return {"type": "text", "text": NOTICE}


def _behind_results(item: Any, inserted: list[Any]) -> Any:
    """The user turn with blocks before all of it but the results, which have to come first."""
    blocks = blocks_of(item)
    place = next((place for place, block in enumerate(blocks) if not is_result(block)), len(blocks))
    return with_content(item, [*blocks[:place], *inserted, *blocks[place:]])


def is_result(block: Any) -> bool:
    """Whether a block is a tool result."""
    return isinstance(block, dict) and block.get("type") == "tool_result"


def role_of(item: Any) -> Any:
    """The role of a message, given as a dict or as an object of an SDK."""
    return item.get("role") if isinstance(item, Mapping) else getattr(item, "role", None)


def blocks_of(item: Any) -> list[Any]:
    """The content of a message as blocks."""
    content = plain_object(item).get("content")
    if isinstance(content, str):
        return [{"type": "text", "text": content}] if content else []
    return list(content or ())


def with_content(item: Any, blocks: list[Any]) -> Any:
    """The message with other content."""
    return plain_object(item) | {"content": blocks}
