"""The full view: every message of it, or where a caller finds it who has just sent it."""

from collections.abc import Iterable, Sequence

from condense_grpc.domain.edits import Drop, Edit, InsertAfter, MoveAfter, apply_edits
from condense_grpc.domain.messages import Message
from condense_grpc.domain.skeleton import MessageSkeleton
from condense_grpc.engine.bodies import BodyCache
from condense_grpc.engine.offloading import offloaded
from condense_grpc.engine.requests import AsSent, PruneRequest
from condense_grpc.engine.state import SessionState


async def full_view(
    state: SessionState, request: PruneRequest, edits: Sequence[Edit], bodies: BodyCache
) -> list[Message | AsSent]:
    """The messages of the view.

    Those of the request's delta that no edit changes are only named, if the request allows it: they are not read from
    the store, and the caller need not write them anew.
    """
    length = len(state.transcript)
    delta = request.delta
    first_sent = length if delta is None or not request.names_sent else delta.base_length
    changed = {edit.message_index for edit in edits if not isinstance(edit, Drop | InsertAfter | MoveAfter)}
    wanted = [*range(first_sent), *sorted(position for position in changed if position >= first_sent)]
    stored = await bodies.messages(state, wanted)
    skeletons = state.transcript.skeletons

    def shown() -> list[Message | AsSent]:
        raw: list[int | Message] = [*range(length)]
        for position, message in stored.items():
            raw[position] = message
        return _named(apply_edits(raw, edits), first_sent, skeletons)

    return await offloaded(length, shown)


def _named(
    view: Iterable[int | Message], first_sent: int, skeletons: Sequence[MessageSkeleton]
) -> list[Message | AsSent]:
    """A view in which positions stand for messages that were sent, with those that follow each other as one."""
    found: list[Message | AsSent] = []
    start = end = 0

    def close() -> None:
        if start < end:
            found.append(AsSent(start - first_sent, [one.timestamp_ms or 0 for one in skeletons[start:end]]))

    for item in view:
        if item == end > start:
            end += 1
            continue
        close()
        if isinstance(item, int):
            start, end = item, item + 1
        else:
            start = end = 0
            found.append(item)
    close()
    return found
