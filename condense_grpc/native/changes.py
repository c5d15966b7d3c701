"""What happens to the elements of a history: edits that name an element, and where it has several parts, the part."""

from typing import TypeAlias

from condense_grpc.domain.edits import Drop, InsertKind, MoveAfter, PurgeArguments, ReplaceResult, StripThinking
from condense_grpc.domain.frozen import frozen


@frozen
class RenameCall:
    """A call, or the result of one, gets another id: the same id stands for an earlier call already."""

    message_index: int
    tool_call_id: str
    call_index: int
    new_id: str


@frozen
class Inserted:
    """A message of ours, or a part that comes from another element (`kind` None)."""

    kind: InsertKind | None = None


OwnChange: TypeAlias = ReplaceResult | PurgeArguments | StripThinking | RenameCall
Change: TypeAlias = OwnChange | Drop | Inserted | MoveAfter


@frozen
class NativeEdit:
    """One edit of a history in a provider's shape.

    `native_json`: the element as it reads after this edit and all earlier ones; set on the last edit of an element
    that has to change. `inserted_json`: what an `Inserted` shows, an element, or a part if there is a `part_index`.
    """

    message_index: int
    change: Change
    part_index: int | None = None
    native_json: str = ""
    inserted_json: str = ""
