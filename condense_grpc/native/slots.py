"""The elements of a view before they are written: which pieces each one is made of.

A piece is a message of the transcript, perhaps changed, or one of ours. Most slots are one element as it came. In
shapes whose roles alternate, neighbours of one side are one element: a message of ours becomes parts of the user's
turn that it stands beside, behind the results in it. Such a turn keeps the frame of its first element. Where nothing
but stray results stood between two answers of the model, or before the first, a notice keeps the user's place.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace

from condense_grpc.domain.edits import (
    Drop,
    Edit,
    InsertAfter,
    InsertKind,
    MoveAfter,
    PurgeArguments,
    ReplaceResult,
    StripThinking,
)
from condense_grpc.domain.frozen import frozen
from condense_grpc.domain.messages import Message, Role, TextPart
from condense_grpc.native.changes import OwnChange, RenameCall
from condense_grpc.native.layout import Layout

NOTICE = "[Tool results that belong to no call were left out here.]"
_NOTICE = InsertAfter(-1, Message(Role.USER, (TextPart(NOTICE),)), InsertKind.NOTICE)


@frozen
class Piece:
    """A message of the transcript with its changes, or one of ours (`position` -1); of nothing: an empty place.

    `item`: which of its elements; `rank`: its place among the messages of the view.
    """

    position: int
    element: int
    changes: tuple[OwnChange, ...] = ()
    insert: InsertAfter | None = None
    item: int = 0
    rank: int = 0


@dataclass(slots=True)
class Slot:
    """One element of a view. `source`: the element whose frame it has, -1 for one that is ours."""

    source: int
    role: Role
    pieces: list[Piece] = field(default_factory=list)
    is_whole: bool = True

    @property
    def is_touched(self) -> bool:
        """Whether it may differ from its element."""
        return not self.is_whole or self.source < 0 or any(piece.changes for piece in self.pieces)


def slots_of(layout: Layout, edits: Sequence[Edit], renames: Sequence[RenameCall] = ()) -> list[Slot]:
    """One slot for each element in the order of the view, before neighbours are joined."""
    changes: dict[int, list[OwnChange]] = {}
    dropped: set[int] = set()
    moved: set[int] = set()
    behind: dict[int, list[int | InsertAfter]] = {}
    for edit in edits:
        match edit:
            case Drop():
                dropped.add(edit.message_index)
            case InsertAfter():
                behind.setdefault(edit.message_index, []).append(edit)
            case MoveAfter():
                moved.add(edit.message_index)
                behind.setdefault(edit.after_index, []).append(edit.message_index)
            case ReplaceResult() | PurgeArguments() | StripThinking():
                changes.setdefault(edit.message_index, []).append(edit)
    for rename in renames:
        changes.setdefault(rename.message_index, []).append(rename)
    slots: list[Slot] = []
    rank = 0
    for position in range(-1, len(layout.skeletons)):
        if position in dropped and _is_element_gone(layout, position, dropped):
            slots.append(Slot(-1, Role.USER, [Piece(-1, -1, rank=rank)]))
        own = [position] if position >= 0 and position not in dropped and position not in moved else []
        for item in (*own, *behind.get(position, ())):
            if isinstance(item, InsertAfter):
                slots.append(Slot(-1, Role.USER, [Piece(-1, -1, insert=item, rank=rank)]))
            else:
                own_changes = tuple(changes.get(item, ()))
                _show_message(layout, Piece(item, layout.first_element(item), own_changes, rank=rank), slots)
            rank += 1
    if dropped:
        slots = _with_notices(layout, slots)
    if any(skeleton.native is not None and skeleton.native.awaits for skeleton in layout.skeletons):
        slots = _uninterrupted(layout, slots)
    _mark_whole(layout, slots)
    return slots


def untouched_slots(layout: Layout, first: int, rank: int) -> list[Slot]:
    """Those of the messages from a position on, all shown as they came; `rank` is that of the first in the view."""
    slots: list[Slot] = []
    for position in range(first, len(layout.skeletons)):
        piece = Piece(position, layout.first_element(position), rank=rank + position - first)
        _show_message(layout, piece, slots)
    _mark_whole(layout, slots)
    return slots


def _show_message(layout: Layout, piece: Piece, slots: list[Slot]) -> None:
    role = layout.skeletons[piece.position].role
    side = Role.USER if role is Role.TOOL_RESULT else role
    if not layout.is_alone(piece.position) and slots and slots[-1].source == piece.element:
        slots[-1].pieces.append(piece)
        return
    for item in range(layout.element_number(piece.position)):
        own = replace(piece, element=piece.element + item, item=item) if item else piece
        slots.append(Slot(own.element, side, [own]))


def _is_element_gone(layout: Layout, position: int, dropped: Collection[int]) -> bool:
    """Whether nothing is shown of an element of several messages; asked at each of them, true at the first only."""
    if layout.is_alone(position) or not layout.span(position).elements:
        return False
    return all(one in dropped for one in layout.positions_of(layout.first_element(position), position))


def _with_notices(layout: Layout, slots: Sequence[Slot]) -> list[Slot]:
    """The slots with a notice in those empty places without which the user's side would be missing."""
    result: list[Slot] = []
    for at, slot in enumerate(slots):
        if not _is_empty_place(slot):
            result.append(slot)
            continue
        is_behind_answer = bool(result) and result[-1].role is Role.ASSISTANT
        if not result or (is_behind_answer and _is_missed(layout, result, slots[at + 1 :])):
            result.append(Slot(-1, Role.USER, [replace(slot.pieces[0], insert=_NOTICE)]))
    return result


def _is_missed(layout: Layout, before: Sequence[Slot], following: Sequence[Slot]) -> bool:
    """Whether the user has to speak between an answer of the model and what comes then, perhaps nothing yet.

    An answer that waits for results is followed by no notice before the next answer has come: the results still may.
    """
    if is_at_work(layout, before):
        return False
    if _may_join(layout, before):
        return True
    behind = next((slot for slot in following if not _is_empty_place(slot)), None)
    return behind is not None and behind.role is Role.ASSISTANT


def _uninterrupted(layout: Layout, slots: Sequence[Slot]) -> list[Slot]:
    """The slots with what is ours before an answer of the model in which a tool of the provider is still at work."""
    result: list[Slot] = []
    begin: int | None = None
    for slot in slots:
        if slot.source < 0 and begin is not None:
            result.insert(begin, slot)
            begin += 1
            continue
        result.append(slot)
        if slot.role is Role.ASSISTANT:
            begin = _begin_of_work(layout, result, begin)
        elif not _are_results(layout, slot):
            begin = None
    return result


def _begin_of_work(layout: Layout, slots: Sequence[Slot], begin: int | None) -> int | None:
    """Where the answers begin in which a tool of the provider is at work behind the last slot; None: there is none."""
    span = layout.span(slots[-1].pieces[0].position)
    if not span.awaits:
        return None if span.resumes else begin
    if begin is None:
        begin = len(slots) - 1
        while begin and slots[begin - 1].role is Role.ASSISTANT:
            begin -= 1
    return begin


def _is_empty_place(slot: Slot) -> bool:
    return slot.pieces[0].position < 0 and slot.pieces[0].insert is None


def _mark_whole(layout: Layout, slots: Sequence[Slot]) -> None:
    """A slot that has not all pieces of its element, or not in their order, is not whole."""
    for slot in slots:
        if slot.source >= 0 and not layout.is_alone(slot.pieces[0].position):
            positions = layout.positions_of(slot.source, slot.pieces[0].position)
            slot.is_whole = [piece.position for piece in slot.pieces] == list(positions)


def joined(layout: Layout, slots: Sequence[Slot]) -> list[Slot]:
    """The slots with neighbours of one side in one, for shapes in which sides alternate."""
    result: list[Slot] = []
    for slot in slots:
        last = result[-1] if result else None
        if last is None or last.role is not slot.role or not _may_join(layout, result):
            result.append(slot)
            continue
        source = last.source if last.source >= 0 else slot.source
        pieces = _results_first(layout, [*last.pieces, *slot.pieces])
        result[-1] = Slot(source, slot.role, pieces, is_whole=False)
    return result


def _may_join(layout: Layout, before: Sequence[Slot]) -> bool:
    """Users always; an answer of the model goes on in the next one if it waits for no result, or for the provider."""
    slot = before[-1]
    if slot.role is not Role.ASSISTANT:
        return slot.role is Role.USER
    waits = any(layout.skeletons[piece.position].calls for piece in slot.pieces)
    return not waits or is_at_work(layout, before)


def is_at_work(layout: Layout, slots: Sequence[Slot]) -> bool:
    """Whether behind these slots a tool of the provider is still at work: it was asked, and nobody has spoken since."""
    for slot in reversed(slots):
        if slot.role is Role.ASSISTANT:
            for span in (layout.span(piece.position) for piece in reversed(slot.pieces)):
                if span.awaits or span.resumes:
                    return span.awaits
        elif not _are_results(layout, slot):
            return False
    return False


def _are_results(layout: Layout, slot: Slot) -> bool:
    return all(piece.position >= 0 and layout.is_result(piece.position) for piece in slot.pieces)


def _results_first(layout: Layout, pieces: list[Piece]) -> list[Piece]:
    """What is ours never stands before results: the provider wants these first."""
    results = [at for at, piece in enumerate(pieces) if piece.position >= 0 and layout.is_result(piece.position)]
    until = results[-1] + 1 if results else 0
    early = [piece for piece in pieces[:until] if piece.position < 0]
    return [*(piece for piece in pieces[:until] if piece.position >= 0), *early, *pieces[until:]]
