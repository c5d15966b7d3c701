"""The plan of a turn: what a view shows of it, the edits behind that, and its share of every total.

It follows the rules of `domain.render` with its own functions, for the few messages of one turn.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import ClassVar

from condense_grpc.domain.chain_ranges import is_work
from condense_grpc.domain.edits import Drop, Edit, ReplaceResult, edits_of
from condense_grpc.domain.messages import Message
from condense_grpc.domain.skeleton import MessageSkeleton
from condense_grpc.domain.sweep import find_orphans
from condense_grpc.domain.tokens import wide_chars
from condense_grpc.domain.view import Element, Stub
from condense_grpc.engine.edit_sums import NO_COUNTS, Counts, counts_of, counts_of_drops, sum_of_drops, sum_of_edits
from condense_grpc.engine.live.pieces import Piece


@dataclass(slots=True)
class TurnPlan:
    """What is shown of a turn. None stands for a turn that is shown as it is and holds no summary."""

    elements: tuple[Element, ...]
    origins: Sequence[int | Message]
    edits: tuple[Edit, ...]
    is_changed: bool
    orphan_ids: tuple[str, ...] = ()
    chars: int = 0
    edit_sum: int = 0
    counts: Counts = NO_COUNTS
    wide_gain: int = 0
    written: bytes = b""

    @property
    def edit_count(self) -> int:
        """How many edits there are."""
        return len(self.edits)

    def added_up(self) -> "TurnPlan":
        """This plan, with its sums."""
        self.chars = sum(element.json_chars for element in self.elements)
        self.edit_sum = sum_of_edits(self.edits)
        self.counts = counts_of(self.edits, swept=len(self.orphan_ids))
        return self


def plan_of(piece: Piece, elements: Sequence[Element]) -> TurnPlan | None:
    """Sweep the elements that are left of a turn, and see what they come to."""
    orphans = set(find_orphans([element.skeleton for element in elements]))
    ids = tuple(elements[place].skeleton.tool_call_id for place in sorted(orphans))
    shown = tuple(element for place, element in enumerate(elements) if place not in orphans) if orphans else elements
    is_changed = len(shown) != len(piece.skeletons) or any(
        element.position != place or element.is_edited for place, element in enumerate(shown)
    )
    if not is_changed and len(shown) == piece.end - piece.first:
        return None
    origins = piece.origins_of(shown)
    edits = edits_of(shown, origins, piece.end, piece.first)
    return TurnPlan(tuple(shown), origins, tuple(edits), is_changed, ids).added_up()


def plan_of_stubs(first: int, messages: Sequence[MessageSkeleton], stubs: Sequence[Stub | None]) -> TurnPlan:
    """The plan of a turn whose results come in the order of its calls, where nothing but these stubs is different."""
    shown, edits, gain = [Element(0, messages[0])], [], 0
    for place, (message, stub) in enumerate(zip(messages[1:], stubs, strict=True), 1):
        shown.append(Element(place, message, stub=stub))
        if stub is not None:
            edits.append(ReplaceResult(first + place, stub.text, stub.ref, stub.reason))
            gain += wide_chars(stub.text) - message.wide_chars
    origins = range(first, first + len(messages))
    return TurnPlan(tuple(shown), origins, tuple(edits), is_changed=True, wide_gain=gain).added_up()


def plan_inside(piece: Piece, is_hidden: Callable[[MessageSkeleton], bool]) -> TurnPlan:
    """The plan of a turn that lies inside of a compressed chain: only what others said there stays."""
    shown = tuple(
        Element(place, skeleton)
        for place, skeleton in enumerate(piece.skeletons)
        if not is_work(skeleton) and not is_hidden(skeleton)
    )
    origins = piece.origins_of(shown)
    kept = {origin for origin in (origins[element.position] for element in shown) if isinstance(origin, int)}
    edits = tuple(Drop(position) for position in range(piece.first, piece.end) if position not in kept)
    return TurnPlan(shown, origins, edits, is_changed=True).added_up()


@dataclass(slots=True)
class DroppedTurns:
    """The one plan of successive turns of which nothing stays, as of nearly all that lie inside of a chain.

    They hold the messages from `first` to before `end`, and nothing else. Its edits are made when they are asked for.
    """

    turns: range
    first: int
    end: int
    wide_gain: int
    written: bytes = b""

    elements: ClassVar[tuple[Element, ...]] = ()
    origins: ClassVar[Sequence[int | Message]] = ()
    orphan_ids: ClassVar[tuple[str, ...]] = ()
    is_changed: ClassVar[bool] = True
    chars: ClassVar[int] = 0

    @classmethod
    def of(cls, turns: range, first: int, messages: Sequence[MessageSkeleton]) -> "DroppedTurns":
        """The plan for these messages."""
        return cls(turns, first, first + len(messages), -sum([message.wide_chars for message in messages]))

    @property
    def edits(self) -> tuple[Edit, ...]:
        """The edits."""
        return tuple([Drop(position) for position in range(self.first, self.end)])

    @property
    def edit_count(self) -> int:
        """How many edits there are."""
        return self.end - self.first

    @property
    def edit_sum(self) -> int:
        """Their sum."""
        return sum_of_drops(self.first, self.end)

    @property
    def counts(self) -> Counts:
        """How many there are of each kind."""
        return counts_of_drops(self.edit_count)
