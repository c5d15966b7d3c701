"""New ids for calls whose id stands for an earlier call already, where a provider wants ids to be unique.

The first call keeps its id. A later one gets its id with a number, and its result the same. The new id depends on
nothing but the history before, so that it stays the same in every view.
"""

from collections.abc import Sequence

from condense_grpc.domain.pairing import Pairs
from condense_grpc.domain.skeleton import MessageSkeleton
from condense_grpc.native.changes import RenameCall
from condense_grpc.native.formats import NativeFormat

MAX_ID_CHARS = 64
"""How long an id of a call may be where they must be unique."""

_WANT_UNIQUE_IDS = (NativeFormat.ANTHROPIC, NativeFormat.OPENAI_RESPONSES)


def find_renames(form: NativeFormat, skeletons: Sequence[MessageSkeleton]) -> list[RenameCall]:
    """The calls and results of a history that get other ids, by position. `message_index` counts messages."""
    if form not in _WANT_UNIQUE_IDS:
        return []
    taken: set[str] = set()
    counts: dict[str, int] = {}
    result_of = Pairs(skeletons).result_of
    found: list[RenameCall] = []
    for position, skeleton in enumerate(skeletons):
        for ordinal, call in enumerate(skeleton.calls):
            if call.id not in taken:
                taken.add(call.id)
                continue
            new_id = _new_id(call.id, taken, counts)
            found.append(RenameCall(position, call.id, ordinal, new_id))
            result = result_of.get((position, ordinal))
            if result is not None:
                found.append(RenameCall(result, call.id, 0, new_id))
    return found


def _new_id(call_id: str, taken: set[str], counts: dict[str, int]) -> str:
    number = counts.get(call_id, 1)
    while True:
        number += 1
        end = f"_{number}"
        kept = call_id[: MAX_ID_CHARS - len(end)] if len(call_id) <= MAX_ID_CHARS else call_id
        new_id = kept + end
        if new_id not in taken:
            counts[call_id] = number
            taken.add(new_id)
            return new_id
