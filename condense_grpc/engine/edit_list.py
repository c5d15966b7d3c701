"""The edits of a view in the pieces of which it is kept up to date, so that each piece is written down only once."""

from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Protocol, overload

from condense_grpc.domain.edits import Edit


class EditPiece(Protocol):
    """Some successive edits. They never change; `written` belongs to whoever writes them, and is empty before that."""

    written: bytes

    @property
    def edits(self) -> tuple[Edit, ...]:
        """The edits."""
        ...


class WholePiece:
    """A list of edits in one piece."""

    def __init__(self, edits: Sequence[Edit]) -> None:
        self.edits = tuple(edits)
        self.written = b""


class EditList(Sequence[Edit]):
    """The edits of all pieces, in order. Equal to every sequence of the same edits."""

    __slots__ = ("_count", "pieces")

    def __init__(self, pieces: Sequence[EditPiece], count: int) -> None:
        self.pieces = pieces
        self._count = count

    @classmethod
    def of(cls, edits: Sequence[Edit]) -> "EditList":
        """A list in one piece."""
        return cls((WholePiece(edits),), len(edits))

    def __len__(self) -> int:
        return self._count

    def __iter__(self) -> Iterator[Edit]:
        return chain.from_iterable(piece.edits for piece in self.pieces)

    @overload
    def __getitem__(self, index: int) -> Edit: ...
    @overload
    def __getitem__(self, index: slice) -> list[Edit]: ...
    def __getitem__(self, index: int | slice) -> Edit | list[Edit]:
        return list(self)[index]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and list(self) == list(other)

    def __hash__(self) -> int:
        return hash(tuple(self))

    def __repr__(self) -> str:
        return f"EditList({list(self)!r})"


NO_EDITS = EditList((), 0)
