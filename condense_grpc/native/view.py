"""The view of a history in a provider's shape: planned without texts, then written with those that it needs."""

import hashlib
from collections.abc import Iterator, Mapping, Sequence

from condense_grpc.domain.edits import Edit
from condense_grpc.domain.frozen import frozen
from condense_grpc.native.changes import NativeEdit, RenameCall
from condense_grpc.native.edits import native_edits
from condense_grpc.native.formats import NativeFormat
from condense_grpc.native.layout import Layout
from condense_grpc.native.part_shape import PartShape
from condense_grpc.native.shapes import shape_of
from condense_grpc.native.slots import Slot, joined, slots_of
from condense_grpc.native.unit import NativeBody
from condense_grpc.native.writing import Writer, WrittenSlot


@frozen
class NativePlan:
    """The elements of a view, before they are written."""

    format: NativeFormat
    layout: Layout
    slots: Sequence[Slot]

    @property
    def touched(self) -> list[Slot]:
        """The elements that may differ from those of the history."""
        return [slot for slot in self.slots if slot.is_touched]

    def positions(self, slots: Sequence[Slot]) -> set[int]:
        """The messages whose bodies these elements are made of."""
        found: set[int] = set()
        for slot in slots:
            for piece in slot.pieces:
                if piece.position >= 0:
                    found.update(self.layout.positions_of(piece.element, piece.position))
        return found

    def first_slot_from(self, rank: int) -> int:
        """The first element of the view that shows one of its messages from the `rank`-th on."""
        numbered = enumerate(self.slots)
        return next((at for at, slot in numbered if any(piece.rank >= rank for piece in slot.pieces)), len(self.slots))

    @property
    def differs(self) -> bool:
        """Whether the view differs from the history."""
        return next(self._events(), None) is not None

    @property
    def revision(self) -> str:
        """A name for the edits of the plan: equal plans of one history, also when it has grown, give equal edits."""
        events = list(self._events())
        if not events:
            return "0"
        return hashlib.blake2b(
            repr((self.format.value, events)).encode("utf-8", "surrogatepass"), digest_size=12
        ).hexdigest()

    def _events(self) -> Iterator[tuple[object, ...]]:
        """Everything in which the view differs from the history."""
        anchor, shown = -1, set[int]()
        for slot in self.slots:
            if slot.is_touched:
                styles = [self.layout.span(position).style for position in sorted(self.positions([slot]))]
                pieces = [(piece.position, piece.item, piece.changes, piece.insert) for piece in slot.pieces]
                yield (slot.source, anchor, pieces, styles)
            if slot.source >= 0:
                shown.add(slot.source)
                if slot.source < anchor:
                    yield (slot.source, anchor)
                anchor = max(anchor, slot.source)
        yield from ((at,) for at in range(self.layout.element_count) if at not in shown)

    def write(self, bodies: Mapping[int, NativeBody]) -> "NativeView":
        """The view, with the bodies at least of `positions(touched)`."""
        parts = {
            position: (self.layout.first_part(position), self.layout.span(position).parts or 0)
            for position in bodies
            if not self.layout.is_alone(position)
        }
        texts = self._texts(bodies)
        writer = Writer(shape_of(self.format), texts, parts)
        return NativeView(
            self, texts, {at: writer.write(slot) for at, slot in enumerate(self.slots) if slot.is_touched}
        )

    def _texts(self, bodies: Mapping[int, NativeBody]) -> dict[int, str]:
        texts: dict[int, str] = {}
        for position in sorted(bodies):
            body, first = bodies[position], self.layout.first_element(position)
            if body.is_fragment:
                texts[first] = texts.get(first, "") + body.source
            else:
                texts |= {first + item: text for item, text in enumerate(body.texts)}
        return texts


@frozen
class NativeView:
    """A view with its texts: elements of the history, and by their place in the view those that were written."""

    plan: NativePlan
    texts: Mapping[int, str]
    written: Mapping[int, WrittenSlot]

    def edits(self) -> list[NativeEdit]:
        """The edits."""
        return native_edits(self.plan.layout, self.plan.slots, self.written, self.texts)

    def json(self) -> str:
        """The whole view as one JSON array; needs the bodies of everything that is shown."""
        slots = enumerate(self.plan.slots)
        return (
            "["
            + ",".join(self.written[at].text if at in self.written else self.texts[slot.source] for at, slot in slots)
            + "]"
        )


def plan_view(
    format_: NativeFormat, layout: Layout, edits: Sequence[Edit], renames: Sequence[RenameCall] = ()
) -> NativePlan:
    """The plan of a view. Edits count messages."""
    slots = slots_of(layout, edits, renames)
    return NativePlan(format_, layout, joined(layout, slots) if isinstance(shape_of(format_), PartShape) else slots)


def plan_untouched(format_: NativeFormat, layout: Layout) -> NativePlan:
    """The plan of a view that is the history as it is, with all its defects."""
    return NativePlan(format_, layout, slots_of(layout, ()))
