"""The calls of the latest assistant message, for results that say less about their call than rules need.

Most shapes do not name the tool in a result; Gemini may not even give ids. The n-th result with an id belongs to the
n-th call with it; a result without id to the first open call of its function that has none.
"""

from collections.abc import Iterable

from condense_grpc.domain.messages import Message, Role, calls_of
from condense_grpc.domain.skeleton import MessageSkeleton


class OpenCalls:
    """Follows a history, message by message. One instance per reading; not thread-safe."""

    def __init__(self, before: Iterable[MessageSkeleton] = ()) -> None:
        """`before`: the messages from the latest assistant message on."""
        self._names: dict[str, list[str]] = {}
        self._unnumbered: list[tuple[str, str]] = []
        for skeleton in before:
            if skeleton.role is Role.ASSISTANT:
                self._ask((call.id, call.name) for call in skeleton.calls)
            elif skeleton.role is Role.TOOL_RESULT:
                self._answer(skeleton.tool_call_id)

    def see(self, message: Message) -> None:
        """The next message of the history."""
        if message.role is Role.ASSISTANT:
            self._ask((call.id, call.name) for call in calls_of(message))
        elif message.role is Role.TOOL_RESULT:
            self._answer(message.tool_call_id)

    def name_of(self, call_id: str) -> str:
        """The tool of the call that the next result with this id answers; empty if there is none."""
        names = self._names.get(call_id)
        return names[0] if names else ""

    def unnumbered_id(self, name: str) -> str:
        """The id of the first open call of this function; empty if there is none."""
        return next((call_id for call_id, called in self._unnumbered if called == name), "")

    def _ask(self, calls: Iterable[tuple[str, str]]) -> None:
        self._names = {}
        self._unnumbered = list(calls)
        for call_id, name in self._unnumbered:
            self._names.setdefault(call_id, []).append(name)

    def _answer(self, call_id: str) -> None:
        names = self._names.get(call_id, [])
        if len(names) > 1:
            names.pop(0)
        answered = next((call for call in self._unnumbered if call[0] == call_id), None)
        if answered is not None:
            self._unnumbered.remove(answered)
