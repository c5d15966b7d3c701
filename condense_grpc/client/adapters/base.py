"""What the client has to know about a caller's own message objects.

An object of the caller is a sequence of *pieces*, each of which stands for one message of the transcript. Usually the
object is its only piece; an Anthropic user message with two tool results and a text is three. Edits act on pieces;
afterwards the pieces that belong together are joined to objects again. An object of which nothing was changed is
never taken apart: the caller gets the very same object back.

Adapters hold no state and may be shared.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Generic, Protocol, TypeVar

from condense_grpc.api.condense.v1.edit_pb2 import InsertKind
from condense_grpc.api.condense.v1.message_pb2 import Message

T = TypeVar("T")


class TurnKind(Enum):
    """What the pieces of a turn are."""

    UNTOUCHED = "untouched"
    """An object of the caller as it is; it is the only piece."""
    EDITED = "edited"
    """All pieces of an object, some of them changed or in another order."""
    PARTIAL = "partial"
    """Some pieces of an object; the others were dropped or are shown elsewhere."""
    INSERTED = "inserted"
    """One message of the service."""
    DROPPED = "dropped"
    """An object of which nothing is shown; there are no pieces."""


@dataclass(frozen=True, slots=True)
class Turn(Generic[T]):
    """Pieces of one origin that follow each other in a view. `source`: the caller's object; None for an insert."""

    kind: TurnKind
    pieces: Sequence[T]
    source: T | None = None


class MessageAdapter(Protocol[T]):
    """Reads and edits the messages of one shape. An edit returns a new piece and leaves the old one alone.

    A subclass for a shape in which one object is one message implements the five methods without a body. Reading may
    raise `ValueError` or `TypeError`, also for text that UTF-8 cannot hold: the client names the message.
    """

    results_name_their_tool: bool = True
    """False: the shape's tool results do not say which tool it was; the client looks it up in the calls."""

    def to_message(self, piece: T) -> Message:
        """The transcript message that a piece stands for. The same content gives the same message."""
        ...

    def from_message(self, message: Message, kind: "InsertKind.ValueType") -> T:
        """A piece that shows a message of the service: a summary or a compressed chain; of any role if unspecified."""
        ...

    def replace_result(self, piece: T, text: str) -> T:
        """The tool result with `text` as its only content and no error; id, name and time stay."""
        ...

    def purge_arguments(self, piece: T, call_index: int, arguments_json: str) -> T:
        """The assistant message with these arguments (a JSON object) in its `call_index`-th call, from 0."""
        ...

    def strip_thinking(self, piece: T) -> T:
        """The assistant message without its thinking."""
        ...

    def split(self, item: T) -> Sequence[T]:
        """The pieces of an object, at least one."""
        return (item,)

    def join(self, turns: Sequence[Turn[T]]) -> list[T]:
        """The objects of a view."""
        return [piece for turn in turns for piece in turn.pieces]

    def snapshot(self, item: T) -> object:
        """Something by which `is_unchanged` tells later whether the object still is what it was."""
        ...

    def is_unchanged(self, item: T, snapshot: object) -> bool:
        """Whether the object says what it said when the snapshot was taken."""
        return bool(item == snapshot)
