"""The calls of the latest assistant message, for results that say less about their call than rules need.

Most shapes do not name the tool in a result; Gemini may not even give ids. The n-th result with an id belongs to the
n-th call with it; a result without id to the first open call of its function that has none, else to the first.
"""

from collections.abc import Iterable

from condense_grpc.domain.messages import Message, Role, calls_of
from condense_grpc.domain.skeleton import MessageSkeleton, NativeSpan


def made_id(name: str, element_index: int, place: int) -> str:
    """The id of a call that has none: the `place`-th of its element."""
    return f"{name}.{element_index}.{place}"


def is_made_id(call_id: str, name: str) -> bool:
    """Whether an id is one that was made for a call of this function."""
    numbers = call_id.removeprefix(f"{name}.").split(".")
    return call_id.startswith(f"{name}.") and len(numbers) == 2 and all(map(str.isdecimal, numbers))


def _awaits(span: NativeSpan | None) -> bool:
    return span is not None and span.awaits


class OpenCalls:
    """Follows a history, message by message. One instance per reading; not thread-safe."""

    def __init__(self, before: Iterable[MessageSkeleton] = ()) -> None:
        """`before`: the messages from the latest assistant message on."""
        self._names: dict[str, list[str]] = {}
        self._awaits = False
        self._open: list[tuple[str, str]] = []
        for skeleton in before:
            if skeleton.role is Role.ASSISTANT:
                self._ask(((call.id, call.name) for call in skeleton.calls), _awaits(skeleton.native))
            elif skeleton.role is Role.TOOL_RESULT:
                self._answer(skeleton.tool_call_id)

    def see(self, message: Message, *, awaits: bool = False) -> None:
        """The next message of the history. `awaits`: see `NativeSpan`."""
        if message.role is Role.ASSISTANT:
            self._ask(((call.id, call.name) for call in calls_of(message)), awaits)
        elif message.role is Role.TOOL_RESULT:
            self._answer(message.tool_call_id)

    def name_of(self, call_id: str) -> str:
        """The tool of the call that the next result with this id answers; empty if there is none."""
        names = self._names.get(call_id)
        return names[0] if names else ""

    def may_be_elsewhere(self, call_id: str) -> bool:
        """Whether the call that a result with this id answers may be one that we do not see."""
        return self._awaits and call_id not in self._names

    def unnumbered_id(self, name: str) -> str:
        """The id of the open call of this function that a result without id answers; empty if there is none."""
        found = [call_id for call_id, called in self._open if called == name]
        return next((call_id for call_id in found if is_made_id(call_id, name)), found[0] if found else "")

    def _ask(self, calls: Iterable[tuple[str, str]], awaits: bool) -> None:
        self._names, self._awaits = {}, awaits
        self._open = list(calls)
        for call_id, name in self._open:
            self._names.setdefault(call_id, []).append(name)

    def _answer(self, call_id: str) -> None:
        names = self._names.get(call_id, [])
        if len(names) > 1:
            names.pop(0)
        answered = next((call for call in self._open if call[0] == call_id), None)
        if answered is not None:
            self._open.remove(answered)
