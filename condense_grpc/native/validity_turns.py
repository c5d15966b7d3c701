"""What the validators of all shapes share: pairing, sides, and ids that must be unique.

Every call is answered exactly once, in the stretch directly behind its message; no result stands without a call. The
calls of the last answer may be open as long as nothing but results follows: the agent is still working on them. A
request to a provider must not have open calls.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from typing import Any, Protocol

from condense_grpc.domain.frozen import frozen
from condense_grpc.domain.text import is_blank
from condense_grpc.domain.validity import Violation, ViolationKind

Json = Mapping[str, Any]


@frozen
class Scope:
    """What a validator is told besides the elements.

    `is_start`: the elements begin a history. `ids_before`: ids of calls before them. `is_request`: they are about to
    be sent, so that no call may be open. `renames`: views give new ids to repeated calls. `marks_before`: how many
    cache marks are in the elements before them.
    """

    is_start: bool = True
    ids_before: Collection[str] = ()
    is_request: bool = False
    renames: bool = False
    marks_before: int = 0


class Validator(Protocol):
    """The rules of one shape."""

    def __call__(self, elements: Iterable[Json], scope: Scope) -> list[Violation]:
        """The defects of elements, by position."""
        ...


class Defects:
    """Collects defects while a validator walks through elements. One instance per walk."""

    def __init__(self, scope: Scope) -> None:
        self._scope = scope
        self.found: list[Violation] = []
        self._ids_before = scope.ids_before
        self._ids: set[str] = set()
        self._asked = -1
        self._calls: Counter[str] = Counter()
        self._open: Counter[str] = Counter()
        self._interrupted = False
        self._side: str | None = None

    def add(
        self, kind: ViolationKind, position: int, call_id: str = "", what: str = "", *, repaired: bool = False
    ) -> None:
        """Note one."""
        self.found.append(Violation(kind, position, call_id, repaired, what))

    # Sides

    def speaks(self, position: int, side: str, *, begins: bool, waits: bool = False) -> None:
        """An element of a side that has to alternate with the other one. `begins`: whether it may come first.

        `waits`: the side waits for results, and views do not join it with what follows.
        """
        before = self._side
        if before is None and self._scope.is_start and not begins:
            self.add(ViolationKind.ROLE_ORDER, position, what="the user has to begin")
        elif before is not None and before.partition("!")[0] == side:
            repaired = not before.endswith("!")
            self.add(ViolationKind.ROLE_ORDER, position, what=f"{side} twice in a row", repaired=repaired)
        self._side = side + ("!" if waits else "")

    def is_no_side(self, position: int) -> None:
        """An element of a role that the provider does not know."""
        self.interrupts()
        self.add(ViolationKind.MALFORMED, position, what="no role that the API knows")
        self._side = ""

    # Ids

    def names(self, position: int, identity: str, *, renamed: bool = False) -> None:
        """An id that must be unique in the whole history. `renamed`: views can give a new one."""
        if not identity:
            return
        if identity in self._ids or identity in self._ids_before:
            self.add(ViolationKind.REPEATED_ID, position, identity, repaired=renamed and self._scope.renames)
        self._ids.add(identity)

    # Calls and results

    def asks(self, position: int, ids: Iterable[str], repeatable: Collection[str] = ()) -> None:
        """An answer of the model with these calls, perhaps none. `repeatable` ids may stand for several of them."""
        self._end_turn()
        self._asked, self._calls = position, Counter(ids)
        self._open, self._interrupted = Counter(self._calls), False
        for call_id, count in self._calls.items():
            if count > 1 and call_id not in repeatable:
                self.add(ViolationKind.REPEATED_CALL_ID, position, call_id)

    def lacks_id(self, position: int) -> None:
        """A call without an id where the provider wants one."""
        self.add(ViolationKind.EMPTY_ID, position)

    def answers(self, position: int, call_id: str) -> None:
        """A result."""
        if self._open[call_id] > 0:
            self._open[call_id] -= 1
            if self._interrupted:
                self.add(ViolationKind.INTERRUPTED_RESULTS, position, call_id)
        elif call_id in self._calls:
            self.add(ViolationKind.DUPLICATE_RESULT, position, call_id)
        else:
            self.add(ViolationKind.ORPHAN_RESULT, position, call_id)

    def has_call(self, call_id: str) -> bool:
        """Whether the latest answer has a call with this id."""
        return call_id in self._calls

    def open_calls(self) -> list[str]:
        """The calls that wait for a result, by id."""
        return [call_id for call_id, count in self._open.items() for _ in range(count)]

    def interrupts(self) -> None:
        """Something that is neither an answer of the model nor a result."""
        self._interrupted = True

    def _end_turn(self) -> None:
        for call_id in self.open_calls():
            self.add(ViolationKind.UNANSWERED_CALL, self._asked, call_id)

    def finished(self) -> list[Violation]:
        """All of them, by position."""
        if self._interrupted or self._scope.is_request:
            self._end_turn()
        return sorted(self.found, key=lambda violation: violation.message_index)


def is_blank_text(value: Any) -> bool:
    """Whether a value is no text, or one that says nothing."""
    return not isinstance(value, str) or is_blank(value)
