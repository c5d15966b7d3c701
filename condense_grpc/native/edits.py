"""The edits that turn a history in a provider's shape into its view.

A client does with them: put the `native_json` of an edit into the place of its element; leave edits with a
`part_index` at that, everything they say is in it; and drop, insert and move elements as the others say.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from condense_grpc.domain.edits import Drop, MoveAfter
from condense_grpc.native.changes import Inserted, NativeEdit, OwnChange
from condense_grpc.native.layout import Layout
from condense_grpc.native.slots import Slot
from condense_grpc.native.writing import WrittenPart, WrittenSlot


def native_edits(
    layout: Layout, slots: Sequence[Slot], written: Mapping[int, WrittenSlot], texts: Mapping[int, str]
) -> list[NativeEdit]:
    """All edits, in the order of the places where they act. `written`: the touched slots by their place in the view.

    What happens to a part that moves into another element is told where it comes from; what it reads then, with the
    element that it comes into.
    """
    placed: list[tuple[int, int, NativeEdit]] = [
        (done.element, -2, _done(done.change, done.element, done.part))
        for at, slot in enumerate(slots)
        if at in written
        for done in written[at].done
        if done.element != slot.source
    ]
    shown: set[int] = set()
    anchor = -1
    for at, slot in enumerate(slots):
        source = slot.source
        if source < 0 or source in shown:
            placed.append((anchor, len(placed), _inserted(anchor, slot, written[at])))
            continue
        shown.add(source)
        if at in written:
            placed += [(source, -1, edit) for edit in _own_edits(layout, slot, written[at], texts)]
        if source > anchor:
            anchor = source
        else:
            placed.append((anchor, len(placed), NativeEdit(source, MoveAfter(source, anchor))))
    placed += [(at, -1, NativeEdit(at, Drop(at))) for at in range(layout.element_count) if at not in shown]
    placed.sort(key=lambda item: item[:2])
    return [edit for _, _, edit in placed]


def _inserted(anchor: int, slot: Slot, result: WrittenSlot) -> NativeEdit:
    kinds = [piece.insert.kind for piece in slot.pieces if piece.insert is not None]
    return NativeEdit(anchor, Inserted(kinds[0] if kinds else None), inserted_json=result.text)


def _own_edits(layout: Layout, slot: Slot, result: WrittenSlot, texts: Mapping[int, str]) -> list[NativeEdit]:
    """The edits of one element, the last of them with what it reads afterwards."""
    if result.text == texts[slot.source]:
        return []
    edits = [_done(at.change, slot.source, at.part) for at in result.done if at.element == slot.source]
    edits += _part_edits(layout, slot, result.parts)
    return [*edits[:-1], replace(edits[-1], native_json=result.text)]


def _done(change: OwnChange, element: int, part: int | None) -> NativeEdit:
    return NativeEdit(element, replace(change, message_index=element), part)


def _part_edits(layout: Layout, slot: Slot, parts: Sequence[WrittenPart]) -> list[NativeEdit]:
    """What is gone from an element, what has moved in it, and what has come."""
    source, edits = slot.source, []
    own = {part.index for part in parts if part.element == source}
    near = next((piece.position for piece in slot.pieces if piece.element == source), None)
    if near is not None and not layout.is_alone(near):
        count = sum(layout.span(position).parts or 0 for position in layout.positions_of(source, near))
        edits += [NativeEdit(source, Drop(source), index) for index in range(count) if index not in own]
    last = -1
    for part in parts:
        if part.element != source:
            insert = part.piece.insert
            kind = None if insert is None else insert.kind
            edits.append(NativeEdit(source, Inserted(kind), last, inserted_json=part.text))
        elif part.index < last:
            edits.append(NativeEdit(source, MoveAfter(source, source), part.index))
        else:
            last = part.index
    return edits
