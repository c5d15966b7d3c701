"""What a turn needs to know of a view in a provider's shape, without planning what lies far behind.

A session grows at its end, and between two decisions nothing else changes. The elements behind a call of the model
that no edit touches, and that stand there as they came, make no difference to anything before them: the view of a
history that has grown is the one before and a plan of these last elements.
"""

from collections.abc import Sequence

from condense_grpc.domain.frozen import frozen
from condense_grpc.domain.messages import Role
from condense_grpc.native.formats import NativeFormat
from condense_grpc.native.layout import Layout
from condense_grpc.native.part_shape import PartShape
from condense_grpc.native.shapes import shape_of
from condense_grpc.native.slots import Slot, is_at_work, joined, untouched_slots
from condense_grpc.native.view import NativePlan


@frozen
class Outline:
    """A plan, up to a call of the model, and what it came to. `cut`: the position of the message with that call.

    `slots_before` and `ranks_before` count what the view has before it.
    """

    format: NativeFormat
    revision: str
    differs: bool
    cut: int
    slots_before: int
    ranks_before: int

    @classmethod
    def of(cls, plan: NativePlan) -> "Outline | None":
        """The outline of a plan; None if its last elements are not as they came, or what stands before them depends on
        them: one of ours has left them, or they go on with what a tool of the provider was asked before.
        """
        found = _last_call(plan.layout, plan.slots)
        if found is None or is_at_work(plan.layout, plan.slots[:found]):
            return None
        first = plan.slots[found].pieces[0]
        with_ours = (slot for slot in plan.slots[:found] if slot.source < 0 or not slot.is_whole)
        if any(piece.rank >= first.rank for slot in with_ours for piece in slot.pieces):
            return None
        return cls(plan.format, plan.revision, plan.differs, first.position, found, first.rank)

    def tail(self, layout: Layout) -> list[Slot] | None:
        """The elements of the grown history from the cut on; None if they do not all stand there as they came."""
        slots = untouched_slots(layout, self.cut, self.ranks_before)
        if isinstance(shape_of(self.format), PartShape):
            slots = joined(layout, slots)
        return None if any(slot.is_touched for slot in slots) else slots

    def moved(self, layout: Layout, tail: Sequence[Slot]) -> "Outline":
        """The same view with its cut at the last call of the tail, so that the next one is short too."""
        found = _last_call(layout, tail)
        if not found or is_at_work(layout, tail[:found]):
            return self
        first = tail[found].pieces[0]
        before = self.slots_before + found
        return Outline(self.format, self.revision, self.differs, first.position, before, first.rank)

    def first_slot_from(self, tail: Sequence[Slot], rank: int) -> int | None:
        """The first element of the view that shows one of its messages from the `rank`-th on; None: it is not in the
        tail.
        """
        if rank < self.ranks_before:
            return None
        numbered = enumerate(tail)
        return self.slots_before + next(
            (at for at, slot in numbered if any(piece.rank >= rank for piece in slot.pieces)), len(tail)
        )


def _last_call(layout: Layout, slots: Sequence[Slot]) -> int | None:
    """The last element that is a call of the model and behind which everything stands as it came, to the end."""
    following = len(layout.skeletons)
    for at in range(len(slots) - 1, -1, -1):
        slot = slots[at]
        if slot.is_touched or any(piece.position < 0 for piece in slot.pieces):
            return None
        for piece in reversed(slot.pieces):
            if piece.position not in (following - 1, following):
                return None
            following = piece.position
        first = slot.pieces[0]
        if slot.role is Role.ASSISTANT and first.item == 0 and layout.skeletons[first.position].calls:
            return at
    return None
