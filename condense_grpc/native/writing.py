"""A touched slot as JSON: its frame and every part that nothing happens to stay exactly as they came."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from condense_grpc.domain.edits import PurgeArguments, ReplaceResult, StripThinking
from condense_grpc.domain.frozen import frozen
from condense_grpc.domain.json_text import parse_object
from condense_grpc.native.changes import OwnChange, RenameCall
from condense_grpc.native.json_edit import written
from condense_grpc.native.json_read import read_value
from condense_grpc.native.openai_responses import CALLS, OpenAIResponses, kind_of
from condense_grpc.native.part_shape import PartShape
from condense_grpc.native.shape import Shape
from condense_grpc.native.slots import Piece, Slot


@frozen
class Done:
    """A change that made a difference. `part`: where in its element; None: it is about the whole element."""

    change: OwnChange
    element: int
    part: int | None = None


@frozen
class WrittenPart:
    """A part of a view's element: its text, and where it came from (`element` -1: from us)."""

    text: str
    element: int
    index: int
    piece: Piece


@frozen
class WrittenSlot:
    """An element of a view: its text, the changes in it, and in shapes of parts what its parts are."""

    text: str
    done: Sequence[Done] = ()
    parts: Sequence[WrittenPart] = ()


class Writer:
    """Writes slots of one history. `texts`: the elements by their index, at least those that slots refer to."""

    def __init__(self, shape: Shape, texts: Mapping[int, str], first_parts: Mapping[int, tuple[int, int]]) -> None:
        """`first_parts`: for each message that shares its element, its first part there and how many it has."""
        self._shape = shape
        self._texts = texts
        self._first_parts = first_parts

    def write(self, slot: Slot) -> WrittenSlot:
        """One slot."""
        if not slot.is_touched:
            return WrittenSlot(self._texts[slot.source])
        if isinstance(self._shape, PartShape):
            return self._write_parts(self._shape, slot)
        [piece] = slot.pieces
        if piece.insert is not None:
            return WrittenSlot(self._shape.inserted(piece.insert.message))
        return self._write_element(piece)

    # Elements that are one message or less

    def _write_element(self, piece: Piece) -> WrittenSlot:
        text, done = self._texts[piece.element], []
        for change in piece.changes:
            ordinal = self._ordinal(piece, change)
            changed = text if ordinal is None else _changed(self._shape, text, change, ordinal)
            if changed != text and ordinal is not None:
                named = replace(change, call_index=ordinal) if isinstance(change, PurgeArguments) else change
                done.append(Done(named, piece.element))
                text = changed
        return WrittenSlot(text, done)

    def _ordinal(self, piece: Piece, change: OwnChange) -> int | None:
        """Which call of the element a change is about; None if it is about another element of the same message."""
        if not isinstance(change, PurgeArguments | RenameCall):
            return 0
        if not isinstance(self._shape, OpenAIResponses):
            return change.call_index
        first = piece.element - piece.item
        calls = [at for at in range(first, piece.element + 1) if kind_of(read_value(self._texts[at])) in CALLS]
        is_result = not calls and isinstance(change, RenameCall)
        return (
            0 if is_result or (calls and calls[-1] == piece.element and len(calls) - 1 == change.call_index) else None
        )

    # Elements of parts

    def _write_parts(self, shape: PartShape, slot: Slot) -> WrittenSlot:
        parts: list[WrittenPart] = []
        done: list[Done] = []
        for piece in slot.pieces:
            if piece.insert is not None:
                parts += [WrittenPart(text, -1, -1, piece) for text in shape.inserted_parts(piece.insert.message)]
            else:
                parts += self._changed_parts(shape, piece, done)
        joined = _joined([(part.text, part.element, part.index) for part in parts], self._texts, shape)
        if slot.source < 0:
            frame = f'{{"role":{written(shape.user_role)},{written(shape.list_name)}:[]}}'
        else:
            frame = self._texts[slot.source]
            if not done and [(part.element, part.index) for part in parts] == self._own_parts(shape, slot.source):
                return WrittenSlot(frame, (), parts)
        return WrittenSlot(shape.framed(frame, joined), done, parts)

    def _own_parts(self, shape: PartShape, element: int) -> list[tuple[int, int]]:
        return [(element, index) for index in range(len(shape.part_texts(self._texts[element])))]

    def _changed_parts(self, shape: PartShape, piece: Piece, done: list[Done]) -> list[WrittenPart]:
        texts = list(enumerate(shape.part_texts(self._texts[piece.element])))
        if piece.position in self._first_parts:
            first, count = self._first_parts[piece.position]
            texts = texts[first : first + count]
        for change in piece.changes:
            if isinstance(change, StripThinking):
                kept = [(index, text) for index, text in texts if not shape.is_thinking(parse_object(text))]
                if kept and len(kept) < len(texts):
                    done.append(Done(change, piece.element))
                    texts = kept
                continue
            calls = [at for at, (_, text) in enumerate(texts) if shape.is_call(parse_object(text))]
            at = calls[change.call_index] if isinstance(change, PurgeArguments | RenameCall) and calls else 0
            index, text = texts[at]
            changed = _changed(shape, text, change, 0)
            if changed != text:
                done.append(Done(change, piece.element, index))
                texts[at] = (index, changed)
        return [WrittenPart(text, piece.element, index, piece) for index, text in texts]


def _changed(shape: Shape, carrier: str, change: OwnChange, call_index: int) -> str:
    match change:
        case ReplaceResult():
            return shape.with_stub(carrier, change.text)
        case PurgeArguments():
            return shape.with_arguments(carrier, call_index, change.arguments_json)
        case RenameCall():
            return shape.with_call_id(carrier, call_index, change.new_id)
        case StripThinking():
            return shape.without_thinking(carrier)


def _joined(parts: Sequence[tuple[str, int, int]], texts: Mapping[int, str], shape: PartShape) -> str:
    """The inside of a list of parts, with the host's own commas where two of its parts still follow each other."""
    pieces: list[str] = []
    places = {element: shape.places(texts[element]) for _, element, _ in parts if element >= 0}
    before: tuple[int, int] | None = None
    for text, element, index in parts:
        if before is not None:
            own = places.get(element)
            if own and before == (element, index - 1):
                pieces.append(texts[element][own[index - 1].end : own[index].start])
            else:
                pieces.append(",")
        pieces.append(text)
        before = (element, index)
    return "".join(pieces)
