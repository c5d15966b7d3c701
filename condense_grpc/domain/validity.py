"""Validity of a history: what a provider would reject in it.

Every call is answered exactly once, in the stretch directly behind its assistant message; no result stands without a
call; ids are not repeated inside one assistant message; user and assistant messages are not empty. Calls of the last
assistant message may be unanswered when nothing but results follows: the agent is still working on them.
"""

from collections.abc import Sequence
from enum import StrEnum

from condense_grpc.domain.frozen import frozen
from condense_grpc.domain.messages import ASSISTANT, TOOL_RESULT
from condense_grpc.domain.skeleton import MessageSkeleton


class ViolationKind(StrEnum):
    """What is wrong with a history."""

    UNANSWERED_CALL = "unanswered-call"
    ORPHAN_RESULT = "orphan-result"
    DUPLICATE_RESULT = "duplicate-result"
    INTERRUPTED_RESULTS = "interrupted-results"
    REPEATED_CALL_ID = "repeated-call-id"
    EMPTY_ID = "empty-id"
    EMPTY_CONTENT = "empty-content"
    MALFORMED = "malformed"
    ROLE_ORDER = "role-order"
    REPEATED_ID = "repeated-id"
    BROKEN_REASONING = "broken-reasoning"


@frozen
class Violation:
    """One defect. `message_index` is a position in the list that was checked; `repaired`: views do not have it.

    `what` says more about it where its kind does not say all.
    """

    kind: ViolationKind
    message_index: int
    tool_call_id: str = ""
    repaired: bool = False
    what: str = ""

    @property
    def is_repaired(self) -> bool:
        """Whether views do not have it: stray results are left out, what interrupts results comes behind them."""
        return self.repaired or self.kind in _ALWAYS_REPAIRED


_ALWAYS_REPAIRED = (ViolationKind.ORPHAN_RESULT, ViolationKind.DUPLICATE_RESULT, ViolationKind.INTERRUPTED_RESULTS)


def is_valid(messages: Sequence[MessageSkeleton], start: int = 0) -> bool:
    """Whether `find_violations` finds nothing from `start` on: much cheaper than looking for what it might find."""
    waiting: list[str] = []
    for position in range(start, len(messages)):
        message = messages[position]
        if message.is_empty:
            return False
        if message.role is TOOL_RESULT:
            if message.tool_call_id not in waiting:
                return False
            waiting.remove(message.tool_call_id)
        elif waiting:
            return False
        elif message.calls:
            waiting = [call.id for call in message.calls]
            if "" in waiting or len(set(waiting)) < len(waiting):
                return False
    return True


def find_violations(messages: Sequence[MessageSkeleton], start: int = 0, end: int | None = None) -> list[Violation]:
    """The defects of a list from `start` on (which must not lie inside of a turn) to `end`, by position."""
    found: list[Violation] = []
    turn = _Turn()
    for position in range(start, len(messages) if end is None else end):
        message = messages[position]
        if message.is_empty:
            found.append(Violation(ViolationKind.EMPTY_CONTENT, position))
        if message.role is ASSISTANT:
            found += turn.unanswered()
            turn = _Turn(position, message)
            found += turn.repeated_ids()
        elif message.role is TOOL_RESULT:
            found += turn.answer(position, message.tool_call_id)
        else:
            turn.interrupt()
    if turn.interrupted:
        found += turn.unanswered()
    return sorted(found, key=lambda violation: violation.message_index)


class _Turn:
    """The latest assistant message with what is still open of it."""

    def __init__(self, position: int = -1, message: MessageSkeleton | None = None) -> None:
        self._position = position
        self._calls: dict[str, int] = {}
        for call in message.calls if message else ():
            self._calls[call.id] = self._calls.get(call.id, 0) + 1
        self._open = dict(self._calls)
        self.interrupted = False

    def interrupt(self) -> None:
        """Something that is no result came."""
        self.interrupted = True

    def answer(self, position: int, call_id: str) -> list[Violation]:
        """A result came."""
        if self._open.get(call_id, 0) > 0:
            self._open[call_id] -= 1
            late = self.interrupted
            return [Violation(ViolationKind.INTERRUPTED_RESULTS, position, call_id)] if late else []
        known = call_id in self._calls
        kind = ViolationKind.DUPLICATE_RESULT if known else ViolationKind.ORPHAN_RESULT
        return [Violation(kind, position, call_id)]

    def repeated_ids(self) -> list[Violation]:
        """Ids that stand twice in the message, or not at all."""
        kinds = ((call_id, count) for call_id, count in self._calls.items() if count > 1 or not call_id)
        return [
            Violation(ViolationKind.REPEATED_CALL_ID if count > 1 else ViolationKind.EMPTY_ID, self._position, call_id)
            for call_id, count in kinds
        ]

    def unanswered(self) -> list[Violation]:
        """Calls that nothing answers any more."""
        return [
            Violation(ViolationKind.UNANSWERED_CALL, self._position, call_id)
            for call_id, count in self._open.items()
            for _ in range(count)
        ]
