"""Applies a list of edits to the caller's own objects: raw + edits = view.

Edits count positions of the transcript. A message that moves and is edited is edited first; what is anchored at a
position follows it in listed order, also if the message there is dropped or moved; -1 is before the first. Objects
that nothing happens to come back as they are.
"""

from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias, TypeVar

from condense_grpc.api.condense.v1.edit_pb2 import Edit, InsertAfter
from condense_grpc.api.condense.v1.message_pb2 import Message
from condense_grpc.client.adapters.base import MessageAdapter, Turn, TurnKind

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class _Dropped:
    """The place of a message that is not shown."""

    position: int


_Place: TypeAlias = int | InsertAfter | _Dropped


class EditNotUnderstood(Exception):
    """An edit of a kind that this client does not know, or at a place that the history does not have."""


def apply_edits(
    adapter: MessageAdapter[T], objects: Sequence[T], piece_counts: Sequence[int], edits: Sequence[Edit]
) -> list[T]:
    """The view. `piece_counts` says how many messages each object stands for. Raises `EditNotUnderstood`."""
    order, changes = _plan(edits, sum(piece_counts))
    return _arranged(adapter, objects, piece_counts, order, changes)


def read_full_view(
    adapter: MessageAdapter[T],
    objects: Sequence[T],
    piece_counts: Sequence[int],
    *,
    sent: Iterable[Message],
    shown: Iterable[Message],
) -> list[T]:
    """The view that a server has written out, for histories with edits that this client does not know.

    A message that equals one that was `sent` (all of the history) is the caller's own; the others are new pieces.
    """
    places: dict[bytes, deque[int]] = {}
    for place, message in enumerate(sent):
        places.setdefault(message.SerializeToString(deterministic=True), deque()).append(place)
    order: list[_Place] = []
    for message in shown:
        untimed = Message()
        untimed.CopyFrom(message)
        untimed.ClearField("timestamp_ms")  # the server may have assigned the time
        keys = (it.SerializeToString(deterministic=True) for it in (message, untimed))
        own = next((places[key] for key in keys if places.get(key)), None)
        order.append(own.popleft() if own else InsertAfter(message=message))
    return _arranged(adapter, objects, piece_counts, _with_dropped(order, sum(piece_counts)), {})


def _with_dropped(order: Sequence[_Place], length: int) -> list[_Place]:
    """An order that also says where what it does not show had its place."""
    missing = deque(sorted(set(range(length)).difference(place for place in order if isinstance(place, int))))
    found: list[_Place] = []
    for place in order:
        while missing and isinstance(place, int) and missing[0] < place:
            found.append(_Dropped(missing.popleft()))
        found.append(place)
    return [*found, *map(_Dropped, missing)]


def _arranged(
    adapter: MessageAdapter[T],
    objects: Sequence[T],
    piece_counts: Sequence[int],
    order: Sequence[_Place],
    changes: dict[int, list[Edit]],
) -> list[T]:
    origins = [(index, piece) for index, count in enumerate(piece_counts) for piece in range(count)]
    dropped = {place.position for place in order if isinstance(place, _Dropped)}
    groups: list[_Group] = []
    for place in order:
        if isinstance(place, InsertAfter):
            groups.append(_Group(insert=place))
            continue
        if isinstance(place, _Dropped):
            index, piece = origins[place.position]
            pieces = range(place.position, place.position + piece_counts[index])
            groups += [_Group(index)] if piece == 0 and dropped.issuperset(pieces) else []
            continue
        index, piece = origins[place]
        if not groups or groups[-1].index != index:
            groups.append(_Group(index))
        groups[-1].pieces.append(piece)
        if place in changes:
            groups[-1].changes[piece] = changes[place]
    return adapter.join([_turn(adapter, objects, piece_counts, group) for group in groups])


def _plan(edits: Sequence[Edit], length: int) -> tuple[list[_Place], dict[int, list[Edit]]]:
    """What the view shows, in order, and the changes of single messages by position."""
    changes: dict[int, list[Edit]] = {}
    dropped: set[int] = set()
    moved: set[int] = set()
    behind: dict[int, list[int | InsertAfter]] = {}
    for edit in edits:
        position, kind = edit.message_index, edit.WhichOneof("change")
        anchor = position if kind == "insert_after" else edit.move_after.after_index if kind == "move_after" else 0
        if not -1 <= anchor < max(length, 1) or not (0 <= position < length or kind == "insert_after"):
            raise EditNotUnderstood(f"an edit at position {position} of {length}")
        if kind in ("replace_result", "purge_arguments", "strip_thinking"):
            changes.setdefault(position, []).append(edit)
        elif kind == "drop":
            dropped.add(position)
        elif kind == "insert_after" and edit.insert_after.HasField("message"):
            behind.setdefault(anchor, []).append(edit.insert_after)
        elif kind == "move_after":
            moved.add(position)
            behind.setdefault(anchor, []).append(position)
        else:
            raise EditNotUnderstood("an edit of a newer kind")
    order: list[_Place] = list(behind.get(-1, ()))
    for position in range(length):
        if position not in moved:
            order.append(_Dropped(position) if position in dropped else position)
        order += behind.get(position, ())
    return order, changes


@dataclass(slots=True)
class _Group:
    """Neighbouring pieces of one object in the order of the view, perhaps none, or an insert (then `index` is -1)."""

    index: int = -1
    insert: InsertAfter | None = None
    pieces: list[int] = field(default_factory=list)
    changes: dict[int, list[Edit]] = field(default_factory=dict)


def _turn(adapter: MessageAdapter[T], objects: Sequence[T], counts: Sequence[int], group: _Group) -> Turn[T]:
    if group.insert is not None:
        piece = adapter.from_message(group.insert.message, group.insert.kind)
        return Turn(TurnKind.INSERTED, [piece])
    source, count = objects[group.index], counts[group.index]
    if not group.pieces:
        return Turn(TurnKind.DROPPED, [], source)
    if not group.changes and group.pieces == list(range(count)):
        return Turn(TurnKind.UNTOUCHED, [source], source)
    split = adapter.split(source)
    pieces = [_changed(adapter, split[piece], group.changes.get(piece, ())) for piece in group.pieces]
    return Turn(TurnKind.EDITED if len(pieces) == count else TurnKind.PARTIAL, pieces, source)


def _changed(adapter: MessageAdapter[T], piece: T, edits: Sequence[Edit]) -> T:
    for edit in edits:
        try:
            if edit.HasField("replace_result"):
                piece = adapter.replace_result(piece, edit.replace_result.text)
            elif edit.HasField("strip_thinking"):
                piece = adapter.strip_thinking(piece)
            else:
                purge = edit.purge_arguments
                piece = adapter.purge_arguments(piece, purge.call_index, purge.arguments_json)
        except (LookupError, TypeError, AttributeError) as error:
            raise EditNotUnderstood(f"an edit that message {edit.message_index} has no place for") from error
    return piece
