"""The plan of one turn: what a view shows of it, the edits behind that, and its share of every total.

It follows the rules of `domain.render` with its own functions, for the few messages of one turn.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from condense_grpc.domain.chain_ranges import is_work
from condense_grpc.domain.edits import Drop, Edit, edits_of
from condense_grpc.domain.messages import Message
from condense_grpc.domain.skeleton import MessageSkeleton
from condense_grpc.domain.sweep import find_orphans
from condense_grpc.domain.view import Element
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
    edits = edits_of(shown, piece.origins, piece.end, piece.first)
    return TurnPlan(tuple(shown), piece.origins, tuple(edits), is_changed, ids).added_up()


def plan_inside(piece: Piece, is_hidden: Callable[[MessageSkeleton], bool]) -> TurnPlan:
    """The plan of a turn that lies inside of a compressed chain: only what others said there stays."""
    shown = tuple(
        Element(place, skeleton)
        for place, skeleton in enumerate(piece.skeletons)
        if not is_work(skeleton) and not is_hidden(skeleton)
    )
    kept = {origin for origin in (piece.origins[element.position] for element in shown) if isinstance(origin, int)}
    edits = tuple(Drop(position) for position in range(piece.first, piece.end) if position not in kept)
    return TurnPlan(shown, piece.origins, edits, is_changed=True).added_up()


def plan_of_nothing(first: int, messages: Sequence[MessageSkeleton]) -> TurnPlan:
    """The same for a turn of which nothing stays, as of nearly every one that lies inside of a chain."""
    end = first + len(messages)
    places = range(first, end)
    edits = tuple([Drop(position) for position in places])
    drops, counts = sum_of_drops(first, end), counts_of_drops(end - first)
    gain = -sum([message.wide_chars for message in messages])
    return TurnPlan((), places, edits, is_changed=True, edit_sum=drops, counts=counts, wide_gain=gain)
