"""The full view: every message of it, or where a caller finds it who has just sent it."""

from collections.abc import Sequence

from condense_grpc.domain.edits import Drop, Edit, InsertAfter, MoveAfter, apply_edits
from condense_grpc.domain.messages import Message
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
    wanted = [position for position in range(length) if position < first_sent or position in changed]
    stored = await bodies.messages(state, wanted)
    skeletons = state.transcript.skeletons

    def raw(position: int) -> Message | AsSent:
        message = stored.get(position)
        return AsSent(position - first_sent, skeletons[position].timestamp_ms or 0) if message is None else message

    return await offloaded(length, lambda: apply_edits([raw(position) for position in range(length)], edits))
